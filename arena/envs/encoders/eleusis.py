"""Observations and actions of Eleusis and Eleusis Express."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from arena.envs.actions import ActionSpace, ChosenMoves, FixedMoves
from arena.envs.codes import (
    BySeat,
    CardCounts,
    Fields,
    Flag,
    LatestOf,
    Number,
    OneOf,
    SeatOf,
    SeveralOf,
    TextDigest,
)
from arena.envs.encoders.lengths import totals_code
from arena.games.cel import DECK_ORDER
from arena.games.contract import Moves, Options
from arena.games.eleusis import messages as m
from arena.games.eleusis import rules
from arena.games.eleusis.likely_rules import likely_rules
from arena.games.eleusis.work import EXAMPLES
from arena.house.policies.eleusis import is_dealt

_LINE: Final = 24
_UNITS: Final = 16
_STRING: Final = 2
_CALLS: Final = 8
_COPIES: Final = 8
"""The number of packs from which a hand may come within its bounds."""
RULES: Final = 200
"""The number of rules that are actions."""


def view_code(options: Options, seats: int) -> Fields:
    cards, card, seat = CardCounts(DECK_ORDER, _COPIES), OneOf(DECK_ORDER), SeatOf(seats)
    place, former = Number(0, 1 << 12, 100), SeveralOf(seat, seats)
    return Fields(
        m.View,
        seats,
        hand=Number(0, options.hands or seats),
        held=cards,
        hand_sizes=BySeat(Number(0, 1 << 12, 14), seats),
        stock=Number(0, 1 << 12, 104),
        layout=Fields(
            m.Layout,
            seats,
            mainline=LatestOf(card, _LINE),
            main_seats=LatestOf(seat, _LINE),
            sidelines=LatestOf(LatestOf(card, _STRING), _UNITS),
            side_seats=LatestOf(seat, _UNITS),
            side_after=LatestOf(place, _UNITS),
        ),
        played=LatestOf(card, _CALLS),
        calls=Fields(
            m.Calls,
            seats,
            seats=LatestOf(seat, _CALLS),
            hands=LatestOf(cards, _CALLS),
            after=LatestOf(place, _CALLS),
            right=LatestOf(Flag(), _CALLS),
        ),
        guesses=Fields(
            m.Guesses,
            seats,
            seats=LatestOf(seat, m.SHOWN_GUESSES),
            texts=LatestOf(TextDigest(), m.SHOWN_GUESSES),
        ),
        office=Fields(m.Office, seats, marker=place, former=former, expelled=former),
        turns=BySeat(Number(0, 2 * options.max_turns, options.max_turns), seats),
        rule=TextDigest(None),
        refusal=TextDigest(),
        previous_rule=TextDigest(),
        totals=BySeat(totals_code(rules, options, seats), seats),
    )


def action_space(options: Options, seats: int) -> ActionSpace:
    """Return the actions: single cards, all words, and rules of a list to deal and to guess."""
    words = (m.NO_PLAY, m.PASS, m.DECLARE, m.RIGHT, m.WRONG, *m.WRONG_FOR.values())
    return ActionSpace(
        FixedMoves(*words, *m.PLAYS.values()),
        ChosenMoves(
            RULES,
            f"deal a rule: the examples, and of `likely_rules` the simplest; together {RULES}",
            _dealt,
        ),
        ChosenMoves(RULES, "guess a rule of the same list that was not guessed yet", _guesses),
    )


@cache
def listed_rules() -> tuple[str, ...]:
    """Return the texts of the rules that are actions: the examples, then the simplest."""
    valid = [rule.text for kind, rules in likely_rules() for rule in rules if is_dealt(kind, rule)]
    return tuple(dict.fromkeys((*EXAMPLES, *valid)))[:RULES]


def _dealt(view: m.View, moves: Moves) -> Iterator[m.Rule]:
    if view.phase is m.Phase.RULE:
        yield from map(m.Rule, listed_rules())


def _guesses(view: m.View, moves: Moves) -> Iterator[m.Guess | None]:
    if view.phase is m.Phase.GUESS_OPTION:
        for text in listed_rules():
            yield None if text in view.guesses.texts else m.Guess(text)
