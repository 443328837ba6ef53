"""What a seat may not know is nowhere in its page, and forms of others are not taken.

In two worlds cards that are hidden from a seat have changed places; the pages of the seat are equal byte by byte.
"""

import re
import secrets

import pytest

from arena.games.contract import Seat
from arena.local.human_match import Moment, PersonsAsk
from arena.referee.terms import TIME_CLASSES, MatchTerms
from arena.web.acting.visits import VISITOR
from arena.web.play import seats as seats_module
from arena.web.play.controls import Controls
from arena.web.play.draft import NO_DRAFT, Asked
from arena.web.play.seat_drawer import SeatDrawer
from arena.web.play.seats import MOST_OF_ADDRESS
from arena.web.trees import html
from tests.rows import OF_EACH_KIND, slow_unless
from tests.web.pages import NAMES
from tests.web.seats import FORWARDED, Form, Guest
from tests.web.test_leaks import GAMES_THAT_HIDE, pairs_of

EVERY_GAME = pytest.mark.parametrize(
    "game",
    slow_unless(lambda game: game.id in OF_EACH_KIND, GAMES_THAT_HIDE),
    ids=lambda game: game.id,
)


def drawn(world, game, seat, steps):
    """All pictures of a seat, the last with its controls if it is to act."""
    seats = game.seats[0]
    terms = MatchTerms(game, world.options, seats, TIME_CLASSES["human"], seeded=True)
    drawer = SeatDrawer(terms, NAMES[:seats], seat)
    drawer.take(
        [
            Moment(
                step.next_hand,
                step.view(seat),
                tuple(event.event for event in step.events_for(seat)),
                (60_000,) * seats,
            )
            for step in steps
        ]
    )
    pages = [html(drawer.tree(picture)) + str(picture.sentences) for picture in drawer.pictures]
    state = steps[-1].state
    if seat in game.rules.to_act(state):
        moves = game.rules.moves(state, seat)
        ask = PersonsAsk(1, steps[-1].view(seat), moves, (30_000, 600_000))
        picture = drawer.pictures[-1]
        controls = Controls(
            Asked.of(game, seat, ask), NO_DRAFT, drawer.scene(picture), drawer.names
        )
        pages.append(html(controls.form(drawer.tree(picture), "")))
    return pages


@EVERY_GAME
def test_two_worlds_that_a_seat_cannot_tell_apart_have_equal_pages(game):
    seat = Seat(0)
    world, pairs = pairs_of(game, seat)
    assert pairs
    for one, other in pairs:
        assert drawn(world, game, seat, one) == drawn(world, game, seat, other)


@pytest.fixture
def guest(tmp_path):
    made = Guest(tmp_path)
    yield made
    made.client.close()


def test_a_page_does_not_name_its_secret_address(guest):
    guest.sit("klaberjass")
    token = guest.path.rpartition("/")[2]
    assert len(token) == len(secrets.token_urlsafe(16))
    assert token not in guest.page()


REFUSED = {
    "a form of another site": ({"origin": "https://evil.test"}, {}, 403),
    "a form of an unknown site": ({"origin": "null"}, {}, 403),
    "a form that is too long": ({}, {"text": "x" * 9_000}, 413),
    "a form of too many fields": ({}, {str(number): "x" for number in range(20)}, 400),
}


@pytest.mark.parametrize(("headers", "form", "status"), REFUSED.values(), ids=REFUSED)
def test_a_form_is_refused(guest, headers, form, status):
    guest.sit("klaberjass")
    answer = guest.post(guest.path, form, **headers)
    assert answer.status_code == status
    assert "Traceback" not in answer.text


def test_a_request_that_did_not_come_by_the_process_of_the_pages_is_refused(guest):
    guest.sit("klaberjass")
    headers = {name: value for name, value in FORWARDED.items() if "secret" not in name}
    assert guest.client.request("GET", guest.path, headers).status_code == 404


