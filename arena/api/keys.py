"""The key service: organisers create keys; people sign in, and list and revoke their keys and sessions.

A key of another owner is treated as one that does not exist.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from arena.api.admission.access import bearer, holder_of
from arena.api.pages import numbered_page
from arena.api.sign_in_providers import SignInProviders
from arena.api.store_refusals import on_thread
from arena.bots.issued_keys import issue, link, sign_in
from arena.bots.tokens import Holder, Tokens, key_id
from arena.errors.refused import Refused
from arena.live.limits import Context
from arena.referee.wire.enums import enum_number, word_of
from arena.store import Key, Scope, Store
from arena.store.keys import UnknownKey
from arena.store.moments import unix_ms
from arena.store.names import NAME, NAME_RULE
from cardarena.v1 import keys_pb2 as messages
from cardarena.v1 import keys_pb2_grpc

LONGEST: Final = timedelta(weeks=99_999)
MAX_LABEL_CHARS: Final = 100


class KeyCalls(keys_pb2_grpc.KeyServiceServicer):
    """Serves `cardarena.v1.KeyService`."""

    def __init__(
        self,
        store: Store,
        tokens: Tokens,
        now: Callable[[], datetime],
        providers: SignInProviders | None = None,
    ) -> None:
        """Serve the keys of a store; `tokens` identify callers, and `now` returns the time in UTC."""
        self._store, self._tokens, self._now = store, tokens, now
        self._providers = SignInProviders({}) if providers is None else providers

    async def CreateKey(
        self, request: messages.CreateKeyRequest, context: Context
    ) -> messages.CreateKeyResponse:
        scope, bot = word_of(request, "scope"), request.bot
        if not scope or bool(bot) != (scope == Scope.BOT):
            raise Refused("BAD_NAME", "a key of a bot names the bot, and no other key does")
        lifetime = timedelta(seconds=min(request.lifetime_s, LONGEST.total_seconds()))

        def create() -> tuple[Key, str]:
            keys = self._store.keys()
            owner = request.owner
            if bot and not owner:
                owner = keys.owner_of(bot) or ""
                if not owner:
                    raise Refused("UNKNOWN_BOT", f"{bot!r} is a new bot: name its owner")
            if not all(NAME.fullmatch(name) for name in (owner, bot or owner)):
                raise Refused("BAD_NAME", NAME_RULE)
            if scope == Scope.OWNER:
                self._store.registry().require_welcome(owner)
            return issue(keys, Scope(scope), owner, bot, now=self._now(), lifetime=lifetime or None)

        key, token = await on_thread(create)
        return messages.CreateKeyResponse(key=self._message(key), token=token)

    async def SignIn(
        self, request: messages.SignInRequest, context: Context
    ) -> messages.SignInResponse:
        own_id = key_id(bearer(context.invocation_metadata() or ()))
        return await self._signed_in(lambda: self._key(own_id), request.label)

    async def ListProviders(
        self, request: messages.ListProvidersRequest, context: Context
    ) -> messages.ListProvidersResponse:
        titles = self._providers.titles.items()
        providers = [messages.SignInProvider(name=name, title=title) for name, title in titles]
        return messages.ListProvidersResponse(providers=providers)

    async def BeginSignIn(
        self, request: messages.BeginSignInRequest, context: Context
    ) -> messages.BeginSignInResponse:
        begin = self._providers.begin
        url = await on_thread(begin, request.provider, request.redirect_uri, request.browser)
        return messages.BeginSignInResponse(authorization_url=url)

    async def FinishSignIn(
        self, request: messages.FinishSignInRequest, context: Context
    ) -> messages.FinishSignInResponse:
        identity = await on_thread(
            self._providers.finish,
            request.provider,
            request.redirect_uri,
            request.browser,
            request.state,
            request.code,
        )
        key = await on_thread(self._store.keys().linked, identity.hash)
        if key is None:
            proof = self._providers.proof(identity, request.browser)
            return messages.FinishSignInResponse(proof=proof, identity=identity.label)
        signed_in = await self._signed_in(lambda: key, request.label)
        return messages.FinishSignInResponse(signed_in=signed_in, identity=identity.label)

    async def LinkIdentity(
        self, request: messages.LinkIdentityRequest, context: Context
    ) -> messages.LinkIdentityResponse:
        own_id = key_id(bearer(context.invocation_metadata() or ()))
        identity = self._providers.proven(request.proof, request.browser)

        def linked() -> Key:
            keys, owner = self._store.keys(), self._key(own_id).owner
            return link(keys, owner, identity.hash, identity.label, now=self._now())

        return messages.LinkIdentityResponse(key=self._message(await on_thread(linked)))

    def _key(self, key_id: str) -> Key:
        """Return the key of an id, which is no session's. Blocks.

        Raises `Refused` if the id is a session's, because a stolen session could otherwise be renewed for ever.
        """
        key = self._store.keys().find(key_id)
        if key.signed_in_with:
            raise Refused("WRONG_SCOPE", "sign in with a key, not with a session")
        return key

    async def _signed_in(self, find: Callable[[], Key], browser: str) -> messages.SignInResponse:
        label = "".join(filter(str.isprintable, browser))[:MAX_LABEL_CHARS]
        session, token = await on_thread(
            lambda: sign_in(self._store.keys(), find(), label, now=self._now())
        )
        self._tokens.remember(session)
        return messages.SignInResponse(key=self._message(session), token=token)

    async def GetKey(
        self, request: messages.GetKeyRequest, context: Context
    ) -> messages.GetKeyResponse:
        own_id = key_id(bearer(context.invocation_metadata() or ()))
        key = await on_thread(self._store.keys().find, own_id)
        return messages.GetKeyResponse(key=self._message(key))

    async def ListKeys(
        self, request: messages.ListKeysRequest, context: Context
    ) -> messages.ListKeysResponse:
        holder = holder_of(context, self._tokens)
        keys = [key for key in await on_thread(self._store.keys().all) if _may_see(holder, key)]
        page, token = numbered_page(keys, request.page_size, request.page_token)
        return messages.ListKeysResponse(keys=map(self._message, page), next_page_token=token)

    async def RevokeKey(
        self, request: messages.RevokeKeyRequest, context: Context
    ) -> messages.RevokeKeyResponse:
        now, holder = self._now().replace(microsecond=0), holder_of(context, self._tokens)

        def revoke() -> Key:
            keys = self._store.keys()
            if not _may_see(holder, keys.find(request.key_id)):
                raise UnknownKey(repr(request.key_id))
            return keys.revoke(request.key_id, now)

        key = await on_thread(revoke)
        self._tokens.remember(key)
        return messages.RevokeKeyResponse(key=self._message(key))

    def _message(self, key: Key) -> messages.KeyInfo:
        state = messages.KEY_STATE_VALID
        if key.revoked is not None:
            state = messages.KEY_STATE_REVOKED
        elif key.expires is not None and key.expires <= self._now():
            state = messages.KEY_STATE_EXPIRED
        return messages.KeyInfo(
            key_id=key.id,
            scope=enum_number(messages.KeyScope, key.scope),
            owner=key.owner,
            bot=key.bot,
            state=state,
            created_unix_ms=unix_ms(key.created),
            expires_unix_ms=unix_ms(key.expires) if key.expires else 0,
            revoked_unix_ms=unix_ms(key.revoked) if key.revoked else 0,
            last_used=key.used.isoformat() if key.used else "",
            signed_in_with=key.signed_in_with,
            label=key.label,
        )


def _may_see(holder: Holder, key: Key) -> bool:
    """Return whether a caller may list and revoke a key: organisers may see all keys, owners their own keys and those of their bots."""
    if holder.scope is Scope.ORGANISER:
        return True
    return key.owner == holder.owner and key.scope in (Scope.OWNER, Scope.BOT)
