"""Reads the move in a model's reply."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from cardarena.llm._endpoint import Failure, Kind, Reply

MAX_LISTED: Final = 64
"""The maximal number of moves that a message lists; if there are more, a spread of them is listed."""
BY_NUMBER: Final = "End with a line `MOVE: n`, where n is the number of your move."
BY_TEXT: Final = (
    "End with a line `MOVE: n`, where n is the number of your move, or with a line `MOVE: ` and another legal move in "
    "the same notation: {forms}."
)
_MOVE: Final = re.compile(r"MOVE[ \t*`]*:[ \t*`]*(\S[^\n]*)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(\d{1,6})(?!\w)")
_SHOWN: Final = 80


def listed(moves: Sequence[str]) -> str:
    """Return the moves with their numbers, one a line."""
    count = len(moves)
    some = range(count)
    if count > MAX_LISTED:
        some = range(0, count, -(-count // MAX_LISTED))
    lines = [f"{index}: {moves[index]}" for index in some]
    if len(some) < count:
        lines.append(
            f"({len(some)} of {count} moves are listed; numbers up to {count - 1} are moves)"
        )
    return "\n".join(lines)


def chosen(reply: Reply, moves: Sequence[str], unlisted: Callable[[str], Any | None]) -> Any:
    """Return the index of the move that a reply names, or another move.

    Args:
      reply: The model's reply.
      moves: The offered moves.
      unlisted: Reads a move that is not offered; returns None if the text is no move.

    Raises:
      Failure: REFUSED, CUT, UNREADABLE or ILLEGAL.
    """
    if reply.refusal or reply.finish == "content_filter":
        raise Failure(Kind.REFUSED, _shown(reply.refusal or "a filter of the endpoint"))
    lines = _MOVE.findall(reply.text)
    named = (lines[-1] if lines else reply.text).strip(" \t\r\n*`\"'.")
    if number := _NUMBER.match(named):
        if lines or number.group() == named:
            index = int(number[1])
            if index < len(moves):
                return index
            raise Failure(
                Kind.ILLEGAL, f"there is no move {index}: the last one is {len(moves) - 1}"
            )
    elif lines:
        plain = " ".join(named.split()).casefold()
        for index, move in enumerate(moves):
            if move.casefold() == plain:
                return index
        if (move_of_text := unlisted(named)) is not None:
            return move_of_text
        raise Failure(Kind.ILLEGAL, f"{_shown(named)!r} is none of the offered moves")
    if reply.finish == "length":
        raise Failure(Kind.CUT, "the reply was cut off before it named a move")
    if not reply.text:
        raise Failure(Kind.UNREADABLE, "the reply is empty")
    raise Failure(Kind.UNREADABLE, "the reply has no line `MOVE: n`")


def reason(reply: Reply) -> str:
    """Return the text of a reply besides its move, on one line."""
    return " ".join(_MOVE.sub("", reply.text).split())


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
