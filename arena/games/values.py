"""Values of the rules: frozen for those who write code, and quick to make.

    @value(frozen=True, slots=True)
    class Played: ...

is `dataclasses.dataclass` with the same arguments to every type checker, and an assignment to a field is
an error there. Python itself would see to that by a call for each field of every view and event,
which more than doubles what one costs; here they are assigned plainly. Values are compared and hashed by their
fields, as those of a frozen dataclass are.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:
    from dataclasses import dataclass

    def value(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """The decorator that makes a class of values."""
        return dataclass(slots=slots, unsafe_hash=frozen)


__all__ = ["value"]
