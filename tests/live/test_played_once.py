"""A match of a schedule that is ordered again is played once.

Also by another process, and after a kill at any moment between the last move and the last replay.
"""

import contextlib
import functools
from dataclasses import replace

import pytest
import trio

from arena.bots.bot_ids import BotId
from arena.errors.refused import Refused
from arena.live.deals.deal_sets import DealSets
from arena.live.matches.matches import PLAYED_ANEW
from arena.live.matches.results import ResultWriter
from arena.live.orders import BY_HAND, SCHEDULED, DealSetOrder, TableOrder
from arena.records.read import Replay
from arena.records.verify import verify_file
from arena.referee.spec import AbortCause
from arena.store import StoreError, open_store
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from cardarena.v1 import play_pb2
from tests.live.cuts import quick_disk
from tests.live.deal_logs import contexts
from tests.live.lives import EVERY_GAME, arena_in, plays, run, says_hello

ANN, BOB = BotId("ann"), BotId("bob")
ALONE = match_order("abstrac", (ANN, BOB), {"hands": 2}, seed="1", match_id="m")
SET = DealSetOrder(
    "set", ALONE.terms, (TableOrder("m", (ANN, BOB)), TableOrder("n", (BOB, ANN), 1)), ALONE.seed
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with quick_disk(monkeypatch):
        yield tmp_path


@contextlib.asynccontextmanager
async def life(folder, *bots):
    """An arena whose results are in a store on disk, and bots that answer."""
    with open_store(folder / "arena.db") as store:
        async with arena_in(folder, store.matches()) as (arena, nursery):
            for bot in bots:
                nursery.start_soon(plays, arena, bot)
            await trio.sleep(0.1)
            yield arena, nursery


def begun(arena):
    """How many matches an arena has begun, or gone on with."""
    return sum(game.begun for game in arena.metrics.counts.games.values())


def replays(folder):
    return sorted(path.stem for path in (folder / "replays").glob("*.replay"))


def test_a_match_that_has_a_result_is_not_played_again(folder):
    async def main():
        async with life(folder, ANN, BOB) as (arena, _):
            first = await arena.matches.play(ALONE, "m")
            assert await arena.matches.play(ALONE, "m") == first
            assert begun(arena) == 1

    run(main)


UNWILLING = [
    pytest.param({"max_matches": 0}, {"games": EVERY_GAME}, "takes no more matches", id="takes none"),
    pytest.param(None, {"games": [play_pb2.GameSupport(game="loo")]}, "does not play abstrac with "
                 "2 seats", id="plays another game"),
]  # fmt: skip


@pytest.mark.parametrize(("ready", "hello", "why"), UNWILLING)
def test_a_bot_that_is_here_and_will_not_play_is_seated_as_gone(folder, ready, hello, why):
    async def main():
        async with life(folder, ANN) as (arena, _):
            outbox = MemoryOutbox()
            bob = arena.hello(play_pb2.Hello(token="guest:bob", max_matches=9, **hello), outbox)
            if ready is not None:
                said = play_pb2.BotMessage(ready=play_pb2.Ready(**ready))
                bob.incoming.deliver(outbox, said.SerializeToString(), 0.0)
            outcome = await arena.matches.play(ALONE, "m")
            assert outcome.ending == "forfeit"
            assert outcome.places[0] < outcome.places[1]
            told = [(fault.seat, fault.reason) for fault in outbox.only("match_end").faults]
            assert told == [(1, f"the bot {why}")]

    run(main)


def test_a_scheduled_match_waits_for_a_bot_that_plays_enough_at_a_time(folder):
    async def main():
        async with life(folder, ANN) as (arena, nursery):
            nursery.start_soon(functools.partial(plays, arena, BOB, max_matches=1))
            await trio.sleep(0.1)
            outcomes = []

            async def play(match_id):
                outcomes.append(await arena.matches.play(replace(SET, terms=ALONE.terms), match_id))

            async with trio.open_nursery() as both:
                both.start_soon(play, "m")
                both.start_soon(play, "n")
            assert [outcome.ending for outcome in outcomes] == ["completed"] * 2

    run(main)


def test_two_orders_of_a_match_wait_for_the_same_outcome(folder):
    async def main():
        async with life(folder, ANN, BOB) as (arena, _):
            outcomes = []

            async def play():
                outcomes.append(await arena.matches.play(ALONE, "m"))

            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(play)
            assert outcomes == [outcomes[0]] * 3
            assert begun(arena) == 1

    run(main)


@pytest.mark.slow
def test_an_order_whose_look_up_is_slow_does_not_play_what_ended_meanwhile(folder, monkeypatch):
    async def main():
        async with life(folder, ANN, BOB) as (arena, nursery):
            with slow_at_first(monkeypatch, arena.matches.results.outcomes):
                nursery.start_soon(arena.matches.play, ALONE, "m")
                await trio.sleep(1)
                assert (await arena.matches.play(ALONE, "m")).has_result
                await trio.sleep(2 * SLOW_S)
            assert begun(arena) == 1

    run(main)


SLOW_S = 60
"""Longer than a match."""


@contextlib.contextmanager
def slow_at_first(monkeypatch, look_up):
    """The first look-up is told only after a while."""
    at_once, looked = trio.to_thread.run_sync, []

    async def slow(call, *args, **options):
        found = await at_once(call, *args, **options)
        if call == look_up:
            looked.append(args)
            if len(looked) == 1:
                await trio.sleep(SLOW_S)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(trio.to_thread, "run_sync", slow)
        yield


def test_another_process_returns_the_outcome_from_the_store(folder):
    async def main():
        async with life(folder, ANN, BOB) as (arena, _):
            first = await arena.matches.play(ALONE, "m")
        async with life(folder) as (arena, _):  # where no bot has come
            assert await arena.matches.play(ALONE, "m") == first
            assert begun(arena) == 0

    run(main)


# fmt: off
KILLED_BEFORE = [
    ("record",  "the result is recorded: it stands in the journal alone"),
    ("publish", "the replay is published: the result is in the store"),
]
# fmt: on


class Killed(Exception):
    """The arena ends here, and nothing that it had still to do is done."""


def killed_before(patch, step):
    """Have the arena end at this step of a match's end."""

    async def kill(*_):
        raise Killed

    if step == "record":
        patch.setattr(ResultWriter, "record", kill)
    else:
        patch.setattr(DealSets, "over", kill)


@pytest.mark.parametrize("order", [ALONE, SET], ids=["a match alone", "the last of a deal-set"])
@pytest.mark.parametrize(("step", "why"), KILLED_BEFORE, ids=[row[1] for row in KILLED_BEFORE])
def test_a_match_that_ended_just_before_a_kill_is_played_once(
    folder, monkeypatch, order, step, why
):
    *others, last = order.match_ids

    async def main():
        killed = False
        try:
            async with life(folder, ANN, BOB) as (arena, _):
                for match_id in others:
                    await arena.matches.play(order, match_id)
                with monkeypatch.context() as patch:
                    killed_before(patch, step)
                    await arena.matches.play(order, last)
        except* Killed:
            killed = True
        assert killed
        assert last not in replays(folder)
        async with life(folder) as (arena, _):
            await trio.sleep(1.0)
            assert replays(folder) == sorted(order.match_ids), "published without being asked"
            outcomes = [await arena.matches.play(order, match_id) for match_id in order.match_ids]
            assert begun(arena) == 0
            assert all(outcome.has_result for outcome in outcomes)
            assert all(
                arena.matches.results.get(match_id).published for match_id in order.match_ids
            )
        for match_id in order.match_ids:
            verdict = verify_file(folder / "replays" / f"{match_id}.replay")
            assert verdict.ok, verdict.problem

    run(main)


def test_a_deal_set_played_by_two_processes_is_published_by_the_last(folder):
    async def main():
        async with life(folder, ANN, BOB) as (arena, _):
            await arena.matches.play(SET, "m")
            assert replays(folder) == []
        async with life(folder, ANN, BOB) as (arena, _):
            await arena.matches.play(SET, "n")
            assert replays(folder) == ["m", "n"]

    run(main)


def test_an_aborted_match_of_a_deal_set_is_played_anew_and_one_alone_is_over(folder):
    async def main():
        for order in (SET, ALONE):
            async with life(folder / order.deal_set, ANN, BOB) as (arena, nursery):
                nursery.start_soon(arena.matches.play, order, "m")
                await trio.sleep(0.05)
                assert len(arena.matches.abort(["m", "not in play"])) == 8
                await trio.sleep(1.0)
                again = await arena.matches.play(order, "m")
                assert again.has_result == (order is SET)
                assert begun(arena) == 1 + (order is SET)

    for order in (SET, ALONE):
        (folder / order.deal_set).mkdir()
    run(main)


FAIR_SET = replace(SET, seed="", terms=replace(SET.terms, seeded=False))


@pytest.mark.parametrize("restarts", [False, True], ids=["at once", "after a restart"])
@pytest.mark.parametrize("counts", [False, True], ids=["alone", "beside a result"])
def test_what_is_played_anew_has_other_packs_unless_a_sister_counts(counts, restarts, folder):
    """Bots have seen of the packs of an aborted match; those of one that counts are compared."""

    async def aborts(arena, nursery):
        if counts:
            assert (await arena.matches.play(FAIR_SET, "n")).has_result
        nursery.start_soon(arena.matches.play, FAIR_SET, "m")
        await trio.sleep(0.05)
        arena.matches.referee.runners["m"].abort(AbortCause.ERROR)
        await trio.sleep(1.0)

    async def plays_all(arena):
        for match_id in FAIR_SET.match_ids:
            assert (await arena.matches.play(FAIR_SET, match_id)).has_result

    async def main():
        async with life(folder, ANN, BOB) as (arena, nursery):
            await aborts(arena, nursery)
            if not restarts:
                await plays_all(arena)
        if restarts:
            async with life(folder, ANN, BOB) as (arena, _):
                await plays_all(arena)

    run(main)
    reasons = [void for _, void in contexts(folder)]
    assert reasons == ([""] if counts else [PLAYED_ANEW, ""])
    opened = {Replay.open(path).opened.deal_key_sha256 for path in (folder / "replays").iterdir()}
    assert len(opened) == 1, "all that counts was played by the same packs"


def test_the_id_of_a_match_in_play_is_not_another_matchs(folder):
    other = replace(ALONE, tables=(TableOrder("m", (BOB, ANN)),))

    async def main():
        async with arena_in(folder) as (arena, _):
            for bot in (ANN, BOB):
                says_hello(arena, bot)
            first = arena.matches.order(ALONE, "m", BY_HAND)
            assert arena.matches.order(ALONE, "m", SCHEDULED) is first
            with pytest.raises(Refused) as refused:
                arena.matches.order(other, "m", BY_HAND)
            assert refused.value.reason == "MATCH_ID_TAKEN"

    run(main)


def test_a_result_that_cannot_be_recorded_is_logged_and_not_lost(folder, monkeypatch):
    async def main():
        async with life(folder, ANN, BOB) as (arena, _):
            with monkeypatch.context() as patch:

                def full(*_):
                    raise StoreError("the disk is full")

                patch.setattr(arena.matches.results, "record", full)
                with pytest.raises(StoreError, match="full"):
                    await arena.matches.play(ALONE, "m")
            assert replays(folder) == []
        async with life(folder) as (arena, _):
            await trio.sleep(1.0)
            assert (await arena.matches.play(ALONE, "m")).has_result
            assert replays(folder) == ["m"]

    run(main)
