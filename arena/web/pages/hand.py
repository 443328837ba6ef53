"""The page of one hand of a match for one viewer, with all steps.

The page loads a style sheet and a script, and no
further data. Without the script it shows one step and the log of the hand; with it, all steps. The file of
a match (`arena.web.match_file`) has all hands and viewers, and needs the script.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.pictures import AnyViewer, Viewer
from arena.web.addresses import Links, hand_path, viewer_label
from arena.web.rendering import game_title, render
from arena.web.steps import Step, packed_steps

if TYPE_CHECKING:  # the module replays matches, and the process of watchers must not load it
    from arena.web.pages.match_result import MatchResult


@dataclass(frozen=True, slots=True)
class MatchHeading:
    """The heading of a match's pages."""

    game: str
    """The id of the game."""
    match_id: str
    names: Sequence[str]
    """The names of the bots, by seat."""
    begun: str
    ended_unix_ms: int
    hands: int
    """The number of hands that have pages."""
    result: str
    """The result of the match, or its score so far, in a sentence."""
    problem: str = ""
    """Why the replay has no further steps; empty if it is complete."""

    @property
    def title(self) -> str:
        """The game and the bots."""
        return f"{game_title(self.game)}: {' – '.join(self.names)}"


@dataclass(frozen=True, slots=True)
class HandLinks:
    """The links of a hand's page."""

    page: Callable[[AnyViewer, int], str]
    """Returns the link to the page of a viewer and a hand, from 0."""
    rules: str
    site: Links | None = None
    """The links to the other pages of its site; None for a page outside of a site."""


@dataclass(frozen=True, slots=True)
class LiveState:
    """The data with which the page of a match in play follows it."""

    feed: str
    """The path of its feed."""
    number: int
    """The number of the newest frame that the page shows."""
    over: str
    """The path of its replay, when it has ended."""
    clock: tuple[object, ...] | None
    """The running clock, as in the feed."""
    hands_open: bool
    earlier: Sequence[tuple[int, str]] = ()
    """The earlier hands that the page has, from 1, each with the label of its first step."""


@dataclass(frozen=True, slots=True)
class HandPage:
    """The page of one hand for one viewer."""

    heading: MatchHeading
    viewer: AnyViewer
    offered: Sequence[AnyViewer]
    """The viewers that the page links to."""
    hand: int
    """The number of the hand, from 0."""
    steps: Sequence[Step] = ()
    """The steps of this hand."""
    costliest: int | None = None
    """The hand, from 0, in which a bot lost most; None if there is none."""
    result: "MatchResult | None" = None
    """The result below the pictures; None on pages outside of a site."""
    packed: str = ""
    """The steps of all hands and viewers, if the page is the file of a match: then it has no `steps`."""
    without_script: Sequence[Sequence[Step]] = ()
    """With `packed`, the steps of each hand, for readers without scripts."""
    live: LiveState | None = None
    """The data for following the match; None if it has ended."""

    def html(self, links: HandLinks, at: int = 0) -> str:
        """Return the page, with the picture of step `at` of the hand."""
        heading, hand = self.heading, self.hand
        preview, path = "", f"previews/{hand_path(heading.match_id, self.viewer, hand)}"
        if links.site is not None and self.steps and self.live is None:
            preview = links.site.outside(path, f".png?step={self.steps[at].label}")
        which = "All hands" if self.packed else f"Hand {hand + 1}"
        about = f"{heading.title}. {which} of {heading.hands}, {heading.begun}: every decision, step by step."
        return render(
            "hand.html",
            links.site,
            title=heading.title if self.live is None else f"{heading.title}, live",
            description=about if self.live is None else f"{heading.title}, in play.",
            heading=heading,
            preview=preview,
            moving=path,
            hand=hand + 1,
            seat_query="" if isinstance(self.viewer, Viewer) else f"&seat={self.viewer}",
            rules=links.rules,
            viewers=[
                (
                    viewer_label(viewer, heading.names),
                    links.page(viewer, hand),
                    viewer == self.viewer,
                )
                for viewer in self.offered
            ],
            hands=[links.page(self.viewer, number) for number in range(heading.hands)],
            costliest=links.page(self.viewer, self.costliest)
            if self.costliest not in (None, hand)
            else "",
            steps=self.steps,
            at=at,
            data="" if self.packed else packed_steps(self.steps, at),
            packed=self.packed,
            without_script=self.without_script,
            result=self.result,
            live=self.live,
        )
