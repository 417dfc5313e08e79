"""The page of hierarchies: levels are counted, a tree is checked against the codes, codes wait to be shown."""

import re
from collections.abc import Iterator

import pytest

from web.asking import OWN, Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("firms"), "firms")
    yield made
    made.site.works.close()


def test_a_tree_by_digits_and_by_groups(bench: Bench) -> None:
    page = bench.get("/hierarchies?variable=3")
    assert "The codes appear after Show values" in page
    assert 'class="tree"' not in page
    schema = bench.folder / "firms.schema.toml"
    wrong = bench.send("/hierarchies?variable=3", {"variable": "3", "groups": "north: N1", "by-groups": "1"}, 422)
    assert "are not in the tree" in wrong
    assert "north: N1" in wrong
    assert not list(bench.folder.glob("*.hrc"))
    assert "hierarchy = { digits = [1, 1] }" in schema.read_text(encoding="utf-8")
    bench.send("/hierarchies?variable=3", {"variable": "3", "digits": "2", "by-digits": "1"})
    assert "hierarchy = { digits = [2] }" in schema.read_text(encoding="utf-8")
    groups = "low: micro, small\nhigh: medium, large"
    bench.send("/hierarchies?variable=4", {"variable": "4", "groups": groups, "by-groups": "1"})
    assert re.search(r'hierarchy = "firms\.5\.\w+\.hrc"', schema.read_text(encoding="utf-8"))
    assert "1 · 2 · 4" in bench.get("/hierarchies?variable=4")
    bench.send("/hierarchies?variable=4", {"variable": "4", "none": "1"})
    assert "firms.5." not in schema.read_text(encoding="utf-8")


def _show_values(bench: Bench) -> None:
    token = re.search(r'name="form-token" value="(\w+)"', bench.get("/hierarchies"))
    assert token
    bench.client.post("/values", data={"form-token": token[1], "show": "on", "back": "/hierarchies"}, headers=OWN)


def _tree(bench: Bench) -> str:
    """The file of the tree that the schema names last."""
    names = re.findall(r'hierarchy = "([^"]+)"', (bench.folder / "firms.schema.toml").read_text(encoding="utf-8"))
    return (bench.folder / names[-1]).read_text(encoding="utf-8")


def test_codes_move_between_groups_and_undo_brings_the_earlier_tree_back(bench: Bench) -> None:
    _show_values(bench)
    path = "/hierarchies?variable=4"
    codes = dict(re.findall(r'name="code" value="(\d+)">(\w+)<', bench.get(path)))
    place = {code: number for number, code in codes.items()}
    form = {"variable": "4", "by-move": "1"}
    bench.send(path, {**form, "code": [place["micro"], place["small"]], "to": "new", "new": "few"})
    assert _tree(bench) == "large\nmedium\nfew\n@micro\n@small\n"
    page = bench.get(path)
    place = {code: number for number, code in re.findall(r'name="code" value="(\d+)">(\w+)<', page)}
    group = re.search(r'<option value="(\d+)">few<', page)
    assert group
    bench.send(path, {**form, "code": place["medium"], "to": group[1]})
    assert _tree(bench) == "large\nfew\n@medium\n@micro\n@small\n"
    wrong = bench.send(path, {**form, "to": group[1]}, 422)
    assert "tick the codes that should move" in wrong
    wrong = bench.send(path, {**form, "code": "0", "to": "new", "new": "large"}, 422)
    assert "give it another one" in wrong
    bench.send(path, {"history": "undo"})
    assert _tree(bench) == "large\nmedium\nfew\n@micro\n@small\n"


def test_bands_of_numbers(bench: Bench) -> None:
    path = "/hierarchies?variable=5"
    wrong = bench.send(path, {"variable": "5", "bands": "1000, 1500", "by-bands": "1"}, 422)
    assert "each a multiple of the one before" in wrong
    assert 'value="1000, 1500"' in wrong
    bench.send(path, {"variable": "5", "bands": "1000, 10000", "by-bands": "1"})
    text = _tree(bench)
    assert text.startswith("0 to below 10000\n@0 to below 1000\n@@")
    assert re.search(r"^@1000 to below 2000$", text, re.M)
