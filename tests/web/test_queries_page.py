"""The page of queries: make a database, change the policy, see its guarantee, try a query, attack a copy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from web.asking import Bench

FORM = {
    "mode": "exact",
    "history": "all",
    "minimum": "5",
    "coalition": "1",
    "interval": "0",
    "dimension": "3",
    "responses": "turnover",
    "filters": "region\nsize",
    "policy": "1",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("firms"), "firms")
    yield made
    made.site.works.close()


def test_a_policy_with_its_guarantee_and_a_query_on_a_copy(bench: Bench) -> None:
    assert "There is no database yet" in bench.get("/queries")
    bench.send("/queries", {"begin": "1"})
    assert "What this policy promises" in bench.get("/queries")
    assert "minimum must be" in bench.send("/queries", {**FORM, "minimum": "0"}, 422)
    bench.send("/queries", FORM)
    text = (bench.folder / "firms.queries.toml").read_text(encoding="utf-8")
    assert "minimum = 5" in text
    assert "write a query" in bench.send("/queries", {"question": " "}, 422)
    assert "answered" in bench.send("/queries", {"question": "SELECT COUNT(*) FROM data"})
    bench.values(True)
    assert "900" in bench.send("/queries", {"question": "SELECT COUNT(*) FROM data"})
    assert "refused" in bench.send("/queries", {"question": "SELECT SUM(turnover) FROM data WHERE size = 'nowhere"})
    assert not (bench.folder / "firms.ledger").exists()


@pytest.mark.deep
def test_the_attack_catalogue_runs_on_a_copy(bench: Bench) -> None:
    if "There is no database yet" in bench.get("/queries"):
        bench.send("/queries", {"begin": "1"})
        bench.send("/queries", FORM)
    bench.send("/queries", {"attack": "1"})
    page = bench.get("/queries")
    assert "The attack catalogue against a copy" in page
    assert "Held: " in page.split('id="attacks"')[1]
    assert not Path(bench.folder / "firms.ledger").exists()
