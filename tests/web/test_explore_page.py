"""The page that explores: the lattice, a node that becomes lines of the plan, candidates on a map of risk and loss."""

import re
from collections.abc import Iterator

import pytest

from samples import cut_survey
from web.asking import Bench

TEXT = """version = 1

[data]
path = "people.csv"
schema = "people.schema.toml"
secret = "people.secret.key"

[explore]
draws = 1
fresh = 1
keys = ["region", "sex"]
attacks = ["recount"]
most_risk = 0.9

[[candidate]]
method = "recode"
variable = "region"
vary = { level = [0, 1] }
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("people"), "people", cut_survey)
    yield made
    made.site.works.close()


def test_a_node_of_the_lattice_becomes_lines_of_the_plan(bench: Bench) -> None:
    page = bench.get("/explore?key0=on&key1=on&k=3")
    assert "Lattice of 6 recodings" in page
    assert re.search(r"0·0: (safe|unsafe), [\d,]+ records unsafe, 0\.0 % of the detail lost", page)
    assert "2·1: safe, 0 records unsafe, 100.0 % of the detail lost" in page
    bench.send("/explore?keys=0.1", {"keys": "0.1", "k": "3", "share": "0", "node": "3"})
    plan = (bench.folder / "people.plan.toml").read_text(encoding="utf-8")
    assert 'variable = "region"\nlevel = 1' in plan
    assert 'variables = ["sex"]' in plan


def test_candidates_stand_on_a_map_and_one_becomes_the_plan(bench: Bench) -> None:
    wrong = bench.send("/explore", {"text": TEXT.replace("recode", "recoed")}, 422)
    assert "there is no method" in wrong
    assert "recoed" in wrong
    bench.send("/explore", {"text": TEXT})
    page = bench.get("/explore")
    assert "Risk and loss of the candidates" in page
    assert "within the limit" in page
    bench.send("/explore", {"candidate": "1"})
    plan = (bench.folder / "people.plan.toml").read_text(encoding="utf-8")
    assert plan.count("[[step]]") == 1
    assert "level = 1" in plan
