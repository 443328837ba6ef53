"""The desk: takes in what an owner submits, or says all that is wrong with it.

Calls block for as long as the disk takes; the services make them on other threads.
"""

import os
import secrets
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from arena.competition.archive import read_archive
from arena.competition.manifest import read_manifest
from arena.competition.wheels import read_wheels, require_fitting
from arena.server.gate.tokens import key_id, new_token, token_sha256
from arena.server.submissions.built_runtimes import BuiltRuntimes
from arena.server.submissions.installed import INSTALLED, clear
from arena.server.submissions.runtimes import offered
from arena.store import Blobs, Bot, Key, Keys, Registry, Scope, StoreError, Version
from arena.store.keys import KeyIdTaken

MAX_TOKENS: Final = 20
"""Of one bot that are valid at a time."""
_CODE_SIGNS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no 0, O, 1 and I, which are read wrongly
_CODE_GROUPS: Final = 3
_GROUP_SIGNS: Final = 4  # 32 ** 12 = 2 ** 60: nobody guesses it by asking


class TooManyTokens(StoreError):
    """The bot has as many tokens as one may have."""


class NotRemote(StoreError):
    """The bot is uploaded: it is started by the arena, and needs no token."""


def new_code() -> str:
    """The code of an invitation, as people read it out to each other."""
    groups = ("".join(secrets.choice(_CODE_SIGNS) for _ in range(_GROUP_SIGNS)) for _ in "123")
    return "-".join(groups)


def as_code(said: str) -> str:
    """A code as it was given out, however it was typed."""
    signs = "".join(each for each in said.upper() if each.isalnum())
    return "-".join(signs[at : at + _GROUP_SIGNS] for at in range(0, len(signs), _GROUP_SIGNS))


class Desk:
    """Takes in owners, tokens and versions."""

    def __init__(
        self, data: Path, registry: Registry, keys: Keys, now: Callable[[], datetime]
    ) -> None:
        """`now` gives the time in UTC."""
        self.registry: Final = registry
        self.blobs: Final = Blobs(data)
        self.runtimes: Final = BuiltRuntimes(data)
        self.data: Final = data
        self._keys = keys
        self._now = now

    @property
    def now(self) -> datetime:
        """The time in UTC."""
        return self._now()

    def invite(self, owner: str, invited_by: str) -> str:
        """A code with which somebody may register as `owner`: see `Registry.invite`."""
        code = new_code()
        self.registry.invite(code, owner, invited_by=invited_by, now=self.now)
        return code

    def register(self, code: str) -> tuple[str, str]:
        """The name and the token of who has that code: see `Registry.register`."""
        while True:
            token, now = new_token(), self.now.replace(microsecond=0)

            def key(owner: str, token: str = token, now: datetime = now) -> Key:
                return Key(key_id(token), token_sha256(token), Scope.OWNER, owner, "", now)

            try:
                return self.registry.register(as_code(code), key, now=now).name, token
            except KeyIdTaken:
                continue  # once in 218 million million

    def token(self, bot: Bot) -> str:
        """A new token for a remote bot.

        Raises:
          NotRemote, TooManyTokens, StoreError: if there is none to be had.
        """
        if bot.kind != "remote":
            raise NotRemote(f"{bot.name} is uploaded: the arena starts it, and it needs no token")
        self.registry.require_welcome(bot.owner)
        now = self.now.replace(microsecond=0)
        held = [
            key
            for key in self._keys.all()
            if key.bot == bot.name
            and key.revoked is None
            and (key.expires is None or key.expires > now)
        ]
        if len(held) >= MAX_TOKENS:
            raise TooManyTokens(f"{bot.name} has {MAX_TOKENS} tokens, which is the most")
        while True:
            token = new_token()
            digest = token_sha256(token)
            try:
                self._keys.add(Key(key_id(token), digest, Scope.BOT, bot.owner, bot.name, now))
            except KeyIdTaken:
                continue
            return token

    # Versions.

    def clear(self) -> None:
        """Remove what was left of uploads, and of wheels, that an earlier process did not end."""
        shutil.rmtree(self._uploads, ignore_errors=True)
        clear(self.data / INSTALLED)

    def begin(self) -> Path:
        """A new file that only this process may read, for an archive that is coming."""
        self._uploads.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._uploads / secrets.token_hex(8)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return path

    def submit(self, bot: str, path: Path) -> Version:
        """Take in the archive at `path` as a version of a bot. Made by one thread at a time.

        Raises:
          BadArchive, BadManifest: with all that is wrong with it.
          StoreError: as `Registry.submit` says.
        """
        archive = read_archive(path)
        built = {each.name: each for each in self.runtimes.all() if not each.lacks}
        manifest = read_manifest(archive.manifest, archive.paths, offered(), built)
        if manifest.runs_python:
            require_fitting(read_wheels(archive))
        sha256, new = self.blobs.keep(archive)
        try:
            return self.registry.submit(
                bot,
                sha256=sha256,
                manifest=manifest.as_json(),
                # What is built under the name later is not its own.
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
