"""Calls to the arena: its messages, with the token of the person that acts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from grpc_status.rpc_status import from_call

from cardarena.v1 import bots_pb2
from cardarena.v1.bots_pb2_grpc import BotServiceStub
from cardarena.v1.comparisons_pb2_grpc import ComparisonServiceStub
from cardarena.v1.competitions_pb2_grpc import CompetitionServiceStub
from cardarena.v1.keys_pb2_grpc import KeyServiceStub
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub
from cardarena.v1.owners_pb2_grpc import OwnerServiceStub, WebhookServiceStub
from cardarena.v1.replay_pb2_grpc import ReplayServiceStub
from cardarena.v1.standings_pb2_grpc import StandingsServiceStub

CALL_S: Final = 20.0
"""The longest time of a call, in seconds."""
MOST_PAGES: Final = 20
"""The maximal number of pages of a list that are read, of 100 items each."""


class ArenaRefused(Exception):
    """The arena refused a call. The text is the arena's sentence."""

    def __init__(self, code: grpc.StatusCode, text: str, reason: str) -> None:
        super().__init__(text)
        self.code: Final = code
        self.reason: Final = reason
        """As in docs/errors.md; empty if the arena gives none."""


class ArenaUnreachable(Exception):
    """No arena answers."""


class SiteCalls:
    """The services of an arena."""

    def __init__(self, channel: grpc.aio.Channel, uploads: grpc.Channel) -> None:
        """Both channels lead to the arena."""
        self._uploads = BotServiceStub(uploads)
        self.bots: Final = BotServiceStub(channel)
        self.comparisons: Final = ComparisonServiceStub(channel)
        self.competitions: Final = CompetitionServiceStub(channel)
        self.keys: Final = KeyServiceStub(channel)
        self.lobby: Final = LobbyServiceStub(channel)
        self.owners: Final = OwnerServiceStub(channel)
        self.replays: Final = ReplayServiceStub(channel)
        self.standings: Final = StandingsServiceStub(channel)
        self.webhooks: Final = WebhookServiceStub(channel)

    async def call(
        self,
        method: Callable[..., Any],
        request: Any,
        token: str = "",
        *,
        longest_s: float = CALL_S,
    ) -> Any:
        """Return the answer to a request, or to a stream of requests.

        Raises `ArenaRefused` or `ArenaUnreachable` if there is none.
        """
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        try:
            return await method(request, metadata=metadata, timeout=longest_s)
        except grpc.RpcError as error:
            raise _failed(error) from None

    async def submit_version(
        self,
        requests: Iterator[bots_pb2.SubmitVersionRequest],
        *,
        metadata: tuple[tuple[str, str], ...],
        timeout: float,  # noqa: ASYNC109 - as the methods of gRPC have it
    ) -> bots_pb2.SubmitVersionResponse:
        """Send an archive, for `call`.

        A thread sends it: a stream of `grpc.aio` loses the refusal of an arena that answers before the end of the
        archive.
        """
        submit = self._uploads.SubmitVersion
        return await asyncio.to_thread(submit, requests, metadata=metadata, timeout=timeout)

    async def stream(
        self, method: Callable[..., Any], request: Any, token: str
    ) -> AsyncIterator[Any]:
        """Yield the answers to a request. Raises `ArenaRefused` or `ArenaUnreachable` if there is none."""
        call = method(request, metadata=(("authorization", f"Bearer {token}"),), timeout=CALL_S)
        try:
            async for answer in call:
                yield answer
        except grpc.aio.AioRpcError as error:
            raise _failed(error) from None
        finally:
            call.cancel()

    async def pages(
        self, method: Callable[..., Any], request: Any, field: str, token: str
    ) -> list[Any]:
        """Return the items of all pages of a list, at most of `MOST_PAGES`."""
        items: list[Any] = []
        request.page_size = 100
        for _ in range(MOST_PAGES):
            answer = await self.call(method, request, token)
            items += getattr(answer, field)
            if not answer.next_page_token:
                break
            request.page_token = answer.next_page_token
        return items


def _failed(error: grpc.RpcError) -> Exception:
    status = from_call(error)  # type: ignore[arg-type]
    info = ErrorInfo()
    has_reason = status is not None and any(detail.Unpack(info) for detail in status.details)
    if not has_reason:  # an error of the transport: there is no answer, or not in time
        return ArenaUnreachable(error.details())
    return ArenaRefused(error.code(), error.details() or "", info.reason)
