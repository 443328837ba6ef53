"""A match as a folder of pages that open from a disk, without a server or a network."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from arena.games.contract import Seat
from arena.replay.beats import beats
from arena.replay.frames import Frame
from arena.replay.read import Replay
from arena.replay.words import result_words
from arena.scenes import Eyes, Viewer
from arena.web.document import STATIC
from arena.web.steps import steps_of
from arena.web.viewer import About, HandPage, Links

ASSETS: Final = ("arena.css", "viewer.js")


def eyes_of(seats: int) -> tuple[Eyes, ...]:
    """All eyes that a match may be seen with."""
    return (Viewer.ALL, Viewer.SPECTATOR, *(Seat(seat) for seat in range(seats)))


def file_name(eyes: Eyes, hand: int) -> str:
    """The file of a hand, from 0, as somebody sees it: `seat-1-3.html` is the third hand."""
    whose = eyes.value if isinstance(eyes, Viewer) else f"seat-{eyes}"
    return f"{whose}-{hand + 1}.html"


def write_match(
    replay: Replay,
    frames: Sequence[Frame],
    folder: Path,
    offered: Sequence[Eyes],
    problem: str = "",
) -> None:
    """Write the pages of a match for these eyes; `problem` says why it goes no further.

    Raises:
      OSError: if the folder cannot be written.
      Damaged: if the replay does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
    """
    terms = replay.spec().terms
    begun = datetime.fromtimestamp(replay.opened.start_unix_ms / 1000, UTC)
    about = About(
        terms.game.title,
        replay.opened.match_id,
        replay.names,
        f"{begun:%d %B %Y, %H:%M} UTC",
        result_words(replay),
        problem,
    )
    links = Links(file_name)
    for name in ASSETS:
        (folder / name).write_text(STATIC.joinpath(name).read_text("utf-8"), "utf-8")
    bank_s = terms.time_control.bank_ms / 1000
    for eyes in offered:
        seen = beats(frames, eyes, terms.options, terms.seats)
        steps = list(steps_of(seen, eyes, replay.names, bank_s))
        hands = steps[-1].hand + 1
        for hand in range(hands):
            of_hand = [step for step in steps if step.hand == hand]
            page = HandPage(about, eyes, offered, hand, hands, of_hand)
            (folder / file_name(eyes, hand)).write_text(page.html(links), "utf-8")
