"""`python -m benchmarks.joint_ledger [--answers N]`: what judging releases together costs, on Adult.

Three tables of about 1,500 cells (two of counts, one of sums of age), one file (recoded keys, 5 % of the records with a blank,
age rounded to 5 years) and N answers are judged one after another in one process. Times are processor times; steps, not
seconds, limit the work.
"""

import argparse
import os
import resource
import time
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from reticent.base.arrays import Ints, Mask
from reticent.data.facts import COUNT, OWN, Fact, Facts, Ground, Term, Watch
from reticent.releases.joint import JointSystem
from reticent.releases.unknowns import Version
from reticent.releases.verdict import JointVerdict, Outcome

AGE = "age sum"
BASE = 5
T1, T2, T3 = (
    ("education", "occupation", "race"),
    ("workclass", "occupation", "band"),
    ("marital-status", "occupation", "band"),
)


class Adult:
    """The file as a ground, with single years of age as a number."""

    def __init__(self, path: Path) -> None:
        frame = pl.read_csv(path, separator=";").with_columns(band=pl.col("age") // 6)
        self.names = tuple(frame.columns)
        columns = [frame[name].cast(pl.String).cast(pl.Categorical) for name in self.names]
        self.unit_codes = np.column_stack([c.to_physical().to_numpy().astype(np.int64) for c in columns])
        self.unit_codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in self.unit_codes.T])
        codes, atom = np.unique(self.unit_codes, axis=0, return_inverse=True)
        self.age = frame["age"].to_numpy().astype(np.int64)
        categories = tuple(tuple(str(k) for k in range(int(c.max()) + 1)) for c in self.unit_codes.T)
        n = len(self.age)
        bounds: dict[str, tuple[int | None, int | None]] = {AGE: (17, 90)}
        self.ground = Ground(self.names, categories, codes, atom.reshape(-1), np.arange(n), bounds, False)

    def places(self, response: str, chosen: Mask) -> Ints:
        """The places of a response that lie in some atoms."""
        return np.flatnonzero(chosen if response == COUNT else chosen[self.ground.atom_of_unit])

    def value(self, response: str, places: Ints) -> int:
        """The true total."""
        if response == COUNT:
            return int(np.isin(self.ground.atom_of_unit, places).sum()) if len(places) else 0
        return int(self.age[places].sum())


def table(adult: Adult, name: str, dims: tuple[str, ...], response: str, rng: np.random.Generator) -> Facts:
    """All cells with margins; small cells are hidden with the corners of a box of large ones, and watched."""
    columns = [adult.names.index(d) for d in dims]
    codes, sizes = adult.ground.codes[:, columns], [len(adult.ground.categories[c]) for c in columns]
    counts = np.bincount(adult.ground.atom_of_unit, minlength=adult.ground.n_atoms)
    inner = np.zeros(sizes, dtype=np.int64)
    np.add.at(inner, tuple(codes.T), counts)
    hidden, watched = _pattern(inner, rng)
    facts, watches = [], []
    for cell in product(*([-1, *range(size)] for size in sizes)):
        chosen = np.logical_and.reduce([(codes[:, k] == c) | (c == -1) for k, c in enumerate(cell)])
        number = int(counts[chosen].sum())
        if number == 0:
            continue
        places = adult.places(response, chosen)
        total = number if response == COUNT else adult.value(response, places)
        if cell in watched:
            low = max(1, total - 1) if response == COUNT else total - 1
            ones = np.ones(len(places), dtype=np.int64)
            watches.append(Watch(response, places, ones, low, total + 1, f"{name} {cell}", name))
        if cell not in hidden:
            facts.append(Fact.exact((Term.total(response, places),), total))
        elif response == COUNT:
            facts.append(Fact((Term.total(COUNT, places),), 1, None))
    return Facts(name, tuple(facts), watches=tuple(watches))


def _pattern(inner: Ints, rng: np.random.Generator) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]]]:
    """Hidden cells, and those of them that are small: each with a box whose other corners are large, if there is one."""
    hidden: set[tuple[int, ...]] = set()
    small: set[tuple[int, ...]] = set()
    for cell in np.argwhere((inner > 0) & (inner <= 3)).tolist():
        for _ in range(400):
            other = [int(rng.integers(size)) for size in inner.shape]
            if any(a == b for a, b in zip(cell, other, strict=True)):
                continue
            corners = list(product(*zip(cell, other, strict=True)))
            if all(inner[corner] > 3 or corner == tuple(cell) for corner in corners):
                hidden |= set(corners)
                small.add(tuple(cell))
                break
        hidden.add(tuple(cell))
    return hidden, small


