"""Sixty-Six's messages under short names: `sixty_six.Move(verb=sixty_six.PLAY, card="Ks")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_BEGAN as BEGAN
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_CLAIMED as CLAIMED
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_CLOSED as CLOSED
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_DRAWN as DRAWN
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_EXCHANGED as EXCHANGED
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_MARRIED as MARRIED
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_PLAYED as PLAYED
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_EVENT_KIND_WON as WON
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_PHASE_FOLLOW as PHASE_FOLLOW
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_PHASE_LEAD as PHASE_LEAD
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_REASON_CLOSER_SHORT as REASON_CLOSER_SHORT
from cardarena.games.v1.sixty_six_pb2 import (
    SIXTY_SIX_REASON_CLOSER_SHORT_TRICKLESS as REASON_CLOSER_SHORT_TRICKLESS,
)
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_REASON_FALSE_CLAIM as REASON_FALSE_CLAIM
from cardarena.games.v1.sixty_six_pb2 import (
    SIXTY_SIX_REASON_FALSE_CLAIM_TRICKLESS as REASON_FALSE_CLAIM_TRICKLESS,
)
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_REASON_NULL as REASON_NULL
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_REASON_SCHNEIDER as REASON_SCHNEIDER
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_REASON_SCHWARZ as REASON_SCHWARZ
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_REASON_SIXTY_SIX as REASON_SIXTY_SIX
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_VERB_CLAIM as CLAIM
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_VERB_CLOSE as CLOSE
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_VERB_EXCHANGE as EXCHANGE
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_VERB_MARRIAGE as MARRIAGE
from cardarena.games.v1.sixty_six_pb2 import SIXTY_SIX_VERB_PLAY as PLAY
from cardarena.games.v1.sixty_six_pb2 import SixtySixEvent as Event
from cardarena.games.v1.sixty_six_pb2 import SixtySixEventKind as EventKind
from cardarena.games.v1.sixty_six_pb2 import SixtySixMove as Move
from cardarena.games.v1.sixty_six_pb2 import SixtySixPhase as Phase
from cardarena.games.v1.sixty_six_pb2 import SixtySixReason as Reason
from cardarena.games.v1.sixty_six_pb2 import SixtySixVerb as Verb
from cardarena.games.v1.sixty_six_pb2 import SixtySixView as View
from cardarena.moves import sixty_six as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Sixty-Six: `class MyBot(sixty_six.Bot)`."""

    games = _games.FAMILIES["sixty_six"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["sixty_six"]


__all__ = [
    "BEGAN",
    "CLAIM",
    "CLAIMED",
    "CLOSE",
    "CLOSED",
    "DEALT",
    "DRAWN",
    "EXCHANGE",
    "EXCHANGED",
    "MARRIAGE",
    "MARRIED",
    "PHASE_FOLLOW",
    "PHASE_LEAD",
    "PHASE_OVER",
    "PLAY",
    "PLAYED",
    "REASON_CLOSER_SHORT",
    "REASON_CLOSER_SHORT_TRICKLESS",
    "REASON_FALSE_CLAIM",
    "REASON_FALSE_CLAIM_TRICKLESS",
    "REASON_NULL",
    "REASON_SCHNEIDER",
    "REASON_SCHWARZ",
    "REASON_SIXTY_SIX",
    "SCORED",
    "WON",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Event",
    "EventKind",
    "Move",
    "Phase",
    "Reason",
    "Verb",
    "View",
    "moves",
]
