"""How quick the workbench is: pages and clicks on a data file, in milliseconds, on a machine that does nothing else.

    python scripts/measure_workbench.py DATA.csv [REPEATS]

The file is copied into a folder of its own, opened as a person opens it, and asked over HTTP; drawing comes on top.
"""

import http.cookiejar
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READ = ("/data", "/describe", "/plan", "/plan?add=recode", "/plan?edit=text", "/protect")
WAIT = 0.2


class Person:
    """Somebody with a browser that only reads and sends."""

    def __init__(self, entrance: str, address: str) -> None:
        self.address = address
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self._opener.open(entrance).read()

    def get(self, path: str) -> str:
        """Read a page."""
        return str(self._opener.open(self.address + path).read().decode())

    def send(self, path: str, form: dict[str, str]) -> None:
        """Send a form and follow where it leads."""
        page = self.get(path)
        hidden = {name: re.findall(rf'name="{name}" value="(\w+)"', page)[-1] for name in ("form-token", "version")}
        data = urllib.parse.urlencode({**hidden, **form}).encode()
        asked = urllib.request.Request(self.address + path, data=data, headers={"Origin": self.address})
        self._opener.open(asked).read()

    def until(self, path: str, sign: str) -> None:
        """Read a page until it has what it was computing."""
        while sign not in self.get(path):
            time.sleep(WAIT)


def timed(action: Callable[[], object], repeats: int) -> float:
    """The median of several times, in milliseconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)


def measure(person: Person, repeats: int) -> None:
    """First the description, then every page and the usual clicks."""
    shown = 'class="figures"'
    say("described, first time", timed(lambda: person.until("/data", shown), 1))
    for path in READ:
        say(path, timed(partial(person.get, path), repeats))
    clicks = {
        "add a step": {"add": "reorder"},
        "switch it off": {"switch": "1"},
        "undo": {"to": "undo"},
        "redo": {"to": "redo"},
    }
    for title, form in clicks.items():
        say(f"{title}, with its page", timed(partial(person.send, "/plan", form), repeats))


def say(what: str, milliseconds: float) -> None:
    """One line of the result."""
    print(f"{what:32}{milliseconds:10.0f} ms")


def main() -> None:
    """Open the file, measure, stop."""
    data, repeats = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(data, folder)
        server = subprocess.Popen(
            [sys.executable, "-m", "reticent", "open", data.name, "--no-browser"],
            cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        try:
            assert server.stdout is not None
            found = re.search(r"(http://[\d.:]+)/enter\S+", server.stdout.readline())
            assert found
            measure(Person(found[0], found[1]), repeats)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
