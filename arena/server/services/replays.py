"""The replay service: published replays, in pieces, and lists of them from the store.

Files are looked at on other threads: all bots wait for what is done on the loop.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from arena.replay.read import replay_path
from arena.server.gate.calls import Context
from arena.server.matches.results import Results
from arena.server.refusals import not_found
from arena.server.services.pages import Place, page_size
from arena.store import MatchFilter, StoredMatch
from cardarena.v1 import replay_pb2, replay_pb2_grpc

PIECE_BYTES: Final = 64 << 10
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PUBLISHED: Final = MatchFilter(published=True)


class Replays(replay_pb2_grpc.ReplayServiceServicer):
    """Serves `cardarena.v1.ReplayService` from a folder, and what the store knows of it."""

    def __init__(self, folder: Path, results: Results) -> None:
        self._folder = folder
        self._results = results

    async def GetReplay(
        self, request: replay_pb2.GetReplayRequest, context: Context
    ) -> AsyncIterator[replay_pb2.GetReplayResponse]:
        # Ids are checked before they become a file's name.
        file = None
        if _ID.fullmatch(request.replay_id):
            path = replay_path(self._folder, request.replay_id)
            file = await asyncio.to_thread(_opened, path)
        if file is None:
            raise not_found("UNKNOWN_REPLAY", f"there is no replay {request.replay_id!r}")
        with file:
            while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield replay_pb2.GetReplayResponse(piece=piece)

    async def ListReplays(
        self, request: replay_pb2.ListReplaysRequest, context: Context
    ) -> replay_pb2.ListReplaysResponse:
        size, place = page_size(request.page_size), Place.of_token(request.page_token)
        # One more than is shown tells whether there is another page.
        found = await asyncio.to_thread(
            self._results.find, _PUBLISHED, limit=size + 1, after=place.ended
        )
        sizes = await asyncio.to_thread(self._sizes, found[:size])
        infos = [
            replay_pb2.ReplayInfo(
                replay_id=each.outcome.match_id, game=each.game, bots=each.bots, size_bytes=bytes_
            )
            for each, bytes_ in zip(found[:size], sizes, strict=True)
            if bytes_ is not None
        ]
        token = Place.after(found[size - 1]).token if len(found) > size else ""
        return replay_pb2.ListReplaysResponse(replays=infos, next_page_token=token)

    def _sizes(self, matches: Sequence[StoredMatch]) -> list[int | None]:
        """How long their replays are; None for one that was taken away."""
        return [_size(replay_path(self._folder, each.outcome.match_id)) for each in matches]


def _opened(path: Path) -> BinaryIO | None:
    return path.open("rb") if path.is_file() else None


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
