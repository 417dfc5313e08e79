# SPDX-License-Identifier: Apache-2.0
"""Taxonomies on disk: our own CSV (category, parent, name, terms), the IAB content taxonomy (TSV), WordNet's nouns (CSV)."""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from reticent.base.checks import check_choice
from reticent.base.errors import DataError
from reticent.querylogs.taxonomy import Taxonomy, make_taxonomy

Rows = Iterator[tuple[str, str, str, list[str]]]
_PARTS = re.compile(r"\s*(?:&|/|,|\band\b)\s*")


def read_taxonomy(path: Path, format: str = "reticent") -> Taxonomy:
    """A taxonomy from a file, packed by gzip or not."""
    check_choice(format, tuple(FORMATS), name="format", owner="taxonomy")
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
        return make_taxonomy(FORMATS[format](text.splitlines(), path.name), owner=path.name)
    except (OSError, UnicodeDecodeError, EOFError, zlib.error, csv.Error):
        raise DataError(f"{path.name}: the taxonomy cannot be read.") from None


def _reticent(lines: list[str], owner: str) -> Rows:
    rows = csv.DictReader(lines)
    needed = ("category", "parent", "terms")
    missing = [name for name in needed if name not in (rows.fieldnames or ())]
    if missing:
        raise DataError(
            f"{owner}: the column {missing[0]!r} is missing; a taxonomy has category, parent, terms (and name)."
        )
    for row in rows:
        name = (row.get("name") or row["category"] or "").strip()
        terms = [term for term in (row["terms"] or "").split(";") if term.strip()]
        yield (row["category"] or "").strip(), (row["parent"] or "").strip(), name, [name, *terms]


def _iab(lines: list[str], owner: str) -> Rows:
    table = [line.split("\t") for line in lines]
    head = next((at for at, row in enumerate(table) if row[0].strip() == "Unique ID"), None)
    if head is None:
        raise DataError(f"{owner}: has no line that begins with 'Unique ID', as the IAB taxonomy does.")
    known = {row[0].strip() for row in table[head + 1 :]}
    for row in table[head + 1 :]:
        if len(row) >= 3 and row[0].strip():
            parent = row[1].strip()
            name = row[2].strip()
            yield row[0].strip(), parent if parent in known else "", name, [name, *_PARTS.split(name)]


def _wordnet(lines: list[str], owner: str) -> Rows:
    rows = csv.DictReader(lines)
    missing = [name for name in ("synset", "lemmas", "hypernyms") if name not in (rows.fieldnames or ())]
    if missing:
        raise DataError(f"{owner}: the column {missing[0]!r} is missing; WordNet's file has synset, lemmas, hypernyms.")
    for row in rows:  # a synset may have several hypernyms; the first one makes the tree
        if row["lemmas"] is None or row["hypernyms"] is None:
            raise DataError(f"{owner}: a line has fewer than three fields.")
        lemmas = [lemma.replace("_", " ") for lemma in row["lemmas"].split(";")]
        yield row["synset"], row["hypernyms"].split(";")[0], lemmas[0], lemmas


FORMATS: dict[str, Callable[[list[str], str], Rows]] = {"reticent": _reticent, "iab": _iab, "wordnet": _wordnet}
