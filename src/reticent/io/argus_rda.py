# SPDX-License-Identifier: Apache-2.0
"""ARGUS metadata of microdata (`.rda`): fixed width, free format or SPSS, into a `Schema` and back.

Keywords of mu-ARGUS and tau-ARGUS are both known. What files in the wild get wrong is repaired and noted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError
from reticent.data.hierarchy import TOTAL
from reticent.data.schema import DEFAULT_PRIORITY, Kind, Role, Schema, Variable
from reticent.io.argus_ckm import KEYWORDS as CKM_KEYWORDS
from reticent.io.argus_ckm import CkmTags, ckm_tags
from reticent.io.argus_codes import read_cdl, read_hrc
from reticent.io.argus_grc import split_missing
from reticent.io.argus_text import Line, Notes, find_file, lines_of, read_text

FIXED, FREE, SPSS = "fixed", "free", "spss"


@dataclass(frozen=True)
class Layout:
    """How the records of a data file are laid out."""

    format: str = FIXED
    separator: str = ","
    header: bool = False


@dataclass(frozen=True)
class ArgusMetadata:
    """What an `.rda` file says: schema, layout, request codes, what was repaired, and what tables need.

    `totals` are the codes of totals, `distances` the costs of hiding a cell 1, 2, 3, 4, 5 codes from an unsafe one;
    `ckm` is what is said about cell keys.
    """

    schema: Schema
    layout: Layout
    requests: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]
    totals: dict[str, str] = field(default_factory=dict)
    distances: dict[str, tuple[float, ...]] = field(default_factory=dict)
    ckm: CkmTags | None = None


@dataclass
class Block:
    """The lines of one variable: where it begins, its facts so far."""

    path: Path
    line: Line
    facts: dict[str, Any]
    notes: Notes
    lead: str = "@"
    total: str = TOTAL
    tree_file: str | None = None
    requests: tuple[str, ...] = ()
    distance: tuple[float, ...] = ()
    recodable: bool = False
    seen: set[str] = field(default_factory=set)
    ckm: dict[str, str] = field(default_factory=dict)

    def fail(self, line: Line, words: str) -> DataError:
        """An error that names the file, the line and the variable."""
        return DataError(f"{self.path.name}: line {line.number} ({self.facts['name']}): {words}")


def read_rda(path: Path) -> ArgusMetadata:
    """Read the metadata of a microdata file."""
    notes = Notes()
    lines = lines_of(read_text(path, notes))
    layout, body = _header(lines, path)
    blocks: list[Block] = []
    for line in body:
        if line.keyword is None:
            blocks.append(_begin(line, layout, path, notes))
        elif not blocks:
            notes.add(f"{path.name}: keyword <{line.keyword}> before the first variable is passed over.")
        else:
            for part in _parts(line):
                _keyword(blocks[-1], part)
    if not blocks:
        raise DataError(f"{path.name}: the file describes no variable.")
    variables = tuple(_finish(block) for block in blocks)
    requests = {block.facts["name"]: block.requests for block in blocks if block.requests}
    try:
        schema = Schema(variables)
    except DataError as err:
        raise err.at(path.name, instead_of="Schema") from None
    totals = {block.facts["name"]: block.total for block in blocks}
    distances = {block.facts["name"]: block.distance for block in blocks if block.distance}
    ckm = ckm_tags({block.facts["name"]: block.ckm for block in blocks if block.ckm}, path.name)
    return ArgusMetadata(schema, layout, requests, tuple(notes), totals, distances, ckm)


def _header(lines: Sequence[Line], path: Path) -> tuple[Layout, list[Line]]:
    layout, body = Layout(), list(lines)
    for line in lines:
        if line.keyword == "SEPARATOR":
            separator = line.tokens[1] if len(line.tokens) > 1 else ""
            if len(separator) != 1:
                raise DataError(f"{path.name}: line {line.number}: <SEPARATOR> must be one character in quotes.")
            layout = replace(layout, format=FREE, separator=separator)
        elif line.keyword == "NAMESINFRONT":
            layout = replace(layout, header=True)
        elif line.keyword == "SPSS":
            layout = replace(layout, format=SPSS)
        else:
            break
        body = body[1:]
    return layout, body


def _parts(line: Line) -> list[Line]:
    """Several keywords may be in one line."""
    starts = [i for i, token in enumerate(line.tokens) if token.startswith("<") and token.endswith(">")]
    ends = [*starts[1:], len(line.tokens)]
    return [Line(line.number, line.text, line.tokens[a:b]) for a, b in zip(starts, ends, strict=True)]


def _begin(line: Line, layout: Layout, path: Path, notes: Notes) -> Block:
    name, *rest = line.tokens
    block = Block(path, line, {"name": name}, notes)
    wanted = ("start", "length") if layout.format == FIXED else ("length",)
    if layout.format == SPSS and len(rest) >= 2:
        wanted = ("start", "length")
    for fact in wanted:
        if not rest or not rest[0].isdigit() or int(rest[0]) < 1:
            raise block.fail(
                line, f"it must read 'name {' '.join(wanted)} [missing codes]'; {fact} is not a whole number."
            )
        block.facts[fact] = int(rest.pop(0))
    while rest and rest[0].startswith("<"):
        raise block.fail(line, "put each keyword on a line of its own.")
    block.facts["missing"] = tuple(dict.fromkeys(split_missing(rest, path, notes)))
    return block


def _number(block: Block, line: Line) -> int:
    if len(line.tokens) < 2 or not line.tokens[1].lstrip("-").isdigit():
        raise block.fail(line, f"<{line.keyword}> needs a whole number.")
    return int(line.tokens[1])


def _word(block: Block, line: Line) -> str:
    if len(line.tokens) < 2:
        raise block.fail(line, f"<{line.keyword}> needs a word after it.")
    return line.tokens[1]


def _recodable(block: Block, line: Line) -> None:
    block.recodable = True


def _level(block: Block, line: Line) -> None:
    level = _number(block, line)
    if not 0 <= level <= 3:
        block.notes.add(
            f"{block.path.name}: identification level of {block.facts['name']} set to {min(max(level, 0), 3)}."
        )
    block.facts["level"] = min(max(level, 0), 3)


def _priority(block: Block, line: Line) -> None:
    block.facts["priority"] = float(_number(block, line))


def _decimals(block: Block, line: Line) -> None:
    block.facts["decimals"] = _number(block, line)


def _digits(block: Block, line: Line) -> None:
    if not all(token.isdigit() for token in line.tokens[1:]) or len(line.tokens) < 2:
        raise block.fail(line, "<HIERLEVELS> needs whole numbers.")
    widths = tuple(int(token) for token in line.tokens[1:])
    length = block.facts.get("length")
    if length is not None and sum(widths) != length:
        block.notes.add(f"{block.path.name}: the levels of {block.facts['name']} do not add up to its width {length}.")
    block.facts["digits"] = tuple(width for width in widths if width)


def _truncable(block: Block, line: Line) -> None:
    block.facts.setdefault("digits", (1,) * int(block.facts.get("length", 1)))


def _code_list(block: Block, line: Line) -> None:
    name = _word(block, line)
    try:
        codes, labels = read_cdl(find_file(block.path.parent, name, block.notes), block.notes)
    except DataError:
        block.notes.add(f"{block.path.name}: the code list {name} of {block.facts['name']} is not there; no labels.")
        return
    block.facts["codes"], block.facts["labels"] = codes, labels


def _requests(block: Block, line: Line) -> None:
    block.requests = line.tokens[1:]


def _distance(block: Block, line: Line) -> None:
    try:
        block.distance = read_distance(line.tokens[1:])
    except ValueError as err:
        raise block.fail(line, str(err)) from None


def read_distance(words: Sequence[str]) -> tuple[float, ...]:
    """The numbers of <DISTANCE>: what a cell costs 1, 2, 3, 4, and 5 or more codes away from an unsafe one."""
    try:
        numbers = tuple(float(word) for word in words)
    except ValueError:
        numbers = ()
    if not 1 <= len(numbers) <= 5 or not all(0 <= number < float("inf") for number in numbers):
        raise ValueError("<DISTANCE> needs five numbers that are not negative.")
    return (*numbers, *(numbers[-1] for _ in range(5 - len(numbers))))


def _cell_key(block: Block, line: Line) -> None:
    block.ckm[str(line.keyword)] = " ".join(line.tokens[1:])
    if line.keyword == "RECORDKEY":
        block.facts["kind"] = Kind.NUMERIC


def _pass_over(block: Block, line: Line) -> None:
    """Known keywords that say nothing about the schema."""


def _set(name: str) -> Callable[[Block, Line], None]:
    def keep(block: Block, line: Line) -> None:
        setattr(block, name, _word(block, line))

    return keep


def _fact(name: str, value: Any) -> Callable[[Block, Line], None]:
    def keep(block: Block, line: Line) -> None:
        block.facts[name] = value

    return keep


_KEYWORDS: dict[str, Callable[[Block, Line], None]] = {
    "RECODABLE": _recodable, "RECODEABLE": _recodable, "CODELIST": _code_list, "IDLEVEL": _level,
    "TRUNCABLE": _truncable, "NUMERIC": _fact("kind", Kind.NUMERIC), "DECIMALS": _decimals,
    "WEIGHT": _fact("role", Role.WEIGHT), "HOUSE_ID": _fact("role", Role.HOUSEHOLD_ID),
    "HOUSEHOLD": _fact("household", True), "SUPPRESSPRIORITY": _priority, "SUPPRESSWEIGHT": _priority,
    "RELATED": _pass_over, "TOTCODE": _set("total"), "DISTANCE": _distance, "HIERARCHICAL": _pass_over,
    "HIERLEVELS": _digits, "HIERCODELIST": _set("tree_file"), "HIERLEADSTRING": _set("lead"),
    "HOLDING": _fact("role", Role.ENTITY), "REQUEST": _requests, **dict.fromkeys(CKM_KEYWORDS, _cell_key),
}  # fmt: skip


def _keyword(block: Block, line: Line) -> None:
    action = _KEYWORDS.get(str(line.keyword))
    if action is None:
        block.notes.add(f"{block.path.name}: unknown keyword <{line.keyword}> is passed over.")
        return
    block.seen.add(str(line.keyword))
    action(block, line)


def _finish(block: Block) -> Variable:
    facts, name = block.facts, block.facts["name"]
    weight = facts.get("role") is Role.WEIGHT
    if weight:
        facts["kind"] = Kind.NUMERIC
        if facts["missing"]:
            block.notes.add(
                f"{block.path.name}: weight {name} has missing codes; a weight has none, they are left out."
            )
            facts["missing"] = ()
    if block.tree_file is not None:
        path = find_file(block.path.parent, block.tree_file, block.notes)
        facts["hierarchy"] = read_hrc(path, lead=block.lead, total=block.total, notes=block.notes)
        facts.pop("digits", None)
    if facts.get("kind") is Kind.NUMERIC and not block.recodable:
        for fact in ("codes", "labels", "digits"):
            facts.pop(fact, None)
    if "role" not in facts:
        facts["role"] = Role.KEY if facts.get("level", 0) > 0 else Role.OTHER
    if not facts.get("codes"):
        facts.pop("labels", None)
    try:
        return Variable(**facts)
    except DataError as err:
        raise DataError(f"{block.path.name}: line {block.line.number}: {err}", variables=(name,)) from None


def rda_text(schema: Schema, layout: Layout, *, code_lists: dict[str, str], trees: dict[str, str], public: bool) -> str:
    """The text of an `.rda` file; `public` leaves out what only the protector may know, as ARGUS's `.rds` does."""
    rows: list[str] = []
    if layout.format == FREE:
        rows.append(f'<SEPARATOR> "{layout.separator}"')
        if layout.header:
            rows.append("<NAMESINFRONT>")
    for variable in schema.variables:
        rows.extend(_variable_rows(variable, layout, public))
        if variable.name in code_lists:
            rows.append(f'  <CODELIST> "{code_lists[variable.name]}"')
        if variable.name in trees:
            rows.extend(("  <HIERARCHICAL>", f'  <HIERCODELIST> "{trees[variable.name]}"', '  <HIERLEADSTRING> "@"'))
            if variable.hierarchy is not None:
                rows.append(f'  <TOTCODE> "{variable.hierarchy.total}"')
    return "\n".join(rows) + "\n"


