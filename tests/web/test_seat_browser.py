"""A person plays in a real browser: by clicks, by the keyboard alone, and without a script.

Matches are played to their end: one of each game by clicks, and one of each kind of control by the keyboard.
"""

import random
import re
import subprocess
import sys
import threading
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from arena.games.catalogue import GAMES
from tests.web.chromium import Tab, follow
from tests.web.looks import LOOKS, barriers
from tests.web.seats import length_of, wise

pytestmark = pytest.mark.slow

BUTTONS = """() => [...document.querySelectorAll("#table button:not([aria-disabled], [disabled], .hidden)")]
  .filter((button) => button.tabIndex >= 0).map((button) => [button.name, button.value, button.textContent])"""
OVER = "The match is over"
BY_WIDGET = {
    "click": "klaberjass",
    "select": "loo",
    "rows": "open_face_chinese_poker",
    "amount": "soko",
    "text": "eleusis_express",
}
MANY_BUTTONS = {"chinese_poker", "jam", "oklahoma_rummy"}
"""Games of which one hand takes 70 to 240 buttons: together as much processor time as all others."""
MOST_PRESSED = 1_500
PATIENCE_MS = 60_000
"""A page waits for the house bots, and the process of pages gives way to an arena."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the pages of an empty folder."""
    data = tmp_path_factory.mktemp("people")
    command = [sys.executable, "-m", "arena", "web", "--port", "0", "--data", str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        address = re.search(r"http://\S+/", process.stdout.readline())[0]
        threading.Thread(target=process.stdout.read, daemon=True).start()
        answered(f"{address}play/")
        yield address
        process.terminate()


def answered(address):
    """Wait for the process of the seats, which starts after that of the pages."""
    for _ in range(20):
        try:
            return urlopen(address).read()
        except HTTPError as error:
            if error.code != 502:
                raise
    raise AssertionError("the seats do not answer")


def sit(tab, site, game, seats=None):
    tab.set_default_timeout(PATIENCE_MS)
    tab.goto(f"{site}play/?game={game}")
    tab.check("input[value=random]")
    tab.check(f"input[value={length_of(game)}]")
    if seats:
        tab.select_option("#seats", str(seats))
    follow(tab, tab.get_by_role("button", name="Deal"))
    assert "/play/s/" in tab.url, tab.inner_text("main")


def pressed_by(tab):
    """Press a button with the mouse."""

    def press(name, value):
        button = f'#table button[name="{name}"][value="{value}"]:not(.hidden)'
        follow(tab, tab.locator(button).first)

    return press


def play_on(tab, draw, press):
    """Press buttons until the match is over."""
    for _ in range(MOST_PRESSED):
        if not (buttons := tab.evaluate(BUTTONS)):
            break
        name, value = wise([button[:2] for button in buttons], draw)
        if name == "say":
            tab.fill("textarea", "card.color != last.color")
        press(name, value)
    assert OVER in tab.inner_text("main")


def leave(tab):
    """Leave a match in play, which would count against the next ones."""
    follow(tab, tab.get_by_role("button", name="Leave"))


def deep_if_long(game_id):
    return pytest.mark.deep("whole matches") if game_id in MANY_BUTTONS else ()


@pytest.mark.parametrize(
    "game", [pytest.param(game.id, marks=deep_if_long(game.id)) for game in GAMES]
)
def test_a_match_is_played_by_clicks(browser, site, game):
    with Tab(browser, reduced_motion="reduce") as opened:
        sit(opened.tab, site, game)
        play_on(opened.tab, random.Random(game), pressed_by(opened.tab))
        follow(opened.tab, opened.tab.get_by_role("link", name="What each seat knew"))
        opened.tab.wait_for_selector("#picture .felt")
        assert opened.said == []


@pytest.mark.parametrize(("widget", "game"), BY_WIDGET.items(), ids=BY_WIDGET)
def test_the_keyboard_alone_is_enough(browser, site, widget, game):
    with Tab(browser, reduced_motion="reduce") as opened:
        tab = opened.tab
        sit(tab, site, game)
        assert_no_barrier(tab)

        def press(name, value):
            """Go to the button with the tabulator key, from the control that has the focus."""
            for _ in range(200):
                focused = tab.evaluate(
                    "() => [document.activeElement.name || '', document.activeElement.value || '']"
                )
                if focused == [name, value]:
                    break
                tab.keyboard.press("Tab")
            with tab.expect_navigation():
                tab.keyboard.press("Enter")

        if widget == "amount":
            wagers_by_enter(tab)
        play_on(tab, random.Random(game), press)


def assert_no_barrier(tab):
    """Axe finds nothing at the ask, with the rules open, in each scheme and at each width."""
    tab.locator("summary", has_text="The rules").click()
    for scheme, width in LOOKS:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 800})
        assert barriers(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.reload()


def wagers_by_enter(tab):
    """Enter in the field of an amount sends the amount, and no other move."""
    for _ in range(MOST_PRESSED):
        field = tab.locator("#table input[name=amount]")
        if field.count():
            break
        follow(tab, tab.locator("#table .button.move").last)
    field.focus()
    with tab.expect_navigation():
        tab.keyboard.press("Enter")
    assert re.search(
        r"guest (bets|raises to|has the lowest card and brings in)", tab.inner_text("main")
    )


def test_the_lobby_has_no_barrier(browser, site):
    with Tab(browser) as opened:
        opened.tab.goto(f"{site}play/")
        for scheme, width in LOOKS:
            opened.tab.emulate_media(color_scheme=scheme)
            opened.tab.set_viewport_size({"width": width, "height": 800})
            assert barriers(opened.tab) == []


def test_a_table_of_ten_with_its_score_pad_fits(browser, site):
    with Tab(browser, reduced_motion="reduce") as opened:
        sit(opened.tab, site, "loo", seats=10)
        for width in (320, 390, 1280):
            opened.tab.set_viewport_size({"width": width, "height": 844})
            assert opened.tab.evaluate("document.documentElement.scrollWidth") <= width
        leave(opened.tab)


def test_a_whole_match_is_played_without_a_script(browser, site):
    with Tab(browser, java_script_enabled=False) as opened:
        tab = opened.tab
        sit(tab, site, "open_face_chinese_poker")
        for _ in range(MOST_PRESSED):
            if not (place := tab.locator("#table button[name=place]")).count():
                place = tab.locator("#table button[name=row]:not([tabindex])").last
            if not place.count():
                break
            follow(tab, place)
        assert OVER in tab.inner_text("main")


def test_others_moves_are_shown_before_the_own_ask(browser, site):
    with Tab(browser) as opened:
        tab = opened.tab
        sit(tab, site, "klaberjass")
        press = pressed_by(tab)
        for _ in range(4):
            tab.wait_for_selector(
                "#table:not([hidden]) button:not([aria-disabled], [disabled], .hidden)"
            )
            assert tab.evaluate("() => document.querySelectorAll('.felt').length") == 1
            # The first one takes a suit or plays a card: passes alone would end a match of two hands.
            name, value, _ = tab.evaluate(BUTTONS)[0]
            press(name, value)
        leave(tab)
        assert opened.said == []


def test_a_page_that_is_loaded_again_comes_back_to_the_same_ask(browser, site):
    with Tab(browser, reduced_motion="reduce") as opened:
        tab = opened.tab
        sit(tab, site, "open_face_chinese_poker")
        follow(tab, tab.locator("#table button[name=row]").first)
        before = tab.inner_text("#table .rows-play")
        tab.reload()
        assert tab.locator(".pending").count() == 1
        assert tab.inner_text("#table .rows-play") == before
        follow(tab, tab.get_by_role("button", name="Undo"))
        assert tab.locator(".pending").count() == 0
        leave(tab)
