"""The messages that the page reads, as its script names them: made of the descriptors of proto/."""

import textwrap
from typing import get_args

from arena.records.read import Body
from cardarena.v1 import deals_pb2, journal_pb2

KINDS = {3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 12: "bytes", 13: "uint32"}
KINDS |= {14: "enum", 17: "sint32", 18: "sint64"}
"""What protobuf's numbers of kinds are called."""
ROOTS = (journal_pb2.Record.DESCRIPTOR, deals_pb2.LogEntry.DESCRIPTOR)
IN_REPLAYS = {body.DESCRIPTOR for body in get_args(Body)}
WIDTH = 98


def fields_of(message):
    """The fields that a replay or the public log may have, in the order of their numbers."""
    return [
        field
        for field in sorted(message.fields, key=lambda field: field.number)
        if message.name != "Record" or not field.message_type or field.message_type in IN_REPLAYS
    ]


def messages():
    """The roots and all messages within them, each once."""
    found, waiting = {}, list(ROOTS)
    while waiting:
        message = waiting.pop(0)
        if message.name not in found:
            found[message.name] = message
            waiting += [field.message_type for field in fields_of(message) if field.message_type]
    return list(found.values())


def line_of(field):
    """A field as `number name kind`, with `*` for a list and `?` where it may be unset."""
    kind = field.message_type.name if field.message_type else KINDS[field.type]
    mark = "*" if field.is_repeated else "?" if field.has_presence else ""
    return f"{field.number} {field.name} {kind}{mark}"


def choice_of(message):
    """The names of which exactly one is set, or none; [] if there is no such choice."""
    choices = [
        [field.name for field in one_of.fields if field in fields_of(message)]
        for one_of in message.oneofs
        if not one_of.name.startswith("_")  # those of `optional` fields
    ]
    assert len(choices) < 2, f"{message.name} has several choices, which the page does not know"
    return choices[0] if choices else []


def listed(name, words):
    """A property of a JavaScript object that is a list of texts."""
    texts = ", ".join(f'"{word}"' for word in words)
    line = f"  {name}: [{texts}],"
    if len(line) <= WIDTH:
        return line
    wrapped = textwrap.wrap(
        ", ".join(f'"{word.replace(" ", chr(160))}"' for word in words) + ",",
        WIDTH - 4,
        break_long_words=False,
    )
    inner = "\n".join(f"    {part}" for part in wrapped).replace(chr(160), " ")
    return f"  {name}: [\n{inner}\n  ],"


def schema():
    """The script's constants MESSAGES and ONE_OF."""
    every = messages()
    fields = [listed(each.name, [line_of(field) for field in fields_of(each)]) for each in every]
    choices = [listed(each.name, choice_of(each)) for each in every if choice_of(each)]
    return "\n".join(["const MESSAGES = {", *fields, "};", "const ONE_OF = {", *choices, "};"])
