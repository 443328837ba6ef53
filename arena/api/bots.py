"""The bot service: owners register bots, submit versions, and read reports and logs.

A bot of another owner is treated as one that does not exist. All access to the disk is on other threads, because all
bots wait while the loop works.
"""

import asyncio
import base64
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, Final

from arena.api.admission.access import holder_of
from arena.api.pages import first_page, page_size
from arena.api.store_refusals import on_thread
from arena.bots.archive import MAX_ARCHIVE_BYTES
from arena.bots.intake import SubmissionIntake
from arena.bots.logs import Log, logs_of, open_log
from arena.bots.tokens import Tokens, key_id
from arena.errors.refused import Refused
from arena.live.limits import Context
from arena.referee.wire.enums import enum_number
from arena.results.qualification_report import Check, QualificationReport, report_of
from arena.results.versions import VersionEvent
from arena.sandbox.sandbox import UPLOADS_AT
from arena.store import Bot, BotKind, Scope, Version
from arena.store.names import NAME, NAME_RULE
from arena.store.versions import UnknownVersion, active_version
from arena.token_bucket import TokenBucket
from cardarena.v1 import bots_pb2, bots_pb2_grpc

PIECE_BYTES: Final = 64 << 10
MAX_UPLOADS: Final = 4
"""The maximal number of simultaneous uploads of all owners together."""
UPLOAD_S: Final = 300.0
UPLOAD_RETRY_S: Final = 10.0
ATTEMPTS: Final = 30
"""The number of archives that one owner may send in a burst, whether they are accepted or not."""
ATTEMPTS_PER_S: Final = ATTEMPTS / 3600

_STATES: Final = {
    event: bots_pb2.VersionState.Value(f"VERSION_STATE_{event.name}") for event in VersionEvent
}
_SET_BY_OWNERS: Final[Mapping[int, VersionEvent]] = {
    _STATES[event]: event
    for event in (VersionEvent.ACTIVE, VersionEvent.INACTIVE, VersionEvent.RETIRED)
}
_KINDS: Final[Mapping[int, BotKind]] = {
    bots_pb2.BOT_KIND_UPLOADED: BotKind.UPLOADED,
    bots_pb2.BOT_KIND_REMOTE: BotKind.REMOTE,
}


