"""An owner's side: the calls that owners and organisers make of an arena."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from arena.cli.lobby import NoLobby, Server, channel_of, told_plainly
from arena.cli.options import dial_options, with_options
from arena.cli.owner_keys import KeyFile
from cardarena._run import DEFAULT_ADDRESS
from cardarena.v1 import bots_pb2, bots_pb2_grpc, owners_pb2, owners_pb2_grpc

CALL_S: Final = 20.0
UPLOAD_S: Final = 320.0
"""Longest that an upload may take: a little more than the arena waits."""
PIECE_BYTES: Final = 64 << 10
OWNERS_KEY: Final = "register first: arena register ADDRESS --code CODE"
F = TypeVar("F", bound=Callable[..., Any])


class Owning:
    """The owner and bot services of an arena; each call raises `NoLobby` if it fails."""

    def __init__(self, channel: Any, server: Server, key_hint: str) -> None:
        self._owners = owners_pb2_grpc.OwnerServiceStub(channel)
        self._bots = bots_pb2_grpc.BotServiceStub(channel)
        self._server = server
        self._hint = key_hint
        self._metadata = (("authorization", f"Bearer {server.token}"),) if server.token else ()

    # Owners.

    def register(self, code: str) -> owners_pb2.RegisterResponse:
        """Become an owner."""
        request = owners_pb2.RegisterRequest(code=code)
        made: owners_pb2.RegisterResponse = self._call(self._owners.Register, request)
        return made

    def invite(self, owner: str) -> str:
        """A code with which somebody may register."""
        return str(self._call(self._owners.Invite, owners_pb2.InviteRequest(owner=owner)).code)

    def ban(self, owner: str, reason: str) -> None:
        """Ban an owner."""
        self._call(self._owners.Ban, owners_pb2.BanRequest(owner=owner, reason=reason))

    def owners(self) -> list[owners_pb2.OwnerInfo]:
        """All owners."""
        request = owners_pb2.ListOwnersRequest()
        return self._pages(self._owners.ListOwners, request, "owners")

    # Bots.

    def create_bot(self, bot: str, kind: bots_pb2.BotKind.ValueType) -> None:
        """Make a bot."""
        self._call(self._bots.CreateBot, bots_pb2.CreateBotRequest(bot=bot, kind=kind))

    def token(self, bot: str) -> bots_pb2.CreateTokenResponse:
        """A token for a remote bot, which is made if it is not there."""
        request = bots_pb2.CreateTokenRequest(bot=bot)

        def asked() -> Any:
            return self._call(self._bots.CreateToken, request)

        made: bots_pb2.CreateTokenResponse
        made = self._made_first(bot, bots_pb2.BOT_KIND_REMOTE, asked)
        return made

    def submit(self, bot: str, archive: Path, told: Callable[[int], None]) -> bots_pb2.VersionInfo:
        """Submit a version of a bot, which is made if it is not there; `told` hears how many bytes are sent."""

        def requests() -> Iterator[bots_pb2.SubmitVersionRequest]:
            yield bots_pb2.SubmitVersionRequest(bot=bot)
            with archive.open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    yield bots_pb2.SubmitVersionRequest(piece=piece)
                    told(len(piece))

        def sent() -> bots_pb2.SubmitVersionResponse:
            with told_plainly(self._server, self._hint):
                made: bots_pb2.SubmitVersionResponse = self._bots.SubmitVersion(
                    requests(), metadata=self._metadata, timeout=UPLOAD_S
                )
            return made

        version: bots_pb2.VersionInfo
        version = self._made_first(bot, bots_pb2.BOT_KIND_UPLOADED, sent).version
        return version

    def set_state(
        self, bot: str, version: int, state: bots_pb2.VersionState.ValueType
    ) -> bots_pb2.VersionInfo:
        """Make a version active, inactive or retired."""
        request = bots_pb2.SetVersionStateRequest(bot=bot, version=version, state=state)
        made: bots_pb2.SetVersionStateResponse = self._call(self._bots.SetVersionState, request)
        return made.version

    def report(self, bot: str, version: int) -> bots_pb2.GetReportResponse:
        """A version, and its report if there is one."""
        request = bots_pb2.GetReportRequest(bot=bot, version=version)
        found: bots_pb2.GetReportResponse = self._call(self._bots.GetReport, request)
        return found

    def versions(self, bot: str) -> list[bots_pb2.VersionInfo]:
        """All versions of a bot, newest first."""
        request = bots_pb2.ListVersionsRequest(bot=bot)
        return self._pages(self._bots.ListVersions, request, "versions")

    def logs(self, bot: str, version: int) -> list[bots_pb2.LogInfo]:
        """The logs of a version."""
        request = bots_pb2.ListLogsRequest(bot=bot, version=version)
        return self._pages(self._bots.ListLogs, request, "logs")

    def log(self, bot: str, version: int, name: str) -> bytes:
        """One log."""
        request = bots_pb2.GetLogRequest(bot=bot, version=version, log=name)
        with told_plainly(self._server, self._hint):
            pieces = self._bots.GetLog(request, metadata=self._metadata, timeout=UPLOAD_S)
            return b"".join(each.piece for each in pieces)

    def _made_first(
        self, bot: str, kind: bots_pb2.BotKind.ValueType, act: Callable[[], Any]
    ) -> Any:
        """Do something with a bot; if it is not there, make it and do it again."""
        try:
            return act()
        except NoLobby as error:
            if error.reason != "UNKNOWN_BOT":
                raise
        self.create_bot(bot, kind)
        return act()

    def _pages(self, method: Any, request: Any, field: str) -> list[Any]:
        found: list[Any] = []
        while True:
            page = self._call(method, request)
            found += getattr(page, field)
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def _call(self, method: Any, request: Any) -> Any:
        with told_plainly(self._server, self._hint):
            return method(request, metadata=self._metadata, timeout=CALL_S)


@contextlib.contextmanager
def owning_of(server: Server, key_hint: str = OWNERS_KEY) -> Iterator[Owning]:
    """The owner and bot services of the arena that is there."""
    with channel_of(server) as channel:
        yield Owning(channel, server, key_hint)


def owner_options(command: F) -> F:
    """Adds the options that say at which arena one is an owner; the command gets one `server`."""

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
        held = KeyFile().all()
        address = server or (held[0].address if held else DEFAULT_ADDRESS)
        known = next((each.token for each in held if each.address == address), "")
        said = token or os.environ.get("CARDARENA_OWNER_TOKEN") or known
        return command(server=Server(address, said, ca, client_cert, client_key, insecure), **rest)

    return with_options(  # type: ignore[return-value]
        with_server,
        click.option(
            "--server",
            metavar="ADDRESS",
            help="The arena; else the one that you registered at last.",
        ),
        click.option(
            "--token",
            help="An owner's; else that of your key file.  [env var: CARDARENA_OWNER_TOKEN]",
        ),
        dial_options,
    )
