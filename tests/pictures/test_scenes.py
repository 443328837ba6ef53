"""Every game's pictures: complete, true to what was scored, and without what the viewer was not told."""

import re
from collections import Counter
from dataclasses import fields
from typing import get_args

import pytest

from arena.games import poker
from arena.games.cards import CANONICAL
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.games.loo.tricks import PAM
from arena.pictures import Viewer, scenes_of
from arena.pictures.sentences import minus
from arena.pictures.vocabulary import Card, Pile, Tone, ZoneKind
from arena.records.frames import viewer_frames
from arena.web.rich_text import spoken
from tests.pictures.looks import cards_in, keys_of, names_in, parts, texts_in, zones_of
from tests.pictures.matches import played
from tests.rows import OF_EACH_KIND, fewest_seats, slow_unless

NAMES = ("ann", "bob", "cec", "dan", "eve", "fay")
SITTINGS = [
    pytest.param(game.id, seats, id=f"{game.id} for {seats}")
    for game in GAMES
    for seats in sorted({game.seats[0], min(game.seats[-1], 6)})
]
EVERY_GAME = pytest.mark.parametrize(
    ("game_id", "seats"),
    slow_unless(
        lambda game_id, seats: fewest_seats(game_id, seats) and game_id in OF_EACH_KIND,
        SITTINGS,
        pytest.mark.deep("pictures"),
    ),
)
"""The quick run has the fewest seats, and of Eleusis the Express alone."""
WHOLE_STEPS = 1_000
"""Longer than any of these matches; elsewhere their beginning is enough."""
FAMILIES = {game.family: game for game in GAMES}.values()


def eyes_of(seats):
    return (Viewer.ALL, Viewer.SPECTATOR, *(Seat(seat) for seat in range(seats)))


def watched(game_id, seats, eyes):
    options, steps = played(game_id, seats)
    return list(viewer_frames(steps, eyes, options, seats))


@EVERY_GAME
def test_every_step_has_a_picture_for_every_viewer(game_id, seats):
    _, steps = played(game_id, seats)
    for eyes in eyes_of(seats):
        seen = watched(game_id, seats, eyes)
        assert [frame.step.index for frame in seen if not frame.part] == list(range(len(steps)))
        for frame in seen:
            scene = frame.scene()
            assert [seat_scene.seat for seat_scene in scene.seats] == list(range(seats))
            for zones in zones_of(scene):
                keys = keys_of(zones)
                assert len(keys) == len(set(keys)), f"two zones of one key at {frame.label}"
                assert all(zone.items for zone in zones), f"an empty zone at {frame.label}"


@EVERY_GAME
def test_whoever_is_to_act_is_shown_and_nobody_else(game_id, seats):
    rules = game_by_id(game_id).rules
    for frame in watched(game_id, seats, Viewer.SPECTATOR):
        active = [item.seat for item in frame.scene().seats if item.active]
        expected = () if frame.ends_hand else rules.to_act(frame.step.state)
        assert active == list(expected), frame.label


@pytest.mark.parametrize("game", FAMILIES, ids=lambda game: game.family)
def test_every_event_has_words(game):
    events, moves = get_args(game.messages.Event), game.messages.Move
    moves = get_args(moves) or (moves,)
    assert set(scenes_of(game).SENTENCES) - set(moves) == set(events)
    assert set(scenes_of(game).HAND_ENDS) <= set(events)


@EVERY_GAME
def test_words_are_sentences_and_no_notation(game_id, seats):
    events = get_args(game_by_id(game_id).messages.Event)
    classes = {cls.__name__ for cls in events if re.search("[a-z][A-Z]", cls.__name__)}
    for frame in watched(game_id, seats, Viewer.ALL):
        said = frame.sentences()
        assert said, f"nothing is said at {frame.label}"
        for words in said:
            text = spoken(words, NAMES)
            assert text.rstrip().endswith((".", "”")), text
            own = re.sub("“[^”]*”", "x", text)  # a bot's own words may be anything
            assert not re.search(r"seat=|seat \d|[{}_]|\b(None|True|False)\b|^ |  ", own), text
            assert not any(re.search(rf"\b{name}\b", own) for name in classes), text


