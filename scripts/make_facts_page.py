# SPDX-License-Identifier: Apache-2.0
"""Write docs/explanation/what-releases-tell.md: what each masking method, table method and query mode tells.

python scripts/make_facts_page.py [--check]
"""

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.microdata.facts import file as steps  # noqa: E402
from reticent.microdata.mask import METHODS  # noqa: E402
from reticent.queries import facts_left as answers  # noqa: E402
from reticent.queries.modes import MODES  # noqa: E402
from reticent.tables import facts_left as tables  # noqa: E402
from reticent.tables.methods import TABLE_METHODS  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "what-releases-tell.md"
INTRODUCTION = """# What releases tell

Files, tables and answers of one data set are judged together. To do so, each release states what it tells as *facts*: sums of
unknowns between two whole numbers. The unknowns are the values of the records for each response, and the number of records in
each *atom*, a combination of codes at the finest level. This page is written from the declarations in the code
(`python scripts/make_facts_page.py`).

## When facts are right

The facts of a release are right when a world agrees with them *if and only if* this output is a true output for that world, with
the method's choices left open: which cells or values to hide, which groups to form, what to draw. How choices are made belongs to
the transparent attacker, who knows the code. Tests enumerate all small worlds for each method and compare both sides.

A method for which facts are only an outer description is *not certified*: what it tells is true, but it may reveal more, and the
last column says what. Facts of such a release are used all the same.

## Who is assumed to know what

- For sums of a response, everybody knows who is in which cell, and not the values. Which values are missing is known.
- For counts, the number of records of each atom is unknown, empty atoms included, unless a release shows it.
- Codes, hierarchies, the method and the parameters that bound a change are public: whoever sees a rounded number knows the base.
- Rules between variables that the records show are public, too: an atom that breaks one is empty, and a number that goes with a
  code is like a code.

## Files

A pattern is what published records show of their keys. Counts are sums where patterns do not overlap: `Σ counts of the atoms
behind a pattern = its records`. Blanks make patterns overlap; then it is a transport problem with auxiliary unknowns, the
number of records of a pattern that are of an atom. Cheap bounds by "compatible records" would be too wide in about half of
the cells. Numbers are an assignment of records to units: a published number says of one unit of its pattern, and of no
other, where its value lies. Sums over atoms are all that releases can select, so auxiliary unknowns count records of atoms,
not single records.
"""
TABLES = """Cells are sums over the same atoms and units in every table, so that relations between cells need no facts of their
own. An unsafe cell is a *watch*: what can be inferred must cover its required interval. A table of sums also reveals where nobody
is, and of any method that somebody is where a sum cannot be 0. Values with fewer decimals than the data
are intervals by the tie rule of the writer."""
ANSWERS = """A refusal reveals nothing to an attacker who does not know the rules; what follows from the rules of the
policy is for the transparent attacker."""


def rows(entries: Iterable[tuple[str, str, str]], what: str) -> list[str]:
    """A table of declarations."""
    head = [f"| {what} | what it reveals | certified | beyond that it may reveal |", "|---|---|---|---|"]
    return [*head, *(f"| `{name}` | {tells} | {_certified(beyond)} | {beyond} |" for name, tells, beyond in entries)]


def _certified(beyond: str) -> str:
    return "yes" if not beyond else "mostly" if beyond.startswith("only") else "no"


def page() -> str:
    """The whole page."""
    files = [(name, steps.DECLARED[m].tells, steps.DECLARED[m].beyond) for name, m in METHODS.items()]
    made = [(name, tables.DECLARED[m].tells, tables.DECLARED[m].beyond) for name, m in TABLE_METHODS.items()]
    asked = [(name, answers.DECLARED[name].tells, answers.DECLARED[name].beyond) for name in MODES]
    lines = [
        INTRODUCTION,
        *rows(files, "masking method"),
        "",
        "## Tables",
        "",
        TABLES,
        "",
        *rows(made, "table method"),
        "",
        "## Answers",
        "",
        ANSWERS,
        "",
        *rows(asked, "query mode"),
    ]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else f"{PAGE.name} is not up to date")
    PAGE.write_text(page(), encoding="utf-8")
