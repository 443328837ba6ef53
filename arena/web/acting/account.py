"""The pages of an account: sign in with a key or a provider, register with an invitation, keys and sessions, sign out."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import grpc
from starlette.responses import RedirectResponse, Response

from arena.web.acting.arena_calls import ArenaRefused, ArenaUnreachable
from arena.web.acting.guard import Act, Ask, Who, Wrong
from arena.web.acting.visits import HOME, own_path
from cardarena.v1 import keys_pb2, owners_pb2

_BROWSERS: Final = ("Firefox", "Edg", "Chrome", "Safari")
"""The names of browsers in the order of the search: most call themselves Chrome and Safari too."""
_SYSTEMS: Final = ("Android", "iPhone", "iPad", "Windows", "Macintosh", "Linux")


async def sign_in_page(ask: Ask, proof: str = "", identity: str = "") -> Response:
    """Show the forms of a key and of an invitation, and the providers; with a proof, the owner to whom it is linked."""
    following = own_path(ask.typed.get("next") or ask.query("next"))
    providers: Sequence[keys_pb2.SignInProvider] = ()
    with contextlib.suppress(
        ArenaRefused, ArenaUnreachable
    ):  # a key is enough, and says what is wrong
        request = keys_pb2.ListProvidersRequest()
        providers = (await ask.arena.call(ask.arena.keys.ListProviders, request)).providers
    return ask.page(
        "signin.html",
        "Sign in",
        following=following,
        providers=providers,
        proof=proof or ask.typed.get("proof", ""),
        identity=identity or ask.typed.get("identity", ""),
    )


async def sign_in(ask: Ask) -> Response:
    """Sign in with a key. The session is always a new one, and an earlier one ends."""
    key = ask.given("key")["key"]
    await _link(ask, key)
    signed_in = await _signed_in(ask, key)
    response = RedirectResponse(own_path(ask.texts.get("next", HOME)), 303)
    _begin(ask, response, signed_in)
    return response


async def go_to_provider(ask: Ask) -> Response:
    """Send the browser to a provider of sign-in."""
    request = keys_pb2.BeginSignInRequest(**_at_provider(ask))
    begun = await _counted(ask, ask.arena.keys.BeginSignIn, request)
    return RedirectResponse(begun.authorization_url, 303)


async def come_from_provider(ask: Ask) -> Response:
    """Sign in the person whom a provider confirms; a person who is not linked links the identity by a key or an invitation."""
    request = keys_pb2.FinishSignInRequest(
        **_at_provider(ask),
        state=ask.query("state"),
        code=ask.request.query_params.get("code", "")[:2_000],
        label=_browser(ask.request.headers.get("user-agent", "")),
    )
    finished = await _counted(ask, ask.arena.keys.FinishSignIn, request)
    if finished.proof:
        return await sign_in_page(ask, finished.proof, finished.identity)
    await _end_session(ask)
    response = RedirectResponse(HOME, 303)
    _begin(ask, response, finished.signed_in)
    return response


async def register(ask: Ask) -> Response:
    """Register with the code of an invitation, and sign in; the new key is shown once."""
    request = owners_pb2.RegisterRequest(**ask.given("code"))
    registered = await _counted(ask, ask.arena.owners.Register, request)
    response = ask.page(
        "secret.html",
        f"Welcome, {registered.owner}",
        secret=registered.token,
        what="This is your owner key. It is shown only now: keep it in your password manager. With it you sign in "
        "again, here and from a terminal.",
        following=HOME,
    )
    # The code is used up, so the key is shown even after an error; its owner signs in and links an identity with it.
    with contextlib.suppress(ArenaRefused, ArenaUnreachable):
        await _link(ask, registered.token)
    with contextlib.suppress(ArenaRefused, ArenaUnreachable):
        _begin(ask, response, await _signed_in(ask, registered.token))
    return response


async def sign_out(ask: Ask) -> Response:
    """End the session."""
    response = RedirectResponse("/signin", 303)
    await _end_session(ask)
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
    request = keys_pb2.RevokeKeyRequest(**ask.given("key_id"))
    await ask.call(ask.arena.keys.RevokeKey, request)
    return RedirectResponse("/me/keys", 303)


async def _signed_in(ask: Ask, token: str) -> keys_pb2.SignInResponse:
    label = _browser(ask.request.headers.get("user-agent", ""))
    request = keys_pb2.SignInRequest(label=label)
    signed_in: keys_pb2.SignInResponse = await _counted(ask, ask.arena.keys.SignIn, request, token)
    await _end_session(ask)
    return signed_in


async def _end_session(ask: Ask) -> None:
    if ask.key is not None:
        await ask.call(ask.arena.keys.RevokeKey, keys_pb2.RevokeKeyRequest(key_id=ask.key.key_id))


async def _link(ask: Ask, key: str) -> None:
    """Link the identity of the proof in the form, if there is one, to the owner of a key."""
    if proof := ask.texts.get("proof", ""):
        request = keys_pb2.LinkIdentityRequest(proof=proof, browser=ask.visit.form_token)
        await _counted(ask, ask.arena.keys.LinkIdentity, request, key)


def _at_provider(ask: Ask) -> dict[str, str]:
    """Return the fields that the begin and the end of a sign-in share."""
    name = ask.part("provider")
    redirect_uri = f"{ask.visit.origin}/signin/from/{name}"
    return {"provider": name, "redirect_uri": redirect_uri, "browser": ask.visit.form_token}


def _browser(user_agent: str) -> str:
    """Return a browser and its system, as it calls itself: `Firefox on Linux`."""
    browser, system = (
        next((word for word in words if word in user_agent), "") for words in (_BROWSERS, _SYSTEMS)
    )
    return " on ".join(filter(None, (browser.replace("Edg", "Edge"), system)))


async def _counted(ask: Ask, method: Callable[..., Any], request: Any, token: str = "") -> Any:
    """Call the arena with a key or code that could be guessed; wrong guesses of an address are limited."""
    if not ask.wrong_keys.has():
        raise Wrong(429, "too many wrong keys came from your address; wait a minute, and try again")
    try:
        return await ask.arena.call(method, request, token)
    except ArenaRefused as refused:
        if refused.code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
            ask.wrong_keys.take()
        if refused.reason == "BAD_TOKEN":  # the arena's reason for a wrong key
            raise Wrong(
                401,
                "this is no whole key: it begins with arena_ and has 55 characters; copy it again",
            ) from None
        raise


def _begin(ask: Ask, response: Response, signed_in: keys_pb2.SignInResponse) -> None:
    lasts_s = signed_in.key.expires_unix_ms // 1000 - int(time.time())
    ask.visit.begin(response, signed_in.token, lasts_s)


ACTS = (
    Act("GET", "/signin", Who.ANYONE, sign_in_page),
    Act("POST", "/signin", Who.ANYONE, sign_in, sign_in_page),
    Act("GET", "/signin/with/{provider}", Who.ANYONE, go_to_provider),
    Act("GET", "/signin/from/{provider}", Who.ANYONE, come_from_provider),
    Act("POST", "/register", Who.ANYONE, register, sign_in_page),
    Act("POST", "/signout", Who.ANYONE, sign_out),
    Act("GET", "/me/keys", Who.MEMBER, keys_page),
    Act("POST", "/me/keys/revoke", Who.MEMBER, revoke, keys_page),
)
