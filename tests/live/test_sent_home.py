"""No match begins without bots that the arena itself has ended, and none is ended that a match waits for."""

from dataclasses import dataclass

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.bots.bot_ids import BotId
from arena.bots.tokens import new_token
from arena.errors.refused import Refused
from arena.live import players as players_module
from arena.live.arena_player import ArenaPlayer, order_of
from arena.live.match_admission import Admission
from arena.live.orders import SCHEDULED, DealSetOrder
from arena.live.players import IDLE_S, Players
from arena.live.runner import run_deal_sets
from arena.live.work import ScheduledWork
from arena.results.deal_sets import round_robin
from arena.sandbox.command import BotCommand
from arena.sandbox.spawner.order import Level
from arena.store import StoreError
from arena.testing.orders import match_order
from arena.testing.results import MemoryResults
from tests.live.cuts import quick_disk
from tests.live.lives import arena_in, plays, run

NAMES = ("ann", "bob")
BOTS = tuple(map(BotId, NAMES))
ORDER = match_order("abstrac", BOTS, {"hands": 2}, seed="1", match_id="m")
SET = DealSetOrder("set", ORDER.terms, ORDER.tables, ORDER.seed)
"""The same match, as the only one of a deal-set."""
GB = 1_000_000_000
LATE_MS = 300.0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(players_module, "Launcher", MemoryLauncher)
    with quick_disk(monkeypatch):
        yield tmp_path


class MemoryLauncher:
    """As `Launcher`, without processes: its bots answer at once."""

    start_s = 0.0
    """How long a start takes."""

    def __init__(self, arena, commands, folder, nursery, **_):
        self.arena, self.nursery = arena, nursery
        self.scopes = {}
        self.rests = False

    def all_run(self, bots):
        return False

    async def bring(self, bots):
        for bot in bots:
            if bot in self.scopes:
                continue
            self.scopes[bot] = trio.CancelScope()
            await trio.sleep(self.start_s)
            token = new_token()
            self.arena.tokens.add(token, bot)
            self.nursery.start_soon(self.lives, bot, token)
        await self.arena.sessions.arrived(bots)

    async def lives(self, bot, token):
        with self.scopes[bot]:
            await plays(self.arena, bot, token=token)

    def require_no_failure(self, bots):
        pass

    async def send_home(self):
        for bot, scope in self.scopes.items():
            session = self.arena.sessions.get(bot)
            session.send_home()
            scope.cancel()
            session.detach(session._stream.outbox)
            session.leave()
        self.scopes = {}


@dataclass
class Sandbox:
    def why_reads_disk(self, _):
        return ""

    level: Level = Level.S2


@dataclass
class Machine:
    """A machine that is late, or not."""

    late_ms: float = 0.0

    def admission(self):
        return Admission(
            p99_ms=lambda: self.late_ms,
            disk=lambda: (100 * GB, 50 * GB, 50 * GB),
            now_s=trio.current_time,
        )


def players_in(arena, nursery, folder, sandbox=None):
    players = Players(arena, folder, folder, nursery, sandbox=sandbox)
    for name in NAMES:
        players.add(BotCommand(name, (name,)))
    return players


class Failing(ScheduledWork):
    """A store that fails when the first deal-set is reported."""

    async def report(self, deal_set, outcomes):
        raise StoreError("the database was restarted")


def test_no_bot_is_blamed_if_the_store_fails_while_the_arena_is_late(folder):
    """Matches that were ordered before the failure begin after it, one by one, as the arena is late."""
    plans = round_robin(NAMES, seats=2, deal_sets=4, seed="s", tournament="t")
    machine = Machine()

    async def main():
        results = MemoryResults()
        async with arena_in(folder, results, machine.admission()) as (arena, nursery):
            players = players_in(arena, nursery, folder, Sandbox())

            async def played(source):
                player = ArenaPlayer(arena, players, lambda plan: order_of(plan, ORDER.terms))
                return await run_deal_sets(source(plans), player, deal_sets=plans)

            machine.late_ms = LATE_MS
            with pytest.raises(StoreError):
                await played(Failing)
            assert "ORDERED" in {match.state.name for match in arena.matches.in_play.values()}
            report = await played(ScheduledWork)
            assert report.incomplete == ()
            return report.outcomes

    outcomes = run(main)
    assert len(outcomes) == 8
    assert not any(any(outcome.forfeited) for outcome in outcomes.values())
    assert not any(faults for outcome in outcomes.values() for faults in outcome.faults)


