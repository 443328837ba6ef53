"""The lines between the bridge and a bot: a JSON object a line, for the messages of `play.proto`.

The bridge sends objects with one field: `match_start` (MatchStart), `ask` (Ask), `ask_closed` (AskClosed) or
`match_end` (MatchEnd). The bot sends objects of Answer. All are in protobuf's JSON form with the field names of the
proto. Lines to the bot have all fields that are not optional, and an ask has `seed`, a number below 2³² for the bot's
random numbers. `docs/stdio.md` describes them.
"""

import codecs
import json
from typing import Any, Final

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message

from cardarena._ask import AnyAsk, End
from cardarena._choice import encodable
from cardarena.v1.game_pb2 import GameEvent
from cardarena.v1.play_pb2 import Answer, AskClosed, MatchEnd, MatchStart
from cardarena.v1.play_pb2 import Ask as AskMessage

SEED_BYTES: Final = 4
"""The number of bytes of an ask's seed in its line: as much as the C function `srand` takes."""
_KEYS: Final = frozenset(
    name for field in Answer.DESCRIPTOR.fields for name in (field.name, field.json_name)
)
"""The keys of an answer."""
SHOWN_CHARS: Final = 60
"""The number of characters of a line in an error message."""


class NotAnAnswer(Exception):
    """A line of the bot is no answer. The text is the end of a sentence that says why."""


def start_line(start: MatchStart) -> bytes:
    """Return the line for the start of a match."""
    return _line("match_start", start)


def ask_line(ask: AnyAsk) -> bytes:
    """Return the line for an ask, with the events of earlier asks that the bot did not receive."""
    message = AskMessage()
    message.CopyFrom(ask.message)
    for name in ("event_texts", "played_for"):
        _replace(getattr(message, name), list(getattr(ask, name)))
    _replace(getattr(message, ask.family).events, list(ask.events))
    return _line("ask", message, seed=int.from_bytes(ask.seed[:SEED_BYTES], "big"))


def closed_line(closed: AskClosed) -> bytes:
    """Return the line for a closed ask."""
    return _line("ask_closed", closed)


def end_line(end: End[Any], family: str) -> bytes:
    """Return the line for the end of a match. `family` is the field of its events in GameEvent."""
    message = MatchEnd()
    message.CopyFrom(end.message)
    _replace(message.trailing_events, [GameEvent(**{family: event}) for event in end.events])
    return _line("match_end", message)


def answer_of(line: bytes) -> Answer:
    """Return the answer in a line of the bot; unknown keys are ignored. Raises: NotAnAnswer: if the line is no answer."""
    line = line.removeprefix(codecs.BOM_UTF8)  # some runtimes of Windows write it first
    shown = line.decode("utf-8", "replace").strip()
    quoted = repr(shown if len(shown) <= SHOWN_CHARS else f"{shown[:SHOWN_CHARS]}…")
    try:
        fields = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise NotAnAnswer(
            f"wrote {quoted}, which is no JSON object; standard output is for answers, print all else "
            "to standard error"
        )
    known = {key: value for key, value in fields.items() if key in _KEYS}
    unknown = ", ".join(repr(key) for key in fields if key not in _KEYS)
    if isinstance(note := known.get("note"), str):
        known["note"] = encodable(note)
    try:
        answer = ParseDict(known, Answer())
    except (ParseError, ValueError, TypeError, RecursionError) as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise NotAnAnswer(f"wrote {quoted}, which is no answer: {why}") from None
    if "ask_id" not in fields and "askId" not in fields:
        raise NotAnAnswer(f"wrote {quoted}, which is no answer: it has no ask_id")
    if unknown and answer.WhichOneof("choice") is None:
        raise NotAnAnswer(
            f"wrote {quoted}, which has no index or move; no field is named {unknown}"
        )
    return answer


def _line(name: str, message: Message, **more: int) -> bytes:
    fields = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return json.dumps({name: fields | more}, separators=(",", ":")).encode() + b"\n"


def _replace(repeated: Any, values: list[Any]) -> None:
    del repeated[:]
    repeated.extend(values)
