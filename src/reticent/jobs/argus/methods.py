# SPDX-License-Identifier: Apache-2.0
"""What a <SUPPRESS> line asks for: our method, its limits, and one sentence for each option that steers nothing here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reticent.base.errors import PlanError
from reticent.data.parameters import build
from reticent.io.argus_batch import Call
from reticent.tables.methods import TABLE_METHODS, TableMethod
from reticent.tables.nearest_rounding import NearestRounding
from reticent.tables.rules import Rule, Threshold
from reticent.tables.suppression import SuppressionMethod

NAMES = {"GH": "hypercube", "MOD": "modular", "OPT": "optimal", "NET": "network", "CTA": "adjust"}
MINUTE = 60.0
DEFAULT_MINUTES = 10.0
MINIMUM_FREQUENCY: dict[int | None, Literal["off", "on", "asked for"]] = {None: "on", 0: "off", 1: "asked for"}


@dataclass(frozen=True)
class Choice:
    """A method with its time limit; whether sole respondents of a cell, and sums of small cells, are guarded."""

    method: TableMethod
    time_limit: float = DEFAULT_MINUTES * MINUTE
    singletons: bool = True
    minimum_frequency: Literal["off", "on", "asked for"] = "off"
    said: tuple[str, ...] = ()


def choose(call: Call) -> Choice:
    """The method that a call names, with every number of it used or spoken about."""
    return {"GH": _hypercube, "MOD": _modular, "OPT": _optimal, "RND": _rounding}.get(call.name, _plain)(call)


def _plain(call: Call) -> Choice:
    return Choice(_method(call.name))


def _method(name: str, **options: object) -> TableMethod:
    made: TableMethod = build(TABLE_METHODS[NAMES[name]], options, owner=name)
    return made


def _at(call: Call, position: int) -> float | None:
    return call.numbers[position] if position < len(call.numbers) else None


def _minutes(call: Call, position: int) -> float:
    given = _at(call, position)
    if given is not None and given <= 0:
        raise PlanError(f"the time limit of {call.name} must be more than 0 minutes, got {given:g}.")
    return (DEFAULT_MINUTES if given is None else given) * MINUTE


def _switch(call: Call, position: int, name: str, *, allowed: tuple[int, ...] = (0, 1)) -> int | None:
    given = _at(call, position)
    if given is not None and given not in allowed:
        words = " or ".join(str(number) for number in allowed)
        raise PlanError(f"{name} of {call.name} must be {words}, got {given:g}.")
    return None if given is None else int(given)


def _optimal(call: Call) -> Choice:
    return Choice(_method("OPT"), _minutes(call, 1))


def _hypercube(call: Call) -> Choice:
    percent = _at(call, 1)
    if percent is not None and percent <= 0:
        raise PlanError(f"the a-priori bounds of GH must be more than 0 per cent, got {percent:g}.")
    within = None if percent in (None, 100) else percent
    said = []
    if within is not None:
        said.append(f"The attacker is taken to know every cell within {within:g} per cent.")
    if _switch(call, 2, "the size", allowed=(0, 1, 2)) is not None:
        said.append("GH: the size is not needed; subtables of any size are taken.")
    singletons = _switch(call, 3, "the singleton option") != 0
    method = _method("GH", singletons=singletons, known_within=within)
    return Choice(method, singletons=singletons, said=tuple(said))


def _modular(call: Call) -> Choice:
    limit = _minutes(call, 1)
    names = ("single-single", "single-multiple", "minimum frequency")
    flags = [_switch(call, 2 + at, f"the {name} option") for at, name in enumerate(names)]
    single, multiple = (flag != 0 for flag in flags[:2])
    small = MINIMUM_FREQUENCY[flags[2]]
    singletons = single or multiple
    said = ["MOD: the minutes are for the whole table, not for each subtable."] if len(call.numbers) > 1 else []
    if singletons and not (single and multiple):
        said.append("MOD: single-single and single-multiple are guarded together; one of them switches both on.")
    scaled, lower, upper = (_at(call, at) for at in (5, 6, 7))
    if scaled is not None:
        if scaled <= 0:
            raise PlanError(f"the largest scaled cost of MOD must be above 0, got {scaled:g}.")
        said.append("MOD: costs are used as they are, not scaled to whole numbers.")
    if lower is not None or upper is not None:
        said.append("MOD: margins are not needed; every level is attacked with all relations, without interim levels.")
    method = _method("MOD", singletons=singletons)
    return Choice(method, limit, singletons=singletons, minimum_frequency=small, said=tuple(said))


def with_minimum(choice: Choice, rules: Sequence[Rule]) -> Choice:
    """The choice with the smallest safe number of respondents of the tables, if sums of small cells are to be guarded."""
    least = [rule.minimum for rule in rules if isinstance(rule, Threshold)]
    if not isinstance(choice.method, SuppressionMethod):
        return choice
    if choice.minimum_frequency == "off":
        said = ("MOD: sums of small cells are judged by the rules whatever the minimum frequency option says.",)
        asked = choice.method.name == _method("MOD").name  # the other methods have no such option
        return replace(choice, said=choice.said + said) if least and asked else choice
    if not least:
        said = ("MOD: the minimum frequency option asks for nothing where no FREQ says what is small.",)
        return replace(choice, said=choice.said + said) if choice.minimum_frequency == "asked for" else choice
    return replace(choice, method=replace(choice.method, minimum_together=max(least)))


def _rounding(call: Call) -> Choice:
    steps = _at(call, 2) or 0.0
    if steps < 0 or steps != int(steps):
        raise PlanError(f"the steps of RND must be a whole number that is not negative, got {steps:g}.")
    limit = _minutes(call, 3)
    said = []
    if _switch(call, 4, "partitions") is not None:
        said.append("RND: partitions are not needed; tables beyond one program are decomposed without being asked.")
    if _switch(call, 5, "the stop rule", allowed=(0, 1, 2, 3)) not in (None, 2):
        said.append("RND: whatever the stop rule, the best rounding within the time limit is taken, with its bound.")
    unit_cost = _switch(call, 6, "the unit cost option") != 0
    method = build(NearestRounding, {"base": call.numbers[1], "steps": int(steps), "unit_cost": unit_cost}, owner="RND")
    return Choice(method, limit, said=tuple(said))
