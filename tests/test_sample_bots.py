"""The sample bots: each file can be copied as it is, and plays whole matches by the rules.

That they are stronger than random is measured by scripts/strength.
"""

import ast
import importlib.util
import random
import subprocess
import sys
from pathlib import Path

import cardarena
import pytest
from cardarena import _choice
from cardarena.v1.play_pb2 import Ask, Clock, MatchEnd, MatchStart, Player

from arena.deal import KeyedDeals, seeded_key
from arena.games.catalogue import GAMES, game_by_id
from arena.wire.games import codec_of
from arena.wire.settings import settings_of_options

FOLDER = Path(__file__).resolve().parent.parent / "sample_bots"
FILES = sorted(path.name for path in FOLDER.glob("*.py"))
EVERY_GAME = ["random_bot.py", "first_bot.py"]

# One match of each bot at each number of seats of its games; the options make them short.
MATCHES = [
    ("abstrac.py", "abstrac", 2, {}),
    ("abstrac.py", "abstrac_suit", 2, {}),
    ("abstrac.py", "abstrac_unfettered", 2, {}),
    ("abstrac.py", "abstrac_fiftytwo", 2, {}),
    *(("democracy.py", "democracy", seats, {"hands": seats}) for seats in range(2, 7)),
    ("democracy.py", "democracy", 3, {"hands": 0, "target": 3}),
    *(("chinese_poker.py", "chinese_poker", seats, {"hands": seats}) for seats in range(2, 5)),
]


def bot_class(file):
    """The bot of a file, which is imported as nobody's module: nothing runs."""
    spec = importlib.util.spec_from_file_location(f"bot_{Path(file).stem}", FOLDER / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kinds = [value for value in vars(module).values() if isinstance(value, type)]
    (bot,) = (kind for kind in kinds if issubclass(kind, cardarena.Bot))
    return bot


class Seated:
    """A bot at its seat, asked by messages as the arena sends them."""

    def __init__(self, bot, start):
        self.start = start
        self.bot = bot()
        self.bot.start = start
        self.bot.started()

    def choose(self, codec, view, moves, told):
        events = [codec.event(event) for event in told]
        message = Ask(ask_id=1, match=1, seat=self.start.seat, clock=Clock(move_ms=10_000))
        message.MergeFromString(codec.ask(view, events, moves))
        # A clock that stands still: what the bot does must not hang on how quick it is here.
        ask = cardarena.Ask(message, self.start, codec.family, before=None, now_s=lambda: 0.0)
        answer = _choice.answer(ask, self.bot.move(ask))
        assert len(answer.note) <= _choice.MAX_NOTE_CHARS
        if answer.WhichOneof("choice") == "index":
            return moves.offered[answer.index]
        return codec.read_move(answer.move)


def play(bots, game_id, options, seed):
    """Play a match in this process; its result, and what each seat chose."""
    game, seats = game_by_id(game_id), range(len(bots))
    codec, rules = codec_of(game), game.rules
    chosen_options = game.options(options, len(bots))
    settings = settings_of_options(game, chosen_options)
    players = [Player(seat=seat, name=f"bot {seat}") for seat in seats]
    table = [
        Seated(
            bot,
            MatchStart(match=1, game=game.id, rules_version=game.rules_version,
                       options=settings, seat=seat, players=players),
        )
        for seat, bot in enumerate(bots)
    ]
    deals = KeyedDeals(seeded_key(seed))
    state, told = rules.start(chosen_options, len(bots), deals)
    untold = [[] for _ in seats]
    choices = []
    while True:
        for each in told:
            for seat in seats if each.seats is None else each.seats:
                untold[seat].append(each.event)
        asked = rules.to_act(state)
        if not asked:
            break
        chosen = []
        for seat in asked:
            view, moves = rules.view(state, seat), rules.moves(state, seat)
            move = table[seat].choose(codec, view, moves, untold[seat])
            assert move in moves, f"seat {seat} chose {move}"
            untold[seat] = []
            chosen.append((seat, move))
        choices += chosen
        state, told = rules.step(state, tuple(chosen), deals)
    result = rules.result(state)
    for seated in table:
        end = MatchEnd(match=1, scores=result.scores, places=result.places, ending=1)
        seated.bot.ended(cardarena.End(end, seated.start, before=None))
    return result, choices
