"""A person who has an invitation and a browser, from the registration to a game against the bot that was uploaded."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.bots.test_archive import zipped
from tests.cli.serving import served
from tests.web.chromium import Tab, follow
from tests.web.test_seat_browser import play_on, pressed_by

pytestmark = pytest.mark.slow

QUALIFIED_MS = 240_000
RELOADS = 240
ASKED = "!document.body.innerText.includes('The bot thinks')"
"""Whether a table waits for the person, or is over."""
BARRIERS = (
    "axe.run().then(done => done.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target)))"
)
BOT = {
    "bot.toml": 'command = ["python", "bot.py"]\n[[games]]\nid = "klaberjass"\naccepts_humans = 2\n',
    "bot.py": Path("sample_bots/klaberjass.py").read_text("utf-8"),
}
LADDER = """
name = "evening"
kind = "ladder"
game = "klaberjass"
seats = 2
[options]
hands = 2
[bots]
anything = "house:random"
"""


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
        yield pages, organiser, lambda name: arena("owners", "invite", name, *at), data


def test_an_invitation_and_a_browser_are_all_that_a_person_needs(site, browser, tmp_path):
    """To submit a bot, see it win on a ladder, play against it, and show a friend the hand."""
    pages, _, invite, data = site
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
        assert "Klaberjass, 2 seats: passed" in tab.inner_text("main")
        follow(tab, tab.get_by_role("button", name="Activate"))
        assert "rosas@1 is active" in tab.inner_text("main")
        plan = tmp_path / "evening.toml"
        plan.write_text(LADDER)
        for words in (["new", plan, "--data", data], ["start", "evening", "--data", data]):
            arena("competition", *words)
        tab.goto(f"{pages}me/bots/rosas")
        follow(tab, tab.get_by_role("button", name="Enter evening"))
        tab.goto(f"{pages}competitions/evening")
        wait_until(tab, FIRST)
        arena("competition", "pause", "evening", "--data", data)
        tab.goto(f"{pages}me/keys")
        follow(tab, tab.get_by_role("button", name="Sign out"))
        tab.get_by_label("Key", exact=True).fill(key)
        follow(tab, tab.get_by_role("button", name="Sign in"))
        assert "rosas@1" in tab.inner_text("main")
    with Tab(browser, reduced_motion="reduce") as it:
        tab = it.tab
        tab.set_default_timeout(QUALIFIED_MS)
        tab.goto(f"{pages}play/?game=klaberjass")
        tab.get_by_role("radio", name="rosas").check()
        follow(tab, tab.get_by_role("button", name="Deal"))
        assert "/play/s/" in tab.url, tab.inner_text("main")
        press = pressed_by(tab)

        def press_and_wait(name, value):
            press(name, value)
            tab.wait_for_function(ASKED)

        tab.wait_for_function(ASKED)
        play_on(tab, random.Random(1), press_and_wait)
        follow(tab, tab.get_by_role("link", name="The match, with what each seat knew"))
        tab.wait_for_selector("#picture .felt")
        tab.keyboard.press("ArrowRight")
        tab.wait_for_url(re.compile(r"step=1$"))
        link = tab.url
        assert it.said == []
    with Tab(browser, reduced_motion="reduce") as friend:
        friend.tab.goto(link)
        friend.tab.wait_for_selector("#picture .felt")
        assert "rosas@1" in friend.tab.inner_text("main")
        assert friend.tab.get_by_label("step").first


FIRST = re.compile(r"^1\S*\s+rosas@1\b", re.MULTILINE)
"""The first row of standings."""


def wait_until(tab, shown):
    """Load a page again until it shows this."""
    for _ in range(RELOADS):
        if shown.search(tab.inner_text("main")):
            return
        tab.wait_for_timeout(1_000)
        tab.reload()
    raise AssertionError(tab.inner_text("main"))


def test_of_a_chosen_folder_only_what_is_submitted_is_sent(site, browser, tmp_path):
    pages, _, invite, _ = site
    folder = tmp_path / "my-bot"
    for name in (*BOT, ".git/HEAD", "node_modules/x/a.js", "env/pyvenv.cfg", "env/lib/a.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    with Tab(browser) as it:
        tab = it.tab
        tab.goto(f"{pages}signin")
        tab.get_by_label("Code").fill(invite("flora"))
        follow(tab, tab.get_by_role("button", name="Register"))
        tab.goto(f"{pages}me")
        tab.locator("#folder").set_input_files(folder)
        tab.get_by_text("2 files are sent; 4 are left out.").wait_for()
        names = (
            "Array.from(document.getElementById('folder').files, f => f.webkitRelativePath).sort()"
        )
        assert tab.evaluate(names) == ["my-bot/bot.py", "my-bot/bot.toml"]


OF_OWNERS = ("me", "me/keys", "me/compare", "me/bots/none")
OF_ORGANISERS = ("organise", "organise/competitions/autumn", "organise/owners", "me")
PLAN = 'name = "autumn"\nkind = "tournament"\nformat = "swiss"\ngame = "soko"\nseats = 2\ndeal_sets = 4\n'


@pytest.mark.parametrize("look", [("light", 1280), ("dark", 390)], ids=["wide", "phone"])
def test_pages_of_forms_have_no_barrier_and_no_sideways_scroll(site, browser, look):
    pages, organiser, invite, _ = site
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
        assert tab.inner_text("#code-error")
        found["a refused form"] = barriers(tab)
        tab.get_by_label("Code").fill(invite(f"owner-{wide}"))
        follow(tab, tab.get_by_role("button", name="Register"))
        found["a secret"] = barriers(tab)
        looked_at("signin", *OF_OWNERS)
        tab.goto(f"{pages}signin")
        tab.get_by_label("Key", exact=True).fill(organiser)
        follow(tab, tab.get_by_role("button", name="Sign in"))
        tab.goto(f"{pages}organise")
        tab.get_by_label("Name", exact=True).fill("Autumn")
        for heading in tab.locator("form details > summary").all():
            heading.click()
        follow(tab, tab.get_by_role("button", name="Estimate").first)
        assert tab.evaluate("document.activeElement.id") == "name"
        found["a refused plan"] = barriers(tab)
        tab.get_by_text("The plan as TOML").click()
        tab.get_by_label("Its plan").fill(PLAN)
        follow(tab, tab.get_by_role("button", name="Estimate").last)
        found["an estimate"] = barriers(tab)
        follow(tab, tab.get_by_role("button", name="Create").last)  # the second time it is refused
        looked_at(*OF_ORGANISERS)
        assert not any(found.values()), found


def barriers(tab):
    tab.add_script_tag(content=AXE_SCRIPT)
    found = tab.evaluate(BARRIERS)
    wide = tab.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["it scrolls sideways"] if wide else [])]
