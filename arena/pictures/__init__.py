"""Scenes of every game: they turn the views and events of one viewer into a picture.

The module of a family has the name of the family and contains:

    scene(perspective) -> Scene
    close(view, events, seat) -> View
    HAND_ENDS: the classes of events that end a hand
    SENTENCES: for every class of events, the sentence that describes it; for moves that no event describes, the words after the name of the seat
    ASKS, MOVES: what a person may do in each phase, and the words of every class of moves
        (`arena.pictures.choices`, which has further tables)

**Input.** A scene is made from a `Perspective` only, without a state, a pack or a replay. The rules made
its views and events for one viewer, so hidden cards cannot be drawn. A scene may call pure functions of
the rules, such as the value of a set or the name of a hand. It never computes a score: if the view does
not contain the parts of a score, the event that scores does.

**Content.** A scene shows the seat to act (`active`), the last action (the trick, the bubble, the marked
card), the scores (`score`), and at the end of a hand the reasons of its scores: `banner` has a sentence
for each reason, and the facts of the seats have the numbers. Names of seats are `Name` parts, which the
renderer fills in.

**End of a hand.** The rules score a hand and deal the next one in the same step, so no view
shows the last trick or the showdown. A step with one of `HAND_ENDS` is drawn as two pictures.
`close` makes the view of the first picture: it applies the events of the step to the view before the step.
`events` are those that the owner of the view may see; `seat` is the owner, or None for a spectator. The
second picture shows the view after the step, and its perspective has the events after the end.

**Keys.** A zone has the same key at every step, unique within its seat or within the centre.

See `docs/watching.md`.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from arena.games.contract import Event, Seat, View
from arena.games.game import Game
from arena.pictures.choices import Asks, MoveWords
from arena.pictures.sentences import Sentences, sentence
from arena.pictures.viewer import AnyViewer, Perspective, Viewer
from arena.pictures.vocabulary import Scene

__all__ = [
    "AnyViewer",
    "Perspective",
    "Scene",
    "Scenes",
    "Viewer",
    "hand_ends",
    "scenes_of",
    "sentence",
]


class Scenes(Protocol):
    """The functions and tables of a module of scenes, see `arena.pictures`."""

    HAND_ENDS: tuple[type, ...]
    SENTENCES: Sentences
    ASKS: Asks
    MOVES: MoveWords
    scene: Callable[[Perspective], Scene]
    close: Callable[[View, Sequence[Event], Seat | None], View]


def hand_ends(events: Sequence[Event], scenes: Scenes) -> list[int]:
    """Return the numbers of events, from 1, that end a hand."""
    return [at for at, event in enumerate(events, 1) if isinstance(event, scenes.HAND_ENDS)]


def scenes_of(game: Game) -> Scenes:
    """Return the scenes of a game's family."""
    return _scenes(game.family)


@cache
def _scenes(family: str) -> Scenes:
    return cast("Scenes", import_module(f"arena.pictures.{family}"))
