# SPDX-License-Identifier: Apache-2.0
"""What one statistic reveals by itself: one record decides it, its values are all alike, or a model fits too well."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.queries.canonical import RecordSet
from reticent.queries.fitting import fit_without_one, leverage
from reticent.queries.language import REGRESSIONS, Statistic
from reticent.queries.modes import Setting
from reticent.queries.pieces import Piece, complete
from reticent.queries.refusals import StaffReason
from reticent.queries.statistics import design_matrix, evaluate, exact_sum


@dataclass(frozen=True)
class SingleRules:
    """Judges statistics one by one; without `by_value` nothing depends on a response's value."""

    setting: Setting
    by_value: bool

    def outlying(self, statistic: Statistic, records: RecordSet) -> bool:
        """Whether one record decides a sum of products with a public number: a correlate, or what a regression explains.

        The predictors of a regression are judged together by its own leverage.
        """
        names = statistic.variables if statistic.name == "corr" else ()
        if statistic.name in REGRESSIONS:
            names = statistic.variables[:1]
        universe = self.setting.universe
        here = universe.versions[records.version]
        rows = universe.records(complete(universe, records, statistic.variables)) if names else ()
        for name in names:
            public = here.levels[name].numbers is not None if name in here.levels else universe.told_by_filters(name)
            if public and len(rows):
                x = np.column_stack((np.ones(len(rows)), here.data.numbers((name,))[rows, 0]))
                if float(leverage(x).max()) > self.setting.policy.leverage:
                    return True
        return False

    def flat(self, piece: Piece) -> bool:
        """Whether a sum of squares, with the sum, leaves each value hardly any room around the mean.

        |x − mean| ≤ √((n − 1) / n · Σ (x − mean)²) for each record (Samuelson 1968): 0 if all values are the same.
        """
        universe = self.setting.universe
        for name in set(piece.responses):
            inside = complete(universe, piece.records, (name,))
            n, total = exact_sum(universe, inside), exact_sum(universe, inside, name)
            around = exact_sum(universe, inside, name, name) - total * total / n
            near = Fraction(str(self.setting.policy.interval)) / 100 * total / n
            if around <= 0 or around * (n - 1) / n < near * near:
                return True
        return False

    def regression(self, statistic: Statistic, records: RecordSet) -> StaffReason | None:
        """A record with high leverage, or a fit that is too good, shows values although no sum does."""
        inside = complete(self.setting.universe, records, statistic.variables)
        x, y, _ = design_matrix(self.setting.universe, inside, statistic)
        policy = self.setting.policy
        if len(x) == 0 or float(leverage(x).max()) > policy.leverage:
            return StaffReason("leverage", "one record decides its own fitted value")
        fitted = evaluate(statistic, self.setting.universe, records)
        if fitted is None:
            return StaffReason("regression", "the model cannot be fitted")
        if self.by_value and fitted.get("r_squared", 0.0) > policy.r_squared:
            return StaffReason("r squared", "the model predicts single values too well")
        owner = self.setting.universe.entities(inside.version)[self.setting.universe.records(inside)]
        if self.by_value and statistic.name == "linreg" and fit_without_one(x, y, owner) > policy.r_squared:
            return StaffReason("r squared", "without one respondent the model predicts single values too well")
        return None
