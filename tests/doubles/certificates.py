"""Certificates for tests, valid since yesterday."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM
DAY = dt.timedelta(days=1)


def key_in_pem(key, password=b""):
    """A private key as text, encrypted if a password is given."""
    encryption = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    return key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, encryption)


def alternative(text):
    """A host that a certificate is for, as `IP:127.0.0.1` or `DNS:localhost`."""
    kind, _, value = text.partition(":")
    return x509.IPAddress(ipaddress.ip_address(value)) if kind == "IP" else x509.DNSName(value)


def begun(name, issuer, key, days=1):
    """A certificate that has to be signed."""
    subject, by = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in (name, issuer)
    )
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder(by, subject, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + days * DAY)
    )


@dataclass(frozen=True)
class Authority:
    """Signs certificates. Each is in `folder`, under the name it was made for."""

    folder: Path
    name: str
    signer: ec.EllipticCurvePrivateKey

    @classmethod
    def make(cls, folder, name):
        made = cls(folder, name, ec.generate_private_key(ec.SECP256R1()))
        own = begun(name, name, made.signer)
        made._sign(name, made.signer, own, x509.BasicConstraints(ca=True, path_length=None))
        return made

    def certificate(self, name):
        return self.folder / f"{name}.crt"

    def key(self, name):
        return self.folder / f"{name}.key"

    @property
    def file(self):
        return self.certificate(self.name)

    def sign(self, name, *alternatives, days=1):
        """The files of a new certificate and its key, for hosts as `alternative` reads them."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = begun(name, self.name, key, days)
        if alternatives:
            names = x509.SubjectAlternativeName([alternative(each) for each in alternatives])
            builder = builder.add_extension(names, critical=False)
        self._sign(name, key, builder, x509.BasicConstraints(ca=False, path_length=None))
        return self.certificate(name), self.key(name)

    def _sign(self, name, key, builder, constraints):
        signed = builder.add_extension(constraints, critical=True).sign(
            self.signer, hashes.SHA256()
        )
        self.certificate(name).write_bytes(signed.public_bytes(PEM))
        self.key(name).write_bytes(key_in_pem(key))
