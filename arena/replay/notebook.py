"""Notebooks read back, and held against the replay of their match."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arena.games.contract import Seat
from arena.replay.frames import Discrepancy
from arena.replay.notes import note_sha256, notebook_path, notes_folder
from arena.replay.read import Replay, read_body
from arena.replay.records import NOTEBOOK_MAGIC, Damaged, check_match_id, read_records
from cardarena.v1 import journal_pb2


@dataclass(frozen=True, slots=True)
class Notebook:
    """The notes of one seat of one match; whose they are, only a replay can tell."""

    path: Path
    noted: tuple[journal_pb2.Noted, ...]

    @classmethod
    def open(cls, path: Path) -> "Notebook":
        """Read a notebook.

        Raises:
          Damaged: where it is not as it was written.
          OSError: if it cannot be read at all.
        """
        with path.open("rb") as file:
            return cls(path, tuple(_noted(file)))

    def concerns(self, replay: Replay) -> bool:
        """Whether any of its notes was made at this match."""
        hashes = _hashes(replay)
        return any(
            note_sha256(each.salt, each.text) == hashes.get((each.seat, each.decision))
            for each in self.noted
        )

    def of_seat(self, replay: Replay, seat: Seat) -> Mapping[int, str]:
        """What the bot at a seat of the match noted, by its decisions.

        Raises:
          Discrepancy: if a note is of another seat, or not the one that was made.
        """
        for each in self.noted:
            if each.seat != seat:
                raise Discrepancy(f"{self.path.name} has notes of seat {each.seat}, not {seat}")
        self.check(replay)
        return {each.decision: each.text for each in self.noted}

    def check(self, replay: Replay) -> int:
        """Hold the notes against the replay of their match; returns how many there are.

        Raises:
          Discrepancy: if one is not the note that was made.
        """
        hashes = _hashes(replay)
        for each in self.noted:
            made = hashes.get((each.seat, each.decision), b"")
            where = f"at decision {each.decision} of seat {each.seat}"
            if not made:
                raise Discrepancy(f"{self.path.name} has a note {where}, where none was made")
            if note_sha256(each.salt, each.text) != made:
                raise Discrepancy(f"{self.path.name} has another note {where} than was made")
        return len(self.noted)


def notes_of(file: Path, replay: Replay, seat: Seat) -> Mapping[int, str]:
    """What the bot at a seat noted, by its decisions, if its notebook is where `file` tells.

    That is the folder of notes beside the replay's, or the replay's own folder. Nothing is
    found elsewhere: then the notes are not for whoever looks.

    Raises:
      Damaged: if the notebook is not as it was written.
      Discrepancy: if it has other notes than were made.
      OSError: if it cannot be read.
    """
    match_id = replay.opened.match_id
    try:
        check_match_id(match_id)
    except ValueError:
        return {}
    for folder in (notes_folder(file.parent), file.parent):
        path = notebook_path(folder, match_id, seat)
        if path.is_file():
            return Notebook.open(path).of_seat(replay, seat)
    return {}


def _noted(file: BinaryIO) -> list[journal_pb2.Noted]:
    noted = []
    for framed in read_records(file, NOTEBOOK_MAGIC):
        _, body = read_body(framed)
        if not isinstance(body, journal_pb2.Noted):
            raise Damaged(f"the record at byte {framed.offset} is no note")
        noted.append(body)
    return noted


def _hashes(replay: Replay) -> dict[tuple[int, int], bytes]:
    """The hashes of notes, by seat and decision; empty where there was no note."""
    return {(each.seat, each.decision): each.note_sha256 for each in replay.decided}
