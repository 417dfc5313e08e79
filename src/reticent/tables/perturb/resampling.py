# SPDX-License-Identifier: Apache-2.0
"""The table method `resample`: counts drawn again from the table itself (after Domingo-Ferrer and Mateo-Sanz 1999)."""

import hashlib
import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Words
from reticent.base.errors import ParameterError
from reticent.base.progress import Progress
from reticent.base.randomness import Secret
from reticent.tables.cell_draws import ONE_RUN, AdditiveDraws
from reticent.tables.guarantee import NOT_FOLLOWED, Guarantee, Rate
from reticent.tables.outcome import Outcome
from reticent.tables.perturb.summing import summing
from reticent.tables.problem import SuppressionProblem

OWNER = "resample"
STAYING = (
    "Counts of 1 or 2 are published as they are with a probability of up to {:.0f} %, and everybody who knows how often was "
    "drawn knows that; the audit judges certainty only."
)


@dataclass(frozen=True)
class Resample(AdditiveDraws):
    """Resampling: all respondents are drawn again from the inner cells, `times` times; means are rounded and added up.

    The number of respondents is kept, empty cells stay empty, everything adds up; the more often it is drawn, the nearer the
    table is to the true one: from 16 draws on a count of 1 is published as 1 in more than 95 of 100 cases (`caveat` has
    the share). The arithmetic attacker knows that the number of respondents is kept and no largest change: no unsafe count
    is determined, except that somebody is where a count above 0 is published; levels are not promised. What the transparent
    attacker determines is in `guarantee`. A cell has one value in all tables of a run, not in those of other runs (`caveat`).
    """

    name: ClassVar[str] = OWNER
    guarantee: ClassVar[Guarantee] = Guarantee(
        "Against the arithmetic attacker, who knows that respondents were drawn from the cells: no unsafe count is determined "
        "exactly. Levels are not promised." + NOT_FOLLOWED,
        Rate(33, 1342, 2.0, 24),
        "a count of 0 stays 0 and the total is kept, so that few tables lead to some outputs",
    )
    times: int = field(default=1, metadata={"min": 1, "max": 100, "help": "how often respondents are drawn"})

    @property
    def caveat(self) -> str:
        """What the audit of a run does not judge."""
        return f"{ONE_RUN} {STAYING.format(100 * staying(self.times))}"

    def protect_cells(
        self, problem: SuppressionProblem, cells: Words, secret: Secret, time_limit: float, progress: Progress
    ) -> Outcome:
        """Draw the inner counts, and state what anybody can conclude: who is counted may be anybody's draw."""
        values = problem.values
        if bool((values != np.rint(values)).any()) or bool((values < 0).any()):
            raise ParameterError(f"{OWNER}: needs a table of counts; its values must be whole and not negative.")
        sums = summing(problem.relations)
        if sums.links.shape[0]:
            raise ParameterError(
                f"{OWNER}: needs a table whose totals are sums of inner cells; linked tables have none in common."
            )
        counts = np.rint(values[sums.inner]).astype(np.int64)
        drawn = _drawn(counts, cells[sums.inner], self.times, secret)
        published = np.asarray(sums.matrix @ drawn.astype(np.float64))
        change = np.abs(published - values)
        # who reads the manual knows that no respondent is lost, so totals over all inner cells are the true ones
        kept = np.asarray(sums.matrix.sum(axis=1) == len(sums.inner))
        return Outcome(
            np.zeros(problem.n_cells, dtype=bool),
            float(change.sum()),
            status="resampled",
            values=published,
            low=np.where(kept, values, np.maximum(problem.lower_bound, np.minimum(published > 0, values))),
            high=np.where(kept, values, problem.upper_bound),
            facts={
                "largest change": float(change.max(initial=0.0)),
                "mean change": float(change.mean()),
                "counts of 1 or 2 that stay": round(staying(self.times), 4),
            },
            levels=False,
            noise=True,
            kept=kept,
        )


def staying(times: int) -> float:
    """How likely a count of 1 or 2 is published as it is, the likelier of both, in a table of many respondents."""
    return max(_stays(1, times), _stays(2, times))


def _stays(count: int, times: int) -> float:
    """Draws of a cell are nearly Poisson; their mean is rounded."""
    first, last = math.ceil((count - 0.5) * times), math.ceil((count + 0.5) * times) - 1
    rate = float(count * times)
    return sum(math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(first, last + 1))


def _drawn(counts: NDArray[np.int64], cells: Words, times: int, secret: Secret) -> NDArray[np.int64]:
    """Means of multinomial draws as whole numbers with the same sum; the draws belong to these cells with these counts."""
    order = np.argsort(cells, kind="stable")
    told = np.concatenate([cells[order].astype("<u8"), counts[order].astype("<u8")]).tobytes()
    stream = secret.child(hashlib.blake2b(told, digest_size=16).hexdigest()).stream(OWNER)
    total = int(counts.sum())
    if total == 0:
        return counts.copy()
    sums = stream.multinomial(total, counts[order] / total, size=times).sum(axis=0)
    whole = sums // times
    missing = total - int(whole.sum())
    # the largest remainders are rounded up, so that the total is kept
    rest = np.argsort(-(sums - whole * times), kind="stable")[:missing]
    whole[rest] += 1
    out = np.empty_like(counts)
    out[order] = whole
    return out
