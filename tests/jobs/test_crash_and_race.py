"""A process killed at any instant forgets nothing it said; two processes never answer both halves of an unsafe pair."""

import signal
import time
from pathlib import Path

import numpy as np
import pytest

from jobs import query_child as child
from jobs.children import end_of, start, wait_for_all
from reticent.queries.language import Query
from reticent.queries.parse import parse
from reticent.queries.wire import query_from_json


def check_after_crash(folder: Path) -> None:
    """Everything received is in the ledger, and an uninterrupted run over its queries decides the same."""
    db = child.open_db(folder)
    history = db.history()
    db.close()
    logged = {(row["sets"][0], row["values"][0][0]) for row in history if row["answered"]}
    twin_folder = folder / "twin"
    twin_folder.mkdir()
    twin = child.open_db(twin_folder)
    for row in history:
        again = twin.ask(query_from_json(row["query"]), user="u").as_json()
        assert again["answered"] == row["answered"]
        if row["answered"]:
            assert again["value"] == row["values"][0][0]
    received = (folder / "received").read_text().splitlines() if (folder / "received").exists() else []
    by_query = {query_from_json(row["query"]): row["sets"][0] for row in history}
    for line in received:
        pair, which, verdict = line.split()
        if verdict != "RISK":
            query = parse(child.half(int(pair), int(which)))
            assert isinstance(query, Query)
            assert (by_query[query], float(verdict)) in logged
    twin.close()


OFTEN = {"before-log", "after-log", "before-answer"}
"""Around the moment from which an answer counts as told; each step takes a process of its own."""


@pytest.mark.parametrize(
    "step", [one if one in OFTEN else pytest.param(one, marks=pytest.mark.deep) for one in child.STEPS]
)
def test_killed_at_each_step(tmp_path: Path, step: str) -> None:
    assert end_of(start(child.crash, tmp_path, step, 1)) == -signal.SIGKILL
    check_after_crash(tmp_path)


def kill_at_random_instants(folder: Path, times: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(times):
        process = start(child.crash, folder, "never", number)
        before = (folder / "received").stat().st_size if (folder / "received").exists() else 0
        while process.is_alive():
            if (folder / "received").exists() and (folder / "received").stat().st_size > before:
                break
            time.sleep(0.001)
        time.sleep(float(rng.random()) * 0.05)
        process.kill()
        assert end_of(process) == -signal.SIGKILL
    check_after_crash(folder)


def test_killed_at_random_instants(tmp_path: Path) -> None:
    kill_at_random_instants(tmp_path, 2, 1)


@pytest.mark.deep
def test_killed_at_a_hundred_random_instants(tmp_path: Path) -> None:
    kill_at_random_instants(tmp_path, 100, 2)


def run_race(folder: Path, pairs: int, url: str | None = None) -> None:
    processes = [start(child.race, folder, which, pairs, url) for which in (0, 1)]
    wait_for_all(processes)
    assert [process.exitcode for process in processes] == [0, 0]
    answered = [
        dict(map(int, line.split()) for line in (folder / f"result-{which}").read_text().splitlines())
        for which in (0, 1)
    ]
    assert [answered[0][pair] + answered[1][pair] for pair in range(pairs)] == [1] * pairs, "one half of every pair"


def test_two_processes_never_answer_both_halves(tmp_path: Path) -> None:
    run_race(tmp_path, 25)


@pytest.mark.deep
def test_ten_thousand_races(tmp_path: Path) -> None:
    for number in range(50):
        folder = tmp_path / str(number)
        folder.mkdir()
        run_race(folder, 200)
