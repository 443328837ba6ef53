"""Writes proto/ from the classes of every game's messages: see scripts/proto.

A field that a file has keeps its number, type, place and comment. A field that only the class has is added with the
next free number, and with the docstring of the field as its comment. A field that only the file has becomes
`reserved`.
"""

import ast
import dataclasses
import re
import sys
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from game_protos import ROOT, descriptors
from proto_blocks import Block, Incompatible, Known, Line, commented, merged

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.games.game import Game
from arena.referee.wire.shape import element, is_enum, optional, plain, prefix_of, upper

GAMES_FOLDER = Path("cardarena/games/v1")
HOLDERS = {"game.proto": ("Move", "Event", "View"), "play.proto": ("Ask",)}
"""The files with a `oneof game` of all families, and the messages in it."""
CITATION = re.compile(r" \((?:[A-Z]{1,2}\d+|rulings? \d+)[^)]*\)")
"""References to the rules in docstrings, which authors of bots do not have."""

OPTIONS = """\
option csharp_namespace = "CardArena.Games.V1";
option go_package = "cardarena.dev/cardarena/cardarenagamesv1";
option java_multiple_files = true;
option java_outer_classname = "{prefix}Proto";
option java_package = "cardarena.games.v1";
option php_namespace = "CardArena\\\\Games\\\\V1";
option ruby_package = "CardArena::Games::V1";
"""
ASK = (
    ("view", "{}View", "", "What the seat may know."),
    ("events", "{}Event", "repeated", "What happened since the last ask, oldest first."),
    (
        "moves",
        "{}Move",
        "repeated",
        "Legal moves; answer with the index of one, or with a typed move.",
    ),
    ("moves_complete", "bool", "", "Whether the rules allow no other moves."),
)
"""The fields of the Ask of each family."""
USUAL = {
    "phase": "What the match is doing.",
    "hand": "The hand, from 0.",
    "dealer": "The seat that deals.",
    "seat": "The seat concerned.",
    "card": "The card concerned.",
    "cards": "The cards concerned.",
    "to_act": "The seat whose move it is",
    "held": "The own hand; empty for a spectator.",
    "hand_sizes": "Cards in each hand, by seat.",
    "points": "Points of the hand, by seat.",
    "totals": "Points of the match, by seat.",
}
"""Comments of fields without a docstring, which mean the same in most games."""


# The classes.


@cache
def docstrings(module: str) -> dict[str, str]:
    """Return the docstrings of a module's classes and fields, by `Class` and `Class.field`."""
    texts = {}
    tree = ast.parse(Path(str(import_module(module).__file__)).read_text("utf-8"))
    texts[""] = ast.get_docstring(tree) or ""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        texts[node.name] = ast.get_docstring(node) or ""
        for before, after in zip(node.body, node.body[1:], strict=False):
            target = before.targets[0] if isinstance(before, ast.Assign) else before
            name = getattr(target, "target", target)
            value = after.value if isinstance(after, ast.Expr) else None
            if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                texts[f"{node.name}.{name.id}"] = str(value.value)
    return texts


def said(cls: type, name: str = "") -> str:
    """Return the first paragraph of the docstring of a class or field."""
    text = docstrings(cls.__module__).get(f"{cls.__name__}.{name}" if name else cls.__name__, "")
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return CITATION.sub("", paragraph)


def hints(cls: type) -> dict[str, Any]:
    """Return the names and types of a class's fields."""
    types = get_type_hints(cls)
    return {attribute.name: types[attribute.name] for attribute in dataclasses.fields(cls)}


def parts(kind: Any) -> Iterator[type]:
    """Return the enums and classes in a type, including those of its fields."""
    if is_enum(kind):
        yield kind
    elif isinstance(kind, type) and dataclasses.is_dataclass(kind):
        yield kind
        for hint in hints(kind).values():
            yield from parts(hint)
    for each in get_args(kind):
        yield from parts(each)


