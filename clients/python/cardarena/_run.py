"""Connects a bot: address, token, exit codes."""

import argparse
import contextlib
import importlib.metadata
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn, TypeAlias

from cardarena import _games
from cardarena._bot import BatchBot, Bot, Declaration, load_once, require_method
from cardarena._connection import Connection
from cardarena._deals import Deals
from cardarena._dial import Dial
from cardarena._errors import Lied, Misconfigured, Refused, Unreachable
from cardarena._lanes import play_on_asyncio, play_on_threads, play_on_trio
from cardarena._mode import Mode, Way, mode_of
from cardarena._play import AllAtOnce, OneByOne, Port
from cardarena._play import play as _play
from cardarena._pool import EXIT_INTERRUPTED, Pool, is_pool_process
from cardarena._receipts import Folder
from cardarena._redial import Redial
from cardarena._session import CONTRACT, Session
from cardarena._waiting import GUEST, Waiting
from cardarena.v1.play_pb2 import Capability, Hello

AnyProgram: TypeAlias = type[Bot] | type[BatchBot] | BatchBot
"""The bot of a program: its class, or an object of a `BatchBot`."""

DEFAULT_ADDRESS: Final = "localhost:7654"

WANTED: Final[ContextVar[list[AnyProgram] | None]] = ContextVar("WANTED", default=None)
"""The list that receives the bot in place of a connection, if a program is run only for its bot (`arena.local.program`)."""

EXIT_UNREACHABLE: Final = 1
EXIT_REFUSED: Final = 2
EXIT_LIED: Final = 3


def play(
    bot: type[Bot] | type[BatchBot] | BatchBot,
    *,
    address: str | None = None,
    token: str | None = None,
    once: bool | None = None,
    receipts: str | os.PathLike[str] | None = None,
    random: Random | None = None,
    tls: bool = False,
    ca_file: str | None = None,
    client_cert: str | None = None,
    client_key: str | None = None,
    insecure: bool = False,
) -> None:
    """Play until the arena ends play; for programs that run bots themselves.

    Args:
      bot: The bot's class; a `BatchBot` may also be an object.
      address: HOST:PORT, `https://HOST:PORT` for TLS, or `unix:PATH`; by default CARDARENA_ADDRESS, or localhost:7654.
      token: The bot's token; by default CARDARENA_TOKEN, or `guest:` and the name of the class, which an arena on the
        same machine accepts.
      once: Whether the bot ends when the arena ends its stream with status OK, and gives up after ten seconds without
        an arena; by default whether CARDARENA_ONCE is 1, which an arena sets for bots that it launches.
      receipts: A folder for receipts of fair deals, which only this bot uses; by default CARDARENA_RECEIPTS, or none.
      random: Spreads the waits between attempts.
      tls: Whether to use TLS also for an address without `https://`, as when files are given.
      ca_file: The certificates (PEM) that sign the arena's; by default CARDARENA_CA, or the public ones.
      client_cert: The bot's certificate (PEM), if the arena requires one; by default CARDARENA_CLIENT_CERT.
      client_key: Its private key (PEM); by default CARDARENA_CLIENT_KEY.
      insecure: Whether the token may be sent to another machine in plain text.

    Raises:
      Lied: after play, if the arena lied about its deals.
      Misconfigured: if the bot has no method that chooses moves or declares two ways of thinking, the folder for
        receipts cannot be created, a file of TLS is wrong, or the token would be sent in plain text.
      Refused: if the arena refuses the bot for good, or the SDK does not have one of its games.
      Unreachable: if the bot plays once and cannot reach the arena.

    All of these are subclasses of `PlayError`.
    """
    if is_pool_process():
        return
    if (wanted := WANTED.get()) is not None:
        wanted.append(bot)
        return
    kind = bot if isinstance(bot, type) else type(bot)
    require_method(kind)
    mode = mode_of(kind)
    join(
        kind,
        mode,
        _thinking(bot, mode),
        address=address,
        token=token,
        once=once,
        receipts=receipts,
        random=random,
        tls=tls,
        ca_file=ca_file,
        client_cert=client_cert,
        client_key=client_key,
        insecure=insecure,
    )


