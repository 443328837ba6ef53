"""The site as an ASGI application: its routes, and the functions that make their answers.

Pages that read the store are made on threads, pages of matches in a worker process. All of them are read-only; forms
and sign-in are in a separate process (`arena.web.acting`). Starlette compresses responses.
"""

import asyncio
import contextlib
import dataclasses
import functools
import gzip
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp

import arena.web.path_numbers  # noqa: F401 - for the routes with numbers
from arena.api.admission.http_connections import visitor_of
from arena.api.admission.own_names import OwnNames
from arena.api.site_archive import NotPublic, SiteArchive
from arena.process_pool import ProcessPool
from arena.web.acting.forwarding import PLAY, ForwardedProcess, Forwarding
from arena.web.addresses import Links, NoSuchPage, slug, unslug, viewer_named
from arena.web.arena_source import ArenaBusy, NoArena
from arena.web.assets import ASSETS, asset, sprite
from arena.web.badge import MEDIA as BADGE_MEDIA
from arena.web.feeds import MEDIA, feed
from arena.web.names import seat_names
from arena.web.page import Page, as_json
from arena.web.page_cache import PageCache, key_of
from arena.web.page_places import Full, PagePlaces
from arena.web.pages.bot import badge_of
from arena.web.pages.lists import Highlight
from arena.web.passed_on import pass_on, people_folder
from arena.web.rendering import has_previews, templates_hash
from arena.web.responses import (
    DAY_S,
    HEADERS,
    MEDIA_OF,
    Gone,
    WithHeaders,
    compressed,
    error_page,
    has_tag,
    icon,
    nothing_there,
    path_and_kind,
    policy_of,
    revalidated,
    robots,
    starter_archive,
    static,
)
from arena.web.site import Site, verifier
from arena.web.sockets.passing import SocketPassing
from cardarena.v1 import lobby_pb2

VERSION: Final = "8"
"""The version of the pictures of matches; raise it when their code changes, to drop cached pages."""
WORKERS: Final = 1
MOST_MINIS: Final = 5
"""The maximal number of matches of a page with a picture: those worth watching."""
MOST_DRAWN: Final = 96
"""The number of pictures of finished matches in memory, as the home page, lists and pages of games show them."""
FRESH_S: Final = 2.0
"""Seconds for which a page is reused."""
MOST_PAGES: Final = 256
"""The number of such pages in memory."""
COMPRESSION: Final = 5
"""The gzip level of uncached pages; higher levels take longer and save little."""

_log = logging.getLogger(__name__)


