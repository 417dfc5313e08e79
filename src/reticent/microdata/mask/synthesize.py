# SPDX-License-Identifier: Apache-2.0
"""Synthetic data (plan name `synthesize`): variables drawn one after another from models given the others."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import InfeasibleError, ParameterError
from reticent.base.progress import Progress, part
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.mapping import declared_codes
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Kind, Schema
from reticent.kernels import draws as kernel
from reticent.microdata.edits import EditRule, read_rules, violations
from reticent.microdata.perturb import synthesis
from reticent.microdata.perturb.binding import STRUCTURE, Units, check_variables, differing, units
from reticent.microdata.perturb.columns import Column
from reticent.microdata.perturb.footprint import allowed_excess, expected_rates, to_smooth
from reticent.microdata.risk.copied import match_rates

# Tries to satisfy the rules: first from the model, then from all observed values.
_MODEL_TRIES, _ALL_TRIES = 40, 160
SMALLEST_LEAF = 30
STRONGER, MOST_ATTEMPTS, MOST_STRENGTH = 1.5, 18, 30
"""How much more is smoothed in each further attempt to make the file safe, how often, and from when on relations are given up."""
FEWEST_UNLISTED = 100
"""Records from which codes are drawn that the schema does not list."""
SMALL = 250
"""Records below which more is smoothed and hidden from the start."""
LEAST_SHOWN = 0.5
"""Part of the records whose codes must be drawn: a file without most of its codes is of no use."""
FEWEST, MOST = 200, 50_000
"""Records from which and up to which a run compares records that were used with records held back."""


@dataclass(frozen=True)
class Synthesize(Method):
    """Replace variables by draws from models fitted to the file, in the order they are listed.

    Each variable is modelled given the variables that are not synthesised and those before it. `tree` draws from the leaf
    of a classification or regression tree (Reiter 2005), its records weighted by the Bayesian bootstrap; `parametric`
    uses linear regression of normal scores and multinomial logistic regression. No number of a single respondent is
    handed on: values that at least `k` respondents share are kept (all of them from `2k` on), all others are smoothed over blocks
    of at least `k` respondents (three where `k` is 2), and a number that would dominate its block counts as the next one does.
    Numbers have the digits that all but fewer than `k` respondents have. Codes are drawn by their share in a leaf of at least
    `minimum_leaf` records, smoothed by that of the node above. Codes that the schema does not list (`codes`, or a hierarchy) are
    not drawn if fewer than `fewest_with_code` respondents have them, and by chance if fewer than `k` do. With `keys` only records
    that are rare on them are replaced (partially synthetic). `rules` are edit rules that every replaced record satisfies.

    For whom it holds. A synthetic record may equal a true one; records are not compared with true ones and left out, because
    a gap would be evidence. What is promised, to the arithmetic and the transparent attacker, is that whole records that were
    used are met hardly more often than records that were held back: by 0.02 (uniques: 0.05) and three standard errors over
    20 files (by two or three variables alone: 0.08 in files of 300 records).

    Models say how often each record is met with it and without it; margins and relations are smoothed, and rare codes
    hidden, until the difference is small enough (`expected` in the facts of a run), or the file is refused. Where all variables
    of 200 to 50,000 records are synthesised, a random half of the file is measured as well (`match`). It is a rate over records,
    not a bound for each of them, and not differential privacy: whoever knows all other records learns about the last one; a code
    that few have shows in about 60 of 100 files whether one of them was used (50 are by chance).
    """

    name: ClassVar[str] = "synthesize"
    group: ClassVar[Group] = Group.MODEL
    examples: ClassVar[Examples] = (
        {"variables": ["income"], "k": 2},
        {"variables": ["marital"], "model": "parametric", "predictors": ["sex", "age"]},
    )
    variables: tuple[str, ...] = field(metadata={"names": "variables", "help": "variables to replace, in this order"})
    model: str = field(default="tree", metadata={"choices": ("tree", "parametric"), "help": "how values are drawn"})
    minimum_leaf: int | None = field(
        default=None,
        metadata={
            "min": 2,
            "help": "smallest number of records in a leaf (none: 30, or the root of all if that is more); small files take more",
        },
    )
    k: int = field(default=5, metadata={"min": 2, "help": "respondents that a drawn number stands for at least"})
    fewest_with_code: int = field(
        default=2,
        metadata={"min": 2, "help": "respondents from which on a code that the schema does not list may be drawn"},
    )
    predictors: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "variables that explain; none: all others"}
    )
    keys: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "replace only records rare on these"}
    )
    threshold: int = field(default=1, metadata={"min": 1, "help": "a record is rare at or below this count"})
    rules: tuple[str, ...] = field(default=(), metadata={"help": "edit rules for replaced records"})
    copy: int = field(default=1, metadata={"min": 1, "help": "number of this copy; copies differ in their draws"})

    def __post_init__(self) -> None:
        if self.minimum_leaf is not None and self.minimum_leaf < self.k:
            raise ParameterError(
                f"minimum_leaf must be at least k = {self.k}, got {self.minimum_leaf}.", option="minimum_leaf"
            )
        if set(self.variables) & set(self.predictors):
            raise ParameterError("predictors must be variables that are not replaced.", option="predictors")

    def check(self, schema: Schema) -> None:
        """All variables are known and may be replaced; rules can hold together."""
        check_variables(schema, self.variables, owner=self.name)
        schema.require((*self.predictors, *self.keys), owner=self.name)
        read_rules(self.rules, schema)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Synthesise; every draw is keyed by record, variable and copy."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        self._check_codes(data, who)
        chosen = self._chosen(data, who)
        source = draws.of_file(data, (*self._fixed(data.schema), *self.variables, *self.keys))
        share = 0.5 if self._comparable(data) else 1.0
        masked, expected = self._synthetic(data, who, chosen, source, part(progress, 0.0, share))
        facts: dict[str, Any] = {"replaced_units": int(chosen.sum()), "copy": self.copy, "expected": expected}
        if self._comparable(data):
            facts["match"] = self._match(data, who, source.child("match"), part(progress, share, 1.0))
        else:
            facts["match"] = f"not judged: only whole files (all variables, {FEWEST:,} to {MOST:,} records) are"
        progress(1.0, self.name)
        return Applied(masked, _count_changes(data, masked, self.variables), facts)

    def _check_codes(self, data: Microdata, who: Units) -> None:
        """Refuse small files with codes that the schema does not list: too few of these would be left to draw."""
        for name in self.variables:
            if data.schema[name].kind is Kind.NUMERIC or who.count >= FEWEST_UNLISTED:
                continue
            if not set(data.categories(name)) <= set(_listed(data, name)):
                raise InfeasibleError(
                    f"{self.name}: {who.count} records are too few to draw codes of {name} that the schema does not list, "
                    f"{FEWEST_UNLISTED} are enough. List all its codes in the schema, or leave it out."
                )

    def _fixed(self, schema: Schema) -> tuple[str, ...]:
        """The variables that explain and are not replaced."""
        return self.predictors or tuple(
            v.name for v in schema.variables if v.name not in self.variables and v.role not in STRUCTURE
        )

    def _synthetic(
        self, data: Microdata, who: Units, chosen: Mask, secret: Secret, progress: Progress
    ) -> "tuple[Microdata, dict[str, float]]":
        """The file with its variables replaced one after another, and how often its records are expected to be met."""
        rules, fixed = read_rules(self.rules, data.schema), self._fixed(data.schema)
        observed = {name: _column(data, name, who) for name in (*fixed, *self.variables)}
        entity = data.entity()
        respondents = np.arange(who.count) if entity is None else entity[who.first]
        works = [
            _Work(name, observed, (*fixed, *self.variables[:number]), who, chosen, respondents, secret.child(name))
            for number, name in enumerate(self.variables)
        ]
        models, expected = self._safe_models(works, whole=not fixed and not self.keys)
        synthetic = {name: observed[name] for name in fixed}
        masked = data
        for number, work in enumerate(works):
            ready = [rule for rule in rules if not rule.variables & set(self.variables[number + 1 :])]
            masked, synthetic[work.name] = self._one(work, models[number], synthetic, masked, ready)
            progress((number + 1) / len(self.variables), work.name)
        return masked, expected

    def _safe_models(self, works: "Sequence[_Work]", *, whole: bool) -> "tuple[list[_Models], dict[str, float]]":
        """Models of all variables, smoothed as much as it takes that records which are used are met hardly more often."""
        count = works[0].who.count
        # small files hide codes of more respondents from the start, and leverage says too little of regressions on few records
        small = max(1.0, SMALL / count)
        start = synthesis.Strength(relation=small**2 if self.model == "parametric" else 1.0, hiding=small)
        models = [self._models(work, start) for work in works]
        for _ in range(MOST_ATTEMPTS):
            used, held_back = expected_rates(models, draws=count if whole else 1)
            if used - held_back <= allowed_excess(used, held_back, count):
                return models, {"used": used, "held_back": held_back, "excess": used - held_back}
            for number, rises in enumerate(to_smooth(models, draws=count if whole else 1)):
                if any(rises):
                    stronger = models[number].strength.more(rises, STRONGER)
                    models[number] = self._models(works[number], stronger)
        raise InfeasibleError(
            f"{self.name}: {count} records are too few for so many codes: however much is smoothed, records that were used would "
            "be met more often than others. Recode to fewer codes, list all codes in the schema, or leave variables out."
        )

    def _comparable(self, data: Microdata) -> bool:
        others = [v for v in data.schema.variables if v.name not in self.variables and v.role not in STRUCTURE]
        return not self.keys and not others and FEWEST <= data.n_records <= MOST

    def _match(self, data: Microdata, who: Units, secret: Secret, progress: Progress) -> dict[str, Any]:
        """Synthesise a random half and look both halves up in the result: is what was used met more often?"""
        entity = data.entity()
        number = who.of if entity is None else entity
        order = secret.stream("halves").permutation(int(number.max()) + 1)
        inside = order[number] < (int(number.max()) + 1) // 2
        used, held_back = data.rows(inside), data.rows(~inside)
        half = units(used, self.variables, owner=self.name)
        try:
            made, _ = self._synthetic(used, half, np.ones(half.count, np.bool_), secret, progress)
        except InfeasibleError:
            return {"judged": False, "why": "half of the file is too small for the rules or for k"}
        found = match_rates(used, held_back, made, self.variables)
        return {"judged": True, **asdict(found), "excess": found.excess, "standard_error": found.standard_error}

    def _chosen(self, data: Microdata, who: Units) -> Mask:
        if not self.keys:
            return np.ones(who.count, dtype=np.bool_)
        chosen = np.zeros(who.count, dtype=np.bool_)
        chosen[who.of[data.sample_counts(self.keys) <= self.threshold]] = True
        return chosen

    def _one(
        self,
        work: "_Work",
        models: "_Models",
        synthetic: Mapping[str, Column],
        masked: Microdata,
        rules: Sequence[EditRule],
    ) -> tuple[Microdata, Column]:
        """Draw one variable, again and again for records that break a rule."""
        if not work.chosen.any():
            return masked, work.response
        texts = () if work.response.numeric else _texts(masked, work.name)
        values = work.response.values.copy()
        open_rows = np.flatnonzero(work.chosen)
        for attempt in range(_MODEL_TRIES + _ALL_TRIES):
            values[open_rows] = work.draw(models, synthetic, open_rows, attempt)
            current = _write(masked, work.name, values[work.who.of], texts)
            broken = np.zeros(masked.n_records, dtype=np.bool_)
            for rule in rules:
                if work.name in rule.variables:
                    broken |= violations(current, rule)
            unhappy = np.zeros(work.who.count, dtype=np.bool_)
            unhappy[work.who.of[broken]] = True
            open_rows = np.flatnonzero(unhappy & work.chosen)
            if open_rows.size == 0:
                return current, replace(work.response, values=values)
        raise InfeasibleError(
            f"{self.name}: for {open_rows.size} records no value of {work.name} satisfies the rules after "
            f"{_MODEL_TRIES + _ALL_TRIES} draws. List the variables of the rule in another order, or relax it."
        )

    def _models(self, work: "_Work", strength: synthesis.Strength) -> "_Models":
        """The model of being missing (if anything is), that of the value, and that of all records together."""
        missing = work.response.missing
        if missing.all():
            raise ParameterError(f"{self.name}: {work.name} has no value in any record; leave it out.")
        source = synthesis.Source(
            work.response,
            work.exponential,
            work.respondents,
            self.k,
            work.secret.words("codes"),
            strength,
            self.fewest_with_code,
        )
        value = self._fit(work, source.take(~missing), ~missing)
        if not work.response.numeric and float((value.own > 0).mean()) < LEAST_SHOWN:
            raise InfeasibleError(
                f"{self.name}: more than half of the records have a code of {work.name} that too few respondents share to be "
                f"drawn. Recode it to fewer codes, list all its codes in the schema, or leave it out."
            )
        everyone = synthesis.fit_marginal(source.take(~missing)).model
        tells = np.ones((4, len(missing)))
        tells[:, ~missing] = value.own, value.without, value.margin, value.seen
        if not missing.any():
            return _Models(None, value.model, everyone, strength, *tells)
        state = replace(source, response=Column(missing.astype(np.int64), 2), words=work.secret.words("states"))
        absent = self._fit(work, state, np.ones(len(missing), dtype=np.bool_))
        tells *= (absent.own, absent.without, absent.margin, absent.seen)
        return _Models(absent.model, value.model, everyone, strength, *tells)

    def _fit(self, work: "_Work", source: synthesis.Source, rows: Mask) -> synthesis.Fitted:
        predictors = [work.observed[name].take(rows) for name in work.before]
        leaf = self.minimum_leaf or max(SMALLEST_LEAF, self.k, math.ceil(math.sqrt(work.who.count)))
        relation = source.strength.relation
        if (
            not predictors
            or relation > MOST_STRENGTH
            or len(source.who) < 2 * leaf * (relation if self.model == "tree" else 1)
        ):
            return synthesis.fit_marginal(source)
        if self.model == "parametric":
            return synthesis.fit_regression(source, predictors, minimum_leaf=leaf)
        state = work.secret.words("tree")[0] % (2**31)
        return synthesis.fit_tree(source, predictors, minimum_leaf=leaf, state=state)

    def promises(self) -> tuple[Promise, ...]:
        """Rules hold, values are within what was observed, records that were not chosen stay as they are."""
        return (
            Promise("replaced values are within the observed codes and ranges", partial(_outside, self.variables)),
            Promise("records that were not chosen are unchanged", partial(_others_changed, self)),
            Promise("rules hold wherever records were replaced", partial(_rules_broken, self)),
        )


@dataclass(frozen=True)
class _Models:
    """Models of one variable: of being missing, of its value, of all values together; and chances of what records have."""

    absent: synthesis.Model | None
    present: synthesis.Model
    everyone: synthesis.Model
    strength: synthesis.Strength
    own: Floats
    without: Floats
    margin: Floats
    seen: Floats


@dataclass(frozen=True)
class _Work:
    """One variable's turn: observed columns, the names of those before it, units, and its own secret."""

    name: str
    observed: Mapping[str, Column]
    before: tuple[str, ...]
    who: Units
    chosen: Mask
    respondents: NDArray[np.int64]
    secret: Secret

    @property
    def response(self) -> Column:
        """The observed values of the variable."""
        return self.observed[self.name]

    @property
    def exponential(self) -> Floats:
        """The Bayesian bootstrap's exponential draw of each unit."""
        return -np.log1p(-kernel.uniforms(*self.secret.words("bootstrap"), self.who.ids))

    def draw(
        self, models: _Models, synthetic: Mapping[str, Column], rows: NDArray[np.int64], attempt: int
    ) -> NDArray[Any]:
        """Draw for some units: whether it is missing, then the value; after many attempts from all values."""
        from_model = attempt < _MODEL_TRIES
        predictors = [synthetic[name].take(rows) for name in self.before]
        chance = kernel.uniforms(*self.secret.words("value"), self.who.ids[rows], attempt)
        present = models.present if from_model else models.everyone
        values = present.draw(predictors, chance).astype(self.response.values.dtype)
        if from_model and models.absent is not None:
            words = self.secret.words("missing")
            gone = models.absent.draw(predictors, kernel.uniforms(*words, self.who.ids[rows], attempt))
            values[gone == 1] = np.nan if self.response.numeric else -1
        return values


