"""Democracy's messages under short names: `democracy.Move(verb=democracy.PLAY_CARD, card="Ks")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_EVENT_KIND_DAY_BEGAN as DAY_BEGAN
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_EVENT_KIND_SHOWN as SHOWN
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_EVENT_KIND_TURNED_UP as TURNED_UP
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_PHASE_PLAY as PHASE_PLAY
from cardarena.games.v1.democracy_pb2 import DEMOCRACY_VERB_PLAY_CARD as PLAY_CARD
from cardarena.games.v1.democracy_pb2 import DemocracyEvent as Event
from cardarena.games.v1.democracy_pb2 import DemocracyEventKind as EventKind
from cardarena.games.v1.democracy_pb2 import DemocracyIsland as Island
from cardarena.games.v1.democracy_pb2 import DemocracyMove as Move
from cardarena.games.v1.democracy_pb2 import DemocracyPhase as Phase
from cardarena.games.v1.democracy_pb2 import DemocracySuitPoints as SuitPoints
from cardarena.games.v1.democracy_pb2 import DemocracyVerb as Verb
from cardarena.games.v1.democracy_pb2 import DemocracyView as View
from cardarena.moves import democracy as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Democracy: `class MyBot(democracy.Bot)`."""

    games = _games.FAMILIES["democracy"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["democracy"]


__all__ = [
    "DAY_BEGAN",
    "DEALT",
    "PHASE_OVER",
    "PHASE_PLAY",
    "PLAY_CARD",
    "SCORED",
    "SHOWN",
    "TURNED_UP",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Event",
    "EventKind",
    "Island",
    "Move",
    "Phase",
    "SuitPoints",
    "Verb",
    "View",
    "moves",
]
