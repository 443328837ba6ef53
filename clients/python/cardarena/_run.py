"""Connecting a bot: where to, as whom, and how it ends."""

import argparse
import contextlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Sequence
from random import Random
from typing import Final, NoReturn

from cardarena import _games
from cardarena._bot import BatchBot, Bot
from cardarena._connection import Connection
from cardarena._errors import Refused, Unreachable
from cardarena._play import AllAtOnce, Author, OneByOne
from cardarena._play import play as _play
from cardarena._redial import Redial
from cardarena._session import Session
from cardarena.v1.play_pb2 import Hello

DEFAULT_ADDRESS: Final = "localhost:7654"

EXIT_UNREACHABLE: Final = 1
EXIT_REFUSED: Final = 2
EXIT_INTERRUPTED: Final = 130  # as shells say it: 128 and the number of SIGINT


def play(
    bot: type[Bot] | type[BatchBot] | BatchBot,
    *,
    address: str | None = None,
    token: str | None = None,
    once: bool | None = None,
    random: Random | None = None,
) -> None:
    """Plays until the arena sends the bot home; for programs that run bots of their own.

    Args:
      bot: The author's class; a `BatchBot` may also be given as an object.
      address: Host and port; else CARDARENA_ADDRESS, else localhost:7654.
      token: Who the bot is; else CARDARENA_TOKEN, else `guest:` and the class's name, which
        an arena on the same machine takes.
      once: Whether the bot ends when the arena ends its stream in order, and gives up after ten
        seconds without an arena; else whether CARDARENA_ONCE is 1, as where an arena launches it.
      random: Spreads the waits between attempts.

    Raises:
      Refused: if the arena will not have this bot, or the SDK does not know a game of its.
      Unreachable: if the bot plays once and cannot reach the arena.
    """
    kind = bot if isinstance(bot, type) else type(bot)
    name = kind.__name__
    address = address or os.environ.get("CARDARENA_ADDRESS") or DEFAULT_ADDRESS
    token = token or os.environ.get("CARDARENA_TOKEN") or f"guest:{name}"
    once = os.environ.get("CARDARENA_ONCE") == "1" if once is None else once
    author: Author
    if isinstance(bot, BatchBot):
        author = AllAtOnce(bot)
    elif issubclass(bot, BatchBot):
        author = AllAtOnce(bot())
    else:
        author = OneByOne(bot)
    hello = Hello(
        token=token,
        sdk=f"cardarena-python/{version()}",
        games=_games.supported(kind.games),
        max_matches=kind.max_matches,
        max_open_asks=kind.max_open_asks,
        want_text=kind.want_text,
    )
    connection = Connection(
        Session(hello, auto=kind.auto, now_s=time.monotonic),
        Redial(address, once=once, random=random or Random(), now_s=time.monotonic),
        say=_say,
        quiet=once,
    )
    connection.start()
    try:
        _play(author, connection)
    finally:
        connection.close()


def run(
    bot: type[Bot] | type[BatchBot] | BatchBot,
    *,
    address: str | None = None,
    token: str | None = None,
    once: bool | None = None,
    argv: Sequence[str] | None = None,
) -> None:
    """Plays as a program: reads the command line, and ends with an exit code.

    The address and the token are those given here, else those of the command
    line (`--address`, `--token`), else of the environment, as `play` says. A
    program with a command line of its own gives `argv=[]`.

    Args:
      bot: As for `play`.
      address: As for `play`.
      token: As for `play`.
      once: As for `play`.
      argv: The command line without the program's name; else the process's own.

    Raises:
      SystemExit: with 2 if the arena will not have this bot, with 1 if it cannot be reached, and
        with 130 on Ctrl-C. When the arena sends the bot home, `run` returns.
    """
    kind = bot if isinstance(bot, type) else type(bot)
    given = _parser(kind).parse_args(argv)
    try:
        play(bot, address=address or given.address, token=token or given.token, once=once)
    except Refused as error:
        _exit(str(error), EXIT_REFUSED)
    except Unreachable as error:
        _exit(str(error), EXIT_UNREACHABLE)
    except KeyboardInterrupt:
        raise SystemExit(EXIT_INTERRUPTED) from None


def version() -> str:
    """The SDK's version; `unknown` where it runs without being installed."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version("cardarena")
    return "unknown"


def _parser(kind: type) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=f"Plays at a Card Arena as {kind.__name__}, until the arena closes.",
        epilog=f"example: %(prog)s --address {DEFAULT_ADDRESS} --token guest:{kind.__name__}",
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help=f"the arena (else $CARDARENA_ADDRESS, else {DEFAULT_ADDRESS})",
    )
    parser.add_argument(
        "--token",
        help="who the bot is (else $CARDARENA_TOKEN, else guest: and the bot's name)",
    )
    return parser


def _say(line: str) -> None:
    sys.stderr.write(f"cardarena: {line}\n")


def _exit(line: str, code: int) -> NoReturn:
    _say(line)
    raise SystemExit(code) from None
