"""Abstrac's messages under short names: `abstrac.Move(verb=abstrac.TAKE, count=3)`.

For abstrac, abstrac_suit, abstrac_unfettered and abstrac_fiftytwo.
"""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_EVENT_KIND_CHOSEN as CHOSEN
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_EVENT_KIND_TAKEN as TAKEN
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_ORDER_FIRST as FIRST
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_ORDER_SECOND as SECOND
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_PHASE_CHOOSE as PHASE_CHOOSE
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_PHASE_TAKE as PHASE_TAKE
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_VERB_CHOOSE as CHOOSE
from cardarena.games.v1.abstrac_pb2 import ABSTRAC_VERB_TAKE as TAKE
from cardarena.games.v1.abstrac_pb2 import AbstracEvent as Event
from cardarena.games.v1.abstrac_pb2 import AbstracEventKind as EventKind
from cardarena.games.v1.abstrac_pb2 import AbstracMove as Move
from cardarena.games.v1.abstrac_pb2 import AbstracOrder as Order
from cardarena.games.v1.abstrac_pb2 import AbstracPhase as Phase
from cardarena.games.v1.abstrac_pb2 import AbstracVerb as Verb
from cardarena.games.v1.abstrac_pb2 import AbstracView as View
from cardarena.moves import abstrac as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for every game of the family: `class MyBot(abstrac.Bot)`."""

    games = _games.FAMILIES["abstrac"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["abstrac"]


__all__ = [
    "CHOOSE",
    "CHOSEN",
    "DEALT",
    "FIRST",
    "PHASE_CHOOSE",
    "PHASE_OVER",
    "PHASE_TAKE",
    "SCORED",
    "SECOND",
    "TAKE",
    "TAKEN",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Event",
    "EventKind",
    "Move",
    "Order",
    "Phase",
    "Verb",
    "View",
    "moves",
]
