"""Cell-key perturbation one cell at a time, with decimal arithmetic and plain loops: slow and obvious."""

import math
from decimal import Decimal

Table = dict[float, list[tuple[float, float]]]
"""size → (result j, cumulated bound)"""


def read(path: object, kind: str = "all") -> Table:
    """A p-table file as plain lists."""
    table: Table = {}
    with open(path) as file:  # type: ignore[call-overload]
        for line in list(file)[1:]:
            parts = line.strip().split(";")
            if len(parts) == 5 or parts[5] == kind:
                table.setdefault(float(parts[0]), []).append((float(parts[1]), float(parts[4])))
    return table


def cell_key(keys: list[str]) -> Decimal:
    """The sum of the keys, without its whole part."""
    return sum((Decimal(key) for key in keys), Decimal(0)) % 1


def change(table: Table, size: float, key: float) -> float:
    """The first result whose bound lies above the key, minus the size."""
    for result, bound in table[size]:
        if key < bound:
            return result - size
    return 0.0


def perturbed_count(count: int, key: float, table: Table) -> float:
    """A count with its noise."""
    return count if count == 0 else count + change(table, min(float(count), max(table)), key)


def turn(key: Decimal, digits: int) -> Decimal:
    """The first decimal behind the last one."""
    text = f"{key:.{digits}f}"
    return Decimal("0." + text[3:] + text[2])


def between(table: Table, size: float, key: float) -> float:
    """The change for a size between two rows."""
    sizes = sorted(table)
    if size >= sizes[-1]:
        return change(table, sizes[-1], key)
    low = max(s for s in sizes if s <= size)
    high = min(s for s in sizes if s > size)
    share = (size - low) / (high - low)
    return (1 - share) * change(table, low, key) + share * change(table, high, key)


def perturbed_magnitude(
    value: float, top: list[float], count: int, key: Decimal, *, tables: dict[str, Table], small_table: Table | None,
    small: float, large: float, turning: float, power: float, shares: list[float], flex: bool, parity: bool, extra: float,
    unsafe: bool, digits: int,
) -> float:  # fmt: skip
    """A magnitude with its noise, by the description of tau-ARGUS's method."""

    def multiple(z: float) -> float:
        if z < turning or not flex:
            return small
        return large * (1 + (small * z - large * turning) / (large * turning) * (2 * turning / (z + turning)) ** power)

    point = 0.0
    if small_table is not None:
        row = small_table[max(small_table)]
        before = [0.0] + [bound for _, bound in row[:-1]]
        variance = sum((j - max(small_table)) ** 2 * (b - a) for (j, b), a in zip(row, before, strict=True))
        point = math.sqrt(variance) / (small * math.sqrt(1 + sum(e * e for e in shares)))
    table = tables["all"] if not parity else tables["even" if count % 2 == 0 else "odd"]
    x = value
    for j in range(1 + len(shares)):
        if j >= count or j >= len(top) or x == 0 or top[j] == 0:
            break
        share = 1.0 if j == 0 else shares[j - 1]
        xj = top[j]
        if j > 0 and xj < point:
            continue
        step = share * xj * multiple(xj) if xj >= point else 1.0
        if abs(x) < step:
            step, xj = abs(x), abs(x) / (share * small)
            if xj < point:
                step = 1.0
        if j > 0 and xj < point:
            continue
        key = turn(key, digits)
        chosen = table if xj >= point else small_table
        assert chosen is not None
        v = between(chosen, abs(x / step), float(key))
        plus = extra if unsafe and j == 0 and top[0] >= point else 0.0
        sign = (v > 0) - (v < 0)
        moved = step * sign * (abs(v) + plus)
        x = math.copysign(max(abs(x) + moved, 0.0), x)
    return x
