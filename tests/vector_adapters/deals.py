"""Checks that adapters share."""

from collections.abc import Mapping


def only(given: Mapping[str, object], *known: str) -> None:
    """Fail on a key that the adapter would otherwise pass over."""
    unknown = set(given) - set(known)
    assert not unknown, f"the adapter does not know {sorted(unknown)}"


def compare(expected: Mapping[str, object], observe: Mapping[str, object]) -> None:
    """Compare each expected observable with `observe[name]()`.

    Fails by name on an observable that has no entry.
    """
    for name, value in expected.items():
        assert name in observe, f"the adapter does not know the observable {name!r}"
        assert observe[name]() == value, name
