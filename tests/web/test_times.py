"""How long a browser takes from one step to the next."""

import pytest

from arena.pictures import Viewer
from tests.web.chromium import Tab
from tests.web.pages import page, write

pytestmark = pytest.mark.slow

STEP_MS = 30
ALL_STEPS = """() => {
  const begin = performance.now(), max = Number(document.getElementById("slider").max);
  for (let step = 0; step < max; step += 1) document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  document.body.offsetHeight;
  return (performance.now() - begin) / max;
}"""


def test_a_step_is_drawn_quickly(browser, tmp_path):
    """Over all of a hand of Jam, which is long, in the browser itself."""
    with Tab(browser) as opened:
        opened.tab.goto(write(tmp_path, page("jam", 2, Viewer.ALL)).as_uri())
        assert opened.tab.evaluate(ALL_STEPS) <= STEP_MS
