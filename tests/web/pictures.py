"""A picture of each game for its page: `python -m tests.web.pictures [GAME...]`.

It shows a hand at three fifths of its length, as seat 0 sees it, and is written to `docs/games/pictures`. It needs
Chromium. `--all` writes the hand's middle and end, for seat 0 and a spectator, on a desktop and a phone, light
and dark, into a folder: a reviewer looks at these after a change of pages.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import sync_playwright

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.pictures import Viewer
from tests.goldens import PICTURES
from tests.web.pages import page, steps, write

WIDTHS = {1280: 860, 390: 844}
"""Heights of windows in pixels, by their width: a desktop and a phone."""
MOST_SEATS = 4


def drawn(game, viewer):
    """The page of a hand: the longest of its match, as it shows most."""
    seats = max(game.seats[0], min(game.seats[-1], MOST_SEATS))
    lengths = Counter(step.hand for step in steps(game.id, seats, Viewer.SPECTATOR))
    return page(game.id, seats, viewer, max(lengths, key=lambda number: lengths[number]))


def shoot(browser, file, target, width=1280, scheme="light", *, table_only=False):
    """Write a picture of a page in a window, or of the table alone."""
    size = {"width": width, "height": WIDTHS[width]}
    context = browser.new_context(viewport=size, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(file.as_uri())
    (tab.locator("#picture > *").first if table_only else tab).screenshot(path=str(target))
    context.close()


def write_picture(browser, game, folder):
    """Write the picture of a game's page."""
    shown = drawn(game, Seat(0))
    file = write(folder, shown, len(shown.steps) * 3 // 5)
    shoot(browser, file, PICTURES / f"{game.id}.png", table_only=True)


def write_all(browser, game, folder, target):
    """Write pictures of a game for a reviewer."""
    for viewer, name in ((Seat(0), "seat"), (Viewer.SPECTATOR, "spectator")):
        shown = drawn(game, viewer)
        for at, when in ((len(shown.steps) * 3 // 5, "middle"), (len(shown.steps) - 1, "end")):
            file = write(folder, shown, at)
            for width in WIDTHS:
                for scheme in ("light", "dark"):
                    name_of = f"{game.id}-{name}-{when}-{width}-{scheme}.png"
                    shoot(browser, file, target / name_of, width, scheme)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.web.pictures", description=__doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="games; all if none is named")
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="pictures for a reviewer")
    given = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as tool, tempfile.TemporaryDirectory() as folder:
        browser = tool.chromium.launch(executable_path="/usr/bin/chromium")
        for game in GAMES:
            if given.games and game.id not in given.games:
                continue
            if given.all:
                given.all.mkdir(parents=True, exist_ok=True)
                write_all(browser, game, Path(folder), given.all)
            else:
                write_picture(browser, game, Path(folder))


if __name__ == "__main__":
    main()
