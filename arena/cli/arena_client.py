"""Calls to an arena over the network, and the options that say where it is and which token is used."""

import contextlib
import functools
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import click
import grpc
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from grpc_status.rpc_status import from_call

from arena.cli.options import with_options
from arena.cli.owner_keys import KeyFile
from arena.cli.terminal.plain import say
from cardarena._dial import Dial, proxy_to
from cardarena._errors import Misconfigured
from cardarena._redial import StreamEnd
from cardarena._run import DEFAULT_ADDRESS

CALL_S: Final = 20.0
POLL_S: Final = 0.5
PATIENCE_S: Final = 60.0
"""Seconds for which calls are repeated while an arena is busy, and polls while it is restarting."""
LOAD_REASONS: Final = frozenset({"BUSY", "TOO_MANY_OPEN", "KEYS_BUSY"})
"""Reasons of refusals for load: the call had no effect, and may succeed later."""
PAGE: Final = 500
ORGANISERS_KEY: Final = (
    "give an organiser's token with --token or CARDARENA_TOKEN, see: arena keys new organiser"
)
OWNERS_KEY: Final = (
    "set CARDARENA_OWNER_TOKEN, or register first: arena owners register ADDRESS --code CODE"
)
KEY_REASONS: Final = ("WRONG_SCOPE", "NOT_YOURS")
"""Reasons of refusals that another token would avoid."""

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Stub = TypeVar("Stub")


class NoAnswer(click.ClickException):
    """A call failed. The text says why."""

    def __init__(
        self, text: str, code: grpc.StatusCode | None = None, reason: str = "", retry_s: float = 0.0
    ) -> None:
        super().__init__(text)
        self.code = code
        self.reason = reason
        """The reason of the refusal, as in docs/errors.md; empty if the arena gives none."""
        self.retry_s = retry_s
        """Time in seconds after which the arena wants to be asked again; 0 if it gives none."""

    @property
    def is_load(self) -> bool:
        """Whether the arena refused because of its load."""
        return self.reason in LOAD_REASONS

    @property
    def passes(self) -> bool:
        """Whether the call may succeed later, because the arena is restarting or busy."""
        return self.code is grpc.StatusCode.UNAVAILABLE or self.is_load


@dataclass(frozen=True, slots=True)
class Server:
    """The address of an arena, and how commands connect to it."""

    address: str
    token: str
    """The token; empty for none."""
    ca: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    insecure: bool = False


