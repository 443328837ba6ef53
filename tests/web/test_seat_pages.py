"""A person's seat without a script: matches are played by forms alone, those of `LONG` only in their first turns."""

import random
import re

import pytest

from arena.games.catalogue import GAMES
from arena.records.verify import verify_file
from arena.referee.spec import Ending
from tests.rows import slow_unless_of_each_kind
from tests.web.seats import FEW_PRESSED, LONG, Guest, play_on

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

QUICKLY_COMPARED = {"abstrac", "klaberjass"}
"""Games whose short matches the house bot compares in a second."""


@pytest.fixture
def guest(tmp_path):
    made = Guest(tmp_path)
    yield made
    made.client.close()


def controlled(guest, game_id, *most):
    """Play by the controls of the game, and return the seat."""
    seat = guest.sit(game_id)
    pressed = play_on(guest, random.Random(game_id), *most)
    assert not any(moment.faults for moment in seat.match.moments)
    assert pressed >= CONTROLS.get(game_id, {"choice"})
    return seat


@pytest.mark.parametrize(
    "game",
    slow_unless_of_each_kind([game for game in GAMES if game.id not in LONG]),
    ids=lambda game: game.id,
)
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
        assert guest.get(f"/play/{link}").status_code == 200, link


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(LONG))
def test_the_first_turns_of_a_long_match_are_played_by_forms_alone(game, guest):
    controlled(guest, game, FEW_PRESSED)


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
