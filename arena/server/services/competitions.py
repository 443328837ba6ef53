"""The competition service: what organisers and owners may do, and what everybody may read.

The store keeps all of it; the disk is accessed on other threads. What everybody may read is kept for a second, so that
many readers cost no more than one.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from arena.competition.plan import CompetitionKind, read_plan
from arena.competition.states import Action, State
from arena.server.admission.access import holder_of
from arena.server.admission.limits import Context
from arena.server.admission.tokens import Holder, Tokens
from arena.server.competition_service import CompetitionService
from arena.server.refusals import Refused
from arena.server.services.pages import numbered_page
from arena.server.services.store_refusals import on_thread, refusable
from arena.store import Scope, Store
from arena.store.moments import iso_utc
from arena.wire.enums import enum_number, enum_word
from cardarena.v1 import bots_pb2, competitions_pb2_grpc
from cardarena.v1 import competitions_pb2 as messages

POLL_S: Final = 1.0
"""Time in seconds between two polls for callers that watch a competition."""
FRESH_S: Final = 1.0
"""How long a result is reused, in seconds."""
MAX_CONFIG_BYTES: Final = 20_000

_T = TypeVar("_T")


class RecentResults:
    """Keeps the results of queries for a moment; each query runs once at a time."""

    def __init__(
        self, fresh_s: float, most: int = 256, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep at most `most` results, each for `fresh_s` seconds."""
        self._fresh_s, self._most, self._now_s = fresh_s, most, now_s
        self._found: dict[tuple[object, ...], tuple[float, asyncio.Task[Any]]] = {}

    async def on_thread(self, key: tuple[object, ...], query: Callable[[], _T]) -> _T:
        """The result of `query`, which runs on another thread unless a result of its key is fresh."""
        return await self.awaited(key, lambda: asyncio.to_thread(query))

    async def awaited(
        self, key: tuple[object, ...], query: Callable[[], Coroutine[Any, Any, _T]]
    ) -> _T:
        """The result of `query`, which is awaited unless a result of its key is fresh.

        Errors become refusals.
        """
        known = self._found.get(key)
        if known is None or (known[1].done() and self._now_s() - known[0] > self._fresh_s):
            while len(self._found) >= self._most:
                del self._found[next(iter(self._found))]
            self._found.pop(key, None)
            known = self._now_s(), asyncio.create_task(query())
            self._found[key] = known
        # The query goes on for others if one caller is cancelled.
        found: _T = await refusable(asyncio.shield(known[1]))
        return found


class CompetitionCalls(competitions_pb2_grpc.CompetitionServiceServicer):
    """Serves `cardarena.v1.CompetitionService`."""

    def __init__(self, store: Store, service: CompetitionService, tokens: Tokens) -> None:
        self._store, self._service, self._tokens = store, service, tokens
        self._recent = RecentResults(FRESH_S)

    # Organisers and owners.

    async def CreateCompetition(
        self, request: messages.CreateCompetitionRequest, context: Context
    ) -> messages.CreateCompetitionResponse:
        who = holder_of(context, self._tokens).owner
        if len(request.config.encode()) > MAX_CONFIG_BYTES:
            raise Refused("BAD_PLAN", f"it is longer than {MAX_CONFIG_BYTES:,} bytes")

        def create() -> dict[str, Any]:
            plan = read_plan(request.config)
            if plan.bots:
                # Commands run as the arena's own user, so only users of its machine may give them.
                detail = "[bots] is for competitions in a folder; a call launches no bots"
                raise Refused("BAD_PLAN", detail)
            self._service.create(request.config, who=who)
            return self._service.show(plan.name)

        return messages.CreateCompetitionResponse(competition=_info(await on_thread(create)))

    async def ControlCompetition(
        self, request: messages.ControlCompetitionRequest, context: Context
    ) -> messages.ControlCompetitionResponse:
        who = holder_of(context, self._tokens).owner
        word = enum_word(messages.CompetitionAction, request.action)
        if not word:
            raise Refused("NO_ACTION")
        action = Action(word)
        state = enum_word(messages.CompetitionState, request.expected_state)
        expected = State(state) if state else None

        def control() -> dict[str, Any]:
            self._service.control(request.name, action, who=who, expected=expected)
            return self._service.show(request.name)

        return messages.ControlCompetitionResponse(competition=_info(await on_thread(control)))

    async def EnterBot(
        self, request: messages.EnterBotRequest, context: Context
    ) -> messages.EnterBotResponse:
        holder = holder_of(context, self._tokens)

        def enter() -> tuple[str, ...]:
            self._require_own(holder, request.bot)
            entry = self._service.entry_of(request.name, request.bot, self._store)
            organises = holder.scope is Scope.ORGANISER
            return self._service.enter(request.name, entry, who=holder.owner, organises=organises)

        return messages.EnterBotResponse(games=await on_thread(enter))

    async def WithdrawBot(
        self, request: messages.WithdrawBotRequest, context: Context
    ) -> messages.WithdrawBotResponse:
        holder = holder_of(context, self._tokens)

        def withdraw() -> None:
            self._require_own(holder, request.bot)
            self._service.withdraw(request.name, request.bot, who=holder.owner)

        await on_thread(withdraw)
        return messages.WithdrawBotResponse()

    async def DisqualifyBot(
        self, request: messages.DisqualifyBotRequest, context: Context
    ) -> messages.DisqualifyBotResponse:
        who = holder_of(context, self._tokens).owner
        if not request.reason.strip():
            raise Refused("NO_REASON")

        def disqualify() -> None:
            self._service.disqualify(request.name, request.bot, reason=request.reason, who=who)

        await on_thread(disqualify)
        return messages.DisqualifyBotResponse()

    async def Announce(
        self, request: messages.AnnounceRequest, context: Context
    ) -> messages.AnnounceResponse:
        who = holder_of(context, self._tokens).owner
        await on_thread(lambda: self._service.announce(request.name, request.text, who=who))
        return messages.AnnounceResponse()

    def _require_own(self, holder: Holder, bot: str) -> None:
        """Require that a bot is the caller's, or the caller an organiser. Reads the disk.

        Raises:
          Refused: if it is another owner's.
        """
        if not bot:
            raise Refused("UNKNOWN_BOT", "none is named")
        if holder.scope is Scope.ORGANISER:
            return
        known = self._store.registry().find_bot(bot)
        owner = known.owner if known is not None else self._tokens.owner_of(bot)
        if owner != holder.owner:
            raise Refused("NOT_YOURS", repr(bot))

    # Everybody.

    async def GetCompetition(
        self, request: messages.GetCompetitionRequest, context: Context
    ) -> messages.GetCompetitionResponse:
        return messages.GetCompetitionResponse(competition=_info(await self._shown(request.name)))

    async def ListCompetitions(
        self, request: messages.ListCompetitionsRequest, context: Context
    ) -> messages.ListCompetitionsResponse:
        every = await self._recent.on_thread(("every",), self._service.every)
        page, token = numbered_page(every, request.page_size, request.page_token)
        return messages.ListCompetitionsResponse(
            competitions=[_info(each) for each in page], next_page_token=token
        )

    async def ListRounds(
        self, request: messages.ListRoundsRequest, context: Context
    ) -> messages.ListRoundsResponse:
        name = request.name
        found = await self._recent.on_thread(("rounds", name), lambda: self._service.rounds(name))
        page, token = numbered_page(found, request.page_size, request.page_token)
        return messages.ListRoundsResponse(
            rounds=[
                messages.RoundInfo(
                    **each | {"groups": [messages.BotGroup(bots=group) for group in each["groups"]]}
                )
                for each in page
            ],
            next_page_token=token,
        )

    async def WatchCompetition(
        self, request: messages.WatchCompetitionRequest, context: Context
    ) -> AsyncIterator[messages.WatchCompetitionResponse]:
        before: dict[str, Any] | None = None
        while True:
            found = await self._shown(request.name)
            if found != before:
                yield messages.WatchCompetitionResponse(competition=_info(found))
            if found["state"] == State.FINISHED:
                return
            before = found
            await asyncio.sleep(POLL_S)

    async def _shown(self, name: str) -> dict[str, Any]:
        return await self._recent.on_thread(("show", name), lambda: self._service.show(name))