def recoded(adult: Adult) -> Ints:
    """The keys of the file: sex, race, half of the codes of workclass, marital status and country, bands of age."""
    coarse = {"sex": 1, "race": 1, "marital-status": 2, "workclass": 3, "education": 4, "native-country": 50, "band": 2}
    return np.column_stack([adult.ground.codes[:, adult.names.index(name)] // by for name, by in coarse.items()])


def file(adult: Adult, rng: np.random.Generator) -> Facts:
    """Counts of patterns, a transport problem for records with a blank, an interval per rounded age."""
    keys = recoded(adult)
    patterns, of_atom = np.unique(keys, axis=0, return_inverse=True)
    of_atom = of_atom.reshape(-1)
    shown = patterns[of_atom[adult.ground.atom_of_unit]].copy()
    blanked = np.flatnonzero(rng.random(len(shown)) < 0.05)
    shown[blanked, rng.integers(keys.shape[1], size=len(blanked))] = -1
    whole = (shown != -1).all(axis=1)
    intact = np.bincount(of_atom[adult.ground.atom_of_unit[whole]], minlength=len(patterns))
    flows: list[list[int]] = [[] for _ in patterns]
    facts: list[Fact] = []
    own: list[tuple[int, int | None]] = []
    blanks, numbers = np.unique(shown[~whole], axis=0, return_counts=True)
    for blank, number in zip(blanks, numbers.tolist(), strict=True):
        fits = np.flatnonzero(((patterns == blank) | (blank == -1)).all(axis=1))
        first = len(own)
        own += [(0, number)] * len(fits)
        facts.append(Fact.exact((Term.total(OWN, np.arange(first, len(own))),), number))
        for place, pattern in zip(range(first, len(own)), fits.tolist(), strict=True):
            flows[pattern].append(place)
    order = np.argsort(of_atom, kind="stable")
    starts = np.searchsorted(of_atom[order], np.arange(len(patterns) + 1))
    for pattern, flow in enumerate(flows):
        terms = [Term.total(COUNT, order[starts[pattern] : starts[pattern + 1]])]
        if flow:
            terms.append(Term(OWN, np.array(flow), np.full(len(flow), -1)))
        facts.append(Fact.exact(tuple(terms), int(intact[pattern])))
    rounded = (adult.age + BASE // 2) // BASE * BASE
    for unit, value in enumerate(rounded.tolist()):
        facts.append(Fact((Term.total(AGE, np.array([unit])),), value - BASE // 2, value + BASE // 2))
    return Facts("file F", tuple(facts), tuple(own))


def answer(adult: Adult, number: int, rng: np.random.Generator) -> Facts:
    """A count or a sum of age over what one to three conditions select."""
    chosen = np.ones(adult.ground.n_atoms, dtype=bool)
    for column in rng.choice(len(adult.names), size=int(rng.integers(1, 4)), replace=False).tolist():
        size = len(adult.ground.categories[column])
        codes = np.flatnonzero(rng.random(size) < rng.uniform(0.2, 0.7))
        chosen &= np.isin(adult.ground.codes[:, column], codes)
    response = COUNT if rng.random() < 0.5 else AGE
    places = adult.places(response, chosen)
    if len(places) < 10:
        return answer(adult, number, rng)
    value = int(chosen[adult.ground.atom_of_unit].sum()) if response == COUNT else adult.value(response, places)
    return Facts(f"answer {number}", (Fact.exact((Term.total(response, places),), value),))


def judged(joint: JointSystem, facts: Facts) -> tuple[JointVerdict, float]:
    """The verdict and its processor time."""
    begin = time.process_time()
    verdict = joint.judge(facts)
    return verdict, time.process_time() - begin


def memory() -> float:
    """Largest memory of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def describe(joint: JointSystem, what: str, seconds: float, verdict: JointVerdict) -> None:
    """One line per large release."""
    sizes = "; ".join(
        f"{'+'.join(sorted(names))}: {part.system.classes.n} classes, {part.system.rows.shape[0]} rows, "
        f"{part.system.rows.nnz} entries, {len(part.system.sights)} watches, {len(part.pool.movements)} movements"
        for names, part in joint.parts.items()
    )
    print(f"{what}: {verdict.outcome.value}, {seconds:.1f} s cpu, {memory():.0f} MB; {sizes}", flush=True)


def release(joint: JointSystem, facts: Facts) -> None:
    """Judge a large release and take it in; what it exposes all the same keeps the interval that is left."""
    begin = time.process_time()
    verdict = joint.take_published(facts)
    describe(joint, f"{facts.release} ({len(verdict.exposures)} exposed)", time.process_time() - begin, verdict)


def main() -> None:
    """Build, then answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=300)
    options = parser.parse_args()
    folder = os.environ.get("RETICENT_SHARED") or str(Path(__file__).resolve().parents[2] / "shared")
    adult = Adult(Path(folder) / "data" / "microdata" / "adult" / "adult.csv")
    print(f"{adult.ground.n_units} units, {adult.ground.n_atoms} atoms", flush=True)
    rng = np.random.default_rng(1)
    joint = JointSystem([Version(adult.ground, None, {AGE: adult.age})])
    release(joint, table(adult, "table T1", T1, COUNT, rng))
    release(joint, table(adult, "table T3", T3, AGE, rng))
    release(joint, file(adult, rng))
    release(joint, table(adult, "table T2", T2, COUNT, rng))
    seconds, ends = [], dict.fromkeys(Outcome, 0)
    for number in range(1, options.answers + 1):
        facts = answer(adult, number, rng)
        verdict, spent = judged(joint, facts)
        seconds.append(spent)
        ends[verdict.outcome] += 1
        if verdict.safe:
            joint.accept(verdict)
        if number % 25 == 0:
            own = np.array(seconds[-25:])
            print(
                f"{number}: median {np.median(own):.2f}, 95 % {np.quantile(own, 0.95):.2f}, largest {own.max():.2f}; {ends}",
                flush=True,
            )
            describe(joint, f"answer {number}", spent, verdict)
    every = np.array(seconds)
    print(f"all: median {np.median(every):.2f} s, 95 % {np.quantile(every, 0.95):.2f} s; {ends}; {memory():.0f} MB")


if __name__ == "__main__":
    main()
