"""Every game's pictures: complete, true to what was scored, and without what the viewer was not told."""

import re
from collections import Counter
from typing import get_args

import pytest

from arena.cards import CANONICAL
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.replay.beats import beats
from arena.scenes import Viewer, scenes_of
from arena.scenes.vocabulary import ASIDE, Kind, Pile, Tone
from arena.web.words import spoken
from tests.rows import fewest_seats, slow_unless
from tests.scenes.looks import cards_in, keys_of, names_in, parts, texts_in, zones_of
from tests.scenes.matches import played

NAMES = ("ann", "bob", "cec", "dan", "eve", "fay")
SITTINGS = [
    pytest.param(game.id, seats, id=f"{game.id} for {seats}")
    for game in GAMES
    for seats in sorted({game.seats[0], min(game.seats[-1], 6)})
]
EVERY_GAME = pytest.mark.parametrize(
    ("game_id", "seats"),
    slow_unless(
        lambda game_id, seats: fewest_seats(game_id, seats) and game_id != "eleusis", SITTINGS
    ),
)
"""The quick run has the fewest seats, and of Eleusis the Express alone."""
WHOLE_STEPS = 1_000
"""Longer than any of these matches; elsewhere their beginning is enough."""
FAMILIES = {game.family: game for game in GAMES}.values()


def eyes_of(seats):
    return (Viewer.ALL, Viewer.SPECTATOR, *(Seat(seat) for seat in range(seats)))


def watched(game_id, seats, eyes):
    options, frames = played(game_id, seats)
    return list(beats(frames, eyes, options, seats))


@EVERY_GAME
def test_every_step_has_a_picture_for_every_viewer(game_id, seats):
    _, frames = played(game_id, seats)
    for eyes in eyes_of(seats):
        seen = watched(game_id, seats, eyes)
        assert [beat.frame.index for beat in seen if not beat.part] == list(range(len(frames)))
        for beat in seen:
            scene = beat.scene()
            assert [each.seat for each in scene.seats] == list(range(seats))
            for zones in zones_of(scene):
                keys = keys_of(zones)
                assert len(keys) == len(set(keys)), f"two zones of one key at {beat.label}"
                assert ASIDE not in keys
                assert all(zone.items for zone in zones), f"an empty zone at {beat.label}"


@EVERY_GAME
def test_whoever_is_to_act_is_shown_and_nobody_else(game_id, seats):
    rules = game_by_id(game_id).rules
    for beat in watched(game_id, seats, Viewer.SPECTATOR):
        active = [each.seat for each in beat.scene().seats if each.active]
        expected = () if beat.ends_hand else rules.to_act(beat.frame.state)
        assert active == list(expected), beat.label


@pytest.mark.parametrize("game", FAMILIES, ids=lambda game: game.family)
def test_every_event_has_words(game):
    events = get_args(game.module.Event)
    assert set(scenes_of(game).WORDS) == set(events)
    assert set(scenes_of(game).ENDS) <= set(events)


@EVERY_GAME
def test_words_are_sentences_and_no_notation(game_id, seats):
    events = get_args(game_by_id(game_id).module.Event)
    classes = {cls.__name__ for cls in events if re.search("[a-z][A-Z]", cls.__name__)}
    for beat in watched(game_id, seats, Viewer.ALL):
        said = beat.words()
        assert said, f"nothing is said at {beat.label}"
        for words in said:
            text = spoken(words, NAMES)
            assert text.rstrip().endswith((".", "”")), text
            own = re.sub("“.*”", "", text)  # a bot's own words may be anything
            assert not re.search(r"seat=|seat \d|[{}_]|\b(None|True|False)\b|^ |  ", own), text
            assert not any(re.search(rf"\b{name}\b", own) for name in classes), text


@EVERY_GAME
def test_the_end_of_a_hand_is_scored_as_the_rules_scored_it(game_id, seats):
    """The view that `close` folds agrees with the event, in totals and in the cards that are left."""
    ends = 0
    for eyes in eyes_of(seats):
        for beat in watched(game_id, seats, eyes):
            if not beat.ends_hand:
                continue
            ends += 1
            view, event = beat.eye.view, beat.told[-1]
            totals = getattr(event, "totals", None) or getattr(event, "chips", None)
            if totals is not None:
                assert (view.chips if game_id == "loo" else view.totals) == totals
                shown = [each.score.lstrip("+") for each in beat.scene().seats]
                assert shown == [str(total) for total in totals]
            assert beat.scene().banner, "the end of a hand says why it was scored so"
    assert ends or game_id == "eleusis"


