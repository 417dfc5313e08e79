# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/methods.md: every masking method, table method, rule, file format, query mode and report section.

python scripts/make_registry_page.py [--check]
"""

import dataclasses
import json
import sys
import typing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.base.checks import RANGES  # noqa: E402
from reticent.data.method import Group  # noqa: E402
from reticent.data.parameters import Parameters  # noqa: E402
from reticent.io.formats import FORMATS  # noqa: E402
from reticent.io.table_formats import TABLE_FORMATS  # noqa: E402
from reticent.microdata.mask import METHODS  # noqa: E402
from reticent.queries.modes import MODES, mode_class, options_class  # noqa: E402
from reticent.report.file_report import FILE_SECTIONS  # noqa: E402
from reticent.report.table_report import TABLE_SECTIONS  # noqa: E402
from reticent.tables.methods import TABLE_METHODS  # noqa: E402
from reticent.tables.rules import RULES  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "methods.md"


def first_line(about: Any) -> str:
    """What something is for, in one line."""
    return (about.__doc__ or "").strip().splitlines()[0]


def _for_whom(mode: str) -> str:
    """The first line of a guarantee; the page of guarantees has the rest."""
    return str(mode_class(mode).guarantee).splitlines()[0]


def options(cls: type[Parameters] | None) -> list[str]:
    """A table of options: default, what is allowed, what it does."""
    fields = [] if cls is None else [field for field in dataclasses.fields(cls) if field.init]
    if not fields:
        return ["No options."]
    hints = typing.get_type_hints(cls)
    rows = [
        f"| `{field.name}` | {_default(field)} | {_allowed(hints[field.name], field.metadata)} | "
        f"{field.metadata.get('help', '')} |"
        for field in fields
    ]
    return ["| option | default | allowed | what it does |", "|---|---|---|---|", *rows]


def _default(field: "dataclasses.Field[Any]") -> str:
    if field.default_factory is not dataclasses.MISSING:
        return ""
    if field.default is dataclasses.MISSING:
        return "must be given"
    if dataclasses.is_dataclass(field.default):
        return ""
    return "" if field.default in (None, (), "") else f"`{_toml(field.default)}`"


def _toml(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _allowed(hint: Any, meta: Any) -> str:
    choices = meta.get("choices") or (typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ())
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    return " and ".join(f"{word} {meta[name]:g}" for name, word in RANGES.items() if name in meta)


def chapter(heading: str, words: str, entries: list[list[str]]) -> list[str]:
    """A chapter of entries."""
    return [f"## {heading}", "", words, "", *(line for entry in entries for line in (*entry, ""))]


def _step(name: str, method: type[Parameters]) -> list[str]:
    example = [f"{key} = {_toml(value)}" for key, value in {"method": name, **method.examples[0]}.items()]
    return [f"### `{name}`", "", first_line(method), "", *options(method), "", "```toml", "[[step]]", *example, "```"]


def _format_row(name: str) -> str:
    one = FORMATS[name]
    ends = ", ".join(f"`{ending}`" for ending in one.endings or one.written)
    extra = f"`reticent[{one.extra}]`" if one.extra else ""
    return f"| `{name}` | {one.about} | {ends} | {'yes' if one.write else 'no'} | {extra} |"


def _groups() -> list[str]:
    """The masking methods by what they do, as the workbench lists them."""
    rows = []
    for group in Group:
        names = [f"[`{name}`](#{name})" for name, method in METHODS.items() if method.group is group]
        rows += [f"| {group} | {', '.join(names)} |"] if names else []
    return ["| what they do | methods |", "|---|---|", *rows]


def page() -> str:
    """The whole page."""
    formats = [
        "| format | what it is | endings | written | needs |",
        "|---|---|---|---|---|",
        *map(_format_row, FORMATS),
    ]
    modes = [[f"### `{name}`", "", _for_whom(name), "", *options(options_class(name))] for name in MODES]
    methods = [
        [f"### `{name}`", "", first_line(method), "", *options(method)] for name, method in TABLE_METHODS.items()
    ]
    rules = [[f"### `{name}`", "", first_line(rule), "", *options(rule)] for name, rule in RULES.items()]
    reports = [[f"- {chapter.heading}" for chapter in sections] for sections in (FILE_SECTIONS, TABLE_SECTIONS)]
    tables = ["| format | what it is | ending |", "|---|---|---|"]
    tables += [f"| {one.name} | {one.about} | `{one.ending}` |" for one in TABLE_FORMATS]
    lines = [
        "# Methods, rules, formats, modes", "",
        "Everything a plan can name, from the declarations in the code (`python scripts/make_registry_page.py`). Where the",
        "column *default* is empty, the option is absent unless you give it. [Choose a method](../how-to/choose-a-method.md)",
        "helps to choose, [Guarantees and their limits](guarantees.md) says what each method promises.", "",
        *chapter("Masking methods", "Steps of a plan for a file, each with an example for the survey of `reticent demo`.",
                 [_groups(), *(_step(name, method) for name, method in METHODS.items())]),
        *chapter("Table methods", "What `[protect] method` can be; its options go into `[protect]` as well.", methods),
        *chapter("Rules", "What `rules` of a table can be; [worked examples](rules.md).", rules),
        *chapter("File formats", "What `[data] format` can be; without it the ending decides.", [formats]),
        *chapter("Formats of published tables", "The ending of `[output] path` of a table decides.", [tables]),
        *chapter("Query modes", "What `[policy] mode` can be, whom it protects against, and its `[policy.options.<mode>]`. "
                 "What holds and what does not is on the page [Guarantees and their limits](guarantees.md#query-databases).",
                 modes),
        *chapter("Sections of confidential reports", "The first list is for a file, the second for a table.", reports),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "docs/reference/methods.md is not up to date")
    PAGE.write_text(page(), encoding="utf-8")
