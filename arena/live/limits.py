"""Limits on open calls, and load shedding: which calls and bots are refused while the arena is busy.

gRPC neither shows connections nor limits them, so calls are counted instead, by the address that they come from. A
call counts until the transport has ended it, not only until its handler returns: a client that reads nothing keeps
both open.

Each call has a separate limit. A connection, an address, a token, and all callers without a token may each use a share
of it. An organiser's token is not limited.

While the arena is busy, bots with matches in play and bots that the arena launched are always accepted, then bots that
reconnect, then new bots. Calls with a key wait in a queue instead of being refused, read-only calls without one are
refused, unless they come from the arena's own pages (`docs/reliability/attacks.md` has the table).
"""

import asyncio
import ipaddress
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final
from urllib.parse import unquote

import grpc

from arena.errors.refused import Refused
from arena.live.metrics import Traffic, TrafficAccount
from arena.token_bucket import TokenBucket

Context = grpc.aio.ServicerContext[Any, Any]
"""The context of a call in its handler."""
LOCAL: Final = "this machine"
"""The address of all clients that connect by a loopback address or a socket file."""
NETWORK_BITS: Final = 64
"""Prefix length of an IPv6 network: its addresses count as one client."""
RETRY_S: Final = 1.0
OVERLOAD_RETRY_S: Final = 5.0
FULL_RETRY_S: Final = 30.0
MAX_WAITING_BYTES: Final = 256 << 20
"""The number of bytes queued for all bots together above which no new bots are accepted."""
OWN_HELLOS: Final = 60
"""The number of hellos that one bot may send in a burst."""
OWN_HELLOS_PER_S: Final = 10.0
MAX_QUEUED_CALLS: Final = 64
"""The number of calls that may wait while the arena is busy; further ones are refused."""
MAX_QUEUED_CALLS_OF_OWNER: Final = 16
TURN_S: Final = 0.25
"""The time in seconds from one queued call to the next while the arena stays busy."""


_SOCKET_FILE: Final = "unix:"
"""Peers that connect by the socket file of the data folder, which only the arena's own programs can open: its pages
and its workers. Sandboxed bots have another server (`play_server`)."""
_WITH_PORT: Final = ("ipv4:", "ipv6:")
"""Peers whose name identifies their connection; all clients of a socket file share one name."""


class Rank(IntEnum):
    """The order in which bots are accepted under load; lower comes first."""

    IN_MATCH = 0
    """A bot with matches in play."""
    LAUNCHED = 1
    """A bot whose process the arena started."""
    RESUME = 2
    """A bot that was connected before."""
    NEW = 3


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The maximal numbers of open streams and calls."""

    streams: int = 16_384
    """The number of all play streams; an idle stream takes about 40 kB."""
    streams_of_address: int = 1_024
    """The number of play streams from one address; for this machine only `streams` counts."""
    calls: int = 128
    """The number of open calls of each other kind."""
    calls_of_address: int = 64
    """The number of open calls of each other kind from one address; this machine has no such limit."""
    calls_of_connection: int = 16
    calls_of_bot: int = 16
    """The number of open calls of each other kind with the tokens of one bot, or of one owner."""
    calls_of_strangers: int = 64
    """The number of open calls of each other kind by all callers without a token together."""
    hellos: int = 500
    """The number of hellos that are accepted in a burst."""
    hellos_per_s: float = 200.0


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a call, according to its token."""

    bot: str = ""
    """Empty for an organiser, an owner and a caller without a token."""
    organises: bool = False
    """Whether it is an organiser or a worker with a token; such calls are never refused for load."""
    owner: str = ""
    """The owner of the token's key; empty without a key."""

    @property
    def holder(self) -> str:
        """The name under which the caller's open calls are counted; empty without a token."""
        if self.bot:
            return f"bot {self.bot}".casefold()
        return f"owner {self.owner}".casefold() if self.owner else ""


STRANGER: Final = Caller()
"""A caller without a token."""