def join(
    kind: type[Declaration],
    mode: Mode,
    thinking: contextlib.AbstractContextManager[Callable[[Connection], None]],
    *,
    address: str | None,
    token: str | None,
    once: bool | None = None,
    receipts: str | os.PathLike[str] | None = None,
    random: Random | None = None,
    tls: bool = False,
    ca_file: str | None = None,
    client_cert: str | None = None,
    client_key: str | None = None,
    insecure: bool = False,
    log: Callable[[str], None] | None = None,
) -> None:
    """Connect as `kind` and `mode` declare, and play until there is no more work.

    `thinking` is entered before the bot connects, and provides the function that plays on the connection. `log` writes
    lines for the bot's author, by default to stderr. Other arguments and errors are those of `play`.
    """
    address = address or os.environ.get("CARDARENA_ADDRESS") or DEFAULT_ADDRESS
    token = token or os.environ.get("CARDARENA_TOKEN") or f"guest:{kind.__name__}"
    once = os.environ.get("CARDARENA_ONCE") == "1" if once is None else once
    dial = Dial(
        address,
        tls=tls,
        ca_file=ca_file,
        client_cert=client_cert,
        client_key=client_key,
        insecure=insecure,
    )
    hello = Hello(
        token=_with_secret(token),
        sdk=f"cardarena-python/{version()}",
        games=_games.supported(kind.games),
        max_matches=mode.max_matches,
        max_open_asks=mode.max_open_asks,
        want_text=kind.want_text,
        adds_entropy=kind.adds_entropy,
        version=kind.version,
        publish_notes=kind.publish_notes,
        contract=CONTRACT,
        capabilities=[Capability.CAPABILITY_REDIRECT],
    )
    deals = Deals(shelf=_shelf(receipts)) if kind.adds_entropy else None
    connection = Connection(
        Session(hello, auto=kind.auto, now_s=time.monotonic, deals=deals, remedy=mode.remedy),
        Redial(address, once=once, random=random or Random(), now_s=time.monotonic),
        dial,
        say=log or say,
        waiting=None if once else Waiting(hello, address, DEFAULT_ADDRESS),
    )
    with thinking as play_on:
        try:
            connection.start()
            play_on(connection)
        except (Refused, Unreachable) as error:
            if connection.lies:
                raise Lied(*connection.lies) from error
            raise
        finally:
            connection.close()
    if connection.lies:
        raise Lied(*connection.lies)


@contextlib.contextmanager
def _thinking(
    bot: type[Bot] | type[BatchBot] | BatchBot, mode: Mode
) -> Iterator[Callable[[Port], None]]:
    """Load the bot, and provide a function that plays on a connection until that is over."""
    if not isinstance(bot, type) or issubclass(bot, BatchBot):
        batches = AllAtOnce(bot() if isinstance(bot, type) else bot)
        yield lambda port: _play(batches, port)
        return
    if mode.way is Way.PROCESSES:
        pool = Pool(bot, mode.at_once)
        try:
            yield pool.play
        finally:
            pool.close()
        return
    load_once(bot)
    author = OneByOne(bot)
    if mode.way is Way.THREADS:
        yield lambda port: play_on_threads(author, port, mode.at_once)
    elif mode.way is Way.MAIN_THREAD:
        yield lambda port: _play(author, port)
    elif bot.event_loop == "trio":
        yield lambda port: play_on_trio(author, port)
    else:
        yield lambda port: play_on_asyncio(author, port)


def _with_secret(token: str) -> str:
    """Return a guest's token with a secret, so that no other client can take its seats."""
    if token.startswith(GUEST) and token.count(":") == 1:
        return f"{token}:{secrets.token_hex(16)}"
    return token


