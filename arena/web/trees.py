"""Elements of a page as values, written as HTML or as JSON for the browser's script.

Both come from one value, so a step that the script builds equals the one that
the server would have sent. Tags and attributes are those of two lists, which the
script has too: nothing else can be built. What only the server writes has some more,
none of which can load or run anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final, TypeAlias

# fmt: off
TAGS: Final = frozenset(
    (
        "a", "b", "bdi", "div", "h2", "h3", "li", "ol", "p", "progress", "span", "strong", "svg",
        "table", "tbody", "td", "th", "thead", "tr", "ul", "use",
    )
)
ATTRIBUTES: Final = frozenset(
    (
        "aria-current", "aria-hidden", "aria-label", "class", "data-key", "href", "id",
        "max", "role", "scope", "tabindex", "value",
    )
)
PAGE_TAGS: Final = TAGS | frozenset(
    (
        "caption", "circle", "code", "dd", "details", "dl", "dt", "em", "figcaption", "figure",
        "footer", "g", "h1", "header", "line", "main", "nav", "path", "polyline", "pre", "rect",
        "section", "small", "summary", "text", "time", "title",
    )
)
"""Those that a page may have which no script builds: headings, tables' captions, plots."""
PAGE_ATTRIBUTES: Final = ATTRIBUTES | frozenset(
    (
        "aria-labelledby", "aria-live", "colspan", "cx", "cy", "d", "data-clock", "data-feed", "data-over",
        "datetime", "download", "height", "hidden", "lang", "points", "r", "rel",
        "text-anchor", "title", "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
    )
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Element:
    """A tag, its attributes, and what is in it."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple["Tree", ...] = ()

    def __post_init__(self) -> None:
        if self.tag not in PAGE_TAGS or not PAGE_ATTRIBUTES.issuperset(self.attributes):
            unknown = {self.tag} - PAGE_TAGS or set(self.attributes) - PAGE_ATTRIBUTES
            raise ValueError(f"a page has no {', '.join(sorted(unknown))}")


Tree: TypeAlias = Element | str


def element(tag: str, css: str = "", *children: Tree | None, **attributes: str) -> Element:
    """An element; underscores in names of attributes stand for hyphens, None is no child."""
    named = {"class": css} if css else {}
    for name, value in attributes.items():
        named[name.rstrip("_").replace("_", "-")] = value
    return Element(tag, named, tuple(child for child in children if child is not None))


def html(tree: Tree) -> str:
    """The tree as HTML."""
    if isinstance(tree, str):
        return escape(tree, quote=False)
    attributes = "".join([f' {name}="{escape(value)}"' for name, value in tree.attributes.items()])
    inner = "".join([html(child) for child in tree.children])
    return f"<{tree.tag}{attributes}>{inner}</{tree.tag}>"


def listed(tree: Tree) -> Any:
    """The tree as lists for JSON: `[tag, {attributes}, children…]`."""
    if isinstance(tree, str):
        return tree
    return [tree.tag, dict(tree.attributes), *map(listed, tree.children)]
