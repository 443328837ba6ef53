"""Oklahoma Rummy's messages under short names: `oklahoma_rummy.Move(verb=oklahoma_rummy.DRAW)`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_END_HIGH as END_HIGH
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_END_LOW as END_LOW
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_BEGAN as BEGAN
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_DECLINED as DECLINED
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_DISCARDED as DISCARDED
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_DREW as DREW
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_EXTENDED as EXTENDED
from cardarena.games.v1.oklahoma_rummy_pb2 import (
    OKLAHOMA_RUMMY_EVENT_KIND_KEPT_QUEENS as KEPT_QUEENS,
)
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_MELDED as MELDED
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_PILE_TAKEN as PILE_TAKEN
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_RECEIVED as RECEIVED
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.oklahoma_rummy_pb2 import (
    OKLAHOMA_RUMMY_EVENT_KIND_STOCK_REBUILT as STOCK_REBUILT,
)
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_MELD_KIND_RUN as MELD_KIND_RUN
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_MELD_KIND_SET as MELD_KIND_SET
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_PHASE_DRAW as PHASE_DRAW
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_PHASE_PLAY as PHASE_PLAY
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_VERB_DECLINE as DECLINE
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_VERB_DISCARD as DISCARD
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_VERB_DRAW as DRAW
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_VERB_EXTEND as EXTEND
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_VERB_MELD as MELD
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_VERB_NO_DISCARD as NO_DISCARD
from cardarena.games.v1.oklahoma_rummy_pb2 import OKLAHOMA_RUMMY_VERB_TAKE_PILE as TAKE_PILE
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyEnd as End
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyEvent as Event
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyEventKind as EventKind
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyMeldKind as MeldKind
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyMove as Move
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyPhase as Phase
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyTable as Table
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyTableMeld as TableMeld
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyVerb as Verb
from cardarena.games.v1.oklahoma_rummy_pb2 import OklahomaRummyView as View
from cardarena.moves import oklahoma_rummy as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Oklahoma Rummy: `class MyBot(oklahoma_rummy.Bot)`."""

    games = _games.FAMILIES["oklahoma_rummy"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["oklahoma_rummy"]


__all__ = [
    "BEGAN",
    "DEALT",
    "DECLINE",
    "DECLINED",
    "DISCARD",
    "DISCARDED",
    "DRAW",
    "DREW",
    "END_HIGH",
    "END_LOW",
    "EXTEND",
    "EXTENDED",
    "KEPT_QUEENS",
    "MELD",
    "MELDED",
    "MELD_KIND_RUN",
    "MELD_KIND_SET",
    "NO_DISCARD",
    "PHASE_DRAW",
    "PHASE_OVER",
    "PHASE_PLAY",
    "PILE_TAKEN",
    "RECEIVED",
    "SCORED",
    "STOCK_REBUILT",
    "TAKE_PILE",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "End",
    "Event",
    "EventKind",
    "MeldKind",
    "Move",
    "Phase",
    "Table",
    "TableMeld",
    "Verb",
    "View",
    "moves",
]
