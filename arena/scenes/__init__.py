"""Scenes of every game: they turn the views and events of one viewer into a picture.

The module of a family has the name of the family and contains:

    scene(perspective) -> Scene
    close(view, events, seat) -> View
    HAND_ENDS: the classes of events that end a hand
    SENTENCES: for every class of events, the sentence that describes it; for moves that no
        event describes, what follows the name of the seat

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

from arena.scenes.catalogue import Scenes, scenes_of
from arena.scenes.sentences import sentence
from arena.scenes.viewer import AnyViewer, Perspective, Viewer
from arena.scenes.vocabulary import Scene

__all__ = ["AnyViewer", "Perspective", "Scene", "Scenes", "Viewer", "scenes_of", "sentence"]
