"""Adds a game: writes its ten files, and later the generated ones. See scripts/new-game."""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import generate_cpp
import generate_java
import generate_lists
import generate_protos
import generate_python
import generate_stubs
from game_protos import ROOT
from generate_all import generate_all, python

from arena.games.catalogue import GAMES
from arena.games.game import Game

EXAMPLE = ROOT / "tests" / "newgame" / "game"
"""The ten files of a small game, by their paths from the root; a new game starts as a copy."""
EXAMPLE_NAMES = ("kuhn_poker", "KuhnPoker", "Kuhn Poker")
"""The names of its family, messages and game in them."""
FIRST_NUMBER = 16
"""The number of the first family in each `oneof game`."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/new-game", description=__doc__)
    parser.add_argument("game", nargs="?", help="lower case, words joined by underscores")
    parser.add_argument("--title", help="as people write it; made of the name if not given")
    parser.add_argument("--check", action="store_true", help="say what is missing or out of date")
    parser.add_argument(
        "--python", action="store_true", help="write nothing that needs another language's tools"
    )
    given = parser.parse_args()
    if given.game and not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", given.game):
        parser.error(f"{given.game!r} is not in lower case with words joined by underscores")
    if not given.check and not given.game:
        parser.error("name a game, or give --check")
    if given.game and not (ROOT / "arena" / "games" / given.game).exists():
        title = given.title or given.game.replace("_", " ").title()
        for path in begin(given.game, title):
            print(path)
        print(f"These files play a copy of {EXAMPLE_NAMES[2]}. Write {title} into them, and then:")
        print(f"    scripts/new-game {given.game}")
        return
    try:
        if given.game and not given.check:
            derive(given.game, only_python=given.python)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    wrong = list(problems())
    for problem in wrong:
        print(problem)
    if wrong:
        sys.exit(1)
    print("every game has all that it needs")


def begin(game: str, title: str) -> Iterator[Path]:
    """Write the files of the example under the names of a new game."""
    numbers = re.compile(r"^ {8}number=(\d+),$", re.MULTILINE)
    taken = [
        int(number)
        for package in (ROOT / "arena" / "games").glob("*/__init__.py")
        for number in numbers.findall(package.read_text("utf-8"))
    ]
    prefix = "".join(word.capitalize() for word in game.split("_"))
    for path in sorted(EXAMPLE.rglob("*.*")):
        if path.suffix == ".pyc":
            continue
        text = path.read_text("utf-8")
        for old, new in zip(EXAMPLE_NAMES, (game, prefix, title), strict=True):
            text = text.replace(old, new)
        text = numbers.sub(f"        number={max(taken, default=FIRST_NUMBER - 1) + 1},", text)
        name = str(path.relative_to(EXAMPLE)).replace(EXAMPLE_NAMES[0], game)
        target = ROOT / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        yield target.relative_to(ROOT)


def derive(family: str, *, only_python: bool) -> None:
    """Write all generated files of a family of games."""
    generate_all(only_python=only_python)
    python("-m", "tests.goldens.choose", "--missing")
    python("-m", "tests.goldens", *(game.id for game in GAMES if game.family == family))
    python("-m", "tests.testing.conformance.recorded")
    python("-m", "tests.browser")


# Missing files.


def problems() -> Iterator[str]:
    """Return a line for each missing or outdated file, with the command that writes it."""
    families = {game.family: game for game in reversed(GAMES)}
    for family, game in families.items():
        for path in written_by_hand(family, game.id):
            if not (ROOT / path).exists():
                yield f"{family}: {path} is missing: write it (docs/adding-a-game.md)"
    try:
        outdated = list(generated(families))
    except generate_protos.Incompatible as error:
        yield f"{error}"
        return
    yield from outdated
    if any(" proto/" in line or " clients/python/" in line for line in outdated):
        return  # the codecs of a wrong proto cannot be imported
    for game in GAMES:
        yield from recorded(game)
    yield from listed()


def written_by_hand(family: str, page: str) -> Iterator[str]:
    """Return the paths of a family's files."""
    for path in sorted(EXAMPLE.rglob("*.*")):
        name = str(path.relative_to(EXAMPLE))
        if path.suffix != ".pyc":
            is_page = "/pages/" in name
            yield name.replace(EXAMPLE_NAMES[0], page if is_page else family)


