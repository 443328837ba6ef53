"""The second part of `arena demo`: a small ladder, and a bot that is beaten on it and mended.

All of it is done by the commands that people use, and what they print is what is shown.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.markup import escape

from arena.cli import main
from arena.cli.competition_table import print_table
from arena.cli.jail import LEVELS
from arena.cli.terminal.console import PlainConsole
from arena.games.catalogue import game_by_id
from arena.jail import UPLOADS_AT, Level

GAME: Final = "sixty_six"
OPTION: Final = "hands=2"
LADDER: Final = "ladder"
BOT: Final = "my-bot"
ARENA: Final = "arena"
"""Folder of the arena that the ladder is played in."""
ENOUGH: Final = 15
"""Deal-sets of a version after which the table is looked at."""
PATIENCE_S: Final = 40.0
"""Longest that they are waited for: a busy machine takes long."""
LOOK_S: Final = 0.5
STOP_S: Final = 10.0
NOT_DECIDED: Final = 2
"""How `arena compare` ends if nothing was decided."""
OURS: Final = ("ARENA_", "CARDARENA_")
"""How variables begin that would lead commands to another arena."""

PLAN: Final = """\
name = "{name}"
kind = "ladder"
game = "{game}"
seats = 2
seed = "demo"
options = {{ hands = 2 }}

