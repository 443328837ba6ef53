"""The bot service: what owners submit, and what became of it.

Of a bot that is another's nothing is told, not even that it exists. All that reaches the disk is done
on other threads: all bots wait for what is done on the loop.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from arena.competition.archive import MAX_ARCHIVE_BYTES
from arena.competition.report import Check, Report, report_of
from arena.competition.versions import Event
from arena.jail import UPLOADS_AT
from arena.server.gate.access import holder_of
from arena.server.gate.calls import Context
from arena.server.gate.tokens import Holder, Tokens, key_id
from arena.server.refusals import Refused, busy, invalid, not_found, not_now
from arena.server.services.pages import page_size
from arena.server.services.store_refusals import told
from arena.server.submissions.desk import Desk
from arena.server.submissions.logs import Log, logs_of, open_log
from arena.store import Bot, BotKind, Scope, Version
from arena.store.keys import NAME, NAME_RULE
from arena.store.registry import UnknownVersion
from arena.token_bucket import TokenBucket
from cardarena.v1 import bots_pb2, bots_pb2_grpc

PIECE_BYTES: Final = 64 << 10
MAX_UPLOADS: Final = 4
"""At a time, of all owners together."""
UPLOAD_S: Final = 300.0
"""Longest that one may take."""
UPLOAD_RETRY_S: Final = 10.0
ATTEMPTS: Final = 30
"""Archives that one owner may send in one go, whether they are taken or not."""
ATTEMPTS_PER_S: Final = ATTEMPTS / 3600

_STATES: Final[Mapping[Event, bots_pb2.VersionState.ValueType]] = {
    Event.SUBMITTED: bots_pb2.VERSION_STATE_SUBMITTED,
    Event.CHECKED: bots_pb2.VERSION_STATE_CHECKED,
    Event.QUALIFIED: bots_pb2.VERSION_STATE_QUALIFIED,
    Event.REJECTED: bots_pb2.VERSION_STATE_REJECTED,
    Event.ACTIVE: bots_pb2.VERSION_STATE_ACTIVE,
    Event.INACTIVE: bots_pb2.VERSION_STATE_INACTIVE,
    Event.RETIRED: bots_pb2.VERSION_STATE_RETIRED,
    Event.BANNED: bots_pb2.VERSION_STATE_BANNED,
    Event.UNVERIFIED: bots_pb2.VERSION_STATE_UNVERIFIED,
}
_OWNERS_MAY: Final = {
    bots_pb2.VERSION_STATE_ACTIVE: Event.ACTIVE,
    bots_pb2.VERSION_STATE_INACTIVE: Event.INACTIVE,
    bots_pb2.VERSION_STATE_RETIRED: Event.RETIRED,
}
_KINDS: Final = {
    bots_pb2.BOT_KIND_UPLOADED: BotKind.UPLOADED,
    bots_pb2.BOT_KIND_REMOTE: BotKind.REMOTE,
}


class Bots(bots_pb2_grpc.BotServiceServicer):
    """Serves `cardarena.v1.BotService`."""

    def __init__(
        self,
        desk: Desk,
        tokens: Tokens,
        *,
        jail: str,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`tokens` tell who makes a call; `now_s` is real time, by which attempts are counted.

        `jail` is how high the wall around launched bots is: nothing is taken in that would run
        without one.
        """
        self._desk = desk
        self._jail = jail
        self._tokens = tokens
        self._now_s = now_s
        self._uploads = 0
        self._reading = asyncio.Lock()
        """Held by the one archive that is looked at."""
        self._attempts: dict[str, TokenBucket] = {}
        """By owner: there are as many as were invited."""

    # Bots.

    async def CreateBot(
        self, request: bots_pb2.CreateBotRequest, context: Context
    ) -> bots_pb2.CreateBotResponse:
        if not NAME.fullmatch(request.bot):
            raise invalid("BAD_NAME", NAME_RULE)
        if request.kind not in _KINDS:
            raise invalid("BAD_KIND", "a bot is uploaded or remote")
        owner, kind = self._holder(context).owner, _KINDS[request.kind]
        with told():
            await asyncio.to_thread(self._create, request.bot, owner, kind)
        return bots_pb2.CreateBotResponse(bot=request.bot)

    async def CreateToken(
        self, request: bots_pb2.CreateTokenRequest, context: Context
    ) -> bots_pb2.CreateTokenResponse:
        bot = await self._own(context, request.bot)
        with told():
            token = await asyncio.to_thread(self._desk.token, bot)
        return bots_pb2.CreateTokenResponse(token=token, key_id=key_id(token))

    # Versions.

    async def SubmitVersion(
        self, requests: AsyncIterator[bots_pb2.SubmitVersionRequest], context: Context
    ) -> bots_pb2.SubmitVersionResponse:
        try:
            async with asyncio.timeout(UPLOAD_S):
                version = await self._submit(requests, context)
        except TimeoutError:
            text = f"an archive has to be here within {UPLOAD_S:.0f} s"
            raise Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "TOO_SLOW", text) from None
        return bots_pb2.SubmitVersionResponse(version=_version(version))

    async def _submit(
        self, requests: AsyncIterator[bots_pb2.SubmitVersionRequest], context: Context
    ) -> Version:
        first = await anext(requests, None)
        if first is None or first.WhichOneof("body") != "bot":
            raise invalid("NO_BOT", "the first message names the bot")
        bot = await self._own(context, first.bot)
        if bot.kind is not BotKind.UPLOADED:
            raise not_now("NOT_UPLOADED", f"{bot.name} is a remote bot: it dials in by itself")
        if self._jail not in UPLOADS_AT:
            text = "this arena cannot jail the bots that it starts, and so takes none in"
            raise not_now("NO_JAIL", text)
        self._require_attempt(bot.owner)
        if self._uploads >= MAX_UPLOADS:
            raise busy("as many archives are coming in as are taken at a time", UPLOAD_RETRY_S)
        self._uploads += 1
        path = None
        try:
            path = await asyncio.to_thread(self._desk.begin)
            await _write(path, requests)
            async with self._reading:
                with told():
                    return await asyncio.to_thread(self._desk.submit, bot.name, path)
        finally:
            self._uploads -= 1
            if path is not None:
                await asyncio.shield(asyncio.to_thread(path.unlink, missing_ok=True))

    def _require_attempt(self, owner: str) -> None:
        bucket = self._attempts.get(owner)
        if bucket is None:
            bucket = self._attempts[owner] = TokenBucket(ATTEMPTS, ATTEMPTS_PER_S, self._now_s)
        if not bucket.take():
            code = grpc.StatusCode.RESOURCE_EXHAUSTED
            text = f"{owner} has sent {ATTEMPTS} archives within an hour, which is the most"
            raise Refused(code, "OVER_QUOTA", text, retry_s=1 / ATTEMPTS_PER_S)

    async def SetVersionState(
        self, request: bots_pb2.SetVersionStateRequest, context: Context
    ) -> bots_pb2.SetVersionStateResponse:
        event = _OWNERS_MAY.get(request.state)
        if event is None:
            text = "an owner makes a version active, inactive or retired"
            raise invalid("BAD_STATE", text)
        bot = await self._own(context, request.bot)
        with told():
            version = await asyncio.to_thread(self._record, bot, request.version, event)
        return bots_pb2.SetVersionStateResponse(version=_version(version))

    async def GetReport(
        self, request: bots_pb2.GetReportRequest, context: Context
    ) -> bots_pb2.GetReportResponse:
        bot = await self._own(context, request.bot)
        with told():
            version, report = await asyncio.to_thread(self._report, bot, request.version)
        return bots_pb2.GetReportResponse(
            version=_version(version), report=None if report is None else _report(report)
        )

    async def ListVersions(
        self, request: bots_pb2.ListVersionsRequest, context: Context
    ) -> bots_pb2.ListVersionsResponse:
        size = page_size(request.page_size)
        if request.page_token and not request.page_token.isdecimal():
            raise invalid("BAD_PAGE_TOKEN", "the page token is not one that was given out")
        before = int(request.page_token[:9] or 0)
        bot = await self._own(context, request.bot)
        with told():
            found = await asyncio.to_thread(self._versions, bot, before, size + 1)
        return bots_pb2.ListVersionsResponse(
            versions=map(_version, found[:size]),
            next_page_token=str(found[size - 1].number) if len(found) > size else "",
        )

    # Logs.

    async def ListLogs(
        self, request: bots_pb2.ListLogsRequest, context: Context
    ) -> bots_pb2.ListLogsResponse:
        size = page_size(request.page_size)
        bot = await self._own(context, request.bot)
        with told():
            version = await asyncio.to_thread(self._version, bot, request.version)
            found = await asyncio.to_thread(self._logs, version, request.page_token, size + 1)
        return bots_pb2.ListLogsResponse(
            logs=map(_log_info, found[:size]),
            next_page_token=found[size - 1].name if len(found) > size else "",
        )

    async def GetLog(
        self, request: bots_pb2.GetLogRequest, context: Context
    ) -> AsyncIterator[bots_pb2.GetLogResponse]:
        bot = await self._own(context, request.bot)
        with told():
            version = await asyncio.to_thread(self._version, bot, request.version)
            file = await asyncio.to_thread(open_log, self._desk.data, version, request.log)
        if file is None:
            raise not_found("UNKNOWN_LOG", f"{version} has no log {request.log[:100]!r}")
        with contextlib.closing(file):
            async for piece in _pieces(file):
                yield bots_pb2.GetLogResponse(piece=piece)

    # Who asks, and for whose bot.

    def _holder(self, context: Context) -> Holder:
        return holder_of(context.invocation_metadata() or (), self._tokens)

    async def _own(self, context: Context, name: str) -> Bot:
        """The bot, if who asks may know of it.

        Raises:
          Refused: if it is another's, as if there were none.
        """
        holder = self._holder(context)
        with told():
            bot = await asyncio.to_thread(self._desk.registry.bot, name[:64])
        if bot.owner != holder.owner and holder.scope is not Scope.ORGANISER:
            raise not_found("UNKNOWN_BOT", f"there is no bot {name[:64]!r}")
        return bot

    # On other threads.

    def _create(self, bot: str, owner: str, kind: BotKind) -> None:
        self._desk.registry.create_bot(bot, owner, kind, now=self._desk.now)

    def _record(self, bot: Bot, number: int, event: Event) -> Version:
        now = self._desk.now
        return self._desk.registry.record(bot.name, number, event, who=bot.owner, now=now)

    def _report(self, bot: Bot, number: int) -> tuple[Version, Report | None]:
        version = self._version(bot, number)
        found = self._desk.registry.report(bot.name, version.number)
        return version, None if found is None else report_of(found)

    def _version(self, bot: Bot, number: int) -> Version:
        """A version; the newest if no number is given."""
        if number:
            return self._desk.registry.version(bot.name, number)
        versions = self._desk.registry.versions(bot.name)
        if not versions:
            raise UnknownVersion(f"{bot.name} has no version yet")
        return versions[-1]

    def _versions(self, bot: Bot, before: int, most: int) -> list[Version]:
        versions = reversed(self._desk.registry.versions(bot.name))
        return [each for each in versions if not before or each.number < before][:most]

    def _logs(self, version: Version, after: str, most: int) -> list[Log]:
        return [log for log in logs_of(self._desk.data, version) if log.name > after][:most]


