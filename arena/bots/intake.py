"""The submission intake: checks and stores submitted versions, and makes invitations and tokens.

Calls block while they access the disk; the services make them on other threads.
"""

import os
import secrets
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs
from arena.bots.built_runtimes import BuiltRuntimes
from arena.bots.installed_wheels import INSTALLED, clear
from arena.bots.issued_keys import issue
from arena.bots.manifest import read_manifest
from arena.bots.runtimes import offered
from arena.bots.tokens import key_id, new_token, token_sha256
from arena.bots.wheels import read_wheels, require_fitting
from arena.errors import RefusalError
from arena.store import Bot, Key, Keys, Registry, Scope, StoreError, Version
from arena.store.keys import KeyIdTaken
from arena.store.registry import INVITED_FOR

MAX_TOKENS: Final = 20
"""The maximal number of valid tokens of one bot."""
_CODE_SIGNS: Final = (
    "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # without 0, O, 1 and I, which are easily confused
)
_CODE_GROUPS: Final = 3
_GROUP_SIGNS: Final = 4  # 32 ** 12 = 2 ** 60, which cannot be guessed by calls


class TooManyTokens(RefusalError, StoreError, reason="TOO_MANY_TOKENS"):
    """The bot has as many tokens as are allowed."""


class NotRemote(RefusalError, StoreError, reason="NOT_REMOTE"):
    """The bot is uploaded: the arena starts it, and it needs no token."""


def new_code() -> str:
    """Return a new code of an invitation, which people can read out."""
    groups = (
        "".join(secrets.choice(_CODE_SIGNS) for _ in range(_GROUP_SIGNS))
        for _ in range(_CODE_GROUPS)
    )
    return "-".join(groups)


def as_code(typed: str) -> str:
    """Return the canonical form of a typed code."""
    signs = "".join(sign for sign in typed.upper() if sign.isalnum())
    return "-".join(signs[at : at + _GROUP_SIGNS] for at in range(0, len(signs), _GROUP_SIGNS))


class SubmissionIntake:
    """Registers owners, and checks and stores versions."""

    def __init__(
        self, data: Path, registry: Registry, keys: Keys, now: Callable[[], datetime]
    ) -> None:
        self.registry: Final = registry
        self.blobs: Final = Blobs(data)
        self.runtimes: Final = BuiltRuntimes(data)
        self.data: Final = data
        self._keys = keys
        self._now = now

    @property
    def now(self) -> datetime:
        return self._now()

    def invite(self, owner: str, invited_by: str, lifetime: timedelta = INVITED_FOR) -> str:
        """Make the code of an invitation for an owner: see `Registry.invite`."""
        code = new_code()
        self.registry.invite(code, owner, invited_by=invited_by, now=self.now, lifetime=lifetime)
        return code

    def register(self, code: str) -> tuple[str, str]:
        """Register the owner with this code; return the name and a token: see `Registry.register`."""
        while True:
            token, now = new_token(), self.now.replace(microsecond=0)

            def key(owner: str, token: str = token, now: datetime = now) -> Key:
                return Key(key_id(token), token_sha256(token), Scope.OWNER, owner, "", now)

            try:
                return self.registry.register(as_code(code), key, now=now).name, token
            except KeyIdTaken:
                continue  # with a probability of 1 in 2e14

    def token(self, bot: Bot) -> str:
        """Return a new token for a remote bot.

        Raises `NotRemote`, `TooManyTokens` or `StoreError` if the bot cannot have another token.
        """
        if bot.kind != "remote":
            raise NotRemote(bot.name)
        self.registry.require_welcome(bot.owner)
        now = self.now.replace(microsecond=0)
        valid = [
            key
            for key in self._keys.all()
            if key.bot == bot.name
            and key.revoked is None
            and (key.expires is None or key.expires > now)
        ]
        if len(valid) >= MAX_TOKENS:
            raise TooManyTokens(f"{bot.name} has {MAX_TOKENS}")
        _, token = issue(self._keys, Scope.BOT, bot.owner, bot.name, now=now)
        return token

    # Versions.

    def clear(self) -> None:
        """Remove unfinished uploads, unpacked files and installations of earlier processes."""
        shutil.rmtree(self._uploads, ignore_errors=True)
        clear(self.data / INSTALLED)
        self.blobs.clear()

    def begin(self) -> Path:
        """Make a new file for an upload, which only this user may read."""
        self._uploads.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._uploads / secrets.token_hex(8)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return path

    def submit(self, bot: str, path: Path) -> Version:
        """Store the archive at `path` as a version of a bot. Only one thread may call this at a time.

        Raises:
          BadArchive, BadManifest: with all errors of the archive.
          StoreError: as in `Registry.submit`.
        """
        archive = read_archive(path)
        built = {runtime.name: runtime for runtime in self.runtimes.all() if not runtime.lacks}
        manifest = read_manifest(archive.manifest, archive.paths, offered(), built)
        if manifest.runs_python:
            require_fitting(read_wheels(archive))
        sha256, new = self.blobs.keep(archive)
        try:
            return self.registry.submit(
                bot,
                sha256=sha256,
                manifest=manifest.as_json(),
                # The version keeps this runtime when the name gets a newer one.
                runtime_sha256=built[manifest.runtime].sha256 if manifest.is_built else "",
                now=self.now,
            )
        except BaseException:
            if new:
                self.blobs.forget(sha256)
            raise

    @property
    def _uploads(self) -> Path:
        return self.data / "uploads"
