"""Responses that are related: what one table hides follows from the others, unless all of them are one system.

The fixtures are what version 0.1.0 wrote for the plans beside them (`reticent table one.toml` …), each response by itself.
Every attack reads written files only; it succeeds on those of 0.1.0 and fails on what the same plans give today, for the plan
as it is (relations found in the data) and with declared relations.
"""

import csv
import functools
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from attacks.response_reader import Published, found_too_closely, unsafe_cells
from reticent.base.errors import DataError, PlanError
from reticent.data.table_plan import read_table_plan
from reticent.jobs.protect_table import run_table_plans
from reticent.report.table_report import confidential_table_report
from reticent.tables.attack.verify import verify_file

FIXTURES = Path(__file__).parent / "fixtures" / "v010" / "tables" / "responses"
SUM = {"tot": 1.0, "dom": -1.0, "exp": -1.0}
AB, AC = ("a", "b"), ("a", "c")


@dataclass(frozen=True)
class Case:
    """Plans in the order they are run, what each may add today, the files to attack, and what relates them."""

    plans: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    relation: dict[str, float]
    dimensions: tuple[tuple[str, ...], ...] = (AB,)
    inequality: bool = False
    declared: str = "tot = dom + exp"
    earlier: str = ""
    folder: str = "."


CASES = {
    "one plan": Case(("one",), tuple((r, f"one-{r}.csv") for r in SUM), SUM),
    "linked tables": Case(
        ("linked",), tuple((r, f"linked-{r}-{n}.csv") for r in SUM for n in (1, 2)), SUM, dimensions=(AB, AC)
    ),
    "earlier release": Case(
        ("first", "second"),
        (("tot", "first-tot.csv"), ("dom", "second-dom.csv"), ("exp", "second-exp.csv")),
        SUM,
        earlier='response = "tot"\nreleased = "first-tot.csv"',
    ),
    "proportional": Case(
        ("staff", "hours"),
        (("staff", "staff.csv"), ("hours", "hours-hours.csv")),
        {"staff": 40.0, "hours": -1.0},
        declared="hours = 40 staff",
        earlier='response = "staff"\nreleased = "staff.csv"',
    ),
    "part of a whole": Case(
        ("part",),
        (("tot", "part-tot.csv"), ("exp", "part-exp.csv")),
        {"exp": 1.0, "tot": -1.0},
        inequality=True,
        declared="exp <= tot",
        folder="part",
    ),
}


def attacked(case: Case, folder: Path, files: tuple[tuple[str, str], ...]) -> tuple[int, int]:
    published = Published([(response, folder / name) for response, name in files])
    published.relate(case.relation, inequality=case.inequality)
    unsafe = unsafe_cells(folder / "records.csv", sorted({r for r, _ in files}), case.dimensions)
    return found_too_closely(published, folder / "records.csv", unsafe)


def protected_today(case: Case, folder: Path, *, declare: bool) -> None:
    """Run the plans; an earlier release is one more table of the later plan."""
    source = FIXTURES / case.folder
    for name in ("records.csv", "schema.toml", *(f"{plan}.toml" for plan in case.plans)):
        shutil.copy(source / name, folder / name)
    for number, plan in enumerate(case.plans):
        path = folder / f"{plan}.toml"
        text = path.read_text()
        if number:
            table = text.index("[table]")
            section = text[table : text.index("[protect]")].replace("[table]", "[[table]]")
            before = "\n".join(line for line in section.splitlines() if not line.startswith("response"))
            text = text[:table] + section + f"{before}\n{case.earlier}\n" + text[text.index("[protect]") :]
        if declare and number == len(case.plans) - 1:
            text = text.replace("rules =", f'relations = ["{case.declared}"]\nrules =', 1)
        path.write_text(text)
        run_table_plans(read_table_plan(path))


@functools.cache
def found_before(name: str) -> tuple[int, int]:
    """What the attack finds in what was published before this was seen."""
    case = CASES[name]
    then = tuple((r, "hours.csv" if f == "hours-hours.csv" else f) for r, f in case.files)
    return attacked(case, FIXTURES / case.folder, then)


