"""Every result says itself in plain data: `summary()` goes through `json.dumps`, for all classes that have one."""

import ast
import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import games, mask, methods, rules
from reticent.data.microdata import Microdata
from reticent.jobs.argus.run import run_batch
from reticent.jobs.jj import AdjustNumbers, RoundNumbers, change_jj, suppress_jj
from reticent.jobs.link_files import link_paths
from reticent.tables.problem import SuppressionProblem
from table_makers import with_totals

SOURCE = Path(rt.__file__).parent
TESTS = Path(__file__).resolve().parents[1]
EXAMPLES = TESTS.parent / "examples"
SECRET = hashlib.sha256(b"a test").digest()
WITHIN = {  # parts of other results: facts of a step or of a method, which those have in their own summary
    "Adjusted", "AlsoHidden", "DistanceLinkage", "Instead", "LocalCoding", "NoiseUtility", "Redesign", "Rounded",
    "SafeRecount", "SearchResult", "ShownAttack", "SmallCountRounding",
}  # fmt: skip
BY_COMMAND = {  # results that need keys, a ledger, an engine or a log: tests of their commands read them as JSON
    "Audited": "unit/jobs/test_runs_of_plans.py",
    "Demo": "jobs/test_demo.py",
    "DraftedPlan": "jobs/test_plan_command.py",
    "Explanation": "jobs/test_ledger_explain.py",
    "FileRun": "jobs/test_protect_file.py",
    "ImportedRelease": "jobs/test_ledger_import.py",
    "LargeResult": "conformance/test_engine_protect.py",
    "LogResult": "jobs/test_querylog_command.py",
    "Released": "jobs/test_release.py",
    "TableRun": "unit/jobs/test_runs_of_plans.py",
    "Verified": "jobs/test_delegate_command.py",
}


def classes() -> set[str]:
    """Every class of the source that has a summary, as module:name."""
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(getattr(one, "name", "") == "summary" for one in node.body):
                found.add(
                    ":".join((".".join(("reticent", *path.relative_to(SOURCE).with_suffix("").parts)), node.name))
                )
    return found


def reached(start: Any) -> list[Any]:
    """Everything with a summary that a result leads to."""
    seen: dict[int, Any] = {}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, str | bytes | int | float | type | np.ndarray | pl.DataFrame | Microdata):
            continue
        seen[id(one)] = one
        waiting += list(one.values()) if isinstance(one, dict) else []
        waiting += list(one) if isinstance(one, list | tuple) else []
        waiting += (
            [getattr(one, item.name) for item in dataclasses.fields(one)] if dataclasses.is_dataclass(one) else []
        )
    return [one for one in seen.values() if hasattr(one, "summary")]


@pytest.fixture(scope="module")
def data() -> rt.Data:
    rng = np.random.default_rng(5)
    n = 60
    frame = pl.DataFrame(
        {"home": (np.arange(n) // 2).astype(str), "sex": rng.choice(["f", "m"], n), "age": rng.integers(20, 26, n).astype(str),
         "region": rng.choice(["n", "s"], n), "pay": rng.integers(1, 90, n).astype(float), "w": np.full(n, 5.0)}
    )  # fmt: skip
    return rt.load(
        frame, keys=["sex", "age"], sensitive=["pay"], weight="w", household="home", kinds={"age": "nominal"},
        hierarchies={"age": {"Total": ("young", "old"), "young": ("20", "21", "22"), "old": ("23", "24", "25")}},
    )  # fmt: skip


def problem() -> SuppressionProblem:
    values, relations, ids = with_totals(np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]))
    primary = np.zeros(len(values), dtype=bool)
    primary[ids[1, 2]] = True
    return SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=4.0, upper_protection=4.0, upper_bound=400.0
    )


Runs = dict[str, Callable[[rt.Data], Any]]
RUNS: Runs = {
    "risk": lambda d: (
        d.risk(), d.risk().k_anonymity(), d.risk().attackers(), d.risk().k_map(), d.risk().presence(d), d.risk().suda(),
        d.risk().attribute("pay"), d.risk().diversity(["pay"]), d.risk().uniqueness_in(d), d.risk().models(),
        d.risk().intrusion(fraction=0.2, trials=100), d.risk().regional(["region"], threshold=2),
    ),
    "file": lambda d: _file(d.protect([mask.Recode("age", level=1), mask.LocalSuppression(k=3)], most=1.0, secret=SECRET)),
    "generalize": lambda d: d.protect([mask.Generalize(k=2)], most=1.0, secret=SECRET),
    "explore": lambda d: d.explore(
        {"noise": [mask.Noise(("pay",), k=0.5)]}, settings=rt.ExploreSettings(most_risk=1.0, draws=1), secret=SECRET
    ),
    "link": lambda d: link_paths(d.microdata, d.microdata),
    "describe": lambda d: rt.describe(d.confidential_frame()),
    "table": lambda d: d.tabulate("region", "sex", response="pay").protect(rules=[rules.Threshold(3)]),
    "counts": lambda d: d.tabulate("region", "age").protect(rules=[rules.Threshold(3)], method=methods.SmallCounts()),
    "numbers": lambda d: (
        suppress_jj(problem(), method="optimal"),
        *(change_jj(problem(), how, secret=SECRET) for how in (RoundNumbers(5), AdjustNumbers())),
    ),
    "game": lambda d: games.run_game(EXAMPLES / "games" / "two-users.toml"),
    "audit": lambda d: rt.audit(pl.DataFrame({"a": ["Total", "x", "y"], "value": [9, None, None]})),
    "batch": lambda d: run_batch(
        ('<SPECIFYTABLE> "sex""age"|"pay"|""|', "<SAFETYRULE> FREQ(3,20)", "<READMICRODATA>", "<SUPPRESS> MOD(1)"),
        data=d.microdata,
    ),
}  # fmt: skip


def _file(run: Any) -> Any:
    return run, run.blanks(), run.one_to_one(["sex"]), run.ranking_attack("pay")


@pytest.fixture(scope="module")
def results(data: rt.Data) -> list[Any]:
    """What the jobs give, called with Python objects, and all that it leads to."""
    return [one for run in RUNS.values() for one in reached(run(data))]


def test_every_summary_is_plain_data(results: list[Any]) -> None:
    for one in results:
        assert json.loads(json.dumps(one.summary())) is not None, type(one).__name__


def test_no_class_is_left_out(results: list[Any]) -> None:
    shown = {f"{type(one).__module__}:{type(one).__name__}" for one in results}
    left = {name.split(":")[1] for name in classes() - shown}
    assert left == WITHIN | set(BY_COMMAND)


@pytest.mark.parametrize("name", BY_COMMAND)
def test_others_are_read_as_json_by_the_tests_of_their_command(name: str) -> None:
    assert "json" in (TESTS / BY_COMMAND[name]).read_text(encoding="utf-8")
