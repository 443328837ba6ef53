"""Compares a bot at a published match with the house bot: its score with the same cards, and its moves.

Par is the score of a seat when house bots sit at all seats and the cards are those of the match (as in duplicate
bridge). It shows how good the cards were, and is not rated. A decision is judged from the bot's view: the house bot
searches from this view, and never uses the hidden cards.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from arena.games.contract import Move, Seat, State, View
from arena.games.notation import Notation
from arena.house.bot import searcher_of
from arena.house.search import Searcher
from arena.local.turns import turns
from arena.records.playback import PlaybackStep, ReplayedDecision, play_back
from arena.records.read import Replay
from arena.referee.spec import Ending, MatchSpec

MOST_DECISIONS: Final = 3
"""The number of decisions that are listed as the costliest."""


@dataclass(frozen=True, slots=True)
class CostlyDecision:
    """A decision at which the house bot's move is better."""

    decision: int
    """The bot's decision in the match, from 1."""
    hand: int
    step: int
    """The number of the step in `arena replay show`."""
    played: str
    """The bot's move, in notation."""
    better: str
    """The house bot's move."""
    loss: float
    """The points to the end of the hand by which the house bot's move is better, on average over the hidden cards."""
    error: float
    """The standard error of the loss."""
    view: View
    """What the seat saw."""
    moves: tuple[Move, Move]
    """The move that was played, and the house bot's."""


@dataclass(frozen=True, slots=True)
class HouseComparison:
    """A comparison of a bot's match with the house bot."""

    par: tuple[int, ...]
    """The scores by seat if house bots play the match."""
    decisions: int
    """The number of the bot's decisions with a choice, which were compared."""
    costliest: tuple[CostlyDecision, ...]
    """The costliest decisions, the worst first."""


class CannotCompare(Exception):
    """A match cannot be compared. The text says why."""


def compare(
    replay: Replay, seat: Seat, steps: int, progress: Callable[[int, int], None] = lambda *_: None
) -> HouseComparison:
    """Compare the bot at a seat with the house bot.

    Args:
      replay: The replay of a match that `verify` has accepted.
      seat: The seat of the bot.
      steps: The number of steps of the rules for a decision of the house bot
        (`arena.sandbox.house_levels`).
      progress: Called with the number of decisions that are compared, and of all.

    Raises `CannotCompare` if the match was aborted, or the house bot has no policy for the game.
    """
    spec, searcher = _comparable(replay)
    game = spec.terms.game
    decisions = [
        (decision, step)
        for step in play_back(replay)
        for decision in step.decisions
        if decision.seat == seat and decision.fault is None and not decision.unasked
    ]
    decisions = [pair for pair in decisions if _has_choice(*pair)]
    notation = Notation(game.messages.Move)
    costly = []
    for number, (decision, step) in enumerate(decisions, 1):
        progress(number, len(decisions))
        view = game.rules.view(step.before, seat)
        compared = searcher.compare(
            view,
            spec.terms.options,
            seat,
            step.hand,
            steps,
            random.Random(f"{spec.match_id} {seat} {decision.decision}"),
            played=decision.move,
        )
        if compared.loss > 0:
            costly.append(
                CostlyDecision(
                    decision.decision,
                    step.hand,
                    step.index,
                    notation.write(decision.move),
                    notation.write(compared.best),
                    compared.loss,
                    compared.error,
                    view,
                    (decision.move, compared.best),
                )
            )
    costly.sort(key=lambda each: -each.loss)
    scores = _par(spec, searcher, math.inf)
    return HouseComparison(scores, len(decisions), tuple(costly[:MOST_DECISIONS]))


def par(replay: Replay, most_decisions: int) -> tuple[int, ...]:
    """Return the scores by seat if house bots play the match.

    Raises:
      CannotCompare: as `compare`, or if the house bots make more than `most_decisions`.
      Unplayable: if this arena does not have the game, rules version or options.
    """
    return _par(*_comparable(replay), most_decisions)


def _comparable(replay: Replay) -> tuple[MatchSpec, Searcher]:
    """Return the match and the search of its game.

    Raises `CannotCompare` if the match was aborted, or the house bot has no policy for the game.
    """
    spec = replay.spec()
    searcher = searcher_of(spec.terms.game.id)
    if searcher is None:
        raise CannotCompare(f"the house bot has no policy for {spec.terms.game.title}")
    if replay.ending is Ending.ABORTED:
        raise CannotCompare("the match was aborted")
    return spec, searcher


def _has_choice(decision: ReplayedDecision, step: PlaybackStep) -> bool:
    moves = step.game.rules.moves(step.before, decision.seat)
    return len(moves.offered) > 1 or not moves.complete


def _par(spec: MatchSpec, searcher: Searcher, most_decisions: float) -> tuple[int, ...]:
    """Return the scores of a match between house bots of the level `sample` with the cards of another match.

    Raises `CannotCompare` if they make more than `most_decisions`.
    """
    rules, options = spec.terms.game.rules, spec.terms.options
    chance = random.Random(spec.match_id)

    def move(state: State, seat: Seat) -> Move:
        view: View = rules.view(state, seat)
        return searcher.choose(view, options, seat, rules.hand_number(state), 0, chance).move

    decisions = 0
    for turn in turns(rules, options, spec.terms.seats, spec.deals, move):
        decisions += len(turn.acting)
        if decisions > most_decisions:
            raise CannotCompare(f"the house bots make more than {most_decisions} decisions")
    result = rules.result(turn.after)
    assert result is not None, "a match without a seat to act is over"
    return result.scores
