"""Real launched processes of one bot, unsandboxed, that try to tell each other what they see."""

import json
import sys

import pytest
import trio

from arena.bots.bot_ids import BotId
from arena.live.arena_player import ArenaPlayer, order_of
from arena.live.players import Players
from arena.live.runner import run_deal_sets
from arena.live.work import ScheduledWork
from arena.results.deal_sets import HOUSE, round_robin
from arena.sandbox.command import BotCommand
from arena.sandbox.spawner.order import Level
from arena.testing.orders import match_order
from tests.cli.serving import is_alive
from tests.live.running import in_arena

SPY = """
import fcntl, json, os, pathlib, random, struct, sys
import cardarena

OWN = open(__file__, "rb")
TOLD = pathlib.Path(sys.argv.pop())
LOCK = struct.Struct("hhqqi4x")

def lock(kind, call, at=0, length=0):
    return LOCK.unpack(fcntl.fcntl(OWN, call, LOCK.pack(kind, os.SEEK_SET, at, length, 0)))

class Spy(cardarena.Bot):
    def move(self, ask):
        # A record lock at an offset tells a number to who asks for locks; a file is a second way.
        lock(fcntl.F_RDLCK, fcntl.F_SETLK, os.getpid() % 1000, 1)
        found = lock(fcntl.F_WRLCK, fcntl.F_GETLK)
        here, code = pathlib.Path(), pathlib.Path(__file__).parent
        seen = sorted(str(each) for each in (*here.glob("left-*"), *code.glob("left-*")))
        (here / f"left-{os.getpid()}").touch()
        (code / f"left-{os.getpid()}").touch()
        saw = {"pid": os.getpid(), "locked_by": 0 if found[0] == fcntl.F_UNLCK else found[4],
               "files": [each for each in seen if str(os.getpid()) not in each]}
        with TOLD.open("a") as told:
            told.write(json.dumps(saw) + chr(10))
        return random.choice(ask.moves)

cardarena.run(Spy)
"""


class WatchedMatches:
    """Plays matches of a real arena, and looks at the processes when each begins."""

    def __init__(self, arena, players):
        self.arena, self.players = arena, players
        self.pids = {}
        """The processes alive at each table, by deal-set and rotation."""

    async def __call__(self, order, match_id):
        table = order.table(match_id)
        pids = {
            running.process._process._process.pid
            for launcher in self.players._launchers.values()
            for running in launcher._running.values()
        }
        before = self.pids.get((order.deal_set, table.rotation - 1), set())
        assert not [pid for pid in before if is_alive(pid)], "a process of the sister table lives"
        outcome = await self.arena.matches.play(order, match_id)
        self.pids[order.deal_set, table.rotation] = pids
        return outcome


class PhasedPlayers(Players):
    """Plays in phases as if its bots were sandboxed."""

    level = Level.S1


def played(folder, *, copies):
    """Two spies in four deal-sets; what they saw, and the processes at each table."""
    told = folder / "told"
    code = folder / "unpacked"
    code.mkdir()
    (code / "bot.py").write_text(SPY)
    terms = match_order("sixty_six", ("ann", "bob"), {"hands": 2}, seed="").terms
    plans = round_robin(["ann", "bob"], seats=2, deal_sets=4, seed="s", tournament="t")

    async def main(arena):
        async with trio.open_nursery() as nursery:
            players = PhasedPlayers(arena, folder / "data", folder / "bots", nursery)
            for name in ("ann", "bob"):
                argv = (sys.executable, str(code / "bot.py"), str(told))
                players.add(BotCommand(name, argv, files=code if copies else None))
            watched = WatchedMatches(arena, players)
            player = ArenaPlayer(
                arena, players, lambda plan: order_of(plan, terms), play_match=watched
            )
            report = await run_deal_sets(ScheduledWork(plans), player, deal_sets=plans)
            await players.send_home()
            nursery.cancel_scope.cancel()
        return report, watched.pids

    report, pids = in_arena(folder / "data", main)
    assert report.incomplete == ()
    assert len(report.outcomes) == 8
    assert not any(any(outcome.faults) for outcome in report.outcomes.values())
    return [json.loads(line) for line in told.read_text().splitlines()], pids


