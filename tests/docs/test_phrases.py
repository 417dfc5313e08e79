"""Phrases that read as translated are not written: in the manual, in what the program prints, and in docstrings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("phrases.tsv")
NOT_READ = {"_build"}


def _phrases() -> dict[str, str]:
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split("\t") for line in lines)  # type: ignore[misc]


def _texts(path: Path) -> Iterator[str]:
    """What a person reads of a file: all of a page, the texts and docstrings of a program."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = ast.walk(ast.parse(text))
        yield from (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    else:
        yield text


def _files() -> list[Path]:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    source = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.html"), *(ROOT / "src").rglob("*.toml")]
    return sorted(path for path in [*pages, *source] if not NOT_READ & set(path.parts))


@pytest.fixture(scope="module")
def read() -> list[tuple[str, str]]:
    """Every text with its file, blanks and line ends made one blank."""
    return [
        (str(path.relative_to(ROOT)), re.sub(r"\s+", " ", text))
        for path in _files()
        for text in _texts(path)
        if " " in text
    ]


@pytest.mark.parametrize(("phrase", "instead"), _phrases().items())
def test_a_phrase_is_not_written(phrase: str, instead: str, read: list[tuple[str, str]]) -> None:
    searched = re.compile(phrase, re.I)
    found = [
        f"{name}: …{text[max(0, hit.start() - 40) : hit.end() + 40]}…"
        for name, text in read
        for hit in searched.finditer(text)
    ]
    assert not found, f"write instead: {instead}\n" + "\n".join(found)
