"""What bots noted at their decisions: for their owners alone, and so kept apart from replays.

A replay is for everybody. It has a salted hash of each note: who has the note and its salt can
show that it was made then, and nobody else can guess it, however short it is. The notes of one
seat of one match stand in a file of their own, its notebook, in a folder beside that of the
replays. Nothing serves that folder. `arena.replay.notebook` reads it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from arena.deal.streams import labelled_hash
from arena.games.contract import Seat
from arena.replay.read import read_body
from arena.replay.records import Framed, check_match_id
from cardarena.v1 import journal_pb2

NOTES: Final = "notes"
"""The folder of notebooks, beside that of the replays."""
NOTEBOOK_SUFFIX: Final = ".notes"
SALT_BYTES: Final = 32


def note_sha256(salt: bytes, text: str) -> bytes:
    """What a replay holds of a note."""
    return labelled_hash(b"note", salt, text.encode())


def new_note(
    seat: int, decision: int, text: str, draw: Callable[[int], bytes]
) -> journal_pb2.Noted:
    """A note with a salt of its own, made of as many random bytes as `draw` is asked for."""
    return journal_pb2.Noted(seat=seat, decision=decision, salt=draw(SALT_BYTES), text=text)


def without_notes(
    bodies: Sequence[bytes],
) -> tuple[tuple[bytes, ...], dict[Seat, list[bytes]]]:
    """The records of a match that may be published, and those of its notes by seat.

    A note whose decision is not among the records was never settled: it is left out.
    """
    published: list[bytes] = []
    noted: list[tuple[journal_pb2.Noted, bytes]] = []
    hashes: set[bytes] = set()
    for raw in bodies:
        _, body = read_body(Framed(0, raw))
        if isinstance(body, journal_pb2.Noted):
            noted.append((body, raw))
            continue
        published.append(raw)
        if isinstance(body, journal_pb2.Decided):
            hashes.add(body.note_sha256)
    notes: dict[Seat, list[bytes]] = {}
    for note, raw in noted:
        if note_sha256(note.salt, note.text) in hashes:
            notes.setdefault(Seat(note.seat), []).append(raw)
    return tuple(published), notes


def notes_folder(replays: Path) -> Path:
    """Where the notebooks stand of matches whose replays are in this folder."""
    return replays.parent / NOTES


def notebook_path(folder: Path, match_id: str, seat: Seat) -> Path:
    """Where the notebook of a seat stands.

    Raises:
      ValueError: if `match_id` cannot name a file.
    """
    check_match_id(match_id)
    return folder / f"{match_id}.{seat}{NOTEBOOK_SUFFIX}"
