"""The standings service: standings, pairs of bots, and exports of deal-sets.

Live standings of many deal-sets take seconds, so another process computes them, once for all calls within ten seconds.
"""

import functools
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, Protocol

from arena.api.competitions import RecentResults
from arena.api.store_refusals import on_thread
from arena.contests.competition_service import CompetitionService
from arena.contests.standings import Json
from arena.contests.standings_process import FRESH_S, SentStandings
from arena.errors.refused import Refused
from arena.live.limits import Context
from cardarena.v1 import standings_pb2 as messages
from cardarena.v1 import standings_pb2_grpc

PIECE_CHARS: Final = 64_000
"""Approximate size of one message of an export, in characters."""


class ComputesStandings(Protocol):
    """Computes standings, in this process or in another one."""

    async def standings(self, name: str, number: int) -> SentStandings:
        """Return the official standings of a number; for 0 the latest standings."""
        ...

    async def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        """Return the results between two bots in the latest standings; None if they have not met."""
        ...

    async def collusion(self, name: str, without: Sequence[str], earlier: Sequence[str]) -> str:
        """Return a collusion report, or standings without the tables of some owners, as JSON."""
        ...


class StandingsCalls(standings_pb2_grpc.StandingsServiceServicer):
    """Serves `cardarena.v1.StandingsService`."""

    def __init__(
        self,
        service: CompetitionService,
        standings: ComputesStandings,
        *,
        recent: RecentResults | None = None,
    ) -> None:
        """Serve standings; `recent` keeps results, by default for `FRESH_S`."""
        self._service, self._standings = service, standings
        self._recent = recent or RecentResults(FRESH_S)

    async def GetStandings(
        self, request: messages.GetStandingsRequest, context: Context
    ) -> messages.GetStandingsResponse:
        name, number = request.name, request.number
        query = functools.partial(self._standings.standings, name, number)
        sent = await self._recent.awaited((name, number), query)
        return messages.GetStandingsResponse(
            standings_json=sent.text,
            number=sent.number,
            public_key=bytes.fromhex(sent.public_key),
            signature=bytes.fromhex(sent.signature),
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
            made: list[list[str]] = [[]]
            size = 0
            for line in self._service.deals(request.name, request.number or None):
                if size + len(line) > PIECE_CHARS and made[-1]:
                    made.append([])
                    size = 0
                made[-1].append(line)
                size += len(line)
            return made

        for lines in await on_thread(pieces):
            yield messages.ExportStandingsResponse(json_lines=lines)

    async def GetCollusion(
        self, request: messages.GetCollusionRequest, context: Context
    ) -> messages.GetCollusionResponse:
        asked = request.name, tuple(request.without), tuple(request.earlier)
        query = functools.partial(self._standings.collusion, *asked)
        report = await self._recent.awaited(("collusion", *asked), query)
        return messages.GetCollusionResponse(report_json=report)


def _pair(row: dict[str, Any], bot: str) -> messages.GetPairResponse:
    """Return the results between two bots, from the side of `bot`."""
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
        margins_in=row["margins_in"],
    )
