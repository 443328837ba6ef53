"""`arena replay`: shows, verifies, exports and downloads replays."""

import sys
import tempfile
from pathlib import Path
from typing import Final

import click

from arena.cli.arena_client import OWNERS_KEY, Server, owner_options, service_client
from arena.cli.browser import open_in_browser
from arena.cli.command_group import CommandGroup
from arena.cli.lookup import plain_replay_errors, replay_of
from arena.cli.options import data_option
from arena.cli.replay_verify import verify
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import program, say
from arena.cli.terminal.playback import Playback, print_all
from arena.cli.terminal.screen import Screen
from arena.cli.terminal.viewer import FullScreen, viewing, watch
from arena.errors import exits
from arena.games.contract import Seat
from arena.pictures import AnyViewer, Viewer
from arena.records.bot_notes import notes_path
from arena.records.export import export_lines
from arena.records.notes_file import notes_of
from arena.records.phrases import result_line
from arena.records.read import REPLAY_SUFFIX, Replay
from arena.web.addresses import match_query
from arena.web.match_file import write_match
from arena.web.pages.finished_match import played_through
from cardarena.v1 import replay_pb2
from cardarena.v1.replay_pb2_grpc import ReplayServiceStub

DOWNLOAD_S: Final = 60.0


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena replay show last
  arena replay open last
  arena replay verify data/replays
  arena replay export 3f9a -o match.jsonl
  arena replay download 3f9a77c01b2d4e5f

\b
`arena match list` lists matches and says which have a replay.
""",
)
def replay() -> None:
    """Show, verify, export and download the replays of matches."""


@replay.command(
    epilog="""\b
Examples:
  arena replay show last
  arena replay show 3f9a --seat 1 --hand 2
  arena replay show data/replays/3f9a.replay --spectator --print | less -R
"""
)
@click.argument("match")
@click.option("--seat", type=click.IntRange(min=0), help="The perspective of this seat, from 0.")
@click.option("--spectator", is_flag=True, help="The perspective of a spectator.")
@click.option("--all", "all_seats", is_flag=True, help="All seats together (default).")
@click.option("--hand", type=click.IntRange(min=0), help="Only this hand, from 0.")
@click.option("--step", "step_number", type=click.IntRange(min=0), help="Only this step, from 0.")
@click.option("--brief", is_flag=True, help="Print no views.")
@click.option("--print", "print_only", is_flag=True, help="Print all steps, also on a terminal.")
@data_option
def show(
    *,
    match: str,
    data: Path,
    seat: int | None,
    spectator: bool,
    all_seats: bool,
    hand: int | None,
    step_number: int | None,
    brief: bool,
    print_only: bool,
) -> None:
    """Show the replay of MATCH in the terminal, for one viewer.

    MATCH is a match's id, a beginning of it that no other id has, `last`, or a file. On a terminal the replay fills the
    screen, and keys move through its steps; --hand and --step choose the first one. Piped or with --print, all steps
    are printed, or those of --hand or --step, with the times and evidence of faults. With --seat the bot's notes are
    shown, if the notes file of the seat is in the folder `notes` beside that of the replays.
    """
    if (seat is not None) + spectator + all_seats > 1:
        raise click.UsageError("choose one of --seat, --spectator and --all")
    if hand is not None and step_number is not None:
        raise click.UsageError("choose one of --hand and --step")
    file = replay_of(match, data)
    opened = _open(file)
    with plain_replay_errors(file):
        viewer = _viewer(opened, seat, spectator=spectator)
        noted = {} if seat is None else notes_of(file, opened, Seat(seat))
        console = PlainConsole(highlight=False)
        screen = Screen(opened, viewer, console, noted)
        playback = Playback.of(opened)
    chosen = playback.steps
    if hand is not None:
        chosen = playback.of_hand(hand)
    elif step_number is not None:
        chosen = playback.steps[step_number : step_number + 1]
    if playback.steps and not chosen:
        what = f"hand {hand}" if hand is not None else f"step {step_number}"
        raise click.ClickException(
            f"there is no {what}: the replay has the steps 0 to {len(playback.steps) - 1} "
            f"and the hands 0 to {playback.steps[-1].next_hand}"
        )
    on_terminal = sys.stdout.isatty() and sys.stdin.isatty() and not console.is_dumb_terminal
    if print_only or not on_terminal or not chosen:
        print_all(screen, playback, chosen, with_views=not brief)
    else:
        title, result = opened.spec().terms.game.title, result_line(opened)
        whole = FullScreen(title, opened.names, result, {viewer: noted}, problem=playback.problem)
        watch(viewing(opened, playback, viewer, chosen[0].index), whole, console, click.getchar)
    if playback.problem:
        raise click.exceptions.Exit(exits.FAILED)


@replay.command(
    "open",
    epilog="""\b
