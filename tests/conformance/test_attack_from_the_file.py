"""Every table method against an attacker who has only the written files (`tests/attacks/file_reader.py`).

Methods come from the registry. Suppression, controlled rounding with levels and adjustment must leave every unsafe
cell its level; after noise, whatever this reader determines must be in the run's own report.
"""

import itertools
import json
import math
from pathlib import Path

import pytest

from attacks.file_reader import Attack, Cell, Knowledge, Release, attack_files, own_bounds
from attacks.table_families import (
    COUNTS,
    FAMILIES,
    PERCENT,
    Records,
    Truth,
    generate,
    judged,
    members_of,
    output_files,
    summary_files,
    truth_of,
    write_inputs,
)
from reticent.base.errors import InfeasibleError, NotProtectedError, ParameterError
from reticent.data.table_plan import read_table_plan
from reticent.jobs.protect_table import run_table_plans
from reticent.tables.methods import TABLE_METHODS

SAMPLE, DEEP = 1, 200
SLACK = 1e-6
NOISE = ("random-rounding", "cell-key", "invariant", "resample", "small-counts", "primary-only")
"""Methods that promise nothing by themselves: what they leave open must be reported."""
CHANGED = ("round", "adjust", *NOISE[:5])
TIED = {"responses": ({"turnover": -1.0, "home": 1.0, "abroad": 1.0},)}
LARGEST, CHANGE = 3, 0.4
LEAST_LEVEL = 1.0
"""No level of a sum is smaller: a unit, whatever share of the value that is."""


def options(method: str, records: Records) -> dict[str, object]:
    """A plan's `[protect]` for the method; the base of a rounding is wide enough for the levels of the table."""
    levels = [truth.levels[1] for truth in truth_of(records).values() if truth.levels]
    base = 3 if records.family in COUNTS else 1 + math.ceil(max(levels, default=2.0))
    own: dict[str, dict[str, object]] = {
        "round": {"base": base, "steps": 1, "protect_levels": True},
        "random-rounding": {"base": base, "accept_exposed": True},
        "small-counts": {"base": 3, "accept_exposed": True},
        "cell-key": {"largest": LARGEST, "variance": 2, "accept_exposed": True},
        "adjust": {"largest_change": CHANGE, "fix_total": True},
        "invariant": {"accept_exposed": True},
        "resample": {"accept_exposed": True},
        "primary-only": {"accept_exposed": True},
    }
    name, _, choice = method.partition(" ")
    return {"method": name, "time_limit": 30, **own.get(name, {}), **({"choice": choice} if choice else {})}


def knowledge(method: str, records: Records, chosen: dict[str, object]) -> Knowledge:
    """What is public about a run: the method and the parameters that bound a change."""
    counted = records.family in COUNTS
    return Knowledge(
        method=method.partition(" ")[0] if method.partition(" ")[0] in CHANGED else "suppression",
        counts=frozenset({"count"} if "count" in records.responses and not records.weights else ()),
        least={"count": 1.0},  # nobody counts for less than one
        base=float(chosen.get("base", 0)),  # type: ignore[arg-type]
        steps=int(chosen.get("steps", 0)),  # type: ignore[call-overload]
        largest=LARGEST if counted and not records.weights else 0.0,
        change=float(chosen.get("largest_change", 0)),  # type: ignore[arg-type]
        unsafe=frozenset(cell for cell, truth in truth_of(records).items() if truth.levels)
        if method == "adjust"
        else frozenset(),
        relations=TIED.get(records.family, ()),
    )


class Run:
    """One table protected by one method through its plan, and what the reader makes of the files."""

    def __init__(self, method: str, family: str, number: int, folder: Path) -> None:
        self.records = generate(family, number)
        self.truth = truth_of(self.records)
        self.chosen = options(method, self.records)
        self.folder, self.refusal = folder, ""
        try:
            run_table_plans(read_table_plan(write_inputs(self.records, folder, self.chosen)))
        except (NotProtectedError, InfeasibleError, ParameterError) as err:
            self.refusal = str(err)
            assert not list(folder.glob("table*.csv")), "refused, and written all the same"
            return
        self.known = knowledge(method, self.records, self.chosen)
        self.release, self.attack = attack_files(output_files(self.records, folder), self.records.parents, self.known)

    @property
    def unsafe(self) -> dict[Cell, Truth]:
        """The cells that must be protected."""
        return {cell: truth for cell, truth in self.truth.items() if truth.levels}

    def reported(self) -> set[tuple[str, tuple[str, ...]]]:
        """Cells that the run's own report calls exposed: the response, and the codes that are no total."""
        return {
            (response, tuple(sorted(code for code in row["cell"] if code != "Total")))
            for response, path in summary_files(self.records, self.folder)
            for row in json.loads(path.read_text())["exposed"]
        }


