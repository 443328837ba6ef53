"""The pages of an owner: bots, versions, submissions, reports, logs, and tokens of remote bots."""

import asyncio
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, Final, cast

from starlette.datastructures import UploadFile
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from arena.bots.archive import MAX_PATH_CHARS, BadArchive, packed_paths
from arena.games.catalogue import GAMES, UnknownGame, game_by_id
from arena.referee.terms import MatchTerms
from arena.referee.wire.enums import enum_number, word_of
from arena.referee.wire.terms import terms_message
from arena.sandbox.command import MANIFEST
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.web.acting.arena_calls import ArenaRefused
from arena.web.acting.entering import competitions_for, declared_games, next_step, open_competitions
from arena.web.acting.failed_ask import names_of, of_failure, offered_words, picture
from arena.web.acting.guard import Act, Ask, Who, Wrong
from arena.web.acting.visits import MOST_BODY_BYTES
from arena.web.addresses import match_path, slug
from arena.web.rendering import utc
from cardarena.v1 import bots_pb2, comparisons_pb2, game_pb2, lobby_pb2

PIECE_BYTES: Final = 64 << 10
UPLOAD_S: Final = 280.0
"""The longest time in seconds for an upload to the arena, which is less than the time limit of an answer."""
MOST_LOG_BYTES: Final = 1 << 20
MOST_MATCHES: Final = 8
"""The number of latest matches on the page of a bot."""
REFRESH_S: Final = 3
"""Seconds between two reloads of the page of a version that is being qualified."""
_UNDER_WAY: Final = ("submitted", "checked")
_AFTER: Final = {"active": "Activate", "inactive": "Deactivate", "retired": "Retire for good"}


async def bots_page(ask: Ask) -> Response:
    """Show the owner's bots, and the form of a new one."""
    listed = await ask.call(ask.arena.bots.ListOwnedBots, bots_pb2.ListOwnedBotsRequest())
    competitions = () if ask.organises else await open_competitions(ask)
    games = {bot.bot: await declared_games(ask, bot.bot) for bot in listed.bots}
    if games and all(games.values()):
        known = {game for declared in games.values() for game in declared}
        competitions = [info for info in competitions if known & {game.game for game in info.games}]
    bots = [
        {
            "bot": bot.bot,
            "path": f"/me/bots/{slug(bot.bot)}",
            "kind": word_of(bot, "kind"),
            "active": f"{bot.bot}@{bot.active}" if bot.active else "",
            "newest": _shown(bot.newest) if bot.newest.version else None,
            "next": next_step(bot, competitions, games[bot.bot]),
        }
        for bot in listed.bots
    ]
    return ask.page("own_bots.html", "My bots", bots=bots, competitions=competitions)


async def bot_page(ask: Ask) -> Response:
    """Show the versions of a bot."""
    bot, kind = await _own(ask)
    request = bots_pb2.ListVersionsRequest(bot=bot)
    versions = await ask.pages(ask.arena.bots.ListVersions, request, "versions")
    return ask.page(
        "own_bot.html",
        bot,
        bot=bot,
        kind=kind,
        path=f"/me/bots/{slug(bot)}",
        versions=(shown := [*map(_shown, versions)]),
        may_play=kind == "remote" or any(version["state"] == "active" for version in shown),
        competitions=await competitions_for(ask, bot),
        opponents=[*HOUSE_BOTS],
        games=await games_of(ask, [bot]),
        matches=await _latest(ask, bot),
    )


async def _latest(ask: Ask, bot: str) -> list[dict[str, Any]]:
    """Return the latest matches of a bot that have a replay, and so notes."""
    wanted = lobby_pb2.MatchFilter(bots=[bot], published=True)
    request = lobby_pb2.ListMatchesRequest(ended=wanted, page_size=MOST_MATCHES)
    listed = await ask.call(ask.arena.lobby.ListMatches, request)
    return [
        {
            "path": match_path(match.match_id),
            "notes": f"/me/matches/{slug(match.match_id)}",
            "game": match.game,
            "bots": match.bots,
            "ended": utc(match.ended_unix_ms),
        }
        for match in listed.matches
        if match.published
    ]


async def games_of(ask: Ask, bots: Sequence[str]) -> list[tuple[str, str]]:
    """Return the ids and titles of the games of bots, the most played first; all games if no game is known."""
    played: Counter[str] = Counter()
    for bot in bots:
        played.update(dict.fromkeys(await declared_games(ask, bot), 0))
        wanted = lobby_pb2.MatchFilter(bots=[bot])
        latest = lobby_pb2.ListMatchesRequest(ended=wanted, page_size=100)
        listed = await ask.call(ask.arena.lobby.ListMatches, latest)
        played.update(match.game for match in listed.matches)
    titles = {game.id: game.title for game in GAMES}
    known = [(game, titles[game]) for game, _ in played.most_common() if game in titles]
    return known or [*titles.items()]


