"""Checks of the constructors of moves."""

from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

from cardarena.cards import SUITS, checked

_MOST: Final = 0xFFFF_FFFF
_ValueT = TypeVar("_ValueT", bound=int)


class _Enum(Protocol):
    """An enum of the protocol."""

    def keys(self) -> list[str]: ...

    def values(self) -> Iterable[int]: ...


def card(text: object) -> str:
    """Return the card.

    Raises:
      ValueError: if it is no card.
    """
    return checked(text)


def cards(texts: Iterable[object]) -> list[str]:
    """Return the cards.

    Raises:
      ValueError: if one is no card.
    """
    return [checked(text) for text in texts]


def suit(letter: object) -> str:
    """Return the letter of the suit.

    Raises:
      ValueError: if it is no suit.
    """
    if not isinstance(letter, str) or len(letter) != 1 or letter not in SUITS:
        raise ValueError(f"{letter!r} is no suit: 'c', 'd', 'h' or 's' is wanted")
    return letter


def whole(name: str, number: object) -> int:
    """Return the number.

    Raises:
      ValueError: if it does not fit into a message.
    """
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= _MOST:
        raise ValueError(f"{name} is {number!r}: a whole number from 0 is wanted")
    return number


def named(name: str, number: _ValueT, enum: _Enum) -> _ValueT:
    """Return the value of the enum.

    Raises:
      ValueError: if it is no value of the enum, or UNSPECIFIED.
    """
    if isinstance(number, bool) or number not in enum.values() or number == 0:
        wanted = ", ".join(enum.keys()[1:])
        raise ValueError(f"{name} is {number!r}: one of {wanted} is wanted")
    return number
