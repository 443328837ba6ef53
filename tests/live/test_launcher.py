"""Bots that a tournament launches."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from trio.testing import MockClock

from arena.bots.bot_ids import BotId, Support
from arena.bots.tokens import Tokens
from arena.games.catalogue import game_by_id
from arena.live import launcher as launching
from arena.live.launcher import AGAIN_S, MAX_STARTS, Launcher, NoShow
from arena.live.play_socket import FloodReport
from arena.live.session.declaration import Declaration
from arena.referee.terms import MatchTerms, TimeControl
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.hidden_files import why_not_started
from arena.sandbox.spawner.order import Level

TELLS = """
import json, os, pathlib, tempfile
told = {"home": str(pathlib.Path.home()), "tmp": tempfile.gettempdir(), "cwd": os.getcwd()}
pathlib.Path.home().joinpath("told.json").write_text(json.dumps(told))
"""


class Sessions(dict):
    """The sessions of an arena by bot, and how it is waited for them."""

    def __init__(self, arrived, sessions=()):
        super().__init__(sessions)
        self.arrived = arrived


def test_a_bot_of_a_relative_folder_has_a_home_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def nobody_comes(_):
        await trio.sleep_forever()

    tokens = Tokens()
    arena = SimpleNamespace(
        tokens=tokens, address="", sessions=Sessions(nobody_comes), is_shut=False
    )
    (tmp_path / "bot.py").write_text(TELLS)
    command = BotCommand("ann", (sys.executable, str(tmp_path / "bot.py")))

    async def main():
        async with trio.open_nursery() as nursery:
            launcher = Launcher(arena, [command], Path("data/bots"), nursery)
            await launcher.ensure([BotId("ann")])

    trio.run(main)
    (told,) = (tmp_path / "data").rglob("told.json")
    at = str(told.parent)
    assert json.loads(told.read_text()) == {"home": at, "tmp": at, "cwd": str(tmp_path)}
    assert not tokens._launched, "the token of a process that has ended is good no more"


# fmt: off
LEAVES = [
    # the arena is shut  the spawner ended  memory ran out  has left  its match is aborted  why
    (False,              False,             False,          True,     False,                "a bot whose process ends has left"),
    (True,               False,             False,          False,    False,                "not where the arena stops and ends it"),
    (False,              True,              False,          False,    False,                "nor where the spawner ended, and the bot with it"),
    (False,              False,             True,           False,    True,                 "nor where the kernel ended it for want of memory"),
    (True,               False,             True,           False,    False,                "nor where the arena stops meanwhile"),
]
# fmt: on


@pytest.mark.parametrize(
    ("is_shut", "spawner_ended", "is_short", "left", "aborts"),
    [row[:-1] for row in LEAVES],
    ids=[row[-1] for row in LEAVES],
)
def test_who_ended_says_whether_a_bot_has_left(
    is_shut, spawner_ended, is_short, left, aborts, tmp_path, monkeypatch
):
    leaves, aborted = [], []
    monkeypatch.setattr(launching.BotProcess, "ended_with_spawner", spawner_ended)
    monkeypatch.setattr(launching.BotProcess, "ended_by_shortage", is_short)

    async def comes(_):
        arena.is_shut = is_shut

    seat = SimpleNamespace(match_start=SimpleNamespace(match_id="m"))
    session = SimpleNamespace(
        leave=lambda: leaves.append("left"), forget_sent=lambda: None, seats=[seat]
    )
    bot = BotId("ann")
    arena = SimpleNamespace(
        tokens=Tokens(),
        address="",
        sessions=Sessions(comes, {bot: session}),
        is_shut=False,
        matches=SimpleNamespace(abort=aborted.extend),
    )
    (tmp_path / "bot.py").write_text("")
    command = BotCommand("ann", (sys.executable, str(tmp_path / "bot.py")))

    async def main():
        async with trio.open_nursery() as nursery:
            launcher = Launcher(arena, [command], tmp_path / "bots", nursery)
            await launcher.ensure([bot])

    trio.run(main)
    assert len(leaves) == left
    assert aborted == ["m"] * aborts


async def comes(_):
    """The bot is connected at once."""


async def never_comes(_):
    await trio.sleep_forever()


def arena_of(arrived, *, sessions=None, why_late=""):
    return SimpleNamespace(
        tokens=Tokens(),
        address="",
        sessions=Sessions(arrived, sessions or {}),
        is_shut=False,
        why_late=why_late,
    )


def in_launcher(folder, test, arena, *, code="import time; time.sleep(60)", files=None):
    """Run a test with a launcher of the bot `ann`."""
    (folder / "bot.py").write_text(code)
    command = BotCommand("ann", (sys.executable, str(folder / "bot.py")), files=files)

    async def main():
        async with trio.open_nursery() as nursery:
            launcher = Launcher(arena, [command], folder / "bots", nursery)
            await test(launcher)
            nursery.cancel_scope.cancel()

    trio.run(main)


ANN = BotId("ann")


@pytest.mark.parametrize("failures", range(1, len(AGAIN_S)))
def test_a_bot_that_the_arena_fails_to_start_is_started_again(failures, tmp_path, monkeypatch):
    real, started = launching.launch, []
    monkeypatch.setattr(launching, "AGAIN_S", (0.0,) * len(AGAIN_S))

    async def launch(*arguments, **how):
        started.append(arguments)
        if len(started) <= failures:
            raise BadCommand("the sandbox has no process", "no process")
        return await real(*arguments, **how)

    monkeypatch.setattr(launching, "launch", launch)

    async def test(launcher):
        await launcher.ensure([ANN])
        assert len(started) == failures + 1
        assert not launcher.rests

    in_launcher(tmp_path, test, arena_of(comes))


# fmt: off
FAULTS = [
    # the bot's code          the arena is   the fault is      text of the failure                                        why
    ("raise SystemExit(3)",   "",            "the bot's",      "ended with exit code 3 before it said hello",              "it exits by itself"),
    ("raise SystemExit(3)",   "50 ms late",  "the bot's",      "ended with exit code 3 before it said hello",              "also while the arena is late"),
    ("import time\nwhile 1: time.sleep(1)", "", "the bot's",  "did not connect within 0 s before it said hello",          "it does not connect"),
    ("import time\nwhile 1: time.sleep(1)", "the arena is 50 ms late", "the arena's",
     "did not connect within 1 s before it said hello: the arena is 50 ms late",                                     "the arena was too late"),
]
# fmt: on


@pytest.mark.parametrize(
    ("code", "late", "whose", "text"), [row[:4] for row in FAULTS], ids=[row[4] for row in FAULTS]
)
def test_whose_fault_it_is_that_a_bot_does_not_connect(
    code, late, whose, text, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(launching, "AGAIN_S", (0.0, 0.0))
    monkeypatch.setattr(launching, "CONNECT_S", 0.4)

    async def test(launcher):
        if whose == "the bot's":
            await launcher.ensure([ANN])  # its seat is played by fallback
            assert not launcher.rests
        else:
            with pytest.raises(NoShow) as found:
                await launcher.ensure([ANN])
            assert found.value.by_arena
            assert launcher.rests

    in_launcher(tmp_path, test, arena_of(never_comes, why_late=late), code=code)
    said = [(record.getMessage(), record.why) for record in caplog.records]
    assert {what for what, _ in said} == {
        "a bot did not connect" if whose == "the bot's" else "the arena could not start a bot"
    }
    assert {why for _, why in said} == {f"it {text}"}


# fmt: off
LIMITS = [
    # limit of the bot  late at  waited  says                                  why
    (None,              (),      20.0,   "did not connect within 20 s",         "the arena's own limit"),
    (45.0,              (),      45.0,   "did not connect within 45 s",         "the bot's limit, as of a large network"),
    (None,              (1,),    40.0,   "did not connect within 40 s",         "as long again while the arena is late"),
    (10.0,              (1, 2, 3), 30.0, "did not connect within 30 s",         "three times as long at most"),
]
# fmt: on


@pytest.mark.parametrize(
    ("start_s", "late", "waited_s", "says", "why"), LIMITS, ids=[row[-1] for row in LIMITS]
)
def test_a_bot_has_the_time_to_connect_that_it_needs(start_s, late, waited_s, says, why):
    command = BotCommand("ann", ("bot",), start_s=start_s)
    process = SimpleNamespace(
        exited=trio.Event(), returncode=None, command=command, ended_with_spawner=False,
        ended_by_shortage=False, how_it_ended="", last_words=lambda: "",
    )  # fmt: skip
    asked = []

    class Late(SimpleNamespace):
        @property
        def why_late(self):
            asked.append(1)
            return "late" if len(asked) in late else ""

    arena = Late(sessions=Sessions(never_comes))

    async def main():
        async with trio.open_nursery() as nursery:
            launcher = Launcher(arena, [command], Path("bots"), nursery)
            launcher._running[ANN] = SimpleNamespace(process=process)
            launcher._failures[ANN] = NoShow("before")
            began_s = trio.current_time()
            failed = await launcher._started(ANN)
            assert trio.current_time() - began_s == pytest.approx(waited_s)
            return failed

    failed = trio.run(main, clock=MockClock(autojump_threshold=0))
    assert says in failed.why
    assert ("--start SECONDS" in str(failed)) is not failed.by_arena


class Sandboxed:
    """What a sandbox says of a bot's output."""

    level = Level.S2

    def what_it_hid(self, *_):
        return ""


