# SPDX-License-Identifier: Apache-2.0
"""Run the tutorial of protected queries and write it as a notebook with its outputs.

python scripts/make_query_notebook.py examples/protected_queries.ipynb
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

CELLS: tuple[tuple[str, str], ...] = (
    (
        "markdown",
        """# Queries on confidential records: an owner, two analysts, one attack

The owner of a small made-up salary file sets up a protected database. Ann and Bob ask statistics. Eve attacks. Each cell shows
what that person sees.""",
    ),
    (
        "markdown",
        "## The owner\n\nRecords, what they mean, what may be asked, a secret, a ledger. A few people work in research, "
        "and exactly one of them is a director.",
    ),
    (
        "code",
        """import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import reticent as rt

rng = np.random.default_rng(7)
n = 200
people = pl.DataFrame({
    "person": [f"p{i}" for i in range(n)],
    "dept": rng.choice(["sales", "works", "research"], n, p=[0.5, 0.44, 0.06]),
    "grade": rng.choice(["staff", "head"], n, p=[0.8, 0.2]),
    "salary": rng.integers(20, 80, n) * 100,
})
director = people.filter(pl.col("dept") == "research")["person"][0]
people = people.with_columns(
    pl.when(pl.col("person") == director).then(pl.lit("director")).otherwise(pl.col("grade")).alias("grade"))

schema = rt.Schema((
    rt.Variable("person", role="identifier"),
    rt.Variable("dept", role="key", codes=("sales", "works", "research")),
    rt.Variable("grade", role="key", codes=("staff", "head", "director")),
    rt.Variable("salary", role="sensitive", kind="numeric"),
))
data = rt.load(people, schema=schema)
policy = rt.Policy(mode="exact", minimum=3, p_percent=10, filters=("dept", "grade"), responses=("salary",))
folder = Path(tempfile.mkdtemp())
database = rt.open_database(
    data, policy=policy, secret=2026, test_secret=True, ledger=folder / "salaries.ledger"
)
print(database)
print(database.guarantee)""",
    ),
    (
        "markdown",
        "## Ann and Bob\n\nAnswers are exact. What is hidden in a table is hidden so that nothing else gives it away.",
    ),
    (
        "code",
        """def show(who, question):
    result = database.ask(question, user=who)
    print(f"{who}: {question}")
    for row in getattr(result, "rows", ()):
        print("   ", *("total" if code is None else code for code in row.group), *row.values)
    if hasattr(result, "code"):
        print("    refused:", result.code.value, "-", result.message)

show("ann", "SELECT AVG(salary), COUNT(*) FROM data WHERE dept = 'sales'")
show("ann", "SELECT SUM(salary) FROM data GROUP BY dept WITH TOTALS")
show("bob", "SELECT STDDEV(salary) FROM data WHERE grade <> 'director' AND dept <> 'research'")
show("bob", "SELECT MAX(salary) FROM data")
show("bob", "SELECT SUM(salry) FROM data")""",
    ),
    (
        "markdown",
        "The same records are the same query, however they are described, and have one answer:",
    ),
    (
        "code",
        """show("bob", "SELECT AVG(salary) FROM data WHERE NOT (dept = 'works' OR dept = 'research')")
show("ann", "SELECT AVG(salary) FROM data WHERE dept IN ('sales') AND 1 = 1")""",
    ),
    (
        "markdown",
        "## Eve\n\nShe wants the director's salary: directly, as a difference, through an average, with a friend's account.",
    ),
    (
        "code",
        """show("eve", "SELECT SUM(salary) FROM data WHERE grade = 'director'")
show("eve", "SELECT SUM(salary) FROM data WHERE grade <> 'director'")
show("eve", "SELECT AVG(salary) FROM data WHERE NOT grade = 'director'")
show("friend", "SELECT SUM(salary) FROM data WHERE dept = 'research' AND grade <> 'director'")
show("eve", "SELECT LINREG(salary, grade) FROM data")""",
    ),
    (
        "markdown",
        "Nothing in a refusal says why. On an open database the same difference gives the salary away, to the cent:",
    ),
    (
        "code",
        """open_policy = rt.Policy(mode="open", test=True, filters=("dept", "grade"), responses=("salary",))
unprotected = rt.open_database(
    data, policy=open_policy, secret=1, test_secret=True, ledger=folder / "open.ledger"
)
everybody = unprotected.ask("SELECT SUM(salary) FROM data", user="eve").value
others = unprotected.ask("SELECT SUM(salary) FROM data WHERE grade <> 'director'", user="eve").value
truth = people.filter(pl.col("grade") == "director")["salary"][0]
print("difference:", everybody - others, "truth:", truth)
assert everybody - others == truth""",
    ),
    ("markdown", "## Staff\n\nThe ledger has the full reason of every decision, with the earlier answers involved."),
    (
        "code",
        """for decision in database.history():
    for reason in decision["staff"]:
        print(decision["number"], decision["user"], "|", reason["rule"], "|", reason["detail"])""",
    ),
    (
        "markdown",
        "## Tomorrow\n\nThe database is opened again: the ledger is verified, everything said is known, and every answer "
        "stays the same.",
    ),
    (
        "code",
        """database.close()
database = rt.open_database(
    data, policy=policy, secret=2026, test_secret=True, ledger=folder / "salaries.ledger"
)
show("ann", "SELECT AVG(salary), COUNT(*) FROM data WHERE dept = 'sales'")
show("eve", "SELECT SUM(salary) FROM data WHERE grade <> 'director'")""",
    ),
)


def run() -> list[dict[str, Any]]:
    """Run all cells in one namespace; each code cell keeps what it printed."""
    space: dict[str, Any] = {}
    cells: list[dict[str, Any]] = []
    for number, (kind, text) in enumerate(CELLS):
        cell: dict[str, Any] = {
            "cell_type": kind,
            "id": f"cell-{number}",
            "metadata": {},
            "source": text.splitlines(True),
        }
        if kind == "code":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, f"cell {number}", "exec"), space)  # noqa: S102 - the cells above, nothing else
            output = {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(True)}
            cell |= {"execution_count": None, "outputs": [output] if printed.getvalue() else []}
        cells.append(cell)
    return cells


def main(path: Path) -> None:
    """Write the notebook."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": run(), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
