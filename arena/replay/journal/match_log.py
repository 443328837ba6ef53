"""What a journal holds of one match, written as the match is played."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from arena.referee import Evidence, FaultKind, MatchSpec, Outcome, Settled, UsedTime
from arena.replay.notes import new_note, note_sha256
from arena.replay.records import CHAIN_START, chained
from arena.wire.fields import delimited, tag_bytes, tag_varint, varint
from arena.wire.terms import terms_message
from cardarena.v1 import journal_pb2

# Fields of Record and of Decided.
_MATCH: Final = tag_varint(1)
_DECIDED: Final = tag_bytes(3)
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
"""More than the last record of a match takes."""
NOTE_BYTES: Final = 100
"""What a note takes beside its text."""


def note_bytes(text: str) -> int:
    """What a note takes of what its seat may note at a match."""
    return NOTE_BYTES + len(text.encode())


class Appendable(Protocol):
    """A journal, as far as a match needs one."""

    def append(self, body: bytes) -> None:
        """Add a record."""
        ...


class Room(Protocol):
    """What a match may write, in bytes of its records."""

    def cover(self, size: int) -> int:
        """It has written so much before; returns what it may write in all."""
        ...

    def grow(self, size: int) -> int:
        """It wants to have written so much; returns what it may write in all.

        Raises:
          NoRoom: if there is no room for it.
        """
        ...


class Everything:
    """Room without end."""

    def cover(self, size: int) -> int:
        """As much as there is."""
        return max(size, sys.maxsize)

    def grow(self, size: int) -> int:
        """As much as there is."""
        return max(size, sys.maxsize)


class SeatedAt(NamedTuple):
    """Under which number a bot's streams know a match."""

    bot: str
    instance: int
    match: int


class MatchLog:
    """The ledger of one match: `arena.referee.Ledger`. Keeps its records until it is cut."""

    def __init__(
        self,
        journal: Appendable,
        number: int,
        seated: Sequence[SeatedAt] = (),
        *,
        room: Room | None = None,
        draw: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Number `number` of its journal. Says nothing yet.

        `seated` are the numbers under which the bots' streams know the match, by seat;
        `room` is what the match may write, without it as much as it likes; `draw` gives random
        bytes, for the salts of notes.
        """
        self._journal = journal
        self._number = number
        self._seated = tuple(seated)
        self._head = _MATCH + varint(number)
        self._draw = draw
        self._chain = CHAIN_START
        self._room = room or Everything()
        self._written = 0
        self._granted = self._room.cover(0)
        self.note_bytes: Counter[int] = Counter()
        """What the notes of each seat have taken so far, as `NOTE_BYTES` says."""
        self.bodies: list[bytes] = []
        """The records so far: what a replay will hold, and the notes that it will not."""

    def opened(self, spec: MatchSpec) -> None:
        """The match begins: everything that it is played by."""
        if self.bodies:
            return  # it goes on
        opened = journal_pb2.Opened(
            match_id=spec.match_id,
            terms=terms_message(spec.terms),
            entrants=[
                journal_pb2.Entrant(name=entrant.name, version=entrant.version)
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
        )
        record = journal_pb2.Record(match=self._number, opened=opened)
        self._append(record.SerializeToString())
        self._append_seated()

    def go_on(self, bodies: Sequence[bytes], used: Sequence[UsedTime] = ()) -> None:
        """The match was cut short in an earlier journal: write down again what stood there."""
        self._granted = self._room.cover(sum(map(len, bodies)))
        for body in bodies:
            record = journal_pb2.Record.FromString(body)
            if record.HasField("noted"):
                self.note_bytes[record.noted.seat] += note_bytes(record.noted.text)
                self._keep(body)
            else:
                self._append(body)
        self._append_seated()
        for each in used:
            self.used(each)

    def used(self, used: UsedTime) -> None:
        """A seat has used time that no decision tells yet; not part of the chain."""
        kept = journal_pb2.TimeKept(
            seat=used.seat,
            decision=used.decision,
            used_us=round(used.used_s * 1e6),
            away_ms=round(used.away_s * 1e3),
        )
        record = journal_pb2.Record(match=self._number, time_kept=kept)
        self._journal.append(record.SerializeToString())

    def decided(self, settled: Settled) -> None:
        """A decision is settled, its note before it, so that no hash is without its note.

        Written by hand, as messages are written that leave nothing unsaid to chance: in the
        order of the fields, and without those that are zero. It is on the way of every move.
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
            self._keep(journal_pb2.Record(match=self._number, noted=note).SerializeToString())
            parts.append(delimited(_NOTE_SHA256, note_sha256(note.salt, note.text)))
        decided = b"".join(parts)
        self._append(self._head + _DECIDED + varint(len(decided)) + decided)

    def closed(self, outcome: Outcome, end_s: float) -> None:
        """The match is over. There is always room for that."""
        self._granted = self._room.cover(self._written + END_BYTES)
        closed = journal_pb2.Closed(
            scores=outcome.scores,
            places=outcome.places,
            ending=outcome.ending.value,  # type: ignore[arg-type]
            end_us=round(end_s * 1e6),
            chain=self._chain,
            cause=(outcome.cause or 0),  # type: ignore[arg-type]
            incident=outcome.incident,
        )
        record = journal_pb2.Record(match=self._number, closed=closed)
        self._append(record.SerializeToString())

    def _append_seated(self) -> None:
        """Add what only the journal holds of the match: it is not part of its chain."""
        if self._seated:
            seated = journal_pb2.Seated(
                bots=[
                    journal_pb2.SeatedBot(bot=each.bot, instance=each.instance, match=each.match)
                    for each in self._seated
                ],
            )
            record = journal_pb2.Record(match=self._number, seated=seated)
            self._journal.append(record.SerializeToString())

    def _append(self, body: bytes) -> None:
        self._keep(body)
        self._chain = chained(self._chain, body)

    def _keep(self, body: bytes) -> None:
        self._written += len(body)
        if self._written > self._granted:
            self._granted = self._room.grow(self._written)
        self.bodies.append(body)
        self._journal.append(body)


def settled_of(decided: journal_pb2.Decided) -> Settled:
    """A decision as it was settled, without evidence and note: nothing follows from them."""
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
    """Time as it was written down."""
    return UsedTime(kept.seat, kept.decision, kept.used_us / 1e6, kept.away_ms / 1e3)


def _evidence(evidence: Evidence) -> bytes:
    message = journal_pb2.Evidence(
        due_us=max(0, round(evidence.due_s * 1e6)),
        received_us=max(0, round(evidence.received_s * 1e6)),
        answer_sha256=evidence.answer_sha256,
        answer_bytes=evidence.answer_bytes,
        away_ms=round(evidence.away_s * 1000),
    )
    return message.SerializeToString()
