"""The replay service: published replays, in pieces, and lists of them from the store.

Files are read on other threads, as all bots wait while the loop works.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from arena.replay.read import replay_path
from arena.server.admission.limits import Context
from arena.server.matches.results import Results
from arena.server.refusals import Refused
from arena.server.services.bots import pieces
from arena.server.services.pages import PagePosition, first_page, page_size
from arena.store import MatchFilter, StoredMatch
from cardarena.v1 import replay_pb2, replay_pb2_grpc

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PUBLISHED: Final = MatchFilter(published=True)


class ReplayCalls(replay_pb2_grpc.ReplayServiceServicer):
    """Serves `cardarena.v1.ReplayService` from a folder and the store's list of published replays."""

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
            raise Refused("UNKNOWN_REPLAY", repr(request.replay_id))
        with file:
            async for piece in pieces(file):
                yield replay_pb2.GetReplayResponse(piece=piece)

    async def ListReplays(
        self, request: replay_pb2.ListReplaysRequest, context: Context
    ) -> replay_pb2.ListReplaysResponse:
        size, place = page_size(request.page_size), PagePosition.of_token(request.page_token)
        found = await asyncio.to_thread(
            self._results.find, _PUBLISHED, limit=size + 1, after=place.ended
        )
        page, token = first_page(found, size, lambda match: PagePosition.after(match).token)
        sizes = await asyncio.to_thread(self._sizes, page)
        infos = [
            replay_pb2.ReplayInfo(
                replay_id=each.outcome.match_id, game=each.game, bots=each.bots, size_bytes=bytes_
            )
            for each, bytes_ in zip(page, sizes, strict=True)
            if bytes_ is not None
        ]
        return replay_pb2.ListReplaysResponse(replays=infos, next_page_token=token)

    def _sizes(self, matches: Sequence[StoredMatch]) -> list[int | None]:
        """The sizes of their replays in bytes; None for a replay that was removed."""
        return [_size(replay_path(self._folder, each.outcome.match_id)) for each in matches]


def _opened(path: Path) -> BinaryIO | None:
    return path.open("rb") if path.is_file() else None


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
