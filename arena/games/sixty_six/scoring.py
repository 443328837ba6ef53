"""Tricks of Sixty-Six, and points of tricks, marriages and hands."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from arena.games.cards import Card, pack
from arena.games.contract import Seat

RANKING: Final = "9JQKTA"
"""Ranks from low to high."""

PACK_24: Final = pack(RANKING)
_RANK: Final = {card: RANKING.index(card[0]) for card in PACK_24}


def legal_replies(hand: tuple[Card, ...], led: Card, strict: bool) -> tuple[Card, ...]:
    """Return the cards that may be played to `led`; if `strict`, suit must be followed (R9)."""
    if not strict:
        return hand
    suit = led[1]
    return tuple([card for card in hand if card[1] == suit]) or hand


def follower_wins(led: Card, reply: Card, trump: str) -> bool:
    """Return whether the second card wins the trick: a higher card of the suit, or a trump."""
    if reply[1] == led[1]:
        return _RANK[reply] > _RANK[led]
    return reply[1] == trump


POINTS: Final = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0}
"""Points of a captured card, by rank."""
LAST_TRICK: Final = 10
"""The points for the last trick, if all cards are played (R3)."""
MARRIAGE: Final = 20
TRUMP_MARRIAGE: Final = 40
GOAL: Final = 66
NO_SCHNEIDER: Final = 33
"""With so many points the loser of a hand loses only one victory point."""
MOST_AWARDED: Final = 3
"""The most victory points of a hand, without carried ones."""

_POINTS: Final = {card: POINTS[card[0]] for card in PACK_24}


def trick_points(led: Card, reply: Card) -> int:
    return _POINTS[led] + _POINTS[reply]


@dataclass(frozen=True, slots=True)
class Tally:
    """A hand at its end. Lists are by seat."""

    points: tuple[int, int]
    """Without marriages that are still pending (R5)."""
    tricks: tuple[int, int]
    claimer: Seat | None = None
    closer: Seat | None = None
    tricks_at_close: int = 0
    """The tricks of the closer's opponent when the stock was closed."""


class Reason(StrEnum):
    """The reason of a hand's score."""

    FALSE_CLAIM = "false_claim"
    """The claimer had less than 66: two points for the other seat."""
    FALSE_CLAIM_TRICKLESS = "false_claim_trickless"
    """As `FALSE_CLAIM`, against a seat without a trick at the end or at the closing: three points."""
    CLOSER_SHORT = "closer_short"
    """The closer did not reach 66: two points for the other seat."""
    CLOSER_SHORT_TRICKLESS = "closer_short_trickless"
    """As `CLOSER_SHORT`, against a seat without a trick at the closing: three points."""
    SIXTY_SIX = "sixty_six"
    """One seat has 66, the other 33 or more: one point."""
    SCHNEIDER = "schneider"
    """The other has less than 33: two points."""
    SCHWARZ = "schwarz"
    """The other has no trick: three points."""
    NULL = "null"
    """Neither seat has 66, or both have: one point is carried to the next hand."""


class Verdict(NamedTuple):
    """The victory points of a hand, without carried ones, and the reason."""

    gained: tuple[int, int]
    reason: Reason


def award(tally: Tally) -> Verdict:
    """Return the victory points of a hand without carried ones; (0, 0) for a null hand."""
    claimer, closer = tally.claimer, tally.closer
    # A false claim is scored first, even against a closer without 66 points (R6).
    if claimer is not None and tally.points[claimer] < GOAL:
        opponent = Seat(1 - claimer)
        trickless = tally.tricks[opponent] == 0 or (
            closer == claimer and tally.tricks_at_close == 0
        )
        reason = Reason.FALSE_CLAIM_TRICKLESS if trickless else Reason.FALSE_CLAIM
        return Verdict(_to(opponent, 3 if trickless else 2), reason)
    if closer is not None and tally.points[closer] < GOAL:
        trickless = tally.tricks_at_close == 0
        reason = Reason.CLOSER_SHORT_TRICKLESS if trickless else Reason.CLOSER_SHORT
        return Verdict(_to(Seat(1 - closer), 3 if trickless else 2), reason)
    winners = [player for player in (Seat(0), Seat(1)) if tally.points[player] >= GOAL]
    if len(winners) != 1:
        return Verdict((0, 0), Reason.NULL)  # also if both have 66, whichever claimed (R7)
    (winner,) = winners
    loser = Seat(1 - winner)
    if tally.points[loser] >= NO_SCHNEIDER:
        return Verdict(_to(winner, 1), Reason.SIXTY_SIX)
    if tally.tricks[loser]:
        return Verdict(_to(winner, 2), Reason.SCHNEIDER)
    return Verdict(_to(winner, 3), Reason.SCHWARZ)


def with_carry(gained: tuple[int, int], carry: int) -> tuple[tuple[int, int], int]:
    """Return victory points with `carry` from earlier null hands, and the new carry (R8)."""
    if gained == (0, 0):
        return gained, carry + 1
    return (gained[0] + carry, 0) if gained[0] else (0, gained[1] + carry), 0


def _to(seat: Seat, points: int) -> tuple[int, int]:
    return (points, 0) if seat == 0 else (0, points)
