"""A match that its limit of hands ended says so wherever its result is told."""

import io
import json

import pytest
from rich.console import Console

from arena.cli.terminal.playback import Playback, print_all
from arena.cli.terminal.screen import Screen
from arena.cli.terminal.why import print_diagnosis
from arena.pictures import Viewer
from arena.records.diagnosis import diagnose
from arena.records.export import export_lines
from arena.records.frames import viewer_frames
from arena.records.phrases import ENDED_BY_LIMIT
from arena.records.playback import play_back
from arena.records.read import Replay
from tests.records.matches import record


@pytest.fixture(
    scope="module",
    params=[({"hands": 0, "max_hands": 1}, True), ({"hands": 1}, False)],
    ids=["a race that its limit ends", "a fixed number of hands"],
)
def match(request, tmp_path_factory):
    options, limited = request.param
    folder = tmp_path_factory.mktemp("limit")
    return Replay.open(record(folder, "abstrac", options=options)), limited


def printed(draw):
    out = io.StringIO()
    draw(Console(file=out, width=200))
    return out.getvalue()


def test_its_last_picture_and_its_last_sentence(match):
    replay, limited = match
    *_, before, last = viewer_frames(
        play_back(replay), Viewer.SPECTATOR, replay.spec().terms.options, 2
    )
    assert ((ENDED_BY_LIMIT,) in last.sentences()) is limited
    assert ((ENDED_BY_LIMIT,) in last.scene().banner) is limited
    assert (ENDED_BY_LIMIT,) not in (*before.sentences(), *before.scene().banner)


def test_why(match):
    replay, limited = match
    text = printed(lambda console: print_diagnosis(diagnose(replay, 0), console))
    assert (ENDED_BY_LIMIT in text) is limited


def test_a_replay_in_the_terminal(match):
    replay, limited = match
    playback = Playback.of(replay)

    def draw(console):
        print_all(Screen(replay, Viewer.ALL, console, {}), playback, playback.steps)

    assert (ENDED_BY_LIMIT in printed(draw)) is limited


def test_the_result_for_programs(match):
    replay, limited = match
    *_, result = export_lines(replay)
    assert json.loads(result)["ended_by_limit"] is limited
