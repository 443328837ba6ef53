"""Decides after a stream when to connect, and to which address."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

import grpc

from cardarena._dial import proxy_to
from cardarena._errors import Refused, Unreachable

BACKOFF_BASE_S: Final = 0.2
BACKOFF_CAP_S: Final = 30.0
STEADY_S: Final = 10.0
"""Seconds of a stream after which earlier failures no longer count."""
PATIENCE_S: Final = 10.0
"""Seconds for which a bot that plays once tries to reach its arena."""
MAX_HOPS: Final = 4
"""Redirects in a row that are followed at once; later ones wait like failures."""

_FINAL: Final = {
    grpc.StatusCode.UNAUTHENTICATED: "the arena does not take this token",
    grpc.StatusCode.PERMISSION_DENIED: "the arena does not let this token play",
    grpc.StatusCode.FAILED_PRECONDITION: "the arena turned the bot away",
    grpc.StatusCode.INVALID_ARGUMENT: "the arena did not accept what the bot said of itself",
    grpc.StatusCode.ABORTED: "another bot took over with the same token; each needs its own",
    grpc.StatusCode.UNIMPLEMENTED: "this server is no arena, or one of another version",
}
"""Statuses after which no attempt can succeed."""

_PASSING: Final = frozenset({"BUSY", "TOO_MANY_OPEN", "NOT_READING"})
"""The reasons of RESOURCE_EXHAUSTED that pass with time; with another reason, or without one, the fault is the client's."""


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The end of a stream."""

    code: grpc.StatusCode
    details: str
    welcomed: bool
    """Whether the arena had welcomed the bot."""
    lived_s: float
    draining: bool = False
    """Whether the arena had announced that it closes."""
    redirect: str | None = None
    """The address of a redirect."""
    retry_s: float = 0.0
    """Seconds that the arena asked the bot to wait, for example because it is busy."""
    error: str = ""
    """The reason in the details of the error; empty if it has none."""

    @property
    def untrusted(self) -> bool:
        """Whether the server's certificate is not trusted."""
        return not self.welcomed and "CERTIFICATE_VERIFY_FAILED" in self.details

    @property
    def tls_mistake(self) -> str:
        """The mistake with TLS that the end of a connection shows; empty without one."""
        if self.welcomed or self.code is not grpc.StatusCode.UNAVAILABLE:
            return ""
        cause = self.details.rpartition(": ")[2]
        if self.untrusted:
            return f"its certificate is not trusted, see --ca: {cause}"
        if "WRONG_VERSION_NUMBER" in self.details:
            return "it has no TLS: write its address without https://"
        # the connection failed before a call was made
        if cause == "Socket closed" and self.details != cause:
            return (
                "it closed the connection at once: an arena with TLS needs https:// before its address, "
                "and one that requires client certificates --client-cert"
            )
        return ""

    @property
    def reason(self) -> str:
        """The error in short: gRPC's text of a failed connection is long, with the cause at the end."""
        if not self.welcomed and self.code is grpc.StatusCode.UNAVAILABLE:
            cause = self.details.rpartition(": ")[2]
            return self.tls_mistake or cause
        return self.details or self.code.name


@dataclass(frozen=True, slots=True)
class Attempt:
    """The next stream."""

    endpoint: str
    delay_s: float
    """Seconds to wait before connecting."""


class Redial:
    """Decides after each stream whether there is another: full jitter between 0 and the cap.

    A busy arena names a time to wait, to which the jitter is added.

    A stream that ends with status OK is the last one if the bot plays once, or if the arena had announced that it
    closes. An arena that restarts ends its streams with UNAVAILABLE, and the bot connects again. A redirect is followed
    at once, with the same token; if the new address cannot be reached, the bot returns to the first one. The table at
    `Play` in `play.proto` has the reaction to each status and reason.
    """

    def __init__(
        self, address: str, *, once: bool, random: Random, now_s: Callable[[], float]
    ) -> None:
        self._address = address
        self._once = once
        self._random = random
        self._now_s = now_s
        self._failures = 0
        self._hops = 0
        self._endpoint = address
        self._reached_s = now_s()

    def first(self) -> Attempt:
        """Return the first stream."""
        return Attempt(self._address, 0.0)

    def after(self, end: StreamEnd) -> Attempt | None:
        """Return the stream after an end; None if that was the last one.

        Raises:
          Refused: if the arena refuses the bot for good.
          Unreachable: if the bot plays once and has tried for long enough.
        """
        if end.welcomed:
            self._reached_s = self._now_s()
        if end.lived_s >= STEADY_S:
            self._failures = self._hops = 0
        if end.redirect is not None:
            return self._redirected(end.redirect)
        if end.code in _FINAL:
            why = f" ({end.details})" if end.details else ""
            raise Refused(_FINAL[end.code] + why)
        if end.code is grpc.StatusCode.RESOURCE_EXHAUSTED and end.error not in _PASSING:
            raise Refused(f"the arena takes no more of what this bot says ({end.reason})")
        if end.code is grpc.StatusCode.OK and (self._once or end.draining):
            return None
        left_s = self._reached_s + PATIENCE_S - self._now_s() if self._once else math.inf
        if left_s <= 0:
            what = "an untrusted" if end.untrusted else "no"
            at = f"{self._address}{proxy_to(self._address)}"
            text = f"{what} arena at {at} for {PATIENCE_S:g} s ({end.reason})"
            raise Unreachable(text)
        if not end.welcomed:
            self._endpoint = self._address
        return Attempt(self._endpoint, min(self._delay_s(end.retry_s), left_s))

    def _redirected(self, endpoint: str) -> Attempt:
        self._endpoint = endpoint
        self._hops += 1
        return Attempt(endpoint, 0.0 if self._hops <= MAX_HOPS else self._delay_s())

    def _delay_s(self, retry_s: float = 0.0) -> float:
        cap_s: float = min(BACKOFF_CAP_S, BACKOFF_BASE_S * 2.0 ** min(self._failures, 16))
        self._failures += 1
        # Many bots may have the same time to wait, so they spread over as much time again.
        return retry_s + self._random.uniform(0.0, max(cap_s, retry_s))
