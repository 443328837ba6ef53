"""The site as an ASGI application: routes, headers, caching and errors.

Pages that read the store are made on threads, pages of matches in a worker process. All pages are
read-only, and there is no login. Starlette compresses responses and serves the static files.
"""

import asyncio
import contextlib
import functools
import gzip
import hashlib
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.server.data_folder import arena_version
from arena.store import StoredMatch
from arena.web.addresses import Links, NoSuchPage, slug, unslug, viewer_named
from arena.web.arena_source import NoArena
from arena.web.assets import ASSETS, STATIC, asset, sprite
from arena.web.page import Page, as_json
from arena.web.page_cache import PageCache, key_of
from arena.web.rendering import templates_hash
from arena.web.site import Site, verifier
from arena.web.site_archive import SiteArchive
from arena.worker_process import end_with_parent

VERSION: Final = "7"
"""The version of the pictures of matches; raise it when their code changes, to drop cached pages."""
MOST_WAITING: Final = 32
"""The most requests that wait for a page; further ones are refused with 503."""
RETRY_S: Final = 5
WORKERS: Final = 1
FRESH_S: Final = 2.0
"""How long a page is sent again without making it anew."""
MOST_PAGES: Final = 256
"""The number of such pages in memory."""
COMPRESSION: Final = 5
"""The gzip level of uncached pages; higher levels take longer and save little."""
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
"""The headers of every response, also of errors. The verifier has another policy."""
_MEDIA: Final = {
    "html": "text/html; charset=utf-8",
    "json": "application/json; charset=utf-8",
}

_log = logging.getLogger(__name__)


class Full(Exception):
    """Too many requests wait for a page."""


class Gone(Exception):
    """The page existed, and its file was removed."""


