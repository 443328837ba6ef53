"""A tournament as a folder of pages that open from a disk, or from any host of files.

They are the bytes that `arena web` serves, made by the same functions.
"""

import functools
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from arena.replay.read import Replay, Unplayable
from arena.replay.records import Damaged
from arena.store import StoredMatch
from arena.web.archive import Archive, State
from arena.web.document import ASSETS, asset
from arena.web.match import as_json, hand_page, played_through, without_pictures
from arena.web.match_paths import all_eyes, eyes_name
from arena.web.sheet import Sheet
from arena.web.site import Site, verifier
from arena.web.slugs import slug

EYES: Final = ("all", "spectator", "seats")


class CannotExport(Exception):
    """There is nothing that may be written. The text says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written."""

    tournament: str = ""
    """Empty for everything in the folder that is closed."""
    eyes: tuple[str, ...] = EYES
    per_game: int | None = None
    """Of how many matches of each game there are pages, the newest; None is of all."""


def export(
    data: Path,
    folder: Path,
    wanted: Wanted,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> int:
    """Write a site into a folder; returns how many files it has.

    Raises:
      CannotExport: if there is no such tournament, or a deal-set of it is open.
      StoreError: if the store cannot be read.
      OSError: if the folder cannot be written.
    """
    archive = Archive(data, only=wanted.tournament, per_game=wanted.per_game)
    try:
        _require_closed(archive, wanted.tournament)
        site = Site(archive)
        written = _static(folder)
        for path, sheet, place in site.sheets():
            written += _write(folder / f"{path}.html", sheet.html(place).encode())
            written += _write(folder / f"{path}.json", sheet.json().encode())
        chosen = [
            (each, file) for each in _matches(archive) if (file := archive.replay(each)) is not None
        ]
        write = functools.partial(_match, folder, wanted.eyes)
        progress(0, len(chosen))
        if workers < 2:
            for done, each in enumerate(chosen, 1):
                written += write(each)
                progress(done, len(chosen))
        else:
            with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
                for done, files in enumerate(pool.map(write, chosen), 1):
                    written += files
                    progress(done, len(chosen))
        return written
    finally:
        archive.close()


def _require_closed(archive: Archive, tournament: str) -> None:
    if not tournament:
        return
    record = archive.tournament(tournament)
    if record is None:
        raise CannotExport(f"there is no tournament {tournament!r}")
    opened = record.count(State.OPEN)
    if opened:
        raise CannotExport(
            f"{opened} deal-sets of {tournament} are open: who sees one of their tables knows the "
            "hands at the others; export it when the last has ended"
        )


def _matches(archive: Archive) -> Iterator[StoredMatch]:
    page, more = 1, True
    while more:
        found, more = archive.matches(page=page)
        yield from found
        page += 1


def _static(folder: Path) -> int:
    (folder / "static").mkdir(parents=True, exist_ok=True)
    for name in ASSETS:
        own, body = asset(name)
        (folder / "static" / own).write_bytes(body)
    (folder / "verify.html").write_bytes(verifier())
    return len(ASSETS) + 1


def _match(folder: Path, eyes: Collection[str], match: tuple[StoredMatch, Path]) -> int:
    """Write the pages of a match, its replay, and what it came to."""
    stored, file = match
    match_id = stored.outcome.match_id
    target = folder / "replays" / f"{slug(match_id)}.replay"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    path = f"m/{slug(match_id)}"
    try:
        replay = Replay.open(file)
        written = 1 + _write(folder / f"{path}.json", Sheet("", (), as_json(file)).json().encode())
        played = played_through(replay)
        if not played.frames:
            raise Unplayable(played.problem or "Nothing was played.")
    except (Damaged, Unplayable) as error:
        page = without_pictures(match_id, str(error), stored.tournament)
        return 1 + _write(folder / f"{path}/all/1.html", page.encode())
    seats: Sequence[str] = [eyes_name(each) for each in all_eyes(len(replay.names))]
    for eye in seats:
        if not (eye in eyes or (eye.startswith("seat") and "seats" in eyes)):
            continue
        for hand in range(1, played.hands + 1):
            page = hand_page(played, eye, hand, "", stored.tournament)
            written += _write(folder / f"{path}/{eye}/{hand}.html", page.encode())
    return written


def _write(path: Path, body: bytes) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return 1
