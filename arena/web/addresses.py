"""Paths of pages, names in paths, and links between pages.

A path has no leading slash and no suffix: `bots/ann`. Links are relative and name files
(`../bots/ann.html`), so a served page is equal to its exported file.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from arena.games.contract import Seat
from arena.pictures import AnyViewer, Viewer
from arena.web.assets import asset

EMBEDDED: Final = "embed/"
"""The prefix of the paths of pages that are embedded in pages of other sites."""
_KEPT: Final = re.compile(rb"[A-Za-z0-9_-]")
_CODED: Final = re.compile(r"~([0-9A-F]{2})")
_VIEWER: Final = re.compile(
    "all|spectator|seat-([0-9])"
)  # each has one name: pages of matches are kept by it


class NoSuchPage(Exception):
    """A page does not exist. The text says why."""

    def __init__(self, text: str, listed: str = "") -> None:
        """`listed` is the path of a list of existing pages."""
        super().__init__(text)
        self.listed = listed


# Names in paths.


def slug(name: str) -> str:
    """Return a name as part of a path and of a file name.

    Letters, digits, `-` and `_` stay; every other byte becomes `~` and two hexadecimal digits. A
    slug has no dot, because filters and page numbers of lists follow a dot.
    """
    return "".join(
        chr(byte) if _KEPT.match(bytes([byte])) else f"~{byte:02X}" for byte in name.encode()
    )


def unslug(text: str) -> str:
    """Return the name of a slug. A text without codes is returned unchanged.

    Raises `NoSuchPage` if the text is no slug.
    """
    raw = _CODED.sub(lambda coded: chr(int(coded[1], 16)), text.encode().decode("latin-1"))
    try:
        return raw.encode("latin-1").decode("utf-8")
    except ValueError:
        raise NoSuchPage(f"{text!r} is no name") from None


# Pages of a match.


def viewer_named(name: str, seats: int) -> AnyViewer | None:
    """Return the viewer of a path: `all`, `spectator`, `seat-0` …; None if the match has no such viewer."""
    match = _VIEWER.fullmatch(name)
    if match is None:
        return None
    if match[1] is None:
        return Viewer(name)
    return Seat(int(match[1])) if int(match[1]) < seats else None


def viewer_name(viewer: AnyViewer) -> str:
    """Return the name of a viewer in paths."""
    return viewer.value if isinstance(viewer, Viewer) else f"seat-{viewer}"


def viewer_label(viewer: AnyViewer, names: Sequence[str]) -> str:
    """Return the text of a link to a viewer's page."""
    if isinstance(viewer, Viewer):
        return "All hands" if viewer is Viewer.ALL else "Spectator"
    return f"{viewer} · {names[viewer]}"


def all_viewers(seats: int) -> tuple[AnyViewer, ...]:
    """Return all viewers of a match with this number of seats."""
    return (Viewer.ALL, Viewer.SPECTATOR, *(Seat(seat) for seat in range(seats)))


def match_path(match_id: str) -> str:
    """Return the path of a match: of its file in an export; the server redirects it to the page of a hand."""
    return f"m/{slug(match_id)}"


def match_query(viewer: AnyViewer, hand: int, step: str = "") -> str:
    """Return the query after the path of a match that shows a viewer and a hand, from 0, or one of its steps."""
    query = f"?viewer={viewer_name(viewer)}&hand={hand + 1}"
    return f"{query}&step={step}" if step else query


PLAYED: Final = match_query(Viewer.SPECTATOR, 0) + "&play=1"
"""The query after the path of a match that shows it as it was played."""


def hand_path(match_id: str, viewer: AnyViewer = Viewer.ALL, hand: int = 0) -> str:
    """Return the path of the served page of a hand. `hand` counts from 0; the path counts from 1."""
    return f"m/{match_id}/{viewer_name(viewer)}/{hand + 1}"


@dataclass(frozen=True, slots=True)
class Links:
    """Links from one page of a site to other pages."""

    path: str
    """The path of the page that has the links."""
    absolute: bool = False
    """Whether links begin with a slash, as on error pages, which any address can show."""
    exported: bool = False
    """Whether the page is a file, without forms, tables to play at, and pages of owners."""
    address: str = ""
    """The address of the site, such as `https://arena.example`; empty if it is unknown."""

    def page(self, path: str, ending: str = ".html") -> str:
        up = "/" if self.absolute else "../" * self.path.count("/")
        return up + quote(path, safe="/~") + ending

    @property
    def canonical(self) -> str:
        """The one address of this page, for search engines and previews; empty if they must not list it."""
        if self.absolute or self.path.startswith("play/s/"):
            return ""
        return self.outside(self.path.removeprefix(EMBEDDED))

    @property
    def embedded(self) -> bool:
        """Return whether the page is embedded in a page of another site."""
        return self.path.startswith(EMBEDDED)

    def outside(self, path: str, ending: str = ".html") -> str:
        """Return a link that other sites can follow if the address of the site is known."""
        whole = f"{self.address}/{quote(path, safe='/~')}{ending}"
        return whole if self.address else self.page(path, ending)

    def asset(self, name: str) -> str:
        """Return a link to a style sheet or script."""
        return self.page(f"static/{asset(name)[0]}", "")

    @property
    def section(self) -> str:
        """The path of the section in the header that this page belongs to."""
        here = self.path.partition("/")[0]
        name = here.partition(".")[0]
        return {"standings": "competitions", "live": "matches", "m": "matches"}.get(name, name)


def rules_link(links: Links, game: str) -> str:
    """Return a link to the rules of a game."""
    return links.page(f"games/{slug(game)}") + "#rules"
