"""The verdict on a file: three states, what blocks a release, what a reason lets through, and what comes out by default."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from reticent.base.errors import NotProtectedError, ParameterError, PlanError
from reticent.base.randomness import as_secret
from reticent.cli.main import app
from reticent.data.method import Applied, Method
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import AttackVerdict, FileVerdict, State
from reticent.jobs.protect_file import protect_file
from reticent.microdata.explore import Candidate, ExploreSettings, explore
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
from reticent.microdata.protect import protect_data
from reticent.report.file_report import confidential_report, public_report

X, Y = (hashlib.sha256(name).digest() for name in (b"x", b"y"))
REGION = Recode("region", map={"N1": "N", "N2": "N", "S1": "S", "S2": "S"})


def people(
    n: int = 400, *, weight: bool = True, household: bool = False, income: bool = False, keys: bool = True
) -> Microdata:
    rng = np.random.default_rng(3)
    role = Role.KEY if keys else Role.OTHER
    columns = {"region": rng.choice(["N1", "N2", "S1", "S2"], n), "sex": rng.choice(["f", "m"], n)}
    variables = [Variable("region", role=role), Variable("sex", role=role)]
    if household:
        columns["home"] = np.repeat(np.arange(n // 2) + 7000, 2)
        columns["region"] = np.repeat(columns["region"][::2], 2)
        variables.append(Variable("home", role=Role.HOUSEHOLD_ID))
    if income:
        columns["income"] = rng.lognormal(8, 1, n)
        variables.append(Variable("income", kind=Kind.NUMERIC))
    if weight:
        columns["w"] = np.full(n, 20.0)
        variables.append(Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC))
    return Microdata.of(pl.DataFrame(columns), Schema(tuple(variables)))


def test_what_is_held_is_released() -> None:
    result = protect_file(people(), (REGION,), secret=X)
    assert result.verdict.held
    assert result.file.n_records == 400
    assert [(one.attack, one.state) for one in result.verdict.asked] == [
        (name, State.HELD) for name in ("recount", "linkage", "weights")
    ]
    assert result.verdict["recount"].limit == 0.05
    assert "held" in repr(result)


def test_not_judged_is_never_held() -> None:
    unclear = AttackVerdict("recount", State.NOT_JUDGED, True, "nobody knows")
    fine = AttackVerdict("linkage", State.HELD, True, "fine", 0.0, 0.05)
    for attacks in ((unclear,), (fine, unclear), ()):
        verdict = FileVerdict(attacks)
        assert verdict.state is State.NOT_JUDGED
        assert not verdict.held
        with pytest.raises(NotProtectedError):
            verdict.require()
    unasked = AttackVerdict("order", State.NOT_HELD, False, "not shuffled", 1.0, 0.0)
    assert FileVerdict((fine, unasked)).held
    assert FileVerdict((fine, AttackVerdict("order", State.NOT_HELD, True, "", 1.0, 0.0))).state is State.NOT_HELD


def test_without_weights_the_limit_must_be_stated() -> None:
    data = people(weight=False)
    with pytest.raises(ParameterError, match="must be stated"):
        protect_file(data, (REGION,), secret=X)
    result = protect_file(data, (REGION,), most=0.05, secret=X)
    assert result.verdict["recount"].value == result.risk_after["highest record risk in the sample"] <= 0.05
    with pytest.raises(NotProtectedError, match="recount is not held"):
        protect_file(data, (REGION,), most=0.005, secret=X)
    for wrong in ("0.05", 1.5, -0.1, True):
        with pytest.raises(ParameterError, match="most must be"):
            protect_file(data, (REGION,), most=wrong, secret=X)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="twice"):
        protect_file(data, (REGION,), most=0.1, risk=RiskSection(most=0.2), secret=X)


def test_a_number_without_a_role_is_known_to_the_attacker() -> None:
    data = people(income=True)
    with pytest.raises(NotProtectedError, match="linkage is not held: 100.00%"):
        protect_file(data, (REGION,), secret=X)
    run = protect_data(data, (REGION,), secret=X)
    assert run.verdict["linkage"].state is State.NOT_HELD
    with pytest.raises(NotProtectedError):
        _ = run.result.file
    few = Recode("income", bands=(0, 3000))
    assert protect_file(data, (REGION, few), secret=X).verdict.held


def test_a_reason_lets_it_through_and_is_recorded() -> None:
    data = people(income=True)
    run = protect_data(data, (REGION,), accept_risk="a test on a closed machine", secret=X)
    assert run.result.file.n_records == 400
    assert not run.verdict.held
    assert run.result.summary()["verdict"]["accepted risk"] == "a test on a closed machine"
    page = confidential_report(run)
    assert "a test on a closed machine" in page
    assert "linkage not held" in page
    assert "closed machine" not in public_report(run.result.file)
    for empty in ("", "   ", 7):
        with pytest.raises(ParameterError, match="accept_risk"):
            protect_data(data, (REGION,), accept_risk=empty, secret=X)  # type: ignore[arg-type]


def test_what_to_do_fits_what_is_not_held() -> None:
    """Stronger masking does not shuffle records, and judges nothing."""
    for run, words in (
        (protect_data(people(income=True), (REGION,), secret=X), "Mask more strongly, or say accept_risk"),
        (
            protect_data(
                people(), (REGION,), secret=X, keep_order=True, risk=RiskSection(attacks=("recount", "order"))
            ),
            "source. Let the records be shuffled (leave out keep_order), or say accept_risk",
        ),
        (
            protect_data(people(keys=False), (), secret=X),
            "See to it that every attack can be judged, or say accept_risk",
        ),
    ):
        with pytest.raises(NotProtectedError) as refused:
            _ = run.result.file
        assert words in str(refused.value)


def test_a_file_without_keys_gets_no_all_clear() -> None:
    data = people(keys=False)
    with pytest.raises(NotProtectedError, match="recount is not judged: the schema has no keys"):
        protect_file(data, (), secret=X)
    run = protect_data(data, (), secret=X)
    assert run.result.risk_after["unsafe combinations"] is None
    assert "not judged" in repr(run)
    page = confidential_report(run)
    assert "no unsafe combination" not in page
    assert "recount not judged" in page
    found = explore(data, [Candidate("nothing", ())], settings=ExploreSettings(draws=1, fresh=1), secret=X)
    assert found.chosen is None
    assert "the risk is not judged" in found.points[0].failed
    # linkage alone may be asked for, and then it alone is judged
    only = RiskSection(attacks=("linkage",))
    alone = protect_file(data, (), risk=only, secret=X).verdict
    assert alone.held
    assert not alone.clear
    assert "not judged: recount" in alone.headline


def test_attacks_that_are_asked_for_must_be_possible() -> None:
    with pytest.raises(NotProtectedError, match="households is not judged"):
        protect_file(people(), (REGION,), risk=RiskSection(attacks=("recount", "households")), secret=X)
    with pytest.raises(ParameterError, match="Did you mean 'linkage'"):
        RiskSection(attacks=("linkge",))
    with pytest.raises(ParameterError, match="must be a list"):
        RiskSection(attacks="linkage")  # type: ignore[arg-type]


def test_intervals_are_reported_and_judged_where_a_limit_is_given() -> None:
    data = people(income=True)
    open_ = protect_data(data, (REGION,), secret=X).verdict["intervals"]
    assert open_.state is State.NOT_JUDGED
    assert open_.value == 1.0
    judged = protect_data(data, (REGION,), risk=RiskSection(interval_most=0.2), secret=X).verdict
    assert judged["intervals"].state is State.NOT_HELD
    assert judged["intervals"].asked
    noisy = protect_data(data, (Noise(("income",), k=2.0),), risk=RiskSection(interval_most=0.2), secret=X).verdict
    assert noisy["intervals"].state is State.HELD


def test_weights_that_occur_in_one_region_are_found() -> None:
    data = people()
    of = {"N1": 20.0, "N2": 21.0, "S1": 20.0, "S2": 20.0}
    leaking = data.with_numbers("w", np.array([of[str(code)] for code in data.texts("region")]))
    verdict = protect_data(leaking, (REGION,), secret=X).verdict["weights"]
    assert verdict.state is State.NOT_HELD
    # 21 is N2 wherever it occurs, and 20 is N1 where the file shows N
    assert verdict.value == sum(str(code).startswith("N") for code in data.texts("region"))
    assert protect_data(data, (REGION,), secret=X).verdict["weights"].state is State.HELD
    # as finely shown as it is known, a weight reveals nothing more
    assert protect_data(leaking, (), secret=X).verdict["weights"].state is State.HELD


def test_order_and_household_numbers_are_drawn_by_the_secret() -> None:
    data = people(household=True)
    reason = "this test looks at numbers and order"
    one = protect_data(data, (), accept_risk=reason, secret=X).result.file.frame.table
    again = protect_data(data, (), accept_risk=reason, secret=X).result.file.frame.table
    other = protect_data(data, (), accept_risk=reason, secret=Y).result.file.frame.table
    assert one.equals(again)
    assert not one.equals(other)
    true = data.frame.table
    assert not set(one["home"]) & set(true["home"].cast(str))
    assert one.group_by("home").len()["len"].to_list() == [2] * 200
    kept = protect_data(data, (), accept_risk=reason, secret=X, keep_order=True, keep_household_ids=True)
    assert kept.result.file.frame.table.equals(true)
    assert kept.verdict["order"].state is State.NOT_HELD
    dropped = protect_data(data, (RemoveIdentifiers(("home",)),), accept_risk=reason, secret=X)
    assert dropped.verdict["order"].state is State.HELD
    assert dropped.result.file.schema["region"].household is False


def test_members_of_a_household_are_judged_together() -> None:
    """Persons are frequent, the pairs they live in are not."""
    data = people(household=True)
    verdict = protect_data(data, (), secret=X, most=0.02).verdict
    assert verdict["recount"].state is State.HELD
    rare = data.with_codes(
        "sex", np.where(np.arange(400) < 2, 2, data.encoded("sex").codes).astype(np.int32), ["f", "m", "x"]
    )
    both = protect_data(rare, (), secret=X, most=0.1).verdict
    assert both["households"].value is not None
    assert both["households"].value > (both["recount"].value or 0.0)


@dataclass(frozen=True)
class Renamed(Method):
    """A method that writes other codes and does not say what they stand for."""

    name: ClassVar[str] = "renamed"

    def apply(self, data: Microdata, *, secret: object, progress: object) -> Applied:
        codes = data.encoded("region").codes
        return Applied(data.with_codes("region", codes, [f"z{i}" for i in range(len(data.categories("region")))]))


def test_codes_that_nobody_explains_are_not_judged() -> None:
    with pytest.raises(NotProtectedError, match="recount is not judged: a step wrote codes of region"):
        protect_file(people(), (Renamed(),), secret=X)


@pytest.mark.parametrize("steps", [(REGION,), (Pram(("region", "sex"), keep=0.8), Noise(("income",), k=0.3))])
def test_explore_judges_by_the_risk_that_protect_reports(steps: tuple[Method, ...]) -> None:
    data = people(income=True, household=True)
    found = explore(data, [Candidate("one", steps)], settings=ExploreSettings(draws=1, fresh=1), secret=X)
    verdict = protect_data(data, steps, secret=as_secret(X).child("draw 0"), most=1.0).verdict
    assert found.points[0].risk == max(one.value for one in verdict.asked if one.value is not None)
    for attack in ("recount", "linkage", "households"):
        assert found.points[0].measures[attack] == verdict[attack].value


PLAN = """
[data]
path = "people.csv"
schema = "people.toml"
[risk]
most = 0.05
[[step]]
method = "recode"
variable = "region"
map = { N1 = "N", N2 = "N", S1 = "S", S2 = "S" }
[output]
path = "safe.csv"
report = "report.html"
summary = "summary.json"
"""
SCHEMA = """
[[variable]]
name = "region"
role = "key"
[[variable]]
name = "sex"
role = "key"
[[variable]]
name = "income"
kind = "numeric"
"""


def test_the_command_ends_with_5_and_writes_nothing(tmp_path: Path) -> None:
    people(weight=False, income=True).frame.table.write_csv(tmp_path / "people.csv")
    (tmp_path / "people.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    run = CliRunner().invoke(app, ["protect", str(tmp_path / "plan.toml")])
    assert isinstance(run.exception, NotProtectedError)
    assert run.exception.exit_code == 5
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv", "people.toml", "plan.toml"}
    accepted = PLAN.replace("most = 0.05", 'most = 0.05\naccept_risk = "agreed with the board"')
    (tmp_path / "plan.toml").write_text(accepted, encoding="utf-8")
    run = CliRunner().invoke(app, ["protect", str(tmp_path / "plan.toml")])
    assert run.exit_code == 0, run.output
    assert "agreed with the board" in run.output
    assert "not held" in run.output
    verdict = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["verdict"]
    assert verdict["state"] == "not held"
    assert verdict["accepted risk"] == "agreed with the board"
    for spoilt in ("", "most = 0.05\naccept_risk = ''", "most = 2"):
        (tmp_path / "plan.toml").write_text(PLAN.replace("most = 0.05", spoilt), encoding="utf-8")
        run = CliRunner().invoke(app, ["protect", str(tmp_path / "plan.toml")])
        assert isinstance(run.exception, PlanError | ParameterError), spoilt


def test_the_ten_lines_of_the_read_me_are_held(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import re
    import shutil

    import reticent

    for name in ("people.csv", "people.schema.toml"):
        shutil.copy(Path(reticent.__file__).parent / "demo_data" / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert lines is not None
    names: dict[str, object] = {}
    exec(lines.group(1), names)  # noqa: S102
    assert names["run"].verdict.held  # type: ignore[attr-defined]
    assert (tmp_path / "people.masked.csv").exists()
