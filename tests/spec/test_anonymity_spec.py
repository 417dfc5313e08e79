"""k-anonymity, its kin and diversity: worked by hand, by definition, and against the peers' published values."""

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from reference.key_sets import distinction_and_separation
from reticent.base.errors import DataError, ParameterError
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.risk import diversity
from reticent.microdata.risk.anonymity import (
    attacker_risks,
    delta_presence,
    k_anonymity,
    k_map,
)
from reticent.microdata.risk.combinations import Combination, KeyCombinations, unsafe_combinations
from reticent.microdata.risk.diversity import ValueTable, attribute_risk, joint_diversity
from reticent.microdata.risk.regional import regional_check
from reticent.microdata.risk.semantics import Semantics
from reticent.microdata.risk.shapley import key_set_risks, key_shares, shapley_values

IHSN = {
    "residence": list("UUUURUUUUU"),
    "gender": list("FFFMFMFMFF"),
    "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
    "labor": ["E", "E", "N", "E", "Un", "E", "N", "Un", "N", "N"],
    "health": list("yyyyynnyny"),
    "w": [180, 180, 215, 76, 186, 76, 180, 215, 186, 76],
}
FOUR = ("residence", "gender", "education", "labor")


def _file(columns: dict[str, list[object]], keys: tuple[str, ...], **roles: Role) -> Microdata:
    frame = pl.DataFrame(columns)
    variables = [
        Variable(
            n,
            role=roles.get(n, Role.KEY if n in keys else Role.OTHER),
            kind=Kind.NUMERIC if roles.get(n) is Role.WEIGHT else Kind.NOMINAL,
        )
        for n in frame.columns
    ]
    return Microdata.of(frame, Schema(tuple(variables)))


@pytest.fixture
def ihsn() -> Microdata:
    return _file(IHSN, FOUR, w=Role.WEIGHT)