async def _write(path: Path, requests: AsyncIterator[bots_pb2.SubmitVersionRequest]) -> None:
    """Write the pieces of an archive as they come.

    Raises:
      Refused: if they are too many, or it is no piece that comes.
    """
    left_bytes = MAX_ARCHIVE_BYTES
    with await asyncio.to_thread(path.open, "wb") as file:
        async for each in requests:
            if each.WhichOneof("body") != "piece":
                raise invalid("NO_BOT", "after the bot's name only pieces of the archive may come")
            left_bytes -= len(each.piece)
            if left_bytes < 0:
                most = MAX_ARCHIVE_BYTES >> 20
                raise invalid("BAD_ARCHIVE", f"an archive of over {most} MB is not taken")
            await asyncio.to_thread(file.write, each.piece)
        await asyncio.to_thread(file.flush)


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece


def _version(version: Version) -> bots_pb2.VersionInfo:
    return bots_pb2.VersionInfo(
        bot=version.bot,
        version=version.number,
        sha256=version.sha256,
        state=_STATES[version.state],
        reason=version.reason,
        state_time=_time(version.since_unix_ms / 1000),
        parent=version.parent or 0,
        said=version.manifest.get("said", ""),
    )


def _report(report: Report) -> bots_pb2.Report:
    return bots_pb2.Report(
        sha256=report.sha256,
        qualified=report.qualified,
        seed=report.seed,
        took=_duration(report.took_s),
        checks=map(_check, report.checks),
    )


def _check(check: Check) -> bots_pb2.Check:
    return bots_pb2.Check(
        name=check.name,
        seats=check.seats,
        passed=check.passed,
        took=_duration(check.took_s),
        problem=check.problem,
        ask=check.ask,
        answered=check.answered,
        offered=check.offered,
        last_lines=check.last_lines,
        again=check.again,
    )


def _log_info(log: Log) -> bots_pb2.LogInfo:
    return bots_pb2.LogInfo(
        log=log.name, size_bytes=log.size_bytes, written_time=_time(log.written_unix_s)
    )


def _time(unix_s: float) -> Timestamp:
    made = Timestamp()
    made.FromMilliseconds(round(unix_s * 1000))
    return made


def _duration(took_s: float) -> Duration:
    made = Duration()
    made.FromMilliseconds(round(took_s * 1000))
    return made