class Family:
    """The blocks of one family by its classes."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.prefix = prefix_of(game.family)
        self.classes = game.messages
        self.moves = get_args(self.classes.Move) or (self.classes.Move,)
        self.events = get_args(self.classes.Event) or (self.classes.Event,)

    def blocks(self) -> list[Block]:
        """Return all blocks, in their order in a new file."""
        view = dict.fromkeys(parts(self.classes.View))
        moves = dict.fromkeys(part for move in self.moves for part in parts(move))
        events = dict.fromkeys(part for event in self.events for part in parts(event))
        flat = {*self.moves, *self.events, self.classes.View}
        enums = [each for each in {**view, **moves, **events} if is_enum(each)]
        shown = [each for each in view if not is_enum(each) and each not in flat]
        told = [
            each
            for each in {**moves, **events}
            if not is_enum(each) and each not in flat and each not in shown
        ]
        verbs = self.flat(self.moves, "verb", "Verb", "What the move does.", of_moves=True)
        kinds = self.flat(
            self.events, "kind", "EventKind", "What happened; says which other fields are used."
        )
        return [
            *(self.enum(enum) for enum in enums),
            self.ask(),
            self.message(self.classes.View, "Shows what one seat may know."),
            *(self.message(each, "") for each in shown),
            self.selector("Verb", "Says what a move does.", self.moves),
            Block("message", f"{self.prefix}Move", "Moves a seat.", verbs),
            self.selector("EventKind", "Says what happened.", self.events),
            Block("message", f"{self.prefix}Event", "Tells of something that happened.", kinds),
            *(self.message(each, "") for each in told),
        ]

    def ask(self) -> Block:
        lines = [
            Line(name, comment, 0, kind.format(self.prefix), label)
            for name, kind, label, comment in ASK
        ]
        return Block("message", f"{self.prefix}Ask", "Asks for a move.", lines)

    def enum(self, cls: type[StrEnum]) -> Block:
        name = self.prefix + cls.__name__
        values = [Line(f"{upper(name)}_UNSPECIFIED", "Not used.")]
        values += [
            Line(f"{upper(name)}_{member.name}", said(cls, member.name) or sentence(member.name))
            for member in cls
        ]
        return Block("enum", name, said(cls) or sentence(cls.__name__), values)

    def selector(self, name: str, comment: str, classes: tuple[type, ...]) -> Block:
        """Return the enum of the classes that a flat message stands for."""
        start = upper(self.prefix + name)
        values = [Line(f"{start}_UNSPECIFIED", "Not used.")]
        for cls in classes:
            text = said(cls) or sentence(upper(cls.__name__))
            names = ", ".join(f"`{name}`" for name in hints(cls))
            if names and "uses `" not in text:
                first, stop, rest = text.partition(". ")
                text = f"{first.removesuffix('.')}; uses {names}.{f' {rest}' if stop else ''}"
            values.append(Line(f"{start}_{upper(cls.__name__)}", text))
        return Block("enum", self.prefix + name, comment, values)

    def message(self, cls: type, comment: str) -> Block:
        lines = [
            self.line(name, hint, said(cls, name), in_move=False)
            for name, hint in hints(cls).items()
        ]
        text = said(cls)
        name = self.prefix + cls.__name__
        return Block("message", name, text or comment or sentence(cls.__name__), lines)

    def flat(
        self,
        classes: tuple[type, ...],
        selector: str,
        enum: str,
        comment: str,
        *,
        of_moves: bool = False,
    ) -> list[Line]:
        """Return the fields of a message that stands for several classes."""
        lines = {selector: Line(selector, comment, 0, self.prefix + enum)}
        for cls in classes:
            for name, hint in hints(cls).items():
                users = [each for each in classes if name in hints(each)]
                text = next((doc for each in users if (doc := said(each, name))), "")
                line = self.line(name, hint, text, in_move=of_moves)
                if of_moves and len(users) < len(classes):
                    verbs = listed([upper(each.__name__) for each in users])
                    line.comment = f"For {verbs}: {line.comment[0].lower()}{line.comment[1:]}"
                known = lines.setdefault(name, line)
                if (known.kind, known.label == "repeated") != (
                    line.kind,
                    line.label == "repeated",
                ):
                    raise Incompatible(
                        f"{self.game.family}: {name} is {known.kind} in one class and {line.kind} "
                        f"in {cls.__name__}; one message has both, so one of them needs another name"
                    )
                known.label = known.label or line.label
        return list(lines.values())

    def line(self, name: str, hint: Any, text: str, *, in_move: bool) -> Line:
        """Return a field of a type, without its number."""
        inner, may_be_none = optional(hint)
        repeated = get_origin(inner) is tuple
        one = element(inner) if repeated else inner
        kind = self.type_of(one, in_move=in_move)
        is_message = isinstance(one, type) and dataclasses.is_dataclass(one)
        label = "repeated" if repeated else ""
        if may_be_none and not is_enum(one) and not is_message:
            label = "optional"
        comment = text or USUAL.get(name) or sentence(name)
        if may_be_none and not re.search("absent|unspecified|if none", comment):
            word = "unspecified" if is_enum(one) else "absent"
            comment = f"{comment.removesuffix('.')}; {word} if there is none."
        return Line(name, comment, 0, kind, label)

    def type_of(self, kind: Any, *, in_move: bool) -> str:
        """Return the proto type of one value.

        Raises:
          Incompatible: if proto/ has no type for it.
        """
        if is_enum(kind) or (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
            return f"{self.prefix}{kind.__name__}"
        if get_origin(kind) is tuple and element(kind) is str:
            return "Cards"
        if kind is Seat or (plain(kind) is int and in_move):
            return "uint32"
        scalar = {int: "sint32", bool: "bool", str: "string"}.get(plain(kind))
        if scalar is None:
            raise Incompatible(f"{self.game.family}: no field has the type {kind}")
        return scalar


def sentence(name: str) -> str:
    """Return `hand_sizes` or `SET_KEPT` as a sentence, for fields without a docstring."""
    words = upper(name).lower().replace("_", " ")
    return f"{words.capitalize()}."


def listed(words: list[str]) -> str:
    """Return names as in a sentence: A, B and C."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# The text of files.


