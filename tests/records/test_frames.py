"""A match as pictures: where a hand ends there are two, and each eye has what was told to it."""

import pytest

from arena.games.catalogue import game_by_id
from arena.games.contract import Seat
from arena.pictures import Viewer, scenes_of
from arena.records.frames import viewer_frames
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.referee.spec import FaultKind
from arena.referee.terms import TimeControl
from tests.pictures.matches import played
from tests.records.matches import ILLEGAL, LATE, PLAY, Bot, record


@pytest.fixture(scope="module")
def replay(tmp_path_factory):
    """Democracy among three, one of whom makes an illegal move and then a late one."""
    bots = [Bot(0), Bot(1, (PLAY, ILLEGAL, PLAY, LATE)), Bot(2)]
    folder, roomy = tmp_path_factory.mktemp("frames"), TimeControl(move_ms=2000)
    return Replay.open(record(folder, "democracy", bots, {"hands": 3}, time_control=roomy))


def seen(replay, eyes):
    return list(
        viewer_frames(play_back(replay), eyes, replay.spec().terms.options, len(replay.names))
    )


def test_the_end_of_a_hand_and_the_deal_after_it_are_two_pictures(replay):
    labels = [frame.label for frame in seen(replay, Viewer.SPECTATOR)]
    assert labels == [
        *map(str, range(13)), "12.1", *map(str, range(13, 25)), "24.1", *map(str, range(25, 37)),
    ]  # fmt: skip


def test_a_hand_is_that_of_its_pictures(replay):
    hands = {frame.label: frame.hand for frame in seen(replay, Viewer.ALL)}
    assert (hands["0"], hands["12"], hands["12.1"], hands["24"], hands["36"]) == (0, 0, 1, 1, 2)


def test_all_eyes_have_the_same_steps(replay):
    """So that one may change eyes where one is."""
    expected = [frame.label for frame in seen(replay, Viewer.ALL)]
    for eyes in (Viewer.SPECTATOR, Seat(0), Seat(1), Seat(2)):
        assert [frame.label for frame in seen(replay, eyes)] == expected


def test_every_event_is_in_one_frame(replay):
    for eyes in (Viewer.SPECTATOR, Seat(1)):
        seat = None if isinstance(eyes, Viewer) else eyes
        told = [told.event for step in play_back(replay) for told in step.events_for(seat)]
        assert [event for frame in seen(replay, eyes) for event in frame.events] == told


def test_an_eye_has_the_views_of_its_viewer_and_no_others(replay):
    for frame in seen(replay, Seat(1)):
        assert set(frame.perspective.seat_views) == {Seat(1)}
        assert frame.perspective.view == frame.perspective.seat_views[Seat(1)]
    for frame in seen(replay, Viewer.SPECTATOR):
        assert frame.perspective.seat_views == {}
        assert frame.perspective.view.held == ()
    assert all(set(frame.perspective.seat_views) == {0, 1, 2} for frame in seen(replay, Viewer.ALL))


def test_a_new_hand_remembers_nothing_of_the_one_before(replay):
    ends = scenes_of(game_by_id("democracy")).HAND_ENDS
    for frame in seen(replay, Viewer.ALL):
        ended = [event for event in frame.perspective.events if isinstance(event, ends)]
        assert len(ended) == frame.ends_hand


def test_faults_are_said_where_they_happened(replay):
    wrong = [frame for frame in seen(replay, Viewer.SPECTATOR) if frame.fault_sentences()]
    kinds = [
        decision.fault for frame in wrong for decision in frame.step.decisions if decision.fault
    ]
    assert [frame.label for frame in wrong] == ["2", "4"]
    assert kinds == [FaultKind.ILLEGAL, FaultKind.TIMEOUT]


def test_a_hidden_step_is_shown_as_hidden():
    """Loo tells nobody that a flush was not shown; who held knows it."""
    options, found = played("loo", 5)
    quiet = next(step for step in found[1:] if not step.events and step.decisions)
    (decision,) = quiet.decisions
    said = {
        eyes: next(b for b in viewer_frames(found, eyes, options, 5) if b.step is quiet).sentences()
        for eyes in (decision.seat, Viewer.SPECTATOR)
    }
    assert "".join(map(str, said[decision.seat][0][1:])).strip() == "shows nothing."
    assert "which is not shown" in str(said[Viewer.SPECTATOR])
