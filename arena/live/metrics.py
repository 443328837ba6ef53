"""The metrics of an arena: counts of events, times and bytes, and log lines on important events.

Counting happens at every move and must be cheap, so the counts are numbers and lists. `arena.api` gives
them their public names. gRPC names a connection by its peer, such as `ipv4:127.0.0.1:5000`.

The fields of a log line name its subject (`match`, `seat`, `bot`, `peer`, ...). No line has a card, a move, a note or a
token, nor the reason of a fault, which quotes the bot.
"""

import itertools
import logging
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.bots.bot_ids import BotId
from arena.records.journal.match_log import MatchLog
from arena.referee.ledger import Ledger, Settled
from arena.referee.spec import AbortCause, Ending, FaultKind, MatchSpec, Outcome


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The counts of a worker, for `arena status`."""

    number: int
    """Unique among them; 0 for a worker that has left."""
    pid: int
    """The id of its process on its machine."""
    starts: int
    """How often it was started."""
    matches: int
    """The number of matches in play."""
    decisions: int
    """The number of decisions since its process began."""
    name: str = ""
    """The name under which it has joined from another machine; empty for a local worker, as are `sandbox` and others below."""
    sandbox: str = ""
    """The level of its sandbox."""
    speed_class: int = 0
    """The speed class of its machine; 0 for a local worker."""
    failed_begins: int = 0
    """The number of failed begins of deal-sets at workers of its name since the arena started."""


def gone_worker(name: str, failed_begins: int) -> WorkerStatus:
    """Return the counts of a worker on another machine that has left: it has no number and no process."""
    return WorkerStatus(0, 0, 0, 0, 0, name, failed_begins=failed_begins)


@dataclass(frozen=True, slots=True)
class PlacementStatus:
    """The workers of a key that an engine runs, for `arena status`."""

    key: str
    engine: str
    speed_class: int
    wanted: int
    running: int
    pending: int
    """The number of workers that wait for a machine."""
    problem: str = ""
    """The latest refusal of the engine; empty without one."""


OWN_TIME_S: Final[Sequence[float]] = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    1.0,
)
"""Bucket bounds for times of the arena itself, in seconds."""
DISK_TIME_S: Final[Sequence[float]] = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.02,
    0.04,
    0.08,
    0.25,
    1.0,
)
BOT_TIME_S: Final[Sequence[float]] = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    5.0,
    20.0,
)
MESSAGE_BYTES: Final = 128
"""The number of bytes added for each message: headers of frames and records, and window updates."""
CALL_BYTES: Final = 4_096
"""The number of bytes added for each call: its headers, which gRPC limits to this."""
SILENT_CALL_BYTES: Final = 1_024
"""The number of bytes subtracted for a call without a message. gRPC (1.75.1) leaks 50 to 200 bytes for each call that the client
cancels before it is answered, so such calls are limited."""
SLOW_SYNC_S: Final = 0.25
"""The duration in seconds above which a sync of the journal is logged."""

_log = logging.getLogger(__name__)


class Histogram:
    """Counts times in buckets."""

    __slots__ = ("bounds_s", "counts", "sum_s")

    def __init__(self, bounds_s: Sequence[float]) -> None:
        self.bounds_s = tuple(bounds_s)
        """Upper bounds, included, from low to high."""
        self.counts = [0] * (len(self.bounds_s) + 1)
        """By bucket; the last one is for times above all bounds."""
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds_s, seconds)] += 1
        self.sum_s += seconds

    def quantile_s(self, share: float) -> float | None:
        """Return the upper bound of the bucket of this quantile, in seconds; None without times.

        It is infinite above all bounds.
        """
        wanted = share * sum(self.counts)
        if not any(self.counts):
            return None
        bounds = zip((*self.bounds_s, math.inf), itertools.accumulate(self.counts), strict=True)
        return next(bound_s for bound_s, so_far in bounds if so_far >= wanted)


class GameCounts:
    """The counts of one game."""

    __slots__ = ("begun", "decisions", "ended")

    def __init__(self) -> None:
        self.decisions = 0
        self.begun = 0
        """Matches that have begun or were resumed."""
        self.ended: Counter[Ending] = Counter()


class Counts:
    """The counts of one arena since it started."""

    def __init__(self) -> None:
        self.games: dict[str, GameCounts] = {}
        """By the id of the game, for games that were played."""
        self.faults: Counter[FaultKind] = Counter()
        self.aborted: Counter[AbortCause] = Counter()
        self.charged = Histogram(BOT_TIME_S)
        """Time charged to bots for each ask."""
        self.refunded_s = 0.0
        """Seconds that were not charged because the arena was late."""
        self.received_s = 0.0
        """When the message that is being delivered arrived; 0 between messages."""
        self.turnaround = Histogram(OWN_TIME_S)
        """From the arrival of an answer to the sending of the ask that followed it."""
        self.waiting_bytes = 0
        """Bytes that wait to be sent to all bots."""
        self.messages = 0
        """Messages from bots, without the hello of each stream."""
        self.streams_opened = 0
        self.streams_closed: Counter[str] = Counter()
        """By reason."""
        self.calls: Counter[tuple[str, str]] = Counter()
        """Calls that have ended, by name and gRPC's status code."""
        self.calls_refused: Counter[str] = Counter()
        """By reason."""
        self.messages_refused: Counter[int] = Counter()
        """By `cardarena.v1.RefusalReason`."""
        self.journal_write = Histogram(OWN_TIME_S)
        self.journal_sync = Histogram(DISK_TIME_S)

    def message_came(self, received_s: float) -> None:
        """Count a bot's message, which is delivered next."""
        self.messages += 1
        self.received_s = received_s

    def message_delivered(self) -> None:
        self.received_s = 0.0

    def waits(self, size: int) -> int:
        """Add to the bytes that wait to be sent, or subtract; return the sum of all bots."""
        self.waiting_bytes += size
        return self.waiting_bytes

    def refunded(self, seconds: float) -> None:
        self.refunded_s += seconds

    def stream_opened(self) -> None:
        """Count a hello on a new stream."""
        self.streams_opened += 1

    def game(self, game_id: str) -> GameCounts:
        counts = self.games.get(game_id)
        if counts is None:
            counts = self.games[game_id] = GameCounts()
        return counts


