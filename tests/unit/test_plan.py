"""Plans: read and written as TOML, unknown names refused with the nearest known one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from reticent.base.errors import PlanError
from reticent.data.method import Applied, Method, Registry
from reticent.data.plan import plan_from_table, plan_to_toml, read_toml


@dataclass(frozen=True)
class _Blur(Method):
    name: ClassVar[str] = "blur"
    variable: str
    k: int = field(default=3, metadata={"min": 2})
    bands: tuple[float, ...] = ()
    limits: dict[str, float] | None = None

    def apply(self, data, *, secret, progress) -> Applied:
        return Applied(data)


REGISTRY = Registry("plan", (_Blur,))
TEXT = """
[data]
path = "a.csv"
[[step]]
method = "blur"
variable = "age"
bands = [1, 2.5]
limits = { x = 1 }
[output]
path = "safe.csv"
"""


def _read(text: str, folder: Path):
    (folder / "p.toml").write_text(text, encoding="utf-8")
    return plan_from_table(read_toml(folder / "p.toml"), REGISTRY, owner="p.toml", folder=folder)


def test_round_trip(tmp_path: Path) -> None:
    plan = _read(TEXT, tmp_path)
    assert plan.steps == (_Blur("age", bands=(1.0, 2.5), limits={"x": 1.0}),)
    assert _read(plan_to_toml(plan), tmp_path) == plan


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"blur"', '"blurr"', "no method 'blurr'. Did you mean 'blur'"),
        ("bands", "bnds", "unknown option 'bnds'. Did you mean 'bands'"),
        ("[1, 2.5]", '"x"', "bands must be a list, got a text"),
        ('variable = "age"', "", "option 'variable' is missing"),
        ('variable = "age"', 'variable = "age"\nk = 1', "k must be at least 2"),
        ("[output]", "[outptu]", "unknown section .outptu.. Did you mean 'output'"),
        ("[data]", "[[data", "not valid TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises((PlanError, ValueError), match=message):
        _read(TEXT.replace(old, new, 1), tmp_path)


def test_data_section_is_needed() -> None:
    with pytest.raises(PlanError, match=r"section .data. is missing"):
        plan_from_table({"output": {}}, REGISTRY, owner="p", folder=Path("."))
    with pytest.raises(PlanError, match="the file is empty"):
        plan_from_table({"version": 1}, REGISTRY, owner="p", folder=Path("."))