class ServiceClient(Generic[Stub]):
    """Calls one service of an arena; each call raises `NoAnswer` if it fails.

    A call that is refused for load is repeated for up to `PATIENCE_S`, and standard error says so.
    """

    def __init__(
        self,
        stub: Stub,
        server: Server | None,
        key_hint: str = ORGANISERS_KEY,
        *,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Call by a stub.

        Args:
          key_hint: The advice about the right token, if a call is refused because of its token.
        """
        self.stub: Final = stub
        self._server = server
        self._hint = key_hint
        self._now_s, self._sleep = now_s, sleep
        self._metadata = (
            (("authorization", f"Bearer {server.token}"),) if server and server.token else ()
        )

    def call(self, method: Callable[..., T], request: Any, *, longest_s: float = CALL_S) -> T:
        """Return the response to a request. A stream as response is read by `stream`.

        A streamed request is given as a function that begins it, because the call may be repeated.
        """

        def once() -> T:
            sent = request() if callable(request) else request
            with self._plain_errors(longest_s):
                return method(sent, metadata=self._metadata, timeout=longest_s)

        return self._repeated(once)

    def stream(
        self, method: Callable[..., Any], request: Any, *, longest_s: float | None = None
    ) -> Iterator[Any]:
        def begun() -> tuple[list[Any], Iterator[Any]]:
            with self._plain_errors(longest_s):
                pieces = iter(method(request, metadata=self._metadata, timeout=longest_s))
                return list(itertools.islice(pieces, 1)), pieces

        first, rest = self._repeated(begun)
        yield from first
        with self._plain_errors(longest_s):
            yield from rest

    def pages(self, method: Callable[..., Any], request: Any, field: str) -> list[Any]:
        """Return a field of all pages of a response, joined."""
        items: list[Any] = []
        while True:
            page = self.call(method, request)
            items += getattr(page, field)
            if not page.next_page_token:
                return items
            request.page_token = page.next_page_token

    def _repeated(self, call: Callable[[], T]) -> T:
        return patiently(
            call,
            told=say_again,
            passes=lambda error: error.is_load,
            now_s=self._now_s,
            sleep=self._sleep,
        )

    def _plain_errors(self, longest_s: float | None) -> contextlib.AbstractContextManager[None]:
        return call_errors(self._server, self._hint, longest_s)


@contextlib.contextmanager
def call_errors(
    server: Server | None, key_hint: str, longest_s: float | None = None
) -> Iterator[None]:
    """Raise `NoAnswer` for a call that fails, see `ServiceClient`."""
    try:
        yield
    except grpc.RpcError as failed:
        error: Any = failed  # it is also a grpc.Call, which the types do not show
        text = _sentence(error, server, key_hint, longest_s)
        raise NoAnswer(text, error.code(), _reason(error), _retry_s(error)) from failed


@contextlib.contextmanager
def service_client(
    server: Server, stub: Callable[[grpc.Channel], Stub], key_hint: str = ORGANISERS_KEY
) -> Iterator[ServiceClient[Stub]]:
    """Connect to a service of an arena.

    Raises `click.UsageError` if the address or its certificates cannot be used.
    """
    with channel_of(server) as channel:
        yield ServiceClient(stub(channel), server, key_hint)


@contextlib.contextmanager
def channel_of(server: Server, options: Sequence[tuple[str, int]] = ()) -> Iterator[grpc.Channel]:
    """Open a channel to an arena, with these options of gRPC.

    Raises `click.UsageError` if the address or its certificates cannot be used.
    """
    with _usage_errors():
        own_pool = ("grpc.use_local_subchannel_pool", 1)
        channel = _dial(server).channel(server.address, (own_pool, *options))
    with channel:
        yield channel


def aio_channel_of(server: Server, options: Sequence[tuple[str, int]]) -> grpc.aio.Channel:
    """Open a channel for asyncio to an arena, like `channel_of`."""
    with _usage_errors():
        return _dial(server).aio_channel(server.address, options)


def _dial(server: Server) -> Dial:
    return Dial(
        server.address,
        ca_file=server.ca,
        client_cert=server.client_cert,
        client_key=server.client_key,
        insecure=server.insecure,
    )


@contextlib.contextmanager
def _usage_errors() -> Iterator[None]:
    try:
        yield
    except Misconfigured as error:
        raise click.UsageError(str(error)) from None


def say_again(error: NoAnswer) -> None:
    """Print that a failed call is repeated."""
    say(f"{error.message}; trying again for up to {PATIENCE_S:g} s", err=True)


def patiently(
    poll: Callable[[], T],
    *,
    told: Callable[[NoAnswer], object] = lambda _: None,
    passes: Callable[[NoAnswer], bool] = lambda error: error.passes,
    now_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Poll an arena; repeat the poll for up to `PATIENCE_S` while the arena is restarting or busy.

    `told` gets the errors after which the poll is repeated, equal messages in a row once; `passes` returns whether it
    is repeated after an error.

    Raises `NoAnswer` if the arena does not answer for longer, or the call fails for another reason.
    """
    until_s, last = now_s() + PATIENCE_S, ""
    while True:
        try:
            return poll()
        except NoAnswer as error:
            if not passes(error) or now_s() > until_s:
                raise
            if error.message != last:
                told(error)
            last, wait_s = error.message, error.retry_s or POLL_S
        sleep(wait_s)


# Options.


ServerAt = Callable[[str, str], Server]
"""Makes a `Server` of an address and a token."""


def dial_options(command: F) -> F:
    """Add `--ca`, `--client-cert`, `--client-key` and `--insecure`; the command gets one `server_at`.

    It makes a `Server` of an address and a token.
    """

    @functools.wraps(command)
    def with_dial(
        *,
        ca: str | None,
        client_cert: str | None,
        client_key: str | None,
        insecure: bool,
        **rest: Any,
    ) -> Any:
        def server_at(address: str, token: str) -> Server:
            return Server(address, token, ca, client_cert, client_key, insecure)

        return command(server_at=server_at, **rest)

    return with_options(  # type: ignore[return-value]
        with_dial,
        click.option(
            "--ca",
            metavar="FILE",
            help="The arena's root certificates in PEM.  [env var: CARDARENA_CA]",
        ),
        click.option(
            "--client-cert", metavar="FILE", help="A client certificate, if the arena requires one."
        ),
        click.option("--client-key", metavar="FILE", help="The private key of --client-cert."),
        click.option(
            "--insecure", is_flag=True, help="Send the token over a network in plain text."
        ),
    )


def server_options(command: F, *, default: str | None = DEFAULT_ADDRESS) -> F:
    """Add `--server`, `--token` and the options of `dial_options`; the command gets one `server`.

    The token is an organiser's, or that of the owner's key file. Without a `default` address,
    `server` is None if no address is given.
    """

    def chosen(address: str | None, token: str | None, server_at: ServerAt) -> Server | None:
        if address is None:
            return None
        known = token or os.environ.get("CARDARENA_TOKEN") or KeyFile().token_at(address)
        return server_at(address, known)

    return with_options(  # type: ignore[return-value]
        _with_server(command, chosen),
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
            help="An organiser's token; by default the one in your owner's key file.  "
            "[env var: CARDARENA_TOKEN, which other users cannot see]",
        ),
    )


