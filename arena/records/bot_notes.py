"""Bots' notes at their decisions. They are for the bots' owners unless a bot publishes them, and replays do not contain them.

Replays are public and have a salted hash of each note. A note and its salt prove that it was made then; without the
salt even a short note cannot be guessed. The notes of a seat of a match are in a notes file, in a folder beside that
of the replays, which is not served, or beside the replay if the bot publishes its notes. `arena.records.notes_file`
reads it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from arena.games.contract import Seat
from arena.records.read import read_body
from arena.records.records import Framed, check_match_id
from arena.referee.deal.streams import labelled_hash
from cardarena.v1 import journal_pb2

NOTES: Final = "notes"
"""The folder of notes files, beside that of the replays."""
NOTES_SUFFIX: Final = ".notes"
SALT_BYTES: Final = 32


def note_sha256(salt: bytes, text: str) -> bytes:
    """Return the hash of a note, as in replays."""
    return labelled_hash(b"note", salt, text.encode())


def new_note(
    seat: int, decision: int, text: str, draw: Callable[[int], bytes]
) -> journal_pb2.Noted:
    """Return a note with a new salt; `draw` gives random bytes."""
    return journal_pb2.Noted(seat=seat, decision=decision, salt=draw(SALT_BYTES), text=text)


def without_notes(bodies: Sequence[bytes]) -> tuple[tuple[bytes, ...], dict[Seat, list[bytes]]]:
    """Return the public records of a match, and its notes by seat.

    A note whose decision is not among the records is left out, because the decision was not settled.
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
    """Return the folder of the notes files for a folder of replays."""
    return replays.parent / NOTES


def notes_path(folder: Path, match_id: str, seat: Seat) -> Path:
    """Return the path of a seat's notes file. Raises `ValueError` if `match_id` cannot name a file."""
    check_match_id(match_id)
    return folder / f"{match_id}.{seat}{NOTES_SUFFIX}"
