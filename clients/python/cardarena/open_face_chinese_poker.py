"""Open-Face Chinese Poker's messages under short names: `open_face_chinese_poker.Move(verb=open_face_chinese_poker.PLACE, back=["Ks"])`."""

from typing import TypeAlias

from cardarena import _ask, _bot, _choice, _games
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_EVENT_KIND_DEALT as DEALT,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_EVENT_KIND_DRAWN as DRAWN,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_EVENT_KIND_HAND_BEGAN as HAND_BEGAN,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_EVENT_KIND_PLACED as PLACED,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_EVENT_KIND_REVEALED as REVEALED,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_EVENT_KIND_SCORED as SCORED,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_PHASE_FANTASYLAND as PHASE_FANTASYLAND,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_PHASE_OVER as PHASE_OVER,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_PHASE_PLACE as PHASE_PLACE,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OPEN_FACE_CHINESE_POKER_VERB_PLACE as PLACE,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import OpenFaceChinesePokerEvent as Event
from cardarena.games.v1.open_face_chinese_poker_pb2 import (
    OpenFaceChinesePokerEventKind as EventKind,
)
from cardarena.games.v1.open_face_chinese_poker_pb2 import OpenFaceChinesePokerLayout as Layout
from cardarena.games.v1.open_face_chinese_poker_pb2 import OpenFaceChinesePokerMove as Move
from cardarena.games.v1.open_face_chinese_poker_pb2 import OpenFaceChinesePokerPhase as Phase
from cardarena.games.v1.open_face_chinese_poker_pb2 import OpenFaceChinesePokerVerb as Verb
from cardarena.games.v1.open_face_chinese_poker_pb2 import OpenFaceChinesePokerView as View
from cardarena.moves import open_face_chinese_poker as moves

Ask: TypeAlias = _ask.Ask[View, Move, Event]
Choice: TypeAlias = _choice.Choice[Move]


class Bot(_bot.Bot[View, Move, Event]):
    """A bot for Open-Face Chinese Poker: `class MyBot(open_face_chinese_poker.Bot)`."""

    games = _games.FAMILIES["open_face_chinese_poker"]


class BatchBot(_bot.BatchBot[View, Move, Event]):
    """As `Bot`, for a bot that decides many moves at a time."""

    games = _games.FAMILIES["open_face_chinese_poker"]


__all__ = [
    "DEALT",
    "DRAWN",
    "HAND_BEGAN",
    "PHASE_FANTASYLAND",
    "PHASE_OVER",
    "PHASE_PLACE",
    "PLACE",
    "PLACED",
    "REVEALED",
    "SCORED",
    "Ask",
    "BatchBot",
    "Bot",
    "Choice",
    "Event",
    "EventKind",
    "Layout",
    "Move",
    "Phase",
    "Verb",
    "View",
    "moves",
]
