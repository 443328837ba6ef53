"""Reads notes files, and checks them by the replay of their match."""

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from arena.games.contract import Seat
from arena.records.bot_notes import NOTES_SUFFIX, note_sha256, notes_folder, notes_path
from arena.records.playback import Discrepancy
from arena.records.read import Replay, read_body
from arena.records.records import NOTES_MAGIC, Damaged, check_match_id, read_records
from cardarena.v1 import journal_pb2

RAISED: Final = "error: "
"""The beginning of a note with which an SDK reports an error in the bot's own code."""
QUEUED: Final = re.compile(r"queue: decisions? (\d{1,9})(?: to (\d{1,9}))?: (.+)", re.DOTALL)
"""A note with which an SDK reports that decisions waited long in the bot's own queue.

It may be the note of a later decision, because a late decision has no answer.
"""
TIMES: Final = re.compile(
    r"times: (\d{1,9}) asks waited (\d{1,9}\.\d{3}) s in the own queue; "
    r"(\d{1,9}) took (\d{1,9}\.\d{3}) s on the network"
)
"""A note with which an SDK reports its measurements of all answers in the match so far."""
_OF_SDK: Final = (re.compile(RAISED), QUEUED, TIMES)


@dataclass(frozen=True, slots=True)
class NotesFile:
    """The notes of one seat of one match. Only the replay shows which match it is."""

    path: Path
    noted: tuple[journal_pb2.Noted, ...]

    @classmethod
    def open(cls, path: Path) -> "NotesFile":
        """Read a notes file. Raises `Damaged` if it is damaged, and `OSError` if it cannot be read."""
        with path.open("rb") as file:
            return cls.read(file, path)

    @classmethod
    def read(cls, file: BinaryIO, path: Path) -> "NotesFile":
        """Read a notes file, as `open` does, from an open file; `path` is its name in errors."""
        return cls(path, tuple(_noted(file)))

    def concerns(self, replay: Replay) -> bool:
        """Return whether any of its notes was made at this match."""
        hashes = _hashes(replay)
        return any(
            note_sha256(note.salt, note.text) == hashes.get((note.seat, note.decision))
            for note in self.noted
        )

    def of_seat(self, replay: Replay, seat: Seat) -> Mapping[int, str]:
        """Return the notes of the bot at a seat of the match, by decision.

        Raises `Discrepancy` if a note is of another seat, or differs from its hash.
        """
        for note in self.noted:
            if note.seat != seat:
                raise Discrepancy(f"{self.path.name} has notes of seat {note.seat}, not {seat}")
        self.check(replay)
        return {note.decision: note.text for note in self.noted}

    def check(self, replay: Replay) -> int:
        """Check the notes by the replay of their match; return their number.

        Raises `Discrepancy` if one differs from its hash.
        """
        hashes = _hashes(replay)
        for note in self.noted:
            made = hashes.get((note.seat, note.decision), b"")
            where = f"at decision {note.decision} of seat {note.seat}"
            if not made:
                raise Discrepancy(f"{self.path.name} has a note {where}, and the match has none")
            if note_sha256(note.salt, note.text) != made:
                raise Discrepancy(f"{self.path.name} has another note {where} than the match")
        return len(self.noted)


def notes_of(file: Path, replay: Replay, seat: Seat) -> Mapping[int, str]:
    """Return the notes of the bot at a seat by decision; empty if there is no notes file.

    The file is searched in the folder of notes beside that of the replay `file`, and in the
    replay's own folder.

    Raises:
      Damaged: if the notes file is damaged.
      Discrepancy: if a note differs from its hash.
      OSError: if it cannot be read.
    """
    match_id = replay.opened.match_id
    try:
        check_match_id(match_id)
    except ValueError:
        return {}
    for folder in (notes_folder(file.parent), file.parent):
        path = notes_path(folder, match_id, seat)
        if path.is_file():
            return NotesFile.open(path).of_seat(replay, seat)
    return {}


def published_notes(file: Path, replay: Replay) -> Mapping[tuple[Seat, int], str]:
    """Return the notes of the bots that publish theirs, by seat and decision, from the folder of the replay `file`.

    Errors and waits that an SDK has noted are for the owner. Notes that are missing, damaged or not of this match are left out.
    """
    notes: dict[tuple[Seat, int], str] = {}
    for at, entrant in enumerate(replay.opened.entrants):
        seat, path = Seat(at), file.with_name(f"{file.stem}.{at}{NOTES_SUFFIX}")
        if not entrant.publishes_notes or not path.is_file():
            continue
        with contextlib.suppress(Damaged, Discrepancy, OSError):
            for decision, text in NotesFile.open(path).of_seat(replay, seat).items():
                if text and not any(kind.match(text) for kind in _OF_SDK):
                    notes[seat, decision] = text
    return notes


def _noted(file: BinaryIO) -> list[journal_pb2.Noted]:
    noted = []
    for framed in read_records(file, NOTES_MAGIC):
        _, body = read_body(framed)
        if not isinstance(body, journal_pb2.Noted):
            raise Damaged(f"the record at byte {framed.offset} is no note")
        noted.append(body)
    return noted


def _hashes(replay: Replay) -> dict[tuple[int, int], bytes]:
    """Return the hashes of notes, by seat and decision; empty where there was no note."""
    return {(decision.seat, decision.decision): decision.note_sha256 for decision in replay.decided}
