"""A replay on the whole terminal: what every key leads to, and what is always in sight."""

import io
import re

import pytest

from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.pictures import picture
from arena.cli.terminal.playback import Playback
from arena.cli.terminal.viewer import LEGEND, FullScreen, viewing, watch
from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.pictures import Viewer
from arena.records.frames import viewer_frames
from arena.records.read import Replay
from arena.referee.terms import TimeControl
from tests.pictures.looks import cards_in
from tests.pictures.matches import played
from tests.records.matches import ILLEGAL, LATE, PLAY, Bot, noted, record
from tests.rows import slow_unless

RIGHT, LEFT, UP, DOWN = "\x1b[C", "\x1b[D", "\x1b[A", "\x1b[B"
PAGE_DOWN, PAGE_UP, HOME, END = "\x1b[6~", "\x1b[5~", "\x1b[H", "\x1b[F"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("viewer")


@pytest.fixture(scope="module")
def replay(folder):
    """Democracy among three, one of whom makes an illegal move and then a late one."""
    bots = [Bot(seat, note=f"thought {seat}") for seat in range(3)]
    bots[1] = Bot(1, (PLAY, ILLEGAL, PLAY, LATE), note="thought 1")
    roomy = TimeControl(move_ms=2000)
    return Replay.open(record(folder, "democracy", bots, {"hands": 3}, time_control=roomy))


@pytest.fixture(scope="module")
def playback(replay):
    return Playback.of(replay)


# fmt: off
WALKS = [
    ([],                          ["0"],                   "it begins with the deal"),
    ([RIGHT, " ", "\r", "n"],     ["0", "1", "2", "3", "4"], "arrow, space, Enter and n go on"),
    ([RIGHT, LEFT, LEFT, "p"],    ["0", "1", "0", "0", "0"], "back, but not past the beginning"),
    ([PAGE_DOWN, PAGE_DOWN],      ["0", "12.1", "24.1"],   "to where the next hand is dealt"),
    ([END, PAGE_UP, PAGE_UP],     ["0", "36", "12.1", "0"], "and to where the one before was"),
    ([END, RIGHT, HOME],          ["0", "36", "36", "0"],  "not past the end, and back to the beginning"),
    (["f", "f", "f", "F"],        ["0", "2", "4", "4", "2"], "to the next fault, and the one before"),
    (["x", "\x1b[Z", "²", "9"],   ["0"] * 5,               "a key that means nothing changes nothing"),
    ([RIGHT, "q", RIGHT],         ["0", "1", "1"],         "q ends it"),
]
# fmt: on


@pytest.mark.parametrize(("keys", "labels", "why"), WALKS, ids=[row[2] for row in WALKS])
def test_keys(keys, labels, why, replay, playback):
    shown = viewing(replay, playback, Viewer.ALL)
    seen = [shown.frame.label]
    for key in keys:
        if shown.over:
            break
        shown = shown.after(key)
        seen.append(shown.frame.label)
    assert seen == labels


EYES = [
    ("a", Viewer.ALL, "a: all hands"),
    ("s", Viewer.SPECTATOR, "s: the spectator"),
    ("1", Seat(1), "a number: the seat"),
    ("5", Viewer.ALL, "no such seat: as before"),
]


@pytest.mark.parametrize(("key", "eyes", "why"), EYES, ids=[row[2] for row in EYES])
def test_eyes_are_changed_where_one_is(key, eyes, why, replay, playback):
    shown = viewing(replay, playback, Viewer.ALL, step=5).after(key)
    assert (shown.viewer, shown.frame.label) == (eyes, "5")


def screen_of(replay, shown, size=(100, 40), notes=None, problem=""):
    """What stands on the screen, line by line."""
    console = PlainConsole(width=size[0], height=size[1], file=io.StringIO(), highlight=False)
    whole = FullScreen("Democracy", replay.names, "result: ann +3", notes or {}, problem=problem)
    console.print(whole.drawn(shown), height=size[1])
    return console.file.getvalue().splitlines()


def test_the_sentence_and_the_keys_are_always_in_sight(replay, playback):
    shown = viewing(replay, playback, Viewer.ALL)
    for _ in range(40):
        lines = screen_of(replay, shown, (80, 24))
        assert len(lines) == 24
        assert f"step {shown.frame.label} of 36" in lines[0]
        assert lines[19].strip(), "the step's sentence"
        assert lines[23].rstrip() == LEGEND
        shown = shown.after(RIGHT)


