# SPDX-License-Identifier: Apache-2.0
"""`reticent suppress FILE.jj` and `reticent audit FILE`: protect a problem file, attack a pattern or a plan."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from reticent.base.errors import NotProtectedError, ParameterError
from reticent.base.words import THIN
from reticent.cli.grid import show_rows
from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged
from reticent.cli.table import relations_shown, show_inside, show_table_result

if TYPE_CHECKING:
    from reticent.jobs.audit import Audited, AuditQuestion

SHOWN = 12


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("suppress")(suppress)
    app.command("audit")(audit)
    app.command("verify")(verify)


def suppress(
    file: Path = typer.Argument(..., help="A JJ file."),
    method: str = typer.Option("heuristic", help="heuristic, optimal, modular, hypercube, elimination or network."),
    cost: str = typer.Option("own", help="own (the file's), unity, value, log, power or distance."),
    time_limit: float = typer.Option(
        60.0, help="Seconds, the audit included; the best safe pattern found by then is the answer."
    ),
    json_out: Path | None = JSON,
) -> None:
    """Choose the cells to hide so that no unsafe cell can be worked out, at the least cost."""
    from reticent.jobs.jj import suppress_jj

    check_answer(json_out, (file,))
    with progress_bar("suppress") as progress:
        found = suppress_jj(file, method=method, cost=cost, time_limit=time_limit, progress=progress).summary()
    give_answer(found, json_out)
    bound = found["bound"]
    gap = "" if bound is None else f"{100 * (found['cost'] - bound) / max(bound, 1e-9):.2f} %"
    shown = {
        "hidden": str(len(found["suppressed"])),
        "secondaries": str(found["secondaries"]),
        "cost": f"{found['cost']:,.2f}",
        "bound": "none" if bound is None else f"{bound:,.2f}",
        "gap": gap,
        "seconds": f"{found['seconds']:.1f}",
        "exposed": str(len(found["exposed"])),
    }
    show_rows(open_console(), list(shown), [list(shown.values())], title=f"{file.name}: {found['status']}")


def audit(
    file: Path = typer.Argument(..., help="A JJ file, or a table plan (TOML)."),
    suppressed: str = typer.Option("", help="For a JJ file: hidden ids (3,7,12), or a file of them or of `suppress`."),
    response: str | None = typer.Option(None, help="For a plan of several responses: only this one."),
    insiders: str | None = typer.Option(
        None,
        help="For a plan: what the sole respondent of a cell must not learn of others, exact (values) or protect (levels).",
    ),
    coalition: int | None = typer.Option(None, min=1, max=4, help="Number of them who combine what they know."),
    single: str = typer.Option("", help="For a JJ file: ids of cells with one respondent, each a different one."),
    certificate: Path | None = typer.Option(
        None, help="Write a proof that `reticent verify` re-checks (confidential)."
    ),
    json_out: Path | None = JSON,
) -> None:
    """Attack a pattern: the interval of every hidden cell, and which unsafe cells are exposed."""
    from reticent.jobs.audit import AuditQuestion, run_audit

    for written in (certificate, json_out):
        check_answer(written, [file, *map(Path, filter(None, (suppressed, single)))])
    asked = AuditQuestion(file, suppressed, single, response, insiders, coalition, certificate)
    _check_question(asked)
    with progress_bar("audit") as progress:
        found = run_audit(asked, progress=progress)
    give_answer(found.summary(), json_out)
    console = open_console()
    if asked.of_numbers:
        _show_numbers(console, found)
    for result in found.tables:
        if len(found.tables) > 1:
            console.print(f"response {result.response}", style="bold", markup=False, highlight=False)
        show_table_result(console, result)
    for place, unproved in found.certificates.items():
        console.print(tagged("certificate", "dim", f" {place.name}: {unproved} unsafe cells without proof"))


def _check_question(asked: "AuditQuestion") -> None:
    """Options that would be ignored are refused."""
    if asked.file.suffix.lower() not in (".jj", ".toml"):
        raise ParameterError(f"audit: the file must end in .jj or .toml, got {asked.file.name!r}.")
    if not asked.of_numbers:
        if asked.suppressed or asked.single:
            raise ParameterError("audit: --suppressed and --single belong to JJ files; a plan says it itself.")
        return
    if asked.response is not None:
        raise ParameterError("audit: --response belongs to plans; a JJ file has one table.")
    if not asked.suppressed:
        raise ParameterError("audit: a JJ file needs --suppressed with the hidden ids.")
    if not asked.single and ((asked.insiders or "exact") != "exact" or (asked.coalition or 1) > 1):
        raise ParameterError("audit: --insiders and --coalition need --single with the ids of one respondent each.")


def _show_numbers(console: Console, found: "Audited") -> None:
    exposed = {cell: row for cell, row in found.rows.items() if row["exposed"]}
    console.print(f"{len(found.rows)} hidden cells, {len(exposed)} exposed")
    if exposed:
        rows = []
        for cell, row in list(exposed.items())[:SHOWN]:
            words = [item["words"] for item in row.get("revealed_by", ())]
            attack = f"{_all_digits(row['low'])} to {_all_digits(row['high'])}"
            required = f"{_all_digits(row['required_low'])} to {_all_digits(row['required_high'])}"
            rows.append((cell, attack, required, relations_shown(words)))
        show_rows(console, ("cell", "attack interval", "required", "revealed by"), rows, words=("revealed by",))
    if found.inside is not None:
        show_inside(console, found.inside, str)


def _all_digits(value: float | None) -> str:
    return "no limit" if value is None else f"{value:,}".replace(",", THIN)


def verify(
    file: Path = typer.Argument(..., help="A certificate written by `reticent audit --certificate`."),
    json_out: Path | None = JSON,
) -> None:
    """Re-check a certificate in integers, with code that shares nothing with the attack or the methods."""
    from reticent.jobs.jj import verify_certificate

    check_answer(json_out, (file,))
    found = verify_certificate(file)
    give_answer(vars(found), json_out)
    console = open_console()
    for fault in found.faults[:SHOWN]:
        console.print(tagged("fault:", "red", f"{fault}"))
    if found.sound:
        console.print(tagged("sound:", "green", f"all {len(found.proved)} unsafe cells are proved."))
        return
    total = len(found.proved) + len(found.unproved)
    raise NotProtectedError(
        f"verify: the certificate has {len(found.faults)} faults and leaves {len(found.unproved)} of {total} unsafe cells "
        "without proof. Make it again with `reticent audit --certificate`.",
        exposed=len(found.unproved),
    )
