"""The replay service: published replays, in pieces."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from arena.replay.read import Replay
from arena.replay.records import Damaged
from arena.server.gate.calls import Context
from arena.server.refusals import not_found
from arena.server.services.pages import page
from cardarena.v1 import replay_pb2, replay_pb2_grpc

PIECE_BYTES: Final = 64 << 10
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Replays(replay_pb2_grpc.ReplayServiceServicer):
    """Serves `cardarena.v1.ReplayService` from a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def GetReplay(
        self, request: replay_pb2.GetReplayRequest, context: Context
    ) -> AsyncIterator[replay_pb2.GetReplayResponse]:
        # Ids are checked before they become a file's name.
        path = self._folder / f"{request.replay_id}.replay"
        if not _ID.fullmatch(request.replay_id) or not path.is_file():
            raise not_found("UNKNOWN_REPLAY", f"there is no replay {request.replay_id!r}")
        with path.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield replay_pb2.GetReplayResponse(piece=piece)

    async def ListReplays(
        self, request: replay_pb2.ListReplaysRequest, context: Context
    ) -> replay_pb2.ListReplaysResponse:
        files = sorted(
            self._folder.glob("*.replay"),
            key=lambda path: (path.stat().st_mtime_ns, path.name),
            reverse=True,
        )
        chosen, token = page(files, lambda path: path.stem, request.page_size, request.page_token)
        infos = [info for path in chosen if (info := _info(path)) is not None]
        return replay_pb2.ListReplaysResponse(replays=infos, next_page_token=token)


def _info(path: Path) -> replay_pb2.ReplayInfo | None:
    try:
        opened = Replay.open(path).opened
    except Damaged:
        return None  # `arena replay verify` says what is wrong with it
    return replay_pb2.ReplayInfo(
        replay_id=path.stem,
        game=opened.terms.game,
        bots=[entrant.name for entrant in opened.entrants],
        size_bytes=path.stat().st_size,
    )
