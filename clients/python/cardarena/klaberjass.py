"""Klaberjass's messages under short names: `klaberjass.Move(verb=klaberjass.PLAY, card="Ks")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_CALL_NO as CALL_NO
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_CALL_PASS as CALL_PASS
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_CALL_SCHMEISS as CALL_SCHMEISS
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_CALL_YES as CALL_YES
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_ANNOUNCED as ANNOUNCED
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_ANSWERED as ANSWERED
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_BEGAN as BEGAN
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_CALLED as CALLED
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_EXCHANGED as EXCHANGED
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_KEPT as KEPT
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_MADE as MADE
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_NAMED_SUIT as NAMED_SUIT
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_NAMED_TOP as NAMED_TOP
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_PLAYED as PLAYED
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_SHOWN as SHOWN
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_THROWN_IN as THROWN_IN
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_EVENT_KIND_WON as WON
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_ANNOUNCE as PHASE_ANNOUNCE
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_ANSWER as PHASE_ANSWER
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_DIX as PHASE_DIX
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_FIRST_BID as PHASE_FIRST_BID
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_FOLLOW as PHASE_FOLLOW
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_LEAD as PHASE_LEAD
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_NAME as PHASE_NAME
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_REPLY as PHASE_REPLY
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_PHASE_SECOND_BID as PHASE_SECOND_BID
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_ANNOUNCE as ANNOUNCE
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_EXCHANGE as EXCHANGE
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_GOOD as GOOD
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_HOW_HIGH as HOW_HIGH
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_KEEP as KEEP
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_NAME as NAME
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_NO as NO
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_NO_MELD as NO_MELD
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_NOT_GOOD as NOT_GOOD
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_PASS as PASS
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_PLAY as PLAY
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_SCHMEISS as SCHMEISS
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_TAKE as TAKE
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_VERB_YES as YES
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_WORD_ALSO as WORD_ALSO
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_WORD_GOOD as WORD_GOOD
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_WORD_HOW_HIGH as WORD_HOW_HIGH
from cardarena.games.v1.klaberjass_pb2 import KLABERJASS_WORD_NOT_GOOD as WORD_NOT_GOOD
from cardarena.games.v1.klaberjass_pb2 import KlaberjassAuction as Auction
from cardarena.games.v1.klaberjass_pb2 import KlaberjassCall as Call
from cardarena.games.v1.klaberjass_pb2 import KlaberjassContest as Contest
from cardarena.games.v1.klaberjass_pb2 import KlaberjassEvent as Event
from cardarena.games.v1.klaberjass_pb2 import KlaberjassEventKind as EventKind
from cardarena.games.v1.klaberjass_pb2 import KlaberjassMove as Move
from cardarena.games.v1.klaberjass_pb2 import KlaberjassPhase as Phase
from cardarena.games.v1.klaberjass_pb2 import KlaberjassSplit as Split
from cardarena.games.v1.klaberjass_pb2 import KlaberjassVerb as Verb
from cardarena.games.v1.klaberjass_pb2 import KlaberjassView as View
from cardarena.games.v1.klaberjass_pb2 import KlaberjassWord as Word
from cardarena.moves import klaberjass as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Klaberjass: `class MyBot(klaberjass.Bot)`."""

    games = _games.FAMILIES["klaberjass"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["klaberjass"]


__all__ = [
    "ANNOUNCE",
    "ANNOUNCED",
    "ANSWERED",
    "BEGAN",
    "CALLED",
    "CALL_NO",
    "CALL_PASS",
    "CALL_SCHMEISS",
    "CALL_YES",
    "DEALT",
    "EXCHANGE",
    "EXCHANGED",
    "GOOD",
    "HOW_HIGH",
    "KEEP",
    "KEPT",
    "MADE",
    "NAME",
    "NAMED_SUIT",
    "NAMED_TOP",
    "NO",
    "NOT_GOOD",
    "NO_MELD",
    "PASS",
    "PHASE_ANNOUNCE",
    "PHASE_ANSWER",
    "PHASE_DIX",
    "PHASE_FIRST_BID",
    "PHASE_FOLLOW",
    "PHASE_LEAD",
    "PHASE_NAME",
    "PHASE_OVER",
    "PHASE_REPLY",
    "PHASE_SECOND_BID",
    "PLAY",
    "PLAYED",
    "SCHMEISS",
    "SCORED",
    "SHOWN",
    "TAKE",
    "THROWN_IN",
    "WON",
    "WORD_ALSO",
    "WORD_GOOD",
    "WORD_HOW_HIGH",
    "WORD_NOT_GOOD",
    "YES",
    "Ask",
    "Auction",
    "BatchBot",
    "Bot",
    "Call",
    "Choice",
    "Contest",
    "Event",
    "EventKind",
    "Move",
    "Phase",
    "Split",
    "Verb",
    "View",
    "Word",
    "moves",
]
