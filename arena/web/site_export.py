"""Writes a site as a folder of files that a browser opens directly, or from any web host.

The pages are equal to those that `arena web` serves, except that a match is one file, and that the site of a
competition opens at the page of the competition.
"""

import contextlib
import functools
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from arena.api.public_competition import DisplayState
from arena.api.site_archive import NotPublic, SiteArchive
from arena.pictures import Viewer
from arena.process_pool import ProcessPool
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged
from arena.web.addresses import Links, all_viewers, match_path, slug, viewer_name
from arena.web.assets import ASSETS, asset
from arena.web.match_file import match_file
from arena.web.page import as_json
from arena.web.pages.finished_match import played_through, without_pictures
from arena.web.pages.match_result import match_view
from arena.web.site import Site, verifier
from arena.web.starter import all_starters
from cardarena.v1 import lobby_pb2

VIEWERS: Final = ("all", "spectator", "seats")
MB: Final = 1_000_000
_FILES_OF_MATCH: Final = 3
"""The number of files of a match: its pages, its result as JSON, and its replay."""

Chosen: TypeAlias = tuple[lobby_pb2.MatchInfo, Path]


class CannotExport(Exception):
    """A site cannot be exported. The text says why."""


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """The exported pages."""

    competition: str = ""
    """The one competition to export; empty for all closed matches of the data folder."""
    viewers: tuple[str, ...] = VIEWERS
    limit_mb: int | None = None
    """The approximate limit of the size of the files of matches; older matches beyond it have no files. None is no limit."""
    address: str = ""
    """The future address of the site, such as `https://arena.example`; empty if it is unknown."""


@dataclass(frozen=True, slots=True)
class ExportEstimate:
    """The estimated size of an export, measured by the files of a match of each game."""

    matches: int
    files: int
    size_mb: float
    time_s: float
    left_out: int
    """The number of older matches that are beyond the limit."""
    all_mb: float
    """The size including those."""
    open_deal_sets: int
    """The number of open deal-sets, which are left out."""


@dataclass(frozen=True, slots=True)
class SiteExport:
    """An export that was estimated, and can be written."""

    archive: SiteArchive
    viewers: tuple[str, ...]
    chosen: Sequence[Chosen]
    estimate: ExportEstimate
    competition: str = ""
    """The competition at whose page the site opens; empty for the home page."""
    address: str = ""
    """The future address of the site, such as `https://arena.example`; empty if it is unknown."""

    def write(
        self, folder: Path, *, workers: int, progress: Callable[[int], None] = lambda _: None
    ) -> tuple[int, int]:
        """Write the site into a folder, and return the number of its files and of their bytes.

        `progress` is called with the number of matches so far.

        Raises `StoreError` if the store cannot be read, and `OSError` if the folder cannot be written.
        """
        chosen_ids = frozenset(match.match_id for match, _ in self.chosen)
        shown = self.archive.limited_to(chosen_ids if self.estimate.left_out else None)
        try:
            sizes = [_write(folder / path, body) for path, body in self._pages(shown)]
        finally:
            shown.close()
        files, size = len(sizes), sum(sizes)
        write = functools.partial(_write_match, folder, self.viewers, self.address)
        for done, size_of_match in enumerate(_mapped(write, self.chosen, workers), 1):
            files, size = files + _FILES_OF_MATCH, size + size_of_match
            progress(done)
        return files, size

    def _pages(self, archive: SiteArchive) -> Iterator[tuple[str, bytes]]:
        """Yield the paths and contents of all files but those of matches."""
        for name in ASSETS:
            file_name, body = asset(name)
            yield f"static/{file_name}", body
        yield "verify.html", verifier()
        yield from all_starters()
        for info in archive.competitions():
            for number in range(1, info.official + 1):
                official = archive.official_export(info.name, number)
                yield f"competitions/{slug(info.name)}.official-{number}.jsonl", official
        for path, page in Site(archive, first=self.competition).pages():
            links = Links(path, exported=True, address=self.address)
            yield f"{path}.html", page.html(links).encode()
            yield f"{path}.json", page.json().encode()


