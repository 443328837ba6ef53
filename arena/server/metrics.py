"""The metrics of an arena: counts events, and logs the important ones.

The fields of a log line name its subject (`match`, `seat`, `bot`, `peer`, ...). No line has a card, a move, a note or a
token, nor the reason of a fault, which quotes the bot.
"""

import logging
from typing import Any, Final

from arena.referee import Ledger, MatchSpec, Outcome, Settled
from arena.replay.journal.match_log import MatchLog
from arena.server.counts import Counts
from arena.server.session.session import Session

SLOW_SYNC_S: Final = 0.25
"""A sync of the journal that takes longer is logged."""

_log = logging.getLogger(__name__)


class Metrics:
    """Counts events of one arena. It is also the `arena.replay.records.DiskMonitor` of the journal."""

    def __init__(self) -> None:
        self.counts: Final = Counts()
        self.wrote: Final = self.counts.journal_write.observe
        """Takes the time of one write of the journal, in seconds."""

    # Matches.

    def ledger(self, log: MatchLog, spec: MatchSpec) -> Ledger:
        """The ledger of a match, with its decisions counted."""
        return _CountedLedger(log, spec, self.counts)

    # Bots.

    def connected(self, session: Session, peer: str) -> None:
        """A bot has said hello on a new stream."""
        self.counts.stream_opened()
        _log.info("a bot has connected", extra=_of(session, peer))

    def disconnected(self, session: Session, epoch: int, peer: str, reason: str) -> None:
        """Stream `epoch` of a bot has ended."""
        self.counts.streams_closed[reason] += 1
        fields = {**_of(session, peer), "epoch": epoch, "reason": reason}
        _log.info("a stream has ended", extra=fields)

    def message_refused(self, reason: int) -> None:
        """A bot's message was refused."""
        self.counts.messages_refused[reason] += 1

    # Calls.

    def called(self, call: str, code: str, reason: str, peer: str) -> None:
        """A call has ended; `reason` says why it was refused, and is empty if it was not."""
        self.counts.calls[call, code] += 1
        if reason:
            self.counts.calls_refused[reason] += 1
            fields = {"call": call, "code": code, "reason": reason, "peer": peer}
            _log.info("a call was refused", extra=fields)

    # The journal.

    def synced(self, seconds: float) -> None:
        """A sync of the journal took this long."""
        self.counts.journal_sync.observe(seconds)
        if seconds > SLOW_SYNC_S:
            _log.warning("the journal's disk is slow", extra={"seconds": round(seconds, 3)})


class _CountedLedger:
    """`arena.referee.Ledger`: writes records to the journal and counts them."""

    __slots__ = (
        "_charged",
        "_count_decision",
        "_counts",
        "_decided",
        "_game",
        "_is_open",
        "_log",
        "_spec",
        "used",
    )

    def __init__(self, log: MatchLog, spec: MatchSpec, counts: Counts) -> None:
        self._log = log
        self._decided = log.decided
        self.used = log.used
        self._is_open = False
        self._spec = spec
        self._counts = counts
        self._game = counts.game(spec.terms.game.id)
        self._count_decision = self._game.decided
        self._charged = counts.charged

    def opened(self, spec: MatchSpec) -> None:
        if self._is_open:
            return
        self._is_open = True
        resumed = bool(self._log.bodies)
        self._log.opened(spec)
        self._game.begins()
        bots = [entrant.name for entrant in spec.entrants]
        fields = {"match": spec.match_id, "game": spec.terms.game.id, "bots": bots}
        _log.info("a match is resumed" if resumed else "a match begins", extra=fields)

    def decided(self, settled: Settled) -> None:
        self._decided(settled)
        self._count_decision()
        if not settled.unasked:
            self._charged.observe(settled.charged_s)
        if settled.refunded_s:
            self._counts.refunded(settled.refunded_s)
        if settled.fault is not None:
            self._counts.faults[settled.fault] += 1
            fields = {
                "match": self._spec.match_id,
                "seat": settled.seat,
                "bot": self._spec.entrants[settled.seat].name,
                "fault": settled.fault.name,
                "decision": settled.decision,
                "forfeited": settled.forfeited,
            }
            _log.info("a bot is at fault", extra=fields)

    def closed(self, outcome: Outcome, end_s: float) -> None:
        self._log.closed(outcome, end_s)
        self._game.ended[outcome.ending] += 1
        fields: dict[str, Any] = {
            "match": outcome.match_id,
            "game": self._spec.terms.game.id,
            "ending": outcome.ending.name,
            "decisions": outcome.decisions,
            "faults": len(outcome.faults),
            "seconds": round(end_s, 3),
        }
        if outcome.cause is not None:
            self._counts.aborted[outcome.cause] += 1
            fields["cause"] = outcome.cause.name
        if outcome.incident:
            fields["incident"] = outcome.incident
        _log.info("a match has ended", extra=fields)


def _of(session: Session, peer: str) -> dict[str, Any]:
    return {
        "bot": session.bot.name,
        "instance": session.bot.instance,
        "epoch": session.epoch,
        "peer": peer,
    }
