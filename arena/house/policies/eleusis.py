"""Plays both games of Eleusis: weighs the rules that fit the table, and as a dealer draws a rule.

As a dealer it draws one of thousands of rules (`arena.games.eleusis.likely_rules`) by its own dice. As a player it
knows the same rules with a prior, and plays the cards that reduce its hand most on average: a string of right cards
leaves the hand, and a wrong string adds twice as many cards. `policy` knows the simpler rules and plays single cards or
the first string that it finds; `look_ahead` knows all of them and searches strings.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from arena.games.cards import Card
from arena.games.cel import DECK_ORDER, FACES
from arena.games.contract import Seat
from arena.games.eleusis import rules
from arena.games.eleusis.likely_rules import (
    SIMPLE_RULES,
    Beliefs,
    Ends,
    Kind,
    LikelyRule,
    beliefs_of,
    likely_rules,
)
from arena.games.eleusis.messages import (
    DECLARE,
    NO_PLAY,
    PASS,
    PLAYS,
    RIGHT,
    WRONG,
    WRONG_FOR,
    Guess,
    Move,
    Phase,
    Play,
    Rule,
    Variant,
    View,
)
from arena.games.eleusis.state import State
from arena.games.eleusis.turn import FALSE_NO_PLAY_DRAWS, NO_PLAY_SHRINKS, WRONG_CARD_DRAWS
from arena.house.looked_ahead import LookedAhead

LEAST_RIGHT: Final = 0.25
"""The smallest share of right faces after any card by a rule that it deals, so that no hand is hopeless."""
MOST_RIGHT: Final = 0.80
"""The largest share, so that no hand is trivial. So a rule is never refused because of a dead end or its average share (R4)."""

SURE: Final = 0.78
"""The chance of a correct judgement of the next card from which a seat declares itself prophet."""
LIKELIEST: Final = 40
"""The number of rules with which a play is compared one by one."""
STEPS_OF_WIDTH: Final = 120
"""The number of steps of a search for which one more string of each length is kept."""
SURE_GAIN: Final = 1.0
"""The number of cards by which a play must be better on average than the one that was made to be called better."""

OTHERS_RIGHT: Final = 0.45
"""The chance of a card to be right by a rule that is not among the likeliest."""

_BIT: Final = {card: 1 << at for at, card in enumerate(DECK_ORDER)}


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    if state.phase is Phase.RULE:
        return Rule(_drawn_rule(below))
    return _Player(state, seat, SIMPLE_RULES, widest=1).move()


def look_ahead(state: State, seat: Seat, steps: int, played: Move) -> LookedAhead:
    """Return the best move with all rules, compared with the move `played`.

    The gain of a play or a no-play is in cards that leave the hand. That of any other move is not known, and is 1 if the
    best move is another. Strings are searched more widely with more steps.
    """
    if state.phase is Phase.RULE:
        return LookedAhead(played, 0.0, is_sure=False)
    player = _Player(state, seat, None, widest=max(1, steps // STEPS_OF_WIDTH))
    move = player.move()
    if state.phase is Phase.PLAY:
        gain = player.gain(move) - player.gain(played)
        return LookedAhead(move, gain, is_sure=gain >= SURE_GAIN)
    return LookedAhead(move, float(move != played), is_sure=False)


def is_dealt(kind: Kind, rule: LikelyRule) -> bool:
    """Return whether the dealer draws from rules like this one, of which it draws each as often."""
    return all(LEAST_RIGHT <= share <= MOST_RIGHT for share in rule.shares(kind))


def _drawn_rule(below: Callable[[int], int]) -> str:
    rules_of_kinds = [(kind, rule) for kind, of_kind in likely_rules() for rule in of_kind]
    while True:
        kind, rule = rules_of_kinds[below(len(rules_of_kinds))]
        if is_dealt(kind, rule):
            return rule.text


def _gain(cards: int, chance: float) -> float:
    """Return how many cards leave the hand on average if so many are played and `chance` is that all are right."""
    return cards * (1 - (1 - chance) * WRONG_CARD_DRAWS)


class _String(NamedTuple):
    cards: tuple[Card, ...]
    line: Ends
    left: Counter[Card]
    fits: tuple[int, ...]
    """The rules, by their place among the likeliest, that call all cards right."""
    chance: float

    @property
    def gain(self) -> float:
        """Return the mean number of cards that leave the hand; a wrong card adds two."""
        return _gain(len(self.cards), self.chance)


class _Player:
    def __init__(self, state: State, seat: Seat, most_rules: int | None, widest: int) -> None:
        self._view: View = rules.view(state, seat)
        self._variant = state.match.options.variant
        self._beliefs: Beliefs = beliefs_of(self._view, most_rules)
        likely = self._beliefs.rules[:LIKELIEST]
        self._weights = [weight for weight, _, _ in likely]
        self._others: float = 1.0 - sum(self._weights)
        self._line = Ends.of([FACES[card] for card in self._view.layout.mainline])
        self._widest = widest

    def move(self) -> Move:
        match self._view.phase:
            case Phase.PLAY:
                return self._play()
            case Phase.JUDGE:
                return self._judge()
            case Phase.PROPHET_OPTION:
                return DECLARE if self._trust() >= SURE else PASS
            case _:
                return Guess(self._beliefs.text) if self._beliefs.rules else PASS

    def _allowed(self, line: Ends) -> list[int]:
        return self._beliefs.allowed(line, LIKELIEST)

    def _trust(self) -> float:
        """Return the chance to judge the next card well, whatever card it is."""
        sure = 0.0
        allowed = self._allowed(self._line)
        for bit in _BIT.values():
            right = sum(
                weight for weight, bits in zip(self._weights, allowed, strict=True) if bits & bit
            )
            sure += max(right, 1 - self._others - right)
        return sure / len(_BIT) + self._others * OTHERS_RIGHT

    def _chance(self, cards: Sequence[Card]) -> float:
        line, fits = self._line, list(range(len(self._weights)))
        for card in cards:
            allowed, bit = self._allowed(line), _BIT[card]
            fits = [at for at in fits if allowed[at] & bit]
            line = line.then(FACES[card])
        return sum(self._weights[at] for at in fits) + self._others * OTHERS_RIGHT ** len(cards)

    def _none_right(self, hand: Sequence[Card]) -> float:
        held = sum(_BIT[card] for card in set(hand))
        return (
            sum(
                weight
                for weight, allowed in zip(self._weights, self._allowed(self._line), strict=True)
                if not held & allowed
            )
            + self._others * (1 - OTHERS_RIGHT) ** held.bit_count()
        )

    def _play(self) -> Move:
        best = self._best_string()
        if self._no_play_gain() > best.gain:
            return NO_PLAY
        return PLAYS[best.cards[0]] if len(best.cards) == 1 else Play(best.cards)

    def gain(self, move: Move) -> float:
        if isinstance(move, Play):
            return _gain(len(move.cards), self._chance(move.cards))
        return self._no_play_gain()

    def _no_play_gain(self) -> float:
        none = self._none_right(self._view.held)
        shrinks, draws = NO_PLAY_SHRINKS[self._variant], FALSE_NO_PLAY_DRAWS[self._variant]
        return none * shrinks - (1 - none) * (draws - 1)

    def _best_string(self) -> _String:
        """Return the string that removes most cards from the hand on average, by a beam search."""
        hand = self._view.held
        longest = 1 if self._variant == Variant.EXPRESS else len(hand)
        begin = _String((), self._line, Counter(hand), tuple(range(len(self._weights))), 1.0)
        beam, best = [begin], None
        while beam and len(beam[0].cards) < longest:
            longer = []
            for string in beam:
                allowed = self._allowed(string.line)
                for card in string.left:
                    bit = _BIT[card]
                    fits = tuple(at for at in string.fits if allowed[at] & bit)
                    if fits or not string.cards:
                        chance = sum(
                            self._weights[at] for at in fits
                        ) + self._others * OTHERS_RIGHT ** (len(string.cards) + 1)
                        longer.append((chance, string, card, fits))
            longer.sort(key=lambda found: -found[0])
            beam = []
            for chance, string, card, fits in longer[: self._widest]:
                left = string.left.copy()
                left[card] -= 1
                if not left[card]:
                    del left[card]
                beam.append(
                    _String(
                        (*string.cards, card), string.line.then(FACES[card]), left, fits, chance
                    )
                )
            top = max(beam, key=lambda found: found.gain, default=None)
            if top is not None and (best is None or top.gain > best.gain):
                best = top
        assert best is not None
        return best

    def _judge(self) -> Move:
        view = self._view
        if not view.no_play:
            return RIGHT if self._chance(view.played) >= 0.5 else WRONG
        if self._none_right(view.played) >= 0.5:
            return RIGHT
        return WRONG_FOR[max(dict.fromkeys(view.played), key=lambda card: self._chance((card,)))]
