"""Competitions on a machine where the arena fails to start bots: nobody is charged for it."""

import sys
from pathlib import Path

import pytest
import trio

from arena.bots.bot_ids import BotId
from arena.live import launcher as launching
from arena.live import players as players_of_arena
from arena.live.arena_player import ArenaPlayer, order_of
from arena.live.players import Players
from arena.live.runner import run_deal_sets
from arena.live.work import ScheduledWork
from arena.results.deal_sets import HOUSE, round_robin
from arena.sandbox.command import BadCommand, BotCommand
from arena.testing.orders import match_order
from tests.live.running import in_arena

RANDOM_BOT = Path(__file__).parents[2] / "sample_bots" / "random_bot.py"
EXITS = "raise SystemExit(3)"


def played(folder, *, ann=""):
    """The report of two deal-sets of two bots; `ann` is the code of hers."""
    (folder / "ann.py").write_text(ann or RANDOM_BOT.read_text())
    terms = match_order("abstrac", ("ann", "bob"), {"hands": 2}).terms
    plans = round_robin(["ann", "bob"], seats=2, deal_sets=2, seed="s", tournament="t")

    async def main(arena):
        async with trio.open_nursery() as nursery:
            players = Players(arena, folder / "data", folder / "bots", nursery)
            for name, file in (("ann", folder / "ann.py"), ("bob", RANDOM_BOT)):
                players.add(BotCommand(name, (sys.executable, str(file))))
            player = ArenaPlayer(arena, players, lambda plan: order_of(plan, terms))
            report = await run_deal_sets(ScheduledWork(plans), player, deal_sets=plans)
            rest = players.rests("ann"), players.rests("bob")
            await players.send_home()
            nursery.cancel_scope.cancel()
        return report, rest

    return in_arena(folder / "data", main)


@pytest.fixture
def failing(monkeypatch):
    """Has starts of bots fail by the arena: those whose number, by bot, is among these."""
    real, starts = launching.launch, {}
    monkeypatch.setattr(launching, "AGAIN_S", (0.0,) * 4)

    def fail(*numbers):
        async def launch(command, *rest, **how):
            starts[command.name] = starts.get(command.name, 0) + 1
            if starts[command.name] in numbers and command.name == "ann":
                raise BadCommand("the spawner has ended", "it has ended")
            return await real(command, *rest, **how)

        monkeypatch.setattr(launching, "launch", launch)

    return fail


# fmt: off
STARTS = [
    ((1,),               "the first start fails"),
    ((1, 2, 3),          "three starts in a row fail"),
    ((3, 4),             "starts of a later phase fail"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [row[0] for row in STARTS], ids=[row[1] for row in STARTS])
def test_a_start_that_fails_costs_no_bot_anything(numbers, failing, tmp_path):
    failing(*numbers)
    report, _ = played(tmp_path)
    assert len(report.outcomes) == 4
    assert report.incomplete == ()
    assert not any(any(outcome.faults) for outcome in report.outcomes.values())
    assert not any(any(outcome.forfeited) for outcome in report.outcomes.values())


def test_a_deal_set_whose_bot_the_arena_cannot_start_does_not_count(failing, tmp_path, caplog):
    failing(*range(100))
    report, rest = played(tmp_path)
    assert report.outcomes == {}
    assert len(report.incomplete) == 2
    assert rest == (True, False)
    blamed = {
        record.bot for record in caplog.records if record.getMessage() == "a bot did not connect"
    }
    assert not blamed
    failed = [record for record in caplog.records if "could not start" in record.getMessage()]
    assert {(each.bot, each.why) for each in failed} == {("ann", "it has ended")}


def test_a_bot_that_exits_by_itself_forfeits(tmp_path):
    report, rest = played(tmp_path, ann=EXITS)
    assert report.incomplete == ()
    for outcome in report.outcomes.values():
        assert sum(outcome.forfeited) == 1
    assert rest == (False, False)


def test_the_arenas_own_bot_plays_by_its_policy(tmp_path):
    async def main(arena):
        async with trio.open_nursery() as nursery:
            return Players(arena, tmp_path / "data", tmp_path / "bots", nursery).command(HOUSE).argv

    assert in_arena(tmp_path / "data", main)[-1] == "sample"


@pytest.mark.slow
def test_bots_that_nothing_needs_are_ended_and_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr(players_of_arena, "IDLE_S", 0.2)
    ann = BotId("ann")

    async def main(arena):
        async with trio.open_nursery() as nursery:
            players = Players(arena, tmp_path / "data", tmp_path / "bots", nursery)
            players.add(BotCommand("ann", (sys.executable, str(RANDOM_BOT))))
            for _ in range(2):
                await players.ensure([ann])
                (first,) = players._launcher("ann")._running.values()
                assert first.process.returncode is None
                assert not arena.sessions.get(ann).sent_home
                with trio.fail_after(60):
                    await first.ended.wait()
                assert arena.sessions.get(ann).sent_home
            await players.ensure([ann])
            arena.sessions.get(ann).reserve()
            (playing,) = players._launcher("ann")._running.values()
            with trio.move_on_after(1.0):
                await playing.ended.wait()
            assert playing.process.returncode is None
            arena.sessions.get(ann).unreserve()
            with trio.fail_after(60):
                await playing.ended.wait()

    in_arena(tmp_path / "data", main)