def _variable_rows(variable: Variable, layout: Layout, public: bool) -> list[str]:
    place = [str(variable.start)] if layout.format == FIXED else []
    if any(blank in variable.name for blank in ' \t"<>'):
        raise DataError(f"Variable {variable.name!r}: names in an .rda file must have no blanks, quotes or <>.")
    rows = [" ".join([variable.name, *place, str(variable.length or 1), *variable.missing])]
    if variable.kind is Kind.NUMERIC:
        rows.append("  <NUMERIC>")
        if variable.decimals:
            rows.append(f"  <DECIMALS> {variable.decimals}")
    else:
        rows.append("  <RECODABLE>")
    if variable.digits and set(variable.digits) == {1}:
        rows.append("  <TRUNCABLE>")
    elif variable.digits:
        rows.extend(("  <HIERARCHICAL>", f"  <HIERLEVELS> {' '.join(map(str, variable.digits))}"))
    if variable.role is Role.WEIGHT:
        rows.append("  <WEIGHT>")
    if variable.role is Role.HOUSEHOLD_ID:
        rows.append("  <HOUSE_ID>")
    if variable.is_household:
        rows.append("  <HOUSEHOLD>")
    if not public:
        rows.append(f"  <IDLEVEL> {variable.level}")
        if variable.priority != DEFAULT_PRIORITY:
            rows.append(f"  <SUPPRESSPRIORITY> {variable.priority:g}")
    return rows
