"""A bot's manifest, `bot.toml`: how the bot is started, which games it plays, and what it needs.

command = ["python", "bot.py"]

[[games]]
id = "klaberjass"

[[games]]
id = "soko"
seats = [2, 3, 4]
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias

from arena.bots.archive import problem_of_path
from arena.bots.languages import BY_NAME, OWN, PYTHON, Language, language_of
from arena.bots.runtime_file import is_name
from arena.games.catalogue import game_by_id
from arena.games.game import Game
from arena.referee.terms import GameId, MatchTerms
from arena.validation import (
    NOT_EMPTY,
    STRICT,
    Constraint,
    InvalidInput,
    Limits,
    suggestion,
    toml_values,
    validated,
)

if TYPE_CHECKING:
    from pydantic import ValidationInfo

    Context: TypeAlias = tuple[Collection[str], Collection[str], Collection[str] | None]
    ManifestInfo: TypeAlias = ValidationInfo[Context]
    """Its context has the arguments of `read_manifest`: paths, runtimes, built runtimes."""

EVERY_RUNTIME: Final = tuple(BY_NAME)
MODULE: Final = "-m"
"""The flag of Python before the name of a module."""
MAX_MATCHES: Final = 8
"""The most matches at the same time of a bot that reads JSON lines, if its manifest does not say it."""
GRPC: Final = "grpc"
STDIO: Final = "stdio"
STDIO_PER_MATCH: Final = "stdio-per-match"
BRIDGE_MB: Final = 256
"""The smallest memory limit of a bot behind the bridge: a bridge starts with 192 MB but not with 160 MB."""
PROTOCOLS: Final = (GRPC, STDIO, STDIO_PER_MATCH)
MAX_START_S: Final = 300
"""The longest time in seconds from the launch to hello that a manifest may request."""
MAX_WORDS: Final = 32
MAX_WORD_CHARS: Final = 200


class BadManifest(InvalidInput):
    """A manifest is not valid."""


def _command(words: tuple[str, ...], info: "ManifestInfo") -> tuple[str, ...]:
    """Require the command to run a file of the submission, directly or by a runtime of the arena."""
    paths, runtimes, _ = info.context
    program = words[0]
    language = language_of(program)
    if any("\0" in word for word in words):
        raise ValueError("has a word with a NUL character")
    if language is None:
        programs = ", ".join(program for name in runtimes for program in BY_NAME[name].programs)
        _require_file(program, paths, f"{programs}, or a file of the submission")
    elif language.name not in runtimes:
        raise ValueError(f"the arena has no {program}; it has {_offered(info)}")
    elif not (file := _file_of(words, language)):
        raise ValueError(f"names no file for {program} to run")
    elif MODULE not in words:
        _require_file(file, paths, "a file of the submission")
    return words


def _require_file(path: str, paths: Collection[str], wanted: str) -> None:
    if path not in paths:
        why = problem_of_path(path)
        raise ValueError(why or f"{path!r} is not {wanted}; {suggestion(path, paths, 'files')}")


def _runtime(given: str, info: "ManifestInfo") -> str:
    """Return the runtime: the given one, which must fit the command, or the command's."""
    if not (command := info.data.get("command")):
        return given
    _, runtimes, built = info.context
    language = language_of(command[0])
    runtime = language.name if language else OWN
    if not given or given in (runtime, OWN) or (given in runtimes and runtime == OWN):
        return given or runtime
    if given in runtimes:
        raise ValueError(f"is {given}, and the command is run by {command[0]}")
    if not (is_name(given) if built is None else given in built):
        raise ValueError(
            f"should be a runtime of the arena: {_offered(info)}, {OWN}; an organiser makes others"
            " with `arena runtimes build`"
        )
    if language is not PYTHON:
        raise ValueError(f"is {given}, which runs Python, and the command is run by {command[0]}")
    return given


def _protocol(given: str, info: "ManifestInfo") -> str:
    if given not in PROTOCOLS:
        raise ValueError(f"should be one of {', '.join(PROTOCOLS)}, not {given!r}")
    if given != GRPC and info.data.get("memory_mb", BRIDGE_MB) < BRIDGE_MB:
        raise ValueError(f"is {given}, whose bridge needs memory_mb = {BRIDGE_MB} or more")
    return given


def _max_matches(given: int | None, info: "ManifestInfo") -> int | None:
    if given is not None and info.data.get("protocol") == GRPC:
        raise ValueError(
            f"is for bots with protocol = {STDIO!r}; this one says it when it connects"
        )
    return given


def _offered(info: "ManifestInfo") -> str:
    _, runtimes, built = info.context
    return ", ".join((*runtimes, *(built or ())))


def _seats_given(seats: Any, info: "ManifestInfo") -> Any:
    """Return the given seats, or all seats of the game if the manifest has none. TOML gives a list, and the default is a tuple."""
    game = info.data.get("id")
    if game and seats == ():
        return game_by_id(game).seats
    return tuple(seats) if isinstance(seats, list) else seats


def _seats(seats: tuple[int, ...], info: "ManifestInfo") -> tuple[int, ...]:
    if "id" not in info.data:
        return seats
    game = game_by_id(info.data["id"])
    if not seats:
        raise ValueError("should be a list of numbers, such as [2, 4]")
    if other := [str(count) for count in seats if count not in game.seats]:
        plays = ", ".join(map(str, game.seats))
        raise ValueError(
            f"{game.id} is not played with {' or '.join(other)} seats, but with {plays}"
        )
    return tuple(sorted(set(seats)))


