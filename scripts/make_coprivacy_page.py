# SPDX-License-Identifier: Apache-2.0
"""Compute the tables of games and of search through peers and write docs/explanation/coprivacy.md.

python scripts/make_coprivacy_page.py
"""

import sys
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reticent.coprivacy.correlated import MAX_CORRELATED, MAX_EXACT, correlated  # noqa: E402
from reticent.coprivacy.equilibria import MAX_MIXED, deviation_gain, mixed, pure  # noqa: E402
from reticent.coprivacy.game import MAX_PROFILES  # noqa: E402
from reticent.coprivacy.models.repeated import GRIM, TIT_FOR_TAT, deviation, reputation  # noqa: E402
from reticent.coprivacy.models.search import MASKINGS, Community, simulate  # noqa: E402
from reticent.coprivacy.models.social import disclosure_game  # noqa: E402
from reticent.coprivacy.models.worked import announcement_game, expiry_game  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "coprivacy.md"
COMMUNITIES = ((2, 20, 300), (10, 100, 300), (50, 100, 300))


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def users() -> str:
    """Equilibria of the disclosure game for several numbers of users."""
    rows = []
    for count in (2, 3, 5, 8):
        game = disclosure_game(count)
        everybody = (1,) * count
        rows.append(
            (
                str(count), str(len(pure(game))), str(min(correlated(game, "fair").payoffs)),
                str(game.payoff(everybody, 0)), str(deviation_gain(game, {everybody: Fraction(1)})),
            )
        )  # fmt: skip
    head = ("users", "pure equilibria", "fairest correlated", "all publish", "ε that all publishing needs")
    return table(head, rows)


def repeated() -> str:
    """How far machines are from an equilibrium of the repeated game."""
    game, rows = disclosure_game(2), []
    for machine in (TIT_FOR_TAT, GRIM, reputation(3, 2)):
        gains = [deviation(game, machine, delta) for delta in ("1/3", "1/2", "9/10")]
        rows.append((machine.name, *(f"{gain} ({float(gain):.3f})" if gain else "0" for gain in gains)))
    return table(("machine", "ε at δ = 1/3", "ε at δ = 1/2", "ε at δ = 9/10"), rows)


def worked() -> str:
    """The two worked examples."""
    lines = []
    for cost in (1, 2, 4):
        counts = sorted({sum(next(iter(item.distribution))) for item in pure(announcement_game(5, 3, cost=cost))})
        lines.append(("5 vehicles, threshold 3, value 1", f"cost {cost}", f"{' or '.join(map(str, counts))} endorse"))
    (found,) = mixed(expiry_game())
    assert found.mixture is not None
    honest, audit = found.mixture[0][0], found.mixture[1][0]
    lines.append(("expiry", "detection 0.9, penalty 5, audit cost 0.25",
                  f"mixed only: honest {float(honest):.3f}, audit {float(audit):.3f}"))  # fmt: skip
    return table(("game", "parameters", "equilibria"), lines)


def search() -> str:
    """Search through peers for several communities."""
    rows = []
    for peers, keywords, queries in COMMUNITIES:
        found = simulate(Community(peers, keywords, queries))
        asked = 1 - found.direct
        rows.append(
            (
                f"{peers}, {keywords}, {queries}", f"{found.direct:.2f}",
                *(f"{share / asked:.2f}" for share in (found.first, found.later, found.fallback)),
                f"{found.entropy_before:.2f} → {found.entropy_after:.2f} ({found.entropy_limit:.2f})", f"{found.linked:.2f}",
            )
        )  # fmt: skip
    head = ("peers, keywords, queries each", "submitted at once", "first peer helps", "later peer helps",
            "asker after all", "entropy (largest)", "linked")  # fmt: skip
    return table(head, rows)


def maskings() -> str:
    """The same community under each masking."""
    rows = []
    for masking in MASKINGS:
        found = simulate(Community(10, 100, 300), masking)
        rows.append((masking, f"{found.submitted_per_query:.0f}", f"{found.entropy_after:.2f}", f"{found.linked:.2f}"))
    return table(("masking", "sent per query", "entropy seen by the database", "linked"), rows)


