# SPDX-License-Identifier: Apache-2.0
"""How quick the workbench is, against its limits, on a machine that does nothing else.

    python scripts/measure_workbench.py [ADULT.csv] [--only actions|table|million]

Everything is asked over HTTP, as a browser asks it; drawing comes on top. Without a file the actions are measured on an
invented one of the same size. The table of 30,000 cells and the file of 1,000,000 records are invented too.

Beside the seconds that passed stands the processor time of the server and its workers. On a machine that is busy with something
else the limits are compared with that: seconds then tell of the others.
"""

import argparse
import http.cookiejar
import itertools
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
REPEATS = 9
ACTION, FIRST, FOLD, DESCRIBED, CANCEL = 0.3, 1.5, 0.3, 10.0, 2.0
"""The limits, in seconds."""
LOAD = os.getloadavg()[0]
BUSY = LOAD > 0.5
NEW = "new"
NUMBERS = itertools.count(4)
"""`NEW` stands for a number that was not sent before, so that nothing is known already."""
READ = (
    "/data", "/describe", "/hierarchies", "/hierarchies?variable=1", "/risk", "/explore", "/plan", "/plan?add=recode",
    "/plan?step=1", "/plan?edit=text", "/protect", "/table", "/table?level=2", "/audit", "/queries", "/release", "/ledger",
)  # fmt: skip
CLICKS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("add a step", "/plan", {"add": "reorder"}),
    ("switch it off", "/plan", {"switch": "1"}),
    ("undo", "/plan", {"to": "undo"}),
    ("redo", "/plan", {"to": "redo"}),
    ("try a rule", "/table", {"rule.0.minimum": NEW, "rule.0.protection": "20", "try": "1"}),
    ("change a rule", "/table", {"rule.0.minimum": NEW, "rule.0.protection": "20", "rules": "1"}),
    ("choose another output", "/table", {"path": "other.csv", "output": "1"}),
)


class Person:
    """Somebody with a browser that only reads and sends."""

    def __init__(self, entrance: str, address: str, server: int) -> None:
        self.address, self._server = address, server
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self._opener.open(entrance).read()

    def watch(self) -> "Watch":
        """A watch that starts now."""
        return Watch(self._server)

    def get(self, path: str) -> str:
        """Read a page."""
        return str(self._opener.open(self.address + path).read().decode())

    def done(self, path: str) -> str:
        """Read a page until nothing runs on it any more."""
        while "data-work=" in (page := self.get(path)):
            time.sleep(0.05)
        return page

    def form(self, path: str) -> dict[str, object]:
        """What every form of a page sends."""
        page = self.get(path)
        found = {name: re.findall(rf'name="{name}" value="(\w+)"', page) for name in ("form-token", "version")}
        return {name: values[-1] for name, values in found.items() if values}

    def send(self, path: str, form: dict[str, object]) -> str:
        """Send a form and follow where it leads."""
        data = urllib.parse.urlencode(form, doseq=True).encode()
        asked = urllib.request.Request(self.address + path, data=data, headers={"Origin": self.address})
        return str(self._opener.open(asked).read().decode())


