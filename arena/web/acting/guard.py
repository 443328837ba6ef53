"""Checks of all requests: who may request which path, and forms and limits.

`Act` is a row of the table of routes. A row says who may request the path; the arena checks this again at each call.
"""

import functools
import logging
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final
from urllib.parse import quote

import grpc
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from arena.bots.archive import ENVIRONMENT, LEFT_OUT
from arena.token_bucket import TokenBucket
from arena.validation import InvalidInput
from arena.web.acting.arena_calls import ArenaRefused, ArenaUnreachable, SiteCalls
from arena.web.acting.visits import FORM_TOKEN, Visit, is_forwarded
from arena.web.addresses import Links, NoSuchPage, unslug
from arena.web.rendering import SITE, render
from cardarena.v1 import keys_pb2

MOST_FIELDS: Final = 64
MOST_FILES: Final = 2_000
LONGEST_TEXT: Final = 500
"""The most characters of a field, unless it says otherwise."""
POSTS: Final = 120
"""The number of requests that one visitor, or one owner, may send in a burst."""
POSTS_PER_S: Final = 2.0
WRONG_KEYS: Final = 3
"""The number of wrong keys and codes of one visitor in a burst, and in a minute."""
MOST_BUCKETS: Final = 4_096
_log = logging.getLogger(__name__)


class Who(Enum):
    """The people who may request a path."""

    ANYONE = "anyone"
    MEMBER = "an owner or an organiser"
    OWNER = "an owner"
    ORGANISER = "an organiser"


_SCOPES: Final[Mapping[Who, Sequence[int]]] = {
    Who.MEMBER: (keys_pb2.KEY_SCOPE_OWNER, keys_pb2.KEY_SCOPE_ORGANISER),
    Who.OWNER: (keys_pb2.KEY_SCOPE_OWNER,),
    Who.ORGANISER: (keys_pb2.KEY_SCOPE_ORGANISER,),
}
_STATUSES: Final = {
    grpc.StatusCode.INVALID_ARGUMENT: 422,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
}


