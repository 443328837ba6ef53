"""Pages of a long match: their cost for the server, their size, and their speed in a browser.

Two bots with random moves play a match of some three thousand steps, which the bounds are for. A match that is ten
times as long shows what grows with a match.
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.processes import Failed
from bench.web_process import WebProcess, web_of

GAME: Final = "jam"
SEATS: Final = 2
HANDS: Final = 18
"""About 3,130 decisions."""
TIMES: Final = 10
"""The length of the other match, as a multiple."""
BOT: Final = Path(__file__).parents[1] / "sample_bots" / "random_bot.py"
AGAIN: Final = 100
"""Requests of a cached page."""
EYES: Final = ("all", "spectator", "seat-0", "seat-1")
_STATIC: Final = re.compile(r'(?:href|src)="[./]*(static/[^"]+)"')
_STEPS: Final = """() => {
  const begin = performance.now(), max = Number(document.getElementById("slider").max);
  for (let step = 0; step < max; step += 1) document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  document.body.offsetHeight;
  return (performance.now() - begin) / max;
}"""
_PAINT: Final = """() => new Promise((done) => new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (each.name === "first-contentful-paint") done(each.startTime);
}).observe({ type: "paint", buffered: true }))"""


@dataclass(frozen=True, slots=True)
class Browsed:
    """The speed of a page in a browser."""

    paint_ms: float
    """Median time to the first contentful paint, in milliseconds."""
    step_ms: float
    """Mean time from one step to the next in a hand, in milliseconds."""
    requests: int


@dataclass(frozen=True, slots=True)
class Cost:
    """The costs of a match's pages."""

    steps: int
    """Steps of the match."""
    cold_ms: float
    """Processor time of its first page in a running worker."""
    next_hand_ms: float
    """Processor time of a page of another hand."""
    kept_ms: float
    """Processor time of a cached page."""
    largest_kb: float
    """Compressed size with style sheet and script."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The results."""

    cost: Cost
    """The match that the bounds are for."""
    longer: Cost | None
    """The match that is ten times as long; None in a quick run."""
    browsed: Browsed | None
    """None without Chromium or Playwright."""


def measure(*, quick: bool, progress: Callable[[str], None]) -> Pages:
    """Play the matches and measure their pages.

    Raises:
      Failed: if a process does not start.
    """
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder)
        progress("playing a short match")
        short = played(data, SEATS)
        progress("playing a long match")
        match = played(data, HANDS)
        if not quick:
            progress("playing a match ten times as long")
            longer = played(data, HANDS * TIMES)
        with web_of(data) as web:
            web.get(f"/m/{short}/all/1")  # the worker runs and has imported the rules
            progress("pages")
            cost = _cost(web, match, HANDS)
            of_longer = None if quick else _cost(web, longer, HANDS * TIMES)
            progress("browser")
            browsed = _browsed(f"{web.address}/m/{match}/all/1", 3 if quick else 15)
    return Pages(cost, of_longer, browsed)


def _cost(web: WebProcess, match: str, hands: int) -> Cost:
    cold_ms = _cpu_ms(web, [f"/m/{match}/all/1"])
    next_hand_ms = _cpu_ms(web, [f"/m/{match}/all/2"])
    kept_ms = _cpu_ms(web, [f"/m/{match}/all/1"] * AGAIN) / AGAIN
    shown = sorted({1, 2, hands // 2, hands})
    sizes = [_kb(web, f"/m/{match}/{eye}/{hand}") for eye in EYES for hand in shown]
    steps = json.loads(web.get(f"/m/{match}.json")[0])["decisions"]
    return Cost(steps, cold_ms, next_hand_ms, kept_ms, max(sizes))


def played(data: Path, hands: int) -> str:
    """Play a match of a number of hands, and return its id."""
    bots = [f"{name}={sys.executable} {BOT}" for name in ("ann", "bob")]
    command = [sys.executable, "-m", "arena", "play", GAME, *bots, "-o", f"hands={hands}"]
    ran = subprocess.run(
        [*command, "--seed", "bench", "--json", "--data", str(data)],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Failed(f"arena play fails: {ran.stderr.strip()}")
    return str(json.loads(ran.stdout)["match"])


def _cpu_ms(web: WebProcess, paths: list[str]) -> float:
    before_s = web.cpu_s
    for path in paths:
        web.get(path)
    return (web.cpu_s - before_s) * 1000


def _kb(web: WebProcess, path: str) -> float:
    """The compressed size of a page with all that it fetches."""
    page, size = web.get(path)
    return (size + sum(web.get(f"/{name}")[1] for name in _STATIC.findall(page.decode()))) / 1000


def _browsed(address: str, loads: int) -> Browsed | None:
    try:
        from playwright.sync_api import Error, Request, sync_playwright
    except ModuleNotFoundError:
        return None
    with sync_playwright() as tool:
        try:
            browser = tool.chromium.launch(executable_path="/usr/bin/chromium")
        except Error:
            return None
        paints, asked, step_ms = [], 0, 0.0
        for _ in range(loads + 1):
            context = browser.new_context()
            tab = context.new_page()
            requests: list[Request] = []
            tab.on("request", lambda each, seen=requests: seen.append(each))
            tab.goto(address)
            paints.append(float(tab.evaluate(_PAINT)))
            asked = len([each for each in requests if not each.url.endswith("/favicon.ico")])
            step_ms = float(tab.evaluate(_STEPS))
            context.close()
        browser.close()
    # The first load includes the start of the renderer.
    return Browsed(statistics.median(paints[1:]), step_ms, asked)
