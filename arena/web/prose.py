"""Markdown of our own pages as trees; what a page may not hold becomes text."""

from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from arena.web.trees import PAGE_TAGS, Element, Tree, element

_PARSER: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_DEEPER: Final = {"h1": "h2", "h2": "h3", "h3": "h3"}
"""The page has a heading of its own."""


def prose(text: str) -> Element:
    """A text in Markdown."""
    children, _ = _nested(_PARSER.parse(text), 0)
    return element("div", "prose", *children)


def _nested(tokens: Sequence[Token], at: int) -> tuple[list[Tree], int]:
    """The trees from a token on, to the end of what holds them; and where that is."""
    found: list[Tree] = []
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.nesting < 0:
            return found, at
        if token.nesting > 0:
            inner, at = _nested(tokens, at)
            tag = _DEEPER.get(token.tag, token.tag)
            if token.hidden:
                found += inner
            elif tag == "a":
                found += inner  # pages of the games point into the repository
            elif tag == "table":
                found.append(element("div", "wide", element("table", "", *inner), tabindex="0"))
            else:
                found.append(element(tag if tag in PAGE_TAGS else "span", "", *inner))
        elif token.type == "inline":
            found += _nested(token.children or [], 0)[0]
        elif token.type in ("fence", "code_block"):
            found.append(element("pre", "", element("code", "", token.content), tabindex="0"))
        elif token.type == "code_inline":
            found.append(element("code", "", token.content))
        elif token.type in ("softbreak", "hardbreak"):
            found.append(" ")
        else:
            found.append(token.content)
    return found, at
