"""Which moves there are in Eleusis: singles are listed, strings of cards and texts are not.

A hand of fourteen cards can be played in hundreds of thousands of millions of
ways; they are counted and drawn from, never written out.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from math import factorial
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


def distinct(hand: tuple[Card, ...]) -> tuple[Card, ...]:
    """Each face of a hand once, in its order."""
    return tuple(dict.fromkeys(hand))


def singles(hand: tuple[Card, ...]) -> Listed:
    """One card, or none (Express)."""
    return Listed((*[PLAYS[card] for card in dict.fromkeys(hand)], NO_PLAY))


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
        return (*[PLAYS[card] for card in dict.fromkeys(self._hand)], NO_PLAY)

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
        """All strings; the no-play is in place of the empty one."""
        return sum(_Count(tuple(Counter(self._hand).values())).by_length())

    def sample(self, below: Callable[[int], int]) -> Move:
        """Any string with the same chance, or the no-play: mostly long strings, then.

        Of a large hand nearly every word over its faces is a string. Where a
        few tries give none, the strings are counted.
        """
        copies = Counter(self._hand)
        faces, held = tuple(copies), tuple(copies.values())
        for _ in range(_WORDS):
            word = _word(held, below)
            if word is not None:
                return Play(tuple([faces[at] for at in word])) if word else NO_PLAY
        count = _Count(held)
        by_length = count.by_length()
        at = below(sum(by_length))
        length = 0
        while at >= by_length[length]:
            at -= by_length[length]
            length += 1
        if length == 0:
            return NO_PLAY
        cards = []
        for face, put in zip(reversed(faces), count.composition(length, below), strict=True):
            cards += [face] * put
        return Play(_shuffled(cards, below))


class _Count:
    """How many strings there are over faces of which so many copies are held.

    The strings of n cards over the first k faces are n! times the coefficient of
    x^n in a product: of the sums of x^j / j! up to each face's copies. Each factor is
    taken times the factorial of its copies, so that all are whole numbers; and a product is
    one integer, a slot of bits for each coefficient, which one more face turns into the
    next by a few shifts and sums.
    """

    __slots__ = ("_copies", "_divisors", "_products", "_slot_bytes")

    def __init__(self, copies: tuple[int, ...]) -> None:
        self._copies = copies
        most, divisor = 1, 1
        for held in copies:
            most *= sum(_terms(held))
        # No coefficient is above the sum of all.
        self._slot_bytes = most.bit_length() // 8 + 1
        slot = 8 * self._slot_bytes
        product = 1
        self._products, self._divisors = [product], [divisor]
        for held in copies:
            product = sum([product * term << slot * put for put, term in enumerate(_terms(held))])
            divisor *= factorial(held)
            self._products.append(product)
            self._divisors.append(divisor)

    def by_length(self) -> list[int]:
        """Strings of each length, the empty one first."""
        longest, size, divisor = sum(self._copies), self._slot_bytes, self._divisors[-1]
        packed = self._products[-1].to_bytes(size * (longest + 1), "little")
        return [
            int.from_bytes(packed[size * length : size * (length + 1)], "little")
            * factorial(length)
            // divisor
            for length in range(longest + 1)
        ]

    def composition(self, length: int, below: Callable[[int], int]) -> Iterator[int]:
        """Copies of each face in a string of this length, the last face first.

        Drawn as often as they have orders.
        """
        slot, left = 8 * self._slot_bytes, length
        mask = (1 << slot) - 1
        before = zip(self._products[-2::-1], self._divisors[-2::-1], strict=True)
        for (product, divisor), copies in zip(before, reversed(self._copies), strict=True):
            orders = factorial(left)
            most = min(copies, left)
            # The slots for `left - most` to `left` cards, the latter the highest.
            slots = product >> slot * (left - most)
            weights = [
                (slots >> slot * (most - put) & mask) * orders // (divisor * factorial(put))
                for put in range(most + 1)
            ]
            at, put = below(sum(weights)), 0
            while at >= weights[put]:
                at -= weights[put]
                put += 1
            left -= put
            yield put


@cache
def _terms(copies: int) -> tuple[int, ...]:
    """1 / j! for each number of copies up to all, times the factorial of all."""
    return tuple([factorial(copies) // factorial(put) for put in range(copies + 1)])


@lru_cache(maxsize=64)
def _words_up_to(faces: int, longest: int) -> tuple[int, ...]:
    """Words over so many faces that are at most 0, 1, 2 ... letters long."""
    return tuple(accumulate([faces**length for length in range(longest + 1)]))


def _word(copies: tuple[int, ...], below: Callable[[int], int]) -> list[int] | None:
    """Any word over some faces, as long as all their copies or shorter, with the same chance.

    By the numbers of the faces; None if it has more of a face than there are copies.
    """
    faces = len(copies)
    words = _words_up_to(faces, sum(copies))
    at = below(words[-1])
    length = bisect_right(words, at)
    if length:
        at -= words[length - 1]
    left, letters = list(copies), []
    for _ in range(length):
        at, letter = divmod(at, faces)
        if not left[letter]:
            return None
        left[letter] -= 1
        letters.append(letter)
    return letters


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
