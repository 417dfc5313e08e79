"""The demonstration on bundled data: short, publishable, refuses the exposed table, and shows an attack by queries that fails."""

import json
from pathlib import Path

from typer.testing import CliRunner

from reticent.cli.main import app


def test_demo(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path), "--json", str(tmp_path / "answer.json")])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert len(lines) < 120  # two screens
    text = " ".join(result.output.split())
    assert "refused" in text
    assert "What the attacker finds" in text
    assert "and 15 more; the confidential report has them all" in text
    opened, protected = text.split("An open database:")[1].split("The protected one:")
    assert "found: the difference is the one large firm of C10: 4 267.3" in opened.replace("\u00a0", " ")
    assert "refused: This query cannot be answered" in protected
    assert "found:" not in protected
    assert lines[-1].startswith("To do the same in a browser: reticent open") or "reticent open" in text[-200:]
    check_files(tmp_path)
    answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert answer["file"]["verdict"]["state"] == "held"
    assert answer["tables"]["primary-only"]["exposed"]
    assert not answer["tables"]["heuristic"]["exposed"]
    assert [one["answered"] for one in answer["queries"]["exact"]] == [True, False]


def check_files(folder: Path) -> None:
    summary = json.loads((folder / "people.confidential.json").read_text(encoding="utf-8"))
    assert summary["risk"]["after"]["unsafe combinations"] == 0
    assert not [note for note in summary["notes"] if "do not release" in note]  # a key of its own, not that of tests
    protected = json.loads((folder / "firms.confidential.json").read_text(encoding="utf-8"))
    assert protected["exposed"] == []
    assert protected["cells"]["secondary"] > 0
    report = (folder / "people.confidential.html").read_text(encoding="utf-8")
    assert "fingerprint of the secret" in report
    public = (folder / "people.public.html").read_text(encoding="utf-8")
    for word in ("SHA-256", "fingerprint", "demo.secret.key", "people.plan.toml"):
        assert word not in public
    for name in ("people.safe.csv", "people.safe.schema.toml", "firms-primary-only.confidential.html"):
        assert (folder / name).stat().st_size > 0