[bots]
{bots}
"""
MENDED: Final = '''\
"""my-bot: plays Sixty-Six."""

import cardarena
from cardarena import sixty_six

RANKS = "9JQKTA"  # from low to high
POINTS = dict(zip(RANKS, (0, 2, 3, 4, 10, 11), strict=True))


class Bot(sixty_six.Bot):
    def move(self, ask):
        moves = {move.verb: move for move in ask.moves}
        if ask.view.points[self.seat] >= 66:
            return moves[sixty_six.CLAIM]
        for verb in (sixty_six.EXCHANGE, sixty_six.MARRIAGE):
            if verb in moves:
                return moves[verb]
        plays = [move for move in ask.moves if move.verb == sixty_six.PLAY]
        return min(plays, key=lambda move: price(move.card, ask.view))


def price(card, view):
    """What a card costs: its points, unless it takes the card that was led."""
    rank, suit = card
    if view.led and suit == view.led[1] and RANKS.index(rank) > RANKS.index(view.led[0]):
        return -POINTS[rank] - POINTS[view.led[0]]
    return POINTS[rank] + 5 * (suit == view.trump)


if __name__ == "__main__":
    cardarena.run(Bot)
'''


@dataclass(frozen=True, slots=True)
class Found:
    """How bots that an arena launches are jailed on this machine."""

    level: Level
    demand: str
    """What was asked for, as `--jail` has it."""
    why_not: str
    """Why it is not enough for bots of strangers; empty if it is."""


def show_ladder(console: Console, folder: Path, rivals: Mapping[str, Path], found: Found) -> None:
    """Tell of an organiser and an author, with an arena that runs meanwhile.

    Args:
      console: Where it is told.
      folder: Is not there yet; gets the arena's data, the author's bot and her key.
      rivals: Programs of the bots that are on the ladder from the start, by name.
      found: What a trial on this machine has found.

    Raises:
      click.ClickException: if a step fails; with what its command said.
    """
    folder.mkdir(parents=True)
    with _apart(folder, console.width):
        story = _Submits if found.level in UPLOADS_AT else _DialsIn
        story(console, folder, rivals, found).tell()


class _Story:
    """What happens whether a bot is submitted or dials in."""

    def __init__(
        self, console: Console, folder: Path, rivals: Mapping[str, Path], found: Found
    ) -> None:
        self._console, self._folder, self._rivals = console, folder, rivals
        self._found = found
        self._data, self._bot = folder / ARENA, folder / BOT
        self._address = ""

    def tell(self) -> None:
        """From an empty folder to the last table."""
        title, names = game_by_id(GAME).title, " and ".join(self._rivals)
        self._say(
            "And a ladder, in about a minute. It is played for as long as its arena runs, and bots may "
            "come at any time."
        )
        self._say_jail()
        self._say(f"An organiser makes one of {title} in a file, where {names} play already:")
        self._make()
        with _served(self._data, self._found.demand) as self._address:
            self._register()
            self._say("She makes a bot. It plays the first move that is offered, whatever it is:")
            self._show("bots", "new", self._bot, "--game", GAME)
            self._come(1)
            self._show("competition", "enter", LADDER, BOT, "--server", self._address)
            self._show("competition", "start", LADDER, "--data", self._data)
            self._look(f"{BOT}@1")
            self._say("So Ann mends it: it claims what is won, marries, and throws what is cheap.")
            self._mend()
            self._come(2)
            self._look(f"{BOT}@2")

    def _come(self, number: int) -> None:
        """Have a version play, from what is in its folder now."""
        raise NotImplementedError

    def _say_jail(self) -> None:
        self._say(f"Jail level {LEVELS[self._found.level.value]}.")

    def _make(self) -> None:
        plan = self._folder / f"{LADDER}.toml"
        bots = [f"{name} = {json.dumps(str(path))}" for name, path in self._rivals.items()]
        plan.write_text(PLAN.format(name=LADDER, game=GAME, bots="\n".join(bots)), "utf-8")
        self._show("competition", "new", plan, "--data", self._data)

    def _register(self) -> None:
        owner = ("--owner", "organiser", "--data", self._data)
        token = called("keys", "new", "organiser", *owner).strip()
        self._say(
            "The arena runs now (`arena serve`). Ann is invited, and registers with her code:"
        )
        os.environ["CARDARENA_TOKEN"] = token
        code = self._show("owners", "invite", "ann", "--server", self._address).strip()
        del os.environ["CARDARENA_TOKEN"]
        self._show("register", self._address, "--code", code)

    def _mend(self) -> None:
        shutil.copytree(self._bot, self._folder / f"{BOT}-1")
        (self._bot / "bot.py").write_text(MENDED, "utf-8")
        within = MENDED[MENDED.index("class Bot") : MENDED.index("\n\nif __name__")]
        self._print(within, style="dim")

    def _compare(self, new: str, old: str, *more: object) -> None:
        self._say("Is it better? A test says so as soon as that is sure, and is unrated:")
        words = (new, old, "--game", GAME, "-o", OPTION, "--each-other", *more)
        with self._console.status("they play each other"):
            self._show("compare", *words, may_end=(0, NOT_DECIDED))

    def _look(self, version: str) -> None:
        """Wait until a version has played enough, and show the table."""
        until_s = time.monotonic() + PATIENCE_S
        with self._console.status(f"{version} plays"):
            while True:
                table = json.loads(called("table", LADDER, "--data", self._data, "--json"))
                place = _place(table, version)
                if place.deal_sets >= ENOUGH or time.monotonic() > until_s:
                    break
                time.sleep(LOOK_S)
        self._say(f"After {place.deal_sets} deal-sets of {version}:")
        self._say_command("arena", "table", LADDER, "--data", self._data)
        # It plays on: the next table would not be the one that is spoken of.
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            print_table(table, PlainConsole())
        self._print(printed.getvalue())
        if place.number:
            last = ": the last" if place.number == place.of else ""
            self._say(f"{version} is number {place.number} of {place.of}{last}.")

    def _show(self, *words: object, may_end: Sequence[int] = (0,)) -> str:
        """Call a command as a person would; what it printed, which is shown."""
        self._say_command("arena", *words)
        printed = called(*words, may_end=may_end)
        self._print(printed)
        return printed

    def _say_command(self, *words: object) -> None:
        line = escape(" ".join(map(str, words)))
        self._console.print(f"  [bold]$ {line}[/bold]", highlight=False, soft_wrap=True)

    def _say(self, text: str) -> None:
        self._console.print(f"\n{text}", markup=False, highlight=False)

    def _print(self, text: str, style: str = "") -> None:
        for line in text.rstrip().split("\n"):
            self._console.print(
                f"  {line}".rstrip(), style=style, markup=False, highlight=False, soft_wrap=True
            )


class _Submits(_Story):
    """The arena launches the bot, from what is submitted."""

    def _come(self, number: int) -> None:
        self._say("The arena tries what she submits, in a minute at most, before it may play:")
        with self._console.status("it is qualified"):
            self._show("bots", "submit", BOT, self._bot)
        if number > 1:
            self._compare(f"{BOT}@{number}", f"{BOT}@{number - 1}")
            self._say("The new version takes the place of the old one:")
        self._show("bots", "activate", f"{BOT}@{number}")


class _DialsIn(_Story):
    """The bot runs as a process of its author's: strangers' bots are launched behind a wall only."""

    def __init__(
        self, console: Console, folder: Path, rivals: Mapping[str, Path], found: Found
    ) -> None:
        super().__init__(console, folder, rivals, found)
        self._running = contextlib.ExitStack()
        self._token = ""

    def tell(self) -> None:
        with self._running:
            super().tell()

    def _say_jail(self) -> None:
        level = LEVELS[self._found.level.value]
        self._say(
            f"Jail level {level} ({self._found.why_not}). Strangers' bots are launched behind a wall "
            "only, so the one of this story dials in."
        )

    def _come(self, number: int) -> None:
        file = self._bot / "bot.py"
        text, head = file.read_text("utf-8"), "class Bot(sixty_six.Bot):\n"
        file.write_text(text.replace(head, f'{head}    version = "{number}"\n\n'), "utf-8")
        self._say("She tries it at home, in a minute at most:")
        with self._console.status("it is qualified"):
            self._show("bots", "check", self._bot, "--jail", self._found.demand)
        if number > 1:
            versions = (f"new={file}", f"old={self._folder / f'{BOT}-1' / 'bot.py'}")
            here = ("--jail", self._found.demand, "--data", self._folder / "compared")
            self._compare(*versions, *here)
            self._say(f'It dials in as version "{number}", and the one before goes:')
        else:
            self._say('It dials in with a token of its own, and says that it is version "1":')
            self._token = self._show("bots", "token", BOT).strip()
        self._running.close()
        self._say_command("CARDARENA_TOKEN=… python", file, "--address", self._address)
        self._running.enter_context(_dialled(file, self._address, self._token))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a version stands."""

    number: int
    """From 1; 0 if it has no score yet."""
    of: int
    deal_sets: int


