"""The page of a match: one hand, one viewer, every step.

The same page is served and written to a disk. Nothing is fetched after it but
one style sheet and one script. Without the script it is a picture of the step
that was asked for, and the hand's log; with it one goes from step to step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from arena.scenes import Eyes
from arena.web.document import MATCH_KEYS, Place, document
from arena.web.match_paths import eyes_label
from arena.web.steps import Step, pack_of
from arena.web.trees import Element, Tree, element, html


@dataclass(frozen=True, slots=True)
class About:
    """What a page says of its match beside the pictures."""

    title: str
    """The game's."""
    match_id: str
    names: Sequence[str]
    """By seat, as bots named themselves."""
    begun: str
    result: str
    """How it ended, or how it stands, in a sentence."""
    problem: str = ""
    """Why the replay goes no further than its last step."""


@dataclass(frozen=True, slots=True)
class Links:
    """Where a page finds others."""

    page: Callable[[Eyes, int], str]
    """The page of other eyes, or of another hand, counted from 0."""
    place: Place | None = None
    """Where the page stands in its site; None if it is no part of one."""


@dataclass(frozen=True, slots=True)
class HandPage:
    """One hand through somebody's eyes."""

    about: About
    eyes: Eyes
    offered: Sequence[Eyes]
    """The eyes that a viewer may choose from."""
    hand: int
    hands: int
    steps: Sequence[Step]
    """Of this hand."""
    costliest: int | None = None
    """The hand, from 0, that cost one of the bots most; None if none did."""
    below: Element | None = None
    """What stands below the pictures: how the match ended, and what to do with it."""

    def html(self, links: Links, at: int = 0) -> str:
        """The page, with the picture of step `at` of the hand."""
        title = f"{self.about.title}: {' – '.join(self.about.names)}"
        main = element(
            "div",
            "page",
            self._heading(),
            self._eyes(links),
            element("p", "problem fault", self.about.problem) if self.about.problem else None,
            element(
                "div",
                "watch",
                element("div", "picture", self.steps[at].table, id="picture"),
                self._log(links, at),
            ),
            self.below,
        )
        bar = _BAR.format(
            words=html(self.steps[at].words),
            last=len(self.steps) - 1,
            at=at,
            label=escape(self.steps[at].label),
            previous=self._turn(links, self.hand - 1, "‹ hand", "the hand before", "prev"),
            keys="".join(f"<p>{escape(line)}</p>" for line in MATCH_KEYS),
            costliest=self._to_costliest(links),
            following=self._turn(links, self.hand + 1, "hand ›", "the next hand", "next"),
            data=pack_of(self.steps, at),
        )
        return document(
            main,
            title=title,
            place=links.place,
            scripts=("viewer.js",),
            after=bar,
            with_cards=True,
        )

    def _heading(self) -> Element:
        about = self.about
        names: list[Tree] = []
        for seat, name in enumerate(about.names):
            names += [" – "] if seat else []
            names.append(element("bdi", "", name))
        return element(
            "div",
            "heading",
            element("h1", "match", f"{about.title}: ", *names),
            element(
                "p",
                "about",
                element("strong", "", f"hand {self.hand + 1} of {self.hands}"),
                f" · {about.result} · {about.begun} · match {about.match_id}",
            ),
        )

    def _eyes(self, links: Links) -> Element:
        rows = []
        for each in self.offered:
            here = {"aria_current": "page"} if each == self.eyes else {}
            address = links.page(each, self.hand)
            label = eyes_label(each, self.about.names)
            rows.append(element("li", "", element("a", "", label, href=address, **here)))
        return element("ul", "eyes", *rows, aria_label="whose eyes")

    def _log(self, links: Links, at: int) -> Element:
        rows = []
        for number, step in enumerate(self.steps):
            here = {"aria_current": "step"} if number == at else {}
            link = element("a", "", step.label, href=f"?step={step.label}")
            rows.append(element("li", "fault-row" if step.fault else "", link, step.words, **here))
        hands = []
        for hand in range(self.hands):
            here = {"aria_current": "page"} if hand == self.hand else {}
            address = links.page(self.eyes, hand)
            hands.append(element("li", "", element("a", "", str(hand + 1), href=address, **here)))
        return element(
            "div",
            "log",
            element("h2", "", f"Hand {self.hand + 1}"),
            element("ol", "rows", *rows, id="log"),
            element("h2", "", "Hands"),
            element("ul", "hands", *hands, aria_label="hands"),
        )

    def _turn(self, links: Links, hand: int, label: str, spoken: str, rel: str) -> str:
        """A link to the hand before or after, if there is one."""
        if not 0 <= hand < self.hands:
            return ""
        address = escape(links.page(self.eyes, hand))
        return (
            f'<a class="hand-turn" rel="{rel}" href="{address}" aria-label="{spoken}">{label}</a>'
        )

    def _to_costliest(self, links: Links) -> str:
        """A link to the hand that cost most, if that is another one."""
        if self.costliest in (None, self.hand):
            return ""
        address = escape(links.page(self.eyes, self.costliest or 0))
        spoken = "the hand that cost most"
        return f'<a class="hand-turn" id="costliest" href="{address}" aria-label="{spoken}">costliest</a>'


_BAR: Final = """\
<div class="bar" role="region" aria-label="steps">
<div class="help" id="help" role="region" aria-label="keys" tabindex="-1" hidden>
{keys}
</div>
<p class="words" id="words" tabindex="0">{words}</p>
<p class="hidden" id="spoken" aria-live="polite"></p>
<div class="controls" id="controls" hidden>
<input type="range" id="slider" min="0" max="{last}" value="{at}" aria-label="step">
<span id="where">step {label}</span>
<span class="buttons">
{previous}
<button type="button" id="first" aria-label="first step">|◀</button>
<button type="button" id="back" aria-label="a step back">◁</button>
<button type="button" id="play" aria-label="play">play</button>
<button type="button" id="on" aria-label="a step on">▷</button>
<button type="button" id="last" aria-label="last step">▶|</button>
<button type="button" id="fault" aria-label="next fault">fault</button>
{following}
{costliest}
<label>pace <select id="pace"><option value="200">⅕ s</option><option value="500">½ s</option>\
<option value="1000" selected>1 s</option><option value="2000">2 s</option></select></label>
<label class="keys"><input type="checkbox" id="keys" checked> keys</label>
<button type="button" id="ask" aria-label="keys" aria-controls="help" aria-expanded="false">?</button>
</span>
</div>
</div>
<script type="application/json" id="data">{data}</script>
"""
