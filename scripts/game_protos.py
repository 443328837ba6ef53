"""Reads the families of games in proto/, for the generators of constructors: see scripts/proto.

The comment of a verb names its fields, as in "uses `card`". The comment of a move's field says if an enum may be
unspecified, as in "unspecified for a set".
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import grpc_tools
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from arena.games.catalogue import GAMES

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
USES = re.compile(r";\s+uses\s+(.*?)(?:\.|$)", re.DOTALL)
MESSAGES, ENUMS, MEMBERS = 4, 5, 2
"""Numbers of fields of descriptors in the paths of source_code_info."""


class Verb:
    """A verb of moves.

    Attributes:
      constant: Its name in proto/, such as JAM_VERB_TAKE_PILE.
      word: The name without its prefix, such as TAKE_PILE.
      does: Its description, a sentence without a full stop.
      fields: The fields of the move that it uses, in the order of the comment.
    """

    def __init__(
        self, constant: str, word: str, comment: str, fields: dict[str, FieldDescriptorProto]
    ) -> None:
        self.constant = constant
        self.word = word
        self.does = " ".join(comment.split()).partition("; uses")[0].removesuffix(".")
        uses = USES.search(comment)
        names = re.findall(r"`([a-z_]+)`", uses[1]) if uses else []
        self.fields = [fields[name] for name in names]


class Family:
    """One family of games.

    Attributes:
      name: As in `oneof game`: sixty_six.
      prefix: The prefix of its messages: SixtySix.
      title: For sentences: Sixty Six.
      has_bets: Whether views have the legal sizes of bets.
      messages_and_enums: Names of its types without the Ask.
      enum_values: The values of each enum without UNSPECIFIED.
      docs: The comment of each message without the Ask, and of its fields, by name; the message's own under "".
      view_fields: The fields of the view with their comments, in order; those of a message in it follow it, as
        `upcards[].cards`.
    """

    def __init__(self, file: FileDescriptorProto, prefix: str) -> None:
        self.name = Path(file.name).stem
        self.prefix = prefix
        self.title = self.name.replace("_", " ").title()
        comments = {
            tuple(place.path): place.leading_comments for place in file.source_code_info.location
        }
        ((self._move_at, move),) = [
            (at, message)
            for at, message in enumerate(file.message_type)
            if message.name == f"{prefix}Move"
        ]
        (view,) = [message for message in file.message_type if message.name == f"{prefix}View"]
        self.has_bets = {"min_to", "max_to"} <= {field.name for field in view.field}
        ((verbs_at, enum),) = [
            (at, enum) for at, enum in enumerate(file.enum_type) if enum.name == f"{prefix}Verb"
        ]
        self.messages_and_enums = [
            each.name
            for each in (*file.message_type, *file.enum_type)
            if each.name != f"{prefix}Ask"
        ]
        self.enum_values = {
            enum.name: [value.name for value in enum.value[1:]] for enum in file.enum_type
        }
        self.docs = {
            message.name: {
                name: " ".join(comments.get(path, "").split())
                for name, path in (
                    ("", (MESSAGES, at)),
                    *(
                        (field.name, (MESSAGES, at, MEMBERS, number))
                        for number, field in enumerate(message.field)
                    ),
                )
            }
            for at, message in enumerate(file.message_type)
            if message.name != f"{prefix}Ask"
        }
        self.view_fields = list(self._documented(view))
        fields = {field.name: field for field in move.field}
        start = enum.value[0].name.removesuffix("UNSPECIFIED")
        self.verbs = [
            Verb(
                value.name,
                value.name.removeprefix(start),
                comments[(ENUMS, verbs_at, MEMBERS, at)],
                fields,
            )
            for at, value in enumerate(enum.value)
            if at
        ]
        self._unspecified = {enum.name: enum.value[0].name for enum in file.enum_type}
        self._may_be_unspecified = {
            field.name
            for at, field in enumerate(move.field)
            if "unspecified" in comments[(MESSAGES, self._move_at, MEMBERS, at)].lower()
        }

    def _documented(self, view: DescriptorProto) -> Iterator[tuple[str, str]]:
        for field in view.field:
            inner = self.docs.get(enum_of(field), {})
            of_messages = field.type == FieldDescriptorProto.TYPE_MESSAGE and is_list(field)
            name = field.name + "[]" * of_messages
            yield name, self.docs[view.name][field.name]
            yield from ((f"{name}.{part}", doc) for part, doc in inner.items() if part)

    def start_of(self, enum: str) -> str:
        """Return the prefix of an enum's values: JAM_PHASE_."""
        return self._unspecified[enum].removesuffix("UNSPECIFIED")

    def unspecified(self, field: FieldDescriptorProto) -> str:
        """Return the UNSPECIFIED constant of a field's enum."""
        return self._unspecified[enum_of(field)]

    def may_be_left_out(self, field: FieldDescriptorProto) -> bool:
        """Whether the field is optional in moves of a verb that uses it."""
        return field.proto3_optional or field.name in self._may_be_unspecified


def descriptors(folder: Path = PROTO) -> Iterator[FileDescriptorProto]:
    """Return the files of all families below `folder`, by name, with their comments."""
    games = sorted(folder.glob("cardarena/games/v1/*.proto"))
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "games.binpb"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "grpc_tools.protoc",
                f"-I{folder}",
                f"-I{Path(grpc_tools.__file__).parent / '_proto'}",
                f"--descriptor_set_out={out}",
                "--include_source_info",
                *map(str, games),
            ],
            check=True,
        )
        files = FileDescriptorSet.FromString(out.read_bytes()).file
    for file in files:
        if Path(file.name).stem != "cards":
            yield file


def families() -> Iterator[Family]:
    """Return all families of proto/, by name."""
    for file in descriptors():
        (ask,) = [message.name for message in file.message_type if message.name.endswith("Ask")]
        yield Family(file, ask.removesuffix("Ask"))


def games_of() -> dict[str, tuple[str, ...]]:
    """Return the ids of each family's games, in the order of the families' numbers."""
    by_family: dict[str, tuple[str, ...]] = {}
    for game in GAMES:
        by_family[game.family] = (*by_family.get(game.family, ()), game.id)
    return by_family


def title_of(family: str) -> str:
    """Return the title of a family: that of its first game."""
    return next(game.title for game in GAMES if game.family == family)


def replace(fresh: Path, target: Path, head: str) -> None:
    """Make the files of `target` that begin with `head` equal to those below `fresh`."""
    wanted = {path.relative_to(fresh): path.read_text("utf-8") for path in fresh.rglob("*.*")}
    top = {name.parts[0] for name in wanted}
    for old in [path for name in top for path in (target / name).rglob("*.py")]:
        if old.read_text("utf-8").startswith(head) and old.relative_to(target) not in wanted:
            old.unlink()
    for name, text in wanted.items():
        place = target / name
        if not place.exists() or place.read_text("utf-8") != text:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")


def enum_of(field: FieldDescriptorProto) -> str:
    """Return the name of a field's enum, such as JamSource; empty for other types."""
    return field.type_name.rpartition(".")[2]


def is_list(field: FieldDescriptorProto) -> bool:
    """Whether a field is repeated."""
    return field.label == FieldDescriptorProto.LABEL_REPEATED
