# SPDX-License-Identifier: Apache-2.0
"""The risk–utility map: many candidate maskings, each attacked and compared on several draws, and one that is chosen.

Draw d of every candidate takes its numbers from the same secret, so that a measurement can be repeated; steps that differ
draw independently of each other, as releases must. The chosen candidate is measured again on draws that had no part in
choosing it, and holds only if `protect` would let each of these go. Everything here is confidential.
"""

import hashlib
import json
import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from reticent.base.checks import check_between, check_integer, check_unique
from reticent.base.errors import Cancelled, DataError, ParameterError, PlanError, ReticentError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import STREAM_VERSION, Secret, as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.parameters import Parameters, to_plain
from reticent.data.plan import RiskSection
from reticent.data.verdict import ATTACKS, DEFAULT_MOST, FileVerdict, State
from reticent.microdata.attacks import attack_file, recount_keys
from reticent.microdata.edits import EditRule, check_input, read_rules
from reticent.microdata.loss import compare
from reticent.microdata.pipeline import Masked, apply_steps, finish
from reticent.microdata.verdict import judge, risk_of

LIMITED = ("recount", "linkage", "households")
"""Attacks whose risk one limit can hold."""
STATE_VERSION = 2
"""Version of what a state file keeps of a draw."""
MEASURED = (
    *LIMITED,
    "interval",
    "loss",
    "il1s",
    "squares-share",
    "correlations",
    "hellinger",
    "entropy-share",
    "pmse",
    "suppressions",
)
"""What is kept of every draw, where it applies."""
MOST_PROCESSES = 2


@dataclass(frozen=True)
class Candidate:
    """A masking to try: a name and its steps."""

    name: str
    steps: tuple[MaskingMethod, ...]

    def plain(self) -> dict[str, Any]:
        """Name and steps as plain data."""
        return {"name": self.name, "step": [{"method": step.name, **to_plain(step)} for step in self.steps]}


@dataclass(frozen=True)
class ExploreSettings(Parameters):
    """`[explore]`: how candidates are measured and how one is chosen.

    Risk is what `protect` judges by `most`: the largest of the attacks asked for (risk of any record, share of records
    linked, risk of any household), by the same code. Attacks with another limit (weights, intervals, order) are judged as
    well: by default those that `protect` asks for. Of the candidates that `protect` would let go on every draw, the one with
    the least loss is chosen. Without `most_risk` it is the one with the least score = risk_share·risk + (1 − risk_share)·loss,
    of all if there is none to let go, and the limit is that of `protect` (0.05 with weights, else nothing is held). A candidate
    whose risk cannot be judged has failed.
    """

    called: ClassVar[str] = "[explore]"
    known: tuple[str, ...] = field(default=(), metadata={"help": "what the attacker links by (none: keys and numbers)"})
    keys: tuple[str, ...] = field(default=(), metadata={"help": "keys of the recount (none: those of the schema)"})
    attacks: tuple[str, ...] = field(
        default=(),
        metadata={
            "choices": ATTACKS,
            "help": "what must be withstood (none: recount, linkage, and households and weights if there are any)",
        },
    )
    compared: tuple[str, ...] = field(default=(), metadata={"help": "variables whose loss counts (none: all)"})
    draws: int = field(default=3, metadata={"min": 1, "help": "draws each candidate is measured on"})
    fresh: int = field(default=3, metadata={"min": 1, "help": "new draws for the chosen one"})
    percent: float = field(default=5.0, metadata={"min": 0.0, "max": 100.0, "help": "width of the rank intervals"})
    most_risk: float | None = field(
        default=None,
        metadata={"min": 0.0, "max": 1.0, "help": "highest risk allowed (0.05 where the file has weights)"},
    )
    interval_most: float | None = field(
        default=None, metadata={"min": 0.0, "max": 1.0, "help": "largest share of true numbers within their intervals"}
    )
    risk_share: float = field(default=0.5, metadata={"min": 0.0, "max": 1.0, "help": "share of risk in the score"})
    loss: str = field(
        default="score", metadata={"help": "combined `score`, or a measure that takes its place beside the detail lost"}
    )
    processes: int = field(default=1, metadata={"min": 1, "max": MOST_PROCESSES, "help": "worker processes"})

    @property
    def risk(self) -> RiskSection:
        """How `protect` would judge a candidate; the plan that is written has this section."""
        return RiskSection(
            keys=self.keys, most=self.most_risk, known=self.known, attacks=self.attacks, interval_percent=self.percent,
            interval_most=self.interval_most,
        )  # fmt: skip

    def limit(self, *, weighted: bool) -> float | None:
        """The largest risk that `protect` would allow; None where neither settings nor weights say one."""
        return DEFAULT_MOST if self.most_risk is None and weighted else self.most_risk


