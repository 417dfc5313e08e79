"""`reticent suppress` and `reticent audit` on JJ files."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from reticent.base.errors import DataError, ParameterError
from reticent.cli.main import app
from reticent.io.jj import read_ids, read_jj
from reticent.jobs.jj import audit_jj

# the investments table of erratum 1, cell 11 unsafe
ROWS = [190, 45, 101, 44, 80, 20, 50, 10, 49, 8, 19, 22, 61, 17, 32, 12]


@pytest.fixture
def jj(tmp_path: Path) -> Path:
    cells = [f"{i} {v} {v} {'u' if i == 11 else 's'} 0 400 {4 if i == 11 else 0} 4 0" for i, v in enumerate(ROWS)]
    lines = [[4 * r, *(4 * r + c for c in (1, 2, 3))] for r in range(4)]
    lines += [[c, *(4 * r + c for r in (1, 2, 3))] for c in range(4)]
    relations = [f"0 4 : {a} (-1) " + " ".join(f"{b} (1)" for b in rest) for a, *rest in lines]
    path = tmp_path / "investments.jj"
    path.write_text("\n".join(["0", "16", *cells, "8", *relations]) + "\n")
    return path


def test_suppress_then_audit(jj: Path, tmp_path: Path) -> None:
    out, found = tmp_path / "pattern.json", tmp_path / "audit.json"
    result = CliRunner().invoke(app, ["suppress", str(jj), "--method", "optimal", "--json", str(out)])
    assert result.exit_code == 0, result.output
    answer = json.loads(out.read_text())
    assert {"suppressed", "cost", "bound", "status", "seconds", "exposed"} <= set(answer)
    assert answer["exposed"] == []
    assert 11 in answer["suppressed"]
    assert answer["status"] == "optimal"
    # the cheapest rectangle around (II, C): with (II, A), (III, A), (III, C)
    assert answer["cost"] == 8 + 17 + 12
    result = CliRunner().invoke(app, ["audit", str(jj), "--suppressed", str(out), "--json", str(found)])
    assert result.exit_code == 0
    interval = json.loads(found.read_text())["11"]
    assert interval == {"low": 5.0, "high": 30.0, "required_low": 18.0, "required_high": 26.0, "exposed": False}


def test_exposed_cells_are_told(jj: Path) -> None:
    found = audit_jj(jj, "11")
    assert found["11"]["exposed"]
    assert found["11"]["low"] == found["11"]["high"] == 22.0


def test_ids_from_text_and_files(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("3\n7, 12\n")
    assert read_ids(str(tmp_path / "ids.txt")) == [3, 7, 12]
    assert read_ids("3, 7;12") == [3, 7, 12]
    (tmp_path / "wrong.json").write_text('{"cost": 3}')
    with pytest.raises(DataError, match="no list of ids"):
        read_ids(str(tmp_path / "wrong.json"))
    with pytest.raises(ParameterError, match="readable file"):
        read_ids("nowhere.txt")


def test_wrong_requests(jj: Path) -> None:
    with pytest.raises(ParameterError, match="must be one of"):
        CliRunner().invoke(app, ["suppress", str(jj), "--method", "optimale"], catch_exceptions=False)
    with pytest.raises(ParameterError, match="time_limit must be more than 0"):
        CliRunner().invoke(app, ["suppress", str(jj), "--time-limit", "0"], catch_exceptions=False)
    with pytest.raises(ParameterError, match="ids go from 0 to 15"):
        audit_jj(jj, [99])
    with pytest.raises(ParameterError, match="primary cells are not hidden"):
        audit_jj(jj, [3])


def test_a_certificate_is_written_and_verified(shared_data: Path, tmp_path: Path) -> None:
    source, answer, proof = shared_data / "csp" / "targus.jj", tmp_path / "s.json", tmp_path / "proof.json"
    run = CliRunner().invoke(app, ["suppress", str(source), "--method", "heuristic", "--json", str(answer)])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(app, ["audit", str(source), "--suppressed", str(answer), "--certificate", str(proof)])
    assert run.exit_code == 0, run.output
    assert "0 unsafe cells without proof" in run.output
    assert "sound" in CliRunner().invoke(app, ["verify", str(proof)]).output
    spoiled = json.loads(proof.read_text())
    spoiled["movements"][0]["steps"][0] += 1
    proof.write_text(json.dumps(spoiled))
    broken = CliRunner().invoke(app, ["verify", str(proof)])
    assert broken.exit_code == 1
    assert "fault" in broken.output
    assert "leaves" in str(broken.exception)


def test_an_exposed_cell_is_shown_with_its_relation(shared_data: Path, tmp_path: Path) -> None:
    source, out = shared_data / "csp" / "table8.jj", tmp_path / "a.json"
    primaries = [str(cell) for cell in np.flatnonzero(read_jj(source).primary)]
    run = CliRunner().invoke(app, ["audit", str(source), "--suppressed", ",".join(primaries), "--json", str(out)])
    assert run.exit_code == 0, run.output
    assert "revealed by" in run.output
    row = json.loads(out.read_text())[primaries[0]]
    assert row["exposed"]
    assert row["low"] == row["high"]
    parts = {int(word) for word in re.findall(r"\d+", row["revealed_by"][0]["words"].partition("…")[0])}
    cells = set(read_jj(source).relations.row(row["revealed_by"][0]["relation"])[0].tolist())
    assert parts <= cells
