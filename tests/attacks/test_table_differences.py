"""What a cell leaves of another that it lies within, in another table, is not known where the rules call it unsafe."""

import hashlib
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from attacks.difference_families import attacked, drawn, protected
from attacks.insider_difference_families import attacked as attacked_inside
from reticent.base.errors import NotProtectedError
from reticent.data.microdata import Microdata
from reticent.data.published_table import HIDDEN
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.published import read_published_table
from reticent.jobs.protect_table import protect_table
from reticent.jobs.release import release_plan
from reticent.tables.methods import PrimaryOnly
from reticent.tables.request import Attacker
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.suppression.heuristic import Heuristic

BROKEN = {
    "ages": (3,), "flags": (7,), "missing": (21,), "bands": (8,), "ages-sums": (18,), "missing-sums": (37,),
    "ledger-memory": (48,), "ledger-memory-sums": (28,), "ledger-memory-bands": (3,), "ledger-memory-bands-sums": (0, 4),
}  # fmt: skip
"""Cases whose published tables had an unsafe difference."""


@pytest.mark.parametrize(("family", "number"), [(family, n) for family, own in BROKEN.items() for n in own])
def test_unsafe_differences_of_linked_tables_are_not_known(family: str, number: int) -> None:
    found = attacked(family, number)
    assert found["unsafe"] > 0
    assert found["exactly"] == 0


BROKEN_INSIDE = {
    "groups": (17,), "flags": (31, 33), "missing": (45,), "ages-sums": (17,), "groups-sums": (43,), "flags-sums": (39, 49),
    "missing-sums": (11, 19),
}  # fmt: skip
"""Cases in which somebody who is alone in a cell or a difference worked an unsafe difference out."""


@pytest.mark.parametrize(("family", "number"), [(family, n) for family, own in BROKEN_INSIDE.items() for n in own])
def test_sole_respondents_of_a_cell_do_not_find_unsafe_differences(family: str, number: int) -> None:
    found = attacked_inside(family, number)
    assert found["unsafe"] > 0
    assert found["exactly"] == 0


def test_a_difference_that_a_sole_respondent_of_a_cell_finds_is_not_held() -> None:
    n, codings, drawn_people, crossed = drawn("flags-sums", 39)
    run = protected(
        "flags-sums", n, codings, drawn_people, crossed=crossed, method=Heuristic(singletons=False), accept_exposed=True
    )
    assert run.state == run.inside.state == "not held"
    assert run.exposed
    assert "unsafe differences of cells exactly" in run.inside.sentence()
    with pytest.raises(NotProtectedError, match=" less "):
        run.require()


@pytest.mark.parametrize("family", ["ledger", "ledger-versions"])
def test_a_ledger_refuses_a_table_that_leaves_somebody_of_another(family: str) -> None:
    with pytest.raises(NotProtectedError, match="g3 less h1 .hidden by one and two. would be known too well"):
        attacked(family, 48)


def test_a_ledger_names_the_cells_that_leave_somebody_together() -> None:
    with pytest.raises(NotProtectedError, match=" and .* less .* .hidden by one and two. would be known too well"):
        attacked("ledger-bands", 3)


AGES = {"young": 5, "62": 5, "65": 1, "70": 4, "old": 5}
WIDE = {"young": "to 65", "62": "to 65", "65": "to 65", "70": "above 65", "old": "above 65"}
NARROW = {"young": "to 64", "62": "to 64", "65": "above 64", "70": "above 64", "old": "above 64"}
KEYS = tuple(Variable(name, role=Role.KEY) for name in ("wide", "narrow"))


def rows() -> pl.DataFrame:
    """One person of 65 among twenty."""
    found = [(WIDE[age], NARROW[age], 100 + 7 * n) for age, count in AGES.items() for n in range(count)]
    return pl.DataFrame(found, schema=["wide", "narrow", "t"], orient="row")


def people() -> Microdata:
    return Microdata.of(rows(), Schema((*KEYS, Variable("t", kind=Kind.NUMERIC))))


SPECS = [TableSpec((DimensionSpec(name),), response="t") for name in ("wide", "narrow")]
RULES = (PPercent(15), Threshold(3))


