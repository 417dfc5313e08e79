# SPDX-License-Identifier: Apache-2.0
"""Peer-to-peer keyword search: queries travel through peers so that the database sees flat profiles.

A peer submits a query itself if that does not lower the entropy of what the database has seen from it; otherwise it asks
the peers, the one first for whom the entropy of "to whom did I send this query" ends highest; a peer helps if its own
entropy rises. When nobody helps within `attempts`, the asker submits after all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints
from reticent.base.checks import check_between, check_choice, check_integer
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret, as_secret
from reticent.coprivacy.game import Game, game_from

MASKINGS = ("none", "peers", "trackmenot", "goopir")
"""`none`: direct submission; `peers`: the game; the others hide alone: covering queries, or covering keywords."""


def entropy(counts: Sequence[int] | Ints) -> float:
    """Shannon's entropy in bits of relative frequencies; 0 for nothing."""
    shares = np.asarray(counts, dtype=np.float64)
    total = float(shares.sum())
    if total <= 0:
        return 0.0
    shares = shares[shares > 0] / total
    return float(-(shares * np.log2(shares)).sum())


def entropy_with(counts: Ints, keyword: int) -> float:
    """The entropy after one more query for a keyword."""
    more = counts.copy()
    more[keyword] += 1
    return entropy(more)


@dataclass(frozen=True)
class Community:
    """Who searches: peers, keywords, queries per peer, and how unequal interests are (Zipf's exponent)."""

    peers: int
    keywords: int
    queries: int
    zipf: float = 1.0
    attempts: int | None = None

    def __post_init__(self) -> None:
        check_integer(self.peers, minimum=2, name="peers", owner="peer-search")
        check_integer(self.keywords, minimum=2, name="keywords", owner="peer-search")
        check_integer(self.queries, minimum=1, name="queries", owner="peer-search")
        check_between(self.zipf, 0, 10, name="zipf", owner="peer-search")
        if self.attempts is not None:
            check_integer(self.attempts, minimum=1, name="attempts", owner="peer-search")


@dataclass(frozen=True)
class SearchResult:
    """What a simulation shows, as shares of all queries and means over peers.

    `direct`, `first`, `later`, `fallback` add up to 1: submitted at once, by the first peer asked (there coprivacy
    holds), by a later one, by the asker after all. `linked` is the share of peers whose profile, as the database has
    it, is nearest to their own true interests: flat profiles may still be told apart.
    """

    masking: str
    direct: float
    first: float
    later: float
    fallback: float
    entropy_before: float
    entropy_after: float
    entropy_limit: float
    linked: float
    submitted_per_query: float

    @property
    def own(self) -> float:
        """The share of queries that their asker submits."""
        return self.direct + self.fallback


def simulate(
    community: Community, masking: str = "peers", *, cover: int = 1,
    secret: Secret | int | bytes = b"peer-to-peer search", progress: Progress = silent,
) -> SearchResult:  # fmt: skip
    """Let every peer ask its queries under a masking; `cover` is the number of covering queries or keywords."""
    check_choice(masking, MASKINGS, name="masking", owner="peer-search")
    check_integer(cover, minimum=1, name="cover", owner="peer-search")
    rng = as_secret(secret).stream("peer-search")
    interests = _interests(community, rng)
    asked = _questions(community, interests, rng)
    state = _State(community)
    for number, (peer, keyword) in enumerate(asked):
        if number % 1000 == 0:
            progress(number / len(asked), "searching")
        state.originate(peer, keyword)
        if masking == "peers":
            state.by_peers(peer, keyword)
        else:
            state.alone(peer, _covered(masking, keyword, cover, interests.mean(axis=0), rng))
    return state.result(masking)


def _interests(community: Community, rng: np.random.Generator) -> NDArray[np.float64]:
    """Each peer's own order of the keywords under Zipf's law."""
    shares = 1.0 / np.arange(1, community.keywords + 1) ** community.zipf
    shares /= shares.sum()
    return np.stack([shares[rng.permutation(community.keywords)] for _ in range(community.peers)])


def _questions(community: Community, interests: NDArray[np.float64], rng: np.random.Generator) -> list[tuple[int, int]]:
    drawn = [rng.choice(community.keywords, size=community.queries, p=own) for own in interests]
    return [(peer, int(drawn[peer][turn])) for turn in range(community.queries) for peer in range(community.peers)]


def _covered(
    masking: str, keyword: int, cover: int, popularity: NDArray[np.float64], rng: np.random.Generator
) -> list[int]:
    """What a peer sends when hiding alone: the query and covering ones (TrackMeNot: popular; GooPIR: as frequent)."""
    if masking == "none":
        return [keyword]
    if masking == "trackmenot":
        return [keyword, *map(int, rng.choice(len(popularity), size=cover, p=popularity / popularity.sum()))]
    near = np.argsort(np.abs(popularity - popularity[keyword]), kind="stable")
    return [keyword, *(int(k) for k in near if k != keyword)][: cover + 1]