# fmt: off
BEFORE_HELLO = [
    # printed                                                          spawner ended  memory ran out  by the arena  why
    ("bwrap: Can't bind mount /oldroot/x on /newroot/x: No such file", False,         False,          True,         "no sandbox"),
    ("Traceback (most recent call last):",                             False,         False,          False,        "an exception of the bot"),
    ("",                                                               False,         False,          False,        "nothing"),
    ("",                                                               True,          False,          True,         "the spawner ended, and the bot with it"),
    ("",                                                               False,         True,           True,         "the kernel ended it for want of memory"),
]
# fmt: on


@pytest.mark.parametrize(
    ("printed", "spawner_ended", "is_short", "by_arena"),
    [row[:-1] for row in BEFORE_HELLO],
    ids=[row[-1] for row in BEFORE_HELLO],
)
def test_a_bot_that_the_arena_ends_before_its_hello_is_not_charged(
    printed, spawner_ended, is_short, by_arena, tmp_path
):
    process = SimpleNamespace(
        ended_with_spawner=spawner_ended,
        ended_by_shortage=is_short,
        returncode=1,
        visible=(),
        command=BotCommand("ann", ("bot",)),
        how_it_ended="ended with exit code 1",
        last_words=lambda: printed,
    )
    launcher = Launcher(arena_of(never_comes), [], tmp_path, None, sandbox=Sandboxed())
    assert launcher._no_show(ANN, process).by_arena == by_arena


