"""Names of bots and owners, which share one name space in which no two look alike.

A name belongs to its first owner for ever, also after its last key, so that no other owner can take over a known name.
"""

import re
from typing import Final

from sqlalchemy import Connection, insert

from arena.errors import RefusalError
from arena.store import schema
from arena.store.errors import StoreError
from arena.store.rows import find_row

NAME: Final = re.compile(r"(?!.{33})[A-Za-z0-9](?: ?[A-Za-z0-9._-])*")
"""The names of bots and owners. Pages show two spaces as one, and none at the end."""
NAME_RULE: Final = (
    "a name has 1 to 32 letters a to z or A to Z, digits, dots, dashes, underscores or single spaces between them"
    " and begins with a letter or digit"
)
_SEPARATORS: Final = re.compile(r"[ ._-]+")
_ALIKE: Final = str.maketrans({"i": "l", "1": "l", "0": "o", "m": "rn"})
"""All rows of UTS 39 (`confusables.txt`) between the characters of names, without regard to case: 1 and I look like l,
0 like O, m like rn. Libraries bring the other 6,000 rows for names that are not ASCII."""


def skeleton(name: str) -> str:
    """Return the skeleton of a name: two names look alike if their skeletons are equal.

    Case does not count, and all separators are the same.
    """
    return _SEPARATORS.sub(" ", name.casefold()).rstrip().translate(_ALIKE)


_RESERVED: Final = frozenset(
    skeleton(word)
    for word in (
        *(
            "admin",
            "administrator",
            "moderator",
            "official",
            "operator",
            "root",
            "support",
            "system",
        ),
        *("arena", "card arena", "cardarena", "house", "referee", "server"),
        *("org", "organiser", "organizer", "organisers", "organizers"),
        *("all", "guest", "nobody", "spectator"),
    )
)


_OF_HOUSE: Final = skeleton("house") + " "
"""The prefix of the names of the arena's own bots, such as `house-sample`."""


def is_reserved(name: str) -> bool:
    """Return whether a name could be mistaken for the arena, its organisers, or a word of its pages."""
    looks = skeleton(name)
    return looks in _RESERVED or looks.startswith(_OF_HOUSE)


class NameTaken(RefusalError, StoreError, reason="NAME_TAKEN"):
    """The name is reserved or another owner's, or looks like a known name."""


def claim(connection: Connection, name: str, owner: str, *, organiser: bool = False) -> None:
    """Reserve a name for an owner; nothing changes if it is the owner's already.

    Only an `organiser` may claim a reserved name.

    Raises `NameTaken` if it is reserved or another owner's, or looks like a known name.
    """
    if is_reserved(name) and not organiser:
        raise NameTaken(f"{name!r} is reserved, as it could be taken for the arena's own name")
    row = find_row(connection, schema.names, skeleton=skeleton(name))
    if row is None:
        values = {"skeleton": skeleton(name), "name": name, "owner": owner}
        connection.execute(insert(schema.names).values(values))
        return
    known = "" if row["name"] == name else f"looks like {row['name']!r}, which "
    if skeleton(row["owner"]) != skeleton(owner):
        raise NameTaken(f"{name!r} {known}belongs to the owner {row['owner']!r}")
    if known:
        raise NameTaken(f"{name!r} is spelled {row['name']!r}")
