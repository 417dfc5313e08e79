"""What is wrong with a form, by field: the error says which option it is about, nobody reads its sentence."""

from typing import Any

import pytest

from reticent.data.parameters import Parameters
from reticent.jobs.options import METHODS, TABLE_METHODS, Policy, TableSection, check_options

WHOLE: tuple[tuple[type[Parameters], dict[str, Any], str], ...] = (
    (METHODS["recode"], {"bands": [16, 25]}, "variable"),
    (METHODS["recode"], {"variable": "age", "bands": [25, 16]}, "bands"),
    (METHODS["recode"], {"variable": "age"}, ""),
    (METHODS["microaggregate"], {"variables": ["pay"], "partition": "variable"}, "sort_by"),
    (METHODS["microaggregate"], {"variables": ["pay"], "gain": 0.5}, "gain"),
    (METHODS["microaggregate"], {"variables": ["pay"], "random_sizes": True}, "random_sizes"),
    (METHODS["massc"], {"keys": ["age"], "calibrate": ["sex"], "substitute": [1.0]}, "substitute"),
    (METHODS["generalize"], {"k": 3, "l": 2}, "sensitive"),
    (METHODS["local-suppression"], {"k": 3, "keys": ["a", "a"]}, "keys"),
    (TABLE_METHODS["cell-key"], {"ptable": "p.txt", "variance": 2.0}, "ptable"),
    (TABLE_METHODS["cell-key"], {"held": {"three": 0.1}}, "held"),
    (TableSection, {"dimensions": []}, "dimensions"),
    (TableSection, {"dimensions": ["a"], "ratios": ["x"]}, "ratios"),
    (Policy, {"dominance": [1]}, "dominance"),
    (Policy, {"test": True}, "test"),
)


@pytest.mark.parametrize(("cls", "options", "field"), WHOLE, ids=lambda one: getattr(one, "__name__", None))
def test_what_no_single_field_says_stands_beside_the_field_to_change(
    cls: type[Parameters], options: dict[str, Any], field: str
) -> None:
    wrong = check_options(cls, options)
    assert list(wrong) == [field], wrong
    assert wrong[field].endswith(".")


def test_each_field_is_checked_by_itself_first() -> None:
    wrong = check_options(METHODS["noise"], {"variables": "pay", "k": -1, "kindx": "linear"}, owner="step 2")
    assert set(wrong) == {"variables", "k", "kindx"}
    assert all(text.startswith("step 2: ") for text in wrong.values())
    assert check_options(METHODS["noise"], {"variables": ["pay"], "k": 0.5}) == {}
