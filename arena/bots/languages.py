"""The languages that submitted bots may use, and how a command names them.

`arena.bots.runtimes` finds those that an arena has installed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    """A language of bots."""

    name: str
    programs: tuple[str, ...]
    """The first words of its commands."""
    least: tuple[int, ...]
    """The oldest version that the SDK supports."""
    before_file: frozenset[str] = frozenset()
    """The flags before the file in a command; if empty, the file is the first word without a dash."""


PYTHON: Final = Language("python", ("python", "python3"), (3, 11))
NODE: Final = Language("node", ("node",), (20,))
JAVA: Final = Language("java", ("java",), (17,), frozenset({"-jar"}))
LANGUAGES: Final = (PYTHON, NODE, JAVA)
BY_NAME: Final[Mapping[str, Language]] = {language.name: language for language in LANGUAGES}
OWN: Final = "own"
"""The runtime of commands that are an executable file of the submission."""


def language_of(program: str) -> Language | None:
    """Return the language of a command, by its first word; None if that is a file of the submission."""
    return next((language for language in LANGUAGES if program in language.programs), None)
