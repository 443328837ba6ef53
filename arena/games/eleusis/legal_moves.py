"""The legal moves of Eleusis: single cards are listed, strings of cards and texts are not.

There are about 10^11 strings of a hand of fourteen cards. They are counted and sampled without listing
them.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from math import factorial
from typing import Final

from arena.games.cards import Card
from arena.games.cel import Rule as Language
from arena.games.cel import RuleError
from arena.games.contract import Listed
from arena.games.eleusis.messages import (
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
from arena.games.eleusis.state import State, is_express
from arena.games.eleusis.work import EXAMPLES

_EXAMPLES: Final = tuple(Rule(text) for text in EXAMPLES)

_WORDS: Final = 8
"""The number of attempts at rejection sampling before strings are counted."""

PROPHET_OPTION: Final = Listed((PASS, DECLARE))
JUDGE_PLAY: Final = Listed((RIGHT, WRONG))


def distinct(hand: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return each face of a hand once, in its order."""
    return tuple(dict.fromkeys(hand))


def singles(hand: tuple[Card, ...]) -> Listed:
    """Return the moves of Express: one card, or a no-play."""
    return Listed((*[PLAYS[card] for card in dict.fromkeys(hand)], NO_PLAY))


def opinions(shown: tuple[Card, ...]) -> Listed:
    """Return a prophet's opinions on a no-play: right, or wrong with any card of the hand."""
    return Listed((RIGHT, *(WRONG_FOR[card] for card in distinct(shown))))


class Strings:
    """Plays of any cards of a hand in any order, and the no-play; only single cards are offered."""

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
        """Return the number of strings; the no-play counts as the empty one."""
        return sum(_Count(tuple(Counter(self._hand).values())).by_length())

    def sample(self, below: Callable[[int], int]) -> Move:
        """Draw a string uniformly; the no-play counts as the empty one. Most strings are long.

        In a large hand nearly every word over its faces is a string, so words are drawn first. If a
        few attempts fail, the strings are counted.
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
    """The number of strings over faces, given the number of copies of each.

    The number of strings of n cards over the first k faces is n! times the coefficient of x^n in a
    product of polynomials: for each face the sum of x^j / j! up to its copies. Each polynomial is
    multiplied by the factorial of its copies, so that all coefficients are integers. A product is
    stored as one integer with a slot of bits for each coefficient.
    """

    __slots__ = ("_copies", "_divisors", "_products", "_slot_bytes")

    def __init__(self, copies: tuple[int, ...]) -> None:
        self._copies = copies
        most, divisor = 1, 1
        for held in copies:
            most *= sum(_terms(held))
        # No coefficient exceeds the sum of all.
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
        """Return the number of strings of each length, from 0."""
        longest, size, divisor = sum(self._copies), self._slot_bytes, self._divisors[-1]
        packed = self._products[-1].to_bytes(size * (longest + 1), "little")
        return [
            int.from_bytes(packed[size * length : size * (length + 1)], "little")
            * factorial(length)
            // divisor
            for length in range(longest + 1)
        ]

    def composition(self, length: int, below: Callable[[int], int]) -> Iterator[int]:
        """Draw the copies of each face in a string of this length, the last face first.

        The probability of a composition is proportional to the number of its orders.
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
    """Return `copies`! / j! for each j from 0 to `copies`."""
    return tuple([factorial(copies) // factorial(put) for put in range(copies + 1)])


@lru_cache(maxsize=64)
def _words_up_to(faces: int, longest: int) -> tuple[int, ...]:
    """Return the number of words over `faces` letters with at most 0, 1, 2 ... letters."""
    return tuple(accumulate([faces**length for length in range(longest + 1)]))


def _word(copies: tuple[int, ...], below: Callable[[int], int]) -> list[int] | None:
    """Draw a word over the faces uniformly, at most as long as all copies together.

    Letters are indices of faces. None if the word has more of a face than there are copies.
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


class Texts:
    """Moves with a text, of which few are offered. `count` and `sample` consider only those offered."""

    __slots__ = ("_accepts", "offered")
    complete: Final = False

    def __init__(self, offered: tuple[Move, ...], accepts: Callable[[object], bool]) -> None:
        self.offered = offered
        self._accepts = accepts

    def __contains__(self, move: object) -> bool:
        return self._accepts(move)

    def count(self) -> int:
        return len(self.offered)

    def sample(self, below: Callable[[int], int]) -> Move:
        return self.offered[below(len(self.offered))]


def guess_error(move: Guess) -> str | None:
    """Return why a guess is not a rule of the language; None if it is one."""
    try:
        Language.parse(move.text)
    except RuleError as error:
        return str(error)
    return None


RULE_TEXTS: Final = Texts(_EXAMPLES, lambda move: isinstance(move, Rule))
"""Any text is a legal rule, though it may be refused later."""
GUESS_TEXTS: Final = Texts(
    (PASS,),
    lambda move: guess_error(move) is None if isinstance(move, Guess) else isinstance(move, Pass),
)
"""A guess must be a rule of the language."""


def why_illegal(state: State, move: Move) -> str:
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
