"""Replays of public matches that the process of the pages passes on to that of people's seats.

That process opens no store, so it does not know which matches are public. It reads only the replays in this folder.
"""

import secrets
import shutil
from pathlib import Path
from typing import Final

MOST: Final = 200
"""The maximal number of replays in the folder; the oldest are removed."""


def people_folder(data: Path) -> Path:
    """Return the folder of people's matches, in a data folder."""
    return data / "pages" / "people"


def passed_on_folder(people: Path) -> Path:
    """Return the folder of these replays, in that of people's matches."""
    return people / "from"


def pass_on(replay: Path, people: Path) -> None:
    """Copy the replay of a public match, unless the folder has it. Blocks. Raises `OSError` if it cannot be written."""
    folder = passed_on_folder(people)
    copied = folder / replay.name
    if copied.is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{secrets.token_hex(8)}.partial"
    shutil.copyfile(replay, partial)
    partial.replace(copied)
    kept = sorted(folder.glob("*.replay"), key=_age_key)
    for path in kept[:-MOST]:
        path.unlink(missing_ok=True)


def _age_key(replay: Path) -> int:
    """Return when a replay was copied; 0 if another thread has removed it since it was listed."""
    try:
        return replay.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
