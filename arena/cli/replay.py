"""`arena replay`: watch, verify and export replays."""

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from arena.cli.arguments import data_option
from arena.cli.browser import open_in_browser
from arena.cli.matches import list_matches, match_filters
from arena.cli.named import replay_of
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, say
from arena.cli.terminal.screen import Screen
from arena.cli.terminal.steps import Steps, print_all
from arena.cli.terminal.viewer import FullScreen, viewing, watch
from arena.games.contract import Seat
from arena.replay.deal_book import CommitmentLog, read_log
from arena.replay.export import export_lines
from arena.replay.frames import Discrepancy
from arena.replay.notebook import Notebook, notes_of
from arena.replay.read import REPLAY_SUFFIX, Replay, Unplayable
from arena.replay.receipts import BadReceipt, Receipt
from arena.replay.records import Damaged
from arena.replay.signing import PUBLIC_KEY_BYTES, shown_key
from arena.replay.verify import Verdict, verify_file
from arena.replay.words import count, result_words
from arena.scenes import Eyes, Viewer
from arena.store import MatchFilter
from arena.web.disk import eyes_of, file_name, write_match


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


@click.group()
def replay() -> None:
    """Watch, verify and export the replays of matches.

    \b
    Examples:
      arena replay list
      arena replay show last
      arena replay open last
      arena replay verify data/replays
      arena replay export 3f9a -o match.jsonl
    """


@replay.command("list")
@match_filters
def list_replays(*, wanted: MatchFilter, limit: int, as_json: bool, data: Path) -> None:
    """List the matches that have a replay, newest first.

    \b
    Examples:
      arena replay list
      arena replay list --bot my_bot --faulted
      arena replay list --json | jq -r '.matches[].replay'
    """
    list_matches(replace(wanted, published=True), limit=limit, as_json=as_json, data=data)


@replay.command()
@click.argument("match")
@click.option("--seat", type=click.IntRange(min=0), help="See what this seat saw, from 0.")
@click.option("--spectator", is_flag=True, help="See what everybody saw.")
@click.option("--all", "all_seats", is_flag=True, help="See what all seats saw (the default).")
@click.option("--hand", type=click.IntRange(min=0), help="Only this hand, counted from 0.")
@click.option("--step", "step_number", type=click.IntRange(min=0), help="Only this step, from 0.")
@click.option("--brief", is_flag=True, help="Leave the views out when printing.")
@click.option("--print", "print_only", is_flag=True, help="Print even on a terminal.")
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
    """Watch the replay of MATCH in the terminal, through somebody's eyes.

    MATCH is a match's id, a beginning of it that no other has, `last`, or a file.
    On a terminal it fills the screen and goes step by step, a key each (--hand and --step
    say where to begin); piped or with --print it prints all of it, or what --hand or --step
    choose, with the times and the evidence of every fault.
    What a bot noted is for its owner: --seat shows it where the seat's notebook is,
    in the folder `notes` beside that of the replays.

    \b
    Examples:
      arena replay show last
      arena replay show 3f9a --seat 1 --hand 2
      arena replay show data/replays/3f9a.replay --spectator --print | less -R
    """
    if (seat is not None) + spectator + all_seats > 1:
        raise click.UsageError("choose one of --seat, --spectator and --all")
    if hand is not None and step_number is not None:
        raise click.UsageError("choose one of --hand and --step")
    file = replay_of(match, data)
    opened = _open(file)
    with plain_replay_errors(file):
        eyes = _eyes(opened, seat, spectator=spectator)
        noted = {} if seat is None else notes_of(file, opened, Seat(seat))
        console = PlainConsole(highlight=False)
        screen = Screen(opened, eyes, console, noted)
        steps = Steps.of(opened)
    chosen = steps.frames
    if hand is not None:
        chosen = steps.of_hand(hand)
    elif step_number is not None:
        chosen = steps.frames[step_number : step_number + 1]
    if steps.frames and not chosen:
        what = f"hand {hand}" if hand is not None else f"step {step_number}"
        raise click.ClickException(
            f"there is no {what}: the replay has the steps 0 to {len(steps.frames) - 1} "
            f"and the hands 0 to {steps.frames[-1].next_hand}"
        )
    on_terminal = sys.stdout.isatty() and sys.stdin.isatty() and not console.is_dumb_terminal
    if print_only or not on_terminal or not chosen:
        print_all(screen, steps, chosen, with_views=not brief)
    else:
        title, result = opened.spec().terms.game.title, result_words(opened)
        whole = FullScreen(title, opened.names, steps.problem or result, {eyes: noted})
        watch(viewing(opened, steps, eyes, chosen[0].index), whole, console, click.getchar)
    if steps.problem:
        raise click.exceptions.Exit(1)


