"""Several workers give the same audit as one, bit for bit, tell their progress and can be stopped."""

import threading

import numpy as np
import pytest

from reference.tables import crossed, flat
from reticent.base.errors import Cancelled, ParameterError
from reticent.tables.attack import audit, pieces
from reticent.tables.attack.pieces import workers_for
from reticent.tables.problem import SuppressionProblem


def large(side: int = 40, share: float = 0.2, level: float = 0.0) -> tuple[SuppressionProblem, np.ndarray]:
    """A table whose hidden cells hang together in one large group."""
    rng = np.random.default_rng(side)
    values, relations = crossed([flat(side), flat(side)], rng.integers(1, 300, (side, side)).astype(float))
    hidden = rng.random(len(values)) < share
    hidden[: side + 1] = False  # the margins
    hidden[:: side + 1] = False
    problem = SuppressionProblem.from_values(
        values, relations, primary=hidden, lower_protection=level * values, upper_protection=level * values
    )
    return problem, hidden


@pytest.mark.parametrize("level", [0.0, 0.9])
@pytest.mark.parametrize("mode", ["intervals", "certify"])
def test_the_number_of_workers_changes_nothing(mode: str, level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reticent.tables.attack.ends.BATCH", 40)
    problem, hidden = large(20, level=level)
    one, three = (audit(problem, hidden, mode=mode, workers=workers) for workers in (1, 3))
    assert one.low.tobytes() == three.low.tobytes()
    assert one.high.tobytes() == three.high.tobytes()
    assert (one.exposed_cells.tolist(), one.programs) == (three.exposed_cells.tolist(), three.programs)
    assert mode == "certify" or one.programs > 100


def test_several_threads_really_work(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    plain = pieces.work_on

    def watched(items, work, **options):  # type: ignore[no-untyped-def]
        def noted(piece, tick):  # type: ignore[no-untyped-def]
            seen.add(threading.current_thread().name)
            return work(piece, tick)

        return plain(items, noted, **options)

    monkeypatch.setattr("reticent.tables.attack.ends.work_on", watched)
    monkeypatch.setattr("reticent.tables.attack.ends.BATCH", 30)
    problem, hidden = large()
    audit(problem, hidden, workers=2)
    assert len(seen) == 2


def test_small_systems_get_one_worker() -> None:
    assert workers_for(None, [10.0] * 1000) == 1
    assert workers_for(None, [1e9]) == 1
    assert workers_for(7, [10.0] * 3) == 3
    with pytest.raises(ParameterError, match="workers must be"):
        audit(*large(6), workers=0)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_is_told_and_may_stop(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reticent.tables.attack.ends.BATCH", 30)
    problem, hidden = large()
    told: list[float] = []
    audit(problem, hidden, workers=workers, progress=lambda share, what="": told.append(share))
    assert told == sorted(told)
    assert len(told) > 2

    calls: list[float] = []

    def stop(share: float, what: str = "") -> None:
        calls.append(share)
        raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"):
        audit(problem, hidden, workers=workers, progress=stop)
    assert len(calls) == 1, "nothing goes on after the first stop"
    names = [thread.name for thread in threading.enumerate()]
    assert not any(name.startswith("attack") for name in names)
