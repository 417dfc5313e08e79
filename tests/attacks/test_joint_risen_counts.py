"""All values rise by one amount: the difference of two published sums is the number of firms times the amount."""

from pathlib import Path

from reticent.base.errors import ReticentError
from reticent.jobs.release import release_plan

SCHEMA = """
[[variable]]
name = "id"
role = "identifier"
[[variable]]
name = "ind"
codes = { A = "A", B = "B", C = "C" }
[[variable]]
name = "value"
role = "sensitive"
kind = "numeric"
"""
FIRMS = {"A": (5, 7), "B": (4, 9, 6), "C": (3, 8, 2)}


def release(folder: Path, name: str, version: str, table: str, earlier: str = "") -> str:
    """Release a table; the refusal, or nothing."""
    listed = f'[[ledger.earlier]]\nversion = "{earlier}"\npath = "{earlier}.csv"\n' if earlier else ""
    path = folder / f"{name}.toml"
    path.write_text(
        f'[data]\npath = "{version}.csv"\nschema = "schema.toml"\nsecret = 12345\ntest_secret = true\n'
        f'[table]\ndimensions = ["ind"]\n{table}\n[output]\npath = "{name}.csv"\n'
        f'[ledger]\npath = "l.ledger"\nname = "{name}"\nversion = "{version}"\n{listed}'
    )
    try:
        release_plan(path)
    except ReticentError as refused:
        return str(refused)
    return ""


def test_a_rise_by_an_amount_does_not_count_who_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    for version, rise in (("2025", 0), ("2026", 1)):
        rows = [(ind, value + rise) for ind, values in FIRMS.items() for value in values]
        lines = [f"f{number},{ind},{value}" for number, (ind, value) in enumerate(rows)]
        (tmp_path / f"{version}.csv").write_text("\n".join(["id,ind,value", *lines]) + "\n")
    assert not release(tmp_path, "how many", "2025", 'rules = [{ rule = "threshold", minimum = 3 }]')
    assert not release(tmp_path, "sums", "2025", 'response = "value"')
    assert "hidden by how many" in release(tmp_path, "sums, 2026", "2026", 'response = "value"', "2025")
