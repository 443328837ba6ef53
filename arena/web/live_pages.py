"""Routes of matches in play: their list, the page of each, and the feeds of both."""

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from arena.pictures import AnyViewer, Viewer
from arena.web.addresses import (
    Links,
    NoSuchPage,
    all_viewers,
    match_path,
    rules_link,
    slug,
    unslug,
    viewer_name,
    viewer_named,
)
from arena.web.app import Web
from arena.web.arena_source import ArenaBusy, NoArena, NotLive
from arena.web.event_hub import SPECTATOR, EventHub, HubFull, LiveBuffer
from arena.web.live_list import LiveList
from arena.web.live_match import LiveDrawer
from arena.web.live_table import TableNow, Tables, live_tree, live_view, pictured
from arena.web.names import is_of_house_alone
from arena.web.page import Json, Page, as_json
from arena.web.pages.hand import HandLinks, HandPage, LiveState, MatchHeading
from arena.web.pages.lists import Highlight, ended_rows, home, live
from arena.web.responses import answer_once, path_and_kind
from arena.web.steps import Step
from arena.web.subscribers import EXTENSION, Feed, Subscriber
from arena.web.trees import html, listed
from cardarena.v1 import watch_pb2

RETRY_MS = 2_000
_RETRY = b"retry: %d\n\n" % RETRY_MS
_NOW = b"event: now\ndata: %d\n\n"
"""The time is the server's, because the clock of a browser may be wrong."""
_FEED_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"connection", b"close"),  # a feed is the last response on its connection
    (b"x-accel-buffering", b"no"),
]
FIRST_PICTURE_S: Final = 1.0
"""Seconds for which the home page waits for a match in play."""
MOST_SEATS: Final = 10
"""The maximal number of seats in a path."""
_FULL = "There are too many spectators. Try again in a minute."


class LivePages:
    """The routes of matches in play of one data folder."""

    def __init__(self, web: Web, hub: EventHub) -> None:
        self._web = web
        self._hub = hub
        self._list = LiveList(hub.source, _drawn, self._ended, self._tables, limits=hub.limits)

    def routes(self) -> tuple[BaseRoute, ...]:
        """Return the routes, which must come before those of other pages."""
        return (
            *(Route(path, self.home) for path in ("/", "/index", "/index.html", "/index.json")),
            *(Route(path, self.list) for path in ("/live", "/live.html", "/live.json")),
            Route("/live/feed", self.list_feed),
            *(Route(f"/m/{{match}}/live{kind}", self.match) for kind in ("", ".html", ".json")),
            Route("/m/{match}/live/{viewer}", self.match),
            Route("/m/{match}/feed", self.feed),
            Route("/m/{match}/feed/{viewer}", self.feed),
        )

    async def home(self, request: Request) -> Response:
        """Make `/`, with a match in play, which is updated, or a moment of a finished one."""
        moment = None if request.url.path.endswith(".json") else await self._moment()
        return await self._now(request, "index", functools.partial(home, moment=moment))

    async def _moment(self) -> Highlight | None:
        """Return a match in play for the home page; None if there is none."""
        in_play = await self._list.now()
        public = [] if in_play is None else in_play.matches
        for match in (match for match in public if not is_of_house_alone(match.bots)):
            with contextlib.suppress(NotLive, TimeoutError):
                buffer = await asyncio.wait_for(self._hub.buffer(match.match_id), FIRST_PICTURE_S)
                drawer, step = _shown(buffer)
                drawn = Markup(html(step.table)), Markup(html(step.text))  # noqa: S704 - `html` escapes
                game = drawer.terms.game.id
                return Highlight(game, drawer.names, *drawn, match.match_id, number=buffer.number)
            break
        return None

    async def list(self, request: Request) -> Response:
        """Make `/live`."""
        tables = self._tables(await self._list.now())
        page = functools.partial(live, now_unix_ms=_now_ms(), tables=tables)
        return await self._now(request, "live", page)

    def _tables(self, in_play: watch_pb2.ListLiveResponse | None) -> Tables:
        """Return the known tables of the list."""
        followed = self._hub.followed(pictured(in_play))
        return {
            # A dash between scores would hide a sign.
            match_id: TableNow(
                ("–" if all(map(str.isdecimal, drawer.scores)) else ", ").join(drawer.scores),
                drawer.cards,
            )
            for match_id, drawer in followed.items()
        }

    async def _ended(self) -> Sequence[Json]:
        return await asyncio.to_thread(ended_rows, self._web.archive, _now_ms())

    async def _now(self, request: Request, path: str, make: Callable[..., Page]) -> Response:
        """Make a page that has the matches in play; simultaneous requests make it once."""
        kind = "json" if request.url.path.endswith(".json") else "html"
        in_play = await self._list.now()
        page = functools.partial(make, self._web.archive, in_play)
        return answer_once(await self._web.made(request, path, kind, page), kind)

    async def list_feed(self, request: Request) -> Response:
        """Make `/live/feed`."""
        return _FeedResponse(self._hub, self._list, request, 0)

    async def match(self, request: Request) -> Response:
        """Make `/m/ID/live`, and `/m/ID/live/VIEWER` if hands are open."""
        match_id = unslug(request.path_params["match"])
        _, kind = path_and_kind(request.url.path)
        given = request.path_params.get("viewer")
        viewer = SPECTATOR if given is None else _viewer(path_and_kind(given)[0])
        if given is not None and viewer == SPECTATOR:  # this page has a path without a viewer
            return RedirectResponse(f"/m/{slug(match_id)}/live.{kind}", 302)
        try:
            buffer = await self._hub.buffer(match_id, viewer)
        except (NoArena, ArenaBusy):
            raise
        except NotLive as error:
            ended = await asyncio.to_thread(self._web.archive.match, match_id)
            if ended is not None and ended.published:  # it has ended
                shown_to = "all" if given is None else viewer
                over = ".json" if kind == "json" else f"/{shown_to}/1.html"
                return RedirectResponse(f"/m/{slug(match_id)}{over}", 302)
            text = f"no match {match_id!r} can be watched live: it is over, sealed, or unknown"
            raise NoSuchPage(text if given is None else str(error), "live") from None
        body = _json(buffer) if kind == "json" else _page(buffer)
        return answer_once(body.encode(), kind)

    async def feed(self, request: Request) -> Response:
        """Make `/m/ID/feed`, and `/m/ID/feed/VIEWER` if hands are open."""
        match_id = unslug(request.path_params["match"])
        viewer = _viewer(request.path_params.get("viewer", SPECTATOR))
        given = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        after = int(given) if given.isdecimal() and len(given) < 10 else 0
        try:
            buffer = await self._hub.buffer(match_id, viewer)
        except (NoArena, ArenaBusy):
            raise
        except NotLive as error:
            raise NoSuchPage(str(error), "live") from None
        return _FeedResponse(self._hub, buffer, request, after)


