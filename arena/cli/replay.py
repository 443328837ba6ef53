"""`arena replay`: shows, verifies and exports replays."""

import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from arena.cli.browser import open_in_browser
from arena.cli.command_group import CommandGroup
from arena.cli.lookup import plain_replay_errors, replay_of
from arena.cli.options import data_option, json_option, print_json
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, say
from arena.cli.terminal.playback import Playback, print_all
from arena.cli.terminal.screen import Screen
from arena.cli.terminal.viewer import FullScreen, viewing, watch
from arena.errors import exits
from arena.games.contract import Seat
from arena.replay.deal_book import CommitmentLog, read_log
from arena.replay.export import export_lines
from arena.replay.fairness import LogAccount, account_of
from arena.replay.notes_file import NotesFile, notes_of
from arena.replay.phrases import count, result_line
from arena.replay.read import REPLAY_SUFFIX, Replay
from arena.replay.receipts import BadReceipt, Receipt
from arena.replay.signing import PUBLIC_KEY_BYTES, shown_key
from arena.replay.verify import Verification, verify_file
from arena.scenes import AnyViewer, Viewer
from arena.web.addresses import match_query
from arena.web.match_file import write_match
from arena.web.pages.finished_match import played_through


class PublicKeyType(click.ParamType[bytes]):
    """A public key in hexadecimal digits."""

    name = "key"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> bytes:
        key = b""
        with contextlib.suppress(ValueError):
            key = bytes.fromhex(value)
        if len(key) != PUBLIC_KEY_BYTES:
            self.fail(f"a key is {2 * PUBLIC_KEY_BYTES} hexadecimal digits", param, ctx)
        return key


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena replay show last
  arena replay open last
  arena replay verify data/replays
  arena replay export 3f9a -o match.jsonl

\b
`arena match list` lists matches and says which have a replay.
""",
)
def replay() -> None:
    """Show, verify and export the replays of matches."""


@replay.command(
    epilog="""\b
Examples:
  arena replay show last
  arena replay show 3f9a --seat 1 --hand 2
  arena replay show data/replays/3f9a.replay --spectator --print | less -R
""",
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

    MATCH is a match's id, a beginning of it that no other id has, `last`, or a file. On a terminal the
    replay fills the screen, and keys move through its steps; --hand and --step choose the first one.
    Piped or with --print, all steps are printed, or those of --hand or --step, with the times and
    evidence of faults. With --seat the bot's notes are shown, if the notes file of the seat is in the
    folder `notes` beside that of the replays.
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
        whole = FullScreen(title, opened.names, playback.problem or result, {viewer: noted})
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
        found = played_through(opened)
    if not found.frames:
        raise click.ClickException(f"{file}: {found.problem or 'nothing was played'}")
    chosen = folder or Path(tempfile.mkdtemp(prefix="cardarena-"))
    try:
        chosen.mkdir(parents=True, exist_ok=True)
        written = write_match(found, chosen)
    except OSError as error:
        raise click.ClickException(f"cannot write {chosen}: {error.strerror}") from None
    page = written.resolve().as_uri() + match_query(viewer, 0)
    say(page)
    if folder is None:
        open_in_browser(page)
    if found.problem:
        raise click.exceptions.Exit(exits.FAILED)


@replay.command(
    epilog="""\b
Examples:
  arena replay verify 3f9a.replay
  arena replay verify data/replays
  arena replay verify --json data/replays
  arena replay verify 3f9a.replay --match 3f9a
  arena replay verify 3f9a.replay --receipt receipts/77c0.json
  arena replay verify 3f9a.replay --notes 3f9a.1.notes
  arena replay verify data/replays --log data/commitments
  arena replay verify data/replays --arena $(arena keys arena-key)
