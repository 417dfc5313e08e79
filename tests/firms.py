"""Firms by industry and size, with two small cells: what tests of releases start from."""

from collections.abc import Sequence
from pathlib import Path

FEW = {("A", "z"): 2, ("B", "w"): 2}


def schema_of(numbers: Sequence[str], *, sizes: str = "xyzw", role: str = "", more: str = "") -> str:
    """The schema of firms with some numbers; `role` is that of industry and size, `more` further variables."""
    codes = {"ind": "ABC", "size": sizes}
    own = f'role = "{role}"\n' if role else ""
    listed = {name: ", ".join(f'{code} = "{code}"' for code in text) for name, text in codes.items()}
    coded = "".join(f'[[variable]]\nname = "{name}"\n{own}codes = {{ {text} }}\n' for name, text in listed.items())
    sums = "".join(f'[[variable]]\nname = "{name}"\nrole = "sensitive"\nkind = "numeric"\n' for name in numbers)
    return f'[[variable]]\nname = "firm"\nrole = "entity"\n{coded}{more}{sums}'


def write_firms(folder: Path, *, role: str = "") -> None:
    """Five firms in each cell, two in each of the small ones, and their schema."""
    rows = [
        f"f{ind}{size}{i},{ind},{size},{100 + 37 * i + 11 * place}"
        for place, (ind, size) in enumerate((ind, size) for ind in "ABC" for size in "xyzw")
        for i in range(FEW.get((ind, size), 5))
    ]
    (folder / "firms.csv").write_text("\n".join(["firm,ind,size,turnover", *rows]) + "\n")
    (folder / "firms.schema.toml").write_text(schema_of(["turnover"], role=role))