@replay.command("open")
@click.argument("match")
@click.option("--seat", type=click.IntRange(min=0), help="Begin with what this seat saw, from 0.")
@click.option("--spectator", is_flag=True, help="Begin with what everybody saw.")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the pages into this folder, and open nothing.",
)
@data_option
def open_pages(
    *, match: str, data: Path, seat: int | None, spectator: bool, folder: Path | None
) -> None:
    """Watch the replay of MATCH in the browser, from pages on this disk.

    MATCH is a match's id, a beginning of it that no other has, `last`, or a file. The pages
    need no server and no network: a page for each hand, seen by all seats together, by the
    spectator and by each seat. Without --to they are in a temporary folder.

    \b
    Examples:
      arena replay open last
      arena replay open 3f9a --seat 1
      arena replay open 3f9a --to pages
    """
    if seat is not None and spectator:
        raise click.UsageError("choose one of --seat and --spectator")
    file = replay_of(match, data)
    opened = _open(file)
    with plain_replay_errors(file):
        eyes = _eyes(opened, seat, spectator=spectator)
        steps = Steps.of(opened)
    if not steps.frames:
        raise click.ClickException(f"{file}: {steps.problem or 'nothing was played'}")
    chosen = folder or Path(tempfile.mkdtemp(prefix="cardarena-"))
    try:
        chosen.mkdir(parents=True, exist_ok=True)
        offered = eyes_of(len(opened.names))
        write_match(opened, steps.frames, chosen, offered, steps.problem)
    except OSError as error:
        raise click.ClickException(f"cannot write {chosen}: {error.strerror}") from None
    page = (chosen / file_name(eyes, 0)).resolve()
    say(str(page))
    if folder is None:
        open_in_browser(page.as_uri())
    if steps.problem:
        raise click.exceptions.Exit(1)


@replay.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--receipt",
    "receipt_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Hold what a bot kept of a deal-set against its replays. May be given again.",
)
@click.option(
    "--log",
    "log_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Look the deals up in the arena's public log, the file `commitments` of its data. May be given "
    "again: processes that play for an arena have logs of their own.",
)
@click.option(
    "--arena",
    type=PublicKeyType(),
    metavar="KEY",
    help="Require that the arena with this public key signed them, see: arena keys arena-key.",
)
@click.option("--match", "match_id", metavar="ID", help="Require that they are of this match.")
@click.option(
    "--notes",
    "notebook_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Hold a bot's notes against the match that they were made at. May be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(
    files: Sequence[Path],
    receipt_files: Sequence[Path],
    log_files: Sequence[Path],
    arena: bytes | None,
    match_id: str | None,
    notebook_files: Sequence[Path],
    as_json: bool,
) -> None:
    """Recompute matches from their replays and compare.

    Packs, states, moves, clocks and results are computed anew from the key of
    the deals and the moves, and the key from what the arena and the bots had
    committed to. A folder stands for all replays in it. The exit code is 1 if
    any replay is damaged or not true, or not by the arena that --arena names, or
    not of the match that --match names.

    \b
    Examples:
      arena replay verify 3f9a.replay
      arena replay verify data/replays
      arena replay verify --json data/replays
      arena replay verify 3f9a.replay --match 3f9a
      arena replay verify 3f9a.replay --receipt receipts/77c0.json
      arena replay verify 3f9a.replay --notes 3f9a.1.notes
      arena replay verify data/replays --log data/commitments
      arena replay verify 3f9a.replay --log data/commitments --log data/playing/1/commitments
      arena replay verify data/replays --arena $(arena keys arena-key)
    """
    receipts = [_receipt(path) for path in receipt_files]
    notebooks = [_notebook(path) for path in notebook_files]
    log = _log(log_files) if log_files else None
    verdicts = []
    for path in _replays_of(files):
        verdict = verify_file(
            path, receipts, log, arena or b"", match_id=match_id or "", notebooks=notebooks
        )
        verdicts.append(verdict)
        if not as_json:
            _print_verdict(verdict, arena or b"")
    failed = sum(not verdict.ok for verdict in verdicts)
    if as_json:
        replays = [_verdict_json(verdict) for verdict in verdicts]
        click.echo(json.dumps({"ok": not failed, "replays": replays}, indent=2))
    elif len(verdicts) > 1:
        click.echo(f"{len(verdicts) - failed} of {len(verdicts)} replays verified")
    concerned = {receipt.path for verdict in verdicts for receipt in verdict.receipts}
    for receipt in receipts:
        if receipt.path not in concerned:
            raise click.ClickException(f"{receipt.path} is of none of these deal-sets")
    noted = {notebook.path for verdict in verdicts for notebook in verdict.notebooks}
    for notebook in notebooks:
        if not failed and notebook.path not in noted:
            raise click.ClickException(f"{notebook.path} has no note of these matches")
    if failed:
        raise click.exceptions.Exit(1)