def generated(families: dict[str, Game]) -> Iterator[str]:
    """Check the files of scripts/proto."""
    again = "run scripts/proto"
    fresh = generate_protos.generate(ROOT / "proto")
    texts = {f"proto/{name}": text for name, text in fresh.items()}
    with tempfile.TemporaryDirectory() as made:
        for name, generator in (
            ("clients/python", generate_stubs.generate),
            ("clients/python", generate_python.generate),
            ("clients/java", generate_java.generate),
            ("clients/cpp", generate_cpp.generate),
        ):
            folder = Path(made) / generator.__module__
            folder.mkdir()
            generator(folder)
            for path in folder.rglob("*.*"):
                if path.is_file() and "__pycache__" not in path.parts:
                    texts[f"{name}/{path.relative_to(folder)}"] = path.read_text("utf-8")
    texts |= {game_list.path: game_list.text(ROOT) for game_list in generate_lists.LISTS}
    texts |= generate_lists.fields_of_views()
    for name, text in sorted(texts.items()):
        path = ROOT / name
        if not path.exists() or path.read_text("utf-8") != text:
            state = "out of date" if path.exists() else "missing"
            yield f"{family_in(name, families)}: {name} is {state}: {again}"
    for family in families:
        package = family.replace("_", "")
        for name, tool in (
            (f"clients/go/{package}/{package}.go", "Go"),
            (f"clients/rust/src/{family}.rs", "Rust"),
            (f"clients/typescript/src/games/{family}.ts", "Node"),
        ):
            if not (ROOT / name).exists():
                yield f"{family}: {name} is missing: {again} where {tool} is installed"


def family_in(name: str, families: dict[str, Game]) -> str:
    """Return the family of a file; `all games` for a file of several."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", Path(name).stem).lower().removesuffix("_pb2")
    return words if words in families else "all games"


def recorded(game: Game) -> Iterator[str]:
    """Check the golden matches of a game."""
    from tests import goldens
    from tests.goldens.matches import digests_path, plans
    from tests.testing.conformance.recorded import FOLDER

    if game.id not in plans():
        again = f"run scripts/new-game {game.family}"
        yield f"{game.id}: tests/goldens/matches.toml has no matches of it: {again}"
    for path, again in (
        (goldens.path_of(game), f"run python -m tests.goldens {game.id}"),
        (digests_path(game), f"run python -m tests.goldens {game.id}"),
        (goldens.sample_path(game), f"run python -m tests.goldens {game.id}"),
        (goldens.document_path(game), f"run python -m tests.goldens {game.id}"),
        (FOLDER / f"{game.id}.json", "run python -m tests.testing.conformance.recorded"),
    ):
        if not path.exists():
            yield f"{game.id}: {path.relative_to(ROOT)} is missing: {again}"


def listed() -> Iterator[str]:
    """Check the lists of all games outside the SDKs."""
    from arena.games.catalogue import GAMES
    from tests.browser import PAGE, with_hashes, with_schema
    from tests.browser.packs import with_packs
    from tests.browser.schema import schema
    from tests.leaks.knowledge import HIDDEN
    from tests.testing.conformance.recorded import CASES, with_games

    cases, page = CASES.read_text("utf-8"), PAGE.read_text("utf-8")
    if with_games(cases) != cases:
        where = CASES.relative_to(ROOT)
        yield f"all games: {where} is out of date: run python -m tests.testing.conformance.recorded"
    if with_hashes(with_packs(with_schema(page, schema()))) != page:
        yield f"all games: {PAGE.relative_to(ROOT)} is out of date: run python -m tests.browser"
    for family in {game.family for game in GAMES} - set(HIDDEN):
        yield f"{family}: tests/vector_adapters/{family}.py has no function hidden: write it"


if __name__ == "__main__":
    main()
