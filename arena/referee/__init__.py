"""One match from its first deal to its result: asks, clocks, faults, fallbacks.

A `Table` is a state machine without input or output: it is told what arrived
and when, and tells ports and a ledger. Trio gives it time (`Timers`), a place
to run heavy steps (`Workers`) and somebody to wait for its end (`Referee`).
"""

from arena.referee.clock import SeatClock
from arena.referee.ports import Answer, Ledger, SeatPort, Unwritten
from arena.referee.referee import Referee
from arena.referee.spec import (
    Ending,
    Entrant,
    Fault,
    FaultKind,
    MatchSpec,
    Outcome,
    TimeControl,
)
from arena.referee.table import OpenAsk, Table
from arena.referee.timers import Timer, Timers
from arena.referee.workers import Workers

__all__ = [
    "Answer",
    "Ending",
    "Entrant",
    "Fault",
    "FaultKind",
    "Ledger",
    "MatchSpec",
    "OpenAsk",
    "Outcome",
    "Referee",
    "SeatClock",
    "SeatPort",
    "Table",
    "TimeControl",
    "Timer",
    "Timers",
    "Unwritten",
    "Workers",
]
