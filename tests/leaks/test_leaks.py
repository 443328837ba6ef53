"""The short form of the leak gate; `scripts/leakcheck --long` runs the long one.

P1 and P2: worlds that a seat, or a spectator, cannot tell apart look the same.
P3: leaks that are planted are found. P4: what a seat may know, it is shown.
"""

import random
import zlib

import pytest

from arena.games.catalogue import GAMES
from tests.leaks.cases import cases
from tests.leaks.knowledge import HIDDEN
from tests.leaks.worlds import Emissions, differs_in_own_cards, gate, play_world
from tests.rows import OF_EACH_KIND, fewest_seats, slow_unless, slow_unless_of_each_kind

CASES = list(cases(every_seat_count=False))
MAX_SKIP_RATE = 0.6
PAIRS = 8
WORLDS = {"eleusis": 14}
"""More matches where a no-play soon shows what was hidden."""

NOTHING_HIDDEN = {"abstrac", "abstrac_suit", "abstrac_unfettered"}
"""Games that hide nothing at all: there are no two worlds to compare."""


@pytest.mark.parametrize(
    ("name", "game", "seats", "options"),
    slow_unless(
        lambda name, game, seats, options: game.id in OF_EACH_KIND and fewest_seats(game.id, seats),
        CASES,
    ),
    ids=[row[0] for row in CASES],
)
def test_what_is_hidden_does_not_show(name, game, seats, options):
    tally = gate(game, options, seats, pairs=PAIRS, worlds=WORLDS.get(game.family, 4))
    assert not tally.differences, tally.differences[0]
    assert tally.skip_rate < MAX_SKIP_RATE
    if game.id not in NOTHING_HIDDEN:
        for seat in (*range(seats), None):
            assert tally.pairs_of(seat) >= PAIRS, f"too few pairs for seat {seat}"


def test_every_family_says_what_it_hides():
    assert {game.family for game in GAMES} == set(HIDDEN)


def bits(state):
    """A number that follows from everything in the state."""
    return zlib.crc32(repr(state).encode())


PLANTS = [
    ("hidden cards in the view", lambda seen, state: (*seen[:2], seen[2] + repr(state).encode())),
    ("a digest of the deal", lambda seen, state: (*seen, bits(state))),
    ("who is asked", lambda seen, state: (bits(state) % 5, *seen[1:])),
    (
        "the length of a message",
        lambda seen, state: (*seen[:2], seen[2] + b"." * (bits(state) % 7)),
    ),
    ("one bit", lambda seen, state: (*seen, bits(state) & 1)),
]


@pytest.mark.parametrize("plant", [row[1] for row in PLANTS], ids=[row[0] for row in PLANTS])
@pytest.mark.parametrize(
    "game",
    slow_unless_of_each_kind(g for g in GAMES if g.id not in NOTHING_HIDDEN),
    ids=lambda g: g.id,
)
def test_a_planted_leak_is_found(game, plant):
    seats = game.seats[0]
    options = game.options({"hands": seats}, seats)
    tally = gate(game, options, seats, pairs=6, worlds=2, plant=plant)
    assert tally.differences


@pytest.mark.parametrize(
    "game", [g for g in GAMES if g.id not in NOTHING_HIDDEN], ids=lambda g: g.id
)
def test_a_seat_sees_its_own_cards(game):
    seats = game.seats[0]
    world = play_world(game, game.options({"hands": seats}, seats), seats, seed=1)
    emissions, draw = Emissions(game), random.Random(1)
    for seat in range(seats):
        seen = [differs_in_own_cards(world, emissions, seat, draw) for _ in range(5)]
        if game.id != "abstrac_fiftytwo":  # nobody has cards of its own
            assert True in seen
        assert False not in seen