def owner_options(command: F) -> F:
    """Add the same options for an owner, by default at the arena where the owner registered last."""

    def chosen(address: str | None, token: str | None, server_at: ServerAt) -> Server:
        keys = KeyFile()
        address = address or next((key.address for key in keys.all()), DEFAULT_ADDRESS)
        known = token or os.environ.get("CARDARENA_OWNER_TOKEN") or keys.token_at(address)
        return server_at(address, known)

    return with_options(  # type: ignore[return-value]
        _with_server(command, chosen),
        click.option(
            "--server",
            metavar="ADDRESS",
            help="The arena; by default the one where you registered last.",
        ),
        click.option(
            "--token",
            help="An owner's token; by default the one in your key file.  "
            "[env var: CARDARENA_OWNER_TOKEN]",
        ),
    )


def _with_server(
    command: F, chosen: Callable[[str | None, str | None, ServerAt], Server | None]
) -> Callable[..., Any]:
    """Give a command the server that is chosen by the options of an address, a token and the connection."""

    @dial_options
    @functools.wraps(command)
    def with_server(
        *, server: str | None, token: str | None, server_at: ServerAt, **rest: Any
    ) -> Any:
        return command(server=chosen(server, token, server_at), **rest)

    return with_server


# Errors.


def _reason(error: Any) -> str:
    info = ErrorInfo()
    return next((info.reason for detail in _details(error) if detail.Unpack(info)), "")


def _retry_s(error: Any) -> float:
    retry = RetryInfo()
    delays_s = (
        retry.retry_delay.ToMilliseconds() / 1000
        for detail in _details(error)
        if detail.Unpack(retry)
    )
    return next(delays_s, 0.0)


def _details(error: Any) -> Iterable[Any]:
    status = from_call(error)
    return () if status is None else status.details


def _sentence(error: Any, server: Server | None, key_hint: str, longest_s: float | None) -> str:
    code, details = error.code(), error.details() or ""
    if server is None:
        return details
    if code is grpc.StatusCode.UNAVAILABLE and not _said_by_arena(error):
        end = StreamEnd(code, details, welcomed=False, lived_s=0.0)
        if end.tls_mistake:
            return f"the arena at {server.address} answers, but {end.reason}"
        return (
            f"no arena answers at {server.address}{proxy_to(server.address)}: {end.reason}; start one with `arena serve`, "
            "or name another with --server"
        )
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"the arena at {server.address} did not answer within {longest_s:g} s"
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return f"what answers at {server.address} is no arena, or one of another version"
    if code is grpc.StatusCode.UNAUTHENTICATED or _reason(error) in KEY_REASONS:
        return f"{details}; {key_hint}"
    return details or code.name


def _said_by_arena(error: Any) -> bool:
    """Return whether the arena itself refused, and the network did not fail."""
    return any(key == "grpc-status-details-bin" for key, _ in error.trailing_metadata() or ())
