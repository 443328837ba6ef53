"""A person who has an invitation and a browser: registers, uploads a bot, and sees it qualify."""

import os
import re
import subprocess
import sys

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.bots.test_archive import zipped
from tests.cli.serving import served
from tests.web.chromium import Tab, follow

pytestmark = pytest.mark.slow

QUALIFIED_MS = 240_000
BARRIERS = (
    "axe.run().then(done => done.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target)))"
)
BOT = {
    "bot.toml": 'command = ["python", "bot.py"]\n[[games]]\nid = "sixty_six"\n',
    "bot.py": "import random\nimport cardarena\nfrom cardarena import sixty_six\n"
    "class Any(sixty_six.Bot):\n    def move(self, ask):\n        return random.choice(ask.moves)\n"
    "cardarena.run(Any)\n",
}


def arena(*arguments):
    command = [sys.executable, "-m", "arena", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the pages of an arena that runs, and a way to invite owners."""
    data = tmp_path_factory.mktemp("arena") / "data"
    organiser = arena("keys", "new", "organiser", "--owner", "olga", "--data", data)
    with served(data, "--web", "--web-port", "0", "--no-metrics") as (address, process):
        pages = re.search(r"http://[^/]+/", process.stdout.readline())[0]
        at = ("--server", address, "--token", organiser)
        yield pages, organiser, lambda name: arena("owners", "invite", name, *at)


def test_an_invitation_a_browser_and_a_zip_are_all_that_a_bot_needs(site, browser, tmp_path):
    pages, _, invite = site
    archive = zipped(tmp_path / "rosas.zip", BOT)
    with Tab(browser, java_script_enabled=False) as it:
        tab = it.tab
        tab.goto(f"{pages}me")
        assert tab.url.endswith("/signin?next=/me")
        tab.get_by_label("Code").fill(invite("rosa"))
        follow(tab, tab.get_by_role("button", name="Register"))
        key = re.search(r"arena_\w{49}", tab.inner_text("main"))[0]
        follow(tab, tab.get_by_role("link", name="I have kept it"))
        tab.get_by_label("Name of the bot").first.fill("rosas")
        tab.get_by_label("Zip of its folder").set_input_files(archive)
        follow(tab, tab.get_by_role("button", name="Submit"))
        assert tab.url.endswith("/me/bots/rosas/1")
        tab.wait_for_selector("text=Activate", timeout=QUALIFIED_MS)
        assert "rosas@1 is qualified" in tab.inner_text("main")
        assert "Sixty-Six, 2 seats: passed" in tab.inner_text("main")
        follow(tab, tab.get_by_role("button", name="Activate"))
        assert "rosas@1 is active" in tab.inner_text("main")
        tab.goto(f"{pages}me/keys")
        follow(tab, tab.get_by_role("button", name="Sign out"))
        tab.get_by_label("Key", exact=True).fill(key)
        follow(tab, tab.get_by_role("button", name="Sign in"))
        assert "rosas@1" in tab.inner_text("main")


OF_OWNERS = ("me", "me/keys", "me/compare", "me/bots/none")
OF_ORGANISERS = ("organise", "organise/competitions/autumn", "organise/owners", "me")
PLAN = (
    'name = "autumn"\nkind = "tournament"\nformat = "swiss"\ngame = "soko"\nseats = 2\nrounds = 3\n'
)


@pytest.mark.parametrize("look", [("light", 1280), ("dark", 390)], ids=["wide", "phone"])
def test_pages_of_forms_have_no_barrier_and_no_sideways_scroll(site, browser, look):
    pages, organiser, invite = site
    scheme, wide = look
    with Tab(
        browser, color_scheme=scheme, viewport={"width": wide, "height": 800}, bypass_csp=True
    ) as it:
        tab, found = it.tab, {}

        def looked_at(*paths):
            for path in paths:
                tab.goto(f"{pages}{path}")
                found[path] = barriers(tab)

        tab.goto(f"{pages}signin")
        tab.get_by_label("Code").fill("AAAA")
        follow(tab, tab.get_by_role("button", name="Register"))
        assert "Not done" in tab.inner_text("main")
        found["a refused form"] = barriers(tab)
        tab.get_by_label("Code").fill(invite(f"owner-{wide}"))
        follow(tab, tab.get_by_role("button", name="Register"))
        found["a secret"] = barriers(tab)
        looked_at("signin", *OF_OWNERS)
        tab.goto(f"{pages}signin")
        tab.get_by_label("Key", exact=True).fill(organiser)
        follow(tab, tab.get_by_role("button", name="Sign in"))
        tab.goto(f"{pages}organise")
        tab.get_by_label("Its plan").fill(PLAN)
        follow(tab, tab.get_by_role("button", name="Estimate"))
        found["an estimate"] = barriers(tab)
        follow(tab, tab.get_by_role("button", name="Create"))  # the second time it is refused
        looked_at(*OF_ORGANISERS)
        assert not any(found.values()), found


def barriers(tab):
    tab.add_script_tag(content=AXE_SCRIPT)
    found = tab.evaluate(BARRIERS)
    wide = tab.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["it scrolls sideways"] if wide else [])]
