"""Batch files of tau-ARGUS (`.arb`): every command as data, with the line it stands in."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.io.argus_text import Notes, read_text

_COMMAND = re.compile(r"^\s*<([A-Za-z]+)>\s*(.*?)\s*$")
_CALL = re.compile(r"^\s*([A-Za-z]+)\s*\(([^()]*)\)\s*(.*)$")
PLAIN = (
    "SILENT", "GOINTERACTIVE", "CLEAR", "READMICRODATA", "READTABLE", "SOLVER", "VERSIONINFO", "LOGBOOK", "COMMENT",
    "OPENMICRODATA", "OPENTABLEDATA", "OPENMETADATA", "COVER", "ANCO", "JJ",
)  # fmt: skip
RULES = {
    "P": (1, 3), "NK": (2, 2), "FREQ": (2, 2), "ZERO": (1, 1), "REQ": (4, 4), "WGT": (1, 1), "MIS": (1, 1), "MAN": (1, 1),
}  # fmt: skip
METHODS = {"GH": (1, 4), "MOD": (1, 8), "OPT": (1, 2), "NET": (1, 1), "RND": (2, 7), "CTA": (1, 1), "CKM": (1, 1)}
OPTIONS = ("AS", "SE", "FL", "QU", "HL", "SO", "AR", "HI", "TR", "AO", "AD", "AC")


@dataclass(frozen=True)
class Call:
    """A name with numbers, as P(15,1)."""

    name: str
    numbers: tuple[float, ...]
    rest: str = ""


@dataclass(frozen=True)
class Specification:
    """<SPECIFYTABLE>: explanatory variables, response (None: frequencies), shadow, cost and λ."""

    explanatory: tuple[str, ...]
    response: str | None
    shadow: str | None = None
    cost: str | None = None
    power: float | None = None


@dataclass(frozen=True)
class Command:
    """One command: its name in upper case, its text, what was understood of it, and where it stands."""

    name: str
    text: str
    where: str
    files: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    numbers: tuple[float, ...] = ()
    specification: Specification | None = None
    options: tuple[tuple[str, bool], ...] = ()
    variable: str = ""


def read_batch(path: Path) -> list[Command]:
    """Read a batch file; an error names the file and the line."""
    commands = []
    for number, row in enumerate(read_text(path, Notes()).split("\n"), start=1):
        text = row.strip()
        if not text or text.startswith(("//", "\\\\")):
            continue
        where = f"{path.name}, line {number}"
        found = _COMMAND.match(text)
        if not found:
            raise PlanError(f"{where}: a command starts with its name in angle brackets, e.g. <READTABLE>.")
        name, rest = found.group(1).upper(), found.group(2)
        if name in PLAIN:
            commands.append(Command(name, rest, where, files=_quoted(rest)))
        elif name in _PARSERS:
            commands.append(_PARSERS[name](name, rest, where))
        else:
            raise PlanError(f"{where}: unknown command <{name}>.{did_you_mean(name, (*PLAIN, *_PARSERS))}")
    if not commands:
        raise PlanError(f"{path.name}: the batch file has no command.")
    return commands


def _quoted(text: str) -> tuple[str, ...]:
    found = tuple(re.findall(r'"([^"]*)"', text))
    return found or ((text.strip(),) if text.strip() else ())


def _numbers(text: str, where: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise PlanError(f"{where}: {text.strip()!r} must be numbers with commas between them.") from None


def _specify(name: str, text: str, where: str) -> Command:
    parts = text.split("|")
    explanatory = tuple(re.findall(r'"([^"]*)"', parts[0]))
    if not explanatory or len(parts) < 2:
        raise PlanError(f'{where}: <SPECIFYTABLE> needs "variables"|"response", e.g. "Size""Region"|"Var2".')
    response = parts[1].strip().strip('"')
    shadow = parts[2].strip().strip('"') if len(parts) > 2 else ""
    cost, power = "", None
    if len(parts) > 3 and parts[3].strip():
        pieces = [piece.strip() for piece in parts[3].split(",")]
        cost = pieces[0].strip('"')
        if len(pieces) > 1 and pieces[1]:
            power = _numbers(pieces[1], where)[0]
    if len(parts) > 4 and parts[4].strip():
        power = _numbers(parts[4].strip().strip('"'), where)[0]
    made = Specification(
        explanatory, None if response.lower() in ("<freq>", "") else response, shadow or None, cost or None, power
    )
    return Command(name, text, where, specification=made)


def _rules(name: str, text: str, where: str) -> Command:
    calls = []
    for part in text.split("|"):
        if part.strip():
            calls.append(_call(part, RULES, where))
    return Command(name, text, where, calls=tuple(calls))


def _call(text: str, known: dict[str, tuple[int, int]], where: str) -> Call:
    found = _CALL.match(text)
    if not found:
        raise PlanError(f"{where}: {text.strip()!r} must have the form NAME(numbers).")
    name = found.group(1).upper()
    if name not in known:
        raise PlanError(f"{where}: {name!r} is not known here; it must be one of {', '.join(known)}.")
    numbers = _numbers(found.group(2), where)
    least, most = known[name]
    if not least <= len(numbers) <= most:
        needed = str(least) if least == most else f"{least} to {most}"
        raise PlanError(f"{where}: {name} needs {needed} numbers, got {len(numbers)}.")
    return Call(name, numbers, found.group(3).strip())


def _suppress(name: str, text: str, where: str) -> Command:
    return Command(name, text, where, calls=(_call(text, METHODS, where),))


def _apriori(name: str, text: str, where: str) -> Command:
    found = re.match(r'^\s*"([^"]*)"\s*,\s*(\d+)\s*,\s*"([^"]*)"\s*(.*)$', text)
    if not found or len(found.group(3)) != 1:
        raise PlanError(f'{where}: <APRIORI> needs "file", table number, "separator" and perhaps two numbers 0 or 1.')
    flags = _numbers(found.group(4).lstrip(", "), where)
    return Command(
        name, text, where, files=(found.group(1), found.group(3)), numbers=(float(found.group(2)), *flags)
    )  # fmt: skip


def _recode(name: str, text: str, where: str) -> Command:
    found = re.match(r'^\s*(\d+)\s*,\s*"?([^",]+?)"?\s*,\s*(?:"([^"]*)"|(\d+))\s*$', text)
    if not found:
        raise PlanError(f'{where}: <RECODE> needs table number, variable, "file.grc" or a level.')
    level = () if found.group(4) is None else (float(found.group(4)),)
    files = () if found.group(3) is None else (found.group(3),)
    return Command(
        name, text, where, files=files, numbers=(float(found.group(1)), *level), variable=found.group(2).strip()
    )  # fmt: skip


def _write(name: str, text: str, where: str) -> Command:
    found = re.match(r'^\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*([A-Za-z+\-\s]*),\s*"([^"]*)"\s*\)\s*$', text)
    if not found:
        raise PlanError(f'{where}: <WRITETABLE> needs (table, type, options, "file"), e.g. (1, 3, AS+FL+, "out.txt").')
    options = []
    for word, sign in re.findall(r"([A-Za-z]{2})\s*([+-])", found.group(3)):
        if word.upper() not in OPTIONS:
            raise PlanError(f"{where}: unknown option {word!r}; it must be one of {', '.join(OPTIONS)}.")
        options.append((word.upper(), sign == "+"))
    if not 1 <= int(found.group(2)) <= 7:
        raise PlanError(f"{where}: the type of the output must be 1 to 7, got {found.group(2)}.")
    return Command(
        name, text, where, files=(found.group(4),), numbers=(float(found.group(1)), float(found.group(2))),
        options=tuple(options),
    )  # fmt: skip


_PARSERS: dict[str, Callable[[str, str, str], Command]] = {
    "SPECIFYTABLE": _specify,
    "SAFETYRULE": _rules,
    "SUPPRESS": _suppress,
    "APRIORI": _apriori,
    "RECODE": _recode,
    "WRITETABLE": _write,
}