def test_rows_12_and_14_ihsn(ihsn: Microdata) -> None:
    result = k_anonymity(ihsn, ks=(2, 3))
    assert result.sample_counts.tolist() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert [(v.k, v.records) for v in result.violations] == [(2, 4), (3, 10)]
    assert k_map(ihsn).population_counts.tolist() == [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    assert k_map(ihsn).k == 152
    assert int((k_map(ihsn).population_counts < 180).sum()) == 2


def test_row_15_distinct_diversity(ihsn: Microdata) -> None:
    result = attribute_risk(ihsn, "health")
    assert result.record_distinct_l.tolist() == [1, 1, 1, 2, 1, 2, 1, 1, 2, 2]
    assert result.distinct_l == 1
    assert result.record_distinct_l.mean() == pytest.approx(1.4)


def test_row_53_adult(shared_data: Path) -> None:
    frame = pl.read_csv(next((shared_data / "microdata/adult").glob("adult.csv")), separator=";")
    data = Microdata.of(frame, Schema(tuple(Variable(n, role=Role.KEY) for n in frame.columns)))
    risks = attacker_risks(data)
    assert risks.prosecutor_average == pytest.approx(0.6465751607983555, abs=1e-15)
    counts = data.patterns(data.schema.keys).counts
    assert len(counts) == 19502
    assert ((counts == 1).sum(), (counts == 2).sum()) == (15512, 2098)
    assert (counts == 1).sum() / data.n_records == pytest.approx(0.5142895033485844, abs=1e-15)


def test_adult_as_pycanon_reports_it(shared_data: Path) -> None:
    """pyCANON 1.3.5 run on the same file: occupation given sex, race and marital status."""
    frame = pl.read_csv(shared_data / "microdata/adult/adult.csv", separator=";")
    data = Microdata.of(frame, Schema(tuple(Variable(n, role=Role.KEY) for n in frame.columns)))
    keys = ("sex", "race", "marital-status")
    found = attribute_risk(data, "occupation", keys)
    assert (found.k, found.alpha, found.distinct_l, int(found.entropy_l)) == (1, 1.0, 1, 1)
    assert found.t_equal == pytest.approx(0.8766328492805519, abs=1e-12)
    assert found.beta_basic == pytest.approx(36.23703703703704, abs=1e-10)
    assert found.delta == pytest.approx(3.9912776564959493, abs=1e-12)
    assert attribute_risk(data, "occupation", keys, log_base=2.0).delta == pytest.approx(found.delta / math.log(2))
    assert found.beta_enhanced == math.inf  # the definition: a value whose gain passes −ln p has no β at all


def test_row_60_distinction_and_separation() -> None:
    data = _file(
        {"age": [20, 30, 40, 20, 40], "sex": list("FFFMM"), "state": ["CA", "CA", "TX", "NY", "CA"]},
        ("age", "sex", "state"),
    )
    expected = {("sex",): (0.4, 0.6), ("state",): (0.6, 0.7), ("age",): (0.6, 0.8), ("sex", "state"): (0.8, 0.9),
                ("age", "sex"): (1.0, 1.0)}  # fmt: skip
    for keys, (distinction, separation) in expected.items():
        found = distinction_and_separation(data, keys)
        assert (found.distinction, found.separation) == pytest.approx((distinction, separation))
    table = {row.keys: (row.distinction, row.separation) for row in key_set_risks(data)}
    for keys, pair in expected.items():
        assert table[keys] == pytest.approx(pair)


def test_row_59_average_risk_after_recoding() -> None:
    """Seven records in three groups of 2, 2 and 3: average 3/7, highest 1/2."""
    risks = attacker_risks(_file({"a": list("xxyyzzz")}, ("a",)))
    assert risks.prosecutor_average == pytest.approx(0.42857142857142855)
    assert risks.prosecutor_highest == 0.5
    assert risks.prosecutor_at_risk == 1.0
    assert attacker_risks(_file({"a": list("xxyyzzz")}, ("a",)), threshold=0.4).prosecutor_at_risk == pytest.approx(
        4 / 7
    )


def test_journalist_and_marketer_by_hand() -> None:
    """f = 2, 1; the population has 4 and 5: journalist highest 1/4, marketer (2/4 + 1/5)/3."""
    sample = _file({"a": list("xxy")}, ("a",))
    population = _file({"a": list("xxxxyyyyyz")}, ("a",))
    risks = attacker_risks(sample, population=population, threshold=0.22)
    assert risks.journalist_highest == 0.25
    assert risks.marketer == pytest.approx((2 / 4 + 1 / 5) / 3)
    assert risks.journalist_average == pytest.approx(max(2 / 9, (2 / 4 + 1 / 5) / 3))
    assert risks.journalist_at_risk == pytest.approx(2 / 3)
    presence = delta_presence(sample, population)
    assert (presence.smallest, presence.largest) == (0.0, 0.5)
    with pytest.raises(DataError, match="must be a part of it"):
        delta_presence(population, sample)


def test_respondents_count_once() -> None:
    """Three records of two firms: 2-anonymous, not 3."""
    data = _file({"a": list("xxx"), "firm": list("ppq")}, ("a",), firm=Role.ENTITY)
    result = k_anonymity(data)
    assert (result.k, result.unit) == (2, "respondents")
    with pytest.raises(ParameterError, match="own-category or never-match"):
        k_anonymity(data, semantics=Semantics.K1)


def test_diversity_by_hand() -> None:
    """One group with counts 4, 2, 1, 1 of four values; the file is that group."""
    table = ValueTable.of(np.zeros(8, np.int64), 1, np.array([0, 0, 0, 0, 1, 1, 2, 3]), 4)
    assert diversity.distinct_l(table).tolist() == [4]
    h = -(0.5 * math.log(0.5) + 0.25 * math.log(0.25) + 2 * 0.125 * math.log(0.125))
    assert diversity.entropy_l(table)[0] == pytest.approx(math.exp(h))
    assert diversity.alpha(table).tolist() == [0.5]
    # r1 = 4 < c (r_l + …): tails 8, 4, 2, 1
    assert [diversity.recursive_l(table, c=c)[0] for c in (1.0, 1.1, 2.0, 2.1, 4.0, 4.1)] == [1, 2, 2, 3, 3, 4]
    assert diversity.t_equal(table)[0] == pytest.approx(0)
    assert diversity.delta_disclosure(table, base=2.0)[0] == pytest.approx(0)


def test_closeness_by_hand() -> None:
    """Li et al. 2007, section 4: salaries 3k … 11k, one each; {3,4,5} is at 0.375, {6,8,11} at 0.167."""
    values = np.arange(9)
    group = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1])
    table = ValueTable.of(group, 3, values, 9)
    assert diversity.t_ordered(table)[:2] == pytest.approx([0.375, 1 / 6])
    assert diversity.t_equal(table)[0] == pytest.approx(2 / 3)


def test_likeness_and_disclosure_by_hand() -> None:
    """Value a has p = 1/4; in group 0 its share is 1/2: gain 1, below −ln(1/4) = 1.386; δ = ln 2 or one bit."""
    group = np.array([0, 0, 1, 1, 1, 1, 1, 1])
    values = np.array([0, 1, 0, 1, 1, 1, 1, 1])
    table = ValueTable.of(group, 2, values, 2)
    assert diversity.beta_basic(table) == pytest.approx([1.0, (5 / 6 - 3 / 4) / (3 / 4)])
    assert diversity.beta_enhanced(table)[0] == pytest.approx(1.0)
    assert diversity.delta_disclosure(table, base=2.0)[0] == pytest.approx(1.0)
    assert diversity.delta_disclosure(table, base=math.e)[0] == pytest.approx(math.log(2))
    pure = ValueTable.of(np.array([0, 1, 1, 1]), 2, np.array([0, 1, 1, 1]), 2)
    assert diversity.beta_enhanced(pure)[0] == math.inf  # (1 − ¼)/¼ = 3 > ln 4