def prepare(data: Path, wanted: ExportSelection, *, workers: int = 1) -> SiteExport:
    """Choose the matches of an export, newest first, and estimate its size and time.

    Raises `CannotExport` if the competition does not exist, and `StoreError` if the store cannot be read.
    """
    archive = SiteArchive(data, only=wanted.competition)
    try:
        public = [
            (match, file)
            for match in _matches(archive)
            if (file := archive.replay(match)) is not None
        ]
        rates = _rates(public, wanted.viewers)
        sizes = [rates[match.game][0] * max(1, match.decisions) for match, _ in public]
        times_s = [rates[match.game][1] * max(1, match.decisions) for match, _ in public]
        limit = float("inf") if wanted.limit_mb is None else wanted.limit_mb * MB
        most = matches_within(sizes, limit)
        chosen = public[:most]
        estimate = ExportEstimate(
            matches=most,
            files=most * _FILES_OF_MATCH,
            size_mb=sum(sizes[:most]) / MB,
            time_s=sum(times_s[:most]) / workers,
            left_out=len(public) - most,
            all_mb=sum(sizes) / MB,
            open_deal_sets=_open_deal_sets(archive, wanted.competition),
        )
        return SiteExport(
            archive, wanted.viewers, chosen, estimate, wanted.competition, wanted.address
        )
    finally:
        archive.close()


def matches_within(sizes: Sequence[float], limit: float) -> int:
    """Return the number of matches, from the newest, whose sizes together are within a limit."""
    total = 0.0
    for number, size in enumerate(sizes):
        total += size
        if total > limit:
            return number
    return len(sizes)


def _rates(matches: Sequence[Chosen], viewers: Sequence[str]) -> Mapping[str, tuple[float, float]]:
    """Return the bytes and the seconds of files for a decision of each game, measured with its match of middling length."""
    by_game: dict[str, list[Chosen]] = defaultdict(list)
    for match_and_file in matches:
        by_game[match_and_file[0].game].append(match_and_file)
    return {game: _rate(of_game, viewers) for game, of_game in by_game.items()}


def _rate(matches: Sequence[Chosen], viewers: Sequence[str]) -> tuple[float, float]:
    ordered = sorted(matches, key=lambda match_and_file: match_and_file[0].decisions)
    match, file = ordered[len(ordered) // 2]
    begun_s = time.monotonic()
    page, result = _files_of(match, file, viewers)
    taken_s = time.monotonic() - begun_s
    decisions = max(1, match.decisions)
    size = len(page) + len(result) + file.stat().st_size
    return size / decisions, taken_s / decisions


def _mapped(
    write: Callable[[Chosen], int], chosen: Sequence[Chosen], workers: int
) -> Iterator[int]:
    if workers < 2:
        yield from map(write, chosen)
        return
    with contextlib.closing(ProcessPool(workers, niceness=0)) as pool:
        for written in [pool.submit(write, match) for match in chosen]:
            yield written.result()


def _open_deal_sets(archive: SiteArchive, competition: str) -> int:
    if not competition:
        return 0
    try:
        public = archive.competition(competition)
    except NotPublic as error:
        raise CannotExport(str(error)) from None
    return sum(
        deal_set["state"] is DisplayState.OPEN
        for results in public.games
        for deal_set in results.deal_sets
    )


def _matches(archive: SiteArchive) -> Iterator[lobby_pb2.MatchInfo]:
    page, more = 1, True
    while more:
        matches, more = archive.matches(page=page)
        yield from matches
        page += 1


def _write_match(folder: Path, viewers: Sequence[str], address: str, chosen: Chosen) -> int:
    """Write the files of a match, and return the number of their bytes."""
    match, file = chosen
    path = match_path(match.match_id)
    page, result = _files_of(match, file, viewers, address)
    target = folder / "replays" / f"{slug(match.match_id)}.replay"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    size = _write(folder / f"{path}.html", page) + _write(folder / f"{path}.json", result)
    return size + target.stat().st_size


def _files_of(
    match: lobby_pb2.MatchInfo, file: Path, viewers: Sequence[str], address: str = ""
) -> tuple[bytes, bytes]:
    """Return the pages of a match in one file, and its result as JSON."""
    match_id, competition = match.match_id, match.competition
    result = b"{}\n"
    try:
        replay = Replay.open(file)
        result = as_json(match_view(replay)).encode()
        finished = played_through(file)
    except (Damaged, Unplayable) as error:
        path = match_path(match_id)
        links = Links(path, exported=True, address=address)
        return without_pictures(match_id, str(error), competition, links).encode(), result
    offered = [
        viewer
        for viewer in all_viewers(len(replay.names))
        if viewer_name(viewer) in viewers or ("seats" in viewers and not isinstance(viewer, Viewer))
    ]
    return match_file(finished, offered, competition, address).encode(), result


def _write(path: Path, body: bytes) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return len(body)
