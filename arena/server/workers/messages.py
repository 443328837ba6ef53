"""The messages of `work.proto`: their frames on a stream, and conversions to the arena's own types."""

from collections.abc import Mapping
from typing import Final, Generic, NamedTuple, TypeVar

import trio
from google.protobuf.message import DecodeError, Message

from arena.replay.journal.match_log import SeatedAt, seated_message
from arena.schedule.deal_sets import MatchOutcome
from arena.server.bots import BotId
from arena.server.matches.recording import PlayedMatch
from arena.wire.enums import enum_number, enum_word
from arena.wire.fields import varint
from cardarena.v1 import game_pb2, journal_pb2, work_pb2

MOST_MESSAGE_BYTES: Final = 2**28
"""Longest message; a longer one is invalid."""
PIECE_BYTES: Final = 32_768
"""Bytes of messages that a worker on another machine and its arena send at a time."""
_LENGTH_BYTES: Final = 5
"""Longest encoding of a message's length."""

M = TypeVar("M", bound=Message)


class BadMessage(Exception):
    """A message is invalid or out of order. The text says why."""


def frame(message: Message) -> bytes:
    """A message with its length before it."""
    body = message.SerializeToString()
    return varint(len(body)) + body


class FrameReader:
    """Finds messages in the bytes of a stream."""

    def __init__(self, most_bytes: int = MOST_MESSAGE_BYTES) -> None:
        """Each has so many bytes at most."""
        self._most_bytes = most_bytes
        self._rest = bytearray()

    def feed(self, data: bytes | bytearray) -> None:
        """Add the next bytes."""
        self._rest += data

    def next(self) -> bytes | None:
        """Take the next message; None if it is not whole.

        Raises:
          BadMessage: if it has no length, or is too long.
        """
        head = self._rest[:_LENGTH_BYTES]
        end = next((at for at, byte in enumerate(head, 1) if byte < 0x80), 0)
        if not end:
            if len(head) == _LENGTH_BYTES:
                raise BadMessage("a message without a length")
            return None
        size = sum((byte & 0x7F) << (7 * at) for at, byte in enumerate(head[:end]))
        if size > self._most_bytes:
            raise BadMessage(f"a message of {size} bytes")
        if len(self._rest) < end + size:
            return None
        body = bytes(self._rest[end : end + size])
        del self._rest[: end + size]
        return body


class Messages(Generic[M]):
    """The messages of a stream."""

    def __init__(
        self, stream: trio.abc.ReceiveStream, kind: type[M], most_bytes: int = MOST_MESSAGE_BYTES
    ) -> None:
        """Each is of this kind, and has so many bytes at most."""
        self._stream, self._kind = stream, kind
        self._frames = FrameReader(most_bytes)

    async def next(self) -> M | None:
        """The next message; None once the stream has ended or is broken.

        Raises:
          BadMessage: if it is invalid, or too long.
        """
        while (found := self._frames.next()) is None:
            try:
                more = await self._stream.receive_some()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return None
            if not more:
                return None
            self._frames.feed(more)
        try:
            return self._kind.FromString(found)
        except DecodeError as error:
            raise BadMessage(f"no {self._kind.__name__}: {error}") from error


class Begin(NamedTuple):
    """One handing out of a leased deal-set, as `WorkBegin` names it."""

    deal_set: str
    epoch: int
    """Counts the leases of the deal-set, from 1."""
    begin: int
    """Counts how often it was handed out under this lease, from 1."""

    @classmethod
    def of(cls, message: work_pb2.WorkBegin) -> "Begin":
        """The handing out that a message names."""
        return cls(message.deal_set, message.epoch, message.begin)

    @property
    def message(self) -> work_pb2.WorkBegin:
        """Names it."""
        return work_pb2.WorkBegin(**self._asdict())


def bot_message(bot: BotId) -> journal_pb2.OrderedBot:
    """Names a bot."""
    return journal_pb2.OrderedBot(bot=bot.name, instance=bot.instance)


def bot_of(message: journal_pb2.OrderedBot) -> BotId:
    """The bot that is named."""
    return BotId(message.bot, message.instance)


def match_message(played: PlayedMatch) -> work_pb2.WorkMatch:
    """Says how a match ended."""
    found = played.outcome
    return work_pb2.WorkMatch(
        match_id=found.match_id,
        scores=map(int, found.scores),
        places=found.places,
        ending=enum_number(game_pb2.Ending, found.ending),
        faults=[_fault_counts(each) for each in found.faults],
        forfeited=found.forfeited,
        fallback_share=found.fallback_share,
        hands=found.hands,
        decisions=found.decisions,
        evidence=found.evidence,
        records=played.records,
        seated=seated_message(played.seated),
    )


def _fault_counts(counts: Mapping[str, int]) -> work_pb2.WorkFaults:
    by_kind = {enum_number(game_pb2.FaultKind, kind): each for kind, each in counts.items()}
    return work_pb2.WorkFaults(counts=by_kind)


def match_of(message: work_pb2.WorkMatch) -> PlayedMatch:
    """How a match ended.

    Raises:
      ValueError: if the outcome is none.
    """
    outcome = MatchOutcome(
        match_id=message.match_id,
        scores=tuple(message.scores),
        places=tuple(message.places),
        ending=enum_word(game_pb2.Ending, message.ending),
        faults=tuple(
            {enum_word(game_pb2.FaultKind, kind): each.counts[kind] for kind in each.counts}
            for each in message.faults
        ),
        forfeited=tuple(message.forfeited),
        fallback_share=tuple(message.fallback_share),
        hands=message.hands,
        decisions=message.decisions,
        evidence=message.evidence,
    )
    seated = [SeatedAt(each.bot, each.instance, each.match) for each in message.seated.bots]
    return PlayedMatch(outcome, tuple(message.records), seated)
