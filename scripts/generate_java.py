"""Generates the Java class of each family of games from the comments of proto/. See scripts/proto.

The Maven build generates the messages from the same files. The comment of a verb in the proto names its fields, as
in "uses `card`".
"""

import sys
from pathlib import Path

from game_protos import Family, Verb, enum_of, families, is_list
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

PLACE = Path("src/main/java/cardarena")
"""The package of the SDK, whose parts that authors need not see the classes use."""
HEAD = "// Generated from proto/ by scripts/proto: do not edit."
TYPES = {
    FieldDescriptorProto.TYPE_STRING: "String",
    FieldDescriptorProto.TYPE_BOOL: "boolean",
    FieldDescriptorProto.TYPE_UINT32: "int",
}


def camel(words: str) -> str:
    """Return `take_pile` or `TAKE_PILE` as takePile."""
    first, *rest = words.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


def text(family: Family) -> str:
    """Return the source of a family's class."""
    moves = [line for verb in family.verbs for line in constructors(family, verb)]
    prefix, title = family.prefix, family.title
    ask = f"Ask<{prefix}View, {prefix}Move, {prefix}Event>"
    imports = sorted(
        [
            *(["java.util.Optional"] if family.has_bets else []),
            *(f"cardarena.games.v1.{name}" for name in used_types(family)),
            "java.util.List",
            "java.util.function.Function",
        ]
    )
    return "\n".join(
        [
            HEAD,
            "// spotless:off",
            "package cardarena;",
            "",
            *(f"import {name};" for name in imports),
            "",
            f"/** {title}: constructors of its moves, and a bot with its types. */",
            f"public final class {prefix} {{",
            "  /** The ids of the family's games. */",
            f'  public static final List<String> GAMES = Families.games("{family.name}");',
            "",
            f"  private static final Types<{prefix}View, {prefix}Move, {prefix}Event> TYPES =",
            f"      new Types<>({prefix}View.class, {prefix}Move.class, {prefix}Event.class);",
            "",
            f"  private {prefix}() {{}}",
            "",
            f"  /** Plays one match of {title}. */",
            "  @FunctionalInterface",
            f"  public interface Bot extends cardarena.Bot<{prefix}View, {prefix}Move, {prefix}Event> {{}}",
            "",
            f"  /** A player of {title}. The function makes the bot of each match. */",
            "  public static Player player(String name, Function<Match, Bot> bot) {",
            "    return Player.named(name).games(GAMES).bot(TYPES, bot);",
            "  }",
            "",
            "  /**",
            "   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.",
            "   */",
            f"  public static {ask} ask({prefix}View view, {prefix}Move... moves) {{",
            f"    {prefix}Ask.Builder body = {prefix}Ask.newBuilder().setView(view).setMovesComplete(true);",
            "    body.addAllMoves(List.of(moves));",
            f"    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().set{prefix}(body), TYPES);",
            "  }",
            "",
            "  /** An ask for the test of a bot, as if the message arrived now. */",
            f"  public static {ask} ask(Match match, cardarena.v1.Ask message) {{",
            "    return Ask.of(match, message, TYPES);",
            "  }",
            "",
            *(bets(family) if family.has_bets else []),
            "  /**",
            "   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an",
            "   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its",
            "   * enum. They do not check whether the move is legal.",
            "   */",
            "  public static final class Moves {",
            "    private Moves() {}",
            *moves,
            "  }",
            "}",
            "// spotless:on",
            "",
        ]
    )


def bets(family: Family) -> list[str]:
    """Return the method for the legal sizes of bets, if views have them."""
    return [
        "  /** The range of a bet or raise of the seat to act; empty if it may not bet. */",
        f"  public static Optional<Bets> bets({family.prefix}View view) {{",
        "    return view.hasMinTo() && view.hasMaxTo()",
        "        ? Optional.of(new Bets(view.getMinTo(), view.getMaxTo()))",
        "        : Optional.empty();",
        "  }",
        "",
    ]


def used_types(family: Family) -> list[str]:
    """Return the messages and enums that the class uses."""
    names = {f"{family.prefix}{name}" for name in ("Ask", "View", "Move", "Event", "Verb")}
    names |= {enum_of(field) for verb in family.verbs for field in verb.fields if enum_of(field)}
    return sorted(names)


def constructors(family: Family, verb: Verb) -> list[str]:
    """Return a verb's method, and one without its optional parameters."""
    fields = verb.fields
    lines = constructor(family, verb, fields)
    needed = [field for field in fields if not family.may_be_left_out(field)]
    return lines if needed == fields else [*constructor(family, verb, needed), *lines]


def constructor(family: Family, verb: Verb, fields: list[FieldDescriptorProto]) -> list[str]:
    """Return a method that sets the fields."""
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
    """Return the statement that sets a field to its checked parameter."""
    name = camel(field.name)
    many = is_list(field)
    setter = f"{'addAll' if many else 'set'}{name[0].upper()}{name[1:]}"
    if field.type == FieldDescriptorProto.TYPE_BOOL or field.name == "text":
        return f".{setter}({name})"
    if enum_of(field):
        return f'.{setter}(Checks.specified("{name}", {name}))'
    if field.type == FieldDescriptorProto.TYPE_UINT32:
        return f'.{setter}(Checks.wholeNumber("{name}", {name}))'
    check = "cards" if many else "suit" if field.name == "suit" else "card"
    return f".{setter}(Checks.{check}({name}))"


def type_of(field: FieldDescriptorProto) -> str:
    """Return the type of a parameter."""
    one = enum_of(field) or TYPES[field.type]
    return f"List<{one}>" if is_list(field) else one


def generate(out: Path) -> None:
    """Write the generated classes below `out`, at their paths in the SDK."""
    place = out / PLACE
    place.mkdir(parents=True, exist_ok=True)
    for path in place.glob("*.java"):
        if path.read_text("utf-8").startswith(HEAD):
            path.unlink()
    for family in families():
        (place / f"{family.prefix}.java").write_text(text(family), "utf-8")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
