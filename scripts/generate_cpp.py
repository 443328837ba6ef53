"""Generates what the C++ SDK has of proto/: its contract, and a header for each family of games. See scripts/proto.

In the contract the messages of games are bytes. A bot that picks offered moves then compiles no messages of games: it
reads an ask's fields `events`, `moves` and `moves_complete`, which have the same numbers in all games. The header of
a family has its moves as std::variant, with a struct for each verb. The comment of a verb in the proto names its
fields, as in "uses `card`".
"""

import re
import shutil
import sys
from pathlib import Path

from game_protos import Family, Verb, enum_of, families, is_list
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
HEAD = "// Generated from proto/ by scripts/proto: do not edit."
CONTRACT = ("game.proto", "play.proto")
IMPORT = re.compile(r'^import "cardarena/games/.*\n', re.MULTILINE)
GAME = re.compile(r"\bcardarena\.games\.v1\.\w+ (?=\w+ = \d+;)")
FIELD = re.compile(r"cardarena\.games\.v1\.\w+Move (\w+) = (\d+);")
OF_ANOTHER_LANGUAGE = re.compile(r"^option \w+ = .*\n", re.MULTILINE)
TYPES = {
    FieldDescriptorProto.TYPE_STRING: "std::string",
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_UINT32: "std::uint32_t",
}


def of_cpp(text: str) -> str:
    """Return a file of proto/ without the options of other languages."""
    return f"{HEAD}\n//\n{OF_ANOTHER_LANGUAGE.sub('', text)}"


def without_games(text: str) -> str:
    """Return a file of proto/ with bytes in place of the messages of games."""
    return GAME.sub("bytes ", IMPORT.sub("", text))


def field_numbers() -> dict[str, int]:
    """Return the number of each family's field in oneof game."""
    text = (PROTO / "cardarena" / "v1" / "game.proto").read_text("utf-8")
    return {name: int(number) for name, number in FIELD.findall(text)}


def camel(words: str) -> str:
    """Return `TAKE_PILE` as TakePile."""
    return "".join(word.capitalize() for word in words.lower().split("_"))


def one_type(family: Family, field: FieldDescriptorProto) -> str:
    """Return the type of one value of a field."""
    enum = enum_of(field)
    return enum.removeprefix(family.prefix) if enum else TYPES[field.type]


def type_of(family: Family, field: FieldDescriptorProto) -> str:
    """Return the type of a field in the struct of a verb."""
    one = one_type(family, field)
    if is_list(field):
        return f"std::vector<{one}>"
    return f"std::optional<{one}>" if field.proto3_optional else one


def checked(family: Family, field: FieldDescriptorProto) -> str:
    """Return a parameter after its check."""
    name = field.name
    if enum := enum_of(field):
        known = f"games::v1::{enum}_IsValid"
        if is_list(field):
            return f'checks::specified("{name}", std::move({name}), {known})'
        check = "valid" if family.may_be_left_out(field) else "specified"
        return f'checks::{check}("{name}", {name}, {known}({name}))'
    if field.type != FieldDescriptorProto.TYPE_STRING:
        return f"std::move({name})" if is_list(field) else name
    if name == "text":
        return f"std::move({name})"
    return f"checks::{'suit' if name == 'suit' else 'card'}(std::move({name}))"


def parameter(family: Family, field: FieldDescriptorProto) -> str:
    """Return the parameter of a constructor."""
    start = f"{type_of(family, field)} {field.name}"
    if not family.may_be_left_out(field) or is_list(field):
        return start
    default = "std::nullopt" if field.proto3_optional else f"games::v1::{family.unspecified(field)}"
    return f"{start} = {default}"


def ordered(family: Family, verb: Verb) -> list[FieldDescriptorProto]:
    """Return the fields of a verb, those that may be left out last."""
    return sorted(
        verb.fields, key=lambda field: family.may_be_left_out(field) and not is_list(field)
    )


