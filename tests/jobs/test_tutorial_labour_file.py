"""The plan of the tutorial on mu-ARGUS's demonstration data is the one in the page, and it ends in a safe file."""

import json
import re
import shutil
from pathlib import Path

from reticent.jobs.protect_file import run_file_plan

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "labour-file.md"


def test_the_walk_ends_in_a_safe_file(shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "walk"
    shutil.copytree(shared_data / "argus_mu", folder)
    plan = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert plan is not None
    (folder / "plan.toml").write_text(plan.group(1), encoding="utf-8")
    run_file_plan(folder / "plan.toml")
    risk = json.loads((folder / "confidential.json").read_text(encoding="utf-8"))["risk"]
    assert risk["before"]["unsafe combinations"] > 5000
    assert risk["after"]["unsafe combinations"] == 0
    verdict = json.loads((folder / "confidential.json").read_text(encoding="utf-8"))["verdict"]
    states = {attack["attack"]: attack["state"] for attack in verdict["attacks"]}
    assert verdict["accepted risk"] is None
    assert states["recount"] == states["linkage"] == "held"
    assert (folder / "safe.csv").exists()
