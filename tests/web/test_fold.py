"""What a hand's end shows without scrolling: why it was scored so, and one's own seat."""

import pytest

from arena.games.contract import Seat
from arena.pictures import Viewer
from tests.web.pages import page, write

PHONE, SMALL, DESKTOP = (390, 844), (900, 800), (1280, 800)
SEEN = """(name) => {
  const found = document.querySelector(name).getBoundingClientRect();
  return found.bottom - document.querySelector(".bar").getBoundingClientRect().top;
}"""
"""How far the foot of something is below the fold, in pixels: not at all where it is negative."""
HEAD, HAND = ".own .head", ".own .zone.fan"
"""Of one's own seat: whose it is and its score; its cards, if it has any."""
TURN = ".seat.active .head"
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
    ("oklahoma_rummy",          4, PHONE,   HAND,      "melds of four before it"),
    ("oklahoma_rummy",          2, SMALL,   ".own",    "melds of two below each other"),
    ("oklahoma_rummy",          4, SMALL,   HEAD,      "melds of four"),
    ("oklahoma_rummy",          4, DESKTOP, ".banner", "melds of four"),
    ("eleusis",                 4, PHONE,   HAND,      "a long line"),
    ("eleusis",                 4, DESKTOP, ".own",    "a long line"),
    ("eleusis_express",         4, PHONE,   HEAD,      "a long line and guesses"),
]
MID_HAND = [
    # game, seats, screen, why it might not be seen
    ("oklahoma_rummy",          4, PHONE,   "melds of four"),
    ("oklahoma_rummy",          4, DESKTOP, "melds of four"),
    ("eleusis",                 4, PHONE,   "a long line"),
    ("eleusis",                 4, DESKTOP, "a long line"),
    ("eleusis_express",         4, PHONE,   "a long line"),
    ("arlington",               4, PHONE,   "sets of four"),
    ("loo",                     6, PHONE,   "five other seats in two rows"),
    ("democracy",               6, PHONE,   "five other seats in two rows"),
    ("soko",                    6, PHONE,   "open cards of six"),
]
# fmt: on


def shown(looking, file, screen):
    """The tab, on a screen of this size, with a file."""
    tab, (width, height) = looking.tab, screen
    tab.set_viewport_size({"width": width, "height": height})
    tab.goto(file.as_uri())
    return tab


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game_id", "seats", "screen", "part", "why"),
    FOLDS,
    ids=[f"{row[0]} for {row[1]}: {row[4]} at {row[2][0]} px" for row in FOLDS],
)
def test_a_hands_end_shows_it(looking, game_id, seats, screen, part, why, tmp_path):
    drawn = page(game_id, seats, Seat(0), hand=1)
    at = next(at for at, step in enumerate(drawn.steps) if step.ends_hand)
    tab = shown(looking, write(tmp_path, drawn, at), screen)
    assert tab.evaluate(SEEN, part) <= CUT
    # With a hand before and one after, the buttons stay in one line.
    tops = "[...document.querySelectorAll('.buttons > *')].filter((each) => each.offsetHeight)"
    assert tab.evaluate(f"new Set({tops}.map((each) => each.offsetTop >> 5)).size") == 1


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 4])
def test_the_controls_cover_no_player_at_the_end_of_oklahoma_rummy(looking, seats, tmp_path):
    """All players are seen whole by a spectator, on a screen of 900 px."""
    drawn = page("oklahoma_rummy", seats, Viewer.SPECTATOR, hand=1)
    at = next(at for at, step in enumerate(drawn.steps) if step.ends_hand)
    tab = shown(looking, write(tmp_path, drawn, at), SMALL)
    for seat in range(seats):
        assert tab.evaluate(SEEN, f'.seat[aria-label^="seat {seat},"]') <= CUT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game_id", "seats", "screen", "why"),
    MID_HAND,
    ids=[f"{row[0]} for {row[1]}: {row[3]} at {row[2][0]} px" for row in MID_HAND],
)
def test_mid_hand_one_sees_whose_turn_it_is_and_ones_own_cards(
    looking, game_id, seats, screen, why, tmp_path
):
    drawn = page(game_id, seats, Seat(0), hand=1)
    # The step where most lies on the table, just before the hand ends.
    at = next(at for at, step in enumerate(drawn.steps) if step.ends_hand) - 1
    tab = shown(looking, write(tmp_path, drawn, at), screen)
    assert [tab.evaluate(SEEN, part) <= CUT for part in (HEAD, TURN)] == [True, True]
    if tab.query_selector(HAND):
        assert tab.evaluate(SEEN, HAND) <= CUT
    assert tab.evaluate("document.documentElement.scrollWidth") <= screen[0]


@pytest.mark.slow
@pytest.mark.parametrize(("game_id", "seats", "least"), [("klaberjass", 2, 84), ("loo", 5, 52)])
def test_cards_are_as_large_as_a_desktop_lets_them(looking, game_id, seats, least, tmp_path):
    drawn = page(game_id, seats, Viewer.ALL, hand=1)
    at = next(at for at, step in enumerate(drawn.steps) if step.ends_hand) // 2
    tab = shown(looking, write(tmp_path, drawn, at), (1280, 900))
    width = "document.querySelector('.seat .card').getBoundingClientRect().width"
    assert tab.evaluate(width) >= least
    assert tab.evaluate(SEEN, ".felt") <= 0


@pytest.mark.slow
def test_a_long_line_keeps_to_its_end_and_unfolds(looking, tmp_path):
    drawn = page("eleusis", 4, Seat(0), hand=1)
    at = next(at for at, step in enumerate(drawn.steps) if step.ends_hand) - 1
    last = "document.querySelector('.place:last-child').getBoundingClientRect().bottom"
    foot = "document.querySelector('.zone.line > .items').getBoundingClientRect().bottom"
    seen = "[...document.querySelectorAll('.play')].filter((each) => each.offsetHeight).length"
    tab = shown(looking, write(tmp_path, drawn, at), PHONE)
    assert tab.evaluate(f"{last} - {foot}") <= CUT
    folded = tab.evaluate(seen)
    tab.focus(".zone.line > .items")
    assert folded < tab.evaluate(seen) == tab.locator(".play").count()
    line = tab.locator(".zone.line > .items")
    assert line.evaluate("(each) => each.scrollHeight - each.clientHeight") == 0
