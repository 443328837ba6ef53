"""Matches to look at: random play, cut into steps, as a replay has them."""

import random
from functools import cache
from itertools import islice

from arena.games.catalogue import game_by_id
from arena.games.eleusis.messages import DECLARE, PASS, Guess, NoPlay, Phase, Play, Rule
from arena.games.eleusis.work import EXAMPLES
from arena.local.turns import turns
from arena.records.playback import PlaybackStep, ReplayedDecision
from arena.testing.deals import SeededDeals

MOST_STEPS = 400


@cache
def played(game_id, seats, seed=7, most=MOST_STEPS, more=()):
    """The options and the steps of a match, at most `most` steps of it; `more` are pairs of options."""
    game = game_by_id(game_id)
    options, rules = game.options({"hands": seats, **dict(more)}, seats), game.rules
    deals, draw = SeededDeals(f"scenes {seed}"), random.Random(f"{game_id} {seats} {seed}")
    match = turns(
        rules, options, seats, deals, lambda state, seat: _choose(game, state, seat, draw)
    )
    steps = []
    for number, turn in enumerate(islice(match, most + 1)):
        before = turn.after if turn.before is None else turn.before
        decided = tuple(_decision(seat, move, number) for seat, move in turn.chosen)
        hand = rules.hand_number(before)
        steps.append(PlaybackStep(number, game, hand, decided, turn.events, before, turn.after))
    return options, tuple(steps)


def _decision(seat, move, number):
    return ReplayedDecision(
        seat, number, move, 0, 0, 60_000, None, "", unasked=False, forfeited=False
    )


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
