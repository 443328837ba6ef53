"""Posts signed messages to addresses that owners and organisers registered.

The arena does not trust who registers an address. So the host is resolved once, all its addresses must be public, and
the connection is made to a checked address. Redirects are not followed, only the status of an answer is used, and an
attempt ends after `WHOLE_S` seconds. The signature is that of Standard Webhooks (https://www.standardwebhooks.com).
"""

import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import secrets
import socket
import ssl
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from arena.errors import RefusalError

CONNECT_S: Final = 3.0
"""The longest wait for a connection, and for each part of an answer, in seconds."""
WHOLE_S: Final = 8.0
MOST_URL_CHARS: Final = 500
SECRET_BYTES: Final = 32
SECRET: Final = "whsec_"  # noqa: S105 - how secrets begin
_UNICAST: Final = ipaddress.ip_network("2000::/3")
"""The unicast addresses of IPv6, without those that embed an IPv4 address."""

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, as texts."""


class BadWebhook(RefusalError, ValueError, reason="BAD_WEBHOOK"):
    """Nothing may be sent to an address; the text says why."""


class NotDelivered(Exception):
    """The receiver did not take a message. The text says why, for the webhook's owner."""


def new_secret() -> str:
    """Return a new secret, as receivers are given it."""
    return SECRET + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature(secret: str, message_id: str, unix_s: int, body: str) -> str:
    """Return the value of the header `webhook-signature`."""
    key = b64decode(secret.removeprefix(SECRET))
    signed = f"{message_id}.{unix_s}.{body}".encode()
    return f"v1,{b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"


def resolved(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, by the resolver of the system. Blocks."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in answers]


def is_public(address: str) -> bool:
    """Return whether an address is public; an address that is embedded in it must be public too."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        elif ip not in _UNICAST or ip.sixtofour is not None or ip.teredo is not None:
            return False
    return ip.is_global and not ip.is_multicast


class WebhookPost:
    """Posts messages. Any thread may call."""

    def __init__(
        self,
        allowed_hosts: Collection[str] = (),
        *,
        resolve: Resolve = resolved,
        connect: Callable[..., socket.socket] = socket.create_connection,
    ) -> None:
        """Post to public addresses by https.

        Args:
          allowed_hosts: Hosts that may also have other addresses, and be reached by http.
          resolve: Finds the addresses of a host.
          connect: Connects to an address, as `socket.create_connection`.
        """
        self._allowed = frozenset(map(str.lower, allowed_hosts))
        self._resolve, self._connect = resolve, connect

    def checked(self, url: str) -> SplitResult:
        """Return the parts of a URL that may be registered. Looks up no address.

        Raises:
          BadWebhook: if it may not.
        """
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            _ = parts.port  # raises if the port is invalid
            host.encode("idna")  # raises, as the resolver does, if the name cannot be asked for
        except ValueError:
            raise BadWebhook("this is not a URL") from None
        if len(url) > MOST_URL_CHARS or not (url.isascii() and url.isprintable()) or " " in url:
            raise BadWebhook(f"a URL has at most {MOST_URL_CHARS} printable characters of ASCII")
        if not host or parts.username is not None or parts.fragment:
            raise BadWebhook("give a URL with a host, without a user or a fragment")
        if parts.scheme != "https" and not (parts.scheme == "http" and host in self._allowed):
            raise BadWebhook("the URL begins with https://")
        is_private = False
        with contextlib.suppress(ValueError):  # a host name is not an address
            is_private = not is_public(host)
        if is_private and host not in self._allowed:
            raise BadWebhook(f"{host} is not a public address")
        return parts

    def post(self, url: str, headers: Mapping[str, str], body: str) -> int:
        """Post a body; return the status. Blocks for at most `WHOLE_S` seconds, and the time of the resolver.

        Raises:
          NotDelivered: if there is no answer, or nothing was sent.
        """
        try:
            parts = self.checked(url)
            host = parts.hostname or ""
            port = parts.port or (443 if parts.scheme == "https" else 80)
            address = self._address(host, port)
            made = self._connect((address, port), timeout=CONNECT_S)
            return _answer(made, parts, port, headers, body.encode())
        except BadWebhook as error:
            raise NotDelivered(error.detail) from None
        except ssl.SSLError:
            raise NotDelivered("its certificate is not valid, or it speaks no TLS") from None
        except TimeoutError:
            raise NotDelivered("it did not answer in time") from None
        except (OSError, UnicodeError, http.client.HTTPException):
            raise NotDelivered("no connection was made, or no answer came") from None

    def _address(self, host: str, port: int) -> str:
        """Return the checked address of a host, to connect to."""
        addresses = self._resolve(host, port)
        if host not in self._allowed and not all(map(is_public, addresses)):
            raise BadWebhook(f"{host} has an address that is not public")
        return addresses[0]


def _answer(
    made: socket.socket, parts: SplitResult, port: int, headers: Mapping[str, str], body: bytes
) -> int:
    """Send a request over a connection, and return the status of the answer."""

    def end() -> None:
        with contextlib.suppress(OSError):
            made.shutdown(socket.SHUT_RDWR)

    # The time-out of a socket is for each part, of which a receiver may send any number.
    timer = threading.Timer(WHOLE_S, end)
    timer.daemon = True
    timer.start()
    connection: Any = http.client.HTTPConnection(parts.netloc, port)
    try:
        is_tls = parts.scheme == "https"
        context = ssl.create_default_context() if is_tls else None
        connection.sock = (
            context.wrap_socket(made, server_hostname=parts.hostname) if context else made
        )
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body, {**headers, "host": parts.netloc})
        status: int = connection.getresponse().status
        return status
    finally:
        timer.cancel()
        connection.close()
        made.close()
