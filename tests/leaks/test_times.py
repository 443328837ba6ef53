"""What is hidden does not show in how long a seat waits: no delay of over 0.1 ms.

A machine that is slower, or busy, is given longer: rules compute for as long as they compute.
"""

import hashlib
import random
from functools import partial

import numpy as np
import pytest

from arena.bots.tokens import Tokens
from arena.games.catalogue import GAMES, game_by_id
from arena.live.session.asks import AskSender
from arena.referee.match_runner import MatchRunner
from tests.doubles.streams import Client
from tests.leaks.test_leaks import NOTHING_HIDDEN
from tests.leaks.times import (
    BOUND_NS,
    PACE_NS,
    OverSockets,
    bound_ns,
    chance,
    differences,
    pace_ns,
    pair,
    waits,
)
from tests.live.running import running
from tests.referee.matches import nearly_three
from tests.rows import slow_unless_of_each_kind

pytestmark = pytest.mark.slow

HIDING = [game for game in GAMES if game.id not in NOTHING_HIDDEN]
PAIRS = 3
PLANTED_PAIRS = 40  # at most: one in which it shows is enough
"""A delay of one bit shows in about a fifth of the pairs: in the others both worlds have the same bit."""
TURNS = 24
UNLIKELY = 1e-3
"""Among so many pairs chance alone is not to say that something shows."""
SHARED = 4.0
"""Over sockets this process is the arena and all its bots: what is read for one, as its hidden moves,
holds up the others by Python's one lock. So less is seen there."""


def chances(game, pairs, turns, played=waits, pace_ns=pace_ns, bounds=1.0):
    draw = random.Random(f"turns {game.id}")
    for number in range(pairs):
        world, seat, cut, changed = pair(game, nearly_three(game), number)

        def measure(other, world=world, seat=seat, cut=cut, changed=changed):
            return played(world, seat, cut, changed if other else {})

        measure(True), measure(False)  # what is made once is made
        before_ns = pace_ns()
        found = differences(measure, turns, draw)
        yield chance(found, draw, bounds * bound_ns([before_ns, pace_ns()]))


@pytest.mark.parametrize("game", slow_unless_of_each_kind(HIDING), ids=lambda game: game.id)
def test_what_is_hidden_does_not_show_in_how_long_a_seat_waits(game):
    assert min(chances(game, PAIRS, TURNS)) > UNLIKELY


@pytest.mark.parametrize("game_id", ["sixty_six", "klaberjass"])
def test_nor_does_it_over_sockets(game_id, tmp_path, monkeypatch):
    game = game_by_id(game_id)
    with running(tmp_path, Tokens(guests=True)) as arena, Client(arena.address) as client:
        played = OverSockets(client, monkeypatch, 2).waits
        assert min(chances(game, PAIRS, TURNS, played, bounds=SHARED)) > UNLIKELY


# Delays that are planted. They take no time: the clock by which is measured goes on.


class Clock:
    """Counts what is planted alone, with some noise that is the same in both worlds."""

    def __init__(self):
        self._noise = random.Random(1)
        self._ns = 0

    def now_ns(self):
        return self._ns + round(self._noise.gauss(0.0, 20_000.0))

    def wait(self, ns):
        self._ns += round(ns)


def digest(table):
    return int.from_bytes(hashlib.sha256(repr(table.state).encode()).digest()[:4]) / 2**32


def as_it_is_stepped(monkeypatch, delay):
    settle = MatchRunner._settle_and_continue

    def settling(self, *arguments, **named):
        delay(self)
        settle(self, *arguments, **named)

    monkeypatch.setattr(MatchRunner, "_settle_and_continue", settling)


def as_it_is_asked(monkeypatch, delay):
    ask = AskSender.ask

    def asking(self, seating, open_ask, number):
        delay(open_ask.record.asker)
        ask(self, seating, open_ask, number)

    monkeypatch.setattr(AskSender, "ask", asking)


# fmt: off
PLANTS = [
    # where              how long, in ns, by a number from 0 to 1 that follows from all   why
    (as_it_is_stepped,   lambda number: number * 70e6,             "up to 70 ms as a move is taken"),
    (as_it_is_asked,     lambda number: number * 70e6,             "up to 70 ms as a seat is asked"),
    (as_it_is_stepped,   lambda number: number * 1e6,              "up to 1 ms"),
    (as_it_is_stepped,   lambda number: (number > 0.5) * 2e5,      "one bit, as 0.2 ms"),
]
# fmt: on


@pytest.mark.parametrize(("where", "how_long", "why"), PLANTS, ids=[row[-1] for row in PLANTS])
def test_a_delay_that_follows_from_what_is_hidden_is_found(monkeypatch, where, how_long, why):
    clock = Clock()
    where(monkeypatch, lambda table: clock.wait(how_long(digest(table))))
    played = partial(waits, now_ns=clock.now_ns)
    game = game_by_id("sixty_six")
    found = chances(game, PLANTED_PAIRS, TURNS, played, pace_ns=lambda: PACE_NS)
    assert any(chance < UNLIKELY for chance in found)


@pytest.mark.parametrize("drift_ns", [0, 300_000], ids=["steady", "slower and slower"])
def test_noise_is_not_taken_for_a_delay(drift_ns):
    """Waits of one turn hang together, and machines slow down: neither tells the worlds apart."""
    draw = random.Random(7)
    normal = np.random.default_rng(7)
    found = []
    for turn in range(400):
        base = np.abs(normal.standard_cauchy(2)) * 1e6

        def measure(other, turn=turn, base=base):
            own = base[int(other)] + turn * drift_ns
            return {at: own + noise for at, noise in enumerate(normal.normal(0.0, 1e5, 8))}

        found.append(differences(measure, 1, draw)[0])
    likely = [chance(np.array(found[at : at + 20]), draw) for at in range(0, 400, 20)]
    assert min(likely) > UNLIKELY
    assert np.median(likely) < 0.9


def test_less_than_the_bound_is_not_looked_for():
    draw = random.Random(3)
    assert chance(np.full((TURNS, 5), 0.9 * BOUND_NS), draw) == 1.0
    assert chance(np.full((TURNS, 5), 1.1 * BOUND_NS), draw) < UNLIKELY


@pytest.mark.parametrize(
    ("paces", "bound"),
    [([0.5], 1.0), ([1.0, 1.0], 1.0), ([0.9, 2.5], 2.5)],
    ids=["faster: no less is hidden", "as fast", "it became slow: the slowest counts"],
)
def test_a_slow_machine_is_given_longer(paces, bound):
    assert bound_ns([pace * PACE_NS for pace in paces]) == bound * BOUND_NS