@pytest.mark.parametrize("insiders", ["exact", "protect"])
def test_the_person_of_a_difference_is_no_attacker_of_it(insiders: str) -> None:
    run = protect_table(people(), SPECS, rules=RULES, attacker=Attacker(insiders=insiders), time_limit=60)
    one, other = ({c[0]: s for c, s in zip(t.codes, t.status, strict=True)} for t in run.published)
    assert run.exposed == ()
    assert HIDDEN in (one["to 65"], other["to 64"])


def test_the_table_published_earlier_is_taken_away_too() -> None:
    first = protect_table(people(), SPECS[0], rules=RULES).published[0]
    assert HIDDEN not in first.status
    run = protect_table(people(), [SPECS[1], SPECS[0]], rules=RULES, earlier={1: first}, time_limit=60)
    (later,) = run.published
    assert HIDDEN in later.status


def test_what_was_given_away_before_refuses_nothing() -> None:
    tables = [protect_table(people(), spec, rules=RULES).published[0] for spec in SPECS]
    total = TableSpec((DimensionSpec("wide"), DimensionSpec("narrow")), response="t")
    run = protect_table(
        people(), [total, *SPECS], rules=(Threshold(1),), earlier={1: tables[0], 2: tables[1]}, time_limit=60
    )
    assert run.exposed == ()


def test_a_pattern_that_leaves_a_person_known_is_not_held() -> None:
    run = protect_table(people(), SPECS, rules=RULES, method=PrimaryOnly(), accept_exposed=True)
    assert run.state == "not held"
    assert {run.table.name_of(cell) for cell in run.exposed} == {"above 65 × Total", "Total × above 64"}
    with pytest.raises(NotProtectedError, match="recovers 1 cell too closely"):
        run.require()


def prepared(folder: Path, versions: dict[str, pl.DataFrame]) -> None:
    """Data of some versions, with all that plans for them need."""
    for version, frame in versions.items():
        frame.write_csv(folder / f"{version}.csv")
    columns = next(iter(versions.values())).columns
    numbers = [name for name in ("t", "s") if name in columns]
    keys = [name for name in columns if name not in ("id", *numbers)]
    (folder / "schema.toml").write_text(
        '[[variable]]\nname = "id"\nrole = "identifier"\n'
        + "".join(f'[[variable]]\nname = "{name}"\nkind = "numeric"\n' for name in numbers)
        + "".join(f'[[variable]]\nname = "{name}"\nrole = "key"\n' for name in keys)
    )
    (folder / "office.key").write_text(hashlib.sha256(b"office").hexdigest())


def released(
    folder: Path, name: str, version: str, responses: tuple[str, ...], rules: str, earlier: str = "", more: str = ""
) -> None:
    """A table with memory by the variable `name`."""
    (folder / f"{name}.toml").write_text(
        f'[data]\npath = "{version}.csv"\nschema = "schema.toml"\nsecret = "office.key"\n'
        f'[table]\ndimensions = ["{name}"]\nresponses = {list(responses)}\nrules = [{rules}]\n{more}'
        f'[output]\npath = "{name}.csv"\n'
        f'[ledger]\npath = "l.ledger"\nname = "{name}"\nversion = "{version}"\nmemory = true\n{earlier}'
    )
    release_plan(folder / f"{name}.toml")


THREE = '{ rule = "threshold", minimum = 3 }'
STRONG = THREE + ', { rule = "p-percent", p = 15 }'


@pytest.mark.parametrize("responses", [("count", "t"), ("t", "count")])
def test_differences_of_all_responses_are_kept(responses: tuple[str, str], tmp_path: Path) -> None:
    prepared(tmp_path, {"1": rows().with_row_index("id")})
    for name in ("wide", "narrow"):
        released(tmp_path, name, "1", responses, THREE)
    for response in responses:
        one, other = (read_published_table(tmp_path / f"{name}-{response}.csv") for name in ("wide", "narrow"))
        states = {codes[0]: state for own in (one, other) for codes, state in zip(own.codes, own.status, strict=True)}
        assert HIDDEN in (states["to 65"], states["to 64"])


@pytest.mark.parametrize("rules", [("", THREE), (THREE, "")])
def test_rules_of_either_table_are_enough(rules: tuple[str, str], tmp_path: Path) -> None:
    prepared(tmp_path, {"1": rows().with_row_index("id")})
    for name, own in zip(("wide", "narrow"), rules, strict=True):
        released(tmp_path, name, "1", ("count",), own)
    one, other = (read_published_table(tmp_path / f"{name}-count.csv") for name in ("wide", "narrow"))
    states = {codes[0]: state for own in (one, other) for codes, state in zip(own.codes, own.status, strict=True)}
    assert HIDDEN in (states["to 65"], states["to 64"])


