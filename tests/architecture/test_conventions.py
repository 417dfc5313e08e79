"""What users and packagers look for: a bill of materials, a citation, where to report, and metadata that agree."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from reticent.base.version import VERSION

ROOT = Path(__file__).resolve().parents[2]


def test_the_bill_of_materials_lists_what_is_needed() -> None:
    ran = subprocess.run([sys.executable, ROOT / "scripts" / "sbom.py"], capture_output=True, text=True, check=True)
    bill = json.loads(ran.stdout)
    listed = {part["name"] for part in bill["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {name.partition(">")[0] for name in project["dependencies"]} <= listed
    known = {part["bom-ref"] for part in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {ref for entry in bill["dependencies"] for ref in entry["dependsOn"]} <= known


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == VERSION
    assert citation["license"] == "Apache-2.0"


def test_security_and_conduct_are_there() -> None:
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "LICENSE", "CHANGELOG.md"):
        assert (ROOT / name).read_text().strip()


def test_every_program_names_its_licence() -> None:
    """Programs and what browsers run; tests are covered by the file LICENSE."""
    folders = ("src", "scripts", "benchmarks", "examples", "docs")
    paths = [path for name in folders for path in (ROOT / name).rglob("*") if path.suffix in (".py", ".js", ".css")]
    without = [
        str(path.relative_to(ROOT))
        for path in paths
        if not {"_build", "__pycache__"} & set(path.parts)
        and "SPDX-License-Identifier: Apache-2.0" not in path.read_text(encoding="utf-8")[:200]
    ]
    assert without == []
