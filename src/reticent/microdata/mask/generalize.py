# SPDX-License-Identifier: Apache-2.0
"""Generalization: the cheapest levels of the keys' hierarchies that make a file safe, found by search, with a proof."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_unique
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws
from reticent.data.mapping import Mapped, digit_patterns
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.mask.bands import by_text
from reticent.microdata.patience import Patience
from reticent.microdata.perturb.binding import refuse_structure
from reticent.microdata.search.evaluate import Evaluator, Node
from reticent.microdata.search.ladders import Ladder, ladder_from_hierarchy, level_losses
from reticent.microdata.search.lattice import NodeLoss, search, suppressed_rows
from reticent.microdata.search.local import local_coding
from reticent.microdata.search.models import All, Closeness, Diversity, Groups, KAnonymity, KMap, RiskLimit, SafetyModel
from reticent.microdata.search.nearby import next_best

OWNER = "generalize"
MOST_DRAWN = 400
"""Nodes of a lattice that can be looked at all together."""


@dataclass(frozen=True)
class Generalize(Method):
    """Raise the keys to the levels of their hierarchies at which every group is safe, at the least loss.

    A group is safe when it has at least `k` records and meets what else is asked: `l` values of the sensitive variables,
    closeness `t`, individual risk at most `risk`, `population_k` units by weight. Records in unsafe groups may be
    suppressed (all keys blank) up to the share `suppression`. With `local` they get coarser codes of their own instead.
    With `l` or `t` the suppressed records together must be a safe group too; where they are not, none is suppressed.
    A missing value is none of the `l` values.

    For whom it holds: for the arithmetic attacker, also with the keys of all records. Not for the transparent attacker,
    because levels are chosen without the secret: that a finer coding was not safe excludes values. In files of 5 records
    with k = l = 2 they determine 48 of 15,300 sensitive values, with `local` 1,128.
    """

    name: ClassVar[str] = "generalize"
    group: ClassVar[Group] = Group.DETAIL
    examples: ClassVar[Examples] = (
        {"keys": ["region", "sex"], "k": 2},
        {"keys": ["occupation", "sex"], "sensitive": ["education"], "l": 2, "suppression": 0.1},
    )
    coarsens: ClassVar[bool] = True
    searches: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True

    keys: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "keys to raise; empty: all keys of the schema"}
    )
    k: int = field(default=3, metadata={"min": 1, "help": "smallest group"})
    suppression: float = field(default=0.0, metadata={"min": 0.0, "max": 1.0, "help": "share of records to suppress"})
    sensitive: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "sensitive variables for l and t"}
    )
    l: float | None = field(default=None, metadata={"min": 1.0, "help": "l-diversity"})
    diversity: Literal["distinct", "entropy", "recursive"] = field(default="distinct", metadata={"help": "kind of l"})
    c: float = field(default=2.0, metadata={"min": 0.0, "help": "c of recursive (c, l)-diversity"})
    t: float | None = field(default=None, metadata={"min": 0.0, "max": 1.0, "help": "t-closeness"})
    risk: float | None = field(default=None, metadata={"min": 0.0, "max": 1.0, "help": "highest individual risk"})
    population_k: float | None = field(default=None, metadata={"min": 1.0, "help": "smallest sum of weights (k-map)"})
    loss: Literal["entropy", "granularity", "precision", "discernibility"] = field(
        default="entropy", metadata={"help": "what is minimized"}
    )
    importance: Mapping[str, float] = field(
        default_factory=dict, metadata={"above": 0, "help": "weight of each key in the loss"}
    )
    valuation: Mapping[str, tuple[float, ...]] = field(
        default_factory=dict, metadata={"help": "cost of each level of a key, lowest first, instead of the loss"}
    )
    local: bool = field(default=False, metadata={"help": "coarser codes only for records that need them"})
    time_limit: float = field(default=60.0, metadata={"min": 0.0, "help": "seconds; then the best found so far"})
    steps: int | None = field(
        default=None,
        metadata={"min": 0, "keyed": False, "help": "stop the search after this many steps, whatever the time"},
    )

    def __post_init__(self) -> None:
        check_unique(self.keys, name="keys", owner=OWNER)
        if (self.l is not None or self.t is not None) and not self.sensitive:
            raise ParameterError("l and t need sensitive variables; name them in sensitive.", option="sensitive")

    def _keys(self, schema: Schema) -> tuple[str, ...]:
        return self.keys or tuple(key for key in schema.keys if key not in self.sensitive)

    def check(self, schema: Schema) -> None:
        """Keys and sensitive variables exist, importance and valuation name keys, weights are there if needed."""
        keys = self._keys(schema)
        schema.require((*keys, *self.sensitive), owner=OWNER)
        if not keys:
            raise DataError(f"{OWNER}: the schema has no keys; declare them or name them in keys.")
        refuse_structure(schema, keys, owner=OWNER, done="raised to other levels")
        both = [name for name in self.sensitive if name in keys]
        if both:
            raise DataError(
                f"{OWNER}: {both[0]!r} cannot be a key and a sensitive variable at once.", variables=(both[0],)
            )
        for option, given in (("importance", self.importance), ("valuation", self.valuation)):
            stray = [name for name in given if name not in keys]
            if stray:
                raise DataError(f"{OWNER}: {option} names {stray[0]!r}, which is not one of the keys.")
        if self.local and self._has_household_keys(schema):
            raise DataError(
                f"{OWNER}: local = true could give members of a household different codes of a household variable; "
                "leave household variables out of keys, or set local = false."
            )
        if self.population_k is not None and schema.weight is None:
            raise DataError(f"{OWNER}: population_k needs a variable with the role weight; declare one.")

    def schema_after(self, schema: Schema) -> Schema:
        """Code lists and hierarchies of the keys no longer hold."""
        for name in self._keys(schema):
            kind = Kind.ORDINAL if schema[name].kind is Kind.NUMERIC else schema[name].kind
            schema = schema.change(name, codes=(), labels=(), hierarchy=None, kind=kind)
        return schema

    def model(self, data: Microdata) -> SafetyModel:
        """All that is asked of a group; the distribution of values in the file is that of `data`."""
        models: list[SafetyModel] = [KAnonymity(self.k)]
        for position, name in enumerate(self.sensitive):
            if self.l is not None:
                models.append(Diversity(self.l, self.diversity, self.c, position))
            if self.t is not None:
                values = np.bincount(data.codes((name,))[:, 0] + 1, weights=data.multiplicity) / data.multiplicity.sum()
                models.append(Closeness(self.t, sensitive=position, whole=tuple(values.tolist())))
        if self.risk is not None:
            models.append(RiskLimit(self.risk))
        if self.population_k is not None:
            models.append(KMap(self.population_k))
        return models[0] if len(models) == 1 else All(tuple(models))

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Search, recode, suppress; the facts hold the levels, the loss, its bound and whether it is optimal."""
        self.check(data.schema)
        patience = Patience(self.time_limit, self.steps)
        applied = self._at_most(self.suppression, data, patience, progress)
        if self._blanks_judged and self._unsafe_records(applied.data):
            applied = self._at_most(0.0, data, patience, progress)
        return replace(applied, facts={**applied.facts, **patience.to_repeat()})

    def _at_most(self, limit: float, data: Microdata, patience: Patience, progress: Progress) -> Applied:
        """The coding of least loss that suppresses at most this share of the records."""
        keys = self._keys(data.schema)
        ladders, evaluator, loss = self._prepared(data)
        allowed = int(limit * data.n_records + 1e-9)
        if self.local:
            coding = local_coding(evaluator, loss, allowed=allowed, patience=patience, progress=progress)
            nodes, choice = coding.nodes, coding.choice
            facts: dict[str, Any] = coding.summary()
        else:
            found = search(evaluator, loss, limit=limit, patience=patience, progress=progress)
            nodes = (found.node,)
            choice = np.where(suppressed_rows(evaluator, found.node), -1, 0)
            share, others = next_best(evaluator, loss, found.node, allowed)
            facts = {**found.summary(), "levels": dict(zip(keys, found.node)), "share lost": share, "next best": others}
        per_record = choice[evaluator.row_of_record]
        if self._has_household_keys(data.schema) and bool((per_record < 0).any()):
            per_record = self._whole_households(data, ladders, nodes[0], per_record)
            facts["optimal"] = False  # the proof did not count the records that go with their households
        facts["suppressed"] = int(data.multiplicity[per_record < 0].sum())
        facts["transparent_attacker"] = "not for the transparent attacker"
        return self._recoded(data, ladders, nodes, per_record, facts)

    def lattice(self, data: Microdata) -> list[tuple[Node, int, float]]:
        """Every node of a lattice that is not too large: its levels, records in unsafe groups, share of all that can be lost.

        Records that are blanked lose everything; where there are more than may be blanked, only the recoding counts.
        """
        self.check(data.schema)
        ladders, evaluator, loss = self._prepared(data)
        size = prod(ladder.height + 1 for ladder in ladders)
        if size > MOST_DRAWN:
            raise DataError(
                f"{OWNER}: the lattice of these keys has {size:,} nodes, at most {MOST_DRAWN} can be shown; choose fewer."
            )
        levels = loss.by_level(evaluator)
        whole = sum(float(one[-1]) for one in levels) or 1.0
        allowed = int(self.suppression * data.n_records + 1e-9)
        found = []
        for node in product(*(range(ladder.height + 1) for ladder in ladders)):
            additive = sum(float(one[g]) for one, g in zip(levels, node, strict=True))
            unsafe = evaluator.unsafe_records(node)
            lost = loss.exact(evaluator, node, additive) if unsafe <= allowed else additive
            found.append((node, unsafe, lost / whole))
        return found

    def _prepared(self, data: Microdata) -> tuple[list[Ladder], Evaluator, NodeLoss]:
        """The levels of the keys, what judges a node, and what it loses."""
        keys = self._keys(data.schema)
        data.require_values(keys, owner=OWNER)
        ladders = [ladder_from_hierarchy(key, data.categories(key), data.schema[key].hierarchy) for key in keys]
        codes = data.codes(keys)
        evaluator = Evaluator.of(
            ladders, codes, self.model(data), weights=data.weights(),
            sensitive=data.codes(self.sensitive) if self.sensitive else None, copies=data.copies,
        )  # fmt: skip
        return ladders, evaluator, self._loss(ladders, codes, data.copies)

    def _has_household_keys(self, schema: Schema) -> bool:
        return schema.household_id is not None and any(schema[key].is_household for key in self._keys(schema))

    def _whole_households(
        self, data: Microdata, ladders: list[Ladder], node: Node, choice: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Suppress the households of suppressed records too (a member would give them away), until the rest is safe."""
        household, keys = data.household(), self._keys(data.schema)
        assert household is not None
        codes, weights = data.codes(keys), data.weights()
        sensitive = data.codes(self.sensitive) if self.sensitive else None
        gone = choice < 0
        while True:
            gone = np.isin(household, household[gone])
            left = np.flatnonzero(~gone)
            if not left.size:
                break
            rest = Evaluator.of(
                ladders, codes[left], self.model(data), weights=None if weights is None else weights[left],
                sensitive=None if sensitive is None else sensitive[left],
            )  # fmt: skip
            unsafe = suppressed_rows(rest, node)[rest.row_of_record]
            if not unsafe.any():
                break
            gone[left[unsafe]] = True
        allowed = int(self.suppression * data.n_records + 1e-9)
        if int(gone.sum()) > allowed:
            raise InfeasibleError(
                f"{OWNER}: with whole households {int(gone.sum())} records would be suppressed, {allowed} may be. Allow more "
                "suppression, or leave household variables out of keys."
            )
        return np.where(gone, -1, choice)

    def _loss(self, ladders: list[Ladder], codes: NDArray[np.int32], copies: NDArray[np.int64] | None) -> NodeLoss:
        record = []
        for column, ladder in enumerate(ladders):
            known = codes[:, column] >= 0
            many = None if copies is None else copies[known]
            counts = np.bincount(codes[known, column], many, len(ladder.labels[0])).astype(np.int64)
            given = self.valuation.get(ladder.name)
            if given is None:
                kind = "precision" if self.loss == "discernibility" else self.loss
                record.append(level_losses(ladder, counts, kind))
                continue
            if len(given) != ladder.height + 1 or any(b < a for a, b in pairwise(given)):
                raise DataError(
                    f"{OWNER}: the valuation of {ladder.name!r} needs {ladder.height + 1} rising costs, one for each level.",
                    variables=(ladder.name,),
                )
            record.append(tuple(np.full(len(ladder.labels[0]), float(cost)) for cost in given))
        importance = tuple(float(self.importance.get(ladder.name, 1.0)) for ladder in ladders)
        return NodeLoss(tuple(record), importance, discernibility=self.loss == "discernibility")

    def _recoded(
        self, data: Microdata, ladders: list[Ladder], nodes: tuple[Node, ...], choice: NDArray[np.int64],
        facts: dict[str, Any],
    ) -> Applied:  # fmt: skip
        after = self.schema_after(data.schema)
        changed = {}
        for column, ladder in enumerate(ladders):
            old = data.codes((ladder.name,))[:, 0]
            levels = np.array([*(node[column] for node in nodes), 0])[choice]
            place: dict[str, int] = {}
            new = np.full(old.size, -1, dtype=np.int32)
            for level in sorted(set(levels[choice >= 0].tolist())):
                table = np.array(
                    [place.setdefault(label, len(place)) for label in ladder.labels[level]], dtype=np.int32
                )
                which = (choice >= 0) & (levels == level) & (old >= 0)
                new[which] = table[ladder.steps[level][old[which]]]
            used = np.unique(new[new >= 0])
            names = [label for label, position in place.items() if position in set(used.tolist())]
            renumber = np.full(len(place) + 1, -1, dtype=np.int32)
            renumber[used] = np.arange(used.size)
            blank = data.with_schema(data.schema.change(ladder.name, codes=(), labels=(), hierarchy=None))
            written = blank.with_codes(ladder.name, renumber[new], names)
            moved = ((levels > 0) | (choice < 0)) & (old >= 0)
            changed[ladder.name] = int(data.multiplicity[moved].sum())
            shown = after[ladder.name]
            listed = tuple(names) if shown.kind is Kind.ORDINAL else by_text(names)
            # the list is that of the records: others must not take it for a declared one
            variable = replace(shown, codes=listed, guessed=(*shown.guessed, "codes"))
            data = written.with_schema(written.schema.replace(variable))
        return Applied(data, changed, facts)

    def new_codes(
        self, variable: Variable, codes: tuple[str, ...], facts: Mapping[str, Any]
    ) -> Mapping[str, str] | None:
        """The code at the level that was chosen; local codings have none for all records."""
        level = facts.get("levels", {}).get(variable.name)
        if level is None:
            return None
        if variable.hierarchy is None:
            return {code: "*" if level else code for code in codes}
        above = variable.hierarchy.ancestor_at(variable.hierarchy.depth - level)
        return {code: above[code] for code in codes if code in above}

    def declared(self, variable: Variable, shown: tuple[str, ...]) -> tuple[Mapped, ...]:
        """Levels of digits as patterns."""
        named = not self.keys or variable.name in self.keys
        return digit_patterns(variable, shown) if named and variable.digits and not self.local else ()

    def promises(self) -> tuple[Promise, ...]:
        """Every group of equal keys is safe, counted again from the output."""
        return (Promise("every group of equal keys is safe", lambda before, after: self._unsafe_records(after)),)

    @property
    def _blanks_judged(self) -> bool:
        """Whether values of a group are limited: who is in no group that is shown has a value of the suppressed records."""
        return self.l is not None or self.t is not None

    def _unsafe_records(self, after: Microdata) -> int:
        """Published records in unsafe groups; suppressed ones are a group too if values are limited, else recounts judge them."""
        keys = self._keys(after.schema)
        patterns = after.patterns((*keys, *self.sensitive))
        published = after.patterns(keys)
        first = np.zeros(len(patterns), dtype=np.int64)
        first[patterns.group] = published.group
        weights = published.weights if published.weights is not None else published.counts.astype(np.float64)
        groups = Groups(published.counts, weights, first, patterns.codes[:, len(keys) :], patterns.counts)
        unsafe = self.model(after).unsafe(groups)
        if not self._blanks_judged:
            unsafe &= ~(published.codes < 0).all(axis=1)
        return int(published.counts[unsafe].sum())
