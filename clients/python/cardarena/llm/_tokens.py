"""Estimates tokens without the tokenizer of any model."""

import re
from typing import Final

_PIECE: Final = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]")


def tokens(text: str) -> int:
    """Return about how many tokens a text has.

    Six letters in a row, three digits in a row and every other visible character count as one token.
    """
    return sum(1 for _ in _PIECE.finditer(text))
