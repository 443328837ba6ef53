"""A person's seat without a script: whole matches are played by forms alone."""

import random
import re

import pytest

from arena.games.catalogue import GAMES
from arena.records.verify import verify_file
from arena.referee.spec import Ending
from tests.rows import slow_unless_of_each_kind
from tests.web.seats import Guest, play_on

CONTROLS = {
    "chinese_poker": {"row", "place"},
    "open_face_chinese_poker": {"row", "place"},
    "soko": {"wager"},
    "eleusis": {"pick", "selected"},
    "eleusis_express": {"say"},
    "arlington": {"pick", "selected"},
    "oklahoma_rummy": {"pick", "selected"},
    "loo": {"pick", "selected"},
}
"""The controls that a match of the game uses besides choices."""

MOST_MATCHES = 6
"""Matches after which a control that was not pressed is missing, and not only out of luck."""

QUICKLY_COMPARED = {"abstrac", "klaberjass"}
"""Games whose short matches the house bot compares in a second."""


@pytest.fixture
def guest(tmp_path):
    made = Guest(tmp_path)
    yield made
    made.client.close()


def controlled(guest, game_id):
    """Play by the controls of the game, and return the seat.

    The cards and the opponents are random: a match may offer nothing to exchange, so a few are played.
    """
    draw, pressed, expected = random.Random(game_id), set(), CONTROLS.get(game_id, {"choice"})
    for _ in range(MOST_MATCHES):
        seat = guest.sit(game_id)
        pressed |= play_on(guest, draw)
        assert not any(moment.faults for moment in seat.match.moments)
        if pressed >= expected:
            return seat
    raise AssertionError(f"{expected - pressed} were not pressed in {MOST_MATCHES} matches")


@pytest.mark.parametrize("game", slow_unless_of_each_kind(GAMES), ids=lambda game: game.id)
def test_a_whole_match_is_played_by_forms_alone(game, guest):
    seat = controlled(guest, game.id)
    assert seat.match.outcome.ending is Ending.COMPLETED
    assert verify_file(seat.match.replay).ok
    page = guest.page()
    assert "The match is over" in page
    links = re.findall(r'href="\.\./((?:m|replays)/[^"]*)"', page)
    assert len(links) == 3
    for link in links:
        if "house.html" in link and game.id not in QUICKLY_COMPARED:
            continue
        answer = guest.get(f"/play/{link}")
        assert answer.status_code == 200, link
        assert "house.html" not in link or "=" not in re.sub("<[^>]*>", "", answer.text), "notation"


def test_a_match_ends_in_order_where_no_replay_can_be_written(tmp_path):
    folder = tmp_path / "file"
    folder.write_text("no folder")
    guest = Guest(folder)
    seat = guest.sit("abstrac")
    play_on(guest, random.Random(1))
    assert seat.match.outcome.ending is Ending.COMPLETED
    page = guest.page()
    assert "The match is over" in page
    assert "What each seat knew" not in page
    guest.client.close()


def test_after_the_end_nobody_is_to_act(guest):
    guest.sit("klaberjass")
    assert 'class="badge turn"' in guest.page()
    guest.post(guest.path, {"leave": "1"})
    assert 'class="badge turn"' not in guest.page()


def test_a_table_says_how_much_time_a_move_has_before_the_bank(guest):
    guest.sit("klaberjass")
    page = guest.page()
    assert re.search(r"0:(29|30), then 10:00</span>", page)
    assert "600.0 s" in page.partition('class="seat')[2].partition('class="seat active own"')[0]
    assert "600.0 s" not in page.partition('class="seat active own"')[2], "one clock"


# fmt: off
LOBBY = [
    # query                                        on the page                                not on it                 why
    ("game=klaberjass",                            'name="game" value="klaberjass"',          'id="seats"',             "a game with one number of seats"),
    ("game=arlington",                                   "<option>3</option>",                      "<option>7</option>",     "the numbers of this game alone"),
    ("game=loo&seats=7",                           "<option selected>7</option>",             'level" value="bot:',     "as many as before"),
    ("game=arlington&level=search-20ms&name=ann",        'value="search-20ms" checked',             'value="sample" checked', "the level before"),
    ("game=arlington&name=ann",                          'value="ann"',                             'value="guest"',          "the name before"),
    ("game=whist&seats=%3Cb%3E&name=%3Cb%3E",      'name="game" value="klaberjass"',          "<b>",                    "a game that there is not"),
]
# fmt: on


@pytest.mark.parametrize(("query", "has", "lacks", "_"), LOBBY, ids=[row[-1] for row in LOBBY])
def test_a_lobby_offers_what_the_game_has_and_what_was_chosen(guest, query, has, lacks, _):
    page = guest.get(f"/play/?{query}").text
    assert (has in page, lacks in page) == (True, False)


@pytest.mark.parametrize(
    ("length", "hands", "_"),
    [
        ("hand", 1, "one hand"),
        ("short", 3, "a deal by each seat"),
        ("<b>", 3, "what is no length is short"),
    ],
)
def test_a_match_has_the_chosen_length(guest, length, hands, _):
    seat = guest.sit("arlington", seats="3", length=length)
    assert seat.match.terms.options.hands == hands


def test_another_match_begins_with_the_same_choices(guest):
    guest.sit("arlington", seats="3", name="ann", length="usual")
    guest.post(guest.path, {"leave": "1"})
    again = "../?game=arlington&amp;level=random&amp;seats=3&amp;name=ann&amp;length=usual"
    assert f'href="{again}"' in guest.page()
