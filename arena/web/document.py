"""The frame of every page: head, the five links, and what stands between.

A page's links are relative and name files, `../bots/ann.html`, so the bytes that are
served are those that open from a disk.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from typing import Final
from urllib.parse import quote

from arena.web.trees import Element, Tree, element, html

STATIC: Final = resources.files("arena.web").joinpath("static")

POLICY: Final = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
"""What a page may do; `file:` stands for the page's own folder on a disk."""

SITE: Final = "Card Arena"
"""What the site calls itself."""
SECTIONS: Final = (
    ("Live", "live"),
    ("Tables", "tables"),
    ("Bots", "bots"),
    ("Games", "games"),
    ("Fair deals", "fair"),
)
"""The five links at the head of a page."""

MATCH_KEYS: Final = (
    "→ ← a step on, back · Home End first, last · PgUp PgDn hand before, next · space play, pause",
    (
        "f F next fault, fault before · c costliest hand · a all hands · s spectator · 0 1 2 … that "
        "seat's eyes · ? keys"
    ),
)
"""What keys do on a match's page, in two lines."""

ASSETS: Final = ("arena.css", "viewer.js", "live.js", "site.js")
_DIGITS: Final = 12


@cache
def asset(name: str) -> tuple[str, bytes]:
    """A style sheet or script: its name with the hash of what is in it, and what is in it."""
    body = STATIC.joinpath(name).read_bytes()
    stem, _, kind = name.rpartition(".")
    return f"{stem}-{hashlib.sha256(body).hexdigest()[:_DIGITS]}.{kind}", body


@cache
def sprite() -> str:
    """The shapes of suits and courts, which stand in every page with cards."""
    return STATIC.joinpath("sprite.svg").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page stands in its site."""

    path: str
    """Of the page, without its ending: `m/3f9a/all/1`; empty for one that is no part of a site."""

    def to(self, path: str, ending: str = ".html") -> str:
        """A link to another page of the site, by its path."""
        return "../" * self.path.count("/") + quote(path, safe="/~") + ending

    def static(self, name: str) -> str:
        """A link to a style sheet or script."""
        return self.to(f"static/{asset(name)[0]}", "")


def document(
    main: Element,
    *,
    title: str,
    place: Place | None = None,
    scripts: tuple[str, ...] = (),
    after: str = "",
    with_cards: bool = False,
) -> str:
    """A whole page.

    Args:
      main: What is on it.
      title: Its name in the browser.
      place: Where it stands in a site; None for a page of its own, whose style sheet lies beside it.
      scripts: Its scripts, of `ASSETS`.
      after: What follows, as HTML.
      with_cards: Whether cards may be drawn on it.
    """

    def link(name: str) -> str:
        return name if place is None else place.static(name)

    head = "" if place is None else html(_header(place))
    return _DOCUMENT.format(
        title=escape(title),
        policy=escape(POLICY),
        style=escape(link("arena.css")),
        scripts="".join(
            f'\n<script defer src="{escape(link(each))}"></script>' for each in scripts
        ),
        sprite=sprite() if with_cards else "",
        header=head,
        main=html(main),
        after=after,
    )


def page_keys() -> str:
    """What keys do on pages that show no hand, as HTML: it opens without a script as well."""
    return _PAGE_KEYS.format(lines="".join(f"<p>{escape(line)}</p>" for line in MATCH_KEYS))


_PAGE_KEYS: Final = """\
<details class="help" id="help">
<summary>Keys</summary>
<p>? these lines · 1 to 5 the links at the top · ← → newer and older page of a list</p>
<p>On the page of a match:</p>
{lines}
<p class="keys" id="switch" hidden><label><input type="checkbox" id="keys" checked> keys</label></p>
</details>
"""


def _header(place: Place) -> Element:
    here = place.path.partition("/")[0]
    of = {"t": "tables"}.get(here, here)
    links: list[Tree] = [
        element(
            "a",
            "",
            words,
            href=place.to(path),
            **({"aria_current": "page"} if path == of else {}),
        )
        for words, path in SECTIONS
    ]
    home = element("a", "home", SITE, href=place.to("index"))
    return element("header", "top", home, element("nav", "", *links, aria_label="pages"))


_DOCUMENT: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="stylesheet" href="{style}">{scripts}
</head>
<body>
{sprite}{header}
<main>
{main}
</main>
{after}</body>
</html>
"""
