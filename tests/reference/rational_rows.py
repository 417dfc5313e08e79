"""Row spaces the slow and obvious way: Gauss elimination in fractions."""

from collections.abc import Sequence
from fractions import Fraction


class Span:
    """The rational span of some rows, as a reduced echelon form."""

    def __init__(self, rows: Sequence[Sequence[int]] = ()) -> None:
        self.rows: list[list[Fraction]] = []
        for row in rows:
            self.add(row)

    def reduce(self, row: Sequence[int]) -> list[Fraction]:
        """What is left of a row after subtracting the span."""
        rest = [Fraction(int(value)) for value in row]
        for basis in self.rows:
            lead = next(j for j, value in enumerate(basis) if value)
            if rest[lead]:
                factor = rest[lead] / basis[lead]
                rest = [value - factor * other for value, other in zip(rest, basis)]
        return rest

    def contains(self, row: Sequence[int]) -> bool:
        """Whether a row is a rational combination of the span's rows."""
        return not any(self.reduce(row))

    def add(self, row: Sequence[int]) -> None:
        """Add a row."""
        rest = self.reduce(row)
        if any(rest):
            lead = next(j for j, value in enumerate(rest) if value)
            for i, basis in enumerate(self.rows):
                if basis[lead]:
                    factor = basis[lead] / rest[lead]
                    self.rows[i] = [value - factor * other for value, other in zip(basis, rest)]
            self.rows.append(rest)
