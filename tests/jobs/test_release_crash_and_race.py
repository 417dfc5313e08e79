"""A release killed at any instant: nothing is out that is not recorded, nothing is recorded twice.

And of two tables that open each other only one ever leaves, whoever comes first.
"""

import hashlib
import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from firms import schema_of
from jobs import release_child as child
from jobs.children import end_of, start, wait_for_all
from postgres_server import running_server
from reticent.jobs.ledger import opened, releases_in, verify_ledger
from reticent.jobs.release import release_plan

SCHEMA = schema_of(["tot", "staff"], sizes="xyz")
PLAN = """
[data]
path = "firms.csv"
schema = "firms.schema.toml"
secret = "secret.key"
[table]
dimensions = {dimensions}
responses = ["tot", "staff"]
{rules}
[output]
path = "{name}.csv"
public_report = "{name}.html"
[ledger]
path = "{place}"
name = "{name}"
{more}
"""
RULES = 'rules = [{ rule = "threshold", minimum = 3, protection = 20 }]'
FEW = {("A", "z"): 2, ("B", "y"): 2}


def prepare(folder: Path, *plans: tuple[str, str, str, str], place: str = "firms.ledger", more: str = "") -> None:
    """Data and plans (file, name, dimensions, rules)."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        f"f{ind}{size}{i},{ind},{size},{100 + 37 * i + 11 * at},{3 + (i * 5 + at) % 7}"
        for at, (ind, size) in enumerate((ind, size) for ind in "ABC" for size in "xyz")
        for i in range(FEW.get((ind, size), 4))
    ]
    (folder / "firms.csv").write_text("\n".join(["firm,ind,size,tot,staff", *rows]) + "\n")
    (folder / "firms.schema.toml").write_text(SCHEMA)
    (folder / "secret.key").write_text(hashlib.sha256(b"a crash").hexdigest() + "\n")
    (folder / "secret.key").chmod(0o600)
    for file, name, dimensions, rules in plans:
        text = PLAN.format(dimensions=dimensions, rules=rules, name=name, place=place, more=more)
        (folder / f"{file}.toml").write_text(text)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with one release, the plan of another, and what that writes when nothing comes between."""
    folder = tmp_path_factory.mktemp("office")
    start = folder / "start"
    plans = ("first", "first", '["ind"]', RULES), ("plan", "second", '["ind", "size"]', RULES)
    prepare(start, *plans)
    release_plan(start / "first.toml")
    events_of(folder, "record")
    return folder


def events_of(office: Path, phase: str) -> int:
    """How many events a phase has, counted once; what the release writes stays in `whole`."""
    counted = office / f"{phase}.events"
    if not counted.exists():
        shutil.copytree(office / "start", office / "whole", dirs_exist_ok=True)
        counted.write_text(str(child.count_events(office / "whole" / "plan.toml", phase)))
    return int(counted.read_text())


def outputs(folder: Path) -> dict[str, bytes]:
    """Everything that somebody outside could get hold of, half-written files included."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if "second" in one.name}


def check_after_crash(office: Path, folder: Path) -> str:
    """The ledger is whole, what was released is recorded, and releasing again ends as if nothing had happened."""
    whole = outputs(office / "whole")
    out = outputs(folder)
    place = folder / "firms.ledger"
    with opened(place, folder / "secret.key") as ledger:
        recorded = [one.name for one in releases_in(ledger)]
        verify_ledger(ledger, str(place))
    assert recorded in (["first"], ["first", "second"])
    if out:
        assert "second" in recorded, f"out without being recorded: {sorted(out)}"
    assert all(content == whole[name] for name, content in out.items() if name in whole), "a file is whole or not there"
    again = release_plan(folder / "plan.toml")
    with opened(place, folder / "secret.key") as ledger:
        assert [one.name for one in releases_in(ledger)] == ["first", "second"], "recorded once"
    assert again.number is not None
    assert {name: content for name, content in outputs(folder).items() if name in whole} == whole
    return f"{len(recorded) - 1} recorded, {len(set(out) & set(whole))} of {len(whole)} files"


def kill_at_events(office: Path, folder: Path, phase: str, instants: list[float]) -> Counter[str]:
    """Kill releases at shares of all their events; gives how far they had come."""
    total = events_of(office, phase)
    found: Counter[str] = Counter()
    for number, share in enumerate(instants):
        own = folder / str(number)
        shutil.copytree(office / "start", own)
        ended = end_of(start(child.crash, own, phase, 1 + int(share * (total - 1))))
        assert ended in (-signal.SIGKILL, 0)  # the count may differ a little from run to run
        found[check_after_crash(office, own)] += 1
    return found


@pytest.mark.slow
def test_killed_while_it_records_and_writes(office: Path, tmp_path: Path) -> None:
    found = kill_at_events(office, tmp_path, "record", [0.4, 0.9])
    assert sum(found.values()) == 2


@pytest.mark.deep
def test_killed_at_a_hundred_instants_of_release_record_and_write(office: Path, tmp_path: Path) -> None:
    rng = random.Random(5)
    found = kill_at_events(office, tmp_path / "release", "release", [rng.random() for _ in range(25)])
    found += kill_at_events(office, tmp_path / "record", "record", [rng.random() for _ in range(55)])
    came = {state.split(",")[0] for state in found} | {state.split(", ")[1][:1] for state in found}
    assert {"0 recorded", "1 recorded", "0", "1"} <= came, (
        f"before and after recording, before and between files: {found}"
    )
    for number in range(20):  # inside system calls as well
        own = tmp_path / "time" / str(number)
        shutil.copytree(office / "start", own)
        process = start(child.crash, own, "record", 0)
        while process.is_alive() and not (own / "started").exists():
            pass
        process.join(rng.random() * 2)
        process.kill()
        process.join()
        check_after_crash(office, own)


def race(folder: Path, rounds: int) -> None:
    processes = [start(child.race, folder, which, rounds) for which in (0, 1)]
    wait_for_all(processes)
    assert [one.exitcode for one in processes] == [0, 0]
    released = [
        dict(map(int, line.split()) for line in (folder / f"result-{which}").read_text().splitlines())
        for which in (0, 1)
    ]
    assert [released[0][number] + released[1][number] for number in range(rounds)] == [1] * rounds, "one of each pair"
    for number in range(rounds):
        names = {one.name[0] for one in (folder / str(number)).glob("*.csv") if one.name != "firms.csv"}
        assert names == {"a" if released[0][number] else "b"}


def conflicting(folder: Path, rounds: int, **where: str) -> None:
    """Pairs of tables: one hides cells, the other shows all; each pair has a ledger of its own."""
    for number in range(rounds):
        more = where.get("more", "").format(number=number)
        plans = ("a", "a", '["ind", "size"]', RULES), ("b", "b", '["ind", "size"]', "")
        prepare(folder / str(number), *plans, place=where.get("place", "firms.ledger"), more=more)


@pytest.mark.slow
def test_two_processes_never_release_both_of_two_tables(tmp_path: Path) -> None:
    conflicting(tmp_path, 1)
    race(tmp_path, 1)


@pytest.mark.deep
def test_two_processes_a_hundred_times(tmp_path: Path) -> None:
    conflicting(tmp_path, 100)
    race(tmp_path, 100)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory) as address:
        yield address


@pytest.mark.slow
@pytest.mark.postgres
def test_two_processes_on_a_server(server: str, tmp_path: Path) -> None:
    conflicting(tmp_path, 1, place=server, more='dataset = "pair {number}"\nanchor = "firms.anchor"')
    race(tmp_path, 1)
