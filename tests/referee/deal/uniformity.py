"""Whether shuffles are uniform: chi-square tests, and shufflers that are known to be bad.

Each test is a function of a shuffler and a number of samples, and gives the
chance that a uniform shuffler would do as badly or worse. A shuffler is given
the items and the stream of a board, as `arena.referee.deal.streams.shuffled` is.
"""

import hashlib
import math
from collections import Counter
from itertools import pairwise

from arena.referee.deal import KeyStream, board_key
from arena.referee.deal.streams import shuffled


def boards(seed, count):
    """The streams of the boards of one deal-set."""
    key = hashlib.sha256(seed.encode()).digest()
    return (KeyStream(board_key(key, board), "deck") for board in range(count))


# Bad shufflers. The first three are mistakes that were made in earnest.


def swap_any(items, stream):
    """Swap each place with any other: more ways than orders, and not a multiple of them."""
    order = list(items)
    for at in range(len(order)):
        other = stream.below(len(order))
        order[at], order[other] = order[other], order[at]
    return tuple(order)


def sattolo(items, stream):
    """Fisher and Yates, off by one: no card ever stays in its place."""
    order = list(items)
    for at in range(len(order) - 1, 0, -1):
        other = stream.below(at)
        order[at], order[other] = order[other], order[at]
    return tuple(order)


def byte_mod_n(items, stream):
    """Fisher and Yates with a byte modulo n: what does not fill a last span counts twice."""
    order = list(items)
    for at in range(len(order) - 1, 0, -1):
        other = stream.below(256) % (at + 1)
        order[at], order[other] = order[other], order[at]
    return tuple(order)


def cut(items, stream):
    """Cut the pack once: each card is on top equally often, and the next one always follows it."""
    order, at = tuple(items), stream.below(len(items))
    return order[at:] + order[:at]


def same_board(items, stream):
    """The same order for every board."""
    return shuffled(items, KeyStream(bytes(32), "deck"))


# Tests.


def of_all_orders(size):
    """Every order of `size` cards is equally likely."""

    def test(shuffler, seed, samples):
        counts = Counter(shuffler(range(size), stream) for stream in boards(seed, samples))
        return goodness(counts, math.factorial(size), samples)

    test.__name__ = f"orders of {size} cards"
    return test


def of_cards_at_places(shuffler, seed, samples, size=52):
    """Every card is equally likely at every place."""
    counts = [[0] * size for _ in range(size)]
    for stream in boards(seed, samples):
        for place, card in enumerate(shuffler(range(size), stream)):
            counts[place][card] += 1
    expected = samples / size
    chi2 = sum((count - expected) ** 2 / expected for row in counts for count in row)
    return chi2_tail(chi2, (size - 1) ** 2)  # rows and columns are fixed


def of_first_two_cards(shuffler, seed, samples, size=52):
    """Every pair of cards is equally likely on top."""
    orders = (shuffler(range(size), stream) for stream in boards(seed, samples))
    counts = Counter(order[:2] for order in orders)
    return goodness(counts, size * (size - 1), samples)


def of_consecutive_boards(shuffler, seed, samples, size=52):
    """From one board to the next, as many cards stay in place as between any two orders.

    That number is one on average with a variance of one; the mean of many is
    compared with the normal distribution, on both sides.
    """
    orders = (shuffler(range(size), stream) for stream in boards(seed, samples + 1))
    stayed = sum(
        sum(one == other for one, other in zip(before, after, strict=True))
        for before, after in pairwise(orders)
    )
    return math.erfc(abs(stayed - samples) / math.sqrt(2 * samples))


def of_numbers_below(n):
    """Every number below n is drawn equally often."""

    def test(shuffler, seed, samples):
        (stream,) = boards(seed, 1)
        counts = Counter(stream.below(n) for _ in range(samples))
        return goodness(counts, n, samples)

    test.__name__ = f"numbers below {n}"
    return test


def goodness(counts, cells, samples):
    """The tail of chi-square for counts that should be equal in all cells."""
    expected = samples / cells
    chi2 = sum((count - expected) ** 2 / expected for count in counts.values())
    chi2 += expected * (cells - len(counts))  # those that never came up
    return chi2_tail(chi2, cells - 1)


def chi2_tail(chi2, degrees):
    """The chance that chi-square with so many degrees of freedom is at least as large.

    The regularised upper incomplete gamma function Q(degrees / 2, chi2 / 2): by
    its series below the mean, by its continued fraction (Lentz's method) above.
    """
    a, x = degrees / 2, chi2 / 2
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        step = a
        while term > total * 1e-15:
            step += 1
            term *= x / step
            total += term
        return max(0.0, 1 - front * total)
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    fraction = d
    for step in range(1, 100_000):
        factor = step * (a - step)
        b += 2
        d = 1 / (factor * d + b or tiny)
        c = b + factor / c or tiny
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return min(1.0, front * fraction)


# What is tested.

PASSES, FAILS = 1e-3, 1e-6
"""Chances above which a test passes, and below which a control is caught."""

# fmt: off
TESTS = [
    # test                   samples  control, caught with so many samples
    (of_all_orders(4),       12_000,  swap_any,   6_000),
    (of_all_orders(4),       12_000,  sattolo,    1_000),
    (of_all_orders(5),       12_000,  swap_any,   6_000),
    (of_cards_at_places,      5_000,  swap_any,   2_000),
    (of_cards_at_places,      5_000,  sattolo,    2_000),
    (of_cards_at_places,      5_000,  byte_mod_n, 8_000),
    (of_first_two_cards,      6_000,  cut,        100),
    (of_consecutive_boards,   5_000,  same_board, 100),
]
# fmt: on


def named(test):
    return test.__name__.replace("_", " ")


UNIFORM = {named(test): (test, samples) for test, samples, _, _ in TESTS}
UNIFORM |= {
    named(test): (test, 20_000) for test in map(of_numbers_below, (2, 3, 52, 256, 257, 300))
}