def test_rules_look_at_the_shadow_variable_of_what_is_left(tmp_path: Path) -> None:
    """Of five people of 65 one has nearly all of `s`, and none more than others of `t`."""
    ages = [age for age, count in {**AGES, "65": 5}.items() for _ in range(count)]
    shadow = [1 if age == "65" else 100 + n for n, age in enumerate(ages)]
    shadow[ages.index("65")] = 300
    columns = {"wide": [WIDE[age] for age in ages], "narrow": [NARROW[age] for age in ages]}
    prepared(tmp_path, {"1": pl.DataFrame({**columns, "t": 100, "s": shadow}).with_row_index("id")})
    for name in ("wide", "narrow"):
        released(tmp_path, name, "1", ("t",), STRONG, more='shadow = "s"\n')
    one, other = (read_published_table(tmp_path / f"{name}-t.csv") for name in ("wide", "narrow"))
    states = {codes[0]: state for own in (one, other) for codes, state in zip(own.codes, own.status, strict=True)}
    assert HIDDEN in (states["to 65"], states["to 64"])


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_cell_that_was_hidden_for_a_sum_is_not_published_by_weaker_rules_or_of_another_version(
    version: str, tmp_path: Path
) -> None:
    """All but a0 are four firms, of which the largest is estimated too closely by the second one."""
    codes = [*[("a0", "b0")] * 5, ("a1", "b1"), ("a2", "b2"), ("a3", "b2"), ("a3", "b2")]
    firms = pl.DataFrame({"t": (38, 32, 350, 58, 147, 212, 14, 8, 43)}).with_columns(
        pl.Series("a", [a for a, _ in codes]), pl.Series("b", [b for _, b in codes])
    )
    more = pl.DataFrame({"t": (119,), "a": ("a1",), "b": ("b1",)})
    later = {"2": pl.concat([firms, more]).with_row_index("id")} if version == "2" else {}
    prepared(tmp_path, {"1": firms.with_row_index("id"), **later})
    released(tmp_path, "a", "1", ("t",), STRONG)
    earlier = '[[ledger.earlier]]\nversion = "1"\npath = "1.csv"\n' if version == "2" else ""
    released(tmp_path, "b", version, ("t",), '{ rule = "threshold", minimum = 1 }', earlier)
    first, second = (read_published_table(tmp_path / f"{name}-t.csv") for name in "ab")
    assert dict(zip(first.codes, first.status, strict=True))[("a0",)] == HIDDEN
    assert dict(zip(second.codes, second.status, strict=True))[("b0",)] == HIDDEN


@pytest.mark.parametrize("lacks", ["", "age", "t"])
def test_a_version_with_a_new_code_or_without_a_variable_is_released_too(lacks: str, tmp_path: Path) -> None:
    secret = tmp_path / "office.key"
    secret.write_text(hashlib.sha256(b"office").hexdigest())
    first = pl.DataFrame({"id": range(60), "dep": [*"abc"] * 20, "age": [*"xy"] * 30, "t": range(100, 160)})
    new = pl.DataFrame({"id": range(60, 68), "dep": ["d"] * 8, "age": ["z"] * 8, "t": range(200, 208)})
    variables = [Variable("id", role=Role.IDENTIFIER), *(Variable(name, role=Role.KEY) for name in ("dep", "age"))]
    variables.append(Variable("t", kind=Kind.NUMERIC))
    kept = [variable for variable in variables if variable.name != lacks]
    frames = [(first, variables), (pl.concat((first, new)).select([variable.name for variable in kept]), kept)]
    versions = [rt.load(frame, schema=Schema(tuple(own))) for frame, own in frames]
    for number, data in enumerate(versions, start=1):
        earlier = [("1", versions[0])] if number > 1 else []
        ledger = rt.open_ledger(tmp_path / "r.ledger", secret=secret, version=str(number), earlier=earlier)
        for variable, response in (("dep", "t"), ("age", None), ("dep", None)):
            if number == 1 or lacks not in (variable, response):
                run = data.tabulate(variable, response=response).protect(rules=[Threshold(3)])
                run.release(ledger=ledger, name=f"{variable} {response} {number}")
    assert len(ledger.releases()) == (5 if lacks else 6)
