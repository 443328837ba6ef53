"""Cases as they stand in their files: what the arena does on each stream, and what is expected."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

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
"""What a step may do: each has exactly one of these, and may have details beside it."""

INSTALLED: Final = Path(__file__).with_name("kit")
CHECKOUT: Final = Path(__file__).resolve().parents[2] / "clients" / "conformance"


class BadCase(ValueError):
    """A file of cases cannot be read. The text says which, and why."""


@dataclass(frozen=True, slots=True)
class Script:
    """What happens on one stream of the client."""

    steps: tuple[Step, ...]
    at: str = "main"
    """The endpoint that the client has to dial."""
    after_ms: tuple[int, int] | None = None
    """How long after the end of the stream before it may be opened."""
    hello: Mapping[str, Any] | None = None
    """What has to stand in the first message."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that a client must do."""

    id: str
    title: str
    must: str
    """What the client must do, to be read after "the client must"."""
    source: str
    """Where the contract says so."""
    streams: tuple[Script, ...]
    exit: tuple[int, ...] | None = (0,)
    """How the client may end once all streams are over; None if it is not waited for."""
    stdout: tuple[str, ...] | None = None
    """All lines that the fixed bot has to print, in any order; None if they are not looked at."""
    stderr: tuple[str, ...] = ()
    """What has to stand somewhere in what the client tells its author, in any case of letters."""
    arguments: tuple[str, ...] = ()
    """Arguments for the client besides those that every case gives."""
    environment: Mapping[str, str] = field(default_factory=dict)
    address: str = "main"
    """Where the client is sent at first; "none" if the case's own arguments say."""
    tls: bool = False
    """Whether the endpoint `main` speaks TLS."""
    receipt: bool = False
    """Whether the receipt of the deal is held against what was shown."""
    dials: bool = False
    """Whether the client has to dial, though no stream is to come of it."""
    unwanted: tuple[str, ...] = ("main", "second")
    """Endpoints at which there must be no stream once those of the case are over."""
    long: bool = False
    """Whether it takes more than ten seconds, so that it is begun before the others."""
    most_ms: int = 10_000
    """How long the client may take for each thing that is awaited."""


def folder() -> Path:
    """Where the cases are: beside this module, or in the checkout that it is part of."""
    return INSTALLED if INSTALLED.is_dir() else CHECKOUT


def load(path: Path) -> tuple[Case, ...]:
    """All cases of a folder, in the order of their files and lines.

    Raises:
      BadCase: if a file cannot be read as cases.
    """
    cases: list[Case] = []
    for file in sorted((path / "cases").glob("*.json")):
        try:
            entries = json.loads(file.read_text("utf-8"))
            cases += [_case(entry) for entry in entries]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadCase(f"{file.name}: {error}") from error
    if not cases:
        raise BadCase(f"there are no cases in {path / 'cases'}")
    twice = {case.id for case in cases if sum(other.id == case.id for other in cases) > 1}
    if twice:
        raise BadCase(f"two cases have the id {min(twice)}")
    return tuple(cases)


def chosen(cases: Sequence[Case], ids: Iterable[str]) -> tuple[Case, ...]:
    """The cases with these ids, or whose ids begin with one of them and a hyphen; all of none.

    Raises:
      BadCase: if an id is that of no case.
    """
    wanted = tuple(ids)
    for each in wanted:
        if not any(_is_named(case, each) for case in cases):
            raise BadCase(f"there is no case {each}")
    return tuple(
        case for case in cases if not wanted or any(_is_named(case, each) for each in wanted)
    )


def _is_named(case: Case, name: str) -> bool:
    return case.id == name or case.id.startswith(f"{name}-")


def _case(entry: dict[str, Any]) -> Case:
    fields = dict(entry)
    fields["streams"] = tuple(_script(each) for each in fields.get("streams", ()))
    for name in ("exit", "stdout", "stderr", "arguments", "unwanted"):
        if isinstance(fields.get(name), list):
            fields[name] = tuple(fields[name])
    return Case(**fields)


def _script(entry: dict[str, Any]) -> Script:
    fields = dict(entry)
    fields["steps"] = tuple(fields["steps"])
    for step in fields["steps"]:
        if len(STEPS & set(step)) != 1:
            raise ValueError(f"a step does one of {', '.join(sorted(STEPS))}; this one: {step}")
    if "after_ms" in fields:
        least, most = fields["after_ms"]
        fields["after_ms"] = (least, most)
    return Script(**fields)
