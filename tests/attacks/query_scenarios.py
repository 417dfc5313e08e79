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

from reticent.base import randomness
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.queries.database import ProtectedDatabase
from reticent.queries.policy import Bounds, Policy

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


def database(
    table: pl.DataFrame, schema: Schema, policy: Policy, *, secret: int = 7, ledger: Path | None = None
) -> ProtectedDatabase:
    """A database with a secret that only tests may have."""
    test: dict[str, Any] = {}
    if hasattr(randomness, "release_secret"):  # version 0.1.0 took any secret
        test["test_secret"] = True
    ledger = ledger or Path(tempfile.mkdtemp()) / "test.ledger"
    return ProtectedDatabase(Microdata.of(table, schema), policy=policy, secret=secret, ledger=ledger, **test)


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


def people(*names: str, numbers: Sequence[str] = ("pay",), entity: bool = False) -> Schema:
    """Keys, and confidential numbers; with `entity`, respondents with several records."""
    keys = [Variable(name, role=Role.KEY) for name in names]
    who = [Variable("who", role=Role.ENTITY)] if entity else []
    return Schema((*who, *keys, *(Variable(n, role=Role.SENSITIVE, kind=Kind.NUMERIC) for n in numbers)))


@scenario
def insider() -> dict[str, Any]:
    """`a` has two records, `b` one: {a1} + C, {a2} + D, {b} + E and C + D + E give a1 + a2 + b."""
    groups = {"a1": 1, "a2": 1, "b": 1, "c": 6, "d": 6, "e": 6}
    rows, pay = [], iter((500, 700, 901, *range(100, 118)))
    for name, size in groups.items():
        rows += [{"who": name[0] if size == 1 else f"{name}{i}", "grp": name, "pay": next(pay)} for i in range(size)]
    db = database(pl.DataFrame(rows), people("grp", entity=True), policy_of(filters=("grp",), responses=("pay",)))
    sets = (("a1", "c"), ("a2", "d"), ("b", "e"), ("c", "d", "e"))
    queries = ["SELECT SUM(pay) FROM data WHERE grp IN (" + ", ".join(f"'{g}'" for g in s) + ")" for s in sets]
    return {"own": [500, 700], "truth": 901, "transcript": asked(db, queries)}


