"""The table service: tables, pairs, and all that a table is made from.

A live table of many deal-sets takes seconds to make. It is made in another process, once for all who ask
within ten seconds.
"""

import functools
from collections.abc import AsyncIterator
from typing import Any, Final

from arena.server.gate.calls import Context
from arena.server.office import Office
from arena.server.refusals import not_found
from arena.server.services.competitions import Recent, told, told_of
from arena.server.tables_apart import FRESH_S, Tables
from cardarena.v1 import tables_pb2 as messages
from cardarena.v1 import tables_pb2_grpc

PIECE_CHARS: Final = 64_000
"""About so much goes into one message of an export."""


class TableCalls(tables_pb2_grpc.TableServiceServicer):
    """Serves `cardarena.v1.TableService`."""

    def __init__(self, office: Office, tables: Tables) -> None:
        self._office, self._tables = office, tables
        self._recent = Recent(FRESH_S)

    async def GetTable(
        self, request: messages.GetTableRequest, context: Context
    ) -> messages.GetTableResponse:
        name, number = request.name, request.number
        look = functools.partial(self._tables.table, name, number)
        found = await told_of(self._recent.begun((name, number), look))
        return messages.GetTableResponse(
            table=found.text,
            number=found.number,
            public_key=bytes.fromhex(found.public_key),
            signature=bytes.fromhex(found.signature),
        )

    async def GetPair(
        self, request: messages.GetPairRequest, context: Context
    ) -> messages.GetPairResponse:
        asked = request.name, request.game, request.bot, request.other
        look = functools.partial(self._tables.pair, *asked)
        row = await told_of(self._recent.begun(asked, look))
        if row is None:
            text = f"{request.bot!r} and {request.other!r} have not met there"
            raise not_found("UNKNOWN_PAIR", text)
        return _pair(row, request.bot)

    async def ExportTable(
        self, request: messages.ExportTableRequest, context: Context
    ) -> AsyncIterator[messages.ExportTableResponse]:
        def pieces() -> list[list[str]]:
            found: list[list[str]] = [[]]
            size = 0
            for line in self._office.deals(request.name, request.number or None):
                if size + len(line) > PIECE_CHARS and found[-1]:
                    found.append([])
                    size = 0
                found[-1].append(line)
                size += len(line)
            return found

        for lines in await told(pieces):
            yield messages.ExportTableResponse(lines=lines)


def _pair(row: dict[str, Any], bot: str) -> messages.GetPairResponse:
    """What happened, from the side of one of the two."""
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