def struct(family: Family, verb: Verb) -> list[str]:
    """Return the struct of a verb's moves."""
    name, fields = camel(verb.word), ordered(family, verb)
    lines = ["", f"/// The move: {verb.does[0].lower()}{verb.does[1:]}.", f"struct {name} {{"]
    if fields:
        parameters = ", ".join(parameter(family, field) for field in fields)
        members = ", ".join(f"{field.name}({checked(family, field)})" for field in fields)
        lines.append(f"  explicit {name}({parameters}) : {members} {{}}")
        lines += [f"  {type_of(family, field)} {field.name};" for field in fields]
    return [
        *lines,
        f"  friend bool operator==(const {name}&, const {name}&) = default;",
        "};",
    ]


def read(family: Family, field: FieldDescriptorProto) -> str:
    """Return a field of the message `message` as the parameter of a constructor."""
    if is_list(field):
        return f"detail::list<{one_type(family, field)}>(message.{field.name}())"
    if field.proto3_optional:
        given = f"std::optional<{one_type(family, field)}>(message.{field.name}())"
        return f"message.has_{field.name}() ? {given} : std::nullopt"
    return f"message.{field.name}()"


def write(field: FieldDescriptorProto) -> str:
    """Return the statement that sets a field of the message `message`."""
    name = field.name
    if is_list(field):
        return f"for (const auto& each : given->{name}) message.add_{name}(each);"
    if field.proto3_optional:
        return f"if (given->{name}) message.set_{name}(*given->{name});"
    return f"message.set_{name}(given->{name});"


def conversions(family: Family) -> list[str]:
    """Return the functions between messages and variants."""
    prefix = family.prefix
    lines = [
        f"  static Move move(const games::v1::{prefix}Move& message) {{",
        "    try {",
        "      switch (message.verb()) {",
    ]
    for verb in family.verbs:
        values = ", ".join(read(family, field) for field in ordered(family, verb))
        lines.append(f"        case games::v1::{verb.constant}:")
        lines.append(
            f"          return moves::{camel(verb.word)}{f'({values})' if values else '{}'};"
        )
    lines += [
        "        default:",
        "          break;",
        "      }",
        "    } catch (const std::invalid_argument&) {",
        "      // The message has values that this SDK does not know.",
        "    }",
        "    return moves::Other{message};",
        "  }",
        f"  static games::v1::{prefix}Move message(const Move& move) {{",
        f"    games::v1::{prefix}Move message;",
    ]
    for verb in family.verbs:
        name, fields = camel(verb.word), ordered(family, verb)
        given = "const auto* given = " if fields else ""
        get = f"std::get_if<moves::{name}>(&move)"
        lines.append(f"    if ({given}{get}{'; given != nullptr' if fields else ' != nullptr'}) {{")
        lines.append(f"      message.set_verb(games::v1::{verb.constant});")
        lines += [f"      {write(field)}" for field in fields]
        lines.append("    }")
    return [
        *lines,
        "    if (const auto* given = std::get_if<moves::Other>(&move); given != nullptr) message = given->message;",
        "    return message;",
        "  }",
    ]


