"""Draws the emblem of a game: the arrangement of its cards, in a few strokes.

Cards are centred at a position in a field of 54 by 38 units; the style sheet has the colours.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from arena.web.trees import Element, element

_PIPS: Final = {
    "s": "M0-3.4C.7-1.6 3.2-.3 3.2 1.5c0 1.2-1.6 1.9-2.5.9l.5 1.6h-2.4l.5-1.6c-.9 1-2.5.3-2.5-.9C-3.2-.3-.7-1.6 0-3.4z",
    "h": "M0 3.4C-.8 1.6-3.2.4-3.2-1.5c0-1.9 2.5-2.4 3.2-.6.7-1.8 3.2-1.3 3.2.6C3.2.4.8 1.6 0 3.4z",
    "d": "M0-3.6 2.6 0 0 3.6-2.6 0z",
    "c": "M0-3.4a1.6 1.6 0 0 1 1.3 2.6 1.6 1.6 0 1 1-.9 2.6l.6 1.8h-2l.6-1.8a1.6 1.6 0 1 1-.9-2.6A1.6 1.6 0 0 1 0-3.4z",
}
"""The shape of each suit around its middle."""
_CLASSES: Final = {"s": "s", "h": "h", "d": "d", "c": "cl"}
BACK, WRONG = "k", "w"


def _card(x: float, y: float, suit: str = "", turn: int = 0, css: str = "c") -> Element:
    pip = element("path", _CLASSES[suit], d=_PIPS[suit]) if suit else None
    face = element("rect", css, x="-5.5", y="-7.5", width="11", height="15", rx="1.4")
    return element("g", "", face, pip, transform=f"translate({x:g} {y:g}) rotate({turn})")


def _row(suits: str, y: float, step: float = 10.5, first: float | None = None) -> list[Element]:
    """Cards beside each other; centred unless the place of the first is given."""
    left = 31 - (len(suits) - 1) * step / 2 if first is None else first
    return [_card(left + at * step, y, suit) for at, suit in enumerate(suits)]


def _small(y: float, suits: str, left: float | None = None) -> list[Element]:
    """Return a row of small cards; a `-` is a free place."""
    drawn = []
    for at, suit in enumerate(suits):
        x = (31 - (len(suits) - 1) * 4.4 if left is None else left) + at * 8.8
        css = "g" if suit == "-" else "c"
        face = element("rect", css, x="-3.7", y="-5", width="7.4", height="10", rx="1")
        pip = None
        if suit != "-":
            pip = element("path", _CLASSES[suit], d=_PIPS[suit], transform="scale(.72)")
        drawn.append(element("g", "", face, pip, transform=f"translate({x:g} {y:g})"))
    return drawn


def _chips(*places: tuple[float, float]) -> list[Element]:
    return [element("circle", "chipx", cx=f"{x:g}", cy=f"{y:g}", r="3.4") for x, y in places]


def _frame(x: float, width: float) -> Element:
    box = {"x": f"{x:g}", "y": "12.5", "width": f"{width:g}", "height": "19", "rx": "2.5"}
    return element("rect", "y", **box)


_GAMES: Final[dict[str, Sequence[Element]]] = {
    "arlington": [*(_card(16 + 6 * at, 20 + 2 * (at != 1), "h", -16 + 12 * at) for at in range(3)), _card(45, 22, css=BACK)],
    "jam": [_card(20, 18, "h", -8), _card(26, 18, "d", 4), _card(38, 27, "s", -6), _card(44, 27, "c", 6)],
    "abstrac": [*_row("hsdch", 22), _frame(34.6, 22.6)],
    "abstrac_fiftytwo": [*_row("hsdch", 15), *_row("sdc", 32)],
    "abstrac_suit": [*_row("ssss", 22), _frame(29.5, 22)],
    "abstrac_unfettered": [_card(12, 22, "d"), *_row("cc", 22, 5, 24), *_row("hhh", 22, 4.5, 41)],
    "democracy": [_card(15, 15, "s"), _card(31, 13, "h"), _card(47, 15, "d"), _card(31, 31, "c")],
    "soko": [_card(11, 22, css=BACK), *_row("hhhh", 22, 9.5, 23)],
    "oklahoma_rummy": [*_row("hsd", 15, 8, 13), *_row("cccc", 30, 8, 25)],
    "chinese_poker": [*_small(9, "hsd"), *_small(22, "scdhs"), *_small(35, "ddddd")],
    "open_face_chinese_poker": [*_small(9, "hs-", 13.4), *_small(22, "scdh-", 13.4), *_small(35, "ddd--", 13.4)],
    "pineapple": [_card(18, 21, "h", -14), _card(28, 19, "s"), _card(38, 21, "d", 14), *_chips((52, 32))],
    "crazy_pineapple": [_card(16, 22, "h", -14), _card(25, 20, "s"), _card(43, 25, "d", 28, WRONG), *_chips((54, 13))],
    "crazy_pineapple_hi_lo": [_card(18, 18, "s", -10), _card(27, 18, "s", 8), *_chips((44, 12), (44, 31)), element("path", "y", d="M38 22h13")],
    "eleusis": [*_row("hshds", 14), _card(20.5, 32, "c", css=WRONG), _card(41.5, 32, "d", css=WRONG)],
    "eleusis_express": [*_row("hshd", 14), _card(25.7, 32, "c", css=WRONG)],
    "klaberjass": [_card(24, 23, "d", -12), _card(31, 21, "d"), _card(38, 23, "d", 12), _card(48, 23, "s")],
    "sixty_six": [_card(22, 21, "h", -7), _card(31, 21, "h", 7), _card(47, 27, turn=90, css=BACK), _card(46, 20, "s")],
    "loo": [_card(18, 20, "s", -14), _card(25, 18, "d", -2), _card(32, 20, "c", 10), *_chips((46, 15), (52, 24), (45, 31))],
}  # fmt: skip


_BOX: Final = "4 3.2 54 37.6"


def _drawn(game: str) -> Sequence[Element]:
    return element("rect", "f", width="62", height="44"), *_GAMES.get(game, ())


@cache
def emblem(game: str) -> Element:
    """Return the emblem of a game; an empty table for a game that this arena does not have."""
    return element("svg", "emblem", *_drawn(game), viewBox=_BOX, aria_hidden="true")


@cache
def symbols() -> Element:
    """Return the emblems of all games as symbols, for pages that a script changes; `emblem_use` shows one."""
    return element(
        "svg",
        "sprite",
        *(
            element("symbol", "", element("g", "emblem", *_drawn(game)), id=_id(game), viewBox=_BOX)
            for game in _GAMES
        ),
        aria_hidden="true",
    )


@cache
def emblem_use(game: str) -> Element:
    """Return the emblem of a game on a page that has `symbols`."""
    return element("svg", "emblem", element("use", "", href=f"#{_id(game)}"), aria_hidden="true")


def _id(game: str) -> str:
    return f"emblem-{game}"
