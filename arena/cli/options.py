"""Options and types that several commands share, and how commands print JSON and expected errors."""

import contextlib
import functools
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar

import click
from click.core import ParameterSource

from arena.cli.logs import LOG_NAME, log_file
from arena.cli.terminal.plain import say
from arena.errors import exits
from arena.games.catalogue import UnknownGame, game_by_id
from arena.games.contract import BadOptions
from arena.games.game import Game
from arena.referee.deal import first_pack
from arena.referee.terms import TIME_CLASSES, MatchTerms, TimeControl, time_odds
from arena.validation import InvalidInput, text_of

if TYPE_CHECKING:
    from arena.sandbox.command import BotCommand

DEFAULT_DATA: Final = Path("arena-data")

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[Any], Any]
"""The result of `click.option`."""


def with_options(command: F, *options: Option) -> F:
    """Add options to a command; `--help` shows them in this order."""
    made: Any = command
    for option in reversed(options):
        made = option(made)
    return made  # type: ignore[no-any-return]


# Output for programs.

json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
wide_option: Final = click.option(
    "--wide", is_flag=True, help="Print all columns, even if they do not fit the terminal."
)


strict_option: Final = click.option(
    "--strict", is_flag=True, help=f"Exit with {exits.FAULTED} if any bot had a fault."
)
time_odds_option: Final = click.option(
    "--time-odds",
    "odds",
    multiple=True,
    metavar="BOT=SHARE",
    help="The share of the time control that a bot has, such as `my-bot=0.25`, in a study of how strength grows with time.",
)
token_file_option: Final = click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="File with the token of a key of `arena keys new worker`.",
)


def require_no_faults(faults: Mapping[str, int], *, strict: bool) -> None:
    """Exit with a separate code if a bot had a fault, and print its name; only if `strict`.

    Raises `click.exceptions.Exit` if a bot had a fault.
    """
    faulted = [f"{name} {count}" for name, count in faults.items() if count]
    if strict and faulted:
        say(f"faults, with --strict: {', '.join(faulted)}", err=True)
        raise click.exceptions.Exit(exits.FAULTED)


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    click.echo(json.dumps(value, indent=2))


# The data folder.


def data_folder(purpose: str) -> Callable[[F], F]:
    """Add `--data`, the arena's folder, with this help."""
    return click.option(
        "--data",
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT_DATA,
        envvar="ARENA_DATA",
        help=purpose,
    )


data_option: Final = data_folder("Folder of replays, results and journals.")
"""Adds `--data`, the folder of replays, results and journals."""


def require_folder(data: Path) -> None:
    """Require a data folder, for commands that create none. Raises `click.ClickException` if there is none."""
    if not data.is_dir():
        raise click.ClickException(f"there is no folder {data}: name an arena's data with --data")


def make_folder(data: Path) -> None:
    """Create a folder if it is missing. Raises `click.ClickException` if it cannot be written."""
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot write in {data}: {error.strerror}") from None


def log_to(data: Path, name: str = LOG_NAME) -> None:
    """Write the arena's log to a file of this name, so that the terminal stays readable."""
    with plain_errors():
        handler = log_file(data, name)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # If the disk is full, errors of the log must not fill the terminal.
    logging.raiseExceptions = False


def read_text(file: BinaryIO) -> str:
    """Return the text of a file that a person wrote. Raises `click.ClickException` if it is not in UTF-8."""
    try:
        return text_of(file.read())
    except InvalidInput as error:
        raise click.ClickException(f"{file.name}: {error}") from None


