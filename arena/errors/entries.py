"""The kinds of rows that the table of errors has, and how a message is made of a row."""

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class ErrorEntry:
    """One thing that can go wrong, explained once.

    Its meaning is written as messages are: it begins in lower case and has no full stop.
    """

    code: str
    """Stable, such as `F-TIMEOUT`: for searching `docs/errors.md`."""
    meaning: str
    cause: str
    """One sentence about the cause."""
    cure: str
    """One or two sentences about what the reader can do."""

    def message(self, detail: str = "") -> str:
        """Return the meaning, the detail of this case, and the code."""
        return f"{self.meaning}{': ' * bool(detail)}{detail} ({self.code})"


@dataclass(frozen=True)
class FaultEntry(ErrorEntry):
    """A kind of fault. Its meaning begins with `the bot`."""

    label: str
    """The fault in a word or two, for a mark beside a seat."""

    @property
    def predicate(self) -> str:
        """Return what the bot did, as the continuation of `it` or the bot's name."""
        return self.meaning.removeprefix("the bot ")


@dataclass(frozen=True)
class FaultReason(ErrorEntry):
    """A reason of a fault. Streams and replays hold its sentence, with the fields filled in."""

    sentence: str = ""
    """The text on the wire, if it differs from the meaning; `{name}` is a field in both."""

    def text(self, **fields: object) -> str:
        return (self.sentence or self.meaning).format(**fields)

    def read(self, text: str) -> dict[str, str] | None:
        """Return the fields of a sentence that `text` made; None if it is another sentence."""
        found = self._pattern.fullmatch(text)
        return None if found is None else found.groupdict()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", self.sentence or self.meaning)
        parts[::2] = map(re.escape, parts[::2])
        parts[1::2] = [f"(?P<{name}>.+)" for name in parts[1::2]]
        return re.compile("".join(parts), re.DOTALL)


@dataclass(frozen=True)
class RefusalEntry(ErrorEntry):
    """A reason for which the arena refuses a call, a stream, a message or a game."""

    statuses: tuple[str, ...] = ()
    """The gRPC statuses of a call that is refused so, the usual one first; none for a message."""

    @property
    def reason(self) -> str:
        """The name on the wire: in `google.rpc.ErrorInfo`, or the end of an enum's name."""
        return self.code.removeprefix("R-").replace("-", "_")


@dataclass(frozen=True)
class CheckEntry(ErrorEntry):
    """A way in which a qualification check fails."""


@dataclass(frozen=True)
class ExitEntry(ErrorEntry):
    """The exit code of a program."""

    program: str
    number: int
