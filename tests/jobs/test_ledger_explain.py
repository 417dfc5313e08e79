"""Refusals are explained: which releases conflict, and the relations that prove it, in codes."""

import json
from pathlib import Path

import pytest

from command_line import CommandLine
from jobs.test_ledger_import import folder, plan, published, reticent, rows_of

__all__ = ["folder", "reticent"]


def ledger(place: Path) -> tuple[object, ...]:
    return place / "firms.ledger", "--secret", place / "secret.key"


def test_a_refused_release_names_releases_and_relations(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    ran = reticent("release", plan(folder, "open", rules=""), "--explain")
    assert ran.code == 0
    assert "open: refused, judged together with first" in ran.out
    assert "A × z (hidden by first) would be known too well" in ran.out
    assert "It follows from +total of turnover where ind = A and size = z (open)" in ran.out
    plain = json.loads(reticent("release", folder / "open.toml", "--explain", "--json", "-").out)
    assert plain["outcome"] == "exposed"
    assert {one["cell"] for one in plain["conflicts"]} == {"A × z", "B × w"}
    assert all(one["relations"] and one["releases"] == ["open"] for one in plain["conflicts"])
    assert len(json.loads(reticent("ledger", "list", *ledger(folder), "--json", "-").out)) == 1


def test_a_difference_of_two_releases_names_both(reticent: CommandLine, folder: Path) -> None:
    """A single cell published elsewhere opens the unsafe one beside it: the row less all others."""
    assert reticent("release", plan(folder, "first")).code == 0
    beside = next(
        row["size"]
        for row in rows_of(folder / "first.csv")
        if row["ind"] == "A" and row["status"] == "hidden" and row["size"] != "z"
    )
    whole = published(reticent, folder, "whole", '["ind", "size"]', "")
    value = next(row["value"] for row in rows_of(folder / "whole.csv") if (row["ind"], row["size"]) == ("A", beside))
    (folder / "cell.csv").write_text(f"size,ind,turnover\n{beside},A,{value}\n")
    ran = reticent("ledger", "import", whole, folder / "cell.csv", "--name", "cell", "--json", "-")
    conflicts = {one["cell"]: one for one in json.loads(ran.out)["conflicts"]}
    assert conflicts["A × z"]["releases"] == ["first", "cell"]
    assert "(first)" in conflicts["A × z"]["relations"]
    assert f"total of turnover where ind = A and size = {beside} (cell)" in conflicts["A × z"]["relations"]


def test_what_nothing_stands_against(reticent: CommandLine, folder: Path) -> None:
    ran = reticent("release", plan(folder, "first"), "--explain")
    assert "nothing stands against it" in ran.out
    assert "judged together with nothing" in ran.out


def test_a_recorded_release_and_an_import_that_opened_it(reticent: CommandLine, folder: Path) -> None:
    assert reticent("release", plan(folder, "first")).code == 0
    assert reticent("ledger", "import", published(reticent, folder, "old", '["ind", "size"]', "")).code == 0
    place, *opening = ledger(folder)
    own = reticent("ledger", "explain", place, "first", *opening)
    assert own.code == 0
    assert "given away by old" in own.out
    assert "judged with it since: old" in own.out
    old = json.loads(reticent("ledger", "explain", place, "old", *opening, "--json", "-").out)
    assert old["judged with"] == ["first"]
    assert old["conflicts"][0]["hidden by"] == "first"
    assert "(old)" in old["conflicts"][0]["relations"]
    assert "there is no release 'none'" in reticent("ledger", "explain", place, "none", *opening).sentence


@pytest.mark.parametrize("command", ["list", "show", "explain", "verify", "revoke"])
def test_commands_share_how_a_ledger_is_opened(reticent: CommandLine, command: str) -> None:
    out = reticent("ledger", command, "--help").out
    assert all(option in out for option in ("--secret", "--dataset", "--anchor", "--json"))
