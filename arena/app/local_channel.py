"""A channel to the services of an arena in this process, for commands that use a folder without a running arena.

A command sends the same message over a network or here, and the same servicer answers it, with the same row of access.
Here the caller is an organiser: a user who may write the folder may do everything in it. Errors of the store keep their
texts, which name files of this machine.
"""

import asyncio
import contextlib
import getpass
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast

import grpc

from arena.api.admission.access import CALLS, authorise
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.errors.refused import Refused
from arena.store import Key, Scope, Store, StoreError, is_there, open_store
from arena.store.data_folder import is_running, store_path

if TYPE_CHECKING:
    from arena.contests.competition_service import CompetitionService
    from arena.contests.standings import Json
    from arena.contests.standings_process import SentStandings, StandingsMaker

P = ParamSpec("P")
T = TypeVar("T")


class LocalChannel:
    """A channel that answers calls of the generated stubs in this process. Used by one thread."""

    def __init__(self, data: Path) -> None:
        token = new_token()
        key = Key(
            key_id(token), token_sha256(token), Scope.ORGANISER, _person(), "", datetime.now(UTC)
        )
        self._tokens: Final = Tokens(keys=[key])
        self._context: Final = _Call(token)
        self._folder: Final = _Folder(data, self._tokens)
        self._servicers: Final[dict[str, object]] = {}
        self._loop: Final = asyncio.new_event_loop()
        self._loop.set_default_executor(_ThisThread())
        self._loop.set_exception_handler(lambda *_: None)  # a call that Ctrl-C has stopped

    def close(self) -> None:
        self._loop.close()
        self._folder.close()

    def unary_unary(self, method: str, *_: object, **__: object) -> Callable[..., Any]:
        def call(request: Any, **_: object) -> Any:
            with self._as_of_grpc(method):
                return self._loop.run_until_complete(self._handler(method)(request, self._context))

        return call

    def unary_stream(self, method: str, *_: object, **__: object) -> Callable[..., Iterator[Any]]:
        def call(request: Any, **_: object) -> Iterator[Any]:
            with self._as_of_grpc(method):
                responses = aiter(self._handler(method)(request, self._context))

                async def following() -> Any:
                    return await anext(responses, None)

                while (response := self._loop.run_until_complete(following())) is not None:
                    yield response

        return call

    def _handler(self, method: str) -> Callable[..., Any]:
        _, service, name = method.split("/")
        authorise(CALLS[method], self._context.invocation_metadata(), self._tokens)
        if service not in self._servicers:
            self._servicers[service] = _SERVICERS[service](self._folder)
        handler: Callable[..., Any] = getattr(self._servicers[service], name)
        return handler

    @contextlib.contextmanager
    def _as_of_grpc(self, method: str) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            if isinstance(refused.__cause__, StoreError) and refused.reason in _HIDDEN:
                raise refused.__cause__ from None
            # Texts are not shortened, because they cross no network.
            whole = Refused(
                refused.reason, refused.detail, retry_s=refused.retry_s, max_chars=sys.maxsize
            )
            raise LocalError(whole, method) from refused.__cause__


_HIDDEN: Final = frozenset({"STORE_AWAY", "STORE_BUSY"})
"""The refusals that hide the text of an error from network clients."""


class LocalError(grpc.RpcError):
    """A refused call, as gRPC raises it."""

    def __init__(self, refused: Refused, method: str) -> None:
        super().__init__(f"{method}: {refused.text}")
        self._refused = refused

    def code(self) -> grpc.StatusCode:
        return self._refused.code

    def details(self) -> str:
        return self._refused.text

    def trailing_metadata(self) -> Any:
        """Return the reason, for programs."""
        return self._refused.trailing_metadata()


class _Call:
    def __init__(self, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._metadata


class _Folder:
    """The parts that servicers in a folder need. The store is opened when one of them needs it."""

    def __init__(self, data: Path, tokens: Tokens) -> None:
        self.data: Final = data
        self.tokens: Final = tokens

    @cached_property
    def store(self) -> Store:
        return open_store(store_path(self.data))

    @cached_property
    def competitions(self) -> "CompetitionService":
        from arena.contests.competition_service import CompetitionService
        from arena.records.signing import arena_key

        return CompetitionService(
            self.store.competitions(), arena_key(self.data), is_played=lambda: is_running(self.data)
        )

    def close(self) -> None:
        if "store" in vars(self):
            self.store.close()


# Servicers are imported when they are called, as a command calls one or two of them.


def _competitions(folder: _Folder) -> object:
    from arena.api.competitions import CompetitionCalls, RecentResults

    return CompetitionCalls(
        folder.store,
        folder.competitions,
        folder.tokens,
        recent=RecentResults(0.0),
        launches=True,
        # An arena that runs in the folder may be about to play it.
        may_replace=lambda: not is_running(folder.data),
    )


def _standings(folder: _Folder) -> object:
    from arena.api.competitions import RecentResults
    from arena.api.standings import StandingsCalls
    from arena.contests.standings_process import StandingsMaker

    standings = _StandingsHere(StandingsMaker(folder.store))
    return StandingsCalls(folder.competitions, standings, recent=RecentResults(0.0))


def _matches(folder: _Folder) -> object:
    from arena.api.matches import MatchCalls

    return MatchCalls(folder.store.matches(), folder.tokens)


def _keys(folder: _Folder) -> object:
    from arena.api.keys import KeyCalls

    return KeyCalls(folder.store, folder.tokens, lambda: datetime.now(UTC))


def _replays(folder: _Folder) -> object:
    from arena.api.replays import ReplayCalls

    # Who may read the folder reads notes files in it.
    return ReplayCalls(folder.data, folder.tokens, lambda _: None)


_SERVICERS: Final[Mapping[str, Callable[[_Folder], object]]] = {
    "cardarena.v1.CompetitionService": _competitions,
    "cardarena.v1.KeyService": _keys,
    "cardarena.v1.LobbyService": _matches,
    "cardarena.v1.ReplayService": _replays,
    "cardarena.v1.StandingsService": _standings,
}


class _StandingsHere:
    """Computes standings in this process, as `StandingsProcess` does in another one."""

    def __init__(self, maker: "StandingsMaker") -> None:
        self._maker = maker

    async def standings(self, name: str, number: int) -> "SentStandings":
        return self._maker.standings(name, number)

    async def pair(self, name: str, game: str, bot: str, other: str) -> "Json | None":
        return self._maker.pair(name, game, bot, other)

    async def collusion(self, name: str, without: Collection[str], earlier: Sequence[str]) -> str:
        return self._maker.collusion(name, without, earlier)


class _ThisThread(ThreadPoolExecutor):
    """Runs functions at once, so that Ctrl-C stops them."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def has_store(data: Path) -> bool:
    """Return whether a folder has a store; `local_channel` creates one otherwise."""
    return is_there(store_path(data))


def runs_in(data: Path) -> bool:
    """Return whether an arena runs in a folder."""
    return is_running(data)


@contextlib.contextmanager
def local_channel(data: Path) -> Iterator[grpc.Channel]:
    """Open a channel to the services of a folder for the block. Calls raise `StoreError` if the store cannot be opened or used."""
    with contextlib.closing(LocalChannel(data)) as channel:
        yield cast("grpc.Channel", channel)


def _person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "organiser"
