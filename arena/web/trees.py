"""Elements of pictures as values, which become HTML on the server and nodes in the browser's script.

A step of the script is equal to that of the server. Only the tags and attributes of two lists are allowed, which the
script has too. Plots, which only the server writes, have a few more. None of them can load or run anything.
A tree that only the server writes may also have HTML of a template (`Markup`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final, TypeAlias

from markupsafe import Markup

# fmt: off
TAGS: Final = frozenset(
    (
        "a", "b", "bdi", "circle", "div", "g", "h2", "h3", "li", "ol", "p", "path", "progress", "rect", "span",
        "strong", "svg", "table", "tbody", "td", "th", "thead", "time", "tr", "ul", "use",
    )
)
ATTRIBUTES: Final = frozenset(
    (
        "aria-current", "aria-hidden", "aria-label", "class", "cx", "cy", "d", "data-key", "datetime", "height", "href",
        "id", "max", "r", "role", "rx", "scope", "tabindex", "title", "transform", "value", "viewBox", "width", "x", "y",
    )
)
_TAGS: Final = TAGS | frozenset(("button", "line", "polyline", "symbol", "text"))
"""With those of plots and of moves of a seat, which only the server writes."""
_ATTRIBUTES: Final = ATTRIBUTES | frozenset(
    (
        "aria-disabled", "aria-pressed", "fill", "lengthAdjust", "name", "points", "preserveAspectRatio", "stroke",
        "stroke-dasharray", "stroke-width", "text-anchor", "textLength", "type", "x1", "x2", "y1", "y2",
    )
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Element:
    """A tag, its attributes, and its children."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple["Tree", ...] = ()

    def __post_init__(self) -> None:
        if self.tag not in _TAGS or not _ATTRIBUTES.issuperset(self.attributes):
            unknown = {self.tag} - _TAGS or set(self.attributes) - _ATTRIBUTES
            raise ValueError(f"a picture has no {', '.join(sorted(unknown))}")


Tree: TypeAlias = Element | str


def element(tag: str, css: str = "", *children: Tree | None, **attributes: str) -> Element:
    """Make an element. Underscores in attribute names become hyphens; None children are dropped."""
    named = {"class": css} if css else {}
    for name, value in attributes.items():
        named[name.rstrip("_").replace("_", "-")] = value
    return Element(tag, named, tuple(child for child in children if child is not None))


def html(tree: Tree) -> str:
    """Return the tree as HTML; `Markup` of a template is HTML already."""
    if isinstance(tree, Markup):
        return tree
    if isinstance(tree, str):
        return escape(tree, quote=False)
    attributes = "".join([f' {name}="{escape(value)}"' for name, value in tree.attributes.items()])
    inner = "".join([html(child) for child in tree.children])
    return f"<{tree.tag}{attributes}>{inner}</{tree.tag}>"


def listed(tree: Tree) -> Any:
    """Return the tree as lists for JSON: `[tag, {attributes}, children…]`."""
    if isinstance(tree, str):
        return tree
    return [tree.tag, dict(tree.attributes), *map(listed, tree.children)]
