"""Reads the files of cases: the arena's steps on each stream, and the expected messages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from arena.validation import STRICT, Constraint, InvalidInput, read_json

Step: TypeAlias = Mapping[str, Any]

STEPS: Final = frozenset(
    {
        "answers",
        "ask",
        "ask_closed",
        "deal",
        "drain",
        "end",
        "expect",
        "hangs_up",
        "interrupt",
        "match_end",
        "match_start",
        "pings",
        "redirect",
        "reset",
        "send",
        "send_hex",
        "silence_ms",
        "wait_ms",
        "welcome",
    }
)
"""The kinds of steps: each step has exactly one of these keys, and may have details."""

INSTALLED: Final = Path(__file__).with_name("kit")
CHECKOUT: Final = Path(__file__).resolve().parents[3] / "clients" / "conformance"


class BadCase(ValueError):
    """A file of cases cannot be read. The text says which, and why."""


def _one_step(step: Step, _: object) -> Step:
    if len(STEPS & set(step)) != 1:
        raise ValueError(f"a step does one of {', '.join(sorted(STEPS))}")
    return step


@dataclass(frozen=True, slots=True)
class Script:
    """The steps of one stream of the client."""

    steps: tuple[Annotated[Step, Constraint(_one_step)], ...]
    at: str = "main"
    """The endpoint that the client must connect to."""
    after_ms: tuple[int, int] | None = None
    """The time after the end of the previous stream, at least and at most."""
    hello: Mapping[str, Any] | None = None
    """The fields that the first message must have."""


@dataclass(frozen=True, slots=True)
class Case:
    """One requirement on a client."""

    __pydantic_config__: ClassVar = STRICT

    id: str
    title: str
    must: str
    """The requirement, as the continuation of "the client must"."""
    source: str
    """The place in the contract."""
    streams: tuple[Script, ...]
    exit: tuple[int, ...] | None = (0,)
    """The allowed exit codes after the last stream; None if the exit is not awaited."""
    stdout: tuple[str, ...] | None = None
    """All lines that the fixed bot must print, in any order; None if they are not checked."""
    stderr: tuple[str, ...] = ()
    """Texts that stderr must contain, in upper or lower case."""
    arguments: tuple[str, ...] = ()
    """Arguments for the client besides those of every case."""
    environment: Mapping[str, str] = field(default_factory=dict)
    address: str = "main"
    """The endpoint for `--address`; "none" if the case's own arguments name it."""
    tls: bool = False
    """Whether the endpoint `main` speaks TLS."""
    receipt: bool = False
    """Whether the receipt of the deal is compared with the messages to the client."""
    dials: bool = False
    """Whether the client must connect, even if no stream follows."""
    unwanted: tuple[str, ...] = ("main", "second")
    """Endpoints that must have no stream after those of the case."""
    long: bool = False
    """Whether it takes more than ten seconds: such cases are started first."""
    most_ms: int = 10_000
    """The longest time in milliseconds for each expected message."""


def folder() -> Path:
    """Return the folder of the cases: beside this module, or in the checkout."""
    return INSTALLED if INSTALLED.is_dir() else CHECKOUT


def load(path: Path) -> tuple[Case, ...]:
    """Return all cases of a folder, in the order of their files and lines.

    Raises `BadCase` if a file cannot be read as cases.
    """
    cases: list[Case] = []
    for file in sorted((path / "cases").glob("*.json")):
        try:
            cases += read_json(tuple[Case, ...], file.read_bytes())
        except (OSError, InvalidInput) as error:
            raise BadCase(f"{file.name}: {error}") from error
    if not cases:
        raise BadCase(f"there are no cases in {path / 'cases'}")
    twice = {case.id for case in cases if sum(other.id == case.id for other in cases) > 1}
    if twice:
        raise BadCase(f"two cases have the id {min(twice)}")
    return tuple(cases)


def chosen(cases: Sequence[Case], ids: Iterable[str]) -> tuple[Case, ...]:
    """Return the cases whose ids are or begin with one of these and a hyphen; all cases without ids.

    Raises `BadCase` if an id is that of no case.
    """
    wanted = tuple(ids)
    for name in wanted:
        if not any(_is_named(case, name) for case in cases):
            raise BadCase(f"there is no case {name}")
    return tuple(
        case for case in cases if not wanted or any(_is_named(case, name) for name in wanted)
    )


def _is_named(case: Case, name: str) -> bool:
    return case.id == name or case.id.startswith(f"{name}-")
