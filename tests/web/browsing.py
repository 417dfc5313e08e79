"""A workbench in a process of its own and a browser that looks at it, for tests."""

import contextlib
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import reticent

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = Path(reticent.__file__).parent / "demo_data"
PATIENCE = 900_000
"""Milliseconds that even a loaded machine hardly takes for anything; only what never comes fails by it."""
MOST_TABS = 2_000
SEEN = """async element => {
  const style = getComputedStyle(element), frame = () => new Promise(requestAnimationFrame);
  const bar = element.closest(".top") ? 0 : document.querySelector(".top").getBoundingClientRect().bottom;
  for (let frames = 0; frames < 100; frames++) {
    const place = element.getBoundingClientRect();
    if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 && place.bottom > bar && place.top < innerHeight)
      return true;
    await frame();
  }
  return false;
}"""
"""Whether the mark of what has the focus is seen; the browser scrolls to it in a later frame."""
OTHER_WAY = {"Tab": "Shift+Tab", "Shift+Tab": "Tab"}
STOPS = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.type !== "hidden")"""
AHEAD = f"wanted => {{ const all = {STOPS}; return all.indexOf(wanted) - all.indexOf(document.activeElement); }}"
"""About how many keys something is away, below 0 if it lies behind; the last ones are pressed one by one."""
NEAR = f"wanted => {{ const all = {STOPS}; all[Math.max(all.indexOf(wanted) - 3, 0)].focus(); }}"
"""Stand three stops before something."""
PLACE = """(list, value) => {
  const all = [...list.options].filter(one => !one.disabled).map(one => one.value);
  return [all.indexOf(value), all.length - 1 - all.indexOf(value)];
}"""
"""How many choices of a list lie before one, and how many behind it."""
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first one draws the same pages in about two thirds of the processor time."""
QUIET = "body:not(:has(progress))"
"""A page that waits for work is fetched again when that is over, and a key pressed just then would be lost."""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]


class Server:
    """`reticent open` as a person starts it, in a terminal: Enter gives another address that works once."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._keys, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reticent", "open", *arguments, "--no-browser"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=terminal, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}, start_new_session=True,
        )  # fmt: skip
        os.close(terminal)
        self.said = ""
        self._entrance = self._address()
        self.address = self._entrance.rpartition("/enter")[0]

    def entrance(self) -> str:
        """An address that nobody has used."""
        if not self._entrance:
            os.write(self._keys, b"\n")
            self._entrance = self._address()
        found, self._entrance = self._entrance, ""
        return found

    def _address(self) -> str:
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            self.said += line
            found = re.search(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]+", line)
            if found:
                return found[0]
            assert line, f"the server has ended: {self.said}"

    def stop(self, how: int = signal.SIGINT) -> str:
        """End it; gives everything that it printed."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        rest, _ = self.process.communicate(timeout=PATIENCE / 1000)
        os.close(self._keys)
        self.said += rest
        return self.said

    def kill(self) -> None:
        """End it and everything that it started, unless it was stopped; its number is its own as long as nobody has waited."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.stop(signal.SIGKILL)


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    """A server for a while."""
    server = Server(folder, *arguments)
    try:
        yield server
    finally:
        server.kill()


@contextlib.contextmanager
def browsing() -> Iterator[Any]:
    """Debian's chromium, without its windows if that is there; with neither the test is skipped and counted."""
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        pytest.skip("browser: chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as session:
        opened = session.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
        )
        try:
            yield opened
        finally:
            opened.close()


def axe_of(page: Any, *, contrast: bool = True, only: str = "") -> list[str]:
    """What axe finds on a page against WCAG 2.2, A and AA; contrast takes longest and is the same at every width.

    With `only` it looks for what breaks one rule.
    """
    package = pytest.importorskip("axe_playwright_python")
    if not page.evaluate("'axe' in window"):
        page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    asked = {"runOnly": TAGS, "rules": {"color-contrast": {"enabled": contrast}}, "resultTypes": ["violations"]}
    asked = {**asked, "runOnly": {"type": "rule", "values": [only]}, "rules": {}} if only else asked
    found = page.evaluate("asked => axe.run(asked)", asked)
    return [f"{one['id']}: {node['html'][:150]}" for one in found["violations"] for node in one["nodes"]]


def follow(page: Any, what: str) -> None:
    """Click, and wait for the page that this leads to: until it is there, the one before can still be read."""
    with page.expect_navigation():
        page.click(what)