def test_bots_of_a_match_that_waits_for_its_turn_are_not_ended(folder):
    machine = Machine(LATE_MS)

    async def main():
        admission = machine.admission()
        async with arena_in(folder, admission=admission) as (arena, nursery):
            players = players_in(arena, nursery, folder)
            await players.ensure(BOTS)
            async with trio.open_nursery() as turns:

                async def takes_the_turn():
                    async with admission.turn():
                        await trio.sleep(2 * IDLE_S)

                turns.start_soon(takes_the_turn)
                await wait_all_tasks_blocked()
                match = arena.matches.order(SET, "m", SCHEDULED)
                with trio.move_on_after(1.5 * IDLE_S):
                    await players._end_processes()
                assert match.state.name == "ORDERED"
                assert all(arena.sessions.get(bot).present for bot in BOTS)
            return await match.outcome()

    assert run(main).faults == ({}, {})


def test_bots_are_not_ended_while_some_are_started(folder, monkeypatch):
    """The arena may need longer for a start than bots may be idle."""
    monkeypatch.setattr(MemoryLauncher, "start_s", 0.8 * IDLE_S)

    async def main():
        async with arena_in(folder) as (arena, nursery):
            players = players_in(arena, nursery, folder)
            await players.ensure(BOTS[:1])
            await players.ensure(BOTS[1:])
            await trio.sleep(0.8 * IDLE_S)
            here = [arena.sessions.get(bot).present for bot in BOTS]
            await trio.sleep(IDLE_S)
            return here, [arena.sessions.get(bot).present for bot in BOTS]

    assert run(main) == ([True, True], [False, False])


def test_a_match_does_not_begin_without_bots_that_the_arena_has_ended(folder):
    async def main():
        async with arena_in(folder) as (arena, nursery):
            players = players_in(arena, nursery, folder)
            await players.ensure(BOTS)
            match = arena.matches.order(SET, "m", SCHEDULED)
            await players.send_home()
            with pytest.raises(Refused) as refused:
                await match.outcome()
            assert refused.value.reason == "BOT_NOT_AVAILABLE"
            assert arena.matches.get("m") is None

    run(main)


def test_a_match_without_its_bots_is_ordered_again(folder):
    """Bots that are ended between their start and the order, as while the store is slow."""

    async def main():
        async with arena_in(folder) as (arena, nursery):
            players = players_in(arena, nursery, folder)
            left = [0, 1]

            async def play(order, match_id):
                if left:
                    left.pop()
                    await players.send_home()
                return await arena.matches.play(order, match_id)

            player = ArenaPlayer(
                arena, players, lambda plan: order_of(plan, ORDER.terms), play_match=play
            )
            plans = round_robin(NAMES, seats=2, deal_sets=1, seed="s", tournament="t")
            return await run_deal_sets(ScheduledWork(plans), player, deal_sets=plans)

    report = run(main)
    assert report.incomplete == ()
    assert all(outcome.faults == ({}, {}) for outcome in report.outcomes.values())


def test_an_interrupted_match_without_its_bots_stays_interrupted(folder):
    async def main():
        async with arena_in(folder) as (arena, nursery):
            players = players_in(arena, nursery, folder)
            await players.ensure(BOTS)
            arena.matches.order(SET, "m", SCHEDULED)
            await trio.sleep(0.05)
            assert arena.matches.get("m").state.name == "PLAYING"
        async with arena_in(folder) as (arena, nursery):
            players = players_in(arena, nursery, folder)
            await players.ensure(BOTS)
            await players.send_home()
            match = arena.matches.order(SET, "m", SCHEDULED)
            with pytest.raises(Refused):
                await match.outcome()
            assert "m" in arena.matches.waiting
            await players.ensure(BOTS)
            again = arena.matches.order(SET, "m", SCHEDULED)
            outcome = await again.outcome()
            return outcome, again.played is not None

    outcome, is_played = run(main)
    assert is_played
    assert outcome.faults == ({}, {})