""",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--receipt",
    "receipt_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Compare a bot's receipt of a deal-set with the replays; repeatable.",
)
@click.option(
    "--log",
    "log_path",
    type=click.Path(path_type=Path),
    help="Look up the deals in the arena's public log, the file `commitments` of its data, and in a folder the "
    "replay of each played deal.",
)
@click.option(
    "--arena",
    type=PublicKeyType(),
    metavar="KEY",
    help="Require signatures with this public key, see: arena keys arena-key.",
)
@click.option(
    "--match", "match_id", metavar="ID", help="Require that the replays are of this match."
)
@click.option(
    "--notes",
    "notes_paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Compare a bot's notes file with its match; repeatable.",
)
@json_option
def verify(
    files: Sequence[Path],
    receipt_files: Sequence[Path],
    log_path: Path | None,
    arena: bytes | None,
    match_id: str | None,
    notes_paths: Sequence[Path],
    as_json: bool,
) -> None:
    """Recompute matches from their replays and compare.

    Packs, states, clocks and results are computed from the key of the deals and the moves, and the key
    from the commitments of the arena and the bots. A folder stands for all replays in it. The exit
    code is 1 if a replay is damaged or differs from what it claims, is not signed by the arena that
    --arena names, is not of the match that --match names, or is missing in a folder although a deal
    of --log was played. Open deals of the log are in play, or the arena dropped them.
    """
    receipts = [_receipt(path) for path in receipt_files]
    notes_files = [_notes_file(path) for path in notes_paths]
    log = _log(log_path) if log_path else None
    verdicts = []
    for path in _replays_of(files):
        verdict = verify_file(
            path, receipts, log, arena or b"", match_id=match_id or "", notes_files=notes_files
        )
        verdicts.append(verdict)
        if not as_json:
            _print_verdict(verdict, arena or b"")
    failed = sum(not verdict.ok for verdict in verdicts)
    account = _account(log, verdicts) if log and any(file.is_dir() for file in files) else None
    complete = account is None or account.complete
    if as_json:
        replays = [_verdict_json(verdict) for verdict in verdicts]
        told = {} if account is None else {"log": _account_json(account)}
        print_json({"ok": complete and not failed, "replays": replays, **told})
    else:
        if len(verdicts) > 1:
            click.echo(f"{len(verdicts) - failed} of {len(verdicts)} replays verified")
        if account is not None:
            _print_account(account)
    concerned = {receipt.path for verdict in verdicts for receipt in verdict.receipts}
    for receipt in receipts:
        if receipt.path not in concerned:
            raise click.ClickException(f"{receipt.path} is of none of these deal-sets")
    noted = {notes_file.path for verdict in verdicts for notes_file in verdict.notes_files}
    for notes_file in notes_files:
        if not failed and notes_file.path not in noted:
            raise click.ClickException(f"{notes_file.path} has no note of these matches")
    if failed or not complete:
        raise click.exceptions.Exit(exits.FAILED)


@replay.command(
    epilog="""\b
Examples:
  arena replay export last -o match.jsonl
  arena replay export 3f9a | jq 'select(.type == "decision") | .text'
