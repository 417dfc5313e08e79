# SPDX-License-Identifier: Apache-2.0
"""`Risk`: how identifiable records are, as a short table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from reticent.api.arguments import names_of, refuse_type
from reticent.base.doors import doors
from reticent.base.errors import ParameterError
from reticent.base.plain import as_plain
from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.microdata.measure import FileRisk
from reticent.microdata.risk.anonymity import (
    AttackerRisks,
    DeltaPresence,
    KAnonymity,
    KeySetRisk,
    KMap,
    attacker_risks,
    delta_presence,
    k_anonymity,
    k_map,
)
from reticent.microdata.risk.diversity import AttributeRisk, JointDiversity, attribute_risk, joint_diversity
from reticent.microdata.risk.file_models import RiskModels, risk_models, uniqueness_of_files
from reticent.microdata.risk.regional import RegionalTable, regional_check
from reticent.microdata.risk.semantics import Semantics, keys_of
from reticent.microdata.risk.shapley import key_set_risks
from reticent.microdata.risk.suda import Suda, suda
from reticent.microdata.risk.uniqueness import IntrusionSimulation, PopulationUniqueness, simulate_intrusion
from reticent.report.notebook import facts_html, facts_text


@doors
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

    def intrusion(self, keys: Sequence[str] = (), *, fraction: float, trials: int = 100_000) -> IntrusionSimulation:
        """Elliot's attack, simulated: how often a unique match of a record drawn with `fraction` is the right one."""
        if self._data.copies is not None:
            raise ParameterError("intrusion: records in an engine come as combinations; simulate with data in memory.")
        group = self._data.patterns(keys_of(self._data, names_of(keys, "keys", "intrusion"), owner="intrusion")).group
        return simulate_intrusion(group, fraction=fraction, secret=as_secret(None), trials=trials)

    def attackers(self, keys: Sequence[str] = (), *, threshold: float = 0.2, population: Any = None) -> AttackerRisks:
        """Prosecutor, journalist and marketer risk, by weights or with the file of the `population` (from `load`)."""
        names, known = names_of(keys, "keys", "attackers"), _records(population, "attackers")
        return attacker_risks(self._data, names, threshold=threshold, population=known)

    def k_map(self, keys: Sequence[str] = (), *, population: Any = None) -> KMap:
        """The fewest people behind a combination, by weights or with the file of the `population` (Sweeney 2001)."""
        return k_map(self._data, names_of(keys, "keys", "k_map"), population=_records(population, "k_map"))

    def presence(self, population: Any, keys: Sequence[str] = ()) -> DeltaPresence:
        """How sure one may be that somebody of the `population` is in the file: δ-presence (Nergiz et al. 2007)."""
        return delta_presence(self._data, _needed(population, "presence"), names_of(keys, "keys", "presence"))

    def uniqueness_in(self, population: Any, keys: Sequence[str] = ()) -> PopulationUniqueness:
        """How many records are unique in the `population` that they were drawn from, with its own file at hand."""
        names = names_of(keys, "keys", "uniqueness_in")
        return uniqueness_of_files(self._data, _needed(population, "uniqueness_in"), names)

    def key_sets(self, keys: Sequence[str] = (), *, max_size: int | None = None) -> tuple[KeySetRisk, ...]:
        """Distinction and separation of every set of keys up to `max_size`, the most separating first."""
        return key_set_risks(self._data, names_of(keys, "keys", "key_sets"), max_size=max_size)

    def diversity(self, sensitive: Sequence[str], keys: Sequence[str] = (), *, c: float = 2.0) -> JointDiversity:
        """l-diversity of several sensitive variables together: whoever knows all but one does not learn the last."""
        names = names_of(keys, "keys", "diversity")
        return joint_diversity(self._data, names_of(sensitive, "sensitive", "diversity"), names, c=c)

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


def _records(population: Any, owner: str) -> Microdata | None:
    """The records of a population that `load` made; None where none is given."""
    return None if population is None else _needed(population, owner)


def _needed(population: Any, owner: str) -> Microdata:
    found = getattr(population, "microdata", population)
    refuse_type(found, Microdata, "population", owner, "data from load()")
    return cast(Microdata, found)
