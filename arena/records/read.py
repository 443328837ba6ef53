"""Reads replay files, and checks that they are intact and complete.

`Replay.open` finds every damage to a file. `arena.records.verify` checks whether an intact
file is true.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias, cast

from google.protobuf.message import DecodeError

from arena.games.catalogue import BadOptions, UnknownGame
from arena.records.records import (
    CHAIN_START,
    MAX_REPLAY_BYTES,
    MAX_REPLAY_RECORDS,
    REPLAY_MAGIC,
    Damaged,
    Framed,
    chained,
    check_match_id,
    read_records,
    read_strictly,
)
from arena.referee.deal import KeyedDeals, dice_of
from arena.referee.spec import AbortCause, Ending, FaultKind, ForfeitedSeat, MatchSpec, SeatedBot
from arena.referee.wire.terms import OtherRules, terms_of_message
from cardarena.v1 import journal_pb2

REPLAY_SUFFIX: Final = ".replay"

Body: TypeAlias = (
    journal_pb2.Opened
    | journal_pb2.Decided
    | journal_pb2.Closed
    | journal_pb2.Revealed
    | journal_pb2.Signed
)

JournalBody: TypeAlias = (
    Body
    | journal_pb2.Noted
    | journal_pb2.TimeKept
    | journal_pb2.Seated
    | journal_pb2.SessionKept
    | journal_pb2.Run
    | journal_pb2.Ordered
)
"""The body of a record in a journal; replays have only the first five."""

_FOLLOWING: Final[dict[type[JournalBody] | None, tuple[type[Body], ...]]] = {
    None: (journal_pb2.Opened,),
    journal_pb2.Opened: (journal_pb2.Decided, journal_pb2.Closed),
    journal_pb2.Decided: (journal_pb2.Decided, journal_pb2.Closed),
    journal_pb2.Closed: (journal_pb2.Revealed,),
    journal_pb2.Revealed: (journal_pb2.Signed,),
    journal_pb2.Signed: (),
}
"""The kinds of records that may follow each kind."""
LATEST_UNIX_US: Final = 253_402_300_799_999_999
"""The last microsecond of the year 9999: later times are no dates."""
_HASH_BYTES: Final = 32


def replay_path(folder: Path, match_id: str) -> Path:
    """Return the path of a match's replay. Raises `ValueError` if `match_id` cannot name a file."""
    check_match_id(match_id)
    return folder / f"{match_id}{REPLAY_SUFFIX}"


class Unplayable(Exception):
    """This arena lacks the game, version of the rules or option of the match."""


@dataclass(frozen=True, slots=True)
class Replay:
    """One match from its first record to its last."""

    opened: journal_pb2.Opened
    decided: tuple[journal_pb2.Decided, ...]
    """In the order in which they were settled."""
    closed: journal_pb2.Closed
    revealed: journal_pb2.Revealed
    signed: journal_pb2.Signed | None = None
    """None if the arena did not sign it."""
    chain: bytes = b""
    """The hash chain after `revealed`, which is what is signed."""

    @classmethod
    def open(cls, path: Path) -> "Replay":
        """Read a replay file.

        Raises:
          Damaged: if it is damaged; the text says where.
          OSError: if it cannot be read.
        """
        with path.open("rb") as file:
            return cls.read(file)

    @classmethod
    def read(cls, file: BinaryIO) -> "Replay":
        """Read a replay from an open file, as `open` does."""
        return cls.of_records(read_records(file, REPLAY_MAGIC))

    @classmethod
    def of_records(cls, records: Iterable[Framed]) -> "Replay":
        """Make a replay of the records of one match, and check that they are complete.

        Raises `Damaged` if one is missing, out of place, or does not continue the hash chain.
        """
        bodies: list[JournalBody] = []
        number, chain, size = 0, CHAIN_START, 0
        for framed in records:
            where = f"the record at byte {framed.offset}"
            size += len(framed.body)
            if size > MAX_REPLAY_BYTES or len(bodies) == MAX_REPLAY_RECORDS:
                raise Damaged("it is larger than any replay")
            try:
                match, body = _body_of(read_strictly(journal_pb2.Record, framed.body))
            except Damaged as error:
                raise Damaged(f"{where} {error}") from None
            if type(body) not in _FOLLOWING[type(bodies[-1]) if bodies else None]:
                raise Damaged(f"{where} is out of place")
            if bodies and match != number:
                raise Damaged(f"{where} belongs to another match")
            if isinstance(body, journal_pb2.Closed) and body.chain != chain:
                raise Damaged("the hash chain is broken: a record was changed or is missing")
            if not isinstance(body, journal_pb2.Signed):
                chain = chained(chain, framed.body)
            number = match
            bodies.append(body)
        if not bodies:
            raise Damaged("it is cut off before its first record")
        signed = bodies.pop() if isinstance(bodies[-1], journal_pb2.Signed) else None
        _require_whole(bodies, signed=signed is not None)
        opened, *decided, closed, revealed = bodies
        replay = cls(
            opened=cast("journal_pb2.Opened", opened),
            decided=tuple(cast("list[journal_pb2.Decided]", decided)),
            closed=cast("journal_pb2.Closed", closed),
            revealed=cast("journal_pb2.Revealed", revealed),
            signed=cast("journal_pb2.Signed | None", signed),
            chain=chain,
        )
        replay._check_bounds()
        return replay

    def _check_bounds(self) -> None:
        """Raise Damaged if values are out of range for sums, dates, messages or names of files."""
        opened = self.opened
        try:
            check_match_id(opened.match_id)
        except ValueError as error:
            raise Damaged(f"{error}") from None
        if not opened.HasField("terms"):
            raise Damaged("it does not have the terms of the match")
        last_us = max(
            (
                max(
                    decision.sent_us,
                    decision.charged_us,
                    decision.refunded_us,
                    decision.evidence.due_us,
                    decision.evidence.received_us,
                )
                for decision in self.decided
            ),
            default=0,
        )
        if opened.start_unix_ms * 1000 + max(last_us, self.closed.end_us) > LATEST_UNIX_US:
            raise Damaged("it names a time after the year 9999")
        for decision in self.decided:
            if len(decision.note_sha256) not in (0, _HASH_BYTES):
                raise Damaged(f"the hash of a note has {len(decision.note_sha256)} bytes")

    @property
    def names(self) -> tuple[str, ...]:
        """The bots by seat."""
        return tuple(entrant.name for entrant in self.opened.entrants)

    @property
    def ending(self) -> Ending:
        """How the match ended, by the replay. Raises `Damaged` if it is no known ending."""
        try:
            return Ending(self.closed.ending)
        except ValueError:
            raise Damaged("the match ended in a way that this arena does not know") from None

    @property
    def cause(self) -> AbortCause | None:
        """Why the match was aborted, by the replay; None if it was not.

        Raises `Damaged` if it is no known cause.
        """
        try:
            return AbortCause(self.closed.cause) if self.closed.cause else None
        except ValueError:
            raise Damaged("the match was aborted for a cause this arena does not know") from None

    def spec(self) -> MatchSpec:
        """Everything that fixes the match, with its deals.

        Raises `Unplayable` if this arena has no such game, rules version or options.
        """
        return spec_of(self.opened, self.revealed.deal_key)