""",
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


def _log(path: Path) -> CommitmentLog:
    """The public log of an arena."""
    try:
        path.stat()  # `read_log` takes a missing file for an empty log
        log = read_log(path)
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from error
    if log.damage:
        raise click.ClickException(f"the public log is not whole: {log.damage[0]}")
    return log


def _notes_file(path: Path) -> NotesFile:
    with plain_replay_errors(path):
        return NotesFile.open(path)


def _receipt(path: Path) -> Receipt:
    try:
        return Receipt.open(path)
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from error
    except BadReceipt as error:
        raise click.ClickException(str(error)) from error


def _viewer(opened: Replay, seat: int | None, *, spectator: bool) -> AnyViewer:
    if seat is None:
        return Viewer.SPECTATOR if spectator else Viewer.ALL
    seats = len(opened.names)
    if seat >= seats:
        raise click.ClickException(f"there is no seat {seat}: the seats are 0 to {seats - 1}")
    return Seat(seat)


def _replays_of(files: Sequence[Path]) -> list[Path]:
    """The files, and the replays in the folders, each once."""
    found: dict[Path, None] = {}
    for file in files:
        if file.is_dir():
            inside = sorted(file.rglob(f"*{REPLAY_SUFFIX}"))
            if not inside:
                raise click.ClickException(f"there is no replay in the folder {file}")
            found.update(dict.fromkeys(inside))
        else:
            found[file] = None
    return list(found)


def _print_verdict(verdict: Verification, arena: bytes) -> None:
    verified = verdict.verified
    if verified is None:
        click.echo(
            click.style("✗", "red") + f" {plain(str(verdict.path))}: {plain(verdict.problem)}"
        )
        return
    outcome = verified.outcome
    facts = [
        f"match {plain(outcome.match_id)}",
        verified.game,
        ", ".join(map(plain, verified.bots)),
        outcome.ending.name.lower(),
        count(outcome.decisions, "decision"),
        count(verified.hands, "hand"),
    ]
    if outcome.faults:
        facts.append(count(len(outcome.faults), "fault"))
    facts.append(str(verified.fairness))
    if not verified.signed_by:
        facts.append("not signed")
    elif arena:
        facts.append("signed by this arena")
    else:
        facts.append(f"signed with the key {shown_key(verified.signed_by)}")
    if verdict.logged is not None:
        facts.append("in the public log")
    if verdict.receipts:
        asks = count(verdict.asks_compared, "ask")
        signed = " signed" if all(each.signed for each in verdict.receipts) else ""
        facts.append(f"{asks} as in {count(len(verdict.receipts), f'{signed} receipt'.strip())}")
    if verdict.notes_files:
        facts.append(f"{count(verdict.notes_compared, 'note')} as made at it")
    click.echo(
        click.style("✓", "green") + f" {plain(str(verdict.path))}: {plain(' · '.join(facts))}"
    )


def _account(log: CommitmentLog, verdicts: Sequence[Verification]) -> LogAccount:
    return account_of(log, [each.logged for each in verdicts if each.logged is not None])


def _print_account(account: LogAccount) -> None:
    cross = click.style("✗", "red")
    for context in account.missing_deals:
        click.echo(
            f"{cross} deal {context.hex()[:16]} was played by the public log, and has no true replay here"
        )
    for match_id in account.missing_matches:
        click.echo(
            f"{cross} match {plain(match_id)} was planned in a deal that was played, and has no true replay here"
        )
    if account.open_deals:
        click.echo(
            f"{count(account.open_deals, 'deal')} of the public log open: in play, or dropped by the arena"
        )
    for reason, number in sorted(account.void_deals.items()):
        click.echo(f"{count(number, 'deal')} of the public log void: {plain(reason)}")


def _account_json(account: LogAccount) -> dict[str, Any]:
    return {
        "missing_deals": [each.hex() for each in account.missing_deals],
        "missing_matches": account.missing_matches,
        "open_deals": account.open_deals,
        "void_deals": dict(account.void_deals),
    }


def _verdict_json(verdict: Verification) -> dict[str, Any]:
    verified = verdict.verified
    if verified is None:
        return {"file": str(verdict.path), "ok": False, "problem": verdict.problem}
    outcome = verified.outcome
    return {
        "file": str(verdict.path),
        "ok": True,
        "match_id": outcome.match_id,
        "bots": verified.bots,
        "game": verified.game,
        "ending": outcome.ending.name.lower(),
        "scores": outcome.scores,
        "places": outcome.places,
        "ended_by_limit": outcome.ended_by_limit,
        "decisions": outcome.decisions,
        "hands": verified.hands,
        "faults": len(outcome.faults),
        "seeded": verified.seeded,
        "entropy_from": verified.fairness.entropy_from,
        "participants": verified.fairness.participants,
        "receipts": len(verdict.receipts),
        "asks_compared": verdict.asks_compared,
        "receipts_signed": sum(receipt.signed for receipt in verdict.receipts),
        "in_log": verdict.logged is not None,
        "notes_compared": verdict.notes_compared,
        "signed_by": verified.signed_by.hex() or None,
    }
