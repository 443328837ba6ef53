"""What clients may ask for does no file work on the loop, on which all bots wait, and little else.

Nothing is timed: what the loop's thread calls is counted, from one callback of the loop to the
next. A thousand calls of Python take well under a millisecond.
"""

import asyncio
import contextlib
import io
import sqlite3
import sys

import pytest

from arena.ladder.results import MatchOutcome
from arena.server.gate.access import CALLS, Access
from arena.server.services.pages import MAX_PAGE_SIZE
from arena.store import EndedMatch, open_store
from arena.testing.orders import match_request
from cardarena.v1 import lobby_pb2, replay_pb2
from tests.fuzz.calls import House

REPLAY_BYTES = 44_000
MATCHES = 300
MOST_CALLS = 5_000
"""Of Python in one callback of the loop: about a millisecond."""
OF_FILES = (io.IOBase, sqlite3.Cursor, sqlite3.Connection)


class LoopWatch:
    """Notes what the thread of a loop does that reaches files, and how much it calls in one go."""

    def __init__(self):
        self.file_calls = []
        self.longest = self._calls = 0

    @contextlib.contextmanager
    def watching(self):
        before = sys.getprofile()
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(before)
        self.longest = max(self.longest, self._calls)

    def _note(self, frame, event, called):
        if event == "call":
            if frame.f_code is asyncio.Handle._run.__code__:
                self.longest, self._calls = max(self.longest, self._calls), 0
            self._calls += 1
        elif event == "c_call":
            self._calls += 1
            module, of = getattr(called, "__module__", ""), getattr(called, "__self__", None)
            name = called.__name__
            reaches = module in ("posix", "_io", "_sqlite3") or isinstance(of, OF_FILES)
            where = frame.f_back.f_code.co_qualname
            if reaches and name not in FREE and where not in EVERY_DECISION:
                self.file_calls.append(name)


EVERY_DECISION = {"AppendLog.flush"}
"""The journal takes a few bytes without waiting for the disk, as for each answer of a bot."""
FREE = {"close", "__exit__", "__enter__", "fspath", "fileno", "getpid", "urandom"}
"""Take no time that grows with anything."""


def ended(number):
    outcome = MatchOutcome(
        f"match-{number:04}", (1, -1), (1, 2), "completed", ({}, {}), decisions=9, hands=1
    )
    return EndedMatch(outcome, "abstrac", ("ann", "bob"), "", 1_000 + number)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """An arena with as many matches and replays as fill several of the longest pages."""
    folder = tmp_path_factory.mktemp("house")
    with contextlib.ExitStack() as files:
        store = files.enter_context(open_store(folder / "arena.db"))
        matches = store.matches()
        matches.record([ended(number) for number in range(MATCHES)])
        matches.mark_published([f"match-{number:04}" for number in range(MATCHES)])
        built = House(folder, files, results=matches)
        for number in range(MATCHES):
            (built.arena.replays / f"match-{number:04}.replay").write_bytes(bytes(REPLAY_BYTES))
        for number in range(MATCHES):
            built.come(f"bot {number}")
        yield built
        built.loop.run_until_complete(built.loop.shutdown_default_executor())
        built.loop.close()


LONGEST = 2**32 - 1
WORST = {
    "/cardarena.v1.LobbyService/ListGames": lobby_pb2.ListGamesRequest(),
    "/cardarena.v1.LobbyService/CreateMatch": match_request(
        "abstrac", ["ann", "bob"], {"hands": 20}, seed="s"
    ),
    "/cardarena.v1.LobbyService/GetMatch": lobby_pb2.GetMatchRequest(match_id="match-0000"),
    "/cardarena.v1.LobbyService/ListMatches": lobby_pb2.ListMatchesRequest(page_size=LONGEST),
    "/cardarena.v1.LobbyService/ListBots": lobby_pb2.ListBotsRequest(page_size=LONGEST),
    "/cardarena.v1.ReplayService/GetReplay": replay_pb2.GetReplayRequest(replay_id="match-0000"),
    "/cardarena.v1.ReplayService/ListReplays": replay_pb2.ListReplaysRequest(page_size=LONGEST),
}
"""The request of each call that takes most work."""


def test_every_call_that_is_asked_something_is_watched():
    of_grpc = {call for call, access in CALLS.items() if access in (Access.OPEN, Access.HELLO)}
    assert {*WORST} == {*CALLS} - of_grpc


@pytest.mark.parametrize("method", WORST)
def test_a_call_does_no_file_work_on_the_loop_and_little_else(house, method):
    request = WORST[method].SerializeToString()
    house.call(method, "", request)  # what is made once is made
    watch = LoopWatch()
    with watch.watching():
        answers, context = house.call(method, "", request)
    assert answers, context.text
    assert not watch.file_calls
    assert watch.longest <= MOST_CALLS


def test_replays_are_listed_in_pages_newest_first(house):
    token, pages = "", []
    while not pages or token:
        request = replay_pb2.ListReplaysRequest(page_size=LONGEST, page_token=token)
        ((answer,), _) = house.call(
            "/cardarena.v1.ReplayService/ListReplays", "", request.SerializeToString()
        )
        page = replay_pb2.ListReplaysResponse.FromString(answer)
        token = page.next_page_token
        pages.append([each.replay_id for each in page.replays])
        assert {each.size_bytes for each in page.replays} == {REPLAY_BYTES}
    assert [len(page) for page in pages] == [MAX_PAGE_SIZE] * (MATCHES // MAX_PAGE_SIZE)
    listed = [each for page in pages for each in page]
    assert listed == [f"match-{number:04}" for number in reversed(range(MATCHES))]
