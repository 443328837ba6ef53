"""Names of bots and tournaments as parts of addresses and names of files.

Letters, digits, `-` and `_` stay; every other byte becomes `~` and two digits. So a slug
means the same in an address and on every disk, and has no dot: what follows a dot is a page's
kind.
"""

import re
from typing import Final

_KEPT: Final = re.compile(rb"[A-Za-z0-9_-]")
_CODED: Final = re.compile(r"~([0-9A-F]{2})")


def slug(name: str) -> str:
    """A name as it stands in addresses."""
    return "".join(
        chr(byte) if _KEPT.match(bytes([byte])) else f"~{byte:02X}" for byte in name.encode()
    )


def unslug(text: str) -> str:
    """The name that a slug stands for; a name that was written as it is stays so.

    Raises:
      ValueError: if it stands for none.
    """
    raw = _CODED.sub(lambda found: chr(int(found[1], 16)), text.encode().decode("latin-1"))
    return raw.encode("latin-1").decode("utf-8")
