"""The runtimes of submitted bots on this machine: listed, built and removed."""

from collections.abc import Sequence
from pathlib import Path

from arena.bots.built_runtimes import BuiltRuntime, BuiltRuntimes
from arena.bots.runtime_build import BuildProgress, NotBuilt, build
from arena.bots.runtime_file import HASH_CHARS, BadRuntime, is_name
from arena.bots.runtimes import Runtime, runtimes
from arena.store import StoreError, is_there, open_store
from arena.store.data_folder import store_path


def machine_runtimes(data: Path) -> tuple[Sequence[Runtime], Sequence[BuiltRuntime]]:
    """Return the runtimes of this machine, installed or not, and those that were built in a folder."""
    return runtimes(), BuiltRuntimes(data).all()


def build_runtime(
    file: Path, data: Path, progress: BuildProgress, *, found_in: Path | None
) -> tuple[BuiltRuntime, bool]:
    """Build the runtime that a file describes.

    Args:
      found_in: A folder that has all wheels; None for the network.

    Returns:
      The runtime, and whether it is new.

    Raises `NotBuilt` if it cannot be built; the text names the file and the reason.
    """
    try:
        return build(file, data.absolute(), progress, found_in=found_in)
    except BadRuntime as error:
        lines = "".join(f"\n  {problem}" for problem in error.problems)
        raise NotBuilt(f"{file} cannot be built:{lines}") from error
    except NotBuilt as error:
        raise NotBuilt(f"{file} is not built: {error}") from error
    except OSError as error:
        raise NotBuilt(f"{file} is not built: {error.strerror or error}") from error


def remove_runtime(name: str, data: Path) -> tuple[list[BuiltRuntime], list[str]]:
    """Remove a built runtime, so that no new version can be submitted for it.

    Returns:
      The builds that stay on the disk, and the versions that need them.

    Raises `StoreError` if there is none of this name, or the store fails, and `OSError` if it cannot be removed.
    """
    built = BuiltRuntimes(data)
    if not is_name(name) or built.named(name) is None:
        known = ", ".join(runtime.name for runtime in built.all())
        hint = f"; there is {known}" if known else ""
        raise StoreError(f"there is no runtime {name!r} that was built{hint}")
    with built.changing():
        needed = _versions_by_runtime(data)
        kept = built.remove(name, needed)
    return kept, [version for runtime in kept for version in needed[runtime.sha256]]


def _versions_by_runtime(data: Path) -> dict[str, list[str]]:
    path = store_path(data)
    if not is_there(path):
        return {}
    with open_store(path) as store:
        return {
            sha256: list(map(str, versions))
            for sha256, versions in store.registry().run_by().items()
        }


__all__ = [
    "HASH_CHARS",
    "BuildProgress",
    "BuiltRuntime",
    "NotBuilt",
    "Runtime",
    "build_runtime",
    "machine_runtimes",
    "remove_runtime",
]
