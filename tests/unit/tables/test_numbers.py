"""Tables of numbers only: requests that round, adjust or hide, and what the attacker makes of the result."""

import json
from typing import Any

import numpy as np
import pytest

from reticent.base.errors import ParameterError, PlanError
from reticent.tables.numbers import AdjustNumbers, RoundNumbers
from reticent.tables.problem import SuppressionProblem
from reticent.tables.request import Attacker, TableRequest
from reticent.tables.run import run_numbers, run_request
from reticent.tables.suppression import Optimal
from table_makers import with_totals

KEY = bytes(range(7, 39))


def problem() -> SuppressionProblem:
    values, relations, ids = with_totals(np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]))
    primary = np.zeros(len(values), dtype=bool)
    primary[ids[1, 2]] = True
    return SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=4.0, upper_protection=4.0, upper_bound=400.0
    )


@pytest.mark.parametrize(
    "method",
    [
        Optimal(),
        RoundNumbers(5),
        RoundNumbers(5, "rapid"),
        RoundNumbers(5, "random", protect_levels=True),
        AdjustNumbers(),
        AdjustNumbers("linf", "root", fix_total=True),
    ],
    ids=repr,
)
def test_every_request_gives_plain_numbers(method: Any) -> None:
    found = run_numbers(TableRequest(numbers=problem(), method=method, secret=KEY, test_secret=True))
    summary = json.loads(json.dumps(found.summary()))
    assert summary["exposed"] == found.exposed
    if found.outcome.values is None:
        assert found.exposed == []
        assert summary["cost"] == 8 + 17 + 12
        assert set(np.flatnonzero(problem().primary).tolist()) <= set(summary["suppressed"])
    else:
        assert len(summary["values"]) == problem().n_cells
        assert set(summary["intervals"]) >= {str(cell) for cell in np.flatnonzero(problem().primary)}


def test_what_is_published_keeps_its_promise() -> None:
    rounded = run_numbers(TableRequest(numbers=problem(), method=RoundNumbers(5)))
    values = np.array(rounded.summary()["values"])
    assert np.abs(problem().relations.residuals(values)).max() < 1e-9
    assert (values % 5 == 0).all()
    adjusted = run_numbers(TableRequest(numbers=problem(), method=AdjustNumbers(), secret=KEY, test_secret=True))
    moved = np.abs(np.array(adjusted.summary()["values"]) - problem().values)
    assert moved[problem().primary].min() >= 4 - 1e-9


def test_methods_that_draw_need_a_secret_that_is_kept() -> None:
    for method in (RoundNumbers(5, "random"), AdjustNumbers()):
        with pytest.raises(PlanError, match="needs a secret that is kept"):
            run_numbers(TableRequest(numbers=problem(), method=method))
        drawn = [
            run_numbers(TableRequest(numbers=problem(), method=method, secret=KEY, test_secret=True)) for _ in range(2)
        ]
        assert drawn[0].summary()["values"] == drawn[1].summary()["values"]
    assert not RoundNumbers(5).draws


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (RoundNumbers, {"base": 0}, "base"),
        (RoundNumbers, {"base": 5, "kind": "rndom"}, "random"),
        (RoundNumbers, {"base": 5, "steps": -1}, "steps"),
        (RoundNumbers, {}, "base"),
        (AdjustNumbers, {"norm": "l3"}, "norm"),
        (AdjustNumbers, {"weights": "rot"}, "root"),
        (AdjustNumbers, {"largest_change": 1.5}, "largest_change"),
        (AdjustNumbers, {"spread": 0.0}, "spread"),
    ],
)
def test_wrong_options_are_refused_when_made(kind: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        kind(**options)


@pytest.mark.parametrize(
    "beside",
    [{"cost": "unity"}, {"hide_empty": True}, {"attacker": Attacker(coalition=2)}, {"relations": ("a = b + c",)}],
    ids=lambda beside: next(iter(beside)),
)
def test_what_needs_codes_or_records_is_refused(beside: dict[str, Any]) -> None:
    (name,) = beside
    with pytest.raises(ParameterError, match=f"so {name} must be left out"):
        TableRequest(numbers=problem(), method=Optimal(), **beside)


def test_each_kind_of_request_has_its_function() -> None:
    with pytest.raises(ParameterError, match="run_numbers runs them"):
        run_request(TableRequest(numbers=problem()))
    with pytest.raises(ParameterError, match="at least one table"):
        TableRequest()


def test_a_search_in_numbers_ends_by_its_steps() -> None:
    """As one in tables: the same pattern on every machine, whatever the clock shows."""
    asked = TableRequest(numbers=problem(), method=Optimal(), time_limit=30.0, search_steps=400)
    first, again = (run_numbers(asked).outcome for _ in range(2))
    assert np.array_equal(first.hidden, again.hidden)
    assert run_numbers(asked).exposed == []
