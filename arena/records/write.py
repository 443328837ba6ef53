"""Writes replay files.

A replay file has the records of one match as in the journal, the record that opens its
deals, and the arena's signature. It is written as a whole or not at all. The bots' notes
are written to notes files, see `arena.records.bot_notes`: private ones, or beside the replay where the bot publishes them.
"""

import contextlib
import functools
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena import durable_files
from arena.durable_files import StagedFile
from arena.games.contract import Seat
from arena.records.bot_notes import notes_folder, notes_path, without_notes
from arena.records.deal_book import Opening
from arena.records.read import read_body, replay_path
from arena.records.records import NOTES_MAGIC, REPLAY_MAGIC, Framed, chained, framed
from arena.records.signing import ArenaKey, replay_statement
from cardarena.v1 import journal_pb2

_PARTIAL_SUFFIX: Final = ".partial"
_writes: Final = itertools.count(1)


def write_replay(
    folder: Path,
    match_id: str,
    bodies: Sequence[bytes],
    opening: Opening,
    signer: ArenaKey | None = None,
) -> Path:
    """Write the replay and the notes files of an ended match; on return they are on disk. Blocks.

    `bodies` are the match's records, `opening` opens its deals, and `signer`, if given, signs it. Notes files of bots
    that publish their notes are in `folder`; the others are in a private folder beside it.

    Raises:
      OSError: if it cannot be written; then there is no replay of that name.
      ValueError: if the match has not ended, or its id cannot name a file.
    """
    staged = stage_replay(folder, match_id, bodies, opening, signer)
    durable_files.sync_and_publish(staged)
    return staged[-1].path


def stage_replay(
    folder: Path,
    match_id: str,
    bodies: Sequence[bytes],
    opening: Opening,
    signer: ArenaKey | None = None,
) -> list[StagedFile]:
    """Write the files of `write_replay`, the replay last, for a later sync and publication. Blocks.

    Raises `OSError` or `ValueError` as `write_replay` does.
    """
    path = replay_path(folder, match_id)
    ends = [read_body(Framed(0, body))[1] for body in (*bodies[:1], *bodies[-1:])]
    match ends:
        case [journal_pb2.Opened() as opened, journal_pb2.Closed()]:
            pass
        case _:
            raise ValueError(f"match {match_id} has not ended")
    if not folder.is_dir():  # quicker than a failing mkdir each time
        folder.mkdir(parents=True, exist_ok=True)
    published, notes = without_notes(bodies)
    staged: list[StagedFile] = []
    try:
        for seat, noted in notes.items():
            is_public = opened.entrants[seat].publishes_notes
            staged.append(_stage_notes(folder, match_id, seat, noted, is_public=is_public))
        records = map(framed, with_revealed(published, opening, signer))
        replay = StagedFile(partial_path(folder, match_id), path)
        durable_files.write_partial(replay, (REPLAY_MAGIC, *records))
    except BaseException:
        durable_files.discard(staged)
        raise
    return [*staged, replay]


def _stage_notes(
    replays: Path, match_id: str, seat: Seat, noted: Sequence[bytes], *, is_public: bool
) -> StagedFile:
    folder = replays if is_public else notes_folder(replays)
    if not is_public:
        durable_files.private_folder(folder)
    notes = StagedFile(partial_path(folder, match_id), notes_path(folder, match_id, seat))
    mode = 0o666 if is_public else 0o600
    durable_files.write_partial(notes, (NOTES_MAGIC, *map(framed, noted)), mode)
    return notes


def partial_path(folder: Path, match_id: str) -> Path:
    """Return the name of a file while it is written, unique for each write."""
    return folder / f".{match_id}-{os.getpid()}-{next(_writes)}{_PARTIAL_SUFFIX}"


def with_revealed(
    bodies: Sequence[bytes], opening: Opening, signer: ArenaKey | None = None
) -> tuple[bytes, ...]:
    """Return the records of a match without notes, with those that open its deals and sign it."""
    number, _ = read_body(Framed(0, bodies[0]))
    revealed: journal_pb2.Revealed = opening.revealed
    if signer is not None:
        revealed.public_key = signer.public_key
    record = journal_pb2.Record(match=number, revealed=revealed)
    opened = (*bodies, record.SerializeToString())
    if signer is None:
        return opened
    # The last record of the match has the chain of those before it.
    before: bytes = journal_pb2.Record.FromString(bodies[-1]).closed.chain
    chain = functools.reduce(chained, opened[len(bodies) - 1 :], before)
    signed = journal_pb2.Signed(signature=signer.sign(replay_statement(chain)))
    return (*opened, journal_pb2.Record(match=number, signed=signed).SerializeToString())


def remove_partials(folder: Path) -> None:
    """Remove the partial files of killed processes from a folder.

    Call it only with the lock of the arena's folder, and before writing anything: the files do
    not show which process writes them.
    """
    for partial in folder.glob(f".*{_PARTIAL_SUFFIX}"):
        with contextlib.suppress(OSError):  # a partial file that stays is harmless
            partial.unlink()