@contextmanager
def opened(data: Path) -> Iterator[Person]:
    """The workbench on a data file in a folder of its own."""
    server = subprocess.Popen(
        [sys.executable, "-m", "reticent", "open", data.name, "--no-browser"],
        cwd=data.parent, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    try:
        assert server.stdout is not None
        found = re.search(r"(http://[\d.:]+)/enter\S+", server.stdout.readline())
        assert found
        time.sleep(2)  # a person needs as long to look at the first page; the worker loads its modules meanwhile
        yield Person(found[0], found[1], server.pid)
    finally:
        server.terminate()
        server.wait()


class Took(NamedTuple):
    """What something took: seconds that passed, and seconds of processors for the server and its workers."""

    passed: float
    worked: float


class Watch:
    """Takes both times from now on."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._started, self._worked = time.perf_counter(), processor_time(server)

    def read(self) -> Took:
        """What has gone by."""
        return Took(time.perf_counter() - self._started, processor_time(self._server) - self._worked)


def processor_time(server: int) -> float:
    """Seconds that processors have spent on a process and those that it started, also on those that have ended."""
    ticks: dict[int, int] = {}
    parents: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            facts = place.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            parents[int(place.parent.name)], ticks[int(place.parent.name)] = int(facts[1]), sum(map(int, facts[11:15]))
    family, new = set(), {server}
    while new:
        family |= new
        new = {one for one, parent in parents.items() if parent in new}
    return sum(ticks.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK")


def median(person: Person, action: Callable[[], object], repeats: int = REPEATS) -> Took:
    """The median of several times; of processor time, which is counted in hundredths of a second, the mean."""
    times, whole = [], person.watch()
    for _ in range(repeats):
        one = person.watch()
        action()
        times.append(one.read().passed)
    return Took(statistics.median(times), whole.read().worked / repeats)


def say(what: str, took: Took, limit: float | None = None) -> None:
    """One line of the result."""
    judged = took.worked if BUSY else took.passed
    verdict = "" if limit is None else f"   {'within' if judged <= limit else 'ABOVE'} {limit:g} s"
    print(f"{what:44}{1000 * took.passed:8.0f} ms {1000 * took.worked:8.0f} ms of processors{verdict}", flush=True)


def actions(data: Path) -> None:
    """Every page and the usual clicks on a file of some 30,000 records; then a run that is cancelled."""
    with opened(data) as person:
        say("described", median(person, lambda: person.done("/data"), 1), DESCRIBED)
        names = re.findall(r'name="dimensions" value="([^"]+)"', person.done("/table"))
        table = {"dimensions": ["", "", *names[:2]], "responses": ["", ""], "shape": "1"}
        person.send("/table", {**person.form("/table"), **table})
        person.send("/plan", {**person.form("/plan"), "add": "reorder"})
        times = []
        for path in READ:
            person.done(path)
            times.append(median(person, partial(person.get, path)))
            say(path, times[-1], ACTION)
        for title, path, form in CLICKS:
            times.append(median(person, partial(click, person, path, form)))
            say(f"{title}, with its page", times[-1], ACTION)
        say("median of all actions", Took(*(statistics.median(one) for one in zip(*times, strict=True))), ACTION)
        cancelled(person)


def click(person: Person, path: str, form: dict[str, object]) -> str:
    """Send a form of a page as it is now."""
    sent = {name: str(next(NUMBERS)) if value == NEW else value for name, value in form.items()}
    return person.send(path, {**person.form(path), **sent})


def cancelled(person: Person) -> None:
    """A long run, stopped: until the page says so."""
    person.send("/plan", {**person.form("/plan"), "add": "generalize", "k": "50", "time_limit": "600", "after": "1"})
    watch = person.watch()
    page = person.send("/protect", {**person.form("/protect"), "run": "1"})
    say("a long run: until its progress is shown", watch.read(), CANCEL)
    found = re.search(r'data-work="(\w+)"', page)
    if found is None:
        print("(the run was over before it could be cancelled)")
        return
    form = {**person.form("/protect"), "back": "/protect"}
    watch = person.watch()
    page = person.send(f"/work/{found[1]}/cancel", form)
    say("cancelled", Took(watch.read().passed, 0.0), CANCEL)  # the processor time of what was ended is not its own
    assert "cancelled" in page


def table(folder: Path) -> None:
    """A table of 30,000 cells with a hierarchy: opened, unfolded, folded, a cell followed."""
    rng, data = random.Random(1), folder / "cells.csv"
    areas, kinds = [f"{a:02d}{b:02d}" for a in range(20) for b in range(36)], [f"k{n:02d}" for n in range(40)]
    lines = ["area,kind,value"]
    lines += [f"{area},{kind},{rng.randint(1, 9999)}" for area in areas for kind in kinds for _ in range(2)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "cells.schema.toml").write_text(
        '[[variable]]\nname = "area"\nrole = "key"\nhierarchy = { digits = [2, 2] }\n\n[[variable]]\nname = "kind"\n'
        'role = "key"\n\n[[variable]]\nname = "value"\nrole = "sensitive"\nkind = "numeric"\n', encoding="utf-8",
    )  # fmt: skip
    with opened(data) as person:
        person.done("/data")
        person.done("/table")
        form = {"dimensions": ["", "", "area", "kind"], "responses": ["", "", "value"], "shape": "1"}
        watch = person.watch()
        page = person.send("/table", {**person.form("/table"), **form})
        say("a table of 30,000 cells: first content", watch.read(), FIRST)
        page = person.done("/table")
        say("the table itself", watch.read())
        cells = re.search(r"([\d,]+) cells: ", page)
        print(f"({cells[1] if cells else 'no'} cells)")
        say("opened again", median(person, partial(person.done, "/table")), FIRST)
        say("unfold one group", median(person, partial(person.done, "/table?open=0.3")), FOLD)
        say("fold it", median(person, partial(person.done, "/table?open=0")), FOLD)
        say("unfold everything (150 rows are drawn)", median(person, partial(person.done, "/table?level=2")), FOLD)
        say("sort by a column", median(person, partial(person.done, "/table?open=0.3&sort=2")), FOLD)
        person.done("/table?open=0.3&cell=1.1")
        say("follow a cell", median(person, partial(person.done, "/table?open=0.3&cell=1.1")), FOLD)


def million(folder: Path) -> None:
    """1,000,000 records, described."""
    rng, data = random.Random(1), folder / "million.csv"
    with data.open("w", encoding="utf-8") as out:
        out.write("id,region,sex,age,education,occupation,income,weight\n")
        for number in range(1_000_000):
            out.write(
                f"{number},{rng.randint(10, 59)},{rng.choice('fm')},{rng.randint(0, 99)},{rng.randint(1, 8)},"
                f"{rng.randint(100, 499)},{rng.randint(0, 90000)},{rng.randint(20, 200)}\n"
            )
    with opened(data) as person:
        watch = person.watch()
        person.get("/data")
        say("1,000,000 records: progress shown", watch.read(), CANCEL)
        person.done("/data")
        say("1,000,000 records: described", watch.read(), DESCRIBED)


def main() -> None:
    """Measure what is asked for."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("adult", nargs="?", type=Path)
    asked.add_argument("--only", choices=("actions", "table", "million"))
    given = asked.parse_args()
    print(f"load of the machine before: {LOAD:.1f}; compared with limits: {'processor time' if BUSY else 'seconds'}")
    for name, measure in (("actions", actions), ("table", table), ("million", million)):
        if given.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                measure(_adult(given.adult, Path(folder)) if measure is actions else Path(folder))


def _adult(given: Path | None, folder: Path) -> Path:
    """The file of the actions in a folder of its own."""
    if given is not None:
        return Path(shutil.copy(given, folder))
    rng, made = random.Random(1), folder / "like_adult.csv"
    head = "age,workclass,education,marital,occupation,race,sex,country,hours,income\n"
    tops = (90, 8, 16, 7, 14, 5, 2, 41, 99, 2)
    rows = [",".join(f"{rng.randint(1, top)}" for top in tops) for _ in range(30_162)]
    made.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    return made


if __name__ == "__main__":
    main()