@dataclass(frozen=True)
class Point:
    """One candidate on the map: means over its draws, the highest risk of a draw, what failed, and what is not held besides."""

    name: str
    draws: int
    risk: float
    highest_risk: float
    loss: float
    score: float
    measures: Mapping[str, float]
    failed: str = ""
    not_held: str = ""
    """What a draw did not withstand of attacks that `most_risk` does not limit."""

    def within(self, limit: float | None) -> bool:
        """Whether every draw could be released at this limit."""
        return not (self.failed or self.not_held) and (limit is None or self.highest_risk <= limit)

    def row(self) -> dict[str, str | float | int]:
        """The point as a plain row."""
        plain: dict[str, str | float | int] = {
            "candidate": self.name, "risk": self.risk, "highest risk": self.highest_risk, "loss": self.loss,
            "score": self.score, "draws": self.draws, "failed": self.failed, "not held": self.not_held,
        }  # fmt: skip
        return {**plain, **{name: self.measures.get(name, float("nan")) for name in MEASURED if name != "loss"}}


@dataclass(frozen=True)
class Exploration:
    """All points, the names on the Pareto front (least risk first), the chosen candidate and its fresh measurement.

    `limit` is the largest risk that `protect` would allow; None if nothing says one.
    """

    points: tuple[Point, ...]
    front: tuple[str, ...]
    chosen: Candidate | None
    fresh: Point | None
    limit: float | None

    def __repr__(self) -> str:
        name = "none" if self.chosen is None else self.chosen.name
        return f"<Exploration of {len(self.points)} candidates: {len(self.front)} on the front, chosen {name}>"

    @property
    def state(self) -> State:
        """Held if `protect` would let the chosen candidate go on every fresh draw; not judged if no risk is stated."""
        if self.limit is None and self.chosen is not None:
            return State.NOT_JUDGED
        return State.HELD if self.fresh is not None and self.fresh.within(self.limit) else State.NOT_HELD

    @property
    def holds(self) -> bool:
        """Whether a candidate was chosen and `protect` would let it go on every fresh draw."""
        return self.state is State.HELD

    def rows(self) -> list[dict[str, Any]]:
        """The table: every candidate, whether it is on the front, whether it is the chosen one."""
        chosen = None if self.chosen is None else self.chosen.name
        return [{**p.row(), "front": p.name in self.front, "chosen": p.name == chosen} for p in self.points]


def explore(
    data: Microdata,
    candidates: Sequence[Candidate],
    *,
    settings: ExploreSettings | None = None,
    secret: Secret | int | bytes | Path | str | None = None,
    edits: Sequence[str] = (),
    state: Path | None = None,
    progress: Progress = silent,
) -> Exploration:
    """Measure every candidate on every draw, find the front, choose, and measure the chosen one on fresh draws.

    A candidate that breaks an edit rule has failed. With `state` every finished draw is written to that file; the same
    exploration started again goes on from there.
    """
    settings = settings or ExploreSettings()
    check_unique([candidate.name for candidate in candidates], name="candidates", owner="explore")
    if not candidates:
        raise PlanError("explore: there is no candidate; give at least one [[candidate]].")
    _check_settings(data, settings)
    if state is not None and secret is None:
        raise ParameterError("explore: a state file needs a secret that stays the same; give one in [data] secret.")
    source = as_secret(secret)
    memory = _Memory.open(state, _fingerprint(data, candidates, settings, source, edits))
    tasks = [(c, f"draw {d}") for c in range(len(candidates)) for d in range(settings.draws)]
    rules = read_rules(edits, data.schema)
    check_input(data, rules)
    work = _Work(data, tuple(candidates), settings, source, tuple(rules))
    found = _run_all(work, tasks, memory, lambda share, what: progress(0.85 * share, what))
    points = tuple(
        _point(candidate, [found[c, f"draw {d}"] for d in range(settings.draws)], settings)
        for c, candidate in enumerate(candidates)
    )
    front = pareto_front(points)
    limit = settings.limit(weighted=data.schema.weight is not None)
    best = _choose(points, settings, limit)
    chosen = None if best is None else candidates[best]
    fresh = None
    if best is not None and chosen is not None:
        again = [(best, f"fresh {d}") for d in range(settings.fresh)]
        results = _run_all(work, again, memory, lambda share, what: progress(0.85 + 0.15 * share, what))
        fresh = _point(chosen, [results[task] for task in again], settings)
    progress(1.0, "done")
    return Exploration(points, front, chosen, fresh, limit)


