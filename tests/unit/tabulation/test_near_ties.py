"""Relations that a few records break, that rounding hides, or that belong to a code are found; accidents are not."""

import numpy as np
import pytest

from reticent.data.table import Dimension
from reticent.tabulation.near_ties import near_ties, ties_by_code
from reticent.tabulation.tied_responses import Numbers

RNG = np.random.default_rng(7)
N = 120


def numbers(steps: dict[str, float] | None = None, **columns: np.ndarray) -> Numbers:
    made = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    return Numbers(made, {name: (steps or {}).get(name, 1.0) for name in made})


def names_of(found: list) -> list[dict[str, int]]:
    """Each relation as coefficients, the first one positive."""
    made = []
    for tie in found:
        terms = dict(zip(tie.relation.names, tie.relation.coefs, strict=True))
        sign = 1 if next(iter(terms.values())) > 0 else -1
        made.append({name: sign * coef for name, coef in terms.items()})
    return made


def sums(broken: int = 0) -> dict[str, np.ndarray]:
    home, abroad = RNG.integers(1, 900, N), RNG.integers(1, 900, N)
    total = home + abroad
    total[:broken] += 5
    return {"total": total, "home": home, "abroad": abroad}


@pytest.mark.parametrize("broken", [0, 1, 5])
def test_a_sum_that_a_few_records_break_is_found(broken: int) -> None:
    (tie,) = near_ties(numbers(**sums(broken)), ())
    assert set(tie.relation.names) == {"total", "home", "abroad"}
    assert tie.rounding == 0
    assert not tie.everywhere
    assert sorted(abs(c) for c in tie.relation.coefs) == [1, 1, 1]


def test_a_sum_that_every_tenth_record_breaks_is_none() -> None:
    assert near_ties(numbers(**sums(N // 10)), ()) == []


def test_numbers_without_a_relation_have_none() -> None:
    loose = {name: RNG.integers(1, 10_000, N) for name in ("a", "b", "c")}
    assert near_ties(numbers(**loose), ()) == []


def test_what_is_known_is_not_found_again() -> None:
    own = numbers(**sums(1))
    known = near_ties(own, ())
    assert near_ties(own, known) == []


def test_a_missing_number_breaks_no_relation() -> None:
    columns = {name: column.astype(float) for name, column in sums().items()}
    columns["home"][:20] = 0.0
    absent = np.arange(N) < 20
    own = Numbers(columns, dict.fromkeys(columns, 1.0), absent={"home": absent})
    (tie,) = near_ties(own, ())
    assert set(tie.relation.names) == {"total", "home", "abroad"}


def test_a_ratio_is_found_up_to_rounding() -> None:
    """Pay in thousands beside pay: algebra does not see it, because each number was rounded by itself."""
    pay = RNG.integers(20_000, 90_000, N)
    found = near_ties(numbers(pay=pay, thousands=np.rint(pay / 12)), ())
    assert [set(one) for one in names_of(found)] == [{"pay", "thousands"}]
    assert found[0].rounding > 0


def test_few_rows_are_no_evidence() -> None:
    assert near_ties(numbers(x=np.array([2.0, 4.0]), y=np.array([1.0, 2.0])), ()) == []
    assert near_ties(numbers(x=np.array([1.0, 2.0])), ()) == []
    assert near_ties(Numbers({}, {}), ()) == []


def country() -> Dimension:
    return Dimension(
        "country", ("Total", "north", "a", "b", "south", "c"), (np.array([-1, 0, 1, 1, 0, 4], dtype=np.int32),)
    )


def by_country(factors: dict[int, float]) -> tuple[Numbers, np.ndarray]:
    nodes = RNG.choice(list(factors), N)
    net = RNG.integers(100, 9_000, N) * 10
    gross = np.array([value * factors[node] for value, node in zip(net, nodes)])
    return numbers(net=net, gross=gross), nodes


def test_each_code_may_have_a_ratio_of_its_own() -> None:
    own, nodes = by_country({2: 1.1, 3: 1.2, 5: 1.5})
    found = ties_by_code(own, country(), nodes, ())
    assert {tie.within.name for tie in found if tie.within} == {"a", "b", "south"}, "c is all there is of the south"
    for tie in found:
        assert set(tie.relation.names) == {"net", "gross"}
        assert str(tie.within).startswith("where country is ")


def test_codes_below_one_group_with_one_ratio_are_one_tie() -> None:
    own, nodes = by_country({2: 1.1, 3: 1.1, 5: 1.5})
    found = ties_by_code(own, country(), nodes, ())
    names = {tie.within.name: tie.within.codes for tie in found if tie.within}
    assert names["north"] == {"north", "a", "b"}
    assert "a" not in names


def test_ratios_that_only_few_codes_have_are_accidents() -> None:
    own, nodes = by_country({2: 1.1, 3: 1.2, 5: 1.5})
    loose = {name: column.copy() for name, column in own.columns.items()}
    spoilt = nodes != 2
    loose["gross"][spoilt] = RNG.integers(100, 90_000, int(spoilt.sum()))
    assert ties_by_code(Numbers(loose, own.steps), country(), nodes, ()) == []


def test_a_ratio_that_holds_everywhere_is_not_said_code_by_code() -> None:
    own, nodes = by_country({2: 1.5, 3: 1.5, 5: 1.5})
    known = near_ties(own, ())
    assert known
    assert ties_by_code(own, country(), nodes, known) == []
