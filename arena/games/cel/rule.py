"""A parsed, checked and compiled rule."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from arena.games.cards import Card
from arena.games.cel.bound import bound_of
from arena.games.cel.code import compile_tree
from arena.games.cel.parser import parse
from arena.games.cel.values import (
    ALL_FACES,
    CARD,
    DECK_ORDER,
    FACES,
    FIRST_VARIABLE,
    LAST,
    LINE,
    MAX_COST,
    SPENT,
    CardFace,
    CostExceeded,
    Env,
    EvaluationFailed,
    RuleFailed,
    type_name,
)

_CACHED_RULES: Final = 256


class Evaluated(NamedTuple):
    """The results of a rule for all 52 faces after one line."""

    allowed: int
    """One bit for each face, in the order of `DECK_ORDER`; 0 also for faces without a result."""
    cost: int
    """The cost of all faces."""
    dearest: int
    """The cost of the face with the highest cost."""
    failed: tuple[Card, RuleFailed] | None
    """The first face without a result, and the error; other errors come before `CostExceeded`."""


class Rule:
    """An immutable rule of Eleusis. Make one with `parse`."""

    __slots__ = ("_cost", "_run", "_tree", "_variables", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree = parse(text)
        self._run, self._cost, self._variables = compile_tree(self._tree)

    @staticmethod
    def parse(text: str) -> "Rule":
        """Parse a rule.

        Raises `RuleError` if the text is not a rule of the language or exceeds its limits. The message names
        the error and its position.
        """
        return _parsed(text)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same tree; spaces and parentheses do not count."""
        return self._tree == other._tree if isinstance(other, Rule) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._tree)

    def __repr__(self) -> str:
        return f"Rule.parse({self.text!r})"

    def allows(self, card: Card, line: Sequence[Card]) -> bool:
        """Return whether `card` may follow `line`, the mainline from its starter.

        Raises `RuleFailed` if the rule has no result; in play the card is then wrong.
        """
        return self.allows_face(FACES[card], [FACES[played] for played in line])

    def allows_face(self, face: CardFace, line: list[CardFace]) -> bool:
        """Return the same as `allows`, for faces instead of cards.

        Raises `RuleFailed` if the rule has no result.
        """
        return self._allows(self._env(line), face)

    def legal(self, line: Sequence[Card]) -> tuple[Card, ...]:
        """Return the cards that may follow `line`, without those for which the rule has no result."""
        allowed = self.evaluate([FACES[played] for played in line]).allowed
        return tuple(card for at, card in enumerate(DECK_ORDER) if allowed >> at & 1)

    def bound(self, line: int) -> int:
        """Return an upper bound of the cost of one card after a line of `line` cards."""
        return bound_of(self._tree, line)

    def evaluate(self, line: list[CardFace]) -> Evaluated:
        """Evaluate the rule for all 52 faces."""
        env = self._env(line)
        allowed, total, dearest, bit = 0, 0, 0, 1
        failed: tuple[Card, RuleFailed] | None = None
        for face in ALL_FACES:
            try:
                if self._allows(env, face):
                    allowed |= bit
            except RuleFailed as failure:
                dear = isinstance(failure, CostExceeded)
                if failed is None or (isinstance(failed[1], CostExceeded) and not dear):
                    failed = (face.card, failure)
            bit <<= 1
            spent = env[SPENT]
            total += spent
            dearest = max(dearest, spent)
        return Evaluated(allowed, total, dearest, failed)

    def _env(self, line: list[CardFace]) -> Env:
        env: Env = [None] * (FIRST_VARIABLE + self._variables)
        env[LAST], env[LINE] = line[-1], line
        return env

    def _allows(self, env: Env, face: CardFace) -> bool:
        env[CARD] = face
        env[SPENT] = self._cost
        value = self._run(env)
        if env[SPENT] > MAX_COST:
            raise CostExceeded
        if value is True or value is False:
            return value
        raise EvaluationFailed(f"a rule is true or false, not {type_name(value)}", 0)


@lru_cache(maxsize=_CACHED_RULES)
def _parsed(text: str) -> Rule:
    return Rule(text)
