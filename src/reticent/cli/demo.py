"""`reticent demo`: the main job on bundled data, told as a short story on the terminal."""

import shutil
from importlib import resources
from pathlib import Path

import typer
from rich.console import Console
from rich.panel import Panel

from reticent.base.errors import NotProtectedError
from reticent.cli.progress_bar import progress_bar

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
    console = Console()
    output.mkdir(parents=True, exist_ok=True)
    bundled = resources.files("reticent") / "demo_data"
    for name in FILES:
        with resources.as_file(bundled / name) as source:
            shutil.copyfile(source, output / name)
    _people(console, output)
    _firms(console, output)
    console.print(Panel(_reports(output), title="Open these in a browser", title_align="left", expand=False))


def _people(console: Console, folder: Path) -> None:
    from reticent.cli.protect import show_file_result
    from reticent.jobs.protect_file import run_file_plan

    console.rule("[bold]1  A microdata file: people.csv")
    with progress_bar("people") as progress:
        run = run_file_plan(folder / "people.plan.toml", progress=progress)
    show_file_result(console, run.result)


def _firms(console: Console, folder: Path) -> None:
    from reticent.cli.table import show_table_result
    from reticent.jobs.protect_table import run_table_plan

    console.rule("[bold]2  A table: turnover by industry and size class")
    plan = folder / "firms.plan.toml"
    text = plan.read_text(encoding="utf-8")
    console.print("Hiding only the unsafe cells (method = primary-only):")
    try:
        run_table_plan(plan)
    except NotProtectedError as err:
        console.print(f"[bold red]refused[/bold red]  {err}")
    console.print("\nThe same with accept_exposed = true, to see which cells are exposed:")
    primary = folder / "firms-primary-only.plan.toml"
    primary.write_text(_renamed(text, accept=True), encoding="utf-8")
    with progress_bar("table") as progress:
        show_table_result(console, run_table_plan(primary, progress=progress))

    console.print("\nWith secondary suppression (method = heuristic) the attacker finds nothing too close:")
    plan.write_text(text.replace('method = "primary-only"', 'method = "heuristic"'), encoding="utf-8")
    with progress_bar("table") as progress:
        show_table_result(console, run_table_plan(plan, progress=progress))


def _renamed(text: str, *, accept: bool) -> str:
    lines = text.replace('"firms.', '"firms-primary-only.').replace("firms-primary-only.csv", "firms.csv")
    lines = lines.replace("firms-primary-only.schema.toml", "firms.schema.toml")
    return (
        lines.replace('method = "primary-only"', 'method = "primary-only"\naccept_exposed = true') if accept else lines
    )


def _reports(folder: Path) -> str:
    rows = (
        ("people.public.html", "for users of the file"),
        ("people.confidential.html", "for the data protector"),
        ("firms.public.html", "for users of the table"),
        ("firms.confidential.html", "for the data protector: the protected table"),
        ("firms-primary-only.confidential.html", "for the data protector: exposed cells and their intervals"),
    )
    return "\n".join(f"{folder / name}  [dim]{what}[/dim]" for name, what in rows)
