"""What an arena's files say: its journal, as it grows, and what follows from a match's records.

`JournalTail` reads segments on while they are written, or once a process was
killed. `retold` plays a match through the rules again and gives what each seat
must have been told, and how many records had to be written before.
"""

import struct
import zlib
from dataclasses import dataclass, field

from arena.games.contract import Seat
from arena.records.playback import play_back
from arena.records.read import Replay, read_body
from arena.records.records import JOURNAL_MAGIC, Framed
from arena.referee.spec import Ending
from arena.referee.wire.games import codec_of
from cardarena.v1 import journal_pb2, play_pb2

_HEADER = struct.Struct("<II")


@dataclass
class Book:
    """What the journal holds of one match."""

    opened: journal_pb2.Opened
    decided: list[journal_pb2.Decided] = field(default_factory=list)
    closed: journal_pb2.Closed | None = None
    seated: dict[tuple[str, int], int] = field(default_factory=dict)
    """The match's number on a bot's streams, by the bot's name and the seat."""
    changed: list[str] = field(default_factory=list)
    """Where a later run of the arena tells it otherwise than an earlier one."""

    @property
    def written(self):
        """How much of it is there: decisions, and whether it is closed."""
        return len(self.decided), self.closed is not None


class _Run:
    """The journal of one process: which match has which number in it."""

    def __init__(self):
        self.books = {}
        self.at = {}
        """Decisions of each match that this run has told."""


class JournalTail:
    """Reads what the segments of a folder gain from one `look` to the next."""

    def __init__(self, folder):
        self.folder = folder
        self.books = {}
        """By the match's id."""
        self.strange = []
        """What does not belong into a journal, in sentences."""
        self._offsets = {}
        self._runs = {}

    def look(self):
        """Read on. A record that is not whole yet, or never will be, is left for later."""
        for path in sorted(self.folder.glob("*.journal")):
            at = self._offsets.setdefault(path, 0)
            with path.open("rb") as file:
                file.seek(at)
                data = file.read()
            self._offsets[path] = at + self._read(path.name, data, at)
        return self

    def written(self):
        """What is written of each match by now."""
        return {match_id: book.written for match_id, book in self.books.items()}

    def _read(self, name, data, offset):
        at = 0
        if offset == 0:
            if len(data) < len(JOURNAL_MAGIC):
                return 0
            if not data.startswith(JOURNAL_MAGIC):
                self.strange.append(f"{name} is not a journal")
                return len(data)
            at = len(JOURNAL_MAGIC)
        run = self._runs.setdefault(name.rpartition("-")[0], _Run())
        while len(data) - at >= _HEADER.size:
            size, crc = _HEADER.unpack_from(data, at)
            body = data[at + _HEADER.size : at + _HEADER.size + size]
            if not size or len(body) < size or zlib.crc32(body) != crc:
                break
            self._take(name, run, *read_body(Framed(offset + at, body)))
            at += _HEADER.size + size
        return at

    def _take(self, name, run, number, body):
        if isinstance(body, journal_pb2.Opened):
            known = self.books.get(body.match_id)
            if known is None or known.closed is not None:  # new, or stopped and played again
                known = self.books[body.match_id] = Book(body)
            elif known.opened != body:
                known.changed.append(f"{name} opens match {body.match_id} otherwise")
            run.books[number] = known
            run.at[number] = 0
            return
        book = run.books.get(number)
        if isinstance(body, journal_pb2.SessionKept | journal_pb2.Run | journal_pb2.Ordered):
            return
        if book is None:
            self.strange.append(f"{name} goes on with match number {number}, which it never opened")
        elif isinstance(body, journal_pb2.Decided):
            at = run.at[number]
            run.at[number] += 1
            if at == len(book.decided):
                book.decided.append(body)
            elif book.decided[at] != body:
                book.changed.append(f"decision {at + 1} of {book.opened.match_id} was changed")
        elif isinstance(body, journal_pb2.Closed):
            book.closed = body
        elif isinstance(body, journal_pb2.Seated):
            numbers = {(each.bot, seat): each.match for seat, each in enumerate(body.bots)}
            book.seated.update(numbers)
        elif isinstance(body, journal_pb2.TimeKept):
            self.strange += out_of_time(name, book, body)
        else:
            self.strange.append(f"{name} holds a record that belongs into replays only")


def out_of_time(name, book, kept):
    """What is wrong with time that no decision tells: it is not of one that was settled before."""
    settled = {(each.seat, each.decision) for each in book.decided}
    if (kept.seat, kept.decision) in settled:
        yield f"{name} keeps time of a decision that was settled before"


def replay_of(book, key):
    """A match that is in the journal as a replay; one that has not ended as if stopped there."""
    closed = book.closed or journal_pb2.Closed(ending=Ending.ABORTED.value)
    return Replay(book.opened, tuple(book.decided), closed, journal_pb2.Revealed(deal_key=key))


@dataclass(frozen=True)
class Telling:
    """One ask as it must have been told."""

    ask: play_pb2.Ask
    """The seat and the game's part; the rest is the session's."""
    after: int
    """Decisions of the match that had to be written before."""
    decided: journal_pb2.Decided | None
    """What came of it, if anything did."""


@dataclass
class Told:
    """All that a seat must have been told."""

    asks: dict[int, Telling] = field(default_factory=dict)
    """By the seat's decision."""
    trailing: list[bytes] = field(default_factory=list)
    """Encoded `GameEvent`s since the last ask."""


def retold(replay):
    """What each seat was told in a match, by seat. The rules are played again for it."""
    spec = replay.spec()
    codec, rules = codec_of(spec.terms.game), spec.terms.game.rules
    seats = [Seat(at) for at in range(spec.terms.seats)]
    found = {seat: Told() for seat in seats}
    events = {seat: [] for seat in seats}
    counts = dict.fromkeys(seats, 0)
    records = list(replay.decided)
    before = 0
    for frame in play_back(replay):
        before += len(frame.decisions)
        if not frame.complete:
            break
        for told in frame.events:
            for seat in seats if told.sent_to is None else told.sent_to:
                events[seat].append(told.event)
        acting = rules.to_act(frame.state)
        coming = {each.seat: each for each in records[before : before + len(acting)]}
        for seat in acting:
            counts[seat] += 1
            decided = coming.get(seat)
            if decided is not None and decided.unasked:
                continue
            view, moves = rules.view(frame.state, seat), rules.moves(frame.state, seat)
            body = codec.ask(view, [codec.event(each) for each in events[seat]], moves)
            ask = play_pb2.Ask.FromString(body)
            ask.seat = seat
            found[seat].asks[counts[seat]] = Telling(ask, before, decided)
            events[seat] = []
    for seat in seats:
        found[seat].trailing = [codec.game_event(event) for event in events[seat]]
    return found
