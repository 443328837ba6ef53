"""The demo: a match, a new bot that is beaten on a ladder, improved and rises, and all games by the sample bots.

It uses public commands of `arena`, and prints them with their output. Run it with `scripts/demo`.

All games are played in the background while the ladder is told, by what it leaves of the cores. The ladder plays a number
of deal-sets and not for a time: a slow machine needs longer and comes to the same end.
"""

import argparse
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.cli.arena_client import Server, channel_of
from arena.cli.competition_client import CompetitionClient
from arena.errors import exits
from arena.games.catalogue import GAMES as CATALOGUE
from arena.records.phrases import count
from cardarena.v1 import competitions_pb2 as messages

ROOT = Path(__file__).resolve().parent.parent
BOTS = ROOT / "sample_bots"
RANDOM = "random_bot.py"
"""A bot that plays all games, against the one for each game."""
_CHOSEN = {
    # game: its bot, hands (none for the game's default)
    "abstrac": ("abstrac.py", 0),
    "abstrac_suit": ("abstrac.py", 0),
    "abstrac_unfettered": ("abstrac.py", 0),
    "abstrac_fiftytwo": ("abstrac.py", 0),
    "chinese_poker": ("chinese_poker.py", 4),
    "klaberjass": ("klaberjass.py", 4),
    "sixty_six": ("sixty_six.py", 4),
    "soko": ("soko.py", 4),
    "pineapple": ("pineapple.py", 4),
    "crazy_pineapple": ("pineapple.py", 4),
    "crazy_pineapple_hi_lo": ("pineapple.py", 4),
    "eleusis_express": ("eleusis.py", 3),
}
GAMES = tuple(
    (each.id, *_CHOSEN.get(each.id, (f"{each.family}.py", each.seats[0])), each.seats[0])
    for each in CATALOGUE
)
"""All games: the id, the game's bot, hands, seats. Those without a row above have a deal for each seat."""
DEAL_SETS = 4
"""Deal-sets of each game."""
AT_A_TIME = 6
"""Competitions in play at a time."""
LADDER = "ladder"
BOT = "my-bot"
LADDER_PLAN = f"""\
name = "{LADDER}"
kind = "ladder"
game = "sixty_six"
seats = 2
seed = "demo"
options = {{ hands = 2 }}

[bots]
sample = "{BOTS / "sixty_six.py"}"
random = "{BOTS / "random_bot.py"}"
"""
IMPROVED = '''\
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
FIRST_MATCH = ("sixty_six", BOTS / "sixty_six.py", BOTS / RANDOM, "-o", "hands=2")
ENOUGH = 12
"""Deal-sets of a version after which the standings are shown."""
BATCH = 24
"""Deal-sets of all bots that are drawn before the ladder pauses, and it is seen whether they are enough."""
POLL_S = 0.25
PATIENCE_S = 300.0
"""Longest time in seconds to wait for the standings of a version."""
STOP_S = 10.0


class Failed(Exception):
    """A command of the demo failed; the text has its output."""


class Arena:
    """Runs `arena` in an environment that names no other arena."""

    def __init__(self, config: Path) -> None:
        self.env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ARENA_", "CARDARENA_"))
        }
        self.env["XDG_CONFIG_HOME"] = str(config)  # for the keys of the demo

    def __call__(
        self, *words: object, show: bool = True, codes: Sequence[int] = (0,), token: str = ""
    ) -> str:
        """Run a command, show its output and return it.

        Raises:
          Failed: if its exit code is not in `codes`.
        """
        line = ["arena", *map(str, words)]
        if show:
            print(f"  $ {' '.join(line)}", flush=True)
        env = self.env | ({"CARDARENA_TOKEN": token} if token else {})
        done = subprocess.run(
            [sys.executable, "-m", *line],
            env=env,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in codes:
            raise Failed(f"`{' '.join(line)}` failed:\n{done.stdout}{done.stderr}")
        if show:
            print("".join(f"  {line}\n" for line in done.stdout.rstrip().split("\n")), flush=True)
        return done.stdout

    @contextlib.contextmanager
    def running(
        self, *command: str, token: str = "", log: Path, idly: bool = False
    ) -> Iterator[subprocess.Popen[str]]:
        """Run a program in the background within the block; `idly`, if others leave it a processor."""
        env = self.env | ({"CARDARENA_TOKEN": token} if token else {})
        with log.open("w") as errors:
            process = subprocess.Popen(
                [*(("nice",) if idly else ()), sys.executable, *command], env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors,
                text=True, start_new_session=True,
            )  # fmt: skip
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(STOP_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                assert process.stdout is not None
                process.stdout.close()


def say(text: str) -> None:
    print(f"\n{text}", flush=True)


def plan_of(game: str, bot: str, hands: int, seats: int, seed: str) -> str:
    """Return the plan of a round robin of one game."""
    bots = {Path(bot).stem: bot} | {
        "random" if number == 1 else f"random-{number}": RANDOM for number in range(1, seats)
    }
    lines = [
        f'name = "{game}"',
        'kind = "tournament"',
        'format = "round_robin"',
        f'game = "{game}"',
        f"seats = {seats}",
        f"deal_sets = {DEAL_SETS}",
        f'seed = "{seed}"',
        "fair = false",
        *([f"options = {{ hands = {hands} }}"] if hands else []),
        "[bots]",
        *(f'{name} = "{BOTS / file}"' for name, file in bots.items()),
    ]
    return "\n".join(lines) + "\n"


class AllGames:
    """A round robin of each game, played by one command in the background."""

    def __init__(
        self, arena: Arena, data: Path, seed: str, games: Sequence[tuple[str, str, int, int]]
    ) -> None:
        self._arena, self._data = arena, data
        self._names = [game[0] for game in games]
        self._log = data / "games.log"
        plans = data / "plans"
        plans.mkdir(parents=True)
        files = [plans / f"{name}.toml" for name in self._names]
        for file, game in zip(files, games, strict=True):
            file.write_text(plan_of(*game, seed), "utf-8")
        arena("competition", "new", *files, "--data", data, show=False)

    @contextlib.contextmanager
    def playing(self) -> Iterator[subprocess.Popen[str]]:
        """Play within the block."""
        words = [
            "competition",
            "start",
            *self._names,
            "--at-a-time",
            AT_A_TIME,
            "--take-all",
            "--data",
            self._data,
        ]
        with self._arena.running(
            "-m", "arena", *map(str, words), log=self._log, idly=True
        ) as process:
            yield process

    def end(self, process: subprocess.Popen[str]) -> None:
        """Wait for the last match, and show the winners.

        Raises:
          Failed: if a game was not played to the end.
        """
        say(
            f"Meanwhile the sample bots have played {count(len(self._names), 'game')}, each against random bots:"
        )
        assert process.stdout is not None
        for line in process.stdout:
            print(f"  {line}", end="", flush=True)
        if process.wait():
            raise Failed(f"the games were not played to the end:\n{self._log.read_text()}")


class Ladder:
    """An organiser creates a ladder, and an author submits a bot to it."""

    def __init__(self, arena: Arena, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.arena, self.folder = arena, folder
        self.data, self.bot = folder / "arena", folder / BOT
        self.submits = True
        self.address = self.organiser = ""
        self._connected = contextlib.ExitStack()
        self._token = ""

    def tell(self) -> None:
        """Run the whole story in a folder."""
        arena, data = self.arena, self.data
        say(
            "A ladder plays on and on, and bots join it at any time. An organiser makes one from a file:"
        )
        plan = self.folder / f"{LADDER}.toml"
        plan.write_text(LADDER_PLAN, "utf-8")
        arena("competition", "new", plan, "--data", data)
        serve = ("-m", "arena", "serve", "--drain", "0", "--port", "0", "--metrics-port", "0",
                 "--take-all", "--data", str(data))  # fmt: skip
        with (
            arena.running(*serve, log=self.folder / "serve.log") as process,
            self._connected,
        ):
            assert process.stdout is not None
            line = process.stdout.readline()
            if "listens on" not in line:
                raise Failed(f"the arena did not start: {(self.folder / 'serve.log').read_text()}")
            self.address = line.partition("listens on ")[2].partition(". ")[0]
            level = json.loads(arena("status", "--json", "--data", data, show=False))["sandbox"]
            self.submits = level in ("S2", "S3")
            key = arena(
                "keys", "new", "organiser", "--owner", "organiser", "--data", data, show=False
            )
            self.organiser = key.strip()
            say("The arena runs now (`arena serve`). Ann is invited, and registers with her code:")
            code = self._organise("owners", "invite", "ann").strip()
            arena("owners", "register", self.address, "--code", code)
            say("She makes a bot. It plays the first move that is offered, whatever it is:")
            arena("new", self.bot, "--game", "sixty_six")
            self._bring(1)
            arena("competition", "enter", LADDER, BOT, "--server", self.address)
            first = self._climb("start", f"{BOT}@1")
            say(
                "So Ann improves it: it claims what is won, marries, and throws what is cheap. (The ladder\n"
                "is paused meanwhile, as it would play all the time, and this may be a small machine.)"
            )
            shutil.copytree(self.bot, self.folder / f"{BOT}-1")
            (self.bot / "bot.py").write_text(IMPROVED, "utf-8")
            self._bring(2)
            second = self._climb("resume", f"{BOT}@2", above=first)
            say(f"{BOT} was at place {first}, and is at place {second} now.")

    def _organise(self, *words: object, show: bool = True) -> str:
        """Run a command of the organiser at the arena."""
        return self.arena(*words, "--server", self.address, token=self.organiser, show=show)

    def _bring(self, number: int) -> None:
        """Enter a version: submit it, or connect it if the sandbox is too weak for submissions."""
        if self.submits:
            say("The arena tests what she submits, before it may play:")
            self.arena("bots", "submit", BOT, self.bot)
            if number > 1:
                self._compare(f"{BOT}@2", f"{BOT}@1")
            self.arena("bots", "activate", f"{BOT}@{number}")
            return
        file = self.bot / "bot.py"
        head = "class Bot(sixty_six.Bot):\n"
        text = file.read_text("utf-8").replace(head, f'{head}    version = "{number}"\n\n')
        file.write_text(text, "utf-8")
        if number > 1:
            old = self.folder / f"{BOT}-1" / "bot.py"
            self._compare(f"new={file}", f"old={old}", "--data", self.folder / "compared")
            self._connected.close()
        else:
            say(
                "Bots of strangers need a sandbox of level S2. There is none here, so hers connects:"
            )
            self._token = self.arena("bots", "token", BOT).strip()
        print(f"  $ CARDARENA_TOKEN=… python {file} --address {self.address}", flush=True)
        running = self.arena.running(
            str(file), "--address", self.address, token=self._token, log=self.folder / f"{BOT}.log"
        )
        self._connected.enter_context(running)

    def _compare(self, *words: object) -> None:
        say("Is it better? A test stops as soon as that is certain, and is unrated:")
        options = ("--game", "sixty_six", "-o", "hands=2", "--each-other")
        self.arena("compare", *words, *options, codes=(0, exits.UNDECIDED))

    def _climb(self, verb: str, version: str, above: int | None = None) -> int:
        """Have the ladder play until a version has its place, show the standings and return the place.

        A first version is expected at the last place, and a later one above the place `above` of the one before.

        Raises:
          Failed: if it is not there in time.
        """
        with contextlib.ExitStack() as stack:
            server = Server(self.address, self.organiser)
            client = CompetitionClient(stack.enter_context(channel_of(server)), server, None)
            place = climb(
                client, lambda: self._organise("competition", verb, LADDER), version, above
            )
        say(f"After {count(place.deal_sets, 'deal-set')} of {version}:")
        self._organise("competition", "show", LADDER)
        if not place.is_as(above):
            raise Failed(
                f"{version} is {place} after {PATIENCE_S:.0f} s; the reason may be in {self.data / 'arena.log'}"
            )
        assert place.number is not None
        return place.number


@dataclass(frozen=True)
class Place:
    """Where a version stands."""

    deal_sets: int = 0
    number: int | None = None
    """The place; None if it has none yet."""
    last: int = 0
    """The last place."""

    def is_as(self, above: int | None) -> bool:
        """Whether the story is true: at the last place, or above that of the version before."""
        if self.number is None or self.deal_sets < ENOUGH:
            return False
        return self.number == self.last if above is None else self.number < above

    def __str__(self) -> str:
        return "at no place" if self.number is None else f"at place {self.number} of {self.last}"


def climb(
    client: CompetitionClient, begin: Callable[[], object], version: str, above: int | None
) -> Place:
    """Have the ladder play until a version is where the story has it, or time is up.

    `begin` starts the ladder. It is paused when a batch of deal-sets is drawn, by a call: until a command is loaded, a
    ladder draws a hundred more.
    """
    until_s = time.monotonic() + PATIENCE_S

    def wait(is_over: Callable[[], bool]) -> None:
        while not is_over() and time.monotonic() < until_s:
            time.sleep(POLL_S)

    def drawn() -> int:
        games = client.show(LADDER).games
        return sum(game.complete + game.in_play + game.waiting for game in games)

    def are_drawn(number: int) -> bool:
        return drawn() >= number

    def rests() -> bool:
        return not any(game.in_play for game in client.show(LADDER).games)

    before = drawn()
    begin()
    while True:
        wait(functools.partial(are_drawn, before + BATCH))
        client.control(LADDER, messages.COMPETITION_ACTION_PAUSE)
        wait(rests)
        place = place_of(client.standings(LADDER), version)
        if place.is_as(above) or time.monotonic() >= until_s:
            return place
        before = drawn()
        client.control(LADDER, messages.COMPETITION_ACTION_RESUME)


def place_of(standings: dict[str, Any], version: str) -> Place:
    """The place of a version in the standings of the ladder."""
    rows = standings["games"][0]["rows"]
    last = max((row["place"] for row in rows if row["place"] is not None), default=0)
    row = next((row for row in rows if row["bot"] == version), None)
    return Place(last=last) if row is None else Place(row["deal_sets"], row["place"], last)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("arena-data/demo"),
                        help="its folder; what an earlier demo left there is removed")  # fmt: skip
    parser.add_argument("--seed", default="demo", help="fixes deals and seating")
    parser.add_argument("--games", nargs="*", metavar="GAME", help="only these")
    given = parser.parse_args(argv)
    data = given.data.absolute()
    began_s = time.monotonic()
    if data.exists() and not (data / "plans").is_dir() and any(data.iterdir()):
        parser.error(f"{data} holds something else: choose another folder")
    shutil.rmtree(data, ignore_errors=True)
    games = [each for each in GAMES if given.games is None or each[0] in given.games]
    arena = Arena(data / "config")
    try:
        say("Two sample bots play a match of Sixty-Six:")
        arena("play", *FIRST_MATCH, "--seed", given.seed, "--data", data / "match")
        everything = AllGames(arena, data, given.seed, games)
        with everything.playing() as process:
            Ladder(arena, data / LADDER).tell()
            everything.end(process)
    except Failed as error:
        print(error, file=sys.stderr)
        return exits.FAILED
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return exits.INTERRUPTED
    replays = len(list((data / "replays").glob("*.replay")))
    say(f"Played in {time.monotonic() - began_s:.0f} s; {replays} replays. Look at:")
    for words, what in (
        (f"competition show {games[-1][0]} --data {given.data}", "one game's standings"),
        (f"replay show last --data {given.data}", "watch a match, step by step"),
        (f"match why last 0 --data {given.data}", "what went wrong for the bot at seat 0"),
        (f"replay verify {given.data / 'replays'}", "recompute every match"),
        (f"competition show {LADDER} --pairs --data {given.data / LADDER / 'arena'}", "the ladder"),
        (f"web --data {given.data}", "all of it in the browser"),
    ):
        print(f"  .venv/bin/arena {words}   # {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
