"""The standings service: standings, pairs of bots, and exports of deal-sets.

Live standings of many deal-sets take seconds. Another process computes them, once for all calls within ten seconds.
"""

import functools
from collections.abc import AsyncIterator
from typing import Any, Final

from arena.server.admission.limits import Context
from arena.server.competition_service import CompetitionService
from arena.server.refusals import Refused
from arena.server.services.competitions import RecentResults
from arena.server.services.store_refusals import on_thread
from arena.server.standings_process import FRESH_S, StandingsProcess
from cardarena.v1 import standings_pb2 as messages
from cardarena.v1 import standings_pb2_grpc

PIECE_CHARS: Final = 64_000
"""Approximate size of one message of an export, in characters."""


class StandingsCalls(standings_pb2_grpc.StandingsServiceServicer):
    """Serves `cardarena.v1.StandingsService`."""

    def __init__(self, service: CompetitionService, standings: StandingsProcess) -> None:
        self._service, self._standings = service, standings
        self._recent = RecentResults(FRESH_S)

    async def GetStandings(
        self, request: messages.GetStandingsRequest, context: Context
    ) -> messages.GetStandingsResponse:
        name, number = request.name, request.number
        query = functools.partial(self._standings.standings, name, number)
        found = await self._recent.awaited((name, number), query)
        return messages.GetStandingsResponse(
            standings_json=found.text,
            number=found.number,
            public_key=bytes.fromhex(found.public_key),
            signature=bytes.fromhex(found.signature),
        )

    async def GetPair(
        self, request: messages.GetPairRequest, context: Context
    ) -> messages.GetPairResponse:
        asked = request.name, request.game, request.bot, request.other
        row = await self._recent.awaited(asked, functools.partial(self._standings.pair, *asked))
        if row is None:
            raise Refused("UNKNOWN_PAIR", f"{request.bot!r} and {request.other!r}")
        return _pair(row, request.bot)

    async def ExportStandings(
        self, request: messages.ExportStandingsRequest, context: Context
    ) -> AsyncIterator[messages.ExportStandingsResponse]:
        def pieces() -> list[list[str]]:
            found: list[list[str]] = [[]]
            size = 0
            for line in self._service.deals(request.name, request.number or None):
                if size + len(line) > PIECE_CHARS and found[-1]:
                    found.append([])
                    size = 0
                found[-1].append(line)
                size += len(line)
            return found

        for lines in await on_thread(pieces):
            yield messages.ExportStandingsResponse(json_lines=lines)


def _pair(row: dict[str, Any], bot: str) -> messages.GetPairResponse:
    """The results between two bots, from the side of one."""
    turned = row["bot"] != bot
    low, high = (row["high"], row["low"]) if turned else (row["low"], row["high"])
    sign = -1.0 if turned else 1.0
    return messages.GetPairResponse(
        bot=bot,
        other=row["bot"] if turned else row["other"],
        deal_sets=row["deal_sets"],
        margin=sign * row["margin"],
        low=None if low is None else sign * low,
        high=None if high is None else sign * high,
        better=row["better"] or "",
    )
