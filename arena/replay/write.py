"""Writes replay files.

A replay file holds the records of one match as they stand in the journal, then
the record that opens its deals, and the arena's signature. It appears under its
name complete or not at all. What the bots noted goes into notebooks, see
`arena.replay.notes`.
"""

import contextlib
import functools
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena.games.contract import Seat
from arena.replay import disk
from arena.replay.deal_book import Opening
from arena.replay.notes import notebook_path, notes_folder, without_notes
from arena.replay.read import read_body, replay_path
from arena.replay.records import (
    CHAIN_START,
    NOTEBOOK_MAGIC,
    REPLAY_MAGIC,
    Framed,
    chained,
    framed,
)
from arena.replay.signing import Signer, replay_statement
from cardarena.v1 import journal_pb2

_PARTIAL_SUFFIX: Final = ".partial"
_writes: Final = itertools.count(1)


def write_replay(
    folder: Path,
    match_id: str,
    bodies: Sequence[bytes],
    opening: Opening,
    signer: Signer | None = None,
) -> Path:
    """Write the replay of an ended match, and what was noted there; on return it is on disk.

    `bodies` are the match's records, `opening` opens its deals, and `signer`, if
    there is one, signs it. The notes go into a folder beside `folder`, for the owner of
    the arena's files alone. Blocks until the disk has it all.

    Raises:
      OSError: if it cannot be written; then there is no replay of that name.
      ValueError: if the match has not ended, or its id cannot name a file.
    """
    path = replay_path(folder, match_id)
    if not bodies or not isinstance(read_body(Framed(0, bodies[-1]))[1], journal_pb2.Closed):
        raise ValueError(f"match {match_id} has not ended")
    if not folder.is_dir():  # each time but the first: to try and fail takes longer
        folder.mkdir(parents=True, exist_ok=True)
    published, notes = without_notes(bodies)
    for seat, noted in notes.items():
        _write_notebook(notes_folder(folder), match_id, seat, noted)
    records = map(framed, with_revealed(published, opening, signer))
    disk.write_whole(path, (REPLAY_MAGIC, *records), partial_path(folder, match_id))
    return path


def _write_notebook(folder: Path, match_id: str, seat: Seat, noted: Sequence[bytes]) -> None:
    disk.private_folder(folder)
    path = notebook_path(folder, match_id, seat)
    pieces = (NOTEBOOK_MAGIC, *map(framed, noted))
    disk.write_whole(path, pieces, partial_path(folder, match_id), 0o600)


def partial_path(folder: Path, match_id: str) -> Path:
    """What a file of a match is called while it is written: no two writes share the name."""
    return folder / f".{match_id}-{os.getpid()}-{next(_writes)}{_PARTIAL_SUFFIX}"


def with_revealed(
    bodies: Sequence[bytes], opening: Opening, signer: Signer | None = None
) -> tuple[bytes, ...]:
    """The records of a match, the one that opens its deals, and the one that signs them all.

    `bodies` are without notes.
    """
    number, _ = read_body(Framed(0, bodies[0]))
    revealed = opening.revealed
    if signer is not None:
        revealed.public_key = signer.public_key
    record = journal_pb2.Record(match=number, revealed=revealed)
    opened = (*bodies, record.SerializeToString())
    if signer is None:
        return opened
    chain = functools.reduce(chained, opened, CHAIN_START)
    signed = journal_pb2.Signed(signature=signer.sign(replay_statement(chain)))
    return (*opened, journal_pb2.Record(match=number, signed=signed).SerializeToString())


def remove_partials(folder: Path) -> None:
    """Remove what killed processes left of files that they were writing in a folder.

    Only for who holds the lock of the arena's folder, and before it writes anything itself:
    whose a partial file is cannot be told from the file.
    """
    for partial in folder.glob(f".*{_PARTIAL_SUFFIX}"):
        with contextlib.suppress(OSError):  # it harms nobody where it is
            partial.unlink()
