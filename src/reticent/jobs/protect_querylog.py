# SPDX-License-Identifier: Apache-2.0
"""The job that protects a query log: read log and taxonomy, protect, write the log and its reports."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from reticent.base.errors import DataError, PlanError
from reticent.base.progress import Progress, part, silent
from reticent.base.randomness import STREAM_VERSION, Secret, check_streams, release_secret, secret_note
from reticent.data.parameters import Parameters, build
from reticent.data.plan import read_toml, sections_of
from reticent.io.atomic import write_text
from reticent.io.places import check_places, inputs_of
from reticent.io.query_log import check_query_log_path, read_query_log, write_query_log
from reticent.io.taxonomy import read_taxonomy
from reticent.jobs.streams import check_recorded_streams, streams_note
from reticent.querylogs.protect import LogOptions, LogResult, protect_log
from reticent.querylogs.scrub import Scrubber
from reticent.report.page import form_of
from reticent.report.querylog_report import querylog_report

SECTIONS = ("data", "taxonomy", "scrub", "protect", "output")


@dataclass(frozen=True)
class LogData(Parameters):
    """`[data]`: the log and its columns, and the secret that its draws come from."""

    called: ClassVar[str] = "[data]"
    path: str
    user: str = "user"
    query: str = "query"
    time: str | None = None
    category: str | None = None
    click: str | None = None
    secret: str | int | None = None
    test_secret: bool = False
    streams: int | None = None

    def __post_init__(self) -> None:
        check_streams(self.streams, owner="[data]")


@dataclass(frozen=True)
class LogTaxonomy(Parameters):
    """`[taxonomy]`: the tree of categories; format is reticent, iab or wordnet."""

    path: str
    format: str = "reticent"


@dataclass(frozen=True)
class LogScrub(Parameters):
    """`[scrub]`: direct identifiers in the queries."""

    on: bool = True
    region: str = field(default="US", metadata={"help": "country whose way of writing telephone numbers is known"})
    names: str | None = field(default=None, metadata={"help": "a file with one given name per line"})


@dataclass(frozen=True)
class LogOutput(Parameters):
    """`[output]`: the published log; report and summary are confidential."""

    path: str
    report: str | None = None
    summary: str | None = None


@dataclass(frozen=True)
class LogPlan(Parameters):
    """A plan for a query log."""

    data: LogData
    taxonomy: LogTaxonomy
    output: LogOutput
    scrub: LogScrub = field(default_factory=LogScrub)
    protect: LogOptions = field(default_factory=LogOptions)
    folder: Path = field(default=Path(), compare=False)
    source: Path | None = field(default=None, compare=False)


def read_log_plan(path: Path) -> LogPlan:
    """The plan as its file has it."""
    table = read_toml(path)
    table = sections_of(table, SECTIONS, owner=path.name)
    return replace(build(LogPlan, table, owner=path.name), folder=path.parent, source=path)


def run_log_file(path: Path, *, progress: Progress = silent) -> tuple[LogResult, tuple[tuple[str, str], ...]]:
    """Run the plan of a file: what was found, and what was written: whether a file may leave, and its name."""
    plan = read_log_plan(path)
    found, _ = run_log_plan(plan, progress=progress)
    names = (
        ("publishable", plan.output.path),
        ("confidential", plan.output.report),
        ("confidential", plan.output.summary),
    )
    return found, tuple((what, name) for what, name in names if name)


def run_log_plan(plan: LogPlan, *, progress: Progress = silent) -> tuple[LogResult, Secret]:
    """Protect the log of a plan and write everything its [output] names."""
    if plan.data.secret is None and not plan.output.summary:
        raise PlanError(
            "[output]: no secret is given, and one that is drawn is kept in the summary; name a summary, or give [data] secret."
        )
    source = plan.folder / plan.data.secret if isinstance(plan.data.secret, str) else plan.data.secret
    secret = release_secret(source, test=plan.data.test_secret, owner="query log")
    check_recorded_streams(plan.data, plan.folder / plan.output.summary if plan.output.summary else None)
    check_query_log_path(plan.folder / plan.output.path)
    names = (plan.output.path, plan.output.report, plan.output.summary)
    own = () if plan.source is None else (plan.source,)
    check_places((plan.folder / name for name in names if name), (*own, *inputs_of(plan, plan.folder)))
    scrubber = _scrubber(plan)
    progress(0.0, "reading")
    taxonomy = read_taxonomy(plan.folder / plan.taxonomy.path, plan.taxonomy.format)
    log = read_query_log(
        plan.folder / plan.data.path, user=plan.data.user, query=plan.data.query, time=plan.data.time,
        category=plan.data.category, click=plan.data.click,
    )  # fmt: skip
    found = protect_log(
        log, taxonomy, options=plan.protect, secret=secret, scrubber=scrubber, progress=part(progress, 0.1, 0.95)
    )  # fmt: skip
    said = (secret_note(secret), *streams_note(plan.data, plan.output.summary))
    note = " ".join(sentence for sentence in said if sentence) or None
    if plan.output.report:
        write_text(plan.folder / plan.output.report, querylog_report(found, note, form=form_of(plan.output.report)))
    if plan.output.summary:
        kept = {"secret": secret.to_hex()} if plan.data.secret is None else {}
        plain = {**found.summary(), "streams": STREAM_VERSION, **({"note": note} if note else {}), **kept}
        write_text(plan.folder / plan.output.summary, json.dumps(plain, indent=2) + "\n")
    write_query_log(found.masked, plan.folder / plan.output.path)
    return found, secret


def _scrubber(plan: LogPlan) -> Scrubber | None:
    if not plan.scrub.on:
        return None
    if plan.scrub.names is None:
        return Scrubber(plan.scrub.region)
    path = plan.folder / plan.scrub.names
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path.name}: the list of names cannot be read.") from None
    return Scrubber(plan.scrub.region, frozenset(line.strip() for line in lines if line.strip()))
