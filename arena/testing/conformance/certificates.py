"""Certificates for the endpoints with TLS, made for each run."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID: Final = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Certificates:
    """A new certificate authority, and a certificate that it signed for this machine; all in PEM."""

    authority: bytes
    chain: bytes
    key: bytes

    @classmethod
    def make(cls) -> "Certificates":
        """Make new ones, valid for a day."""
        signer, own = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        authority, host = _name("scripted authority"), _name("scripted arena")
        here: list[x509.GeneralName] = [
            x509.DNSName("localhost"),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        ]
        # A separate authority: some TLS libraries refuse self-signed certificates of hosts.
        root = _begun(authority, authority, signer).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        leaf = (
            _begun(host, authority, own)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(here), critical=False)
        )
        pem = serialization.Encoding.PEM
        return cls(
            root.sign(signer, hashes.SHA256()).public_bytes(pem),
            leaf.sign(signer, hashes.SHA256()).public_bytes(pem),
            own.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        )

    def write_authority(self, folder: Path) -> Path:
        """Write the authority's certificate, which clients must trust, to a file."""
        path = folder / "ca.pem"
        path.write_bytes(self.authority)
        return path


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _VALID)
        .not_valid_after(now + _VALID)
    )
