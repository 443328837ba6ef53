"""Quotas for matches that are ordered over the network.

A match uses time of the arena and places of bots. A caller without a key may order matches among guests of its own
address, and all callers of an address share a quota. An organiser may order any match, within the quota of the keys'
owner. Matches of competitions do not pass here.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from arena.errors.refused import Refused
from arena.live.limits import LOCAL
from arena.referee.terms import MatchTerms
from arena.token_bucket import TokenBucket

IN_PLAY_RETRY_S: Final = 10.0
KEPT_ORDERERS: Final = 1_024
"""Callers whose orders are counted; a further one replaces the one whose last order is oldest."""


@dataclass(frozen=True, slots=True)
class OrderLimits:
    """The quota of one orderer."""

    in_play: int
    """The number of matches in play at a time."""
    per_minute: int
    """The number of matches a minute, which may also be ordered in one burst."""
    hands: int
    """Limit on the option `hands` of a match; a game's default is not limited."""


OF_ADDRESS: Final = OrderLimits(in_play=512, per_minute=600, hands=200)
"""The quota of all guests of one address together."""
OF_OWNER: Final = OrderLimits(in_play=2_048, per_minute=3_000, hands=1_000)
"""The quota of all organisers' keys of one owner together; `hands` is the largest number that any game allows."""


@dataclass(frozen=True, slots=True)
class Orderer:
    """The caller who orders a match."""

    address: str = LOCAL
    """The address of the caller, as `arena.live.limits.address_of` returns it."""
    owner: str | None = None
    """The owner of an organiser's key; None for a guest."""

    @property
    def is_guest(self) -> bool:
        """Whether it has no organiser's token."""
        return self.owner is None

    @property
    def limits(self) -> OrderLimits:
        return OF_ADDRESS if self.is_guest else OF_OWNER

    def __str__(self) -> str:
        """Return the holder of the quota, as part of a sentence."""
        if not self.is_guest:
            return f"the keys of {self.owner}"
        return f"guests of {self.address if self.address == LOCAL else 'your address'}"


class OrderQuota:
    """Counts the matches of each orderer. Used on the thread of the host loop."""

    def __init__(
        self, plays: Callable[[str], bool], *, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin without orders.

        `plays` returns whether a match, by its id, is in play. `now_s` is real time, as callers use real time,
        whatever clock the matches have.
        """
        self._plays = plays
        self._now_s = now_s
        self._of: dict[Orderer, _Ordered] = {}
        """In order of their last orders."""

    def require(
        self, orderer: Orderer, terms: MatchTerms, guests: Mapping[str, str | None]
    ) -> None:
        """Accept an order, and count it.

        `guests` has the address of each connected bot of the match, by name; None for a bot with a key.

        Raises `Refused` if the orderer may not order this match, or its quota is used up.
        """
        for name, address in guests.items():
            if orderer.is_guest and address != orderer.address:
                detail = (
                    f"{name!r} is no guest of your address; an organiser's token allows any bot"
                )
                raise Refused("NOT_YOURS", detail)
        limits = orderer.limits
        asked = getattr(terms.options, "hands", 0)
        if asked > limits.hands:
            detail = f"it has {asked} hands, and {orderer} order at most {limits.hands}"
            raise Refused("TOO_MANY_HANDS", detail)
        ordered = self._of.pop(orderer, None) or _Ordered(self._bucket(limits), set())
        self._of[orderer] = ordered
        if len(self._of) > KEPT_ORDERERS:
            self._forget_one()
        ordered.matches = {match_id for match_id in ordered.matches if self._plays(match_id)}
        if len(ordered.matches) >= limits.in_play:
            detail = f"{orderer} have {limits.in_play} matches in play, which is the limit"
            raise Refused("BUSY", detail, retry_s=IN_PLAY_RETRY_S)
        if not ordered.bucket.take():
            retry_s = math.ceil(60 / limits.per_minute)
            detail = f"{orderer} order at most {limits.per_minute} matches a minute"
            raise Refused("BUSY", detail, retry_s=retry_s)

    def made(self, orderer: Orderer, match_id: str) -> None:
        self._of[orderer].matches.add(match_id)

    def _bucket(self, limits: OrderLimits) -> TokenBucket:
        return TokenBucket(limits.per_minute, limits.per_minute / 60, self._now_s)

    def _forget_one(self) -> None:
        """Forget the orderer whose last order is oldest, preferably one without matches in play."""
        for orderer, ordered in self._of.items():
            if not any(map(self._plays, ordered.matches)):
                del self._of[orderer]
                return
        del self._of[next(iter(self._of))]


@dataclass(slots=True)
class _Ordered:
    bucket: TokenBucket
    matches: set[str]
    """By id; matches that have ended are removed at the next order."""
