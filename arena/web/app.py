"""The site over HTTP: which address has which page, what a browser may do with it, and errors.

What blocks is done elsewhere: sheets on threads, pages of matches in a worker process.
Nothing here changes anything, and nobody logs in.
"""

import asyncio
import contextlib
import functools
import gzip
import hashlib
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.server.data_folder import arena_version
from arena.store import StoredMatch
from arena.web import drawing
from arena.web.archive import Archive
from arena.web.cache import PageCache, key_of
from arena.web.document import ASSETS, Place, asset, sprite
from arena.web.hall import NoArena
from arena.web.match_paths import Missing, eyes_named
from arena.web.sheet import Sheet
from arena.web.site import NotFound, Site, verifier
from arena.web.slugs import slug, unslug
from arena.web.trees import Tree, element
from arena.worker_process import end_with_parent

VERSION: Final = "3"
"""Of what pages of matches look like, beside the style sheet and the script: raised on any change."""
MOST_WAITING: Final = 32
"""Requests that may wait for a page to be made; more are sent away."""
RETRY_S: Final = 5
WORKERS: Final = 1
FRESH_S: Final = 2.0
"""A sheet that was made this long ago is sent again."""
MOST_SHEETS: Final = 256
_DAY_S: Final = 86_400

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""What every answer says, errors included; the verifier names its own script by hash."""

_log = logging.getLogger(__name__)


class Full(Exception):
    """Too many wait already."""


class Web:
    """The pages of one folder of data."""

    def __init__(self, data: Path, *, workers: Executor | None = None, only: str = "") -> None:
        """`workers` draw pages of matches; `only` names the one tournament that is shown."""
        self.archive = Archive(data, only=only)
        self.site = Site(self.archive)
        self._cache = PageCache(data / "pages")
        self._own_workers = workers is None
        self._workers = workers if workers is not None else _workers()
        self._waiting = 0
        self._sheets: dict[str, tuple[float, bytes]] = {}
        self._made_of = key_of(
            VERSION, arena_version(), sprite(), *(asset(name)[0] for name in ASSETS)
        )

    def close(self) -> None:
        """Let go of workers and store."""
        if self._own_workers:
            self._workers.shutdown(wait=True, cancel_futures=True)
        self.archive.close()

    # Sheets.

    async def sheet(self, request: Request) -> Response:
        """A page of words and tables."""
        path = request.path_params.get("path", "") or "index"
        path, kind = path_and_kind(path)
        body = await self.made(f"{path}.{kind}", functools.partial(self._sheet, path, kind))
        return _answer(
            request, body, _MEDIA[kind], f'"{hashlib.sha256(body).hexdigest()[:32]}"', "no-cache"
        )

    def _sheet(self, path: str, kind: str) -> bytes:
        made, place = self.site.sheet(path)
        return (made.json() if kind == "json" else made.html(place)).encode()

    async def made(self, key: str, make: Callable[[], bytes]) -> bytes:
        """A sheet, as it was made a moment ago or made now on a thread.

        Raises:
          Full: if too many wait for one.
        """
        now_s = asyncio.get_running_loop().time()
        known = self._sheets.get(key)
        if known is not None and now_s - known[0] < FRESH_S:
            return known[1]
        async with self._place():
            body = await asyncio.to_thread(make)
        while len(self._sheets) >= MOST_SHEETS:
            del self._sheets[next(iter(self._sheets))]
        self._sheets.pop(key, None)
        self._sheets[key] = now_s, body
        return body

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """A place among those who wait for a page.

        Raises:
          Full: if there is none.
        """
        if self._waiting >= MOST_WAITING:
            raise Full
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    # Matches.

    async def match(self, request: Request) -> Response:
        """Make `/m/ID/EYE/HAND`, with `?step=N`.."""
        found, path = await self._watched(request)
        eye, last = request.path_params["eye"], request.path_params["hand"]
        number, _ = path_and_kind(last)
        step = request.query_params.get("step", "")[:12]
        if not number.isdecimal() or len(number) > 4:
            raise NotFound(f"{number!r} is no number of a hand")
        stat = await asyncio.to_thread(path.stat)
        key = key_of(
            self._made_of,
            path.name,
            stat.st_size,
            stat.st_mtime_ns,
            eye,
            number,
            step,
            found.tournament,
        )
        etag = f'"{key[:32]}"'
        if _known(request, etag):
            return Response(status_code=304, headers=_kept(etag))
        body = await asyncio.to_thread(self._cache.get, key)
        if body is None:
            stamp = stat.st_mtime_ns
            page = await self._drawn(
                drawing.render, path, stamp, eye, int(number), step, found.tournament
            )
            body = await asyncio.to_thread(self._cache.put, key, page.encode())
        return _packed(request, body, _MEDIA["html"], _kept(etag))

    async def _drawn(self, draw: Callable[..., Any], *given: Any) -> Any:
        """What a worker makes; one that died is replaced, once."""
        async with self._place():
            loop = asyncio.get_running_loop()
            try:
                return await loop.run_in_executor(self._workers, draw, *given)
            except BrokenProcessPool:
                if not self._own_workers:
                    raise
                _log.warning("a worker that draws pages has died")
                self._workers = _workers()
                return await loop.run_in_executor(self._workers, draw, *given)

    async def step(self, request: Request) -> Response:
        """Make `/m/ID?seat=2&step=37`: the link to paste, to the hand that has the step."""
        found, path = await self._watched(request)
        seat, step = request.query_params.get("seat", ""), request.query_params.get("step", "")[:12]
        eye = (
            f"seat-{seat}"
            if seat.isdecimal() and len(seat) < 3
            else request.query_params.get("eye", "all")
        )
        if eyes_named(eye, len(found.bots)) is None:
            raise NotFound(f"the match has no eyes {eye!r}")
        hand = 1
        if step:
            stamp = (await asyncio.to_thread(path.stat)).st_mtime_ns
            hand = await self._drawn(drawing.place_of_step, path, stamp, step)
        query = f"?step={step}" if step else ""
        return RedirectResponse(f"/m/{slug(found.outcome.match_id)}/{eye}/{hand}.html{query}", 302)

    async def match_json(self, request: Request) -> Response:
        """Make `/m/ID.json`."""
        _, path = await self._watched(request)
        made = await self._drawn(drawing.as_json, path)
        body = Sheet("", (), made).json().encode()
        return _answer(
            request, body, _MEDIA["json"], f'"{hashlib.sha256(body).hexdigest()[:32]}"', "no-cache"
        )

    async def replay(self, request: Request) -> Response:
        """Make `/replays/ID.replay`."""
        _, path = await self._watched(request)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def _watched(self, request: Request) -> tuple[StoredMatch, Path]:
        """A match that may be watched, and its replay.

        Raises:
          NotFound: if there is none, or none that may be watched yet: who asks is not told which.
          Gone: if its replay was removed.
        """
        match_id = unslugged(request.path_params["match"])
        found = await asyncio.to_thread(self.archive.match, match_id)
        if found is None:
            raise NotFound(f"no match {match_id!r} may be watched here, or not yet", "matches")
        path = await asyncio.to_thread(self.archive.replay, found)
        if path is None:
            raise Gone(f"the replay of match {match_id} was removed, or it never had one")
        return found, path

    # What is always the same.

    async def static(self, request: Request) -> Response:
        """Style sheet and scripts, by the hash of what is in them."""
        for name in ASSETS:
            own, body = asset(name)
            if own == request.path_params["name"]:
                kind = _MEDIA[own.rpartition(".")[2]]
                headers = {"cache-control": "public, max-age=31536000, immutable"}
                return _packed(request, _gzipped(body), kind, headers)
        raise NotFound("there is no such style sheet or script any more")

    async def verifier(self, request: Request) -> Response:
        """The page that verifies deals: a file of its own, with a policy of its own."""
        body = verifier()
        headers = {"content-security-policy": _policy_of(body), "cache-control": "no-cache"}
        return Response(body, media_type=_MEDIA["html"], headers=headers)


class Gone(Exception):
    """It was there, and is no more."""


def application(web: Web, more: tuple[BaseRoute, ...] = ()) -> ASGIApp:
    """The site as an ASGI application; `more` are routes of what is live."""
    routes: list[BaseRoute] = [
        *more,
        Route("/static/{name}", web.static),
        Route("/favicon.ico", _no_icon),
        Route("/verify.html", web.verifier),
        Route("/replays/{match}.replay", web.replay),
        Route("/m/{match}.json", web.match_json),
        Route("/m/{match}", web.step),
        Route("/m/{match}/{eye}/{hand}", web.match),
        Route("/{path:path}", web.sheet),
    ]
    handlers: dict[Any, Any] = {
        NotFound: _not_found,
        Missing: _not_found,
        Gone: _gone,
        Full: _full,
        NoArena: _away,
        404: _not_found,
        405: _not_allowed,
    }
    router = Router(routes, redirect_slashes=False, default=_nothing)
    return _Guard(ExceptionMiddleware(router, handlers))


class _Guard:
    """Adds the headers of every answer, and catches what nobody foresaw."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                own = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in HEADERS.items()
                        if name.encode() not in own
                    ),
                ]
            await send(message)

        try:
            await self._app(scope, receive, with_headers)
        except Exception:
            incident = secrets.token_hex(4)
            _log.exception(
                "a page fails", extra={"incident": incident, "path": scope["path"][:200]}
            )
            if begun:
                raise
            text = f"This is our fault, incident {incident}; the log of the arena says more."
            answer = _error(500, "Something went wrong", text)
            await answer(scope, receive, with_headers)


