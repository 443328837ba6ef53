"""The process of people's seats: its routes below `/play/`, of the lobby, the tables, and the replays of ended matches.

It opens no store and has no keys, calls the arena for submitted bots, and has a folder for replays. Each form is an
ordinary POST that answers with a redirect, so everything works without a script.
"""

import asyncio
import json
import logging
import re
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

import arena.web.path_numbers  # noqa: F401 - for the routes with numbers
from arena.games.catalogue import BadOptions, game_by_id
from arena.games.contract import Seat
from arena.local.human_match import NotYourMove
from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable, replay_path
from arena.web import page_places
from arena.web.acting.process import serve_application
from arena.web.acting.visits import VISITOR, Visit, is_forwarded, own_path
from arena.web.addresses import Links, NoSuchPage
from arena.web.names import LEVELS
from arena.web.page import Page
from arena.web.passed_on import passed_on_folder
from arena.web.play import seat_pages
from arena.web.play.arena_match import opponents
from arena.web.play.seats import BOT, LENGTHS, MOST_REPLAYS, SHORT, NoTable, PersonsSeat, Seats

COMPRESSION: Final = 5
"""The level of gzip. A page does not have the secret of its address, so its length does not reveal it."""
MOST_FORM_BYTES: Final = 8_192
MOST_FIELDS: Final = 16
AGAIN_S: Final = 2
"""Seconds between two reloads of a table whose bot thinks."""
FORM_S: Final = 10.0
"""The time in seconds for the whole body of a form."""
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MATCH: Final = re.compile(r"[0-9a-f]{16}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,19}")
_BOT: Final = re.compile(rf"{BOT}[A-Za-z0-9_-]{{1,64}}")
_PAGE_HEADERS: Final = {"cache-control": "no-store", "referrer-policy": "same-origin"}
"""Forms are sent with their origin, and the secret address of a seat is sent to no other site."""
_HTML: Final = "text/html; charset=utf-8"

_log = logging.getLogger(__name__)


def serve(path: str, given: str, secret: str) -> None:
    """Serve until this process is ended.

    Args:
      path: The socket file to listen on, in a folder that only this user can open.
      given: As JSON, the folder that gets the replays, and the socket file of the arena.
      secret: The secret in each request of the process of the pages; other requests are refused.
    """

    @asynccontextmanager
    async def made() -> AsyncIterator[ASGIApp]:
        folder, arena_socket = json.loads(given)
        pages = PlayPages(Seats(Path(folder), arena_socket=arena_socket), secret)
        pages.keep_time()
        yield pages.application()

    serve_application(path, made)


