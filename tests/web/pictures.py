"""Contact sheets of all games: `python -m tests.web.pictures docs/pictures [GAME...]`.

A sheet shows a hand's middle and its end, with a seat's own eyes and the spectator's, on a
phone and on a desktop, light and dark: to be looked at by somebody who never saw the game.
"""

import base64
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import sync_playwright

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.scenes import Viewer
from tests.web.pages import page, steps, write

WIDTHS = (1280, 390)
HEIGHTS = {1280: 860, 390: 844}
SHOTS = [
    # eyes, at the end, scheme by width
    (Seat(0), False, {1280: "light", 390: "dark"}),
    (Seat(0), True, {1280: "dark", 390: "light"}),
    (Viewer.SPECTATOR, False, {1280: "dark", 390: "light"}),
    (Viewer.SPECTATOR, True, {1280: "light", 390: "dark"}),
]
MOST_SEATS = 4


def shots(browser, game, folder):
    """The pictures of a game, as PNG, in the order of `SHOTS` and `WIDTHS`."""
    seats = max(game.seats[0], min(game.seats[-1], MOST_SEATS))
    # The longest hand shows most.
    lengths = Counter(step.hand for step in steps(game.id, seats, Viewer.SPECTATOR))
    hand = max(lengths, key=lambda number: lengths[number])
    made = []
    for eyes, at_end, schemes in SHOTS:
        drawn = page(game.id, seats, eyes, hand)
        ends = [at for at, step in enumerate(drawn.steps) if step.ends_hand]
        at = (ends[-1] if ends else len(drawn.steps) - 1) if at_end else len(drawn.steps) * 3 // 5
        file = write(folder, drawn, at)
        for width in WIDTHS:
            context = browser.new_context(
                viewport={"width": width, "height": HEIGHTS[width]}, color_scheme=schemes[width]
            )
            tab = context.new_page()
            tab.goto(file.as_uri())
            made.append((width, tab.screenshot()))
            context.close()
    return made


def sheet(browser, pictures, target):
    """One picture of all."""

    def image(width, png):
        data = base64.b64encode(png).decode()
        return f'<img width="{width * 3 // 10}" src="data:image/png;base64,{data}">'

    tab = browser.new_page(viewport={"width": 1060, "height": 100})
    body = "".join(image(width, png) for width, png in pictures)
    tab.set_content(f'<body style="margin:4px;background:#888;line-height:0">{body}')
    tab.locator("body").screenshot(path=str(target))
    tab.close()
    if shutil.which("pngquant"):
        subprocess.run(
            ["pngquant", "--force", "--ext", ".png", "--quality", "0-50", "24", str(target)],
            check=True,
        )


def main(target, *wanted):
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path="/usr/bin/chromium")
        for game in GAMES:
            if wanted and game.id not in wanted:
                continue
            with tempfile.TemporaryDirectory() as folder:
                sheet(browser, shots(browser, game, Path(folder)), Path(target) / f"{game.id}.png")


if __name__ == "__main__":
    main(*sys.argv[1:])
