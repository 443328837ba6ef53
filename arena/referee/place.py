"""What a table keeps for one seat."""

from typing import TYPE_CHECKING

from arena.referee.ask import OpenAsk, SeatPort
from arena.referee.clock import SeatClock
from arena.referee.pending_news import PendingNews
from arena.referee.presence import Presence
from arena.referee.timers import Timer

if TYPE_CHECKING:
    from arena.referee.spec import ForfeitedSeat


class Place:
    """One seat's bot, its clock, its open ask, and what it has still to be told."""

    __slots__ = (
        "ask",
        "clock",
        "decisions",
        "fallbacks",
        "faults",
        "forfeited",
        "news",
        "out",
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
    ) -> None:
        self.port = port
        self.clock = clock
        self.news = news
        self.timer = timer
        """Due when the open ask's time is up."""
        self.presence = presence
        self.ask: OpenAsk | None = None
        self.decisions = 0
        self.fallbacks = 0
        self.faults = 0
        self.refunded_s = 0.0
        """What was not charged so far, as the arena was late."""
        self.forfeited = False
        self.out: ForfeitedSeat | None = None
        """Why the seat is played by fallback without having been blamed yet."""

    def retire_timers(self) -> None:
        """No time of this seat will be up any more: the match is over, or suspended."""
        self.timer.retire()
        self.presence.watch_no_more()
