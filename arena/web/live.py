"""What is live over HTTP: the list, the page of a match in play, and its feed."""

import asyncio
import functools
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from arena.scenes import Eyes, Viewer
from arena.web.app import Web, answer_moment, path_and_kind, unslugged
from arena.web.archive import Archive, title_of
from arena.web.audience import Followed, Watcher
from arena.web.connection import EXTENSION
from arena.web.document import Place, document, page_keys
from arena.web.follow import Follower
from arena.web.hall import SPECTATOR, Hall, HallFull, NoArena, NotLive, Tape
from arena.web.live_list import LiveList
from arena.web.match_paths import all_eyes, eyes_label, eyes_name, eyes_named
from arena.web.pages.lists import choices, home, live_rows, live_sheet
from arena.web.sheet import Sheet
from arena.web.site import NotFound
from arena.web.slugs import slug
from arena.web.trees import Element, Tree, element, html, listed
from cardarena.v1 import watch_pb2

RETRY_MS = 2_000
_RETRY = b"retry: %d\n\n" % RETRY_MS
_NOW = b"event: now\ndata: %d\n\n"
"""What time it is here: a browser's own clock may be another."""
_FEED_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"connection", b"close"),  # it has no other end
    (b"x-accel-buffering", b"no"),
]
HANDS_OPEN: Final = "this is practice, and all who watch, bots too, may see every card."
MOST_EYES: Final = 10
"""Seats that an address can name."""
_FULL = "Too many watch already. Try again in a minute."


class LivePages:
    """Routes of what is live, of one folder."""

    def __init__(self, web: Web, hall: Hall) -> None:
        self._web = web
        self._hall = hall
        self._list = LiveList(hall.source, _drawn, limits=hall.limits)

    def routes(self) -> tuple[BaseRoute, ...]:
        """To stand before those of finished pages."""
        return (
            *(Route(path, self.home) for path in ("/", "/index", "/index.html", "/index.json")),
            *(Route(path, self.list) for path in ("/live", "/live.html", "/live.json")),
            Route("/live/feed", self.list_feed),
            *(Route(f"/m/{{match}}/live{kind}", self.match) for kind in ("", ".html", ".json")),
            Route("/m/{match}/live/{eyes}", self.match),
            Route("/m/{match}/feed", self.feed),
            Route("/m/{match}/feed/{eyes}", self.feed),
        )

    async def home(self, request: Request) -> Response:
        """Make `/`."""
        return await self._moment(request, Place("index"), home)

    async def list(self, request: Request) -> Response:
        """Make `/live`."""
        return await self._moment(request, Place("live"), functools.partial(live_sheet, at=_time()))

    async def _moment(
        self,
        request: Request,
        place: Place,
        make: Callable[[Archive, Place, watch_pb2.ListLiveResponse | None], Sheet],
    ) -> Response:
        """A page of what is played now, of which all who ask within a moment get the same."""
        kind = "json" if request.url.path.endswith(".json") else "html"
        found = await self._list.now()

        def body() -> bytes:
            sheet = make(self._web.archive, place, found)
            return (sheet.json() if kind == "json" else sheet.html(place)).encode()

        return answer_moment(request, await self._web.made(f"{place.path}.{kind}", body), kind)

    async def list_feed(self, request: Request) -> Response:
        """Make `/live/feed`."""
        address = request.client.host if request.client else ""
        return _Feed(self._hall, self._list, address, 0)

    async def match(self, request: Request) -> Response:
        """Make `/m/ID/live`, and `/m/ID/live/EYES` where hands are open."""
        match_id = unslugged(request.path_params["match"])
        _, kind = path_and_kind(request.url.path)
        given = request.path_params.get("eyes")
        eyes = SPECTATOR if given is None else _eyes(path_and_kind(given)[0])
        if given is not None and eyes == SPECTATOR:  # its page has links from another place
            return RedirectResponse(f"/m/{slug(match_id)}/live.{kind}", 302)
        try:
            tape = await self._hall.tape(match_id, eyes)
        except NoArena:
            raise
        except NotLive as error:
            found = await asyncio.to_thread(self._web.archive.match, match_id)
            if found is not None and found.published:  # it is over meanwhile
                own = "all" if given is None else eyes
                over = ".json" if kind == "json" else f"/{own}/1.html"
                return RedirectResponse(f"/m/{slug(match_id)}{over}", 302)
            text = f"no match {match_id!r} may be watched live: it is over, sealed, or never was"
            raise NotFound(text if given is None else str(error), "live") from None
        body = _as_json(tape) if kind == "json" else _page(tape)
        return answer_moment(request, body.encode(), kind)

    async def feed(self, request: Request) -> Response:
        """Make `/m/ID/feed`, and `/m/ID/feed/EYES` where hands are open."""
        match_id = unslugged(request.path_params["match"])
        eyes = _eyes(request.path_params.get("eyes", SPECTATOR))
        given = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        after = int(given) if given.isdecimal() and len(given) < 10 else 0
        try:
            tape = await self._hall.tape(match_id, eyes)
        except NoArena:
            raise
        except NotLive as error:
            raise NotFound(str(error), "live") from None
        address = request.client.host if request.client else ""
        return _Feed(self._hall, tape, address, after)


