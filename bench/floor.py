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
class Rates:
    """Round trips a second of one version on so many streams."""

    grpcio: str
    streams: int
    per_s: float
    """The median of the rounds."""
    ratio: float
    """The median of the rounds' ratios to the first version."""


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
) -> list[Rates]:
    """Measure the installed version, or those in these folders.

    A version that hangs, as some did, is left out where it does.
    """
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
    first = next(iter(versions))
    return [
        Rates(version, streams, *_summary(found[version, streams], found[first, streams]))
        for version in versions
        for streams in STREAMS
        if (version, streams) not in hangs and (first, streams) not in hangs
    ]


def _summary(per_s: list[float], first_per_s: list[float]) -> tuple[float, float]:
    ratios = (ours / theirs for ours, theirs in zip(per_s, first_per_s, strict=True))
    return statistics.median(per_s), statistics.median(ratios)