_MEDIA: Final = {
    "html": "text/html; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}


def path_and_kind(path: str) -> tuple[str, str]:
    """A path without its ending, and what kind of page that means."""
    for kind in ("html", "json"):
        if path.endswith(f".{kind}"):
            return path.removesuffix(f".{kind}"), kind
    return path, "html"


def unslugged(text: str) -> str:
    """What a part of an address stands for.

    Raises:
      NotFound: if it stands for nothing.
    """
    try:
        return unslug(text)
    except ValueError:
        raise NotFound(f"{text!r} is no id") from None


def answer_moment(request: Request, body: bytes, kind: str) -> Response:
    """An answer that is true for a moment."""
    return _packed(
        request, gzip.compress(body, 5, mtime=0), _MEDIA[kind], {"cache-control": "no-store"}
    )


def _kept(etag: str) -> dict[str, str]:
    return {"etag": etag, "cache-control": f"public, max-age={_DAY_S}", "vary": "accept-encoding"}


def _known(request: Request, etag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return etag in (each.strip().removeprefix("W/") for each in given.split(","))


def _answer(request: Request, body: bytes, media: str, etag: str, cache: str) -> Response:
    headers = {"etag": etag, "cache-control": cache, "vary": "accept-encoding"}
    if _known(request, etag):
        return Response(status_code=304, headers=headers)
    return _packed(request, gzip.compress(body, 5, mtime=0), media, headers)


def _packed(request: Request, body: bytes, media: str, headers: Mapping[str, str]) -> Response:
    """An answer of what is compressed already, for whoever takes it so or not."""
    vary = {"vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        packed = {"content-encoding": "gzip"} | vary
        return Response(body, media_type=media, headers={**headers, **packed})
    return Response(gzip.decompress(body), media_type=media, headers={**headers, **vary})


@functools.lru_cache(8)
def _gzipped(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)


@functools.lru_cache(2)
def _policy_of(page: bytes) -> str:
    """The policy that a page of its own says, which a header must not be wider than."""
    text = page.decode()
    begin = text.index('content="default-src') + len('content="')
    return f"{text[begin : text.index(chr(34), begin)]}; frame-ancestors 'none'"


def _error(status: int, title: str, text: str, listed: str = "") -> Response:
    """An error's page; its links name whole addresses, as nobody knows where it is shown."""
    parts: list[Tree] = [element("p", "", text)]
    words, to = (f"The list of {listed}", listed) if listed else ("The home page", "index")
    parts.append(element("p", "", element("a", "", words, href=f"/{to}.html")))
    page = Sheet(title, tuple(parts), {}).html(Place(""))
    for name in ("href", "src"):
        page = page.replace(f'{name}="', f'{name}="/').replace(f'{name}="//', f'{name}="/')
    headers = {"cache-control": "no-store"}
    if status == 503:
        headers["retry-after"] = str(RETRY_S)
    return Response(page, status, headers, _MEDIA["html"])


async def _not_found(request: Request, error: Exception) -> Response:
    text = (
        str(error) if isinstance(error, Missing) else f"there is no page {request.url.path[:200]}"
    )
    listed = getattr(error, "listed", "")
    return _error(404, "Not found", f"{text[:1].upper()}{text[1:]}.", listed)


async def _gone(request: Request, error: Exception) -> Response:
    text = str(error)
    return _error(410, "Gone", f"{text[:1].upper()}{text[1:]}.", "matches")


async def _full(request: Request, error: Exception) -> Response:
    return _error(503, "Full", f"Too many pages are being made at once. Try again in {RETRY_S} s.")


async def _away(request: Request, error: Exception) -> Response:
    text = (
        "No arena answers here now, so nothing is known of what is played. Matches that were "
        f"cut short go on when it is back. Try again in {RETRY_S} s."
    )
    return _error(503, "The arena is away", text, "live")


async def _not_allowed(request: Request, error: Exception) -> Response:
    return _error(405, "Not allowed", "Pages can be read, and nothing can be changed.")


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)


async def _no_icon(request: Request) -> Response:
    return Response(status_code=204, headers={"cache-control": f"public, max-age={_DAY_S}"})


def _workers() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        WORKERS, mp_context=get_context("spawn"), initializer=end_with_parent
    )
