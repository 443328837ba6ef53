"""The hidden rule of Eleusis: validation of rules, judgement of cards, comparison of guesses.

Rulings are numbered R1 to R5 for Eleusis and X1 to X9 for Eleusis Express. The language of rules is
`arena.games.cel`.

A rule is validated on random lines before a hand, and a guess is compared with it on random lines. The
random numbers are derived from the deals: a pack that is shuffled under a label (`validate 1`, `guess 3`)
is the seed of a stream. So every verdict can be repeated from the deals.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.games.cards import PACK_52, Card
from arena.games.cel import ALL_FACES, FACES, CardFace, Evaluated, Rule, RuleError, RuleFailed
from arena.games.contract import Deals
from arena.games.eleusis.messages import Verdict, Witness
from arena.games.eleusis.work import (
    EXAMPLES,
    GUESS_STEPS,
    GUESS_WALKS,
    LONG_WALK_STEPS,
    LONG_WALKS,
    MOST_BOUND,
    TOTAL_COST,
    WALK_STEPS,
    bound_of_guess,
    bound_of_trial,
)

LEAST_SHARE: Final = 0.04
MOST_SHARE: Final = 0.90


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of validating a rule."""

    verdict: Verdict
    reason: str
    """One sentence for the author; empty if the rule was accepted."""
    dearest: int = 0
    """The highest cost of one card."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a guess was accepted, and if not, where it differs from the rule."""

    accepted: bool
    witness: Witness | None = None
    """None if the guess was accepted, or if its cost exceeded the limit."""


class Draws:
    """A stream of numbers, derived from the order of a shuffled pack.

    Number k is SHA-256 of the order and k, modulo the bound. The bias of a bound of 52 is below 2^-250.
    """

    def __init__(self, order: Sequence[Card]) -> None:
        self.order = tuple(order)
        self._seed = hashlib.sha256("".join(order).encode())
        self._drawn = 0

    def below(self, bound: int) -> int:
        """Return the next number in [0, bound)."""
        block = self._seed.copy()
        block.update(self._drawn.to_bytes(8, "big"))
        self._drawn += 1
        return int.from_bytes(block.digest(), "big") % bound

    def face(self, allowed: int) -> CardFace:
        """Draw a face from those whose bits are set."""
        faces = [face for at, face in enumerate(ALL_FACES) if allowed >> at & 1]
        return faces[self.below(len(faces))]


def draws_of(deals: Deals, hand: int, label: str) -> Draws:
    """Return the stream of numbers of a hand and a label."""
    return Draws(deals.shuffle(hand, label, PACK_52))


def validate(text: str, draws: Draws) -> Validation:
    """Validate a rule on random lines (R4).

    There is one walk from each of the 52 starters, and a long walk from the first four of the draws'
    order.
    """
    try:
        rule = Rule.parse(text)
    except RuleError as error:
        return Validation(Verdict.SYNTAX, str(error))
    if text in EXAMPLES:
        return Validation(Verdict.ACCEPTED, "", rule.evaluate([ALL_FACES[0]]).dearest)
    bound = bound_of_trial(text)
    if bound > MOST_BOUND:
        reason = f"the rule might take {bound:,} steps in all, over {MOST_BOUND:,}"
        return Validation(Verdict.COST, reason)
    return _Trial(rule).run(draws)


