"""The command `cardarena`, also `python -m cardarena`."""

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cardarena import _run
from cardarena._bot import Declaration
from cardarena._bridge import Bridge
from cardarena._errors import Misconfigured
from cardarena._mode import Mode, Way

MAX_MATCHES: Final = 64
"""The maximal number of simultaneous matches, as in manifests."""
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")

EPILOG: Final = """\
examples:
  cardarena bridge -- ./bot
  cardarena bridge --game klaberjass --address arena.example:7654 -- lua bot.lua
  cardarena bridge --max-matches 8 --per-match -- java -jar bot.jar
  arena play abstrac "cardarena bridge -- ./bot" house:random
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command, and exit with the codes of `cardarena.run`."""
    parser = argparse.ArgumentParser(prog="cardarena", description="Tools for bots of Card Arena.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    bridge = commands.add_parser(
        "bridge",
        help="play with a bot that reads asks from standard input and writes answers to standard output",
        description="Starts COMMAND and plays at the arena with it. COMMAND reads one JSON object a line, and "
        "answers each ask with one; docs/stdio.md describes both.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    bridge.add_argument(
        "--game",
        action="append",
        default=[],
        metavar="GAME",
        help="a game that the bot plays; may be repeated (default: every game)",
    )
    bridge.add_argument(
        "--max-matches",
        type=_count,
        default=1,
        metavar="N",
        help="the most matches at the same time (default: 1)",
    )
    bridge.add_argument(
        "--per-match",
        action="store_true",
        help="start COMMAND for each match (default: once for all matches)",
    )
    bridge.add_argument(
        "--ask-forced", action="store_true", help="also ask the bot where only one move is legal"
    )
    bridge.add_argument(
        "--version", default="", metavar="TEXT", help="the version of the bot, in your own words"
    )
    _run.add_arguments(bridge)
    bridge.add_argument("command", nargs="+", metavar="COMMAND", help="the bot and its arguments")
    commands.add_parser(
        "llm",
        help="play by a language model behind an OpenAI-compatible endpoint",
        add_help=False,
    )
    given, rest = parser.parse_known_args(argv)
    if "command" not in given:
        from cardarena import llm  # imported late, because a bridge does not need the rules

        llm.main(rest, prog="cardarena llm")
        return
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    with _run.exit_codes():
        _bridge(given)


def _bridge(given: argparse.Namespace) -> None:
    if shutil.which(given.command[0]) is None:
        raise Misconfigured(
            f"the bot's program {given.command[0]!r} does not exist, or is not executable"
        )
    declaration = type(
        _name(given.command),
        (Declaration,),
        {
            "games": given.game,
            "auto": not given.ask_forced,
            "want_text": True,
            "version": given.version,
        },
    )
    _run.join(
        declaration,
        Mode(Way.BATCH, 0, given.max_matches, given.max_matches),
        Bridge(given.command, per_match=given.per_match, say=_run.say),
        **_run.connection_of(given),
    )


def _count(text: str) -> int:
    """Return a number of matches."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_MATCHES:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {MAX_MATCHES}")
    return int(text)


def _name(command: Sequence[str]) -> str:
    """Return the name of a guest: that of the bot's file, or of its program."""
    file = next((word for word in command[1:] if Path(word).is_file()), command[0])
    return _NOT_IN_NAMES.sub("-", Path(file).stem).strip("-._")[:24] or "bot"


if __name__ == "__main__":
    main(sys.argv[1:])
