"""Who may open a call, and who is let in when there is too much.

gRPC neither shows connections nor limits them. So calls are counted instead, by
the address that they come from. A call counts until the transport is done with it,
not only until its handler ends: a client that reads nothing holds on to both.

Each call has places of its own, so that who fills one keeps nobody from another. Of
these a connection, an address, a token and all callers without a token have a share
each; an organiser's token needs no place.

Under overload bots with matches in play come first, then those that come back,
then new ones, then calls that only look.
"""

import ipaddress
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Protocol
from urllib.parse import unquote

import grpc

from arena.server.gate.traffic import Account, Traffic
from arena.server.refusals import Refused, busy
from arena.token_bucket import TokenBucket

LOCAL: Final = "this machine"
"""The address of all who come over a loopback address or a socket file."""
NETWORK_BITS: Final = 64
"""Of an IPv6 address: all addresses that share these bits belong to one client."""
RETRY_S: Final = 1.0
OVERLOAD_RETRY_S: Final = 5.0
FULL_RETRY_S: Final = 30.0
MAX_WAITING_BYTES: Final = 256 << 20
"""What may wait for all bots together before no new ones are taken."""
OWN_HELLOS: Final = 60
"""Times that one bot may say hello in one go."""
OWN_HELLOS_PER_S: Final = 10.0


_WITH_PORT: Final = ("ipv4:", "ipv6:")
"""Peers of which each connection has a name of its own; those of a socket file have one for all."""


class Rank(IntEnum):
    """In which order clients are let in; lower comes first."""

    IN_MATCH = 0
    """A bot whose matches are in play."""
    RESUME = 1
    """A bot that was here before."""
    NEW = 2
    SPECTATOR = 3
    """A client whose call only looks."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be open at a time."""

    streams: int = 16_384
    """Play streams in all; each takes about 40 kB when idle."""
    streams_of_address: int = 1_024
    """Play streams from one address; this machine is held to `streams` alone."""
    calls: int = 128
    """Of each other call."""
    calls_of_address: int = 64
    """Of each other call from one address; this machine is held to the rest of these."""
    calls_of_connection: int = 16
    calls_of_bot: int = 16
    """Of each other call with the tokens of one bot, or of one owner."""
    calls_of_strangers: int = 64
    """Of each other call by all together who say no token; the rest is for those who do."""
    hellos: int = 500
    """Bots that may be let in in one go."""
    hellos_per_s: float = 200.0


class Call(Protocol):
    """What is needed of `grpc.aio.ServicerContext`."""

    def peer(self) -> str:
        """Where the call comes from."""
        ...

    def add_done_callback(self, callback: Any) -> None:
        """Have `callback` called when the call is over."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call, as far as its token says it."""

    bot: str = ""
    """Empty for an organiser or an owner, and for who says no token."""
    organises: bool = False
    """Whether it is an organiser with a token, who is always let in."""
    owner: str = ""
    """Whose the token is; empty for who says none that is a key."""


STRANGER: Final = Caller()


