"""Badges: small pictures of what a bot has reached, for the README of its repository."""

import html
from typing import Final

MEDIA: Final = "image/svg+xml"
_LETTER: Final = 7
"""The width of a letter, at the most, in pixels."""
_MARGIN: Final = 6


def badge_svg(label: str, words: str) -> str:
    """A picture of a label and what is said of it, side by side, as repositories show them."""
    left, right = (len(text) * _LETTER + 2 * _MARGIN for text in (label, words))
    label, words = html.escape(label), html.escape(words)
    text = 'y="14" text-anchor="middle" font-family="sans-serif" font-size="11" fill="#fff"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img"'
        f' aria-label="{label}: {words}"><rect width="{left}" height="20" fill="#333"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="#1a6b3c"/>'
        f'<text x="{left // 2}" {text}>{label}</text>'
        f'<text x="{left + right // 2}" {text}>{words}</text></svg>\n'
    )
