"""The demo: the sample bots play all games, and a new bot is submitted to a ladder, beaten and improved.

It uses public commands of `arena`, and prints them with their output. Run it with `scripts/demo`.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.errors import exits
from arena.games.catalogue import GAMES as CATALOGUE
from arena.records.phrases import count

ROOT = Path(__file__).resolve().parent.parent
BOTS = ROOT / "sample_bots"
EVERY_GAME = {"first": "first_bot.py", "random": "random_bot.py"}
"""Bots that play all games, beside the one for each game."""
_CHOSEN = (
    # game, its bot, deal-sets, seats, hands (0 is the game's default)
    ("abstrac", "abstrac.py", 3, 2, 0),
    ("abstrac_suit", "abstrac.py", 3, 2, 0),
    ("abstrac_unfettered", "abstrac.py", 3, 2, 0),
    ("abstrac_fiftytwo", "abstrac.py", 3, 2, 0),
    ("democracy", "democracy.py", 4, 3, 3),
    ("chinese_poker", "chinese_poker.py", 4, 2, 4),
    ("arlington", "arlington.py", 3, 2, 2),
    ("jam", "jam.py", 3, 2, 2),
    ("klaberjass", "klaberjass.py", 4, 2, 4),
    ("sixty_six", "sixty_six.py", 4, 2, 4),
    ("loo", "loo.py", 2, 5, 5),
    ("oklahoma_rummy", "oklahoma_rummy.py", 2, 2, 2),
    ("soko", "soko.py", 4, 2, 4),
    ("pineapple", "pineapple.py", 4, 2, 4),
    ("crazy_pineapple", "pineapple.py", 4, 2, 4),
    ("crazy_pineapple_hi_lo", "pineapple.py", 4, 2, 4),
    ("open_face_chinese_poker", "open_face_chinese_poker.py", 2, 2, 2),
    ("eleusis", "eleusis.py", 2, 3, 3),
    ("eleusis_express", "eleusis.py", 2, 3, 3),
)
_SIZES = {each[0]: each for each in _CHOSEN}
GAMES = tuple(
    _SIZES.get(each.id, (each.id, f"{each.family}.py", 3, each.seats[0], each.seats[0]))
    for each in CATALOGUE
)
"""All games. Those without a row above play three deal-sets with a deal for each seat."""
AT_A_TIME = 4
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
ENOUGH = 15
"""Deal-sets of a version after which the standings are shown."""
PATIENCE_S = 180.0
"""Longest time in seconds to wait for them."""
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
    def running(self, *command: str, token: str = "", log: Path) -> Iterator[subprocess.Popen[str]]:
        """Run a program in the background within the block."""
        env = self.env | ({"CARDARENA_TOKEN": token} if token else {})
        with log.open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, *command], env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors,
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


def plan_of(game: str, bot: str, deal_sets: int, seats: int, hands: int, seed: str) -> str:
    """Return the plan of a round robin of one game."""
    bots = {Path(bot).stem: bot, **EVERY_GAME}
    bots |= {f"random-{number}": EVERY_GAME["random"] for number in range(2, seats - 1)}
    lines = [
        f'name = "{game}"',
        'kind = "tournament"',
        'format = "round_robin"',
        f'game = "{game}"',
        f"seats = {seats}",
        f"deal_sets = {deal_sets}",
        f'seed = "{seed}"',
        "fair = false",
        *([f"options = {{ hands = {hands} }}"] if hands else []),
        "[bots]",
        *(f'{name} = "{BOTS / file}"' for name, file in bots.items()),
    ]
    return "\n".join(lines) + "\n"


def play_all(arena: Arena, data: Path, seed: str, games: Sequence[tuple[Any, ...]]) -> None:
    """Play a round robin of each game with one command."""
    plans = data / "plans"
    plans.mkdir(parents=True)
    files = []
    for game in games:
        files.append(plans / f"{game[0]}.toml")
        files[-1].write_text(plan_of(*game, seed), "utf-8")
    say(f"A server starts, the sample bots connect, and {len(games)} games are played:")
    arena("competition", "new", *files, "--data", data, show=False)
    names = [game[0] for game in games]
    words = ["competition", "start", *names, "--at-a-time", AT_A_TIME, "--take-all", "--data", data]
    command = [sys.executable, "-m", "arena", *map(str, words)]
    if subprocess.run(command, env=arena.env, cwd=ROOT, check=False).returncode:
        raise Failed("the games were not played to the end")


class Ladder:
    """An organiser creates a ladder, and an author submits a bot to it."""

    def __init__(self, arena: Arena, folder: Path) -> None:
        folder.mkdir()
        self.arena, self.folder = arena, folder
        self.data, self.bot = folder / "arena", folder / BOT
        self.submits = True
        self._connected = contextlib.ExitStack()
        self._token = ""

    def tell(self) -> None:
        """Run the whole demo in a folder."""
        arena, data = self.arena, self.data
        say("And a ladder, in about a minute. An organiser makes one of Sixty-Six from a file:")
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
            address = line.partition("listens on ")[2].partition(". ")[0]
            level = json.loads(arena("status", "--json", "--data", data, show=False))["sandbox"]
            self.submits = level in ("S2", "S3")
            token = arena(
                "keys", "new", "organiser", "--owner", "organiser", "--data", data, show=False
            )
            say("The arena runs now (`arena serve`). Ann is invited, and registers with her code:")
            code = arena(
                "owners", "invite", "ann", "--server", address, token=token.strip()
            ).strip()
            arena("owners", "register", address, "--code", code)
            say("She makes a bot. It plays the first move that is offered, whatever it is:")
            arena("new", self.bot, "--game", "sixty_six")
            self._bring(1, address)
            arena("competition", "enter", LADDER, BOT, "--server", address)
            arena("competition", "start", LADDER, "--data", data)
            self._show_standings(f"{BOT}@1")
            say("So Ann improves it: it claims what is won, marries, and throws what is cheap.")
            shutil.copytree(self.bot, self.folder / f"{BOT}-1")
            (self.bot / "bot.py").write_text(IMPROVED, "utf-8")
            self._bring(2, address)
            self._show_standings(f"{BOT}@2")

    def _bring(self, number: int, address: str) -> None:
        """Enter a version: submit it, or connect it if the sandbox is too weak for submissions."""
        if self.submits:
            say("The arena tests what she submits, in two minutes at most, before it may play:")
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
        print(f"  $ CARDARENA_TOKEN=… python {file} --address {address}", flush=True)
        running = self.arena.running(
            str(file), "--address", address, token=self._token, log=self.folder / f"{BOT}.log"
        )
        self._connected.enter_context(running)

    def _compare(self, *words: object) -> None:
        say("Is it better? A test stops as soon as that is certain, and is unrated:")
        options = ("--game", "sixty_six", "-o", "hands=2", "--each-other")
        self.arena("compare", *words, *options, codes=(0, exits.UNDECIDED))

    def _show_standings(self, version: str) -> None:
        """Wait until a version is placed and has played enough, and show the standings.

        Raises:
          Failed: if it is not placed in time.
        """
        until_s = time.monotonic() + PATIENCE_S
        deal_sets, place = 0, None
        while (deal_sets < ENOUGH or place is None) and time.monotonic() < until_s:
            time.sleep(0.5)
            words = ("competition", "show", LADDER, "--data", self.data)
            deal_sets, place = played(json.loads(self.arena(*words, "--json", show=False)), version)
        say(f"After {count(deal_sets, 'deal-set')} of {version}:")
        self.arena("competition", "show", LADDER, "--data", self.data)
        if place is None:
            raise Failed(
                f"{version} has no place after {PATIENCE_S:.0f} s; the reason may be in {self.data / 'arena.log'}"
            )


def played(shown: dict[str, Any], version: str) -> tuple[int, int | None]:
    """The deal-sets of a version in what `competition show --json` printed, and its place; None if it has none."""
    rows = shown["standings"]["games"][0]["rows"]
    own = next((row for row in rows if row["bot"] == version), None)
    return (0, None) if own is None else (own["deal_sets"], own["place"])


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
        play_all(arena, data, given.seed, games)
        Ladder(arena, data / LADDER).tell()
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
