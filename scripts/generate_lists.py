"""Writes the lists of games in the SDKs, and what the fields of views mean beside the games' pages: see scripts/proto.

Only the rows of a list are written; the rest of its file stays.
"""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from game_protos import ROOT, families, games_of

from arena.games.catalogue import GAMES
from arena.referee.wire.shape import prefix_of

NUMBERS = {game.family: game.number for game in GAMES}


@dataclass(frozen=True)
class GameList:
    """Rows in a file, between two places."""

    path: str
    begins: str
    """A pattern of the text before the rows."""
    ends: str
    rows: Callable[[Mapping[str, tuple[str, ...]]], list[str]]
    """Makes the rows from the ids of each family's games."""

    def text(self, root: Path) -> str:
        """Return the text of a file below `root` with rows for all games."""
        before = (root / self.path).read_text("utf-8")
        pattern = re.compile(f"({self.begins})(.*?)({self.ends})", re.DOTALL | re.MULTILINE)
        rows = "".join(f"{row}\n" for row in self.rows(games_of()))
        after, replaced = pattern.subn(lambda match: match[1] + rows + match[3], before)
        if replaced != 1:
            raise ValueError(f"{self.path} has {replaced} places that look like its list of games")
        return after


def quoted(ids: tuple[str, ...]) -> str:
    return ", ".join(f'"{game}"' for game in ids)


def of_go(families: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [f'\t{{"{name}", []string{{{quoted(ids)}}}}},' for name, ids in families.items()]


def of_typescript(families: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [f'  ["{name}", [{quoted(ids)}]],' for name, ids in families.items()]


def of_rust(families: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [
        f"            ({prefix_of(name)}, {name.upper()}, {NUMBERS[name]}, {name}, [{quoted(ids)}]),"
        for name, ids in families.items()
    ]


def rust_modules(families: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [f"pub mod {name};" for name in sorted(families)]


def of_java(families: Mapping[str, tuple[str, ...]]) -> list[str]:
    lines = [f'    GAMES.put("{name}", List.of({quoted(ids)}));' for name, ids in families.items()]
    return [line.replace("put(", "put(\n        ") if len(line) > 100 else line for line in lines]


def of_cpp(families: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [f'    {{"{name}", {{{quoted(ids)}}}}},' for name, ids in families.items()]


LISTS = (
    GameList("clients/go/games.go", r"\tgames \[\]string\n\}\{\n", r"\}\n", of_go),
    GameList("clients/typescript/src/families.ts", r"\]\)\[\] = \[\n", r"\];\n", of_typescript),
    GameList("clients/cpp/src/games.cc", r"> families = \{\n", r"\};\n", of_cpp),
    GameList("clients/rust/src/families.rs", r"\$apply! \{\n", r"        \}\n", of_rust),
    GameList("clients/rust/src/lib.rs", r"\n\n(?=pub mod abstrac)", r"(?=\n///)", rust_modules),
    GameList(
        "clients/java/src/main/java/cardarena/Families.java", r"  static \{\n", r"  \}\n", of_java
    ),
)


def fields_of_views() -> dict[str, str]:
    """Return the files beside the games' pages that say what the fields of each view mean, by path."""
    return {
        f"arena/games/pages/{family.name}.fields": "".join(
            f"{name}\t{meaning}\n" for name, meaning in family.view_fields
        )
        for family in families()
    }


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    texts = {game_list.path: game_list.text(root) for game_list in LISTS} | fields_of_views()
    for name, text in texts.items():
        path = root / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