async def phases_of_a_launched_bot(arena, kind, folder):
    async with trio.open_nursery() as nursery:
        players = kind(arena, folder / "data", folder / "bots", nursery)
        players.add(BotCommand("ann", (sys.executable, "ann.py")))
        return players.phases_of([BotId("ann"), BotId("guest:remote")])


@pytest.mark.parametrize(
    ("kind", "has_phases"),
    [(Players, False), (PhasedPlayers, True)],
    ids=["without a sandbox files outlive a process", "sandboxed bots are kept apart"],
)
def test_deal_sets_are_played_in_phases_where_a_sandbox_keeps_bots_apart(
    tmp_path, kind, has_phases
):
    found = in_arena(
        tmp_path / "data", lambda arena: phases_of_a_launched_bot(arena, kind, tmp_path)
    )
    assert (found is not None) == has_phases


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    return played(tmp_path_factory.mktemp("copied"), copies=True)


@pytest.mark.slow
def test_the_processes_of_a_rotation_are_dead_before_the_next_begins(copied):
    saw, pids = copied
    by_rotation = [
        set().union(*(alive for (_, at), alive in pids.items() if at == rotation))
        for rotation in range(2)
    ]
    assert len(by_rotation[0]) == len(by_rotation[1]) == 4
    assert not by_rotation[0] & by_rotation[1]
    assert {sight["pid"] for sight in saw} == by_rotation[0] | by_rotation[1]


def test_twins_see_nothing_of_each_other_in_their_folder(copied):
    saw, _ = copied
    assert not [sight for sight in saw if sight["locked_by"] or sight["files"]]


@pytest.mark.slow
def test_twins_that_share_a_folder_are_found_by_this_test(tmp_path):
    """Without a copy for each process: what the test above would notice."""
    saw, _ = played(tmp_path, copies=False)
    assert [sight for sight in saw if sight["locked_by"]]
    assert [sight for sight in saw if sight["files"]]


class FilesOfBots:
    """A sandbox in which all bots read copies in memory, but those named `disk`."""

    level = Level.S2

    def why_reads_disk(self, command):
        return "it is large" if command.name == "disk" or command.is_house else ""


async def kept_apart(arena, sandbox, folder, bots, of_one_author):
    async with trio.open_nursery() as nursery:
        players = Players(
            arena,
            folder / "data",
            folder / "bots",
            nursery,
            sandbox=sandbox,
            of_one_author=of_one_author,
        )
        for name in ("ann", "bob", "disk"):
            players.add(BotCommand(name, (sys.executable, f"{name}.py")))
        return players.all_sandboxed([BotId(name) for name in bots])


# fmt: off
APART = [
    # sandbox       bots                    one author  common dice?  why
    (FilesOfBots(), ("ann", "bob"),          False,      True,         "all read copies in memory"),
    (FilesOfBots(), ("ann", HOUSE),          False,      True,         "the arena's own bot tells nothing"),
    (FilesOfBots(), ("ann", "disk"),         False,      False,        "one reads a disk, which is faster where it was read"),
    (FilesOfBots(), ("ann", "disk"),         True,       True,         "both are of one author"),
    (FilesOfBots(), ("ann", "guest:remote"), True,       False,        "one dials in"),
    (None,          ("ann", "bob"),          True,       False,        "no sandbox"),
]
# fmt: on


@pytest.mark.parametrize(
    ("sandbox", "bots", "of_one_author", "expected", "why"), APART, ids=[row[-1] for row in APART]
)
def test_dice_are_common_only_where_every_bot_is_kept_apart(
    tmp_path, sandbox, bots, of_one_author, expected, why
):
    def asked(arena):
        return kept_apart(arena, sandbox, tmp_path, bots, of_one_author)

    assert in_arena(tmp_path / "data", asked) is expected
