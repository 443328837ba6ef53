"""The Pineapples' messages under short names: `pineapple.Move(verb=pineapple.DISCARD, card="2c")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_ACTION_BET as ACTION_BET
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_ACTION_CALL as ACTION_CALL
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_ACTION_CHECK as ACTION_CHECK
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_ACTION_FOLD as ACTION_FOLD
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_ACTION_RAISE as ACTION_RAISE
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_ACTED as ACTED
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_BOARD_DEALT as BOARD_DEALT
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_DISCARDED as DISCARDED
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_GAVE_UP as GAVE_UP
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_HAND_BEGAN as HAND_BEGAN
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_HAND_ENDED as HAND_ENDED
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_POT_WON as POT_WON
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_EVENT_KIND_SHOWN as SHOWN
from cardarena.games.v1.pineapple_pb2 import (
    PINEAPPLE_EVENT_KIND_UNCALLED_RETURNED as UNCALLED_RETURNED,
)
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_PHASE_BET as PHASE_BET
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_PHASE_DISCARD as PHASE_DISCARD
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_STREET_FLOP as FLOP
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_STREET_PREFLOP as PREFLOP
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_STREET_RIVER as RIVER
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_STREET_TURN as TURN
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_VERB_BET as BET
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_VERB_CALL as CALL
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_VERB_CHECK as CHECK
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_VERB_DISCARD as DISCARD
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_VERB_FOLD as FOLD
from cardarena.games.v1.pineapple_pb2 import PINEAPPLE_VERB_RAISE as RAISE
from cardarena.games.v1.pineapple_pb2 import PineappleAction as Action
from cardarena.games.v1.pineapple_pb2 import PineappleChips as Chips
from cardarena.games.v1.pineapple_pb2 import PineappleEvent as Event
from cardarena.games.v1.pineapple_pb2 import PineappleEventKind as EventKind
from cardarena.games.v1.pineapple_pb2 import PineappleLine as Line
from cardarena.games.v1.pineapple_pb2 import PineappleMove as Move
from cardarena.games.v1.pineapple_pb2 import PineapplePhase as Phase
from cardarena.games.v1.pineapple_pb2 import PineappleStreet as Street
from cardarena.games.v1.pineapple_pb2 import PineappleVerb as Verb
from cardarena.games.v1.pineapple_pb2 import PineappleView as View
from cardarena.moves import pineapple as moves
from cardarena.moves.pineapple import bets

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for every game of the family: `class MyBot(pineapple.Bot)`."""

    games = _games.FAMILIES["pineapple"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["pineapple"]


__all__ = [
    "ACTED",
    "ACTION_BET",
    "ACTION_CALL",
    "ACTION_CHECK",
    "ACTION_FOLD",
    "ACTION_RAISE",
    "BET",
    "BOARD_DEALT",
    "CALL",
    "CHECK",
    "DEALT",
    "DISCARD",
    "DISCARDED",
    "FLOP",
    "FOLD",
    "GAVE_UP",
    "HAND_BEGAN",
    "HAND_ENDED",
    "PHASE_BET",
    "PHASE_DISCARD",
    "PHASE_OVER",
    "POT_WON",
    "PREFLOP",
    "RAISE",
    "RIVER",
    "SHOWN",
    "TURN",
    "UNCALLED_RETURNED",
    "Action",
    "Ask",
    "BatchBot",
    "Bot",
    "Chips",
    "Choice",
    "Event",
    "EventKind",
    "Line",
    "Move",
    "Phase",
    "Street",
    "Verb",
    "View",
    "bets",
    "moves",
]