def _place(table: Mapping[str, Any], version: str) -> _Place:
    rows = [row for row in table["games"][0]["rows"] if row["score"] is not None]
    rows.sort(key=lambda row: -row["score"])
    names = [row["bot"] for row in rows]
    if version not in names:
        return _Place(0, len(rows), 0)
    at = names.index(version)
    return _Place(at + 1, len(rows), rows[at]["deal_sets"])


def called(*words: object, may_end: Sequence[int] = (0,)) -> str:
    """What a command of this program printed.

    Raises:
      click.ClickException: if it ended otherwise than it may.
    """
    printed, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        try:
            code = main.main([str(each) for each in words], "arena", standalone_mode=False) or 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
    if code not in may_end:
        line = " ".join(["arena", *map(str, words)])
        raise click.ClickException(f"`{line}` failed:\n{printed.getvalue()}{told.getvalue()}")
    return printed.getvalue()


@contextlib.contextmanager
def _apart(folder: Path, width: int) -> Iterator[None]:
    """Keep Ann's key out of the user's own, and the user's arenas out of this."""
    before = dict(os.environ)
    try:
        for name in [name for name in os.environ if name.startswith(OURS)]:
            del os.environ[name]
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        os.environ["COLUMNS"] = str(width - 2)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _served(data: Path, demand: str) -> Iterator[str]:
    """The address of an arena in a folder, as a process of its own."""
    # Where all bots share a few cores, an arena is late now and then, and would take nothing new.
    words = ("--data", str(data), "--port", "0", "--no-metrics", "--take-all", "--jail", demand)
    command = [sys.executable, "-m", "arena", "serve", "--drain", "0", *words]
    with (data / "told").open("wb") as told, _process(command, told) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode("utf-8", "replace")
        if "listens on" not in line:
            process.wait(STOP_S)
            said = (data / "told").read_text("utf-8", "replace").strip()
            raise click.ClickException(f"the ladder's arena did not start: {said}")
        yield line.partition("listens on ")[2].partition(". ")[0]


@contextlib.contextmanager
def _dialled(file: Path, address: str, token: str) -> Iterator[None]:
    """A bot that dials in."""
    command = [sys.executable, str(file), "--address", address]
    token_of_it = {"CARDARENA_TOKEN": token}
    with (
        (file.parent.parent / f"{BOT}.log").open("ab") as told,
        _process(command, told, token_of_it),
    ):
        yield


@contextlib.contextmanager
def _process(
    command: Sequence[str], told: Any, more: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        env=os.environ | (more or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=told,
        start_new_session=True,  # Ctrl-C is for the demo, which ends it in order
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
