"""Whose hands who watches may see while a match is played: those of practice, where who serves said so."""

import asyncio
import contextlib

import pytest
import trio

from arena.api.spectating import SpectateCalls
from arena.app.arena_process import ServerSettings, serve
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.errors.refused import Refused
from arena.live.listen import CannotServe
from arena.live.orders import BY_HAND, DealSetOrder, TableOrder
from arena.testing.orders import match_order
from cardarena.v1 import watch_pb2
from tests.doubles.calls import Call
from tests.live.cuts import quick_disk
from tests.live.lives import arena_in, plays, run

ANN, BOB = BotId("ann"), BotId("bob")
SEEDED = match_order("abstrac", (ANN, BOB), {"hands": 2}, seed="1", match_id="m")
FAIR = match_order("abstrac", (ANN, BOB), {"hands": 2}, match_id="m")
TABLES = (TableOrder("m", (ANN, BOB)), TableOrder("n", (BOB, ANN), 1))
SEEDED_SET = DealSetOrder("set", SEEDED.terms, TABLES, SEEDED.seed)
FAIR_SET = DealSetOrder("set", FAIR.terms, TABLES)


def watched(arena, match_id="m"):
    """What somebody without a token is told of a match: what is listed, and the feed's beginning."""
    watching, call = (
        SpectateCalls(arena.matches.spectators, lambda: arena.matches.in_play, lambda: None),
        Call(),
    )

    async def first_two():
        stream = watching.Watch(watch_pb2.WatchRequest(match_id=match_id), call)
        async with contextlib.aclosing(stream):
            return [await anext(stream) for _ in range(2)]

    listed = [
        match.hands_open for match in watching.ListLive(watch_pb2.ListLiveRequest(), call).matches
    ]
    try:
        opened, told = asyncio.run(first_two())
    except Refused as refused:
        return listed, refused.reason
    assert told.frame.HasField("open_hands") == opened.opened.hands_open
    return listed, opened.opened.hands_open


async def under_way(arena, decisions=5):
    """Wait until the match has come so far; how far it has."""
    with trio.fail_after(600):
        while stands(arena) < decisions:  # noqa: ASYNC110 - no event tells it
            await trio.sleep(0.01)
    return stands(arena)


def stands(arena):
    table = arena.matches.referee.runners.get("m")
    return 0 if table is None else table.decisions


# who serves says so, what is ordered, what is listed as open, what the feed says of itself
# fmt: off
SEEN = [
    (True,  SEEDED,     [True],  True,            "practice, and it was said"),
    (False, SEEDED,     [False], False,           "practice, and nothing was said"),
    (True,  FAIR,       [False], False,           "a fair deal is nobody's to know"),
    (False, FAIR,       [False], False,           "a fair deal, and nothing was said"),
    (True,  SEEDED_SET, [],      "UNKNOWN_MATCH", "a table of a deal-set tells of its sisters'"),
    (True,  FAIR_SET,   [],      "UNKNOWN_MATCH", "a table of a fair deal-set tells of its sisters'"),
]
# fmt: on


@pytest.mark.parametrize(
    ("open_hands", "order", "listed", "seen"),
    [row[:4] for row in SEEN],
    ids=[row[4] for row in SEEN],
)
def test_whose_hands_are_open(tmp_path, monkeypatch, open_hands, order, listed, seen):
    async def main():
        async with arena_in(tmp_path, open_hands=open_hands) as (arena, nursery):
            for each in (ANN, BOB):
                nursery.start_soon(plays, arena, each)
            await trio.sleep(0.1)
            nursery.start_soon(arena.matches.play, order, "m")
            await under_way(arena)
            assert watched(arena) == (listed, seen)
            await arena.matches.play(order, "m")
            assert watched(arena) == ([], seen)  # and no more when it has ended

    with quick_disk(monkeypatch):
        run(main)


@pytest.mark.parametrize(
    ("before", "after"),
    [(True, False), (False, True)],
    ids=["opened before, closed now", "closed before, opened now"],
)
def test_a_resumed_match_is_open_if_the_present_settings_say_so(
    tmp_path, monkeypatch, before, after
):
    async def main():
        stood = 0
        for open_hands in (before, after):
            async with arena_in(tmp_path, open_hands=open_hands) as (arena, nursery):
                for each in (ANN, BOB):
                    nursery.start_soon(plays, arena, each)
                if open_hands is before:
                    await trio.sleep(0.1)
                    arena.matches.order(SEEDED, "m", BY_HAND)
                stood = await under_way(arena, stood + 2)
                assert watched(arena) == ([open_hands], open_hands)

    with quick_disk(monkeypatch):
        run(main)


# fmt: off
ELSEWHERE = [
    ("0.0.0.0",      "all addresses of this machine"),
    ("::",           "all addresses of this machine, by IPv6"),
    ("192.0.2.1",    "an address that others reach"),
    ("arena.test",   "a name, which may be that of any address"),
]
# fmt: on


@pytest.mark.parametrize("host", [row[0] for row in ELSEWHERE], ids=[row[1] for row in ELSEWHERE])
def test_hands_are_not_opened_where_other_machines_can_connect(tmp_path, host):
    async def main(arena):
        pytest.fail("the arena serves")

    settings = ServerSettings(tmp_path / "data", host, insecure=True, open_hands=True)
    with pytest.raises(CannotServe, match="open hands are for this machine only"):
        serve(settings, Tokens(guests=True), main)
    assert not (tmp_path / "data").exists()  # and nothing was begun


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "unix:arena.sock"])
def test_hands_may_be_open_where_only_this_machine_can_connect(tmp_path, monkeypatch, host):
    monkeypatch.chdir(tmp_path)

    async def main(arena):
        return arena.matches.spectators._open_hands

    assert serve(ServerSettings(tmp_path / "data", host, open_hands=True), Tokens(), main)