class _Feed(Response):
    """A feed, until it is over, the watcher leaves, or takes nothing for too long.

    Once it has begun its connection is one of the audience's, and this is done.
    """

    def __init__(self, hall: Hall, followed: Followed, address: str, after: int) -> None:
        self._hall = hall
        self._followed = followed
        self._address = address
        self._after = after
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            seat = self._hall.seat(self._followed, self._address)
        except HallFull:
            headers = {"retry-after": "60", "cache-control": "no-store"}
            await Response(_FULL, 503, headers, "text/plain; charset=utf-8")(scope, receive, send)
            return
        taken = False
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _FEED_HEADERS})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            connection, audience = scope["extensions"][EXTENSION], self._followed.audience
            chunked = scope["http_version"] != "1.0"
            watcher = Watcher(audience, connection.connections, seat.leave, chunked=chunked)
            taken = connection.hand_over(watcher)
        finally:
            if not taken:
                seat.leave()
        if taken:
            audience.join(watcher, _RETRY + _NOW % (time.time_ns() // 1_000_000), self._after)


def _drawn(found: watch_pb2.ListLiveResponse | None) -> Any:
    """The list as the script builds it."""
    return listed(live_rows(Place("live"), found, _time()))


def _time() -> str:
    return f"{datetime.now(UTC):%H:%M:%S}"


def _eyes(name: str) -> str:
    """The name of eyes, if it is one: whether a match has them is known once it is watched.

    Raises:
      NotFound: if it is none.
    """
    if eyes_named(name, MOST_EYES) is None:
        raise NotFound(f"there are no eyes {name!r}: all, spectator, seat-0, seat-1 …", "live")
    return name


def _live_path(match_id: str, eyes: Eyes) -> str:
    own = "" if eyes is Viewer.SPECTATOR else f"/{eyes_name(eyes)}"
    return f"m/{match_id}/live{own}"


def _feed_address(tape: Tape) -> str:
    own = "" if tape.eyes == SPECTATOR else f"/{tape.eyes}"
    return f"/m/{slug(tape.match_id)}/feed{own}"


def _offered(follower: Follower) -> tuple[Eyes, ...]:
    """The eyes that a match in play may be seen with."""
    return all_eyes(len(follower.names)) if follower.hands_open else (Viewer.SPECTATOR,)


def _as_json(tape: Tape) -> str:
    follower, step = tape.follower, tape.last
    assert follower is not None
    assert step is not None
    told = {
        "match": tape.match_id,
        "game": follower.terms.game.id,
        "bots": list(follower.names),
        "eyes": tape.eyes,
        "hands_open": follower.hands_open,
        "offered": [eyes_name(each) for each in _offered(follower)],
        "hand": step.hand + 1,
        "step": step.label,
        "said": step.spoken,
        "feed": _feed_address(tape),
    }
    return Sheet("", (), told).json()


def _page(tape: Tape) -> str:
    """The page of a match in play, with its present picture."""
    follower, step = tape.follower, tape.last
    assert follower is not None
    assert step is not None
    match_id = slug(tape.match_id)
    place = Place(_live_path(match_id, follower.eyes))
    names: list[Tree] = []
    for seat, name in enumerate(follower.names):
        names += [" – "] if seat else []
        names.append(element("bdi", "", name))
    title = title_of(follower.terms.game.id)
    about = f"live · {_whose(follower)} · match {tape.match_id}"
    main = element(
        "div",
        "page",
        element(
            "div",
            "heading",
            element("h1", "match", f"{title}: ", *names),
            element(
                "p",
                "about",
                element("strong", "", f"hand {step.hand + 1}", id="hand"),
                f" · {about}",
            ),
            _hands_note(follower),
            element("p", "clock-note", _clock_words(tape), id="clock", role="timer"),
            element(
                "p", "live-note", "This is the present picture; reload for a newer one.", id="state"
            ),
        ),
        _eyes_links(follower, place, match_id),
        element(
            "div",
            "watch",
            element("div", "picture", step.table, id="picture"),
            _log(step.words, step.label),
        ),
        data_feed=f"{place.to(_feed_address(tape)[1:], '')}?after={tape.number}",
        data_over=place.to(f"m/{match_id}/all/1"),
        data_clock=json.dumps(tape.running),
        id="live",
    )
    bar = _BAR.format(words=html(step.words), keys=page_keys())
    return document(
        main,
        title=f"{title}: {' – '.join(follower.names)}, live",
        place=place,
        scripts=("live.js", "site.js"),
        after=bar,
        with_cards=True,
    )


def _whose(follower: Follower) -> str:
    if isinstance(follower.eyes, Viewer):
        return "all hands" if follower.eyes is Viewer.ALL else "spectator's eyes"
    return f"the eyes of {follower.names[follower.eyes]}"


def _hands_note(follower: Follower) -> Element | None:
    """That hands are open, for all who look: also for those who see none of them here."""
    if not follower.hands_open:
        return None
    return element("p", "hands-note", element("strong", "", "Hands are open: "), HANDS_OPEN)


def _eyes_links(follower: Follower, place: Place, match_id: str) -> Element | None:
    offered = _offered(follower)
    if len(offered) < 2:
        return None
    return choices(
        "whose eyes",
        [
            (
                eyes_label(each, follower.names),
                place.to(_live_path(match_id, each)),
                each == follower.eyes,
            )
            for each in offered
        ],
    )


def _clock_words(tape: Tape) -> str:
    """Whose clock runs, as it is said without the script that counts down."""
    running = tape.running
    if running is None or not running.banks:
        return ""
    names = " and ".join(name for name, _ in running.banks)
    banks = ", ".join(_seconds(bank_ms) for _, bank_ms in running.banks)
    return f"{names} to move: {_seconds(running.move_ms)}, then {banks} in the bank."


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.1f}\N{NO-BREAK SPACE}s"


def _log(words: Element, label: str) -> Element:
    row = element("li", "", element("span", "soft", label), words)
    return element(
        "div",
        "log",
        element("h2", "", "What was just done"),
        element("ol", "rows", row, id="log"),
        role="region",
        aria_label="log",
        tabindex="0",
    )


_BAR = """\
<div class="bar" role="region" aria-label="the last step">
<p class="words" id="words" tabindex="0">{words}</p>
<p class="hidden" id="spoken" aria-live="polite"></p>
{keys}</div>
"""
