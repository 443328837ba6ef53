"""The messages of `work.proto`: conversions to the arena's own types, and reports in parts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from arena.bots.bot_ids import BotId
from arena.live.matches.recording import PlayedMatch
from arena.records.journal.match_log import SeatedAt, seated_message
from arena.referee.wire.enums import enum_number, enum_word, word_of
from arena.results.deal_sets import MatchOutcome
from cardarena.v1 import game_pb2, journal_pb2, work_pb2

PART_BYTES: Final = 49_152
"""The number of bytes of a report after which another message begins: gRPC refuses messages of more than 131,072 bytes."""


MOST_QUOTED: Final = 300
"""The maximal number of characters of a worker's text in an error, as the text appears in logs and reasons."""


def quoted(text: str) -> str:
    """Return a text that may be a worker's, shortened."""
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…"


class WorkerError(Exception):
    """Something is wrong with a worker. The text says what; it is shortened, because it may quote the worker."""

    def __init__(self, text: str) -> None:
        super().__init__(quoted(text))


class BadMessage(WorkerError):
    """A message is invalid or out of order."""


class Begin(NamedTuple):
    """One begin of a deal-set, as `WorkBegin` names it."""

    deal_set: str
    begin: int
    """Its number among all begins of the deal-set, see `StoredDealSets`."""

    @classmethod
    def of(cls, message: work_pb2.WorkBegin) -> "Begin":
        return cls(message.deal_set, message.begin)

    @property
    def message(self) -> work_pb2.WorkBegin:
        return work_pb2.WorkBegin(**self._asdict())


def bot_message(bot: BotId) -> journal_pb2.OrderedBot:
    """Return the message that names a bot."""
    return journal_pb2.OrderedBot(bot=bot.name, instance=bot.instance)


def bot_of(message: journal_pb2.OrderedBot) -> BotId:
    """Return the bot that a message names."""
    return BotId(message.bot, message.instance)


# Reports.


def report_parts(matches: Iterable[PlayedMatch]) -> Iterator[work_pb2.WorkReport]:
    """Yield the messages of a report."""
    part, size = work_pb2.WorkReport(more=True), 0
    for match in matches:
        part.matches.append(_head(match))
        size += part.matches[-1].ByteSize()
        for record in match.records:
            if size + len(record) > PART_BYTES:
                yield part
                part, size = work_pb2.WorkReport(more=True), 0
                part.matches.add(match_id=match.outcome.match_id)
            part.matches[-1].records.append(record)
            size += len(record)
    part.more = False
    yield part


def add_part(report: work_pb2.WorkReport, part: work_pb2.WorkReport) -> None:
    """Add the next message of a report to those before it."""
    for match in part.matches:
        if report.matches and report.matches[-1].match_id == match.match_id:
            report.matches[-1].MergeFrom(match)
        else:
            report.matches.append(match)


def _head(played: PlayedMatch) -> work_pb2.WorkMatch:
    outcome = played.outcome
    return work_pb2.WorkMatch(
        match_id=outcome.match_id,
        scores=map(int, outcome.scores),
        places=outcome.places,
        ending=enum_number(game_pb2.Ending, outcome.ending),
        faults=map(_fault_counts, outcome.faults),
        forfeited=outcome.forfeited,
        fallback_share=outcome.fallback_share,
        hands=outcome.hands,
        decisions=outcome.decisions,
        evidence=outcome.evidence,
        seated=seated_message(played.seated),
    )


def _fault_counts(counts: Mapping[str, int]) -> work_pb2.WorkFaults:
    by_kind = {enum_number(game_pb2.FaultKind, kind): count for kind, count in counts.items()}
    return work_pb2.WorkFaults(counts=by_kind)


def match_of(message: work_pb2.WorkMatch) -> PlayedMatch:
    """Return the match of a report. Raises `ValueError` if the message has no valid outcome."""
    outcome = MatchOutcome(
        match_id=message.match_id,
        scores=tuple(message.scores),
        places=tuple(message.places),
        ending=word_of(message, "ending"),
        faults=tuple(
            {enum_word(game_pb2.FaultKind, kind): seat.counts[kind] for kind in seat.counts}
            for seat in message.faults
        ),
        forfeited=tuple(message.forfeited),
        fallback_share=tuple(message.fallback_share),
        hands=message.hands,
        decisions=message.decisions,
        evidence=message.evidence,
    )
    seated = [SeatedAt(bot.bot, bot.instance, bot.match) for bot in message.seated.bots]
    return PlayedMatch(outcome, tuple(message.records), seated)
