"""SVG elements of plots: lines, rectangles, circles, symbols and text."""

import math
from collections.abc import Sequence
from typing import Final

from arena.web.trees import Element, element

SYMBOLS: Final[Sequence[str]] = (
    "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "m-4,-4h8v8h-8Z",
    "m0,-5l5,9h-10Z",
    "m0,-5l5,5l-5,5l-5,-5Z",
)
"""Circle, square, triangle and diamond, as paths around a point."""


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> Element:
    """A straight line."""
    return element("line", css, x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}")


def polyline(points: Sequence[tuple[float, float]], css: str) -> Element:
    """A line through all points."""
    return element("polyline", css, points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points))


def rect(x: float, y: float, width: float, height: float, css: str) -> Element:
    """A rectangle by its upper left corner."""
    return element(
        "rect", css, x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}"
    )


def circle(x: float, y: float, radius: float, css: str) -> Element:
    """A circle around a point."""
    return element("circle", css, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius:.0f}")


def symbol(which: int, x: float, y: float, css: str) -> Element:
    """One of `SYMBOLS` around a point; the numbers wrap around."""
    return element("path", css, d=f"M{x:.1f},{y:.1f}{SYMBOLS[which % len(SYMBOLS)]}")


def text(x: float, y: float, content: str, anchor: str, css: str = "") -> Element:
    """Text that starts, ends or has its middle at `x`, by the `anchor` of SVG."""
    return element("text", css, content, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def round_step(spread: float, most: int) -> float:
    """The smallest of 1, 2, 5, 10 … that divides `spread` into at most `most` parts."""
    step: float = 10 ** math.floor(math.log10(spread / most))
    return next(step * by for by in (1, 2, 5, 10) if spread / (step * by) <= most)
