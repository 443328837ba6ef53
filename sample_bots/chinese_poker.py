"""Plays Chinese Poker: sets the cards by the expected units of the three rows, and surrenders bad hands.

All good settings are rated twice. The first rating adds, for each row, the chance that it beats the same row of a
sensible player times its units, and the units for three won or lost rows. Then the best settings are tried against 400
opponents, because a player with a strong back usually also has a strong front. A hand that loses more to these than a
surrender costs is given up. It needs only the SDK.
"""

from bisect import bisect_right
from collections import Counter
from functools import cache, lru_cache
from heapq import nlargest
from itertools import combinations

import cardarena
from cardarena import chinese_poker

RANKS = " 23456789TJQKA"  # a rank's number is its place
PACK = [rank + suit for rank in RANKS[1:] for suit in "cdhs"]
CLASSES = ("high", "pair", "two", "trips", "straight", "flush", "full", "quads", "suited")
TRIPS, STRAIGHT, FLUSH, FULL, QUADS, SUITED = range(3, 9)  # their places; suited: straight flush
# These are the classes by the repetition of ranks; straights and flushes are found separately.
SHAPES = {(2, 1): 1, (2, 1, 1, 1): 1, (2, 2, 1): 2, (3,): 3, (3, 1, 1): 3, (3, 2): 6, (4, 1): 7}

SCOOP_UNITS = 3
DRAGON_UNITS, NATURAL_UNITS = 13, 3
BACKS_TRIED = 150
"""The number of strongest backs with which settings are made; weaker ones win too little."""
SURRENDER_UNITS = 2
SETTINGS_TRIED = 20
"""The number of settings, the best of the first rating, that are tried against the opponents."""

# Four hundred hands dealt at random and set row by row. A row is a character: its place
# between the steps below, in fifths of a step.
FIFTHS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
OPPONENTS = """
nKFT41aeR4ttMgPtoUjQOtoptKmtR5tYFmEmOgRAZEuisLeEtUhMQurZhIdsL4t4tULfH4JtfB4tJ5saoEaOWK4tY6
rP5O8jA2rfGilJqA2sg92sS5EYlmOTIZXDunEtZ9eOcCtOqqU4K75gEURKEntaGAoT6FkA7YnEECrTgC5P6EoVFtqe
qWESse9YstW5lWeOZGstv44rIZgPnIaOKNZOdK4Pe9d74tP5NudtfK7netP5Y4tIPKOiFjP4Y4dWeptYuL3GYCYtZ6
tWTautOYGlW5cJkfFuOS5tnrgSEmS5Ete72tWF2jF44uu42hV92SKFb94iiOsQ5XKOLuqrJOOnUsZ5SoKYF4PgRfKs
TKFTsj9JpteI97ucErtJ5tWREWrP94tgKsZpYK4ZqKthEoFEEmHuhBtZDAepdnYtU57hUogRAPuA9usekMSjDuwfGk
tWREQIWKmKgIA3etaEAVviJES4KtR69OGijv4nRLVeiF8Ltr6mP9BlRfYO3drZtdnuaG4oU5ltU94ONZoV4qdG4tZD
AmUX92TJIjPrEjTY61YC43ucrIAiVY5qOP7EAQogphiet9YhKWaKnYA9i4nIY948mHAShtU5aRUGqiNppghttaEtdO
bOHlWkPZtmO4tRRtuYsfaOW5ijTfTTctaluutWRmJAW4hRnYdF4T4YCse4uUluotJ4dgcEgosU5aQaOnUtT5EuhnEE
KaFVOKL4ub9g3ueoZEtKpXK4b9kPO44etPP5jRp92iUrU8tUsP5tfHY4KAWtX4DtYGAitaCqtJ5TqT42i2tjS4dhWE
tZToEFWG4aF48qUAJg8oqnptOU5d9gS4dnIUKaHadtLnUP74snKnE5rVY6nEPS5hKH9OdippAUDjTUa9tjB4sutqZH
fFgDtRmOKOOIPfKnSPctTfCo6JqWCdnuoAeNAhDIflLiuESKa7lI4KktTA4hAPNtZEoOH6mtseGIaG7JvDst9JTOPp
FZETJHsuc4BoIZuatkT7k3BedJ4IqOAYpWJHtZEb7lmYOtndIEstZUAoh9nmEtoAWTX9tEnsAulY6tLYTdO4PneE4U
tTEjE5tZGmU5iWNZuqLZljBRAkEoP5AfTDZHS5KItYtetXKR6gmTKrtOGcBe3sOOW5Iup72tEWeHpa8sRnOFM6jtQ5
tJ4AQqIjvLtdc8US41luvLYU4qeS82
"""


def number(kind, ranks):
    """Return a hand as a number: its class, then its ranks in the order in which they count."""
    digits = "".join(f"{rank:x}" for rank in ranks).ljust(5, "0")
    return CLASSES.index(kind) << 20 | int(digits, 16)


def steps(text):
    """Return rows such that a sensible player's row is equally likely between any two neighbours."""
    kinds_and_ranks = (step.split() for step in text.split(", "))
    return [0, *(number(kind, map(RANKS.index, ranks)) for kind, ranks in kinds_and_ranks), 9 << 20]


FRONT_STEPS = steps(
    "high Q, high KJ, high AT, high AQ, high AKJ, pair 5, pair 8, pair T, pair JK, pair QA, pair KQ"
)
MIDDLE_STEPS = steps(
    "pair 9, pair Q, pair KJ, pair AJ, two 6, two 96, two J7, trips 3, trips Q, straight 8, "
    "straight K"
)
BACK_STEPS = steps(
    "two 9, trips T, straight 9, straight K, flush JT, flush KJ, flush AJ, flush AK, full 5, "
    "full 9, full K"
)