def name_of(cell: Cell) -> tuple[str, tuple[str, ...]]:
    return cell[0], tuple(sorted(code for _, code in cell[1]))


def too_close(truth: Truth, ends: tuple[float, float], least: float) -> bool:
    """Whether an interval does not reach the levels; no level reaches below what is known when all is hidden."""
    assert truth.levels is not None
    low, high = ends
    assert low - 1e-5 <= truth.value <= high + 1e-5, "the reader excludes the truth: its knowledge is wrong"
    below = max(truth.value - truth.levels[0], least)
    return high - low < SLACK or low > below + SLACK or high < truth.value + truth.levels[1] - SLACK


def few_candidates(run: "Run") -> list[Cell]:
    """Unsafe cells that an adjustment leaves too little room to somebody who knows which they are, and their levels."""
    found = []
    for cell, one in run.unsafe.items():
        assert one.levels is not None
        # a value that is printed has levels of its own; only an interval must reach the smallest count that is safe
        down, up = (
            (one.value * PERCENT / 100,) * 2 if run.records.weights else (min(one.levels[0], one.value), one.levels[1])
        )
        shown, whole = run.release.cells[cell].value, cell[0] in run.known.counts
        # counts move by a number of people, sums by a share of the true one, or by the least level, which is a number
        gap = (
            (shown - up, shown + down)
            if whole or not one.value or one.levels[1] <= LEAST_LEVEL
            else (shown / (1 + up / one.value), shown / max(1 - down / one.value, 1e-9))
        )
        inside = gap[0] + SLACK < one.value < gap[1] - SLACK
        found += [cell] if inside or run.attack.width_beside(cell, gap) < down + up - SLACK else []
    return found


def exposed_cells(run: "Run") -> list[Cell]:
    """Unsafe cells that the reader places within their levels, or after adjustment within too few candidates."""
    if run.known.method == "adjust":
        return few_candidates(run)
    most = all_hidden(run.release, run.known)
    return [cell for cell, one in run.unsafe.items() if too_close(one, run.attack.ends(cell), most.ends(cell)[0])]


def all_hidden(release: Release, known: Knowledge) -> Attack:
    """What is left to somebody who sees nothing but which cells are empty: no method can do better than that."""
    marked = known.method == "suppression" and not known.hides_empty
    bounds = {
        cell: (0.0, 0.0) if shown.status == "empty" else (known.least.get(cell[0], 0.0) if marked else 0.0, math.inf)
        for cell, shown in release.cells.items()
    }
    return Attack(release, known, bounds)


def found_by_insiders(run: "Run") -> list[Cell]:
    """Unsafe cells that a respondent who is alone in hidden cells, and so knows these, works out exactly."""
    hidden = {cell for cell, shown in run.release.cells.items() if shown.status == "hidden"}
    known: dict[int, set[Cell]] = {}
    for cell in hidden:
        if cell in run.truth and run.truth[cell].alone >= 0:
            known.setdefault(run.truth[cell].alone, set()).add(cell)
    found = []
    for own in known.values():
        bounds = own_bounds(run.release, run.known) | {cell: (run.truth[cell].value,) * 2 for cell in own}
        attack = Attack(run.release, run.known, bounds)
        for cell in hidden - own:
            if cell in run.unsafe:
                low, high = attack.ends(cell)
                found += [cell] if high - low < SLACK else []
    return found


def published_sums(run: "Run") -> list[list[Cell]]:
    """Sums of hidden cells that a total less its published parts gives, and that the rules call unsafe."""
    members = members_of(run.records)
    found = []
    for line in run.release.sums:
        hidden = [cell for cell in line if run.release.cells[cell].status == "hidden"]
        if not hidden or any(line[cell] < 0 for cell in hidden) or len({cell[0] for cell in line}) > 1:
            continue
        together = set().union(*(members[place] for _, place in hidden))
        if judged(run.records, hidden[0][0], together).levels:
            found.append(hidden)
    return found