class Wrong(Exception):
    """A request cannot be fulfilled. The text is a sentence with a cure."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status: Final = status


class Buckets:
    """A token bucket for each of many names, of which the least recently used are forgotten."""

    def __init__(self, most: int, per_s: float, now_s: Callable[[], float]) -> None:
        self._make = functools.partial(TokenBucket, most, per_s, now_s)
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def of(self, name: str) -> TokenBucket:
        bucket = self._buckets.pop(name, None) or self._make()
        self._buckets[name] = bucket
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return bucket


@dataclass(slots=True)
class Ask:
    """A request that passed its checks, with the data for its handler."""

    request: Request
    arena: SiteCalls
    visit: Visit
    wrong_keys: TokenBucket
    key: keys_pb2.KeyInfo | None = None
    """The sign-in session; None for none."""
    form: FormData = field(default_factory=FormData)
    problems: Sequence[str] = ()
    """The problems of the form that was sent; they are shown with the form."""
    typed: Mapping[str, str] = field(default_factory=dict)
    """The texts of that form, so that typed text is not lost."""
    wrong_field: str = ""
    """The id of the wrong field, if there is a single one: the problems are shown beside it."""
    status: int = 200

    @property
    def organises(self) -> bool:
        """Return whether it is the session of an organiser."""
        return self.key is not None and self.key.scope == keys_pb2.KEY_SCOPE_ORGANISER

    def part(self, name: str) -> str:
        """Return a part of the path, as text."""
        return unslug(self.request.path_params[name])

    def number(self, name: str) -> int:
        """Return a part of the path that is a number."""
        return int(self.request.path_params[name])

    def query(self, name: str) -> str:
        """Return a text of the query; empty for none."""
        return self.request.query_params.get(name, "")[:200]

    def given(self, *names: str, most_chars: int = LONGEST_TEXT) -> dict[str, str]:
        """Return the texts of fields that the form must have, by name. Raises `InvalidInput` with all that is wrong."""
        given = {name: self.texts.get(name, "").strip() for name in names}
        problems = [f"{name}: should not be empty" for name, text in given.items() if not text]
        problems += [
            f"{name}: should have at most {most_chars:,} characters"
            for name, text in given.items()
            if len(text) > most_chars
        ]
        if problems:
            raise InvalidInput(problems)
        return given

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the form; browsers end lines with two characters."""
        return {
            name: value.replace("\r\n", "\n")
            for name, value in self.form.items()
            if isinstance(value, str) and name != FORM_TOKEN
        }

    def fill(self, name: str, text: str) -> None:
        """Put this text into a field of the form, as if it had been typed."""
        others = [item for item in self.form.multi_items() if item[0] != name]
        self.form = FormData([*others, (name, text)])

    def blame(self, field: str) -> None:
        """Show further problems of the form beside the field with this id; empty for above the form."""
        self.wrong_field = field

    def keep_problems(self, problems: Sequence[str]) -> None:
        """Show these problems of the form alone above it, as the others stand at their fields."""
        self.problems = problems

    def keep_texts(self) -> None:
        """Show the form again with the texts that were sent."""
        self.typed = self.texts

    async def call(self, method: Callable[..., Any], request: Any, **given: Any) -> Any:
        return await self.arena.call(method, request, self.visit.session, **given)

    async def pages(self, method: Callable[..., Any], request: Any, field: str) -> list[Any]:
        """Return the items of a list of the arena, with the session of this visit."""
        return await self.arena.pages(method, request, field, self.visit.session)

    def page(self, template: str, title: str, **shown: Any) -> Response:
        """Return a page, which is never cached."""
        links = Links(self.request.url.path[1:], absolute=True)
        text = render(
            template,
            links,
            title=f"{title} · {SITE}",
            heading=title,
            key=self.key,
            organises=self.organises,
            form_token=self.visit.form_token,
            problems=self.problems,
            typed=self.typed,
            sent_to=self.request.url.path if self.problems else "",
            wrong_field=self.wrong_field if self.problems else "",
            LEFT_OUT=LEFT_OUT,
            ENVIRONMENT=ENVIRONMENT,
            **shown,
        )
        return HTMLResponse(text, self.status)