def _require_whole(bodies: Sequence[JournalBody], *, signed: bool) -> None:
    """Raise Damaged if records are missing at the end; the signature is not among `bodies`."""
    last = bodies[-1]
    if isinstance(last, journal_pb2.Closed):
        raise Damaged("it is cut off before its last record, which opens the deals")
    if not isinstance(last, journal_pb2.Revealed):
        decisions = len(bodies) - 1
        raise Damaged(f"it is cut off after {decisions} decisions, before the match's end")
    if last.public_key and not signed:
        raise Damaged("it is cut off before its last record, the arena's signature")
    if signed and not last.public_key:
        raise Damaged("it is signed, but does not name the arena's key")


def read_body(framed: Framed) -> tuple[int, JournalBody]:
    """Return the number of a record's match, and the body of the record.

    Raises `Damaged` if this arena does not know the record.
    """
    where = f"the record at byte {framed.offset}"
    try:
        return _body_of(journal_pb2.Record.FromString(framed.body))
    except DecodeError:
        raise Damaged(f"{where} cannot be read") from None
    except Damaged as error:
        raise Damaged(f"{where} {error}") from None


def _body_of(record: journal_pb2.Record) -> tuple[int, JournalBody]:
    kind = record.WhichOneof("body")
    if kind is None:
        raise Damaged("is of an unknown kind")
    body: JournalBody = getattr(record, kind)
    return record.match, body


def spec_of(opened: journal_pb2.Opened, key: bytes) -> MatchSpec:
    """Everything that fixes a match, from its first record and the key of its deals.

    Raises `Unplayable` if this arena has no such game, rules version or options.
    """
    try:
        terms = terms_of_message(opened.terms, recorded=True)
        if terms.seats != len(opened.entrants):
            raise ValueError("it has another number of bots than of seats")
        forfeited_seats = tuple(
            ForfeitedSeat(out.seat, FaultKind(out.fault), out.reason)
            for out in opened.forfeited_seats
        )
        if any(out.seat >= terms.seats for out in forfeited_seats):
            raise ValueError("a forfeited seat is no seat of the match")
    except (OtherRules, UnknownGame) as error:
        raise Unplayable(str(error)) from None
    except BadOptions as error:
        raise Unplayable(f"its options are not those of this arena: {error}") from None
    except ValueError as error:
        raise Unplayable(f"its first record is impossible: {error}") from None
    return MatchSpec(
        match_id=opened.match_id,
        terms=terms,
        entrants=tuple(
            SeatedBot(entrant.name, entrant.version, entrant.publishes_notes)
            for entrant in opened.entrants
        ),
        deals=KeyedDeals(key),
        deal_key_sha256=opened.deal_key_sha256,
        deal_set=opened.deal_set,
        forfeited_seats=forfeited_seats,
        fair_deal=opened.fair_deal if opened.HasField("fair_deal") else None,
        dice=dice_of(key, opened.dice_table, terms.seats)
        if opened.HasField("dice_table")
        else None,
    )
