"""Writes golden files, and pages with samples: `python -m tests.goldens [--same-rules] [GAME...]`."""

import argparse

from arena.games.catalogue import GAMES, UnknownGame, game_by_id
from tests.goldens import (
    DOCUMENTS,
    document,
    document_path,
    golden,
    index,
    path_of,
    sample,
    sample_path,
)
from tests.goldens.matches import Played, digests, digests_path, head, plans, stored


def main():
    parser = argparse.ArgumentParser(
        prog="python -m tests.goldens",
        description="Play the golden matches again and write down what they are now.",
        epilog="Example: python -m tests.goldens loo eleusis",
    )
    parser.add_argument("games", nargs="*", metavar="GAME", help="games; all if none is named")
    parser.add_argument(
        "--same-rules",
        action="store_true",
        help="the bots or what is observed changed, not the rules: versions may stay",
    )
    given = parser.parse_args()
    try:
        games = [game_by_id(name) for name in given.games] or GAMES
    except UnknownGame as error:
        parser.error(str(error))
    for game in games:
        write(game, parser, same_rules=given.same_rules)
    (DOCUMENTS / "index.md").write_text(index(), "utf-8")


def write(game, parser, *, same_rules):
    text, path = golden(game), path_of(game)
    matches = {str(plan): list(digests(Played(game, plan))) for plan in plans()[game.id]}
    if not same_rules:
        refuse_silent_change(game, text, matches, parser)
    path.write_text(text, "utf-8")
    blocks = [head(game), *("\n".join(lines) + "\n" for lines in matches.values())]
    digests_path(game).write_text("\n".join(blocks), "utf-8")
    sample_path(game).write_text(sample(game), "utf-8")
    DOCUMENTS.mkdir(exist_ok=True)
    document_path(game).write_text(document(game), "utf-8")
    print(f"{path}: {len(text.splitlines())} lines; {len(matches)} matches digested")


def refuse_silent_change(game, text, matches, parser):
    """Leave with an error if a game plays otherwise under the version that it had."""
    version = f"rules_version {game.rules_version}\n"
    old = path_of(game).read_text("utf-8") if path_of(game).exists() else ""
    changed = old and old != text and version in old
    if digests_path(game).exists() and version in digests_path(game).read_text("utf-8"):
        before = stored(game)
        changed = changed or any(
            name in before and before[name] != lines for name, lines in matches.items()
        )
    if changed:
        parser.exit(1, f"{game.id} plays otherwise than before: raise its rules version first\n")


if __name__ == "__main__":
    main()
