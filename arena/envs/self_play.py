"""Self-play: the results of the legal actions of a decision, if all seats continue by one policy.

At a decision each action is tried in a copy of the match, and the hand is played to its end with the same cards. So
results differ by the actions and not by the luck of the deal, and one decision has as much information as many hands
with one action each.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.envs.actions import Legal
from arena.envs.encoders import Layout, layout_of
from arena.envs.network import Floats, Network
from arena.envs.trained_bot import better_move
from arena.envs.writers import Numbers, rows_of, zeros
from arena.games.cards import Card
from arena.games.catalogue import game_by_id
from arena.games.contract import Deals, Move, Rules, Seat, State, View
from arena.house.bot import searcher_of
from arena.house.search import Policy
from arena.referee.deal import KeyedDeals, seeded_key

Chosen: TypeAlias = tuple[tuple[Seat, Move], ...]

ROWS: Final = 16
"""The number of matches that are played together, so that the network is asked for many decisions at once."""
MOST_TRIED: Final = 8
"""The number of actions of a decision that are tried: the policy's, and some of the others."""
SHARE_TRIED: Final = 0.25
"""The share of decisions whose actions are tried.

Decisions of one hand are similar, and play costs little compared with the trials.
"""


class Task(NamedTuple):
    """Matches to play."""

    game: str
    options: Mapping[str, Any]
    seats: int
    decisions: int
    """The number of tried decisions after which no further match begins."""
    seed: str
    """Fixes the deals and the exploration."""
    exploration: float
    """The share of decisions at which a legal action is drawn, in the match and not in the trials."""


class Experience(NamedTuple):
    """Decisions whose actions were tried."""

    observations: NDArray[np.float16]
    gains: Floats
    """For each decision and action, by how much the lead at the end of the hand is above the mean of the actions that were
    tried, in points; NaN for the others."""
    usual: NDArray[np.intp]
    """For each decision the action of the house bot's policy, which is tried if it is an action; otherwise -1."""


class KeptDeals:
    """A cache of shuffles: the trials of a match deal the same next hand repeatedly."""

    def __init__(self, deals: Deals) -> None:
        self._deals = deals
        self._kept: dict[tuple[int, str, tuple[Card, ...]], tuple[Card, ...]] = {}

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        """Return what the deals return."""
        key = hand, label, tuple(cards)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = self._deals.shuffle(hand, label, cards)
        return kept


class Values(NamedTuple):
    """A network and the terms by which it plays."""

    network: Network
    margin: float
    """The amount by which the value of a move must exceed that of the house bot's move to replace it."""


class Player:
    """Moves and playouts at many states at once: by a network, or without one by the house bot's policy."""

    def __init__(
        self,
        rules: Rules,
        layout: Layout,
        house: Policy,
        values: Values | None,
        ignored: NDArray[np.intp],
        chance: random.Random,
    ) -> None:
        self._rules, self._layout = rules, layout
        self._house, self._values, self._ignored = house, values, ignored
        draw = chance.random
        self._below = lambda count: int(draw() * count)
        self._numbers = zeros(0)
        self._rows: list[Numbers] = []

    def usual(self, state: State, seat: Seat) -> Move:
        """Return the move of the house bot's policy."""
        return self._house(state, seat, self._below)

    def moves(self, asks: Sequence[tuple[State, Seat]]) -> list[Move]:
        """Return the move of each seat to act in a state."""
        if self._values is None:
            return [self._house(state, seat, self._below) for state, seat in asks]
        network, margin = self._values
        rules, actions = self._rules, self._layout.actions
        chosen: list[Move] = []
        seen, legals = [], []
        for state, seat in asks:
            moves = rules.moves(state, seat)
            chosen.append(moves.offered[0])
            if len(moves.offered) > 1:
                view = rules.view(state, seat)
                seen.append((view, seat))
                chosen[-1] = self.usual(state, seat)
                legals.append((len(chosen) - 1, actions.legal(view, moves)))
        if seen:
            values = network.values(self.observations(seen)).tolist()
            for (place, legal), row in zip(legals, values, strict=True):
                chosen[place] = better_move(legal, row, chosen[place], margin)
        return chosen

    def observations(self, seen: Sequence[tuple[View, Seat]]) -> Floats:
        """Return views as rows of numbers, which the next call overwrites."""
        write, width = self._layout.view.writer, self._layout.view.size
        if len(self._rows) < len(seen):
            self._numbers = zeros(len(seen) * width)
            self._rows = rows_of(self._numbers, width)
        rows = np.frombuffer(self._numbers, np.float32, len(seen) * width).reshape(-1, width)
        rows[:] = 0
        for row, (view, seat) in zip(self._rows, seen, strict=False):
            write(view, seat, row)
        rows[:, self._ignored] = 0
        return rows

    def scores(
        self, hands: Sequence[int], states: list[State], deals: Sequence[Deals]
    ) -> list[tuple[int, ...]]:
        """Play states until their hands of these numbers are over; return the scores of the hands by seat."""
        rules = self._rules
        scores: list[tuple[int, ...]] = [()] * len(states)
        live: Sequence[int] = range(len(states))
        while live:
            asks, asked = [], []
            for at in live:
                state = states[at]
                acting = rules.to_act(state)
                if acting and rules.hand_number(state) == hands[at]:
                    asked.append((at, acting))
                    asks += [(state, seat) for seat in acting]
                else:
                    scores[at] = rules.hand_scores(state)[hands[at]]
            moves = iter(self.moves(asks))
            for at, acting in asked:
                chosen = tuple([(seat, next(moves)) for seat in acting])
                states[at] = rules.step(states[at], chosen, deals[at]).state
            live = [at for at, _ in asked]
        return scores