@EVERY_GAME
def test_the_end_of_a_hand_is_scored_as_the_rules_scored_it(game_id, seats):
    """The view that `close` folds agrees with the event, in totals and in the cards that are left."""
    ends = 0
    for eyes in eyes_of(seats):
        for frame in watched(game_id, seats, eyes):
            if not frame.ends_hand:
                continue
            ends += 1
            view, event = frame.perspective.view, frame.events[-1]
            totals = getattr(event, "totals", None) or getattr(event, "chips", None)
            if totals is not None:
                assert (view.chips if game_id == "loo" else view.totals) == totals
                shown = [item.score.lstrip("+") for item in frame.scene().seats]
                assert shown == [minus(total) for total in totals]
            assert frame.scene().banner, "the end of a hand says why it was scored so"
    assert ends or game_id == "eleusis"


NOT_FOLDED = {
    "chinese_poker": {"held", "natural", "setting"},
    "soko": {"chips"},
    "pineapple": {"chips", "min_to", "max_to"},
    "open_face_chinese_poker": {"dealer", "hands_left"},
    "eleusis": {"stock", "office", "turns", "previous_rule"},
}
"""By family: fields of a view that no picture of a hand's end is drawn from, and that `close` leaves."""


@EVERY_GAME
def test_the_last_picture_of_a_match_is_that_of_the_rules(game_id, seats):
    """The oracle for `close`: after the last hand nothing is dealt, so the view still shows its end."""
    options, steps = played(game_id, seats, most=WHOLE_STEPS)
    last = steps[-1]
    game = last.game
    assert not game.rules.to_act(last.state), "the match was cut before its end"
    for eyes in eyes_of(seats):
        (*_, frame) = viewer_frames(steps, eyes, options, seats)
        assert frame.ends_hand
        for seat, folded in [(None, frame.perspective.view), *frame.perspective.seat_views.items()]:
            if seat is None and not isinstance(eyes, Viewer):
                continue
            true = game.rules.view(last.state, seat)
            names = {field.name for field in fields(true)} - NOT_FOLDED.get(game.family, set())
            for name in names:
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
    events = set()
    for frame in watched(game_id, seats, Viewer.SPECTATOR):
        if frame.step.index and frame.part:
            events.clear()
        for event in frame.events:
            events |= {part for part in parts(event) if type(part) is str and part in CANONICAL}
            events |= married(event)
        seen = set(cards_in(frame.scene())) | set(cards_in(frame.sentences()))
        assert seen <= events | inferred(frame.perspective.view), (frame.label, seen - events)


def married(event):
    """The king and queen that a marriage, or a bela, shows."""
    kind = type(event).__name__
    if kind == "Married":
        return {"K" + event.suit, "Q" + event.suit}
    if kind == "Played" and getattr(event, "bela", False):
        return {"K" + event.card[1], "Q" + event.card[1]}
    return set()