Handler = Callable[[Ask], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Act:
    """A row of the table of routes."""

    method: str
    path: str
    who: Who
    handle: Handler
    page: Handler | None = None
    """The page of a form, which is shown again if the form is refused."""
    most_bytes: int = 64 << 10
    """The longest body; files of a form are stored on the disk."""


class Guard:
    """Checks requests, and calls their handlers."""

    def __init__(self, arena: SiteCalls, secret: str, now_s: Callable[[], float]) -> None:
        """Answer requests that have the secret of the process of the pages; `now_s` reads a clock, in seconds."""
        self._arena, self._secret = arena, secret
        self._posts = Buckets(POSTS, POSTS_PER_S, now_s)
        self._wrong_keys = Buckets(WRONG_KEYS, WRONG_KEYS / 60, now_s)

    async def answer(self, act: Act, request: Request) -> Response:
        """Answer a request for a route."""
        if not is_forwarded(request, self._secret):
            return Response(status_code=404)
        visit = Visit.of(request)
        ask = Ask(request, self._arena, visit, self._wrong_keys.of(visit.visitor))
        try:
            response = await self._checked(act, ask)
        except Exception as error:
            response = _error(ask, error)
        visit.remember(response)
        response.headers.setdefault("cache-control", "no-store")
        # Without this policy, browsers would not send the origin of a form.
        response.headers["referrer-policy"] = "same-origin"
        return response

    async def _checked(self, act: Act, ask: Ask) -> Response:
        request, visit = ask.request, ask.visit
        sends = act.method == "POST"
        if sends and not visit.is_own_page(request):
            raise Wrong(
                403, "this form was sent by another site; open the page here, and send it again"
            )
        if not visit.is_private:
            raise Wrong(
                403,
                "signing in needs an address with https, as others can read what is sent by http",
            )
        if sends and not self._posts.of(visit.visitor).take():
            raise Wrong(
                429, "too much was sent from your address; wait a minute, and send it again"
            )
        await self._identify(ask)
        if act.who is not Who.ANYONE:
            if ask.key is None:
                if sends:
                    raise Wrong(
                        401, "you are signed out; sign in on another tab, and send this again"
                    )
                return RedirectResponse(f"/signin?next={quote(request.url.path)}", 303)
            if ask.key.scope not in _SCOPES[act.who]:
                raise Wrong(403, f"this is for {act.who.value}; sign in with such a key")
            if sends and not self._posts.of(f"key {ask.key.owner}").take():
                raise Wrong(429, "you sent too much; wait a minute, and send it again")
        if not sends:
            return await act.handle(ask)
        async with _bounded(request, act.most_bytes).form(
            max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=act.most_bytes
        ) as ask.form:
            return await self._sent(act, ask)

    async def _sent(self, act: Act, ask: Ask) -> Response:
        """Handle a form. A refused form is shown again, with its problems and the typed text."""
        try:
            if not ask.visit.is_own_form(str(ask.form.get(FORM_TOKEN, ""))):
                raise Wrong(
                    403, "this form is of an earlier visit; look at it again, and send it once more"
                )
            return await act.handle(ask)
        except (ArenaRefused, InvalidInput, Wrong) as error:
            if act.page is None:
                raise
            ask.problems = (
                error.problems
                if isinstance(error, InvalidInput)
                else [line.strip() for line in str(error).splitlines()]
            )
            ask.status = _status(error)
            ask.keep_texts()
            return await act.page(ask)

    async def _identify(self, ask: Ask) -> None:
        """Identify the holder of the session. A session that has ended counts as none."""
        if not ask.visit.session:
            return
        try:
            ask.key = (await ask.call(self._arena.keys.GetKey, keys_pb2.GetKeyRequest())).key
        except ArenaRefused as refused:
            if refused.code is not grpc.StatusCode.UNAUTHENTICATED:
                raise


def _bounded(request: Request, most_bytes: int) -> Request:
    """Return the request, whose body may not be longer."""
    left = most_bytes

    async def receive() -> Any:
        nonlocal left
        message = await request.receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise Wrong(413, f"this is longer than {most_bytes >> 10:,} kB; nothing of it was done")
        return message

    return Request(request.scope, receive)


def _status(error: Exception) -> int:
    match error:
        case Wrong():
            return error.status
        case InvalidInput():
            return 422
        case ArenaRefused():
            return _STATUSES.get(error.code, 503)
        case NoSuchPage():
            return 404
        case MultiPartException() | ClientDisconnect():
            return 400
        case HTTPException():
            return error.status_code
        case ArenaUnreachable():
            return 503
    return 500


_TITLES: Final = {
    401: "Signed out",
    403: "Not allowed",
    404: "Not found",
    413: "Too large",
    503: "Try again",
}


def _error(ask: Ask, error: Exception) -> Response:
    """Return the page of an error. An internal error shows a number, which is also in the log."""
    ask.status = _status(error)
    text = str(error)
    if ask.status == 500:
        incident = secrets.token_hex(4)
        _log.error("an act fails", extra={"incident": incident}, exc_info=error)
        text = f"this is an error of the site, incident {incident}; its log has the details"
    elif isinstance(error, HTTPException | MultiPartException | ClientDisconnect):
        text = "this form cannot be read; open its page, and send it again"
    elif isinstance(error, ArenaUnreachable):
        text = "the arena of this site does not answer; try again in a minute"
    title = _TITLES.get(ask.status, "Not done")
    ask.problems = ()
    return ask.page("acting_error.html", title, text=f"{text[:1].upper()}{text[1:]}.")