class _Match:
    """A match that is played."""

    def __init__(self, play: "_Play", seed: str) -> None:
        self._play = play
        self._deals = KeptDeals(KeyedDeals(seeded_key(seed)))
        self.state = play.rules.start(play.options, play.task.seats, self._deals).state

    def step(self, usual: Chosen) -> None:
        """Play the moves of the policy, or sometimes random ones; try the actions of some decisions."""
        play, rules, chance = self._play, self._play.rules, self._play.chance
        chosen = list(usual)
        for place, (seat, _) in enumerate(usual):
            tries, explores = (
                chance.random() < share for share in (SHARE_TRIED, play.task.exploration)
            )
            moves = rules.moves(self.state, seat)
            if (tries or explores) and len(moves.offered) > 1:
                view = rules.view(self.state, seat)
                legal = play.layout.actions.legal(view, moves)
                if tries and len(legal) > 1:
                    self._try(usual, place, view, legal)
                if explores:
                    chosen[place] = seat, chance.choice(list(legal.values()))
        self.state = rules.step(self.state, tuple(chosen), self._deals).state

    def _try(self, usual: Chosen, place: int, view: View, legal: Legal) -> None:
        """Note the states after the actions of a decision; the other seats play the policy's moves."""
        play = self._play
        seat, move = usual[place]
        house = play.player.usual(self.state, seat)
        first = [action for action in legal if legal[action] == house]
        tried = first + [action for action in legal if legal[action] == move and move != house]
        others = [action for action in legal if action not in tried]
        if len(others) > MOST_TRIED - len(tried):
            others = play.chance.sample(others, MOST_TRIED - len(tried))
        for action in (*tried, *others):
            chosen = (*usual[:place], (seat, legal[action]), *usual[place + 1 :])
            play.trials.append((len(play.seen), action, seat))
            play.states.append(play.rules.step(self.state, chosen, self._deals).state)
            play.deals.append(self._deals)
            play.hands.append(play.rules.hand_number(self.state))
        play.seen.append((view, seat))
        play.usual.append(first[0] if first else -1)


class _Play:
    """The shared data of the matches of a task, and the trials of their latest decisions."""

    def __init__(self, task: Task, values: Values | None, ignored: NDArray[np.intp]) -> None:
        game = game_by_id(task.game)
        self.task, self.rules = task, game.rules
        self.options = game.options(task.options, task.seats)
        self.layout = layout_of(game, self.options, task.seats)
        self.chance = random.Random(task.seed)
        self.player = Player(
            self.rules, self.layout, _house(task.game), values, ignored, self.chance
        )
        self._clear()

    def _clear(self) -> None:
        self.seen: list[tuple[View, Seat]] = []
        self.usual: list[int] = []
        self.trials: list[tuple[int, int, Seat]] = []
        """The place in `seen`, the action and the seat of each."""
        self.states: list[State] = []
        self.deals: list[Deals] = []
        self.hands: list[int] = []

    def experience(self) -> Experience:
        """Play the trials to their ends, remove them, and return their experience."""
        player = self.player
        gains = np.full((len(self.seen), self.layout.actions.size), np.nan, np.float32)
        scores = player.scores(self.hands, self.states, self.deals)
        for (row, action, seat), by_seat in zip(self.trials, scores, strict=True):
            gains[row, action] = by_seat[seat] - (sum(by_seat) - by_seat[seat]) / (len(by_seat) - 1)
        gains -= np.nanmean(gains, axis=1, keepdims=True)
        seen = player.observations(self.seen).astype(np.float16)
        usual = np.array(self.usual, np.intp)
        self._clear()
        return Experience(seen, gains, usual)


def play(task: Task, values: Values | None, ignored: NDArray[np.intp]) -> Experience:
    """Play matches of a network against itself; without one, of the house bot's policy. `ignored` inputs are 0."""
    shared = _Play(task, values, ignored)
    player = shared.player
    experience: list[Experience] = []
    tried, seeds = 0, count()
    live = [_Match(shared, f"{task.seed}/{next(seeds)}") for _ in range(ROWS)]
    while live:
        acting = [shared.rules.to_act(match.state) for match in live]
        asks = [
            (match.state, seat) for match, seats in zip(live, acting, strict=True) for seat in seats
        ]
        moves = iter(player.moves(asks))
        for match, seats in zip(live, acting, strict=True):
            match.step(tuple([(seat, next(moves)) for seat in seats]))
        if shared.seen:
            tried += len(shared.seen)
            experience.append(shared.experience())
        for at in range(len(live) - 1, -1, -1):
            if not shared.rules.to_act(live[at].state):
                if tried < task.decisions:
                    live[at] = _Match(shared, f"{task.seed}/{next(seeds)}")
                else:
                    del live[at]
    return Experience(*map(np.concatenate, zip(*experience, strict=True)))


def _house(game: str) -> Policy:
    """Return the house bot's policy: that of its searches, which is fast."""
    searcher = searcher_of(game)
    assert searcher is not None, "every game has a policy"
    return searcher.rollout or searcher.policy
