"""Determinised search: the best move on average over deals that the seat cannot tell apart.

Each world is a state that fits the view. In each, every candidate move is played, and the rest of the hand by a fast
policy for all seats; the candidates share the world and its chance, so that their scores are compared by pairs.
Candidates that fall behind are dropped. The policy's own move is replaced only by one whose mean is better by `LEAVE_Z`
standard errors, because the best of many estimates is too high.

This is Monte Carlo sampling of perfect-information worlds (Ginsberg, *GIB: Imperfect information in a computationally
challenging game*, JAIR 2001) with policy rollouts. It does not value information that a move reveals or hides. If a
policy computes the likelihood of the others' moves so far, likelier worlds are drawn more often (Buro et al.,
*Improving state evaluation, inference, and search in trick-based card games*, IJCAI 2009).
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from arena.games.cards import Card
from arena.games.contract import Move, Options, Seat, State, View
from arena.games.game import Game
from arena.house.looked_ahead import LookedAhead

Below: TypeAlias = Callable[[int], int]

DRAWS: Final = 4
"""The number of states that are drawn for a world if the others' moves make some of them likelier."""
FEWEST_WORLDS: Final = 6
"""The number of worlds before a candidate is dropped, or the policy's move is replaced."""
LEAVE_Z: Final = 1.0
"""The number of standard errors by which a move must be better than the policy's."""
BETTER_Z: Final = 2.0
"""The number of standard errors by which a move must be better than the one that was played to be called better."""
PRIOR_WORLDS: Final = 30
"""The number of worlds that a `Prior` counts for."""
DROP_Z: Final = 2.0
"""The number of standard errors behind the best at which a candidate is dropped."""


class Policy(Protocol):
    """A fast player without memory. It receives a whole state, and uses only what its seat may know."""

    def __call__(self, state: State, seat: Seat, below: Below) -> Move: ...


Candidates: TypeAlias = Callable[[State, Seat, Below], Sequence[Move]]
"""Returns the moves that are worth a search, from the view of the seat."""
LastHand: TypeAlias = Callable[[View], View]
"""Returns the view as it would be if the hand were the last one."""


Likelihood: TypeAlias = Callable[[State, Seat, Below], float]
"""Returns how likely the other seats' moves of the hand so far are in a state, which a seat imagines."""


LookAhead: TypeAlias = Callable[[State, Seat, int, Move], LookedAhead]
"""Searches from a state, for the seat to act, by about a number of steps; the best move is compared with another one.

It uses only what the seat may know.
"""


Prior: TypeAlias = Callable[[State, Seat], Mapping[Move, float]]
"""Returns the points by which moves are better than others, estimated before they are played out."""


def never() -> bool:
    """Return false, so that a search is not ended before its steps are taken."""
    return False


@dataclass(frozen=True, slots=True)
class Searched:
    """A decision of the search."""

    move: Move
    gain: float
    """The points by which it is better than the policy's move on average; 0 if it is the policy's."""
    worlds: int
    steps: int


