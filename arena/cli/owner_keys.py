"""The file of an owner's keys, one for each arena where the owner has registered, and files of single tokens."""

import contextlib
import functools
import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class OwnerKey:
    """An owner's name and token at an arena."""

    address: str
    owner: str
    token: str


def token_option(command: F) -> F:
    """Add `--to FILE`; the command gets `keep`, which writes a token there, or None without a file."""

    @functools.wraps(command)
    def with_file(*, to: Path | None, **given: Any) -> Any:
        if to is None:
            return command(keep=None, **given)
        with _new_token_file(to) as keep:
            return command(keep=keep, **given)

    return click.option(
        "--to",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write the token into a new file that only you can read (0600), and do not print it.",
    )(with_file)  # type: ignore[return-value]


@contextlib.contextmanager
def _new_token_file(path: Path) -> Iterator[Callable[[str], object]]:
    """Make a file for a token before the token is made, because the token is shown only once.

    Raises `click.ClickException` if the file exists or cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        text = f"{path} exists: name another file, or remove it first"
        raise click.ClickException(text) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            yield lambda token: file.write(f"{token}\n")
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class KeyFile:
    """The file of an owner's keys, which only the owner can read (0600)."""

    def __init__(self, folder: Path | None = None) -> None:
        """By default the folder is `cardarena` in the folder of the user's configuration."""
        home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        self.path: Final = (folder or Path(home) / "cardarena") / "owner-keys.json"

    def all(self) -> list[OwnerKey]:
        """Return all keys, that of the latest registration first.

        Raises `click.ClickException` if the file cannot be read.
        """
        try:
            if self.path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise click.ClickException(
                    f"others can read {self.path}, which holds tokens: chmod 600 {self.path}"
                )
            rows = json.loads(self.path.read_text("utf-8"))["keys"]
            return [OwnerKey(row["address"], row["owner"], row["token"]) for row in rows]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise click.ClickException(f"cannot read {self.path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise click.ClickException(f"{self.path} is no file of keys: {error}") from error

    def token_at(self, address: str) -> str:
        """Return the owner's token at an arena; empty if there is none.

        Raises `click.ClickException` if the file cannot be read.
        """
        return next((key.token for key in self.all() if key.address == address), "")

    def keep(self, key: OwnerKey) -> None:
        """Write a key, which replaces one of the same arena.

        Raises `click.ClickException` if the file cannot be written.
        """
        rows = [key, *(other for other in self.all() if other.address != key.address)]
        partial = self.path.with_suffix(".partial")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial.unlink(missing_ok=True)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({"keys": [asdict(row) for row in rows]}, file, indent=1)
            partial.replace(self.path)
        except OSError as error:
            text = f"cannot write {self.path}, so the token is lost: {error.strerror}"
            raise click.ClickException(text) from error
