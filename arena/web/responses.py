"""Responses that are no pages of the archive: errors, assets and robots.txt; and headers, caching and compression of all others."""

import functools
import gzip
import hashlib
import logging
import secrets
from collections.abc import Mapping
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.api.site_archive import NotPublic
from arena.web.addresses import Links, NoSuchPage
from arena.web.arena_source import ArenaBusy, NoArena
from arena.web.assets import ASSETS, asset
from arena.web.page import Page
from arena.web.page_places import Full
from arena.web.starter import starter

RETRY_S: Final = 5
"""Seconds after which a client may repeat a request if the site is busy."""
DAY_S: Final = 86_400
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
"""The headers of every response, including errors. The verifier has another policy."""
MEDIA_OF: Final = {
    "html": "text/html; charset=utf-8",
    "json": "application/json; charset=utf-8",
}
"""The media type of each kind of page."""

_ASSET_MEDIA: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
ROBOTS: Final = """\
User-agent: *
Disallow: /replays/
Disallow: /search
Disallow: /signin
Disallow: /register
Disallow: /me
Disallow: /organise
Disallow: /play/s/
Disallow: /play/m/
Disallow: /live/feed
Disallow: /m/*/feed
"""

_log = logging.getLogger(__name__)


class Gone(Exception):
    """The page existed, and its file was removed."""


class WithHeaders:
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


def path_and_kind(path: str) -> tuple[str, str]:
    """Return a path without its suffix, and the kind of the page, `html` or `json`."""
    for kind in MEDIA_OF:
        if path.endswith(f".{kind}"):
            return path.removesuffix(f".{kind}"), kind
    return path, "html"


def answer_once(body: bytes, kind: str) -> Response:
    """Return a response that is not cached."""
    return Response(body, media_type=MEDIA_OF[kind], headers={"cache-control": "no-store"})


def has_tag(request: Request, etag: str) -> bool:
    """Return whether the browser has the response with this tag."""
    given = request.headers.get("if-none-match", "")
    return etag in (tag.strip().removeprefix("W/") for tag in given.split(","))


def revalidated(request: Request, body: bytes, media: str) -> Response:
    """Return a response that browsers cache and revalidate each time."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"etag": etag, "cache-control": "no-cache"}
    if has_tag(request, etag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media, headers=headers)


def compressed(request: Request, body: bytes, headers: Mapping[str, str]) -> Response:
    """Return a page from a compressed body; it is decompressed for clients without gzip."""
    headers = {**headers, "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"content-encoding": "gzip"}
    else:
        body = gzip.decompress(body)
    return Response(body, media_type=MEDIA_OF["html"], headers=headers)


@functools.lru_cache(2)
def policy_of(page: bytes) -> str:
    """Return the policy in a page's own meta element, as a header."""
    text = page.decode()
    begin = text.index('content="default-src') + len('content="')
    return f"{text[begin : text.index(chr(34), begin)]}; frame-ancestors 'none'"


# Errors.


def _error(status: int, title: str, text: str, listed: str = "") -> Response:
    again_s = RETRY_S if status == 503 else 0
    shown = {"text": text[:1].upper() + text[1:], "listed": listed, "again_s": again_s}
    page = Page("error.html", title, {}, shown)
    headers = {"cache-control": "no-store"} | ({"retry-after": f"{again_s}"} if again_s else {})
    return Response(page.html(Links("", absolute=True)), status, headers, MEDIA_OF["html"])


async def error_page(request: Request, error: Exception) -> Response:
    """Make the page of an error. The text of an internal one stays in the log."""
    path, again = request.url.path[:200], f"This page tries again after {RETRY_S} s."
    match error:
        case NoSuchPage():
            return _error(404, "Not found", f"{error}.", error.listed)
        case NotPublic():
            return _error(404, "Not found", f"{error}.", "competitions")
        case Gone():
            return _error(410, "Gone", f"{error}.", "matches")
        case Full():
            return _error(503, "Full", f"Too many pages are being made at once. {again}")
        case NoArena():
            text = f"Interrupted matches continue when an arena runs. {again}"
            return _error(503, "No arena is running", f"No arena answers. {text}", "matches")
        case ArenaBusy():
            text = f"The arena runs, and answers late at present. {again}"
            return _error(503, "The arena is busy", text, "matches")
        case HTTPException(status_code=404):
            return _error(404, "Page not found", f"there is no page {path}.")
        case HTTPException():
            return _error(error.status_code, "Not allowed", "All pages are read-only.")
    incident = secrets.token_hex(4)
    _log.error("a page fails", exc_info=error, extra={"incident": incident, "path": path})
    text = f"This is an error of the site, incident {incident}; its log has the details."
    return _error(500, "Something went wrong", text)


async def nothing_there(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that no route has."""
    raise HTTPException(404)


async def static(request: Request) -> Response:
    """Make `/static/NAME`, which browsers cache for ever because the name has a hash of the content."""
    name = request.path_params["name"]
    body = dict(map(asset, ASSETS)).get(name)
    if body is None:
        raise HTTPException(404)
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(body, media_type=_ASSET_MEDIA[name.rpartition(".")[2]], headers=headers)


async def starter_archive(request: Request) -> Response:
    """Make `/starters/KIND/GAME.zip`: a bot to begin with."""
    kind, game = request.path_params["kind"], request.path_params["game"]
    answer = revalidated(request, starter(kind, game), "application/zip")
    answer.headers["content-disposition"] = f'attachment; filename="{kind}-{game}.zip"'
    return answer


async def icon(request: Request) -> Response:
    """Redirect `/favicon.ico` to the icon."""
    return RedirectResponse(f"/static/{asset('icon.svg')[0]}", 302)


async def robots(request: Request) -> Response:
    """Make `/robots.txt`: robots read pages of results, and neither searches, feeds nor replays."""
    return Response(
        ROBOTS, media_type="text/plain", headers={"cache-control": f"public, max-age={DAY_S}"}
    )
