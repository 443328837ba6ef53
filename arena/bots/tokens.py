"""Tokens: their form, and who holds them.

A token is `arena_`, 43 base62 digits of 32 random bytes, and 6 of their CRC-32. The prefix lets scanners find tokens
that were published by mistake. The checksum distinguishes a mistyped token from an unknown one without a look-up. The
arena keeps only the SHA-256 of a token, so it cannot show it.
"""

import hashlib
import re
import secrets
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from arena.bots.bot_ids import BotId
from arena.errors.refused import Refused
from arena.store.keys import Key, Scope
from arena.store.names import NAME, NAME_RULE, is_reserved, skeleton

MARK: Final = "arena_"
GUEST: Final = "guest:"
"""The prefix of a guest's token, where guests are accepted: `guest:NAME`, or `guest:NAME:SECRET`, which reserves the name while the guest's stream is open."""
KEY_ID_CHARS: Final = 8
"""The number of characters after the prefix that are public: the key's id. 208 secret bits remain."""
SECRET_BYTES: Final = 32

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_CHARS: Final = 43  # 62 ** 43 > 256 ** 32
_CHECK_CHARS: Final = 6  # 62 ** 6 > 2 ** 32
_SECRET: Final = re.compile(r"[0-9A-Za-z]{0,64}")
_TOKEN: Final = re.compile(rf"{MARK}[0-9A-Za-z]{{{_SECRET_CHARS + _CHECK_CHARS}}}")


def new_token() -> str:
    """Return a new random token."""
    number = int.from_bytes(secrets.token_bytes(SECRET_BYTES))
    body = MARK + _base62(number, _SECRET_CHARS)
    return body + _checksum(body)


def well_formed(token: str) -> bool:
    """Return whether a token has the right form and checksum. That reveals no secret."""
    if not _TOKEN.fullmatch(token):
        return False
    return token[-_CHECK_CHARS:] == _checksum(token[:-_CHECK_CHARS])


def token_sha256(token: str) -> bytes:
    """Return the hash of a token, which is all that is stored of it."""
    return hashlib.sha256(token.encode()).digest()


def key_id(token: str) -> str:
    """Return the public part of a token, by which its key is named."""
    return token.removeprefix(MARK)[:KEY_ID_CHARS]


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECK_CHARS)


def _base62(number: int, digits: int) -> str:
    signs = []
    for _ in range(digits):
        number, digit = divmod(number, 62)
        signs.append(_BASE62[digit])
    return "".join(reversed(signs))


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a token, and the token's scope."""

    scope: Scope
    bot: BotId | None = None
    """None for organisers and owners."""
    owner: str = ""
    """The token's owner, as `Tokens.owner_of` names it."""
    local_worker: int = 0
    """The number of a worker that this arena starts; 0 for any other holder."""


