"""A file of JSON lines from which an interrupted run continues: the first line names the run, the others are its results."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final


class OtherRun(Exception):
    """The file has the results of another run. The text says so, with a cure."""


class KeptLines:
    """The results of a run in a file, in order. An incomplete last line, as after a kill, is removed."""

    def __init__(
        self, path: Path, run: Mapping[str, Any], plain: Callable[[Any], Any] | None = None
    ) -> None:
        """Read the results so far, or begin a file.

        Args:
          path: The file; its folder is made if it is missing.
          run: The parameters of the run, as JSON values.
          plain: Converts other values of a result to JSON values.

        Raises `OtherRun` if these are results of another run, and `OSError` if the file cannot be read or written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.read_bytes() if path.exists() else b""
        lines = whole[: whole.rfind(b"\n") + 1].splitlines(keepends=True)
        if lines and json.loads(lines[0]) != json.loads(json.dumps(run)):
            raise OtherRun(f"{path} has the results of another run; name another folder")
        self.earlier: Final = [json.loads(line) for line in lines[1:]]
        """The results of earlier processes."""
        self._plain = plain
        self._file = path.open("r+b" if path.exists() else "wb")
        self._file.truncate(self._file.seek(sum(map(len, lines))))
        if not lines:
            self.add(run)

    def add(self, result: Any) -> None:
        """Keep a result. It outlasts a kill of this process."""
        self._file.write(json.dumps(result, default=self._plain).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()
