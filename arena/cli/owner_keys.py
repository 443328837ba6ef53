"""The file of an owner's keys, one for each arena that one has registered at."""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click


@dataclass(frozen=True, slots=True)
class OwnerKey:
    """What one has registered as, at an arena."""

    address: str
    owner: str
    token: str


class KeyFile:
    """The file of an owner's keys: 0600, in a folder of one's own."""

    def __init__(self, folder: Path | None = None) -> None:
        """Without a folder it is `cardarena` in that of the user's configuration."""
        home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        self.path: Final = (folder or Path(home) / "cardarena") / "owner-keys.json"

    def all(self) -> list[OwnerKey]:
        """All keys, that of the arena registered at last first.

        Raises:
          click.ClickException: if the file cannot be read.
        """
        try:
            if self.path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise click.ClickException(
                    f"others can read {self.path}, which holds tokens: chmod 600 {self.path}"
                )
            held = json.loads(self.path.read_text("utf-8"))["keys"]
            return [OwnerKey(each["address"], each["owner"], each["token"]) for each in held]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise click.ClickException(f"cannot read {self.path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise click.ClickException(f"{self.path} is no file of keys: {error}") from error

    def keep(self, key: OwnerKey) -> None:
        """Keep a key, in the place of one of the same arena.

        Raises:
          click.ClickException: if the file cannot be written.
        """
        held = [key, *(each for each in self.all() if each.address != key.address)]
        rows = [
            {"address": each.address, "owner": each.owner, "token": each.token} for each in held
        ]
        partial = self.path.with_suffix(".partial")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial.unlink(missing_ok=True)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({"keys": rows}, file, indent=1)
            partial.replace(self.path)
        except OSError as error:
            text = f"cannot write {self.path}, so the token is lost: {error.strerror}"
            raise click.ClickException(text) from error


def owners_token(address: str) -> str:
    """The token that one has registered with at an arena; empty if none."""
    return next((each.token for each in KeyFile().all() if each.address == address), "")