def _rules(rules: int | None, info: "ManifestInfo") -> int | None:
    game = info.data.get("id")
    if game and rules not in (None, here := game_by_id(game).rules_version):
        raise ValueError(f"is {rules}, and the arena plays {game} by its rules version {here}")
    return rules


@dataclass(frozen=True, slots=True)
class DeclaredGame:
    """A game that a bot's manifest declares."""

    id: GameId
    seats: Annotated[
        tuple[Annotated[int, Limits(ge=2, le=100)], ...],
        Constraint(_seats),
        Constraint(_seats_given, first=True),
    ] = ()
    """The numbers of seats that it plays with, sorted; those of the game if the manifest has none."""
    rules: Annotated[int, Constraint(_rules)] | None = None
    """The version of the rules that it plays; None is the arena's."""
    accepts_challenges: Annotated[int, Limits(ge=0, le=1_000)] = 0
    """Challenges of other owners that it accepts on a day."""
    accepts_humans: Annotated[int, Limits(ge=0, le=1_000)] = 0
    """The number of matches of people in the browser that it accepts on a day."""

    @property
    def game(self) -> Game:
        return game_by_id(self.id)


def _distinct(games: tuple[DeclaredGame, ...], _: object) -> tuple[DeclaredGame, ...]:
    ids = [game.id for game in games]
    for game_id in ids:
        if ids.count(game_id) > 1:
            raise ValueError(f"{game_id} is declared twice")
    return games


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a valid manifest."""

    __pydantic_config__: ClassVar = STRICT

    command: Annotated[
        tuple[Annotated[str, Limits(min_length=1, max_length=MAX_WORD_CHARS)], ...],
        Limits(max_length=MAX_WORDS),
        NOT_EMPTY,
        Constraint(_command),
    ]
    """Program and arguments; paths start at the top of the submission."""
    games: Annotated[tuple[DeclaredGame, ...], NOT_EMPTY, Constraint(_distinct)]
    files: tuple[Annotated[str, Limits(min_length=1, max_length=MAX_WORD_CHARS)], ...] = ()
    """Patterns of the files of a folder that are packed with the manifest; empty for all files."""
    runtime: Annotated[str, Constraint(_runtime)] = ""
    """The name of the runtime: a language, a built runtime, or `OWN` for an executable file."""
    memory_mb: Annotated[int, Limits(ge=16, le=4_096)] = 512
    """The memory limit of each process, and of all processes of the bot together, in MB."""
    processes: Annotated[int, Limits(ge=1, le=64)] = 64
    """The most processes and threads; gRPC and a garbage collector use a dozen threads."""
    start_s: Annotated[int, Limits(ge=1, le=MAX_START_S)] | None = None
    """The longest time in seconds from its launch to its hello; None for the arena's."""
    protocol: Annotated[str, Constraint(_protocol)] = GRPC
    """One of `PROTOCOLS`: gRPC, or JSON lines with one process for all matches or one for each."""
    max_matches: Annotated[int | None, Limits(ge=1, le=64), Constraint(_max_matches)] = None
    """The most matches at the same time of a bot that reads JSON lines; other bots declare it when they connect."""

    publish_notes: bool = False
    """Whether the bot's notes are shown beside its decisions when a replay is published."""

    @property
    def runs_python(self) -> bool:
        """Whether Python runs it, so that it can use runtimes and wheels."""
        return runs_python(self.command)

    @property
    def is_built(self) -> bool:
        """Whether it needs a runtime that an organiser has built."""
        return self.runtime not in (*EVERY_RUNTIME, OWN)

    def as_json(self) -> dict[str, Any]:
        games = [
            {
                "id": declared.id,
                "seats": list(declared.seats),
                "rules": declared.game.rules_version,
                "accepts_challenges": declared.accepts_challenges,
                "accepts_humans": declared.accepts_humans,
            }
            for declared in self.games
        ]
        lists = {"command": list(self.command), "files": list(self.files), "games": games}
        return asdict(self) | lists


def declares(manifest: Mapping[str, Any], terms: MatchTerms) -> bool:
    """Return whether a stored manifest names the game of these terms, its rules and its seats.

    The manifest of a remote bot names no games, because the bot declares them in its hello; for it the result is always
    true.
    """
    games = manifest.get("games")
    if not isinstance(games, list):
        return True
    return any(
        game["id"] == terms.game.id
        and terms.seats in game["seats"]
        and game["rules"] == terms.game.rules_version
        for game in games
    )


def runs_python(command: Sequence[str]) -> bool:
    """Return whether Python runs a command."""
    return bool(command) and language_of(command[0]) is PYTHON


def read_manifest(
    toml: str,
    paths: Collection[str],
    runtimes: Collection[str] = EVERY_RUNTIME,
    built: Collection[str] | None = None,
) -> Manifest:
    """Read the manifest of a submission with the files `paths`, for an arena with `runtimes`.

    `built` has the names of the arena's built runtimes; with None every valid name is accepted.

    Raises `BadManifest` with all problems of the manifest.
    """
    values = toml_values(toml, BadManifest)
    return validated(Manifest, values, BadManifest, context=(paths, runtimes, built))


def _file_of(words: Sequence[str], language: Language) -> str:
    """Return the file that a command passes to its runtime; empty if there is none."""
    rest = words[1:]
    if language.before_file:
        return next((file for flag, file in pairwise(rest) if flag in language.before_file), "")
    return next((word for word in rest if not word.startswith("-")), "")
