"""How many files a reader opens to follow an answer, and a deal-set of a ladder: what is called is counted.

`docs/architecture.md` names these files in the order in which they are called.
"""

import contextlib
import contextvars
import functools
import re
import sys
import threading
import tomllib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from arena.bots.tokens import new_token
from arena.contests.competition_service import CompetitionService
from arena.contests.ladder import Ladder
from arena.contests.plan import read_plan
from arena.live.players import Players
from arena.records.signing import ArenaKey
from arena.results.states import Action
from arena.sandbox.command import BotCommand
from arena.store import BotKind, CompetitionEntry, open_store
from bench import arena_server, in_process
from tests.live import lives

ROOT = Path(__file__).parents[1]
ARENA = f"{ROOT / 'arena'}/"

RULES = ("games/", "referee/deal/", "testing/")
"""They belong to the game that is played, and to the doubles that play it."""
MEASURES = {("records/records.py", "live/metrics.py")}
"""The journal tells how long a write took, and nothing follows from that."""
STATE_OF_BOTS = (
    "store/",
    "live/shared_transactions.py",
    "live/session/",
    "contests/ladder_limits.py",
    "live/launcher.py",
    "live/matches/match_record.py",
    "live/matches/open_matches.py",
)
"""What a deal-set reads and writes, what is noted of its bots now and then, and how they are reached."""


@dataclass
class CallPath:
    """What was called while it was recorded."""

    without: tuple[str, ...]
    stops_at: str = ""
    """What this file calls is not counted."""
    files: set[str] = field(default_factory=set)
    calls: set[tuple[str, str]] = field(default_factory=set)
    """The callers' and the called files; frames of libraries are passed over."""

    def profile(self, frame, event, _):
        """Takes what `sys.setprofile` reports."""
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(ARENA):
            return
        callers = self._callers(frame)
        file = file.removeprefix(ARENA)
        if self.stops_at in callers or file.startswith(self.without):
            return
        self.files.add(file)
        if callers:
            self.calls.add((callers[0], file))

    def _callers(self, frame):
        found = []
        while (frame := frame.f_back) is not None:
            if frame.f_code.co_filename.startswith(ARENA):
                found.append(frame.f_code.co_filename.removeprefix(ARENA))
        return found

    @property
    def climbs(self):
        """The packages between which a call goes upwards: through a port."""
        packages = {(_package(caller), _package(file)) for caller, file in self.calls - MEASURES}
        return {(low, high) for low, high in packages if _layer(high) < _layer(low)}


def _package(file):
    return file.split("/")[0].removesuffix(".py")


@functools.cache
def _layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (e["layers"] for e in contracts["contracts"] if e.get("containers") == ["arena"])
    return [re.findall(r"\w+", layer) for layer in layers]


def _layer(package):
    """0 is the highest."""
    return next(at for at, layer in enumerate(_layers()) if package in layer)


@functools.cache
def path_of_an_answer():
    """Two hundred answers to asks of Arlington, in the arena's process, with a journal and without sockets."""
    path = CallPath(RULES)
    played = in_process.Played(
        warm=50,
        counted=200,
        begin=lambda: sys.setprofile(path.profile),
        end=lambda: sys.setprofile(None),
    )
    in_process.play(arena_server.Job("arlington", 4, 2, 1, {"hands": 60}), played)
    return path


LADDER = """
name = "winter"
kind = "ladder"
game = "arlington"
seats = 2
seed = "s"
options = {hands = 2}
"""
NOW = datetime(2026, 11, 22, tzinfo=UTC)
DEAL_SETS = 8
"""Deal-sets that are played."""


counted = contextvars.ContextVar("counted", default=False)
"""True in the tasks and threads that play the deal-sets."""


class InMemory:
    """Launches a bot as a task: `arena.live.launcher.Launcher` without processes."""

    rests = False

    def __init__(self, arena, nursery):
        self._arena, self._nursery = arena, nursery
        self._launched = set()

    def all_run(self, bots):
        return False

    async def bring(self, bots):
        for bot in {*bots} - self._launched:
            self._launched.add(bot)
            self._nursery.start_soon(self._play, bot)
        await self._arena.sessions.arrived(bots)

    async def _play(self, bot):
        counted.set(False)
        token = new_token()
        self._arena.tokens.add(token, bot)
        await lives.plays(self._arena, bot, token=token)

    def require_no_failure(self, bots):
        pass

    async def send_home(self):
        pass  # they play on, as they know no boards


@functools.cache
def path_of_a_deal_set(folder):
    """Some deal-sets of a ladder of two launched bots, from the draw to the report."""
    path = CallPath(("errors/", *RULES, *STATE_OF_BOTS), stops_at="live/matches/matches.py")

    def profile(frame, event, argument):
        if counted.get():
            path.profile(frame, event, argument)

    async def main():
        with open_store(folder / "arena.db") as store:
            service = CompetitionService(store.competitions(), ArenaKey.new(), now=lambda: NOW)
            service.create(LADDER, who="org", bots=[])
            for bot in ("ann", "bob"):
                entry = CompetitionEntry(bot, bot, BotKind.COMMAND, command=bot)
                service.enter("winter", entry, who=bot)
            service.control("winter", Action.START, who="org")
            async with lives.arena_in(folder, store.matches()) as (arena, nursery):
                await play(store, arena, nursery)

    async def play(store, arena, nursery):
        players = Players(arena, folder, folder / "bots", nursery)
        players._launchers = {bot: InMemory(arena, nursery) for bot in ("ann", "bob")}
        for bot in ("ann", "bob"):
            players.add(BotCommand(bot, (bot,)))
        scope = trio.CancelScope()

        def tell(*progress):
            if progress[-1].complete == DEAL_SETS:
                scope.cancel()

        ladder = Ladder(
            read_plan(LADDER), 0, store, arena, players, now=lambda: NOW, on_progress=tell
        )
        counted.set(True)  # in what the ladder begins: its tasks, and calls on threads
        with scope:
            await ladder.run()
        counted.set(False)

    with profiled(profile):
        # A clock that jumps would jump while threads read and write the store.
        trio.run(main, clock=MockClock(rate=20))
    return path


@contextlib.contextmanager
def profiled(profile):
    """Call `profile` for each call on this thread, and on threads that begin meanwhile."""
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return {
        "answer": path_of_an_answer(),
        "deal-set": path_of_a_deal_set(tmp_path_factory.mktemp("ladder")),
    }


# fmt: off
PATHS = [
    # of         most files   one climb, through ports     why
    ("answer",   13,          ("referee", "live"),         "the session calls the referee, which calls the ledger and the seats"),
    ("deal-set", 10,          ("live", "contests"),        "the ladder calls the runner, which calls the source of work and the player"),
]
# fmt: on


@pytest.mark.parametrize(("of", "most", "climb", "why"), PATHS, ids=[row[0] for row in PATHS])
def test_few_files_are_crossed_with_one_climb(paths, of, most, climb, why):
    assert len(paths[of].files) <= most, sorted(paths[of].files)
    assert paths[of].climbs == {climb}, why


@pytest.mark.parametrize("of", [row[0] for row in PATHS])
def test_the_page_names_each_file_that_is_crossed(paths, of):
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = re.search(rf"## Path of an? {of}\n(.*?)\n## ", page, re.DOTALL)[1]
    assert {file for file in paths[of].files if f"`{file}`" not in section} == set()
