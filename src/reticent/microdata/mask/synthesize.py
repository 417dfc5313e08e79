"""Synthetic data (plan name `synthesize`): variables drawn one after the other from models given the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.errors import InfeasibleError, ParameterError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.draws import StepDraws
from reticent.data.method import Applied, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import check_fields
from reticent.data.schema import Kind, Schema
from reticent.kernels import draws as kernel
from reticent.microdata.edits import EditRule, read_rules, violations
from reticent.microdata.perturb import synthesis
from reticent.microdata.perturb.binding import STRUCTURE, Units, check_variables, differing, recoded, units
from reticent.microdata.perturb.binding import with_all_numbers as with_numbers
from reticent.microdata.perturb.synthesis import Column

Flags = NDArray[np.bool_]

# Tries to satisfy the rules: first from the model, then from all observed values.
_MODEL_TRIES, _ALL_TRIES = 40, 160


@dataclass(frozen=True)
class Synthesize(Method):
    """Replace variables by draws from models fitted to the file, in the order they are listed.

    Each variable is modelled given the variables that are not synthesised and those before it. `tree` draws the value
    of a donor from the leaf of a classification or regression tree (Reiter 2005), donors weighted by the Bayesian
    bootstrap; `smooth` moves numbers between neighbouring donors, so that true values are not copied. `parametric`
    uses linear regression of normal scores and multinomial logistic regression. With `keys` only records that are
    rare on them are replaced (partially synthetic). `rules` are edit rules that every replaced record satisfies.
    """

    name: ClassVar[str] = "synthesize"
    variables: tuple[str, ...] = field(metadata={"help": "variables to replace, in this order"})
    model: str = field(default="tree", metadata={"choices": ("tree", "parametric"), "help": "how values are drawn"})
    minimum_leaf: int = field(default=5, metadata={"min": 2, "help": "smallest number of donors in a leaf"})
    smooth: bool = field(default=False, metadata={"help": "numbers between those of donors"})
    predictors: tuple[str, ...] = field(default=(), metadata={"help": "variables that explain; none: all others"})
    keys: tuple[str, ...] = field(default=(), metadata={"help": "replace only records rare on these"})
    threshold: int = field(default=1, metadata={"min": 1, "help": "a record is rare at or below this count"})
    rules: tuple[str, ...] = field(default=(), metadata={"help": "edit rules for replaced records"})
    copy: int = field(default=1, metadata={"min": 1, "help": "number of this copy; copies differ in their draws"})

    def __post_init__(self) -> None:
        check_fields(self, owner=self.name)
        if set(self.variables) & set(self.predictors):
            raise ParameterError(f"{self.name}: predictors must be variables that are not replaced.")

    def check(self, schema: Schema) -> None:
        """All variables are known and may be replaced; rules can hold together."""
        check_variables(schema, self.variables, owner=self.name)
        schema.require((*self.predictors, *self.keys), owner=self.name)
        read_rules(self.rules, schema)

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Synthesise; every draw is keyed by record, variable and copy."""
        self.check(data.schema)
        who = units(data, self.variables, owner=self.name)
        chosen = self._chosen(data, who)
        rules = read_rules(self.rules, data.schema)
        fixed = self.predictors or tuple(
            v.name for v in data.schema.variables if v.name not in self.variables and v.role not in STRUCTURE
        )
        observed = {name: _column(data, name, who) for name in (*fixed, *self.variables)}
        synthetic = {name: observed[name] for name in fixed}
        masked = data
        source = draws.of_file(data, (*fixed, *self.variables, *self.keys))
        for number, name in enumerate(self.variables):
            work = _Work(name, observed, synthetic, who, chosen, source.child(name))
            ready = [rule for rule in rules if not rule.variables & set(self.variables[number + 1 :])]
            masked, synthetic[name] = self._one(work, masked, ready)
            progress((number + 1) / len(self.variables), name)
        changed = _count_changes(data, masked, self.variables)
        return Applied(masked, changed, {"replaced_units": int(chosen.sum()), "copy": self.copy})

    def _chosen(self, data: Microdata, who: Units) -> Flags:
        if not self.keys:
            return np.ones(who.count, dtype=np.bool_)
        chosen = np.zeros(who.count, dtype=np.bool_)
        chosen[who.of[data.sample_counts(self.keys) <= self.threshold]] = True
        return chosen

    def _one(self, work: "_Work", masked: Microdata, rules: Sequence[EditRule]) -> tuple[Microdata, Column]:
        """Draw one variable, again and again for records that break a rule."""
        models = self._models(work)
        everyone = synthesis.fit_marginal(work.known, work.exponential[~work.response.missing], smooth=False)
        values = work.response.values.copy()
        open_rows = np.flatnonzero(work.chosen)
        for attempt in range(_MODEL_TRIES + _ALL_TRIES):
            values[open_rows] = work.draw(models if attempt < _MODEL_TRIES else (None, everyone), open_rows, attempt)
            current = _write(masked, work.name, values[work.who.of])
            broken = np.zeros(masked.n_records, dtype=np.bool_)
            for rule in rules:
                if work.name in rule.variables:
                    broken |= violations(current, rule)
            unhappy = np.zeros(work.who.count, dtype=np.bool_)
            unhappy[work.who.of[broken]] = True
            open_rows = np.flatnonzero(unhappy & work.chosen)
            if open_rows.size == 0:
                return current, Column(values, work.response.n_codes, work.response.ordered)
        raise InfeasibleError(
            f"{self.name}: for {open_rows.size} records no value of {work.name} satisfies the rules after "
            f"{_MODEL_TRIES + _ALL_TRIES} draws. List the variables of the rule in another order, or relax it."
        )

    def _models(self, work: "_Work") -> tuple[synthesis.Model | None, synthesis.Model]:
        """The model of being missing (if anything is), and the model of the value."""
        missing = work.response.missing
        if missing.all():
            raise ParameterError(f"{self.name}: {work.name} has no value in any record; leave it out.")
        value = self._fit(work, work.response, ~missing)
        if not missing.any():
            return None, value
        return self._fit(work, Column(missing.astype(np.int64), 2), np.ones(len(missing), dtype=np.bool_)), value

    def _fit(self, work: "_Work", response: Column, rows: Flags) -> synthesis.Model:
        own, weights = response.take(rows), work.exponential[rows]
        predictors = [work.observed[name].take(rows) for name in work.synthetic]
        if not predictors or len(own.values) < 2 * self.minimum_leaf:
            return synthesis.fit_marginal(own, weights, smooth=self.smooth)
        if self.model == "parametric":
            return synthesis.fit_regression(own, predictors, weights)
        state = work.secret.words("tree")[0] % (2**31)
        return synthesis.fit_tree(
            own, predictors, weights, minimum_leaf=self.minimum_leaf, smooth=self.smooth, state=state
        )

    def promises(self) -> tuple[Promise, ...]:
        """Rules hold, values are within what was observed, records that were not chosen stay as they are."""
        return (
            Promise("replaced values are within the observed codes and ranges", partial(_outside, self.variables)),
            Promise("records that were not chosen are unchanged", partial(_others_changed, self)),
            Promise("rules hold wherever records were replaced", partial(_rules_broken, self)),
        )


