"""Pictures of every game: one viewer's views and events in, a scene out.

A module for each family of games offers five names, all of them pure:

    scene(eye) -> Scene
    close(view, told, seat) -> View
    ENDS: the classes of events that end a hand
    WORDS: for every class of events what is said of it
    QUIET: the same for moves of which nothing may be told, to follow the name of who made them

**What a scene may use.** An `Eye` and nothing else. It holds views and events
that the rules made for one viewer, so what is hidden from the viewer cannot be
drawn; no scene gets a state, a pack, or a replay. It may call the rules' own
pure functions (what a set scores, what a hand is called) on what it was given,
and never computes a score by itself: where a score needs more than the view
holds, the event that scores says its parts.

**What a scene says.** Whose turn it is (`active`), what was just done (the
trick, the bubble, the marked card), who is ahead (`score`), and at a hand's end
why it was scored so: `banner` has a sentence for each reason, and the seats'
facts the figures. Names of seats stand as `Name`, for whoever draws to fill in.

**A hand's end.** The rules settle a hand and deal the next in one step, so no
view shows its last trick or its showdown. A step that tells one of `ENDS` is
two pictures. `close` makes the view of the first: the view before the step with
the step's events folded in, for each view by what its seat was told, so that it
cannot show more than was told; `seat` is whose view it is, None the spectator's. The second is the view after the step, and
its eye was told what came after the end.

**Keys.** A zone's key is the same at every step, and unique within its seat or
within the centre; `aside` is nobody's.

Docs: `docs/watching.md`.
"""

from arena.scenes.catalogue import Scenes, scenes_of
from arena.scenes.eye import Eye, Eyes, Viewer
from arena.scenes.sentences import sentence
from arena.scenes.vocabulary import Scene

__all__ = ["Eye", "Eyes", "Scene", "Scenes", "Viewer", "scenes_of", "sentence"]
