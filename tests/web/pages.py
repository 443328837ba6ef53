"""Pages of played matches, as they are written to a disk."""

import re

from arena.games.contract import Seat
from arena.pictures import Viewer
from arena.records.frames import viewer_frames
from arena.web.assets import asset
from arena.web.pages.hand import HandLinks, HandPage, MatchHeading
from arena.web.steps import steps_of
from tests.pictures.matches import played

NAMES = ("ann", "bob", "cec", "dan", "eve", "fay", "gus", "hal", "ian", "jo")
BANK_S = 60.0
SERVED_ALONE = re.compile(
    rb'<form .*?</form>\n|<li><a href="/play/".*?</li>|<a [^>]*href="/(me|play)\b.*?</a>\n?|<link rel="alternate".*?>\n'
    rb'|<section class="[^"]*served">.*?</section>\n|<p class="served">.*?</p>|<ul class="choices served".*?</ul>\n|<a class="glimpse".*?</a>'
    rb'|<p class="actions"><a [^>]*href="/me".*?</p>\n|<a [^>]*\?competition=.*?</a>|<a [^>]*live\.html">Live</a>',
    re.DOTALL,
)
"""Forms and links that lead nowhere in files, and pictures that a worker draws for a list."""


def steps(game_id, seats, viewer, names=NAMES):
    options, frames = played(game_id, seats)
    return list(
        steps_of(viewer_frames(frames, viewer, options, seats), viewer, names[:seats], BANK_S)
    )


def page(game_id, seats, viewer, hand=0, names=NAMES, begun="22 November 2026"):
    """The page of a hand, and what links it needs."""
    drawn = steps(game_id, seats, viewer, names)
    of_hand = [step for step in drawn if step.hand == hand]
    about = MatchHeading(
        game_id, "3f9a", names[:seats], begun, 0, drawn[-1].hand + 1, "played to the end"
    )
    offered = (Viewer.ALL, Viewer.SPECTATOR, *(Seat(seat) for seat in range(seats)))
    return HandPage(about, viewer, offered, hand, of_hand)


def address(viewer, hand):
    whose = viewer.value if isinstance(viewer, Viewer) else f"seat-{viewer}"
    return f"{whose}-{hand + 1}.html"


LINKS = HandLinks(address, "rules.html")


def write(folder, drawn, at=0):
    """Write a page and what it needs into a folder; the page's file."""
    for name in ("arena.css", "viewer.js"):
        (folder / name).write_bytes(asset(name)[1])
    file = folder / address(drawn.viewer, drawn.hand)
    file.write_text(drawn.html(LINKS, at), "utf-8")
    return file


def as_exported(body):
    """A served page as it is in an export."""
    return SERVED_ALONE.sub(b"", body)
