"""Compares a client's messages with the expectations of a case."""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from cardarena.v1.play_pb2 import Answer, BotMessage

_BOUND: Final = "$"


class Bound:
    """Named values of a case: the first one is remembered, and later ones must equal it."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def differs(self, expected: Any, seen: Any, where: str) -> str:
        """Return the difference between seen and expected, as a sentence; empty if there is none.

        Of an object only the expected fields are compared. A text that begins with `$` names a
        value; null stands for a field that is not set.
        """
        if isinstance(expected, str) and expected.startswith(_BOUND):
            first = self._values.setdefault(expected, seen)
            if seen is None or seen != first:
                return f"{where} is {seen!r}; expected {first!r}, as before"
            return ""
        if isinstance(expected, Mapping):
            if not isinstance(seen, Mapping):
                return f"{where} is {seen!r}, and has no fields"
            differences = (
                self.differs(value, seen.get(name), f"{where}.{name}")
                for name, value in expected.items()
            )
            return next(filter(None, differences), "")
        if isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
            differences = (
                self.differs(value, other, f"{where}[{place}]")
                for place, (value, other) in enumerate(zip(expected, seen, strict=True))
            )
            return next(filter(None, differences), "")
        # JSON has 64-bit numbers as texts.
        same = seen == expected or (type(expected) is int and seen == str(expected))
        return "" if same else f"{where} is {seen!r}; expected {expected!r}"


def fields_of(message: Message) -> dict[str, Any]:
    """Return the fields of a message in the form of cases."""
    fields: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return fields


def shortly(message: BotMessage) -> str:
    """Return a short form of a message, for a sentence."""
    match message.WhichOneof("body"):
        case None:
            return "a message without a body"
        case "answers":
            said = [_choice(each) for each in message.answers.answers]
            return f"answers ({', '.join(said)})"
        case body:
            return str(body)


def _choice(answer: Answer) -> str:
    match answer.WhichOneof("choice"):
        case "index":
            return f"ask {answer.ask_id}: move {answer.index}"
        case "move":
            return f"ask {answer.ask_id}: a move of its own"
        case _:
            return f"ask {answer.ask_id}: no choice"
