"""A newcomer on a ladder of launched bots: its one seat is busy, and it has a place soon.

The ladder's drawing and the phases are played on a mock clock, by matches whose times are drawn by lot.
"""

import random
from collections import Counter
from datetime import UTC, datetime

import pytest
import trio
from trio.testing import MockClock

from arena.contests import ladder as ladder_module
from arena.contests.ladder import Ladder, _Drawing
from arena.contests.ladder_presence import LadderPresence
from arena.contests.pairing import MIN_DEAL_SETS
from arena.contests.plan import read_plan
from arena.contests.standings import live_standings
from arena.live.arena_player import MAX_MATCHES
from arena.live.runner import MatchByMatch, Phases, run_deal_sets
from arena.live.work import ScheduledWork
from arena.results.deal_sets import HOUSE, bot_of
from arena.results.record import CompetitionRecord, GameRecord
from arena.store import BotKind
from tests.contests.played import outcome
from tests.contests.test_ladder_presence import Arena, Players, entered, held

TEXT = 'name = "l"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
LAUNCHED = ("bot0", "bot1", "bot2", "bot3", "bot4")
LASTS_S = 600.0
"""About 1,900 tables: longer shows the same shares."""
START_S = 0.5
MATCH_S = (1.0, 2.0, 4.0)
TAKES_S = 0.1
"""How long the store takes to have a deal-set taken."""


class Game(Ladder):
    """A ladder without a store."""

    def __init__(self, launched, newcomers):
        self._plan, self._game = read_plan(TEXT), 0
        self._terms = self._plan.games[0].terms
        self.arena = self._arena = Arena()
        for name in newcomers:
            self.arena.come(name, max_matches=1)
        self.bots = [held(name, BotKind.COMMAND) for name in launched] + [*map(held, newcomers)]
        self._now = lambda: datetime.now(UTC)
        self.newcomers = frozenset(newcomers)
        self.work, self.drawn, self.outcomes = ScheduledWork(), [], {}
        self.busy_s, self.in_match, self.processes = Counter(), Counter(), set()
        self.placed_at = {}
        self.phases = Phases(self.end_processes)
        self.lots = random.Random(1)

    async def end_processes(self):
        await trio.sleep(START_S / 2)
        self.processes.clear()

    async def entered(self):
        await trio.sleep(TAKES_S)
        return entered(*self.bots)

    async def active(self, _):
        return {}

    dialled_in = active

    async def has_rate_for(self, *_):
        return True

    async def know(self, *_):
        pass

    note_presence = note_limits = set_away = know

    async def keep_draw(self, drawn):
        self.drawn.append(drawn)
        self.work.add(drawn)

    async def play(self, _, match):
        launched = {bot for bot in match.bots if bot not in self.newcomers}
        if launched - self.processes:
            await trio.sleep(START_S)
            self.phases.started(START_S)
        self.processes |= launched
        own = [bot for bot in match.bots if bot in self.newcomers]
        while any(self.in_match[bot] for bot in own):  # noqa: ASYNC110 - as the arena waits for a turn
            await trio.sleep(0.1)
        lasts_s = self.lots.choice(MATCH_S)
        self.in_match.update(own)
        await trio.sleep(lasts_s)
        self.in_match.subtract(own)
        self.busy_s.update(dict.fromkeys(own, lasts_s))
        self.outcomes[match.id] = outcome(match, dict.fromkeys(match.bots, 0.0))
        return self.outcomes[match.id]

    def rows(self):
        candidates = tuple(self.bots)
        game = GameRecord((), tuple(self.drawn), self.outcomes)
        found = live_standings(CompetitionRecord(TEXT, candidates, (game,)))
        return {bot_of(row["bot"]): row for row in found["games"][0]["rows"]}

    async def watch(self):
        """Note when each newcomer has its place; tables are made until all have one."""
        while missing := self.newcomers - self.placed_at.keys():
            await trio.sleep(60)
            rows = self.rows()
            for name in missing:
                if rows[name]["place"] is not None:
                    self.placed_at[name] = rows["bot0"]["deal_sets"]

    async def ten_minutes(self, sandboxed):
        presence = LadderPresence(self._terms, self.arena, Players(), entered(*self.bots))
        drawing = _Drawing(self, self.work, presence, [], {})

        def phases_of(deal_set):
            bots = set(deal_set.bots) - self.newcomers - {HOUSE}
            return self.phases if sandboxed and bots else None

        with trio.move_on_after(LASTS_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.watch)
                player = MatchByMatch(self.play, max_matches=MAX_MATCHES, phases_of=phases_of)
                await run_deal_sets(drawing, player, on_progress=drawing.table_ended)


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch):
    """Threads take no time of the mock clock."""

    async def inline(call, *args):
        await trio.lowlevel.checkpoint()
        return call(*args)

    monkeypatch.setattr(ladder_module, "run_sync", inline)


def played(launched, newcomers, *, sandboxed):
    game = Game(launched, newcomers)
    trio.run(game.ten_minutes, sandboxed, clock=MockClock(autojump_threshold=0))
    return game


@pytest.mark.slow
@pytest.mark.parametrize("sandboxed", [True, False], ids=["in phases", "all tables at a time"])
@pytest.mark.parametrize(
    ("launched", "newcomers", "least"),
    [
        (LAUNCHED, ("ann",), 0.8),
        (LAUNCHED, ("ann", "bob"), 0.75),
        (LAUNCHED[:2], ("ann",), 0.8),
    ],
    ids=["one among five launched bots", "two of them", "one among two"],
)
def test_a_newcomer_with_one_seat_is_busy_and_has_a_place(launched, newcomers, least, sandboxed):
    game = played(launched, newcomers, sandboxed=sandboxed)
    for name in newcomers:
        assert game.busy_s[name] >= least * LASTS_S
        assert game.placed_at[name] <= 10 * MIN_DEAL_SETS, "the others have played so much"
