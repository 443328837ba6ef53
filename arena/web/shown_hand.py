"""A hand of a replay in a notebook, with the pictures of the site. It needs no server and no script."""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from arena.games.contract import Seat
from arena.pictures import AnyViewer, Viewer
from arena.records.playback import Discrepancy, play_back
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged
from arena.web.assets import asset, sprite
from arena.web.avatars import Avatars
from arena.web.names import seat_names
from arena.web.steps import hand_steps
from arena.web.trees import html


@dataclass(frozen=True, slots=True)
class ShownHand:
    """A hand as HTML, which notebooks show as the value of a cell."""

    page: str
    """The whole page, such as for a file."""
    height: int

    def _repr_html_(self) -> str:
        frame = "width:100%;border:0" + f";height:{self.height}px"
        return f'<iframe sandbox style="{frame}" srcdoc="{escape(self.page)}"></iframe>'


def show(
    replay: str | os.PathLike[str] | Any,
    *,
    hand: int = 0,
    step: int | None = None,
    seat: int | None = None,
    spectator: bool = False,
    height: int = 640,
) -> ShownHand:
    """Show a hand of a match: a line for each step, which opens its picture.

    Args:
      replay: A replay file, or a result of `cardarena.local.play` that has one.
      hand: The hand, from 0; `step` chooses that of a step.
      step: The step that is open at first, as in `arena replay show`; by default the last one of
        the hand.
      seat: The seat of the viewer; by default all hands are open.
      spectator: Whether the viewer is a spectator.
      height: The height of the frame in pixels.

    Raises:
      OSError: if the file cannot be read.
      ValueError: if it is no intact replay, or has no such seat, hand or step.
    """
    path = getattr(replay, "replay", replay)
    if path is None:
        raise ValueError("the result has no replay: play with replays=FOLDER")
    try:
        played = Replay.open(Path(path))
        spec, walk = played.spec(), list(play_back(played))
    except (Damaged, Discrepancy, Unplayable) as error:
        raise ValueError(f"{path}: {error}") from error
    seats = spec.terms.seats
    if seat is not None and not 0 <= seat < seats:
        raise ValueError(f"there is no seat {seat}: the match has {seats}, from 0")
    if step is not None:
        if not 0 <= step < len(walk):
            raise ValueError(f"there is no step {step}: the replay has 0 to {len(walk) - 1}")
        hand = walk[step].next_hand if step == 0 else walk[step].hand
    viewer: AnyViewer = Viewer.SPECTATOR if spectator else Viewer.ALL
    viewer = viewer if seat is None else Seat(seat)
    names = seat_names(played.names)
    drawn = hand_steps(walk, hand, viewer, played.names, spec.terms)
    if not drawn:
        raise ValueError(f"there is no hand {hand}: the replay has 0 to {walk[-1].hand}")
    shown = drawn[-1].label if step is None else str(step)
    rows = "".join(
        f'<details name="step"{" open" if row.label == shown else ""}><summary>{row.label} '
        f'{html(row.text)}</summary><div class="picture">{html(row.table)}</div></details>'
        for row in drawn
    )
    avatars = Avatars()
    avatars.use(names)
    title = escape(f"{spec.terms.game.title}: {' – '.join(names)}, hand {hand}")
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{asset('arena.css')[1].decode()}</style></head><body>{sprite()}"
        f'<div class="page"><h1 class="match">{title}</h1>{rows}</div>{avatars.symbols()}</body></html>'
    )
    return ShownHand(page, height)
