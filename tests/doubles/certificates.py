"""Certificates for tests, made with the openssl program."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@dataclass(frozen=True)
class Authority:
    """Signs certificates. Everything lies in a folder, under the name it was made for."""

    folder: Path
    name: str

    @classmethod
    def make(cls, folder, name):
        made = cls(folder, name)
        names = ("-keyout", made.key(name), "-out", made.certificate(name), "-subj", f"/CN={name}")
        openssl("req", "-x509", *EC, "-noenc", "-days", "2", *names)
        return made

    def certificate(self, name):
        return self.folder / f"{name}.crt"

    def key(self, name):
        return self.folder / f"{name}.key"

    @property
    def file(self):
        return self.certificate(self.name)

    def sign(self, name, *alternatives):
        """A certificate and its key, for hosts as `IP:127.0.0.1` or `DNS:localhost`."""
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={','.join(alternatives)}\n" if alternatives else "")
        openssl(
            "req", *EC, "-noenc", "-keyout", self.key(name), "-out", request, "-subj", f"/CN={name}"
        )
        by = ("-CA", self.file, "-CAkey", self.key(self.name), "-CAcreateserial")
        out = ("-days", "2", "-extfile", extensions, "-out", self.certificate(name))
        openssl("x509", "-req", "-in", request, *by, *out)
        return self.certificate(name), self.key(name)
