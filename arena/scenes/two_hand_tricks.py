"""What the trick games for two draw alike: Klaberjass, Sixty-Six and Jam."""

from dataclasses import replace
from typing import TypeVar

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.jam.words import View as JamView
from arena.games.klaberjass.words import View as KlaberjassView
from arena.games.sixty_six.words import View as SixtySixView
from arena.scenes.drawing import trick
from arena.scenes.vocabulary import Zone

V = TypeVar("V", JamView, KlaberjassView, SixtySixView)


def with_played(view: V, seat: Seat, card: Card) -> V:
    """The view after the second card of a trick, wherever the card was seen before."""
    played: list[tuple[Card, ...]] = list(view.played)
    sizes = list(view.hand_sizes)
    known: list[tuple[Card, ...]] = list(view.known)
    played[seat] = (*played[seat], card)
    sizes[seat] -= 1
    known[seat] = _without(known[seat], card)
    return replace(
        view,
        held=_without(view.held, card),
        hand_sizes=tuple(sizes),
        known=tuple(known),
        played=tuple(played),
        led=None,
    )


def latest_trick(view: JamView | KlaberjassView | SixtySixView, of: int = 0) -> Zone:
    """The trick that is played, or the last one until the next is led; of so many in a hand."""
    number = len(view.winners) + (view.led is not None)
    if not number:
        return trick(())
    title = (f"trick {number} of {of}" if of else f"trick {number}",)
    leader = view.winners[number - 2] if number > 1 else 1 - view.dealer
    if view.led is not None:
        return trick([(leader, view.led)], title=title)
    last = [(seat, view.played[seat][-1]) for seat in (leader, 1 - leader)]
    return trick(last, view.winners[-1], title)


def _without(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    return tuple(each for each in cards if each != card)