def usual_terms(ask: Ask) -> game_pb2.MatchTerms:
    """Return the usual terms of the game that a form names, with its fewest seats. Raises `Wrong` if there is no such game."""
    try:
        game = game_by_id(ask.texts.get("game", ""))
    except UnknownGame as unknown:
        raise Wrong(422, f"game: {unknown}") from None
    seats = game.seats[0]
    return terms_message(MatchTerms(game, game.options({}, seats), seats))


async def _own(ask: Ask) -> tuple[str, str]:
    """Return the name of the bot of the path, and its kind. Raises `Wrong` if it is not the caller's."""
    bot = ask.part("bot")
    listed = await ask.call(ask.arena.bots.ListOwnedBots, bots_pb2.ListOwnedBotsRequest())
    for owned in listed.bots:
        if owned.bot == bot:
            return bot, word_of(owned, "kind")
    raise Wrong(404, f"you have no bot {bot!r}; its name is spelled as on the page of your bots")


async def submit(ask: Ask) -> Response:
    """Submit a zip or a folder as the next version of a bot, which the first submission creates."""
    bot = ask.given("bot")["bot"]
    files = [
        file
        for file in ask.form.getlist("folder")
        if isinstance(file, UploadFile) and file.filename
    ]
    archive, left_out = ask.form.get("zip"), 0
    if isinstance(archive, UploadFile) and archive.filename:
        content: BinaryIO = archive.file
    elif files:
        try:
            content, left_out = await asyncio.to_thread(_zipped, files)
        except BadArchive as bad:
            raise Wrong(422, str(bad)) from None
    else:
        raise Wrong(422, "choose the zip of a bot's folder, or the folder")

    def upload() -> Iterator[bots_pb2.SubmitVersionRequest]:
        return _pieces(bot, content)

    try:
        submitted = await _created_first(
            ask,
            bot,
            bots_pb2.BOT_KIND_UPLOADED,
            ask.arena.submit_version,
            upload,
            longest_s=UPLOAD_S,
        )
    finally:
        content.close()
    version = submitted.version
    query = f"?left-out={left_out}" if left_out else ""
    return RedirectResponse(f"/me/bots/{slug(version.bot)}/{version.version}{query}", 303)


async def _created_first(
    ask: Ask,
    bot: str,
    kind: "bots_pb2.BotKind.ValueType",
    method: Callable[..., Any],
    request: Callable[[], Any],
    **given: Any,
) -> Any:
    """Make a call about a bot; if the owner has no such bot, create it and make the call again."""
    try:
        return await ask.call(method, request(), **given)
    except ArenaRefused as refused:
        if refused.reason != "UNKNOWN_BOT":
            raise
    ask.blame("remote" if kind == bots_pb2.BOT_KIND_REMOTE else "bot")
    await ask.call(ask.arena.bots.CreateBot, bots_pb2.CreateBotRequest(bot=bot, kind=kind))
    ask.blame("")
    return await ask.call(method, request(), **given)


def _pieces(bot: str, content: BinaryIO) -> Iterator[bots_pb2.SubmitVersionRequest]:
    """Yield the messages of a submission, for the thread that sends them."""
    yield bots_pb2.SubmitVersionRequest(bot=bot)
    content.seek(0)
    while piece := content.read(PIECE_BYTES):
        yield bots_pb2.SubmitVersionRequest(piece=piece)


def _zipped(files: Sequence[UploadFile]) -> tuple[BinaryIO, int]:
    """Pack files that a browser sent of one folder as the command packs a folder, and count those left out.

    Raises `BadArchive` if the manifest names files that were not sent.
    """
    sent = {}
    for file in files:
        _, _, inner = (file.filename or "").replace("\\", "/").partition("/")
        # Long paths are shortened, because they cost time; the arena refuses them by name.
        sent[(inner or (file.filename or ""))[: MAX_PATH_CHARS + 1]] = file.file
    manifest = sent[MANIFEST].read() if MANIFEST in sent else b""
    paths = packed_paths([*sent], manifest)
    content = tempfile.SpooledTemporaryFile(max_size=1 << 20)  # noqa: SIM115 - closed by its user
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.writestr(path, manifest if path == MANIFEST else sent[path].read())
    return cast("BinaryIO", content), len(files) - len(paths)


