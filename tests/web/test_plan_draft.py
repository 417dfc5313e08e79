"""Drafted steps on the page of the plan: with their reasons, judged as Protect judges, taken only when values may be shown."""

import re
from collections.abc import Iterator

import pytest

from samples import cut_survey
from web.asking import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("people"), "people", lambda path: cut_survey(path, 80))
    yield made
    made.site.works.close()


def test_steps_are_drafted_shown_and_taken(bench: Bench) -> None:
    plan = bench.folder / "people.plan.toml"
    before = plan.read_text(encoding="utf-8")
    assert "Draft steps" in bench.get("/plan")
    page = bench.send("/plan", {"draft": "1"})
    shown = page.split('id="draft"')[1].split("</section>")[0]
    assert "Remove identifiers" in shown
    assert "Press Show values, then take them" in shown
    assert not re.search(r"points|[{}]", re.sub(r"<[^>]*>", "", shown)), "what it found in the records is not shown yet"
    assert plan.read_text(encoding="utf-8") == before
    assert "press Show values" in bench.send("/plan", {"take": "1"}, 422)
    assert plan.read_text(encoding="utf-8") == before
    bench.values(True)
    said = re.search(r'class="verdict ([\w-]+)"', bench.get("/plan").split('id="draft"')[1])
    bench.send("/plan", {"take": "1"})
    bench.values(False)
    text = plan.read_text(encoding="utf-8")
    assert text.count("[[step]]") >= 3
    assert re.search(
        r'# names, numbers of persons and who lives together\n\[\[step\]\]\nmethod = "remove-identifiers"', text
    )
    assert said
    assert f'class="outcome {said[1]}"' in bench.send("/protect", {"run": "1"})
    bench.send("/plan", {"to": "undo"})
    assert plan.read_text(encoding="utf-8") == before


def test_a_file_without_anything_to_know_has_its_sentence(bench: Bench) -> None:
    schema = bench.folder / "people.schema.toml"
    good = schema.read_text(encoding="utf-8")
    nothing = re.sub(r"(?m)^level = .*\n", "", re.sub('"(key|sensitive)"', '"identifier"', good))
    schema.write_text(nothing, encoding="utf-8")
    page = bench.send("/plan", {"draft": "1"})
    schema.write_text(good, encoding="utf-8")
    assert re.search("no variable is a key or a number", page), re.findall('role="alert".*', page)
