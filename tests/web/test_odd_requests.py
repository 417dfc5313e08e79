"""Requests that no page would send: each gets a page or a sentence, and nothing that was not asked for is written."""

import random
import re
import tomllib
from pathlib import Path

import pytest

from reticent.workbench.pages import PAGES
from samples import cut_firms, numbers
from web.asking import OWN, Bench

TEXTS = (
    "", " ", "0", "1", "-1", "99", "1e9", "9" * 20, "1.5", "nan", "inf", "٣", "²", "x", "on", "undo", "new", "1.1", "1.1.1",
    "a\0b", "\u202e", "<script>", "'\"", "[data\n", "a = = b", "../../x", "~", "x" * 5_000, "a:b\nc:d", "1,2,3", "SELECT", "{}",
    "p-percent", "heuristic", "recode", "region", "turnover", "key", "%00",
)  # fmt: skip
FIELDS: dict[str, tuple[str, ...]] = {
    "data": ("open",),
    "describe": ("role.0", "kind.0", "level.0", "missing.0", "household.0", "sure", "to", "variable", "role.99"),
    "hierarchies": ("variable", "digits", "bands", "groups", "code", "to", "by-digits", "by-groups", "by-move"),
    "risk": ("dimension", "threshold", "limit", "combination"),
    "explore": ("key0", "key1", "keys", "k", "share", "node", "candidate", "text"),
    "plan": ("add", "step", "section", "after", "remove", "switch", "up", "to", "text", "take", "more", "variable", "bands", "k"),
    "protect": ("reason", "attack"),
    "table": (
        "table", "open", "level", "depth", "at", "from", "cell", "sort", "colour", "new", "if", "dimensions", "responses",
        "shape", "drop", "number", "swap", "rules", "rule.0.minimum", "add", "remove", "try", "method", "save", "status", "to",
    ),
    "audit": ("cell",),
    "queries": ("mode", "minimum", "policy", "question", "asked", "dominance", "responses", "to"),
    "release": ("plan", "save", "release", "again", "ledger.path", "ledger.name", "ledger.version"),
    "ledger": ("find", "entry", "number", "reason", "from"),
}  # fmt: skip
"""What pages read of addresses and forms; what starts a long run or opens another file is left to the other tests."""


def test_every_page_is_here() -> None:
    assert set(FIELDS) == {page.name for page in PAGES}


@pytest.mark.parametrize("seed", numbers(1, 8))
def test_odd_requests_have_an_answer(tmp_path: Path, seed: int) -> None:
    draw, bench = random.Random(seed), Bench(tmp_path, "firms", cut_firms)
    bench.send("/table", {"dimensions": ["", "", "region"], "responses": ["", "", "turnover"], "shape": "1"})
    bench.send("/queries", {"begin": "1"})
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir() if one.is_file()}
    for _ in range(60):
        page = draw.choice(tuple(FIELDS))
        asked = {
            name: draw.choice(TEXTS) for name in draw.sample(FIELDS[page], min(len(FIELDS[page]), draw.randint(0, 4)))
        }
        shown = bench.client.get(f"/{page}", params=asked)
        _is_an_answer(shown.status_code, shown.text, (page, asked))
        hidden = dict(re.findall(r'name="(form-token|version)" value="(\w+)"', bench.client.get(f"/{page}").text))
        sent = bench.client.post(f"/{page}", data={**hidden, **asked}, headers=OWN)
        _is_an_answer(sent.status_code, sent.text, (page, asked))
        for one in tmp_path.glob("*.toml"):
            tomllib.loads(one.read_text(encoding="utf-8"))  # whatever was saved can be read
        for name, content in before.items():
            (tmp_path / name).write_bytes(content)
    assert {one.name for one in tmp_path.glob("*.csv")} == {"firms.csv"}
    bench.site.works.close()


def _is_an_answer(status: int, text: str, asked: object) -> None:
    assert status in (200, 404, 409, 422), asked
    assert "error of reticent itself" not in text, asked
