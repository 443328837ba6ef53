"""Generates the Java classes of each family of games from the comments of proto/: see scripts/proto.

The messages themselves are made by the Maven build, out of the same files. Which fields a verb
uses is what its comment says, as "uses `card`".
"""

import shutil
import sys
from pathlib import Path

from game_protos import Family, Verb, enum_of, families, is_list
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

PLACE = Path("src/main/java/cardarena/games")
HEAD = "// Written by scripts/generate_java.py. Not to be edited: scripts/proto."
TYPES = {
    FieldDescriptorProto.TYPE_STRING: "String",
    FieldDescriptorProto.TYPE_BOOL: "boolean",
    FieldDescriptorProto.TYPE_UINT32: "int",
}


def camel(words: str) -> str:
    """`take_pile` or `TAKE_PILE` as takePile."""
    first, *rest = words.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


def text(family: Family) -> str:
    """The source of a family's class."""
    moves = [line for verb in family.verbs for line in constructors(family, verb)]
    prefix, title = family.prefix, family.title
    imports = sorted(
        [
            *(["cardarena.Bets", "java.util.Optional"] if family.has_bets else []),
            *(["cardarena.Checks"] if "(Checks." in "".join(moves) else []),
            "cardarena.Families",
            "cardarena.Match",
            "cardarena.Player",
            *(f"cardarena.games.v1.{name}" for name in used_types(family)),
            "java.util.List",
            "java.util.function.Function",
        ]
    )
    return "\n".join(
        [
            HEAD,
            "package cardarena.games;",
            "",
            *(f"import {name};" for name in imports),
            "",
            f"/** {title}: constructors of its moves, and a bot of its types. */",
            f"public final class {prefix} {{",
            "  /** The ids of the family's games. */",
            f'  public static final List<String> GAMES = Families.games("{family.name}");',
            "",
            f"  private {prefix}() {{}}",
            "",
            f"  /** Plays one match of {title}. */",
            "  @FunctionalInterface",
            f"  public interface Bot extends cardarena.Bot<{prefix}View, {prefix}Move, {prefix}Event> {{}}",
            "",
            f"  /** A player of {title}, of what makes a bot for each match. */",
            "  public static Player player(String name, Function<Match, Bot> bot) {",
            "    return Player.named(name).games(GAMES).bot(bot);",
            "  }",
            "",
            *(bets(family) if family.has_bets else []),
            "  /**",
            "   * Makes moves that are whole: each with the fields that its verb uses, and no others. What is no",
            "   * card, no suit, less than nothing or no value of its enum is an IllegalArgumentException. Whether",
            "   * a move is legal now, the rules say.",
            "   */",
            "  public static final class Moves {",
            "    private Moves() {}",
            *moves,
            "  }",
            "}",
            "",
        ]
    )


def bets(family: Family) -> list[str]:
    """What bets may come to, where views say it."""
    return [
        "  /** What a bet or raise of the seat to act may come to; empty if it may make none. */",
        f"  public static Optional<Bets> bets({family.prefix}View view) {{",
        "    return view.hasMinTo() && view.hasMaxTo()",
        "        ? Optional.of(new Bets(view.getMinTo(), view.getMaxTo()))",
        "        : Optional.empty();",
        "  }",
        "",
    ]


def used_types(family: Family) -> list[str]:
    """The messages and enums that the class names."""
    names = {f"{family.prefix}{name}" for name in ("View", "Move", "Event", "Verb")}
    names |= {enum_of(field) for verb in family.verbs for field in verb.fields if enum_of(field)}
    return sorted(names)


def constructors(family: Family, verb: Verb) -> list[str]:
    """A verb's method; and one without what may be left out."""
    fields = verb.fields
    lines = constructor(family, verb, fields)
    needed = [field for field in fields if not family.may_be_left_out(field)]
    return lines if needed == fields else [*constructor(family, verb, needed), *lines]


def constructor(family: Family, verb: Verb, fields: list[FieldDescriptorProto]) -> list[str]:
    """A method that sets the fields."""
    parameters = ", ".join(f"{type_of(field)} {camel(field.name)}" for field in fields)
    name = {"double": "doubles"}.get(camel(verb.word), camel(verb.word))
    start = f"{family.prefix}Move.newBuilder().setVerb({family.prefix}Verb.{verb.constant})"
    return [
        "",
        f"    /** The move: {verb.does[0].lower()}{verb.does[1:]}. */",
        f"    public static {family.prefix}Move {name}({parameters}) {{",
        f"      return {start}{''.join(map(setting, fields))}.build();",
        "    }",
    ]


def setting(field: FieldDescriptorProto) -> str:
    """Sets a field to the parameter of its name, looked at."""
    own = camel(field.name)
    many = is_list(field)
    setter = f"{'addAll' if many else 'set'}{own[0].upper()}{own[1:]}"
    if field.type == FieldDescriptorProto.TYPE_BOOL or field.name == "text":
        return f".{setter}({own})"
    if enum_of(field):
        return f'.{setter}(Checks.named("{own}", {own}))'
    if field.type == FieldDescriptorProto.TYPE_UINT32:
        return f'.{setter}(Checks.whole("{own}", {own}))'
    check = "cards" if many else "suit" if field.name == "suit" else "card"
    return f".{setter}(Checks.{check}({own}))"


def type_of(field: FieldDescriptorProto) -> str:
    """A parameter's type."""
    one = enum_of(field) or TYPES[field.type]
    return f"List<{one}>" if is_list(field) else one


def generate(out: Path) -> None:
    """Writes all that is generated into the folder `out`, as it lies in the SDK."""
    place = out / PLACE
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for family in families():
        (place / f"{family.prefix}.java").write_text(text(family), "utf-8")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
