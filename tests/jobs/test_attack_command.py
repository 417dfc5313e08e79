"""`reticent attack`: on a database file, with the real ledger left alone, and on data where little is applicable."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from reticent.cli.main import run
from reticent.jobs.attack_database import attack_database

SCHEMA = """\
[[variable]]
name = "region"
role = "key"
codes = ["n", "s", "w"]
[[variable]]
name = "trade"
role = "key"
codes = ["a", "b", "c"]
[[variable]]
name = "pay"
role = "sensitive"
kind = "numeric"
"""
DATABASE = """\
[data]
path = "staff.csv"
schema = "schema.toml"
secret = 5
[ledger]
path = "staff.ledger"
[policy]
filters = ["region", "trade"]
responses = ["pay"]
"""


def write(folder: Path, *, alone: bool) -> Path:
    rng = np.random.default_rng(1)
    lines = ["region,trade,pay"]
    for _ in range(120):
        region, trade = rng.choice(["n", "s", "w"]), rng.choice(["a", "b", "c"])
        if alone and (region, trade) == ("w", "c"):
            trade = "a"
        lines.append(f"{region},{trade},{rng.integers(100, 900)}")
    if alone:
        lines.append("w,c,512")
    (folder / "staff.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "db.toml").write_text(DATABASE, encoding="utf-8")
    return folder / "db.toml"


def test_the_command_attacks_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, alone=True)
    monkeypatch.setattr(sys, "argv", ["reticent", "attack", str(path), "--json", str(tmp_path / "out.json")])
    with pytest.raises(SystemExit) as stopped:
        run()
    assert stopped.value.code == 0
    assert "tracker" in capsys.readouterr().out
    assert not (tmp_path / "staff.ledger").exists()
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["broken"] == []
    tracker = {f["mode"]: f for f in found["findings"] if f["attack"] == "tracker"}
    assert tracker["open"]["succeeded"]
    assert tracker["open"]["recovered_error"] < 1e-9
    assert not tracker["exact"]["succeeded"]


def test_where_nobody_stands_out_attacks_are_not_applicable(tmp_path: Path) -> None:
    report = attack_database(write(tmp_path, alone=False))
    assert not any(finding.succeeded for finding in report.findings)
    assert not report.finding("tracker", "open").applicable
