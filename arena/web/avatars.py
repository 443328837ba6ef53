"""Draws the mark of a bot: a poker chip whose colours, spots and ring follow from the bot's name.

The name stands beside its mark, which screen readers skip. A page has each mark once, as a symbol.
"""

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from arena.results.deal_sets import bot_of
from arena.web.trees import Element, Tree, element, html

_RINGS: Final = [
    "#9b2c2c",
    "#1d5f8a",
    "#2c6e49",
    "#6b3f87",
    "#8a5a12",
    "#31507a",
    "#a04a6a",
    "#4d5b2a",
    "#2b6f73",
    "#7a4630",
    "#44403a",
    "#b05a1e",
]
_SPOTS: Final = ["#fdf6e3", "#f3c04b", "#fdf6e3", "#1c1a17", "#f0d9c0"]
_PAPER: Final = "#fdf8ec"
_INK: Final = "#221c14"


def avatar_id(name: str) -> str:
    """Return the id of a bot's symbol in a page; versions of a bot (`ann@3`) share it."""
    return f"chip-{hashlib.sha256(bot_of(name).encode()).hexdigest()[:10]}"


def avatar(name: str) -> Element:
    """Return a reference to the mark of a bot, whose page has its symbol."""
    return element(
        "svg", "avatar", element("use", "", href=f"#{avatar_id(name)}"), aria_hidden="true"
    )


class Avatars:
    """The marks that one page uses."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def mark(self, name: str) -> Markup:
        """Draw a bot's mark, and remember that the page needs its symbol."""
        self.use((name,))
        return Markup(html(avatar(name)))  # noqa: S704 - `html` escapes

    def use(self, names: Iterable[str]) -> str:
        """Remember the bots of a picture that already has marks."""
        self._names |= {avatar_id(name): name for name in names}
        return ""

    def symbols(self) -> Markup:
        """Return the symbols of all marks of the page, for its end."""
        drawn = [symbol(name) for name in self._names.values()]
        sheet = element("svg", "sprite", *drawn, aria_hidden="true")
        return Markup(html(sheet) if drawn else "")  # noqa: S704 - `html` escapes


def symbol(name: str) -> Element:
    """Return the chip of a bot. Each part of it depends on one byte of the hash of the name."""
    digest = hashlib.sha256(bot_of(name).encode()).digest()
    ring, spot = _RINGS[digest[0] % len(_RINGS)], _SPOTS[digest[1] % len(_SPOTS)]
    length = 2 * math.pi * 16.4 / (4, 5, 6, 8)[digest[2] % 4]
    share = (0.36, 0.44, 0.28)[digest[4] % 3]
    inner = (11.8, 12.6)[digest[5] % 2]
    rings: tuple[Tree | None, ...] = (
        None,
        _ring(inner - 1.8, ring, "1.1", stroke_dasharray="2.2 1.6"),
        _ring(inner - 1.6, ring, "1.4"),
        element("path", "", d="M20 9.6 30.4 20 20 30.4 9.6 20z", fill="none", stroke=ring),
    )
    spots = f"{length * share:.2f} {length * (1 - share):.2f}"
    turned = f"rotate({digest[3] % 45} 20 20)"
    letters = _initials(name)
    fit = {"textLength": "13", "lengthAdjust": "spacingAndGlyphs"} if len(letters) > 1 else {}
    return element(
        "symbol",
        "",
        element("circle", "", cx="20", cy="20", r="19.5", fill=ring),
        _ring(16.4, spot, "6.2", stroke_dasharray=spots, transform=turned),
        element("circle", "", cx="20", cy="20", r=f"{inner}", fill=_PAPER),
        rings[digest[6] % 4],
        element("text", "", letters, x="20", y="25.2", text_anchor="middle", fill=_INK, **fit),
        id=avatar_id(name),
        viewBox="0 0 40 40",
    )


def chip_of(name: str) -> tuple[str, str, str]:
    """Return the two colours and the letters of a bot's mark, for pictures of other formats."""
    digest = hashlib.sha256(bot_of(name).encode()).digest()
    return _RINGS[digest[0] % len(_RINGS)], _SPOTS[digest[1] % len(_SPOTS)], _initials(name)


def _ring(radius: float, colour: str, width: str, **more: str) -> Element:
    return element(
        "circle", "", cx="20", cy="20", r=f"{radius:.1f}", fill="none", stroke=colour,
        stroke_width=width, **more,
    )  # fmt: skip


def _initials(name: str) -> str:
    words = re.findall(r"[^\W_]+", bot_of(name)) or ["?"]
    return "".join(word[0] for word in words[:2]).upper()
