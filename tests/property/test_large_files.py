"""Facts of large files assume that it is known which record is whose: safe with them is safe with the exact ones."""

import numpy as np
import polars as pl
import pytest

from reticent.data.facts import Facts, Term, Watch
from reticent.data.microdata import Microdata
from reticent.data.published import release_file
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.history.file_recipe import FileRecipe
from reticent.microdata.facts import matched
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.round_values import RoundValues
from reticent.releases.joint import JointSystem
from reticent.releases.unknowns import Version
from reticent.releases.verdict import Outcome
from reticent.releases.verifier import verify
from reticent.tabulation.ground import GroundedData, ground_of

KEY = Variable("area", role=Role.KEY, codes=("a", "b", "c"))
PAY = Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)
BASE = 5


def made(rng: np.random.Generator) -> tuple[GroundedData, FileRecipe]:
    """Some records, and a file of them with a blank or two and pay rounded, in another order."""
    n = int(rng.integers(4, 8))
    area, pay = rng.choice(["a", "b", "c"], size=n), rng.integers(0, 30, size=n)
    data = Microdata.of(pl.DataFrame({"area": area, "pay": pay.astype(float)}), Schema((KEY, PAY)))
    shown = [None if rng.random() < 0.3 else str(code) for code in area]
    frame = pl.DataFrame({"area": pl.Series(shown, dtype=pl.String), "pay": np.floor(pay / BASE + 0.5) * BASE})
    file = release_file(Microdata.of(frame.sample(fraction=1.0, shuffle=True, seed=1), Schema((KEY, PAY))))
    steps = (RoundValues(variables=("pay",), base=BASE), LocalSuppression(k=2, keys=("area",)))
    return ground_of(data, ("area",), responses=["pay"]), FileRecipe(file, steps)


def judged(grounded: GroundedData, told: Facts, watch: Watch) -> tuple[Outcome, bool]:
    """The verdict for a file beside something watched, and whether the verifier accepts its points."""
    system = JointSystem([Version(grounded.ground, values=grounded.values)])
    system.accept(Facts("policy", (), watches=(watch,)))
    verdict = system.judge(told)
    if verdict.safe:
        system.accept(verdict)
    return verdict.outcome, verdict.safe and verify([grounded.ground], system.accepted, system.witnesses())


@pytest.mark.parametrize(
    "seeds", [range(25), pytest.param(range(25, 300), marks=pytest.mark.deep)], ids=["few", "many"]
)
def test_what_is_safe_where_records_are_known_is_safe_where_they_are_not(
    monkeypatch: pytest.MonkeyPatch, seeds: range
) -> None:
    seen = set()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        grounded, recipe = made(rng)
        unit = int(rng.integers(grounded.ground.n_units))
        value = int(grounded.whole("pay")[unit])
        near = int(rng.integers(1, 4))
        term = Term.total("pay", np.array([unit]))
        watch = Watch("pay", term.places, term.weights, max(value - near, 0), value + near, "u", "policy")
        exact = judged(grounded, recipe.facts(grounded, "F")[0], watch)
        with monkeypatch.context() as patch:
            patch.setattr(matched, "MOST_FLOWS", 0)
            (told,) = recipe.facts(grounded, "F")
        assert told.assumes
        assert len(told.own) < len(recipe.facts(grounded, "F")[0].own) or not told.own
        strict = judged(grounded, told, watch)
        assert strict[0] is not Outcome.EXPOSED, "what is assumed proves nothing"
        assert strict != (Outcome.SAFE, False)
        if strict[0] is Outcome.SAFE:
            assert exact == (Outcome.SAFE, True), seed
        seen.add((exact[0], strict[0]))
    assert {(Outcome.SAFE, Outcome.SAFE), (Outcome.SAFE, Outcome.UNDECIDED)} <= seen


def test_a_small_file_is_stated_exactly() -> None:
    grounded, recipe = made(np.random.default_rng(3))
    (told,) = recipe.facts(grounded, "F")
    assert not told.assumes


def test_combinations_near_those_that_occur_are_listed_where_not_all_can_be() -> None:
    data = Microdata.of(
        pl.DataFrame({"x": ["a", "a", "b"], "y": ["p", "q", "p"], "pay": [1.0, 2.0, 3.0]}),
        Schema((Variable("x", role=Role.KEY, codes=("a", "b", "c")), Variable("y", role=Role.KEY), PAY)),
    )
    few = ground_of(data, ("x", "y"), most=1).ground
    assert not few.complete
    assert few.codes.tolist()[:3] == data.codes(("x", "y")).tolist()
    assert few.codes.tolist()[3:] == [[2, 0]], "c × p lies beside two that occur"
    assert few.atom_of_unit.tolist() == [0, 1, 2]
