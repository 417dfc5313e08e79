# SPDX-License-Identifier: Apache-2.0
"""What the ledger keeps of a hull: the numbers it was drawn from, and a hash that says whether it is still the same.

A hull is drawn once. A second one around the same truth, with other filters or widths, would leave only what both allow. So a
database that is opened again takes filters and cutpoints from here, refuses other widths, and compares the hash.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.data.parameters import Parameters
from reticent.ledger.chain import LedgerError
from reticent.queries.camouflage.hulls import Hull
from reticent.queries.fixed import Whole
from reticent.queries.policy import Bounds, Policy

FORMAT = 1


@dataclass(frozen=True)
class CamouflageOptions(Parameters):
    """`[policy.options.camouflage]`: how wide cells are, and against whom they stand. All of it may be public."""

    called: ClassVar[str] = "policy: options camouflage"
    percent: float = field(
        default=20.0,
        metadata={"min": 0.1, "max": 99, "help": "half-width of a cell in percent of its band's smaller end"},
    )
    least: float = field(default=1.0, metadata={"min": 1e-300, "help": "least half-width, in the unit of the variable"})
    insiders: int = field(
        default=1, metadata={"min": 0, "max": 8, "help": "respondents an attacker may know for certain"}
    )
    unit: float = field(
        default=0.01,
        metadata={"min": 1e-9, "help": "cells lie on multiples of it, intervals are rounded outward to it"},
    )
    bands: Mapping[str, tuple[float, ...]] = field(
        default_factory=dict, metadata={"help": "per response its bands; default: between 1, 2, 5, 10, 20, …"}
    )
    repeated: tuple[str, ...] = field(
        default=(), metadata={"help": "responses of which a respondent has one value in all records"}
    )


@dataclass(frozen=True)
class Drawn:
    """The public numbers that the hull of one response is drawn from."""

    percent: float
    least: float
    insiders: int
    unit: float
    bands: tuple[float, ...]
    low: float | None
    high: float | None
    integer: bool
    known: tuple[str, ...]
    filters: tuple[str, ...]
    cutpoints: Mapping[str, tuple[float, ...]]
    repeated: bool = False

    @classmethod
    def of(cls, policy: Policy, options: CamouflageOptions, response: str) -> "Drawn":
        """What policy and options say today."""
        bounds = policy.bounds.get(response, Bounds())
        return cls(
            options.percent, options.least, options.insiders, options.unit, tuple(options.bands.get(response, ())),
            bounds.low, bounds.high, bounds.integer, policy.known, policy.filters, dict(policy.cutpoints),
            response in options.repeated,
        )  # fmt: skip

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Drawn":
        """What `as_json` wrote."""
        cutpoints = {name: tuple(points) for name, points in plain["cutpoints"].items()}
        lists = {name: tuple(plain[name]) for name in ("bands", "known", "filters")}
        return cls(**{**plain, **lists, "cutpoints": cutpoints})

    def as_json(self) -> dict[str, Any]:
        """The numbers as plain values."""
        plain = asdict(self)
        cutpoints = {name: list(points) for name, points in self.cutpoints.items()}
        lists = {name: list(plain[name]) for name in ("bands", "known", "filters")}
        return {**plain, **lists, "cutpoints": cutpoints}

    def refuse_others(self, today: "Drawn", response: str) -> None:
        """A hull has one width for ever; filters may change, because they only said who shares a block."""
        for name in ("percent", "least", "insiders", "unit", "bands", "low", "high", "integer", "known", "repeated"):
            mine, given = getattr(self, name), getattr(today, name)
            if mine != given and name == "known":
                raise LedgerError(
                    f"ledger: the hull of {response!r} was drawn with other known respondents; a hull is never drawn again, "
                    "so open the database with the list that it was drawn with."
                )
            if mine != given:
                where = "bounds: " if name in ("low", "high", "integer") else ""
                raise LedgerError(
                    f"ledger: the hull of {response!r} was drawn with {where}{name} = {_text(mine)}, the policy says "
                    f"{_text(given)}; a hull is never drawn again, so open the database with the numbers it was drawn with."
                )


def _text(value: object) -> str:
    return "none" if value is None else str(list(value) if isinstance(value, tuple) else value).lower()


@dataclass(frozen=True)
class HullRecord:
    """One entry of the ledger: the hull of one response after one version of the data."""

    response: str
    version: str
    drawn: Drawn
    digest: str

    def as_json(self) -> dict[str, Any]:
        """The payload of the entry."""
        plain = {"format": FORMAT, "response": self.response, "version": self.version}
        return {**plain, "drawn": self.drawn.as_json(), "digest": self.digest}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "HullRecord":
        """What `as_json` wrote."""
        if plain.get("format") != FORMAT:
            raise LedgerError("ledger: it holds a hull of another version of the program, which cannot be drawn here.")
        return cls(plain["response"], plain["version"], Drawn.from_json(plain["drawn"]), plain["digest"])


class Recorded:
    """The hulls that the ledger holds, and those to be written."""

    def __init__(self, payloads: Iterable[Mapping[str, Any]]) -> None:
        self._known = {(r.response, r.version): r for r in map(HullRecord.from_json, payloads)}
        self.fresh: list[HullRecord] = []

    def drawn(self, today: Drawn, response: str) -> Drawn:
        """The numbers to draw the hull of a response from: those of the ledger, if it has any."""
        mine = next((record.drawn for record in self._known.values() if record.response == response), None)
        if mine is None:
            return today
        mine.refuse_others(today, response)
        return mine

    def compare(self, record: HullRecord) -> None:
        """Refuse a hull that is not the one of the ledger; note one that the ledger does not know."""
        known = self._known.get((record.response, record.version))
        if known is None:
            self.fresh.append(record)
        elif known.digest != record.digest:
            raise LedgerError(
                f"ledger: the hull of {record.response!r} cannot be drawn as it was: the schema, the identifiers or the "
                "secret have changed. A hull is never drawn again; open the database with what it was drawn with."
            )


def hull_digest(hull: Hull, ids: NDArray[np.uint64]) -> str:
    """A hash of cells and blocks that does not depend on the order of the records."""
    digest = hashlib.blake2b(digest_size=16)
    order = np.argsort(ids, kind="stable")
    block = hull.block[order]
    first = np.full(len(hull.least_total), len(block), dtype=np.int64)  # a block is named by its first record
    np.minimum.at(first, block[block >= 0], np.flatnonzero(block >= 0))
    names = np.where(block >= 0, np.append(first, -1)[block], -1)
    used = np.argsort(first, kind="stable")
    digest.update(ids[order].astype("<u8").tobytes() + names.astype("<i8").tobytes())
    for part in (hull.low[order], hull.high[order], hull.least_total[used], hull.most_total[used]):
        digest.update(_bytes(part))
    return digest.hexdigest()


def _bytes(numbers: Whole) -> bytes:
    """Whole numbers, the same for every way of holding them."""
    if numbers.dtype == object and any(abs(number) >= 2**62 for number in numbers.tolist()):
        return " ".join(map(str, numbers.tolist())).encode() + b"\n"
    return numbers.astype("<i8").tobytes()
