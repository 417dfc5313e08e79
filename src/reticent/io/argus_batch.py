# SPDX-License-Identifier: Apache-2.0
"""Batch files of tau-ARGUS (`.arb`): every command as data, with the line it is in."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reticent.base.checks import did_you_mean
from reticent.base.errors import PlanError
from reticent.io.argus_text import Notes, read_text

_COMMAND = re.compile(r"^\s*<([A-Za-z]+)>\s*(.*?)\s*$")
_CALL = re.compile(r"^\s*([A-Za-z]+)\s*\(([^()]*)\)\s*(.*)$")
BARE = ("SILENT", "GOINTERACTIVE", "CLEAR", "READMICRODATA")
FREE = ("COMMENT", "COVER", "ANCO", "JJ")
WITH_FILE = ("LOGBOOK", "VERSIONINFO", "OPENMICRODATA", "OPENTABLEDATA", "OPENMETADATA")
MODES = ("0", "1", "1T", "1F", "2")
SOLVERS = ("CPLEX", "XPRESS", "FREE")
COST_CODES = {"-1": "frequency", "-2": "unity", "-3": "distance"}
RULES = {
    "P": (1, 3), "NK": (2, 2), "FREQ": (2, 2), "ZERO": (1, 1), "REQ": (4, 4), "WGT": (1, 1), "MIS": (1, 1), "MAN": (1, 1),
}  # fmt: skip
FLAGS = ("WGT", "MIS")
WHOLE = {"NK": (0,), "FREQ": (0,), "REQ": (2,)}
OTHERS = " Other methods (invariant, resample, …) and add_up have no command in tau-ARGUS; write a table plan for them."
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
    return commands_of(read_text(path, Notes()).split("\n"), name=path.name)


def commands_of(lines: Sequence[str], *, name: str = "batch") -> list[Command]:
    """The commands of a batch, one per line; an error names the batch and the line."""
    commands = []
    for number, row in enumerate(lines, start=1):
        text = row.strip()
        if not text or text.startswith(("//", "\\\\")):
            continue
        where = f"{name}, line {number}"
        found = _COMMAND.match(text)
        if not found:
            raise PlanError(f"{where}: a command starts with its name in angle brackets, e.g. <READTABLE>.")
        word, rest = found.group(1).upper(), found.group(2)
        if word not in _PARSERS:
            raise PlanError(f"{where}: unknown command <{word}>.{did_you_mean(word, tuple(_PARSERS))}")
        commands.append(_PARSERS[word](word, rest, where))
    if not commands:
        raise PlanError(f"{name}: the batch file has no command.")
    return commands


def _free(name: str, text: str, where: str) -> Command:
    return Command(name, text, where)


def _bare(name: str, text: str, where: str) -> Command:
    if text:
        raise PlanError(f"{where}: <{name}> takes no words, but {text!r} follows it.")
    return Command(name, text, where)


def _with_file(name: str, text: str, where: str) -> Command:
    found = re.fullmatch(r'"([^"]+)"|([^"]+)', text.strip())
    if not found:
        raise PlanError(f'{where}: <{name}> needs one file name, e.g. "file.txt".')
    return Command(name, text, where, files=((found.group(1) or found.group(2)).strip(),))


def _solver(name: str, text: str, where: str) -> Command:
    chosen = text.split(",")[0].strip().strip('"').upper()
    if chosen not in SOLVERS:
        raise PlanError(
            f"{where}: <SOLVER> must be {', '.join(SOLVERS)}, got {chosen!r}.{did_you_mean(chosen, SOLVERS)}"
        )
    return Command(name, chosen, where)


def _read_mode(name: str, text: str, where: str) -> Command:
    mode = text.strip().upper() or "0"
    if mode not in MODES:
        raise PlanError(f"{where}: <READTABLE> takes 0, 1, 1T, 1F or 2, got {mode!r}.")
    return Command(name, mode, where)


def _numbers(text: str, where: str) -> tuple[float, ...]:
    if not text.strip():
        return ()
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise PlanError(f"{where}: {text.strip()!r} must be numbers with commas between them.") from None
    if not all(math.isfinite(number) for number in numbers):
        raise PlanError(f"{where}: {text.strip()!r} must be finite numbers.")
    return numbers


def _specify(name: str, text: str, where: str) -> Command:
    parts = [part.strip() for part in text.split("|")]
    quoted = re.fullmatch(r'(?:"[^"]+"[\s,]*)+', parts[0])
    if not quoted or not 2 <= len(parts) <= 5 or any(part.count('"') % 2 for part in parts):
        raise PlanError(
            f'{where}: <SPECIFYTABLE> needs "variables"|"response"|"shadow"|"cost",λ, e.g. "Size""Region"|"Var2".'
        )
    explanatory = tuple(re.findall(r'"([^"]+)"', parts[0]))
    response, shadow, cost = (part.strip('"').strip() for part in (parts[1], *_two(parts, 2)))
    power: float | None = None
    if "," in _two(parts, 2)[1]:
        cost, given = (piece.strip().strip('"') for piece in parts[3].split(",", 1))
        power = _power(given, where)
    if len(parts) > 4 and parts[4]:
        power = _power(parts[4].strip('"'), where)
    if re.fullmatch(r"-\d+", cost) and cost not in COST_CODES:
        raise PlanError(
            f"{where}: the cost must be a variable, -1 (frequency), -2 (unity) or -3 (distance), got {cost}."
        )
    made = Specification(
        explanatory, None if response.lower() in ("<freq>", "") else response, shadow or None, cost or None, power
    )
    return Command(name, text, where, specification=made)


def _two(parts: list[str], start: int) -> tuple[str, str]:
    first, second, *_ = [*parts[start:], "", ""]
    return first, second


def _power(text: str, where: str) -> float | None:
    numbers = _numbers(text, where)
    if not numbers:
        return None
    if len(numbers) > 1 or numbers[0] < 0:
        raise PlanError(f"{where}: λ must be one number that is not negative (0: the logarithm), got {text!r}.")
    return numbers[0]


def _rules(name: str, text: str, where: str) -> Command:
    calls = [_call(part, RULES, where) for part in text.split("|") if part.strip()]
    for call in calls:
        if call.rest:
            raise PlanError(f"{where}: {call.rest!r} after {call.name} is not understood; rules are separated by |.")
        if min(call.numbers) < 0:
            raise PlanError(f"{where}: the numbers of {call.name} must not be negative.")
        whole = [call.numbers[at] for at in WHOLE.get(call.name, ())]
        if call.name == "P" and len(call.numbers) > 1:
            whole.append(call.numbers[-1])
        if any(number != int(number) for number in whole):
            raise PlanError(f"{where}: the number of respondents in {call.name} must be a whole number.")
        if call.name in FLAGS and call.numbers[0] not in (0, 1):
            raise PlanError(f"{where}: {call.name} must be 0 or 1, got {call.numbers[0]:g}.")
    return Command(name, text, where, calls=tuple(calls))


def _call(text: str, known: dict[str, tuple[int, int]], where: str) -> Call:
    found = _CALL.match(text)
    if not found:
        raise PlanError(f"{where}: {text.strip()!r} must have the form NAME(numbers).")
    name = found.group(1).upper()
    if name not in known:
        more = OTHERS if known is METHODS else ""
        raise PlanError(f"{where}: {name!r} is not known here; it must be one of {', '.join(known)}.{more}")
    numbers = _numbers(found.group(2), where)
    least, most = known[name]
    if not least <= len(numbers) <= most:
        needed = str(least) if least == most else f"{least} to {most}"
        raise PlanError(f"{where}: {name} needs {needed} numbers, got {len(numbers)}.")
    return Call(name, numbers, found.group(3).strip())


def _suppress(name: str, text: str, where: str) -> Command:
    call = _call(text, METHODS, where)
    if call.rest and call.name != "CKM":
        raise PlanError(f"{where}: {call.rest!r} after {call.name}(…) is not understood.")
    if call.numbers[0] < 0 or call.numbers[0] != int(call.numbers[0]):
        raise PlanError(f"{where}: the first number of {call.name} is a table, 1, 2, … or 0 for linked tables.")
    return Command(name, text, where, calls=(call,))


def _apriori(name: str, text: str, where: str) -> Command:
    found = re.match(r'^\s*"([^"]+)"\s*,\s*(\d+)\s*,\s*"([^"]*)"\s*(?:,(.*))?$', text)
    if not found or len(found.group(3)) != 1:
        raise PlanError(f'{where}: <APRIORI> needs "file", table number, "separator" and perhaps two numbers 0 or 1.')
    flags = _numbers(found.group(4) or "", where)
    if len(flags) > 2 or any(flag not in (0, 1) for flag in flags):
        raise PlanError(f"{where}: ignore error and expand trivial levels of <APRIORI> are each 0 or 1.")
    return Command(
        "APRIORI", text, where, files=(found.group(1), found.group(3)), numbers=(float(found.group(2)), *flags)
    )


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
    for word in re.findall(r"[A-Za-z]+\s*[+-]?|[+-]", found.group(3)):
        option, sign = word[:-1].strip().upper(), word[-1]
        if sign not in "+-":
            raise PlanError(f"{where}: option {word.strip()!r} must be followed by + or -.")
        if option not in OPTIONS:
            raise PlanError(f"{where}: unknown option {option!r}; it must be one of {', '.join(OPTIONS)}.")
        options.append((option, sign == "+"))
    if not 1 <= int(found.group(2)) <= 7:
        raise PlanError(f"{where}: the type of the output must be 1 to 7, got {found.group(2)}.")
    return Command(
        name, text, where, files=(found.group(4),), numbers=(float(found.group(1)), float(found.group(2))),
        options=tuple(options),
    )  # fmt: skip


_PARSERS: dict[str, Callable[[str, str, str], Command]] = {
    **dict.fromkeys(BARE, _bare),
    **dict.fromkeys(FREE, _free),
    **dict.fromkeys(WITH_FILE, _with_file),
    "SOLVER": _solver,
    "READTABLE": _read_mode,
    "SPECIFYTABLE": _specify,
    "SAFETYRULE": _rules,
    "SUPPRESS": _suppress,
    "APRIORI": _apriori,
    "APRIORY": _apriori,
    "RECODE": _recode,
    "WRITETABLE": _write,
}
