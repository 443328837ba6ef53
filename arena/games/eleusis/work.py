"""What trying a rule and judging a guess may cost, known before it is done.

A bound for each card follows from the text and the length of the line
(`arena.games.cel.bound`); how many cards are asked for follows from R4. The same text
has the same bound on every machine. What is charged to an author depends on its own
text and on what lies open alone: else the charge would tell of the hidden rule.
"""

from functools import lru_cache
from typing import Final

from arena.games.cel import ALL_FACES, MOST_OF_A_FACE, Rule, RuleError
from arena.games.contract import Work
from arena.games.eleusis.hidden_rule import (
    EXAMPLES,
    GUESS_STEPS,
    GUESS_WALKS,
    LONG_WALK_STEPS,
    LONG_WALKS,
    TOTAL_COST,
    WALK_STEPS,
)

MOST_OF_A_TEXT: Final = TOTAL_COST + len(ALL_FACES) * MOST_OF_A_FACE
"""A text is given up with the line on which it has spent too much in all (R3)."""
_PIECES: Final = 4
"""A walk is bounded in so many pieces, each by its longest line."""


@lru_cache(maxsize=256)
def work_of_trial(text: str) -> Work | bool:
    """The work of trying a rule; none for an example, or for what is no rule."""
    rule = None if text in EXAMPLES else _read(text)
    if rule is None:
        return False
    short, long = _walk(rule, 1, WALK_STEPS), _walk(rule, 1, LONG_WALK_STEPS)
    steps = min(MOST_OF_A_TEXT, len(ALL_FACES) * short + LONG_WALKS * long)
    return Work(steps, steps)


@lru_cache(maxsize=256)
def work_of_guess(text: str, line: int) -> Work | bool:
    """The work of comparing a guess with the rule, of which the guess's half is charged."""
    guess = _read(text)
    if guess is None:
        return False
    after = _walk(guess, line, line + GUESS_STEPS - 1)
    anew = _walk(guess, 1, line + GUESS_STEPS)
    steps = min(MOST_OF_A_TEXT, _walk(guess, 1, line) + GUESS_WALKS * (after + anew))
    return Work(steps + MOST_OF_A_TEXT, steps)


def _read(text: str) -> Rule | None:
    try:
        return Rule.parse(text)
    except RuleError:
        return None


def _walk(rule: Rule, first: int, last: int) -> int:
    """The most that all faces cost on each line from `first` to `last` cards."""
    cost, begin, piece = 0, first, -(-(last - first + 1) // _PIECES)
    while begin <= last:
        end = min(begin + piece - 1, last)
        cost += (end - begin + 1) * rule.bound(end)
        begin = end + 1
    return cost * len(ALL_FACES)
