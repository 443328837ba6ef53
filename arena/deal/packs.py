"""The pack that a match begins with, before chance has touched it."""

from collections.abc import Sequence
from typing import NoReturn

from arena.cards import Card
from arena.games.contract import Options, Rules


class _FirstShuffle(BaseException):
    """Ends the rules' work at the first shuffle. No rules module may handle it."""

    def __init__(self, cards: tuple[Card, ...]) -> None:
        self.cards = cards


class _Probe:
    """Deals that only look at what they are asked to shuffle."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> NoReturn:  # noqa: ARG002
        raise _FirstShuffle(tuple(cards))


def first_pack(rules: Rules, options: Options, seats: int) -> tuple[Card, ...]:
    """The cards of a match's first shuffle in the order handed to it; () if it begins with none.

    Raises:
      BadOptions: if the options do not suit the number of seats.
    """
    try:
        rules.start(options, seats, _Probe())
    except _FirstShuffle as first:
        return first.cards
    return ()
