"""What runs the bots that are submitted: runtimes by name, and what each asks of a command.

Which of them an arena has is another question: `arena.server.submissions.runtimes` looks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Language:
    """What a runtime runs."""

    name: str
    programs: tuple[str, ...]
    """First words of commands that mean it."""
    least: tuple[int, ...]
    """The oldest version whose bots the SDK is made for."""
    before_file: frozenset[str] = frozenset()
    """Words after which a file is named; without any, it is the first word that is no flag."""


PYTHON: Final = Language("python", ("python", "python3"), (3, 11))
NODE: Final = Language("node", ("node",), (20,))
JAVA: Final = Language("java", ("java",), (17,), frozenset({"-jar"}))
LANGUAGES: Final = (PYTHON, NODE, JAVA)
BY_NAME: Final[Mapping[str, Language]] = {each.name: each for each in LANGUAGES}
OWN: Final = "own"
"""No runtime: the command is a file of the submission, which runs by itself."""


def language_of(program: str) -> Language | None:
    """What runs a command, by its first word; None if that is a file of the submission."""
    return next((each for each in LANGUAGES if program in each.programs), None)
