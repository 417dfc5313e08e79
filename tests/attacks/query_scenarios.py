"""What an attacker of a protected database sees: queries with their answers, for the attacks of this folder.

Each scenario opens a database over generated records, asks, and returns plain values: what is public beforehand and a
transcript. The fixtures in `fixtures/v010/queries` are the same scenarios run by version 0.1.0:

    PYTHONPATH=<tree of version 0.1.0>/src python tests/attacks/query_scenarios.py tests/attacks/fixtures/v010/queries
"""

import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Policy

Transcript = list[dict[str, Any]]
SCENARIOS: dict[str, Callable[[], dict[str, Any]]] = {}


def scenario(make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    SCENARIOS[make.__name__] = make
    return make


def policy_of(**options: Any) -> Policy:
    """A policy; the mode open says that it is a test where the version knows how to."""
    names = {field.name for field in dataclasses.fields(Policy)}
    if options.get("mode") == "open" and "test" in names:
        options["test"] = True
    return Policy(**options)


def database(table: pl.DataFrame, schema: Schema, policy: Policy, *, secret: int = 7) -> ProtectedDatabase:
    folder = Path(tempfile.mkdtemp())
    return ProtectedDatabase(
        Microdata.of(table, schema), policy=policy, secret=secret, test_secret=True, ledger=folder / "test.ledger"
    )


def asked(db: ProtectedDatabase, queries: Sequence[str], *, user: str = "u") -> Transcript:
    """Each query with the answer as a program sees it."""
    return [{"query": query, **db.ask(query, user=user).as_json()} for query in queries]


@scenario
def ordinal_codes() -> dict[str, Any]:
    """1,000 records, half `low`, half `high`; `mid`, between them in the code list, is nobody's."""
    table = pl.DataFrame({"level": ["low", "high"] * 500, "pay": list(range(1000))})
    levels = Variable("level", role=Role.KEY, kind=Kind.ORDINAL, codes=("low", "mid", "high"))
    schema = Schema((levels, Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    db = database(table, schema, policy_of(filters=("level",), responses=("pay",)))
    tests = ("<= 'mid'", "< 'mid'", ">= 'mid'", "> 'mid'", "BETWEEN 'mid' AND 'high'", "<= 'high'")
    return {"transcript": asked(db, [f"SELECT COUNT(*) FROM data WHERE level {test}" for test in tests])}


@scenario
def survival() -> dict[str, Any]:
    """KM of an event that is 0, 1 or 5, and of a time whose codes have no order."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "year": [str(1 + i % 4) for i in range(200)],
            "place": [("9", "10", "11")[i % 3] for i in range(200)],
            "ended": rng.integers(0, 2, 200),
            "spells": rng.choice([0, 1, 5], 200),
        }
    )
    schema = Schema(
        (
            Variable("year", role=Role.KEY, kind=Kind.ORDINAL, codes=("1", "2", "3", "4")),
            Variable("place", role=Role.KEY, codes=("9", "10", "11")),
            Variable("ended", role=Role.SENSITIVE, kind=Kind.NUMERIC),
            Variable("spells", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    db = database(table, schema, policy_of(filters=("year", "place"), responses=("ended", "spells")))
    pairs = (("year", "spells"), ("place", "ended"), ("year", "ended"))
    return {"transcript": asked(db, [f"SELECT KM({time}, {event}) FROM data" for time, event in pairs])}


@scenario
def near_shares() -> dict[str, Any]:
    """Two quantiles whose shares agree in six digits, and numbers of seven digits as labels."""
    table = pl.DataFrame({"serial": [1234567, 1234568] * 50, "pay": [i * 10**9 for i in range(100)]})
    schema = Schema(
        (
            Variable("serial", role=Role.KEY, kind=Kind.NUMERIC, codes=("1234567", "1234568")),
            Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        )
    )
    db = database(table, schema, policy_of(mode="open", filters=("serial",), responses=("pay",)))
    queries = ["SELECT QUANTILE(pay, 0.5000001) FROM data", "SELECT QUANTILE(pay, 0.5000004) FROM data"]
    return {"transcript": asked(db, [*queries, "SELECT COUNT(*) FROM data GROUP BY serial"])}


ODD_COUNTS = (-1, -100, float("inf"), 10**6, 2**80, 1.5, 1e300, "3", True, None, [], {"a": 1})
ODD_POLICIES = {
    "options a number": "options = 5",
    "options of a mode a list": "[policy.options]\nexact = []",
    "options of no mode": "[policy.options.cel-key]\nlargest = 5",
    "unknown option": "[policy.options.cell-key]\nlargst = 5",
    "bounds a number": "bounds = 3",
    "bounds of a response a text": "[policy.bounds]\npay = 'x'",
    "bounds not a number": "[policy.bounds.pay]\nlow = nan",
    "limits a text": "limits = 'many'",
    "cutpoints a number": "cutpoints = 4",
    "cutpoints of texts": "[policy.cutpoints]\ndep = ['a']",
    "known nobody": "known = ['nobody']",
    "open": "mode = 'open'",
    "filters a text": "filters = 'dep'",
    "deep": "known = " + "[" * 3000 + "]" * 3000,
    "long number": "minimum = " + "9" * 5000,
}


def database_file(folder: Path, more: str = "") -> Path:
    """A small database as a file describes it: twelve persons, of whom one is alone in `b`, with a pay of 221."""
    rows = "\n".join(f"p{i},{'ab'[i == 11]},{100 + i * i}" for i in range(12))
    (folder / "pay.csv").write_text(f"id,dep,pay\n{rows}\n")
    (folder / "schema.toml").write_text(
        '[[variable]]\nname = "id"\nrole = "identifier"\n[[variable]]\nname = "dep"\nrole = "key"\n'
        'codes = ["a", "b"]\n[[variable]]\nname = "pay"\nrole = "sensitive"\nkind = "numeric"\n'
    )
    (folder / "pay.secret").write_text("9f0c7d2ab4e86135c17f5e02d98a6b3471fce0952a8d46b3e7150c9f82d4a6be\n")
    known = 'filters = ["dep"]\n' if "filters" not in more else ""
    (folder / "pay.toml").write_text(
        '[data]\npath = "pay.csv"\nschema = "schema.toml"\nsecret = "pay.secret"\n[ledger]\npath = "pay.ledger"\n'
        f'[policy]\nresponses = ["pay"]\n{known}{more}\n'
    )
    return folder / "pay.toml"


def outcome_of(work: Callable[[], Any]) -> str:
    """`done`, `sentence` for an error that the program raises on purpose, else the name of the error."""
    from reticent.base.errors import ReticentError

    try:
        work()
    except ReticentError:
        return "sentence"
    except Exception as err:
        return type(err).__name__
    return "done"


@scenario
def odd_inputs() -> dict[str, Any]:
    """What opening and asking do with odd anchors, option tables and users."""
    from reticent.jobs.answer_query import answer_query, open_database

    found = {}
    question = "SELECT COUNT(*) FROM data"
    for count in ODD_COUNTS:
        path = database_file(Path(tempfile.mkdtemp()))
        answer_query(path, question, user="u")
        anchor = path.parent / "pay.ledger.anchor"
        anchor.write_text(json.dumps({**json.loads(anchor.read_text()), "count": count}))
        found[f"anchor count {count!r}"] = outcome_of(lambda path=path: open_database(path))
    for name, more in ODD_POLICIES.items():
        path = database_file(Path(tempfile.mkdtemp()), more)
        found[f"policy {name}"] = outcome_of(lambda path=path: open_database(path))
    for user in (None, 7, b"u", "", "x" * 10_000, "a\x00b", "a\u200bb", "\ud800"):
        path = database_file(Path(tempfile.mkdtemp()))
        found[f"user {str(user)[:20]!a}"] = outcome_of(
            lambda path=path, user=user: answer_query(path, question, user=user)
        )
    return {"outcomes": found}


@scenario
def forged_anchor() -> dict[str, Any]:
    """Who may write the files, but lacks the secret, puts back an older ledger with an anchor made for it."""
    import shutil
    import sqlite3

    from reticent.jobs.answer_query import answer_query, result_to_json

    path = database_file(Path(tempfile.mkdtemp()))
    folder, transcript = path.parent, []

    def ask(query: str) -> None:
        try:
            entry = dict(result_to_json(answer_query(path, query, user="u")))
        except Exception as err:
            entry = {"answered": False, "code": type(err).__name__}
        transcript.append({"query": query, **entry})

    ask("SELECT COUNT(*) FROM data")
    shutil.copy(folder / "pay.ledger", folder / "old")
    ask("SELECT SUM(pay) FROM data")
    shutil.copy(folder / "old", folder / "pay.ledger")
    with sqlite3.connect(folder / "old") as connection:
        number, digest = connection.execute("SELECT number, hash FROM entries ORDER BY number DESC").fetchone()
    mark = {**json.loads((folder / "pay.ledger.anchor").read_text()), "count": number, "hash": digest.hex()}
    (folder / "pay.ledger.anchor").write_text(json.dumps(mark))
    ask("SELECT SUM(pay) FROM data WHERE dep = 'a'")
    return {"transcript": transcript}


def main(folder: Path) -> None:
    """Write the scenarios, or those named, as this version answers them."""
    chosen = sys.argv[2:] or list(SCENARIOS)
    for name in chosen:
        (folder / f"{name}.json").write_text(json.dumps(SCENARIOS[name](), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
