"""Certificates prove a pattern in integers, and the verifier sees every tampering."""

import json
from pathlib import Path

import numpy as np
import pytest

from reference.tables import crossed, flat, nested
from reticent.base.errors import DataError
from reticent.tables.attack import audit
from reticent.tables.attack.certificate import make_certificate
from reticent.tables.attack.verify import verify, verify_file
from reticent.tables.problem import SuppressionProblem


def protected(seed: int, level: float) -> tuple[SuppressionProblem, np.ndarray]:
    rng = np.random.default_rng(seed)
    trees = [nested(2, 3), flat(4)] if seed % 2 else [flat(3), flat(3), flat(2)]
    inner = rng.integers(1, 400, [sum(not c for c in t) for t in trees]) / 10
    values, relations = crossed(trees, inner)
    hidden = rng.random(len(values)) < 0.8
    exact = SuppressionProblem.from_values(np.round(values, 1), relations, primary=np.zeros(len(values), dtype=bool))
    ends = audit(exact, hidden)
    primary = np.zeros(len(values), dtype=bool)
    wide = (ends.low <= ends.cells * 0 + values[ends.cells] * (1 - level) - 0.2) & (
        ends.high >= values[ends.cells] * (1 + level) + 0.2
    )
    primary[ends.cells[wide]] = True
    levels = {"lower_protection": level * values, "upper_protection": level * values}
    return SuppressionProblem.from_values(np.round(values, 1), relations, primary=primary, **levels), hidden


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", [0.0, 0.2])
def test_certificates_of_protected_patterns_are_sound(seed: int, level: float, tmp_path: Path) -> None:
    problem, hidden = protected(seed, level)
    certificate = make_certificate(problem, hidden)
    certificate.write(tmp_path / "proof.json")
    found = verify_file(tmp_path / "proof.json")
    assert found.faults == ()
    assert set(found.proved) | set(found.unproved) == set(np.flatnonzero(problem.primary).tolist())
    assert set(found.unproved) == set(certificate.unproved)
    assert found.unproved == ()


def test_an_exposed_primary_is_never_proved() -> None:
    values, relations = crossed([flat(3), flat(3)], np.arange(1.0, 10).reshape(3, 3))
    primary = np.zeros(16, dtype=bool)
    primary[5] = True
    problem = SuppressionProblem.from_values(values, relations, primary=primary)
    found = verify(make_certificate(problem, primary).to_json())
    assert found.unproved == (5,)
    assert not found.sound


@pytest.mark.parametrize(
    "what, fault",
    [
        ("steps", "breaks a relation"),
        ("hidden", "moves a published cell"),
        ("upper", "leaves the attacker's bounds"),
        ("values", "outside its bounds"),
        ("format", "the format must be"),
    ],
)
def test_tampering_is_seen(what: str, fault: str) -> None:
    problem, hidden = protected(1, 0.2)
    data = json.loads(json.dumps(make_certificate(problem, hidden).to_json()))
    assert verify(data).faults == ()
    if what == "steps":
        data["movements"][0]["steps"][0] += 1
    elif what == "hidden":
        data["hidden"].remove(data["movements"][0]["cells"][0])
    elif what == "upper":
        data["upper"] = list(data["values"])
    elif what == "values":
        data["values"][0] = -5
    else:
        data["format"] = "another"
    assert fault in " ".join(verify(data).faults)
    assert not verify(data).sound


def test_levels_that_are_not_reached_stay_unproved() -> None:
    problem, hidden = protected(1, 0.2)
    data = make_certificate(problem, hidden).to_json()
    cell = next(iter(data["needs"]))
    data["needs"][cell][1] = 10**9
    assert verify(data).unproved[0] == int(cell) or int(cell) in verify(data).unproved


@pytest.mark.parametrize("level", [0.0, 0.2])
def test_large_values_and_movements_that_are_not_whole_at_once(level: float) -> None:
    """A three-way table of billions: a single step is below the noise, and linear programs end in fractions."""
    rng = np.random.default_rng(11)
    values, relations = crossed([flat(4), flat(4), flat(4)], rng.integers(1, 2_000_000_000, (4, 4, 4)).astype(float))
    hidden = np.zeros((5, 5, 5), dtype=bool)
    hidden[1:, 1:, 1:] = rng.random((4, 4, 4)) < 0.8
    hidden = hidden.ravel()
    open_cells = SuppressionProblem.from_values(values, relations, primary=hidden)
    lost = set(audit(open_cells, hidden).exposed_cells.tolist())
    primary = hidden & ~np.isin(np.arange(len(values)), list(lost))
    ends = audit(open_cells, hidden)
    room = np.zeros(len(values))
    room[ends.cells] = np.minimum(values[ends.cells] - ends.low, ends.high - values[ends.cells])
    needs = np.minimum(level * values, 0.9 * room)
    problem = SuppressionProblem.from_values(
        values, relations, primary=primary, lower_protection=needs, upper_protection=needs
    )
    found = verify(make_certificate(problem, hidden).to_json())
    assert found.sound
    assert set(found.proved) == set(np.flatnonzero(primary).tolist())
    assert len(found.proved) > 10


@pytest.mark.parametrize(
    "text",
    [
        "", "[data]\n", "[1, 2]", "3", "null", "{}x", "[" * 100_000, "9" * 6_000, '{"format": "reticent-certificate-1"}',
        '{"format": "reticent-certificate-1", "values": [Infinity], "lower": [0], "upper": [1], "hidden": []}',
        '{"format": "reticent-certificate-1", "values": [1], "lower": [0], "upper": [2], "hidden": [0], "movements": [], '
        '"relations": {"indptr": [0, 1], "cells": [7], "coefs": [1]}, "needs": {}}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_certificate_gets_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_text(text, encoding="ascii")
    with pytest.raises(DataError, match="proof.json is not a certificate, or it is damaged"):
        verify_file(tmp_path / "proof.json")
