"""Soko's messages under short names: `soko.Move(verb=soko.RAISE, to=8)`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.soko_pb2 import SOKO_ACTION_BET as ACTION_BET
from cardarena.games.v1.soko_pb2 import SOKO_ACTION_CALL as ACTION_CALL
from cardarena.games.v1.soko_pb2 import SOKO_ACTION_CHECK as ACTION_CHECK
from cardarena.games.v1.soko_pb2 import SOKO_ACTION_FOLD as ACTION_FOLD
from cardarena.games.v1.soko_pb2 import SOKO_ACTION_RAISE as ACTION_RAISE
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_ACTED as ACTED
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_BROUGHT_IN as BROUGHT_IN
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_HAND_BEGAN as HAND_BEGAN
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_HAND_ENDED as HAND_ENDED
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_POT_WON as POT_WON
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_SHOWN as SHOWN
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_UNCALLED_RETURNED as UNCALLED_RETURNED
from cardarena.games.v1.soko_pb2 import SOKO_EVENT_KIND_UPCARDS_DEALT as UPCARDS_DEALT
from cardarena.games.v1.soko_pb2 import SOKO_PHASE_BET as PHASE_BET
from cardarena.games.v1.soko_pb2 import SOKO_PHASE_BRING_IN as PHASE_BRING_IN
from cardarena.games.v1.soko_pb2 import SOKO_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.soko_pb2 import SOKO_VERB_BET as BET
from cardarena.games.v1.soko_pb2 import SOKO_VERB_BRING_IN as BRING_IN
from cardarena.games.v1.soko_pb2 import SOKO_VERB_CALL as CALL
from cardarena.games.v1.soko_pb2 import SOKO_VERB_CHECK as CHECK
from cardarena.games.v1.soko_pb2 import SOKO_VERB_FOLD as FOLD
from cardarena.games.v1.soko_pb2 import SOKO_VERB_RAISE as RAISE
from cardarena.games.v1.soko_pb2 import SokoAction as Action
from cardarena.games.v1.soko_pb2 import SokoChips as Chips
from cardarena.games.v1.soko_pb2 import SokoEvent as Event
from cardarena.games.v1.soko_pb2 import SokoEventKind as EventKind
from cardarena.games.v1.soko_pb2 import SokoLine as Line
from cardarena.games.v1.soko_pb2 import SokoMove as Move
from cardarena.games.v1.soko_pb2 import SokoPhase as Phase
from cardarena.games.v1.soko_pb2 import SokoVerb as Verb
from cardarena.games.v1.soko_pb2 import SokoView as View
from cardarena.moves import soko as moves
from cardarena.moves.soko import bets

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Soko: `class MyBot(soko.Bot)`."""

    games = _games.FAMILIES["soko"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["soko"]


__all__ = [
    "ACTED",
    "ACTION_BET",
    "ACTION_CALL",
    "ACTION_CHECK",
    "ACTION_FOLD",
    "ACTION_RAISE",
    "BET",
    "BRING_IN",
    "BROUGHT_IN",
    "CALL",
    "CHECK",
    "DEALT",
    "FOLD",
    "HAND_BEGAN",
    "HAND_ENDED",
    "PHASE_BET",
    "PHASE_BRING_IN",
    "PHASE_OVER",
    "POT_WON",
    "RAISE",
    "SHOWN",
    "UNCALLED_RETURNED",
    "UPCARDS_DEALT",
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
    "Verb",
    "View",
    "bets",
    "moves",
]
