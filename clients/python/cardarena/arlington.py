"""Arlington's messages under short names: `arlington.Move(verb=arlington.LEAD_CARD, card="Ks")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_BEGAN as BEGAN
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_CARD_ADDED as CARD_ADDED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_CARD_LED as CARD_LED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_CARD_PLAYED as CARD_PLAYED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_JOKER_TAKEN as JOKER_TAKEN
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_KILLED as KILLED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_OVERPLAYED as OVERPLAYED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_PASSED as PASSED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_S2_PLAYED as S2_PLAYED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_SET_KEPT as SET_KEPT
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_SET_LED as SET_LED
from cardarena.games.v1.arlington_pb2 import ARLINGTON_EVENT_KIND_TRICK_TAKEN as TRICK_TAKEN
from cardarena.games.v1.arlington_pb2 import ARLINGTON_PHASE_LEAD as PHASE_LEAD
from cardarena.games.v1.arlington_pb2 import ARLINGTON_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.arlington_pb2 import ARLINGTON_PHASE_RESPOND as PHASE_RESPOND
from cardarena.games.v1.arlington_pb2 import ARLINGTON_PHASE_TRICK as PHASE_TRICK
from cardarena.games.v1.arlington_pb2 import ARLINGTON_SPECTRUM_ACES as SPECTRUM_ACES
from cardarena.games.v1.arlington_pb2 import ARLINGTON_SPECTRUM_COUPLES as SPECTRUM_COUPLES
from cardarena.games.v1.arlington_pb2 import ARLINGTON_SPECTRUM_MULTIPLES as SPECTRUM_MULTIPLES
from cardarena.games.v1.arlington_pb2 import ARLINGTON_SPECTRUM_RUNS as SPECTRUM_RUNS
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_ADD as ADD
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_KILL as KILL
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_LEAD_CARD as LEAD_CARD
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_LEAD_SET as LEAD_SET
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_OVERPLAY as OVERPLAY
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_PASS as PASS
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_PLAY_CARD as PLAY_CARD
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_PLAY_S2 as PLAY_S2
from cardarena.games.v1.arlington_pb2 import ARLINGTON_VERB_TAKE_JOKER as TAKE_JOKER
from cardarena.games.v1.arlington_pb2 import ArlingtonActive as Active
from cardarena.games.v1.arlington_pb2 import ArlingtonEvent as Event
from cardarena.games.v1.arlington_pb2 import ArlingtonEventKind as EventKind
from cardarena.games.v1.arlington_pb2 import ArlingtonMove as Move
from cardarena.games.v1.arlington_pb2 import ArlingtonPhase as Phase
from cardarena.games.v1.arlington_pb2 import ArlingtonSpectrum as Spectrum
from cardarena.games.v1.arlington_pb2 import ArlingtonTable as Table
from cardarena.games.v1.arlington_pb2 import ArlingtonVerb as Verb
from cardarena.games.v1.arlington_pb2 import ArlingtonView as View
from cardarena.moves import arlington as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Arlington: `class MyBot(arlington.Bot)`."""

    games = _games.FAMILIES["arlington"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["arlington"]


__all__ = [
    "ADD",
    "BEGAN",
    "CARD_ADDED",
    "CARD_LED",
    "CARD_PLAYED",
    "DEALT",
    "JOKER_TAKEN",
    "KILL",
    "KILLED",
    "LEAD_CARD",
    "LEAD_SET",
    "OVERPLAY",
    "OVERPLAYED",
    "PASS",
    "PASSED",
    "PHASE_LEAD",
    "PHASE_OVER",
    "PHASE_RESPOND",
    "PHASE_TRICK",
    "PLAY_CARD",
    "PLAY_S2",
    "S2_PLAYED",
    "SCORED",
    "SET_KEPT",
    "SET_LED",
    "SPECTRUM_ACES",
    "SPECTRUM_COUPLES",
    "SPECTRUM_MULTIPLES",
    "SPECTRUM_RUNS",
    "TAKE_JOKER",
    "TRICK_TAKEN",
    "Active",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Event",
    "EventKind",
    "Move",
    "Phase",
    "Spectrum",
    "Table",
    "Verb",
    "View",
    "moves",
]
