"""Writes the records of one match to a journal during play."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from arena.records.bot_notes import new_note, note_sha256
from arena.records.journal.disk_budget import Grant
from arena.records.records import CHAIN_START, chained, framed
from arena.referee.ledger import FaultEvidence, Settled, UsedTime
from arena.referee.spec import FaultKind, MatchSpec, Outcome
from arena.referee.wire.fields import delimited, tag_bytes, tag_varint, varint
from arena.referee.wire.terms import terms_message
from cardarena.v1 import journal_pb2

# Fields of Record and of Decided.
_MATCH: Final = tag_varint(1)
_DECIDED: Final = tag_bytes(3)
_NOTED: Final = tag_bytes(11)
_SEAT: Final = tag_varint(1)
_DECISION: Final = tag_varint(2)
_MOVE: Final = tag_bytes(3)
_SENT_US: Final = tag_varint(4)
_CHARGED_US: Final = tag_varint(5)
_BANK_MS: Final = tag_varint(6)
_FAULT: Final = tag_varint(7)
_REASON: Final = tag_bytes(8)
_UNASKED: Final = tag_varint(10) + b"\x01"
_FORFEITED: Final = tag_varint(11) + b"\x01"
_REFUNDED_US: Final = tag_varint(12)
_EVIDENCE: Final = tag_bytes(13)
_NOTE_SHA256: Final = tag_bytes(14)


END_BYTES: Final = 4_096
"""An upper bound of the last record of a match."""
NOTE_BYTES: Final = 100
"""The bytes of a note without its text."""


def note_bytes(text: str) -> int:
    """Return the bytes that a note uses of its seat's limit in a match."""
    return NOTE_BYTES + len(text.encode())


class Appendable(Protocol):
    """The part of a journal that a match uses."""

    def append(self, body: bytes) -> None: ...


class SeatedAt(NamedTuple):
    """The number of a match on a bot's streams."""

    bot: str
    instance: int
    match: int