def text_of(game: Game, known: Known | None) -> str:
    """Return the text of a family's proto file."""
    family = Family(game)
    blocks = merged(family.blocks(), known.blocks if known else [])
    described = docstrings(game.messages.__package__)[""].partition("\n\n")[0]
    header = known.header if known else " ".join(described.split())
    body = "\n".join(block.text() for block in blocks)
    imports = set(known.imports) if known else set()
    if re.search(r"^  (repeated )?Cards ", body, re.MULTILINE):
        imports.add(f"{GAMES_FOLDER}/cards.proto")
    return "\n".join(
        [
            f'{commented(header, "")}syntax = "proto3";\n',
            "package cardarena.games.v1;\n",
            *("".join(f'import "{path}";\n' for path in sorted(imports)),) * bool(imports),
            OPTIONS.format(prefix=family.prefix),
            body,
        ]
    )


def with_games(text: str, held: tuple[str, ...]) -> str:
    """Return the text of a file with a `oneof game`, with a line and an import for each family."""
    families = {game.family: game for game in reversed(GAMES)}  # the first game names it
    for what in held:
        message = "Ask" if what == "Ask" else f"Game{what}"
        start = re.search(
            rf"^message {message} \{{.*?^  oneof game \{{\n", text, re.MULTILINE | re.DOTALL
        )
        assert start is not None
        end = text.index("\n  }\n", start.end()) + 1
        lines = text[start.end() : end]
        for family, game in sorted(families.items(), key=lambda each: each[1].number):
            if f" {family} = " not in lines:
                article = "An" if what[0] in "AE" else "A"
                named = f"cardarena.games.v1.{prefix_of(family)}{what}"
                lines += f"    // {article} {what.lower()} of {game.title}.\n"
                lines += f"    {named} {family} = {game.number};\n"
        text = text[: start.end()] + lines + text[end:]
    imports = re.findall(r'^import ".*";\n', text, re.MULTILINE)
    wanted = {f'import "{GAMES_FOLDER}/{family}.proto";\n' for family in families}
    first = text.index(imports[0])
    return (
        text[:first] + "".join(sorted({*imports, *wanted})) + text[first + len("".join(imports)) :]
    )


def generate(folder: Path) -> dict[str, str]:
    """Return the texts of all files that follow from the classes, by their names in `folder`.

    Raises:
      Incompatible: if a class does not fit the files.
    """
    known = {Path(file.name).stem: Known(file) for file in descriptors(folder)}
    games = {game.family: game for game in reversed(GAMES)}
    texts = {
        f"{GAMES_FOLDER}/{family}.proto": text_of(game, known.get(family))
        for family, game in games.items()
    }
    for name, held in HOLDERS.items():
        path = f"cardarena/v1/{name}"
        texts[path] = with_games((folder / path).read_text("utf-8"), held)
    return texts


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "proto"
    try:
        texts = generate(folder)
    except Incompatible as error:
        sys.exit(f"proto/ is unchanged. {error}")
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
