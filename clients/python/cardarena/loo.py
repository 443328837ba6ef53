"""Loo's messages under short names: `loo.Move(verb=loo.PLAY, card="Ks")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.loo_pb2 import LOO_ENDING_ALL_PASSED as ENDING_ALL_PASSED
from cardarena.games.v1.loo_pb2 import LOO_ENDING_FLUSH as ENDING_FLUSH
from cardarena.games.v1.loo_pb2 import LOO_ENDING_PLAYED as ENDING_PLAYED
from cardarena.games.v1.loo_pb2 import LOO_ENDING_WALKOVER as ENDING_WALKOVER
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_BEGAN as BEGAN
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_DECLARED as DECLARED
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_DRAWN as DRAWN
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_EXCHANGED as EXCHANGED
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_FLUSH_SHOWN as FLUSH_SHOWN
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_PLAYED as PLAYED
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_RECYCLED as RECYCLED
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.loo_pb2 import LOO_EVENT_KIND_WON as WON
from cardarena.games.v1.loo_pb2 import LOO_PHASE_DECLARE as PHASE_DECLARE
from cardarena.games.v1.loo_pb2 import LOO_PHASE_EXCHANGE as PHASE_EXCHANGE
from cardarena.games.v1.loo_pb2 import LOO_PHASE_FIRST_FLUSH as PHASE_FIRST_FLUSH
from cardarena.games.v1.loo_pb2 import LOO_PHASE_FOLLOW as PHASE_FOLLOW
from cardarena.games.v1.loo_pb2 import LOO_PHASE_LEAD as PHASE_LEAD
from cardarena.games.v1.loo_pb2 import LOO_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.loo_pb2 import LOO_PHASE_SECOND_FLUSH as PHASE_SECOND_FLUSH
from cardarena.games.v1.loo_pb2 import LOO_VERB_EXCHANGE as EXCHANGE
from cardarena.games.v1.loo_pb2 import LOO_VERB_HOLD as HOLD
from cardarena.games.v1.loo_pb2 import LOO_VERB_PASS as PASS
from cardarena.games.v1.loo_pb2 import LOO_VERB_PLAY as PLAY
from cardarena.games.v1.loo_pb2 import LOO_VERB_PLAY_HAND as PLAY_HAND
from cardarena.games.v1.loo_pb2 import LOO_VERB_REVEAL_FLUSH as REVEAL_FLUSH
from cardarena.games.v1.loo_pb2 import LooEnding as Ending
from cardarena.games.v1.loo_pb2 import LooEvent as Event
from cardarena.games.v1.loo_pb2 import LooEventKind as EventKind
from cardarena.games.v1.loo_pb2 import LooMove as Move
from cardarena.games.v1.loo_pb2 import LooPhase as Phase
from cardarena.games.v1.loo_pb2 import LooVerb as Verb
from cardarena.games.v1.loo_pb2 import LooView as View
from cardarena.moves import loo as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Loo: `class MyBot(loo.Bot)`."""

    games = _games.FAMILIES["loo"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["loo"]


__all__ = [
    "BEGAN",
    "DEALT",
    "DECLARED",
    "DRAWN",
    "ENDING_ALL_PASSED",
    "ENDING_FLUSH",
    "ENDING_PLAYED",
    "ENDING_WALKOVER",
    "EXCHANGE",
    "EXCHANGED",
    "FLUSH_SHOWN",
    "HOLD",
    "PASS",
    "PHASE_DECLARE",
    "PHASE_EXCHANGE",
    "PHASE_FIRST_FLUSH",
    "PHASE_FOLLOW",
    "PHASE_LEAD",
    "PHASE_OVER",
    "PHASE_SECOND_FLUSH",
    "PLAY",
    "PLAYED",
    "PLAY_HAND",
    "RECYCLED",
    "REVEAL_FLUSH",
    "SCORED",
    "WON",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Ending",
    "Event",
    "EventKind",
    "Move",
    "Phase",
    "Verb",
    "View",
    "moves",
]
