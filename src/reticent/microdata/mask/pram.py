# SPDX-License-Identifier: Apache-2.0
"""Post-randomisation (plan name `pram`): categories change by chance, by a Markov matrix that travels with the result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Codes, Floats, taken
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress
from reticent.data.draws import StepDraws, StepInput, step_input
from reticent.data.method import Applied, Group, Method, Promise
from reticent.data.microdata import Microdata
from reticent.data.parameters import Examples
from reticent.data.schema import Schema
from reticent.kernels.ranking import stable_order
from reticent.kernels.transitions import draw_codes, round_flows
from reticent.microdata.perturb import transition_matrix as markov
from reticent.microdata.perturb.binding import Units, check_variables, keyed_uniforms, recoded, slices, strata_of, units


@dataclass(frozen=True)
class Pram(Method):
    """Change categories at random by a Markov matrix, each variable on its own, within strata.

    Without a `matrix`, records keep their category with a probability of at least `keep`; `invariant` matrices leave
    the expected marginals of each stratum unchanged. In a stratum only categories that occur there can be reached.
    `controlled` draws hit the expected marginals within one record instead of within chance. Missing stays missing.
    """

    name: ClassVar[str] = "pram"
    group: ClassVar[Group] = Group.CODES
    examples: ClassVar[Examples] = (
        {"variables": ["marital"]},
        {"variables": ["education"], "keep": 0.6, "invariant": False, "strata": ["sex"]},
    )
    variables: tuple[str, ...] = field(
        metadata={"names": "variables", "help": "categorical variables, each changed on its own"}
    )
    keep: float = field(default=0.8, metadata={"min": 0.0, "max": 1.0, "help": "smallest probability of no change"})
    invariant: bool = field(default=True, metadata={"help": "expected marginals stay as they are"})
    controlled: bool = field(default=True, metadata={"help": "realised marginals within one of expected"})
    strata: tuple[str, ...] = field(
        default=(), metadata={"names": "variables", "help": "own matrix and own categories in each group"}
    )
    bandwidth: int | None = field(default=None, metadata={"min": 1, "help": "largest step in the order of the codes"})
    forbidden: tuple[tuple[str, str], ...] = field(default=(), metadata={"help": "pairs (from, to) that never happen"})
    exempt: tuple[str, ...] = field(default=(), metadata={"help": "codes that nobody leaves or enters"})
    matrix: tuple[tuple[float, ...], ...] = field(default=(), metadata={"help": "an own matrix, rows are from"})
    codes: tuple[str, ...] = field(default=(), metadata={"help": "the codes of your own matrix, in its order"})

    def __post_init__(self) -> None:
        if (self.matrix or self.codes or self.forbidden or self.exempt) and len(self.variables) != 1:
            raise ParameterError("matrix, codes, forbidden and exempt speak of one variable; give one.")
        if bool(self.matrix) != bool(self.codes):
            raise ParameterError("matrix and codes go together; give both or none.", option="matrix")
        if self.matrix and (self.forbidden or self.exempt or self.bandwidth is not None):
            raise ParameterError("an own matrix says itself what is forbidden; drop the other options.")

    def check(self, schema: Schema) -> None:
        """The variables are categorical, the strata known and not among them."""
        check_variables(schema, self.variables, owner=self.name, numeric=False)
        schema.require(self.strata, owner=self.name)
        if set(self.variables) & set(self.strata):
            raise ParameterError(f"{self.name}: a variable cannot be changed and be a stratum at the same time.")

    def mask(self, data: Microdata, *, draws: StepDraws, progress: Progress) -> Applied:
        """Change the data; draws are keyed by record."""
        self.check(data.schema)
        new: dict[str, Codes] = {}
        matrices: list[dict[str, Any]] = []
        for number, name in enumerate(self.variables):
            who = units(data, (name,), owner=self.name)
            new[name] = taken(self._variable(data, name, who, draws, matrices), who.of)
            progress((number + 1) / len(self.variables), name)
        masked, changed = recoded(data, new)
        return Applied(masked, changed, {"matrices": matrices})

    def mask_block(self, data: Microdata, matrices: Mapping[str, Floats], *, draws: StepDraws) -> Applied:
        """Change a block of records by the matrices of the whole file, each record by its own draw."""
        new: dict[str, Codes] = {}
        for name, matrix in matrices.items():
            who = units(data, (name,), owner=self.name)
            seen = step_input(data, (name,), first=who.first, ids=who.ids)
            new[name] = _independent(data.codes((name,))[who.first, 0], matrix, draws, seen)[who.of]
        return Applied(*recoded(data, new))

    def matrix_of(self, categories: tuple[str, ...], counts: Floats) -> Floats:
        """The matrix for a variable with this many records in each category."""
        return self._matrix(counts, *self._shape(categories))

    def _variable(
        self, data: Microdata, name: str, who: Units, draws: StepDraws, matrices: list[dict[str, Any]]
    ) -> Codes:
        codes = taken(data.codes((name,))[:, 0], who.first)
        categories = data.categories(name)
        fixed, allowed = self._shape(categories)
        seen = step_input(data, (name,), first=who.first, ids=who.ids)
        changed: Codes = codes.copy()
        for rows in slices(strata_of(data, self.strata, first=who.first)):
            stratum, own = _stratum_codes(data, self.strata, int(who.first[rows[0]])), taken(codes, rows)
            counts = np.bincount(own[own >= 0], minlength=len(categories)).astype(np.float64)
            matrix = self._matrix(counts, fixed, allowed)
            draw = _controlled if self.controlled else _independent
            changed[rows] = draw(own, matrix, draws, seen.take(rows))
            matrices.append(
                {
                    "variable": name,
                    "stratum": stratum,
                    "codes": list(categories),
                    "matrix": matrix.tolist(),
                    "smallest_diagonal": float(np.diag(matrix)[counts > 0].min()) if (counts > 0).any() else 1.0,
                }
            )
        return changed

    def _shape(self, categories: tuple[str, ...]) -> tuple[Floats | None, NDArray[np.bool_]]:
        """The user's matrix, if any, and the transitions that the options allow."""
        if self.matrix:
            fixed = markov.check_markov(self.matrix, self.codes, categories)
            return fixed, fixed > 0
        named = {code for pair in self.forbidden for code in pair} | set(self.exempt)
        unknown = sorted(named - set(categories))
        if unknown:
            raise ParameterError(
                f"{self.name}: {len(unknown)} codes in forbidden or exempt do not occur in the variable."
            )
        place = {code: index for index, code in enumerate(categories)}
        return None, markov.allowed_moves(
            len(categories),
            bandwidth=self.bandwidth,
            forbidden=[(place[a], place[b]) for a, b in self.forbidden],
            exempt=[place[code] for code in self.exempt],
        )

    def _matrix(self, counts: Floats, fixed: Floats | None, allowed: NDArray[np.bool_]) -> Floats:
        reachable = np.broadcast_to(counts > 0, allowed.shape) | np.eye(len(counts), dtype=np.bool_)
        if fixed is not None:
            return markov.restrict(fixed, reachable) if self.strata else fixed
        if self.invariant:
            return markov.invariant_matrix(counts, allowed, keep=self.keep)
        return markov.uniform_matrix(allowed & reachable, keep=self.keep)

    def promises(self) -> tuple[Promise, ...]:
        """Forbidden transitions never happen; controlled invariant draws keep the marginals."""
        made = [Promise("transitions that are not allowed never happen", partial(_forbidden_moves, self))]
        if self.invariant and self.controlled and not self.matrix:
            made.append(Promise("marginals within strata are kept", partial(_marginals_moved, self)))
        return tuple(made)


