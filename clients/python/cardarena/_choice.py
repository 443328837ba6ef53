"""Converts the return value of a bot's `move` to an answer."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, SupportsIndex, TypeAlias

from google.protobuf.message import Message

from cardarena._ask import AnyAsk, MoveT
from cardarena._raised import Raised
from cardarena.v1.game_pb2 import GameMove
from cardarena.v1.play_pb2 import Answer

MAX_NOTE_CHARS: Final = 200
"""Length of the longest note, until `welcome` has the arena's limit."""


@dataclass(frozen=True, slots=True)
class Noted(Generic[MoveT]):
    """A choice with a note, which `arena match why` shows to the bot's owner only."""

    choice: MoveT | SupportsIndex
    """One of `ask.moves`, its index, or a move that was not offered."""
    note: str
    """At most 200 characters; longer ones are shortened."""


Choice: TypeAlias = MoveT | SupportsIndex | Noted[MoveT]
"""What `move` may return; `Choice[abstrac.Move]` if moves are of one game."""


def answer(ask: AnyAsk, choice: object) -> Answer:
    """Return the answer for a choice.

    Raises:
      TypeError: if the choice is no move of the match's game, and no index.
      IndexError: if it is an index past the offered moves.
    """
    if isinstance(choice, Noted):
        noted = answer(ask, choice.choice)
        noted.note = encodable(str(choice.note))
        return noted
    if isinstance(choice, Message):
        return _of_move(ask, choice)
    if isinstance(choice, SupportsIndex) and not isinstance(choice, bool):
        return Answer(ask_id=ask.ask_id, index=_index(ask, operator.index(choice)))
    raise TypeError(
        f"{choice!r} is not a choice: return one of ask.moves, its index, or a move message"
    )


def labels(error: Exception, family: str) -> str:
    """Return the labels that a constructor of moves accepts, if it was given an unknown one; otherwise an empty text.

    protobuf says only `unknown enum label "play"`.
    """
    if not (isinstance(error, ValueError) and str(error).startswith("unknown enum label")):
        return ""
    move = GameMove.DESCRIPTOR.fields_by_name[family].message_type
    named = (
        f"{field.name} is one of {', '.join(value.name for value in field.enum_type.values[1:])}"
        for field in move.fields
        if field.enum_type is not None
    )
    return f"{'; '.join(named)}; or use the constructors in {family}.moves"


def plain_index(moves: Sequence[Any], choice: object) -> int | None:
    """Return the index of a choice that is an index or an object of `ask.moves`; otherwise None."""
    if type(choice) is int:
        return choice if 0 <= choice < len(moves) else None
    for index, offered in enumerate(moves):
        if offered is choice:
            return index
    return None


def failure(ask: AnyAsk, raised: Raised) -> Answer:
    """Return the answer after an exception in the bot's code: no move, and a note with the error."""
    return Answer(ask_id=ask.ask_id, failed=True, note=encodable(raised.note))


def encodable(text: str) -> str:
    """Return the text with `?` for halves of surrogate pairs, such as half an emoji, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def cut(note: str, max_chars: int) -> str:
    """Return the note, shortened to `max_chars` characters with an ellipsis at the end."""
    return note if len(note) <= max_chars else note[: max_chars - 1] + "…"


def _index(ask: AnyAsk, index: int) -> int:
    if not 0 <= index < len(ask.moves):
        raise IndexError(f"there is no move {index}: {len(ask.moves)} are offered, from 0")
    return index


def _of_move(ask: AnyAsk, move: Message) -> Answer:
    index = _place(ask.moves, move)
    if index is not None:
        return Answer(ask_id=ask.ask_id, index=index)
    expected = GameMove.DESCRIPTOR.fields_by_name[ask.family].message_type
    if move.DESCRIPTOR.full_name != expected.full_name:
        raise TypeError(
            f"{type(move).__name__} is not a move of {ask.game}, whose moves are {expected.name}"
        )
    typed = GameMove()
    getattr(typed, ask.family).CopyFrom(move)
    return Answer(ask_id=ask.ask_id, move=typed)


def _place(moves: Any, move: Message) -> int | None:
    # The usual choice is an object of the list, which is found faster than an equal message.
    index = plain_index(moves, move)
    if index is not None:
        return index
    for index, offered in enumerate(moves):
        if offered == move:
            return index
    return None
