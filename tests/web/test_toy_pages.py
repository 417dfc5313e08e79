"""A masking method and a table rule that nobody has seen before are on their pages as soon as they are registered."""

import html
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from reticent.data.method import Method
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters
from reticent.jobs.options import METHODS, RULES
from reticent.tables.rules import Threshold
from samples import cut_survey
from web.asking import Bench


class Season(StrEnum):
    SPRING = "spring"
    AUTUMN = "autumn"


@dataclass(frozen=True)
class Limit(Parameters):
    least: int = field(default=3, metadata={"min": 1, "help": "fewest respondents"})
    season: Season = Season.SPRING
    share: float | None = field(default=None, metadata={"above": 0, "max": 100, "unit": "%"})


@dataclass(frozen=True)
class Toy(Method):
    """Leave every value as it is. <b>Nobody</b> needs it."""

    name: ClassVar[str] = "toy-nothing"
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "what to leave alone"})
    season: Season = field(default=Season.AUTUMN, metadata={"help": "when"})
    points: tuple[float, ...] = field(default=(), metadata={"above": 0, "help": "rising limits"})
    shares: Mapping[str, float] = field(default_factory=dict, metadata={"help": "a number for each name"})
    limit: Limit | None = field(default=None, metadata={"help": "a limit of its own"})
    limits: tuple[Limit, ...] = ()
    seconds: float | None = field(default=None, metadata={"above": 0, "unit": "s"})
    strict: bool = field(default=True, metadata={"help": "whether it is strict"})

    def mask(self, data: Microdata, **_: Any) -> Microdata:
        return data


@dataclass(frozen=True)
class Odd(Threshold):
    """A cell with an odd number of respondents is unsafe."""

    name: ClassVar[str] = "toy-odd"
    season: Season = field(default=Season.SPRING, metadata={"help": "when it counts"})

    def unsafe(self, cells: Any) -> Any:
        return np.asarray(cells.counts % 2 == 1)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setitem(METHODS._methods, Toy.name, Toy)
    monkeypatch.setitem(RULES._methods, Odd.name, Odd)
    made = Bench(tmp_path, "people", cut_survey)
    yield made
    made.site.works.close()


FORM: dict[str, object] = {
    "add": Toy.name, "variables": ["", "", "sex", "age"], "season": "spring", "points": "1, 2.5", "shares": "a = 0.5\r\nb = 2",
    "limit.given": "on", "limit.least": "4", "limit.season": "autumn", "limit.share": "12.5", "limits.0.least": "7",
    "seconds": "", "strict": "on",
}  # fmt: skip


def test_a_new_method_has_its_form_its_sentences_and_its_lines(bench: Bench) -> None:
    page = bench.get(f"/plan?add={Toy.name}")
    assert "Nobody&lt;/b&gt; needs it" in page
    for label in ("Variables", "Season", "Points", "Shares", "Limit", "Limits", "Seconds", "Strict", "Give limit"):
        assert label in page, label
    for words in ("What to leave alone.", "Above 0", "A limit of its own."):
        assert words in html.unescape(page), words
    assert re.search(r'<option value="autumn" selected>', page)
    wrong = html.unescape(bench.send("/plan", {**FORM, "points": "3, -1", "limit.least": "0", "season": "winter"}, 422))
    for sentence in (
        "points must be above 0",
        "least must be at least 1, got 0",
        "season must be one of spring, autumn",
    ):
        assert sentence in wrong
    assert 'value="3, -1"' in wrong
    bench.send("/plan", FORM)
    step = tomllib.loads((bench.folder / "people.plan.toml").read_text(encoding="utf-8"))["step"][0]
    assert step == {
        "method": Toy.name, "variables": ["sex", "age"], "season": "spring", "points": [1, 2.5], "shares": {"a": 0.5, "b": 2},
        "limit": {"least": 4, "season": "autumn", "share": 12.5}, "limits": [{"least": 7}],
    }  # fmt: skip
    page = bench.get("/plan?step=1")
    assert re.search(r'name="limit.share" value="12.5"', page)
    assert 'class="error"' not in page


def test_a_new_rule_has_its_form_and_counts(bench: Bench) -> None:
    bench.send("/table", {"dimensions": ["", "", "region"], "responses": ["", ""], "shape": "1"})
    assert f'<option value="{Odd.name}">' in bench.get("/table")
    bench.send("/table", {"rule.0.minimum": "3", "new": Odd.name, "add": "1", "number": "0"})
    page = bench.get("/table")
    assert f"<legend>{Odd.name}</legend>" in page
    assert 'name="rule.1.season"' in page
    assert re.search(r'id="rule-1-said"[^>]*>[1-9]\d* cells unsafe', page)
