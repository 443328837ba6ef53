"""Test doubles for `arena.games.contract.Deals`, which rules take as an argument.

`SeededDeals` shuffles by a seed; `StackedDeals` returns given packs; `UnshuffledDeals` does not
shuffle; `RecordedDeals` records the requests to other deals.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from arena.games.cards import Card
from arena.games.contract import Deals
from arena.referee.deal import KeyedDeals, seeded_key


class SeededDeals:
    """Shuffles by a seed, like a match that is played with `--seed`."""

    def __init__(self, seed: str | int) -> None:
        self._deals = KeyedDeals(seeded_key(str(seed)))

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        return self._deals.shuffle(hand, label, cards)


class UnshuffledDeals:
    """Returns every pack in its given order: `arena.games.contract.Deals`."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:  # noqa: ARG002
        return tuple(cards)


class NotStacked(LookupError):
    """`StackedDeals` has no pack for a shuffle, or its pack has other cards."""


class StackedDeals:
    """Returns given packs by hand and label: `arena.games.contract.Deals`.

    A pack may have fewer cards than the game's, to test the end of a stock, but no others. Shuffles
    without a given pack are passed to `otherwise`.
    """

    def __init__(
        self, packs: Mapping[tuple[int, str], Sequence[Card]], otherwise: Deals | None = None
    ) -> None:
        self._packs = {place: tuple(pack) for place, pack in packs.items()}
        self._otherwise = otherwise

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        """Return the pack for this hand and label.

        Raises `NotStacked` if there is no pack and no `otherwise`, or if the pack has a card that is not in `cards`.
        """
        pack = self._packs.get((hand, label))
        if pack is None:
            if self._otherwise is None:
                raise NotStacked(f"no pack was given for hand {hand}, {label!r}")
            return self._otherwise.shuffle(hand, label, cards)
        strange = Counter(pack) - Counter(cards)
        if strange:
            names = ", ".join(map(str, strange.elements()))
            raise NotStacked(f"the pack for hand {hand}, {label!r}, has {names} too many")
        return pack


class Shuffle(NamedTuple):
    """A request to deals, and its result."""

    hand: int
    label: str
    cards: tuple[Card, ...]
    """The cards in their given order."""
    order: tuple[Card, ...]
    """The cards in their shuffled order."""


class RecordedDeals:
    """Passes requests to other deals and records each shuffle: `arena.games.contract.Deals`."""

    def __init__(self, deals: Deals) -> None:
        self._deals: Final = deals
        self.shuffles: list[Shuffle] = []
        """All shuffles so far, in order."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        given = tuple(cards)
        order = self._deals.shuffle(hand, label, cards)
        self.shuffles.append(Shuffle(hand, label, given, order))
        return order