def _column(data: Microdata, name: str, who: Units) -> Column:
    variable = data.schema[name]
    if variable.kind is Kind.NUMERIC:
        return Column(data.numbers((name,))[who.first, 0])
    codes = data.codes((name,))[who.first, 0]
    texts = _texts(data, name)
    public = np.isin(np.array(texts, dtype=object), np.array(_listed(data, name), dtype=object))
    return Column(codes, max(1, len(texts)), variable.kind is Kind.ORDINAL, public)


def _listed(data: Microdata, name: str) -> tuple[str, ...]:
    """The codes that the schema lists: that a code is possible is known of these, never of lists made from the records."""
    variable = data.schema[name]
    return tuple(code for code in declared_codes(variable) if code not in variable.missing)


def _texts(data: Microdata, name: str) -> tuple[str, ...]:
    """The codes of the file, and after them those that only the schema lists."""
    return tuple(dict.fromkeys((*data.categories(name), *_listed(data, name))))


def _write(data: Microdata, name: str, values: NDArray[Any], texts: tuple[str, ...]) -> Microdata:
    """The file with a variable replaced; missing values look alike, because why one was missing belongs to a true record."""
    if data.schema[name].kind is Kind.NUMERIC:
        return data.with_numbers(name, np.ascontiguousarray(values), blanks=True)
    return data.with_codes(name, values.astype(np.int32), texts, blanks=True)


