"""Student's t distribution, for any positive number of degrees of freedom."""

import math
from typing import Final

_TINY: Final = 1e-300  # replaces a zero divisor
_PRECISION: Final = 1e-15
_MAX_TERMS: Final = 10_000  # never reached: terms grow with the root of the larger shape


def cdf(t: float, freedom: float) -> float:
    """Return the probability that a t variable with `freedom` degrees of freedom is at most `t`."""
    if math.isinf(t):
        return 0.0 if t < 0 else 1.0
    square = t * t
    beyond = 0.5 * _incomplete_beta(
        freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square)
    )
    return beyond if t < 0 else 1.0 - beyond


def quantile(probability: float, freedom: float) -> float:
    """Return the value that a t variable does not exceed with `probability`, 0.5 to below 1."""
    if not 0.5 <= probability < 1.0:
        raise ValueError(f"a quantile is for a probability from 0.5 to below 1, not {probability}")
    low, high = 0.0, 1.0
    while cdf(high, freedom) < probability:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if not low < middle < high:  # neighbouring floats: no better value exists
            return high
        if cdf(middle, freedom) < probability:
            low = middle
        else:
            high = middle


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function of x = 1 - rest (DLMF 8.17.22).

    Both are given, as subtraction would cancel digits of the smaller.
    """
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1.0 - _incomplete_beta(b, a, rest, x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log(rest)
    return math.exp(log_front) / (a * _continued_fraction(a, b, x))


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Return 1 + d1/(1 + d2/(1 + …)), evaluated from the front by the modified Lentz method."""
    value = above = 1.0
    below = 0.0
    for term in range(1, _MAX_TERMS):
        m = term // 2
        if term % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1.0 / ((1.0 + d * below) or _TINY)
        above = (1.0 + d / above) or _TINY
        value *= above * below
        if abs(above * below - 1.0) < _PRECISION:
            return value
    raise ArithmeticError(f"no convergence for a={a}, b={b}, x={x}")
