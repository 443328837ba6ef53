"""Generates the contract of the C++ SDK from proto/: the messages of games are bytes in it. See scripts/proto.

A bot that picks offered moves then compiles no messages of games: it reads an ask's fields `events`, `moves` and
`moves_complete`, which have the same numbers in all games.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "// Generated from proto/ by scripts/proto: do not edit."
FILES = ("game.proto", "play.proto")
IMPORT = re.compile(r'^import "cardarena/games/.*\n', re.MULTILINE)
GAME = re.compile(r"\bcardarena\.games\.v1\.\w+ (?=\w+ = \d+;)")
ANOTHER_LANGUAGE = re.compile(r"^option \w+ = .*\n", re.MULTILINE)


def without_games(text: str) -> str:
    """Return a file of proto/ with bytes in place of the messages of games."""
    for pattern in (IMPORT, ANOTHER_LANGUAGE):
        text = pattern.sub("", text)
    return f"{HEAD}\n//\n{GAME.sub('bytes ', text)}"


def generate(out: Path) -> None:
    """Write the files below `out`, at their paths in the SDK."""
    for name in FILES:
        place = out / "proto" / "cardarena" / "v1" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / "proto" / "cardarena" / "v1" / name).read_text("utf-8")
        place.write_text(without_games(text), "utf-8")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
