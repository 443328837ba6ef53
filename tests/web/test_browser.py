"""The viewer in a real browser: it builds what the server would have sent, and complains of nothing."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.scenes import Viewer
from arena.web.trees import html
from tests.rows import slow_unless
from tests.web.chromium import Tab
from tests.web.pages import page, write

WALK = Path(__file__).with_name("walk.js").read_text("utf-8").partition("\n")[2].rstrip(";\n")
EVERY_GAME = pytest.mark.parametrize(
    "game_id", slow_unless(lambda game_id: game_id == "klaberjass", [each.id for each in GAMES])
)
ONE_SEAT = Seat(0)


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


def walked(browser, folder, drawn):
    """What each step looks like in the browser, and what its console said."""
    with Tab(browser) as opened:
        opened.tab.goto(write(folder, drawn).as_uri())
        return opened.tab.evaluate(WALK), opened.said


@EVERY_GAME
@pytest.mark.parametrize("eyes", [Viewer.ALL, ONE_SEAT], ids=["all", "a seat"])
def test_every_step_is_what_the_server_would_send(browser, game_id, eyes, tmp_path):
    seats = next(game.seats[0] for game in GAMES if game.id == game_id)
    drawn = page(game_id, seats, eyes)
    seen, console = walked(browser, tmp_path, drawn)
    assert console == []
    assert len(seen) == len(drawn.steps)
    for step, (picture, words) in zip(drawn.steps, seen, strict=True):
        assert Parsed(picture).found == Parsed(html(step.table)).found, step.label
        assert Parsed(words).found == Parsed(html(step.words)).found, step.label


def test_the_address_says_which_step_is_shown(browser, tmp_path):
    drawn = page("klaberjass", 2, Viewer.ALL)
    file = write(tmp_path, drawn)
    step = drawn.steps[-1]
    assert step is not drawn.steps[0]
    with Tab(browser) as opened:
        opened.tab.goto(f"{file.as_uri()}?step={step.label}")
        assert opened.tab.locator("#where").inner_text().startswith(f"step {step.label} of ")
        assert opened.said == []


HOSTILE = ("<img src=x onerror=alert(1)>", '"><script>alert(2)</script>')


def test_a_name_with_markup_is_text(browser, tmp_path):
    seen, console = walked(browser, tmp_path, page("klaberjass", 2, Viewer.ALL, names=HOSTILE))
    assert console == []
    for picture, _ in seen:
        tags = [each[0] for each in Parsed(picture).found if isinstance(each, tuple)]
        assert "img" not in tags
        assert "script" not in tags
        assert set(HOSTILE) <= set(Parsed(picture).found)
