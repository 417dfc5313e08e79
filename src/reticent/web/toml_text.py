# SPDX-License-Identifier: Apache-2.0
"""Change a TOML text without touching what does not change: comments, order and spelling stay.

The text is cut into blocks at its headers. Every change says what the parsed text must then be; where a text is written in
a way that cannot be changed line by line, the block (or, last, the whole text) is written again, so that a change is never wrong.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import tomli_w

from reticent.base.errors import PlanError

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?\s*(#.*)?$")
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")


@dataclass(frozen=True)
class _Item:
    """One statement with its lines: `key = value`, or a comment or an empty line (no keys)."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Block:
    """A header with what follows it; the first block of a text has none."""

    header: str
    array: bool
    head: str
    items: tuple[_Item, ...] = ()

    @property
    def text(self) -> str:
        return self.head + "".join(item.text for item in self.items)


def parse(text: str, *, owner: str = "plan") -> dict[str, Any]:
    """The tables of a TOML text; where it cannot be read, say in which line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as err:
        raise PlanError(f"{owner}: this is not valid TOML: {err}.") from None
    except (ValueError, RecursionError):
        raise PlanError(f"{owner}: the text is nested too deeply, or a number in it is too long.") from None


def literal(value: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(name)} = {literal(item)}" for name, item in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return tomli_w.dumps({"x": value}).partition(" = ")[2].rstrip("\n")


def _key(name: str) -> str:
    return name if _BARE.match(name) else tomli_w.dumps({name: 0}).partition(" = ")[0]


@dataclass(frozen=True)
class TomlText:
    """A TOML text and the changes that forms make to it; each change gives a new one."""

    text: str

    def __post_init__(self) -> None:
        parse(self.text)

    @property
    def table(self) -> dict[str, Any]:
        """What the text says."""
        return parse(self.text)

    def entries(self, name: str) -> list[dict[str, Any]]:
        """The entries `[[name]]`, in their order."""
        found = self.table.get(name, [])
        return [dict(entry) for entry in found] if isinstance(found, list) else []

    def lines(self, name: str) -> list[tuple[int, int]]:
        """First and last line (from 1) of each entry `[[name]]`, without the empty lines at its end."""
        blocks, places = self._blocks(), []
        for start, end in self._groups(name):
            first = sum(block.text.count("\n") for block in blocks[:start]) + 1
            own = "".join(block.text for block in blocks[start:end]).rstrip()
            places.append((first, first + own.count("\n")))
        return places

    def set_section(self, name: str, values: Mapping[str, Any]) -> "TomlText":
        """The text with `[name]` holding just these options; without options the section goes."""
        table = {**self.table, name: dict(values)}
        blocks = list(self._blocks())
        own = [at for at, block in enumerate(blocks) if block.header == name and not block.array]
        below = [at for at, block in enumerate(blocks) if block.header.startswith(f"{name}.")]
        if not values:
            del table[name]
            blocks = [block for at, block in enumerate(blocks) if at not in (*own, *below)]
        elif len(own) == 1 and not below:
            blocks[own[0]] = _with_values(blocks[own[0]], values)
        elif own:
            blocks[own[0]] = _anew(blocks[own[0]], values)
            blocks = [block for at, block in enumerate(blocks) if at not in below]
        else:
            blocks = _with_space(blocks)
            blocks.insert(self._place_of(name, blocks), _made(name, values, array=False))
        return self._sure(blocks, table)

    def set_entry(self, name: str, number: int, values: Mapping[str, Any]) -> "TomlText":
        """The text with the options of one entry `[[name]]` (from 0) as given."""
        entries = self.entries(name)
        entries[number] = dict(values)
        blocks, groups = list(self._blocks()), self._groups(name)
        start, end = groups[number]
        new = _with_values(blocks[start], values) if end == start + 1 else _anew(blocks[start], values)
        return self._sure([*blocks[:start], new, *blocks[end:]], {**self.table, name: entries})

    def insert(self, name: str, number: int, values: Mapping[str, Any]) -> "TomlText":
        """The text with one more entry `[[name]]` at a place (from 0)."""
        entries = self.entries(name)
        entries.insert(number, dict(values))
        blocks, groups = list(self._blocks()), self._groups(name)
        if number < len(groups):
            at = groups[number][0]
        elif groups:
            at = groups[-1][1]
        else:
            at = self._place_of(name, blocks)
        blocks[:at] = _with_space(blocks[:at])
        blocks.insert(at, _made(name, values, array=True, more=at < len(blocks)))
        return self._sure(blocks, {**self.table, name: entries})

    def remove(self, name: str, number: int) -> "TomlText":
        """The text without one entry `[[name]]`."""
        entries = self.entries(name)
        del entries[number]
        blocks, (start, end) = list(self._blocks()), self._groups(name)[number]
        table = {key: value for key, value in self.table.items() if key != name} if not entries else self.table
        return self._sure(blocks[:start] + blocks[end:], {**table, **({name: entries} if entries else {})})

    def move(self, name: str, number: int, to: int) -> "TomlText":
        """The text with two neighbouring entries exchanged."""
        entries = self.entries(name)
        entries[number], entries[to] = entries[to], entries[number]
        first, second = sorted((number, to))
        blocks, groups = list(self._blocks()), self._groups(name)
        (a, b), (c, d) = groups[first], groups[second]
        blocks = _with_space(blocks)
        moved = [*blocks[:a], *blocks[c:d], *blocks[b:c], *blocks[a:b], *blocks[d:]]
        return self._sure(moved, {**self.table, name: entries})

    def _sure(self, blocks: Sequence[_Block], table: Mapping[str, Any]) -> "TomlText":
        """The blocks as text if they say what they must; else the tables written again."""
        text = "".join(block.text for block in blocks)
        if text.strip():  # the text ends as it did
            text = text.rstrip("\n") + (self.text[len(self.text.rstrip("\n")) :] or "\n")
        try:
            if tomllib.loads(text) == dict(table):
                return TomlText(text)
        except tomllib.TOMLDecodeError:
            pass
        return TomlText(tomli_w.dumps(table))

    def _blocks(self) -> tuple[_Block, ...]:
        return _cut(self.text)

    def _groups(self, name: str) -> list[tuple[int, int]]:
        """Where each entry `[[name]]` begins and ends among the blocks, with its `[name.…]` tables."""
        groups: list[tuple[int, int]] = []
        for at, block in enumerate(self._blocks()):
            if block.header == name and block.array:
                groups.append((at, at + 1))
            elif block.header.startswith(f"{name}.") and groups and groups[-1][1] == at:
                groups[-1] = (groups[-1][0], at + 1)
        return groups

    def _place_of(self, name: str, blocks: Sequence[_Block]) -> int:
        """Where a new section goes: results at the end, everything else before them."""
        if name == "output":
            return len(blocks)
        return next((at for at, block in enumerate(blocks) if block.header == "output"), len(blocks))


def _cut(text: str) -> tuple[_Block, ...]:
    blocks = [_Block("", False, "")]
    pending = ""
    for line in text.splitlines(keepends=True):
        header = _HEADER.match(line.rstrip("\r\n")) if not pending else None
        if header:
            kept, own = _comments_above(blocks[-1].items)
            blocks[-1] = replace(blocks[-1], items=kept)
            name = header[2].replace(" ", "")
            blocks.append(_Block(name, header[1] == "[[", "".join(item.text for item in own) + line))
            continue
        pending += line
        try:
            values = tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue  # the statement goes on in the next line
        blocks[-1] = replace(blocks[-1], items=(*blocks[-1].items, _Item(pending, values)))
        pending = ""
    return tuple(blocks)


def _comments_above(items: tuple[_Item, ...]) -> tuple[tuple[_Item, ...], tuple[_Item, ...]]:
    """The comments that stand right above a header belong to it."""
    at = len(items)
    while at and items[at - 1].text.lstrip().startswith("#"):
        at -= 1
    return items[:at], items[at:]


def _with_values(block: _Block, values: Mapping[str, Any]) -> _Block:
    """The block with options changed where they differ, taken out where they are gone, and added behind the others."""
    if any(len(item.values) > 1 for item in block.items):
        return _anew(block, values)
    items, seen = [], set()
    for item in block.items:
        name = next(iter(item.values), None)
        if name is None:
            items.append(item)
        elif name in values and name not in seen:
            seen.add(name)
            same = item.values[name] == values[name] and type(item.values[name]) is type(values[name])
            items.append(item if same else _changed(item, name, values[name]))
    new = [_statement(name, value) for name, value in values.items() if name not in seen]
    at = len(items)
    while at and not items[at - 1].values and not items[at - 1].text.strip():
        at -= 1
    if at and not items[at - 1].text.endswith("\n"):
        items[at - 1] = replace(items[at - 1], text=items[at - 1].text + "\n")
    return replace(block, items=(*items[:at], *new, *items[at:]))


def _changed(item: _Item, name: str, value: Any) -> _Item:
    """One option with another value; the comment behind it stays."""
    return replace(_statement(name, value), text=f"{_key(name)} = {literal(value)}{_comment_of(item)}\n")


def _comment_of(item: _Item) -> str:
    line = item.text.rstrip("\n")
    if "\n" in line:
        return ""
    for at, sign in enumerate(line):
        if sign == "#":
            try:
                if tomllib.loads(line[:at]) == item.values:
                    space = len(line[:at]) - len(line[:at].rstrip())
                    return " " * max(space, 1) + line[at:]
            except tomllib.TOMLDecodeError:
                continue
    return ""


def _statement(name: str, value: Any) -> _Item:
    return _Item(f"{_key(name)} = {literal(value)}\n", {name: value})


def _anew(block: _Block, values: Mapping[str, Any]) -> _Block:
    """The block written again under its header; an empty line at its end stays."""
    space = "\n" if block.text.endswith("\n\n") else ""
    items = tuple(_statement(name, value) for name, value in values.items())
    return replace(block, items=(*items, _Item(space)) if space else items)


def _made(name: str, values: Mapping[str, Any], *, array: bool, more: bool = True) -> _Block:
    head = f"[[{_key(name)}]]\n" if array else f"[{_key(name)}]\n"
    items = [_statement(key, value) for key, value in values.items()]
    return _Block(name, array, head, (*items, *((_Item("\n"),) if more else ())))


def _with_space(blocks: Sequence[_Block]) -> list[_Block]:
    """Blocks that end with an empty line, so that another can follow."""
    spaced = []
    for block in blocks:
        text = block.text
        if text.strip() and not text.endswith("\n\n"):
            block = replace(block, items=(*block.items, _Item("\n" if text.endswith("\n") else "\n\n")))
        spaced.append(block)
    return spaced
