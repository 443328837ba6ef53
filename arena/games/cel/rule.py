"""A rule that was read, checked and compiled."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from arena.cards import Card
from arena.games.cel.bound import bound_of
from arena.games.cel.code import compile_tree
from arena.games.cel.errors import CostExceeded, EvaluationFailed, RuleFailed
from arena.games.cel.faces import ALL_FACES, DECK_ORDER, FACES, Face
from arena.games.cel.parser import parse
from arena.games.cel.values import (
    CARD,
    FIRST_VARIABLE,
    LAST,
    LINE,
    MAX_COST,
    SPENT,
    Env,
    type_name,
)

_CACHED_RULES: Final = 256


class Evaluated(NamedTuple):
    """What a rule says about all 52 faces after one line."""

    allowed: int
    """One bit a face, in the order of `DECK_ORDER`; a face that fails is not allowed."""
    cost: int
    """Spent on all faces together."""
    dearest: int
    """Spent on the dearest face."""
    failed: tuple[Card, RuleFailed] | None
    """The first face without an answer, and why; errors before excesses of cost."""


class Rule:
    """A rule of Eleusis. Make one with `parse`; it never changes and keeps nothing."""

    __slots__ = ("_cost", "_run", "_tree", "_variables", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree = parse(text)
        self._run, self._cost, self._variables = compile_tree(self._tree)

    @staticmethod
    def parse(text: str) -> "Rule":
        """Read a rule.

        Raises:
          RuleError: if the text is not a rule of the language or beyond its
            limits; it says why and at which character.
        """
        return _parsed(text)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same in the same way, up to spaces and parentheses."""
        return self._tree == other._tree if isinstance(other, Rule) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._tree)

    def __repr__(self) -> str:
        return f"Rule.parse({self.text!r})"

    def allows(self, card: Card, line: Sequence[Card]) -> bool:
        """Whether `card` may follow `line`, the mainline from its starter on.

        Raises:
          RuleFailed: if the rule has no answer; in play that means no.
        """
        return self.allows_face(FACES[card], [FACES[each] for each in line])

    def allows_face(self, face: Face, line: list[Face]) -> bool:
        """The same for cards that were looked up already.

        Raises:
          RuleFailed: if the rule has no answer.
        """
        return self._allows(self._env(line), face)

    def legal(self, line: Sequence[Card]) -> tuple[Card, ...]:
        """The faces that may follow `line`; those without an answer may not."""
        allowed = self.evaluate([FACES[each] for each in line]).allowed
        return tuple(card for at, card in enumerate(DECK_ORDER) if allowed >> at & 1)

    def bound(self, line: int) -> int:
        """The most that any card may cost after a line of so many, without trying it."""
        return bound_of(self._tree, line)

    def evaluate(self, line: list[Face]) -> Evaluated:
        """Ask for all 52 faces at once."""
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

    def _env(self, line: list[Face]) -> Env:
        env: Env = [None] * (FIRST_VARIABLE + self._variables)
        env[LAST], env[LINE] = line[-1], line
        return env

    def _allows(self, env: Env, face: Face) -> bool:
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