@scenario
def totals_less_parts() -> dict[str, Any]:
    """A table with totals where ten respondents are required: regions of 30, 25, 4 and 3, each of three ages."""
    sizes = {"n": 30, "s": 25, "e": 4, "w": 3}
    region = [name for name, size in sizes.items() for _ in range(size)]
    table = pl.DataFrame({"region": region, "age": (["y", "m", "o"] * 21)[:62], "pay": list(range(100, 162))})
    keys = (
        Variable("region", role=Role.KEY, codes=tuple(sizes)),
        Variable("age", role=Role.KEY, codes=("y", "m", "o")),
    )
    schema = Schema((*keys, Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    db = database(table, schema, policy_of(filters=("region", "age"), responses=("pay",), minimum=10))
    transcript = asked(db, ["SELECT SUM(pay) FROM data GROUP BY age, region WITH TOTALS"])
    return {"minimum": 10, "sizes": sizes, "transcript": transcript}


@scenario
def product_with_an_indicator() -> dict[str, Any]:
    """One of twenty persons has `ill` = 1; means, deviations and the correlation give the sum of ill · pay."""
    rng = np.random.default_rng(5)
    pay = rng.integers(100, 999, 20)
    table = pl.DataFrame({"dep": ["a"] * 20, "pay": pay, "ill": [1] + [0] * 19})
    policy = policy_of(filters=("dep",), responses=("pay", "ill"))
    db = database(table, people("dep", numbers=("pay", "ill")), policy)
    items = ("COUNT(*)", "AVG(pay)", "AVG(ill)", "STDDEV(pay)", "STDDEV(ill)", "CORR(pay, ill)")
    return {"truth": int(pay[0]), "transcript": asked(db, [f"SELECT {item} FROM data" for item in items])}


@scenario
def tied_by_category() -> dict[str, Any]:
    """Pay in two currencies with another rate in each country, the second rounded: sums of one tell the other."""
    rng = np.random.default_rng(8)
    country = ["x", "y"] * 20
    pay = rng.integers(1000, 9000, 40)
    local = [round(float(p) * (1.5 if c == "x" else 20.25)) for p, c in zip(pay, country)]
    table = pl.DataFrame({"country": country, "one": ["t"] + ["o"] * 39, "pay": pay, "local": local})
    policy = policy_of(filters=("country", "one"), responses=("pay", "local"))
    db = database(table, people("country", "one", numbers=("pay", "local")), policy)
    queries = [
        "SELECT SUM(pay) FROM data WHERE country = 'x'",
        "SELECT SUM(local) FROM data WHERE country = 'x' AND one = 'o'",
    ]
    return {"rate": 1.5, "truth": int(pay[0]), "transcript": asked(db, queries)}


@scenario
def budget_of_many() -> dict[str, Any]:
    """Forty users ask a private database with `history = "user"` the same count; the total is worth ten answers."""
    table = pl.DataFrame({"dep": ["a", "b"] * 50, "pay": [50.0] * 100})
    policy = policy_of(
        mode="private",
        history="user",
        filters=("dep",),
        responses=("pay",),
        bounds={"pay": Bounds(0, 100)},
        options={"private": {"total": 1.0, "epsilon": 0.1}},
    )
    db = database(table, people("dep"), policy)
    queries = ["SELECT COUNT(*) FROM data WHERE dep = 'a'"] * 40
    transcript = [entry for n, query in enumerate(queries) for entry in asked(db, [query], user=f"user {n}")]
    return {"total": 1.0, "epsilon": 0.1, "transcript": transcript}


@scenario
def refused_unions() -> dict[str, Any]:
    """Thirty cells of 0, 1 or 2 persons, asked for together with cells known to hold 1 and 2, in the mode cell-key."""
    rng = np.random.default_rng(12)
    sizes = rng.integers(0, 3, 30)
    cell = ["one"] + ["two"] * 2 + [f"c{i}" for i, n in enumerate(sizes) for _ in range(n)] + ["rest"] * 200
    table = pl.DataFrame({"cell": cell, "pay": rng.integers(100, 900, len(cell))})
    policy = policy_of(
        mode="cell-key",
        filters=("cell",),
        responses=("pay",),
        minimum=3,
        options={"cell-key": {"sums": {"small": 0.2}}},
    )
    db = database(table, people("cell"), policy)
    queries = [
        f"SELECT SUM(pay) FROM data WHERE cell IN ('c{i}', '{pad}')" for i in range(30) for pad in ("two", "one")
    ]
    return {"minimum": 3, "truth": sizes.tolist(), "transcript": asked(db, queries)}


PADDED, PADS, PAD = 5, 110, 26


@scenario
def padding(pads: int = PADS) -> dict[str, Any]:
    """Sums of a bit with and without each of 5 targets, padded in 110 ways (or the first of them), in the mode analysis.

    A target is the only one of its area and branch with the permit; no two of the three filters single it out.
    """
    rng = np.random.default_rng(21)
    rows = [("core", f"b{i}", "yes" if k == 0 else "no") for i in range(PADDED) for k in range(31)]
    rows += [("other", f"b{i}", "yes" if k % 2 else "no") for i in range(PADDED) for k in range(40)]
    rows += [(f"p{k}", "out", "yes" if m % 2 else "no") for k in range(PADS) for m in range(PAD)]
    area, branch, permit = zip(*rows)
    bits = rng.integers(0, 2, len(rows)).astype(float)
    table = pl.DataFrame({"area": area, "branch": branch, "permit": permit, "bit": bits})
    policy = policy_of(mode="analysis", filters=("area", "branch", "permit"), responses=("bit",))
    db = database(table, people("area", "branch", "permit", numbers=("bit",)), policy)
    pairs = []
    for k in range(pads):
        for i in range(PADDED):
            core = f"area = 'core' AND branch = 'b{i}'"
            texts = (f"({core}) OR area = 'p{k}'", f"({core} AND permit = 'no') OR area = 'p{k}'")
            found = asked(db, [f"SELECT SUM(bit) FROM data WHERE {text}" for text in texts])
            pairs.append([entry.get("value") for entry in found])
    return {"truth": [bits[31 * i] for i in range(PADDED)], "pairs": pairs}


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

    from reticent.jobs.answer_query import answer_query

    path = database_file(Path(tempfile.mkdtemp()))
    folder, transcript = path.parent, []

    def ask(query: str) -> None:
        try:
            entry = dict(answer_query(path, query, user="u").as_json())
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


PLOTS = 60
SIZES = (0.2, 0.4)


@scenario
def public_outlier() -> dict[str, Any]:
    """Twenty databases of 60 farms whose area is public; one has by far the most of it."""
    rounds = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pay, area = rng.integers(20_000, 90_000, PLOTS).astype(float), rng.integers(1, 8, PLOTS).astype(float)
        target = int(rng.integers(PLOTS))
        area[target] = 10_000.0
        numbers = (Variable("area", kind=Kind.NUMERIC), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC))
        table = pl.DataFrame({"dep": ["a", "b"] * (PLOTS // 2), "area": area, "pay": pay})
        policy = policy_of(filters=("dep", "area"), responses=("pay", "area"), dominance=(1, 60), p_percent=10)
        db = database(table, Schema((Variable("dep", codes=("a", "b")), *numbers)), policy, secret=seed)
        parts = ("COUNT(*)", "AVG(pay)", "AVG(area)", "STDDEV(pay)", "STDDEV(area)", "CORR(pay, area)")
        told = asked(db, [f"SELECT {part} FROM data" for part in parts])
        model = asked(db, ["SELECT LINREG(area, pay) FROM data"])[0]
        rounds.append({"area": area.tolist(), "target": target, "truth": pay[target], "told": told, "model": model})
    return {"rounds": rounds}


def keyed_sums(pay: np.ndarray[Any, Any], groups: list[str], **sums: Any) -> tuple[pl.DataFrame, Schema, Policy]:
    """Records with a group, and a policy that answers noisy sums."""
    codes = tuple(sorted(set(groups)))
    schema = Schema((Variable("dep", codes=codes), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC)))
    policy = policy_of(filters=("dep",), responses=("pay",), mode="cell-key", options={"cell-key": {"sums": sums}})
    return pl.DataFrame({"dep": groups, "pay": pay}), schema, policy


@scenario
def equal_pay() -> dict[str, Any]:
    """Twenty groups of four persons with equal pay; the noise is in proportion to the range of a set."""
    pay = np.repeat(np.round(np.random.default_rng(3).lognormal(8, 1, 20)), 4)
    db = database(*keyed_sums(pay, [f"g{i // 4:02}" for i in range(80)], small=0.2, magnifier="range"))
    return {"told": asked(db, ["SELECT SUM(pay) FROM data GROUP BY dep"])[0], "truth": (4 * pay[::4]).tolist()}


@scenario
def other_options() -> dict[str, Any]:
    """Twenty databases that are opened twice, the second time with twice the noise: a sum, then mean and count."""
    rounds = []
    for seed in range(20):
        pay = np.round(np.random.default_rng(seed).lognormal(8, 1, 40))
        answers: Transcript = []
        ledger = Path(tempfile.mkdtemp()) / "test.ledger"
        for size, queries in zip(SIZES, (("COUNT(*)", "SUM(pay)"), ("AVG(pay)",))):
            db = database(*keyed_sums(pay, ["a", "b"] * 20, small=size), secret=seed, ledger=ledger)
            answers += asked(db, [f"SELECT {query} FROM data WHERE dep = 'a'" for query in queries])
            db.close()
        rounds.append({"told": answers, "truth": float(pay[::2].sum())})
    return {"rounds": rounds}


def main(folder: Path) -> None:
    """Write the scenarios, or those named, as this version answers them."""
    for name in sys.argv[2:] or list(SCENARIOS):
        text = json.dumps(SCENARIOS[name](), indent=None if name == "padding" else 1)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
