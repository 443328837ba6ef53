"""Constant pages: how to verify deals, and the interfaces for programs."""

import json
from collections.abc import Sequence
from typing import Final

from arena.api.site_archive import SiteArchive
from arena.games.catalogue import GAMES
from arena.referee.wire.enums import word_of
from arena.web.assets import asset
from arena.web.page import Json, Page
from arena.web.pages.lists import match_rows, with_pages
from arena.web.rendering import game_title
from cardarena.v1 import lobby_pb2, play_pb2, replay_pb2, watch_pb2

_FILES: Final = (play_pb2, lobby_pb2, replay_pb2, watch_pb2)
LIMITS: Final = {
    "watchers of a match": "1,000",
    "watchers in all": "2,000",
    "streams of an address": "8",
    "messages of a feed": "4 a second",
    "rows of a list": "50 a page",
}
MOST_LADDERS: Final = 5
"""The number of newest running ladders that `/write` names."""


def fair(_: SiteArchive) -> Page:
    """Make `/fair`."""
    about = "How deals are drawn so that neither the arena nor a bot can choose them."
    return Page("fair.html", "Fair deals", {"verifier": "/verify.html"}, description=about)


def write(archive: SiteArchive) -> Page:
    """Make `/write`: from an empty folder to a bot that plays."""
    about = "Write a bot in Python, Go, Rust, Java, JavaScript or C++, check it, and submit it."
    view = {"guide": "docs/competing.md"}
    return Page("write.html", "Write a bot", view, {"ladders": _ladders(archive)}, about)


def _ladders(archive: SiteArchive) -> Sequence[tuple[str, str]]:
    """Return the names of ladders that run, each with its games in words."""
    ladders = [
        (info.name, ", ".join(game_title(game.game) for game in info.games[:3]))
        for info in archive.competitions()
        if word_of(info, "format") == "ladder" and word_of(info, "state") == "running"
    ]
    return ladders[:MOST_LADDERS]


def browser_bot(archive: SiteArchive) -> Page:
    """Make `/browser-bot`: a bot in JavaScript, and the form that starts it."""
    about = "A bot of thirty lines of JavaScript, which plays over a WebSocket."
    view = {"code": asset("seat.js")[1].decode()}
    pictures = {
        "games": [(game.id, game.title) for game in GAMES],
        "ladders": _ladders(archive),
    }
    return Page("browser_bot.html", "A bot in the browser", view, pictures, about)


_PAGES: Final = {
    "/matches.atom": "an Atom feed of the newest matches; /bots/NAME.atom and /competitions/NAME.atom have those of one",
    "/badges/NAME/GAME.svg": "a picture of a bot's place in the standings of a game, for the README of its repository",
    "/matches.json": "ended matches, newest first; /matches.2.json is the next page, and ?game= bot= competition= ending= margin= filters",
    "/search.json?q=WORDS": "bots, games and competitions with these words in their names",
    "/competitions.json": "competitions, each as GetCompetition answers",
    "/competitions/NAME.json": "one competition: that answer, standings, rounds, deal-sets, chances",
    "/competitions/NAME.official-N.json": "its official standings of number N, signed",
    "/competitions/NAME.official-N.jsonl": "the inputs of these standings, to verify them",
    "/standings/GAME.json": "the standings of a game's newest competition",
    "/overall.json": "bots ranked across games, each from the games that it plays",
    "/bots.json, /bots/NAME.json": "bots; also /bots/NAME.lost.json and /bots/NAME.faulted.json",
    "/games.json, /games/ID.json": "games and their options",
    "/m/ID.json": "one match: scores, winners, faults, times",
    "/replays/ID.replay": "its replay, signed",
    "/live.json": "matches in play that spectators may see",
    "/m/ID/live.json": "a match in play: its last step in words, and its viewers",
    "/seat": "a WebSocket by which a bot plays: /browser-bot.html has one in JavaScript",
    "/m/ID/feed": "server-sent events of a match in play; /m/ID/feed/VIEWER where hands are open",
}


_CALLS: Final = {
    "PlayService.Play": "the stream by which a bot plays: asks come, moves go",
    "LobbyService.ListGames": "the games, their options and numbers of seats",
    "LobbyService.CreateMatch": "begins a match that is not rated",
    "LobbyService.GetMatch": "one match: its bots, state and result",
    "LobbyService.ListMatches": "matches by filters, newest first",
    "LobbyService.ListPlayedGames": "the games of ended matches",
    "LobbyService.ListPlayedBots": "the bots of all matches, also of planned ones",
    "LobbyService.ListBots": "the bots that are connected",
    "LobbyService.ListHumanOpponents": "the submitted bots that people may play, by game; for the arena's own pages",
    "LobbyService.SeatPerson": "begins a match of a person against one of them; for the arena's own pages",
    "ReplayService.GetReplay": "a stream with the replay of a match",
    "ReplayService.InspectMatch": "the steps of a match, for programs that do not replay it",
    "WatchService.Watch": "a stream of the events of a match in play",
    "WatchService.ListLive": "the matches in play that spectators may see",
}
"""The description of each call."""


def _by_line(row: Json) -> str:
    """Return a row as JSON, a key a line."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in row.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def api(archive: SiteArchive) -> Page:
    """Make `/api`."""
    calls = [
        (service, method)
        for module in _FILES
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]
    view = {
        "pages": [{"address": address, "what": what} for address, what in _PAGES.items()],
        "calls": [f"{service.full_name}/{method.name}" for service, method in calls],
        "limits": LIMITS,
    }
    names = (f"{service.name}.{method.name}" for service, method in calls)
    newest = match_rows(with_pages(archive)[:1])
    pictures = {
        "calls": [(name, _CALLS[name]) for name in names],
        "addresses": _PAGES.items(),
        "example": "\n".join(map(_by_line, newest)),
    }
    about = "Pages as JSON, live feeds, the calls of the arena, and what researchers use."
    return Page("api.html", "For programs", view, pictures, about)
