"""The rule of play in Eleusis: what it lets through, and whether it may be used at all.

Rulings are cited as R1 to R5 of Eleusis and X1 to X9 of Eleusis Express. The
language itself is `arena.games.cel`.

A rule is tried on random lines before a hand, and a guess is compared with it
on random lines. Chance comes from the deals alone: the order into which they
shuffle a pack under a label (`validate 1`, `guess 3`) seeds a stream of
numbers, so that anyone who has the deals can repeat every verdict.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.cards import PACK_52, Card
from arena.games.cel import (
    ALL_FACES,
    FACES,
    CostExceeded,
    Evaluated,
    EvaluationFailed,
    Face,
    Rule,
    RuleError,
    RuleFailed,
)
from arena.games.contract import Deals
from arena.games.eleusis.verdict import Verdict, Witness

EXAMPLES: Final = (
    "card.color != last.color",
    "card.rank == last.rank + 2 || card.rank == last.rank - 2",
    "(size(line) % 5 < 2) == (card.color == line[0].color)",
    'card.suit == {"s":"c","c":"d","d":"h","h":"s"}[last.suit]',
)
"""The example rules (R5). They are sound, so they are never tried again."""

TOTAL_COST: Final = 20_000_000
"""What all evaluations of one validation, or of one rule in one guess, may cost (R3)."""
WALK_STEPS: Final = 24
LONG_WALKS: Final = 4
LONG_WALK_STEPS: Final = 120
LEAST_SHARE: Final = 0.04
MOST_SHARE: Final = 0.90

GUESS_WALKS: Final = 24
GUESS_STEPS: Final = 16


@dataclass(frozen=True, slots=True)
class Validation:
    """A verdict, and what its author is told of it."""

    verdict: Verdict
    reason: str
    """One sentence; empty if the rule was accepted."""
    dearest: int = 0
    """The most that one card cost."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a guess was accurate and complete, and if not, where it fails."""

    accepted: bool
    witness: Witness | None = None
    """None if the guess was accepted, or was too dear to be compared to the end."""


class Draws:
    """Numbers drawn from the order of a shuffled pack: pure, and the same everywhere.

    Number k is SHA-256 of the order and k, modulo the bound; a bound of 52
    biases it by less than one in 2^250.
    """

    def __init__(self, order: Sequence[Card]) -> None:
        self.order = tuple(order)
        self._seed = hashlib.sha256("".join(order).encode())
        self._drawn = 0

    def below(self, bound: int) -> int:
        """The next number in [0, bound)."""
        block = self._seed.copy()
        block.update(self._drawn.to_bytes(8, "big"))
        self._drawn += 1
        return int.from_bytes(block.digest(), "big") % bound

    def face(self, allowed: int) -> Face:
        """A face out of those whose bits are set."""
        faces = [face for at, face in enumerate(ALL_FACES) if allowed >> at & 1]
        return faces[self.below(len(faces))]


def draws_of(deals: Deals, hand: int, label: str) -> Draws:
    """The numbers that belong to a hand and a label."""
    return Draws(deals.shuffle(hand, label, PACK_52))


def validate(text: str, draws: Draws) -> Validation:
    """Try a rule on random lines (R4).

    One walk from each of the 52 starters, and a long one from the first four
    of the draws' order.
    """
    try:
        rule = Rule.parse(text)
    except RuleError as error:
        return Validation(Verdict.SYNTAX, str(error))
    if text in EXAMPLES:
        return Validation(Verdict.ACCEPTED, "", rule.evaluate([ALL_FACES[0]]).dearest)
    return _Trial(rule).run(draws)


