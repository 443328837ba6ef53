"""Messages and enums of proto/ as text, read from its files and merged with what the classes want."""

import dataclasses
import textwrap
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

INTEGERS = {"uint32", "sint32", "uint64", "sint64"}
WIDTH = 100


class Incompatible(Exception):
    """A class does not fit its proto file."""


@dataclass
class Line:
    """A field of a message, or a value of an enum."""

    name: str
    comment: str
    number: int = 0
    """The number; 0 before it is known."""
    kind: str = ""
    """The type of a field; empty for a value of an enum."""
    label: str = ""
    """`repeated`, `optional` or nothing."""

    @property
    def type(self) -> str:
        return f"{self.label} {self.kind}".strip()

    def text(self) -> str:
        declared = f"{self.type} {self.name}".strip()
        return f"{commented(self.comment, '  ')}  {declared} = {self.number};\n"


@dataclass
class Block:
    """A message or an enum."""

    keyword: str
    name: str
    comment: str
    lines: list[Line]
    reserved: list[tuple[int, str]] = field(default_factory=list)
    """Numbers and names of removed fields."""

    def text(self) -> str:
        reserved = "".join(
            f'  reserved {number};\n  reserved "{name}";\n' for number, name in self.reserved
        )
        lines = "".join(line.text() for line in self.lines)
        return f"{commented(self.comment, '')}{self.keyword} {self.name} {{\n{reserved}{lines}}}\n"


def commented(comment: str, indent: str) -> str:
    """Return a comment as lines of proto/; existing line breaks stay."""
    lines = comment.split("\n")
    if len(lines) == 1:
        lines = textwrap.wrap(comment, WIDTH - len(indent) - len("// "))
    return "".join(f"{indent}// {line}".rstrip() + "\n" for line in lines)


# The files.


TYPES = {
    FieldDescriptorProto.TYPE_STRING: "string",
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_UINT32: "uint32",
    FieldDescriptorProto.TYPE_SINT32: "sint32",
    FieldDescriptorProto.TYPE_UINT64: "uint64",
    FieldDescriptorProto.TYPE_SINT64: "sint64",
}
MESSAGES, ENUMS, MEMBERS, SYNTAX = 4, 5, 2, 12
"""Numbers of fields of descriptors in the paths of source_code_info."""


class Known:
    """An existing proto file."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self._comments = {
            tuple(place.path): place.leading_comments for place in file.source_code_info.location
        }
        starts = {tuple(place.path): place.span[0] for place in file.source_code_info.location}
        self.header = self._comment(SYNTAX)
        self.imports = list(file.dependency)
        found = [
            (starts[MESSAGES, at], self._message(each, at))
            for at, each in enumerate(file.message_type)
        ]
        found += [
            (starts[ENUMS, at], self._enum(each, at)) for at, each in enumerate(file.enum_type)
        ]
        self.blocks = [block for _, block in sorted(found, key=lambda each: each[0])]

    def _comment(self, *path: int) -> str:
        lines = self._comments.get(path, "").removesuffix("\n").split("\n")
        return "\n".join(line.removeprefix(" ") for line in lines)

    def _message(self, message: DescriptorProto, at: int) -> Block:
        lines = []
        for number, part in enumerate(message.field):
            label = "optional" if part.proto3_optional else ""
            if part.label == FieldDescriptorProto.LABEL_REPEATED:
                label = "repeated"
            kind = TYPES.get(part.type) or part.type_name.rpartition(".")[2]
            comment = self._comment(MESSAGES, at, MEMBERS, number)
            lines.append(Line(part.name, comment, part.number, kind, label))
        numbers = [span.start for span in message.reserved_range]
        reserved = list(zip(numbers, message.reserved_name, strict=True))
        return Block("message", message.name, self._comment(MESSAGES, at), lines, reserved)

    def _enum(self, enum: EnumDescriptorProto, at: int) -> Block:
        lines = [
            Line(value.name, self._comment(ENUMS, at, MEMBERS, number), value.number)
            for number, value in enumerate(enum.value)
        ]
        numbers = [span.start for span in enum.reserved_range]
        reserved = list(zip(numbers, enum.reserved_name, strict=True))
        return Block("enum", enum.name, self._comment(ENUMS, at), lines, reserved)


# Classes and files together.


def merged(wanted: list[Block], known: list[Block]) -> list[Block]:
    """Return the blocks of the classes with the numbers and comments of the file, in the file's order."""
    by_name = {block.name: block for block in wanted}
    before = {block.name: block for block in known}
    kept = [joined(by_name[block.name], block) for block in known if block.name in by_name]
    added = [
        joined(block, Block(block.keyword, block.name, "", []))
        for block in wanted
        if block.name not in before
    ]
    return [*kept, *added]


def joined(wanted: Block, known: Block) -> Block:
    """Return one block.

    Raises:
      Incompatible: if a field has another type than before.
    """
    ours = {line.name: line for line in wanted.lines}
    reserved = known.reserved + [
        (line.number, line.name) for line in known.lines if line.name not in ours
    ]
    lines = [same(ours[line.name], line, known) for line in known.lines if line.name in ours]
    taken = [line.number for line in lines] + [number for number, _ in reserved]
    following = max(taken, default=-1 if wanted.keyword == "enum" else 0) + 1
    has = {line.name for line in lines}
    for number, line in enumerate(
        (line for line in wanted.lines if line.name not in has), following
    ):
        if line.name in [name for _, name in reserved]:
            raise Incompatible(
                f"{known.name}: the name {line.name} was given up and stays reserved"
            )
        lines.append(dataclasses.replace(line, number=number))
    return Block(wanted.keyword, wanted.name, known.comment or wanted.comment, lines, reserved)


def same(wanted: Line, known: Line, block: Block) -> Line:
    """Return a field of the file; only whether it is optional may change."""
    alike = wanted.kind == known.kind or {wanted.kind, known.kind} <= INTEGERS
    if not alike or (wanted.label == "repeated") != (known.label == "repeated"):
        raise Incompatible(
            f"{block.name}.{known.name} is `{known.type}`, and the class says `{wanted.type}`: a "
            f"field keeps its type, so a new one needs a new name"
        )
    return dataclasses.replace(known, label=wanted.label)
