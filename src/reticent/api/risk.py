"""`Risk`: how identifiable records are, as a short table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reticent.api.arguments import names_of
from reticent.base.plain import as_plain
from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.microdata.measure import FileRisk
from reticent.microdata.risk.anonymity import KAnonymity, k_anonymity
from reticent.microdata.risk.diversity import AttributeRisk, attribute_risk
from reticent.microdata.risk.file_models import RiskModels, risk_models
from reticent.microdata.risk.regional import RegionalTable, regional_check
from reticent.microdata.risk.semantics import Semantics
from reticent.microdata.risk.suda import Suda, suda
from reticent.report.notebook import facts_html, facts_text


@dataclass(frozen=True, eq=False)
class Risk:
    """The risk of a file as it is. Confidential; prints as a short table."""

    found: FileRisk = field(repr=False)
    _data: Microdata = field(repr=False)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return facts_text(f"Risk of {self.found.n_records} records", self._facts())

    def _repr_html_(self) -> str:
        return facts_html(f"Risk of {self.found.n_records} records", self._facts())

    def _facts(self) -> dict[str, Any]:
        return {name: value for name, value in self.summary().items() if not isinstance(value, list | dict)}

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        plain: dict[str, Any] = as_plain(self.found.summary())
        return plain

    def k_anonymity(
        self, keys: Sequence[str] = (), *, ks: Sequence[int] = (2, 3, 5), semantics: Semantics | str = "own-category"
    ) -> KAnonymity:
        """The smallest number of records (or respondents) that share a combination of keys, and who violates each k."""
        return k_anonymity(self._data, names_of(keys, "keys", "k_anonymity"), ks=ks, semantics=semantics)

    def attribute(
        self, sensitive: str, keys: Sequence[str] = (), *, c: float = 2.0, given: Sequence[str] = ()
    ) -> AttributeRisk:
        """What a combination of keys tells about one sensitive variable: l-diversity, t-closeness and their kin."""
        return attribute_risk(
            self._data, sensitive, names_of(keys, "keys", "attribute"), c=c, given=names_of(given, "given", "attribute")
        )

    def models(
        self, keys: Sequence[str] = (), *, fraction: float | None = None, progress: Progress = silent
    ) -> RiskModels:
        """Every model of population risk, side by side; without weights the sampling `fraction` must be given."""
        names = names_of(keys, "keys", "models")
        return risk_models(self._data, names, secret=as_secret(None), fraction=fraction, progress=progress)

    def suda(self, keys: Sequence[str] = (), *, score: str = "original", sampling_fraction: float = 0.01) -> Suda:
        """Special uniques: every record scored by its minimal sample uniques."""
        names = names_of(keys, "keys", "suda")
        return suda(self._data, names, score=score, sampling_fraction=sampling_fraction)

    def regional(
        self,
        indicators: Sequence[str],
        *,
        threshold: float,
        region: str | None = None,
        population: Mapping[str, float] | None = None,
    ) -> RegionalTable:
        """Whether regional indicators, each harmless, together mark areas with too few people (`threshold`).

        People are counted by the weights, or with `region` by the `population` of each of its codes.
        """
        names = names_of(indicators, "indicators", "regional")
        return regional_check(self._data, names, threshold=threshold, region=region, population=population)
