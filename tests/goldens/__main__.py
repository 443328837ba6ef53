"""Writes golden files, and pages with samples: `python -m tests.goldens [GAME...]`."""

import sys

from arena.games.catalogue import GAMES, UnknownGame, game_by_id
from tests.goldens import DOCUMENTS, document_path, golden, path_of, sample, sample_path


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
        sample_path(game).write_text(sample(game), "utf-8")
        DOCUMENTS.mkdir(exist_ok=True)
        document_path(game).write_text(game.describe(), "utf-8")
        print(f"{path}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
