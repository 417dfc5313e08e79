"""`reticent demo`: the main job on bundled data, told as a short story on the terminal."""

import shutil
from importlib import resources
from pathlib import Path

import typer
from rich.console import Console
from rich.panel import Panel

from reticent.base.errors import NotProtectedError
from reticent.cli.progress_bar import progress_bar
from reticent.cli.screen import open_console, tagged

FILES = (
    "people.csv",
    "people.schema.toml",
    "people.plan.toml",
    "firms.csv",
    "firms.schema.toml",
    "firms.plan.toml",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    output: Path = typer.Option(Path("demo-output"), "--output", "-o", help="Folder for data and reports."),
) -> None:
    """Protect a bundled microdata file and a bundled table, and show what the attacker found."""
    console = open_console()
    output.mkdir(parents=True, exist_ok=True)
    bundled = resources.files("reticent") / "demo_data"
    for name in FILES:
        with resources.as_file(bundled / name) as source:
            shutil.copyfile(source, output / name)
    _people(console, output)
    _firms(console, output)
    console.print(Panel(_reports(output), title="Open these in a browser", title_align="left", expand=False))
    console.print(
        f"To do the same by looking and clicking: reticent open {output / 'people.plan.toml'}", highlight=False
    )


def _people(console: Console, folder: Path) -> None:
    from reticent.cli.protect import show_file_result
    from reticent.jobs.protect_file import run_file_plan

    console.rule("1  A microdata file: people.csv")
    with progress_bar("people") as progress:
        run = run_file_plan(folder / "people.plan.toml", progress=progress)
    show_file_result(console, run.result)


def _firms(console: Console, folder: Path) -> None:
    from reticent.cli.table import show_table_result
    from reticent.jobs.protect_table import run_table_plan

    console.rule("2  A table: turnover by industry and size class")
    plan = folder / "firms.plan.toml"
    text = plan.read_text(encoding="utf-8")
    bare, shown = folder / "firms-bare.plan.toml", folder / "firms-primary-only.plan.toml"
    bare.write_text(_primary_only(text), encoding="utf-8")
    console.print("Hiding only the unsafe cells (method = primary-only):")
    try:
        run_table_plan(bare)
    except NotProtectedError as err:
        console.print(tagged("refused", "bold red", f" {err}"))
    bare.unlink()
    console.print("\nThe same with accept_exposed = true, to see which cells are exposed:")
    shown.write_text(_primary_only(text, "accept_exposed = true"), encoding="utf-8")
    with progress_bar("table") as progress:
        show_table_result(console, run_table_plan(shown, progress=progress))

    console.print(
        "\nThe plan itself hides further cells (method = heuristic), and the attacker finds nothing too close:"
    )
    with progress_bar("table") as progress:
        show_table_result(console, run_table_plan(plan, progress=progress))


def _primary_only(text: str, more: str = "") -> str:
    """The plan with unsafe cells hidden and nothing else; its outputs have names of their own."""
    inputs = ("firms.csv", "firms.schema.toml")
    lines = text.replace('"firms.', '"firms-primary-only.')
    for name in inputs:
        lines = lines.replace(name.replace("firms.", "firms-primary-only."), name)
    return lines.replace('method = "heuristic"', f'method = "primary-only"\n{more}'.rstrip())


def _reports(folder: Path) -> str:
    rows = (
        ("people.public.html", "for users of the file"),
        ("people.confidential.html", "for the data protector"),
        ("firms.public.html", "for users of the table"),
        ("firms.confidential.html", "for the data protector: the protected table"),
        ("firms-primary-only.confidential.html", "for the data protector: exposed cells and their intervals"),
    )
    return "\n".join(f"{folder / name}  {what}" for name, what in rows)
