# SPDX-License-Identifier: Apache-2.0
"""Classes refined for many sums at once, empty combinations that are listed, and movements dealt out without programs."""

from itertools import product

import numpy as np

from reticent.data.facts import COUNT, Fact, Facts, Ground, Term, Watch
from reticent.releases.classes import Classes
from reticent.releases.joint import JointSystem
from reticent.releases.programs import Search
from reticent.releases.unknowns import Version
from reticent.releases.verifier import verify
from reticent.releases.wide import Wide
from reticent.tabulation.near_atoms import HiddenCells, near_atoms


def test_classes_are_the_coarsest_that_all_sums_treat_alike() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        groups = np.sort(rng.integers(0, 3, size=30))
        start = Classes.single(np.unique(groups, return_inverse=True)[1].reshape(-1))
        dense = rng.integers(-1, 2, size=(int(rng.integers(0, 4)), 30))
        made = start.refined([(np.flatnonzero(row), row[np.flatnonzero(row)]) for row in dense])
        columns = [(int(start.of[k]), *dense[:, k].tolist()) for k in range(30)]
        for i, j in product(range(30), repeat=2):
            assert (made.of[i] == made.of[j]) == (columns[i] == columns[j])
        assert all(made.parent[made.of[k]] == start.of[k] for k in range(30))


def test_empty_combinations_are_listed_where_records_of_hidden_cells_could_be() -> None:
    codes = np.array([[0, 0, 0], [1, 1, 1]])
    hidden = HiddenCells(("a", "b"), (("x", "x"), ("y", "x")), frozenset({("y", "x")}))
    found = near_atoms(codes, (2, 2, 2), ("a", "b", "c"), (("x", "y"),) * 3, [hidden])
    assert [1, 0, 0] in found.tolist()  # the record of the hidden cell x × x, thought of in y × x
    assert not any(row in codes.tolist() for row in found.tolist())


def _sum(atoms: np.ndarray, low: int, high: int) -> Fact:
    return Fact((Term(COUNT, atoms, np.ones(len(atoms), dtype=np.int64)),), low, high)


def _margins(ground: Ground, counts: np.ndarray, chosen: list[list[int]]) -> list[Fact]:
    """Published sums over all cells of some sets of variables."""
    facts = []
    for variables in chosen:
        cells, of = np.unique(ground.codes[:, variables], axis=0, return_inverse=True)
        for cell in range(len(cells)):
            atoms = np.flatnonzero(of.reshape(-1) == cell)
            facts.append(_sum(atoms, int(counts[atoms].sum()), int(counts[atoms].sum())))
    return facts


def test_a_table_beside_others_needs_no_program_over_all_classes(monkeypatch) -> None:
    codes = np.array(list(product(range(3), repeat=4)))
    units = np.repeat(np.arange(len(codes)), 2)
    names = ("a", "b", "c", "d")
    ground = Ground(names, (("x", "y", "z"),) * 4, codes, units, np.arange(len(units)), {}, True)
    counts = np.bincount(units)
    first = Facts("T1", tuple(_margins(ground, counts, [[0, 1], [2]])))
    inner = np.flatnonzero((codes[:, 2] == 0) & (codes[:, 3] == 0))
    watch = Watch(COUNT, inner, np.ones(len(inner), dtype=np.int64), 17, 19, "x × x", "T2")
    second = Facts("T2", tuple(_margins(ground, counts, [[2], [3]])), watches=(watch,))
    system = JointSystem((Version(ground),))
    system.accept(first)
    sizes = []
    for program in (Search, Wide):

        def reach(self, *given, original=program.reach, **named):
            sizes.append(len(self.center))
            return original(self, *given, **named)

        monkeypatch.setattr(program, "reach", reach)
    system.accept(second)
    assert 0 < max(sizes, default=0) <= 10  # only the cells of the new table, 81 atoms in all
    assert verify([ground], system.accepted, system.witnesses())
