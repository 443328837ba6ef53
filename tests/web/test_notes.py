"""Notes that bots publish stand beside their decisions, as text, for those who see their cards."""

import pytest

from arena.games.contract import Seat
from arena.pictures import Viewer
from arena.web.addresses import viewer_name
from arena.web.match_file import match_file
from arena.web.pages.finished_match import hand_page, moment, played_through
from arena.web.steps import MOST_NOTE_CHARS
from tests.records.matches import Bot, record

OURS, THEIRS = "ours: <b>two</b> jacks", "theirs: " + "x" * MOST_NOTE_CHARS


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The replay of a match whose two bots publish what they note at each decision."""
    bots = [Bot(0, note=OURS), Bot(1, note=THEIRS)]
    folder = tmp_path_factory.mktemp("notes")
    return record(folder, "abstrac", bots, {"hands": 2}, publishing=(0, 1))


# fmt: off
SEEN = [
    # viewer            seats   why
    (Viewer.ALL,        {0, 1}, "all hands are open"),
    (Viewer.SPECTATOR,  set(),  "a note tells of cards that a spectator does not see"),
    (Seat(0),           {0},    "a seat sees its own cards"),
    (Seat(1),           {1},    "the other seat sees its own"),
]
# fmt: on


@pytest.mark.parametrize(("viewer", "seats", "why"), SEEN, ids=[row[-1] for row in SEEN])
def test_a_note_is_shown_to_who_sees_the_cards_of_its_seat(path, viewer, seats, why):
    page = hand_page(played_through(path), viewer_name(viewer), 1)
    assert {seat for seat, text in enumerate(("ours: ", "theirs: ")) if text in page} == seats


def test_a_note_is_text_and_has_a_bound(path):
    page = hand_page(played_through(path), "all", 1)
    assert "<b>two</b>" not in page
    assert "ours: &lt;b&gt;two&lt;/b&gt; jacks" in page
    assert THEIRS[:MOST_NOTE_CHARS] in page
    assert THEIRS not in page


def test_notes_are_in_the_file_of_a_match_and_not_on_the_home_page(path):
    assert "ours: &lt;b&gt;" in match_file(played_through(path), (Viewer.ALL,))
    assert "noted" not in "".join(moment(path, 0, 1))