class _State:
    """What has been asked, submitted and forwarded so far."""

    def __init__(self, community: Community) -> None:
        shape = (community.peers, community.keywords)
        self.community = community
        self.own = np.zeros(shape, dtype=np.int64)
        self.seen = np.zeros(shape, dtype=np.int64)
        self.forwarded: dict[tuple[int, int], Ints] = {}
        self.ways = {"direct": 0, "first": 0, "later": 0, "fallback": 0}

    def originate(self, peer: int, keyword: int) -> None:
        self.own[peer, keyword] += 1

    def alone(self, peer: int, keywords: list[int]) -> None:
        self.ways["direct"] += 1
        for keyword in keywords:
            self.seen[peer, keyword] += 1

    def by_peers(self, peer: int, keyword: int) -> None:
        if entropy_with(self.seen[peer], keyword) >= entropy(self.seen[peer]):
            self._submit(peer, keyword, "direct")
            return
        sent = self.forwarded.setdefault((peer, keyword), np.zeros(self.community.peers, dtype=np.int64))
        for attempt, helper in enumerate(self._order(peer, sent)):
            sent[helper] += 1  # whoever was asked knows the query, helping or not
            if entropy_with(self.seen[helper], keyword) > entropy(self.seen[helper]):
                self._submit(helper, keyword, "first" if attempt == 0 else "later")
                return
        self._submit(peer, keyword, "fallback")

    def _order(self, peer: int, sent: Ints) -> list[int]:
        """Peers to ask, best first: the fewer times one was asked, the higher the entropy stays."""
        others = [other for other in range(self.community.peers) if other != peer]
        others.sort(key=lambda other: (-entropy_with(sent, other), (other - peer) % self.community.peers))
        return others[: self.community.attempts]

    def _submit(self, peer: int, keyword: int, way: str) -> None:
        self.seen[peer, keyword] += 1
        self.ways[way] += 1

    def result(self, masking: str) -> SearchResult:
        total = sum(self.ways.values())
        shares = {way: count / total for way, count in self.ways.items()}
        return SearchResult(
            masking=masking,
            **shares,
            entropy_before=float(np.mean([entropy(own) for own in self.own])),
            entropy_after=float(np.mean([entropy(seen) for seen in self.seen])),
            entropy_limit=math.log2(self.community.keywords),
            linked=linked_share(self.seen, self.own),
            submitted_per_query=float(self.seen.sum()) / total,
        )


def linked_share(seen: Ints, own: Ints) -> float:
    """The share of profiles that are nearest (by cosine) to the interests of the peer they belong to, and to no other."""
    close = _unit(seen) @ _unit(own).T
    right = np.diag(close)
    rivals = close - np.diag(np.full(len(close), np.inf))
    return float(np.mean(right > rivals.max(axis=1) + 1e-12))


def _unit(counts: Ints) -> NDArray[np.float64]:
    lengths = np.sqrt((counts.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    return counts / np.where(lengths > 0, lengths, 1.0)


def search_game(seen: Sequence[Sequence[int]], keyword: int, sent: Sequence[int] | None = None) -> Game:
    """One query of the first peer as a game: submit, or ask another one, who helps or ignores it.

    Payoffs are changes of entropy: of what the database has seen from each peer, and, for a query that was forwarded,
    of to whom the first peer has forwarded it. An ignored query is submitted by its asker after all. Entropies are
    rounded to twelve digits, so that equal ones compare as equal.
    """
    profiles = [np.asarray(own, dtype=np.int64) for own in seen]
    peers = len(profiles)
    check_integer(peers, minimum=2, name="peers", owner="search game")
    check_integer(keyword, minimum=0, maximum=len(profiles[0]) - 1, name="keyword", owner="search game")
    before = np.zeros(peers, dtype=np.int64) if sent is None else np.asarray(sent, dtype=np.int64)
    rise = [entropy_with(own, keyword) - entropy(own) for own in profiles]

    def payoff(profile: tuple[int, ...]) -> list[Fraction]:
        gains, chosen = [0.0] * peers, profile[0]
        if chosen > 0 and profile[chosen] == 0:
            gains[chosen] = rise[chosen]
            gains[0] = min(0.0, entropy_with(before, chosen) - entropy(before)) if before.sum() else 0.0
        else:
            gains[0] = rise[0]
        return [Fraction(str(round(gain, 12))) for gain in gains]

    names = [f"peer {number + 1}" for number in range(peers)]
    asks = ("submit", *(f"ask {name}" for name in names[1:]))
    return game_from(names, [asks, *([("help", "ignore")] * (peers - 1))], payoff)