def test_a_viewer_with_an_additional_view_is_found():
    """The control of the test above: whoever sees all hands sees cards that nobody was told."""
    seen, events = set(), set()
    for frame in watched("klaberjass", 2, Viewer.ALL)[:2]:
        seen |= set(cards_in(frame.scene()))
    for frame in watched("klaberjass", 2, Viewer.SPECTATOR)[:2]:
        for event in frame.events:
            events |= {part for part in parts(event) if type(part) is str and part in CANONICAL}
    assert seen - events


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
            others = [item for item in mine.scene().seats if item.seat != own]
            theirs = [item for item in public.scene().seats if item.seat != own]
            assert [Counter(cards_in(other_scene)) for other_scene in others] == [
                Counter(cards_in(their_scene)) for their_scene in theirs
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
    for frame, public in seen:
        for true, shown in zip(frame.scene().seats, public.scene().seats, strict=True):
            if true.out and game_id in ("loo", *PINEAPPLES):
                assert not held(shown), (frame.label, "it is out of the hand")
            elif not true.out and held(true) is not None and held(shown) is not None:
                assert held(shown) == held(true), (frame.label, true.seat)


KINDS = {
    "klaberjass": {ZoneKind.FAN, ZoneKind.TRICK, ZoneKind.PILE, ZoneKind.SAID, ZoneKind.MELD},
    "sixty_six": {ZoneKind.FAN, ZoneKind.TRICK, ZoneKind.PILE, ZoneKind.SAID},
    "jam": {ZoneKind.FAN, ZoneKind.TRICK, ZoneKind.PILE, ZoneKind.SAID},
    "loo": {ZoneKind.FAN, ZoneKind.TRICK, ZoneKind.PILE, ZoneKind.CHIPS, ZoneKind.SAID},
    "democracy": {ZoneKind.FAN, ZoneKind.TRICK, ZoneKind.PILE},
    "arlington": {ZoneKind.FAN, ZoneKind.TRICK, ZoneKind.PILE, ZoneKind.MELD, ZoneKind.SAID},
    "oklahoma_rummy": {ZoneKind.FAN, ZoneKind.PILE, ZoneKind.MELD, ZoneKind.SAID},
    "pineapple": {ZoneKind.FAN, ZoneKind.ROW, ZoneKind.CHIPS, ZoneKind.SAID},
    "soko": {ZoneKind.ROW, ZoneKind.CHIPS, ZoneKind.SAID},
    "chinese_poker": {ZoneKind.FAN, ZoneKind.GRID},
    "open_face_chinese_poker": {ZoneKind.FAN, ZoneKind.GRID},
    "eleusis": {ZoneKind.FAN, ZoneKind.LINE, ZoneKind.SAID},
    "abstrac": {ZoneKind.FAN, ZoneKind.ROW, ZoneKind.SAID},
}
"""By family: the kinds of zones that its table is made of, so that none is a list of fields."""


@EVERY_GAME
def test_a_table_is_laid_out_by_its_game(game_id, seats):
    used = set()
    for frame in watched(game_id, seats, Viewer.ALL):
        for zones in zones_of(frame.scene()):
            used |= {zone.kind for zone in zones}
    assert KINDS.get(game_by_id(game_id).family, set()) <= used
    assert len(used) > 1


@EVERY_GAME
def test_text_in_a_picture_is_for_people(game_id, seats):
    for frame in watched(game_id, seats, Viewer.ALL):
        scene = frame.scene()
        assert all(0 <= seat < seats for seat in names_in(scene))
        for text in texts_in((scene.seats, scene.centre, scene.facts, scene.banner)):
            if text in CANONICAL or text in tuple(ZoneKind) + tuple(Tone):
                continue
            assert not re.search(r"\bNone\b|\b[a-z]+_[a-z]+\b", text) or "“" in text, text


def test_klaberjass_names_its_two_highest_trumps():
    for frame in watched("klaberjass", 2, Viewer.SPECTATOR):
        suit = frame.perspective.view.auction.trump
        said = {fact.label: spoken(fact.value, NAMES) for fact in frame.scene().facts}
        if suit is None:
            assert not any("Jass" in label for label in said)
        else:
            assert said["J of trump, the Jass"] == "20"
            assert said["9 of trump, the Menel"] == "14"


def texts_of(game_id, seats, **more):
    """All texts in the pictures of a match."""
    options, steps = played(game_id, seats, more=tuple(more.items()))
    frames = viewer_frames(steps, Viewer.ALL, options, seats)
    return {text for frame in frames for text in texts_in(frame.scene())}


@pytest.mark.parametrize(
    ("structure", "limit"),
    [
        ("spread", "4 to 10"),
        ("pot", "4 and up, pot-limit"),
        ("nolimit", "4 and up, no-limit"),
    ],
)
def test_soko_shows_its_limits(structure, limit):
    assert limit in texts_of("soko", 4, structure=structure)


@pytest.mark.parametrize("game_id", ["chinese_poker", "open_face_chinese_poker"])
def test_a_pair_that_agreed_on_another_unit_pays_so_many_times(game_id):
    texts = texts_of(game_id, 3, unit_values="1,7,1")
    assert any(text.endswith(", times 7") for text in texts)
    assert not any(", times 1" in text for text in texts)


def test_loo_with_three_cards_is_drawn_with_its_own_numbers():
    options, steps = played("loo", 5, more=(("cards", "three"),))
    tricks, fees, settled = set(), set(), 0
    for frame in viewer_frames(steps, Viewer.ALL, options, 5):
        scene = frame.scene()
        texts = texts_in(scene)
        tricks |= {text for text in texts if re.fullmatch(r"trick \d of \d", text)}
        fees |= {text for text in texts if "each into the next pot" in text}
        if frame.ends_hand:
            scored = frame.events[-1]
            gains = [won - 3 * (seat in scored.looed) for seat, won in enumerate(scored.won)]
            shown = [
                text
                for seat in scene.seats
                for fact in seat.facts
                if fact.label == "this hand"
                for text in fact.value
            ]
            assert shown == [f"{gain:+}".replace("-", "−") for gain in gains if gain]
            settled += len(shown)
    assert tricks == {f"trick {number} of 3" for number in (1, 2, 3)}
    assert fees == {" — 3 each into the next pot."}
    assert settled


@pytest.mark.parametrize(
    ("game_id", "seats"),
    [("open_face_chinese_poker", 2), ("open_face_chinese_poker", 3), ("pineapple", 3)],
)
def test_a_card_of_one_pack_lies_at_one_place(game_id, seats):
    for viewer in eyes_of(seats):
        for frame in watched(game_id, seats, viewer):
            drawn = Counter(part.code for part in parts(frame.scene()) if isinstance(part, Card))
            del drawn[None]
            assert max(drawn.values(), default=1) == 1, (viewer, frame.label)


@pytest.mark.parametrize("game_id", ["pineapple", "crazy_pineapple_hi_lo"])
def test_five_cards_are_marked_for_the_winner_of_a_showdown(game_id):
    """On the board and in the hand of the first winner; other winners have theirs in the hand alone."""
    showdowns = 0
    for frame in watched(game_id, 3, Viewer.SPECTATOR):
        won = [event for event in frame.events if type(event).__name__ == "PotWon"]
        shown = {
            event.seat: event.cards for event in frame.events if type(event).__name__ == "Shown"
        }
        if not frame.ends_hand or not won or won[0].winners[0] not in shown:
            continue
        winner, scene = won[0].winners[0], frame.scene()
        (board,) = [zone for zone in scene.centre if zone.key == "board"]
        own = scene.seats[winner].zones[0].items
        five = [card.code for card in (*board.items, *own) if card.tone is Tone.MARKED]
        held = (*shown[winner], *(card.code for card in board.items))
        assert len(five) == 5
        assert poker.standard(five) == poker.standard(held)
        losers = set(shown) - {seat for pot in won for seat in (*pot.winners, *pot.low_winners)}
        marked = [card for seat in losers for card in scene.seats[seat].zones[0].items]
        assert not [card for card in marked if card.tone is Tone.MARKED]
        showdowns += 1
    assert showdowns


@pytest.mark.parametrize(("cards", "named"), [("five", True), ("three", False)])
def test_loo_names_pam_wherever_it_lies(cards, named):
    options, steps = played("loo", 5, more=(("cards", cards),))
    seen = 0
    for frame in viewer_frames(steps, Viewer.ALL, options, 5):
        in_play = (
            named
            and frame.step.state is not None
            and "is not in play" not in texts_in(frame.scene())
        )
        for card in parts(frame.scene()):
            if isinstance(card, Card) and card.code == PAM:
                assert (card.tag[-1:] in (("Pam",), (": Pam",))) == in_play
                seen += in_play
    assert bool(seen) == named
