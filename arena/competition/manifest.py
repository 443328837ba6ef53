"""A bot's manifest, `bot.toml`: how it is started, what it plays, and what it needs.

    command = ["python", "bot.py"]

    [[games]]
    id = "klaberjass"

    [[games]]
    id = "soko"
    seats = [2, 3, 4]

All that is wrong with it is told at once, a sentence for each.
"""

import difflib
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from arena.competition.archive import MANIFEST, problem_of_path
from arena.competition.runtime_file import is_name
from arena.competition.runtimes import BY_NAME, OWN, PYTHON, Language, language_of
from arena.competition.toml_checks import Check, number, problems_of, said, table, text
from arena.games.catalogue import GAMES, Game, UnknownGame, game_by_id

EVERY_RUNTIME: Final = tuple(BY_NAME)
MODULE: Final = "-m"
"""Of Python: what follows is a module, not a file."""
MAX_WORDS: Final = 32
MAX_WORD_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class DeclaredGame:
    """A game that a bot says it plays."""

    game: Game
    seats: tuple[int, ...]
    """Those it plays with, in order; never none."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bot says of itself."""

    command: tuple[str, ...]
    """Program and arguments; files are named from the top of the submission."""
    games: tuple[DeclaredGame, ...]
    runtime: str = PYTHON.name
    """What runs it, by its name: a language's, one that the arena has built, or `OWN` if it runs by itself."""
    memory_mb: int = 512
    """Of each of its processes; an arena with control groups bounds all of them together by it."""
    processes: int = 64
    """Threads count like processes: gRPC and a garbage collector have a dozen."""
    max_matches: int = 8
    """Matches that it plays at the same time, at most."""

    @property
    def runs_python(self) -> bool:
        """Whether packages of Python, in a runtime or as wheels, are of use to it."""
        return runs_python(self.command)

    @property
    def is_built(self) -> bool:
        """Whether it is run by a runtime that an arena has to have built."""
        return self.runtime not in (*EVERY_RUNTIME, OWN)

    def as_json(self) -> dict[str, Any]:
        """As the registry keeps it."""
        return {
            "command": list(self.command),
            "runtime": self.runtime,
            "games": [
                {"id": each.game.id, "seats": list(each.seats), "rules": each.game.rules_version}
                for each in self.games
            ],
            "memory_mb": self.memory_mb,
            "processes": self.processes,
            "max_matches": self.max_matches,
        }


