"""What tests of pages share: a browser, and a folder of matches."""

import pytest
from playwright.sync_api import sync_playwright

from tests.programs import require
from tests.web import chromium, house


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium without a window.

    Of a module, not of all: while it stands nothing else can run a loop of asyncio.
    """
    require("chromium")
    with sync_playwright() as tool:
        made = tool.chromium.launch(executable_path=chromium.PATH)
        yield made
        made.close()


@pytest.fixture(scope="module")
def tab_of_all(browser):
    with chromium.Tab(browser) as opened:
        yield opened


@pytest.fixture
def looking(tab_of_all):
    """A tab for tests that change nothing in the browser: to open one takes longer than to look at a page."""
    tab_of_all.said.clear()
    yield tab_of_all
    tab_of_all.tab.goto("about:blank")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A folder as an arena leaves it, and its replays by what they are. Nobody changes it."""
    folder = tmp_path_factory.mktemp("house") / "data"
    return folder, house.build(folder)
