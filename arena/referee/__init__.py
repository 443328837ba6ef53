"""One match from its first deal to its result: asks, clocks, faults, fallbacks.

A `Table` is a state machine without input or output: it is told what arrived
and when, and tells ports and a ledger. Trio gives it time (`Timers`), a place
to run heavy steps (`Workers`) and somebody to wait for its end (`Referee`).
"""

from arena.referee.clock import SeatClock
from arena.referee.open_ask import OpenAsk
from arena.referee.ports import (
    Answer,
    Evidence,
    Lag,
    Ledger,
    Punctual,
    SeatPort,
    Settled,
    Unwritten,
)
from arena.referee.referee import Referee
from arena.referee.spec import (
    AbortCause,
    Ending,
    Entrant,
    Fault,
    FaultKind,
    ForfeitedSeat,
    MatchSpec,
    Outcome,
    TimeControl,
    final_places,
)
from arena.referee.table import Table
from arena.referee.timers import Timer, Timers
from arena.referee.workers import Workers

__all__ = [
    "AbortCause",
    "Answer",
    "Ending",
    "Entrant",
    "Evidence",
    "Fault",
    "FaultKind",
    "ForfeitedSeat",
    "Lag",
    "Ledger",
    "MatchSpec",
    "OpenAsk",
    "Outcome",
    "Punctual",
    "Referee",
    "SeatClock",
    "SeatPort",
    "Settled",
    "Table",
    "TimeControl",
    "Timer",
    "Timers",
    "Unwritten",
    "Workers",
    "final_places",
]
