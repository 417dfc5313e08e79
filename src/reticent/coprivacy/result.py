# SPDX-License-Identifier: Apache-2.0
"""What a game shows: equilibria, dominance, coprivacy under each definition, repeated play; and the sentences for it."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from reticent.base.progress import Progress, silent
from reticent.coprivacy.coprivacy import Coprivacy, decide
from reticent.coprivacy.correlated import Security, correlated, security
from reticent.coprivacy.equilibria import (
    MAX_MIXED,
    Equilibrium,
    deviation_gain,
    dominant,
    is_degenerate,
    mixed,
    pure,
)
from reticent.coprivacy.files import GameFile
from reticent.coprivacy.game import Game
from reticent.coprivacy.models.repeated import GRIM, TIT_FOR_TAT, deviation, reputation


@dataclass(frozen=True, eq=False)
class GameResult:
    """The analysis of a game; nothing in it is confidential."""

    game: Game = field(repr=False)
    pure: tuple[Equilibrium, ...]
    mixed: tuple[Equilibrium, ...] | None
    degenerate: bool | None
    fair: Equilibrium
    welfare: Equilibrium
    security: tuple[Security, ...]
    dominant: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    coprivacy: Coprivacy | None = None
    privacy_alone: Coprivacy | None = None
    repeated: tuple[tuple[str, str, Fraction], ...] = ()

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "players": list(self.game.players),
            "strategies": [list(names) for names in self.game.strategies],
            "pure": [self._plain(item) for item in self.pure],
            "mixed": None if self.mixed is None else [self._plain(item) for item in self.mixed],
            "degenerate": self.degenerate,
            "fair": self._plain(self.fair),
            "welfare": self._plain(self.welfare),
            "security": {
                self.game.players[item.player]: {"strategy": _shares(item.mixture), "value": str(item.value)}
                for item in self.security
            },
            "dominant": {
                player: {
                    "weakly": [self.game.strategies[number][s] for s in weak],
                    "strictly": [self.game.strategies[number][s] for s in strict],
                }
                for number, (player, (weak, strict)) in enumerate(zip(self.game.players, self.dominant, strict=True))
            },
            "coprivacy": self._coprivacy(self.coprivacy),
            "privacy alone": self._coprivacy(self.privacy_alone),
            "repeated": [
                {"machine": name, "discount": delta, "gain": str(gain)} for name, delta, gain in self.repeated
            ],
            "sentences": self.sentences(),
        }

    def _plain(self, item: Equilibrium) -> dict[str, Any]:
        return {
            "profiles": {self.game.named(profile): str(share) for profile, share in item.distribution.items()},
            "payoffs": [str(value) for value in item.payoffs],
            "gain by deviating": str(item.gain),
            "verified": "exactly" if item.exact else "within rounding",
        }

    def _coprivacy(self, found: Coprivacy | None) -> dict[str, Any] | None:
        if found is None:
            return None
        mixed_probability = found.mixed_probability
        return {
            "coprivate": found.coprivate,
            "helpers": sorted({item.helper for item in found.pure}),
            "mixed probability of help": None if mixed_probability is None else str(mixed_probability),
            "correlated probability of help": str(found.correlated_probability),
        }

    def sentences(self) -> list[str]:
        """The findings in plain English, most important first."""
        found = self.findings()
        for name, delta, gain in self.repeated:
            how = "is an equilibrium" if gain == 0 else f"is an ε-equilibrium with ε = {_short(gain)}"
            found.append(f"Played again and again with discount {delta}, {name} {how}.")
        return found

    def findings(self) -> list[str]:
        """The findings about the game played once."""
        found = []
        if self.coprivacy is not None:
            found += _coprivacy_sentences(self.coprivacy, general=self.privacy_alone is not None)
        if self.privacy_alone is not None:
            found.append("Judged by privacy alone: " + _coprivacy_sentences(self.privacy_alone, general=False)[0])
        found.append(self._pure_sentence())
        found += self._dominance_sentences()
        found += self._mixed_sentences()
        total = _short(sum(self.welfare.payoffs, Fraction(0)))
        found.append(f"The fairest correlated equilibrium gives the worst-off player {_short(min(self.fair.payoffs))}.")
        found.append(f"The correlated equilibrium with the largest sum of payoffs gives {total} in all.")
        found += self._alone_and_together()
        return found

    def _alone_and_together(self) -> list[str]:
        """What players can make sure of alone, and what the best profile for all would need."""
        sure = ", ".join(f"{self.game.players[item.player]} of {_short(item.value)}" for item in self.security)
        best = max(
            self.game.profiles(), key=lambda s: sum(self.game.payoff(s, p) for p in range(len(self.game.players)))
        )
        needed = deviation_gain(self.game, {best: Fraction(1)})
        how = "is an equilibrium" if needed == 0 else f"is an ε-equilibrium only for ε ≥ {_short(needed)}"
        return [
            f"Whatever the others do, each player can make sure (max-min): {sure}.",
            f"The profile with the largest sum of payoffs, {self.game.named(best)}, {how}.",
        ]

    def _pure_sentence(self) -> str:
        if not self.pure:
            return "There is no equilibrium in pure strategies."
        names = ", ".join(self.game.named(next(iter(item.distribution))) for item in self.pure[:6])
        more = f" and {len(self.pure) - 6} more" if len(self.pure) > 6 else ""
        return f"Pure equilibria: {len(self.pure)}: {names}{more}."

    def _mixed_sentences(self) -> list[str]:
        if self.mixed is None:
            return []
        kept = [item for item in self.mixed if item.kind == "mixed"]
        label = (
            " The game is degenerate: equilibria may form a continuum, of which these are examples."
            if self.degenerate
            else ""
        )
        found = [f"Mixed strategies: {_number(len(kept), 'further equilibrium', 'further equilibria')} found.{label}"]
        for item in kept[:6]:
            found.append("In mixed equilibrium " + "; ".join(self._mixture_words(item)) + ".")
        return found

    def _mixture_words(self, item: Equilibrium) -> list[str]:
        assert item.mixture is not None
        return [
            f"{player} plays "
            + ", ".join(
                f"{name} with probability {_short(share)}" for name, share in zip(names, own, strict=True) if share
            )
            for player, names, own in zip(self.game.players, self.game.strategies, item.mixture, strict=True)
        ]

    def _dominance_sentences(self) -> list[str]:
        found = []
        for number, (weak, strict) in enumerate(self.dominant):
            for strategy in weak:
                how = "strictly" if strategy in strict else "weakly"
                found.append(
                    f"{self.game.strategies[number][strategy]} is {how} dominant for {self.game.players[number]}."
                )
        return found


def analyse(given: GameFile, *, progress: Progress = silent) -> GameResult:
    """Equilibria of every kind, verified, and the answer to the question of coprivacy if the file asks it."""
    game, players = given.game, range(len(given.game.players))
    progress(0.0, "pure equilibria")
    two = len(game.players) == 2 and max(game.shape) <= MAX_MIXED
    found_pure = tuple(pure(game))
    progress(0.2, "mixed equilibria")
    found_mixed = tuple(mixed(game)) if two else None
    degenerate = is_degenerate(game) if two else None
    progress(0.5, "correlated equilibria")
    answer = None if given.question is None else decide(game, given.question)
    alone = None if given.question is None or given.privacy is None else decide(given.privacy, given.question)
    progress(0.8, "repeated play")
    machines = (TIT_FOR_TAT, GRIM, reputation(3, 2))
    repeated = tuple((m.name, str(d), deviation(game, m, d)) for d in given.discount for m in machines)
    return GameResult(
        game=game, pure=found_pure, mixed=found_mixed, degenerate=degenerate,
        fair=correlated(game, "fair"), welfare=correlated(game, "welfare"),
        security=tuple(security(game, player) for player in players),
        dominant=tuple((tuple(dominant(game, p)), tuple(dominant(game, p, strictly=True))) for p in players),
        coprivacy=answer, privacy_alone=alone, repeated=repeated,
    )  # fmt: skip


def _coprivacy_sentences(found: Coprivacy, *, general: bool) -> list[str]:
    word = "generally coprivate" if general else "coprivate"
    if found.coprivate:
        helpers = ", ".join(sorted({item.helper for item in found.pure}))
        sentences = [f"The game is {word}: in a pure equilibrium help is asked of {helpers} and given."]
    else:
        sentences = [f"The game is not {word}: no pure equilibrium has help asked for and given."]
    likely = found.mixed_probability
    if likely is not None:
        sentences.append(
            f"In mixed equilibria help is asked for and given with a probability of at most {_short(likely)}."
        )
    sentences.append(
        f"In correlated equilibria help is asked for and given with a probability of at most "
        f"{_short(found.correlated_probability)}."
    )
    return sentences


def _shares(mixture: tuple[Fraction, ...]) -> list[str]:
    return [str(share) for share in mixture]


def _short(value: Fraction) -> str:
    return str(value) if value.denominator <= 100 else f"{float(value):.4g}"


def _number(count: int, one: str, many: str) -> str:
    return f"{count or 'no'} {one if count == 1 else many}"
