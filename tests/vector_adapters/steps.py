"""Plays the steps of scripted vectors, whatever the game: the contract of rules is the same.

A step says what is done, what is refused, or what is to be seen. All adapters
of games with steps share this runner; each adds the actions of its game and
what can be observed.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from arena.games.contract import IllegalMove, Seat
from tests.vector_adapters.deals import compare, only


class Sitting:
    """A match in play. Simultaneous choices are held, as a referee holds them."""

    like: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})
    """How values of an observable compare, if not as they are."""

    def __init__(self, game, state, deals):
        self.game, self.state, self.deals = game, state, deals
        self.held = {}
        """By seat, choices of a step that is not complete."""

    def move_of(self, action):
        """The move of an action."""
        raise NotImplementedError

    def observe(self):
        """What can be seen now: by name, a function or an `OfSeat`."""
        raise NotImplementedError

    def heard(self, event):
        """An event was told."""

    def actors(self):
        """The seats that have still to choose."""
        return [seat for seat in self.game.to_act(self.state) if seat not in self.held]

    def moves(self, seat):
        """What a seat may do, as an iterable and a container; () if it is not its turn."""
        return self.game.moves(self.state, Seat(seat)) if seat in self.actors() else ()

    def do(self, seat, action):
        """An action that must be accepted."""
        move = self.move_of(action)
        assert seat in self.actors(), f"seat {seat} is not to act"
        assert move in self.moves(seat), f"{move} is not legal"
        self.held[seat] = move
        if not self.actors():
            self.step(tuple(sorted(self.held.items())))

    def step(self, chosen):
        self.state, told = self.game.step(self.state, chosen, self.deals)
        self.held = {}
        for event, _ in told:
            self.heard(event)

    def reject(self, seat, action):
        """An action that must be refused, and leave everything as it was.

        All others choose what is legal, so that nothing else can be the reason.
        A second choice of a seat is given beside its first, which stands.
        """
        move, before = self.move_of(action), repr(self.state)
        asked = self.game.to_act(self.state)
        chosen = [(each, self.held.get(each)) for each in asked]
        chosen = [(each, one or self.game.fallback(self.state, each)) for each, one in chosen]
        if seat in self.actors():
            assert move not in self.moves(seat), f"{move} is legal"
            chosen = [(each, one) for each, one in chosen if each != seat]
        chosen.append((Seat(seat), move))
        with pytest.raises(IllegalMove):
            self.game.step(self.state, tuple(sorted(chosen, key=lambda each: each[0])), self.deals)
        assert repr(self.state) == before

    def compare(self, expected):
        """What must be seen."""
        compare(expected, self.observe(), self.like)


class Hand(Sitting):
    """A hand that a seat looks at, with its latest score and the number of its decisions."""

    scored_by: type
    """The event that has the score."""

    def __init__(self, game, state, deals, seat=None):
        super().__init__(game, state, deals)
        self.seat = seat
        """Whose view is looked at; None is the spectator's."""
        self.scored = None
        self.decisions = 0

    def do(self, seat, action):
        super().do(seat, action)
        self.decisions += 1

    def heard(self, event):
        if isinstance(event, self.scored_by):
            self.scored = event


def play(sitting, vector):
    """Play all steps of a vector and compare what it expects at the end."""
    for one in vector.get("steps") or ():
        only(one, "do", "reject", "expect")
        assert len(one) == 1, "a step is one thing"
        if "do" in one:
            sitting.do(*one["do"])
        elif "reject" in one:
            sitting.reject(*one["reject"])
        else:
            sitting.compare(one["expect"])
    sitting.compare(vector.get("expect") or {})
