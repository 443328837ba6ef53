"""Write a bot for Card Arena.

A bot is a class with one method, and plays with `cardarena.run`:

    from cardarena import abstrac

    class MyBot(abstrac.Bot):
        def move(self, ask: abstrac.Ask) -> abstrac.Move:
            return ask.moves[0]

    cardarena.run(MyBot)

Each game has a module with its class of bots, its messages under short names, and constructors of its moves:
`cardarena.abstrac`, `abstrac.moves`. `cardarena.Bot` plays every game. `cardarena.cards` reads and sorts cards,
`cardarena.local` plays without a server.
"""

import os

# The variable is read when grpc is first imported. Otherwise grpc writes to the terminal at every failed handshake: the
# SDK explains these better, and anybody who knows an arena's port could fill its terminal.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

from cardarena import _game_modules, cards, local
from cardarena._ask import AnyAsk, Ask, End, OptionValue
from cardarena._bets import Bets
from cardarena._bot import BatchBot, Bot
from cardarena._choice import Choice, Noted
from cardarena._errors import Lied, Misconfigured, PlayError, Refused, Unreachable
from cardarena._game_modules import *  # noqa: F403 - its `__all__` lists the module of every game
from cardarena._games import KNOWN as GAMES
from cardarena._run import play, run
from cardarena.v1.play_pb2 import GameSupport, MatchStart, Player

__all__ = [
    "GAMES",
    "AnyAsk",
    "Ask",
    "BatchBot",
    "Bets",
    "Bot",
    "Choice",
    "End",
    "GameSupport",
    "Lied",
    "MatchStart",
    "Misconfigured",
    "Noted",
    "OptionValue",
    "PlayError",
    "Player",
    "Refused",
    "Unreachable",
    "cards",
    "local",
    "play",
    "run",
]
__all__ += _game_modules.__all__