class BotCalls(bots_pb2_grpc.BotServiceServicer):
    """Serves `cardarena.v1.BotService`."""

    def __init__(
        self,
        intake: SubmissionIntake,
        tokens: Tokens,
        *,
        sandbox: str,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Serve owners.

        Args:
          sandbox: The sandbox level of launched bots; archives are refused where it does not allow uploads.
        """
        self._intake = intake
        self._sandbox = sandbox
        self._tokens = tokens
        self._now_s = now_s
        self._uploads = 0
        self._reading = asyncio.Lock()
        """Held while an archive is checked."""
        self._attempts: dict[str, TokenBucket] = {}
        """By owner. Owners are invited, so they are few."""

    # Bots.

    async def CreateBot(
        self, request: bots_pb2.CreateBotRequest, context: Context
    ) -> bots_pb2.CreateBotResponse:
        if not NAME.fullmatch(request.bot):
            raise Refused("BAD_NAME", NAME_RULE)
        if request.kind not in _KINDS:
            raise Refused("BAD_KIND")
        owner, kind = holder_of(context, self._tokens).owner, _KINDS[request.kind]
        create = self._intake.registry.create_bot
        await on_thread(create, request.bot, owner, kind, now=self._intake.now)
        return bots_pb2.CreateBotResponse(bot=request.bot)

    async def ListOwnedBots(
        self, request: bots_pb2.ListOwnedBotsRequest, context: Context
    ) -> bots_pb2.ListOwnedBotsResponse:
        holder = holder_of(context, self._tokens)
        owner = request.owner if holder.scope is Scope.ORGANISER and request.owner else holder.owner
        registry = self._intake.registry

        def read() -> list[bots_pb2.OwnedBot]:
            return [_owned(bot, registry.versions(bot.name)) for bot in registry.bots_of(owner)]

        return bots_pb2.ListOwnedBotsResponse(bots=await on_thread(read))

    async def CreateToken(
        self, request: bots_pb2.CreateTokenRequest, context: Context
    ) -> bots_pb2.CreateTokenResponse:
        bot = await self._own(context, request.bot)
        token = await on_thread(self._intake.token, bot)
        return bots_pb2.CreateTokenResponse(token=token, key_id=key_id(token))

    # Versions.

    async def SubmitVersion(
        self, requests: AsyncIterator[bots_pb2.SubmitVersionRequest], context: Context
    ) -> bots_pb2.SubmitVersionResponse:
        try:
            async with asyncio.timeout(UPLOAD_S):
                version = await self._submit(requests, context)
        except TimeoutError:
            raise Refused("TOO_SLOW", f"it had not ended after {UPLOAD_S:.0f} s") from None
        return bots_pb2.SubmitVersionResponse(version=_version(version))

    async def _submit(
        self, requests: AsyncIterator[bots_pb2.SubmitVersionRequest], context: Context
    ) -> Version:
        first = await anext(requests, None)
        if first is None or first.WhichOneof("body") != "bot":
            raise Refused("NO_BOT")
        bot = await self._own(context, first.bot)
        if bot.kind is not BotKind.UPLOADED:
            raise Refused("NOT_UPLOADED", bot.name)
        if self._sandbox not in UPLOADS_AT:
            raise Refused("NO_SANDBOX")
        self._require_attempt(bot.owner)
        if self._uploads >= MAX_UPLOADS:
            raise Refused(
                "BUSY", f"{MAX_UPLOADS} archives are being uploaded", retry_s=UPLOAD_RETRY_S
            )
        self._uploads += 1
        path = None
        try:
            path = await asyncio.to_thread(self._intake.begin)
            await _write(path, requests)
            async with self._reading:
                return await on_thread(self._intake.submit, bot.name, path)
        finally:
            self._uploads -= 1
            if path is not None:
                await asyncio.shield(asyncio.to_thread(path.unlink, missing_ok=True))

    def _require_attempt(self, owner: str) -> None:
        bucket = self._attempts.get(owner)
        if bucket is None:
            bucket = self._attempts[owner] = TokenBucket(ATTEMPTS, ATTEMPTS_PER_S, self._now_s)
        if not bucket.take():
            detail = f"{owner} has sent {ATTEMPTS} archives within an hour"
            raise Refused("OVER_QUOTA", detail, retry_s=1 / ATTEMPTS_PER_S)

    async def SetVersionState(
        self, request: bots_pb2.SetVersionStateRequest, context: Context
    ) -> bots_pb2.SetVersionStateResponse:
        event = _SET_BY_OWNERS.get(request.state)
        if event is None:
            raise Refused("BAD_STATE")
        bot, now = await self._own(context, request.bot), self._intake.now
        record = self._intake.registry.record
        version = await on_thread(record, bot.name, request.version, event, who=bot.owner, now=now)
        return bots_pb2.SetVersionStateResponse(version=_version(version))

    async def GetReport(
        self, request: bots_pb2.GetReportRequest, context: Context
    ) -> bots_pb2.GetReportResponse:
        bot = await self._own(context, request.bot)

        def read() -> bots_pb2.GetReportResponse:
            version = self._found_version(bot, request.version)
            stored = self._intake.registry.report(bot.name, version.number)
            report = None if stored is None else _report(report_of(stored))
            return bots_pb2.GetReportResponse(version=_version(version), report=report)

        return await on_thread(read)

    async def ListVersions(
        self, request: bots_pb2.ListVersionsRequest, context: Context
    ) -> bots_pb2.ListVersionsResponse:
        size = page_size(request.page_size)
        if request.page_token and not request.page_token.isdecimal():
            raise Refused("BAD_PAGE_TOKEN")
        before = int(request.page_token[:9] or 0)
        bot = await self._own(context, request.bot)
        versions = await on_thread(self._intake.registry.versions, bot.name)
        newest_first = [
            version for version in reversed(versions) if not before or version.number < before
        ]
        page, token = first_page(newest_first, size, lambda version: str(version.number))
        return bots_pb2.ListVersionsResponse(versions=map(_version, page), next_page_token=token)

    def _found_version(self, bot: Bot, number: int) -> Version:
        """Return a version; the newest one for number 0."""
        if number:
            return self._intake.registry.version(bot.name, number)
        versions = self._intake.registry.versions(bot.name)
        if not versions:
            raise UnknownVersion(f"{bot.name} has none yet")
        return versions[-1]

    # Logs.

    async def ListLogs(
        self, request: bots_pb2.ListLogsRequest, context: Context
    ) -> bots_pb2.ListLogsResponse:
        size = page_size(request.page_size)
        bot = await self._own(context, request.bot)
        version = await on_thread(self._found_version, bot, request.version)
        logs = await on_thread(logs_of, self._intake.data, version)
        later = [log for log in logs if log.name > request.page_token]
        page, token = first_page(later, size, lambda log: log.name)
        return bots_pb2.ListLogsResponse(logs=map(_log_info, page), next_page_token=token)

    async def GetLog(
        self, request: bots_pb2.GetLogRequest, context: Context
    ) -> AsyncIterator[bots_pb2.GetLogResponse]:
        bot = await self._own(context, request.bot)
        version = await on_thread(self._found_version, bot, request.version)
        file = await on_thread(open_log, self._intake.data, version, request.log)
        if file is None:
            raise Refused("UNKNOWN_LOG", f"{request.log[:100]!r} of {version}")
        with contextlib.closing(file):
            async for piece in pieces(file):
                yield bots_pb2.GetLogResponse(piece=piece)

    async def _own(self, context: Context, name: str) -> Bot:
        """Return the bot of this name, if the caller owns it or is an organiser.

        Raises `Refused` if it is another owner's, with the text for a bot that does not exist.
        """
        holder = holder_of(context, self._tokens)
        bot = await on_thread(self._intake.registry.bot, name[:64])
        if bot.owner != holder.owner and holder.scope is not Scope.ORGANISER:
            raise Refused("UNKNOWN_BOT", repr(name[:64]))
        return bot


async def _write(path: Path, requests: AsyncIterator[bots_pb2.SubmitVersionRequest]) -> None:
    """Write the pieces of an archive to a file as they arrive.

    Raises `Refused` if the archive is too long, or a request has no piece.
    """
    left_bytes = MAX_ARCHIVE_BYTES
    with await asyncio.to_thread(path.open, "wb") as file:
        async for request in requests:
            if request.WhichOneof("body") != "piece":
                raise Refused("NO_BOT")
            left_bytes -= len(request.piece)
            if left_bytes < 0:
                detail = f"it has more than {MAX_ARCHIVE_BYTES >> 20} MB"
                raise Refused("BAD_ARCHIVE", detail)
            await asyncio.to_thread(file.write, request.piece)
        await asyncio.to_thread(file.flush)


async def pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    """Read a file on another thread, in pieces of at most `PIECE_BYTES`."""
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece


def _owned(bot: Bot, versions: Sequence[Version]) -> bots_pb2.OwnedBot:
    active = active_version(versions)
    return bots_pb2.OwnedBot(
        bot=bot.name,
        kind=enum_number(bots_pb2.BotKind, bot.kind),
        active=0 if active is None else active.number,
        newest=_version(versions[-1]) if versions else None,
    )


def _version(version: Version) -> bots_pb2.VersionInfo:
    return bots_pb2.VersionInfo(
        bot=version.bot,
        version=version.number,
        sha256=version.sha256,
        state=_STATES[version.state],
        reason=version.reason,
        state_unix_ms=version.since_unix_ms,
        parent=version.parent or 0,
        declared=version.manifest.get("said", ""),
    )


def _report(report: QualificationReport) -> bots_pb2.Report:
    return bots_pb2.Report(
        sha256=report.sha256,
        qualified=report.qualified,
        seed=report.seed,
        took_ms=round(report.took_s * 1000),
        checks=map(_check, report.checks),
    )


def _check(check: Check) -> bots_pb2.Check:
    values = asdict(check)  # the keys are the fields of the message
    took_ms, failed_ask = round(values.pop("took_s") * 1000), values.pop("failed_ask")
    message = bots_pb2.Check(took_ms=took_ms, **values)
    if failed_ask:
        message.failed.ParseFromString(base64.b64decode(failed_ask))
    return message


def _log_info(log: Log) -> bots_pb2.LogInfo:
    return bots_pb2.LogInfo(
        log=log.name, size_bytes=log.size_bytes, written_unix_ms=round(log.written_unix_s * 1000)
    )