def pareto_front(points: Sequence[Point]) -> tuple[str, ...]:
    """Names of the points that no other one beats in risk and loss at once; least risk first."""
    good = [p for p in points if not p.failed]
    on = [p for p in good if not any(_dominates(other, p) for other in good)]
    return tuple(p.name for p in sorted(on, key=lambda p: (p.risk, p.loss, p.name)))


def _dominates(one: Point, other: Point) -> bool:
    return one.risk <= other.risk and one.loss <= other.loss and (one.risk < other.risk or one.loss < other.loss)


def _choose(points: Sequence[Point], settings: ExploreSettings, limit: float | None) -> int | None:
    allowed = [i for i, p in enumerate(points) if p.within(limit)]
    if not allowed and settings.most_risk is None:  # the best there is; it is not held
        allowed = [i for i, p in enumerate(points) if not p.failed]
    if not allowed:
        return None
    if settings.most_risk is None:
        return min(allowed, key=lambda i: (points[i].score, points[i].name))
    return min(allowed, key=lambda i: (points[i].loss, points[i].risk, points[i].name))


def _check_settings(data: Microdata, settings: ExploreSettings) -> None:
    data.schema.require((*settings.known, *settings.compared, *settings.keys), owner="[explore]")
    check_between(settings.percent, 0, 100, name="percent", owner="[explore]")
    check_integer(settings.processes, minimum=1, maximum=MOST_PROCESSES, name="processes", owner="[explore]")
    if settings.attacks and not set(settings.attacks) & set(LIMITED):
        raise ParameterError(
            f"[explore]: attacks names none that gives a risk for the map; add one of {', '.join(LIMITED)}."
        )


def _fingerprint(
    data: Microdata, candidates: Sequence[Candidate], settings: ExploreSettings, secret: Secret, edits: Sequence[str]
) -> str:
    """What a state file belongs to: keyed, so that it reveals nothing about the data."""
    digest = hashlib.blake2b(key=secret.digest("explore state"), digest_size=16)
    plain = to_plain(settings)
    for free in ("processes", "most_risk", "risk_share", "fresh"):
        plain.pop(free, None)
    digest.update(
        json.dumps(
            [STREAM_VERSION, STATE_VERSION, plain, [c.plain() for c in candidates], list(edits)],
            sort_keys=True,
            default=str,
        ).encode()
    )
    for variable in data.schema.variables:
        digest.update(variable.name.encode())
        encoded = data.encoded(variable.name)
        digest.update(np.ascontiguousarray(encoded.codes).tobytes())
        digest.update("\x00".join(encoded.categories).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class _Work:
    """What a worker needs: the data once, then only the numbers of candidates and draws."""

    data: Microdata
    candidates: tuple[Candidate, ...]
    settings: ExploreSettings
    secret: Secret
    rules: tuple[EditRule, ...] = ()

    def measure(self, candidate: int, draw: str) -> dict[str, Any]:
        """Mask once, attack once, compare once."""
        try:
            steps, secret = self.candidates[candidate].steps, self.secret.child(draw)
            followed = (*recount_keys(self.data, self.settings.risk), *self.settings.known)
            masked = apply_steps(self.data, steps, secret=secret, rules=self.rules, keys=followed)
            released = finish(masked.data, secret=secret, keep_order=False, keep_household_ids=False)
            return _measured(self.data, masked, released, self.settings)
        except Cancelled:
            raise
        except ReticentError as err:
            return {"failed": str(err)}


def _measured(data: Microdata, masked: Masked, released: Microdata, settings: ExploreSettings) -> dict[str, Any]:
    """Loss by `compare`, risk and what is not held by the attacks and the judge of `protect`."""
    report = compare(data, masked.data, variables=settings.compared or None)
    out: dict[str, Any] = {"loss": report.score if settings.loss == "score" else report.combined(settings.loss)}
    out.update({name: report[name] for name in MEASURED if name in report})
    attacks = attack_file(masked, released, settings.risk, shuffled=True)
    verdict = judge(attacks, settings.risk, limit=1.0, households=data.schema.household_id is not None)
    risk = risk_of(verdict)
    if risk is None:
        first = next(one for one in verdict.asked if one.value is None)
        raise DataError(f"explore: the risk is not judged; {first.attack}: {first.text}.")
    out["risk"] = risk
    out.update({one.attack: one.value for one in verdict.attacks if one.attack in LIMITED and one.value is not None})
    if attacks.intervals:
        compared = [attacks.intervals[n] for n in attacks.intervals if not settings.compared or n in settings.compared]
        out["interval"] = float(np.mean(compared)) if compared else 0.0
    return {**{name: float(value) for name, value in out.items()}, "not held": _not_held(verdict)}


def _not_held(verdict: FileVerdict) -> str:
    """What else than the risk would keep `protect` from letting the file go, in words."""
    return "; ".join(f"{one.attack} {one.state}: {one.text}" for one in verdict.blocking if one.attack not in LIMITED)


def _point(candidate: Candidate, draws: Sequence[Mapping[str, Any]], settings: ExploreSettings) -> Point:
    failed = next((str(draw["failed"]) for draw in draws if "failed" in draw), "")
    if failed:
        nothing = float("nan")
        return Point(candidate.name, len(draws), nothing, nothing, nothing, nothing, {}, failed)
    means = {name: float(np.mean([draw[name] for draw in draws])) for name in MEASURED if name in draws[0]}
    risks = [float(draw["risk"]) for draw in draws]
    risk, loss = float(np.mean(risks)), means["loss"]
    score = settings.risk_share * risk + (1 - settings.risk_share) * loss
    not_held = next((str(draw["not held"]) for draw in draws if draw["not held"]), "")
    return Point(candidate.name, len(draws), risk, max(risks), loss, score, means, not_held=not_held)


@dataclass
class _Memory:
    """Finished draws, in a file of one JSON line each if there is one."""

    path: Path | None
    done: dict[tuple[int, str], dict[str, Any]]

    @classmethod
    def open(cls, path: Path | None, fingerprint: str) -> "_Memory":
        if path is None:
            return cls(None, {})
        done: dict[tuple[int, str], dict[str, Any]] = {}
        if path.exists():
            whole = path.read_bytes()
            complete = whole[: whole.rfind(b"\n") + 1]  # a run that was killed can leave half of the last line
            done = _done(complete, fingerprint, path.name)
            if complete != whole:
                path.write_bytes(complete)
        else:
            path.write_text(json.dumps({"exploration": fingerprint}) + "\n", encoding="utf-8")
        return cls(path, done)

    def add(self, task: tuple[int, str], found: dict[str, Any]) -> None:
        self.done[task] = found
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"candidate": task[0], "draw": task[1], "found": found}) + "\n")