NEXT_DEALER = ("open_face_chinese_poker", "dealer")
"""Its last view names who would have dealt next."""
LAST = ("totals", "hand", "dealer")
"""Fields of every view that the last picture of a match has as the rules' own last view."""
TABLE = {
    "klaberjass": ("points", "played", "winners", "held", "hand_sizes", "known", "contest"),
    "sixty_six": ("points", "played", "winners", "held", "hand_sizes", "known", "carry"),
    "jam": ("played", "winners", "held", "known", "hand_sizes", "discards", "rubbers"),
    "democracy": ("island", "held", "hand_size"),
    "loo": ("chips", "pot", "players", "passed", "held", "played", "winners"),
    "arlington": ("tables", "held", "hand_sizes", "known", "graveyard", "buried"),
    "oklahoma_rummy": ("tables", "pile", "held", "hand_sizes", "known"),
    "abstrac": ("row", "taken"),
    "open_face_chinese_poker": ("layouts",),
    "chinese_poker": (),
    "pineapple": ("board", "held", "given_up", "live", "line"),
    "soko": ("upcards", "hole", "live", "line"),
    "eleusis": ("layout", "hand_sizes", "held"),
}
"""By family: what the table's last picture has as well."""


@EVERY_GAME
def test_the_last_picture_of_a_match_is_that_of_the_rules(game_id, seats):
    """The oracle for `close`: after the last hand nothing is dealt, so the view still shows its end."""
    options, frames = played(game_id, seats, most=WHOLE_STEPS)
    last = frames[-1]
    game = last.game
    assert not game.rules.to_act(last.state), "the match was cut before its end"
    for eyes in eyes_of(seats):
        (*_, beat) = beats(frames, eyes, options, seats)
        assert beat.ends_hand
        for seat, folded in [(None, beat.eye.view), *beat.eye.own.items()]:
            if seat is None and not isinstance(eyes, Viewer):
                continue
            true = game.rules.view(last.state, seat)
            for name in (*LAST, *TABLE[game.family]):
                if hasattr(true, name) and (game.family, name) != NEXT_DEALER:
                    assert getattr(folded, name) == getattr(true, name), (name, seat, eyes)


PUBLIC_BY_INFERENCE = {
    "klaberjass": lambda _: {"7c", "7d", "7h", "7s"},
    "sixty_six": lambda _: {"9c", "9d", "9h", "9s"},
    "oklahoma_rummy": lambda view: {
        card for table in view.tables for meld in table.melds for card in meld.stands_for
    },
}
"""Cards that are shown without being named: what an exchange puts in the upcard's place, and
what a wild card of a run stands for."""


@EVERY_GAME
def test_a_spectator_sees_no_card_that_was_not_told_to_all(game_id, seats):
    inferred = PUBLIC_BY_INFERENCE.get(game_id, lambda _: set())
    told = set()
    for beat in watched(game_id, seats, Viewer.SPECTATOR):
        if beat.frame.index and beat.part:
            told.clear()
        for event in beat.told:
            told |= {part for part in parts(event) if type(part) is str and part in CANONICAL}
            told |= married(event)
        seen = set(cards_in(beat.scene())) | set(cards_in(beat.words()))
        assert seen <= told | inferred(beat.eye.view), (beat.label, seen - told)


def married(event):
    """The king and queen that a marriage, or a bela, shows."""
    kind = type(event).__name__
    if kind == "Married":
        return {"K" + event.suit, "Q" + event.suit}
    if kind == "Played" and getattr(event, "bela", False):
        return {"K" + event.card[1], "Q" + event.card[1]}
    return set()


def test_an_eye_with_a_view_too_many_is_found():
    """The control of the test above: whoever sees all hands sees cards that nobody was told."""
    seen, told = set(), set()
    for beat in watched("klaberjass", 2, Viewer.ALL)[:2]:
        seen |= set(cards_in(beat.scene()))
    for beat in watched("klaberjass", 2, Viewer.SPECTATOR)[:2]:
        for event in beat.told:
            told |= {part for part in parts(event) if type(part) is str and part in CANONICAL}
    assert seen - told


