"""The page on which an owner enters bots in a competition and withdraws them, and its functions for other pages."""

import time
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Any, Final, cast

from starlette.responses import RedirectResponse, Response

from arena.referee.wire.enums import word_of
from arena.web.acting.arena_calls import ArenaRefused
from arena.web.acting.guard import Act, Ask, Who
from arena.web.addresses import slug
from arena.web.rendering import utc
from cardarena.v1 import bots_pb2, competitions_pb2

MOST_SHOWN: Final = 8
"""The number of competitions that the page of a bot lists; the pages of all others have a link to enter them."""
_NEXT_STEPS: Final = {
    "submitted": "wait for its qualification",
    "checked": "wait for its qualification",
    "rejected": "see why it failed",
    "qualified": "activate it",
    "inactive": "activate it",
}
"""The next step of an owner for a version in a state."""
_DRAFT: Final = competitions_pb2.COMPETITION_STATE_DRAFT
_FINISHED: Final = competitions_pb2.COMPETITION_STATE_FINISHED
_LADDER: Final = competitions_pb2.COMPETITION_FORMAT_LADDER
_REMOTE: Final = bots_pb2.BOT_KIND_REMOTE
_WITHDRAWN: Final = competitions_pb2.COMPETITION_EXIT_WITHDRAWN
_OPEN: Final = competitions_pb2.ENTRY_POLICY_OPEN


class EntryPlace(Enum):
    """The state of an owner's bot in a competition."""

    IN = "entered"
    NOT_IN = "not entered"
    DISQUALIFIED = "disqualified"


async def open_competitions(ask: Ask) -> Sequence[competitions_pb2.CompetitionInfo]:
    """Return the newest competitions that owners may enter, with their bots."""
    calls, request = ask.arena.competitions, competitions_pb2.ListCompetitionsRequest()
    listed = await ask.pages(calls.ListCompetitions, request, "competitions")
    newest = [info.name for info in reversed(listed) if may_enter(info)][:MOST_SHOWN]
    return [await competition_info(ask, name) for name in newest]


async def declared_games(ask: Ask, bot: str) -> Sequence[str]:
    """Return the games that the newest version of a bot was qualified for, as its report lists them; empty if it has none, as a bot on its owner's machine."""
    try:
        answer = await ask.call(ask.arena.bots.GetReport, bots_pb2.GetReportRequest(bot=bot))
    except ArenaRefused:
        return ()
    return [check.name for check in answer.report.checks if check.seats]


def _fits(info: competitions_pb2.CompetitionInfo, bot: str, games: Collection[str]) -> bool:
    """Return whether a bot of these games can enter or leave a competition; with no games that is not known."""
    has_game = not games or any(game.game in games for game in info.games)
    return has_game or _place_of(bot, info) is EntryPlace.IN


async def competitions_for(ask: Ask, bot: str) -> Sequence[Mapping[str, Any]]:
    """Return the newest competitions that a bot may enter, or has entered and may leave; `form` takes the form of that."""
    games = await declared_games(ask, bot)
    return [
        {
            "name": info.name,
            "path": f"/competitions/{slug(info.name)}.html",
            "form": f"/me/competitions/{slug(info.name)}",
            "words": _words(info),
            "entered": _place_of(bot, info) is EntryPlace.IN,
        }
        for info in await open_competitions(ask)
        if _fits(info, bot, games)
    ]


def next_step(
    owned: bots_pb2.OwnedBot,
    competitions: Sequence[competitions_pb2.CompetitionInfo] = (),
    games: Collection[str] = (),
) -> tuple[str, str]:
    """Return what the owner of a bot of these games may do next, and the path where; both are empty for nothing."""
    path, newest = f"/me/bots/{slug(owned.bot)}", owned.newest
    if owned.kind != _REMOTE:
        state = word_of(newest, "state") if newest.version else ""
        if state in _NEXT_STEPS and newest.version != owned.active:
            return _NEXT_STEPS[state], f"{path}/{newest.version}"
        if not owned.active:
            return "activate or submit a version", path
    for info in competitions:
        if _place_of(owned.bot, info) is EntryPlace.NOT_IN and _fits(info, owned.bot, games):
            return f"enter: {info.name}", f"/me/competitions/{slug(info.name)}"
    return "", ""


def may_enter(info: competitions_pb2.CompetitionInfo) -> bool:
    """Return whether owners may enter bots now, according to a list; the arena decides."""
    opens_later = info.opens_unix_ms > time.time() * 1_000
    begins = info.state == _DRAFT or info.format == _LADDER or opens_later
    return info.entry == _OPEN and info.state != _FINISHED and begins


async def entering_page(ask: Ask) -> Response:
    """Show an owner's bots, each with whether it has entered a competition."""
    info = await competition_info(ask, ask.part("name"))
    listed = await ask.call(ask.arena.bots.ListOwnedBots, bots_pb2.ListOwnedBotsRequest())
    return ask.page(
        "entering.html",
        f"Enter {info.name}",
        info=info,
        words=_words(info),
        state=word_of(info, "state"),
        may_enter=may_enter(info),
        by_invitation=info.entry != _OPEN,
        bots=[
            (bot.bot, bot.kind == _REMOTE, bot.active, _place_of(bot.bot, info), next_step(bot))
            for bot in listed.bots
        ],
        EntryPlace=EntryPlace,
        public=f"/competitions/{slug(info.name)}.html",
        path=f"/me/competitions/{slug(info.name)}",
    )


async def enter(ask: Ask) -> Response:
    """Enter a bot in a competition, or withdraw it."""
    name, given, calls = ask.part("name"), ask.given("bot"), ask.arena.competitions
    if ask.texts.get("act") == "withdraw":
        withdrawn = competitions_pb2.WithdrawBotRequest(name=name, **given)
        await ask.call(calls.WithdrawBot, withdrawn)
    else:
        await ask.call(calls.EnterBot, competitions_pb2.EnterBotRequest(name=name, **given))
    return RedirectResponse(f"/me/competitions/{slug(name)}", 303)


async def competition_info(ask: Ask, name: str) -> competitions_pb2.CompetitionInfo:
    """Return a competition of the arena, with its bots."""
    request = competitions_pb2.GetCompetitionRequest(name=name)
    answer = await ask.call(ask.arena.competitions.GetCompetition, request)
    return cast("competitions_pb2.CompetitionInfo", answer.competition)


def _place_of(bot: str, info: competitions_pb2.CompetitionInfo) -> EntryPlace:
    out = next((entrant.out for entrant in info.bots if entrant.bot == bot), _WITHDRAWN)
    if out == competitions_pb2.COMPETITION_EXIT_DISQUALIFIED:
        return EntryPlace.DISQUALIFIED
    return EntryPlace.NOT_IN if out == _WITHDRAWN else EntryPlace.IN


def _words(info: competitions_pb2.CompetitionInfo) -> str:
    words = word_of(info, "format").replace("_", " ")
    return f"{words}, opens {utc(info.opens_unix_ms)} UTC" if info.opens_unix_ms else words


_PATH: Final = "/me/competitions/{name}"
ACTS = (
    Act("GET", _PATH, Who.OWNER, entering_page),
    Act("POST", _PATH, Who.OWNER, enter, entering_page),
)