_GAME: Final = {
    "complete": "complete",
    "in_play": "in_play",
    "waiting": "waiting",
    "given_up": "given_up",
    "void": "voided",
}
"""Counts of deal-sets: the name in the JSON, and that of the field."""
_INFO: Final = ("season", "organiser", "entered", "official", "timetable", "waits", "announcement")
_TIMES: Final = ("created", "opens", "closes", "announced")
_BOT: Final = ("bot", "owner", "seed", "reason", "away")
"""Fields that have the same name and value in the message and in the JSON."""


def _info(found: Mapping[str, Any]) -> messages.CompetitionInfo:
    """A competition as a message."""
    return messages.CompetitionInfo(
        name=found["competition"],
        format=enum_number(messages.CompetitionFormat, found["format"] or found["kind"]),
        entry=enum_number(messages.EntryPolicy, found["entry"]),
        state=enum_number(messages.CompetitionState, found["state"]),
        games=[
            messages.CompetitionGame(
                game=each["game"],
                seats=each["seats"],
                rounds=each["rounds"],
                **{field: each["deal_sets"][name] for name, field in _GAME.items()},
            )
            for each in found.get("games", ())
        ],
        bots=[
            messages.CompetitionBot(
                kind=enum_number(bots_pb2.BotKind, each["kind"]),
                out=enum_number(messages.CompetitionExit, each["out"] or ""),
                games=each["games"],
                **{name: each[name] for name in _BOT},
            )
            for each in found.get("bots", ())
        ],
        **{name: found[name] for name in _INFO}
        | {f"{name}_unix_ms": _unix_ms(found[name]) for name in _TIMES},
    )


def info_json(info: messages.CompetitionInfo) -> dict[str, Any]:
    """A competition as commands print it: the same fields as of one in a folder."""
    format_ = enum_word(messages.CompetitionFormat, info.format)
    ladder = format_ == CompetitionKind.LADDER
    about: dict[str, Any] = {
        "competition": info.name,
        "kind": str(CompetitionKind.LADDER if ladder else CompetitionKind.TOURNAMENT),
        "format": None if ladder else format_,
        "state": enum_word(messages.CompetitionState, info.state),
        "entry": enum_word(messages.EntryPolicy, info.entry),
        **{name: getattr(info, name) for name in _INFO},
        **{name: _iso(getattr(info, f"{name}_unix_ms")) for name in _TIMES},
    }
    if info.games:
        about["games"] = [
            {
                "game": each.game,
                "seats": each.seats,
                "rounds": each.rounds,
                "deal_sets": {name: getattr(each, field) for name, field in _GAME.items()},
            }
            for each in info.games
        ]
        about["bots"] = [
            {
                "kind": enum_word(bots_pb2.BotKind, each.kind),
                "out": enum_word(messages.CompetitionExit, each.out) or None,
                "games": list(each.games),
                **{name: getattr(each, name) for name in _BOT},
            }
            for each in info.bots
        ]
    return about


def _unix_ms(iso: str | None) -> int:
    return int(datetime.fromisoformat(iso).timestamp() * 1000) if iso else 0


def _iso(unix_ms: int) -> str | None:
    return iso_utc(datetime.fromtimestamp(unix_ms / 1000, UTC)) if unix_ms else None
