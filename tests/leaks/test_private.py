"""What only one seat knows without holding it: a rule thought of, cards exchanged, and set aside."""

import random
import zlib

import pytest

from arena.games.catalogue import GAMES, game_by_id
from tests.leaks.worlds import Emissions, Tally, compare_rule, compare_secret, play_world
from tests.rows import slow_unless

ELEUSIS = [game for game in GAMES if game.family == "eleusis"]
CASES = [
    *((game.id, 3, compare_rule) for game in ELEUSIS),
    ("loo", 6, compare_secret),
    ("pineapple", 4, compare_secret),
    ("chinese_poker", 3, compare_secret),
]
NAMES = [f"{game_id}-{seats}" for game_id, seats, _ in CASES]
PAIRS = 6
"""For each seat and the spectator."""


def is_quick(game_id, *_):
    """Whether no rule has to be made up and tried."""
    return game_by_id(game_id).family != "eleusis"


def pairs_of(game_id, seats, compare, plant=None, worlds=2):
    game, tally = game_by_id(game_id), Tally()
    emissions = Emissions(game, plant)
    for seed in range(worlds):
        world = play_world(game, game.options({"hands": seats}, seats), seats, seed)
        draw = random.Random(f"{game_id} {seats} {seed}")
        for seat in (*range(seats), None):
            for _ in range(PAIRS // 2):
                compare(world, emissions, seat, draw, tally)
    return tally


@pytest.mark.parametrize(("game_id", "seats", "compare"), slow_unless(is_quick, CASES), ids=NAMES)
def test_a_private_choice_does_not_show(game_id, seats, compare):
    tally = pairs_of(game_id, seats, compare)
    assert not tally.differences, tally.differences[0]
    for seat in (*range(seats), None):
        assert tally.pairs_of(seat) >= PAIRS // 2, f"too few pairs for seat {seat}"


def rule_in(state):
    secret = getattr(state, "secret", None)
    return secret.rule if secret is not None else ""


def discards_in(state):
    deal = getattr(state, "deal", None)
    return repr(deal.cards.dead) + repr(deal.cards.discarded)


# fmt: off
PLANTS = [
    ("eleusis",         compare_rule,   rule_in,      "the rule in the view"),
    ("eleusis",         compare_rule,   lambda s: len(rule_in(s)) % 2, "a bit of its length"),
    ("eleusis_express", compare_rule,   rule_in,      "the rule in the view of the express game"),
    ("loo",             compare_secret, discards_in,  "what was discarded"),
    ("loo",             compare_secret, lambda s: zlib.crc32(discards_in(s).encode()) % 4,
                                                      "two bits of a digest of it"),
]
# fmt: on


@pytest.mark.parametrize(
    ("game_id", "compare", "leak", "why"),
    slow_unless(is_quick, PLANTS),
    ids=[r[-1] for r in PLANTS],
)
def test_a_private_choice_that_is_leaked_is_found(game_id, compare, leak, why):
    seats = game_by_id(game_id).seats[0]
    tally = pairs_of(game_id, seats, compare, lambda seen, state: (*seen, leak(state)), worlds=1)
    assert tally.differences
