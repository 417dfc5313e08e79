"""The page of risk: combinations, threshold, keys, households, models; codes only after "show values"."""

import re
from collections.abc import Iterator

import pytest

from samples import cut_survey
from web.asking import OWN, Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("people"), "people", cut_survey)
    yield made
    made.site.works.close()


def test_combinations_histogram_keys_and_households(bench: Bench) -> None:
    page = bench.get("/risk?dimension=2&threshold=1")
    for words in ("Unsafe combinations", "Which keys drive it", "Households", "records</strong> have a risk above"):
        assert words in page
    all_above = re.search(r"<strong>([\d,]+) records</strong>", bench.get("/risk?dimension=2&limit=0"))
    none_above = re.search(r"<strong>([\d,]+) records</strong>", bench.get("/risk?dimension=2&limit=40"))
    assert all_above
    assert none_above
    assert none_above[1] == "0"
    assert int(all_above[1].replace(",", "")) > 100


def test_codes_appear_only_after_show_values(bench: Bench) -> None:
    page = bench.get("/risk?dimension=2&combination=0")
    assert "They appear after Show values" in page
    assert "Unsafe codes of this crossing" not in page
    token = re.search(r'name="form-token" value="(\w+)"', page)
    assert token
    bench.client.post("/values", data={"form-token": token[1], "show": "on", "back": "/risk"}, headers=OWN)
    assert "Unsafe codes of this crossing" in bench.get("/risk?dimension=2&combination=0")
    bench.client.post("/values", data={"form-token": token[1], "show": "off", "back": "/risk"}, headers=OWN)
