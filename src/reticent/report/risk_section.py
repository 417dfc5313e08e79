# SPDX-License-Identifier: Apache-2.0
"""The risk in one sentence: by which model, and how far the models that could have been taken lie apart."""

import numpy as np

from reticent.base.words import number
from reticent.microdata.result import ProtectedFile
from reticent.microdata.risk.individual import IndividualRisk, record_risk
from reticent.report.page import Block, Rows, Text

MODELS = {
    "negative-binomial": "weights, negative binomial (Benedetti and Franconi)",
    "poisson": "weights, Poisson (Skinner and Holmes)",
    "sample-only": "the file is its own population (1 over the records that fit)",
}
"""The models that need nothing but counts and weights; peers' approximations of the first are left out."""


def model_blocks(run: ProtectedFile) -> tuple[Block, ...]:
    """The headline and the table of models; nothing where no risk was judged."""
    before, after = run.risk_before.individual, run.risk_after.individual
    if before is None or after is None:
        return ()
    weighted = after.model != "sample-only"
    names = list(MODELS) if weighted else ["sample-only"]
    then, now = {name: _totals(before, name) for name in names}, {name: _totals(after, name) for name in names}
    expected = [now[name][0] for name in names]
    words = (
        f"By the {model_name(after.model)}, an attacker who tries to match every record expects {number(now[after.model][0])} "
        f"correct matches (before: {number(then[after.model][0])})."
    )
    if weighted:
        words += f" Over the models below it is {number(min(expected))} to {number(max(expected))}."
    else:
        words += " The file has no weights, so no other model can be used: the file counts as its own population."
    columns = ("model", "matches before", "matches after", "largest risk before", "largest risk after")
    rows = tuple((MODELS[name], then[name][0], now[name][0], then[name][1], now[name][1]) for name in names)
    return (Text(words), *((Rows(columns, rows, "The risk of the records by model."),) if weighted else ()))


def model_name(model: str) -> str:
    """A model as sentences name it."""
    return "sample alone" if model == "sample-only" else f"{model.replace('-', ' ')} model"


def _totals(found: IndividualRisk, model: str) -> tuple[float, float]:
    """Expected matches and the largest risk, by another model of the same counts; who fits nothing has no risk."""
    risk = np.zeros(found.sample_counts.size)
    there = found.sample_counts > 0
    risk[there] = record_risk(found.sample_counts[there], found.population_counts[there], model=model)
    total = float(risk.sum() if found.copies is None else risk @ found.copies)
    return round(total, 3), float(risk.max(initial=0.0))
