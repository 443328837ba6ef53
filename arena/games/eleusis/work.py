"""Upper bounds of the work of validating a rule and of comparing a guess, known before either begins.

The bound for one card follows from the text and the length of the line (`arena.games.cel.bound`), and the number
of cards from R4. The same text has the same bound on every machine. A rule or a guess whose bound exceeds
`MOST_BOUND` is refused without being evaluated; another one is evaluated for at most `TOTAL_COST`. The charge
to an author depends only on its own text and on public cards; otherwise it would reveal information about
the hidden rule.
"""

from functools import lru_cache
from typing import Final

from arena.games.cel import ALL_FACES, MOST_OF_A_FACE, Rule, RuleError
from arena.games.contract import Work

EXAMPLES: Final = (
    "card.color != last.color",
    "card.rank == last.rank + 2 || card.rank == last.rank - 2",
    "(size(line) % 5 < 2) == (card.color == line[0].color)",
    'card.suit == {"s":"c","c":"d","d":"h","h":"s"}[last.suit]',
)
"""The example rules (R5). They are valid, so they are not tried again."""

TOTAL_COST: Final = 20_000_000
"""The cost limit of all evaluations of one validation, or of one rule in one guess (R3)."""
MOST_BOUND: Final = 10 * TOTAL_COST
"""The highest bound of a text that is evaluated. Bounds count errors and loops that most rules do not have, so
they are several times the cost."""
WALK_STEPS: Final = 24
LONG_WALKS: Final = 4
LONG_WALK_STEPS: Final = 120
GUESS_WALKS: Final = 24
GUESS_STEPS: Final = 16

MOST_OF_A_TEXT: Final = TOTAL_COST + len(ALL_FACES) * MOST_OF_A_FACE
"""The evaluation of a text stops after the line on which it exceeds its total cost (R3)."""
_PIECES: Final = 4
"""The number of pieces of a walk; each is bounded by its longest line."""


@lru_cache(maxsize=256)
def bound_of_trial(text: str) -> int:
    """Return the most steps of validating a rule; 0 for an example, and for a text that is no rule."""
    rule = None if text in EXAMPLES else _read(text)
    if rule is None:
        return 0
    short, long = _walk(rule, 1, WALK_STEPS), _walk(rule, 1, LONG_WALK_STEPS)
    return len(ALL_FACES) * short + LONG_WALKS * long


@lru_cache(maxsize=256)
def bound_of_guess(text: str, line: int) -> int:
    """Return the most steps of evaluating a guess to compare it; 0 for a text that is no rule."""
    guess = _read(text)
    if guess is None:
        return 0
    after = _walk(guess, line, line + GUESS_STEPS - 1)
    anew = _walk(guess, 1, line + GUESS_STEPS)
    return _walk(guess, 1, line) + GUESS_WALKS * (after + anew)


def work_of_trial(text: str) -> Work | bool:
    """Return the work of validating a rule; False if it is not evaluated."""
    steps = _evaluated(bound_of_trial(text))
    return steps > 0 and Work(steps, steps)


def work_of_guess(text: str, line: int) -> Work | bool:
    """Return the work of comparing a guess with the rule; only the part of the guess is charged."""
    steps = _evaluated(bound_of_guess(text, line))
    return steps > 0 and Work(steps + MOST_OF_A_TEXT, steps)


def _evaluated(bound: int) -> int:
    return 0 if bound > MOST_BOUND else min(bound, MOST_OF_A_TEXT)


def _read(text: str) -> Rule | None:
    try:
        return Rule.parse(text)
    except RuleError:
        return None


def _walk(rule: Rule, first: int, last: int) -> int:
    """Return a bound of the cost of all faces on every line from `first` to `last` cards."""
    cost, begin, piece = 0, first, -(-(last - first + 1) // _PIECES)
    while begin <= last:
        end = min(begin + piece - 1, last)
        cost += (end - begin + 1) * rule.bound(end)
        begin = end + 1
    return cost * len(ALL_FACES)