def synthesize_copies(
    method: Synthesize, data: Microdata, m: int, *, secret: Secret, progress: Progress = silent
) -> tuple[Microdata, ...]:
    """m synthetic copies of a file, for the combining rules of `perturb.combining`."""
    if m < 1:
        raise ParameterError(f"synthesize: m must be at least 1, got {m!r}.")
    copies = []
    for number in range(1, m + 1):
        copies.append(replace(method, copy=number).apply(data, secret=secret, progress=silent).data)
        progress(number / m, f"copy {number}")
    return tuple(copies)


@dataclass(frozen=True)
class _Work:
    """One variable's turn: observed columns, what is synthetic so far, units, and its own secret."""

    name: str
    observed: Mapping[str, Column]
    synthetic: Mapping[str, Column]
    who: Units
    chosen: Flags
    secret: Secret

    @property
    def response(self) -> Column:
        """The observed values of the variable."""
        return self.observed[self.name]

    @property
    def known(self) -> Column:
        """The observed values that are not missing."""
        return self.response.take(~self.response.missing)

    @property
    def exponential(self) -> NDArray[np.float64]:
        """The Bayesian bootstrap's exponential draw of each unit."""
        return -np.log1p(-kernel.uniforms(*self.secret.words("bootstrap"), self.who.ids))

    def draw(
        self, models: tuple[synthesis.Model | None, synthesis.Model], rows: NDArray[np.int64], attempt: int
    ) -> NDArray[Any]:
        """Draw for some units: whether it is missing, then the value."""
        absent, present = models
        predictors = [column.take(rows) for column in self.synthetic.values()]
        chance = kernel.uniforms(*self.secret.words("value"), self.who.ids[rows], attempt)
        values = present.draw(predictors, chance).astype(self.response.values.dtype)
        if absent is not None:
            gone = absent.draw(predictors, kernel.uniforms(*self.secret.words("missing"), self.who.ids[rows], attempt))
            values[gone == 1] = np.nan if self.response.numeric else -1
        return values


def _column(data: Microdata, name: str, who: Units) -> Column:
    variable = data.schema[name]
    if variable.kind is Kind.NUMERIC:
        return Column(data.numbers((name,))[who.first, 0])
    codes = data.codes((name,))[who.first, 0]
    return Column(codes, max(1, len(data.categories(name))), variable.kind is Kind.ORDINAL)


def _write(data: Microdata, name: str, values: NDArray[Any]) -> Microdata:
    if data.schema[name].kind is Kind.NUMERIC:
        return with_numbers(data, (name,), values[:, None])[0]
    return recoded(data, {name: values.astype(np.int32)})[0]


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
            known = set(before.categories(name))
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
