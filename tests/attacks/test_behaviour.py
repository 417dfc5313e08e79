"""Plans and batch files: how version 0.1.0 ended (stored by `attacks.behaviour_cases`), and how the same commands end today."""

import json
from pathlib import Path

import pytest

from attacks.behaviour_cases import CASES, Ended, end_of

STORED = json.loads((Path(__file__).parent / "fixtures" / "v010" / "behaviour.json").read_text(encoding="utf-8"))


def right(name: str, ended: Ended) -> bool:
    """Whether a case ends as it should: with a protected table and what must be said, or with nothing written."""
    if name == "holdings that are not there":
        return ended.code == 2 and "HI+ needs holdings" in ended.said and ended.written == []
    if name == "plan with a declared weight":
        return ended.code == 0 and "The weight w is declared and not used" in ended.said
    return ended.code == 0 and "out.csv" in ended.written


def test_every_case_is_stored() -> None:
    assert set(STORED) == set(CASES)


@pytest.mark.parametrize("name", list(CASES))
def test_what_ended_wrongly_ends_rightly(name: str, tmp_path: Path) -> None:
    assert not right(name, Ended(**STORED[name]))
    assert right(name, end_of(name, tmp_path))
