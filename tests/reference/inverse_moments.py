"""Slow, obvious versions of the inverse moments: decimals with enough digits that cancellation cannot matter."""

from decimal import Decimal, getcontext, localcontext


def negative_binomial_inverse(count: int, share: float) -> float:
    """The upward recurrence in decimals; digits are added for what p/q loses a step."""
    with localcontext() as context:
        context.prec = 60 + 14 * count
        p = Decimal(share)
        q = 1 - p
        if q == 0:
            return 1.0 / count
        integral = -p.ln() / q
        for i in range(1, count):
            integral = (Decimal(1) / i - p * integral) / q
        return float(p * integral)


def poisson_inverse(count: int, mean: float) -> float:
    """e^−μ Σ μ^k / (k!·(f+k)), summed until nothing is added."""
    with localcontext() as context:
        context.prec = 60
        mu = Decimal(mean)
        term, total, k = Decimal(1), Decimal(0), 0
        while k <= mean or term > Decimal(10) ** -(getcontext().prec - 5):
            total += term / (count + k)
            k += 1
            term = term * mu / k
        return float(total * (-mu).exp())
