"""The certificate of an arena, which is read again when its files change."""

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import grpc
from cryptography import x509

from arena.live.listen import CannotServe

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files in PEM."""

    certificate: Path
    """The arena's certificate, followed by those of its chain."""
    key: Path
    """The certificate's private key, not encrypted."""
    client_ca: Path | None = None
    """If given, clients need a certificate that one of these has signed."""


_Stamp: TypeAlias = tuple[tuple[int, int, int], ...]
"""Inode, size and time of change of each file."""


class Certificate:
    """The certificate of new connections, with its key and the client CA.

    Each handshake checks the files. If they have changed and fit each other, they are used from then on, so a renewed
    certificate needs no restart. Otherwise the previous ones stay in use, and a warning is logged.
    """

    def __init__(self, files: TlsFiles) -> None:
        """Read the files.

        Raises `CannotServe` if one cannot be read or used, or the key is not that of the certificate.
        """
        self._files: Final = files
        self._stamp = self._stamp_now()
        self._configuration, self._expires_unix_s = _read_all(files)

    def credentials(self) -> grpc.ServerCredentials:
        return grpc.dynamic_ssl_server_credentials(
            self._configuration, self.renewed, self._files.client_ca is not None
        )

    @property
    def expires_unix_s(self) -> float:
        """When the certificate that the next connection gets expires, in seconds since 1970."""
        self.renewed()
        return self._expires_unix_s

    def renewed(self) -> grpc.ServerCertificateConfiguration:
        """Return the certificate of the next connection. gRPC calls this on its own threads."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return self._configuration
        self._stamp = stamp
        try:
            self._configuration, self._expires_unix_s = _read_all(self._files)
        except CannotServe as error:
            _log.warning("the certificate before stays in use", extra={"why": str(error)})
        else:
            _log.info("a renewed certificate is in use")
        return self._configuration

    def _stamp_now(self) -> _Stamp:
        files = (self._files.certificate, self._files.key, self._files.client_ca)
        try:
            found = [path.stat() for path in files if path is not None]
        except OSError:
            return ()
        return tuple((file.st_ino, file.st_size, file.st_mtime_ns) for file in found)


def _read_all(tls: TlsFiles) -> tuple[grpc.ServerCertificateConfiguration, float]:
    """Return the files as gRPC takes them, and when the certificate expires, in seconds since 1970.

    They are checked here, because gRPC would fail only at each handshake. Raises `CannotServe` as `Certificate` does.
    """
    certificate = _read(tls.certificate, "certificate")
    key = _read(tls.key, "key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # If a password is given, OpenSSL does not ask for one at the terminal.
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
    expires = x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    configuration = grpc.ssl_server_certificate_configuration([(key, certificate)], client_ca)
    return configuration, expires.timestamp()


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
