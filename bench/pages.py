"""Pages of a long match: what they cost the server, how big they are, and how a browser takes them.

The match is played for it, by two bots that draw their moves: some three thousand steps, of which the
bounds speak. Another, ten times as long, tells what grows with a match.
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
"""Some 3,130 decisions."""
TIMES: Final = 10
"""How much longer the other match is."""
BOT: Final = Path(__file__).parents[1] / "sample_bots" / "random_bot.py"
AGAIN: Final = 100
"""Requests of a page that is kept."""
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
    """How a browser takes a page."""

    paint_ms: float
    """Median time to the first contentful paint."""
    step_ms: float
    """From one step to the next, mean over a hand."""
    requests: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What the pages of a match cost."""

    steps: int
    """Of the match."""
    cold_ms: float
    """Processor time of its first page, its worker being up."""
    next_hand_ms: float
    """Processor time of a page of another hand."""
    kept_ms: float
    """Processor time of a page that is kept."""
    largest_kb: float
    """Compressed, with style sheet and script."""


@dataclass(frozen=True, slots=True)
class Pages:
    """What was found."""

    cost: Cost
    """Of the match that the bounds speak of."""
    longer: Cost | None
    """Of the one that is ten times as long; None in a quick run."""
    browsed: Browsed | None
    """None where there is no Chromium, or no Playwright."""


def measure(*, quick: bool, progress: Callable[[str], None]) -> Pages:
    """Play the matches, and look at their pages.

    Raises:
      Failed: if something does not come up.
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
            web.get(f"/m/{short}/all/1")  # the worker is up, and has the rules
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
    """The id of a match of so many hands."""
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
    """A page with all that it fetches, compressed."""
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
    # The first load is of a browser that has drawn nothing yet.
    return Browsed(statistics.median(paints[1:]), step_ms, asked)
