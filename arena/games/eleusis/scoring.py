"""What a hand of Eleusis is worth to each seat."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.games.contract import Seat

EXPRESS_HAND: Final = 12
"""Cards that each seat is dealt in Express, and what an empty hand is worth."""
EMPTIED_BONUS: Final = 3
GUESS_BONUS: Final = 6
MOST_OF_EXPRESS: Final = EXPRESS_HAND - 1 + GUESS_BONUS
"""A guess with one card left; an empty hand ends before a guess."""


@dataclass(frozen=True, slots=True)
class Prophecy:
    """The prophet in office when a hand ends (E6), and the cards played around the marker."""

    seat: Seat
    before: int
    """Cards after the starter, up to and including the marked one, right and wrong (E8)."""
    right_after: int
    wrong_after: int


def eleusis_scores(
    hand_sizes: Sequence[int], dealer: Seat, prophecy: Prophecy | None
) -> tuple[int, ...]:
    """Scores by seat: the cards fewer than in the largest hand, and the prophet's bonus.

    The dealer gets the highest of them, with a prophet at most twice the cards
    that came before the marker (E17).
    """
    players = [seat for seat in range(len(hand_sizes)) if seat != dealer]
    largest = max(hand_sizes[seat] for seat in players)
    scores = [largest - size for size in hand_sizes]
    scores[dealer] = 0
    if prophecy is not None:
        scores[prophecy.seat] += prophecy.right_after + 2 * prophecy.wrong_after
    highest = max(scores[seat] for seat in players)
    scores[dealer] = highest if prophecy is None else min(highest, 2 * prophecy.before)
    return tuple(scores)


def express_scores(
    hand_sizes: Sequence[int], dealer: Seat, guesser: Seat | None
) -> tuple[int, ...]:
    """Scores by seat: 12 less the cards held, 15 for none, 6 for the guess (X4, X5)."""
    scores = [EXPRESS_HAND - size + (0 if size else EMPTIED_BONUS) for size in hand_sizes]
    if guesser is not None:
        scores[guesser] += GUESS_BONUS
    scores[dealer] = max(score for seat, score in enumerate(scores) if seat != dealer)
    return tuple(scores)
