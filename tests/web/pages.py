"""Pages of played matches, as they are written to a disk."""

from arena.games.catalogue import game_by_id
from arena.games.contract import Seat
from arena.replay.beats import beats
from arena.scenes import Viewer
from arena.web.document import STATIC
from arena.web.steps import steps_of
from arena.web.viewer import About, HandPage, Links
from tests.scenes.matches import played

NAMES = ("ann", "bob", "cec", "dan", "eve", "fay", "gus", "hal", "ian", "jo")
BANK_S = 60.0


def steps(game_id, seats, eyes, names=NAMES):
    options, frames = played(game_id, seats)
    return list(steps_of(beats(frames, eyes, options, seats), eyes, names[:seats], BANK_S))


def page(game_id, seats, eyes, hand=0, names=NAMES, begun="22 November 2026"):
    """The page of a hand, and what links it needs."""
    drawn = steps(game_id, seats, eyes, names)
    of_hand = [step for step in drawn if step.hand == hand]
    about = About(game_by_id(game_id).title, "3f9a", names[:seats], begun, "played to the end")
    offered = (Viewer.ALL, Viewer.SPECTATOR, *(Seat(seat) for seat in range(seats)))
    return HandPage(about, eyes, offered, hand, drawn[-1].hand + 1, of_hand)


def address(eyes, hand):
    whose = eyes.value if isinstance(eyes, Viewer) else f"seat-{eyes}"
    return f"{whose}-{hand + 1}.html"


LINKS = Links(address)


def write(folder, drawn, at=0):
    """Write a page and what it needs into a folder; the page's file."""
    for name in ("arena.css", "viewer.js"):
        (folder / name).write_text(STATIC.joinpath(name).read_text("utf-8"), "utf-8")
    file = folder / address(drawn.eyes, drawn.hand)
    file.write_text(drawn.html(LINKS, at), "utf-8")
    return file
