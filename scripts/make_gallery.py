# SPDX-License-Identifier: Apache-2.0
"""Make the gallery of the manual: the plots of the reports on the bundled data, each as a file with its description.

python scripts/make_gallery.py
"""

import base64
import os
import re
import shutil
import sys
import tempfile
from html import unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import reticent as rt  # noqa: E402
from reticent import mask, methods, rules  # noqa: E402

PAGE = ROOT / "docs" / "explanation" / "gallery.md"
FOLDER = ROOT / "docs" / "images" / "gallery"
FIGURE = re.compile(r"<figure[^>]*>(.*?)</figure>", re.S)
IMAGE = re.compile(r'<img[^>]*src="data:image/(svg\+xml|png);base64,([^"]+)"[^>]*>', re.S)
HEAD = """# Gallery of plots

The plots of the confidential reports, here for the invented survey and the invented firms of the package
(`python scripts/make_gallery.py`). Public reports have no plots of true values.
"""


def _reports() -> dict[str, Path]:
    """The reports of a file, of two tables and of an exploration."""
    people = rt.load("people.csv", schema="people.schema.toml")
    keys = ("region", "sex", "age", "marital", "education", "income")
    coarse = [
        mask.RemoveIdentifiers(("person", "household", "occupation", "birthplace", "weight")),
        mask.Recode("region", level=1),
        mask.Recode("age", bands=(16, 35, 50, 65)),
        mask.RoundValues(("income",), base=2000),
    ]
    steps = [*coarse, mask.LocalSuppression(k=3, keys=keys)]
    people.protect(steps, most=0.05, secret=1, test_secret=True).confidential_report("file.html")
    candidates = {f"{k} alike": [*coarse, mask.LocalSuppression(k=k, keys=keys)] for k in (2, 3, 5, 8)}
    settings = rt.ExploreSettings(draws=1, fresh=1)
    people.explore(candidates, settings=settings, secret=1).confidential_report("explore.html")
    firms = rt.load("firms.csv", schema="firms.schema.toml")
    house = [rules.PPercent(15), rules.Threshold(3, protection=20)]
    sums = firms.tabulate("industry", "size", response="turnover")
    sums.protect(rules=house, time_limit=20).confidential_report("table.html")
    counts = firms.tabulate("region", "size")
    noisy = counts.protect(rules=[rules.Threshold(3)], method=methods.CellKey(), secret=1, test_secret=True)
    noisy.confidential_report("noise.html")
    names = {"A file": "file", "An exploration": "explore", "A table": "table", "A table with cell keys": "noise"}
    return {title: Path(f"{name}.html") for title, name in names.items()}


def _words(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def _plots(title: str, report: Path) -> list[str]:
    lines = [f"\n## {title}\n"]
    for number, figure in enumerate(FIGURE.findall(report.read_text(encoding="utf-8")), 1):
        found = IMAGE.search(figure)
        if found is None:
            continue
        name = f"{report.stem}-{number}.{'svg' if 'svg' in found.group(1) else 'png'}"
        (FOLDER / name).write_bytes(base64.b64decode(found.group(2)))
        alt = unescape((re.search(r'alt="([^"]*)"', found.group(0)) or ["", " "])[1])
        caption = _words(IMAGE.sub("", figure))
        lines.append(f"```{{figure}} ../images/gallery/{name}\n:alt: {alt}\n\n{caption}\n```\n")
    return lines


def main() -> None:
    """Run, take the plots out of the reports, write the page."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src" / "reticent" / "demo_data", folder, dirs_exist_ok=True)
        os.chdir(folder)
        lines = [line for title, report in _reports().items() for line in _plots(title, report)]
    os.chdir(ROOT)
    PAGE.write_text(HEAD + "\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
