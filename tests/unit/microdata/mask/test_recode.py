"""Recoding by bands, map, level, truncation and ARGUS rules; what is left over is an error."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, ParameterError, PlanError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.recoding import parse_rules
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.recode import Recode

TREE = Hierarchy.from_children({"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1"]})


def file_of(ages: list[int | None]) -> Microdata:
    n = len(ages)
    schema = Schema(
        (
            Variable("age", role=Role.KEY, kind=Kind.NUMERIC),
            Variable("region", role=Role.KEY, hierarchy=TREE),
            Variable("job", role=Role.KEY, codes=("1", "2", "3"), missing=("9",)),
        )
    )
    regions = (["N1", "N2", "S1", "N1"] * n)[:n]
    jobs = (["1", "2", "9", "3"] * n)[:n]
    return Microdata.of(pl.DataFrame({"age": ages, "region": regions, "job": jobs}), schema)


def run(step: Recode, data: Microdata):  # type: ignore[no-untyped-def]
    applied = step.apply(data, secret=as_secret(1), progress=silent)
    for promise in step.promises():
        assert promise.broken(data, applied.data) == 0
    return applied


def test_bands_as_in_a_plan() -> None:
    step = build(METHODS["recode"], {"variable": "age", "bands": [16, 25, 65]}, owner="plan")
    applied = run(step, file_of([16, 24, 25, 64, 65, 99, None]))
    assert applied.data.texts("age") == ["16-24", "16-24", "25-64", "25-64", "65+", "65+", None]
    assert applied.data.schema["age"].kind is Kind.ORDINAL
    assert applied.data.schema["age"].codes == ("16-24", "25-64", "65+")
    assert applied.changed == {"age": 6}
    assert applied.facts["categories_after"] == 3


def test_below_the_first_band_only_if_present() -> None:
    applied = run(Recode("age", bands=(16.0, 25.0)), file_of([3, 16, 40]))
    assert applied.data.texts("age") == ["<16", "16-24", "25+"]
    assert applied.data.codes(("age",))[:, 0].tolist() == [0, 1, 2]


def test_map_and_left_over_codes() -> None:
    data = file_of([1, 2, 3, 4])
    applied = run(Recode("job", map={"1": "a", "2": "a", "3": "b"}), data)
    assert applied.data.texts("job") == ["a", "a", None, "b"]
    assert applied.data.frame.table["job"].to_list() == ["a", "a", "9", "b"]
    with pytest.raises(DataError, match=r"'2'; .*|'2', '3'"):
        Recode("job", map={"1": "a"}).apply(data, secret=as_secret(1), progress=silent)
    kept = run(Recode("job", map={"1": "a"}, keep=True), data)
    assert kept.data.texts("job") == ["a", "2", None, "3"]


def test_codes_that_only_records_have_are_counted_not_shown() -> None:
    with pytest.raises(DataError) as caught:
        Recode("age", map={"17": "young"}).apply(file_of([17, 83, 91]), secret=as_secret(1), progress=silent)
    assert "2 codes that only records have" in str(caught.value)
    assert "83" not in str(caught.value)


@pytest.mark.parametrize(
    "facts",
    [
        {"digits": (1, 1)},
        {"codes": ("17", "83", "91"), "guessed": ("codes",)},
        {"hierarchy": Hierarchy.from_children({"all": ("17", "83", "91")}), "guessed": ("hierarchy",)},
    ],
    ids=["digits", "guessed codes", "guessed hierarchy"],
)
def test_codes_of_lists_made_from_records_are_not_shown_either(facts: dict[str, Any]) -> None:
    data = Microdata.of(pl.DataFrame({"job": ["17", "83", "91"]}), Schema((Variable("job", **facts),)))
    with pytest.raises(DataError) as caught:
        run(Recode("job", map={"17": "old"}), data)
    assert "2 codes that only records have" in str(caught.value)
    assert "83" not in str(caught.value)


def test_level() -> None:
    applied = run(Recode("region", level=1), file_of([1, 2, 3]))
    assert applied.data.texts("region") == ["N", "N", "S"]
    assert applied.data.schema["region"].hierarchy == TREE.cut_at(1)
    everything = run(Recode("region", level=0), file_of([1, 2, 3]))
    assert everything.data.texts("region") == ["Total"] * 3


def test_hierarchy_that_does_not_cover_the_data() -> None:
    schema = Schema((Variable("region", hierarchy=TREE),))
    data = Microdata.of(pl.DataFrame({"region": ["N1", "X9"]}), schema)
    with pytest.raises(DataError, match="1 codes that only records have"):
        Recode("region", level=1).apply(data, secret=as_secret(1), progress=silent)


def test_truncation() -> None:
    assert run(Recode("region", truncate=1), file_of([1, 2, 3])).data.texts("region") == ["N", "N", "S"]


def test_argus_rules() -> None:
    """Ranges compare codes as text padded with blanks, so 5 lies below 21."""
    step = Recode.from_grc("age", "1: -20\n2: 21-30\n3: 31-\n\n<MISSING> 8, 9\n<CODELIST> Age.cdl\n")
    applied = run(step, file_of([5, 20, 21, 30, 31, 100, None]))
    assert applied.data.texts("age") == ["1", "1", "2", "2", "3", "3", None]
    assert applied.data.schema["age"].missing == ("8", "9")
    assert applied.data.frame.table["age"].to_list()[-1] == 8


@pytest.mark.parametrize(
    "name", ["Age", "Age3", "Etnigr", "Etnigr2", "Marstat", "Regioc", "Regiol", "Region", "Regiop"]
)
def test_every_bundled_recode_file_is_read(shared_data, name: str) -> None:  # type: ignore[no-untyped-def]
    rules = parse_rules((shared_data / "argus_mu" / f"{name}.grc").read_text())
    assert rules.rules
    assert all("," not in code for code in rules.missing)


@pytest.mark.parametrize(
    ("text", "words"),
    [("1 2", "no new code"), ("1:", "names no old codes"), ("1: -", "range without ends"), ("", "no rule")],
)
def test_broken_rules(text: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        parse_rules(text)


def test_a_broken_promise_is_noticed() -> None:
    data = file_of([20, 20, 30])
    wrong = data.with_numbers("age", np.array([1.0, 2.0, np.nan]))
    assert Recode("age", bands=(16.0,)).promises()[0].broken(data, wrong) == 2


def test_wrong_use() -> None:
    with pytest.raises(ParameterError, match="exactly one of"):
        Recode("age")
    with pytest.raises(ParameterError, match="bands and map"):
        Recode("age", bands=(1.0,), map={"1": "2"})
    with pytest.raises(ParameterError, match="rising"):
        Recode("age", bands=(5.0, 5.0))
    schema = file_of([1]).schema
    with pytest.raises(DataError, match="Did you mean 'region'"):
        Recode("regoin", level=1).check(schema)
    with pytest.raises(DataError, match="has none"):
        Recode("age", level=1).check(schema)
    with pytest.raises(DataError, match="levels 0 to 2, got 5"):
        Recode("region", level=5).check(schema)
    with pytest.raises(DataError, match="cannot become a valid code"):
        Recode("job", map={"9": "1"}).check(schema)
