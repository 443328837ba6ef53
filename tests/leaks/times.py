"""Two worlds by the clock: how long a seat waits must not follow from what is hidden from it.

The worlds of `tests.leaks.worlds` differ in cards that one seat may not know, and are played
by the same moves. From each move on it is measured when the seat is told of it. The two worlds are
played in turns, many times, which of them first being drawn anew each time.

If nothing hidden shows, it does not matter which world is which: each turn could as well have
been drawn the other way round. So the differences of a turn may change their signs, all
together, and what was measured must not stand out among what comes of that. This holds
whatever else the machine does, and however the waits of one turn depend on each other.
"""

import random
import time
from dataclasses import replace

import numpy as np

from arena.bots.bot_ids import BotId
from arena.live.session.session import Session
from arena.referee.match_runner import MatchRunner
from arena.referee.timers import ArenaTime, Timers
from arena.referee.wire.games import codec_of
from arena.testing.deals import SeededDeals, StackedDeals
from arena.testing.orders import match_request
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import MemoryLedger, seeded_spec
from cardarena.v1 import game_pb2, play_pb2
from tests.leaks.sessions import other_packs
from tests.leaks.worlds import play_world
from tests.live.cuts import EVERY_GAME
from tests.referee.matches import CONTROL

LONGEST = 14
"""Steps of a match that are measured."""
BOUND_NS = 100_000
"""Less than this is not looked for: what the rules compute takes as long as it takes."""
PACE_NS = 90_000
"""How long a machine that is given no more than that takes for `pace_ns`; half as fast, twice as much."""
REDRAWN = 20_000
"""How often the signs are drawn anew."""


class TimedOutbox(MemoryOutbox):
    """Notes when its bot is told something for the first time since it was looked at."""

    def __init__(self, now_ns):
        super().__init__()
        self._now_ns = now_ns
        self.told_ns = None

    def post(self, frame):
        self._note()
        super().post(frame)

    def post_ask(self, element, ask):
        self._note()
        super().post_ask(element, ask)

    def _note(self):
        if self.told_ns is None:
            self.told_ns = self._now_ns()


def waits(world, seat, cut, changed, now_ns=time.perf_counter_ns):
    """Play a world up to `cut`; by step and who moved, nanoseconds until `seat` was told of it."""
    game, seats = world.game, world.seats
    deals = StackedDeals(changed, SeededDeals(world.seed))
    spec = seeded_spec(game.id, seats, world.given, seed=world.seed, time_control=CONTROL)
    spec = replace(spec, deals=deals)
    sessions = [Session(BotId(f"b{at}"), lambda: 0.0) for at in range(seats)]
    outboxes = [TimedOutbox(now_ns) for _ in sessions]
    for session, outbox in zip(sessions, outboxes, strict=True):
        session.attach(play_pb2.Hello(), outbox)
    names = tuple(session.bot.name for session in sessions)
    table = MatchRunner(
        spec,
        [session.seat_at(spec, at, names) for at, session in enumerate(sessions)],
        MemoryLedger(),
        time=ArenaTime(lambda: 0.0, Timers()),
        over=lambda table: table.tell_end(),
        heavy_step=lambda table, chosen, *_: table.stepped(
            game.rules.step(table.state, chosen, deals)
        ),
    )
    table.begin()
    found = {}
    for at, chosen in enumerate(world.steps[:cut]):
        for who, move in chosen:
            (ask,) = outboxes[who].take_asks()
            encoded = game_pb2.GameMove.FromString(codec_of(game).game_move(move))
            answer = play_pb2.Answer(ask_id=ask.ask_id, move=encoded)
            data = play_pb2.BotMessage(answers=play_pb2.Answers(answers=[answer]))
            data = data.SerializeToString()
            outboxes[seat].told_ns = None
            began_ns = now_ns()
            sessions[who].incoming.deliver(outboxes[who], data, 0.0)
            if outboxes[seat].told_ns is not None:
                found[at, who] = outboxes[seat].told_ns - began_ns
    return found


