"""Renders the templates of `templates/`, and has the functions that they call.

Jinja2 escapes all values. Only trees, card shapes, script data and our own Markdown are inserted as HTML,
each by one function. An undefined name in a template is an error.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.games.catalogue import UnknownGame, game_by_id
from arena.records.phrases import count
from arena.referee.wire.enums import word_of
from arena.web.addresses import PLAYED, Links, hand_path, match_path, slug
from arena.web.assets import sprite
from arena.web.avatars import Avatars
from arena.web.emblems import emblem
from arena.web.names import LEVELS, seat_names
from arena.web.starter import STARTER, STARTERS
from arena.web.trees import Tree, html

TEMPLATES: Final = Path(__file__).with_name("templates")
SITE: Final = "Card Arena"
ABOUT: Final = (
    "Bots play card games against each other on deals that anyone can verify, and standings say how "
    "sure they are."
)
"""The description of pages that have none of their own."""
SECTIONS: Final = (
    ("Watch", "matches"),
    ("Competitions", "competitions"),
    ("Bots", "bots"),
    ("Games", "games"),
    ("Write a bot", "write"),
)
"""The links in the header of a page."""
POLICY: Final = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; "
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
    page = made.render(
        **{"description": "", "preview": "", "feed": "", **shown},
        canonical="" if links is None else links.canonical,
        in_site=links is not None,
        has_previews=links is not None and bool(links.address) and has_previews(),
        draws_previews=has_previews(),
        embedded=links is not None and links.embedded,
        is_served=links is not None and not links.exported,
        section=section,
        to=to,
        outside=None if links is None else links.outside,
        asset=asset,
        avatars=Avatars(),
    )
    return visible(page)


def macros(template: str) -> Any:
    """Return the macros of a template, for HTML in the middle of a tree."""
    return _environment().get_template(template).module


@functools.cache
def has_previews() -> bool:
    """Return whether the package that draws previews is installed, without loading it."""
    return find_spec("PIL") is not None


def visible(text: str) -> str:
    """Replace invisible characters of a page or a feed, which texts of bots and owners may have."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


@functools.cache
def templates_hash() -> str:
    """Return a hash of all templates, which is an input of cached pages."""
    made = hashlib.sha256()
    for template in sorted(TEMPLATES.iterdir()):
        made.update(template.read_bytes())
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
        "emblem": emblem,
        "ends": ends,
        "fault_count": _fault_count,
        "faults_per_match": faults_per_match,
        "fraction": fraction,
        "game_title": game_title,
        "hand_path": lambda match_id, hand: hand_path(match_id, hand=hand - 1),
        "match_path": match_path,
        "script_data": _script_data,
        "points": points,
        "seat_names": seat_names,
        "seconds": _seconds,
        "signed": signed,
        "skill": skill,
        "slug": slug,
        "tree": _tree,
        "utc": utc,
        "value": option_value,
        "word": word_of,
    }
    made.globals |= {
        "ABOUT": ABOUT,
        "HIDDEN_HEADING": Markup('<span class="hidden">picture</span>'),
        "LEVELS": LEVELS,
        "MATCH_KEYS": MATCH_KEYS,
        "PLAYED": PLAYED,
        "POLICY": POLICY,
        "SECTIONS": SECTIONS,
        "SITE": SITE,
        "STARTER": STARTER,
        "STARTERS": STARTERS,
        "sprite": Markup(sprite()),  # noqa: S704 - a file of this package
    }
    return made


def game_title(game_id: str) -> str:
    """Return the title of a game; its id if this arena does not have the game."""
    try:
        return game_by_id(game_id).title
    except UnknownGame:
        return game_id


def utc(unix_ms: int) -> str:
    """Return a time for pages: `2026-11-22 17:30`."""
    return f"{datetime.fromtimestamp(unix_ms / 1000, UTC):%Y-%m-%d %H:%M}" if unix_ms else ""


def fraction(points: float) -> str:
    """Points with signs for halves and quarters: `2½`."""
    whole, part = divmod(points, 1)
    sign = _FRACTIONS.get(part)
    return f"{points:g}" if sign is None else f"{int(whole) or ''}{sign}"


def ends(numbers: Sequence[int]) -> str:
    """Return the first and the last of ascending numbers: `2–4`, or `2` if there is only one."""
    return f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"


def faults_per_match(row: Mapping[str, Any]) -> float | None:
    """Return the mean number of faults a match of a row of standings; None before its first match."""
    return sum(row["faults"].values()) / row["matches"] if row["matches"] else None


def points(score: float) -> str:
    """Return a score with its sign: `+12`, `−5` or `0`."""
    return f"{score:+g}".replace("-", "−") if score else "0"


def _fault_count(faults: Iterable[Mapping[str, int]]) -> int:
    """Return the number of faults of all seats, from the numbers of each kind by seat."""
    return sum(sum(kinds.values()) for kinds in faults)


def milliseconds(ms: float) -> str:
    """Return a time of a decision: `0.31 ms`, `45 ms` or `1.2 s`."""
    if ms >= 1000:
        return _seconds(int(ms))
    return f"{ms:.{0 if ms >= 10 else 1 if ms >= 1 else 2}f}\N{NO-BREAK SPACE}ms"


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.1f}\N{NO-BREAK SPACE}s"


def signed(value: float, digits: int = 1) -> str:
    """Return a number with its sign; no minus stands before a zero."""
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")


def skill(row: Mapping[str, Any]) -> str:
    """Return a skill with its 95 % interval, both with one decimal; an interval that is not zero is not shown as zero."""
    if row["score"] is None:
        return "not ranked"
    half = row.get("half_width_95")
    return signed(row["score"]) + (
        "" if half is None else f" ± {max(half, 0.1 if half else 0):.1f}"
    )


def option_value(value: object) -> str:
    """Return the value of an option, for people."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _tree(tree: Tree) -> Markup:
    return Markup(html(tree))  # noqa: S704 - `html` escapes


def _script_data(json: str) -> Markup:
    """JSON for the content of a script element; it cannot contain the element's end."""
    return Markup(json.replace("<", "\\u003c"))  # noqa: S704 - in JSON this is the same text


def _code_spans(words: str) -> Markup:
    """Return a sentence in which text between backticks is code."""
    parts = enumerate(words.split("`"))
    return Markup().join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in parts
    )
