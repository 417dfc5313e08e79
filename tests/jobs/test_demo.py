"""The demonstration runs on bundled data, refuses the exposed table, and shows which cells are exposed."""

import json
from pathlib import Path

from typer.testing import CliRunner

from reticent.cli.main import app


def test_demo(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "refused" in result.output
    summary = json.loads((tmp_path / "people.confidential.json").read_text(encoding="utf-8"))
    assert summary["risk"]["after"]["unsafe combinations"] == 0
    assert "What the attacker finds" in result.output
    protected = json.loads((tmp_path / "firms.confidential.json").read_text(encoding="utf-8"))
    assert protected["exposed"] == []
    assert protected["cells"]["secondary"] > 0
    for name in (
        "people.safe.csv",
        "people.public.html",
        "people.confidential.html",
        "firms-primary-only.confidential.html",
    ):
        assert (tmp_path / name).stat().st_size > 0