@dataclass(frozen=True, slots=True)
class ComparedMove:
    """A move that was played, compared with the best one."""

    best: Move
    loss: float
    """The points by which the best move is better on average; 0 if it is the one that was played."""
    error: float
    """The standard error of the loss."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches the moves of one game."""

    game: Game
    policy: Policy
    candidates: Candidates | None = None
    """The candidates; if None, the moves that the rules offer."""
    last_hand: LastHand | None = None
    """Needed if the options do not show how many hands are left."""
    rollout: Policy | None = None
    """Plays after the candidate's move in a search, if `policy` is too slow for that."""
    likelihood: Likelihood | None = None
    """Weighs the worlds by the others' moves, if these depend on their cards."""
    look_ahead: LookAhead | None = None
    """Searches the game instead of playing worlds out."""
    prior: Prior | None = None
    """Counts in addition to the playouts."""
    step_time: float = 1.0
    """The time of a step of the rules with its policy, relative to the slower games. Levels take equally long in all games."""
    most_candidates: int = 24

    def choose(
        self,
        view: View,
        options: Options,
        seat: Seat,
        hand: int,
        steps: int,
        chance: random.Random,
        time_is_up: Callable[[], bool] = never,
    ) -> Searched:
        """Return the best move by a search of about `steps` steps of the rules, or of more if they are fast (`step_time`).

        Args:
          hand: The number of the hand, from 0; the search ends with it.
          steps: The number of steps after which no further world is begun.
          chance: The source of all random numbers.
          time_is_up: Asked before each world; the search ends there if it returns true. A game's
            own search is not begun then.
        """
        if self.look_ahead is not None:
            world = self.game.sample_state(view, options, seat, _below(chance))
            usual = self.policy(world, seat, _below(chance))
            if steps == 0 or time_is_up():
                return Searched(usual, gain=0.0, worlds=0, steps=0)
            ahead = self.look_ahead(world, seat, steps, usual)
            move = ahead.move if ahead.gain > 0 else usual
            return Searched(move, ahead.gain, worlds=1, steps=steps)
        searched = self._searched(view, options, seat, hand, steps, chance, time_is_up)
        best, gain, _ = searched.scores.best(0, LEAVE_Z, searched.prior)
        return Searched(searched.candidates[best], gain, searched.scores.worlds, searched.steps)

    def compare(
        self,
        view: View,
        options: Options,
        seat: Seat,
        hand: int,
        steps: int,
        chance: random.Random,
        *,
        played: Move,
    ) -> ComparedMove:
        """Compare a move that was played with the best one by the search of `choose`.

        Another move is the best only if it is better by `BETTER_Z` standard errors, or by a game's own search if that is sure.
        """
        if self.look_ahead is not None:
            world = self.game.sample_state(view, options, seat, _below(chance))
            ahead = self.look_ahead(world, seat, steps, played)
            surely = ahead.is_sure and ahead.gain > 0
            return (
                ComparedMove(ahead.move, ahead.gain, 0.0)
                if surely
                else ComparedMove(played, 0.0, 0.0)
            )
        searched = self._searched(view, options, seat, hand, steps, chance, played=played)
        best, loss, error = searched.scores.best(searched.candidates.index(played), BETTER_Z)
        return ComparedMove(searched.candidates[best], loss, error)

    def _searched(
        self,
        view: View,
        options: Options,
        seat: Seat,
        hand: int,
        steps: int,
        chance: random.Random,
        time_is_up: Callable[[], bool] = never,
        *,
        played: Move | None = None,
    ) -> "_Search":
        """Score the candidates; the move that was played is one, and is never dropped."""
        options = replace(options, hands=hand + 1)
        if self.last_hand is not None:
            view = self.last_hand(view)
        world = self.game.sample_state(view, options, seat, _below(chance))
        usual = self.policy(world, seat, _below(chance))
        candidates = self._candidates(world, seat, usual, chance)
        if played is not None and played not in candidates:
            candidates.append(played)
        kept = None if played is None else candidates.index(played)
        scores = _Scores(len(candidates), kept)
        used = 0
        while used * self.step_time < steps and len(scores.live) > 1 and not time_is_up():
            world = self._world(view, options, seat, chance)
            dice = chance.getrandbits(64)
            row = [math.nan] * len(candidates)
            for at in scores.live:
                row[at], taken = self.played_out(world, seat, dice, candidates[at])
                used += taken
            scores.add(row)
        values = {} if self.prior is None else self.prior(world, seat)
        prior = [values.get(move, math.nan) for move in candidates] if values else None
        return _Search(candidates, scores, used, prior)

    def _world(self, view: View, options: Options, seat: Seat, chance: random.Random) -> State:
        """Draw a state that fits the view; likelier states are drawn more often."""
        if self.likelihood is None:
            return self.game.sample_state(view, options, seat, _below(chance))
        drawn = [self.game.sample_state(view, options, seat, _below(chance)) for _ in range(DRAWS)]
        weights = [self.likelihood(state, seat, _below(chance)) for state in drawn]
        return chance.choices(drawn, weights)[0]

    def _candidates(
        self, world: State, seat: Seat, usual: Move, chance: random.Random
    ) -> list[Move]:
        moves: Sequence[Move] = (
            self.game.rules.moves(world, seat).offered
            if self.candidates is None
            else self.candidates(world, seat, _below(chance))
        )
        others = [move for move in moves if move != usual]
        if len(others) >= self.most_candidates:
            others = chance.sample(others, self.most_candidates - 1)
        return [usual, *others]

    def played_out(
        self, state: State, seat: Seat, dice: int, move: Move | None = None
    ) -> tuple[float, int]:
        """Play a hand to its end by the policy for all seats; `dice` determines all random numbers.

        `move` is the first move of the seat, if it is to act.

        Returns the lead of the seat over the mean of the others, and the number of steps.
        """
        chance = random.Random(dice)
        deals = RandomDeals(dice)
        rules, policy, below = self.game.rules, self.rollout or self.policy, _below(chance)
        hand = rules.hand_number(state)
        steps = 0
        while acting := rules.to_act(state):
            chosen = tuple(
                (
                    player,
                    move if move is not None and player == seat else policy(state, player, below),
                )
                for player in acting
            )
            move = None
            state = rules.step(state, chosen, deals).state
            steps += 1
        scores = tuple(map(sum, zip(*rules.hand_scores(state)[hand:], strict=True)))
        return scores[seat] - (sum(scores) - scores[seat]) / (len(scores) - 1), steps


