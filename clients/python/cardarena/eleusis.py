"""Eleusis's messages under short names: `eleusis.Move(verb=eleusis.RULE, text="card.face")`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_END_DEPLETED as END_DEPLETED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_END_EXPELLED as END_EXPELLED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_END_GUESS as END_GUESS
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_END_NO_PLAY as END_NO_PLAY
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_END_TURN_CAP as END_TURN_CAP
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_DRAWN as DRAWN
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_GUESS_REFUTED as GUESS_REFUTED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_GUESSED as GUESSED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_HAND_BEGAN as HAND_BEGAN
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_HAND_SCORED as HAND_SCORED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_JUDGED as JUDGED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_NO_PLAY_CALLED as NO_PLAY_CALLED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_NO_PLAY_RESOLVED as NO_PLAY_RESOLVED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_PACK_ADDED as PACK_ADDED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_PASSED as PASSED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_PLAY_RESOLVED as PLAY_RESOLVED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_PLAYED as PLAYED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_PROPHET_DECLARED as PROPHET_DECLARED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_PROPHET_DEPOSED as PROPHET_DEPOSED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_RULE_REFUSED as RULE_REFUSED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_EVENT_KIND_RULE_REPLACED as RULE_REPLACED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_OPINION_RIGHT as OPINION_RIGHT
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_OPINION_WRONG as OPINION_WRONG
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_PHASE_GUESS_OPTION as PHASE_GUESS_OPTION
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_PHASE_JUDGE as PHASE_JUDGE
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_PHASE_PLAY as PHASE_PLAY
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_PHASE_PROPHET_OPTION as PHASE_PROPHET_OPTION
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_PHASE_RULE as PHASE_RULE
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERB_DECLARE as DECLARE
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERB_GUESS as GUESS
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERB_JUDGE as JUDGE
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERB_NO_PLAY as NO_PLAY
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERB_PASS as PASS
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERB_PLAY as PLAY
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERB_RULE as RULE
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERDICT_ACCEPTED as VERDICT_ACCEPTED
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERDICT_COST as VERDICT_COST
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERDICT_DEAD_END as VERDICT_DEAD_END
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERDICT_RUNTIME_ERROR as VERDICT_RUNTIME_ERROR
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERDICT_SYNTAX as VERDICT_SYNTAX
from cardarena.games.v1.eleusis_pb2 import ELEUSIS_VERDICT_TOO_PERMISSIVE as VERDICT_TOO_PERMISSIVE
from cardarena.games.v1.eleusis_pb2 import (
    ELEUSIS_VERDICT_TOO_RESTRICTIVE as VERDICT_TOO_RESTRICTIVE,
)
from cardarena.games.v1.eleusis_pb2 import EleusisCalls as Calls
from cardarena.games.v1.eleusis_pb2 import EleusisEnd as End
from cardarena.games.v1.eleusis_pb2 import EleusisEvent as Event
from cardarena.games.v1.eleusis_pb2 import EleusisEventKind as EventKind
from cardarena.games.v1.eleusis_pb2 import EleusisGuesses as Guesses
from cardarena.games.v1.eleusis_pb2 import EleusisLayout as Layout
from cardarena.games.v1.eleusis_pb2 import EleusisMove as Move
from cardarena.games.v1.eleusis_pb2 import EleusisOffice as Office
from cardarena.games.v1.eleusis_pb2 import EleusisOpinion as Opinion
from cardarena.games.v1.eleusis_pb2 import EleusisPhase as Phase
from cardarena.games.v1.eleusis_pb2 import EleusisVerb as Verb
from cardarena.games.v1.eleusis_pb2 import EleusisVerdict as Verdict
from cardarena.games.v1.eleusis_pb2 import EleusisView as View
from cardarena.moves import eleusis as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for every game of the family: `class MyBot(eleusis.Bot)`."""

    games = _games.FAMILIES["eleusis"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["eleusis"]


__all__ = [
    "DEALT",
    "DECLARE",
    "DRAWN",
    "END_DEPLETED",
    "END_EXPELLED",
    "END_GUESS",
    "END_NO_PLAY",
    "END_TURN_CAP",
    "GUESS",
    "GUESSED",
    "GUESS_REFUTED",
    "HAND_BEGAN",
    "HAND_SCORED",
    "JUDGE",
    "JUDGED",
    "NO_PLAY",
    "NO_PLAY_CALLED",
    "NO_PLAY_RESOLVED",
    "OPINION_RIGHT",
    "OPINION_WRONG",
    "PACK_ADDED",
    "PASS",
    "PASSED",
    "PHASE_GUESS_OPTION",
    "PHASE_JUDGE",
    "PHASE_OVER",
    "PHASE_PLAY",
    "PHASE_PROPHET_OPTION",
    "PHASE_RULE",
    "PLAY",
    "PLAYED",
    "PLAY_RESOLVED",
    "PROPHET_DECLARED",
    "PROPHET_DEPOSED",
    "RULE",
    "RULE_REFUSED",
    "RULE_REPLACED",
    "VERDICT_ACCEPTED",
    "VERDICT_COST",
    "VERDICT_DEAD_END",
    "VERDICT_RUNTIME_ERROR",
    "VERDICT_SYNTAX",
    "VERDICT_TOO_PERMISSIVE",
    "VERDICT_TOO_RESTRICTIVE",
    "Ask",
    "BatchBot",
    "Bot",
    "Calls",
    "Choice",
    "End",
    "Event",
    "EventKind",
    "Guesses",
    "Layout",
    "Move",
    "Office",
    "Opinion",
    "Phase",
    "Verb",
    "Verdict",
    "View",
    "moves",
]