class Web:
    """The pages of one data folder."""

    def __init__(
        self,
        data: Path,
        *,
        workers: Executor | None = None,
        only: str = "",
        organiser: bool = False,
    ) -> None:
        """Serve nothing yet.

        Args:
          data: The data folder.
          workers: Make pages of matches.
          only: The one competition of the site; empty for all.
          organiser: Whether there are pages for organisers too.
        """
        self.archive = SiteArchive(data, only=only)
        self._site = Site(self.archive, organiser=organiser)
        self._cache = PageCache(data / "pages")
        self._own_workers = workers is None
        self._workers = workers if workers is not None else _workers()
        self._waiting = 0
        self._pages: dict[str, tuple[float, bytes]] = {}
        self._made_of = key_of(
            VERSION,
            arena_version(),
            templates_hash(),
            sprite(),
            *(asset(name)[0] for name in ASSETS),
        )

    def close(self) -> None:
        """End the workers and close the store."""
        if self._own_workers:
            self._workers.shutdown(wait=True, cancel_futures=True)
        self.archive.close()

    async def page(self, request: Request) -> Response:
        """Make a page of the store."""
        path, kind = path_and_kind(request.path_params.get("path", "") or "index")
        body = await self.made(path, kind, functools.partial(self._site.page, path))
        return _revalidated(request, body, _MEDIA[kind])

    async def made(self, path: str, kind: str, make: Callable[[], Page]) -> bytes:
        """The body of a page, at most `FRESH_S` old; it is made on a thread.

        Raises:
          Full: if too many requests wait for a page.
        """

        def body() -> bytes:
            made = make()
            return (made.json() if kind == "json" else made.html(Links(path))).encode()

        key, now_s = f"{path}.{kind}", asyncio.get_running_loop().time()
        known = self._pages.get(key)
        if known is not None and now_s - known[0] < FRESH_S:
            return known[1]
        async with self._place():
            found = await asyncio.to_thread(body)
        while len(self._pages) >= MOST_PAGES:
            del self._pages[next(iter(self._pages))]
        self._pages.pop(key, None)
        self._pages[key] = now_s, found
        return found

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """Count a request that waits for a page.

        Raises:
          Full: if there are too many.
        """
        if self._waiting >= MOST_WAITING:
            raise Full
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def official(self, request: Request) -> Response:
        """Make `/competitions/NAME.official-N.jsonl`: official standings and their inputs."""
        name, number = unslug(request.path_params["name"]), request.path_params["number"]
        body = await asyncio.to_thread(self.archive.official_export, name, number)
        return _revalidated(request, body, "application/jsonl")

    # Matches.

    async def hand(self, request: Request) -> Response:
        """Make `/m/ID/VIEWER/HAND`, with `?step=N`."""
        found, path = await self._match(request)
        viewer, last = request.path_params["viewer"], request.path_params["hand"]
        number, _ = path_and_kind(last)
        step = request.query_params.get("step", "")[:12]
        if not number.isdecimal() or len(number) > 4:
            raise NoSuchPage(f"{number!r} is not the number of a hand")
        stat = await asyncio.to_thread(path.stat)
        stamp, competition = stat.st_mtime_ns, found.competition
        drawn_from = self._made_of, path.name, stat.st_size, stamp, competition
        key = key_of(*drawn_from, viewer, int(number), step)
        headers = {"etag": f'"{key[:32]}"', "cache-control": f"public, max-age={_DAY_S}"}
        if _has(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
        body = await asyncio.to_thread(self._cache.get, key)
        if body is None:
            page, shown = await self._in_worker(
                "match_page", path, stamp, viewer, int(number), step, competition
            )
            # By what it shows: a request may have any words where a match has no pictures.
            kept_as = key_of(*drawn_from, *shown)
            body = await asyncio.to_thread(self._cache.put, kept_as, page.encode())
        return _compressed(request, body, headers)

    async def match(self, request: Request) -> Response:
        """Redirect `/m/ID.html?viewer=seat-2&hand=3`, or `&step=37`, to the page of the hand.

        Links have this address, because an export has one file for a match. `arena match why` prints `?seat=2`.
        """
        found, path = await self._match(request)
        seat, step = request.query_params.get("seat", ""), request.query_params.get("step", "")[:12]
        viewer = (
            f"seat-{seat}"
            if seat.isdecimal() and len(seat) < 3
            else request.query_params.get("viewer", "all")
        )
        if viewer_named(viewer, len(found.bots)) is None:
            raise NoSuchPage(f"the match has no viewer {viewer!r}")
        given = request.query_params.get("hand", "")
        hand = int(given) if given.isdecimal() and len(given) < 5 else 1
        if step:
            stamp = (await asyncio.to_thread(path.stat)).st_mtime_ns
            hand = await self._in_worker("hand_of_step", path, stamp, step)
        query = f"?step={step}" if step else "?play=1" if "play" in request.query_params else ""
        address = f"/m/{slug(found.outcome.match_id)}/{viewer}/{hand}.html{query}"
        return RedirectResponse(address, 302)

    async def match_json(self, request: Request) -> Response:
        """Make `/m/ID.json`."""
        _, path = await self._match(request)
        body = as_json(await self._in_worker("result_view", path)).encode()
        return _revalidated(request, body, _MEDIA["json"])

    async def replay(self, request: Request) -> Response:
        """Make `/replays/ID.replay`."""
        _, path = await self._match(request)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def _match(self, request: Request) -> tuple[StoredMatch, Path]:
        """A public match, and the path of its replay.

        Raises:
          NoSuchPage: if it does not exist or is not public yet, which look the same.
          Gone: if its replay was removed.
        """
        match_id = unslug(request.path_params["match"])
        found = await asyncio.to_thread(self.archive.match, match_id)
        if found is None:
            raise NoSuchPage(f"no match {match_id!r} can be watched here, or not yet", "matches")
        path = await asyncio.to_thread(self.archive.replay, found)
        if path is None:
            raise Gone(f"match {match_id} has no replay, or its replay was removed")
        return found, path

    async def _in_worker(self, function: str, *given: Any) -> Any:
        """Call a function of `arena.web.pages.finished_match` in a worker, once again if that dies."""
        async with self._place():
            loop = asyncio.get_running_loop()
            try:
                return await loop.run_in_executor(self._workers, _call, function, *given)
            except BrokenProcessPool:
                if not self._own_workers:
                    raise
                _log.warning("a worker that draws pages has died")
                self._workers = _workers()
                return await loop.run_in_executor(self._workers, _call, function, *given)

    async def verifier(self, request: Request) -> Response:
        """Make `/verify.html`, the page that verifies deals, with its own policy."""
        body = verifier()
        headers = {"content-security-policy": _policy_of(body), "cache-control": "no-cache"}
        return Response(body, media_type=_MEDIA["html"], headers=headers)


def application(web: Web, more: tuple[BaseRoute, ...] = ()) -> ASGIApp:
    """The site as an ASGI application; `more` are the routes of matches in play."""
    routes: list[BaseRoute] = [
        *more,
        Mount("/static", _Static(directory=STATIC)),
        Route("/favicon.ico", _no_icon),
        Route("/verify.html", web.verifier),
        Route("/replays/{match}.replay", web.replay),
        Route("/competitions/{name}.official-{number:int}.jsonl", web.official),
        Route("/m/{match}.json", web.match_json),
        *(Route(f"/m/{{match}}{ending}", web.match) for ending in (".html", "")),
        Route("/m/{match}/{viewer}/{hand}", web.hand),
        Route("/{path:path}", web.page),
    ]
    handlers: dict[Any, Any] = dict.fromkeys(
        (NoSuchPage, Gone, Full, NoArena, HTTPException, Exception), _error_page
    )
    router = Router(routes, redirect_slashes=False, default=_nothing)
    compressed = GZipMiddleware(ExceptionMiddleware(router, handlers), compresslevel=COMPRESSION)
    return _WithHeaders(compressed)


class _WithHeaders:
    """Adds `HEADERS` to every response, unless it has another value."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)


class _Static(StaticFiles):
    """Style sheet and scripts, which browsers cache for ever because their names have a hash."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        name = next((each for each in ASSETS if asset(each)[0] == path), None)
        return ("", None) if name is None else super().lookup_path(name)

    def file_response(self, *given: Any, **named: Any) -> Response:
        made = super().file_response(*given, **named)
        made.headers["cache-control"] = "public, max-age=31536000, immutable"
        return made


def path_and_kind(path: str) -> tuple[str, str]:
    """A path without its suffix, and the kind of the page, `html` or `json`."""
    for kind in _MEDIA:
        if path.endswith(f".{kind}"):
            return path.removesuffix(f".{kind}"), kind
    return path, "html"


def answer_once(body: bytes, kind: str) -> Response:
    """A response that is not cached."""
    return Response(body, media_type=_MEDIA[kind], headers={"cache-control": "no-store"})


def _has(request: Request, etag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return etag in (each.strip().removeprefix("W/") for each in given.split(","))


def _revalidated(request: Request, body: bytes, media: str) -> Response:
    """A response that browsers cache and revalidate each time."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"etag": etag, "cache-control": "no-cache"}
    if _has(request, etag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media, headers=headers)


def _compressed(request: Request, body: bytes, headers: Mapping[str, str]) -> Response:
    """A response from a compressed page; it is decompressed for clients without gzip."""
    headers = {**headers, "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"content-encoding": "gzip"}
    else:
        body = gzip.decompress(body)
    return Response(body, media_type=_MEDIA["html"], headers=headers)


@functools.lru_cache(2)
def _policy_of(page: bytes) -> str:
    """The policy in a page's own meta element, as a header."""
    text = page.decode()
    begin = text.index('content="default-src') + len('content="')
    return f"{text[begin : text.index(chr(34), begin)]}; frame-ancestors 'none'"


# Errors.


def _error(status: int, title: str, text: str, listed: str = "") -> Response:
    page = Page("error.html", title, {}, {"text": text[:1].upper() + text[1:], "listed": listed})
    headers = {"cache-control": "no-store"}
    if status == 503:
        headers["retry-after"] = str(RETRY_S)
    return Response(page.html(Links("", absolute=True)), status, headers, _MEDIA["html"])


async def _error_page(request: Request, error: Exception) -> Response:
    path, again = request.url.path[:200], f"Try again in {RETRY_S} s."
    match error:
        case NoSuchPage():
            return _error(404, "Not found", f"{error}.", error.listed)
        case Gone():
            return _error(410, "Gone", f"{error}.", "matches")
        case Full():
            return _error(503, "Full", f"Too many pages are being made at once. {again}")
        case NoArena():
            text = f"Interrupted matches continue when an arena runs. {again}"
            return _error(503, "No arena is running", f"No arena answers. {text}", "live")
        case HTTPException(status_code=404):
            return _error(404, "Not found", f"there is no page {path}.")
        case HTTPException():
            return _error(error.status_code, "Not allowed", "All pages are read-only.")
    incident = secrets.token_hex(4)
    _log.error("a page fails", exc_info=error, extra={"incident": incident, "path": path})
    text = f"This is an error of the site, incident {incident}; its log has the details."
    return _error(500, "Something went wrong", text)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)


async def _no_icon(request: Request) -> Response:
    return Response(status_code=204, headers={"cache-control": f"public, max-age={_DAY_S}"})


# Workers.


def _workers() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        WORKERS, mp_context=get_context("spawn"), initializer=end_with_parent
    )


def _call(function: str, *given: Any) -> Any:
    """Call a function in a worker. Only workers load the code that replays matches, for its memory."""
    from arena.web.pages import finished_match

    return getattr(finished_match, function)(*given)
