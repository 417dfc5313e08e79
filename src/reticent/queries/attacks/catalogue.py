# SPDX-License-Identifier: Apache-2.0
"""The catalogue of attacks, and a run of all of them against copies of a database."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from reticent.base.progress import Progress, silent
from reticent.queries.attacks import differencing, models, oracles, reconstruction
from reticent.queries.attacks.attacker import Ask, Attacker, Claim, NotApplicable
from reticent.queries.attacks.coverage import NOT_COVERED, covered
from reticent.queries.attacks.scenario import Scenario
from reticent.queries.database import ProtectedDatabase
from reticent.queries.refusals import Answer, Refusal

NEAR = 0.01
OPEN = "open"
ATTACKS: dict[str, Callable[[Attacker], Claim]] = {
    "tracker": differencing.tracker,
    "differencing at depth": differencing.depth,
    "averaging": differencing.averaging,
    "padding": differencing.padding,
    "syntactic variants": oracles.variants,
    "linear reconstruction": reconstruction.reconstruction,
    "regression outlier": models.outlier,
    "strategic dummy": models.dummy,
    "saturated model": models.saturated,
    "covariance": differencing.covariance,
    "encoding": models.encoding,
    "error oracle": oracles.error_oracle,
    "weights fingerprint": differencing.fingerprint,
    "insider": differencing.insider,
    "collusion": differencing.collusion,
    "version differencing": differencing.versions,
    "denial leaks": oracles.denial,
}
# these need no combination of codes that only the target has
BY_NUMBER = {"linear reconstruction", "regression outlier", "strategic dummy", "encoding", "error oracle",
             "weights fingerprint", "version differencing"}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """What one attack got out of one mode. `recovered_error` is relative; None if the attacker has no estimate."""

    attack: str
    mode: str
    applicable: bool
    succeeded: bool
    recovered_error: float | None
    queries: int
    refused: int
    text: str

    @property
    def covered(self) -> bool:
        """Whether the mode promises that this attack fails."""
        return covered(self.attack, self.mode)

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if not self.applicable:
            return "not applicable"
        return "succeeded" if self.succeeded else "failed"


@dataclass(frozen=True)
class AttackReport:
    """All findings of a run."""

    findings: tuple[Finding, ...]

    @property
    def modes(self) -> tuple[str, ...]:
        """The attacked modes, in the order of the run."""
        return tuple(dict.fromkeys(f.mode for f in self.findings))

    def finding(self, attack: str, mode: str) -> Finding:
        """One finding."""
        return next(f for f in self.findings if (f.attack, f.mode) == (attack, mode))

    @property
    def broken(self) -> tuple[Finding, ...]:
        """Attacks that succeeded although the mode promises that they fail."""
        return tuple(f for f in self.findings if f.succeeded and f.covered)

    @property
    def powerless(self) -> tuple[Finding, ...]:
        """Attacks that failed even against the open mode: they show nothing on these data."""
        return tuple(f for f in self.findings if f.mode == OPEN and f.applicable and not f.succeeded)

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        rows = [
            {**asdict(f), "covered": f.covered, "why": NOT_COVERED.get((f.attack, f.mode), "")} for f in self.findings
        ]
        return {"broken": [[f.attack, f.mode] for f in self.broken], "findings": rows}


def run_catalogue(
    scenario: Scenario,
    *,
    modes: Sequence[str] | None = None,
    attacks: Sequence[str] = tuple(ATTACKS),
    progress: Progress = silent,
) -> AttackReport:
    """Run every attack against the open mode and the policy's mode (or the listed ones).

    Each attack gets a copy of its own with a ledger in a temporary folder; the real ledger is never touched.
    """
    listed = tuple(dict.fromkeys(modes or (OPEN, scenario.policy.mode)))
    jobs = [(mode, attack) for mode in listed for attack in attacks]
    found = []
    for number, (mode, attack) in enumerate(jobs):
        progress(number / len(jobs), f"{attack} against {mode}")
        found.append(run_attack(attack, scenario.with_mode(mode)))
    progress(1.0, "done")
    return AttackReport(tuple(found))


def run_attack(attack: str, scenario: Scenario, *, secret: int = 7) -> Finding:
    """Run one attack against a fresh copy (and its twin) in the policy's mode; the copies have a secret of their own."""
    mode = scenario.policy.mode
    with tempfile.TemporaryDirectory() as folder:
        copies = _Copies(Path(folder), secret)
        before, after = copies.versions(scenario)
        attacker = Attacker(
            copies.of(scenario), copies.of(scenario.twin()), scenario.knowledge, before=before, after=after
        )
        try:
            if attack not in BY_NUMBER and not scenario.knowledge.target:
                raise NotApplicable("no respondent is the only one in a combination of three filters")
            claim = ATTACKS[attack](attacker)
        except NotApplicable as err:
            return Finding(attack, mode, False, False, None, attacker.queries, attacker.refused, str(err))
        finally:
            copies.close()
    return _judged(attack, mode, claim, attacker, scenario.truth)


@dataclass
class _Copies:
    """Databases in a temporary folder, each opened when it is first asked: most attacks need one only."""

    folder: Path
    secret: int
    opened: list[ProtectedDatabase] = field(default_factory=list)

    def of(self, scenario: Scenario) -> Ask:
        """A copy with a ledger of its own."""
        return self._lazily(lambda: self._open(scenario, self.folder / f"{len(self.opened)}.ledger"))

    def versions(self, scenario: Scenario) -> tuple[Ask | None, Ask | None]:
        """Two versions with one ledger: without the target's record, and (asked later) with it."""
        if not scenario.data.schema.identifiers:
            return None, None
        earlier = scenario.data.rows(np.arange(scenario.data.n_records) != scenario.row)
        ledger = self.folder / "versions.ledger"
        before = replace(scenario, data=earlier)

        def second() -> ProtectedDatabase:
            self.close()
            return self._open(scenario, ledger, version="2", earlier=[("1", earlier)])

        return self._lazily(lambda: self._open(before, ledger)), self._lazily(second)

    def close(self) -> None:
        """Close all."""
        while self.opened:
            self.opened.pop().close()

    def _open(self, scenario: Scenario, ledger: Path, **facts: Any) -> ProtectedDatabase:
        self.opened.append(
            ProtectedDatabase(
                scenario.data, policy=scenario.policy, secret=self.secret, test_secret=True, ledger=ledger, **facts
            )
        )
        return self.opened[-1]

    def _lazily(self, make: Callable[[], ProtectedDatabase]) -> Ask:
        made: list[ProtectedDatabase] = []

        def ask(text: str, user: str) -> Answer | Refusal:
            if not made:
                made.append(make())
            return made[0].ask(text, user=user)

        return ask


def _judged(attack: str, mode: str, claim: Claim, attacker: Attacker, truth: float) -> Finding:
    error = None if claim.span is None else claim.span.error(truth)
    near = error is not None and error <= NEAR
    return Finding(attack, mode, True, near or claim.told_apart, error, attacker.queries, attacker.refused, claim.text)
