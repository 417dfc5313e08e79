# SPDX-License-Identifier: Apache-2.0
"""What published variables tell of hidden keys, where records stay in an engine: each variable is counted with the keys there."""

from collections.abc import Sequence
from dataclasses import replace

from reticent.base.progress import Progress, silent
from reticent.data.schema import Role
from reticent.microdata.large_steps import LargeSteps
from reticent.microdata.risk.restored import ALONE, Hidden, Told, restore
from reticent.microdata.trace import Trace

MOST_VALUES = 1_000_000
"""Different values of a variable up to which it is tried."""


def told_in_engine(ready: LargeSteps, keys: Sequence[str], *, progress: Progress = silent) -> tuple[Told, ...]:
    """For each key the variable that tells most of its hidden values; pairs of variables are not tried.

    Variables that a later step changes by chance are left out.
    """
    trace, shown = ready.combined.trace, ready.combined.data
    hidden = [Hidden.of(trace, shown, name) for name in keys]
    if not any(key is not None and key.open.any() for key in hidden):
        return ()
    changed = {name for one in ready.late for name in one.variables}
    others = [
        v.name
        for v in ready.file.schema.variables
        if v.name not in keys and v.role not in (Role.IDENTIFIER, Role.ENTITY) and v.name not in changed
    ]
    found: list[Told] = []
    for number, name in enumerate(others):
        progress(number / len(others), f"what {name} tells of keys")
        found += _told_by(ready, tuple(keys), name)
    best = sorted(found, key=lambda one: -one.records)
    return tuple({one.key: one for one in reversed(best)}.values())


def _told_by(ready: LargeSteps, keys: tuple[str, ...], name: str) -> tuple[Told, ...]:
    """Combinations of the keys and one variable as a file of rows that stand for several records, and what it gives back."""
    file, trace = ready.file, ready.combined.trace
    text = file.view.connection.quote(name)
    if file.view.facts(n=f"COUNT(DISTINCT {text})")["n"] > min(ALONE * file.n_records, MOST_VALUES):
        return ()
    rows = file.pattern_file((*keys, name), file.grouped((*keys, name), {}), None)
    place = ready.place(rows.codes(keys))
    covers = {key: replace(trace.covers[key], true=trace.covers[key].true[place]) for key in keys}
    return restore(Trace(rows, covers), ready.combined_rows(rows, place), keys, pairs=False).told
