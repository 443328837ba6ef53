"""Plays a sample hand of each game for its page.

Moves are drawn from a stream of hashes, so the picture is the same on every machine.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Final

from arena.deal import KeyedDeals, seeded_key
from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Seat, State
from arena.games.eleusis.messages import PASS, Phase, Play, Rule
from arena.games.eleusis.work import EXAMPLES
from arena.games.game import Game
from arena.replay.frames import viewer_frames
from arena.replay.playback import PlaybackStep, ReplayedDecision
from arena.scenes import Viewer
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
    """The table in the middle of the first hand, with all cards, and sentences of the last step."""
    game = game_by_id(game_id)
    seats = game.seats[0]
    options = game.options({}, seats)
    draw = _draws(game_id)
    deals = KeyedDeals(seeded_key(_SEED))
    state, told = game.rules.start(options, seats, deals)
    frames = [PlaybackStep(0, game, 0, (), told, state, state)]
    while (acting := game.rules.to_act(state)) and len(frames) < MOST_STEPS:
        chosen = tuple((seat, _choose(game, state, seat, draw)) for seat in acting)
        after = game.rules.step(state, chosen, deals)
        decided = tuple(_decision(seat, move) for seat, move in chosen)
        frames.append(PlaybackStep(len(frames), game, 0, decided, after.events, state, after.state))
        state = after.state
        if game.rules.hand_number(state):
            break
    seen = [each for each in viewer_frames(frames, Viewer.ALL, options, seats) if each.hand == 0]
    shown = seen[len(seen) * 2 // 3]
    sentences = tuple(element("span", "", *text(each, NAMES)) for each in shown.sentences())
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
