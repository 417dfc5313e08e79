# SPDX-License-Identifier: Apache-2.0
"""Global recoding: coarser codes for one variable, by bands, by a map, by a level of its hierarchy or by ARGUS rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import DataError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.mapping import CODE, PATTERN, RANGE, Mapped, declared_codes, digit_patterns
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.recoding import parse_rules
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.bands import band_labels, band_ranges, by_text, merged

WAYS = ("bands", "map", "level", "truncate", "rules")


@dataclass(frozen=True)
class Recode(Method):
    """Replace the codes of a variable by coarser ones.

    Give one of: `bands` (lower edges of the classes of a numeric variable), `map` (old code to new code), `level` (of
    the variable's hierarchy, 0 is the total), `truncate` (drop trailing characters), `rules` (lines of an ARGUS
    `.grc` file). A code that occurs and is not covered is an error unless `keep` is true, or `other` is the new code of all
    codes that `map` does not name. Bands of whole edges are labelled by whole numbers (25-34) if most numbers are whole: a
    number between has the label of the edge below it.
    """

    name: ClassVar[str] = "recode"
    group: ClassVar[Group] = Group.DETAIL
    examples: ClassVar[Examples] = (
        {"variable": "age", "bands": [16, 35, 65]},
        {"variable": "region", "level": 1},
        {"variable": "occupation", "truncate": 1},
        {"variable": "education", "rules": ["low: 0-1", "high: 2-"]},
        {"variable": "sex", "map": {"f": "person", "m": "person"}},
        {"variable": "marital", "map": {"married": "married", "single": "single"}, "other": "other"},
    )
    coarsens: ClassVar[bool] = True

    variable: str = field(metadata={"names": "variables", "help": "variable to recode"})
    bands: tuple[float, ...] = field(default=(), metadata={"help": "lower edges, rising: [16, 25, 65]"})
    map: Mapping[str, str] = field(default_factory=dict, metadata={"help": "new code of each old code"})
    level: int | None = field(default=None, metadata={"min": 0, "help": "level of the hierarchy; 0 is the total"})
    truncate: int | None = field(default=None, metadata={"min": 1, "help": "how many trailing characters to drop"})
    rules: tuple[str, ...] = field(default=(), metadata={"help": "lines such as '1: -20' or '2: 21-30, 35'"})
    keep: bool = field(default=False, metadata={"help": "leave codes that are not covered as they are"})
    other: str | None = field(default=None, metadata={"help": "new code of all codes that map does not name"})

    def __post_init__(self) -> None:
        if self.other is not None and (self.keep or not self.map or not self.other):
            raise ParameterError("other goes with map and without keep, and is a code.", option="other")
        given = [way for way in WAYS if getattr(self, way) not in (None, (), {})]
        if len(given) != 1:
            came = " and ".join(given) if given else "none"
            raise ParameterError(f"give exactly one of {', '.join(WAYS)}; got {came}.")
        if any(b <= a for a, b in zip(self.bands, self.bands[1:])):
            raise ParameterError("bands must be rising lower edges, such as [16, 25, 65].", option="bands")
        if self.rules:
            parse_rules(self.rules)

    @classmethod
    def from_grc(cls, variable: str, text: str, *, keep: bool = False) -> "Recode":
        """The recoding that the text of an ARGUS `.grc` file describes."""
        return cls(variable, rules=tuple(text.splitlines()), keep=keep)

    def check(self, schema: Schema) -> None:
        """The variable exists and has what the chosen way needs."""
        schema.require((self.variable,), owner="recode")
        variable = schema[self.variable]
        if variable.role in (Role.WEIGHT, Role.HOUSEHOLD_ID, Role.ENTITY):
            raise DataError(f"recode: {self.variable!r} has the role {variable.role} and cannot be recoded.",
                            variables=(self.variable,))  # fmt: skip
        if self.level is not None:
            if variable.hierarchy is None:
                raise DataError(f"recode: level needs a hierarchy, and {self.variable!r} has none; declare one.",
                                variables=(self.variable,))  # fmt: skip
            if self.level > variable.hierarchy.depth:
                raise DataError(
                    f"recode: the hierarchy of {self.variable!r} has levels 0 to {variable.hierarchy.depth}, "
                    f"got {self.level}.", variables=(self.variable,))  # fmt: skip
        bad = [code for code in self._sources() if code in variable.missing]
        if bad:
            raise DataError(f"recode: {bad[0]!r} is a missing code of {self.variable!r} and cannot become a valid code.",
                            variables=(self.variable,))  # fmt: skip

    def _sources(self) -> tuple[str, ...]:
        return tuple(self.map)

    def schema_after(self, schema: Schema) -> Schema:
        """Codes and hierarchy no longer hold; what comes instead is known after the step."""
        variable = schema[self.variable]
        if self.level is not None and variable.hierarchy is not None and not self.keep:
            cut = variable.hierarchy.cut_at(self.level)
            # a tree by digits has the codes of the records, and so may one that was guessed
            made = bool(variable.digits) or "hierarchy" in variable.guessed
            guessed = (*variable.guessed, "codes", "hierarchy") if made else variable.guessed
            return schema.replace(
                replace(variable, hierarchy=cut, digits=(), codes=cut.leaves, labels=(), kind=_kind(variable),
                        guessed=guessed)
            )  # fmt: skip
        missing = parse_rules(self.rules).missing if self.rules else ()
        return schema.change(
            self.variable,
            codes=(),
            labels=(),
            hierarchy=None,
            digits=(),
            kind=_kind(variable),
            missing=missing or variable.missing,
        )

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Recode; the facts say how many categories there were and are."""
        self.check(data.schema)
        if self.bands:
            codes, categories = _bands(data, self.variable, self.bands)
            old = int(np.unique(data.numbers((self.variable,))[~np.isnan(data.numbers((self.variable,)))]).size)
            changed = int(data.multiplicity[codes >= 0].sum())
        else:
            old_codes = data.codes((self.variable,))[:, 0]
            present = _present(old_codes, data.categories(self.variable))
            pairs = self._pairs(data.schema[self.variable], present)
            categories = merged(pairs, present)
            place = {code: position for position, code in enumerate(categories)}
            table = np.array([place[pairs[c]] if c in pairs else -1 for c in data.categories(self.variable)] + [-1])
            codes = table[old_codes].astype(np.int32)
            moved = np.array([c in pairs and pairs[c] != c for c in data.categories(self.variable)] + [False])
            changed, old = int(data.multiplicity[moved[old_codes]].sum()), len(present)
        after = self.schema_after(data.schema)[self.variable]
        if not self.bands and not after.codes and not set(categories) <= self._told(data.schema[self.variable]):
            after = replace(after, guessed=(*after.guessed, "codes"))
        result = _write(data, self.variable, codes, categories, after)
        facts = {"categories_before": old, "categories_after": len(categories)}
        return Applied(result, {self.variable: changed}, facts)

    def _told(self, variable: Variable) -> set[str]:
        """New codes that follow from the step and what is declared: others, kept or cut, are those of the records."""
        declared = declared_codes(variable)
        new = {*self.map.values(), *(rule.new for rule in (parse_rules(self.rules).rules if self.rules else ()))}
        kept = declared if self.keep else ()
        return {
            code for code in (*new, self.other, *kept, *self.images(variable, declared).values()) if code is not None
        }

    def _pairs(self, variable: Variable, present: tuple[str, ...]) -> dict[str, str]:
        """New code of each code that occurs, or an error about the codes left over."""
        pairs = self.images(variable, present)
        left = [code for code in present if code not in pairs]
        if left and not self.keep:
            raise DataError(_left_over(variable, left), variables=(variable.name,))
        blank = [new for new in pairs.values() if new in variable.missing]
        if blank:
            raise DataError(
                f"recode: {blank[0]!r} is a missing code of {variable.name!r}; blanking values is local suppression.",
                variables=(variable.name,),
            )
        return pairs | {code: code for code in left}

    def images(self, variable: Variable, codes: tuple[str, ...]) -> dict[str, str]:
        """New code of each code that the recoding covers."""
        if self.map:
            valid = [code for code in codes if code not in variable.missing]
            found = {code: self.map.get(code, self.other) for code in valid}
            return {code: new for code, new in found.items() if new is not None}
        if self.level is not None and variable.hierarchy is not None:
            up = variable.hierarchy.ancestor_at(self.level)
            return {code: up[code] for code in codes if code in up}
        if self.truncate is not None:
            return {code: code[: -self.truncate] for code in codes if len(code) > self.truncate}
        return parse_rules(self.rules).image(codes)

    def new_codes(
        self, variable: Variable, codes: tuple[str, ...], facts: Mapping[str, Any]
    ) -> Mapping[str, str] | None:
        """The new code of each code that is covered, or kept."""
        if variable.name != self.variable or self.bands:
            return None
        kept = {code: code for code in codes} if self.keep else {}
        return kept | self.images(variable, codes)

    def declared(self, variable: Variable, shown: tuple[str, ...]) -> tuple[Mapped, ...]:
        """Bands, pairs, rules and cut digits as they are in the step."""
        name = variable.name
        if name != self.variable:
            return ()
        if self.bands:
            return tuple(Mapped(name, RANGE, span, label) for label, span in band_ranges(self.bands).items())
        if self.map:
            return tuple(Mapped(name, CODE, old, new) for old, new in self.map.items())
        if self.truncate is not None:
            return tuple(Mapped(name, PATTERN, code + "?" * self.truncate, code) for code in shown)
        if self.level is not None:
            return digit_patterns(variable, shown)
        rules = parse_rules(self.rules).rules
        return tuple(
            Mapped(name, given, old, rule.new)
            for rule in rules
            for given, old in (
                *((CODE, code) for code in rule.codes),
                *((RANGE, f"{low or ''}-{high or ''}") for low, high in rule.ranges),
            )
        )

    def promises(self) -> tuple[Promise, ...]:
        """Each old value leads to one new value, and no more values are missing than before."""

        def broken(before: Microdata, after: Microdata) -> int:
            old = before.codes((self.variable,))[:, 0]
            new = after.codes((self.variable,))[:, 0]
            image = np.full(
                int(old.max(initial=-1)) + 2, -1, dtype=np.int64
            )  # the last place is that of missing values
            image[old] = new
            image[-1] = -1
            return int(np.count_nonzero((image[old] != new) | ((old >= 0) != (new >= 0))))

        return (Promise(f"every code of {self.variable} leads to one new code, and none is lost", broken),)


