"""Numbers as people read them, the same in terminals, notebooks and reports."""

THIN = "\u00a0"


def number(value: object) -> str:
    """A number for people: thousands apart, up to six significant digits."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else ("yes" if value else "no")
    if isinstance(value, int):
        return f"{value:,}".replace(",", THIN)
    if isinstance(value, float):
        if value != value:
            return "–"
        if abs(value) == float("inf"):
            return "∞" if value > 0 else "−∞"
        if abs(value) < 1e-9:  # the noise of floating point is no number
            return "0"
        if value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}".replace(",", THIN)
        return f"{value:,.6g}".replace(",", THIN) if abs(value) < 1e6 else f"{value:,.2f}".replace(",", THIN)
    return str(value)
