"""Shared fixtures: where the real data is, few and repeatable generated examples, how many tests were skipped."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from reticent.base import clock

settings.register_profile(
    "ci",
    max_examples=6,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
settings.register_profile("deep", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

ROOT = Path(__file__).resolve().parents[1]


def shared_folder() -> Path | None:
    """The folder of real test data: RETICENT_SHARED, else ../shared beside the checkout."""
    for candidate in (os.environ.get("RETICENT_SHARED"), str(ROOT.parent / "shared")):
        if candidate and (Path(candidate) / "data").is_dir():
            return Path(candidate)
    return None


@pytest.fixture(autouse=True)
def usual_screen() -> Iterator[None]:
    """What one test asked of the command line, such as quiet, is nothing for the next."""
    yield
    screen = sys.modules.get("reticent.cli.screen")
    if screen is not None:
        screen.take_switches(())


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, one for all tests of a worker: a second one cannot be started beside it."""
    from web.browsing import browsing

    with browsing() as opened:
        yield opened


@pytest.fixture(scope="session")
def shared() -> Path:
    """Path of the shared folder, or skip."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("real data: neither RETICENT_SHARED nor ../shared is there")
    return folder


@pytest.fixture(scope="session")
def shared_data(shared: Path) -> Path:
    """Path of the real data sets, or skip."""
    return shared / "data"


@pytest.fixture(scope="session", autouse=True)
def clock_of_shared_fixtures() -> Iterator[None]:
    """What is made once for several tests has no clock of a test yet, and must not look at that of the machine either."""
    with clock.using(clock.StepClock()):
        yield


@pytest.fixture(autouse=True)
def step_clock() -> Iterator[clock.Clock]:
    """Time limits inside tests count steps: no result depends on how busy the machine is."""
    with clock.using(clock.StepClock()) as mine:
        yield mine


FEWEST_NEW = 50_000
"""New objects after which garbage is looked for: the usual 700 are for programs that have little memory."""
gc.set_threshold(FEWEST_NEW, 10, 10)
SLOW_FIRST = ("web", "jobs", "conformance", "property", "attacks", "golden", "statistical", "spec")
"""Folders whose files take long: two workers take one file after the other, and the last ones should be short."""


def _rank(item: pytest.Item) -> int:
    folder = item.path.relative_to(ROOT / "tests").parts[0]
    return SLOW_FIRST.index(folder) if folder in SLOW_FIRST else len(SLOW_FIRST)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`deep` tests run only when asked for by -m; slow folders come first."""
    items.sort(key=_rank)
    if "deep" in (config.getoption("-m") or ""):
        return
    deep = [item for item in items if "deep" in item.keywords]
    if deep:
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if "deep" not in item.keywords]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of collected tests stay until the end: the collector of garbage need not walk through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What was frozen can be collected at the end again; extensions would report it as leaked."""
    gc.unfreeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests did not run, and why."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        reasons: dict[str, int] = {}
        for report in skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reasons[reason] = reasons.get(reason, 0) + 1
        for reason, count in sorted(reasons.items()):
            terminalreporter.write_line(f"{count} tests skipped: {reason}")