class Web:
    """The pages of one data folder."""

    def __init__(
        self,
        data: Path,
        *,
        workers: Executor | None = None,
        store_url: str = "",
        only: str = "",
        organiser: bool = False,
        address: str = "",
        embed_in: Sequence[str] = (),
    ) -> None:
        """Make the pages of a data folder; `application` serves them.

        Args:
          data: The data folder.
          store_url: The address of a store in PostgreSQL; empty for the store of the folder.
          workers: Make pages of matches; competitions are then computed when they are read.
          only: The one competition of the site; empty for all.
          organiser: Whether there are pages for organisers too.
          address: The address of the site, such as `https://arena.example`; empty if it is unknown.
          embed_in: The origins whose pages may contain a match, such as `https://blog.example`.
        """
        self.address: Final = address
        self.embed_in: Final = tuple(embed_in)
        self._standings = ProcessPool(WORKERS)
        standings = None if workers else self._standings
        self.archive = SiteArchive(data, store_url=store_url, only=only, workers=standings)
        self.is_for_organisers: Final = organiser
        self._site = Site(self.archive, organiser=organiser)
        self._cache = PageCache(data / "pages")
        self._own_workers = ProcessPool(WORKERS, niceness=0)
        self._workers = workers or self._own_workers
        self._places = PagePlaces()
        self._pages: dict[str, tuple[float, bytes]] = {}
        self._drawn: dict[tuple[str, str], tuple[Markup, ...]] = {}
        """What pages show of a match, by the function that draws it; empty for a match without pictures."""
        self._made_of = key_of(
            VERSION,
            address,
            self.archive.reader,
            templates_hash(),
            has_previews(),
            sprite(),
            *(asset(name)[0] for name in ASSETS),
        )

    def close(self) -> None:
        self._own_workers.close()
        self._standings.close()
        self.archive.close()

    async def page(self, request: Request) -> Response:
        path, kind = path_and_kind(request.path_params.get("path", "") or "index")
        query = dict(request.query_params)
        make = functools.partial(self._site.page, path, query)
        kept_as = key_of(path, request.url.query) if query else path
        body = await self.made(request, path, kind, make, kept_as)
        return revalidated(request, body, MEDIA_OF[kind])

    async def made(
        self, request: Request, path: str, kind: str, make: Callable[[], Page], kept_as: str = ""
    ) -> bytes:
        """Return the body of a page, at most `FRESH_S` old; it is made on a thread.

        `kept_as` is its key among the pages in memory; by default the path.

        Raises `Full` if too many requests wait for a page.
        """

        def body(made: Page) -> bytes:
            return (
                made.json() if kind == "json" else made.html(Links(path, address=self.address))
            ).encode()

        key, now_s = f"{kept_as or path}.{kind}", asyncio.get_running_loop().time()
        known = self._pages.get(key)
        if known is not None and now_s - known[0] < FRESH_S:
            return known[1]
        async with self._places.place(visitor_of(request.client)):
            page = await asyncio.to_thread(make)
            if kind == "html":
                more = await self._drawn_for(page)
                page = dataclasses.replace(page, pictures={**page.pictures, **more})
            body_made = await asyncio.to_thread(body, page)
        while len(self._pages) >= MOST_PAGES:
            del self._pages[next(iter(self._pages))]
        self._pages.pop(key, None)
        self._pages[key] = now_s, body_made
        return body_made

    async def _drawn_for(self, page: Page) -> dict[str, Any]:
        """Return what a page shows of finished matches: a few cards of the first of a list, and a hand of one."""
        made: dict[str, Any] = {"minis": {}}
        best = [row for row in page.pictures.get("best", ()) if row["published"]]
        for row in best[:MOST_MINIS]:
            match_id = row["match"]
            if mini := await self._drawing("glimpse", match_id, row["costliest_hand"] or 1):
                made["minis"][match_id] = mini
        row = page.pictures.get("best_row")
        if row and (
            drawn := await self._drawing("moment", row.match.match_id, row.costliest_hand or 1)
        ):
            table, sentence, step = drawn
            match, hand, worth = row.match, row.costliest_hand or 1, row.worth or ""
            names = seat_names(match.bots)
            made["moment"] = Highlight(
                match.game, names, table, sentence, match.match_id, step, hand=hand, worth=worth
            )
        return made

    async def _drawing(self, function: str, match_id: str, hand: int) -> tuple[Markup, ...]:
        """Return what a function of `arena.web.pages.finished_match` draws of a match, once, in a worker; empty for nothing."""
        key = function, match_id
        if key not in self._drawn:
            match = await asyncio.to_thread(self.archive.match, match_id)
            path = None if match is None else await asyncio.to_thread(self.archive.replay, match)
            drawn = None
            if path is not None:
                stamp = (await asyncio.to_thread(path.stat)).st_mtime_ns
                with contextlib.suppress(BrokenProcessPool):
                    drawn = await self._worked(function, path, stamp, hand)
            while len(self._drawn) >= MOST_DRAWN:
                del self._drawn[next(iter(self._drawn))]
            self._drawn[key] = tuple(map(Markup, drawn or ()))
        return self._drawn[key]

    async def feed(self, request: Request) -> Response:
        """Make `/matches.atom`, `/bots/NAME.atom` or `/competitions/NAME.atom`."""
        path = request.path_params["path"]
        async with self._places.place(visitor_of(request.client)):
            made = await asyncio.to_thread(feed, self.archive, path, self.address)
        return revalidated(request, made.encode(), MEDIA)

    async def badge(self, request: Request) -> Response:
        """Make `/badges/NAME/GAME.svg`, which pages of other sites show."""
        name, game = unslug(request.path_params["name"]), request.path_params["game"]
        async with self._places.place(visitor_of(request.client)):
            made = await asyncio.to_thread(badge_of, self.archive, name, game)
        answer = revalidated(request, made.encode(), BADGE_MEDIA)
        answer.headers["cross-origin-resource-policy"] = "cross-origin"
        return answer

    async def official(self, request: Request) -> Response:
        """Make `/competitions/NAME.official-N.jsonl`: official standings and their inputs."""
        name, number = unslug(request.path_params["name"]), request.path_params["number"]
        body = await asyncio.to_thread(self.archive.official_export, name, number)
        return revalidated(request, body, "application/jsonl")

    # Matches.

    async def what_if(self, request: Request) -> Response:
        """Pass the replay of an ended public match on to people's seats, and redirect to the form that continues it."""
        ended, path = await self._match(request)
        async with self._places.place(visitor_of(request.client)):
            await asyncio.to_thread(pass_on, path, people_folder(self.archive.data))
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/play/from/{slug(ended.match_id)}{query}", 302)

    async def embedded(self, request: Request) -> Response:
        """Make `/embed/m/ID/VIEWER/HAND`, the only page that may be embedded in another site."""
        answer = await self.hand(request, embedded=True)
        policy = HEADERS["content-security-policy"]
        wanted = f"frame-ancestors {' '.join(self.embed_in)}"
        answer.headers["content-security-policy"] = policy.replace("frame-ancestors 'none'", wanted)
        return answer

    async def hand(self, request: Request, *, embedded: bool = False) -> Response:
        """Make `/m/ID/VIEWER/HAND`, with `?step=N`."""
        ended, path = await self._match(request)
        viewer, last = request.path_params["viewer"], request.path_params["hand"]
        number, _ = path_and_kind(last)
        step = request.query_params.get("step", "")[:12]
        if not number.isdecimal() or len(number) > 4:
            raise NoSuchPage(f"{number!r} is not the number of a hand")
        stat = await asyncio.to_thread(path.stat)
        stamp, competition = stat.st_mtime_ns, ended.competition
        drawn_from = self._made_of, embedded, path.name, stat.st_size, stamp, competition
        key = key_of(*drawn_from, viewer, int(number), step)
        headers = {"etag": f'"{key[:32]}"', "cache-control": f"public, max-age={DAY_S}"}
        if has_tag(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
        body = await asyncio.to_thread(self._cache.get, key)
        if body is None:
            page, shown = await self._in_worker(
                request,
                "match_page",
                path,
                stamp,
                viewer,
                int(number),
                step,
                competition,
                self.address,
                embedded=embedded,
            )
            # The key is the content: if a match has no pictures, a request may have any words.
            kept_as = key_of(*drawn_from, *shown)
            body = await asyncio.to_thread(self._cache.put, kept_as, page.encode())
        return compressed(request, body, headers)

    async def match(self, request: Request) -> Response:
        """Redirect `/m/ID.html?viewer=seat-2&hand=3`, or `&step=37`, to the page of the hand.

        Links have this address, because an export has one file for a match. `arena match why` prints `?seat=2`.
        """
        ended, path = await self._match(request)
        seat, step = request.query_params.get("seat", ""), request.query_params.get("step", "")[:12]
        viewer = (
            f"seat-{seat}"
            if seat.isdecimal() and len(seat) < 3
            else request.query_params.get("viewer", "all")
        )
        if viewer_named(viewer, len(ended.bots)) is None:
            raise NoSuchPage(f"the match has no viewer {viewer!r}")
        given = request.query_params.get("hand", "")
        hand = int(given) if given.isdecimal() and len(given) < 5 else 1
        if step:
            stamp = (await asyncio.to_thread(path.stat)).st_mtime_ns
            hand = await self._in_worker(request, "hand_of_step", path, stamp, step)
        query = f"?step={step}" if step else "?play=1" if "play" in request.query_params else ""
        address = f"/m/{slug(ended.match_id)}/{viewer}/{hand}.html{query}"
        return RedirectResponse(address, 302)

    async def hand_preview(self, request: Request) -> Response:
        """Make `/previews/m/ID/VIEWER/HAND.png`, with `?step=N`, and `HAND.gif`, with all steps."""
        moves = request.url.path.endswith(".gif")
        _, path = await self._match(request)
        viewer, hand = request.path_params["viewer"], request.path_params["hand"]
        stat = await asyncio.to_thread(path.stat)
        step = "" if moves else request.query_params.get("step", "")[:12]
        given = viewer[:12], min(hand, 9_999), step
        drawn_from = path.name, stat.st_size, stat.st_mtime_ns
        drawing = functools.partial(
            self._in_worker, request, "preview", path, stat.st_mtime_ns, *given, moves=moves
        )
        kind = "gif" if moves else "png"
        return await self._preview(request, drawing, *drawn_from, *given, kind=kind)

    async def bot_preview(self, request: Request) -> Response:
        """Make `/previews/bots/NAME.png`."""
        name = unslug(request.path_params["name"])
        page = await asyncio.to_thread(self._site.page, f"bots/{slug(name)}")
        lines = [f"{value} {words}" for value, words in page.pictures["stats"]]
        drawing = functools.partial(self._in_worker, request, "bot_picture", name, lines)
        return await self._preview(request, drawing, name, *lines)

    async def _preview(
        self,
        request: Request,
        drawing: Callable[[], Awaitable[bytes]],
        *drawn_from: object,
        kind: str = "png",
    ) -> Response:
        """Return a picture, from the cache if it was drawn from the same inputs.

        Raises `NoSuchPage` if this site draws no previews.
        """
        if not has_previews():
            raise NoSuchPage("this site draws no previews")
        key = key_of("preview", kind, self._made_of, *drawn_from)
        body = await asyncio.to_thread(self._cache.get, key)
        if body is None:
            body = await asyncio.to_thread(self._cache.put, key, await drawing())
        headers = {"etag": f'"{key[:32]}"', "cache-control": f"public, max-age={DAY_S}"}
        if has_tag(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
        headers["cross-origin-resource-policy"] = "cross-origin"
        return Response(gzip.decompress(body), media_type=f"image/{kind}", headers=headers)

    async def match_json(self, request: Request) -> Response:
        """Make `/m/ID.json`."""
        _, path = await self._match(request)
        body = as_json(await self._in_worker(request, "result_view", path)).encode()
        return revalidated(request, body, MEDIA_OF["json"])

    async def replay(self, request: Request) -> Response:
        """Make `/replays/ID.replay`."""
        _, path = await self._match(request)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def _match(self, request: Request) -> tuple[lobby_pb2.MatchInfo, Path]:
        """Return a public match, and the path of its replay.

        Raises:
          NoSuchPage: if it does not exist or is not public yet, which are not distinguished.
          Gone: if its replay was removed.
        """
        return await self._public(unslug(request.path_params["match"]))

    async def _public(self, match_id: str) -> tuple[lobby_pb2.MatchInfo, Path]:
        ended = await asyncio.to_thread(self.archive.match, match_id)
        if ended is None:
            raise NoSuchPage(f"no match {match_id!r} can be watched here, or not yet", "matches")
        path = await asyncio.to_thread(self.archive.replay, ended)
        if path is None:
            raise Gone(f"match {match_id} has no replay, or its replay was removed")
        return ended, path

    async def _in_worker(self, request: Request, function: str, *given: Any, **named: Any) -> Any:
        """Call a function of `arena.web.pages.finished_match` in a worker, when it is the visitor's turn."""
        async with self._places.place(visitor_of(request.client)):
            return await self._worked(function, *given, **named)

    async def _worked(self, function: str, *given: Any, **named: Any) -> Any:
        """Call it in a worker, once again if that dies."""
        call = functools.partial(_call, function, *given, **named)
        try:
            return await asyncio.wrap_future(self._workers.submit(call))
        except BrokenProcessPool:
            return await asyncio.wrap_future(self._workers.submit(call))

    async def verifier(self, request: Request) -> Response:
        """Make `/verify.html`, the page that verifies deals, with its own policy; `?replay=ID` has a replay in it."""
        match_id, replay = request.query_params.get("replay", ""), b""
        if match_id:
            _, path = await self._public(match_id)
            replay = await asyncio.to_thread(path.read_bytes)
        body = verifier(match_id, replay)
        headers = {"content-security-policy": policy_of(body), "cache-control": "no-cache"}
        return Response(body, media_type=MEDIA_OF["html"], headers=headers)


def application(
    web: Web,
    more: tuple[BaseRoute, ...] = (),
    acting: ForwardedProcess | None = None,
    play: ForwardedProcess | None = None,
    sockets: ForwardedProcess | None = None,
    bots_from: Sequence[str] = (),
) -> ASGIApp:
    """Return the site as an ASGI application.

    Args:
      web: Makes the pages.
      more: The routes of matches in play.
      acting: Answers the paths of sign-in and forms; None for a site without them.
      play: Answers the paths of people's seats; None for a site without them.
      sockets: Plays with bots over WebSockets; None for a site without them.
      bots_from: The origins of other sites whose pages may connect bots, such as `https://bots.example`.
    """
    routes: list[BaseRoute] = [
        *more,
        Route("/static/{name}", static),
        Route("/favicon.ico", icon),
        Route("/robots.txt", robots),
        Route("/verify.html", web.verifier),
        Route("/starters/{kind}/{game}.zip", starter_archive),
        Route("/replays/{match}.replay", web.replay),
        Route("/competitions/{name}.official-{number:number}.jsonl", web.official),
        *(
            Route(f"/previews/m/{{match}}/{{viewer}}/{{hand:number}}.{kind}", web.hand_preview)
            for kind in ("png", "gif")
        ),
        Route("/previews/bots/{name}.png", web.bot_preview),
        Route("/badges/{name}/{game}.svg", web.badge),
        *([] if play is None else [Route("/m/{match}/what-if", web.what_if)]),
        Route("/m/{match}.json", web.match_json),
        *(Route(f"/m/{{match}}{ending}", web.match) for ending in (".html", "")),
        Route("/m/{match}/{viewer}/{hand}", web.hand),
        *([Route("/embed/m/{match}/{viewer}/{hand}", web.embedded)] if web.embed_in else []),
        Route("/{path:path}.atom", web.feed),
        Route("/{path:path}", web.page),
    ]
    handlers: dict[Any, Any] = dict.fromkeys(
        (NoSuchPage, NotPublic, Gone, Full, NoArena, ArenaBusy, HTTPException, Exception),
        error_page,
    )
    router = Router(routes, redirect_slashes=False, default=nothing_there)
    compressed = GZipMiddleware(ExceptionMiddleware(router, handlers), compresslevel=COMPRESSION)
    # Pages with tokens of forms are not compressed, because their length would reveal information about the tokens.
    site: ASGIApp = compressed if acting is None else Forwarding(compressed, acting)
    site = site if play is None else Forwarding(site, play, PLAY)
    site = WithHeaders(site if sockets is None else SocketPassing(site, sockets, bots_from))
    return OwnNames(site) if web.is_for_organisers else site


# Workers.


def _call(function: str, *given: Any, **named: Any) -> Any:
    """Call a function in a worker. Only workers load the code that replays matches, for its memory."""
    from arena.web.pages import finished_match

    return getattr(finished_match, function)(*given, **named)