def header(family: Family, number: int) -> str:
    """Return the header of a family."""
    prefix, name = family.prefix, family.name
    short = [each.removeprefix(prefix) for each in family.messages_and_enums]
    names = [camel(verb.word) for verb in family.verbs]
    values = [
        f"inline constexpr {enum.removeprefix(prefix)} "
        f"{snake(enum.removeprefix(prefix).removesuffix('Kind'))}_"
        f"{value.removeprefix(family.start_of(enum)).lower()} = games::v1::{value};"
        for enum, all_values in family.enum_values.items()
        if enum != f"{prefix}Verb"
        for value in all_values
    ]
    lines = [
        HEAD,
        "// clang-format off",
        "",
        f"// {family.title}: its messages under short names, its moves, and a bot with its types.",
        "#pragma once",
        "",
        "#include <cardarena/cards.hpp>",
        "#include <cardarena/typed.hpp>",
        "",
        f'#include "cardarena/games/v1/{name}.pb.h"',
        "",
        f"namespace cardarena::{name} {{",
        "",
        *(
            f"using {each} = games::v1::{prefix}{each};"
            for each in short
            if each not in {"Move", "Verb"}
        ),
        "",
        *values,
        "",
        "/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if",
        "/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.",
        "namespace moves {",
        *(line for verb in family.verbs for line in struct(family, verb)),
        "",
        "/// An offered move that this version of the SDK does not know.",
        "struct Other {",
        f"  games::v1::{prefix}Move message;",
        "  friend bool operator==(const Other& one, const Other& other) {",
        "    return one.message.SerializeAsString() == other.message.SerializeAsString();",
        "  }",
        "};",
        "",
        "}  // namespace moves",
        "",
        f"using Move = std::variant<{', '.join(f'moves::{each}' for each in (*names, 'Other'))}>;",
        "",
        "/// The types of the family.",
        "struct Game {",
        f"  using AskMessage = games::v1::{prefix}Ask;",
        f"  using View = {name}::View;",
        f"  using Event = {name}::Event;",
        f"  using Move = {name}::Move;",
        f"  using MoveMessage = games::v1::{prefix}Move;",
        f"  static constexpr int field = {number};",
        f'  static constexpr std::string_view family = "{name}";',
        *conversions(family),
        "};",
        "",
        "using Ask = TypedAsk<Game>;",
        "using Choice = TypedChoice<Game>;",
        "using Bot = TypedBot<Game>;",
        "",
        "/// Chooses an offered move by its index, from 0.",
        "inline Choice index(std::size_t index) { return Choice::index(index); }",
        "/// Chooses a move, offered or not.",
        "inline Choice choose(const Move& move) { return Choice::move(move); }",
        "/// An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.",
        "inline Ask ask(View view, const std::vector<Move>& moves) {",
        "  return detail::ask_for_test<Game>(std::move(view), moves);",
        "}",
        "/// A player of the family. `bot` is a function of the ask, as `Choice(Ask&)`, or makes the bot of each match, as",
        "/// `std::unique_ptr<Bot>(const Match&)`.",
        "template <class F>",
        "Player player(std::string name, F bot) {",
        "  return detail::typed_player<Game>(std::move(name), std::move(bot));",
        "}",
        *(bets() if family.has_bets else []),
        "",
        f"}}  // namespace cardarena::{name}",
        "",
    ]
    return "\n".join(lines)


def bets() -> list[str]:
    """Return the function for the legal sizes of bets."""
    return [
        "",
        "/// The range of a bet or raise of the seat to act; nothing if it may not bet.",
        "inline std::optional<Bets> bets(const View& view) {",
        "  return view.has_min_to() && view.has_max_to() ? std::optional(Bets{view.min_to(), view.max_to()}) : std::nullopt;",
        "}",
    ]


def snake(words: str) -> str:
    """Return `CardSource` as card_source."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", words).lower()


def generate(out: Path) -> None:
    """Write the generated files below `out`, at their paths in the SDK."""
    shutil.rmtree(out / "proto" / "cardarena", ignore_errors=True)
    for path in (out / "include" / "cardarena").glob("*.hpp"):
        if path.read_text("utf-8").startswith(HEAD):
            path.unlink()
    texts = {
        Path("cardarena/v1", name): without_games(
            (PROTO / "cardarena/v1" / name).read_text("utf-8")
        )
        for name in CONTRACT
    }
    games = sorted((PROTO / "cardarena/games/v1").glob("*.proto"))
    texts |= {path.relative_to(PROTO): path.read_text("utf-8") for path in games}
    files = {Path("proto") / name: of_cpp(text) for name, text in texts.items()}
    numbers = field_numbers()
    for family in families():
        files[Path("include/cardarena", f"{family.name}.hpp")] = header(
            family, numbers[family.name]
        )
    for name, text in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, "utf-8")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
