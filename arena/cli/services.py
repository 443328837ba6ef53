"""The client of the services of an arena for commands: over the network, or of a folder on this machine.

The servicers of a folder are imported when a folder is used, because they load half of the arena.
"""

import contextlib
import functools
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import grpc
from click.core import ParameterSource

from arena.cli.arena_client import Server, ServiceClient, Stub, channel_of, server_options
from arena.cli.command_group import loading
from arena.cli.options import DEFAULT_DATA, make_folder, plain_errors, require_folder, with_options

F = TypeVar("F", bound=Callable[..., Any])


class ArenaServices:
    """The services that a command calls."""

    def __init__(self, channel: grpc.Channel, server: Server | None, data: Path | None) -> None:
        self.data: Final = data
        """The folder whose services these are; None for those of an arena over the network."""
        self._channel, self._server = channel, server

    @property
    def option(self) -> str:
        """Return the option with which a proposed command calls the same services, such as ` --data FOLDER`; empty by default."""
        if self._server is not None:
            return f" --server {shlex.quote(self._server.address)}"
        return "" if self.data == DEFAULT_DATA else f" --data {shlex.quote(str(self.data))}"

    def of(self, stub: Callable[[grpc.Channel], Stub]) -> ServiceClient[Stub]:
        return ServiceClient(stub(self._channel), self._server)


Services = TypeVar("Services", bound=ArenaServices)


def require_store(data: Path) -> None:
    """Require a data folder with a store. Raises `click.ClickException` if there is none."""
    with loading():
        from arena.app.local_channel import has_store

    require_folder(data)
    if not has_store(data):
        raise click.ClickException(f"nothing was played in the folder {data} yet")


@contextlib.contextmanager
def local_services(
    data: Path, kind: type[Services], *, require: Callable[[Path], object] = make_folder
) -> Iterator[Services]:
    """Open the services of a folder for the block; errors are printed in sentences. `require` checks or makes the folder."""
    with loading():
        from arena.app.local_channel import local_channel

    with plain_errors():
        require(data)
        with local_channel(data) as channel:
            yield kind(channel, None, data)


def service_options(
    command: F, kind: type[ArenaServices], *, require: Callable[[Path], object] = make_folder
) -> F:
    """Add `--data` and `--server`; the command gets one `client`, which is open while it runs.

    `require` checks or makes the folder.
    """

    @functools.wraps(command)
    def with_client(*, data: Path | None, server: Server | None, **rest: Any) -> Any:
        source = click.get_current_context().get_parameter_source("data")
        if server is not None and source is ParameterSource.COMMANDLINE:
            raise click.UsageError("choose one of --data and --server")
        if server is None:
            with local_services(data or DEFAULT_DATA, kind, require=require) as client:
                return command(client=client, **rest)
        with channel_of(server) as channel, plain_errors():
            return command(client=kind(channel, server, None), **rest)

    return with_options(  # type: ignore[return-value]
        with_client,
        click.option(
            "--data",
            type=click.Path(file_okay=False, path_type=Path),
            envvar="ARENA_DATA",
            help=f"The arena's folder, on this machine.  [default: {DEFAULT_DATA}]",
        ),
        functools.partial(server_options, default=None),
    )
