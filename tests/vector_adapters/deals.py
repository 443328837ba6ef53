"""Checks that adapters share."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any


class Differs(AssertionError):
    """An observable was read, and has another value than expected."""


@dataclass(frozen=True)
class OfSeat:
    """An observable of one seat, which is expected as a pair of seat and value."""

    read: Callable[[int], Any]


@dataclass(frozen=True)
class Hidden:
    """An observable that is expected to have nothing in common with what can be seen."""

    seen: Callable[[], Collection[Any]]


def only(given: Mapping[str, object], *known: str) -> None:
    """Fail on a key that the adapter would otherwise pass over."""
    unknown = set(given) - set(known)
    assert not unknown, f"the adapter does not know {sorted(unknown)}"


def compare(
    expected: Mapping[str, Any],
    observe: Mapping[str, Any],
    like: Mapping[str, Callable[[Any], Any]] | None = None,
) -> None:
    """Compare each expected observable with what `observe[name]` reads.

    `like` gives the form in which values of a name compare. Of objects only the
    keys that are named compare, and a list by seat may be expected as such.

    Raises:
      AssertionError: on an observable that has no entry, by name.
      Differs: if a value is another one.
    """
    for name, value in expected.items():
        assert name in observe, f"the adapter does not know the observable {name!r}"
        read = observe[name]
        if isinstance(read, Hidden):
            told = set(read.seen()) & set(value or ())
            if told or value is None:
                raise Differs(f"{name} has {sorted(told)}, which can be seen")
            continue
        if isinstance(read, OfSeat):
            if not isinstance(value, list) or len(value) != 2:
                raise Differs(f"{name} is of a seat: {value!r}")
            seat, awaited = value
            seen = read.read(seat)
        else:
            awaited, seen = value, read()
        form = (like or {}).get(name, plain)
        wanted, found = form(awaited), form(seen)
        if isinstance(wanted, dict) and wanted:
            found = _named(found, wanted)
        if wanted != found or isinstance(wanted, bool) is not isinstance(found, bool):
            raise Differs(f"{name} is {found!r}, not {wanted!r}")


def _named(found: Any, wanted: dict[str, Any]) -> Any:
    """The entries that are named, also of a list; `wanted` is left with names as text."""
    for key in list(wanted):
        wanted[str(key)] = wanted.pop(key)
    if isinstance(found, list):
        found = dict(enumerate(found))
    if not isinstance(found, dict):
        return found
    by_name = {str(key): value for key, value in found.items()}
    return {key: by_name.get(key, "there is no such entry") for key in wanted}


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value


def unordered(value: Any) -> Any:
    """Cards or seats in an order of their own, also within lists by seat and objects."""
    if isinstance(value, tuple | list):
        inner = [unordered(each) for each in value]
        lists = any(isinstance(each, list | dict) for each in inner)
        return inner if lists else sorted(inner, key=str)
    if isinstance(value, dict):
        return {key: unordered(each) for key, each in value.items()}
    return value


def seats(value: Any) -> Any:
    """Seats to act: one, several or none."""
    if value is None:
        return []
    return [value] if isinstance(value, int) else unordered(value)


def actions(value: Any) -> Any:
    """Legal actions, in an order of their own; their cards too."""
    if not isinstance(value, list):
        return value
    return sorted(map(unordered, value), key=lambda each: str(sorted(each.items())))


def others(hands, seat):
    """The cards of all hands but one."""
    return [card for at, hand in enumerate(hands) if at != seat for card in hand]


def dealing_order(deal, dealer):
    """The deck that deals two hands of six: in batches of three, the dealer last."""
    only(deal, "hands", "upcard", "stock")
    first, second = deal["hands"][1 - dealer], deal["hands"][dealer]
    batches = [*first[:3], *second[:3], *first[3:], *second[3:]]
    return [*batches, deal["upcard"], *deal["stock"]]
