"""Opens channels to an arena: with TLS, or in plain text within one machine.

A bot's token lets its holder play as the bot. It is sent to another machine in plain text only if the bot's author
allows that; a redirect of the arena cannot allow it.
"""

import contextlib
import ipaddress
import os
import re
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import grpc

from cardarena._errors import Misconfigured

_TLS: Final = "https://"
_PLAIN: Final = "http://"

_PROXIES: Final = ("grpc_proxy", "https_proxy", "http_proxy")
"""The variables that gRPC reads, the first one that is set; the same names in capitals have no effect."""
_DIRECT: Final = ("no_grpc_proxy", "no_proxy")
"""The variables with the suffixes of hosts without a proxy."""

ChannelOptions = Sequence[tuple[str, int]]


def is_local(endpoint: str) -> bool:
    """Return whether an address is on this machine: a loopback address or a socket file."""
    if endpoint.startswith("unix:"):
        return True
    host, colon, port = endpoint.rpartition(":")
    if not colon or not port.isdecimal() or (":" in host and not host.startswith("[")):
        host = endpoint  # without a port
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def proxy_to(endpoint: str) -> str:
    """Return the proxy through which gRPC reaches an address, as the end of a sentence; empty without a proxy."""
    bare = _bare(endpoint)
    host = bare.rpartition(":")[0] or bare
    direct = next((os.environ[name] for name in _DIRECT if os.environ.get(name)), "")
    ends = tuple(end.strip() for end in direct.split(",") if end.strip())
    if is_local(bare) or host.endswith(ends):
        return ""
    name = next((name for name in _PROXIES if os.environ.get(name)), "")
    shown = re.sub(r"//[^/@]*@", "//", os.environ.get(name, ""))
    return f" through the proxy {shown} of the variable {name}" if name else ""


class Dial:
    """Opens channels to an arena, and to the addresses of its redirects."""

    def __init__(
        self,
        address: str,
        *,
        tls: bool = False,
        ca_file: str | None = None,
        client_cert: str | None = None,
        client_key: str | None = None,
        insecure: bool = False,
    ) -> None:
        """Check the settings before anything is sent.

        Args:
          address: HOST:PORT, `https://HOST:PORT` or `unix:PATH`.
          tls: Whether to use TLS also for an address without `https://`.
          ca_file: The certificates that sign the arena's; by default those of CARDARENA_CA, or the public ones.
          client_cert: The bot's certificate; by default that of CARDARENA_CLIENT_CERT, if set.
          client_key: Its private key; by default that of CARDARENA_CLIENT_KEY.
          insecure: Whether a token may be sent to another machine in plain text.

        Raises:
          Misconfigured: if a file is wrong, or a token would be sent in plain text.
        """
        files = any((ca_file, client_cert, client_key))
        self._tls = tls or files or address.startswith(_TLS)
        self._insecure = insecure
        self._credentials: grpc.ChannelCredentials | None = None
        if self._tls:
            self._credentials = _credentials(
                ca_file or _environment("CARDARENA_CA"),
                client_cert or _environment("CARDARENA_CLIENT_CERT"),
                client_key or _environment("CARDARENA_CLIENT_KEY"),
            )
        self._target(address)

    def channel(self, endpoint: str, options: ChannelOptions) -> grpc.Channel:
        """Return a channel to the address, or to that of a redirect.

        Raises:
          Misconfigured: if a token would be sent in plain text.
        """
        target, options = self._target(endpoint), (*options, *_direct(endpoint))
        if self._credentials is None:
            return grpc.insecure_channel(target, options=options)
        return grpc.secure_channel(target, self._credentials, options=options)

    def aio_channel(self, endpoint: str, options: ChannelOptions) -> grpc.aio.Channel:
        """Return a channel for asyncio, like `channel`."""
        target, options = self._target(endpoint), (*options, *_direct(endpoint))
        if self._credentials is None:
            return grpc.aio.insecure_channel(target, options=options)
        return grpc.aio.secure_channel(target, self._credentials, options=options)

    def _target(self, endpoint: str) -> str:
        """Return the target for gRPC, if it is safe."""
        if endpoint.startswith(_TLS):
            if not self._tls:
                raise Misconfigured(f"{endpoint} needs TLS: give the address with {_TLS}, or --tls")
            return endpoint.removeprefix(_TLS).rstrip("/")
        if endpoint.startswith(_PLAIN):
            if self._tls:
                raise Misconfigured(f"{endpoint} is plain text, where TLS was asked for")
            endpoint = endpoint.removeprefix(_PLAIN).rstrip("/")
        if not self._tls and not self._insecure and not is_local(endpoint):
            raise Misconfigured(
                f"the token would go to {endpoint} in plain text, for all on the way to read: use "
                f"{_TLS}{endpoint}, or say --insecure"
            )
        return endpoint


def _direct(endpoint: str) -> ChannelOptions:
    """Return the options with which no proxy is used for an address of this machine."""
    return (("grpc.enable_http_proxy", 0),) if is_local(_bare(endpoint)) else ()


def _bare(endpoint: str) -> str:
    """Return an address without its scheme."""
    return endpoint.removeprefix(_TLS).removeprefix(_PLAIN).rstrip("/")


def _credentials(
    ca_file: str | None, client_cert: str | None, client_key: str | None
) -> grpc.ChannelCredentials:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca, cert, key = _read(ca_file), _read(client_cert), _read(client_key)
    if (cert is None) != (key is None):
        raise Misconfigured("a client's certificate and its key go together: give both")
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except ssl.SSLError:
            raise Misconfigured(f"{ca_file} holds no certificates in PEM") from None
    if client_cert is not None:
        try:
            # With an empty password OpenSSL does not ask for one at the terminal.
            context.load_cert_chain(client_cert, client_key, password="")
        except ssl.SSLError:
            text = f"{client_cert} and {client_key} are no certificate in PEM with its key"
            raise Misconfigured(text) from None
    return grpc.ssl_channel_credentials(ca, key, cert)


def _environment(name: str) -> str | None:
    return os.environ.get(name) or None


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Misconfigured(f"cannot read {path}: {error.strerror}") from error