def _independent(codes: Codes, matrix: Floats, draws: StepDraws, seen: StepInput) -> Codes:
    cumulative = np.cumsum(matrix, axis=1)
    # The last reachable category takes the rounding error, never one of probability zero.
    for row, line in zip(cumulative, matrix, strict=True):
        row[int(np.flatnonzero(line > 0)[-1]) :] = 1.0
    drawn: Codes = draw_codes(codes, cumulative, draws.of_records(seen, scale=(matrix,)).uniforms())
    return drawn


def _controlled(codes: Codes, matrix: Floats, draws: StepDraws, seen: StepInput) -> Codes:
    """Whole numbers of moves with the expected row and column sums; who moves is drawn by record."""
    secret = draws.of_part(seen)
    words, uniform = secret.words("flows"), keyed_uniforms(secret, "who", seen.ids)
    known = np.flatnonzero(codes >= 0)
    size = len(matrix)
    counts = np.bincount(codes[known], minlength=size)
    expected = counts[:, None] * matrix
    columns = expected.sum(axis=0)
    # A slack row makes column sums whole; its entries are what is missing to the next whole number.
    slack = np.where(np.abs(columns - np.rint(columns)) < 1e-6, 0.0, np.ceil(columns) - columns)
    flows = round_flows(np.vstack([expected, slack]), np.uint64(words[0]), np.uint64(words[1]))[:size]
    order = known[stable_order(codes[known] + uniform[known])]
    drawn = codes.copy()
    drawn[order] = np.repeat(np.tile(np.arange(size), size), flows.ravel())
    return drawn


def _stratum_codes(data: Microdata, strata: tuple[str, ...], record: int) -> list[str | None]:
    codes = (int(data.encoded(name).codes[record]) for name in strata)
    return [None if code < 0 else data.categories(name)[code] for name, code in zip(strata, codes, strict=True)]


def _pairs(method: Pram, name: str, before: Microdata, after: Microdata) -> tuple[Codes, Codes, NDArray[np.int64]]:
    """Codes before and after in one numbering, and the stratum, of each unit."""
    who = units(before, (name,), owner=method.name)
    place = {category: index for index, category in enumerate(before.categories(name))}
    number = np.array([*(place.get(category, -2) for category in after.categories(name)), -1], dtype=np.int32)
    new = number[after.codes((name,))[who.first, 0]]
    return before.codes((name,))[who.first, 0], new, strata_of(before, method.strata, first=who.first)


def _forbidden_moves(method: Pram, before: Microdata, after: Microdata) -> int:
    count = 0
    for name in method.variables:
        old, new, group = _pairs(method, name, before, after)
        allowed = method._shape(before.categories(name))[1]
        known = old >= 0
        count += int((new[~known] != -1).sum() + (new[known] < 0).sum())
        inside = known & (new >= 0)
        count += int((~allowed[old[inside], new[inside]]).sum())
        if method.strata or not method.matrix:
            size = len(before.categories(name))
            present = np.zeros((int(group.max()) + 1, size), dtype=np.bool_)
            present[group[known], old[known]] = True
            count += int((~present[group[inside], new[inside]]).sum())
    return count


def _marginals_moved(method: Pram, before: Microdata, after: Microdata) -> int:
    count = 0
    for name in method.variables:
        old, new, group = _pairs(method, name, before, after)
        size = len(before.categories(name)) + 1
        counts = [np.bincount(group * size + side + 1, minlength=(int(group.max()) + 1) * size) for side in (old, new)]
        count += int(np.abs(counts[0] - counts[1]).sum())
    return count