# Errors.


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Print expected errors as one sentence, and exit with 1."""
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
    # Loaded after an error only: it imports all parts of the arena.
    from arena.app.expected_errors import MISTAKES

    return MISTAKES


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


# Games, bots and the terms of matches.


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


start_option: Final = click.option(
    "--start",
    "start_s",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    help="Time for each bot from its launch until it connects.  [default: 20, or that of bot.toml]",
)


def bot_commands(texts: Sequence[str], start_s: int | None = None) -> "tuple[BotCommand, ...]":
    """Read the commands of bots, or their folders; errors are printed in sentences.

    `start_s` is the time in seconds in which each has to connect; None for its own limit.
    """
    from arena.app.author_matches import read_commands

    with plain_errors():
        commands = read_commands(texts)
    return tuple(replace(command, start_s=start_s or command.start_s) for command in commands)


def parse_options(texts: Sequence[str]) -> dict[str, object]:
    """Read options given as `name=value`."""
    options: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"an option is NAME=VALUE, not {text!r}")
        options[name.strip()] = value.strip()
    return options


@dataclass(frozen=True, slots=True)
class ChosenTerms:
    """The options of a game and the time control, as they are given on a command line."""

    options: tuple[str, ...]
    """Each `name=value`."""
    time_control: TimeControl

    def of(
        self, game: Game, seats: int | None, *, seeded: bool, shortest: bool = False
    ) -> MatchTerms:
        """Return the terms of a match; without `seats`, with the fewest that the game has.

        If `shortest`, each seat deals once, unless the options set the length of a match.

        Raises `click.ClickException` if the game has no such options or seats.
        """
        seats = seats or game.seats[0]
        with plain_errors():
            given = parse_options(self.options)
            if shortest and "hands" not in given and _fits(game, given | {"hands": seats}, seats):
                given |= {"hands": seats}
            options = game.options(given, seats)
            first_pack(game.rules, options, seats)  # checks limits that only the rules know
        return MatchTerms(game, options, seats, self.time_control, seeded=seeded)


def _fits(game: Game, given: Mapping[str, Any], seats: int) -> bool:
    try:
        game.options(given, seats)
    except BadOptions:
        return False
    return True


def with_time_odds(terms: MatchTerms, odds: Sequence[str], bots: Sequence[str]) -> MatchTerms:
    """Return the terms with the shares of `--time-odds` among these bots.

    Raises:
      click.UsageError: if a share is not valid, or of another bot.
    """
    shares = {}
    for text in odds:
        bot, _, share = text.rpartition("=")
        if bot not in bots:
            raise click.UsageError(
                f"--time-odds {text}: name one of {', '.join(bots)}, as in {bots[0]}=0.25"
            )
        try:
            shares[bot] = float(share)
        except ValueError:
            raise click.UsageError(f"--time-odds {text}: {share!r} is no number") from None
    try:
        return replace(terms, time_odds=time_odds(shares))
    except ValueError as error:
        raise click.UsageError(f"--time-odds: {error}") from None


_TIMES: Final = ("move", "bank", "increment")


def terms_options(command: F) -> F:
    """Add `--option`, `--time`, `--move`, `--bank` and `--increment`; the command gets one `chosen`."""

    @functools.wraps(command)
    def with_terms(*, options: tuple[str, ...], time_class: str, **rest: Any) -> Any:
        context, seconds = click.get_current_context(), {}
        for name in _TIMES:
            given = rest.pop(name)
            if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
                seconds[f"{name}_ms"] = round(given * 1000)
        try:
            control = replace(TIME_CLASSES[time_class], **seconds)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        return command(chosen=ChosenTerms(options, control), **rest)

    return with_options(  # type: ignore[return-value]
        with_terms,
        click.option(
            "--option",
            "-o",
            "options",
            multiple=True,
            metavar="NAME=VALUE",
            help="An option of the game; `arena games show GAME` lists them.",
        ),
        click.option(
            "--time",
            "time_class",
            type=click.Choice([*TIME_CLASSES]),
            default="standard",
            help=f"A time class: {'; '.join(map(_times_of, TIME_CLASSES))}.",
        ),
        _seconds("--move", 10.0, "Time for each move, before the bank is used."),
        _seconds("--bank", 60.0, "Time for longer moves, for the whole match."),
        _seconds("--increment", 0.0, "Time added to the bank after each move in time."),
    )


def _times_of(time_class: str) -> str:
    control = TIME_CLASSES[time_class]
    move_s, bank_s = control.move_ms // 1000, control.bank_ms // 1000
    return f"{time_class} has {move_s} s for each move and {bank_s} s in the bank"


def _seconds(name: str, default: float, meaning: str) -> Option:
    return click.option(name, default=default, metavar="SECONDS", help=meaning)
