"""The language that Eleusis rules are written in: a small part of CEL.

A rule is one expression that says whether a card may be played next. It is
checked, measured and compiled once, and then evaluated as often as needed:

    >>> from arena.games.cel import Rule
    >>> rule = Rule.parse("card.color != last.color")
    >>> rule.allows("Qs", ["7h"])
    True
    >>> len(rule.legal(["7h", "Qs"]))
    26

It is the very code that the arena judges with, so a bot may test with it what
it believes. The same text gives the same answer everywhere: there is no
chance, no clock and no floating point in it, and no text takes more steps or
memory than the limits of this package allow. Rulings are cited as R1 to R3 of
Eleusis; CEL itself is described at https://github.com/google/cel-spec.
"""

from arena.games.cel.bound import MOST_OF_A_FACE
from arena.games.cel.errors import CostExceeded, EvaluationFailed, RuleError, RuleFailed
from arena.games.cel.faces import ALL_FACES, DECK_ORDER, FACES, Face
from arena.games.cel.parser import MAX_CHARS, MAX_NESTING, MAX_NODES
from arena.games.cel.rule import Evaluated, Rule
from arena.games.cel.values import MAX_COST, MAX_LENGTH

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
    "CostExceeded",
    "Evaluated",
    "EvaluationFailed",
    "Face",
    "Rule",
    "RuleError",
    "RuleFailed",
]
