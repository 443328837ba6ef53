"""The page of what an owner's bots noted in a match. Only the owner has it, but for the notes that a bot publishes."""

import asyncio
import contextlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from starlette.responses import Response

from arena.games.contract import Seat
from arena.games.notation import Notation
from arena.records.notes_file import NotesFile
from arena.records.playback import Discrepancy, play_back
from arena.records.read import Replay, Unplayable
from arena.records.records import MAX_REPLAY_BYTES
from arena.results.deal_sets import bot_of
from arena.web.acting.guard import Act, Ask, Who, Wrong
from arena.web.addresses import match_path, match_query
from cardarena.v1 import bots_pb2, replay_pb2

Row = tuple[str, str, str]
"""The query of the step, the move, and the note; the first two are empty if this arena cannot play the match."""


async def notes_page(ask: Ask) -> Response:
    """Show the notes of the owner's bots in a match, each at its step."""
    match = ask.part("match")
    listed = await ask.call(ask.arena.bots.ListOwnedBots, bots_pb2.ListOwnedBotsRequest())
    owned = {bot.bot for bot in listed.bots}
    replay = Replay.read(io.BytesIO(await _file(ask, replay_id=match)))
    seats = [Seat(at) for at, name in enumerate(replay.names) if bot_of(name) in owned]
    if not seats:
        raise Wrong(
            404, "no bot of yours played this match; its page has the notes that are published"
        )
    noted: dict[Seat, Mapping[int, str]] = {}
    for seat in seats:
        file = await _file(ask, replay_id=match, notes_of_seat=seat)
        notes = NotesFile.read(io.BytesIO(file), Path(f"seat {seat}")) if file else None
        noted[seat] = notes.of_seat(replay, seat) if notes else {}
    rows = await asyncio.to_thread(_rows, replay, noted)
    return ask.page(
        "own_notes.html",
        f"Notes: {', '.join(replay.names)}",
        path=match_path(match),
        game=replay.opened.terms.game,
        scores=list(replay.closed.scores),
        names=replay.names,
        rows=rows,
    )


async def _file(ask: Ask, **asked: str | int) -> bytes:
    request = replay_pb2.GetReplayRequest(**asked)  # type: ignore[arg-type]
    content, method = bytearray(), ask.arena.replays.GetReplay
    async for answer in ask.arena.stream(method, request, ask.visit.session):
        content += answer.piece
        if len(content) > MAX_REPLAY_BYTES:
            raise Wrong(413, "this is too long for the site; use `arena replay download`")
    return bytes(content)


def _rows(replay: Replay, noted: Mapping[Seat, Mapping[int, str]]) -> Mapping[Seat, Sequence[Row]]:
    """Return the notes of seats with their steps, in the order of the match."""
    places: dict[tuple[Seat, int], tuple[str, str]] = {}
    with contextlib.suppress(Unplayable, Discrepancy):
        for step in play_back(replay):
            write = Notation(step.game.messages.Move).write
            for decision in step.decisions:
                query = match_query(decision.seat, step.hand, str(step.index))
                places[decision.seat, decision.decision] = query, write(decision.move)
    return {
        seat: [
            (*places.get((seat, at), ("", "")), text) for at, text in sorted(notes.items()) if text
        ]
        for seat, notes in noted.items()
    }


ACTS: Final = (Act("GET", "/me/matches/{match}", Who.OWNER, notes_page),)
