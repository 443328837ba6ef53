"""Matches to look at: random play, cut into steps, as a replay has them."""

import random
from functools import cache

from arena.games.catalogue import game_by_id
from arena.games.eleusis.hidden_rule import EXAMPLES
from arena.games.eleusis.words import DECLARE, PASS, Guess, NoPlay, Phase, Play, Rule
from arena.replay.frames import Decision, Frame
from arena.testing.deals import Seeded

MOST_STEPS = 400


@cache
def played(game_id, seats, seed=7, most=MOST_STEPS):
    """The options and the frames of a match, at most `most` steps of it."""
    game = game_by_id(game_id)
    options, rules = game.options({"hands": seats}, seats), game.rules
    deals, draw = Seeded(f"scenes {seed}"), random.Random(f"{game_id} {seats} {seed}")
    state, told = rules.start(options, seats, deals)
    frames = [Frame(0, game, rules.hand_number(state), (), told, state, state)]
    while (acting := rules.to_act(state)) and len(frames) <= most:
        chosen = tuple((seat, _choose(game, state, seat, draw)) for seat in acting)
        hand = rules.hand_number(state)
        after = rules.step(state, chosen, deals)
        decided = tuple(_decision(seat, move, len(frames)) for seat, move in chosen)
        frames.append(Frame(len(frames), game, hand, decided, after.told, state, after.state))
        state = after.state
    return options, tuple(frames)


def _decision(seat, move, number):
    return Decision(seat, number, move, 0, 0, 60_000, None, "", unasked=False, forfeited=False)


def _choose(game, state, seat, draw):
    legal = game.rules.moves(state, seat)
    if game.family != "eleusis":
        return legal.sample(draw.randrange)
    match state.phase:
        case Phase.RULE:
            return Rule(draw.choice(EXAMPLES))
        case Phase.GUESS_OPTION:
            return Guess(draw.choice(EXAMPLES)) if draw.random() < 0.1 else PASS
        case Phase.PROPHET_OPTION:
            return DECLARE if draw.random() < 0.1 else PASS
        case Phase.PLAY:
            kind = NoPlay if draw.random() < 0.1 else Play
            return draw.choice([move for move in legal.offered if isinstance(move, kind)])
    return legal.sample(draw.randrange)