class _Trial:
    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._spent = self._dearest = self._steps = self._allowed = 0
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
            evaluated = self._rule.evaluate(line)
            self._spent += evaluated.cost
            self._dearest = max(self._dearest, evaluated.dearest)
            if evaluated.failed is not None:
                card, failure = evaluated.failed
                reason = f"{failure}, with {card} after {_shown(line)}"
                return Validation(Verdict.RUNTIME_ERROR, reason)
            if self._spent > TOTAL_COST:
                return Validation(Verdict.COST, "the rule takes too many steps in all")
            self._steps += 1
            self._allowed += evaluated.allowed.bit_count()
            if not evaluated.allowed:
                self._dead_end = self._dead_end or _cards(line)
                return None
            line.append(draws.face(evaluated.allowed))
        return None

    def _verdict(self) -> Validation:
        if self._dead_end is not None:
            reason = f"no card is right after {_joined(self._dead_end)}"
            return Validation(Verdict.DEAD_END, reason)
        share = self._allowed / (self._steps * len(ALL_FACES))
        average = f"on average {share:.1%} of all cards are right"
        if share < LEAST_SHARE:
            return Validation(Verdict.TOO_RESTRICTIVE, f"{average}, under {LEAST_SHARE:.0%}")
        if share > MOST_SHARE:
            return Validation(Verdict.TOO_PERMISSIVE, f"{average}, over {MOST_SHARE:.0%}")
        return Validation(Verdict.ACCEPTED, "", self._dearest)


def _cards(line: Sequence[CardFace]) -> tuple[Card, ...]:
    return tuple(face.card for face in line)


def _shown(line: Sequence[CardFace]) -> str:
    return _joined(_cards(line))


_SHOWN_CARDS: Final = 12


def _joined(line: Sequence[Card]) -> str:
    """Return a line as text; of a long line only the last cards."""
    if len(line) <= _SHOWN_CARDS:
        return " ".join(line)
    return f"{len(line)} cards that end in " + " ".join(line[-_SHOWN_CARDS:])


def are_right(text: str, line: Sequence[Card], cards: Sequence[Card]) -> bool:
    """Return whether a play is right: each card after the line and the cards before it."""
    rule, faces = Rule.parse(text), [FACES[card] for card in line]
    for card in cards:
        if not _is_right(rule, faces, card):
            return False
        faces.append(FACES[card])
    return True


def legal_among(text: str, line: Sequence[Card], cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return those of the cards that may follow the line, in the order given."""
    rule, faces = Rule.parse(text), [FACES[card] for card in line]
    return tuple(card for card in cards if _is_right(rule, faces, card))


def _is_right(rule: Rule, line: list[CardFace], card: Card) -> bool:
    try:
        return rule.allows_face(FACES[card], line)
    except RuleFailed:
        return False  # R3


def judge_guess(text: str, guess: str, line: Sequence[Card], draws: Draws) -> Judgement:
    """Compare a guess with the rule on lines that are possible in this hand.

    They are every prefix of the actual line, random continuations of it, and random lines from the
    actual starter. The random walks follow the true rule. A card for which a rule has no result is wrong
    by that rule. A guess that might take more than `MOST_BOUND` steps is rejected without a comparison.

    Raises `RuleError` if the guess is not a rule of the language.
    """
    rule, other = Rule.parse(text), Rule.parse(guess)
    if rule == other:
        return Judgement(accepted=True)
    if bound_of_guess(guess, len(line)) > MOST_BOUND:
        return Judgement(accepted=False)
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
    """A comparison of two rules, until they differ or exceed the cost limit."""

    def __init__(self, rule: Rule, guess: Rule) -> None:
        self._rule, self._guess = rule, guess
        self._rule_cost = self._guess_cost = 0
        self._witness: Witness | None = None

    def allowed(self, line: list[CardFace]) -> int | None:
        """Return the faces that both allow; None if they differ or exceed the cost limit."""
        true, guessed = self._rule.evaluate(line), self._guess.evaluate(line)
        self._rule_cost += true.cost
        self._guess_cost += guessed.cost
        if true.allowed != guessed.allowed:
            self._witness = _first_difference(line, true, guessed)
            return None
        if max(self._rule_cost, self._guess_cost) > TOTAL_COST:
            return None
        return true.allowed

    def walk(self, line: list[CardFace], steps: int, draws: Draws) -> bool:
        """Return whether the rules agree on a walk from the end of a line."""
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


def _first_difference(line: list[CardFace], true: Evaluated, guessed: Evaluated) -> Witness:
    differ = true.allowed ^ guessed.allowed
    at = (differ & -differ).bit_length() - 1
    return Witness(_cards(line), ALL_FACES[at].card, bool(true.allowed >> at & 1))
