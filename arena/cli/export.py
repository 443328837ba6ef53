"""`arena export matches`: many matches as tables for data frames, or as hand histories of poker."""

import contextlib
import functools
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from arena.cli.arena_client import PAGE, NoAnswer
from arena.cli.command_group import CommandGroup
from arena.cli.competition_client import CompetitionClient
from arena.cli.options import GameType
from arena.cli.replay import DOWNLOAD_S
from arena.cli.services import require_store, service_options
from arena.cli.terminal.plain import say
from arena.errors import exits
from arena.games.game import Game
from arena.pictures.sentences import counted
from arena.records.phh import Inexpressible, write_hands
from arena.records.playback import Discrepancy
from arena.records.read import REPLAY_SUFFIX, Replay, Unplayable
from arena.records.records import Damaged
from arena.records.tables import FORMS, NoDuckDB, TableFiles, rows_of
from cardarena.v1 import lobby_pb2, replay_pb2
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub
from cardarena.v1.replay_pb2_grpc import ReplayServiceStub

if TYPE_CHECKING:
    from arena.records.tables import Encode

PHH: Final = "phh"
OPEN_SPIEL: Final = "openspiel"
Named: TypeAlias = tuple[str, Callable[[], Replay]]
"""The name of a replay in errors, and the function that reads it."""


_options = functools.partial(service_options, kind=CompetitionClient, require=lambda _: None)


@click.group(
    cls=CommandGroup,
    epilog="\b\nExamples:\n  arena export matches data-set --as parquet --game klaberjass",
)
def export() -> None:
    """Export many matches as data."""


@export.command(
    "matches",
    epilog="""\b
Examples:
  arena export matches data-set --as parquet
  arena export matches data-set --as parquet --game klaberjass --tensors
  arena export matches data-set --as jsonl --competition autumn --server arena.example:7654
  arena export matches hands --as phh --game crazy_pineapple
  arena export matches data-set --as jsonl --replays runs/replays

\b
The columns are in the page of data sets, docs/reference/data-sets.md.
""",
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--as",
    "form",
    required=True,
    type=click.Choice([*FORMS, PHH, OPEN_SPIEL]),
    help="Tables in Parquet or JSON Lines, the Poker Hand History format, or histories of OpenSpiel.",
)
@click.option("--tensors", is_flag=True, help="With observations and actions as numbers.")
@click.option("--game", type=GameType(), help="Only this game.")
@click.option("--bot", metavar="NAME", help="Only matches with this bot.")
@click.option("--competition", metavar="NAME", help="Only of this competition.")
@click.option(
    "--replays",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The replays of this folder, instead of those of an arena.",
)
@_options
def export_matches(
    *,
    client: CompetitionClient,
    folder: Path,
    form: str,
    tensors: bool,
    game: Game | None,
    bot: str | None,
    competition: str | None,
    replays: Path | None,
) -> None:
    """Write the matches of an arena into FOLDER: tables of matches, of their seats, and of decisions.

    Only published replays are exported, so deal-sets that are not complete are left out: their matches
    reveal the cards of those in play. Each match is verified. One that cannot be read is named and left
    out, and the exit code is then 1. Memory does not grow with the number of matches.

    PHH has the hands of Pineapple and Crazy Pineapple, as hold'em; other matches are left out. OpenSpiel has
    the matches that were played to their ends with moves that are actions of the environment.
    """
    if tensors and form not in FORMS:
        raise click.UsageError("hand histories have no tensors: leave --tensors out")
    if replays is None:
        if client.data is not None:
            require_store(client.data)
        if competition:
            client.show(competition)  # an error suggests the nearest name
        wanted = lobby_pb2.MatchFilter(
            game=game.id if game else "",
            bots=[bot] if bot else [],
            competition=competition or "",
            published=True,
        )
        named = _of_arena(client, wanted)
    elif bot or competition:
        raise click.UsageError("--bot and --competition need an arena: leave --replays out")
    else:
        named = _of_folder(replays, game)
    try:
        exported, left_out = (
            _tables(named, folder, form, tensors=tensors)
            if form in FORMS
            else _histories(named, folder, form)
        )
    except (NoDuckDB, ImportError) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {folder}: {error.strerror}") from None
    say(f"{counted(exported, 'match')} in {folder}", err=True)
    if left_out:
        raise click.exceptions.Exit(exits.FAILED)


def _tables(named: Iterator[Named], folder: Path, form: str, *, tensors: bool) -> tuple[int, int]:
    """Write tables; return the number of matches, and of those that were left out."""
    encode: Encode | None = None
    if tensors:
        # Imported here: the package registers environments, which takes half a second.
        from arena.envs.encoders import numbers_of as encode
    with TableFiles(folder, form, with_numbers=tensors) as files:

        def add(replay: Replay) -> bool:
            files.add(replay.opened.terms.game, rows_of(replay, encode))
            return True

        return _each(named, add)


def _histories(named: Iterator[Named], folder: Path, form: str) -> tuple[int, int]:
    """Write a file for each match that the form can express, and return what `_tables` returns. Other matches are no failures."""
    write = write_hands
    if form == OPEN_SPIEL:
        from arena.envs.traces import write_trace as write

    def add(replay: Replay) -> bool:
        try:
            write(replay, folder)
        except Inexpressible as error:
            reasons[str(error)] = reasons.get(str(error), 0) + 1
            return False
        return True

    reasons: dict[str, int] = {}
    done = _each(named, add)
    for reason, count in reasons.items():
        say(f"left out {counted(count, 'match')}: {reason}", err=True)
    return done


def _each(named: Iterator[Named], add: Callable[[Replay], bool]) -> tuple[int, int]:
    exported = left_out = 0
    for name, read in named:
        try:
            exported += add(read())
        except (Damaged, Discrepancy, Unplayable, NoAnswer) as error:
            left_out += 1
            say(f"left out {name}: {error}", err=True)
    return exported, left_out


def _of_folder(replays: Path, game: Game | None) -> Iterator[Named]:
    for path in sorted(replays.glob(f"*{REPLAY_SUFFIX}")):
        with contextlib.suppress(Damaged):
            if game is not None and Replay.open(path).opened.terms.game != game.id:
                continue
        yield str(path), functools.partial(Replay.open, path)


def _of_arena(client: CompetitionClient, wanted: lobby_pb2.MatchFilter) -> Iterator[Named]:
    """Yield the published matches, newest first, a page at a time."""
    lobby, service = client.of(LobbyServiceStub), client.of(ReplayServiceStub)

    def read(match_id: str) -> Replay:
        request = replay_pb2.GetReplayRequest(replay_id=match_id)
        pieces = service.stream(service.stub.GetReplay, request, longest_s=DOWNLOAD_S)
        return Replay.read(io.BytesIO(b"".join(response.piece for response in pieces)))

    request = lobby_pb2.ListMatchesRequest(ended=wanted, page_size=PAGE)
    while True:
        page = lobby.call(lobby.stub.ListMatches, request)
        for match in page.matches:
            yield match.match_id, functools.partial(read, match.match_id)
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token
