"""Every legal move has words and a place in the picture, and is found back by what a person does."""

import random
from typing import get_args

import pytest

from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.pictures import choices as ask
from arena.pictures import scenes_of
from arena.pictures.choices import HAND, Widget
from arena.records.frames import perspective_of
from arena.web.rich_text import spoken
from tests.pictures.matches import played

NAMES = ("ann", "bob", "cec", "dan", "eve", "fay")
EVERY_GAME = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
FAMILIES = {game.family: game for game in GAMES}.values()
CLICK, SELECT, ROWS, AMOUNT, TEXT = Widget

WIDGETS = {
    "abstrac": {CLICK},
    "abstrac_suit": {CLICK},
    "abstrac_unfettered": {CLICK},
    "abstrac_fiftytwo": {CLICK},
    "arlington": {CLICK, SELECT},
    "chinese_poker": {CLICK, ROWS},
    "crazy_pineapple": {CLICK},
    "crazy_pineapple_hi_lo": {CLICK},
    "democracy": {CLICK},
    "eleusis": {SELECT, TEXT},
    "eleusis_express": {CLICK, TEXT},
    "jam": {CLICK},
    "klaberjass": {CLICK},
    "loo": {CLICK, SELECT},
    "oklahoma_rummy": {CLICK, SELECT},
    "open_face_chinese_poker": {ROWS},
    "pineapple": {CLICK},
    "sixty_six": {CLICK},
    "soko": {CLICK, AMOUNT},
}
"""The widgets that the asks of a match with the usual options take; of other games a click alone."""
STRICT = {
    "klaberjass": lambda view: view.phase == "follow",
    "loo": lambda view: view.phase == "follow",
    "sixty_six": lambda view: view.phase in ("lead", "follow"),
}
"""The asks in which the rules forbid cards of the hand."""


def asks(game, **more):
    """The asks of a match: the seat, its view and its moves."""
    seats = max(game.seats[0], min(3, game.seats[-1]))
    options, steps = played(game.id, seats, more=tuple(more.items()))
    for step in steps:
        for seat in game.rules.to_act(step.state):
            yield seat, step.view(seat), game.rules.moves(step.state, seat), options, seats


@pytest.mark.parametrize("game", FAMILIES, ids=lambda game: game.family)
def test_every_class_of_moves_and_every_phase_has_words(game):
    scenes, messages = scenes_of(game), game.messages
    assert set(scenes.MOVES) == set(get_args(messages.Move) or (messages.Move,))
    assert set(scenes.ASKS) == {phase for phase in messages.Phase if phase != "over"}


@EVERY_GAME
def test_every_offered_move_has_words_of_its_own_and_a_place_in_the_picture(game):
    for seat, view, moves, options, seats in asks(game):
        offered = ask.choices(game, view, moves.offered)
        assert tuple(choice.move for choice in offered) == moves.offered
        words = [spoken(choice.words, NAMES) for choice in offered]
        assert len(set(words)) == len(words), sorted(words)
        assert spoken(ask.task(game, view), NAMES).endswith(".")
        seen = perspective_of({seat: view}, seat, (), 0, seats, options)
        items = items_of(scenes_of(game).scene(seen), seat)
        for choice in offered:
            if choice.target is not None:
                assert choice.target in items or choice.target.zone == HAND, choice


def items_of(scene, seat):
    zones = [(f"own/{zone.key}", zone) for zone in scene.seats[seat].zones]
    zones += [(f"centre/{zone.key}", zone) for zone in scene.centre]
    return {
        ask.Target(key, getattr(item, "code", None)) for key, zone in zones for item in zone.items
    }


@EVERY_GAME
def test_the_cards_of_a_move_lead_back_to_it(game):
    draw = random.Random(game.id)
    for _, view, moves, *_ in list(asks(game))[:60]:
        kind = ask.widget(game, view, moves)
        for move in (*moves.offered[:40], moves.sample(draw.randrange)):
            (choice,) = ask.choices(game, view, (move,))
            if choice.cards and kind in (CLICK, SELECT):
                chosen = ask.selected(game, view, moves, choice.cards)
                assert move in [found.move for found in chosen]
                assert all(found.move in moves for found in chosen)
                words = [spoken(found.words, NAMES) for found in chosen]
                assert len(set(words)) == len(words)


@EVERY_GAME
def test_the_widgets_of_a_game(game):
    assert {ask.widget(game, view, moves) for _, view, moves, *_ in asks(game)} == WIDGETS.get(
        game.id, {CLICK}
    )


@pytest.mark.parametrize("game_id", STRICT)
def test_a_card_that_may_not_be_played_has_a_reason_and_others_have_none(game_id):
    game, forbidden = game_by_id(game_id), 0
    for _, view, moves, *_ in asks(game, hands=20):
        offered = ask.choices(game, view, moves.offered)
        why = ask.reasons(game, view, offered)
        playable = {card for choice in offered for card in choice.cards}
        assert not playable & set(why)
        if STRICT[game_id](view) and playable:
            assert set(why) == set(view.held) - playable, (view, moves.offered)
            forbidden += len(why)
    assert forbidden


def test_a_seat_that_is_given_text_has_it_quoted():
    game = game_by_id("eleusis")
    move = game.messages.Guess("card.color == 'red'")
    (choice,) = ask.choices(game, None, (move,))
    assert spoken(choice.words, NAMES) == "Guess “card.color == 'red'”"
    assert Seat(0) not in choice.words
