# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/rules.md from the rules' declarations and the worked examples that the tests run.

python scripts/make_rules_page.py [--check]
"""

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.tables.rules import RULES, Rule, rule_from_plan  # noqa: E402

SPEC = ROOT / "tests" / "spec" / "tables"
PAGE = ROOT / "docs" / "reference" / "rules.md"
INTRODUCTION = (
    "A rule decides which cells of a table are unsafe, and how far they must be protected: its *level* is how far what an",
    "attacker can infer must reach beyond the true value. In the tables, *contributions* are what the respondents of one",
    "cell give, and *measure* is the number S of the rule's formula; x1 is the largest contribution, T the total. Every",
    "row is run as a test.",
    "",
    "The rules `request` (respondents who asked for protection) and `manual` (cells that somebody declares unsafe) have no",
    "worked example here; [their options](methods.md#rules) are with those of all rules.",
    "",
    "Sources: SESRIC is A. Yazdani, *Statistical Confidentiality and Disclosure Control* (SESRIC, 2015); DFT is",
    'J. Domingo-Ferrer and V. Torra, "Disclosure risk assessment in statistical data protection" (J. Comput. Appl. Math.',
    "164–165, 2004); TORRA is V. Torra, *Tabular data protection* (slides, 2022); EUSTAT is M. Más, *Statistical Data",
    "Protection Techniques* (Eustat).",
    "",
)


@dataclass(frozen=True)
class Example:
    """A rule with some cells and what it must say of them."""

    rule: str
    rows: tuple[dict[str, str], ...]

    def make(self) -> Rule:
        """The rule itself."""
        name, *options = self.rule.split()
        given: dict[str, Any] = {"rule": name}
        for option in options:
            key, value = option.split("=")
            given[key] = float(value) if "." in value else int(value)
        return rule_from_plan(given, owner="example")


@dataclass(frozen=True)
class Chapter:
    """One rule: its words and examples."""

    name: str
    words: str
    examples: tuple[Example, ...]


def read_rows(lines: list[str]) -> tuple[dict[str, str], ...]:
    """Rows of a table written with bars."""
    head = [cell.strip() for cell in lines[0].split("|")]
    return tuple(dict(zip(head, (cell.strip() for cell in line.split("|")), strict=True)) for line in lines[1:])


def read_chapters() -> list[Chapter]:
    """The examples of all rules."""
    chapters = []
    for text in (SPEC / "rules.txt").read_text(encoding="utf-8").split("# ")[1:]:
        blocks = [block.strip().splitlines() for block in text.split("\n\n") if block.strip()]
        name, *words = blocks[0]
        examples = tuple(
            Example(block[0].removeprefix("rule:").strip(), read_rows(block[1:]))
            for block in blocks[1:]
            if block[0].startswith("rule:")
        )
        chapters.append(Chapter(name.strip(), " ".join(words), examples))
    return chapters


def read_granularity() -> tuple[str, tuple[dict[str, str], ...]]:
    """The words and rows of the granularity examples."""
    words, rows = (SPEC / "granularity.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return words, read_rows(rows.splitlines())


def page() -> str:
    """The manual page."""
    lines = [
        "# Rules", "",
        "<!-- Made by scripts/make_rules_page.py from tests/spec/tables/*.txt; edit those. -->", "",
        *INTRODUCTION,
    ]  # fmt: skip
    for chapter in read_chapters():
        lines += [f"## {chapter.name}", "", str(RULES[chapter.name].__doc__).strip(), "", chapter.words, ""]
        lines += _options(RULES[chapter.name])
        for example in chapter.examples:
            lines += [f"`{example.rule}`", "", *_table(example.rows), ""]
    words, rows = read_granularity()
    lines += ["## Granularity", "", words, "", *_table(rows), ""]
    return "\n".join(lines)


def _options(rule: type[Rule]) -> list[str]:
    rows = []
    for field in dataclasses.fields(rule):  # type: ignore[arg-type]
        if field.init:
            default = str(field.default).lower() if isinstance(field.default, bool) else repr(field.default)
            rows.append(
                {"option": f"`{field.name}`", "default": f"`{default}`", "meaning": field.metadata.get("help", "")}
            )
    return [*_table(tuple(rows)), ""]


def _table(rows: tuple[dict[str, str], ...]) -> list[str]:
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row[name] for name in head) + " |" for row in rows]


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != page())
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
