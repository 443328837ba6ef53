"""Listens for clients: with TLS, or with plain text on this machine."""

import contextlib
import errno
import ipaddress
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import grpc

UNIX: Final = "unix:"
_WHY_NOT: Final = {
    errno.EADDRINUSE: "the port is in use; choose another one",
    errno.EADDRNOTAVAIL: "{} is no address of this machine; 0.0.0.0 stands for all its addresses",
    errno.EACCES: "the port is not allowed; ports below 1024 are reserved by the system",
}


class CannotServe(Exception):
    """The server could not start; the text says why."""


def is_local(host: str) -> bool:
    """Return whether a host is on this machine: a loopback address or a socket file."""
    if host.startswith(UNIX) or host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def require_this_machine(host: str) -> None:
    """Require a host that only this machine can reach, because open hands are only for this machine.

    Raises `CannotServe` if other machines can reach the host.
    """
    if not is_local(host):
        raise CannotServe(
            f"other machines can reach {host}, and open hands are for this machine only: leave out "
            "--open-hands, or listen on 127.0.0.1, ::1 or unix:PATH"
        )


def listen(
    server: grpc.aio.Server,
    host: str,
    port: int,
    credentials: grpc.ServerCredentials | None,
    *,
    insecure: bool,
) -> str:
    """Let the server listen; return the address to which bots connect.

    Args:
      server: A server that is not started.
      host: A host name, an IP address or `unix:PATH`.
      port: 0 takes a free one. A socket file has none.
      credentials: Those of TLS; None is plain text.
      insecure: Whether plain text may leave this machine.

    Raises `CannotServe` if the address cannot be used, or plain text would leave this machine.
    """
    if credentials is None and not insecure and not is_local(host):
        raise CannotServe(
            f"other machines can reach {host}, and anyone on the network can read tokens and cards in "
            "plain text: give --tls-cert and --tls-key, or allow it with --insecure"
        )
    where = _where(host, port)
    if host.startswith(UNIX):
        _require_unused(Path(host.removeprefix(UNIX)))
    else:
        require_free(host, port)
    try:
        # A user who can open the file can play as a guest, so only this user can.
        with owner_only_files() if host.startswith(UNIX) else contextlib.nullcontext():
            if credentials is None:
                bound = server.add_insecure_port(where)
            else:
                bound = server.add_secure_port(where, credentials)
    except RuntimeError:
        bound = 0
    if bound == 0 and host.startswith(UNIX):
        why = "its folder does not exist or is not writable, or the path is too long"
        raise CannotServe(f"cannot listen on {where}: {why}")
    if bound == 0:
        raise CannotServe(f"cannot listen on {where}: the port is in use or not allowed")
    return where if host.startswith(UNIX) else _where(host, bound)


_UMASK: Final = threading.Lock()
"""Held while the umask is changed: two threads that change it at the same time could restore the wrong one."""


@contextlib.contextmanager
def owner_only_files() -> Iterator[None]:
    """Files that are made within the block can be opened by their owner only."""
    with _UMASK:
        before = os.umask(0o177)
        try:
            yield
        finally:
            os.umask(before)


def _where(host: str, port: int) -> str:
    if host.startswith(UNIX):
        return f"{UNIX}{Path(host.removeprefix(UNIX)).absolute()}"
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"


def _require_unused(path: Path) -> None:
    """Require that no server listens at a socket file: grpc would replace it silently."""
    if not os.path.lexists(path):
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            if not path.is_socket():
                raise CannotServe(f"cannot listen on {path}: there is a file that is no socket")
            probe.connect(str(path))
        except ConnectionRefusedError:
            return  # the file of a server that was killed
        except OSError as error:
            raise CannotServe(f"cannot listen on {path}: {error.strerror}") from error
    raise CannotServe(f"cannot listen on {path}: another server does")


def require_free(host: str, port: int) -> None:
    """Require that a port is free, before grpc logs its own error."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror:
        raise CannotServe(f"cannot listen on {host}: there is no host {host!r}") from None
    try:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        why = _WHY_NOT.get(error.errno or 0, "the port is in use or not allowed").format(host)
        raise CannotServe(f"cannot listen on {_where(host, port)}: {why}") from None