class OverSockets:
    """Bots that play worlds over streams of an arena, one after the other."""

    ROOM = 512
    """Matches are left open where they are cut; so many are to fit."""

    def __init__(self, client, monkeypatch, seats):
        self._lobby = client.lobby
        self._matches = 0
        self._monkeypatch = monkeypatch
        self._names = [f"b{at}" for at in range(seats)]
        hello = {"max_matches": self.ROOM, "max_open_asks": self.ROOM}
        self._streams = [
            client.stream(f"guest:{name}", games=EVERY_GAME, **hello) for name in self._names
        ]
        for stream in self._streams:
            stream.expect("welcome")

    def waits(self, world, seat, cut, changed):
        """As `waits` of this module, where only one seat is asked at a time."""
        deals = StackedDeals(changed, SeededDeals(world.seed))
        self._monkeypatch.setattr("arena.live.matches.starting.KeyedDeals", lambda _: deals)
        control = {"move_ms": 600_000, "bank_ms": 0}
        request = match_request(
            world.game.id, self._names, world.given, time_control=control, seed="times"
        )
        self._lobby.CreateMatch(request)
        self._matches += 1
        found, asked = {}, {}
        for at, chosen in enumerate(world.steps[:cut]):
            ((who, move),) = chosen
            ask = asked.pop(who, None) or self._ask(who)
            encoded = game_pb2.GameMove.FromString(codec_of(world.game).game_move(move))
            began_ns = time.perf_counter_ns()
            self._streams[who].answer(play_pb2.Answer(ask_id=ask.ask_id, move=encoded))
            if seat in world.game.rules.to_act(world.states[at + 1]):
                asked[seat] = self._ask(seat)
                found[at, who] = time.perf_counter_ns() - began_ns
        return found

    def _ask(self, seat):
        """The next ask of a seat in this match; what was asked last in others is passed over."""
        while True:
            message = self._streams[seat].next()
            for ask in message.asks.asks:
                if ask.match == self._matches:
                    return ask


def pair(game, seats, number, least=9):
    """A world, a seat, a cut and the packs of a world that looks the same to it; in order of chance."""
    given = {"hands": seats}
    world = play_world(game, game.options(given, seats), seats, f"times {number}")
    world.seed, world.given = f"leaks {game.id} times {number}", given
    draw = random.Random(f"times {game.id} {number}")
    for _ in range(200):
        seat = draw.randrange(seats)
        last = min(len(world.steps), LONGEST)
        cut = draw.randrange(min(least, last - 1), last)
        changed = other_packs(world, seat, cut, draw)
        if changed is not None:
            return world, seat, cut, changed
    raise ValueError(f"{game.id} has no two worlds that look the same")


def differences(measure, turns, draw):
    """By turn and moment, how much later the other world told; `measure(other)` plays one."""
    found = []
    for _ in range(turns):
        order = [False, True]
        draw.shuffle(order)
        told = {other: measure(other) for other in order}
        assert told[False].keys() == told[True].keys(), "nobody is told at other moments"
        found.append([told[True][moment] - told[False][moment] for moment in told[False]])
    return np.array(found, dtype=float)


def pace_ns():
    """How long this machine takes, just now, for work that is always the same."""
    found = []
    for _ in range(50):
        began_ns, total = time.perf_counter_ns(), 0
        for number in range(2_000):
            total += number * number % 7
        found.append(time.perf_counter_ns() - began_ns)
    return float(np.median(found))


def bound_ns(paces_ns):
    """What is looked for on a machine that was seen to work at these paces."""
    return BOUND_NS * max(1.0, max(paces_ns) / PACE_NS)


def chance(found, draw, bound_ns=BOUND_NS):
    """How probable differences such as these are, if it does not matter which world is which."""
    signs = np.sign(found) * (np.abs(found) > bound_ns)
    chooser = np.random.default_rng(draw.getrandbits(64))
    flips = chooser.choice((-1.0, 1.0), (REDRAWN, len(signs)))
    measured = np.square(signs.sum(axis=0)).sum()
    redrawn = np.square(flips @ signs).sum(axis=1)
    return (1 + np.count_nonzero(redrawn >= measured)) / (1 + REDRAWN)
