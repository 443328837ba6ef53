"""After a restart the arena listens at once, and plays the past of its matches again in slices."""

import pytest
import trio

from arena.bots.bot_ids import BotId
from arena.live.orders import BY_HAND
from arena.records.verify import verify_file
from arena.referee import match_runner, resumed
from arena.testing.orders import match_order
from cardarena.v1 import play_pb2
from tests.live.cuts import chooses, quick_disk
from tests.live.lives import arena_in, plays, run, says_hello

ANN, BOB = BotId("ann"), BotId("bob")
MATCHES = 5
SLICE = 4


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(resumed, "REPLAYED_AT_ONCE", SLICE)
    with quick_disk(monkeypatch):
        yield tmp_path


async def leave_behind(folder):
    """Cut matches short after some moves; the answers that ann gave."""
    given = []
    async with arena_in(folder) as (arena, nursery):
        nursery.start_soon(plays, arena, BOB)
        await trio.sleep(0.1)
        line = says_hello(arena, ANN)
        session = arena.sessions.get(ANN)
        for number in range(MATCHES):
            order = match_order(
                "abstrac", (ANN, BOB), {"hands": 8}, seed=str(number), match_id=f"m{number}"
            )
            arena.matches.order(order, f"m{number}", BY_HAND)
        while len(given) < MATCHES * 12:
            for data in line.take_frames():
                for ask in play_pb2.ArenaMessage.FromString(data).asks.asks:
                    given.append(chooses(ask))
                    say(session, line, given[-1:])
            await trio.sleep(0.01)
    return given


def say(session, line, answers):
    said = play_pb2.BotMessage(answers=play_pb2.Answers(answers=answers))
    session.incoming.deliver(line, said.SerializeToString(), trio.current_time())


def test_no_match_is_played_again_before_the_arena_listens(folder):
    async def main():
        await leave_behind(folder)
        async with arena_in(folder) as (arena, _):
            assert not arena.matches.all_replayed
            assert len(arena.matches.in_play) == MATCHES
            line = says_hello(arena, ANN)
            assert len(line.only("welcome").matches) == MATCHES

    run(main)


def test_others_have_their_turn_between_any_two_slices(folder, monkeypatch):
    async def main():
        await leave_behind(folder)
        turns = [0]
        settle_past = match_runner.MatchRunner._settle_past

        def counted(table):
            turns[-1] += 1
            settle_past(table)

        monkeypatch.setattr(match_runner.MatchRunner, "_settle_past", counted)
        async with arena_in(folder) as (arena, _):
            while not arena.matches.all_replayed:
                await trio.lowlevel.checkpoint()
                turns.append(0)
        # In a turn one match begins and another goes on; two turns may lie between two looks.
        assert 0 < max(turns) <= 4 * SLICE
        assert sum(turns) >= MATCHES * 12

    run(main)


def test_an_answer_from_before_the_restart_is_no_offence_while_all_is_played_again(folder):
    async def main():
        given = await leave_behind(folder)
        async with arena_in(folder) as (arena, _):
            line = says_hello(arena, ANN)
            session = arena.sessions.get(ANN)
            say(session, line, given)
            assert line.take("refusal") == []
            assert not line.closed
            assert not arena.matches.all_replayed

    run(main)


def test_a_match_that_was_played_again_in_slices_ends_as_one_that_was_never_cut(folder):
    async def main():
        await leave_behind(folder)
        async with arena_in(folder) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            for match in [*arena.matches.in_play.values()]:
                assert (await match.outcome()).has_result

    run(main)
    for number in range(MATCHES):
        assert verify_file(folder / "replays" / f"m{number}.replay")
