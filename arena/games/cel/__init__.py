"""The language of rules in Eleusis: a small subset of CEL (Common Expression Language).

A rule is one expression that is true if a card may be played next. It is checked and compiled once,
and then evaluated as often as needed:

    >>> from arena.games.cel import Rule
    >>> rule = Rule.parse("card.color != last.color")
    >>> rule.allows("Qs", ["7h"])
    True
    >>> len(rule.legal(["7h", "Qs"]))
    26

The arena judges cards with this package, so a bot can use it to test its guesses. The result of a rule
depends on its text and the cards only: the language has no random numbers, no clock and no floating
point numbers, and this package limits the cost and the memory of a rule. R1 to R3 are rulings of
Eleusis; CEL is described at https://github.com/google/cel-spec.
"""

from arena.games.cel.bound import MOST_OF_A_FACE
from arena.games.cel.parser import MAX_CHARS, MAX_NESTING, MAX_NODES
from arena.games.cel.rule import Evaluated, Rule
from arena.games.cel.values import (
    ALL_FACES,
    DECK_ORDER,
    FACES,
    MAX_COST,
    MAX_LENGTH,
    CardFace,
    CostExceeded,
    EvaluationFailed,
    RuleError,
    RuleFailed,
)

__all__ = [
    "ALL_FACES",
    "DECK_ORDER",
    "FACES",
    "MAX_CHARS",
    "MAX_COST",
    "MAX_LENGTH",
    "MAX_NESTING",
    "MAX_NODES",
    "MOST_OF_A_FACE",
    "CardFace",
    "CostExceeded",
    "Evaluated",
    "EvaluationFailed",
    "Rule",
    "RuleError",
    "RuleFailed",
]
