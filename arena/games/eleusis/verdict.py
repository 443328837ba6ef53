"""Verdicts on rules and guesses."""

from enum import StrEnum

from arena.cards import Card
from arena.games.frozen import Frozen


class Verdict(StrEnum):
    """The verdict on a rule, in the order of the tests."""

    ACCEPTED = "accepted"
    SYNTAX = "syntax"
    RUNTIME_ERROR = "runtime_error"
    COST = "cost"
    DEAD_END = "dead_end"
    TOO_RESTRICTIVE = "too_restrictive"
    TOO_PERMISSIVE = "too_permissive"


class Witness(Frozen):
    """A difference between a guess and the rule: on `card` after `line`."""

    line: tuple[Card, ...]
    card: Card
    legal: bool
    """Whether the rule allows the card."""
