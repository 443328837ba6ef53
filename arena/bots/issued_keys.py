"""Issues keys and sign-in sessions: makes their tokens, which are shown once, and stores their hashes. Links identities."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from arena.bots.tokens import key_id, new_token, token_sha256
from arena.store import Key, Keys, Scope
from arena.store.keys import KeyIdTaken

SESSION_LASTS: Final[Mapping[Scope, timedelta]] = {
    Scope.OWNER: timedelta(days=14),
    Scope.ORGANISER: timedelta(hours=12),
}
"""How long a sign-in session lasts: shorter for organisers, who may ban owners and delete competitions."""


def issue(
    keys: Keys,
    scope: Scope,
    owner: str,
    bot: str = "",
    *,
    now: datetime,
    lifetime: timedelta | None = None,
) -> tuple[Key, str]:
    """Store a new key; return it and its token. The key does not expire without a lifetime.

    Raises `NameTaken` as in `Keys.add`, and `StoreError` if the store cannot be written.
    """
    now = now.replace(microsecond=0)
    expires = None if lifetime is None else now + lifetime

    def key(token: str) -> Key:
        return Key(key_id(token), token_sha256(token), scope, owner, bot, now, expires)

    return _stored(keys.add, key)


def sign_in(keys: Keys, known: Key, label: str, *, now: datetime) -> tuple[Key, str]:
    """Store a sign-in session that was made with a known key; return it and its token.

    Raises `OverQuota` if the owner has begun too many, and `StoreError` if the store cannot be written.
    """
    now = now.replace(microsecond=0)
    lasts = now + SESSION_LASTS[known.scope]
    expires = lasts if known.expires is None else min(lasts, known.expires)

    def session(token: str) -> Key:
        return Key(
            key_id(token),
            token_sha256(token),
            known.scope,
            known.owner,
            "",
            now,
            expires,
            signed_in_with=known.id,
            label=label,
        )

    return _stored(keys.sign_in, session)


def link(keys: Keys, owner: str, identity: bytes, label: str, *, now: datetime) -> Key:
    """Store an identity at a provider, by its hash, as a key of an owner to sign in with; return the key.

    No token belongs to it.

    Raises `LinkedAlready` if the identity is linked, and `StoreError` if the store cannot be written.
    """
    now = now.replace(microsecond=0)

    def key(token: str) -> Key:
        return Key(key_id(token), identity, Scope.OWNER, owner, "", now, label=label)

    return _stored(keys.link, key)[0]


def _stored(store: Callable[[Key], Key], key_of: Callable[[str], Key]) -> tuple[Key, str]:
    """Store the key of a new token; return both."""
    while True:
        token = new_token()
        try:
            return store(key_of(token)), token
        except KeyIdTaken:
            continue  # with a probability of 1 in 2e14
