"""What a hand's end shows without scrolling: why it was scored so, and one's own seat."""

import pytest

from arena.games.contract import Seat
from tests.web.chromium import Tab
from tests.web.pages import page, write

PHONE, DESKTOP = (390, 844), (1280, 800)
SEEN = """(name) => {
  const found = document.querySelector(name).getBoundingClientRect();
  return found.bottom - document.querySelector(".bar").getBoundingClientRect().top;
}"""
"""How far the foot of something is below the fold, in pixels: not at all where it is negative."""
CUT = 2.0
"""Pixels of a seat's padding that may be cut."""

# fmt: off
FOLDS = [
    # game, seats, screen, what is seen whole, why it might not be
    ("open_face_chinese_poker", 4, PHONE,   ".own",    "six pairs settle"),
    ("chinese_poker",           4, PHONE,   ".own",    "six pairs settle"),
    ("loo",                     5, PHONE,   ".own",    "four other seats in two rows"),
    ("loo",                     6, PHONE,   ".own",    "five other seats in two rows"),
    ("democracy",               6, PHONE,   ".own",    "five other seats in two rows"),
    ("klaberjass",              2, PHONE,   ".own",    "two seats below each other"),
    ("oklahoma_rummy",          4, PHONE,   ".banner", "melds of four"),
    ("oklahoma_rummy",          4, DESKTOP, ".banner", "melds of four"),
    ("eleusis",                 4, DESKTOP, ".banner", "a long line"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game_id", "seats", "screen", "part", "why"),
    FOLDS,
    ids=[f"{row[0]} for {row[1]}: {row[4]} at {row[2][0]} px" for row in FOLDS],
)
def test_a_hands_end_shows_it(browser, game_id, seats, screen, part, why, tmp_path):
    drawn = page(game_id, seats, Seat(0), hand=1)
    at = next(at for at, step in enumerate(drawn.steps) if step.ends_hand)
    width, height = screen
    with Tab(browser, viewport={"width": width, "height": height}) as opened:
        opened.tab.goto(write(tmp_path, drawn, at).as_uri())
        assert opened.tab.evaluate(SEEN, part) <= CUT
        # With a hand before and one after, the buttons stay in one line.
        tops = "[...document.querySelectorAll('.buttons > *')].filter((each) => each.offsetHeight)"
        rows = opened.tab.evaluate(f"new Set({tops}.map((each) => each.offsetTop >> 5)).size")
        assert rows == 1
