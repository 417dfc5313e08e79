# SPDX-License-Identifier: Apache-2.0
"""Two worked examples: vehicles that endorse announcements, and content with an expiry date.

The source describes both in words and gives no payoffs: those below are choices of this model, stated where they are made.
"""

from fractions import Fraction
from typing import Any

from reticent.base.checks import check_integer
from reticent.base.errors import ParameterError
from reticent.coprivacy.game import Game, Profile, exact, game_from, two_player


def announcement_game(vehicles: int, threshold: int, *, value: Any = 1, cost: Any = 1) -> Game:
    """Each vehicle endorses an announcement or stays silent.

    Everybody gains `value` once `threshold` vehicles endorse (functionality); an endorser loses `cost` divided by the
    number of endorsers (privacy: whoever endorses hides among those who do).
    """
    check_integer(vehicles, minimum=2, maximum=12, name="vehicles", owner="vehicular")
    check_integer(threshold, minimum=1, maximum=vehicles, name="threshold", owner="vehicular")
    worth, price = exact(value, where="vehicular: value"), exact(cost, where="vehicular: cost")

    def payoff(profile: Profile) -> list[Fraction]:
        endorsing = sum(profile)
        gain = worth if endorsing >= threshold else Fraction(0)
        return [gain - (price / endorsing if mine else 0) for mine in profile]

    names = [f"vehicle {number + 1}" for number in range(vehicles)]
    return game_from(names, [("silent", "endorse")] * vehicles, payoff)


def expiry_game(*, detection: Any = "9/10", penalty: Any = 5, gain: Any = 1, audit_cost: Any = "1/4") -> Game:
    """A receiver honours the expiry date or spreads the content; its source audits or does not.

    Spreading earns the receiver `gain`. An audit costs the source `audit_cost` and detects a spreader, by the fingerprint
    in the copy, with probability `detection`; a detected spreader pays `penalty` to the source.
    """
    found, fine = exact(detection, where="expiry: detection"), exact(penalty, where="expiry: penalty")
    if not 0 <= found <= 1:
        raise ParameterError("expiry: detection must be a probability, from 0 to 1.")
    earned, price = exact(gain, where="expiry: gain"), exact(audit_cost, where="expiry: audit_cost")
    caught = found * fine
    return two_player(
        "receiver", "source", ("honest", "spread"), ("audit", "trust"),
        [[0, 0], [earned - caught, earned]],
        [[-price, 0], [caught - price, 0]],
    )  # fmt: skip
