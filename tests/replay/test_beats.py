"""A match as pictures: where a hand ends there are two, and each eye has what was told to it."""

import pytest

from arena.games.catalogue import game_by_id
from arena.games.contract import Seat
from arena.referee import FaultKind
from arena.replay.beats import beats
from arena.replay.frames import frames
from arena.replay.read import Replay
from arena.scenes import Viewer, scenes_of
from arena.terms import TimeControl
from tests.replay.matches import ILLEGAL, LATE, PLAY, Bot, record
from tests.scenes.matches import played


@pytest.fixture(scope="module")
def replay(tmp_path_factory):
    """Democracy among three, one of whom makes an illegal move and then a late one."""
    bots = [Bot(0), Bot(1, (PLAY, ILLEGAL, PLAY, LATE)), Bot(2)]
    folder, roomy = tmp_path_factory.mktemp("beats"), TimeControl(move_ms=2000)
    return Replay.open(record(folder, "democracy", bots, {"hands": 3}, time_control=roomy))


def seen(replay, eyes):
    return list(beats(frames(replay), eyes, replay.spec().terms.options, len(replay.names)))


def test_the_end_of_a_hand_and_the_deal_after_it_are_two_pictures(replay):
    labels = [beat.label for beat in seen(replay, Viewer.SPECTATOR)]
    assert labels == [
        *map(str, range(13)), "12.1", *map(str, range(13, 25)), "24.1", *map(str, range(25, 37)),
    ]  # fmt: skip


def test_a_hand_is_that_of_its_pictures(replay):
    hands = {beat.label: beat.hand for beat in seen(replay, Viewer.ALL)}
    assert (hands["0"], hands["12"], hands["12.1"], hands["24"], hands["36"]) == (0, 0, 1, 1, 2)


def test_all_eyes_have_the_same_steps(replay):
    """So that one may change eyes where one is."""
    expected = [beat.label for beat in seen(replay, Viewer.ALL)]
    for eyes in (Viewer.SPECTATOR, Seat(0), Seat(1), Seat(2)):
        assert [beat.label for beat in seen(replay, eyes)] == expected


def test_what_is_told_at_a_step_is_told_once(replay):
    for eyes in (Viewer.SPECTATOR, Seat(1)):
        seat = None if isinstance(eyes, Viewer) else eyes
        told = [told.event for frame in frames(replay) for told in frame.told_to(seat)]
        assert [event for beat in seen(replay, eyes) for event in beat.told] == told


def test_an_eye_has_the_views_of_its_viewer_and_no_others(replay):
    for beat in seen(replay, Seat(1)):
        assert set(beat.eye.own) == {Seat(1)}
        assert beat.eye.view == beat.eye.own[Seat(1)]
    for beat in seen(replay, Viewer.SPECTATOR):
        assert beat.eye.own == {}
        assert beat.eye.view.held == ()
    assert all(set(beat.eye.own) == {0, 1, 2} for beat in seen(replay, Viewer.ALL))


def test_a_new_hand_remembers_nothing_of_the_one_before(replay):
    ends = scenes_of(game_by_id("democracy")).ENDS
    for beat in seen(replay, Viewer.ALL):
        ended = [event for event in beat.eye.told if isinstance(event, ends)]
        assert len(ended) == beat.ends_hand


def test_faults_are_said_where_they_happened(replay):
    wrong = [beat for beat in seen(replay, Viewer.SPECTATOR) if beat.faults()]
    kinds = [
        decision.fault for beat in wrong for decision in beat.frame.decisions if decision.fault
    ]
    assert [beat.label for beat in wrong] == ["2", "4"]
    assert kinds == [FaultKind.ILLEGAL, FaultKind.TIMEOUT]


def test_a_step_of_which_nothing_is_told_says_so_to_others():
    """Loo tells nobody that a flush was not shown; who held knows it."""
    options, found = played("loo", 5)
    quiet = next(frame for frame in found[1:] if not frame.told and frame.decisions)
    (decision,) = quiet.decisions
    said = {
        eyes: next(b for b in beats(found, eyes, options, 5) if b.frame is quiet).words()
        for eyes in (decision.seat, Viewer.SPECTATOR)
    }
    assert "".join(map(str, said[decision.seat][0][1:])).strip() == "shows nothing."
    assert "nothing is told of it" in str(said[Viewer.SPECTATOR])
