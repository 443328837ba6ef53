"""Listens for clients: with TLS, or with plain text on this machine."""

import contextlib
import errno
import ipaddress
import os
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc

UNIX: Final = "unix:"
_WHY_NOT: Final = {
    errno.EADDRINUSE: "the port is in use",
    errno.EADDRNOTAVAIL: "{} is no address of this machine; 0.0.0.0 stands for all its addresses",
    errno.EACCES: "the port is not allowed; ports below 1024 are reserved by the system",
}


class CannotServe(Exception):
    """The server could not start; the text says why."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files in PEM."""

    certificate: Path
    """The arena's certificate, followed by those of its chain."""
    key: Path
    """The certificate's private key, not encrypted."""
    client_ca: Path | None = None
    """If given, clients need a certificate that one of these has signed."""


def is_local(host: str) -> bool:
    """Whether a host is on this machine: a loopback address or a socket file."""
    if host.startswith(UNIX) or host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def require_this_machine(host: str) -> None:
    """Require a host that only this machine can reach, as open hands are for it alone.

    Raises:
      CannotServe: if other machines can reach the host.
    """
    if not is_local(host):
        raise CannotServe(
            f"other machines can reach {host}, and open hands are for this machine only: leave out "
            "--open-hands, or listen on 127.0.0.1, ::1 or unix:PATH"
        )


def listen(
    server: grpc.aio.Server, host: str, port: int, tls: TlsFiles | None, *, insecure: bool
) -> str:
    """Have the server listen; returns the address that bots dial.

    Args:
      server: Not started yet.
      host: A host name, an IP address or `unix:PATH`.
      port: 0 takes a free one. A socket file has none.
      tls: None is plain text.
      insecure: Whether plain text may leave this machine.

    Raises:
      CannotServe: if the address cannot be used, or plain text would leave this machine.
    """
    if tls is None and not insecure and not is_local(host):
        raise CannotServe(
            f"other machines can reach {host}, and anyone on the network can read tokens and cards in "
            "plain text: give --tls-cert and --tls-key, or allow it with --insecure"
        )
    credentials = None if tls is None else _credentials(tls)
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


@contextlib.contextmanager
def owner_only_files() -> Iterator[None]:
    """Files that are made within the block can be opened by their owner only."""
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
            return  # left behind by a server that was killed
        except OSError as error:
            raise CannotServe(f"cannot listen on {path}: {error.strerror}") from error
    raise CannotServe(f"cannot listen on {path}: another server does")


def require_free(host: str, port: int) -> None:
    """Require that a port is free, before grpc logs an error of its own."""
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


def _credentials(tls: TlsFiles) -> grpc.ServerCredentials:
    """The credentials, which are checked here, as grpc would fail at each handshake only."""
    certificate = _read(tls.certificate, "certificate")
    key = _read(tls.key, "key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # With a password given, OpenSSL does not ask for one at the terminal.
        context.load_cert_chain(tls.certificate, tls.key, password="")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            text = f"the key in {tls.key} is not that of the certificate in {tls.certificate}"
            raise CannotServe(text) from None
        raise CannotServe(_wrong_file(tls)) from None
    client_ca = None
    if tls.client_ca is not None:
        client_ca = _read(tls.client_ca, "client CA")
        try:
            context.load_verify_locations(tls.client_ca)
        except ssl.SSLError:
            raise CannotServe(f"{tls.client_ca} holds no certificates in PEM") from None
    return grpc.ssl_server_credentials(
        [(key, certificate)], client_ca, require_client_auth=client_ca is not None
    )


def _wrong_file(tls: TlsFiles) -> str:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(tls.certificate)
    except ssl.SSLError:
        return f"{tls.certificate} holds no certificate in PEM"
    return f"{tls.key} holds no private key in PEM, or an encrypted one, which cannot be used"


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CannotServe(f"cannot read the {what} {path}: {error.strerror}") from error
