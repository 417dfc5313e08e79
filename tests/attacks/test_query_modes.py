"""Attacks on the modes that answer with noise or from subsamples; each succeeds on what version 0.1.0 answered."""

from typing import Any

import numpy as np
import pytest

from attacks.query_scenarios import PADDED, PADS, SCENARIOS, padding
from attacks.transcripts import stored, value_of


def distinct_answers(public: dict[str, Any]) -> int:
    """Independent noisy values of one count that the users together hold."""
    return len({value_of(entry) for entry in public["transcript"] if entry["answered"]})


def test_users_together_have_one_budget() -> None:
    """0.1.0 with `history = "user"` gave each user a budget: 40 answers where the total is worth 10."""
    before, now = stored("budget_of_many"), SCENARIOS["budget_of_many"]()
    worth = round(now["total"] / now["epsilon"])
    assert distinct_answers(before) > worth
    assert distinct_answers(now) == 1, "what was released once is given to everybody"


def counts_from_refusals(public: dict[str, Any]) -> list[int]:
    """With 2 known persons: refused if nobody else is there; with 1: refused if at most one is."""
    refused = [not entry["answered"] for entry in public["transcript"]]
    return [0 if with_two else 1 if with_one else 2 for with_two, with_one in zip(refused[::2], refused[1::2])]


def test_refusals_of_sums_tell_no_true_counts() -> None:
    """0.1.0 decided by the true number of respondents: all 30 counts of 0, 1 and 2 followed from refusals."""
    before, now = stored("refused_unions"), SCENARIOS["refused_unions"]()
    assert counts_from_refusals(before) == before["truth"]
    right = np.mean(np.array(counts_from_refusals(now)) == np.array(now["truth"]))
    assert right < 0.7


def bits_by_padding(pairs: list[list[float | None]]) -> list[int | None]:
    """The mean over all pads of (with the target − without); None for a target without a pair."""
    found: list[int | None] = []
    for target in range(PADDED):
        told = [one - other for one, other in pairs[target::PADDED] if one is not None and other is not None]
        found.append(int(np.mean(told) > 0.5) if told else None)
    return found


@pytest.mark.parametrize("pads", [25, pytest.param(PADS, marks=pytest.mark.deep)])
def test_padding_does_not_average_what_is_dropped(pads: int) -> None:
    """0.1.0: 110 pairs for each target gave every bit. Today a record is the difference of 4 near pairs at most."""
    before, now = stored("padding"), padding(pads)
    assert before["truth"] == now["truth"]
    assert bits_by_padding(before["pairs"]) == before["truth"]
    for target in range(PADDED):
        assert sum(None not in pair for pair in now["pairs"][target::PADDED]) <= 4


def test_the_stated_error_of_the_attacker_is_that_of_a_simulation() -> None:
    from reticent.queries.analysis.pairs import attacker_error

    rng = np.random.default_rng(4)
    for pairs in (1, 4, 20):
        sizes = rng.integers(2, 6, (2, 20_000, pairs))  # a count beside the sum tells them
        noise = np.subtract(*(rng.binomial(sizes, 0.5) - sizes / 2))
        weight = 1.0 / sizes.sum(axis=0)
        error = (noise * weight).sum(axis=1) / weight.sum(axis=1)
        wrong = np.mean(error > 0.5) + np.mean(error == 0.5) / 2
        assert abs(wrong - attacker_error(5, pairs)) < 0.03
