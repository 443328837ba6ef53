"""Everything that can go wrong, explained once: each row has a code, meaning, cause and cure.

Messages take their sentence and code from here, and `docs/errors.md` is made of it by
`scripts/reference_pages.py`.

| codes | rows |
|---|---|
| `F-` | faults of bots, and the reasons for each |
| `A-` | why the arena aborts a match |
| `R-` | refusals: `R-NAME-TAKEN` is the reason NAME_TAKEN on the wire |
| `Q-` | failed checks of a qualification |
| `S-` | failures of the store |
| `X-` | exit codes |
"""

from typing import ClassVar, Final

from arena.errors import checks, exits, faults, refusals
from arena.errors.entries import (
    CheckEntry,
    ErrorEntry,
    ExitEntry,
    FaultEntry,
    FaultReason,
    RefusalEntry,
)

ENTRIES: Final[tuple[ErrorEntry, ...]] = (
    *faults.FAULTS,
    faults.DEAL,
    *faults.REASONS,
    *faults.DIAGNOSES,
    *faults.ABORTS,
    *refusals.REFUSALS,
    *checks.CHECKS,
    *checks.STORE_FAILURES,
    *exits.EXITS,
)
"""All rows; no two have the same code or meaning."""
_BY_CODE: Final = {each.code: each for each in ENTRIES}
_REFUSALS: Final = {each.reason: each for each in refusals.REFUSALS}


def entry(code: str) -> ErrorEntry:
    """Return the row of a code. Raises `KeyError` if there is none."""
    return _BY_CODE[code]


def fault_reason(kind: str, text: str) -> FaultReason | None:
    """Return the row of the reason of a fault, by the name of its kind and its text on the wire.

    None if no row has this text, as in replays of other versions.
    """
    of_kind = (each for each in faults.REASONS if each.code.startswith(f"F-{kind}-"))
    return next((each for each in of_kind if each.read(text) is not None), None)


def refusal(reason: str) -> RefusalEntry:
    """Return the row of a refusal, by its reason on the wire, such as `NAME_TAKEN`.

    Raises `KeyError` if there is none.
    """
    return _REFUSALS[reason]


class RefusalError(Exception):
    """An error that clients see as a refusal. Its text is the row's sentence with a detail.

    A class names its row: `class NameTaken(RefusalError, reason="NAME_TAKEN")`. Without a reason it inherits that of
    its base class.
    """

    entry: ClassVar[RefusalEntry]
    retry_s: float = 0.0
    """The time after which the same may be possible; 0 is unknown."""

    def __init_subclass__(cls, *, reason: str = "") -> None:
        if reason:
            cls.entry = refusal(reason)

    def __init__(self, detail: str = "") -> None:
        """`detail` says what the error is about in this case."""
        super().__init__(detail)  # the arguments are pickled between processes
        self.detail = detail

    def __str__(self) -> str:
        return self.entry.message(self.detail)


__all__ = [
    "ENTRIES",
    "CheckEntry",
    "ErrorEntry",
    "ExitEntry",
    "FaultEntry",
    "FaultReason",
    "RefusalEntry",
    "RefusalError",
    "entry",
    "fault_reason",
    "refusal",
]
