"""Plays a sample hand of each game for its page.

Moves are drawn from a stream of hashes, so the picture is the same on every machine.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Final

from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Seat, State
from arena.games.eleusis.messages import PASS, Phase, Play, Rule
from arena.games.eleusis.work import EXAMPLES
from arena.games.game import Game
from arena.local.turns import turns
from arena.pictures import Viewer
from arena.records.frames import hand_frames
from arena.records.playback import PlaybackStep, ReplayedDecision
from arena.referee.deal import KeyedDeals, seeded_key
from arena.web.rich_text import text
from arena.web.table import TableLayout, table
from arena.web.trees import Element, element

MOST_STEPS: Final = 60
NAMES: Final = ("ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal", "ida", "jo")
_SEED: Final = "a hand under way"


def _draws(game_id: str) -> Callable[[int], int]:
    number = 0

    def draw(below: int) -> int:
        nonlocal number
        number += 1
        digest = hashlib.sha256(f"{game_id} {number}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % below

    return draw


@cache
def sample_hand(game_id: str) -> tuple[Element, tuple[Element, ...]]:
    """Return the table in the middle of the first hand, with all cards, and sentences of the last step."""
    game = game_by_id(game_id)
    seats = game.seats[0]
    options = game.options({}, seats)
    draw = _draws(game_id)
    deals = KeyedDeals(seeded_key(_SEED))

    def choose(state: State, seat: Seat) -> Move:
        return _choose(game, state, seat, draw)

    frames = []
    for number, turn in enumerate(turns(game.rules, options, seats, deals, choose)):
        decided = tuple(_decision(seat, move) for seat, move in turn.chosen)
        before = turn.after if turn.before is None else turn.before
        frames.append(PlaybackStep(number, game, 0, decided, turn.events, before, turn.after))
        if len(frames) == MOST_STEPS or game.rules.hand_number(turn.after):
            break
    seen = hand_frames(frames, 0, Viewer.ALL, options, seats)
    shown = seen[len(seen) * 2 // 3]
    sentences = tuple(element("span", "", *text(sentence, NAMES)) for sentence in shown.sentences())
    return table(shown.scene(), TableLayout(NAMES[:seats])), sentences


def _choose(game: Game, state: State, seat: Seat, draw: Callable[[int], int]) -> Move:
    legal = game.rules.moves(state, seat)
    if game.family == "eleusis":
        match state.phase:
            case Phase.RULE:
                return Rule(EXAMPLES[draw(len(EXAMPLES))])
            case Phase.GUESS_OPTION | Phase.PROPHET_OPTION:
                return PASS
            case Phase.PLAY:
                plays = [move for move in legal.offered if isinstance(move, Play)]
                return plays[draw(len(plays))]
    return legal.sample(draw)


def _decision(seat: Seat, move: Move) -> ReplayedDecision:
    return ReplayedDecision(seat, 0, move, 0, 0, 0, None, "", unasked=False, forfeited=False)
