# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/guarantees.md: what each method promises, to which attacker, and what it does not cover.

python scripts/make_guarantees_page.py [--check]
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.microdata.facts import file as steps  # noqa: E402
from reticent.microdata.mask import METHODS  # noqa: E402
from reticent.queries.guarantee import ModeGuarantee  # noqa: E402
from reticent.queries.modes import MODES, mode_class  # noqa: E402
from reticent.tables.guarantee import FAMILY, Guarantee  # noqa: E402
from reticent.tables.methods import TABLE_METHODS  # noqa: E402

AGAINST, NOT_COVERED = "Against the arithmetic attacker, ", " Not covered: "
LEAD_WORDS = 5
PAGE = ROOT / "docs" / "reference" / "guarantees.md"
INTRODUCTION = """# Guarantees and their limits

This page lists what each method promises, to whom, and what it leaves open. It is made from the declarations in the code
(`python scripts/make_guarantees_page.py`).

The page distinguishes two attackers:

- The **arithmetic attacker** has all that is published, the relations between numbers, the method's name and the parameters
  that bound a change, known bounds, their own records, and every earlier release that the plan or the ledger names. What is
  promised against this attacker is meant without exception; [What we got wrong](../explanation/what-we-got-wrong.md) lists
  where it did not hold, and what is known and not mended yet.
- The **transparent attacker** also has our code, all parameters and the policy, and lacks only the data and the secret. No
  method for tables is certified against this attacker. For small tables the page says how many unsafe cells they determine.

A guarantee is for a file that was judged *held*, or a table without exposed cells. What was accepted in spite of a verdict
(`accept_risk`, `accept_exposed`, `accept_uncertified`) has no guarantee; the confidential report says so.
"""
FILES = """## Files

A file has the guarantee of its verdict, whatever the steps were: the attacks that the plan asks for were tried on the
result, and each stayed below its limit. This is for the arithmetic attacker, who has the true keys and numbers of everybody and
knows how values were coarsened. Of what the transparent attacker adds, linkage covers that the sizes of disturbances are known;
nothing else is certified. The attacks, their limits and what they do not cover are on the page
[Plan files](plan-files.md#risk-the-verdict). In short:

| attack | what holds when it is *held* | not covered |
|---|---|---|
| `recount` | no record has a larger risk than `most` for somebody who knows its true keys, all or some of them | \
keys that are not declared; hidden keys that follow from three or more other variables, and \
[what else is not tried](../explanation/what-we-got-wrong/files-restored.md), \
with an engine more |
| `linkage` | at most the share `most` of the records is rightly and uniquely linked | what is not `known`; other ways to link |
| `households` | no household has a larger risk than `most` by its members together | other groups; fewer than 3 of near numbers |
| `weights` | no weight reveals a code, or a narrow range of codes, of a key, a sensitive variable or one that a step made \
weights by, that the file shows less finely or changed, nor the order of a number that it hides (in the file, or among those \
with one code of another variable) | \
other variables by which weights of the \
source were made; numbers that weights place within more than an eighth of the ranks, or hardly nearer than another \
published variable does, or of fewer than eight records that show one number; \
weights together with two or more variables (except other strata of the same sample); codes that are no range; \
ranges of more than two thirds of those who show the published code |
| `order` | the order of the records reveals nothing of their order in the source | \
other orders than that of the source file; that members of a published household stand together |
| `intervals` | at most the share `interval_most` of the true numbers is near the published one; \
only reported if `interval_most` is not given | true numbers that follow from other published ones \
(income from net income and tax) |

The verdict is about who is who. What groups of equal keys have in common is limited by `generalize` with `l` or `t`:
for the arithmetic attacker, with the suppressed records as one more group; not for the transparent attacker, who
determines 48 of 15,300 sensitive values of files of 5 records (`k = l = 2`, one key), with `local` 1,128.

Several releases together may reveal what each of them hides. They are [judged together](../explanation/releases-together.md) by
what each reveals, its *facts*. *Certified* methods have complete facts, *mostly* certified ones have them except in cases that
[What releases tell](../explanation/what-releases-tell.md) names, and the others may reveal more than their facts say.
Versions of a data set are judged together if their records are linked by an identifier: for somebody who knows which values and
codes changed, and the rule by which all of them changed if there is one, but not that values change by little:

"""
TABLES = """## Tables

Levels are how far an attacker must stay from an unsafe value ([rules](rules.md)). For the transparent attacker each method says
how many unsafe cells were determined on {family}. Larger tables are not certified.

"""
QUERIES = """## Query databases

All answers to all users count together, for ever. [Queries](../how-to/queries.md) explains the modes and their words.
"""


def _certified(beyond: str) -> str:
    return "yes" if not beyond else "mostly" if beyond.startswith("only") else "no"


def _file_rows() -> list[str]:
    rows = [(name, steps.DECLARED[METHODS[name]]) for name in sorted(METHODS)]
    names = {
        kind: [f"`{name}`" for name, own in rows if _certified(own.beyond) == kind] for kind in ("yes", "mostly", "no")
    }
    lines = ["| certified | methods |", "|---|---|"]
    return [*lines, *(f"| {kind} | {', '.join(own)} |" for kind, own in names.items())]


def _table_methods() -> list[str]:
    """A section for each promise, with the methods that make it."""
    promises: dict[tuple[str, str], list[str]] = {}
    for name in TABLE_METHODS:
        own = TABLE_METHODS[name].guarantee
        promises.setdefault((own.arithmetic, _transparent(own)), []).append(f"`{name}`")
    lines: list[str] = []
    for (arithmetic, transparent), names in promises.items():
        holds, left = arithmetic.removeprefix(AGAINST).split(NOT_COVERED)
        lines += [f"### {', '.join(names)}", "", f"- **Arithmetic attacker**, {holds.strip()}"]
        lines += [f"- **Transparent attacker**: {transparent}", f"- **Not covered**: {left}", ""]
    return lines


def _transparent(own: Guarantee) -> str:
    if own.arithmetic_only:
        return f"nothing is promised: {own.why}; {own.rate} are determined, and {own.rate.left}."
    return f"enumerated only; {own.rate} are determined, and {own.rate.left}."


def _mode(name: str, said: ModeGuarantee) -> str:
    lines = [
        f"### `{name}`",
        "",
        said.attackers,
        *([""] if said.holds else []),
        *(f"- {_lead(one)}" for one in said.holds),
    ]
    if said.not_covered:
        lines += ["", "Not covered:", "", *(f"- {one}" for one in said.not_covered)]
    return "\n".join([*lines, ""])


def _lead(point: str) -> str:
    """The few words at the beginning that say what a point is about stand out."""
    lead, colon, rest = point.partition(":")
    return f"**{lead}**:{rest}" if colon and len(lead.split()) <= LEAD_WORDS else point


def page() -> str:
    """The whole page."""
    modes = [_mode(name, mode_class(name).guarantee) for name in MODES]
    parts = [
        INTRODUCTION,
        FILES + "\n".join(_file_rows()) + "\n",
        TABLES.format(family=FAMILY) + "\n".join(_table_methods()),
    ]
    return "\n".join([*parts, QUERIES, *modes])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
