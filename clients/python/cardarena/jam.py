"""Jam's messages under short names: `jam.Move(verb=jam.PLAY, card="Ks")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_BEGAN as BEGAN
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_DISCARDED as DISCARDED
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_DRAWN as DRAWN
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_PLAYED as PLAYED
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_RECEIVED as RECEIVED
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.jam_pb2 import JAM_EVENT_KIND_WON as WON
from cardarena.games.v1.jam_pb2 import JAM_PHASE_DISCARD as PHASE_DISCARD
from cardarena.games.v1.jam_pb2 import JAM_PHASE_DRAW as PHASE_DRAW
from cardarena.games.v1.jam_pb2 import JAM_PHASE_FOLLOW as PHASE_FOLLOW
from cardarena.games.v1.jam_pb2 import JAM_PHASE_LEAD as PHASE_LEAD
from cardarena.games.v1.jam_pb2 import JAM_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.jam_pb2 import JAM_SOURCE_DISCARDS as SOURCE_DISCARDS
from cardarena.games.v1.jam_pb2 import JAM_SOURCE_STOCK as SOURCE_STOCK
from cardarena.games.v1.jam_pb2 import JAM_VERB_DISCARD as DISCARD
from cardarena.games.v1.jam_pb2 import JAM_VERB_DRAW as DRAW
from cardarena.games.v1.jam_pb2 import JAM_VERB_PLAY as PLAY
from cardarena.games.v1.jam_pb2 import JamClaim as Claim
from cardarena.games.v1.jam_pb2 import JamEvent as Event
from cardarena.games.v1.jam_pb2 import JamEventKind as EventKind
from cardarena.games.v1.jam_pb2 import JamMove as Move
from cardarena.games.v1.jam_pb2 import JamPhase as Phase
from cardarena.games.v1.jam_pb2 import JamSource as Source
from cardarena.games.v1.jam_pb2 import JamVerb as Verb
from cardarena.games.v1.jam_pb2 import JamView as View
from cardarena.moves import jam as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Jam: `class MyBot(jam.Bot)`."""

    games = _games.FAMILIES["jam"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["jam"]


__all__ = [
    "BEGAN",
    "DEALT",
    "DISCARD",
    "DISCARDED",
    "DRAW",
    "DRAWN",
    "PHASE_DISCARD",
    "PHASE_DRAW",
    "PHASE_FOLLOW",
    "PHASE_LEAD",
    "PHASE_OVER",
    "PLAY",
    "PLAYED",
    "RECEIVED",
    "SCORED",
    "SOURCE_DISCARDS",
    "SOURCE_STOCK",
    "WON",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Claim",
    "Event",
    "EventKind",
    "Move",
    "Phase",
    "Source",
    "Verb",
    "View",
    "moves",
]
