"""Writes golden files: `python -m tests.goldens [GAME...]`; all if none is named."""

import sys

from arena.games.catalogue import GAMES, UnknownGame, game_by_id
from tests.goldens import golden, path_of


def main():
    try:
        games = [game_by_id(name) for name in sys.argv[1:]] or GAMES
    except UnknownGame as error:
        sys.exit(str(error))
    for game in games:
        text, path = golden(game), path_of(game)
        old = path.read_text("utf-8") if path.exists() else ""
        if old and old != text and f"rules_version {game.rules_version}\n" in old:
            sys.exit(f"{game.id} plays otherwise than before: raise its rules version first")
        path.write_text(text, "utf-8")
        print(f"{path}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
