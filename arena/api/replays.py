"""The replay service: published replays in pieces, and the progress of matches without one.

Files are read on other threads, because all bots wait while the loop works.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO, Final

from arena.api.bots import pieces
from arena.api.store_refusals import on_thread
from arena.errors.refused import Refused
from arena.live.limits import Context
from arena.live.session.asks import ask_id
from arena.records.journal.match_state import JournaledMatch, journaled_match
from arena.records.read import replay_path
from arena.referee.wire.enums import enum_number
from arena.store.data_folder import bots_of_worker
from cardarena.v1 import game_pb2, journal_pb2, replay_pb2, replay_pb2_grpc

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ReplayCalls(replay_pb2_grpc.ReplayServiceServicer):
    """Serves `cardarena.v1.ReplayService` from a data folder."""

    def __init__(self, data: Path) -> None:
        self._replays, self._journal = data / "replays", data / "journal"

    async def GetReplay(
        self, request: replay_pb2.GetReplayRequest, context: Context
    ) -> AsyncIterator[replay_pb2.GetReplayResponse]:
        # Ids are checked before they become a file's name.
        file = None
        if _ID.fullmatch(request.replay_id):
            path = replay_path(self._replays, request.replay_id)
            file = await asyncio.to_thread(_opened, path)
        if file is None:
            raise Refused("UNKNOWN_REPLAY", repr(request.replay_id))
        with file:
            async for piece in pieces(file):
                yield replay_pb2.GetReplayResponse(piece=piece)

    async def InspectMatch(
        self, request: replay_pb2.InspectMatchRequest, context: Context
    ) -> replay_pb2.InspectMatchResponse:
        match = None
        if request.match_id:
            match = await on_thread(journaled_match, self._journal, request.match_id)
        if match is None:
            raise Refused("UNKNOWN_MATCH", f"{request.match_id!r} in a journal")
        return _journaled_message(match)


def _opened(path: Path) -> BinaryIO | None:
    return path.open("rb") if path.is_file() else None


def _journaled_message(match: JournaledMatch) -> replay_pb2.InspectMatchResponse:
    closed = match.closed or journal_pb2.Closed()
    return replay_pb2.InspectMatchResponse(
        bots=match.names,
        deal_set=match.opened.deal_set,
        state=enum_number(replay_pb2.JournalState, match.state.name),
        ordered_again=match.ordered_again,
        written_unix_ms=round(match.written_unix_s * 1000),
        decisions=[
            sum(decided.seat == seat for decided in match.decided)
            for seat in range(len(match.names))
        ],
        faults=[
            game_pb2.Fault(
                seat=decided.seat,
                kind=decided.fault,
                decision=decided.decision,
                reason=decided.reason,
            )
            for decided in match.decided
            if decided.fault
        ],
        ending=closed.ending,
        cause=closed.cause,
        incident=closed.incident,
        scores=closed.scores,
        places=closed.places,
        processes=[
            replay_pb2.BotProcess(instance=seated.instance, first_ask=ask_id(seated.match, 0))
            for seated in match.seated
        ],
        bots_folder=str(bots_of_worker(Path(), match.worker)),
    )