@EVERY_GAME
def test_a_seat_sees_its_own_cards_and_no_others(game_id, seats):
    """A seat's picture is that of the spectator, with its own view's cards added."""
    for own in range(seats):
        hidden_from = zip(
            watched(game_id, seats, Seat(own)),
            watched(game_id, seats, Viewer.SPECTATOR),
            strict=True,
        )
        for mine, public in hidden_from:
            others = [each for each in mine.scene().seats if each.seat != own]
            theirs = [each for each in public.scene().seats if each.seat != own]
            assert [Counter(cards_in(each)) for each in others] == [
                Counter(cards_in(each)) for each in theirs
            ], mine.label


PINEAPPLES = [game.id for game in GAMES if game.family == "pineapple"]


def held(seat):
    """The cards of a seat's hand, hidden or not, but for those given up; None if they are set."""
    zone = next((zone for zone in seat.zones if zone.key == "hand"), None)
    if zone is None:
        return None if any(zone.key == "rows" for zone in seat.zones) else 0
    return sum(
        item.count if isinstance(item, Pile) else item.tone is not Tone.DIM for item in zone.items
    )


@EVERY_GAME
def test_a_hidden_hand_has_as_many_cards_as_the_seat_holds(game_id, seats):
    seen = zip(
        watched(game_id, seats, Viewer.ALL), watched(game_id, seats, Viewer.SPECTATOR), strict=True
    )
    for beat, public in seen:
        for true, shown in zip(beat.scene().seats, public.scene().seats, strict=True):
            if true.out and game_id in ("loo", *PINEAPPLES):
                assert not held(shown), (beat.label, "it is out of the hand")
            elif not true.out and held(true) is not None and held(shown) is not None:
                assert held(shown) == held(true), (beat.label, true.seat)


KINDS = {
    "klaberjass": {Kind.FAN, Kind.TRICK, Kind.PILE, Kind.SAID, Kind.MELD},
    "sixty_six": {Kind.FAN, Kind.TRICK, Kind.PILE, Kind.SAID},
    "jam": {Kind.FAN, Kind.TRICK, Kind.PILE, Kind.SAID},
    "loo": {Kind.FAN, Kind.TRICK, Kind.PILE, Kind.CHIPS, Kind.SAID},
    "democracy": {Kind.FAN, Kind.TRICK, Kind.PILE},
    "arlington": {Kind.FAN, Kind.TRICK, Kind.PILE, Kind.MELD, Kind.SAID},
    "oklahoma_rummy": {Kind.FAN, Kind.PILE, Kind.MELD, Kind.SAID},
    "pineapple": {Kind.FAN, Kind.ROW, Kind.CHIPS, Kind.SAID},
    "soko": {Kind.ROW, Kind.CHIPS, Kind.SAID},
    "chinese_poker": {Kind.FAN, Kind.GRID},
    "open_face_chinese_poker": {Kind.FAN, Kind.GRID},
    "eleusis": {Kind.FAN, Kind.LINE, Kind.SAID},
    "abstrac": {Kind.FAN, Kind.ROW, Kind.SAID},
}
"""By family: the kinds of zones that its table is made of, so that none is a list of fields."""


@EVERY_GAME
def test_a_table_is_laid_out_by_its_game(game_id, seats):
    used = set()
    for beat in watched(game_id, seats, Viewer.ALL):
        for zones in zones_of(beat.scene()):
            used |= {zone.kind for zone in zones}
    assert KINDS[game_by_id(game_id).family] <= used


@EVERY_GAME
def test_text_in_a_picture_is_for_people(game_id, seats):
    for beat in watched(game_id, seats, Viewer.ALL):
        scene = beat.scene()
        assert all(0 <= seat < seats for seat in names_in(scene))
        for text in texts_in((scene.seats, scene.centre, scene.facts, scene.banner)):
            if text in CANONICAL or text in tuple(Kind) + tuple(Tone):
                continue
            assert not re.search(r"\bNone\b|\b[a-z]+_[a-z]+\b", text) or "“" in text, text
