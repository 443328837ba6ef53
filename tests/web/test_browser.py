"""The viewer in a real browser: it builds what the server would have sent, and complains of nothing."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.pictures import Viewer
from arena.records.frames import viewer_frames
from arena.web.addresses import all_viewers, match_query
from arena.web.match_file import write_match
from arena.web.pages.finished_match import played_through
from arena.web.steps import steps_of
from arena.web.trees import html
from tests.web import house
from tests.web.chromium import Tab
from tests.web.pages import page, write

pytestmark = pytest.mark.slow

WALK = Path(__file__).with_name("walk.js").read_text("utf-8").partition("\n")[2].rstrip(";\n")
COUNT_MOVES = """window.moved = 0;
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...how) { window.moved += this.matches(".card"); return animate.apply(this, how); };"""
VIEWERS = (Viewer.ALL, Seat(0))
# The script builds any viewer's pictures alike, so one viewer for each game is enough.
EVERY_GAME = [(game.id, VIEWERS[number % 2]) for number, game in enumerate(GAMES)]


class Parsed(HTMLParser):
    """HTML as a list of what stands in it, however it was escaped."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(attrs)))

    def handle_endtag(self, tag):
        self.found.append(f"/{tag}")

    def handle_data(self, data):
        self.found.append(data)


def walked(opened, folder, drawn):
    """What each step looks like in the browser, and what its console said."""
    opened.tab.goto(write(folder, drawn).as_uri())
    return opened.tab.evaluate(WALK), opened.said


@pytest.mark.parametrize(("game_id", "viewer"), EVERY_GAME, ids=[row[0] for row in EVERY_GAME])
def test_every_step_is_what_the_server_would_send(looking, game_id, viewer, tmp_path):
    seats = next(game.seats[0] for game in GAMES if game.id == game_id)
    drawn = page(game_id, seats, viewer)
    seen, console = walked(looking, tmp_path, drawn)
    assert console == []
    assert len(seen) == len(drawn.steps)
    for step, (picture, words) in zip(drawn.steps, seen, strict=True):
        assert Parsed(picture).found == Parsed(html(step.table)).found, step.label
        assert Parsed(words).found == Parsed(html(step.text)).found, step.label


def test_the_file_of_a_match_shows_what_the_server_would_send(looking, tmp_path):
    """Every step of every hand, for every viewer."""
    found = played_through(house.RECORDED / "fair.replay")
    file, seats = write_match(found, tmp_path), len(found.replay.names)
    terms, tab = found.replay.spec().terms, looking.tab
    for viewer in all_viewers(seats):
        frames = viewer_frames(found.frames, viewer, terms.options, seats)
        steps = list(
            steps_of(frames, viewer, found.replay.names, terms.time_control.bank_ms / 1000)
        )
        for hand in range(found.hands):
            own = [step for step in steps if step.hand == hand]
            tab.goto(file.as_uri() + match_query(viewer, hand, own[-1].label))
            tab.wait_for_selector("#picture .felt")
            assert tab.inner_text("#where") == f"step {own[-1].label} of {own[-1].label}"
            seen = tab.evaluate(WALK)
            rows = tab.locator("#log li").all_inner_texts()
            assert looking.said == []
            assert len(seen) == len(own) == len(rows)
            for step, (picture, words) in zip(own, seen, strict=True):
                assert Parsed(picture).found == Parsed(html(step.table)).found, step.label
                assert Parsed(words).found == Parsed(html(step.text)).found, step.label


def test_the_address_says_which_step_is_shown(browser, tmp_path):
    drawn = page("klaberjass", 2, Viewer.ALL)
    file = write(tmp_path, drawn)
    step = drawn.steps[-1]
    assert step is not drawn.steps[0]
    with Tab(browser) as opened:
        opened.tab.goto(f"{file.as_uri()}?step={step.label}")
        assert opened.tab.locator("#where").inner_text().startswith(f"step {step.label} of ")
        assert opened.said == []


