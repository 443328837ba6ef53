"""Scores of a hand of Eleusis and Eleusis Express, from the cards left in the hands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.games.contract import Seat

EXPRESS_HAND: Final = 12
"""The number of cards dealt to each seat in Express, which is also the score of an empty hand."""
EMPTIED_BONUS: Final = 3
GUESS_BONUS: Final = 6
MOST_OF_EXPRESS: Final = EXPRESS_HAND - 1 + GUESS_BONUS
"""The highest score: a guess with one card left, as an empty hand ends before a guess."""


@dataclass(frozen=True, slots=True)
class Prophecy:
    """The prophet at the end of a hand (E6), and the cards before and after its marker."""

    seat: Seat
    before: int
    """The number of cards after the starter up to the marked one, right and wrong (E8)."""
    right_after: int
    wrong_after: int


def eleusis_scores(
    hand_sizes: Sequence[int], dealer: Seat, prophecy: Prophecy | None
) -> tuple[int, ...]:
    """Return scores by seat: the size of the largest hand less one's own, and the prophet's bonus.

    The dealer gets the highest score; with a prophet at most twice the number of cards before the marker
    (E17).
    """
    players = [player for player in range(len(hand_sizes)) if player != dealer]
    largest = max(hand_sizes[player] for player in players)
    scores = [largest - size for size in hand_sizes]
    scores[dealer] = 0
    if prophecy is not None:
        scores[prophecy.seat] += prophecy.right_after + 2 * prophecy.wrong_after
    highest = max(scores[player] for player in players)
    scores[dealer] = highest if prophecy is None else min(highest, 2 * prophecy.before)
    return tuple(scores)


def express_scores(
    hand_sizes: Sequence[int], dealer: Seat, guesser: Seat | None
) -> tuple[int, ...]:
    """Return scores by seat: 12 less the cards, 15 for an empty hand, 6 for the guess (X4, X5)."""
    scores = [EXPRESS_HAND - size + (0 if size else EMPTIED_BONUS) for size in hand_sizes]
    if guesser is not None:
        scores[guesser] += GUESS_BONUS
    scores[dealer] = max(score for seat, score in enumerate(scores) if seat != dealer)
    return tuple(scores)