class CallLimits:
    """Counts open calls and accepts or refuses new ones. Used on the thread of the host loop."""

    def __init__(
        self,
        limits: ServerLimits | None = None,
        *,
        now_s: Callable[[], float] = time.monotonic,
        why_busy: Callable[[], str] = lambda: "",
        why_full: Callable[[], str] = lambda: "",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Begin with nothing open.

        Args:
          now_s: Reads real time, because clients use real time, even if matches have another clock.
          why_busy: Returns why new work should wait, as part of a sentence; empty if it need not.
          why_full: Returns why nothing can be stored, as part of a sentence; empty while there is
            disk space.
        """
        limits = limits or ServerLimits()
        self.traffic: Final = Traffic()
        """The bytes that were sent over the connections of counted calls."""
        self._why_busy = why_busy
        self._why_full = why_full
        self._sleep = sleep
        self._limits = limits
        self._streams = _OpenCalls(limits.streams, limits.streams_of_address, "streams")
        self._calls: dict[str, _OpenCalls] = {}
        """By name."""
        self._organised = 0
        self._queued = _OpenCalls(MAX_QUEUED_CALLS, MAX_QUEUED_CALLS, "delayed calls")
        self._turns = asyncio.Lock()
        self._hellos = TokenBucket(limits.hellos, limits.hellos_per_s, now_s)
        self._hellos_kept_back = {
            Rank.IN_MATCH: 0.0,
            Rank.LAUNCHED: 0.0,
            Rank.RESUME: limits.hellos / 10,
            Rank.NEW: limits.hellos / 2,
        }

    @property
    def open(self) -> tuple[int, int]:
        """Return how many play streams and how many other calls are open."""
        calls = sum(kind.number for kind in self._calls.values())
        return self._streams.number, self._organised + calls

    def stream(self, call: Context) -> TrafficAccount:
        """Count a play stream until it has ended; return the account of its connection.

        Raises `Refused` if too many are open.
        """
        self._streams.enter(call)
        return self.traffic.account(call.peer())

    def call(
        self, call: Context, *, looks: bool, name: str = "", caller: Caller = STRANGER
    ) -> TrafficAccount:
        """Count a call other than a play stream until it has ended.

        Args:
          looks: Whether it is read-only, and refused while the arena is busy if the caller has no key. The arena's
            own pages, which call by the socket file of the data folder, are not refused.
          caller: The caller. An organiser is never refused.

        Raises `Refused` if too many are open, or the arena is busy.
        """
        if caller.organises:
            self._organised += 1
            _on_end(call, self._organiser_left)
            return self.traffic.account(call.peer())
        is_stranger = not caller.holder and not is_own_program(call.peer())
        if looks and is_stranger and (why := self._why_busy()):
            raise Refused("BUSY", why, retry_s=OVERLOAD_RETRY_S)
        places = self._calls.get(name)
        if places is None:
            limits = self._limits
            places = self._calls[name] = _OpenCalls(
                limits.calls, limits.calls_of_address, "such calls"
            )
        peer, limits = call.peer(), self._limits
        shares = []
        if caller.holder:
            shares.append(_Share(caller.holder, limits.calls_of_bot, "with your token"))
        elif is_stranger:
            shares.append(_Share("strangers", limits.calls_of_strangers, "without a token"))
        if peer.startswith(_WITH_PORT):
            shares.append(_Share(f"at {peer}", limits.calls_of_connection, "on your connection"))
        places.enter(call, *shares)
        return self.traffic.account(peer)

    def _organiser_left(self, *_: object) -> None:
        self._organised -= 1

    async def turn(self, call: Context, caller: Caller, *, stores: bool = False) -> None:
        """Delay a call with a key while the arena is busy, rather than refuse it.

        Calls are served in the order in which they came. While the arena stays busy, one is served every
        `TURN_S` seconds. An organiser's calls are served at once.

        Raises `Refused` if the disk is full and the call `stores` something, or too many calls wait already.
        """
        if caller.organises or not caller.holder:
            return
        if stores and (why := self._why_full()):
            raise Refused("BUSY", why, retry_s=OVERLOAD_RETRY_S)
        if not (self._why_busy() or self._turns.locked()):
            return
        owner = caller.owner.casefold() or caller.holder
        self._queued.enter(call, _Share(owner, MAX_QUEUED_CALLS_OF_OWNER, "with your tokens"))
        async with self._turns:
            if self._why_busy():
                await self._sleep(TURN_S)

    def accept(self, rank: Rank) -> None:
        """Accept a bot that has said hello.

        Raises `Refused` if the arena is busy, or too many bots connect. A bot with matches in play, or that the
        arena launched, is never refused.
        """
        if rank >= Rank.NEW and (why := self._why_busy()):
            raise Refused("BUSY", why, retry_s=OVERLOAD_RETRY_S)
        taken = self._hellos.take(self._hellos_kept_back[rank])
        if not taken and rank > Rank.LAUNCHED:
            raise Refused("BUSY", "too many bots say hello at once", retry_s=RETRY_S)


@dataclass(frozen=True, slots=True)
class _Share:
    """A limit on the open calls of one kind of one caller."""

    holder: str
    most: int
    where: str
    """The owner of the share, as part of a sentence to the caller."""


class _OpenCalls:
    def __init__(self, most: int, most_of_address: int, what: str) -> None:
        self._most = most
        self._most_of_address = most_of_address
        self._what = what
        self._held: Counter[str] = Counter()
        """By holder of a share."""
        self.number = 0

    def enter(self, call: Context, *shares: _Share) -> None:
        address = address_of(call.peer())
        if address != LOCAL:
            shares += (_Share(f"from {address}", self._most_of_address, "from your address"),)
        if self.number >= self._most:
            raise _full(f"the arena has {self._most} {self._what}")
        for share in shares:
            if self._held[share.holder] >= share.most:
                raise _full(f"{share.most} {self._what} are open {share.where}")
        holders = tuple(share.holder for share in shares)
        self.number += 1
        self._held.update(holders)
        _on_end(call, lambda *_: self._leave(holders))

    def _leave(self, holders: tuple[str, ...]) -> None:
        self.number -= 1
        for holder in holders:
            self._held[holder] -= 1
            if not self._held[holder]:
                del self._held[holder]


def is_own_program(peer: str) -> bool:
    """Return whether a peer calls by the socket file of the data folder."""
    return peer.startswith(_SOCKET_FILE)


def address_of(peer: str) -> str:
    """Return the address that a peer of gRPC is counted under.

    A peer is written as `ipv4:192.0.2.1:5000` or `ipv6:%5B2001:db8::1%5D:5000`. Addresses of one IPv6 network
    count as one.
    """
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


def _on_end(call: Context, callback: Callable[..., None]) -> None:
    done: Any = callback  # no function satisfies the annotation of grpc
    call.add_done_callback(done)


def _full(detail: str) -> Refused:
    return Refused("TOO_MANY_OPEN", detail, retry_s=FULL_RETRY_S)
