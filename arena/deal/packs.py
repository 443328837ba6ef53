"""The pack of the first shuffle of a match, before it is shuffled."""

from collections.abc import Sequence
from typing import NoReturn

from arena.cards import Card
from arena.games.contract import Options, Rules


class _FirstShuffle(BaseException):
    """Raised at the first shuffle, to stop the rules. No rules module may catch it."""

    def __init__(self, cards: tuple[Card, ...]) -> None:
        self.cards = cards


class _Probe:
    """Deals that raise the cards of the first shuffle."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> NoReturn:  # noqa: ARG002
        raise _FirstShuffle(tuple(cards))


def first_pack(rules: Rules, options: Options, seats: int) -> tuple[Card, ...]:
    """Return the cards of the first shuffle of a match, before it; () if it begins without one.

    Raises:
      BadOptions: if the options do not fit the number of seats.
    """
    try:
        rules.start(options, seats, _Probe())
    except _FirstShuffle as first:
        return first.cards
    return ()
