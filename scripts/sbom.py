# SPDX-License-Identifier: Apache-2.0
"""Write the bill of materials of an installation (CycloneDX 1.5, JSON): every distribution that reticent needs, with its licence.

python scripts/sbom.py [--extras all] > sbom.json
"""

import argparse
import importlib.metadata as metadata
import json
import re
from collections.abc import Iterator
from typing import Any


def needed(name: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The distributions that one asks for, with the extras that it wants of them."""
    for line in metadata.requires(name) or []:
        text, _, marker = line.partition(";")
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
        if extra is None or extra.group(1) in extras:
            wanted = re.search(r"\[([\w, -]+)\]", text)
            own = frozenset(part.strip() for part in wanted.group(1).split(",")) if wanted else frozenset()
            yield re.split(r"[\s<>=!~\[(;]", text.strip(), maxsplit=1)[0], own


def closure(root: str, extras: frozenset[str]) -> dict[str, set[str]]:
    """Every distribution that is reached, with those that it asks for itself; what is not installed is left out."""
    found: dict[str, set[str]] = {}
    waiting = [(root, extras)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            asked = [pair for pair in needed(name, wanted) if _installed(pair[0])]
        except metadata.PackageNotFoundError:
            continue
        found.setdefault(_plain(name), set()).update(_plain(other) for other, _ in asked)
        waiting += asked
    return found


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def component(name: str) -> dict[str, Any]:
    """One entry of the bill."""
    about = metadata.metadata(name)
    version = metadata.version(name)
    licence = about.get("License-Expression") or about.get("License") or ""
    plain: dict[str, Any] = {"type": "library", "name": name, "version": version, "bom-ref": _reference(name)}
    if licence and len(licence) < 80:
        plain["licenses"] = [{"license": {"name": licence}}]
    return plain


def _reference(name: str) -> str:
    return f"{name}@{metadata.version(name)}"


def bill(extras: frozenset[str]) -> dict[str, Any]:
    """The whole bill; it has no date, so that the same installation gives the same bytes."""
    parts = closure("reticent", extras)
    others = sorted(name for name in parts if name != "reticent")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**component("reticent"), "type": "application"}},
        "components": [component(name) for name in others],
        "dependencies": [
            {"ref": _reference(name), "dependsOn": sorted(_reference(other) for other in parts[name])}
            for name in sorted(parts)
        ],
    }


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--extras", default="", help="extras of reticent to include, with commas; all for every one")
    chosen = frozenset(part for part in options.parse_args().extras.split(",") if part)
    print(json.dumps(bill(chosen), indent=2))
