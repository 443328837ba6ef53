"""Renamed suits: a match in other suits looks the same but for the places of numbers and actions, and is scored the same."""

import random
import re

import numpy as np
import pytest

from arena.envs.stepped_match import SteppedMatch
from arena.envs.suits import ALIKE, rename_by, renamings
from arena.games.cards import in_order
from arena.games.catalogue import GAMES
from arena.local.turns import first_turn, next_turn

DECISIONS = 300


class RenamedDeals:
    """Shuffles by a seed, and renames the suits after it; packs of the same cards are shuffled alike."""

    def __init__(self, seed, rename, back):
        self._seed, self._rename, self._back = seed, rename, back

    def shuffle(self, hand, label, cards):
        pack = list(in_order(map(self._back, cards)))
        random.Random(f"{self._seed} {hand} {label}").shuffle(pack)
        return tuple(map(self._rename, pack))


def unchanged(value):
    return value


def words_of(move):
    """The words of a move without their order: cards are named in an order that depends on their suits."""
    return tuple(sorted(re.findall(r"\w+", repr(move))))


@pytest.mark.parametrize(
    "game", [game for game in GAMES if game.family in ALIKE], ids=lambda game: game.id
)
def test_a_match_in_other_suits_is_the_same(game):
    match = SteppedMatch(game.id)
    rules, layout, seats = game.rules, match.layout, match.seats
    turned = [(suits, suits[1:] + suits[:1]) for suits in ALIKE[game.family]]
    forth = {suit: to for suits, then in turned for suit, to in zip(suits, then, strict=True)}
    rename = rename_by(forth)
    back = rename_by({to: suit for suit, to in forth.items()})
    places, actions = layout.view.renamed(rename), layout.actions.renamed(rename)
    by_place = set(layout.actions.by_place())
    usual = RenamedDeals("suits", unchanged, unchanged)
    other = RenamedDeals("suits", rename, back)
    one = first_turn(rules, match.options, seats, usual)
    two = first_turn(rules, match.options, seats, other)
    chance, decisions = random.Random(5), 0
    while one.acting and decisions < DECISIONS:
        assert two.acting == one.acting
        chosen, renamed = [], []
        for seat in one.acting:
            decisions += 1
            views = [rules.view(turn.after, seat) for turn in (one, two)]
            numbers = [np.array(layout.numbers(view, seat)) for view in views]
            assert (numbers[1][places] == numbers[0]).all()
            legal, legal_then = (
                layout.actions.legal(view, rules.moves(turn.after, seat))
                for view, turn in zip(views, (one, two), strict=True)
            )
            assert {actions[at] for at in legal if at not in by_place} == set(legal_then) - by_place
            action = chance.choice(list(legal))
            chosen.append((seat, legal[action]))
            then = {words_of(move): move for move in legal_then.values()}
            renamed.append((seat, then[words_of(rename(legal[action]))]))
        one = next_turn(rules, one, tuple(chosen), usual)
        two = next_turn(rules, two, tuple(renamed), other)
        assert rules.hand_scores(one.after) == rules.hand_scores(two.after)
    assert decisions > 10


def test_the_first_renaming_changes_nothing():
    first, *others = renamings("sixty_six", SteppedMatch("sixty_six").layout)
    assert (first.inputs == np.arange(len(first.inputs))).all()
    assert len(others) == 23
