"""Constant pages: how to verify deals, and the interfaces for programs."""

from dataclasses import dataclass
from typing import Any, Final

from arena.web.page import Page
from arena.web.site_archive import SiteArchive
from cardarena.v1 import lobby_pb2, play_pb2, replay_pb2, watch_pb2

_FILES: Final = (play_pb2, lobby_pb2, replay_pb2, watch_pb2)
LIMITS: Final = {
    "watchers of a match": "1,000",
    "watchers in all": "2,000",
    "streams of an address": "8",
    "messages of a feed": "4 a second",
    "rows of a list": "50 a page",
}


def fair(_: SiteArchive) -> Page:
    """Make `/fair`."""
    return Page("fair.html", "Fair deals", {"verifier": "/verify.html"})


@dataclass(frozen=True, slots=True)
class ApiPage:
    """A page for programs."""

    address: str
    what: str


@dataclass(frozen=True, slots=True)
class ApiView:
    """The interfaces for programs."""

    pages: tuple[ApiPage, ...]
    calls: tuple[str, ...]
    limits: dict[str, str]


_PAGES: Final = (
    ApiPage("/matches.json", "ended matches, newest first; /matches.2.json is the next page"),
    ApiPage("/competitions.json", "competitions"),
    ApiPage("/competitions/NAME.json", "one competition: standings, rounds, deal-sets, chances"),
    ApiPage("/competitions/NAME.official-N.json", "its official standings of number N, signed"),
    ApiPage("/competitions/NAME.official-N.jsonl", "the inputs of these standings, to verify them"),
    ApiPage("/standings/GAME.json", "the standings of a game's newest competition"),
    ApiPage(
        "/bots.json, /bots/NAME.json",
        "bots; also /bots/NAME.lost.json and /bots/NAME.faulted.json",
    ),
    ApiPage("/games.json, /games/ID.json", "games and their options"),
    ApiPage("/m/ID.json", "one match: scores, winners, faults, times"),
    ApiPage("/replays/ID.replay", "its replay, signed"),
    ApiPage("/live.json", "matches in play that spectators may see"),
    ApiPage("/m/ID/live.json", "a match in play: its last step in words, and its viewers"),
    ApiPage(
        "/m/ID/feed",
        "server-sent events of a match in play; /m/ID/feed/VIEWER where hands are open",
    ),
)


def api(_: SiteArchive) -> Page:
    """Make `/api`."""
    calls = [
        (service, method)
        for module in _FILES
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]
    view = ApiView(
        _PAGES, tuple(f"{service.full_name}/{method.name}" for service, method in calls), LIMITS
    )
    shown = [(f"{service.name}.{method.name}", _messages(method)) for service, method in calls]
    return Page("api.html", "For programs", view, {"calls": shown})


def _messages(method: Any) -> str:
    """The messages of a call, in both directions."""
    request, response = method.input_type.name, method.output_type.name
    return ", ".join(
        f"stream of {name}" if streams else name
        for name, streams in (
            (request, method.client_streaming),
            (response, method.server_streaming),
        )
    )
