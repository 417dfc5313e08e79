"""Tables by several codings that are released one after another into a ledger, and the attacker of `coding_families`.

`PYTHONPATH=src:tests python -m attacks.ledger_families [CASES] [FAMILY …]` gives the ledgers that leak and the tables refused.
"""

import hashlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import reticent as rt
from attacks.coding_families import MINIMUM, Case, Reader, case_of
from reticent import methods, rules
from reticent.base.errors import NotProtectedError

FAMILIES = (
    "nested",
    "classes",
    "partial",
    "missing",
    "overlapping",
    "scattered",
    "flags",
    "five",
    "apart",
    "unrelated",
    "three",
)


def unrelated(number: int) -> Case:
    """Two variables of 24 people that have nothing to do with each other: every combination is possible."""
    rng = np.random.default_rng([number, *b"unrelated"])
    one, other = rng.choice(4, 24, p=[0.5, 0.3, 0.14, 0.06]), rng.choice(3, 24, p=[0.6, 0.3, 0.1])
    people = [({"a": str(a), "b": str(b)}, 1) for a, b in zip(one, other, strict=True)]
    return Case(people, [("a",), ("b",)], [{"a": a, "b": b} for a in "0123" for b in "012"])


def three(number: int) -> Case:
    """Three variables of 12 to 60 people that have nothing to do with each other, by each two of them in any order."""
    rng = np.random.default_rng([number, *b"three"])
    size = {name: int(rng.integers(2, 4)) for name in "abc"}
    n = int(rng.integers(12, 60))
    columns = {name: [str(code) for code in rng.integers(0, most, n)] for name, most in size.items()}
    people = [(dict(zip("abc", codes, strict=True)), 1) for codes in zip(*columns.values(), strict=True)]
    tables = [("a", "b"), ("a", "c"), ("b", "c")]
    order = [tables[at] for at in rng.permutation(3)]
    everywhere = [dict(zip("abc", map(str, place), strict=True)) for place in np.ndindex(*size.values())]
    return Case(people, order, everywhere)


def released(case: Case, folder: Path) -> tuple[list[str], int]:
    """The files that a ledger lets out, and the number of tables that it refuses."""
    data: Any = rt.load(case.frame, keys=[n for n in case.frame.columns if n != "id"], identifiers=["id"])
    ledger = rt.open_ledger(folder / "few.ledger", secret=hashlib.sha256(b"few").digest())
    texts, refused = [], 0
    for at, table in enumerate(reversed(case.tables)):
        run = data.tabulate(*table).protect(rules=[rules.Threshold(MINIMUM)], method=methods.Heuristic())
        try:
            run.release(ledger=ledger, name=f"table {at}").write(folder / f"{at}.csv")
        except NotProtectedError:
            refused += 1
            continue
        texts.append((folder / f"{at}.csv").read_text())
    return texts, refused


def main(arguments: Sequence[str]) -> None:
    """Print the rates of families."""
    cases = int(arguments[0]) if arguments else 20
    for family in arguments[1:] or FAMILIES:
        leaks = refused = 0
        for number in range(cases):
            own = {"unrelated": unrelated, "three": three}.get(family)
            case = own(number) if own else case_of(family, number)
            with tempfile.TemporaryDirectory() as folder:
                texts, lost = released(case, Path(folder))
            refused += lost
            leaks += bool(texts) and bool(Reader(texts, case).found())
        sys.stdout.write(f"{family:12} {leaks} of {cases} leak, {refused} tables refused\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
