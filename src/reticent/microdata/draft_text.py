# SPDX-License-Identifier: Apache-2.0
"""Drafts as the text of a plan, with a reason at each section."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from reticent.base.randomness import STREAM_VERSION
from reticent.data.plan import PLAN_VERSION
from reticent.microdata.draft import Draft


def file_plan_text(draft: Draft, data: Path, schema: Path, secret: Path, *, most: float, advice: str = "") -> str:
    """A draft as the text of a plan, with a reason at each step; `advice` is what to do first where it is not held."""
    stem = data.stem
    warned = f"# {advice}\n" if advice else ""
    parts = [
        f"{warned}# Protect {data.name}. Run:  reticent protect THIS FILE. A draft: read it, change it, run it again.",
        f"version = {PLAN_VERSION}",
        _section(
            "data",
            {"path": data.name, "schema": schema.as_posix(), "secret": secret.name, "streams": STREAM_VERSION},
            "the secret repeats the run; whoever has it can undo noise",
        ),
        _section("risk", {"most": most}, "largest risk of a record, largest share of records that may be linked back"),
        *(_section("[step]", step.options, step.reason) for step in draft.steps),
        _section(
            "output",
            {
                "path": f"{stem}.safe.csv", "schema": f"{stem}.safe.schema.toml", "public_report": f"{stem}.public.html",
                "report": f"{stem}.confidential.html", "summary": f"{stem}.confidential.json",
            },
            "path, schema and public_report may leave the house; the confidential ones must not",
        ),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def database_text(
    filters: Sequence[str],
    cutpoints: Mapping[str, Any],
    responses: Mapping[str, bool],
    data: Path,
    files: tuple[Path, Path],
) -> str:
    """A database file as text; `files` are the schema and the secret."""
    schema, secret = files
    stem = data.stem
    policy = {"mode": "exact", "minimum": 3, "filters": list(filters), "responses": list(responses)}
    parts = [
        f'# Answer queries about {data.name}. Ask:  reticent ask THIS FILE "SELECT …" --user NAME. A draft: read it, change it.',
        _section(
            "data",
            {"path": data.name, "schema": schema.as_posix(), "secret": secret.name, "name": stem, "version": "1"},
            "the ledger belongs to one data set and its versions",
        ),
        _section("ledger", {"path": f"{stem}.ledger", "anchor": f"{stem}.anchor"}, "keep the anchor on another disk"),
        _section(
            "policy",
            policy,
            "fewest respondents in a set; variables to select by (GROUP BY needs their codes in the schema); variables to add up",
        ),
        *([_section("policy.cutpoints", cutpoints, "numbers are compared with these only")] if cutpoints else []),
        *(
            _section(f"policy.bounds.{_inline_key(name)}", {"low": 0}, "what everybody knows")
            for name, positive in responses.items()
            if positive
        ),
    ]
    return "\n\n".join(parts) + "\n"


def table_plan_text(by: Sequence[str], response: str | None, data: Path, schema: Path, *, ending: str = "csv") -> str:
    """A plan for a table as text, with a reason at each part."""
    threshold: dict[str, Any] = {"rule": "threshold", "minimum": 3}
    rules = [threshold] if response is None else [{"rule": "p-percent", "p": 15}, {**threshold, "protection": 20}]
    table = {"dimensions": list(by), **({} if response is None else {"response": response}), "rules": rules}
    stem = data.stem
    parts = [
        f"# Protect a table of {data.name}. Run:  reticent table THIS FILE. A draft: read it, change it, run it again.",
        f"version = {PLAN_VERSION}",
        _section("data", {"path": data.name, "schema": schema.as_posix()}, ""),
        _section("table", table, "cells that a rule calls unsafe are hidden, and others with them"),
        _section("protect", {"method": "heuristic", "time_limit": 300}, "seconds, at most; most tables need few"),
        _section(
            "output",
            {"path": f"{stem}.table.{ending}", "report": f"{stem}.table.confidential.html"},
            "path may leave the house; the report must not",
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _section(name: str, options: Mapping[str, Any], comment: str) -> str:
    head = f"[{name}]" + (f"  # {comment}" if comment else "")
    return "\n".join([head, *(f"{_inline_key(key)} = {_inline(value)}" for key, value in options.items())])


def _inline_key(name: str) -> str:
    """A name as the key of a TOML table."""
    return tomli_w.dumps({name: 0}).partition(" = ")[0]


def _inline(value: Any) -> str:
    """A value of TOML on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_inline(key)} = {_inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return tomli_w.dumps({"x": value}).partition(" = ")[2].rstrip("\n")
