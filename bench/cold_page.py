"""The processor time of the first page of a long match, by part.

`python -m bench.cold_page` plays the match of `bench.pages`, and makes its first page repeatedly in one process. It
prints the least time of each part, as other load only adds to it.
"""

import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from arena.replay.read import Replay
from arena.web.pages import finished_match as match_pages
from bench.pages import HANDS, SEATS, played

AGAIN: Final = 9

T = TypeVar("T")


def main() -> None:
    """Print the least time of each part, and of all."""
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder)
        short = played(data, SEATS)
        match = played(data, HANDS)
        # A running worker has imported the rules.
        match_pages.match_page(data / "replays" / f"{short}.replay", 0, "all", 1, "", "")
        path = data / "replays" / f"{match}.replay"
        times: dict[str, list[float]] = {}
        # Drawn hands are cached, so each time has another one.
        for hand in range(1, AGAIN + 1):
            replay = _timed(times, "read", partial(Replay.open, path))
            found = _timed(times, "prove", partial(match_pages.played_through, replay))
            for name, at in (("first page", hand), ("next page", hand + AGAIN)):
                _timed(times, name, partial(match_pages.hand_page, found, "all", at))
        parts = (times["read"], times["prove"], times["first page"])
        times["cold"] = [sum(each) for each in zip(*parts, strict=True)]
        for name, found_s in times.items():
            least_ms, median_ms = min(found_s) * 1000, statistics.median(found_s) * 1000
            print(f"{name:<12} {least_ms:6.0f} ms, median {median_ms:6.0f} ms")


def _timed(times: dict[str, list[float]], name: str, make: Callable[[], T]) -> T:
    gc.collect()
    begin_s = time.process_time()
    made = make()
    times.setdefault(name, []).append(time.process_time() - begin_s)
    return made


if __name__ == "__main__":
    main()
