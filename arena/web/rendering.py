"""Renders the templates of `templates/`, and has the functions that they call.

Jinja2 escapes all values. Only trees, card shapes, script data and our own Markdown are inserted as HTML,
each by one function. An undefined name in a template is an error.
"""

import functools
import hashlib
import re
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.games.catalogue import UnknownGame, game_by_id
from arena.replay.phrases import count
from arena.web.addresses import PLAYED, Links, match_path, slug
from arena.web.assets import sprite
from arena.web.trees import Tree, html

TEMPLATES: Final = Path(__file__).with_name("templates")
SITE: Final = "Card Arena"
"""The name of the site."""
SECTIONS: Final = (
    ("Live", "live"),
    ("Competitions", "competitions"),
    ("Bots", "bots"),
    ("Games", "games"),
    ("Fair deals", "fair"),
)
"""The five links in the header of a page."""
POLICY: Final = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
"""The content security policy of pages; `file:` allows exported pages to load their own files."""
MATCH_KEYS: Final = (
    "→ ← a step on, back · Home End first, last · PgUp PgDn hand before, next · space play, pause",
    (
        "f F next fault, fault before · c costliest hand · a all hands · s spectator · 0 1 2 … that "
        "seat · ? keys"
    ),
)
"""The keys of a match's page, in two lines."""

_UNSEEN: Final = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Invisible characters, such as those that change the direction of text or control a terminal."""
_FRACTIONS: Final = {0.25: "¼", 0.5: "½", 0.75: "¾"}


def render(template: str, links: Links | None, **shown: Any) -> str:
    """Render a template.

    `links` is None for a page outside of a site, whose style sheet and script are in its folder.
    """
    to, asset = (None, str) if links is None else (links.page, links.asset)
    section = "" if links is None else links.section
    made = _environment().get_template(template)
    page = made.render(**shown, in_site=links is not None, section=section, to=to, asset=asset)
    return visible(page)


def visible(text: str) -> str:
    """Replace invisible characters of a page or a feed, which texts of bots and owners may have."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


@functools.cache
def templates_hash() -> str:
    """A hash of all templates, which is an input of cached pages."""
    made = hashlib.sha256()
    for each in sorted(TEMPLATES.iterdir()):
        made.update(each.read_bytes())
    return made.hexdigest()


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "code_spans": _code_spans,
        "count": count,
        "fraction": fraction,
        "game_title": game_title,
        "match_path": match_path,
        "script_data": _script_data,
        "seconds": _seconds,
        "signed": _signed,
        "slug": slug,
        "tree": _tree,
        "value": _value,
    }
    made.globals |= {
        "MATCH_KEYS": MATCH_KEYS,
        "PLAYED": PLAYED,
        "POLICY": POLICY,
        "SECTIONS": SECTIONS,
        "SITE": SITE,
        "sprite": Markup(sprite()),  # noqa: S704 - a file of this package
    }
    return made


def game_title(game_id: str) -> str:
    """The title of a game; its id if this arena does not have the game."""
    try:
        return game_by_id(game_id).title
    except UnknownGame:
        return game_id


def fraction(points: float) -> str:
    """Points with signs for halves and quarters: `2½`."""
    whole, part = divmod(points, 1)
    sign = _FRACTIONS.get(part)
    return f"{points:g}" if sign is None else f"{int(whole) or ''}{sign}"


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.1f}\N{NO-BREAK SPACE}s"


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0.0:+.2f}"  # no minus before a zero


def _value(value: object) -> str:
    """The value of an option, for people."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _tree(tree: Tree) -> Markup:
    return Markup(html(tree))  # noqa: S704 - `html` escapes


def _script_data(json: str) -> Markup:
    """JSON for the content of a script element; it cannot contain the element's end."""
    return Markup(json.replace("<", "\\u003c"))  # noqa: S704 - in JSON this is the same text


def _code_spans(words: str) -> Markup:
    """A sentence in which text between backticks is code."""
    parts = enumerate(words.split("`"))
    return Markup().join(
        Markup("<code>{}</code>").format(each) if at % 2 else escape(each) for at, each in parts
    )
