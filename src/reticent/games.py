# SPDX-License-Identifier: Apache-2.0
"""Games of privacy: `from reticent import games`, then `games.pure(games.disclosure_game(3))`."""

from reticent.coprivacy.coprivacy import Question, coprivate_share
from reticent.coprivacy.correlated import correlated
from reticent.coprivacy.equilibria import pure
from reticent.coprivacy.models.social import disclosure_game, privacy_functionality
from reticent.jobs.play_game import run_game

__all__ = [
    "Question", "coprivate_share", "correlated", "disclosure_game", "privacy_functionality", "pure", "run_game",
]  # fmt: skip
