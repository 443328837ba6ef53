"""Prompts as files, so that two prompts can be compared like two bots."""

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final

from cardarena._errors import Misconfigured

_LINE: Final = "\n---\n"
_KNOWN: Final = frozenset({"rules", "news", "table", "moves", "answer"})
_NEEDED: Final = ("moves", "answer")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text of the system message, a line `---`, and the text of the message for a move.

    Both may have `$rules`, `$news`, `$table`, `$moves` and `$answer`, which says how to answer; `$$` is a dollar. Text
    that stays the same in a match belongs in the first part, which endpoints cache.
    """

    system: str
    turn: str

    @classmethod
    def read(cls, file: Path | None = None) -> "Prompt":
        """Read a prompt; without a file, read the one of the SDK.

        Raises:
          Misconfigured: if the file cannot be read, or is no prompt.
        """
        if file is None:
            return cls.of(resources.files("cardarena.llm").joinpath("prompt.md").read_text("utf-8"))
        try:
            return cls.of(file.read_text("utf-8"), str(file))
        except OSError as error:
            raise Misconfigured(f"the prompt {file} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError:
            raise Misconfigured(f"the prompt {file} is not UTF-8") from None

    @classmethod
    def of(cls, text: str, name: str = "the prompt") -> "Prompt":
        """Return the prompt of a text.

        Raises:
          Misconfigured: if it has no line `---`, an unknown placeholder, or no place for the moves.
        """
        parts = f"\n{text}".split(_LINE)
        if len(parts) != 2:
            raise Misconfigured(f"{name} needs one line `---`, between its two parts")
        prompt = cls(*(part.strip() for part in parts))
        turn = Template(prompt.turn)
        for template in (Template(prompt.system), turn):
            if not template.is_valid():
                raise Misconfigured(f"{name} has a `$` without a name: write `$$` for a dollar")
            unknown = sorted({*template.get_identifiers()} - _KNOWN)
            if unknown:
                known = ", ".join(f"${name}" for name in sorted(_KNOWN))
                raise Misconfigured(f"{name} has ${unknown[0]}, which is none of {known}")
        for needed in _NEEDED:
            if needed not in turn.get_identifiers():
                raise Misconfigured(f"{name} has no ${needed} after its line `---`")
        return prompt

    @property
    def sha256(self) -> str:
        """The first 12 digits of the hash of its text, which identifies prompts in transcripts."""
        text = f"{self.system}{_LINE}{self.turn}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def filled(self, values: dict[str, str]) -> tuple[str, str]:
        """Return both texts with these values of all placeholders."""
        return Template(self.system).substitute(values), Template(self.turn).substitute(values)
