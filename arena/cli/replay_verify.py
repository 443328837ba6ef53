"""`arena replay verify`: recomputes matches from their replays and reports differences."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from arena.cli.lookup import plain_replay_errors, replay_of
from arena.cli.options import data_option, json_option, print_json
from arena.cli.terminal.plain import plain
from arena.errors import exits
from arena.records.deal_book import CommitmentLog, read_log
from arena.records.fairness import LogAccount, account_of
from arena.records.notes_file import NotesFile
from arena.records.phrases import count
from arena.records.read import REPLAY_SUFFIX
from arena.records.receipts import BadReceipt, Receipt
from arena.records.signing import PUBLIC_KEY_BYTES, shown_key
from arena.records.verify import Verification, verify_file


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


@click.command(
    epilog="""\b
Examples:
  arena replay verify last
  arena replay verify 3f9a.replay
  arena replay verify data/replays
  arena replay verify --json data/replays
  arena replay verify 3f9a.replay --match 3f9a
  arena replay verify 3f9a.replay --receipt receipts/77c0.json
  arena replay verify 3f9a.replay --notes 3f9a.1.notes
  arena replay verify data/replays --log data/commitments
  arena replay verify data/replays --arena $(arena keys arena-key)
"""
)
@click.argument("matches", metavar="MATCH...", nargs=-1, required=True)
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
@data_option
@json_option
def verify(
    matches: Sequence[str],
    receipt_files: Sequence[Path],
    log_path: Path | None,
    arena: bytes | None,
    match_id: str | None,
    notes_paths: Sequence[Path],
    data: Path,
    as_json: bool,
) -> None:
    """Recompute matches from their replays and compare.

    MATCH is a match's id, a beginning of it that no other id has, `last`, a file, or a folder, which
    stands for all replays in it. Packs, states, clocks and results are computed from the key of the
    deals and the moves, and the key from the commitments of the arena and the bots. The exit code is 1
    if a replay is damaged or differs from what it claims, is not signed by the arena that --arena
    names, is not of the match that --match names, or is missing in a folder although a deal of --log
    was played. Open deals of the log are in play, or the arena dropped them.
    """
    files = [replay_of(match, data) for match in matches]
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
        logged = {} if account is None else {"log": _account_json(account)}
        print_json({"ok": complete and not failed, "replays": replays, **logged})
    else:
        if len(verdicts) > 1:
            click.echo(f"{len(verdicts) - failed} of {len(verdicts)} replays verified")
        if account is not None:
            _print_account(account)
    concerned = {receipt.path for verdict in verdicts for receipt in verdict.receipts}
    for receipt in receipts:
        if receipt.path not in concerned:
            raise click.ClickException(f"{receipt.path} belongs to none of these deal-sets")
    noted = {notes_file.path for verdict in verdicts for notes_file in verdict.notes_files}
    for notes_file in notes_files:
        if not failed and notes_file.path not in noted:
            raise click.ClickException(f"{notes_file.path} has no note of these matches")
    if failed or not complete:
        raise click.exceptions.Exit(exits.FAILED)


def _log(path: Path) -> CommitmentLog:
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


def _replays_of(files: Sequence[Path]) -> list[Path]:
    """Return the files, and the replays in the folders, each once."""
    replays: dict[Path, None] = {}
    for file in files:
        if file.is_dir():
            inside = sorted(file.rglob(f"*{REPLAY_SUFFIX}"))
            if not inside:
                raise click.ClickException(f"there is no replay in the folder {file}")
            replays.update(dict.fromkeys(inside))
        else:
            replays[file] = None
    return list(replays)


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
        signed = " signed" if all(receipt.signed for receipt in verdict.receipts) else ""
        facts.append(f"{asks} as in {count(len(verdict.receipts), f'{signed} receipt'.strip())}")
    if verdict.notes_files:
        facts.append(f"{count(verdict.notes_compared, 'note')} as made at it")
    click.echo(
        click.style("✓", "green") + f" {plain(str(verdict.path))}: {plain(' · '.join(facts))}"
    )


def _account(log: CommitmentLog, verdicts: Sequence[Verification]) -> LogAccount:
    return account_of(log, [verdict.logged for verdict in verdicts if verdict.logged is not None])


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
        "missing_deals": [deal.hex() for deal in account.missing_deals],
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