TABLES = st.integers(2, 6).flatmap(
    lambda m: st.tuples(
        hnp.arrays(np.int64, st.integers(4, 30), elements=st.integers(0, 2)), st.just(m), st.integers(0, 2**32)
    )
)


@given(made=TABLES)
def test_closeness_is_the_earth_movers_distance(made: tuple[np.ndarray, int, int]) -> None:
    """Ordered and tree distances against the transport problem solved as a linear program."""
    group, m, seed = made
    values = np.random.default_rng(seed).integers(0, m, len(group))
    _, group = np.unique(group, return_inverse=True)
    table = ValueTable.of(group.ravel(), int(group.max()) + 1, values, m)
    tree = Hierarchy.from_children(
        {"Total": ["L", "R"], "L": [f"v{i}" for i in range(m // 2 + 1)], "R": [f"v{i}" for i in range(m // 2 + 1, m)]}
        if m // 2 + 1 < m
        else {"Total": [f"v{i}" for i in range(m)]}
    )
    leaf = np.array([tree.position(f"v{i}") for i in range(m)])
    present = np.flatnonzero(table.totals)
    place = {int(s): i for i, s in enumerate(present)}
    found_tree = diversity.t_hierarchical(table, np.array(tree.parents), leaf)
    found_order = diversity.t_ordered(table)
    for j in range(len(table.sizes)):
        q = np.zeros(m)
        q[table.value[table.group == j]] = table.q[table.group == j]
        order = np.array(
            [[abs(place.get(a, 0) - place.get(b, 0)) / max(len(present) - 1, 1) for b in range(m)] for a in range(m)]
        )
        meet = np.array([[_meeting(tree, int(leaf[a]), int(leaf[b])) for b in range(m)] for a in range(m)])
        assert found_order[j] == pytest.approx(_transport(q, table.p, order), abs=1e-9)
        assert found_tree[j] == pytest.approx(_transport(q, table.p, meet), abs=1e-9)


def _meeting(tree: Hierarchy, a: int, b: int) -> float:
    """Height of the lowest common ancestor over the height of the tree."""
    height = [0] * len(tree.codes)
    for node in range(len(tree.codes) - 1, 0, -1):
        height[tree.parents[node]] = max(height[tree.parents[node]], height[node] + 1)
    mine = [tree.position(code) for code in tree.ancestors(tree.codes[a])]
    other = {tree.position(code) for code in tree.ancestors(tree.codes[b])}
    return height[next(node for node in mine if node in other)] / height[0]


def _transport(q: np.ndarray, p: np.ndarray, distance: np.ndarray) -> float:
    m = len(q)
    rows = np.zeros((2 * m, m * m))
    for a in range(m):
        rows[a, a * m : (a + 1) * m] = 1
        rows[m + a, a::m] = 1
    solved = linprog(distance.ravel(), A_eq=rows[:-1], b_eq=np.concatenate((q, p))[:-1], bounds=(0, None))
    return float(solved.fun)


def test_several_sensitive_variables() -> None:
    """Alone, each value is 2-diverse; whoever knows one knows the other."""
    data = _file({"a": list("xxxx"), "s": list("1122"), "t": list("aabb")}, ("a",))
    result = joint_diversity(data, ("s", "t"))
    assert [risk.distinct_l for risk in result.single] == [2, 2]
    assert result.distinct_l == 1
    assert attribute_risk(data, "s").alpha == 0.5
    with pytest.raises(DataError, match="key and sensitive at once"):
        attribute_risk(data, "a")


def test_recursive_diversity_is_not_pycanons() -> None:
    """Peers 7.15: with counts 3, 1 the definition needs c > 3 for l = 2; ascending counts would say c = 1."""
    table = ValueTable.of(np.zeros(4, np.int64), 1, np.array([0, 0, 0, 1]), 2)
    assert diversity.recursive_l(table, c=3.0)[0] == 1
    assert diversity.recursive_l(table, c=3.1)[0] == 2


@given(risk=hnp.arrays(np.float64, 8, elements=st.floats(0, 1)))
def test_shapley_is_the_mean_over_orders(risk: np.ndarray) -> None:
    expected = np.zeros(3)
    for order in permutations(range(3)):
        known = 0
        for v in order:
            expected[v] += (risk[known | 1 << v] - risk[known]) / 6
            known |= 1 << v
    found = shapley_values(risk)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found.sum() == pytest.approx(risk[7] - risk[0], abs=1e-12)


@pytest.mark.parametrize("measure", ["average", "uniques", "violations", "individual"])
def test_key_shares_add_up(ihsn: Microdata, measure: str) -> None:
    result = key_shares(ihsn, measure=measure)
    assert sum(result.shares.values()) == pytest.approx(result.total - result.without_keys)
    if measure == "average":
        assert result.total == 0.7
        assert result.alone["education"] == 0.5
    assert result.rows()[0][1] == max(result.shares.values())


def test_a_twin_key_shares_equally() -> None:
    data = _file({"a": list("xxyz"), "b": list("ppqr")}, ("a", "b"))
    result = key_shares(data)
    assert result.shares["a"] == pytest.approx(result.shares["b"])
    assert result.last["a"] == 0.0


def test_levels_are_nested() -> None:
    """EUSTAT's levels: edad 1, sexo 2, prof2 2, eciv 3, nivel 3. A most identifying variable also counts as the others."""
    levels = {"edad": 1, "sexo": 2, "prof2": 2, "eciv": 3, "nivel": 3, "busq1": 0}
    schema = Schema(tuple(Variable(n, role=Role.KEY, level=level) for n, level in levels.items()))
    made = {frozenset(c.variables) for c in KeyCombinations(levels=True).resolve(schema)}
    expected = {
        frozenset(("edad", more, third))
        for more in ("sexo", "prof2") for third in ("sexo", "prof2", "eciv", "nivel") if more != third
    }  # fmt: skip
    assert made == expected


def test_population_thresholds_and_missing_values(ihsn: Microdata) -> None:
    by_weight = unsafe_combinations(ihsn, [Combination(("education",), 200)], unit="population")
    assert by_weight.rows[0].unsafe_cells == 1  # pc has 180
    by_share = unsafe_combinations(ihsn, [Combination(("education",), 200)], unit="population", sampling_fraction=0.01)
    assert by_share.rows[0].unsafe_cells == 3  # one record stands for 100
    holed = _file({"a": ["x", "x", None, "y"], "b": ["p", None, "p", "q"]}, ("a", "b"))
    found = {m: unsafe_combinations(holed, [Combination(("a", "b"), 1)], missing=m).rows[0] for m in
             ("no-cell", "own-category", "match-anything")}  # fmt: skip
    assert (found["no-cell"].cells, found["no-cell"].unsafe_cells) == (2, 2)
    assert (found["own-category"].cells, found["own-category"].unsafe_cells) == (4, 4)
    assert (found["match-anything"].cells, found["match-anything"].unsafe_cells) == (2, 1)
    with pytest.raises(DataError, match="weight variable or a sampling fraction"):
        unsafe_combinations(holed, [Combination(("a",))], unit="population")


def test_left_out_and_given_combinations() -> None:
    schema = Schema(tuple(Variable(n, role=Role.KEY) for n in "abc"))
    made = KeyCombinations(dimension=2, threshold=1, given=(Combination(("a", "b"), 5),), except_for=(("c",),)).resolve(
        schema
    )
    assert {c.variables: c.threshold for c in made} == {
        ("a",): 1, ("b",): 1, ("a", "b"): 5, ("a", "c"): 1, ("b", "c"): 1,
    }  # fmt: skip
    with pytest.raises(ParameterError, match="there is no combination"):
        KeyCombinations().resolve(schema)
    with pytest.raises(DataError, match="no key has identification level 1"):
        KeyCombinations(levels=True).resolve(schema)


def test_regions_that_intersect_in_too_few_people() -> None:
    """Urban and coastal are large, urban ∩ coastal is one town of 40."""
    data = _file({"town": list("abcd"), "urban": list("yynn"), "coast": list("ynny")}, ())
    people = {"a": 40.0, "b": 1000.0, "c": 2000.0, "d": 900.0}
    table = regional_check(data, ("urban", "coast"), threshold=100, region="town", population=people)
    worst = table.rows[0]
    assert (worst.indicators, worst.unsafe_areas, worst.smallest_population) == (("urban", "coast"), 1, 40.0)
    assert table.at_risk.tolist() == [True, False, False, False]
    assert [row.unsafe_areas for row in table.rows[1:]] == [0, 0]
    with pytest.raises(DataError, match="1 codes of 'town' that occur have no population"):
        regional_check(data, ("urban",), threshold=1, region="town", population={"a": 1, "b": 1, "c": 1})
    with pytest.raises(DataError, match="role weight"):
        regional_check(data, ("urban",), threshold=1)