class _Trial:
    """The walks of a validation, and what was seen on them."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._spent = self._dearest = self._steps = self._allowed = 0
        self._too_dear: tuple[Card, tuple[Card, ...]] | None = None
        self._dead_end: tuple[Card, ...] | None = None

    def run(self, draws: Draws) -> Validation:
        walks = [(starter, WALK_STEPS) for starter in PACK_52]
        walks += [(starter, LONG_WALK_STEPS) for starter in draws.order[:LONG_WALKS]]
        for starter, steps in walks:
            failed = self._walk(starter, steps, draws)
            if failed is not None:
                return failed
        return self._verdict()

    def _walk(self, starter: Card, steps: int, draws: Draws) -> Validation | None:
        line = [FACES[starter]]
        for _ in range(steps):
            found = self._rule.evaluate(line)
            self._spent += found.cost
            self._dearest = max(self._dearest, found.dearest)
            if found.failed is not None:
                card, failure = found.failed
                if isinstance(failure, EvaluationFailed):
                    reason = f"{failure}, with {card} after {_shown(line)}"
                    return Validation(Verdict.RUNTIME_ERROR, reason)
                self._too_dear = self._too_dear or (card, _cards(line))
            if self._spent > TOTAL_COST:
                return Validation(Verdict.COST, "the rule takes too many steps in all")
            self._steps += 1
            self._allowed += found.allowed.bit_count()
            if not found.allowed:
                self._dead_end = self._dead_end or _cards(line)
                return None
            line.append(draws.face(found.allowed))
        return None

    def _verdict(self) -> Validation:
        if self._too_dear is not None:
            card, line = self._too_dear
            reason = f"{CostExceeded()}, with {card} after {_joined(line)}"
            return Validation(Verdict.COST, reason)
        if self._dead_end is not None:
            reason = f"no card is right after {_joined(self._dead_end)}"
            return Validation(Verdict.DEAD_END, reason)
        share = self._allowed / (self._steps * len(ALL_FACES))
        said = f"on average {share:.1%} of all cards are right"
        if share < LEAST_SHARE:
            return Validation(Verdict.TOO_RESTRICTIVE, f"{said}, under {LEAST_SHARE:.0%}")
        if share > MOST_SHARE:
            return Validation(Verdict.TOO_PERMISSIVE, f"{said}, over {MOST_SHARE:.0%}")
        return Validation(Verdict.ACCEPTED, "", self._dearest)


def _cards(line: Sequence[Face]) -> tuple[Card, ...]:
    return tuple(face.card for face in line)


def _shown(line: Sequence[Face]) -> str:
    return _joined(_cards(line))


_SHOWN_CARDS: Final = 12


def _joined(line: Sequence[Card]) -> str:
    """A line as a sentence shows it: its last cards, if it is long."""
    if len(line) <= _SHOWN_CARDS:
        return " ".join(line)
    return f"{len(line)} cards that end in " + " ".join(line[-_SHOWN_CARDS:])


def are_right(text: str, line: Sequence[Card], cards: Sequence[Card]) -> bool:
    """Whether a play is right: each card after the line and the ones before it."""
    rule, faces = Rule.parse(text), [FACES[card] for card in line]
    for card in cards:
        if not _is_right(rule, faces, card):
            return False
        faces.append(FACES[card])
    return True


def legal_among(text: str, line: Sequence[Card], cards: Sequence[Card]) -> tuple[Card, ...]:
    """Those of the cards that may follow the line, in the order given."""
    rule, faces = Rule.parse(text), [FACES[card] for card in line]
    return tuple(card for card in cards if _is_right(rule, faces, card))


def _is_right(rule: Rule, line: list[Face], card: Card) -> bool:
    try:
        return rule.allows_face(FACES[card], line)
    except RuleFailed:
        return False  # R3


def judge_guess(text: str, guess: str, line: Sequence[Card], draws: Draws) -> Judgement:
    """Compare a guess with the rule wherever this hand may have gone or may go.

    On every prefix of the actual line, on random continuations of it, and on
    random lines from the actual starter; the walks follow the true rule. A
    card for which either has no answer is wrong to that one.

    Raises:
      RuleError: if the guess is not a rule of the language.
    """
    rule, other = Rule.parse(text), Rule.parse(guess)
    if rule == other:
        return Judgement(accepted=True)
    comparison = _Comparison(rule, other)
    faces = [FACES[card] for card in line]
    for length in range(1, len(faces) + 1):
        if comparison.allowed(faces[:length]) is None:
            return comparison.rejected()
    for _ in range(GUESS_WALKS):
        if not comparison.walk(faces, GUESS_STEPS, draws):
            return comparison.rejected()
    for _ in range(GUESS_WALKS):
        if not comparison.walk(faces[:1], len(faces) + GUESS_STEPS, draws):
            return comparison.rejected()
    return Judgement(accepted=True)


class _Comparison:
    """Two rules side by side, until they differ or cost too much."""

    def __init__(self, rule: Rule, guess: Rule) -> None:
        self._rule, self._guess = rule, guess
        self._rule_cost = self._guess_cost = 0
        self._witness: Witness | None = None

    def allowed(self, line: list[Face]) -> int | None:
        """The faces that both allow; None if they differ or have cost too much."""
        true, guessed = self._rule.evaluate(line), self._guess.evaluate(line)
        self._rule_cost += true.cost
        self._guess_cost += guessed.cost
        if true.allowed != guessed.allowed:
            self._witness = _first_difference(line, true, guessed)
            return None
        if max(self._rule_cost, self._guess_cost) > TOTAL_COST:
            return None
        return true.allowed

    def walk(self, line: list[Face], steps: int, draws: Draws) -> bool:
        """Whether the rules agree on a walk from the end of a line."""
        line = list(line)
        for _ in range(steps):
            allowed = self.allowed(line)
            if allowed is None:
                return False
            if not allowed:
                return True
            line.append(draws.face(allowed))
        return True

    def rejected(self) -> Judgement:
        return Judgement(accepted=False, witness=self._witness)


def _first_difference(line: list[Face], true: Evaluated, guessed: Evaluated) -> Witness:
    differ = true.allowed ^ guessed.allowed
    at = (differ & -differ).bit_length() - 1
    return Witness(_cards(line), ALL_FACES[at].card, bool(true.allowed >> at & 1))
