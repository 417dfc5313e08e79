# SPDX-License-Identifier: Apache-2.0
"""Generalization search: a lattice like Adult's (12,960 nodes), proven optima, local recoding, growth with records.

Adult itself is in the folder of real data, RETICENT_SHARED (../shared by default); without it, it is left out.
"""

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Entry
from reticent.microdata.search.evaluate import Evaluator
from reticent.microdata.search.ladders import Ladder, ladder_from_rows, level_losses
from reticent.microdata.search.lattice import NodeLoss, Patience, SearchResult, search
from reticent.microdata.search.local import LocalCoding, local_coding
from reticent.microdata.search.models import KAnonymity

ADULT = Path(os.environ.get("RETICENT_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data/microdata/adult"
SHAPE = ((2, 1), (70, 4), (5, 1), (7, 2), (16, 3), (41, 2), (7, 2), (14, 2), (2, 1))
"""Codes and levels above them of nine keys, as in Adult."""
SIZES = (30_000, 100_000, 300_000)


def _ladder(position: int, size: int, height: int) -> Ladder:
    """Codes merged by equal steps; the top level is one code."""
    codes = [str(i) for i in range(size)]
    step = size ** (1 / height)
    rows = {c: [*(str(int(int(c) // step**g)) for g in range(1, height)), "*"] for c in codes}
    for g in range(1, height - 1):  # make every level a merge of the one below
        for c in codes:
            rows[c][g] = rows[codes[next(i for i in range(size) if rows[codes[i]][g - 1] == rows[c][g - 1])]][g]
    return ladder_from_rows(f"key {position}", codes, rows)


LADDERS = tuple(_ladder(i, size, height) for i, (size, height) in enumerate(SHAPE))


def _file(n: int) -> tuple[np.ndarray, NodeLoss]:
    rng = np.random.default_rng(3)
    columns = []
    for size, _ in SHAPE:
        share = np.arange(1, size + 1.0) ** -1.1
        columns.append(rng.choice(size, n, p=share / share.sum()))
    codes = np.stack(columns, axis=1).astype(np.int32)
    return codes, _granularity(LADDERS, codes)


def _granularity(ladders: tuple[Ladder, ...], codes: np.ndarray) -> NodeLoss:
    record = tuple(
        level_losses(ladder, np.bincount(column, minlength=len(ladder.labels[0])), "granularity")
        for ladder, column in zip(ladders, codes.T)
    )
    return NodeLoss(record, (1.0,) * len(ladders))


def _adult(_: int) -> tuple[Evaluator, NodeLoss]:
    """ARX's Adult with its nine hierarchies."""
    with (ADULT / "adult.csv").open(encoding="utf-8") as file:
        names, *rows = list(csv.reader(file, delimiter=";"))
    ladders, columns = [], []
    for column, name in enumerate(names):
        with (ADULT / f"adult_hierarchy_{name}.csv").open(encoding="utf-8") as file:
            levels = {row[0]: row[1:] for row in csv.reader(file, delimiter=";")}
        place = {code: number for number, code in enumerate(levels)}
        ladders.append(ladder_from_rows(name, list(levels), levels))
        columns.append([place[row[column]] for row in rows])
    codes = np.array(columns, dtype=np.int32).T.copy()
    return Evaluator.of(tuple(ladders), codes, KAnonymity(5)), _granularity(tuple(ladders), codes)


def _search(data: Any, limit: float) -> SearchResult:
    codes, loss = data
    return search(Evaluator.of(LADDERS, codes, KAnonymity(5)), loss, limit=limit, patience=Patience(600.0))


def _local(data: Any) -> LocalCoding:
    codes, loss = data
    return local_coding(Evaluator.of(LADDERS, codes, KAnonymity(5)), loss, share=0.2)


def _proof(_: Any, result: SearchResult) -> str:
    return (
        f"{'optimal' if result.optimal else f'gap {result.gap:.1%}'}, {result.evaluations} of {result.nodes} evaluated"
    )


def entries() -> list[Entry]:
    """What is measured."""
    real = Entry(
        "local recoding of Adult, 9 keys, k = 5", (30_162,), _adult, lambda d: local_coding(*d), repeat=1,
        quality=lambda d, r: f"granularity kept {1 - r.loss / (9 * 30_162):.4f}, {r.suppressed} suppressed",
    )  # fmt: skip
    return [
        Entry("5-anonymity, no suppression", SIZES, _file, lambda d: _search(d, 0.0), quality=_proof, repeat=1),
        Entry("5-anonymity, 4 % suppression", SIZES, _file, lambda d: _search(d, 0.04), quality=_proof, repeat=1),
        Entry("every node evaluated", SIZES[:1], _file,
              lambda d: Evaluator.of(LADDERS, d[0], KAnonymity(5)).count_all((0.0,)), repeat=1),
        Entry("local recoding, k = 5", SIZES[:2], _file, _local, repeat=1,
              quality=lambda d, r: f"granularity kept {1 - r.loss / d[0].size:.3f}, {r.suppressed} suppressed"),
        *([real] if ADULT.is_dir() else []),
    ]  # fmt: skip
