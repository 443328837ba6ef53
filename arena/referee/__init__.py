"""The referee: one match from its first deal to its result, with asks, clocks, faults and fallbacks.

A `MatchRunner` is a state machine without input or output: its methods are called with what arrived and when, and
it calls ports and a ledger. `Timers` call it at deadlines, `StepProcesses` play heavy steps, and `Referee` waits
for its end. The latter two are imported from their own modules, so that reading replays does not need trio.
"""

from arena.referee.clock import Lag, NeverLate, SeatClock
from arena.referee.ledger import FaultEvidence, Ledger, NoRoom, Settled, Unwritten, UsedTime
from arena.referee.match_runner import MatchRunner
from arena.referee.seat import Answer, OpenAsk, Said, SeatPort
from arena.referee.spec import (
    AbortCause,
    Ending,
    Fault,
    FaultKind,
    ForfeitedSeat,
    MatchSpec,
    Outcome,
    SeatedBot,
    final_places,
)
from arena.referee.timers import Timer, Timers

__all__ = [
    "AbortCause",
    "Answer",
    "Ending",
    "Fault",
    "FaultEvidence",
    "FaultKind",
    "ForfeitedSeat",
    "Lag",
    "Ledger",
    "MatchRunner",
    "MatchSpec",
    "NeverLate",
    "NoRoom",
    "OpenAsk",
    "Outcome",
    "Said",
    "SeatClock",
    "SeatPort",
    "SeatedBot",
    "Settled",
    "Timer",
    "Timers",
    "Unwritten",
    "UsedTime",
    "final_places",
]