def _kind(variable: Variable) -> Kind:
    return Kind.ORDINAL if variable.kind is Kind.NUMERIC else variable.kind


def _present(codes: NDArray[np.int32], categories: tuple[str, ...]) -> tuple[str, ...]:
    seen = np.bincount(codes[codes >= 0], minlength=len(categories)) > 0
    return tuple(code for code, there in zip(categories, seen, strict=True) if there)


def _left_over(variable: Variable, left: list[str]) -> str:
    """The codes left over: those of the metadata by name, those that only records have by number."""
    known = set() if "codes" in variable.guessed else set(variable.codes)
    tree = variable.hierarchy
    if tree and not variable.digits and "hierarchy" not in variable.guessed:  # others are made from the records
        known |= set(tree.codes)
    named = [repr(code) for code in left if code in known]
    parts = [", ".join(named[:20]) + (f" and {len(named) - 20} more" if len(named) > 20 else "")] if named else []
    others = len(left) - len(named)
    if others:
        parts.append(f"{others} codes that only records have")
    return (
        f"recode: {variable.name!r} has codes that are not covered: {'; '.join(parts)}. Cover them, or set keep = true."
    )


def _bands(data: Microdata, name: str, edges: tuple[float, ...]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    numbers = data.numbers((name,))[:, 0]
    absent = np.isnan(numbers)
    place = np.searchsorted(np.asarray(edges), numbers, side="right") - 1
    below = bool((place[~absent] < 0).any())
    values = numbers[~absent]
    # of most records, not of all: one number with decimals would show in every label
    many = data.multiplicity[~absent]
    whole = 2 * int(many[values == np.round(values)].sum()) >= int(many.sum())
    whole = whole and all(float(edge).is_integer() for edge in edges)
    codes = np.where(absent, -1, place + (1 if below else 0)).astype(np.int32)
    return codes, band_labels(edges, whole=whole, below=below)


def _write(
    data: Microdata, name: str, codes: NDArray[np.int32], categories: tuple[str, ...], after: Variable
) -> Microdata:
    """Exchange the variable; where the recoding declares new missing codes, missing values take the first of them."""
    before = data.schema[name]
    if after.missing != before.missing and after.missing:
        clash = [code for code in categories if code in after.missing]
        if clash:
            raise DataError(f"recode: {clash[0]!r} is both a new code and a missing code.", variables=(name,))
        filled = np.where(codes < 0, len(categories), codes).astype(np.int32)
        data = data.with_schema(data.schema.change(name, missing=(), codes=(), labels=(), hierarchy=None))
        written = data.with_codes(name, filled, (*categories, after.missing[0]))
    else:
        written = data.with_codes(name, codes, categories)
    # where a new code stands must not tell which of its old codes occur: without an order codes are listed by their text
    listed = categories if after.kind is Kind.ORDINAL else by_text(categories)
    facts: dict[str, Any] = {"codes": after.codes or listed}
    if before.length is not None:
        facts["length"] = max(before.length, max((len(code) for code in categories), default=0))
    return written.with_schema(written.schema.replace(replace(after, **facts)))
