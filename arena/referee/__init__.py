"""One match from its first deal to its result: asks, clocks, faults, fallbacks.

A `Table` is a state machine without input or output: it is told what arrived
and when, and tells ports and a ledger. Trio gives it time (`Timers`), a place
to run heavy steps (`Workers`) and somebody to wait for its end (`Referee`).
The latter two are imported from their own modules: who reads replays needs no trio.
"""

from arena.referee.ask import Answer, OpenAsk, Said, SeatPort
from arena.referee.clock import SeatClock
from arena.referee.lag import Lag, NeverLate
from arena.referee.ledger import Evidence, Ledger, NoRoom, Settled, Unwritten, UsedTime
from arena.referee.spec import (
    AbortCause,
    Ending,
    Entrant,
    Fault,
    FaultKind,
    ForfeitedSeat,
    MatchSpec,
    Outcome,
    final_places,
)
from arena.referee.table import Table
from arena.referee.timers import Timer, Timers

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
    "NeverLate",
    "NoRoom",
    "OpenAsk",
    "Outcome",
    "Said",
    "SeatClock",
    "SeatPort",
    "Settled",
    "Table",
    "Timer",
    "Timers",
    "Unwritten",
    "UsedTime",
    "final_places",
]
