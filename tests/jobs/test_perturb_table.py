"""`reticent round` and `reticent adjust` on JJ files."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from reticent.cli.main import app
from reticent.io.jj import read_jj


@pytest.mark.parametrize(
    "options",
    [
        ["round", "--base", "5"],
        ["round", "--base", "5", "--kind", "rapid"],
        ["round", "--base", "5", "--kind", "random", "--secret", "1", "--test-secret"],
        ["adjust", "--secret", "1", "--test-secret"],
        ["adjust", "--norm", "linf", "--weights", "unity", "--secret", "1", "--test-secret"],
        ["adjust", "--norm", "l2", "--signs", "random", "--secret", "1", "--test-secret"],
    ],
)
def test_jj_file(shared_data: Path, tmp_path: Path, options: list[str]) -> None:
    source = shared_data / "csp" / "table8.jj"
    out = tmp_path / "out.json"
    result = CliRunner().invoke(app, [options[0], str(source), *options[1:], "--json", str(out)])
    assert result.exit_code == 0, result.output
    values = np.array(json.loads(out.read_text(encoding="utf-8"))["values"])
    problem = read_jj(source)
    assert len(values) == problem.n_cells
    if "random" not in options or options[0] == "adjust":
        assert np.abs(problem.relations.residuals(values)).max() < 1e-6


def test_unknown_kind_is_refused(shared_data: Path) -> None:
    result = CliRunner().invoke(
        app, ["round", str(shared_data / "csp" / "table8.jj"), "--base", "3", "--kind", "rndom"]
    )
    assert result.exit_code != 0
    assert "Did you mean 'random'" in str(result.exception)