async def version_page(ask: Ask) -> Response:
    """Show a version with its report and logs. While it is being qualified, the page reloads periodically."""
    bot, number = ask.part("bot"), ask.number("number")
    request = bots_pb2.GetReportRequest(bot=bot, version=number)
    answer = await ask.call(ask.arena.bots.GetReport, request)
    logs = await ask.pages(
        ask.arena.bots.ListLogs, bots_pb2.ListLogsRequest(bot=bot, version=number), "logs"
    )
    version = _shown(answer.version)
    response = ask.page(
        "version.html",
        version["name"],
        bot=bot,
        path=f"/me/bots/{slug(bot)}",
        version=version,
        report=answer.report if answer.HasField("report") else None,
        left_out=int(count) if (count := ask.query("left-out")).isdecimal() else 0,
        competitions=await competitions_for(ask, bot) if version["state"] == "active" else (),
        pictures=[
            (picture(bot, check), names_of(bot, check), offered_words(bot, check))
            for check in answer.report.checks
        ],
        of_failure=of_failure,
        logs=[
            {"log": log.log, "kb": -(-log.size_bytes // 1000), "path": slug(log.log)}
            for log in logs
        ],
    )
    if version["state"] in _UNDER_WAY and not ask.problems:
        response.headers["refresh"] = str(REFRESH_S)
    return response


async def set_state(ask: Ask) -> Response:
    """Activate, deactivate or retire a version."""
    bot, number, wanted = ask.part("bot"), ask.number("number"), ask.texts.get("state", "")
    if wanted not in _AFTER:
        raise Wrong(422, f"state: choose one of: {', '.join(_AFTER)}")
    state = enum_number(bots_pb2.VersionState, wanted)
    request = bots_pb2.SetVersionStateRequest(bot=bot, version=number, state=state)
    await ask.call(ask.arena.bots.SetVersionState, request)
    return RedirectResponse(f"/me/bots/{slug(bot)}/{number}", 303)


async def log(ask: Ask) -> Response:
    """Send a log as plain text, at most its first megabyte."""
    request = bots_pb2.GetLogRequest(
        bot=ask.part("bot"), version=ask.number("number"), log=ask.part("log")
    )
    content = bytearray()
    async for answer in ask.arena.stream(ask.arena.bots.GetLog, request, ask.visit.session):
        content += answer.piece
        if len(content) > MOST_LOG_BYTES:
            break
    headers = {
        "content-disposition": "inline",
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return PlainTextResponse(bytes(content[:MOST_LOG_BYTES]), headers=headers)


async def challenge(ask: Ask) -> Response:
    """Challenge a bot by the game's usual terms."""
    bot, _ = await _own(ask)
    request = comparisons_pb2.CreateComparisonRequest(
        first=bot, second=ask.given("opponent")["opponent"], terms=usual_terms(ask), challenge=True
    )
    created = await ask.call(ask.arena.comparisons.CreateComparison, request)
    return RedirectResponse(f"/me/compare/{created.comparison.id}", 303)


async def new_token(ask: Ask) -> Response:
    """Create a token of a remote bot, which is shown once; the first token creates the bot."""
    bot = ask.given("bot")["bot"]
    made = await _created_first(
        ask,
        bot,
        bots_pb2.BOT_KIND_REMOTE,
        ask.arena.bots.CreateToken,
        lambda: bots_pb2.CreateTokenRequest(bot=bot),
    )
    return ask.page(
        "secret.html",
        f"Token of {bot}",
        secret=made.token,
        what=f"With this token {bot} connects from your own machine: set it as CARDARENA_TOKEN. It is shown only "
        f"now. Its key {made.key_id} is in the list of your keys, where you can revoke it.",
        following=f"/me/bots/{slug(bot)}",
    )


def _shown(version: bots_pb2.VersionInfo) -> dict[str, Any]:
    state = word_of(version, "state")
    return {
        "name": f"{version.bot}@{version.version}",
        "path": f"/me/bots/{slug(version.bot)}/{version.version}",
        "state": state,
        "since": utc(version.state_unix_ms),
        "reason": f"says {version.declared}, not verified" if version.declared else version.reason,
        "next": [(value, _AFTER[value]) for value in _NEXT.get(state, ())],
    }


_NEXT: Final = {
    "qualified": ("active", "retired"),
    "active": ("inactive", "retired"),
    "inactive": ("active", "retired"),
    "unverified": ("retired",),
}
"""The states to which an owner may change a version, by its state."""

_VERSION: Final = "/me/bots/{bot}/{number:number}"
ACTS = (
    Act("GET", "/me", Who.MEMBER, bots_page),
    Act("POST", "/me/submit", Who.OWNER, submit, bots_page, MOST_BODY_BYTES),
    Act("POST", "/me/tokens", Who.OWNER, new_token, bots_page),
    Act("GET", "/me/bots/{bot}", Who.OWNER, bot_page),
    Act("POST", "/me/bots/{bot}/challenge", Who.OWNER, challenge, bot_page),
    Act("GET", _VERSION, Who.MEMBER, version_page),
    Act("POST", f"{_VERSION}/state", Who.OWNER, set_state, version_page),
    Act("GET", f"{_VERSION}/logs/{{log}}", Who.MEMBER, log),
)
