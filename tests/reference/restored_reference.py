"""What published variables tell of blanks, found the slow way: one group of records after the other, in plain Python."""

from collections import Counter
from itertools import combinations
from math import log

LUCK = 0.001
Rows = list[dict[str, str | None]]


def restored(published: Rows, true: Rows, keys: tuple[str, ...]) -> dict[tuple[int, str], str]:
    """The value of each blank (record, key) that is told, believed and right; for files whose values are only blanked."""
    names = [name for name in published[0] if len({row[name] for row in published}) > 1]
    useful = [name for name in names if len({row[name] for row in published}) <= 0.9 * len(published)]
    sets = [(name,) for name in published[0] if name not in keys]
    pairs = [pair for pair in combinations(useful, 2) if not set(pair) <= set(keys)]
    hidden = [key for key in keys if any(p[key] is None and t[key] is not None for p, t in zip(published, true))]
    found: dict[tuple[int, str], str] = {}
    trials = (len(sets) + len(pairs)) * len(hidden)
    for chosen in (*sets, *pairs):
        groups: dict[tuple[str | None, ...], list[int]] = {}
        for at, row in enumerate(published):
            groups.setdefault(tuple(row[name] for name in chosen), []).append(at)
        for key in hidden:
            if key not in chosen:
                for at, value in told(list(groups.values()), key, published, true, trials).items():
                    found.setdefault((at, key), value)
    return found


def told(groups: list[list[int]], key: str, published: Rows, true: Rows, trials: int) -> dict[int, str]:
    """What groups that show one value tell of one key."""
    all_shown = Counter(row[key] for row in published if row[key] is not None)
    share = {value: count / all_shown.total() for value, count in all_shown.items()}
    shown = [[published[at][key] for at in group if published[at][key] is not None] for group in groups]
    several = [values for values in shown if len(values) > 1]
    alike = [values for values in several if len(set(values)) == 1]
    expected = max(sum(max(share.values()) ** (len(values) - 1) for values in several), 1e-300)
    many = len(alike)
    by_chance = many - expected - many * log(many / expected) if many > expected else 0.0
    whole = several and many >= 0.95 * len(several) and by_chance <= log(LUCK / trials)
    found: dict[int, str] = {}
    for group, values in zip(groups, shown, strict=True):
        if not several or len(set(values)) != 1:
            continue
        value = values[0]
        assert value is not None
        rare = len(values) > 1 and (len(values) - 1) * log(share[value]) + log(len(several)) <= log(LUCK / trials)
        if not (whole or rare):
            continue
        blanks = [at for at in group if published[at][key] is None and true[at][key] is not None]
        right = [at for at in blanks if true[at][key] == value]
        if len(right) >= 0.95 * len(blanks):
            found.update(dict.fromkeys(right, value))
    return found
