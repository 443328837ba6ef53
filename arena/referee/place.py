"""What a table keeps for one seat."""

from typing import TYPE_CHECKING, Final

from arena.referee.ask import OpenAsk, SeatPort
from arena.referee.clock import SeatClock
from arena.referee.ledger import UsedTime
from arena.referee.pending_news import PendingNews
from arena.referee.presence import Presence
from arena.referee.timers import Timer

if TYPE_CHECKING:
    from arena.referee.spec import ForfeitedSeat


MAX_MOVE_BYTES: Final = 4 << 20
"""What the decisions of a seat at one match may take; then it is not asked any more, as if it had no
time. So two that raise for ever end, and no match has more records than a replay may have."""
DECISION_BYTES: Final = 64
"""What a decision counts beside its move: about what the rest of its record takes."""
KEPT_S: Final = 1.0
"""Time that no decision tells is written down when it has grown by so much, and by its 32nd part."""
NOTHING_USED: Final = UsedTime(0, 0, 0.0, 0.0)


class Place:
    """One seat's bot, its clock, its open ask, and what it has still to be told."""

    __slots__ = (
        "ask",
        "clock",
        "decisions",
        "fallbacks",
        "faults",
        "forfeited",
        "kept",
        "move_bytes",
        "news",
        "out",
        "owner",
        "port",
        "presence",
        "refunded_s",
        "timer",
    )

    def __init__(
        self,
        port: SeatPort,
        clock: SeatClock,
        news: PendingNews,
        timer: Timer,
        presence: Presence,
        owner: str,
    ) -> None:
        self.port = port
        self.clock = clock
        self.news = news
        self.timer = timer
        """Due when the open ask's time is up."""
        self.presence = presence
        self.owner = owner
        """Whose the bot is: pauses that its owner's calls or messages made are not refunded."""
        self.ask: OpenAsk | None = None
        self.kept = NOTHING_USED
        """What is written down of time that no decision tells yet."""
        self.decisions = 0
        self.fallbacks = 0
        self.faults = 0
        self.refunded_s = 0.0
        """What was not charged so far, as the arena was late."""
        self.move_bytes = 0
        """What its decisions have taken so far, as `MAX_MOVE_BYTES` counts it."""
        self.forfeited = False
        self.out: ForfeitedSeat | None = None
        """Why the seat is played by fallback without having been blamed yet."""

    def keep(self, seat: int, charged_s: float) -> bool:
        """Whether `kept` has to be written down: the open ask has cost so much so far."""
        kept, ask, away_s = self.kept, self.ask, self.presence.away_s()
        decision = 0 if ask is None else ask.decision
        had_s = kept.used_s if kept.decision == decision else 0.0
        if not (_has_grown(charged_s, had_s) or _has_grown(away_s, kept.away_s)):
            return False
        self.kept = UsedTime(seat, decision, charged_s, away_s)
        return True

    def retire_timers(self) -> None:
        """No time of this seat will be up any more: the match is over, or suspended."""
        self.timer.retire()
        self.presence.watch_no_more()

    def count_move(self, game_move: bytes) -> None:
        """A decision is settled with this move, encoded."""
        self.move_bytes += DECISION_BYTES + len(game_move)


def _has_grown(seconds: float, kept_s: float) -> bool:
    """Whether time is to be written down again: seldom, where it is long."""
    return seconds - kept_s >= max(KEPT_S, kept_s / 32)
