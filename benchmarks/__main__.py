# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks [AREA …] [--quick]`: run the areas (all by default), save JSON, rewrite the Markdown page.

    python -m benchmarks suppression --only hier13 --processor

`--only` measures the entries whose name has a word and prints them. `--processor` puts processor time in place of the
machine's clock, for limits and for what is printed, where the machine has other work to do. With either nothing is saved.
"""

import argparse
import importlib
import json
import os
import pkgutil
import sys
from pathlib import Path

import benchmarks
from benchmarks.harness import PROCESSOR, RESULTS, Result, as_markdown, benchmark_clock, measure, save
from reticent.base import clock

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "benchmarks.md"
HEAD = """# Benchmarks

Made by `make bench` (`python -m benchmarks`). Ours and a yardstick (another library that does the same work) run alternately
in one process, the least of several runs counts, and kernels are compiled before. A ratio above 1 means that ours is faster;
memory is by how much the peak of the process grew. *Quality* compares results: *secondaries* are the cells hidden to protect
unsafe ones, *bound* is a proved lower limit of their cost, *gap* the distance of the two, *exposed* what the attacker finds.
*Growth* n^a is how the time grows with the size of the input. Some numbers are older than the attackers of today;
[the page on searches](../explanation/search.md) says which.

The area `tauargus` needs pytauargus in an environment of its own and the real data (`../shared`, or RETICENT_SHARED):

    python3.11 -m venv tauargus-venv && tauargus-venv/bin/pip install pytauargus==0.6.0
    RETICENT_TAUARGUS_PYTHON=tauargus-venv/bin/python python -m benchmarks tauargus

There each side runs in processes of its own, the median of five runs counts, a crash counts as a failure, and both patterns
are attacked by our audit.

"""


def areas() -> list[str]:
    """Every `bench_*.py` is an area."""
    return sorted(m.name[6:] for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_"))


def run(area: str, *, quick: bool, only: str) -> list[Result]:
    """Measure one area, or the entries of it whose name has a word."""
    results = []
    for entry in importlib.import_module(f"benchmarks.bench_{area}").entries():
        if only not in entry.name:
            continue
        print(f"{area}: {entry.name} …", flush=True)
        with clock.using(benchmark_clock()):
            result = measure(entry, sizes=[min(entry.sizes)] if quick else None)
        for m in result.measurements:
            beside = "" if m.ratio is None else f", {m.ratio:.2f}× {entry.yardstick_name}"
            print(
                f"  {m.size:>12,} {entry.size_unit}: {m.seconds:.3g} s, {m.memory_mb:.0f} MB{beside} {m.quality}",
                flush=True,
            )
        results.append(result)
    return results


def write_page() -> None:
    """The Markdown page from everything that is saved."""
    parts = [
        as_markdown(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(RESULTS.glob("*.json"))
    ]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(HEAD + "\n".join(parts), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--processor", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.processor:
        os.environ[PROCESSOR] = "1"  # processes of their own (`tauargus`) read it as well
    kept = not (asked.quick or asked.only or asked.processor)
    for area in asked.areas or areas():
        results = run(area, quick=asked.quick, only=asked.only)
        if kept:
            save(area, results)
    if kept:
        write_page()


if __name__ == "__main__":
    main(sys.argv[1:])
