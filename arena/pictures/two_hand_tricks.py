"""Parts of the scenes of the trick games for two: Klaberjass, Sixty-Six and Jam."""

from dataclasses import replace
from typing import TypeVar

from arena.games.cards import Card
from arena.games.contract import Seat, with_entry
from arena.games.jam.messages import View as JamView
from arena.games.klaberjass.messages import View as KlaberjassView
from arena.games.sixty_six.messages import View as SixtySixView
from arena.pictures import drawing as draw
from arena.pictures.drawing import spent
from arena.pictures.vocabulary import Zone

V = TypeVar("V", JamView, KlaberjassView, SixtySixView)


def with_played(view: V, seat: Seat, card: Card) -> V:
    """Return the view after the second card of a trick."""
    played = with_entry(view.played, seat, (*view.played[seat], card))
    return replace(spent(view, seat, (card,), seat), played=played, led=None)


def latest_trick(view: JamView | KlaberjassView | SixtySixView, of: int = 0) -> Zone:
    """Return the current trick, or the last one until the next lead; a hand has `of` tricks."""
    number = len(view.winners) + (view.led is not None)
    if not number:
        return draw.trick(())
    title = (f"trick {number} of {of}" if of else f"trick {number}",)
    leader = view.winners[number - 2] if number > 1 else 1 - view.dealer
    if view.led is not None:
        return draw.trick([(leader, view.led)], title=title)
    last = [(player, view.played[player][-1]) for player in (leader, 1 - leader)]
    return draw.trick(last, view.winners[-1], title)
