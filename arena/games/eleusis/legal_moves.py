"""Which moves there are in Eleusis: singles are listed, strings of cards and texts are not.

A hand of fourteen cards can be played in hundreds of thousands of millions of
ways; they are counted and drawn from, never written out.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache
from math import comb
from operator import mul
from typing import Final

from arena.cards import Card
from arena.games.cel import Rule as Language
from arena.games.cel import RuleError
from arena.games.contract import Listed
from arena.games.eleusis.hidden_rule import EXAMPLES
from arena.games.eleusis.state import State, is_express
from arena.games.eleusis.words import (
    DECLARE,
    NO_PLAY,
    PASS,
    PLAYS,
    RIGHT,
    WRONG,
    WRONG_FOR,
    Guess,
    Move,
    NoPlay,
    Pass,
    Phase,
    Play,
    Rule,
)

_EXAMPLES: Final = tuple(Rule(text) for text in EXAMPLES)

_WORDS: Final = 8
"""Words that are tried before strings are counted."""

PROPHET_OPTION: Final = Listed((PASS, DECLARE))
JUDGE_PLAY: Final = Listed((RIGHT, WRONG))


@cache
def _choices(size: int) -> tuple[int, ...]:
    """Ways to choose so many of the places of a string of this length."""
    return tuple([comb(size, put) for put in range(size + 1)])


def distinct(hand: tuple[Card, ...]) -> tuple[Card, ...]:
    """Each face of a hand once, in its order."""
    return tuple(dict.fromkeys(hand))


def singles(hand: tuple[Card, ...]) -> Listed:
    """One card, or none (Express)."""
    return Listed((*(PLAYS[card] for card in distinct(hand)), NO_PLAY))


def opinions(shown: tuple[Card, ...]) -> Listed:
    """A prophet's opinions on a no-play: right, or wrong for any card of the hand."""
    return Listed((RIGHT, *(WRONG_FOR[card] for card in distinct(shown))))


class Strings:
    """Plays of any cards of a hand in any order, or none; only single cards are offered."""

    __slots__ = ("_hand",)

    def __init__(self, hand: tuple[Card, ...]) -> None:
        self._hand = hand

    @property
    def offered(self) -> tuple[Move, ...]:
        return (*(PLAYS[card] for card in distinct(self._hand)), NO_PLAY)

    @property
    def complete(self) -> bool:
        return len(self._hand) == 1

    def __contains__(self, move: object) -> bool:
        if isinstance(move, Play):
            cards = move.cards
            if len(cards) == 1:
                return cards[0] in self._hand
            return 0 < len(cards) <= len(self._hand) and Counter(cards) <= Counter(self._hand)
        return isinstance(move, NoPlay)

    def count(self) -> int:
        return sum(self._tables()[-1])  # the no-play in place of the empty string

    def sample(self, below: Callable[[int], int]) -> Move:
        """Any string with the same chance, or the no-play: mostly long strings, then.

        Of a large hand nearly every word over its faces is a string. Where a
        few tries give none, the strings are counted.
        """
        copies = Counter(self._hand)
        for _ in range(_WORDS):
            word = _word(tuple(copies), len(self._hand), below)
            if Counter(word) <= copies:
                return Play(word) if word else NO_PLAY
        tables = self._tables()
        at = below(sum(tables[-1]))
        length = 0
        while at >= tables[-1][length]:
            at -= tables[-1][length]
            length += 1
        if length == 0:
            return NO_PLAY
        return Play(_shuffled(self._composition(tables, length, below), below))

    def _tables(self) -> list[list[int]]:
        """For the first k faces of the hand: the number of strings of each length.

        Each string of more faces is one of fewer, with the copies of the next
        face put into some of its places.
        """
        longest = len(self._hand)
        tables = [[1] + [0] * longest]
        for copies in Counter(self._hand).values():
            before, after = tables[-1], []
            for size in range(longest + 1):
                least = max(0, size - copies)  # of the string before
                ways = map(mul, before[least : size + 1], _choices(size)[least:])
                after.append(sum(ways))
            tables.append(after)
        return tables

    def _composition(
        self, tables: list[list[int]], length: int, below: Callable[[int], int]
    ) -> list[Card]:
        """The cards of a string of this length, unordered, as often as they have orders."""
        cards: list[Card] = []
        faces = list(Counter(self._hand).items())
        for before, (card, copies) in zip(tables[-2::-1], reversed(faces), strict=True):
            size = length - len(cards)
            weights = [
                before[size - put] * _choices(size)[put] for put in range(min(copies, size) + 1)
            ]
            at, put = below(sum(weights)), 0
            while at >= weights[put]:
                at -= weights[put]
                put += 1
            cards += [card] * put
        return cards


def _word(faces: tuple[Card, ...], longest: int, below: Callable[[int], int]) -> tuple[Card, ...]:
    """Any word over some faces, of any length up to `longest`, with the same chance."""
    words, at = 1, below(sum(len(faces) ** length for length in range(longest + 1)))
    length = 0
    while at >= words:
        at -= words
        words *= len(faces)
        length += 1
    letters = []
    for _ in range(length):
        at, letter = divmod(at, len(faces))
        letters.append(faces[letter])
    return tuple(letters)


def _shuffled(cards: list[Card], below: Callable[[int], int]) -> tuple[Card, ...]:
    for at in range(len(cards) - 1, 0, -1):
        other = below(at + 1)
        cards[at], cards[other] = cards[other], cards[at]
    return tuple(cards)


class RuleTexts:
    """Any text is a legal rule, if only to be refused; the examples are offered.

    Texts cannot be counted or drawn in a useful way: `count` and `sample` keep
    to those offered.
    """

    __slots__ = ()

    @property
    def offered(self) -> tuple[Move, ...]:
        return _EXAMPLES

    @property
    def complete(self) -> bool:
        return False

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Rule)

    def count(self) -> int:
        return len(_EXAMPLES)

    def sample(self, below: Callable[[int], int]) -> Move:
        return _EXAMPLES[below(len(_EXAMPLES))]


class GuessTexts:
    """A guess in the language of rules, or a pass, which alone is offered and counted."""

    __slots__ = ()

    @property
    def offered(self) -> tuple[Move, ...]:
        return (PASS,)

    @property
    def complete(self) -> bool:
        return False

    def __contains__(self, move: object) -> bool:
        if isinstance(move, Guess):
            return guess_error(move) is None
        return isinstance(move, Pass)

    def count(self) -> int:
        return 1

    def sample(self, below: Callable[[int], int]) -> Move:
        return self.offered[below(1)]


def guess_error(move: Guess) -> str | None:
    """Why a guess is not a rule of the language; None if it is one."""
    try:
        Language.parse(move.text)
    except RuleError as error:
        return str(error)
    return None


RULE_TEXTS: Final = RuleTexts()
GUESS_TEXTS: Final = GuessTexts()


def why_illegal(state: State, move: Move) -> str:
    """What to say of a move that is not legal."""
    match state.phase:
        case Phase.RULE:
            return "send a rule"
        case Phase.PLAY if is_express(state):
            return "play one card of your hand, or no_play"
        case Phase.PLAY:
            return "play cards of your hand, or no_play"
        case Phase.JUDGE if isinstance(state.turn.pending, NoPlay):
            return "judge right, or wrong with a card of the hand that was shown"
        case Phase.JUDGE:
            return "judge right or wrong, without a card"
        case Phase.PROPHET_OPTION:
            return "declare or pass"
        case _:
            error = guess_error(move) if isinstance(move, Guess) else None
            return f"the guess is not a rule: {error}" if error else "guess or pass"
