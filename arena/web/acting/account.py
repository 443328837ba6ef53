"""The pages of an account: sign in, register with an invitation, keys and sessions, sign out."""

import contextlib
import time
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

import grpc
from starlette.responses import RedirectResponse, Response

from arena.validation import NOT_EMPTY, OPEN, Limits
from arena.web.acting.arena_calls import ArenaRefused, ArenaUnreachable
from arena.web.acting.guard import Act, Ask, Who, Wrong
from arena.web.acting.visits import HOME, own_path
from cardarena.v1 import keys_pb2, owners_pb2

_BROWSERS: Final = ("Firefox", "Edg", "Chrome", "Safari")
"""In the order in which they are looked for: most call themselves Chrome and Safari, too."""
_SYSTEMS: Final = ("Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux")
_Short = Annotated[str, Limits(max_length=100), NOT_EMPTY]


@dataclass(frozen=True, slots=True)
class SignInForm:
    """A key, and where to go then."""

    __pydantic_config__: ClassVar = OPEN

    key: _Short
    next: str = HOME


@dataclass(frozen=True, slots=True)
class InvitationForm:
    """The code of an invitation."""

    __pydantic_config__: ClassVar = OPEN

    code: _Short


@dataclass(frozen=True, slots=True)
class KeyForm:
    """A key to be revoked."""

    __pydantic_config__: ClassVar = OPEN

    key_id: _Short


async def sign_in_page(ask: Ask) -> Response:
    """Show the forms of a key and of an invitation."""
    following = own_path(ask.typed.get("next") or ask.query("next"))
    return ask.page("signin.html", "Sign in", following=following)


async def sign_in(ask: Ask) -> Response:
    """Sign in with a key. The session is always a new one, and one before it ends."""
    form = ask.read(SignInForm)
    signed_in = await _signed_in(ask, form.key)
    response = RedirectResponse(own_path(form.next), 303)
    _begin(ask, response, signed_in)
    return response


async def register(ask: Ask) -> Response:
    """Register with the code of an invitation, and sign in; the new key is shown once."""
    form = ask.read(InvitationForm)
    _require_tries(ask)
    try:
        registered = await ask.arena.call(
            ask.arena.owners.Register, owners_pb2.RegisterRequest(code=form.code)
        )
    except ArenaRefused as refused:
        _count_wrong(ask, refused)
        raise
    response = ask.page(
        "secret.html",
        f"Welcome, {registered.owner}",
        secret=registered.token,
        what="This is your owner key. It is shown only now: keep it in your password manager. With it you sign in "
        "again, here and from a terminal.",
        following=HOME,
    )
    # The code is used up, so the key is shown whatever happens; without a session its owner signs in with it.
    with contextlib.suppress(ArenaRefused, ArenaUnreachable):
        _begin(ask, response, await _signed_in(ask, registered.token))
    return response


async def sign_out(ask: Ask) -> Response:
    """End the session."""
    response = RedirectResponse("/signin", 303)
    if ask.key is not None:
        await ask.call(ask.arena.keys.RevokeKey, keys_pb2.RevokeKeyRequest(key_id=ask.key.key_id))
    ask.visit.end(response)
    return response


async def keys_page(ask: Ask) -> Response:
    """Show the keys and sessions of an owner, or of the organiser."""
    assert ask.key is not None
    request = keys_pb2.ListKeysRequest()
    keys = await ask.pages(ask.arena.keys.ListKeys, request, "keys")
    valid = [
        key for key in keys if key.state == keys_pb2.KEY_STATE_VALID and key.owner == ask.key.owner
    ]
    return ask.page("keys.html", "Keys and sessions", keys=list(reversed(valid)))


async def revoke(ask: Ask) -> Response:
    """Revoke a key or end a session."""
    form = ask.read(KeyForm)
    await ask.call(ask.arena.keys.RevokeKey, keys_pb2.RevokeKeyRequest(key_id=form.key_id))
    return RedirectResponse("/me/keys", 303)


async def _signed_in(ask: Ask, token: str) -> keys_pb2.SignInResponse:
    _require_tries(ask)
    label = _browser(ask.request.headers.get("user-agent", ""))
    try:
        signed_in: keys_pb2.SignInResponse = await ask.arena.call(
            ask.arena.keys.SignIn, keys_pb2.SignInRequest(label=label), token
        )
    except ArenaRefused as refused:
        _count_wrong(ask, refused)
        raise
    if ask.key is not None:
        await ask.call(ask.arena.keys.RevokeKey, keys_pb2.RevokeKeyRequest(key_id=ask.key.key_id))
    return signed_in


def _browser(user_agent: str) -> str:
    """A browser and its system, as it calls itself: `Firefox on Linux`."""
    browser, system = (
        next((word for word in words if word in user_agent), "") for words in (_BROWSERS, _SYSTEMS)
    )
    return " on ".join(filter(None, (browser.replace("Edg", "Edge"), system)))


def _require_tries(ask: Ask) -> None:
    if not ask.wrong_keys.has():
        raise Wrong(429, "too many wrong keys came from your address; wait a minute, and try again")


def _count_wrong(ask: Ask, refused: ArenaRefused) -> None:
    if refused.code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
        ask.wrong_keys.take()


def _begin(ask: Ask, response: Response, signed_in: keys_pb2.SignInResponse) -> None:
    lasts_s = signed_in.key.expires_unix_ms // 1000 - int(time.time())
    ask.visit.begin(response, signed_in.token, lasts_s)


ACTS = (
    Act("GET", "/signin", Who.ANYONE, sign_in_page),
    Act("POST", "/signin", Who.ANYONE, sign_in, sign_in_page),
    Act("POST", "/register", Who.ANYONE, register, sign_in_page),
    Act("POST", "/signout", Who.ANYONE, sign_out),
    Act("GET", "/me/keys", Who.MEMBER, keys_page),
    Act("POST", "/me/keys/revoke", Who.MEMBER, revoke, keys_page),
)
