"""What became of a secret rule or of a guess at it, as a match keeps it."""

from enum import StrEnum

from arena.cards import Card
from arena.games.values import value


class Verdict(StrEnum):
    """What became of a rule, in the order in which it is tested."""

    ACCEPTED = "accepted"
    SYNTAX = "syntax"
    RUNTIME_ERROR = "runtime_error"
    COST = "cost"
    DEAD_END = "dead_end"
    TOO_RESTRICTIVE = "too_restrictive"
    TOO_PERMISSIVE = "too_permissive"


@value(frozen=True, slots=True)
class Witness:
    """Where a guess and the rule differ: on `card` after `line`."""

    line: tuple[Card, ...]
    card: Card
    legal: bool
    """By the rule."""
