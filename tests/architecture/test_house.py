"""The house in numbers: thin jobs, short functions, contracts that know every package, and what CONTRIBUTING.md says of it."""

import gc
import importlib.util
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reticent"
PACKAGES = {f"reticent.{path.parent.name}" for path in SOURCE.glob("*/__init__.py")}
FACADES = {f"reticent.{path.stem}" for path in SOURCE.glob("[a-z]*.py")}
DOORS = {"reticent.cli", "reticent.web", "reticent.workbench", "reticent.server"}
MAX_JOB, USUAL_LENGTH = 200, 30


@cache
def _today() -> dict[str, Any]:
    """What scripts/measure_house.py measures."""
    spec = importlib.util.spec_from_file_location("measure_house", ROOT / "scripts" / "measure_house.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    gc.disable()  # see parsed.py; and each collection goes through all trees
    try:
        return dict(module.measure(SOURCE, ROOT / "tests"))
    finally:
        gc.enable()


def _contracts() -> list[dict[str, Any]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def _contract(words: str) -> dict[str, Any]:
    return next(one for one in _contracts() if one["name"].startswith(words))


def test_every_package_has_a_floor() -> None:
    layers = _contract("Layers")["layers"]
    named = {f"reticent.{name.strip()}" for layer in layers for name in layer.split("|")}
    assert named >= PACKAGES
    assert named - PACKAGES <= FACADES


def test_the_fence_around_numba_has_no_gap() -> None:
    assert set(_contract("Numba")["source_modules"]) == PACKAGES - {"reticent.kernels"}


def test_doors_reach_jobs_and_the_front_door_only() -> None:
    below = PACKAGES - DOORS - {"reticent.api", "reticent.jobs", "reticent.base"}
    assert set(_contract("Commands")["forbidden_modules"]) == below
    assert set(_contract("Pages")["forbidden_modules"]) >= below
    assert set(_contract("Pages")["source_modules"]) == DOORS & PACKAGES - {"reticent.cli"}
    assert set(_contract("The web framework")["source_modules"]) == PACKAGES - DOORS | {"reticent.cli"}


def test_jobs_are_thin() -> None:
    """A job fetches, calls and writes; the line of the licence does not count."""
    lines = {path: path.read_text(encoding="utf-8").count("\n") - 1 for path in (SOURCE / "jobs").rglob("*.py")}
    assert {str(path.relative_to(SOURCE)) for path, own in lines.items() if own > MAX_JOB} == set()


def test_functions_are_short() -> None:
    assert _today()["function length, 95 %"] <= USUAL_LENGTH


def test_the_measured_numbers_are_those_of_today() -> None:
    """The table of CONTRIBUTING.md may be a few changes old, not more."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    row = re.search(r"\| lines of source, of jobs \|[^|]*\| ([\d,]+), ([\d,]+) \|", text)
    assert row is not None
    said = [int(number.replace(",", "")) for number in row.groups()]
    now = _today()
    for number, name in zip(said, ("lines of source", "lines of jobs"), strict=True):
        assert abs(number - now[name]) <= 0.15 * now[name], f"{name}: {now[name]}, CONTRIBUTING.md says {number}"
    share = re.search(r"\| tests ÷ source \(lines\) \|[^|]*\| (0\.\d+) \|", text)
    assert share is not None
    assert abs(float(share.group(1)) - now["tests / source"]) <= 0.03
