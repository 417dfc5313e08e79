# SPDX-License-Identifier: Apache-2.0
"""`reticent delegate keys|encrypt|evaluate|verify`: hand a computation to somebody who must not see the data."""

from pathlib import Path

import typer

from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import JSON, check_answer, give_answer, open_console, tagged


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands = typer.Typer(
        no_args_is_help=True, help="Computation on encrypted data by somebody without the key, verified by the owner."
    )
    commands.command("keys")(keys)
    commands.command("encrypt")(encrypt)
    commands.command("evaluate")(evaluate)
    commands.command("verify")(verify)
    app.add_typer(commands, name="delegate")


_PLAN = typer.Argument(..., help="The delegation, a TOML file.")


def keys(plan: Path = _PLAN, json_out: Path | None = JSON) -> None:
    """Owner: make the keys of a delegation."""
    from reticent.jobs.delegate import write_keys

    check_answer(json_out, (plan,))
    target = write_keys(plan)
    give_answer({"written": target}, json_out)
    open_console().print(tagged("secret", "dim", f" {target.name}: stays with the owner"), highlight=False)


def encrypt(plan: Path = _PLAN, json_out: Path | None = JSON) -> None:
    """Owner: encrypt the columns and write the request for the handler."""
    from reticent.jobs.delegate import write_request

    check_answer(json_out, (plan,))
    with progress_bar("encrypt") as progress:
        target = write_request(plan, progress=progress)
    give_answer({"written": target}, json_out)
    open_console().print(f"for the handler  {target.name} ({target.stat().st_size / 1e6:.1f} MB)", highlight=False)


def evaluate(
    request: Path = typer.Argument(..., help="The request, as the owner sent it."),
    output: Path = typer.Option(Path("response.bin"), "--output", "-o", help="Where to write the response."),
    json_out: Path | None = JSON,
) -> None:
    """Handler: compute on the encrypted columns; needs no key."""
    from reticent.jobs.delegate import write_response

    check_answer(json_out, (request,))
    with progress_bar("evaluate") as progress:
        target = write_response(request, output, progress=progress)
    give_answer({"written": target}, json_out)
    open_console().print(f"for the owner  {target.name}", highlight=False)


def verify(plan: Path = _PLAN, json_out: Path | None = JSON) -> None:
    """Owner: decrypt and verify the response; anything that was not asked for is refused."""
    from reticent.jobs.delegate import verify_response

    check_answer(json_out, (plan,))
    with progress_bar("verify") as progress:
        found = verify_response(plan, progress=progress)
    give_answer(found.summary(), json_out)
    console = open_console()
    for name, value in found.results.items():
        console.print(f"{name}: {'divided by zero' if value is None else value}", highlight=False, markup=False)
    how = (
        f"a wrong result passes with probability at most {found.passing:.1e}"
        if found.passing is not None
        else "by parity alone: an even change would pass"
    )
    console.print(
        tagged("verified:", "green", f"{how}; verification read {found.rows} rows of plain data."), highlight=False
    )