def _count_changes(before: Microdata, after: Microdata, names: Sequence[str]) -> dict[str, int]:
    changed = {}
    for name in names:
        if before.schema[name].kind is Kind.NUMERIC:
            changed[name] = differing(before.numbers((name,))[:, 0], after.numbers((name,))[:, 0])
        else:
            changed[name] = int((before.codes((name,)) != after.codes((name,))).sum())
    return changed


def _outside(names: tuple[str, ...], before: Microdata, after: Microdata) -> int:
    count = 0
    for name in names:
        if before.schema[name].kind is Kind.NUMERIC:
            old, new = before.numbers((name,)), after.numbers((name,))
            count += int(((new < np.nanmin(old)) | (new > np.nanmax(old))).sum())
        else:
            known = set(_texts(before, name))
            codes = after.encoded(name).codes
            strange = [code for code, text in enumerate(after.categories(name)) if text not in known]
            count += int(np.isin(codes, strange).sum())
    return count


def _others_changed(method: Synthesize, before: Microdata, after: Microdata) -> int:
    who = units(before, method.variables, owner=method.name)
    left = before.rows(~method._chosen(before, who)[who.of])
    if left.n_records == 0:
        return 0
    return sum(_count_changes(left, after.rows(~method._chosen(before, who)[who.of]), method.variables).values())


def _rules_broken(method: Synthesize, before: Microdata, after: Microdata) -> int:
    who = units(before, method.variables, owner=method.name)
    chosen = method._chosen(before, who)[who.of]
    return sum(int((violations(after, rule) & chosen).sum()) for rule in read_rules(method.rules, before.schema))