# fmt: off
NEVER_CAME = [
    # files               exit  printed                                                          said                                            why
    (("bot.py",),         0,    "",                                                              "ends with `cardarena.run(MyBot)`",             "it never calls run"),
    (("bot.py",),         1,    "KeyError: 'row'",                                               "",                                             "its output says it"),
    (("bot.py", "random.py"), 1, "ImportError: cannot import name 'Random' from 'random' (x)",   "its file random.py hides Python's module",     "a file named as a module of Python"),
    (("bot.py", "random.py"), 1, "AttributeError: module 'random' has no attribute 'choice'",    "its file random.py hides Python's module",     "which lacks a function"),
    (("bot.py", "cardarena.py"), 1, "AttributeError: partially initialized module 'cardarena' has no attribute 'run'", "its file cardarena.py hides", "or as the SDK"),
    (("bot.py", "random.py"), 1, "ModuleNotFoundError: No module named 'torch'",                 "",                                             "another module is missing"),
    (("bot.py", "my.py"), 1,    "ImportError: cannot import name 'f' from 'my'",                 "",                                             "a module of its own"),
]
# fmt: on


@pytest.mark.parametrize(
    ("files", "code", "printed", "says", "why"), NEVER_CAME, ids=[row[-1] for row in NEVER_CAME]
)
def test_why_a_bot_never_came(files, code, printed, says, why, tmp_path):
    for name in files:
        (tmp_path / name).touch()
    command = BotCommand("ann", (sys.executable, str(tmp_path / "bot.py")))
    found = why_not_started(command, printed, code)
    assert says in found
    assert bool(says) == bool(found)


# fmt: off
OTHERS = [
    # declared in hello                        said                                                         why
    ({"soko": Support(0, frozenset())},        "it plays soko",                                             "another game"),
    ({"abstrac": Support(0, frozenset({3}))},  "it plays with 3 seats",                                     "another number of seats"),
    ({"abstrac": Support(0, frozenset({2}))},  "",                                                          "the game"),
]
# fmt: on


