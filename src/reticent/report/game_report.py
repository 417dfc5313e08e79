# SPDX-License-Identifier: Apache-2.0
"""The pages of a game and of a search simulation: sentences first, then payoffs, equilibria, pictures."""

from collections.abc import Sequence
from fractions import Fraction

from reticent.coprivacy.equilibria import Equilibrium
from reticent.coprivacy.game import Game
from reticent.coprivacy.models.search import SearchResult
from reticent.coprivacy.result import GameResult
from reticent.report.page import HTML, Banner, Block, Facts, Grid, Picture, Rows, Section, Text, render_page
from reticent.report.plots import ACCENT, GOOD, MUTE, WARM, data_uri, new_figure, styled, told

LISTED = 64


def game_report(result: GameResult, *, form: str = HTML) -> str:
    """The page as HTML text; a game holds no personal data, so the page may leave."""
    first: list[Block] = []
    if result.coprivacy is not None:
        first.append(Banner(result.coprivacy.coprivate, result.findings()[0]))
    first += [Text(sentence) for sentence in result.findings()[1 if result.coprivacy is not None else 0 :]]
    sections = [Section("What the game shows", tuple(first)), Section("Payoffs", (_payoffs(result),))]
    listed = [*result.pure, *(item for item in result.mixed or () if item.kind == "mixed")]
    rows = [_row(result.game, item, item.kind) for item in listed[:LISTED]]
    rows += [
        _row(result.game, result.fair, "correlated, fairest"),
        _row(result.game, result.welfare, "correlated, sum"),
    ]
    columns = ("kind", "played", *(f"payoff of {name}" for name in result.game.players), "gain by deviating")
    note = f"The first {LISTED} of {len(listed)}." if len(listed) > LISTED else ""
    sections.append(Section("Equilibria, each verified", (Rows(columns, tuple(rows), caption=note),)))
    if result.repeated:
        sections.append(Section("Played again and again", (_repeated(result),)))
    fair = told(result.game.players, [float(one) for one in result.fair.payoffs])
    largest = told(result.game.players, [float(one) for one in result.welfare.payoffs])
    alt = f"Payoffs in the fairest equilibrium: {fair}. With the largest sum: {largest}."
    if any(payoff for _, item in _drawn(result) for payoff in item.payoffs):  # bars of 0 show nothing
        picture = Picture(_payoff_bars(result), "What each player gets in each equilibrium.", alt)
        sections.append(Section("Pictures", (picture,)))
    names = ", ".join(result.game.players)
    return render_page("A game of privacy", tuple(sections), public=True, subtitle=names, form=form)


def _payoffs(result: GameResult) -> Block:
    game = result.game
    stable = {profile for item in result.pure for profile in item.distribution}
    if len(game.players) == 2:
        cells = tuple(
            tuple(
                (
                    f"{game.payoff((row, column), 0)}, {game.payoff((row, column), 1)}",
                    "good" if (row, column) in stable else "",
                    "pure equilibrium" if (row, column) in stable else "",
                )
                for column in range(game.shape[1])
            )
            for row in range(game.shape[0])
        )
        caption = (
            f"Rows: {game.players[0]}; columns: {game.players[1]}. Payoffs in this order; * marks pure equilibria."
        )
        return Grid(game.strategies[1], game.strategies[0], cells, caption=caption)
    profiles = list(game.profiles())
    rows = tuple(
        (
            game.named(profile) + (" *" if profile in stable else ""),
            *(str(game.payoff(profile, player)) for player in range(len(game.players))),
        )
        for profile in profiles[:LISTED]
    )
    classes = tuple("good" if profile in stable else "" for profile in profiles[:LISTED])
    caption = f"The first {LISTED} of {len(profiles)} profiles" if len(profiles) > LISTED else "All profiles"
    return Rows(("played", *game.players), rows, caption=f"{caption}; * marks pure equilibria.", classes=classes)


def _repeated(result: GameResult) -> Rows:
    rows = tuple((name, delta, "none" if gain == 0 else _text(gain)) for name, delta, gain in result.repeated)
    caption = "What the best deviation earns per round; none: the strategy is an equilibrium."
    return Rows(("strategy", "discount", "gain by deviating"), rows, caption=caption)