@pytest.mark.parametrize("declare", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_related_responses_hid_nothing_and_do_now(name: str, declare: bool, tmp_path: Path) -> None:
    case = CASES[name]
    exactly, closely = found_before(name)
    assert closely > 0
    assert exactly > 0 or case.inequality
    protected_today(case, tmp_path, declare=declare)
    assert attacked(case, tmp_path, case.files) == (0, 0)


@pytest.mark.parametrize(
    "relation, words",
    [
        ("tot = dom", "'tot = dom' does not hold in .* records"),
        ("tot <= exp", "'tot <= exp' does not hold"),
        ("tot = dom + exq", "names 'exq', which is not a numeric variable.*exp"),
        ("tot = dom + a", "names 'a', which is not a numeric variable"),
        ("tot dom + exp", "needs exactly one of =, <= and >="),
        ("tot = dom exp", "each side is a sum of responses"),
        ("tot = ", "a side is empty"),
        ("tot = tot", "at least two different responses"),
    ],
)
def test_wrong_relations_are_refused_without_values(relation: str, words: str, tmp_path: Path) -> None:
    for name in ("records.csv", "schema.toml", "one.toml"):
        shutil.copy(FIXTURES / name, tmp_path / name)
    plan = tmp_path / "one.toml"
    plan.write_text(plan.read_text().replace("rules =", f'relations = ["{relation}"]\nrules ='))
    with pytest.raises((PlanError, DataError), match=words) as caught:
        run_table_plans(read_table_plan(plan))
    told = str(caught.value)
    assert "\n" not in told
    assert relation.split()[0] in told
    assert not list(tmp_path.glob("one-*"))


def test_a_mean_is_published_where_its_sum_and_count_are(tmp_path: Path) -> None:
    """Version 0.1.0 had no means; beside its counts, a mean of a hidden sum would have been the sum."""
    for name in ("records.csv", "schema.toml", "one.toml"):
        shutil.copy(FIXTURES / name, tmp_path / name)
    plan = tmp_path / "one.toml"
    text = plan.read_text().replace('responses = ["tot", "dom", "exp"]', 'responses = ["tot", "count"]\nmeans = true')
    plan.write_text(text)
    run_table_plans(read_table_plan(plan))

    def read(name: str) -> list[dict[str, str]]:
        with (tmp_path / name).open(newline="") as file:
            return list(csv.DictReader(file))

    hidden = 0
    for mean, total, count in zip(*(read(f"one-{n}.csv") for n in ("tot-mean", "tot", "count")), strict=True):
        states = {total["status"], count["status"]}
        hidden += "hidden" in states
        assert mean["status"] == ("hidden" if "hidden" in states else total["status"])
        if mean["status"] == "published":
            assert float(mean["value"]) == pytest.approx(float(total["value"]) / float(count["value"]), abs=0.006)
    assert hidden
    plan.write_text(text.replace('["tot", "count"]', '["tot", "dom"]'))
    with pytest.raises(PlanError, match='needs responses with "count"'):
        run_table_plans(read_table_plan(plan))


def test_a_joint_result_has_reports_certificates_and_reasons(tmp_path: Path) -> None:
    """What a result of one response has, a joint one has, in Python and response by response."""
    for name in ("records.csv", "schema.toml", "one.toml"):
        shutil.copy(FIXTURES / name, tmp_path / name)
    results = run_table_plans(read_table_plan(tmp_path / "one.toml"))
    whole = results[0].whole
    assert whole is not None
    assert [one.table.response for one in whole.by_response()] == ["tot", "dom", "exp"]
    assert not any("Not judged" in note for note in whole.notes)
    assert any("tot = dom + exp" in note for note in whole.notes)
    (tmp_path / "proof.json").write_text(whole.certificate().to_text())
    assert whole.certificate().unproved == ()
    assert verify_file(tmp_path / "proof.json").sound
    for result in results:
        assert "Protection of a table" in confidential_table_report(result)
        hidden = next(row["cell"] for row in result.intervals() if row["status"] == "secondary")
        assert f"{' × '.join(hidden)} × {result.table.response}" in result.why(*hidden)
        assert "To publish cell" in result.what_if(*hidden) or "cannot be published" in result.what_if(*hidden)