def _below(chance: random.Random) -> Below:
    """Return a function that draws an integer below its argument; it is faster than `randrange`, which checks its arguments."""
    draw = chance.random
    return lambda count: int(draw() * count)


class RandomDeals:
    """Shuffles that follow from a number."""

    def __init__(self, dice: int) -> None:
        self._dice = dice

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        return tuple(random.Random(f"{self._dice} {hand} {label}").sample(cards, len(cards)))


class _Scores:
    """The scores of candidates, in pure Python because a trained bot searches without numpy."""

    def __init__(self, candidates: int, kept: int | None = None) -> None:
        """`kept` is a candidate that is not dropped."""
        self.live = list(range(candidates))
        self._kept = kept
        self._rows: list[Sequence[float]] = []
        self._sums = [0.0] * candidates
        self._products = [[0.0] * candidates for _ in range(candidates)]
        """For each two candidates, the smaller number last, the sum of the products of their scores."""

    @property
    def worlds(self) -> int:
        return len(self._rows)

    def add(self, row: Sequence[float]) -> None:
        """Add a world, and drop candidates that are surely behind the best."""
        self._rows.append(row)
        live, sums = self.live, self._sums
        for place, at in enumerate(live):
            score, products = row[at], self._products[at]
            sums[at] += score
            for other in live[: place + 1]:
                products[other] += score * row[other]
        if len(self._rows) < FEWEST_WORLDS:
            return
        best = max(live, key=sums.__getitem__)
        self.live = [at for at in live if at in {self._kept, best} or self._is_near(at, best)]

    def _is_near(self, at: int, best: int) -> bool:
        """Return whether the best candidate may be ahead of another by chance."""
        worlds, products = len(self._rows), self._products
        behind = self._sums[best] - self._sums[at]
        of_both = products[max(at, best)][min(at, best)]
        squares = products[at][at] + products[best][best] - 2 * of_both
        variance = max(0.0, squares - behind * behind / worlds) / (worlds - 1)
        return behind / worlds <= DROP_Z * math.sqrt(variance / worlds)

    def best(
        self, than: int, z: float, prior: Sequence[float] | None = None
    ) -> tuple[int, float, float]:
        """Return the candidate with the largest gain over another, if the gain exceeds `z` standard errors.

        Values of `prior` count as those of `PRIOR_WORLDS` worlds, without an error. Returns that candidate, or the other one, with its gain and the gain's standard error.
        """
        if len(self._rows) < FEWEST_WORLDS:
            return than, 0.0, 0.0
        best, gain, error_of_gain = than, 0.0, 0.0
        for at in self.live:
            paired = [row[at] - row[than] for row in self._rows if not math.isnan(row[than])]
            worlds = len(paired)
            mean = sum(paired) / worlds
            variance = sum([(one - mean) ** 2 for one in paired]) / (worlds - 1)
            error = math.sqrt(variance / worlds)
            before = math.nan if prior is None else prior[at] - prior[than]
            if not math.isnan(before):
                share = worlds / (worlds + PRIOR_WORLDS)
                mean, error = mean * share + before * (1 - share), error * share
            if mean > gain and mean > z * error:
                best, gain, error_of_gain = at, mean, error
        return best, gain, error_of_gain


@dataclass(frozen=True, slots=True)
class _Search:
    candidates: list[Move]
    """The candidate moves, of which the first is the policy's."""
    scores: _Scores
    steps: int
    prior: Sequence[float] | None
    """The value of each candidate before it was played out; NaN if it has none."""
