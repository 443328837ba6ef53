"""Lists of matches that have ended: which a caller may see, filters, pages, and the names in them."""

import asyncio

import pytest

from arena.api.matches import MatchCalls
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.errors.refused import Refused
from arena.results.deal_sets import MatchOutcome, aborted
from arena.store import StoredMatch, open_store
from arena.store.keys import Key, Scope
from cardarena.v1 import lobby_pb2
from tests.doubles.calls import Call
from tests.store.made import AT, DEAL_SETS, MATCHES, NOW, made

PLANNED = MATCHES[0]


def outcome(match_id, places=(1, 2), scores=(5, -5)):
    return MatchOutcome(match_id, scores, places, "completed", ({}, {"illegal": 2}), decisions=9)


ENDED = [
    StoredMatch(outcome("m1"), "abstrac", ("ann", "bob"), "", AT + 1),
    StoredMatch(outcome("m2", places=(2, 1)), "abstrac", ("ann", "cid"), "", AT + 2),
    StoredMatch(outcome("m3", places=(1, 1)), "jam", ("bob", "ann"), "", AT + 3),
    StoredMatch(aborted("m4", "error 0a1b"), "jam", ("bob", "ann"), "", AT + 4),
    StoredMatch(outcome(PLANNED.id), "democracy", PLANNED.bots, DEAL_SETS[PLANNED.id], AT + 5),
]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as opened:
        made(opened)
        for match in ENDED:
            opened.matches().record([match])
        yield opened


@pytest.fixture
def calls(store):
    key = Key(key_id(TOKEN), token_sha256(TOKEN), Scope.ORGANISER, "olga", "", NOW)
    return MatchCalls(store.matches(), Tokens(keys=[key]))


TOKEN = new_token()
ORGANISER = Call(authorization=f"Bearer {TOKEN}")
EVERY = [PLANNED.id, "m4", "m3", "m2", "m1"]


def listed(calls, call=ORGANISER, *, size=50, token="", skip=0, **wanted):
    request = lobby_pb2.ListMatchesRequest(page_size=size, page_token=token, skip=skip)
    request.ended.CopyFrom(lobby_pb2.MatchFilter(**wanted))
    page = asyncio.run(calls.ListMatches(request, call))
    return [match.match_id for match in page.matches], page.next_page_token


# fmt: off
FILTERS = [
    ({},                                  EVERY,        "everything"),
    ({"lost_by": "ann"},                  ["m2"],       "lost at the first seat; a tie and an abort are not lost"),
    ({"lost_by": "bob"},                  [PLANNED.id, "m1"], "lost at the second seat"),
    ({"lost_by": "ann", "game": "jam"},   [],           "all conditions together"),
    ({"bots": ["ann", "bob"]},            [PLANNED.id, "m4", "m3", "m1"], "both bots"),
    ({"closed": True},                    EVERY[1:],    "the deal-set is over"),
    ({"competition": "autumn"},           [PLANNED.id], "of a competition"),
    ({"ending": 3},                       ["m4"],       "aborted"),
    ({"faulted": True},                   [PLANNED.id, "m3", "m2", "m1"], "with a fault"),
]
# fmt: on


@pytest.mark.parametrize(("wanted", "found", "why"), FILTERS, ids=[row[-1] for row in FILTERS])
def test_a_filter_lists(wanted, found, why, calls):
    if wanted.get("lost_by") == "bob":
        assert PLANNED.bots[1] == "bob"
    assert listed(calls, **wanted) == (found, "")


def test_pages_go_on_after_their_last_match_and_skip(calls):
    first, token = listed(calls, size=2)
    second, token = listed(calls, size=2, token=token)
    last, end = listed(calls, size=2, token=token)
    assert ([*first, *second, *last], end) == (EVERY, "")
    assert listed(calls, size=2, skip=3) == (EVERY[3:], "")
    assert listed(calls, size=2, skip=9) == ([], "")


def test_other_callers_see_nothing_of_an_open_deal_set_nor_why_a_match_was_aborted(calls, store):
    tokens = Tokens(keys=[], guests=True)
    calls, guest = MatchCalls(store.matches(), tokens), Call()
    assert listed(calls, guest)[0] == EVERY[1:]
    with pytest.raises(Refused):
        asyncio.run(calls.GetMatch(lobby_pb2.GetMatchRequest(match_id=PLANNED.id), guest))
    found = asyncio.run(calls.GetMatch(lobby_pb2.GetMatchRequest(match_id="m4"), guest))
    assert found.match.evidence == ""
    games = asyncio.run(calls.ListPlayedGames(lobby_pb2.ListPlayedGamesRequest(), guest))
    assert games.games == ["abstrac", "jam"]


def test_an_organiser_gets_all_of_a_match(calls):
    request = lobby_pb2.GetMatchRequest(match_id=PLANNED.id)
    match = asyncio.run(calls.GetMatch(request, ORGANISER)).match
    assert (match.competition, match.deal_set) == ("autumn", DEAL_SETS[PLANNED.id])
    assert (match.ended_unix_ms, match.published) == (AT + 5, False)
    assert [[kind.count for kind in seat.counts] for seat in match.faults] == [[], [2]]
    request = lobby_pb2.GetMatchRequest(match_id="m4")
    assert asyncio.run(calls.GetMatch(request, ORGANISER)).match.evidence == "error 0a1b"


def test_the_bots_of_matches_are_listed_in_pages(calls):
    request = lobby_pb2.ListPlayedBotsRequest(page_size=2)
    page = asyncio.run(calls.ListPlayedBots(request, ORGANISER))
    assert page.bots == ["ann", "bob"]
    request.page_token = page.next_page_token
    page = asyncio.run(calls.ListPlayedBots(request, ORGANISER))
    assert (page.bots, page.next_page_token) == (["cid"], "")
    request = lobby_pb2.ListPlayedBotsRequest(competition="autumn")
    assert asyncio.run(calls.ListPlayedBots(request, ORGANISER)).bots == ["ann", "bob"]
