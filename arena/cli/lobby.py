"""The lobby of an arena, as commands reach it: over the network, with a token."""

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click
import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from grpc_status.rpc_status import from_call

from arena.cli.options import dial_options, with_options
from arena.cli.owner_keys import owners_token
from cardarena._dial import Dial
from cardarena._errors import Misconfigured
from cardarena._redial import StreamEnd
from cardarena._run import DEFAULT_ADDRESS
from cardarena.v1 import game_pb2, lobby_pb2, lobby_pb2_grpc

CALL_S: Final = 10.0
"""Longest that one call may take."""
LOOK_S: Final = 0.5
"""Between two looks at a match that is followed."""
PATIENCE_S: Final = 60.0
"""How long an arena may be away, as for a restart, or busy while something there is followed."""
PAGE: Final = 500
ORGANISERS_KEY: Final = "give one with --token or CARDARENA_TOKEN, see: arena keys new organiser"
KEY_REASONS: Final = ("WRONG_SCOPE", "NOT_YOURS")
"""Of what is denied to a token that is good for something else."""

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class NoLobby(click.ClickException):
    """A call failed. The text says why, for a person."""

    def __init__(self, text: str, code: grpc.StatusCode | None = None, reason: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.reason = reason
        """As the arena names it for programs; empty if it says none."""

    @property
    def passes(self) -> bool:
        """Whether it may be otherwise in a while: the arena is away, or busy."""
        return self.code is grpc.StatusCode.UNAVAILABLE or self.reason == "BUSY"


@dataclass(frozen=True, slots=True)
class Server:
    """Where an arena is, and as whom it is called."""

    address: str
    token: str
    ca: str | None
    client_cert: str | None
    client_key: str | None
    insecure: bool


class Lobby:
    """Calls of the lobby; each raises `NoLobby` if it fails."""

    def __init__(
        self,
        stub: lobby_pb2_grpc.LobbyServiceStub,
        server: Server,
        *,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._stub = stub
        self._caller = Caller(server)
        self._now_s = now_s
        self._sleep = sleep

    def games(self) -> Sequence[lobby_pb2.GameInfo]:
        """The games that can be played there."""
        found: lobby_pb2.ListGamesResponse
        found = self._call(self._stub.ListGames, lobby_pb2.ListGamesRequest())
        return found.games

    def bots(self) -> Sequence[lobby_pb2.BotInfo]:
        """The bots that are there, by name."""
        bots: list[lobby_pb2.BotInfo] = []
        request = lobby_pb2.ListBotsRequest(page_size=PAGE)
        while True:
            page = self._call(self._stub.ListBots, request)
            bots += page.bots
            if not page.next_page_token:
                return bots
            request.page_token = page.next_page_token

    def make(
        self, terms: game_pb2.MatchTerms, bots: Sequence[str], seed: str
    ) -> lobby_pb2.MatchInfo:
        """Have a match made."""
        request = lobby_pb2.CreateMatchRequest(terms=terms, bots=bots, seed=seed)
        made: lobby_pb2.CreateMatchResponse = self._call(self._stub.CreateMatch, request)
        return made.match

    def follow(self, match_id: str) -> Iterator[lobby_pb2.MatchInfo]:
        """A match as it stands, time after time, until it has ended.

        The arena may be away for a while: after a restart its matches go on.
        """
        request = lobby_pb2.GetMatchRequest(match_id=match_id)

        def look() -> lobby_pb2.MatchInfo:
            found: lobby_pb2.GetMatchResponse = self._call(self._stub.GetMatch, request)
            return found.match

        while True:
            match = patiently(look, now_s=self._now_s, sleep=self._sleep)
            yield match
            if match.status == lobby_pb2.MatchStatus.MATCH_STATUS_ENDED:
                return
            self._sleep(LOOK_S)

    def _call(self, method: Any, request: Any) -> Any:
        return self._caller.call(method, request)


class Caller:
    """Makes calls with a token; each raises `NoLobby` if it fails."""

    def __init__(self, server: Server) -> None:
        self._server = server
        bearer = f"Bearer {server.token}"
        self._metadata = (("authorization", bearer),) if server.token else ()

    def call(self, method: Any, request: Any, *, longest_s: float = CALL_S) -> Any:
        """The answer to one request."""
        with told_plainly(self._server):
            return method(request, metadata=self._metadata, timeout=longest_s)

    def stream(self, method: Any, request: Any) -> Iterator[Any]:
        """All answers to one request."""
        with told_plainly(self._server):
            yield from method(request, metadata=self._metadata)


@contextlib.contextmanager
def told_plainly(server: Server, key_hint: str = ORGANISERS_KEY) -> Iterator[None]:
    """Tell why a call failed, in a sentence; `key_hint` says where the right token is had.

    Raises:
      NoLobby: if it did.
    """
    try:
        yield
    except grpc.RpcError as failed:
        error: Any = failed  # a grpc.Call as well, which their types do not say
        text = _sentence(error, server, key_hint)
        raise NoLobby(text, error.code(), _reason(error)) from failed


def patiently(
    look: Callable[[], T],
    *,
    told: Callable[[NoLobby], object] = lambda _: None,
    now_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """What a look at an arena finds that may be away or busy for a while, as long as `PATIENCE_S`.

    `told` hears, once, why it has to wait.

    Raises:
      NoLobby: if it is for longer, or something else is wrong.
    """
    until_s, waits = now_s() + PATIENCE_S, False
    while True:
        try:
            return look()
        except NoLobby as error:
            if not error.passes or now_s() > until_s:
                raise
            if not waits:
                told(error)
                waits = True
        sleep(LOOK_S)


@contextlib.contextmanager
def lobby_of(server: Server) -> Iterator[Lobby]:
    """The lobby of the arena that is there.

    Raises:
      click.UsageError: if it cannot be dialled so.
    """
    with channel_of(server) as channel:
        yield Lobby(lobby_pb2_grpc.LobbyServiceStub(channel), server)


@contextlib.contextmanager
def channel_of(server: Server) -> Iterator[grpc.Channel]:
    """A channel to the arena that is there.

    Raises:
      click.UsageError: if it cannot be dialled so.
    """
    try:
        dial = Dial(
            server.address,
            ca_file=server.ca,
            client_cert=server.client_cert,
            client_key=server.client_key,
            insecure=server.insecure,
        )
        channel = dial.channel(server.address, (("grpc.use_local_subchannel_pool", 1),))
    except Misconfigured as error:
        raise click.UsageError(str(error)) from None
    with channel:
        yield channel


def server_options(command: F, *, default: str | None = DEFAULT_ADDRESS) -> F:
    """Adds the options that say where an arena is; the command gets one `server`.

    Without a `default` address it gets None where no address is given.
    """

    @functools.wraps(command)
    def with_server(
        *,
        server: str | None,
        token: str | None,
        ca: str | None,
        client_cert: str | None,
        client_key: str | None,
        insecure: bool,
        **rest: Any,
    ) -> Any:
        token = (
            token or os.environ.get("CARDARENA_TOKEN") or (server and owners_token(server)) or ""
        )
        where = server and Server(server, token, ca, client_cert, client_key, insecure)
        return command(server=where, **rest)

    return with_options(  # type: ignore[return-value]
        with_server,
        click.option(
            "--server",
            metavar="ADDRESS",
            default=default,
            show_default=default is not None,
            envvar="CARDARENA_ADDRESS" if default is not None else None,
            help="The arena: HOST:PORT, https://HOST:PORT or unix:PATH.",
        ),
        click.option(
            "--token",
            help="An organiser's, where guests are not let in; else that of an owner's key file.  "
            "[env var: CARDARENA_TOKEN, which others cannot see]",
        ),
        dial_options,
    )


def _reason(error: Any) -> str:
    status = from_call(error)
    if status is None:
        return ""
    info = ErrorInfo()
    reasons = [info.reason for each in status.details if each.Unpack(info)]
    return next(iter(reasons), "")


def _sentence(error: Any, server: Server, key_hint: str) -> str:
    code, details = error.code(), error.details() or ""
    if code is grpc.StatusCode.UNAVAILABLE and not _said_by_arena(error):
        end = StreamEnd(code, details, welcomed=False, lived_s=0.0)
        return (
            f"no arena answers at {server.address}: {end.reason}; start one with `arena serve`, "
            "or name another with --server"
        )
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"the arena at {server.address} did not answer within {CALL_S:.0f} s"
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return f"what answers at {server.address} is no arena, or one of another version"
    of_keys = code is grpc.StatusCode.UNAUTHENTICATED or _reason(error) in KEY_REASONS
    if of_keys:
        return f"{details}; {key_hint}"
    return details or code.name


def _said_by_arena(error: Any) -> bool:
    """Whether the arena itself refused, and not the network."""
    return any(key == "grpc-status-details-bin" for key, _ in error.trailing_metadata() or ())