def _row(game: Game, item: Equilibrium, kind: str) -> tuple[object, ...]:
    played = "; ".join(
        (f"{_text(share)} · " if share != 1 else "") + game.named(profile)
        for profile, share in item.distribution.items()
    )
    return kind, played, *(_text(value) for value in item.payoffs), "none" if item.gain == 0 else _text(item.gain)


def _text(value: Fraction) -> str:
    return str(value) if value.denominator <= 1000 else f"{float(value):.6g}"


def _drawn(result: GameResult) -> list[tuple[str, Equilibrium]]:
    """The equilibria that have bars: the first pure ones, the fairest, the one with the largest sum."""
    kinds = [(f"pure {number + 1}", item) for number, item in enumerate(result.pure[:8])]
    return [*kinds, ("fairest", result.fair), ("largest sum", result.welfare)]


@styled
def _payoff_bars(result: GameResult) -> str:
    """The payoffs of each equilibrium that is drawn, as bars for every player."""
    kinds = _drawn(result)
    figure, axes = new_figure(height=2.8)
    count = len(result.game.players)
    for player in range(count):
        places = [number + (player - (count - 1) / 2) * 0.8 / count for number in range(len(kinds))]
        axes.bar(
            places, [float(item.payoffs[player]) for _, item in kinds], width=0.7 / count,
            color=(ACCENT, GOOD, WARM, MUTE)[player % 4], hatch=("", "///")[player // 4 % 2], edgecolor="white",
            label=result.game.players[player] if count <= 8 else None,
        )  # fmt: skip
    axes.set_xticks(range(len(kinds)), [name for name, _ in kinds])
    axes.set_ylabel("payoff")
    if count <= 8:
        axes.legend(ncols=min(count, 4), loc="lower left", bbox_to_anchor=(0, 1.0))
    return data_uri(figure)


def search_report(results: Sequence[SearchResult], *, form: str = HTML) -> str:
    """The page of a search simulation: how flat profiles become, who submits, and whether they still link."""
    columns = ("masking", "submitted at once", "first peer helps", "a later peer helps", "asker after all",
               "entropy of interests", "entropy seen", "largest possible", "profiles linked", "sent per query")  # fmt: skip
    rows = tuple(
        (
            item.masking, *(round(share, 3) for share in (item.direct, item.first, item.later, item.fallback)),
            *(round(bits, 3) for bits in (item.entropy_before, item.entropy_after, item.entropy_limit)),
            round(item.linked, 3), round(item.submitted_per_query, 2),
        )
        for item in results
    )  # fmt: skip
    warning = Text(
        "A flat profile can still be linked: the share of profiles that are still nearest to their owner's interests "
        "is in the table. Covering queries flatten profiles at the price of more queries."
    )
    facts = Facts(tuple((item.masking, f"{item.linked:.0%} linked") for item in results))
    entropies = told(
        [item.masking for item in results], [item.entropy_before for item in results], [item.entropy_after for item in results]
    )  # fmt: skip
    picture = Picture(
        _search_bars(results), "Entropy before and after, by masking.", f"Bits of interests and seen: {entropies}"
    )
    table = Rows(columns, rows, caption="Shares of all queries; entropies in bits.")
    blocks: tuple[Block, ...] = (facts, warning, picture, table)
    sections = (Section("What the database sees", blocks),)
    return render_page("Search through peers", sections, public=True, form=form)


@styled
def _search_bars(results: Sequence[SearchResult]) -> str:
    figure, axes = new_figure(height=2.6)
    places = range(len(results))
    axes.bar([p - 0.2 for p in places], [r.entropy_before for r in results], width=0.36, color=MUTE, label="interests")
    axes.bar([p + 0.2 for p in places], [r.entropy_after for r in results], width=0.36, color=ACCENT, label="seen")
    axes.axhline(results[0].entropy_limit, color=GOOD, linewidth=1, linestyle="--", label="largest possible")
    axes.set_xticks(list(places), [item.masking for item in results])
    axes.set_ylabel("entropy (bits)")
    figure.legend(ncols=3, loc="outside lower left")
    return data_uri(figure)