class TrafficAccount:
    """The bytes of messages received over one connection, for all its streams."""

    __slots__ = ("received_bytes",)

    def __init__(self) -> None:
        self.received_bytes = 0
        """Negative where calls ended without a message."""

    def opened(self) -> None:
        """Count a call that begins; until its first message arrives it counts against the connection."""
        self.received_bytes -= SILENT_CALL_BYTES

    def spoke(self) -> None:
        self.received_bytes += SILENT_CALL_BYTES + CALL_BYTES

    def received(self, size: int) -> None:
        self.received_bytes += size + MESSAGE_BYTES


class Traffic:
    """The accounts of all connections. Used on the thread of the host loop."""

    def __init__(self) -> None:
        self._accounts: dict[str, TrafficAccount] = {}

    def account(self, peer: str) -> TrafficAccount:
        """Return the account of a connection, by gRPC's name of its peer; a call that begins is counted in it."""
        account = self._accounts.get(peer)
        if account is None:
            account = self._accounts[peer] = TrafficAccount()
        account.opened()
        return account

    def has_called(self, peer: str) -> bool:
        """Return whether a connection has made a call, with or without a message."""
        return peer in self._accounts

    def explained_bytes(self, peer: str) -> int:
        """Return the bytes of a connection that were messages; negative if calls ended without one."""
        account = self._accounts.get(peer)
        return 0 if account is None else account.received_bytes

    def peers(self) -> set[str]:
        """Return all peers with an account. May be called on any thread, as `forget`."""
        return set(self._accounts)

    def forget(self, peers: set[str]) -> None:
        for peer in peers:
            self._accounts.pop(peer, None)


class Metrics:
    """Counts events of one arena."""

    def __init__(self) -> None:
        self.counts: Final = Counts()
        self.wrote: Final = self.counts.journal_write.observe
        """Takes the time of one write of the journal, in seconds."""

    # Matches.

    def ledger(self, log: MatchLog, spec: MatchSpec) -> Ledger:
        return _CountedLedger(log, spec, self.counts)

    # Bots.

    def connected(self, bot: BotId, epoch: int, peer: str) -> None:
        """Count and log a hello of a bot on its new stream `epoch`."""
        self.counts.stream_opened()
        _log.info("a bot has connected", extra=_stream(bot, epoch, peer))

    def disconnected(self, bot: BotId, epoch: int, peer: str, reason: str) -> None:
        self.counts.streams_closed[reason] += 1
        fields = {**_stream(bot, epoch, peer), "reason": reason}
        _log.info("a stream has ended", extra=fields)

    def message_refused(self, reason: int) -> None:
        self.counts.messages_refused[reason] += 1

    # Calls.

    def called(self, call: str, code: str, reason: str, peer: str) -> None:
        """Count a call that has ended; `reason` says why it was refused, and is empty if it was not."""
        self.counts.calls[call, code] += 1
        if reason:
            self.counts.calls_refused[reason] += 1
            fields = {"call": call, "code": code, "reason": reason, "peer": peer}
            _log.info("a call was refused", extra=fields)

    # The journal.

    def synced(self, seconds: float) -> None:
        self.counts.journal_sync.observe(seconds)
        if seconds > SLOW_SYNC_S:
            _log.warning("the journal's disk is slow", extra={"seconds": round(seconds, 3)})


class _CountedLedger:
    """An `arena.referee.ledger.Ledger` that writes records to the journal and counts them."""

    __slots__ = ("_charged", "_counts", "_decided", "_game", "_is_open", "_log", "_spec", "used")

    def __init__(self, log: MatchLog, spec: MatchSpec, counts: Counts) -> None:
        self._log = log
        self._decided = log.decided
        self.used = log.used
        self._is_open = False
        self._spec = spec
        self._counts = counts
        self._game = counts.game(spec.terms.game.id)
        self._charged = counts.charged

    def opened(self, spec: MatchSpec) -> None:
        if self._is_open:
            return
        self._is_open = True
        resumed = bool(self._log.bodies)
        self._log.opened(spec)
        self._game.begun += 1
        bots = [entrant.name for entrant in spec.entrants]
        fields = {"match": spec.match_id, "game": spec.terms.game.id, "bots": bots}
        _log.info("a match is resumed" if resumed else "a match begins", extra=fields)

    def decided(self, settled: Settled) -> None:
        self._decided(settled)
        self._game.decisions += 1
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


def _stream(bot: BotId, epoch: int, peer: str) -> dict[str, Any]:
    return {"bot": bot.name, "instance": bot.instance, "epoch": epoch, "peer": peer}
