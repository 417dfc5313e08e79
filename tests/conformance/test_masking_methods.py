"""Every masking method of the registry, with every one of its own examples, on the demonstration survey.

A method that is added is tried here without another line: promises, same bytes for the same secret, an input that stays as it
is, a schema that describes what comes out, and files with gaps, with one record and with none.
"""

import dataclasses
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conformance.registry_cases import EACH, method_of, run, survey
from reticent.base.errors import ReticentError
from reticent.data.method import Method
from reticent.data.microdata import Microdata
from reticent.data.parameters import to_plain
from reticent.data.plan import plan_from_table
from reticent.data.schema import Kind, Role, Schema
from reticent.microdata.mask import METHODS

CAN_BE_MISSING = ("sex", "marital", "education", "age", "income")


def seen(schema: Schema) -> list[tuple[str, Role, Kind]]:
    """What later steps ask of a schema; codes that occur are known when the work is done."""
    return [(variable.name, variable.role, variable.kind) for variable in schema.variables]


def kept_promises(method: Method, before: Microdata, after: Microdata) -> None:
    for promise in method.promises():
        assert promise.broken(before, after) == 0, promise.text


@EACH
def test_examples_mask_the_survey(name: str, number: int) -> None:
    method, data = method_of(name, number), survey()
    method.check(data.schema)
    copy = data.frame.table.clone()
    applied = run(method, data)
    kept_promises(method, data, applied.data)
    assert data.frame.table.equals(copy), "the input changed"
    assert seen(applied.data.schema) == seen(method.schema_after(data.schema)), (
        "later steps are checked against another"
    )
    assert tuple(applied.data.frame.names) == applied.data.schema.names
    assert set(applied.changed) <= set(data.schema.names) | set(applied.data.schema.names)


@EACH
def test_the_same_secret_gives_the_same_bytes(name: str, number: int) -> None:
    method, data = method_of(name, number), survey()
    first, again = (run(method, data).data.frame.table for _ in range(2))
    assert first.equals(again)
    assert first.write_csv() == again.write_csv()


@EACH
def test_only_what_a_method_names_is_changed(name: str, number: int) -> None:
    """Variables that are not counted as changed are, record by record, what they were; weights may be made again."""
    method, data = method_of(name, number), survey()
    applied = run(method, data)
    touched = {variable for variable, count in applied.changed.items() if count}
    touched |= {variable for variable in data.schema.names if data.schema[variable].role is Role.WEIGHT}
    after, before = applied.data.frame.table, data.frame.table
    if "person" not in after.columns or "person" in touched:  # nothing says which record is which
        assert after.height <= before.height or method.name == "safe"
        return
    kept = before.select("person").join(after, on="person", how="inner")
    same = after.select("person").join(before, on="person", how="inner")
    for variable in set(before.columns) & set(after.columns) - touched:
        left, right = kept.sort("person")[variable], same.sort("person")[variable]
        assert left.cast(pl.String).equals(right.cast(pl.String)), variable


@EACH
def test_whoever_writes_true_records_in_another_place_says_what_moves(name: str, number: int) -> None:
    """The recount and linkage look for people where their values went; a method that moves them has to say so."""
    method, data = method_of(name, number), survey()
    after = run(method, data).data
    names = [n for n in after.schema.names if n in data.schema and data.schema[n].role is not Role.IDENTIFIER]
    if {data.schema[n].kind for n in names} != {after.schema[n].kind for n in names}:
        return
    before = data.frame.table.select(names).cast(pl.String).rows()
    shown = after.frame.table.select(names).cast(pl.String).rows()
    place = {identity: at for at, identity in enumerate(data.record_ids().tolist())}
    own = [place.get(identity, -1) for identity in after.record_ids().tolist()]
    once = {row: at for at, row in enumerate(before)}
    many = Counter(before)
    elsewhere = sum(many[row] == 1 and once[row] != at for row, at in zip(shown, own, strict=True))
    assert not elsewhere or method.moves(data.schema), elsewhere


@EACH
def test_every_option_says_what_it_is_for(name: str, number: int) -> None:
    for field in dataclasses.fields(method_of(name, number)):
        assert field.metadata.get("help"), f"{name}.{field.name} has no help"


@EACH
def test_what_stands_in_a_plan_is_the_same_method(name: str, number: int) -> None:
    method = method_of(name, number)
    table = {"data": {"path": "x.csv"}, "step": [{"method": name, **to_plain(method)}]}
    plan = plan_from_table(table, METHODS, owner="plan", folder=Path())
    assert plan.steps == (method,)


@EACH
def test_missing_values_are_masked_or_refused(name: str, number: int) -> None:
    """Every fifth value of some variables is missing, each in other records."""
    data = survey()
    table = data.frame.table
    for shift, column in enumerate(CAN_BE_MISSING):
        gap = pl.Series(np.arange(table.height) % 5 == shift)
        table = table.with_columns(pl.when(gap).then(None).otherwise(pl.col(column)).alias(column))
    _masked_or_refused(method_of(name, number), Microdata.of(table, data.schema))


@EACH
@pytest.mark.parametrize("records", [1, 2])
def test_few_records_are_masked_or_refused(name: str, number: int, records: int) -> None:
    data = survey()
    _masked_or_refused(method_of(name, number), Microdata.of(data.frame.table.head(records), data.schema))


def _masked_or_refused(method: Method, data: Microdata) -> None:
    try:
        applied = run(method, data)
    except ReticentError as err:
        said = str(err)
        assert said.endswith((".", "?"))
        assert "\n" not in said
        for person in data.frame.table["person"].to_list():
            assert str(person) not in said
    else:
        kept_promises(method, data, applied.data)
        assert seen(applied.data.schema) == seen(method.schema_after(data.schema))


def test_no_method_meets_a_file_without_records() -> None:
    """Microdata without records are refused where they are made, so methods need no case for them."""
    with pytest.raises(ReticentError, match="no records"):
        Microdata.of(survey().frame.table.head(0), survey().schema)


@EACH
def test_variables_that_are_not_there_are_refused(name: str, number: int) -> None:
    data = survey()
    named = [value for value in to_plain(method_of(name, number)).values() if isinstance(value, str | list)]
    used = {word for value in named for word in ([value] if isinstance(value, str) else value) if isinstance(word, str)}
    for variable in used & set(data.schema.names):
        if data.schema[variable].role in (Role.HOUSEHOLD_ID, Role.WEIGHT):
            continue
        other = Microdata.of(data.frame.table.drop(variable), data.schema.without((variable,)))
        with pytest.raises(ReticentError) as caught:
            run(method_of(name, number), other)
        assert repr(variable) in str(caught.value) or variable in str(caught.value)
