"""What `arena doctor` finds: a subject, its state and the cure."""

from dataclasses import dataclass
from enum import StrEnum


class Readiness(StrEnum):
    """Whether a goal can be reached."""

    OK = "ok"
    WEAK = "weak"
    """It can be reached, with the disadvantage that the finding names."""
    LACKS = "lacks"
    """It cannot be reached."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one thing that the goals need."""

    subject: str
    state: Readiness
    found: str
    cure: str = ""
    """What to do; empty if nothing needs to be done."""
