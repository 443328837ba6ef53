"""Chinese Poker's messages under short names: `chinese_poker.Move(verb=chinese_poker.SURRENDER)`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_EVENT_KIND_DEALT as DEALT
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_EVENT_KIND_HAND_BEGAN as HAND_BEGAN
from cardarena.games.v1.chinese_poker_pb2 import (
    CHINESE_POKER_EVENT_KIND_NATURAL_DECLARED as NATURAL_DECLARED,
)
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_EVENT_KIND_REVEALED as REVEALED
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_EVENT_KIND_SCORED as SCORED
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_EVENT_KIND_SURRENDERED as SURRENDERED
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_NATURAL_DRAGON as DRAGON
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_NATURAL_SIX_PAIR as SIX_PAIR
from cardarena.games.v1.chinese_poker_pb2 import (
    CHINESE_POKER_NATURAL_THREE_FLUSHES as THREE_FLUSHES,
)
from cardarena.games.v1.chinese_poker_pb2 import (
    CHINESE_POKER_NATURAL_THREE_STRAIGHTS as THREE_STRAIGHTS,
)
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_PHASE_OVER as PHASE_OVER
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_PHASE_SET as PHASE_SET
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_PHASE_SURRENDER as PHASE_SURRENDER
from cardarena.games.v1.chinese_poker_pb2 import (
    CHINESE_POKER_VERB_DECLARE_NATURAL as DECLARE_NATURAL,
)
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_VERB_PLAY as PLAY
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_VERB_SET as SET
from cardarena.games.v1.chinese_poker_pb2 import CHINESE_POKER_VERB_SURRENDER as SURRENDER
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerEvent as Event
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerEventKind as EventKind
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerMove as Move
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerNatural as Natural
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerPhase as Phase
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerRows as Rows
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerShownNatural as ShownNatural
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerVerb as Verb
from cardarena.games.v1.chinese_poker_pb2 import ChinesePokerView as View
from cardarena.moves import chinese_poker as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Chinese Poker: `class MyBot(chinese_poker.Bot)`."""

    games = _games.FAMILIES["chinese_poker"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["chinese_poker"]


__all__ = [
    "DEALT",
    "DECLARE_NATURAL",
    "DRAGON",
    "HAND_BEGAN",
    "NATURAL_DECLARED",
    "PHASE_OVER",
    "PHASE_SET",
    "PHASE_SURRENDER",
    "PLAY",
    "REVEALED",
    "SCORED",
    "SET",
    "SIX_PAIR",
    "SURRENDER",
    "SURRENDERED",
    "THREE_FLUSHES",
    "THREE_STRAIGHTS",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Event",
    "EventKind",
    "Move",
    "Natural",
    "Phase",
    "Rows",
    "ShownNatural",
    "Verb",
    "View",
    "moves",
]