def test_a_step_is_a_number_without_its_part(browser, tmp_path):
    drawn = page("sixty_six", 2, Viewer.ALL, hand=1)
    part = next(step.label for step in drawn.steps if "." in step.label)
    last = drawn.steps[-1].label.partition(".")[0]
    with Tab(browser) as opened:
        opened.tab.goto(f"{write(tmp_path, drawn).as_uri()}?step={part}")
        assert opened.tab.inner_text("#where") == f"step {part.partition('.')[0]} of {last}"


@pytest.mark.parametrize(("motion", "moves"), [("no-preference", True), ("reduce", False)])
def test_a_card_moves_where_motion_is_not_reduced(browser, tmp_path, motion, moves):
    drawn = page("klaberjass", 2, Viewer.ALL, hand=1)
    with Tab(browser, reduced_motion=motion) as opened:
        opened.tab.add_init_script(COUNT_MOVES)
        opened.tab.clock.install()
        opened.tab.goto(write(tmp_path, drawn).as_uri())
        for _ in range(3):
            opened.tab.clock.run_for(1_000)  # cards do not move where steps follow fast
            opened.tab.keyboard.press("ArrowRight")
        assert bool(opened.tab.evaluate("window.moved")) == moves


def test_a_name_in_a_sentence_is_bold(browser, tmp_path):
    """A bot may be called “first”: then “first deals” says who, and not when."""
    drawn = page("klaberjass", 2, Viewer.ALL, names=("first", "bob"))
    weight = "(name) => getComputedStyle(document.querySelector(name)).fontWeight"
    with Tab(browser, viewport={"width": 900, "height": 800}) as opened:
        opened.tab.goto(write(tmp_path, drawn).as_uri())
        assert opened.tab.inner_text("#words").startswith("A hand is dealt. first deals")
        assert [opened.tab.evaluate(weight, name) for name in ("#words .name", "#words")] == [
            opened.tab.evaluate(weight, "#log .name"),
            "400",
        ]
        assert opened.tab.evaluate(weight, "#words .name") != "400"
    assert "“first” deals" in drawn.steps[0].spoken


def test_the_points_of_a_hand_are_as_large_as_those_of_the_match(browser, tmp_path):
    size = "(name) => parseFloat(getComputedStyle(document.querySelector(name)).fontSize)"
    drawn = page("klaberjass", 2, Viewer.SPECTATOR)
    for width in (390, 900, 1280):
        with Tab(browser, viewport={"width": width, "height": 800}) as opened:
            opened.tab.goto(write(tmp_path, drawn, len(drawn.steps) // 2).as_uri())
            fact = opened.tab.locator(".seat .fact.marked").first
            assert fact.inner_text().startswith("this hand")
            hand, match = (
                opened.tab.evaluate(size, name) for name in (".seat .marked strong", ".seat .score")
            )
            assert hand == pytest.approx(match)


@pytest.mark.parametrize(("width", "seen"), [(390, True), (900, True), (1280, False)])
def test_the_caption_is_shown_where_no_list_is_beside_the_picture(browser, width, seen, tmp_path):
    drawn = page("klaberjass", 2, Viewer.ALL)
    top = "document.querySelector('.log').getBoundingClientRect().top"
    with Tab(browser, viewport={"width": width, "height": 800}) as opened:
        opened.tab.goto(write(tmp_path, drawn).as_uri())
        assert opened.tab.locator("#words").is_visible() is seen
        below = "document.querySelector('#picture').getBoundingClientRect().bottom"
        assert opened.tab.evaluate(f"{top} >= {below}") is seen


HOSTILE = ("<img src=x onerror=alert(1)>", '"><script>alert(2)</script>')


def test_a_name_with_markup_is_text(looking, tmp_path):
    seen, console = walked(looking, tmp_path, page("klaberjass", 2, Viewer.ALL, names=HOSTILE))
    assert console == []
    for picture, _ in seen:
        tags = [each[0] for each in Parsed(picture).found if isinstance(each, tuple)]
        assert "img" not in tags
        assert "script" not in tags
        assert set(HOSTILE) <= set(Parsed(picture).found)
