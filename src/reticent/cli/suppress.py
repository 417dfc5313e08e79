# SPDX-License-Identifier: Apache-2.0
"""`reticent suppress FILE.jj` and `reticent audit FILE`: protect a problem file, attack a pattern or a plan."""

from pathlib import Path

import typer

from reticent.base.errors import NotProtectedError, ParameterError
from reticent.cli.grid import show_rows
from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged
from reticent.cli.table import relations_shown, show_inside, show_table_result

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
    """Choose the cells to hide so that no unsafe cell can be undone, at the least cost."""
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
        None, help="For a plan: what sole respondents of a cell are kept from, exact or protect."
    ),
    coalition: int | None = typer.Option(None, min=1, max=4, help="This many of them put together what they know."),
    single: str = typer.Option("", help="For a JJ file: ids of cells with one respondent, each a different one."),
    certificate: Path | None = typer.Option(
        None, help="Write a proof that `reticent verify` re-checks (confidential)."
    ),
    json_out: Path | None = JSON,
) -> None:
    """Attack a pattern: the interval of every hidden cell, and which unsafe cells are exposed."""

    for written in (certificate, json_out):
        check_answer(written, [file, *map(Path, filter(None, (suppressed, single)))])
    if file.suffix.lower() == ".jj":
        if response is not None:
            raise ParameterError("audit: --response belongs to plans; a JJ file has one table.")
        _audit_jj(file, suppressed, single, insiders or "exact", coalition or 1, json_out)
        if certificate is not None:
            _certify_jj(file, suppressed, certificate)
    elif file.suffix.lower() == ".toml":
        if suppressed or single:
            raise ParameterError("audit: --suppressed and --single belong to JJ files; a plan says it itself.")
        _audit_plan(file, response, insiders, coalition, certificate, json_out)
    else:
        raise ParameterError(f"audit: the file must end in .jj or .toml, got {file.name!r}.")


def _audit_jj(file: Path, suppressed: str, single: str, insiders: str, coalition: int, json_out: Path | None) -> None:
    from reticent.jobs.jj import Attacker, audit_jj, audit_jj_inside

    attacker = Attacker(insiders=insiders, coalition=coalition)  # type: ignore[arg-type]
    if not suppressed:
        raise ParameterError("audit: a JJ file needs --suppressed with the hidden ids.")
    if not single and (insiders != "exact" or coalition > 1):
        raise ParameterError("audit: --insiders and --coalition need --single with the ids of one respondent each.")
    with progress_bar("audit") as progress:
        found = audit_jj(file, suppressed, progress=progress)
    give_answer(found, json_out)
    exposed = {cell: row for cell, row in found.items() if row["exposed"]}
    console = open_console()
    console.print(f"{len(found)} hidden cells, {len(exposed)} exposed")
    if exposed:
        rows = []
        for cell, row in list(exposed.items())[:SHOWN]:
            words = [item["words"] for item in row.get("revealed_by", ())]
            attack = f"{_all_digits(row['low'])} to {_all_digits(row['high'])}"
            required = f"{_all_digits(row['required_low'])} to {_all_digits(row['required_high'])}"
            rows.append((cell, attack, required, relations_shown(words)))
        show_rows(console, ("cell", "attack interval", "required", "revealed by"), rows, words=("revealed by",))
    if single:
        with progress_bar("audit from inside") as progress:
            closer = audit_jj_inside(file, suppressed, single, attacker, progress=progress)
        show_inside(console, closer, str)


def _all_digits(value: float | None) -> str:
    return "no limit" if value is None else f"{value:,}"


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
        "without proof. Make it anew with `reticent audit --certificate`.",
        exposed=len(found.unproved),
    )


def _certify_jj(file: Path, suppressed: str, path: Path) -> None:
    from reticent.jobs.jj import certificate_jj

    with progress_bar("certificate") as progress:
        unproved = certificate_jj(file, suppressed, path, progress=progress)
    _show_certificate(path, unproved)


def _show_certificate(path: Path, unproved: int) -> None:
    open_console().print(tagged("certificate", "dim", f" {path.name}: {unproved} unsafe cells without proof"))


def _audit_plan(
    file: Path,
    response: str | None,
    insiders: str | None,
    coalition: int | None,
    certificate: Path | None,
    json_out: Path | None,
) -> None:
    from reticent.jobs.protect_table import audit_plan, audit_plans, summaries, write_certificates

    with progress_bar("audit") as progress:
        if response is None:
            results = audit_plans(file, insiders=insiders, coalition=coalition, progress=progress)
        else:
            results = (audit_plan(file, response=response, insiders=insiders, coalition=coalition, progress=progress),)
    console = open_console()
    for result in results:
        if len(results) > 1:
            console.print(f"response {result.response}", style="bold", markup=False, highlight=False)
        show_table_result(console, result)
    for own, unproved in write_certificates(results, certificate).items() if certificate is not None else ():
        _show_certificate(own, len(unproved))
    give_answer(summaries(results), json_out)