class Watched:
    """A page, and what it did behind one's back: requests elsewhere, broken policy, errors, dialogs."""

    def __init__(self, context: Any, server: Server) -> None:
        context.set_default_timeout(PATIENCE)
        self.page = context.new_page()
        self.server = server
        self.clicks = 0
        self.problems: list[str] = []
        self.addresses: list[str] = []
        self.page.on("request", self._request)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        self.page.on("dialog", self._dialog)

    def _request(self, request: Any) -> None:
        self.addresses.append(request.url)
        if not request.url.startswith((self.server.address, "data:")):
            self.problems.append(f"asked elsewhere: {request.url}")

    def _console(self, message: Any) -> None:
        if "Content Security Policy" in message.text or "Refused" in message.text:
            self.problems.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        if dialog.type == "beforeunload":
            dialog.accept()
        else:
            self.problems.append(f"dialog: {dialog.type}")
            dialog.dismiss()

    def go(self, path: str) -> Any:
        """Open an address of the server."""
        return self.page.goto(f"{self.server.address}{path}")

    def click(self, what: str) -> None:
        """Follow a link or press a button, and count it; the page that it leads to is there afterwards."""
        self.clicks += 1
        follow(self.page, what)

    def check(self, what: str) -> None:
        """Tick a box; that is a click as well."""
        self.clicks += 1
        self.page.check(what)

    def choose(self, what: str, value: str) -> None:
        """Choose from a list; that is a click as well."""
        self.clicks += 1
        self.page.select_option(what, value)

    def fill(self, what: str, text: str) -> None:
        """Write into a field in place of what it has."""
        self.page.fill(what, text)

    def shows(self, what: str, count: int) -> None:
        """Wait until the page has this many of something: a page with running work is fetched again when that is over."""
        playwright = pytest.importorskip("playwright.sync_api")
        playwright.expect(self.page.locator(what)).to_have_count(count, timeout=PATIENCE)

    def axe(self, only: str = "") -> list[str]:
        """What axe finds against WCAG 2.2, A and AA, or against one rule."""
        return axe_of(self.page, only=only)


class Keyed(Watched):
    """A page without a mouse: Tab leads to everything, and where one is can be seen.

    Each page is walked from where one stands the first time; later the walk starts three stops before its end, because a
    key takes as long as ten looks at a page.
    """

    def __init__(self, context: Any, server: Server) -> None:
        super().__init__(context, server)
        self._walked: set[str] = set()

    def reach(self, what: str) -> Any:
        """Press Tab until something has the focus; it must be marked as having it, and not lie under the top bar."""
        self.page.wait_for_load_state()
        self.page.wait_for_selector(QUIET, state="attached")
        self.page.wait_for_load_state()  # a page that was fetched again moves the focus once it is there
        wanted = self.page.wait_for_selector(what, state="attached")
        key = self._walk_near(wanted)
        for _ in range(MOST_TABS):
            if self.page.evaluate("element => document.activeElement === element", wanted):
                if self.page.evaluate(SEEN, wanted):
                    return wanted
                # a page that was fetched again goes back to where it stood, even if the focus has moved on
                self.page.keyboard.press(OTHER_WAY[key])
            self.page.keyboard.press(key)
        raise AssertionError(f"{key} never reaches {what}")

    def _walk_near(self, wanted: Any) -> str:
        """Go to a few stops from something; gives the key that leads on."""
        path = urlsplit(self.page.url).path
        if path in self._walked:
            self.page.evaluate(NEAR, wanted)
            return "Tab"
        self._walked.add(path)
        ahead = self.page.evaluate(AHEAD, wanted)
        key = "Tab" if ahead > 0 else "Shift+Tab"
        for _ in range(abs(ahead) - 2):  # looking after each key takes longer than the key
            self.page.keyboard.press(key)
        return key

    def click(self, what: str) -> None:
        """Follow a link or press a button with Enter."""
        wanted = self.reach(what)
        self.clicks += 1
        with self.page.expect_navigation():
            wanted.press("Enter")

    def check(self, what: str) -> None:
        """Tick a box with the space bar."""
        box = self.reach(what)
        self.clicks += 1
        if not box.is_checked():
            self.page.keyboard.press("Space")

    def choose(self, what: str, value: str) -> None:
        """Go through a list with the arrow keys."""
        listed = self.reach(what)
        self.clicks += 1
        place, behind = listed.evaluate(PLACE, value)
        self.page.keyboard.press("Home" if place <= behind else "End")
        for _ in range(min(place, behind)):
            self.page.keyboard.press("ArrowDown" if place <= behind else "ArrowUp")
        assert listed.evaluate("list => list.value") == value, f"the arrow keys do not find {value} in {what}"

    def fill(self, what: str, text: str) -> None:
        """Select what a field has, and type."""
        self.reach(what)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)


def open_page(
    browser: Any, server: Server, data: Path | None = None, *, keyboard: bool = False, **options: Any
) -> Watched:
    """A new browser profile that has entered by the one-time address; with `keyboard` it has no mouse.

    With `data` it opens this file: a server that others have used before stands at what they had.
    """
    kind = Keyed if keyboard else Watched
    watched = kind(browser.new_context(viewport={"width": 1440, "height": 1000}, **options), server)
    watched.page.goto(server.entrance())
    watched.page.wait_for_url("**/data")
    if data is not None:
        watched.go("/data?open=another")
        watched.page.fill("#path", str(data))
        follow(watched.page, 'button:text-is("Open")')
        watched.page.wait_for_selector(".figures")
    return watched
