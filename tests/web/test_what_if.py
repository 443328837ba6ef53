"""Playing on from a step of an ended match: the same cards and moves so far, and never from what is not public."""

import random
import re
import shutil

import pytest

from arena.games.contract import Seat
from arena.local.human_match import ContinuedMatch, NotYourMove
from arena.records.playback import play_back
from arena.records.read import Replay, replay_path
from arena.records.verify import verify_file
from arena.referee.spec import Ending
from arena.web import passed_on
from arena.web.app import Web, application
from arena.web.passed_on import pass_on, passed_on_folder, people_folder
from tests.web import house
from tests.web.asking import Client, site
from tests.web.seats import Guest, play_on

RECORDED = {"m1": house.RECORDED / "fair.replay", "m2": house.RECORDED / "faulty.replay"}


@pytest.fixture
def guest(tmp_path):
    made = Guest(tmp_path)
    for match_id, recorded in RECORDED.items():
        named = tmp_path / "recorded" / f"{match_id}.replay"
        named.parent.mkdir(exist_ok=True)
        shutil.copyfile(recorded, named)
        pass_on(named, tmp_path)
    yield made
    made.client.close()


def begin_from(guest, match_id, step, seat, level="random"):
    form = {"step": str(step), "seat": str(seat), "level": level}
    answer = guest.post(f"/play/from/{match_id}", form)
    assert answer.status_code == 303, answer.text
    guest.path = answer.headers["location"]
    return guest.seats.get(guest.path.rpartition("/")[2])


# fmt: off
STEPS = [
    # match, step, seat, why
    ("m1", 0,  1, "the deal"),
    ("m1", 5,  0, "the middle of a hand"),
    ("m1", 12, 2, "the end of a hand, after which the next is dealt"),
    ("m2", 9,  1, "after moves that the fallback made for a bot"),
]
# fmt: on


@pytest.mark.parametrize(("match", "step", "seat", "why"), STEPS, ids=[row[3] for row in STEPS])
def test_a_person_plays_on_with_the_same_cards_and_moves(guest, match, step, seat, why):
    steps = list(play_back(Replay.open(RECORDED[match])))
    begun = begin_from(guest, match, step, seat)
    seen = begun.match.moments[: step + 1]
    assert [moment.view for moment in seen] == [s.view(Seat(seat)) for s in steps[: step + 1]]
    heard = [s.events_for(Seat(seat)) for s in steps[: step + 1]]
    assert [moment.events for moment in seen] == [tuple(e.event for e in sent) for sent in heard]
    assert not any(moment.faults for moment in seen)
    assert "Your turn" in guest.page()
    play_on(guest, random.Random(step))
    assert begun.match.outcome.ending is Ending.COMPLETED
    assert verify_file(begun.match.replay).ok
    again = list(play_back(Replay.open(begun.match.replay)))
    assert [s.state for s in again[: step + 1]] == [s.state for s in steps[: step + 1]]


def test_the_form_names_the_seats_and_the_step(guest):
    page = guest.get("/play/from/m1?step=12.1&seat=2").text
    assert "play on from step 12," in page
    assert re.search(r'name="seat" value="2" checked', page)
    assert not re.search(r'name="seat" value="0" checked', page)


# fmt: off
REFUSED = [
    ({"step": "36", "seat": "0", "level": "random"}, "No move follows", "the last step"),
    ({"step": "99", "seat": "0", "level": "random"}, "No move follows", "no step"),
    ({"step": "-1", "seat": "0", "level": "random"}, "Choose a step",   "no number"),
    ({"step": "5",  "seat": "3", "level": "random"}, "Choose a seat",   "a seat that the match does not have"),
    ({"step": "5",  "seat": "0", "level": "divine"}, "opponent",        "no level"),
]
# fmt: on


@pytest.mark.parametrize(("form", "text", "why"), REFUSED, ids=[row[2] for row in REFUSED])
def test_a_form_is_refused(guest, form, text, why):
    answer = guest.post("/play/from/m1", form)
    assert answer.status_code == 400
    assert text in answer.text


@pytest.mark.parametrize("path", ["from/m9", "from/..", "from/.m1"])
def test_this_process_continues_no_match_that_was_not_passed_on(guest, path):
    assert guest.get(f"/play/{path}").status_code == 404


def test_a_persons_own_match_can_be_continued(guest):
    seat = guest.sit("abstrac")
    play_on(guest, random.Random(1))
    answer = guest.get(f"/play/m/{seat.match.match_id}/what-if?step=3")
    assert answer.headers["location"] == f"/play/from/{seat.match.match_id}?step=3"
    assert begin_from(guest, seat.match.match_id, 3, 0).match.outcome is None


def test_a_match_in_play_cannot_be_continued(guest):
    seat = guest.sit("abstrac")
    assert guest.get(f"/play/from/{seat.match.match_id}").status_code == 404


class NoSeats:
    """The process of people's seats, which is not asked."""

    path, secret = "", ""


@pytest.fixture
def pages(built, tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(built[0], folder)
    # The replay of a sealed match, as a worker may have left it.
    sealed = replay_path(folder / "replays", built[1]["sealed"])
    shutil.copyfile(RECORDED["m1"], sealed)
    web = Web(folder)
    client = Client(application(web, play=NoSeats()))
    yield client, folder, built[1]["sealed"]
    client.close()
    web.close()


def test_pages_pass_on_public_matches_alone(pages):
    client, folder, sealed = pages
    for match_id in (sealed, "gone", "live"):
        answer = client.get(f"/m/{match_id}/what-if?step=5", follow_redirects=False)
        assert answer.status_code == 404
    assert not passed_on_folder(people_folder(folder)).exists()
    answer = client.get("/m/m1/what-if?step=5&seat=2", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (302, "/play/from/m1?step=5&seat=2")
    assert [path.name for path in passed_on_folder(people_folder(folder)).iterdir()] == [
        "m1.replay"
    ]


def test_a_replay_that_vanishes_while_the_oldest_are_removed_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(passed_on, "MOST", 1)
    (folder := passed_on_folder(tmp_path)).mkdir(parents=True)
    (folder / "vanished.replay").symlink_to("nowhere")  # is listed, and has no status
    pass_on(RECORDED["m1"], tmp_path)
    assert [path.name for path in folder.iterdir()] == [RECORDED["m1"].name]


def test_the_page_of_a_hand_leads_there_from_its_step(built):
    with site(built[0]) as (client, _):
        page = client.get("/m/m1/seat-2/2?step=13").text
    assert 'href="../../../m/m1/what-if?step=13&amp;seat=2"' in page


def test_the_end_of_a_match_cannot_be_continued():
    replay = Replay.open(RECORDED["m1"])
    with pytest.raises(NotYourMove, match="No move follows"):
        ContinuedMatch.of(replay, 36)
