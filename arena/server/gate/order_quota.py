"""Who may order a match of whom over the network, and how many.

An order starts work of the arena and takes places of bots. So who has no key orders
matches among guests of its own address, and shares a quota with all of that address: on
one machine, whoever is there plays whoever is there. An organiser orders any match, within
the quota of the keys' owner. What a tournament leases of its own arena is not ordered here.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import grpc

from arena.server.gate.limits import LOCAL
from arena.server.refusals import Refused, busy, invalid
from arena.terms import MatchTerms
from arena.token_bucket import TokenBucket

IN_PLAY_RETRY_S: Final = 10.0
KEPT_ORDERERS: Final = 1_024
"""Of those who have ordered; one beyond them takes the place of who ordered longest ago."""


@dataclass(frozen=True, slots=True)
class OrderLimits:
    """What one orderer may have played."""

    in_play: int
    """Matches at a time."""
    per_minute: int
    """Matches a minute, and so many in one go."""
    hands: int
    """Hands that may be asked of one match; what its game plays without being asked is as it is."""


OF_ADDRESS: Final = OrderLimits(in_play=512, per_minute=600, hands=200)
"""All guests of one address together."""
OF_OWNER: Final = OrderLimits(in_play=2_048, per_minute=3_000, hands=1_000)
"""All organisers' keys of one owner together; `hands` is the most that any game has."""


@dataclass(frozen=True, slots=True)
class Orderer:
    """Who asks for a match."""

    address: str = LOCAL
    """Where the call comes from, as `arena.server.gate.limits.address_of` has it."""
    owner: str | None = None
    """Of an organiser's key; None for a guest."""

    @property
    def is_guest(self) -> bool:
        """Whether it said no organiser's token."""
        return self.owner is None

    @property
    def limits(self) -> OrderLimits:
        """What it may have played."""
        return OF_ADDRESS if self.is_guest else OF_OWNER

    def __str__(self) -> str:
        """Whose quota it is, as part of a sentence."""
        if not self.is_guest:
            return f"the keys of {self.owner}"
        return f"guests of {self.address if self.address == LOCAL else 'your address'}"


class OrderQuota:
    """Counts what each orderer has ordered. Lives on the thread of the host loop."""

    def __init__(
        self,
        plays: Callable[[str], bool],
        *,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing ordered.

        `plays` tells whether a match, by its id, has not ended; `now_s` is real time, as the
        callers are real, whatever clock the matches have.
        """
        self._plays = plays
        self._now_s = now_s
        self._of: dict[Orderer, _Ordered] = {}
        """Who ordered last comes last."""

    def require(
        self, orderer: Orderer, terms: MatchTerms, guests: Mapping[str, str | None]
    ) -> None:
        """Let an order pass, and count it for the minute.

        `guests` tells of the bots that are wanted and here, by name, where the stream of each
        comes from; None for one with a key.

        Raises:
          Refused: if it is not this orderer's to make, or too much just now.
        """
        for name, address in guests.items():
            if orderer.is_guest and address != orderer.address:
                raise _not_yours(name)
        limits = orderer.limits
        asked = getattr(terms.options, "hands", 0)
        if asked > limits.hands:
            text = f"{orderer} order matches of at most {limits.hands} hands, and not of {asked}"
            raise invalid("TOO_MANY_HANDS", text)
        ordered = self._of.pop(orderer, None) or _Ordered(self._bucket(limits), set())
        self._of[orderer] = ordered
        if len(self._of) > KEPT_ORDERERS:
            self._forget_one()
        ordered.matches = {each for each in ordered.matches if self._plays(each)}
        if len(ordered.matches) >= limits.in_play:
            text = (
                f"{limits.in_play} matches that {orderer} ordered are in play, and no more may be"
            )
            raise busy(text, IN_PLAY_RETRY_S)
        if not ordered.bucket.take():
            retry_s = math.ceil(60 / limits.per_minute)
            raise busy(f"{orderer} order at most {limits.per_minute} matches a minute", retry_s)

    def made(self, orderer: Orderer, match_id: str) -> None:
        """The match that was let pass is in play."""
        self._of[orderer].matches.add(match_id)

    def _bucket(self, limits: OrderLimits) -> TokenBucket:
        return TokenBucket(limits.per_minute, limits.per_minute / 60, self._now_s)

    def _forget_one(self) -> None:
        """Forget who ordered longest ago, of those who have nothing in play if there is one."""
        for orderer, ordered in self._of.items():
            if not any(map(self._plays, ordered.matches)):
                del self._of[orderer]
                return
        del self._of[next(iter(self._of))]


def _not_yours(bot: str) -> Refused:
    text = (
        f"{bot!r} is no guest of your address, and without an organiser's token matches are "
        "ordered among these"
    )
    return Refused(grpc.StatusCode.PERMISSION_DENIED, "NOT_YOURS", text)


@dataclass(slots=True)
class _Ordered:
    bucket: TokenBucket
    matches: set[str]
    """By id; those that have ended are forgotten at the next order."""