def run(
    bot: type[Bot] | type[BatchBot] | BatchBot,
    *,
    address: str | None = None,
    token: str | None = None,
    once: bool | None = None,
    receipts: str | os.PathLike[str] | None = None,
    argv: Sequence[str] | None = None,
    tls: bool = False,
    ca_file: str | None = None,
    client_cert: str | None = None,
    client_key: str | None = None,
    insecure: bool = False,
) -> None:
    """Run a bot as a program: read the command line, play, and end with an exit code.

    Arguments of this call come before flags (`--address`, `--token`, `--receipts` and others), which come before
    environment variables (see `play`). A program with its own flags passes `argv=[]`.

    Args:
      bot: As for `play`.
      address: As for `play`.
      token: As for `play`.
      once: As for `play`.
      receipts: As for `play`.
      argv: The command line without the program's name; by default that of the process.
      tls: As for `play`, or `--tls`.
      ca_file: As for `play`, or `--ca`.
      client_cert: As for `play`, or `--client-cert`.
      client_key: As for `play`, or `--client-key`.
      insecure: As for `play`, or `--insecure`.

    Raises:
      SystemExit: with 2 if the arena refuses the bot or a setting is wrong, with 1 if the arena cannot be reached, with
        3 if it lied about its deals, and with 130 on Ctrl-C. If the arena ends play, `run` returns.
    """
    kind = bot if isinstance(bot, type) else type(bot)
    given = _parser(kind).parse_args(argv)
    with exit_codes():
        play(
            bot,
            address=address or given.address,
            token=token or given.token,
            once=once,
            receipts=receipts or given.receipts,
            tls=tls or given.tls,
            ca_file=ca_file or given.ca,
            client_cert=client_cert or given.client_cert,
            client_key=client_key or given.client_key,
            insecure=insecure or given.insecure,
        )


@contextlib.contextmanager
def exit_codes() -> Iterator[None]:
    """End the program with the exit code of an error in the block, see `run`."""
    try:
        yield
    except (Misconfigured, Refused) as error:
        _exit(str(error), EXIT_REFUSED)
    except Unreachable as error:
        _exit(str(error), EXIT_UNREACHABLE)
    except Lied:
        _exit("the arena lied about its deals, as told above", EXIT_LIED)
    except KeyboardInterrupt:
        raise SystemExit(EXIT_INTERRUPTED) from None


def version() -> str:
    """Return the version of the SDK; `unknown` if it is not installed."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version("cardarena")
    return "unknown"


def _shelf(receipts: str | os.PathLike[str] | None) -> Folder | None:
    """Return the folder for receipts, if there is one.

    Raises:
      Misconfigured: if it cannot be created.
    """
    receipts = receipts or os.environ.get("CARDARENA_RECEIPTS")
    if not receipts:
        return None
    try:
        return Folder(Path(receipts))
    except OSError as error:
        raise Misconfigured(f"receipts cannot be kept in {receipts}: {error.strerror}") from error


def _parser(kind: type) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=f"Plays at a Card Arena as {kind.__name__}, until the arena closes.",
        epilog=f"example: %(prog)s --address {DEFAULT_ADDRESS} --token guest:{kind.__name__}",
    )
    add_arguments(parser)
    return parser


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the connection."""
    parser.add_argument(
        "--address",
        metavar="ADDRESS",
        help="the arena: HOST:PORT, https://HOST:PORT or unix:PATH "
        f"(else $CARDARENA_ADDRESS, else {DEFAULT_ADDRESS})",
    )
    parser.add_argument(
        "--token",
        help="who the bot is (else $CARDARENA_TOKEN, which others cannot see, "
        "else guest: and the bot's name)",
    )
    parser.add_argument(
        "--receipts",
        metavar="FOLDER",
        help="keep what proves the deals in this folder (else $CARDARENA_RECEIPTS)",
    )
    parser.add_argument("--tls", action="store_true", help="use TLS, as with https://")
    parser.add_argument(
        "--ca", metavar="FILE", help="the arena's root certificates in PEM (else $CARDARENA_CA)"
    )
    parser.add_argument(
        "--client-cert", metavar="FILE", help="the bot's own certificate, if the arena wants one"
    )
    parser.add_argument("--client-key", metavar="FILE", help="its private key")
    parser.add_argument(
        "--insecure", action="store_true", help="let the token leave this machine in plain text"
    )


def connection_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `play` and `join` that stand for these flags."""
    return {
        "address": given.address,
        "token": given.token,
        "receipts": given.receipts,
        "tls": given.tls,
        "ca_file": given.ca,
        "client_cert": given.client_cert,
        "client_key": given.client_key,
        "insecure": given.insecure,
    }


def say(line: str) -> None:
    """Write a log line to stderr."""
    sys.stderr.write(f"cardarena: {line}\n")


def _exit(line: str, code: int) -> NoReturn:
    say(line)
    raise SystemExit(code) from None
