"""The page of hierarchies: levels are counted, a tree is checked against the codes, codes wait to be shown."""

from collections.abc import Iterator

import pytest

from web.asking import Bench


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
    assert 'hierarchy = "firms.5.hrc"' in schema.read_text(encoding="utf-8")
    assert "1 · 2 · 4" in bench.get("/hierarchies?variable=4")
    bench.send("/hierarchies?variable=4", {"variable": "4", "none": "1"})
    assert "firms.5.hrc" not in schema.read_text(encoding="utf-8")
