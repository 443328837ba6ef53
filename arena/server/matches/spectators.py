"""The spectators of each match, and what they may see."""

from typing import Final

from arena.referee import MatchSpec
from arena.referee.spectators import SpectatorPort
from arena.server.event_buffers import EventBuffers


class MatchSpectators:
    """Gives each match its spectators. Matches of deal-sets have none, unless `give` was called."""

    def __init__(self, delay_s: float = 0.0, *, open_hands: bool = False) -> None:
        """Begin without matches.

        Args:
          delay_s: Delay of spectators' events, in seconds.
          open_hands: Whether spectators of practice matches see the hands of all seats.
        """
        self.buffers: Final = EventBuffers(delay_s)
        """The events of matches that are a deal-set of their own."""
        self._open_hands = open_hands
        self._given: dict[str, SpectatorPort] = {}

    def give(self, match_id: str, spectators: SpectatorPort) -> None:
        """Give a match these spectators in place of any others, before it is played."""
        self._given[match_id] = spectators

    def forget(self, match_id: str) -> None:
        """A match is over."""
        self._given.pop(match_id, None)

    def of(self, spec: MatchSpec) -> SpectatorPort | None:
        """The spectators of a match that begins."""
        own = self._given.get(spec.match_id)
        if own is not None or spec.deal_set:
            return own
        return self.buffers.open(spec.match_id, hands_open=self._shows_hands(spec))

    def _shows_hands(self, spec: MatchSpec) -> bool:
        """Whether spectators may see the hands of all seats: in practice, if the arena is configured so.

        The seed of a practice match reveals its cards to its maker anyway. A fair deal is secret until the match
        is over.
        """
        return self._open_hands and spec.terms.seeded