class PlayPages:
    """The pages of people's seats. Call `keep_time` on the loop that serves them."""

    def __init__(self, seats: Seats, secret: str) -> None:
        """`secret` is in each forwarded request; other requests are refused."""
        self._seats = seats
        self._secret = secret
        self._places = page_places.PagePlaces()
        self._clocks: asyncio.Task[None] | None = None

    def application(self) -> ASGIApp:
        routes = [
            *(Route(path, self.lobby) for path in ("/", "/index.html")),
            Route("/new", self.begin, methods=["POST"]),
            Route("/from/{match}", self.lobby_from),
            Route("/from/{match}", self.begin_from, methods=["POST"]),
            Route("/m/{match}/what-if", self.what_if),
            Route("/s/{token}", self.seat, methods=["GET", "HEAD", "POST"]),
            Route("/m/{match}/house.html", self.house),
            Route("/m/{match}/{viewer}/{hand:number}.html", self.hand),
            Route("/replays/{match}.replay", self.replay),
            Route("/{path:path}", self.unknown_page),
        ]
        handlers: Mapping[Any, Any] = dict.fromkeys(
            (
                *(NoSuchPage, NoTable, NotYourMove, Unplayable, Discrepancy, BadOptions),
                *(page_places.Full, HTTPException, Exception),
            ),
            _error_page,
        )
        pages = ExceptionMiddleware(Router([Mount("/play", Router(routes))]), handlers)
        compressed = GZipMiddleware(pages, compresslevel=COMPRESSION)

        async def forwarded(scope: Scope, receive: Receive, send: Send) -> None:
            known = is_forwarded(Request(scope), self._secret)
            await (compressed if known else Response(status_code=404))(scope, receive, send)

        return forwarded

    def keep_time(self) -> None:
        """Play for people whose time is up, as long as the running loop does."""
        self._clocks = asyncio.create_task(self._keep_time())

    async def _keep_time(self) -> None:
        while True:
            await asyncio.sleep(1)
            try:
                await asyncio.to_thread(self._seats.pass_time)
            except Exception:
                _log.exception("the clocks of people's matches fail")

    async def lobby(self, request: Request) -> Response:
        """Make `/play/`: games and opponents."""
        bots = await asyncio.to_thread(opponents, self._seats.arena_socket)
        page = seat_pages.lobby(request.query_params.get("game", ""), bots, request.query_params)
        return _page(page, Links("play/index"))

    async def what_if(self, request: Request) -> Response:
        """Redirect from a match of this process to the form that continues it."""
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/play/from/{request.path_params['match']}{query}", 302)

    async def lobby_from(self, request: Request) -> Response:
        """Make `/play/from/ID?step=N&seat=S`: the form that continues an ended match from a step."""
        path, query = self._continued(request), request.query_params
        page = await self._threaded(
            request,
            lambda: seat_pages.lobby_from(
                Replay.open(path), query.get("step", ""), query.get("seat", "")
            ),
        )
        return _page(page, Links(f"play/from/{path.stem}"))

    async def begin_from(self, request: Request) -> Response:
        """Accept that form, and redirect to the new seat."""
        path, form = self._continued(request), await _form(request)
        name, level = _opponent(form, LEVELS)
        step, seat = form.get("step", ""), form.get("seat", "")
        if not (step.isdecimal() and len(step) < 7 and seat.isdecimal() and len(seat) < 3):
            raise HTTPException(400, "Choose a step and a seat.")

        def begun() -> str:
            replay = Replay.open(path)
            if int(seat) >= len(replay.names):
                raise HTTPException(400, "Choose a seat from the list.")
            own = Seat(int(seat))
            return self._seats.begin_from(
                replay, int(step), own, level, name=name, address=request.headers[VISITOR]
            )

        token = await self._threaded(request, begun)
        return RedirectResponse(f"/play/s/{token}", 303)

    def _continued(self, request: Request) -> Path:
        """Return the replay of an ended match: of this process, or public and passed on by the process of the pages."""
        match_id = request.path_params["match"]
        folders = (passed_on_folder(self._seats.folder), self._seats.folder)
        paths = (replay_path(folder, match_id) for folder in folders if _ID.fullmatch(match_id))
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise NoSuchPage("there is no such match, or it has not ended; open it again")
        return path

    async def begin(self, request: Request) -> Response:
        """Accept the form of the lobby, and redirect to the new seat."""
        form = await _form(request)
        level = form.get("level", "")
        name, level = _opponent(form, [level] if _BOT.fullmatch(level) else LEVELS)
        seats = form.get("seats", "")
        try:
            game = game_by_id(form.get("game", ""))
        except LookupError:
            raise HTTPException(400, "Choose a game from the list.") from None
        number = int(seats) if seats.isdecimal() and len(seats) < 3 else game.seats[0]
        token = await self._threaded(
            request,
            lambda: self._seats.begin(
                game,
                number,
                level,
                name=name,
                length=length if (length := form.get("length", "")) in LENGTHS else SHORT,
                address=request.headers[VISITOR],
            ),
        )
        return RedirectResponse(f"/play/s/{token}", 303)

    async def seat(self, request: Request) -> Response:
        """Make the page of a seat, or accept its form and redirect to the page."""
        token = request.path_params["token"]
        seat = self._seats.get(token)
        if seat is None:
            raise NoSuchPage("this table is not kept any more; its replay may be")
        if request.method == "POST":
            form = await _form(request)
            await self._threaded(request, lambda: _locked(seat, seat.take, form))
            return RedirectResponse(f"/play/s/{token}", 303)
        at = request.query_params.get("at", "")
        shown = int(at) if at.isdecimal() and len(at) < 6 else None
        page = await self._threaded(request, lambda: _locked(seat, seat_pages.table, seat, shown))
        response = _page(page, Links("play/s/table"))
        if page.pictures["waits"]:
            response.headers["refresh"] = str(AGAIN_S)
        return response

    async def hand(self, request: Request) -> Response:
        """Make the page of a hand of a match that has ended, for any viewer."""
        path, given = self._replay(request), request.path_params
        step = request.query_params.get("step", "")[:12]

        def made() -> str:
            from arena.web.pages.finished_match import match_page  # loads much, and few need it

            stamp = path.stat().st_mtime_ns
            return match_page(path, stamp, given["viewer"], given["hand"], step, "")[0]

        return Response(await self._threaded(request, made), media_type=_HTML)

    async def house(self, request: Request) -> Response:
        """Make the page that compares a person's moves with the house bot's."""
        path = self._replay(request)
        seat = request.query_params.get("seat", "0")
        page = await self._threaded(request, lambda: _compared(path, seat[:1]))
        return _page(page, Links(f"play/m/{path.stem}/house"))

    async def replay(self, request: Request) -> Response:
        path = self._replay(request)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def unknown_page(self, request: Request) -> Response:
        """Redirect to a page of the site, to which pages of replays have links below `/play/`."""
        path = f"/{request.path_params['path']}"
        if own_path(path) != path:
            raise HTTPException(404)
        return RedirectResponse(path, 302)

    def _replay(self, request: Request) -> Path:
        match_id = request.path_params["match"]
        path = replay_path(self._seats.folder, match_id) if _MATCH.fullmatch(match_id) else None
        if path is None or not path.is_file():
            raise NoSuchPage("there is no such match, or its replay was removed")
        return path

    async def _threaded(self, request: Request, call: Callable[[], Any]) -> Any:
        async with self._places.place(request.headers[VISITOR]):
            return await asyncio.to_thread(call)