def test_a_form_that_is_sent_again_moves_nothing(guest):
    seat = guest.sit("klaberjass")
    form = Form(guest.page())
    name, value, _ = form.buttons[0]
    guest.press(form, name, value)
    moves = len(seat.match.moments)
    page = guest.press(form, name, value)
    assert len(seat.match.moments) == moves
    assert "That move was decided already" in page
    assert "That move was decided already" not in guest.page()


def test_a_guessed_address_has_no_page(guest):
    guest.sit("klaberjass")
    for path in (f"/play/s/{secrets.token_urlsafe(16)}", "/play/m/0123456789abcdef/all/1.html"):
        assert guest.get(path).status_code == 404


@pytest.mark.parametrize("path", ["//evil.test", "/evil.test//x", "\\evil.test", "a b"])
def test_a_link_leads_to_no_other_site(guest, path):
    answer = guest.get(f"/play/{path}")
    location = answer.headers.get("location", "")
    assert answer.status_code == 404 or re.fullmatch(r"/[A-Za-z0-9.]\S*", location), location


def test_an_address_has_few_matches_in_play(guest):
    for _ in range(MOST_OF_ADDRESS):
        guest.sit("abstrac")
    answer = guest.post("/play/new", {"game": "abstrac", "level": "random"})
    assert (answer.status_code, answer.headers.get("retry-after")) == (503, "5")
    seat = guest.seats.get(guest.path.rpartition("/")[2])
    guest.post(guest.path, {"leave": "1"})
    assert seat.match.outcome is not None
    guest.sit("abstrac")


@pytest.mark.parametrize(
    "wrong",
    [{"game": "whist"}, {"level": "perfect"}, {"name": "<b>"}, {"name": "house"}, {"seats": "9"}],
    ids=str,
)
def test_a_match_that_cannot_be_played_is_not_begun(guest, wrong):
    answer = guest.post("/play/new", {"game": "klaberjass", "level": "random"} | wrong)
    assert answer.status_code == 400
    assert "<b>" not in answer.text


def test_an_address_that_leaves_match_after_match_has_few_seats_kept(guest, monkeypatch):
    monkeypatch.setattr(seats_module, "MOST_KEPT_OF_ADDRESS", 1)

    def left(**headers):
        answer = guest.post("/play/new", {"game": "abstrac", "level": "random"}, **headers)
        guest.post(answer.headers["location"], {"leave": "1"})
        return answer.headers["location"].rpartition("/")[2]

    other, first, second = left(**{VISITOR: "192.0.2.9"}), left(), left()
    guest.sit("abstrac")
    kept = [guest.seats.get(token) is not None for token in (other, first, second)]
    assert kept == [True, False, True]


def test_a_match_is_compared_for_its_seats_alone(guest):
    seat = guest.sit("abstrac")
    guest.post(guest.path, {"leave": "1"})
    path = f"/play/m/{seat.match.match_id}/house.html?seat="
    # Another text would be another page, of seconds of work, in the memory of the process.
    assert [guest.get(path + text).status_code for text in "019x\u0661"] == [
        200,
        200,
        404,
        404,
        404,
    ]


def test_a_seat_is_forgotten_an_hour_after_its_match_and_old_replays_are_removed(
    tmp_path, monkeypatch
):
    now_s = [0.0]
    monkeypatch.setattr(seats_module, "MOST_REPLAYS", 1)
    guest = Guest(tmp_path, lambda: now_s[0])
    for _ in range(2):
        guest.sit("abstrac")
        guest.post(guest.path, {"leave": "1"})
    token = guest.path.rpartition("/")[2]
    guest.seats.pass_time()
    assert guest.seats.get(token) is not None
    assert len(list(tmp_path.glob("*.replay"))) == 1
    now_s[0] = seats_module.KEPT_S + 1
    guest.seats.pass_time()
    assert guest.seats.get(token) is None
    guest.client.close()