class BadManifest(ValueError):
    """The manifest is not right; each problem is a sentence."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems: Final = tuple(problems)


def runs_python(command: Sequence[str]) -> bool:
    """Whether Python runs a command."""
    return bool(command) and language_of(command[0]) is PYTHON


def read_manifest(
    toml: str,
    paths: Collection[str],
    runtimes: Collection[str] = EVERY_RUNTIME,
    built: Collection[str] | None = None,
) -> Manifest:
    """The manifest of a submission that has the files `paths`, for an arena that has `runtimes`.

    `built` are those of Python that it has built; None if nobody knows here, so that any may be.

    Raises:
      BadManifest: with all that is wrong with it.
    """
    try:
        given = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise BadManifest([f"{MANIFEST} is not TOML: {error}"]) from error
    return _Reader(given, paths, runtimes, built).manifest()


def _words(value: Any) -> str:
    fits = (
        isinstance(value, list)
        and 0 < len(value) <= MAX_WORDS
        and all(isinstance(each, str) and 0 < len(each) <= MAX_WORD_CHARS for each in value)
        and not any("\0" in each for each in value)
    )
    return "" if fits else 'a list of words, such as ["python", "bot.py"]'


def _games(value: Any) -> str:
    fits = isinstance(value, list) and value and not any(table(each) for each in value)
    return "" if fits else "given as [[games]], a table for each game"


def _seats(value: Any) -> str:
    whole = number(2, 100)
    fits = isinstance(value, list) and value and not any(whole(each) for each in value)
    return "" if fits else "a list of numbers, such as [2, 4]"


_KEYS: Final[Mapping[str, Check]] = {
    "command": _words,
    "runtime": text,
    "games": _games,
    "memory_mb": number(16, 4_096),
    "processes": number(1, 64),
    "max_matches": number(1, 64),
}
_KEYS_OF_GAME: Final[Mapping[str, Check]] = {
    "id": text,
    "seats": _seats,
    "rules": number(1, 1_000),
}


class _Reader:
    """Reads one manifest, and gathers all that is wrong with it."""

    def __init__(
        self,
        given: Mapping[str, Any],
        paths: Collection[str],
        runtimes: Collection[str],
        built: Collection[str] | None,
    ) -> None:
        self._given = given
        self._paths = paths
        self._runtimes = runtimes
        self._built = built
        self._runtime = ""
        self._problems: list[str] = []

    def manifest(self) -> Manifest:
        self._problems += problems_of(self._given, _KEYS)
        self._problems += [
            f"{name} is missing" for name in ("command", "games") if name not in self._given
        ]
        self._command()
        games = self._games()
        if self._problems:
            raise BadManifest(self._problems)
        rest = {
            name: self._given[name]
            for name in ("memory_mb", "processes", "max_matches")
            if name in self._given
        }
        command = tuple(self._given["command"])
        return Manifest(command=command, games=games, runtime=self._said_runtime, **rest)

    def _command(self) -> None:
        """What is run is in the submission, by itself or by a runtime that the arena has."""
        words = self._given.get("command", [])
        if _words(words):
            return
        program = words[0]
        language = language_of(program)
        self._runtime = language.name if language else OWN
        self._require_runtime(program)
        if language is None:
            programs = ", ".join(each for name in self._runtimes for each in BY_NAME[name].programs)
            self._file(program, f"{programs}, or a file of the submission")
            return
        file = _file_of(words, language)
        if not file:
            self._problems.append(f"command names no file for {program} to run")
        elif MODULE not in words:
            self._file(file, "a file of the submission")

    @property
    def _said_runtime(self) -> str:
        found: str = self._given.get("runtime", self._runtime)
        return found

    def _require_runtime(self, program: str) -> None:
        """That the arena has what the command is run by, and that `runtime` says nothing else."""
        here, said_runtime = ", ".join((*self._runtimes, *(self._built or ()))), self._said_runtime
        known = "runtime" not in self._given or said_runtime in (*self._runtimes, OWN)
        if not known and self._may_be_built(said_runtime):
            if program not in PYTHON.programs:
                self._problems.append(
                    f"runtime is {said_runtime}, which runs Python, and the command is run by {program}"
                )
        elif not known:
            self._problems.append(
                f"runtime is one of those that are here: {here}, {OWN}; "
                "`arena runtimes build` makes another, of its organiser's TOML"
            )
        elif self._runtime not in (*self._runtimes, OWN):
            self._problems.append(f"command: no {program} is here; what is: {here}")
        elif OWN not in (said_runtime, self._runtime) and said_runtime != self._runtime:
            self._problems.append(f"runtime is {said_runtime}, and the command is run by {program}")

    def _may_be_built(self, name: Any) -> bool:
        """Whether a runtime of this name was built, or may have been where it is submitted."""
        if not isinstance(name, str):
            return False
        return is_name(name) if self._built is None else name in self._built

    def _file(self, path: str, wanted: str) -> None:
        if path in self._paths:
            return
        why = problem_of_path(path)
        near = difflib.get_close_matches(path, self._paths, 1)
        hint = f": did you mean {near[0]}?" if near else ""
        self._problems.append(
            f"command: {why}" if why else f"command: {said(path)} is not {wanted}{hint}"
        )

    def _games(self) -> tuple[DeclaredGame, ...]:
        given = self._given.get("games", [])
        if _games(given):
            return ()
        found: dict[str, DeclaredGame] = {}
        for at, each in enumerate(given, 1):
            where = f"games, the {_ordinal(at)}: "
            problems = problems_of(each, _KEYS_OF_GAME, where)
            if "id" not in each:
                problems.append(f"{where}id is missing")
            self._problems += problems
            if problems:
                continue
            declared = self._game(each, where)
            if declared is None:
                continue
            if declared.game.id in found:
                self._problems.append(f"{where}{declared.game.id} is declared twice")
            found[declared.game.id] = declared
        return tuple(found.values())

    def _game(self, given: Mapping[str, Any], where: str) -> DeclaredGame | None:
        try:
            game = game_by_id(given["id"])
        except UnknownGame:
            known = [each.id for each in GAMES]
            near = difflib.get_close_matches(given["id"], known, 1)
            hint = f"did you mean {near[0]}?" if near else "`arena games` lists those there are"
            self._problems.append(f"{where}there is no game {said(given['id'])}; {hint}")
            return None
        rules = given.get("rules", game.rules_version)
        if rules != game.rules_version:
            self._problems.append(
                f"{where}{game.id} is played by its rules {game.rules_version} here, not {rules}"
            )
        seats = tuple(sorted(set(given.get("seats", game.seats))))
        if other := [str(each) for each in seats if each not in game.seats]:
            plays = ", ".join(map(str, game.seats))
            self._problems.append(
                f"{where}{game.id} is not played with {' or '.join(other)} seats, but with {plays}"
            )
        return DeclaredGame(game, seats)


def _file_of(words: Sequence[str], language: Language) -> str:
    """The file that a runtime is told to run; empty if it is told none."""
    rest = words[1:]
    if language.before_file:
        return next((file for flag, file in pairwise(rest) if flag in language.before_file), "")
    return next((word for word in rest if not word.startswith("-")), "")


def _ordinal(at: int) -> str:
    if 10 < at % 100 < 14:
        return f"{at}th"
    return f"{at}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(at % 10, 'th') }"