class Tokens:
    """The tokens of an arena, and whether it accepts guests.

    All keys are in memory. `arena.api.admission.key_reload` passes on changes of the stored keys.
    """

    def __init__(
        self,
        *,
        guests: bool = False,
        keys: Iterable[Key] = (),
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`guests` accepts guests; `keys` are the stored keys; `now` returns the time in UTC."""
        self.guests: Final = guests
        self.change = 0
        """The number of the last change of the keys that was read."""
        self._look_up: Callable[[], bool] = lambda: True
        self._now = now
        self._launched: dict[bytes, BotId] = {}
        self._sandboxed: dict[bytes, BotId] = {}
        """The launched bots that run in the arena's sandbox."""
        self._publishing: set[bytes] = set()
        """The tokens of launched bots whose notes are published."""
        self._workers: dict[bytes, int] = {}
        """The workers that this arena starts, by number."""
        self._keys: dict[bytes, Key] = {}
        self._claimed: set[str] = set()
        self._owners: dict[str, str] = {}
        """By the skeleton of the bot's name."""
        self._guests: dict[str, str] = {}
        self._guest_secrets: dict[str, bytes] = {}
        """SHA-256 of guests' secrets, by the skeleton of the name."""
        self._expiring: dict[bytes, datetime] = {}
        self._noted: dict[str, date] = {}
        self._used: set[str] = set()
        self._doubtful: set[BotId] = set()
        self.learn(keys)
        self.doubtful()  # keys that expired before now have no streams yet

    def look_up_with(self, look_up: Callable[[], bool]) -> None:
        """Call `look_up` for each unknown token, to read keys that were made just now.

        It returns false if it could not read them.
        """
        self._look_up = look_up

    def add(
        self, token: str, bot: BotId, *, sandboxed: bool = False, publishes_notes: bool = False
    ) -> None:
        """Add the token of a bot that this arena launches; `new_token` makes it.

        A `sandboxed` bot connects by the socket of sandboxed bots only. Until its token is dropped, no other token is
        valid for the bot. With `publishes_notes` its notes are published, whatever its hello declares.
        """
        if not well_formed(token):
            raise ValueError("tokens are made by new_token")
        digest = token_sha256(token)
        self._launched[digest] = bot
        if sandboxed:
            self._sandboxed[digest] = bot
        if publishes_notes:
            self._publishing.add(digest)
        self._claimed.add(skeleton(bot.name))

    def add_worker(self, token: str, number: int) -> None:
        """Add the token of a worker that this arena starts; `new_token` makes it."""
        self._workers[token_sha256(token)] = number

    def drop(self, token: str) -> None:
        """Remove the token of a launched bot, as its process has ended."""
        digest = token_sha256(token)
        self._launched.pop(digest, None)
        self._sandboxed.pop(digest, None)
        self._publishing.discard(digest)

    def is_launched(self, token: str) -> bool:
        """Return whether a token is that of a bot whose process the arena started and that has not ended."""
        return token_sha256(token) in self._launched

    def publishes_notes(self, token: str) -> bool:
        """Return whether the notes of the launched bot with this token are published."""
        return token_sha256(token) in self._publishing

    def learn(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self.change = max(self.change, key.changed)
            known = self._keys.get(key.token_sha256)
            if known is not None and known.changed >= key.changed:
                continue  # read by an earlier poll that ended later
            self._keys[key.token_sha256] = key
            if key.used is not None:
                self._noted.setdefault(key.id, key.used)
            if key.revoked is None and key.expires is not None:
                self._expiring[key.token_sha256] = key.expires
            if key.bot and key.revoked is not None:
                self._doubtful.add(BotId(key.bot))
            if key.bot and key.owner:
                self._owners[skeleton(key.bot)] = key.owner
            for name in filter(None, (key.owner, key.bot)):
                self._claimed.add(skeleton(name))
                guest = self._guests.pop(skeleton(name), None)
                if guest is not None:
                    self._doubtful.add(BotId(guest))

    def remember(self, key: Key) -> None:
        """Apply the creation or revocation of a person's key at once.

        The key is read again with the other changes, whose position does not change. Keys of bots are not applied here,
        because their streams are closed when their changes are read.
        """
        if not key.bot:
            self._keys[key.token_sha256] = key

    def is_guest(self, bot: str) -> bool:
        """Return whether no key and no launched bot has this name."""
        return skeleton(bot) not in self._claimed

    def owner_of(self, bot: str) -> str:
        """Return the owner of a bot; guests and launched bots own themselves."""
        return self._owners.get(skeleton(bot), bot)

    def doubtful(self) -> frozenset[BotId]:
        """Return the bots whose streams may have a token that has become invalid; each is returned once.

        One of their keys was revoked or has expired, or a guest had their name before.
        """
        now = self._now()
        for digest in [digest for digest, end in self._expiring.items() if end <= now]:
            del self._expiring[digest]
            if name := self._keys[digest].bot:
                self._doubtful.add(BotId(name))
        doubtful, self._doubtful = self._doubtful, set()
        return frozenset(doubtful)

    def used_keys(self) -> frozenset[str]:
        """Ids of the keys that were used for the first time today; each is returned once."""
        used, self._used = self._used, set()
        return frozenset(used)

    def bot(self, token: str, *, sandboxed: bool = False) -> BotId:
        """Return the bot that connects with this token. `sandboxed` says whether it uses the socket of sandboxed bots.

        Raises `Refused` if it is no bot's token, or has become invalid; for a guest, if the name is malformed
        or taken; if a sandboxed bot does not use that socket, or any other bot does; if another token is used
        for a bot that runs in the sandbox.
        """
        if sandboxed and token_sha256(token) not in self._sandboxed:
            raise Refused("NOT_YOURS", "this socket is for the bots in the arena's sandbox")
        if token.startswith(GUEST):
            if not self.guests:
                raise Refused("NO_TOKEN", "guests are not admitted here, so set CARDARENA_TOKEN")
            return self._guest(_name_and_secret(token)[0])
        bot = self._holder(token).bot
        if bot is None:
            raise Refused("WRONG_SCOPE", "a bot plays with a bot's token")
        if not sandboxed and bot in self._sandboxed.values():
            raise Refused("NOT_YOURS", f"the arena runs {bot.name} in its sandbox")
        return bot

    def holder(self, token: str) -> Holder:
        """Return the holder of the token of any call but a play stream.

        Raises `Refused` if it is unknown, no longer valid, or that of a bot in the arena's sandbox.
        """
        holder = self._holder(token)
        if token_sha256(token) in self._sandboxed:
            raise Refused("NOT_YOURS", "the token is valid in the arena's sandbox alone")
        return holder

    def _holder(self, token: str) -> Holder:
        if not token:
            raise Refused("NO_TOKEN")
        if not well_formed(token):
            raise Refused("BAD_TOKEN")
        digest = token_sha256(token)
        launched = self._launched.get(digest)
        if launched is not None:
            return Holder(Scope.BOT, launched, self.owner_of(launched.name))
        if (worker := self._workers.get(digest)) is not None:
            return Holder(Scope.WORKER, local_worker=worker)
        if digest not in self._keys and not self._look_up():
            # The reason is not "unknown", after which bots stop trying: this key may have been made a moment ago.
            raise Refused("KEYS_BUSY")
        key = self._keys.get(digest)
        if key is None:
            raise Refused("UNKNOWN_TOKEN")
        if key.revoked is not None:
            raise Refused("REVOKED_TOKEN")
        now = self._now()
        if key.expires is not None and key.expires <= now:
            raise Refused("EXPIRED_TOKEN")
        if self._noted.get(key.id) != now.date():
            self._noted[key.id] = now.date()
            self._used.add(key.id)
        return Holder(key.scope, BotId(key.bot) if key.bot else None, key.owner or key.bot)

    def _guest(self, name: str) -> BotId:
        if not NAME.fullmatch(name):
            raise Refused("BAD_NAME", NAME_RULE)
        if is_reserved(name):
            raise Refused("NOT_YOURS", f"{name!r} is reserved")
        if not self.is_guest(name):
            raise Refused("NOT_YOURS", f"{name!r} is, or looks like, a name that has a key")
        known = self._guests.setdefault(skeleton(name), name)
        if known != name:
            raise Refused("NOT_YOURS", f"{name!r} looks like the guest {known!r}")
        return BotId(name)

    def bind_guest(self, token: str, *, here: bool) -> None:
        """Reserve a guest's name for the secret of its token, which `bot` has accepted.

        Raises `Refused` if the guest is already connected (`here`) with another secret or without one.
        """
        if not (self.guests and token.startswith(GUEST)):
            return
        name, secret = _name_and_secret(token)
        digest = hashlib.sha256(secret.encode()).digest()
        if here and self._guest_secrets.get(skeleton(name), digest) != digest:
            raise Refused("NOT_YOURS", f"the guest {name!r} is connected with another secret")
        self._guest_secrets[skeleton(name)] = digest

    def forget_guest(self, name: str) -> None:
        """Free a guest's name, also for names that look like it."""
        self._guest_secrets.pop(skeleton(name), None)
        if self._guests.get(skeleton(name)) == name:
            del self._guests[skeleton(name)]


def _name_and_secret(token: str) -> tuple[str, str]:
    """Return the name and the secret in a guest's token. Raises `Refused` if the secret is malformed."""
    name, _, secret = token.removeprefix(GUEST).partition(":")
    if not _SECRET.fullmatch(secret):
        raise Refused("BAD_NAME", "a guest's secret has at most 64 letters and digits")
    return name, secret


__all__ = [
    "GUEST",
    "KEY_ID_CHARS",
    "MARK",
    "NAME",
    "Holder",
    "Tokens",
    "key_id",
    "new_token",
    "token_sha256",
    "well_formed",
]
