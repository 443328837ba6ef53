"""Arguments that several commands take, and how their mistakes are told."""

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from arena.cli.logs import LOG_NAME, log_file
from arena.cli.options import with_options
from arena.deal import first_pack
from arena.games.catalogue import Game, UnknownGame, game_by_id
from arena.terms import MatchTerms, TimeControl

if TYPE_CHECKING:
    from arena.jail import BotCommand

DEFAULT_DATA: Final = Path("arena-data")

F = TypeVar("F", bound=Callable[..., Any])


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Tell mistakes as one sentence, and end with exit code 1."""
    try:
        yield
    except BaseExceptionGroup as group:
        mistakes, others = group.split(_mistakes())
        if mistakes is None or others is not None:
            raise
        raise click.ClickException(str(_first(mistakes))) from group
    except Exception as error:
        if not isinstance(error, _mistakes()):
            raise
        raise click.ClickException(str(error)) from error


def _mistakes() -> tuple[type[Exception], ...]:
    # They are of all rooms, most of which a command never enters.
    from arena.cli.mistakes import MISTAKES

    return MISTAKES


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class GameType(click.ParamType[Game]):
    """A game by its id."""

    name = "game"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Game:
        if isinstance(value, Game):
            return value
        try:
            return game_by_id(value)
        except UnknownGame as error:
            self.fail(str(error), param, ctx)


def parse_options(texts: Sequence[str]) -> dict[str, object]:
    """Read options given as `name=value`."""
    options: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"an option is NAME=VALUE, not {text!r}")
        options[name.strip()] = value.strip()
    return options


def match_terms(
    game: Game, texts: Sequence[str], seats: int, time_control: TimeControl, *, seeded: bool
) -> MatchTerms:
    """What a match is played by, its options given as `name=value`.

    Raises:
      BadOptions: if the game is not played so.
    """
    options = game.options(parse_options(texts), seats)
    first_pack(game.rules, options, seats)  # what only the rules can judge
    return MatchTerms(game, options, seats, time_control, seeded=seeded)


def bot_commands(texts: Sequence[str]) -> "tuple[BotCommand, ...]":
    """The bots' commands, their mistakes told plainly."""
    from arena.jail import parse_commands

    with plain_errors():
        return parse_commands(texts)


def time_control_of(move: float, bank: float, increment: float) -> TimeControl:
    """A time control from seconds."""
    try:
        return TimeControl(
            move_ms=round(move * 1000),
            bank_ms=round(bank * 1000),
            increment_ms=round(increment * 1000),
        )
    except ValueError as error:
        raise click.UsageError(f"{error}") from None


def timed(command: F) -> F:
    """Adds the options of the clock: `move`, `bank` and `increment`, in seconds."""
    return with_options(
        command,
        click.option(
            "--move",
            default=10.0,
            show_default=True,
            metavar="SECONDS",
            help="For each move, before the bank is touched.",
        ),
        click.option(
            "--bank",
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="For moves that take longer, all match.",
        ),
        click.option(
            "--increment",
            default=0.0,
            show_default=True,
            metavar="SECONDS",
            help="Added to the bank after each move in time.",
        ),
    )


def data_folder(of: str) -> Callable[[F], F]:
    """Adds `--data`, the arena's folder; `of` says in `--help` what it is wanted for."""
    return click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT_DATA,
        show_default=True,
        envvar="ARENA_DATA",
        help=of,
    )


data_option: Final = data_folder("Folder for replays, results and the journal.")
"""Adds `--data`, the folder of replays, results and journals."""


def game_options(command: F) -> F:
    """Adds `--option`, which may be given many times."""
    return click.option(
        "--option",
        "-o",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="An option of the game, see: arena games show GAME.",
    )(command)


def log_to(data: Path, name: str = LOG_NAME) -> None:
    """Send what the arena logs to a file of this name, so that the terminal stays readable."""
    with plain_errors():
        handler = log_file(data, name)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # A full disk spoils the log; it must not spoil the terminal as well.
    logging.raiseExceptions = False