class CallLimits:
    """Counts what is open and says who may come in. Lives on the thread of the host loop."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        now_s: Callable[[], float] = time.monotonic,
        why_busy: Callable[[], str] = lambda: "",
    ) -> None:
        """`why_busy` tells why nothing new should come in, as part of a sentence; else empty.

        `now_s` is real time, as the clients are real, whatever clock the matches have.
        """
        limits = limits or Limits()
        self.traffic: Final = Traffic()
        """What is sent over the connections of calls that were counted here."""
        self._why_busy = why_busy
        self._limits = limits
        self._streams = _Open(limits.streams, limits.streams_of_address, "streams")
        self._calls: dict[str, _Open] = {}
        """By name."""
        self._organised = 0
        self._hellos = TokenBucket(limits.hellos, limits.hellos_per_s, now_s)
        self._floors = {
            Rank.IN_MATCH: 0.0,
            Rank.RESUME: limits.hellos / 10,
            Rank.NEW: limits.hellos / 2,
        }

    @property
    def open(self) -> tuple[int, int]:
        """Play streams and other calls that are open."""
        return self._streams.number, self._organised + sum(
            each.number for each in self._calls.values()
        )

    def stream(self, call: Call) -> Account:
        """Count a play stream until it is over; returns the account of its connection.

        Raises:
          Refused: if there are too many.
        """
        self._streams.enter(call)
        return self.traffic.account(call.peer())

    def call(
        self, call: Call, *, looks: bool, name: str = "", caller: Caller = STRANGER
    ) -> Account:
        """Count another call until it is over, as `stream`; `looks` if it only does that.

        `name` is that of the call, one of those that exist.

        Raises:
          Refused: if there are too many, or too much else is to be done. An organiser never is.
        """
        if caller.organises:
            self._organised += 1
            call.add_done_callback(self._organiser_left)
            return self.traffic.account(call.peer())
        if looks and (why := self._why_busy()):
            raise busy(f"nobody is shown anything just now: {why}", OVERLOAD_RETRY_S)
        places = self._calls.get(name)
        if places is None:
            limits = self._limits
            places = self._calls[name] = _Open(limits.calls, limits.calls_of_address, "such calls")
        holder = f"bot {caller.bot}" if caller.bot else f"owner {caller.owner}"
        peer, limits = call.peer(), self._limits
        shares = [
            _Share(holder.casefold(), limits.calls_of_bot, "with your token")
            if caller.bot or caller.owner
            else _Share("strangers", limits.calls_of_strangers, "without a token")
        ]
        if peer.startswith(_WITH_PORT):
            shares.append(_Share(f"at {peer}", limits.calls_of_connection, "on your connection"))
        places.enter(call, *shares)
        return self.traffic.account(peer)

    def _organiser_left(self, *_: object) -> None:
        self._organised -= 1

    def let_in(self, rank: Rank) -> None:
        """Let a bot in that has said hello.

        Raises:
          Refused: if others come first. A bot that has matches in play never is.
        """
        if rank >= Rank.NEW and (why := self._why_busy()):
            raise busy(f"no new bots are taken just now: {why}", OVERLOAD_RETRY_S)
        taken = self._hellos.take(self._floors[rank])
        if not taken and rank is not Rank.IN_MATCH:
            raise busy("too many bots say hello at once", RETRY_S)


@dataclass(frozen=True, slots=True)
class _Share:
    """So many calls of one kind may be open of one caller."""

    holder: str
    most: int
    where: str
    """As part of a sentence to the caller."""


class _Open:
    """The calls of one kind that are open, by who has a share of them."""

    def __init__(self, most: int, most_of_address: int, what: str) -> None:
        self._most = most
        self._most_of_address = most_of_address
        self._what = what
        self._held: Counter[str] = Counter()
        """By holder of a share."""
        self.number = 0

    def enter(self, call: Call, *shares: _Share) -> None:
        address = address_of(call.peer())
        if address != LOCAL:
            shares += (_Share(f"from {address}", self._most_of_address, "from your address"),)
        if self.number >= self._most:
            raise _full(f"the arena has {self._most} {self._what} open, and takes no more")
        for share in shares:
            if self._held[share.holder] >= share.most:
                text = f"{share.most} {self._what} are open {share.where}, and no more are taken"
                raise _full(text)
        holders = tuple(share.holder for share in shares)
        self.number += 1
        self._held.update(holders)
        call.add_done_callback(lambda *_: self._leave(holders))

    def _leave(self, holders: tuple[str, ...]) -> None:
        self.number -= 1
        for holder in holders:
            self._held[holder] -= 1
            if not self._held[holder]:
                del self._held[holder]


def address_of(peer: str) -> str:
    """Whom to count a peer of gRPC as, as `ipv4:192.0.2.1:5000` or `ipv6:%5B2001:db8::1%5D:5000`."""
    scheme, _, rest = peer.partition(":")
    if scheme not in ("ipv4", "ipv6"):
        return LOCAL
    try:
        host = unquote(rest).rpartition(":")[0].strip("[]").partition("%")[0]
        address = ipaddress.ip_address(host)
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            if address.is_loopback:
                return LOCAL
            return str(ipaddress.ip_network((address, NETWORK_BITS), strict=False))
        address = address.ipv4_mapped
    return LOCAL if address.is_loopback else str(address)


def _full(text: str) -> Refused:
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    return Refused(code, "TOO_MANY_OPEN", text, retry_s=FULL_RETRY_S)


__all__ = [
    "LOCAL",
    "MAX_WAITING_BYTES",
    "OWN_HELLOS",
    "OWN_HELLOS_PER_S",
    "STRANGER",
    "CallLimits",
    "Caller",
    "Limits",
    "Rank",
    "address_of",
]