def page() -> str:
    """The whole page."""
    return f"""# Coprivacy: helping oneself by helping somebody else

Made by `python scripts/make_coprivacy_page.py`. Definitions follow Domingo-Ferrer, "Coprivacy: an introduction to the theory and
applications of co-operative privacy" (SORT 35, 2011), *the source* below. Run your own game with `reticent game FILE.toml`
([tutorial](../tutorials/games.md)).

## The question

A game is *coprivate* if it has an equilibrium in which one player asks another for help and the other helps: both keep their
privacy, and neither has to be altruistic. It is *δ-coprivate* if, drawn at random, it is coprivate with probability at least δ.
It is *generally* coprivate if the utility adds functionality or security to privacy. *Mixed* and *correlated* coprivacy allow
equilibria in mixed strategies, or equilibria that a mediator recommends and nobody gains by ignoring.

We correct the source in two places. Every finite game has a mixed equilibrium, but help may have probability 0 in it, so we
report the probability that help is asked for *and* given. And (hide, hide) is not the only equilibrium of the two users below.

## Users who hide or publish

The utility of a user is what the others show, divided by 1 + what the user shows. Hiding is weakly dominant: it is never worse
than publishing, whatever the others do. The columns have the number of pure equilibria, the utility of the worst-off user in the
fairest correlated equilibrium, the utility of each user if all publish, and ε, the most that a user gains by deviating from that.

{users()}

With N users there are N + 1 pure equilibria: nobody publishes, or exactly one user does. In the fairest correlated equilibrium
the users take turns.

## Played again and again

Two users play this game repeatedly, and a round counts δ times as much as the one before. A *machine* is a rule that looks at
the earlier rounds. ε is the exact gain per round of the best deviation when both players use the machine; 0 means that this is an
equilibrium.

{repeated()}

*grim* publishes until the other player hides once. *reputation 2 of 3* publishes to players with a reputation of at least 2;
reputation rises and falls by 1 between 0 and 3.

## Worked examples

Vehicles announce, for example, a traffic jam; an announcement is believed if enough vehicles (the threshold) endorse it, which
has a value for all and a cost for those who endorse. In *expiry*, a receiver may spread data after they have expired, and the
source of the data may audit that. The paper gives no payoffs for these examples; the payoffs below are our own, and a game file
can change them.

{worked()}

## Search through peers

A peer submits a query itself if that does not lower the entropy of its profile. Otherwise it asks other peers, who help if their
own entropy rises. *Submitted at once* is a share of all queries; the next three columns are shares of the queries for which
a peer asked for help.

{search()}

*Linked* is the share of peers whose profile, as the database sees it, is still nearest to their own interests. **Flat is not
unlinkable**: entropy rises a good deal, but most profiles can still be linked to their peers.

In the table below, the peers of the same community (10 peers, 100 keywords, 300 queries each) also hide without each
other: behind additional queries in the style of TrackMeNot, or behind additional keywords in the style of GooPIR, one
per real query:

{maskings()}

## What is verified

Payoffs are fractions, and so is every comparison: the size of payoffs, or a very small difference between two of them, changes no
answer. Pure equilibria are found by comparison. Mixed equilibria are computed for two players with at most {MAX_MIXED} strategies
each; in games that are not degenerate they equal an enumeration of all supports on 10,000 random games (`make deep`).
Degenerate games, whose equilibria may form a continuum, are labelled, and the corners of the continuum are listed.

Correlated equilibria and max-min strategies are solutions of linear programs. Programs with at most {MAX_EXACT:,} entries (two
players with 9 strategies each, or nine players with two) are solved exactly. Larger ones are solved in floating point;
the gain by deviating is then computed in fractions, and the result says `within rounding` if it is not 0 (at most 10⁻⁷ of
the range of the player's payoffs; more is refused).

A game is refused if it has more than {MAX_PROFILES:,} profiles, or if the number of profiles, times the squares of the numbers
of strategies added up over the players, exceeds {MAX_CORRELATED:,}: 16 players with two strategies each are within both limits,
and so are two players with 60 strategies each.
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
