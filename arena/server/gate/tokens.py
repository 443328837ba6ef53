"""Tokens: what they look like, and what their holders may do.

A token is `arena_`, 43 base62 digits of 32 random bytes, and 6 of their CRC-32.
The mark lets scanners find tokens that were published by mistake. The checksum
tells a mistyped token from an unknown one without looking anything up. The arena
keeps only the SHA-256 of a token, so it cannot show it.
"""

import hashlib
import re
import secrets
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

import grpc

from arena.server.bots import BotId
from arena.server.refusals import Refused, invalid
from arena.store.keys import NAME, NAME_RULE, Key, Scope

MARK: Final = "arena_"
GUEST: Final = "guest:"
"""A token that says nothing but a name, where guests are let in: `guest:NAME`, or
`guest:NAME:SECRET`, with which the name is nobody else's while its stream is open."""
KEY_ID_CHARS: Final = 8
"""This many characters after the mark are public: the key's id. 208 secret bits are left."""
SECRET_BYTES: Final = 32

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_CHARS: Final = 43  # 62 ** 43 > 256 ** 32
_CHECK_CHARS: Final = 6  # 62 ** 6 > 2 ** 32
_SECRET: Final = re.compile(r"[0-9A-Za-z]{0,64}")
_TOKEN: Final = re.compile(rf"{MARK}[0-9A-Za-z]{{{_SECRET_CHARS + _CHECK_CHARS}}}")


def new_token() -> str:
    """A token that nobody can guess."""
    number = int.from_bytes(secrets.token_bytes(SECRET_BYTES))
    body = MARK + _base62(number, _SECRET_CHARS)
    return body + _checksum(body)


def well_formed(token: str) -> bool:
    """Whether a token has the form and the checksum of one; anyone may know."""
    if not _TOKEN.fullmatch(token):
        return False
    return token[-_CHECK_CHARS:] == _checksum(token[:-_CHECK_CHARS])


def token_sha256(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).digest()


def key_id(token: str) -> str:
    """The public part of a token, by which its key is named."""
    return token.removeprefix(MARK)[:KEY_ID_CHARS]


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECK_CHARS)


