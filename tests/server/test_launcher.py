"""Bots that a tournament launches."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio

from arena.jail import BotCommand
from arena.server.bots import BotId
from arena.server.gate.tokens import Tokens
from arena.server.tournaments.launcher import Launcher

TELLS = """
import json, os, pathlib, tempfile
told = {"home": str(pathlib.Path.home()), "tmp": tempfile.gettempdir(), "cwd": os.getcwd()}
pathlib.Path("told.json").write_text(json.dumps(told))
"""


def test_a_bot_of_a_relative_folder_has_a_home_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def nobody_comes(_):
        await trio.sleep_forever()

    tokens = Tokens()
    arena = SimpleNamespace(
        tokens=tokens, address="", sessions={}, arrived=nobody_comes, is_shut=False
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
    assert json.loads(told.read_text()) == {"home": at, "tmp": at, "cwd": at}
    assert not tokens._launched, "the token of a process that has ended is good no more"


@pytest.mark.parametrize(
    ("is_shut", "left"),
    [(False, 1), (True, 0)],
    ids=["a bot whose process ends has left", "not where the arena stops and ends it"],
)
def test_who_ended_says_whether_a_bot_has_left(is_shut, left, tmp_path):
    leaves = []

    async def comes(_):
        arena.is_shut = is_shut

    session = SimpleNamespace(leave=lambda: leaves.append("left"))
    bot = BotId("ann")
    arena = SimpleNamespace(
        tokens=Tokens(), address="", sessions={bot: session}, arrived=comes, is_shut=False
    )
    (tmp_path / "bot.py").write_text("")
    command = BotCommand("ann", (sys.executable, str(tmp_path / "bot.py")))

    async def main():
        async with trio.open_nursery() as nursery:
            launcher = Launcher(arena, [command], tmp_path / "bots", nursery)
            await launcher.ensure([bot])

    trio.run(main)
    assert len(leaves) == left