@pytest.mark.parametrize(
    ("step", "problem", "shown"),
    [(0, "", False), (35, "", False), (36, "", True), (36, "it is cut off", False)],
    ids=["the first", "the last but one", "the last", "the last of a damaged replay"],
)
def test_the_result_is_told_at_the_last_step(step, problem, shown, replay, playback):
    at = viewing(replay, playback, Viewer.ALL, step=step)
    heading = screen_of(replay, at, problem=problem)[0]
    assert ("result: ann +3" in heading, problem in heading) == (shown, True)


def test_a_picture_that_is_too_high_is_scrolled(replay, playback):
    shown = viewing(replay, playback, Viewer.ALL)
    top = screen_of(replay, shown, (80, 14))
    lower = screen_of(replay, shown.after(DOWN), (80, 14))
    assert top[0] == lower[0]
    assert top[1:9] != lower[1:9]
    assert screen_of(replay, shown.after(DOWN).after(UP), (80, 14)) == top


def test_a_fault_is_shown_with_its_fallback_move(replay, playback):
    shown = viewing(replay, playback, Viewer.SPECTATOR).after("f")
    said = " ".join(" ".join(screen_of(replay, shown)).split())
    assert "made an illegal move (F-ILLEGAL): the fallback is played for it." in said


def test_notes_are_for_the_eyes_that_they_were_given_for(replay, playback, folder):
    notes = {Seat(1): noted(folder, replay, Seat(1))}
    mine = viewing(replay, playback, Seat(1), step=1)
    assert "thought 1" in "\n".join(screen_of(replay, mine, notes=notes))
    for key in ("a", "s", "0", "2"):
        assert "thought" not in "\n".join(screen_of(replay, mine.after(key), notes=notes))


def test_it_is_drawn_until_the_viewer_quits(replay, playback):
    keys = iter([RIGHT, "s", "q", RIGHT])
    out = io.StringIO()
    console = PlainConsole(width=80, height=24, file=out, force_terminal=True, highlight=False)
    whole = FullScreen("Democracy", replay.names, "")
    watch(viewing(replay, playback, Viewer.ALL), whole, console, lambda: next(keys))
    assert next(keys) == RIGHT, "nothing is read after q"
    assert out.getvalue().count("step 1 of") >= 2
    assert "\x1b[?1049h" in out.getvalue(), "on a screen of its own"
    left = out.getvalue()[-40:]
    assert "\x1b[?25h" in left, "the cursor is back"
    assert "\x1b[?1049l" in left, "and so is what stood there before"


@pytest.mark.parametrize("stop", [EOFError, KeyboardInterrupt])
def test_it_ends_where_no_key_comes_any_more(stop, replay, playback):
    def read():
        raise stop

    console = PlainConsole(width=80, height=24, file=io.StringIO(), force_terminal=True)
    watch(viewing(replay, playback, Viewer.ALL), FullScreen("", replay.names, ""), console, read)


def test_what_bots_call_themselves_cannot_take_over_the_screen(replay, playback):
    console = PlainConsole(width=100, height=40, file=io.StringIO(), highlight=False)
    hostile = ("[bold]\x1b[2J", "\N{RIGHT-TO-LEFT OVERRIDE}bob", "a\nb")
    whole = FullScreen("Democracy", hostile, "")
    console.print(whole.drawn(viewing(replay, playback, Viewer.ALL)), height=40)
    text = console.file.getvalue()
    assert "[bold]\N{REPLACEMENT CHARACTER}[2J" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\N{RIGHT-TO-LEFT OVERRIDE}]", text)


SYMBOLS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


@pytest.mark.parametrize(
    "game", slow_unless(lambda game: "eleusis" not in game.id, GAMES), ids=lambda game: game.id
)
def test_every_card_of_a_scene_is_drawn(game):
    seats = game.seats[0]
    options, frames = played(game.id, seats)
    shown = list(viewer_frames(frames, Viewer.ALL, options, seats))
    for beat in shown[:: max(1, len(shown) // 12)]:
        console = PlainConsole(width=160, file=io.StringIO(), highlight=False)
        names = [f"bot{seat}" for seat in range(seats)]
        scene = beat.scene()
        console.print(picture(scene, names, None, {}))
        text = console.file.getvalue()
        for code in cards_in((scene.seats, scene.centre)):
            assert ("Jk" if code == "Jk" else code[0] + SYMBOLS[code[1]]) in text, beat.label