@pytest.mark.parametrize(("games", "says", "why"), OTHERS, ids=[row[-1] for row in OTHERS])
def test_a_bot_of_another_game_does_not_begin(games, says, why):
    declared = Declaration(games=games)
    session = SimpleNamespace(declared=declared, plays=declared.plays)
    arena = SimpleNamespace(sessions={ANN: session})
    game = game_by_id("abstrac")
    terms = MatchTerms(game, game.options({}, 2), 2, TimeControl())
    if not says:
        launching.require_game(arena, [ANN], terms)
        return
    with pytest.raises(NoShow, match=f"ann: the bot does not play abstrac with 2 seats; {says}"):
        launching.require_game(arena, [ANN], terms)


def test_a_bot_that_exits_again_and_again_is_given_up(tmp_path):
    async def test(launcher):
        for _ in range(MAX_STARTS + 2):
            await launcher.ensure([ANN])

    in_launcher(tmp_path, test, arena_of(never_comes), code="print('started')")
    log = (tmp_path / "bots" / "ann-0.log").read_text()
    assert log.count("| started") == MAX_STARTS


@pytest.mark.slow
def test_each_process_has_an_empty_folder_and_files_of_its_own(tmp_path):
    code = tmp_path / "unpacked"
    (code / "deep").mkdir(parents=True)
    (code / "deep" / "net.bin").write_bytes(b"net")
    code.chmod(0o555)
    told = []

    async def test(launcher):
        for bot in (ANN, BotId("ann", 1), ANN):
            await launcher.ensure([bot])
            folder = tmp_path / "bots" / f"ann-{bot.instance}"
            copy = folder / "files" / "deep" / "net.bin"
            assert copy.read_bytes() == b"net"
            told.append(copy.stat().st_ino)
            assert not (folder / "left").exists()
            (folder / "left").touch()
            if bot is ANN:
                await launcher.send_home()
                assert not copy.exists(), "the copy is removed with its process"

    in_launcher(tmp_path, test, arena_of(comes), files=code)
    assert (code / "deep" / "net.bin").stat().st_ino not in told
    assert told[1] != told[2], "the two that run at the same time"


def test_a_command_names_the_copy_of_its_files(tmp_path):
    files = tmp_path / "unpacked"
    words = ("python", f"{files}/bot.py", str(files), f"{files}x", "-O")
    moved = BotCommand("ann", words, files=files).moved(tmp_path / "copy")
    copy = str(tmp_path / "copy")
    assert moved.argv == ("python", f"{copy}/bot.py", copy, f"{files}x", "-O")


@pytest.mark.slow
def test_a_new_process_is_sent_nothing_that_was_for_an_earlier_one(tmp_path):
    forgotten = []
    session = SimpleNamespace(
        leave=lambda: None, send_home=lambda: None, forget_sent=lambda: forgotten.append("sent")
    )

    async def test(launcher):
        await launcher.ensure([ANN])
        await launcher.send_home()
        await launcher.ensure([ANN])

    in_launcher(tmp_path, test, arena_of(comes, sessions={ANN: session}))
    assert forgotten == ["sent", "sent"]


@pytest.mark.slow
def test_bots_that_are_sent_home_are_dead(tmp_path, monkeypatch):
    monkeypatch.setattr(launching, "GO_HOME_S", 0.1)

    async def test(launcher):
        await launcher.ensure([ANN, BotId("ann", 1)])
        pids = [each.process._process._process.pid for each in launcher._running.values()]
        await launcher.send_home()
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    in_launcher(tmp_path, test, arena_of(comes), code=stubborn)


# fmt: off
REPORTS = [
    # flood_s  line of the log                          is caused by    why
    (0.5,      "its connections were closed: it did",   ("owner", 9.5, 10.0), "a flood is its owner's doing"),
    (None,     "further connections wait: it did",      None,           "nothing was closed"),
]
# fmt: on


@pytest.mark.parametrize(
    ("flood_s", "line", "caused"), [row[:3] for row in REPORTS], ids=[row[3] for row in REPORTS]
)
def test_a_bot_is_told_in_its_log_what_the_relay_did(flood_s, line, caused, tmp_path):
    lines, causes = [], []
    arena = arena_of(never_comes)
    arena.now_s = lambda: 10.0
    arena.lag = SimpleNamespace(caused=lambda *cause: causes.append(cause))
    arena.tokens.owner_of = lambda _: "owner"
    launcher = Launcher(arena, [], tmp_path, None)
    launcher._running[ANN] = SimpleNamespace(process=SimpleNamespace(note=lines.append))
    launcher._on_flood(ANN, FloodReport("it did", flood_s))
    assert lines == [line]
    assert causes == ([] if caused is None else [caused])
