"""Wrong types and values from Python: one sentence each, never a traceback from inside, never a value of a record."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reticent as rt
from reticent import games, mask, methods, rules
from reticent.api.table_run import TableFacts
from reticent.data.table import TableSpec

World = dict[str, Any]
STEP = mask.Recode("age", bands=(30, 60))

CASES: dict[str, Callable[[World], Any]] = {
    # names that a type has not, because it is of the other world
    "a masked file measured again": lambda w: w["masked"].risk(),
    "a masked file protected again": lambda w: w["masked"].protect([STEP]),
    "a masked file tabulated": lambda w: w["masked"].tabulate("region"),
    "a published table protected again": lambda w: w["tables"].release(accept_risk="a test").protect(),
    "a run written": lambda w: w["run"].write("run.csv"),
    "a run as a frame": lambda w: w["run"].to_frame(),
    "data written": lambda w: w["data"].write("data.csv"),
    "data released": lambda w: w["data"].release(),
    "a table run written": lambda w: w["tables"].write("table.csv"),
    "a misspelt verb": lambda w: w["data"].protct([STEP]),
    "a table method that is a class": lambda w: w["table"].protect(
        rules=[rules.Threshold(3)], method=methods.Heuristic
    ),
    "a response of text": lambda w: w["data"].tabulate("age", response="region").protect(rules=[rules.Threshold(3)]),
    "a hierarchy without rows": lambda w: rt.Hierarchy.from_paths([]),
    "a hierarchy of empty rows": lambda w: rt.Hierarchy.from_paths([[], []]),
    "bounds the wrong way round": lambda w: rt.Bounds(3, 2),
    # load
    "a list as data": lambda w: rt.load([1, 2, 3]),
    "nothing as data": lambda w: rt.load(None),
    "a number as data": lambda w: rt.load(5),
    "a series as data": lambda w: rt.load(pd.Series([1, 2])),
    "an array as data": lambda w: rt.load(np.zeros((2, 2))),
    "data loaded twice": lambda w: rt.load(w["data"]),
    "a masked file loaded": lambda w: rt.load(w["masked"]),
    "a file that is not there": lambda w: rt.load("nowhere.csv"),
    "a folder": lambda w: rt.load(Path(".")),
    "an empty frame": lambda w: rt.load(pl.DataFrame({"a": []})),
    "a query with a frame": lambda w: rt.load(w["people"], query="SELECT 1"),
    "keys as a text": lambda w: rt.load(w["people"], keys="age"),
    "keys as a number": lambda w: rt.load(w["people"], keys=3),
    "keys with a number": lambda w: rt.load(w["people"], keys=["age", 3]),
    "an unknown key": lambda w: rt.load(w["people"], keys=["agee"]),
    "a key that is sensitive": lambda w: rt.load(w["people"], keys=["age"], sensitive=["age"]),
    "weight as a list": lambda w: rt.load(w["people"], weight=["weight"]),
    "an unknown weight": lambda w: rt.load(w["people"], weight="wt"),
    "a weight of text": lambda w: rt.load(w["people"], weight="region"),
    "an unknown household": lambda w: rt.load(w["people"], household="hh"),
    "hierarchies as a list": lambda w: rt.load(w["people"], hierarchies=["region"]),
    "a hierarchy of an unknown variable": lambda w: rt.load(w["people"], hierarchies={"town": {"all": ("a",)}}),
    "a hierarchy as a number": lambda w: rt.load(w["people"], hierarchies={"region": 3}),
    "a hierarchy of texts": lambda w: rt.load(w["people"], hierarchies={"region": ["north", "south"]}),
    "a hierarchy with uneven rows": lambda w: rt.load(
        w["people"], hierarchies={"region": [("north", "all"), ("south",)]}
    ),
    "a hierarchy with two parents": lambda w: rt.load(
        w["people"], hierarchies={"region": [("north", "a", "all"), ("north", "b", "all")]}
    ),
    "a hierarchy file that is not there": lambda w: rt.load(w["people"], hierarchies={"region": "no.hrc"}),
    "an unknown kind": lambda w: rt.load(w["people"], kinds={"age": "number"}),
    "kinds as a list": lambda w: rt.load(w["people"], kinds=["age"]),
    "missing as a text": lambda w: rt.load(w["people"], missing={"age": "99"}),
    "a schema as a list": lambda w: rt.load(w["people"], schema=["age"]),
    # risk
    "risk by a text": lambda w: w["data"].risk(keys="age"),
    "risk by an unknown key": lambda w: w["data"].risk(keys=["agee"]),
    "risk of dimension 0": lambda w: w["data"].risk(dimension=0),
    "risk of dimension x": lambda w: w["data"].risk(dimension="x"),
    "k of 0": lambda w: w["data"].risk().k_anonymity(ks=(0,)),
    "unknown semantics": lambda w: w["data"].risk().k_anonymity(semantics="mine"),
    "attribute of nobody": lambda w: w["data"].risk().attribute("wealth"),
    # protect
    "one step without a list": lambda w: w["data"].protect(STEP),
    "the class of a step": lambda w: w["data"].protect([mask.LocalSuppression], most=0.1),
    "a text as step": lambda w: w["data"].protect(["recode"], most=0.1),
    "steps as a text": lambda w: w["data"].protect("recode", most=0.1),
    "a table method as step": lambda w: w["data"].protect([methods.Heuristic()], most=0.1),
    "most above 1": lambda w: w["data"].protect([STEP], most=5),
    "most as a text": lambda w: w["data"].protect([STEP], most="low"),
    "no limit without weights": lambda w: rt.load(w["people"], keys=["age"]).protect([STEP]),
    "a small secret": lambda w: w["data"].protect([STEP], most=0.1, secret=7),
    "a secret file that is not there": lambda w: w["data"].protect([STEP], most=0.1, secret="no.key"),
    "edits as a text": lambda w: w["data"].protect([STEP], most=0.1, edits="age > 0"),
    "an edit nobody understands": lambda w: w["data"].protect([STEP], most=0.1, edits=["age >"]),
    "a step on an unknown variable": lambda w: w["data"].protect([mask.Recode("agee", bands=(30,))], most=0.1),
    "bands that go down": lambda w: mask.Recode("age", bands=(60, 30)),
    "k below 1": lambda w: mask.LocalSuppression(k=0),
    "k as a text": lambda w: mask.LocalSuppression(k="three"),
    "a step with an unknown option": lambda w: w["data"].protect([mask.Noise(("income",), kind="loud")], most=0.1),
    "accepting without a reason": lambda w: w["run"].release(accept_risk=" "),
    "accepting by a truth value": lambda w: w["run"].release(accept_risk=True),
    "a run protected again": lambda w: rt.load(w["run"]),
    "writing an unknown format": lambda w: w["masked"].write(w["folder"] / "safe.docx"),
    "writing into no folder": lambda w: w["masked"].write(w["folder"] / "no" / "safe.csv"),
    # tables
    "a table of nothing": lambda w: w["data"].tabulate(),
    "a table by an unknown variable": lambda w: w["data"].tabulate("regionn"),
    "a table by a number": lambda w: w["data"].tabulate(3),
    "a table by a list": lambda w: w["data"].tabulate(["region", "sex"]),
    "a table by one variable twice": lambda w: w["data"].tabulate("region", "region"),
    "an unknown response": lambda w: w["data"].tabulate("region", response="wealth"),
    "an unknown option of a table": lambda w: w["data"].tabulate("region", weigthed=True),
    "a rule without a list": lambda w: w["table"].protect(rules=rules.Threshold(3)),
    "the class of a rule": lambda w: w["table"].protect(rules=[rules.Threshold]),
    "a rule as a text": lambda w: w["table"].protect(rules=["threshold"]),
    "a method as a text": lambda w: w["table"].protect(rules=[rules.Threshold(3)], method="optimal"),
    "a mask as a method": lambda w: w["table"].protect(rules=[rules.Threshold(3)], method=STEP),
    "a threshold of 0": lambda w: rules.Threshold(0),
    "p of 200 percent": lambda w: rules.PPercent(-1),
    "insiders of an unknown kind": lambda w: w["table"].protect(rules=[rules.Threshold(3)], insiders="none"),
    "a coalition of ten": lambda w: w["table"].protect(rules=[rules.Threshold(3)], coalition=10),
    "an unknown cost": lambda w: w["table"].protect(rules=[rules.Threshold(3)], cost="nonsense"),
    "a negative time": lambda w: w["table"].protect(rules=[rules.Threshold(3)], time_limit=-1),
    "noise without a secret": lambda w: w["table"].protect(
        rules=[rules.Threshold(3)], method=methods.RandomRounding(base=5)
    ),
    "why of a cell that is not hidden": lambda w: w["tables"].why("Total"),
    "why of an unknown code": lambda w: w["tables"].why("nowhere"),
    "a table linked with data": lambda w: w["table"].linked(w["data"]),
    "tables of other data": lambda w: w["table"].linked(rt.load(w["people"]).tabulate("region")),
    # audit, explore, database
    "an audit of a list": lambda w: rt.audit([1, 2]),
    "an audit without values": lambda w: rt.audit(pd.DataFrame({"a": ["x"]})),
    "an audit without a total": lambda w: rt.audit(pd.DataFrame({"a": ["x", "y"], "value": [1, None]})),
    "an audit of an unknown kind": lambda w: rt.audit(
        pd.DataFrame({"a": ["Total", "y"], "value": [1, None]}), kind="sum"
    ),
    "an audit that does not add up": lambda w: rt.audit(
        pd.DataFrame({"a": ["Total", "x", "y"], "value": [1, 5, None]})
    ),
    "an audit with an unknown status": lambda w: rt.audit(
        pd.DataFrame({"a": ["Total", "x"], "value": [1, None], "status": ["s", "u"]})
    ),
    "structure of an unknown dimension": lambda w: rt.audit(
        pd.DataFrame({"a": ["Total", "x"], "value": [1, 1]}), structure={"b": {"Total": ("x",)}}
    ),
    "exploring nothing": lambda w: w["data"].explore([]),
    "exploring a text": lambda w: w["data"].explore("noise"),
    "exploring steps without lists": lambda w: w["data"].explore([STEP]),
    "a database from a frame": lambda w: rt.open_database(w["people"]),
    "a database without a policy": lambda w: rt.open_database(w["data"]),
    "a database without a ledger": lambda w: rt.open_database(
        w["data"], policy=rt.Policy(filters=("region",), responses=("income",)), secret=b"x" * 32
    ),
    "a database with an unknown option": lambda w: rt.open_database(
        w["data"], policy=rt.Policy(filters=("region",), responses=("income",)), secret=1, ledger="l", colour="red"
    ),
    "a database file that is not there": lambda w: rt.open_database("no.toml"),
    "a database file with a policy": lambda w: rt.open_database("no.toml", policy=rt.Policy(filters=("region",))),
    "a policy that answers about one": lambda w: rt.Policy(minimum=0),
    "a policy of an unknown mode": lambda w: rt.open_database(
        w["data"],
        policy=rt.Policy(mode="loud", filters=("region",)),
        secret=1,
        test_secret=True,
        ledger=w["folder"] / "l",
    ),
    "attacking without a policy": lambda w: rt.attack_database(w["data"]),
    "describing a list": lambda w: rt.describe([1]),
    # how newcomers call
    "keys without their name": lambda w: rt.load(w["people"], ["age", "region"]),
    "keys of a mapping": lambda w: rt.load(w["people"], keys={"age": "key"}),
    "risk with keys in the first place": lambda w: w["data"].risk(["age"]),
    "risk with a misspelt option": lambda w: w["data"].risk(dimensions=2),
    "protect without steps": lambda w: w["data"].protect(most=0.1),
    "protect with a limit in the second place": lambda w: w["data"].protect([STEP], 0.1),
    "a table protected by a rule": lambda w: w["table"].protect(rules.Threshold(3)),
    "a table protected by a list of rules": lambda w: w["table"].protect([rules.Threshold(3)]),
    "a table protected by nothing": lambda w: w["table"].protect(),
    "a release with a reason in the first place": lambda w: w["run"].release("we accept it"),
    "why of a list of codes": lambda w: w["tables"].why(["north"]),
    "why of a number": lambda w: w["tables"].why(3),
    "what if with a text as time": lambda w: w["tables"].what_if("north", time_limit="long"),
    "a frame with an option": lambda w: w["masked"].to_frame(kind="pandas"),
    "writing to nothing": lambda w: w["masked"].write(),
    "writing to a number": lambda w: w["masked"].write(3),
    "a report into a list": lambda w: w["run"].confidential_report(["a.html"]),
    "ks as a number": lambda w: w["data"].risk().k_anonymity(ks=3),
    "ks as texts": lambda w: w["data"].risk().k_anonymity(ks=["three"]),
    "models with a text as fraction": lambda w: w["data"].risk().models(fraction="all"),
    "progress as a text": lambda w: w["data"].risk().models(progress="bar"),
    "cutpoints without a least": lambda w: w["data"].cutpoints("age"),
    "copies without a number": lambda w: w["data"].synthetic_copies(mask.Synthesize(("income",))),
    "copies with a text as number": lambda w: w["data"].synthetic_copies(mask.Synthesize(("income",)), "two"),
    "a ledger as a text": lambda w: w["run"].release(accept_risk="a test", ledger="l.ledger", name="x"),
    "a ledger without a secret": lambda w: rt.open_ledger("l.ledger"),
    "a ledger at a number": lambda w: rt.open_ledger(3, secret=b"x" * 32),
    "an audit with its structure in the second place": lambda w: rt.audit(w["people"], {}),
    "a policy as a mapping": lambda w: rt.open_database(w["data"], policy={"filters": ["region"]}),
    "a hierarchy made of a number": lambda w: rt.Hierarchy.from_paths(3),
    "a hierarchy of nothing": lambda w: rt.Hierarchy(),
    "a schema of a text": lambda w: rt.Schema("age"),
    "a variable without a name": lambda w: rt.Variable(),
    "a schema written the wrong way round": lambda w: rt.write_schema("schema.toml", w["data"].schema),
    "a schema read from a list": lambda w: rt.read_schema(["schema.toml"]),
    "a term of a text": lambda w: rt.Term("age"),
    "combining one number": lambda w: rt.combine(1.0, 2.0),
    "a rule that is no rule": lambda w: rules.Rule(3),
    "a game of a text": lambda w: games.pure("poker"),
    "a game from a number": lambda w: games.run_game(3),
}


@pytest.fixture(scope="module")
def world(people: pl.DataFrame, data: rt.Data, tmp_path_factory: pytest.TempPathFactory) -> World:
    run = data.protect([STEP], most=1.0)
    table = data.tabulate("region")
    return {
        "people": people, "data": data, "run": run, "masked": run.release(accept_risk="a test"), "table": table,
        "tables": table.protect(rules=[rules.Threshold(3)]), "folder": tmp_path_factory.mktemp("bad"),
    }  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_says_what_is_wrong(name: str, world: World, people: pl.DataFrame) -> None:
    with pytest.raises(rt.ReticentError) as caught:
        CASES[name](world)
    text = str(caught.value)
    assert 10 < len(text) < 500
    assert text.endswith((".", ")", "?"))
    assert "Traceback" not in text
    assert "object at 0x" not in text
    secret_values = {str(value) for value in people["income"].to_list()}
    assert not secret_values & set(text.split())


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60


def _public_calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Everything that a user can call: functions, classes, their class methods and methods."""
    for module in (rt, games, mask, methods, rules):
        for name in module.__all__:
            one = getattr(module, name)
            if callable(one) and not (isinstance(one, type) and issubclass(one, Exception)):
                yield name, one
            if isinstance(one, type) and one.__module__.startswith("reticent.api"):
                for inner, member in vars(one).items():
                    if not inner.startswith("_") and (inspect.isfunction(member) or isinstance(member, classmethod)):
                        yield f"{name}.{inner}", getattr(one, inner)


CALLS = dict(_public_calls())
NO_CALLS = ("Kind", "Role")  # enumerations: Python's own sentence is the right one


@pytest.mark.parametrize("name", [name for name in CALLS if name not in NO_CALLS])
def test_every_public_call_refuses_what_it_does_not_know(name: str, world: World) -> None:
    own = [world["data"]] if "self" in inspect.signature(CALLS[name]).parameters and "." in name else []
    with pytest.raises(rt.ReticentError, match=r"no_such_option|missing|no options"):
        CALLS[name](*own, no_such_option=1)


def test_the_walk_finds_what_there_is() -> None:
    assert {"load", "Data.protect", "Tabulation.protect", "TableRun.why", "MaskedFile.write", "Recode"} <= set(CALLS)
    assert len(CALLS) > 100


def test_facts_of_a_table_are_those_of_plans() -> None:
    declared = {one.name for one in fields(TableSpec)} - {"dimensions", "response"}
    assert declared == set(TableFacts.__annotations__)
