"""The floor alone: the bare ping-pong, for choosing a version of grpcio.

A version is a folder made by `pip install --target FOLDER grpcio==VERSION`;
versions take turns, so that what else the machine does strikes all alike.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Final

from bench.processes import Failed, bare_side

STREAMS: Final = (1, 2, 64)
ASK_BYTES: Final = 300
ANSWER_BYTES: Final = 30


@dataclass(frozen=True, slots=True)
class Floor:
    """Round trips a second of one version; None where it hangs."""

    grpcio: str
    per_s: dict[int, float | None]
    """By the number of streams."""


def version_in(path: str | None) -> str:
    """The version of grpcio in a folder of packages, or of the installed one.

    Raises:
      Failed: if there is none.
    """
    if path is None:
        return metadata.version("grpcio")
    for found in metadata.distributions(name="grpcio", path=[path]):
        return found.version
    raise Failed(f"there is no grpcio in {path}")


def scan(
    paths: Sequence[str], rounds: int, seconds: float, progress: Callable[[str], None]
) -> list[Floor]:
    """Measure the installed version, or those in these folders."""
    versions = {version_in(path): path for path in paths} or {version_in(None): None}
    found: dict[tuple[str, int], list[float]] = {}
    hangs: set[tuple[str, int]] = set()
    for at in range(rounds):
        for streams in STREAMS:
            for version, path in versions.items():
                where = version, streams
                if where in hangs:
                    continue
                try:
                    with bare_side(streams, ASK_BYTES, ANSWER_BYTES, path) as side:
                        per_s = side.measure(seconds).per_s
                except Failed:
                    hangs.add(where)
                    continue
                found.setdefault(where, []).append(per_s)
                progress(f"grpcio {version}, {streams} streams, {at + 1}/{rounds}: {per_s:.0f}/s")
    return [
        Floor(
            version,
            {
                streams: None
                if (version, streams) in hangs
                else statistics.median(found[version, streams])
                for streams in STREAMS
            },
        )
        for version in versions
    ]
