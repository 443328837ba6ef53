"""Badges: small pictures of a bot's results, for the README of its repository."""

import html
from typing import Final

MEDIA: Final = "image/svg+xml"
_LETTER: Final = 7
"""The maximal width of a letter in pixels."""
_MARGIN: Final = 6


def badge_svg(label: str, words: str) -> str:
    """Return a picture with a label and its value side by side, in the style of repository badges."""
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