@replay.command()
@click.argument("match")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write here, not to the terminal."
)
@data_option
def export(match: str, output: Path | None, data: Path) -> None:
    """Write a replay as JSON Lines: the match, its decisions and events, the result.

    MATCH is a match's id, a beginning of it that no other has, `last`, or a file. A replay that is not true is not exported.

    \b
    Examples:
      arena replay export last -o match.jsonl
      arena replay export 3f9a | jq 'select(.type == "decision") | .text'
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


@contextlib.contextmanager
def plain_replay_errors(file: Path) -> Iterator[None]:
    """Tell what can be wrong with a replay as one sentence, and end with exit code 1."""
    try:
        yield
    except OSError as error:
        raise click.ClickException(f"cannot read {file}: {error.strerror}") from error
    except (Damaged, Discrepancy, Unplayable) as error:
        raise click.ClickException(f"{file}: {error}") from error


def _open(file: Path) -> Replay:
    with plain_replay_errors(file):
        return Replay.open(file)


def _log(paths: Sequence[Path]) -> CommitmentLog:
    """What stands in public logs, taken together: no deal-set is in two."""
    together = CommitmentLog()
    for path in paths:
        try:
            path.stat()  # a log that is not there is no empty one, to a reader
            log = read_log(path)
        except OSError as error:
            raise click.ClickException(f"cannot read {path}: {error.strerror}") from error
        if log.damage:
            raise click.ClickException(f"the public log is not whole: {log.damage[0]}")
        together.committed.update(log.committed)
        together.heads.update(log.heads)
        together.opened.update(log.opened)
    return together


def _notebook(path: Path) -> Notebook:
    with plain_replay_errors(path):
        return Notebook.open(path)


def _receipt(path: Path) -> Receipt:
    try:
        return Receipt.open(path)
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from error
    except BadReceipt as error:
        raise click.ClickException(str(error)) from error


def _eyes(opened: Replay, seat: int | None, *, spectator: bool) -> Eyes:
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


def _print_verdict(verdict: Verdict, arena: bytes) -> None:
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
    if verdict.in_log:
        facts.append("in the public log")
    if verdict.receipts:
        asks = count(verdict.asks_compared, "ask")
        signed = " signed" if all(each.signed for each in verdict.receipts) else ""
        facts.append(f"{asks} as in {count(len(verdict.receipts), f'{signed} receipt'.strip())}")
    if verdict.notebooks:
        facts.append(f"{count(verdict.notes_compared, 'note')} as made at it")
    click.echo(
        click.style("✓", "green") + f" {plain(str(verdict.path))}: {plain(' · '.join(facts))}"
    )


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
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
        "decisions": outcome.decisions,
        "hands": verified.hands,
        "faults": len(outcome.faults),
        "seeded": verified.seeded,
        "entropy_from": verified.fairness.entropy_from,
        "participants": verified.fairness.participants,
        "receipts": len(verdict.receipts),
        "asks_compared": verdict.asks_compared,
        "receipts_signed": sum(receipt.signed for receipt in verdict.receipts),
        "in_log": verdict.in_log,
        "notes_compared": verdict.notes_compared,
        "signed_by": verified.signed_by.hex() or None,
    }