class MatchLog:
    """The ledger of one match: `arena.referee.ledger.Ledger`. Keeps the records for the replay."""

    def __init__(
        self,
        journal: Appendable,
        number: int,
        seated: Sequence[SeatedAt] = (),
        *,
        room: Grant | None = None,
        draw: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Make the log of a match with this number; nothing is written yet.

        `seated` has the numbers of the match on the bots' streams, by seat; `room` is its disk space,
        None for no limit; `draw` gives random bytes for the salts of notes.
        """
        self._journal = journal
        self._number = number
        self.seated: Final = tuple(seated)
        self._head = _MATCH + varint(number)
        self._draw = draw
        self._chain = CHAIN_START
        self._room = room
        self._written = 0
        self._granted = sys.maxsize
        self._cover(0)
        self.note_bytes: Counter[int] = Counter()
        """The bytes of the notes of each seat so far, by `note_bytes`."""
        self.bodies: list[bytes] = []
        """The records so far: those for the replay, and notes."""

    @classmethod
    def continued(
        cls,
        journal: Appendable,
        bodies: Sequence[bytes],
        seated: Sequence[SeatedAt] = (),
        used: Sequence[UsedTime] = (),
        *,
        room: Grant | None = None,
    ) -> "MatchLog":
        """Return the ledger of a match that continues; its records of an earlier journal are copied first."""
        log = cls(journal, journal_pb2.Record.FromString(bodies[0]).match, seated, room=room)
        log.go_on(bodies, used)
        return log

    def opened(self, spec: MatchSpec) -> None:
        """Write the first record, with everything that fixes the match."""
        if self.bodies:
            return  # a resumed match has its first record
        opened = journal_pb2.Opened(
            match_id=spec.match_id,
            terms=terms_message(spec.terms),
            entrants=[
                journal_pb2.Entrant(
                    name=entrant.name,
                    version=entrant.version,
                    publishes_notes=entrant.publishes_notes,
                )
                for entrant in spec.entrants
            ],
            start_unix_ms=time.time_ns() // 1_000_000,
            deal_key_sha256=spec.deal_key_sha256,
            deal_set=spec.deal_set,
            fair_deal=spec.fair_deal,
            forfeited_seats=[
                journal_pb2.ForfeitedSeat(
                    seat=out.seat,
                    fault=out.kind.value,  # type: ignore[arg-type]
                    reason=out.reason,
                )
                for out in spec.forfeited_seats
            ],
            dice_table=None if spec.dice is None else spec.dice.table,
        )
        self._append(self._record(opened=opened))
        self._append_seated()

    def go_on(self, bodies: Sequence[bytes], used: Sequence[UsedTime] = ()) -> None:
        """Copy the records of a match that was suspended in an earlier journal."""
        self._cover(sum(map(len, bodies)))
        for body in bodies:
            record = journal_pb2.Record.FromString(body)
            if record.HasField("noted"):
                self.note_bytes[record.noted.seat] += note_bytes(record.noted.text)
                self._keep(body)
            else:
                self._append(body)
        self._append_seated()
        for used_time in used:
            self.used(used_time)

    def used(self, used: UsedTime) -> None:
        """Write the time that a seat has used before its decision; the record is not part of the chain."""
        kept = journal_pb2.TimeKept(
            seat=used.seat,
            decision=used.decision,
            used_us=round(used.used_s * 1e6),
            away_ms=round(used.away_s * 1e3),
        )
        self._journal.append(self._record(time_kept=kept))

    def decided(self, settled: Settled) -> None:
        """Write a settled decision, after its note, so that every hash has its note.

        The encoding is written by hand, as it is on the path of every move: in the order of the
        fields, without those that are zero.
        """
        seat, game_move = settled.seat, settled.game_move
        parts = [
            _SEAT + varint(seat) if seat else b"",
            _DECISION,
            varint(settled.decision),
            _MOVE,
            varint(len(game_move)),
            game_move,
        ]
        if sent_us := int(settled.sent_s * 1e6):
            parts.append(_SENT_US + varint(sent_us))
        if (charged_us := round(settled.charged_s * 1e6)) > 0:
            parts.append(_CHARGED_US + varint(charged_us))
        if settled.bank_ms:
            parts.append(_BANK_MS + varint(settled.bank_ms))
        if settled.fault is not None:
            parts.append(_FAULT + varint(settled.fault))
            if settled.reason:
                parts.append(delimited(_REASON, settled.reason.encode()))
        if settled.unasked:
            parts.append(_UNASKED)
        if settled.forfeited:
            parts.append(_FORFEITED)
        if (refunded_us := round(settled.refunded_s * 1e6)) > 0:
            parts.append(_REFUNDED_US + varint(refunded_us))
        if settled.evidence is not None:
            parts.append(delimited(_EVIDENCE, _evidence(settled.evidence)))
        if settled.note:
            note = new_note(seat, settled.decision, settled.note, self._draw)
            self.note_bytes[seat] += note_bytes(settled.note)
            self._keep(self._record(noted=note))
            parts.append(delimited(_NOTE_SHA256, note_sha256(note.salt, note.text)))
        decided = b"".join(parts)
        self._append(self._head + _DECIDED + varint(len(decided)) + decided)

    def closed(self, outcome: Outcome, end_s: float) -> None:
        """Write the last record, even beyond the limit of disk space."""
        self._cover(self._written + END_BYTES)
        closed = journal_pb2.Closed(
            scores=outcome.scores,
            places=outcome.places,
            ending=outcome.ending.value,  # type: ignore[arg-type]
            end_us=round(end_s * 1e6),
            chain=self._chain,
            cause=(outcome.cause or 0),  # type: ignore[arg-type]
            incident=outcome.incident,
        )
        self._append(self._record(closed=closed))

    def _append_seated(self) -> None:
        """Write the bots' numbers of the match, which are not part of the chain."""
        if self.seated:
            self._journal.append(self._record(seated=seated_message(self.seated)))

    def _record(self, **body: Any) -> bytes:
        return journal_pb2.Record(match=self._number, **body).SerializeToString()

    def _cover(self, size: int) -> None:
        if self._room is not None:
            self._granted = self._room.cover(size)

    def _append(self, body: bytes) -> None:
        self._keep(body)
        self._chain = chained(self._chain, body)

    def _keep(self, body: bytes) -> None:
        self._written += len(body)
        if self._written > self._granted and self._room is not None:
            self._granted = self._room.grow(self._written)
        self.bodies.append(body)
        self._journal.append(body)


def seated_message(seated: Sequence[SeatedAt], worker: int = 0) -> journal_pb2.Seated:
    """Return the message about the bots by seat; `worker` is the number of the worker that launched them."""
    bots = [
        journal_pb2.SeatedBot(bot=place.bot, instance=place.instance, match=place.match)
        for place in seated
    ]
    return journal_pb2.Seated(bots=bots, worker=worker)


def renumbered(bodies: Sequence[bytes], number: int) -> tuple[bytes, ...]:
    """Return the records of an ended match of another journal, with its number in this one.

    Raises `ValueError` if they are not all of one match, from its beginning to its end.
    """
    if not bodies:
        raise ValueError("a match has no records")
    first, last = (journal_pb2.Record.FromString(bodies[at]) for at in (0, -1))
    if not (first.HasField("opened") and last.HasField("closed")):
        raise ValueError("the records of a match are not whole")
    before, head = _MATCH + varint(first.match), _MATCH + varint(number)
    chain, renumbered_bodies = CHAIN_START, []
    for body in bodies[:-1]:
        if not body.startswith(before):
            raise ValueError("the records of a match are of several")
        renumbered_bodies.append(head + body[len(before) :])
        if not body.startswith(before + _NOTED):
            chain = chained(chain, renumbered_bodies[-1])
    closed = journal_pb2.Record(match=number, closed=journal_pb2.Closed(chain=chain))
    last.MergeFrom(closed)
    return (*renumbered_bodies, last.SerializeToString())


def reported(
    order: journal_pb2.Ordered, bodies: Sequence[bytes], seated: Sequence[SeatedAt], worker: int
) -> bytes:
    """Return the framed records of a match that a worker has played; `bodies` have its number in this journal."""
    number = journal_pb2.Record.FromString(bodies[0]).match
    ordered = journal_pb2.Record(ordered=order)
    at = journal_pb2.Record(match=number, seated=seated_message(seated, worker))
    first, *others = bodies
    records = (ordered.SerializeToString(), first, at.SerializeToString(), *others)
    return b"".join(map(framed, records))


def settled_of(decided: journal_pb2.Decided) -> Settled:
    """Return the settled decision of a record, without evidence and note."""
    return Settled(
        seat=decided.seat,
        decision=decided.decision,
        game_move=decided.move.SerializeToString(deterministic=True),
        sent_s=decided.sent_us / 1e6,
        charged_s=decided.charged_us / 1e6,
        bank_ms=decided.bank_ms,
        fault=FaultKind(decided.fault) if decided.fault else None,
        reason=decided.reason,
        note="",
        unasked=decided.unasked,
        forfeited=decided.forfeited,
        refunded_s=decided.refunded_us / 1e6,
    )


def used_of(kept: journal_pb2.TimeKept) -> UsedTime:
    """Return the used time of a record."""
    return UsedTime(kept.seat, kept.decision, kept.used_us / 1e6, kept.away_ms / 1e3)


def _evidence(evidence: FaultEvidence) -> bytes:
    message = journal_pb2.Evidence(
        due_us=max(0, round(evidence.due_s * 1e6)),
        received_us=max(0, round(evidence.received_s * 1e6)),
        answer_sha256=evidence.answer_sha256,
        answer_bytes=evidence.answer_bytes,
        away_ms=round(evidence.away_s * 1000),
    )
    return message.SerializeToString()