def _base62(number: int, digits: int) -> str:
    found = []
    for _ in range(digits):
        number, digit = divmod(number, 62)
        found.append(_BASE62[digit])
    return "".join(reversed(found))


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a token, and what for."""

    scope: Scope
    bot: BotId | None = None
    """None for an organiser, and for an owner."""
    owner: str = ""
    """Whose the token is, as `Tokens.owner_of` names it."""


class Tokens:
    """The tokens of an arena, and whether guests are let in.

    Everything is answered from memory. What has changed of the keys is handed in
    by `arena.server.gate.key_watch`.
    """

    def __init__(
        self,
        *,
        guests: bool = False,
        keys: Iterable[Key] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`guests` lets in everybody who can reach the arena; `keys` are those known so far."""
        self.guests: Final = guests
        self.change = 0
        """The last change of the keys that was learnt."""
        self.look_up: Callable[[], bool] = lambda: True
        """Called when a token is unknown, to learn of keys that were made just now; false if
        it could not."""
        self._now = now
        self._launched: dict[bytes, BotId] = {}
        self._walled: dict[bytes, BotId] = {}
        """Of those the bots that are behind the arena's wall."""
        self._keys: dict[bytes, Key] = {}
        self._claimed: set[str] = set()
        self._owners: dict[str, str] = {}
        """By bot, as it is spelled without capitals."""
        self._guests: dict[str, str] = {}
        self._guest_secrets: dict[str, bytes] = {}
        """SHA-256 of what a guest said beside its name, by name without capitals."""
        self._expiring: dict[bytes, datetime] = {}
        self._noted: dict[str, date] = {}
        self._used: set[str] = set()
        self._doubtful: set[BotId] = set()
        self.learn(keys)
        self.doubtful()  # keys that expired before now have no streams yet

    def add(self, token: str, bot: BotId, *, walled: bool = False) -> None:
        """Let in a bot that this arena launches, with a token of `new_token`.

        A `walled` bot is jailed: it comes by the socket of the jailed alone, and until its token is
        dropped nobody comes as this bot from elsewhere, whatever keys there are.
        """
        if not well_formed(token):
            raise ValueError("tokens are made by new_token")
        digest = token_sha256(token)
        self._launched[digest] = bot
        if walled:
            self._walled[digest] = bot
        self._claimed.add(bot.name.casefold())

    def drop(self, token: str) -> None:
        """Let a bot in no more whose process has ended."""
        digest = token_sha256(token)
        self._launched.pop(digest, None)
        self._walled.pop(digest, None)

    def learn(self, keys: Iterable[Key]) -> None:
        """Take in keys that were added or revoked."""
        for key in keys:
            self.change = max(self.change, key.changed)
            known = self._keys.get(key.token_sha256)
            if known is not None and known.changed >= key.changed:
                continue  # two looks crossed, and this is what the older one saw
            self._keys[key.token_sha256] = key
            if key.used is not None:
                self._noted.setdefault(key.id, key.used)
            if key.revoked is None and key.expires is not None:
                self._expiring[key.token_sha256] = key.expires
            if key.bot and key.revoked is not None:
                self._doubtful.add(BotId(key.bot))
            if key.bot and key.owner:
                self._owners[key.bot.casefold()] = key.owner
            for name in filter(None, (key.owner, key.bot)):
                self._claimed.add(name.casefold())
                guest = self._guests.pop(name.casefold(), None)
                if guest is not None:
                    self._doubtful.add(BotId(guest))

    def is_guest(self, bot: str) -> bool:
        """Whether no key and no launched bot has this name."""
        return bot.casefold() not in self._claimed

    def owner_of(self, bot: str) -> str:
        """Whose a bot is; a guest, and a bot that the arena launched, are their own."""
        return self._owners.get(bot.casefold(), bot)

    def doubtful(self) -> frozenset[BotId]:
        """The bots whose streams may have a token that has become invalid; each is told once.

        A key of theirs was revoked or has expired, or a guest had the name before.
        """
        now = self._now()
        for digest in [each for each, end in self._expiring.items() if end <= now]:
            del self._expiring[digest]
            if name := self._keys[digest].bot:
                self._doubtful.add(BotId(name))
        found, self._doubtful = self._doubtful, set()
        return frozenset(found)

    def used_keys(self) -> frozenset[str]:
        """Ids of the keys that were used for the first time today; each is told once."""
        found, self._used = self._used, set()
        return frozenset(found)

    def bot(self, token: str, *, walled: bool = False) -> BotId:
        """Which bot says hello with this token, by the socket of the jailed (`walled`) or from elsewhere.

        Raises:
          Refused: if it is not a bot's token, or has become invalid; for a guest, if the name
            is malformed or taken; if a jailed bot comes from elsewhere, another as that bot, or
            another by the socket of the jailed.
        """
        if walled and token_sha256(token) not in self._walled:
            text = "here only those play that the arena has launched behind its wall"
            raise denied("NOT_YOURS", text)
        if self.guests and token.startswith(GUEST):
            return self._guest(_name_and_secret(token)[0])
        bot = self._holder(token).bot
        if bot is None:
            text = "the token of an organiser or an owner does not play: a bot needs its own"
            raise denied("WRONG_SCOPE", text)
        if not walled and bot in self._walled.values():
            raise denied("NOT_YOURS", f"the arena has launched {bot.name} itself, behind its wall")
        return bot

    def holder(self, token: str) -> Holder:
        """Who has this token, which came with a call that is no play stream.

        Raises:
          Refused: if it is nobody's, no longer valid, or of a bot behind the arena's wall.
        """
        found = self._holder(token)
        if token_sha256(token) in self._walled:
            raise denied("NOT_YOURS", _BEHIND_THE_WALL)
        return found

    def _holder(self, token: str) -> Holder:
        if not token:
            raise unauthenticated("NO_TOKEN", "a token is needed")
        if not well_formed(token):
            raise unauthenticated("BAD_TOKEN", "this is no token of an arena: look for a slip")
        digest = token_sha256(token)
        launched = self._launched.get(digest)
        if launched is not None:
            return Holder(Scope.BOT, launched, self.owner_of(launched.name))
        if digest not in self._keys and not self.look_up():
            # Not "unknown": a bot gives up at that, and this key may have been made just now.
            text = "the keys cannot be looked up now: say hello again"
            raise Refused(grpc.StatusCode.UNAVAILABLE, "KEYS_BUSY", text)
        key = self._keys.get(digest)
        if key is None:
            raise unauthenticated("UNKNOWN_TOKEN", "the token is unknown")
        if key.revoked is not None:
            raise unauthenticated("REVOKED_TOKEN", "the token was revoked")
        now = self._now()
        if key.expires is not None and key.expires <= now:
            raise unauthenticated("EXPIRED_TOKEN", "the token has expired")
        if self._noted.get(key.id) != now.date():
            self._noted[key.id] = now.date()
            self._used.add(key.id)
        return Holder(key.scope, BotId(key.bot) if key.bot else None, key.owner or key.bot)

    def _guest(self, name: str) -> BotId:
        if not NAME.fullmatch(name):
            raise invalid("BAD_NAME", NAME_RULE)
        folded = name.casefold()
        if folded in self._claimed:
            raise denied("NOT_YOURS", f"the name {name!r} belongs to an owner of keys")
        known = self._guests.setdefault(folded, name)
        if known != name:
            raise denied("NOT_YOURS", f"the name {name!r} is a guest's who writes it {known!r}")
        return BotId(name)

    def bind_guest(self, token: str, *, here: bool) -> None:
        """Bind a guest's name to the secret of its token, which has passed `bot`.

        Raises:
          Refused: if the guest is `here`, with a stream that said another secret or none.
        """
        if not (self.guests and token.startswith(GUEST)):
            return
        name, secret = _name_and_secret(token)
        digest = hashlib.sha256(secret.encode()).digest()
        if here and self._guest_secrets.get(name.casefold(), digest) != digest:
            raise denied("NOT_YOURS", f"a guest of the name {name!r} is here, with another secret")
        self._guest_secrets[name.casefold()] = digest

    def forget_guest(self, name: str) -> None:
        """Let a guest's name be written in another way again."""
        self._guest_secrets.pop(name.casefold(), None)
        if self._guests.get(name.casefold()) == name:
            del self._guests[name.casefold()]


_BEHIND_THE_WALL: Final = "this token is of a bot behind the arena's wall, and good there alone"


def _name_and_secret(token: str) -> tuple[str, str]:
    """What a guest's token says.

    Raises:
      Refused: if the secret has not the form of one.
    """
    name, _, secret = token.removeprefix(GUEST).partition(":")
    if not _SECRET.fullmatch(secret):
        raise invalid("BAD_NAME", "a guest's secret has at most 64 letters and digits")
    return name, secret


def unauthenticated(reason: str, text: str) -> Refused:
    """Who asks is not known. The token is never repeated."""
    return Refused(grpc.StatusCode.UNAUTHENTICATED, reason, text)


def denied(reason: str, text: str) -> Refused:
    """Who asks is known, and may not."""
    return Refused(grpc.StatusCode.PERMISSION_DENIED, reason, text)


__all__ = [
    "GUEST",
    "KEY_ID_CHARS",
    "MARK",
    "NAME",
    "Holder",
    "Tokens",
    "denied",
    "key_id",
    "new_token",
    "token_sha256",
    "unauthenticated",
    "well_formed",
]
