"""`cardarena.replay.show`: a hand of a replay as HTML."""

import re

import pytest

from cardarena import replay
from tests.records.matches import Bot, record


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return record(tmp_path_factory.mktemp("notebook"), "jam", [Bot(0), Bot(1)], {"hands": 2})


def test_a_hand_has_a_picture_for_each_step_and_no_script(path):
    shown = replay.show(path, hand=1)
    assert shown.page.count("<details") == shown.page.count('class="picture"') > 2
    assert shown.page.count('<details name="step" open>') == 1
    assert "<script" not in shown.page
    assert not re.search(r'(?:src|href)="(?!#)', shown.page), "nothing is loaded"
    assert shown._repr_html_().startswith("<iframe sandbox ")


def test_the_step_that_is_asked_for_is_open(path):
    assert re.search(r'<details name="step" open><summary>3 ', replay.show(path, step=3).page)


def test_a_seat_sees_less_than_all(path):
    sizes = {seat: len(replay.show(path, seat=seat).page) for seat in (0, 1)}
    assert replay.show(path, seat=0).page != replay.show(path, seat=1).page
    assert max(sizes.values()) < len(replay.show(path).page)


# fmt: off
MISTAKES = [
    ({"hand": 2},  "no hand 2: the replay has 0 to 1",  "a hand that was not played"),
    ({"step": -1}, "no step -1",                        "a step below 0"),
    ({"seat": 2},  "no seat 2: the match has 2",        "a seat that there is not"),
]
# fmt: on


@pytest.mark.parametrize(("wanted", "words", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_what_there_is_not_is_said(wanted, words, why, path):
    with pytest.raises(ValueError, match=words):
        replay.show(path, **wanted)


def test_a_damaged_file_is_no_replay(path, tmp_path):
    broken = tmp_path / "broken.replay"
    broken.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="cut off"):
        replay.show(broken)