def _done(lines: bytes, fingerprint: str, name: str) -> dict[tuple[int, str], dict[str, Any]]:
    """What a state file has of this exploration; a file of anything else is refused as it is."""
    found: list[Any] = []
    with suppress(ValueError, RecursionError):
        found = [json.loads(line) for line in lines.splitlines()]
    if not found or not isinstance(found[0], dict) or found[0].get("exploration") != fingerprint:
        raise PlanError(
            f"explore: {name} belongs to another exploration (data, candidates, settings, "
            "secret or random streams differ), or is no state file. Give another state file, or remove this one to start again."
        )
    return {(int(line["candidate"]), str(line["draw"])): line["found"] for line in found[1:]}


def _run_all(
    work: _Work, tasks: Sequence[tuple[int, str]], memory: _Memory, progress: Callable[[float, str], None]
) -> dict[tuple[int, str], dict[str, Any]]:
    """Measure what is not yet known, in this process or in spawned ones."""
    open_tasks = [task for task in tasks if task not in memory.done]
    finished = len(tasks) - len(open_tasks)

    def tell(task: tuple[int, str], found: dict[str, Any]) -> None:
        nonlocal finished
        memory.add(task, found)
        finished += 1
        progress(finished / len(tasks), work.candidates[task[0]].name)

    if work.settings.processes == 1 or len(open_tasks) < 2:
        for task in open_tasks:
            tell(task, work.measure(*task))
    else:
        _run_in_processes(work, open_tasks, tell)
    return {task: memory.done[task] for task in tasks}


def _run_in_processes(
    work: _Work, tasks: Sequence[tuple[int, str]], tell: Callable[[tuple[int, str], dict[str, Any]], None]
) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        max_workers=work.settings.processes, mp_context=context, initializer=_start_worker, initargs=(work,)
    ) as pool:
        waiting: dict[Future[dict[str, Any]], tuple[int, str]] = {pool.submit(_measure_task, t): t for t in tasks}
        try:
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    tell(waiting.pop(future), future.result())
        except BaseException:
            for future in waiting:
                future.cancel()
            raise


_worker: _Work | None = None


def _start_worker(work: _Work) -> None:
    """Keep the data in a new worker process: it is sent once, not with every task."""
    global _worker
    _worker = work


def _measure_task(task: tuple[int, str]) -> dict[str, Any]:
    assert _worker is not None
    return _worker.measure(*task)
