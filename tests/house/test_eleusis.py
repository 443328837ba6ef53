"""The house bot at Eleusis: it plays by the rule once the table has shown it, and deals rules that are accepted."""

import random
from dataclasses import replace

import pytest

from arena.cards import PACK_52
from arena.games.catalogue import game_by_id
from arena.games.eleusis import rules
from arena.games.eleusis.hidden_rule import are_right, draws_of, judge_guess, legal_among, validate
from arena.games.eleusis.messages import (
    DECLARE,
    NO_PLAY,
    PASS,
    RIGHT,
    Guess,
    Layout,
    NoPlay,
    Opinion,
    Phase,
    Play,
    Rule,
)
from arena.games.eleusis.verdict import Verdict
from arena.house.policies.eleusis import OWN_RULES, look_ahead, policy
from arena.testing.deals import SeededDeals

DEALS = SeededDeals("house")
RULE = "card.parity != last.parity"
STEPS = 2400


def begun(game="eleusis", rule=RULE, *, known=True, hand=None):
    """A state in which a seat is to play; if the rule is `known`, after eighty cards that were played one by one."""
    options = game_by_id(game).options({"hands": 4}, 4)
    state = rules.start(options, 4, DEALS).state
    state = rules.step(state, ((rules.to_act(state)[0], Rule(rule)),), DEALS).state
    seat = state.turn.seat
    if known:
        line, wrong, after, chance = ["7h"], [], [], random.Random(1)
        for _ in range(80):
            card = chance.choice(PACK_52)
            if are_right(rule, tuple(line), (card,)):
                line.append(card)
            else:
                wrong.append((card,))
                after.append(len(line) - 1)
        layout = Layout(
            tuple(line), (0,) * len(line), tuple(wrong), (0,) * len(wrong), tuple(after)
        )
        state = replace(state, table=replace(state.table, layout=layout))
    if hand is not None:
        cards = state.table.cards
        hands = tuple(hand if each == seat else held for each, held in enumerate(cards.hands))
        state = replace(state, table=replace(state.table, cards=replace(cards, hands=hands)))
    return state, seat


def chosen(state, seat, steps=STEPS):
    usual = policy(state, seat, random.Random(1).randrange)
    return look_ahead(state, seat, steps, usual).move if steps else usual


@pytest.mark.parametrize("steps", [0, 240, STEPS])
def test_a_rule_that_is_known_is_played_by(steps):
    state, seat = begun()
    move = chosen(state, seat, steps)
    assert isinstance(move, Play)
    assert len(move.cards) > 1
    assert are_right(RULE, state.table.layout.mainline, move.cards)


@pytest.mark.slow
def test_a_wider_search_finds_longer_strings():
    longer = 0
    for seed in range(6):
        hand = tuple(random.Random(seed).sample(PACK_52, 12))
        state, seat = begun(rule="abs(card.rank - last.rank) <= 3", hand=hand)
        few, many = (len(chosen(state, seat, steps).cards) for steps in (0, STEPS))
        assert many >= few
        longer += many > few
    assert longer


def test_a_hand_without_a_right_card_is_shown():
    line = begun()[0].table.layout.mainline
    hand = tuple(card for card in PACK_52 if card[1] == "s" and not are_right(RULE, line, (card,)))
    assert chosen(*begun(hand=hand)) == NO_PLAY


def test_a_play_that_loses_cards_is_surely_worse():
    state, seat = begun()
    line = state.table.layout.mainline
    wrong = next(
        card for card in state.table.cards.hands[seat] if not are_right(RULE, line, (card,))
    )
    found = look_ahead(state, seat, STEPS, Play((wrong,)))
    assert found.is_sure
    assert found.gain > 2
    again = look_ahead(state, seat, STEPS, found.move)
    assert (again.gain, again.is_sure) == (0.0, False)


@pytest.mark.parametrize(
    ("known", "expected"), [(True, DECLARE), (False, PASS)], ids=["known", "unknown"]
)
def test_a_seat_declares_itself_prophet_once_it_knows_the_rule(known, expected):
    state, seat = begun(known=known)
    assert chosen(replace(state, phase=Phase.PROPHET_OPTION), seat) == expected


def judged(pending):
    state, seat = begun()
    prophet = (seat + 1) % 4 or 1
    table = replace(state.table, office=replace(state.table.office, prophet=prophet))
    state = replace(
        state, phase=Phase.JUDGE, table=table, turn=replace(state.turn, pending=pending)
    )
    return chosen(state, prophet), state


@pytest.mark.parametrize("cards", [(card,) for card in ("2s", "3s", "Jh", "Qd")], ids=str)
def test_a_prophet_judges_by_the_rule(cards):
    move, state = judged(Play(cards))
    assert (move.opinion is Opinion.RIGHT) == are_right(RULE, state.table.layout.mainline, cards)


def test_a_prophet_names_a_right_card_of_a_false_no_play():
    move, state = judged(NoPlay())
    legal = legal_among(RULE, state.table.layout.mainline, state.table.cards.hands[state.turn.seat])
    assert move.card in legal if legal else move == RIGHT


def test_the_rule_of_express_is_guessed():
    state, seat = begun("eleusis_express")
    move = chosen(
        replace(state, phase=Phase.GUESS_OPTION, turn=replace(state.turn, guesser=seat)), seat
    )
    assert isinstance(move, Guess)
    line = state.table.layout.mainline
    assert judge_guess(RULE, move.text, line, draws_of(DEALS, 0, "guess 1")).accepted


@pytest.mark.parametrize("text", OWN_RULES)
def test_its_own_rules_are_accepted(text):
    assert validate(text, draws_of(DEALS, 0, "validate 1")).verdict is Verdict.ACCEPTED
