"""Release and ledger: name the ledger, judge, record and write; the entry is listed, verified, revoked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reticent.jobs.release_view import names_to_write
from samples import cut_firms
from web.asking import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("firms"), "firms", cut_firms)
    yield made
    made.site.works.close()


def test_a_table_is_judged_recorded_written_verified_and_revoked(bench: Bench) -> None:
    assert "No plan names a ledger" in bench.get("/ledger")
    bench.send("/table", {"dimensions": ["", "", "region"], "response": "", "shape": "1"})
    assert "What will be written" in bench.get("/release?plan=table")
    missing = bench.send(
        "/release?plan=table", {"plan": "table", "ledger.path": "", "ledger.name": "", "save": "1"}, 422
    )
    assert "is missing" in missing
    section = {"ledger.path": "firms.ledger", "ledger.name": "counts", "ledger.create": "on"}
    bench.send("/release?plan=table", {"plan": "table", **section, "save": "1"})
    refused = bench.send("/table", {"path": "firms.table.csv", "write": "1"})
    assert "only a release writes" in refused + bench.get("/table")
    bench.send("/release?plan=table", {"plan": "table", "judge": "1"})
    page = bench.get("/release?plan=table")
    assert "Held: safe with all earlier releases" in page
    assert not (bench.folder / "firms.table.csv").exists()
    assert "Nothing has been released yet" in bench.get("/ledger")
    bench.send("/release?plan=table", {"plan": "table", "release": "1"})
    assert "Released: entry" in bench.get("/release?plan=table")
    assert (bench.folder / "firms.table.csv").exists()
    assert "counts" in bench.get("/ledger")
    assert "0 of 1 releases" in bench.get("/ledger?find=nothing-like-that")
    bench.send("/ledger", {"verify": "1"})
    assert "Intact" in bench.get("/ledger")
    entry = bench.get("/ledger").split('href="/ledger?entry=')[1].split("#")[0].split("&")[0].split('"')[0]
    assert "Reason for revoking" in bench.get(f"/ledger?entry={entry}")
    assert "reason" in bench.send(f"/ledger?entry={entry}", {"number": entry, "reason": " "}, 422)
    bench.send(f"/ledger?entry={entry}", {"number": entry, "reason": "published by mistake, replaced next week"})
    assert "revoked" in bench.get("/ledger")


def test_a_refused_table_is_mended_with_memory(bench: Bench) -> None:
    """A refusal says which further cells would have to be hidden, and one press hides them."""
    table = {"dimensions": ["", "", "region", "size"], "responses": ["", "", "turnover"], "shape": "1"}
    bench.send("/table", table)
    section = {"ledger.path": "firms.ledger", "ledger.name": "by size", "ledger.create": "on"}
    bench.send("/release?plan=table", {"plan": "table", **section, "judge": "1"})
    bench.get("/release?plan=table")
    bench.send("/release?plan=table", {"plan": "table", "release": "1"})
    assert "Released: entry" in bench.get("/release?plan=table")
    bench.send("/release?plan=table", {"plan": "table", "again": "1"})
    assert 'name = "by size 2"' in (bench.folder / "firms.table.toml").read_text(encoding="utf-8")
    bench.send("/table", {**table, "dimensions": ["", "", "industry", "size"]})
    bench.send("/release?plan=table", {"plan": "table", "judge": "1"})
    refused = bench.get("/release?plan=table")
    assert "Not held" in refused
    assert "See by size in the ledger" in refused
    assert "would make it safe" in refused
    bench.send("/release?plan=table", {"plan": "table", "memory": "1"})
    held = bench.get("/release?plan=table")
    assert "Held: safe with all earlier releases" in held
    assert "hidden because of earlier releases" in held


def test_each_file_to_write_is_listed_once(tmp_path: Path) -> None:
    made = Bench(tmp_path, "people")
    names = [name for _, name in names_to_write(made.site.state.need("file").path)]
    assert len(names) == len(set(names)) > 1
    made.site.works.close()
