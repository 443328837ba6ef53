"""What the constructors of moves look at, so that no move is malformed."""

from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

from cardarena.cards import SUITS, checked

_MOST: Final = 0xFFFF_FFFF
_ValueT = TypeVar("_ValueT", bound=int)


class _Enum(Protocol):
    """An enum of the wire."""

    def keys(self) -> list[str]: ...

    def values(self) -> Iterable[int]: ...


def card(text: object) -> str:
    """The card, if it is one.

    Raises:
      ValueError: if it is none.
    """
    return checked(text)


def cards(texts: Iterable[object]) -> list[str]:
    """The cards, if all of them are such.

    Raises:
      ValueError: if one is none.
    """
    return [checked(text) for text in texts]


def suit(letter: object) -> str:
    """The suit's letter, if it is one.

    Raises:
      ValueError: if it is none.
    """
    if not isinstance(letter, str) or len(letter) != 1 or letter not in SUITS:
        raise ValueError(f"{letter!r} is no suit: 'c', 'd', 'h' or 's' is wanted")
    return letter


def whole(name: str, number: object) -> int:
    """The number, if the arena can be told it.

    Raises:
      ValueError: if it cannot.
    """
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= _MOST:
        raise ValueError(f"{name} is {number!r}: a whole number from 0 is wanted")
    return number


def named(name: str, number: _ValueT, enum: _Enum) -> _ValueT:
    """The value of the enum, if it is one and says something.

    Raises:
      ValueError: if it is none, or the one that says nothing.
    """
    if isinstance(number, bool) or number not in enum.values() or number == 0:
        wanted = ", ".join(enum.keys()[1:])
        raise ValueError(f"{name} is {number!r}: one of {wanted} is wanted")
    return number
