"""The replay service: published replays in pieces, owners' notes beside them, and the progress of matches without one.

Files are read on other threads, because all bots wait while the loop works.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from arena.api.admission.access import holder_of
from arena.api.bots import pieces
from arena.api.store_refusals import on_thread
from arena.bots.tokens import Holder, Tokens
from arena.errors.refused import Refused
from arena.games.contract import Seat
from arena.live.limits import Context
from arena.live.session.asks import ask_id
from arena.records.bot_notes import notes_folder, notes_path
from arena.records.journal.match_state import JournaledMatch, journaled_match
from arena.records.read import read_body, replay_path
from arena.records.records import REPLAY_MAGIC, read_records
from arena.referee.wire.enums import enum_number
from arena.results.deal_sets import bot_of
from arena.store import Bot, Scope
from arena.store.data_folder import bots_of_worker
from arena.store.moments import unix_ms
from cardarena.v1 import game_pb2, journal_pb2, replay_pb2, replay_pb2_grpc

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ReplayCalls(replay_pb2_grpc.ReplayServiceServicer):
    """Serves `cardarena.v1.ReplayService` from a data folder."""

    def __init__(self, data: Path, tokens: Tokens, find_bot: Callable[[str], Bot | None]) -> None:
        """`find_bot` returns a registered bot, whose owner may read its notes; None if there is none of that name."""
        self._replays, self._journal = data / "replays", data / "journal"
        self._tokens, self._find_bot = tokens, find_bot

    async def GetReplay(
        self, request: replay_pb2.GetReplayRequest, context: Context
    ) -> AsyncIterator[replay_pb2.GetReplayResponse]:
        wants_notes = request.HasField("notes_of_seat")
        holder = holder_of(context, self._tokens) if wants_notes else None
        # Ids are checked before they become a file's name.
        file, path = None, self._replays
        if _ID.fullmatch(request.replay_id):
            path = replay_path(self._replays, request.replay_id)
            file = await asyncio.to_thread(_opened, path)
        if file is None:
            raise Refused("UNKNOWN_REPLAY", repr(request.replay_id))
        if holder is not None:
            file = await on_thread(self._own_notes, file, path, request.notes_of_seat, holder)
            if file is None:
                return
        with file:
            async for piece in pieces(file):
                yield replay_pb2.GetReplayResponse(piece=piece)

    def _own_notes(self, replay: BinaryIO, path: Path, at: int, holder: Holder) -> BinaryIO | None:
        """Return the notes file of a seat for the bot's owner; None if the bot noted nothing.

        There are no notes of a match without a replay, so none of a deal-set that is not over. Closes `replay`.
        """
        with replay:
            _, opened = read_body(next(read_records(replay, REPLAY_MAGIC)))
        assert isinstance(opened, journal_pb2.Opened)
        name = opened.entrants[at].name if at < len(opened.entrants) else ""
        bot = self._find_bot(bot_of(name)) if holder.scope is Scope.OWNER else None
        # A guest may have played by the name before it was that of a bot.
        if (
            bot is None
            or bot.owner != holder.owner
            or opened.start_unix_ms < unix_ms(datetime.fromisoformat(bot.created))
        ):
            raise Refused(
                "NOT_YOURS",
                f"only the bot's owner reads notes, and seat {at} is not of a bot of yours",
            )
        seat, match_id = Seat(at), path.stem
        private = _opened(notes_path(notes_folder(path.parent), match_id, seat))
        return private or _opened(notes_path(path.parent, match_id, seat))

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
