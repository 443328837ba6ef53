"""What tricks, marriages and hands of Sixty-Six are worth."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.sixty_six.tricks import PACK_24

POINTS: Final = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0}
"""Points of a captured card by its rank."""
LAST_TRICK: Final = 10
"""For the last trick when the hands run out, closed or not (R3)."""
MARRIAGE: Final = 20
TRUMP_MARRIAGE: Final = 40
GOAL: Final = 66
NO_SCHNEIDER: Final = 33
"""With this many points the loser of a hand gives away one victory point only."""
_POINTS: Final = {card: POINTS[card[0]] for card in PACK_24}


def trick_points(led: Card, reply: Card) -> int:
    """Points of a trick's two cards."""
    return _POINTS[led] + _POINTS[reply]


@dataclass(frozen=True, slots=True)
class Tally:
    """A hand at its end, by seat, and how it ended."""

    points: tuple[int, int]
    """Without marriages that still wait for a trick (R5)."""
    tricks: tuple[int, int]
    claimer: Seat | None = None
    closer: Seat | None = None
    tricks_at_close: int = 0
    """Tricks that the closer's opponent had at the closing."""


def award(tally: Tally) -> tuple[int, int]:
    """Victory points of a hand without what was carried; (0, 0) for a null hand."""
    claimer, closer = tally.claimer, tally.closer
    # A false claim comes first, even against a closer who is short (R6).
    if claimer is not None and tally.points[claimer] < GOAL:
        opponent = Seat(1 - claimer)
        trickless = tally.tricks[opponent] == 0 or (
            closer == claimer and tally.tricks_at_close == 0
        )
        return _to(opponent, 3 if trickless else 2)
    if closer is not None and tally.points[closer] < GOAL:
        return _to(Seat(1 - closer), 3 if tally.tricks_at_close == 0 else 2)
    winners = [seat for seat in (Seat(0), Seat(1)) if tally.points[seat] >= GOAL]
    if len(winners) != 1:
        return 0, 0  # both of them is a null hand too, whoever claimed (R7)
    (winner,) = winners
    loser = Seat(1 - winner)
    if tally.points[loser] >= NO_SCHNEIDER:
        return _to(winner, 1)
    return _to(winner, 2 if tally.tricks[loser] else 3)


def with_carry(gained: tuple[int, int], carry: int) -> tuple[tuple[int, int], int]:
    """What a hand pays with `carry` from null hands before it, and what is carried on (R8)."""
    if gained == (0, 0):
        return gained, carry + 1
    return (gained[0] + carry, 0) if gained[0] else (0, gained[1] + carry), 0


def _to(seat: Seat, points: int) -> tuple[int, int]:
    return (points, 0) if seat == 0 else (0, points)
