# SPDX-License-Identifier: Apache-2.0
"""Disclosure in a social network: privacy scores (Liu and Terzi) and the game whose utility is privacy and functionality.

`PR` adds up what a user shows, weighted by how sensitive it is; `PRF` divides what the others show the user by 1 + PR.
Relationships are scored like attributes: give them as further rows of the visibility.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.checks import check_integer
from reticent.base.doors import door
from reticent.base.errors import ParameterError
from reticent.coprivacy.game import Game, Profile, exact, game_from

HIDE, PUBLISH = 0, 1
Array = NDArray[np.float64]


def privacy_scores(visibility: Array, sensitivity: Array) -> Array:
    """PR of every user: Σ over attributes i and distances k of β[i, k] · V[i, j, k]."""
    _fit(visibility, sensitivity)
    scores: Array = np.einsum("ik,ijk->j", sensitivity, visibility)
    return scores


@door
def privacy_functionality(visibility: Array, sensitivity: Array, links: NDArray[np.integer[Any]]) -> Array:
    """PRF of every user: what others show at the distance they are, over 1 + the user's own score.

    `links[j, j']` is the distance between two users in links (0: not connected); distance k uses V[i, j', k − 1].
    """
    _fit(visibility, sensitivity)
    users, distances = visibility.shape[1], visibility.shape[2]
    if links.shape != (users, users):
        raise ParameterError(f"links: must have one row and one column for each of the {users} users.")
    if links.size and (links.min() < 0 or links.max() > distances):
        raise ParameterError(f"links: distances must be 0 (not connected) to {distances}, as the visibility has them.")
    shown = np.einsum("ik,ijk->jk", sensitivity, visibility)  # what j' shows at each distance
    gained = np.zeros(users)
    for user in range(users):
        for other in range(users):
            distance = int(links[user, other])
            if other != user and distance:
                gained[user] += shown[other, distance - 1]
    result: Array = gained / (1 + privacy_scores(visibility, sensitivity))
    return result


def _fit(visibility: Array, sensitivity: Array) -> None:
    if visibility.ndim != 3 or sensitivity.shape != (visibility.shape[0], visibility.shape[2]):
        raise ParameterError(
            "visibility must be attributes × users × distances, and sensitivity attributes × distances of the same sizes."
        )


@door
def disclosure_game(users: int, sensitivities: Sequence[Any] = (1,)) -> Game:
    """Every user hides or publishes each attribute; the utility is PRF2, where visibility is 0 or 1.

    With one attribute this is the pollution game: publishing helps everybody else and never oneself.
    """
    check_integer(users, minimum=2, name="users", owner="social-network")
    beta = [exact(value, where="social-network: a sensitivity") for value in sensitivities]
    if not beta or min(beta) <= 0:
        raise ParameterError("social-network: sensitivities must be more than 0, at least one of them.")
    names = [_choice_name(choice, len(beta)) for choice in range(2 ** len(beta))]
    shown = [sum((b for bit, b in enumerate(beta) if choice >> bit & 1), Fraction(0)) for choice in range(len(names))]

    def payoff(profile: Profile) -> list[Fraction]:
        parts = [shown[choice] for choice in profile]
        return [(sum(parts, Fraction(0)) - own) / (1 + own) for own in parts]

    return game_from([f"user {number + 1}" for number in range(users)], [names] * users, payoff)


def _choice_name(choice: int, attributes: int) -> str:
    if attributes == 1:
        return ("hide", "publish")[choice]
    published = [str(bit + 1) for bit in range(attributes) if choice >> bit & 1]
    return "publish " + "+".join(published) if published else "hide"