class _FeedResponse(Response):
    """The response with a feed. After its head, the connection is handed to the subscribers."""

    def __init__(self, hub: EventHub, feed: Feed, request: Request, after: int) -> None:
        self._hub, self._feed, self._after = hub, feed, after
        self._address = request.client.host if request.client else ""
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            end = self._hub.subscribe(self._feed, self._address)
        except HubFull:
            headers = {"retry-after": "60", "cache-control": "no-store"}
            await Response(_FULL, 503, headers, "text/plain; charset=utf-8")(scope, receive, send)
            return
        handed_over = False
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _FEED_HEADERS})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            connection, chunked = scope["extensions"][EXTENSION], scope["http_version"] != "1.0"
            subscriber = Subscriber(self._feed, connection.connections, end, chunked=chunked)
            handed_over = connection.hand_over(subscriber)
        finally:
            if not handed_over:
                end()
        if handed_over:
            self._feed.attach(subscriber, _RETRY + _NOW % _now_ms(), self._after)


def _drawn(
    in_play: watch_pb2.ListLiveResponse | None, ended: Sequence[Json], tables: Tables
) -> Any:
    """Return the list as JSON for the script."""
    return listed(live_tree(Links("live").page, live_view(in_play, ended), tables))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _viewer(name: str) -> str:
    """Check the name of a viewer in a path; the match may have fewer seats.

    Raises `NoSuchPage` if no match has such a viewer.
    """
    if viewer_named(name, MOST_SEATS) is None:
        raise NoSuchPage(f"there is no viewer {name!r}: all, spectator, seat-0, seat-1 …", "live")
    return name


def _live_path(match_id: str, viewer: AnyViewer) -> str:
    ending = "" if viewer is Viewer.SPECTATOR else f"/{viewer_name(viewer)}"
    return f"m/{match_id}/live{ending}"


def _shown(buffer: LiveBuffer) -> tuple[LiveDrawer, Step]:
    """Return the drawer and the present picture of a match; every buffer of `EventHub.buffer` has both."""
    assert buffer.drawer is not None
    assert buffer.last is not None
    return buffer.drawer, buffer.last


def _viewers(drawer: LiveDrawer) -> tuple[AnyViewer, ...]:
    """Return the possible viewers of a match in play."""
    return all_viewers(len(drawer.names)) if drawer.hands_open else (Viewer.SPECTATOR,)


def _feed_address(buffer: LiveBuffer) -> str:
    ending = "" if buffer.viewer == SPECTATOR else f"/{buffer.viewer}"
    return f"/m/{slug(buffer.match_id)}/feed{ending}"


def _json(buffer: LiveBuffer) -> str:
    """Return a match in play as JSON: its possible viewers, hand (from 1), last step, and the path of its feed."""
    drawer, step = _shown(buffer)
    return as_json(
        {
            "match": buffer.match_id,
            "game": drawer.terms.game.id,
            "bots": drawer.names,
            "viewer": buffer.viewer,
            "hands_open": drawer.hands_open,
            "viewers": list(map(viewer_name, _viewers(drawer))),
            "hand": step.hand + 1,
            "step": step.label,
            "said": step.spoken,
            "feed": _feed_address(buffer),
        }
    )


def _page(buffer: LiveBuffer) -> str:
    """Return the page of a match in play: that of a hand, with the present step, which follows the match."""
    drawer, step = _shown(buffer)
    match_id, game = slug(buffer.match_id), drawer.terms.game.id
    links = Links(_live_path(match_id, drawer.viewer))
    heading = MatchHeading(game, buffer.match_id, drawer.names, "", 0, 0, "")
    steps = list(buffer.steps)
    firsts = {shown.hand: shown.label for shown in reversed(steps)}
    state = LiveState(
        _feed_address(buffer)[1:],
        buffer.number,
        match_path(match_id),
        buffer.clock,
        drawer.hands_open,
        [(hand + 1, label) for hand, label in sorted(firsts.items()) if hand < step.hand],
    )
    page = HandPage(heading, drawer.viewer, _viewers(drawer), step.hand, steps, live=state)
    return page.html(
        HandLinks(
            lambda viewer, _: links.page(_live_path(match_id, viewer)),
            rules_link(links, game),
            links,
        ),
        len(steps) - 1,
    )
