"""Two worlds: what is confidential cannot be written, what is publishable leads nowhere back."""

import dataclasses
import hashlib
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask, rules
from reticent.data.microdata import Microdata
from reticent.data.table import Table
from reticent.microdata.result import ProtectedFile
from reticent.tables.result import ProtectedTable

CONFIDENTIAL = (
    rt.Data,
    rt.Risk,
    rt.FileRun,
    rt.Tabulation,
    rt.TableRun,
    rt.Exploration,
    Microdata,
    ProtectedFile,
    ProtectedTable,
)
PUBLISHABLE = (rt.MaskedFile, rt.PublishedTable)
SECRET = hashlib.sha256(b"a test").digest()


@pytest.mark.parametrize("kind", CONFIDENTIAL, ids=lambda kind: kind.__name__)
def test_confidential_types_cannot_be_written(kind: type) -> None:
    for name in ("to_frame", "write", "to_csv", "to_native", "public_report"):
        assert not hasattr(kind, name)


@pytest.mark.parametrize("kind", PUBLISHABLE, ids=lambda kind: kind.__name__)
def test_publishable_types_can(kind: type) -> None:
    for name in ("to_frame", "write", "public_report"):
        assert hasattr(kind, name)
    assert not hasattr(kind, "confidential_frame")
    assert not hasattr(kind, "confidential_report")


def _reached(start: Any, *, deepest: int = 6) -> list[Any]:
    """Everything that attributes, fields, slots and containers lead to."""
    seen: dict[int, Any] = {}
    waiting = [(start, 0)]
    while waiting:
        one, depth = waiting.pop()
        if id(one) in seen or depth > deepest or isinstance(one, str | bytes | int | float | type | None):
            continue
        seen[id(one)] = one
        if isinstance(one, pl.DataFrame | np.ndarray):
            continue
        inner = list(one) if isinstance(one, list | tuple | set | frozenset) else []
        inner += list(one.values()) if isinstance(one, dict) else []
        inner += list(vars(one).values()) if hasattr(one, "__dict__") else []
        if dataclasses.is_dataclass(one):
            inner += [getattr(one, field.name) for field in dataclasses.fields(one)]
        waiting += [(item, depth + 1) for item in inner]
    return list(seen.values())


def test_nothing_published_leads_back(data: rt.Data, people: pl.DataFrame, firms: pl.DataFrame) -> None:
    masked = data.protect([mask.Noise(("income",), k=1.0)], most=1.0, secret=SECRET).release(accept_risk="a test")
    run = rt.load(firms).tabulate("industry", "size").protect(rules=[rules.Threshold(6)])
    for publishable in (masked, run.release()):
        found = _reached(publishable)
        assert not [one for one in found if isinstance(one, (*CONFIDENTIAL, Table))]
        for frame in (one for one in found if isinstance(one, pl.DataFrame)):
            assert "id" not in frame.columns
            assert "income" not in frame.columns or set(frame["income"]) != set(people["income"])


def test_notebooks_show_aggregates_only(data: rt.Data, firms: pl.DataFrame) -> None:
    run = data.protect([mask.Noise(("income",), k=1.0)], most=1.0, secret=SECRET)
    table = rt.load(firms).tabulate("industry", "size", response="turnover").protect(rules=[rules.Threshold(6)])
    values = {f"{value:g}" for value in data.confidential_frame()["income"].to_list()}
    for shown in (data._repr_html_(), data.risk()._repr_html_(), run._repr_html_(), repr(run), repr(data)):
        assert not values & set(shown.replace("<", " ").replace(">", " ").split())
    true = {f"{value:g}" for value in firms["turnover"].to_list() if value > 200}
    assert not true & set(table._repr_html_().replace("<", " ").replace(">", " ").split())