@cache
def by_ranks(ranks):
    """Return the number of three or five cards of these ranks, the highest first, without regard to suits."""
    counts = Counter(ranks).most_common()  # equal counts stay in order
    ordered = [rank for rank, _ in counts]
    if len(ordered) == 5:
        if ranks[0] - ranks[4] == 4:
            return number("straight", ranks[:1])
        if ranks == (13, 4, 3, 2, 1):
            return number("straight", (4,))
    shape = SHAPES.get(tuple(count for _, count in counts), 0)
    return number(CLASSES[shape], ordered)


def strength(row):
    """Return a row as a number; of two the higher wins. The cards are from ace to two."""
    value = by_ranks(tuple([RANKS.index(card[0]) for card in row]))
    if len(row) == 5 and len({card[1] for card in row}) == 1:
        kind = SUITED if value >> 20 == STRAIGHT else FLUSH
        return kind << 20 | value & 0xFFFFF
    return value


def units(place, value):
    """Return the units of a row if it wins; places are front, middle, back."""
    kind = value >> 20
    if place == 0:
        return 3 if kind == TRIPS else 1
    if place == 1 and kind == FULL:
        return 2
    return 4 if kind == QUADS else 5 if kind > QUADS else 1


def place_of(place, value):
    """Return the place of a row among those of sensible players, in steps."""
    bounds = (FRONT_STEPS, MIDDLE_STEPS, BACK_STEPS)[place]
    at = bisect_right(bounds, value) - 1
    return at + (value - bounds[at]) / (bounds[at + 1] - bounds[at])


@lru_cache(1 << 16)
def prospects(place, value):
    """Return the chance that a row wins, and its expected units."""
    wins = place_of(place, value) / (len(FRONT_STEPS) - 1)
    return wins, wins * units(place, value) - (1 - wins)


def expected(rows):
    """Return the expected units of the rows from one opponent."""
    (a, made_a), (b, made_b), (c, made_c) = map(prospects, (0, 1, 2), rows)
    scoops = a * b * c - (1 - a) * (1 - b) * (1 - c)
    return made_a + made_b + made_c + SCOOP_UNITS * scoops


OPPONENTS_ROWS = [
    [FIFTHS.index(character) for character in three]
    for three in zip(*[iter("".join(OPPONENTS.split()))] * 3, strict=True)
]


@lru_cache(1 << 12)
def against_opponents(rows):
    """Return the mean units of the rows from the 400 opponents."""
    ours = [5 * place_of(place, value) for place, value in enumerate(rows)]
    pays = [units(place, value) for place, value in enumerate(rows)]
    made = 0
    for theirs in OPPONENTS_ROWS:
        scoops = scooped = 1
        for mine, other, pay in zip(ours, theirs, pays, strict=True):
            wins = min(1, max(0, mine - other))  # in the same fifth, both are equally likely to win
            made += wins * pay - (1 - wins)
            scoops *= wins
            scooped *= 1 - wins
        made += SCOOP_UNITS * (scoops - scooped)
    return made / len(OPPONENTS_ROWS)


@cache
def splits(back):
    """Return the ways to divide the cards that a back leaves, by their places in the hand."""
    left = [place for place in range(13) if place not in back]
    return [
        (middle, tuple(place for place in left if place not in middle))
        for middle in combinations(left, 5)
    ]


def best_setting(held):
    """Return the rows with the most expected units, front first, and these units."""
    held = sorted(held, key=PACK.index, reverse=True)
    value = {
        places: strength([held[place] for place in places])
        for size in (3, 5)
        for places in combinations(range(13), size)
    }
    fives = (places for places in value if len(places) == 5)
    found = {}
    for back in sorted(fives, key=value.__getitem__, reverse=True)[:BACKS_TRIED]:
        for middle, front in splits(back):
            numbers = value[front], value[middle], value[back]
            if numbers[0] <= numbers[1] <= numbers[2]:  # otherwise it is a foul
                found[numbers] = front, middle, back
    tried = nlargest(SETTINGS_TRIED, found, key=expected)
    best = max(tried, key=against_opponents)
    return [[held[place] for place in row] for row in found[best]], against_opponents(best)


class ChinesePokerBot(chinese_poker.Bot):
    max_matches = max_open_asks = 64  # its moves are quick

    def move(self, ask: chinese_poker.Ask) -> chinese_poker.Choice:
        view = ask.view
        if view.phase == chinese_poker.PHASE_SET:
            return self.natural_or_setting(view)
        return self.play_or_surrender(view.setting)

    def natural_or_setting(self, view):
        (front, middle, back), made = best_setting(view.held)
        if view.natural:
            natural_makes = DRAGON_UNITS if view.natural == chinese_poker.DRAGON else NATURAL_UNITS
            if natural_makes > made:
                return chinese_poker.Move(verb=chinese_poker.DECLARE_NATURAL)
        return cardarena.Noted(
            chinese_poker.Move(verb=chinese_poker.SET, front=front, middle=middle, back=back),
            f"should make {made:+.1f} of each",
        )

    def play_or_surrender(self, rows):
        made = against_opponents(tuple(map(strength, (rows.front, rows.middle, rows.back))))
        verb = chinese_poker.SURRENDER if made < -SURRENDER_UNITS else chinese_poker.PLAY
        return cardarena.Noted(chinese_poker.Move(verb=verb), f"should make {made:+.1f} of each")


if __name__ == "__main__":
    cardarena.run(ChinesePokerBot)
