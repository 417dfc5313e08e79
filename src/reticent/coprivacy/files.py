# SPDX-License-Identifier: Apache-2.0
"""Games in plain tables (TOML): players, strategies and payoffs one by one, or a model with its parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reticent.base.checks import check_choice, check_integer, check_unique, did_you_mean
from reticent.base.errors import ParameterError, PlanError
from reticent.coprivacy.coprivacy import Question
from reticent.coprivacy.game import Game, combined, game_from
from reticent.coprivacy.models.search import MASKINGS, Community, search_game
from reticent.coprivacy.models.social import disclosure_game
from reticent.coprivacy.models.worked import announcement_game, expiry_game
from reticent.data.parameters import Parameters, build


@dataclass(frozen=True)
class SocialNetwork(Parameters):
    """Users who hide or publish attributes; the utility is what others show over 1 + what one shows."""

    users: int = field(default=2, metadata={"min": 2, "max": 12, "help": "number of users"})
    sensitivities: tuple[float | str, ...] = field(default=(1,), metadata={"help": "sensitivity of each attribute"})

    def game(self) -> Game:
        """The game."""
        return disclosure_game(self.users, self.sensitivities)


@dataclass(frozen=True)
class Vehicular(Parameters):
    """Vehicles that endorse an announcement or stay silent."""

    vehicles: int = field(default=5, metadata={"min": 2, "max": 12, "help": "number of vehicles"})
    threshold: int = field(default=3, metadata={"min": 1, "help": "endorsements that make an announcement count"})
    value: float | str = field(default=1, metadata={"help": "what an announcement that counts is worth to everybody"})
    cost: float | str = field(default=1, metadata={"help": "loss of privacy, shared by all who endorse"})

    def game(self) -> Game:
        """The game."""
        return announcement_game(self.vehicles, self.threshold, value=self.value, cost=self.cost)


@dataclass(frozen=True)
class Expiry(Parameters):
    """A receiver of content with an expiry date and the source that may audit."""

    detection: float | str = field(default="9/10", metadata={"help": "probability that an audit detects a spreader"})
    penalty: float | str = field(default=5, metadata={"help": "what a detected spreader pays to the source"})
    gain: float | str = field(default=1, metadata={"help": "what spreading earns"})
    audit_cost: float | str = field(default="1/4", metadata={"help": "what an audit costs the source"})

    def game(self) -> Game:
        """The game."""
        return expiry_game(
            detection=self.detection, penalty=self.penalty, gain=self.gain, audit_cost=self.audit_cost
        )  # fmt: skip


@dataclass(frozen=True)
class PeerSearch(Parameters):
    """One query of the first peer, which it submits or asks another peer to submit; payoffs are changes of entropy."""

    seen: tuple[tuple[int, ...], ...] = field(metadata={"help": "how often each peer submitted each keyword so far"})
    keyword: int = field(metadata={"min": 1, "help": "the keyword of the query, counted from 1"})
    sent: tuple[int, ...] | None = field(
        default=None, metadata={"help": "how often the query was sent to each peer so far"}
    )

    def game(self) -> Game:
        """The game."""
        lengths = {len(own) for own in self.seen}
        if len(lengths) != 1 or min(min(own, default=0) for own in self.seen) < 0:
            raise ParameterError("peer-search: seen needs as many counts (0 or more) for each peer, one per keyword.")
        if self.sent is not None and (len(self.sent) != len(self.seen) or min(self.sent) < 0):
            raise ParameterError("peer-search: sent needs one count (0 or more) for each peer.")
        return search_game(self.seen, self.keyword - 1, self.sent)


Model = SocialNetwork | Vehicular | Expiry | PeerSearch
MODELS: dict[str, Callable[..., Model]] = {
    "peer-search": PeerSearch,
    "social-network": SocialNetwork,
    "vehicular": Vehicular,
    "expiry": Expiry,
}


@dataclass(frozen=True, eq=False)
class GameFile:
    """A game as read; `privacy` is the game of the privacy component alone where payoffs have several."""

    game: Game
    privacy: Game | None = None
    question: Question | None = None
    discount: tuple[str | float, ...] = ()


_SECTIONS = ("game", "payoff", "weights", "model", "coprivacy", "repeated", "output")


def game_file(table: Mapping[str, Any], *, owner: str) -> GameFile:
    """A game from a plain table; every gap, unknown name and wrong type is one sentence."""
    for name in table:
        if name not in _SECTIONS:
            raise PlanError(f"{owner}: unknown section {name!r}.{did_you_mean(name, _SECTIONS)}")
    try:
        privacy: Game | None = None
        if "model" in table:
            _refuse_beside_model(table, owner)
            game = _from_model(table["model"], owner)
        else:
            game, privacy = _from_payoffs(table, owner)
        return GameFile(game, privacy, _question(table, game, owner), _discounts(table, owner))
    except ParameterError as err:
        raise PlanError(f"{owner}: {err}") from err


def _refuse_beside_model(table: Mapping[str, Any], owner: str) -> None:
    for name in ("game", "payoff", "weights"):
        if name in table:
            raise PlanError(f"{owner}: a model makes its own payoffs; leave out {name!r} or the model.")


def _from_model(section: Any, owner: str) -> Game:
    if not isinstance(section, Mapping) or not isinstance(section.get("name"), str):
        raise PlanError(f"{owner}: [model] needs a name, one of {', '.join(MODELS)}.")
    name = section["name"]
    if name not in MODELS:
        raise PlanError(
            f"{owner}: there is no model {name!r}; known are {', '.join(MODELS)}.{did_you_mean(name, MODELS)}"
        )
    given = {key: value for key, value in section.items() if key != "name"}
    made: Model = build(MODELS[name], given, owner=f"{owner}: model {name}")  # type: ignore[arg-type]
    return made.game()


def _from_payoffs(table: Mapping[str, Any], owner: str) -> tuple[Game, Game | None]:
    players, strategies = _players(table.get("game"), owner)
    rows = table.get("payoff")
    if not isinstance(rows, list) or not rows:
        raise PlanError(f"{owner}: needs one [[payoff]] for each profile, with the strategies played and the payoffs.")
    components: dict[str, dict[tuple[str, ...], list[Any]]] = {}
    for number, row in enumerate(rows, start=1):
        _add_row(components, row, players, strategies, f"{owner}: payoff {number}")
    games = {
        name: _complete(name, values, players, strategies, owner, alone=len(components) == 1)
        for name, values in components.items()
    }
    weights = table.get("weights")
    if list(games) == ["values"]:
        if weights is not None:
            raise PlanError(
                f"{owner}: weights need payoffs by component (privacy, functionality, …) instead of values."
            )
        return games["values"], None
    if "values" in games:
        raise PlanError(f"{owner}: give payoffs as values or by component, not both.")
    if not isinstance(weights, Mapping):
        raise PlanError(f"{owner}: payoffs have components ({', '.join(games)}), so [weights] must give each a weight.")
    return combined(games, weights), games.get("privacy")


def _players(section: Any, owner: str) -> tuple[list[str], list[list[str]]]:
    if not isinstance(section, Mapping) or not section:
        raise PlanError(f"{owner}: [game] must list every player with strategies, e.g. alice = ['hide', 'publish'].")
    for player, names in section.items():
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise PlanError(f"{owner}: game: {player} must have a list of strategies, each a text.")
        check_unique(names, name=f"the strategies of {player}", owner="game")
    return list(section), [list(names) for names in section.values()]


def _add_row(
    components: dict[str, dict[tuple[str, ...], list[Any]]],
    row: Any, players: list[str], strategies: list[list[str]], where: str,
) -> None:  # fmt: skip
    played = row.get("played") if isinstance(row, Mapping) else None
    if not isinstance(played, list) or len(played) != len(players):
        raise PlanError(f"{where}: played must list one strategy for each of {', '.join(players)}.")
    for player, known, name in zip(players, strategies, played, strict=True):
        if name not in known:
            raise PlanError(f"{where}: {player} has no strategy {name!r}; known are {', '.join(known)}.")
    values = {name: value for name, value in row.items() if name != "played"}
    if not values:
        raise PlanError(f"{where}: needs values, one payoff for each of {', '.join(players)}.")
    for name, value in values.items():
        if not isinstance(value, list) or len(value) != len(players):
            raise PlanError(f"{where}: {name} must list one payoff for each of {', '.join(players)}.")
        found = components.setdefault(name, {})
        if tuple(played) in found:
            raise PlanError(f"{where}: the profile ({', '.join(played)}) has {name} twice.")
        found[tuple(played)] = value


def _complete(
    name: str, values: dict[tuple[str, ...], list[Any]], players: list[str], strategies: list[list[str]],
    owner: str, *, alone: bool,
) -> Game:  # fmt: skip
    def payoff(profile: tuple[int, ...]) -> list[Any]:
        key = tuple(names[chosen] for names, chosen in zip(strategies, profile, strict=True))
        if key not in values:
            what = "payoffs" if alone else f"payoffs of {name}"
            raise PlanError(f"{owner}: the profile ({', '.join(key)}) has no {what}; every profile needs them.")
        return values[key]

    return game_from(players, strategies, payoff)


def _question(table: Mapping[str, Any], game: Game, owner: str) -> Question | None:
    section = table.get("coprivacy")
    if section is None:
        return None
    if not isinstance(section, Mapping):
        raise PlanError(f"{owner}: [coprivacy] must be a table with asker, asks and helps.")
    question = build(_QuestionOptions, section, owner=f"{owner}: coprivacy")
    return Question(question.asker, question.asks, question.helps)


@dataclass(frozen=True)
class _QuestionOptions(Parameters):
    asker: str
    asks: dict[str, str]
    helps: dict[str, str]


def _discounts(table: Mapping[str, Any], owner: str) -> tuple[str | float, ...]:
    section = table.get("repeated")
    if section is None:
        return ()
    return build(_RepeatedOptions, section, owner=f"{owner}: repeated").discounts


@dataclass(frozen=True)
class _RepeatedOptions(Parameters):
    discounts: tuple[str | float, ...]


@dataclass(frozen=True)
class SearchFile:
    """A simulation of peer-to-peer search: the community, the maskings to compare, the secret of the draws."""

    community: Community
    maskings: tuple[str, ...] = MASKINGS
    cover: int = 1


@dataclass(frozen=True)
class _SearchOptions(Parameters):
    peers: int
    keywords: int
    queries: int
    zipf: float = 1.0
    attempts: int | None = None
    maskings: tuple[str, ...] = MASKINGS
    cover: int = 1


def search_file(table: Mapping[str, Any], *, owner: str) -> SearchFile:
    """A simulation from a plain table with the section [search] (and [output])."""
    for name in table:
        if name not in ("search", "output"):
            raise PlanError(f"{owner}: a file with [search] has only [output] beside it, got {name!r}.")
    options = build(_SearchOptions, table["search"], owner=f"{owner}: search")
    try:
        community = Community(options.peers, options.keywords, options.queries, options.zipf, options.attempts)
        for masking in options.maskings:
            check_choice(masking, MASKINGS, name="maskings", owner="search")
        check_integer(options.cover, minimum=1, name="cover", owner="search")
    except ParameterError as err:
        raise PlanError(f"{owner}: {err}") from err
    if not options.maskings:
        raise PlanError(f"{owner}: search: maskings must name at least one of {', '.join(MASKINGS)}.")
    return SearchFile(community, options.maskings, options.cover)
