"""Split the text of a rule into tokens."""

import re
from enum import Enum
from typing import Final, NamedTuple

from arena.games.cel.values import RuleError


class Kind(Enum):
    """The kind of a token, as error messages name it."""

    INT = "a number"
    STRING = "a string"
    NAME = "a name"
    SIGN = "a sign"
    END = "the end of the rule"


class Token(NamedTuple):
    """A token and its index in the text; `text` of a string is its content without quotes."""

    kind: Kind
    text: str
    at: int


_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n\f]+)
      | (?P<comment>//)
      | (?P<INT>[0-9]+)
      | (?P<NAME>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<STRING>"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')
      | (?P<SIGN>&&|\|\||[=!<>]=|[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
_AFTER_INT: Final = re.compile(r"[A-Za-z0-9_.]")
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "r": "\r", "t": "\t"}


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a rule, of which the last is END.

    Raises `RuleError` at the first character that does not begin a token.
    """
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise RuleError(_why_no_token(text[at]), at)
        if match.lastgroup == "comment":
            raise RuleError("a rule has no comments", at)
        end = match.end()
        if match.lastgroup == "INT" and _AFTER_INT.match(text, end):
            raise RuleError("numbers are whole and decimal, as in 12", at)
        if match.lastgroup != "space":
            kind = Kind[match.lastgroup or ""]
            word = match.group()
            tokens.append(Token(kind, _content(word, at) if kind is Kind.STRING else word, at))
        at = end
    return [*tokens, Token(Kind.END, "", len(text))]


def _why_no_token(char: str) -> str:
    if char in "\"'":
        return "this string has no end"
    if char in "&|=":
        return f"{char!r} alone means nothing: write {char * 2}"
    return f"{char!r} is no part of the language"


def _content(quoted: str, at: int) -> str:
    def unescape(found: re.Match[str]) -> str:
        char = _ESCAPES.get(found[1])
        if char is None:
            raise RuleError(f"a string may not have the escape {found[0]}", at + 1 + found.start())
        return char

    return _ESCAPE.sub(unescape, quoted[1:-1])
