"""Transcripts of the requests to a model and its replies in a match, for the bot's owner."""

import json
import re
from pathlib import Path
from typing import Any, Final

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")


class Transcript:
    """A file of JSON lines: the match, a line for each decision, and the sums at the end.

    A repeated system message is left out.
    """

    def __init__(self, folder: Path, match_id: str, seat: int) -> None:
        """Begin a file in `folder`, which only this user can read.

        Raises:
          OSError: if it cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        name = _NOT_IN_NAMES.sub("-", match_id).strip("-.") or "match"
        self.file: Final = folder / f"{name}-seat{seat}.jsonl"
        self.file.touch(mode=0o600)

    def add(self, **fields: Any) -> None:
        """Add a line."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")