Examples:
  arena replay open last
  arena replay open 3f9a --seat 1
  arena replay open 3f9a --to pages
""",
)
@click.argument("match")
@click.option(
    "--seat", type=click.IntRange(min=0), help="Open the perspective of this seat, from 0."
)
@click.option("--spectator", is_flag=True, help="Open the perspective of a spectator.")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the page into this folder, and open no browser.",
)
@data_option
def open_pages(
    *, match: str, data: Path, seat: int | None, spectator: bool, folder: Path | None
) -> None:
    """Show the replay of MATCH in the browser, from a page on this disk.

    MATCH is a match's id, a beginning of it that no other id has, `last`, or a file. The page has all
    hands for all seats together, for the spectator and for each seat. It needs JavaScript, but no
    server and no network. Without --to it is written into a temporary folder.
    """
    if seat is not None and spectator:
        raise click.UsageError("choose one of --seat and --spectator")
    file = replay_of(match, data)
    opened = _open(file)
    with plain_replay_errors(file):
        viewer = _viewer(opened, seat, spectator=spectator)
        played = played_through(file)
    chosen = folder or Path(tempfile.mkdtemp(prefix="cardarena-"))
    try:
        chosen.mkdir(parents=True, exist_ok=True)
        written = write_match(played, chosen)
    except OSError as error:
        raise click.ClickException(f"cannot write {chosen}: {error.strerror}") from None
    page = written.resolve().as_uri() + match_query(viewer, 0)
    say(page)
    if folder is None:
        open_in_browser(page)
    if played.problem:
        raise click.exceptions.Exit(exits.FAILED)


@replay.command(
    epilog="""\b
Examples:
  arena replay download 3f9a77c01b2d4e5f
  arena replay download 3f9a77c01b2d4e5f --server arena.example:7654 -o lost.replay
  arena replay download 3f9a77c01b2d4e5f --notes-of 1
  arena match why 3f9a77c01b2d4e5f.replay my-bot
"""
)
@click.argument("match")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write this file.  [default: MATCH.replay]",
)
@click.option(
    "--notes-of",
    "seat",
    type=click.IntRange(min=0),
    help="Also the notes of your bot at this seat, from 0, for `arena replay show --seat`.",
)
@owner_options
def download(*, match: str, output: Path | None, seat: int | None, server: Server) -> None:
    """Download the replay of MATCH from an arena.

    MATCH is a match's id; `arena match list --server ADDRESS --published` lists those with a replay. Other commands
    accept the file in place of a match. Only the key of a bot's owner reads the bot's notes, which are written beside
    the replay.
    """
    file = output or Path(f"{match}{REPLAY_SUFFIX}")
    bodies = {}
    with service_client(server, ReplayServiceStub, OWNERS_KEY) as arena:

        def received(**asked: int) -> bytes:
            request = replay_pb2.GetReplayRequest(replay_id=match, **asked)
            pieces = arena.stream(arena.stub.GetReplay, request, longest_s=DOWNLOAD_S)
            return b"".join(response.piece for response in pieces)

        bodies[file] = received()
        if seat is not None and (notes := received(notes_of_seat=seat)):
            bodies[notes_path(file.parent, match, Seat(seat))] = notes
    for path, body in bodies.items():
        try:
            path.write_bytes(body)
        except OSError as error:
            raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    if seat is not None and len(bodies) == 1:
        say(f"The bot at seat {seat} noted nothing.")
    say(f"{file} is written. Next: {program()} match why {file} BOT")


@replay.command(
    epilog="""\b
Examples:
  arena replay export last -o match.jsonl
  arena replay export 3f9a | jq 'select(.type == "decision") | .text'
"""
)
@click.argument("match")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write to this file instead of the terminal.",
)
@data_option
def export(match: str, output: Path | None, data: Path) -> None:
    """Write a replay as JSON Lines: the match, its decisions and events, the result.

    MATCH is a match's id, a beginning of it that no other id has, `last`, or a file. The replay is
    verified first.
    """
    file = replay_of(match, data)
    opened = _open(file)
    with plain_replay_errors(file):
        lines = list(export_lines(opened))
    if output is None:
        for line in lines:
            click.echo(line)
        return
    try:
        output.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write {output}: {error.strerror}") from None


def _open(file: Path) -> Replay:
    with plain_replay_errors(file):
        return Replay.open(file)


def _viewer(opened: Replay, seat: int | None, *, spectator: bool) -> AnyViewer:
    if seat is None:
        return Viewer.SPECTATOR if spectator else Viewer.ALL
    seats = len(opened.names)
    if seat >= seats:
        raise click.ClickException(f"there is no seat {seat}: the seats are 0 to {seats - 1}")
    return Seat(seat)


replay.add_command(verify)
