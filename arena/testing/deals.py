"""Deals that a test knows beforehand: doubles for `arena.games.contract.Deals`.

Each stands in for the chance of a match, which a rules module takes as an
argument. `Seeded` shuffles, the same at every run; `Loaded`, like loaded dice,
gives what it was told to; `Unshuffled` leaves every pack as it is; `Noted`
remembers what other deals were asked.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from arena.cards import Card
from arena.deal import KeyedDeals, seeded_key
from arena.games.contract import Deals


class Seeded:
    """Shuffles that follow from a seed: those of a match that the arena plays with `--seed`."""

    def __init__(self, seed: str | int) -> None:
        self._deals = KeyedDeals(seeded_key(str(seed)))

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        return self._deals.shuffle(hand, label, cards)


class Unshuffled:
    """Leaves every pack in the order in which it was to be shuffled: `arena.games.contract.Deals`."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:  # noqa: ARG002
        return tuple(cards)


class NotLoaded(LookupError):
    """`Loaded` was asked for a shuffle, or given a card, that it cannot serve."""


class Loaded:
    """Hands out given packs by hand and label: `arena.games.contract.Deals`.

    A pack is handed out as it was given. It may lack cards of those that were to
    be shuffled, where a game is to see the end of it soon; it has no others. A
    shuffle for which no pack is given is left to `otherwise`.
    """

    def __init__(
        self, packs: Mapping[tuple[int, str], Sequence[Card]], otherwise: Deals | None = None
    ) -> None:
        self._packs = {place: tuple(pack) for place, pack in packs.items()}
        self._otherwise = otherwise

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        """The pack for this hand and label.

        Raises:
          NotLoaded: if none was given and there is no `otherwise`, or if a card
            of it is not among `cards`.
        """
        pack = self._packs.get((hand, label))
        if pack is None:
            if self._otherwise is None:
                raise NotLoaded(f"no pack was given for hand {hand}, {label!r}")
            return self._otherwise.shuffle(hand, label, cards)
        strange = Counter(pack) - Counter(cards)
        if strange:
            names = ", ".join(map(str, strange.elements()))
            raise NotLoaded(f"the pack for hand {hand}, {label!r}, has {names} too many")
        return pack


class Shuffle(NamedTuple):
    """What was asked of deals, and what they answered."""

    hand: int
    label: str
    cards: tuple[Card, ...]
    """In the order in which they were to be shuffled."""
    order: tuple[Card, ...]
    """As they were dealt."""


class Noted:
    """Asks other deals and remembers each shuffle: `arena.games.contract.Deals`."""

    def __init__(self, deals: Deals) -> None:
        self._deals: Final = deals
        self.shuffles: list[Shuffle] = []
        """All so far, in order."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        given = tuple(cards)
        order = self._deals.shuffle(hand, label, cards)
        self.shuffles.append(Shuffle(hand, label, given, order))
        return order
