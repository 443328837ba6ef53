"""Of a deal-set that is not closed, calls tell an organiser and nobody else.

Its tables play the same boards: how one goes tells what is to come at another.
"""

import asyncio
import contextlib

import pytest
import trio

from arena.api.lobby import LobbyCalls
from arena.api.replays import ReplayCalls
from arena.api.spectating import SpectateCalls
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.errors.refused import Refused
from arena.live.orders import DealSetOrder, TableOrder
from arena.store import open_store
from arena.store.keys import Scope
from arena.testing.orders import match_order
from cardarena.v1 import lobby_pb2, replay_pb2, watch_pb2
from tests.doubles.calls import Call
from tests.live.cuts import quick_disk
from tests.live.lives import arena_in, plays, run
from tests.live.test_identity import make_key

ANN, BOB = BotId("ann"), BotId("bob")
ALONE = match_order("abstrac", (ANN, BOB), {"hands": 2}, seed="1", match_id="m")
SET = DealSetOrder(
    "set", ALONE.terms, (TableOrder("m", (ANN, BOB)), TableOrder("n", (BOB, ANN), 1)), ALONE.seed
)
RUNNING = lobby_pb2.MatchStatus.MATCH_STATUS_RUNNING
ENDED = lobby_pb2.MatchStatus.MATCH_STATUS_ENDED


def called(token):
    return Call(authorization=f"Bearer {token}" if token else "")


def told(arena, tokens, token, folder):
    """All that calls say of matches, bots and replays. No time passes meanwhile."""
    lobby, call = LobbyCalls(arena.matches, arena.sessions, tokens), called(token)
    found = [
        lobby.ListBots(lobby_pb2.ListBotsRequest(), call),
        asyncio.run(lobby.ListMatches(lobby_pb2.ListMatchesRequest(), call)),
        asyncio.run(lobby.ListMatches(lobby_pb2.ListMatchesRequest(page_size=1), call)),
    ]
    replays = ReplayCalls(folder, tokens, lambda _: None)
    published = lobby_pb2.ListMatchesRequest(ended=lobby_pb2.MatchFilter(published=True))
    found.append(asyncio.run(lobby.ListMatches(published, call)))
    for match_id in ("m", "n"):
        request = lobby_pb2.GetMatchRequest(match_id=match_id)
        found.append(answer_of(lobby.GetMatch(request, call)))
        request = replay_pb2.GetReplayRequest(replay_id=match_id)
        found.append(answer_of(all_of(replays.GetReplay(request, call))))
    watching = SpectateCalls(arena.matches.spectators, lambda: arena.matches.in_play, lambda: None)
    found.append([*watching.ListLive(watch_pb2.ListLiveRequest(), call).matches])
    for match_id in ("m", "n"):
        request = watch_pb2.WatchRequest(match_id=match_id)
        found.append(answer_of(first_of(watching.Watch(request, call))))
    return found


async def first_of(stream):
    return await anext(stream)


async def all_of(pieces):
    return [each.piece async for each in pieces]


def answer_of(call):
    """What a call answers, or why it is refused."""
    try:
        return asyncio.run(call)
    except Refused as refused:
        return refused.reason, refused.text


def decisions(arena, match_id):
    table = arena.matches.referee.runners.get(match_id)
    return 0 if table is None else table.decisions


@pytest.mark.parametrize("results", ["in a store", "in memory"])
def test_nothing_of_a_deal_set_is_told_before_it_is_closed(tmp_path, monkeypatch, results):
    async def main(store):
        kept = store.matches() if results == "in a store" else None
        organiser = make_key(store.keys(), Scope.ORGANISER, "ann")
        bot = make_key(store.keys(), Scope.BOT, "bob", "other")
        tokens = Tokens(guests=True, keys=store.keys().all())
        others = ("", "guest:ann", bot)
        async with arena_in(tmp_path, kept) as (arena, nursery):
            for each in (ANN, BOB):
                nursery.start_soon(plays, arena, each)
            await trio.sleep(0.1)
            before = {token: told(arena, tokens, token, tmp_path) for token in others}
            assert not before[""][1].matches

            async def play(match_id):
                """Play a match; the calls are made while it is in play, and after it."""
                nursery.start_soon(arena.matches.play, SET, match_id)
                while decisions(arena, match_id) < 5:  # noqa: ASYNC110 - no event tells it
                    await trio.sleep(0.01)
                now = told(arena, tokens, organiser, tmp_path)
                assert [bot.matches for bot in now[0].bots] == [1, 1]
                assert now[1].matches[0].status == RUNNING
                assert now[1].matches[0].decisions >= 5
                yield
                await arena.matches.play(SET, match_id)
                yield

            async for _ in play("m"):
                assert {token: told(arena, tokens, token, tmp_path) for token in others} == before
            (ended,) = told(arena, tokens, organiser, tmp_path)[1].matches
            assert (ended.match_id, ended.status) == ("m", ENDED)
            assert any(ended.scores)
            async with contextlib.aclosing(play("n")) as moments:
                await anext(moments)
                assert {token: told(arena, tokens, token, tmp_path) for token in others} == before
                await anext(moments)
            for token in others:
                bots, listed, page, replays, m, m_replay, n, n_replay, live, *_ = told(
                    arena, tokens, token, tmp_path
                )
                assert [bot.matches for bot in bots.bots] == [0, 0]
                assert [match.match_id for match in listed.matches] == ["n", "m"]
                assert page.next_page_token
                assert m.match.scores == ended.scores
                assert n.match.status == ENDED
                assert {match.match_id for match in replays.matches} == {"m", "n"}
                assert all(m_replay)
                assert all(n_replay)
                assert live == []

    with quick_disk(monkeypatch), open_store(tmp_path / "arena.db") as store:
        run(lambda: main(store))
