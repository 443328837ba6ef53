"""Bots of golden matches: between them they use every kind of move that the rules offer.

A kind is a verb with what is an enum, a truth or absent in it: `Judge right` and
`Judge wrong` are two, all plays of a card are one. What a bot plays follows from
its name and the seed alone.
"""

import dataclasses
import math
from collections import Counter
from enum import Enum

from arena.games.eleusis.messages import Guess, Rule

RULES = (
    "card.color != last.color",
    "card.rank >= last.rank ? card.rank - last.rank < 7 : card.suit == last.suit",
    "line.exists(c, c.suit == card.suit) == (card.rank % 2 == 0)",
    'card.suit in ["s", "h"] || line.filter(c, c.face).size() > 1 && card.parity == 1',
    'card.suit == {"s":"c","c":"d","d":"h","h":"s"}[last.suit]',
    "abs(card.rank - last.rank) <= 4 && !(card == last)",
    "size(line) < 2 ? true : line[size(line) - 2].color != card.color",
    "card.color == line[0].color",
    "card.face",
    "card.rank == 1 && card.suit == 's'",
    "card.rank != 20",
    "line[1].rank == card.rank",
    "card.rank / (last.rank - 7) > 0",
    "card.color = last.color",
    "card.colour == last.color",
    "",
)
"""Rules that a dealer of Eleusis may think of: sound, faulty, and no rules at all. One that costs
too much takes seconds to refuse; tests/games/test_eleusis.py has it."""


def kind_of(move):
    """The kind of a move, as something to count by."""
    marks = tuple(
        (field.name, value)
        for field in dataclasses.fields(move)
        if (value := getattr(move, field.name)) is None or isinstance(value, bool | Enum)
    )
    return type(move).__name__, marks


class Bot:
    """One seat's player. It sees the legal moves, and of Eleusis the rule itself."""

    def __init__(self, name, draw):
        self.name, self._draw = name, draw
        self._used = Counter()
        self._weights = {}

    def choose(self, rules, state, seat):
        legal = rules.moves(state, seat)
        text = self._text(legal, state)
        if text is not None:
            return text
        move = getattr(self, f"_{self.name}")(legal)
        self._used[kind_of(move)] += 1
        return move

    def _first(self, legal):
        return legal.offered[0]

    def _last(self, legal):
        return legal.offered[-1]

    def _uniform(self, legal):
        return legal.sample(self._draw.randrange)

    def _rare(self, legal):
        """Of the kinds on offer the one that this seat used least."""
        kinds = self._kinds(legal)
        least = min(self._used[kind] for kind in kinds)
        return self._draw.choice(
            kinds[self._draw.choice([kind for kind in kinds if self._used[kind] == least])]
        )

    def _moody(self, legal):
        """A kind by weights that hold for the match: it may shun one and love another."""
        kinds = self._kinds(legal)
        for kind in kinds:
            if kind not in self._weights:
                self._weights[kind] = math.exp(-6 * self._draw.random())
        (kind,) = self._draw.choices(list(kinds), [self._weights[kind] for kind in kinds])
        return self._draw.choice(kinds[kind])

    def _kinds(self, legal):
        kinds = {}
        for move in legal.offered:
            kinds.setdefault(kind_of(move), []).append(move)
        if not legal.complete:
            move = legal.sample(self._draw.randrange)
            kinds.setdefault(kind_of(move), []).append(move)
        return kinds

    def _text(self, legal, state):
        """What no offer lists: a rule of the own, or a guess at somebody's."""
        if Rule(RULES[0]) in legal:
            return Rule(self._draw.choice(RULES)) if self._draw.random() < 0.9 else None
        if Guess(RULES[0]) in legal and self._draw.random() < 0.7:
            events = (
                state.secret.rule if self._draw.random() < 0.2 else self._draw.choice(RULES[:10])
            )
            return Guess(events)
        return None


NAMES = ("uniform", "rare", "moody", "first", "last")
"""The bots there are; a match of `each` has one of them at every seat in turn."""


def bots(name, seats, draw):
    """A bot for every seat."""
    names = [NAMES[seat % len(NAMES)] if name == "each" else name for seat in range(seats)]
    return [Bot(name, draw) for name in names]
