"""Renders the Markdown of the games' pages. Raw HTML is shown as text, and links without their address."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from arena.games.game import Game

_DEEPER: Final = {"h1": "h2", "h2": "h3"}
"""Headings move one level down, because the page has a title."""


def markdown(text: str) -> Markup:
    """Render a text as HTML."""
    tokens = _PARSER.parse(text)
    for at, token in enumerate(tokens):
        token.tag = _DEEPER.get(token.tag, token.tag)
        if token.type == "th_open" and not tokens[at + 1].content:
            token.tag = tokens[at + 2].tag = "td"  # the corner is no heading of a column
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704 - the parser escapes


def game_rules(game: Game) -> Markup:
    """Return the rules of a game, without their title."""
    return markdown(game.describe().removeprefix("# ").partition("\n")[2])


def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name, render in _RULES.items():
        made.add_render_rule(name, render)
    return made


def _always(text: str) -> Callable[..., str]:
    return lambda *_: text


def _code(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'


_RULES: Final[Mapping[str, Callable[..., str]]] = {
    "link_open": _always(""),  # their links lead to files of the repository
    "link_close": _always(""),
    "image": lambda _, tokens, at, *__: str(escape(tokens[at].content)),
    "table_open": _always('<div class="sheet-wrap" tabindex="0"><table class="sheet">\n'),
    "table_close": _always("</table></div>\n"),
    "fence": _code,
    "code_block": _code,
}
_PARSER: Final = _parser()