def check(method: str, family: str, numbers: range, folder: Path) -> None:
    """All tables of a family by one method; every failure is listed."""
    failures: list[str] = []
    protected = 0
    for number in numbers:
        run = Run(method, family, number, folder / f"{number}")
        if run.refusal:
            failures += wrongly_refused(method, run, number)
            continue
        protected += 1
        if method.partition(" ")[0] in NOISE:
            failures += unreported(run, number)
            continue
        failures += [f"{number}: {name_of(cell)}" for cell in exposed_cells(run)]
        if method.partition(" ")[0] not in CHANGED:
            failures += [f"{number}: {[name_of(c) for c in cells]} together" for cells in published_sums(run)]
            if family not in COUNTS:  # who is counted knows of being there, not of being alone
                failures += [f"{number}: {name_of(cell)} from inside" for cell in found_by_insiders(run)]
    assert not failures, f"{method}, {family}: {len(failures)} of {protected} tables' cells, {failures[:5]}"


def unreported(run: Run, number: int) -> list[str]:
    """Cells that the reader determines and the run's report does not name."""
    reported = run.reported()
    found = []
    for cell in run.unsafe if run.known.method in ("small-counts", "resample", "suppression") else run.truth:
        low, high = run.attack.ends(cell)
        if high - low < SLACK and run.truth[cell].value and name_of(cell) not in reported:
            found.append(f"{number}: {name_of(cell)} determined and not reported")
    return found


def wrongly_refused(method: str, run: Run, number: int) -> list[str]:
    """Small tables that a suppression method refuses although some pattern is safe."""
    if method.partition(" ")[0] in CHANGED or not run.records.family.startswith("small"):
        return []
    found = safe_pattern(run.records)
    return [] if found is None else [f"{number}: refused ({run.refusal}), although {found} is safe"]


def safe_pattern(records: Records) -> list[str] | None:
    """A set of cells that protects everything when hidden, by trying all of them; a row of parts and its total."""
    parts = {next(iter(place))[1] if place else "Total": rows for place, rows in members_of(records).items()}
    names = list(parts)
    for size in range(len(names) + 1):
        for hidden in itertools.combinations(names, size):
            if _is_safe(records, parts, set(hidden)):
                return list(hidden)
    return None


def _is_safe(records: Records, parts: dict[str, set[int]], hidden: set[str]) -> bool:
    """One relation: what is known about each hidden part follows from the total less the others."""
    response = records.responses[0]
    cells = {name: judged(records, response, rows) for name, rows in parts.items()}
    if any(cell.levels and name not in hidden for name, cell in cells.items()):
        return False
    least = 1.0 if response == "count" else 0.0
    unknown = hidden - {"Total"}
    if "Total" in hidden or not unknown:
        return "Total" not in hidden or bool(unknown)
    together = judged(records, response, set().union(*(parts[name] for name in unknown)))
    if together.levels:
        return False
    for name in unknown:
        others = unknown - {name}
        ends = (least if others else cells[name].value, together.value - least * len(others))
        if cells[name].levels and too_close(cells[name], ends, least):
            return False
    return True


CASES = [(method, family) for method in (*TABLE_METHODS, "small-counts alternating") for family in FAMILIES]


@pytest.mark.parametrize(("method", "family"), CASES)
def test_the_files_tell_no_more_than_the_method_says(method: str, family: str, tmp_path: Path) -> None:
    check(method, family, range(SAMPLE), tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize(("method", "family"), CASES)
def test_two_hundred_tables_of_each_method(method: str, family: str, tmp_path: Path) -> None:
    check(method, family, range(DEEP // len(FAMILIES) + 1), tmp_path)


@pytest.mark.parametrize("method", ["elimination", "heuristic", "hypercube", "modular", "optimal"])
def test_what_everybody_knows_whatever_is_hidden_stops_no_table(method: str, tmp_path: Path) -> None:
    """Two cells with somebody in each add up to a third in the linked table, which is at least 2 and was to look like 1."""
    run = Run(method, "linked-counts", 19, tmp_path)
    assert not run.refusal
    assert not exposed_cells(run)
    assert "whatever is hidden" in (tmp_path / "summary.json").read_text()