def _opponent(form: Mapping[str, str], levels: Collection[str]) -> tuple[str, str]:
    """Return the name of the person and the level of the bots, which is one of `levels`, from a form.

    Raises `HTTPException` if they are invalid.
    """
    name, level = form.get("name", "").strip() or "guest", form.get("level", "")
    if not _NAME.fullmatch(name) or name.startswith("house"):
        raise HTTPException(400, "Your name has 1 to 20 letters, digits, hyphens and underscores.")
    if level not in levels:
        raise HTTPException(400, "Choose an opponent from the list.")
    return name, level


def _locked(seat: PersonsSeat, call: Callable[..., Any], *given: object) -> Any:
    with seat.lock:
        return call(*given)


@lru_cache(MOST_REPLAYS)
def _compared(path: Path, seat: str) -> Page:
    return seat_pages.house(Replay.open(path), seat)


async def _form(request: Request) -> Mapping[str, str]:
    """Read a form of the site's own pages.

    Raises `HTTPException` if another site sent it, or it is too large, too slow or not a form.
    """
    if not Visit.of(request).is_own_page(request):
        raise HTTPException(403, "A form of another site is not taken.")
    body = bytearray()
    try:
        async with asyncio.timeout(FORM_S):
            async for part in request.stream():
                body += part
                if len(body) > MOST_FORM_BYTES:
                    raise HTTPException(413, "The form is too long.")
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except TimeoutError:
        raise HTTPException(408, "The form came too slowly.") from None
    except ValueError:
        raise HTTPException(400, "The form cannot be read.") from None


def _page(page: Page, links: Links) -> Response:
    return Response(page.html(links), media_type=_HTML, headers=_PAGE_HEADERS)


async def _error_page(request: Request, error: Exception) -> Response:
    match error:
        case NoSuchPage():
            status, title, text = 404, "Not found", f"{error}."
        case NotYourMove():
            status, title, text = 400, "Not begun", str(error)
        case BadOptions() | Unplayable() | Discrepancy():
            status, title, text = 400, "Not begun", f"{error}."
        case NoTable():
            status, title, text = 503, "Full", str(error)
        case page_places.Full():
            status, title, text = (
                503,
                "Full",
                "Too many pages are being made at once. Try again in 5 s.",
            )
        case HTTPException(status_code=404):
            status, title, text = (
                404,
                "Not found",
                "This process serves the tables of people alone.",
            )
        case HTTPException():
            status, title, text = error.status_code, "Not taken", error.detail
        case _:
            incident = secrets.token_hex(4)
            fields = {"incident": incident, "path": request.url.path[:200]}
            _log.error("a page of a seat fails", exc_info=error, extra=fields)
            status, title = 500, "Something went wrong"
            text = f"This is an error of the site, incident {incident}; its log has the details."
    page = Page("error.html", title, {}, {"text": text[:1].upper() + text[1:], "listed": ""})
    headers = {"cache-control": "no-store"} | ({"retry-after": "5"} if status == 503 else {})
    return Response(page.html(Links("", absolute=True)), status, headers, _HTML)
