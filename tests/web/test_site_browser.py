"""The site in a real browser: quiet consoles, no barrier that axe knows, keys, no scripts, a disk."""

import re
from pathlib import Path

import pytest

from arena.api.site_archive import SiteArchive
from arena.games.catalogue import GAMES
from arena.live.event_buffers import EventBuffer
from arena.pictures import Viewer
from arena.records.read import Replay
from arena.referee.events import OpenHands
from arena.referee.spec import Ending, SeatedBot
from arena.referee.terms import MatchTerms
from arena.web.addresses import slug
from arena.web.arena_source import NoArena, NotLive
from arena.web.site_export import ExportSelection, prepare
from cardarena.v1 import watch_pb2
from tests.pictures.matches import played
from tests.web import house
from tests.web.chromium import Tab, follow
from tests.web.looks import LOOKS, barriers
from tests.web.pages import page, write

pytestmark = pytest.mark.slow

PATHS = [
    "/", "/live", "/matches", "/competitions", "/standings/democracy", "/competitions/autumn", "/bots", "/bots/ann", "/games",
    "/games/klaberjass", "/fair", "/api", "/m/m1/all/1", "/m/m2/seat-1/1", "/m/live1/live", "/m/live1/live/seat-1",
    "/nothing",
]  # fmt: skip
MOST_REQUESTS = 5
"""The page, its sheet, two scripts and a feed; icons of the tab are Chromium's affair."""
"""The page, the sheet, what every page runs before it is drawn, and what this one runs."""


class Live:
    """A source with one match, which stands where `steps` frames were shown."""

    def __init__(self, steps=12, *, hands_open=False, match_id="live1"):
        self.match_id = match_id
        options, frames = played("klaberjass", 2)
        (game,) = [each for each in GAMES if each.id == "klaberjass"]
        self.feed = EventBuffer(match_id, hands_open=hands_open)
        terms = MatchTerms(game, options, 2)
        self.feed.opened(match_id, terms, [SeatedBot(house.HOSTILE), SeatedBot("bob")])
        self._frames = iter(frames)
        for _ in range(steps):
            self.show()

    def show(self):
        frame = next(self._frames)
        events = [told.event for told in frame.events if told.sent_to is None]
        hands = OpenHands(frame.events, frame.view)
        self.feed.stepped(
            frame.next_hand, events, lambda: frame.view(None), [60_000, 48_200], hands
        )

    async def watch(self, match_id, after):
        if match_id != self.match_id or self.over:
            raise NotLive("no such match")
        if self.away:
            raise NoArena("there is none")
        async for told in self.feed.follow(after):
            if self.away:
                raise NoArena("it has gone")
            yield told

    over = away = False

    async def live(self):
        if self.away:
            raise NoArena("there is none")
        if self.over:
            return watch_pb2.ListLiveResponse()
        live = watch_pb2.LiveMatch(
            match_id=self.match_id,
            game="klaberjass",
            bots=[house.HOSTILE, "bob"],
            hands_open=self.feed.hands_open,
        )
        return watch_pb2.ListLiveResponse(matches=[live])


@pytest.fixture(scope="module")
def folder(built):
    return built[0]


@pytest.fixture(scope="module")
def running(folder):
    sources = []

    def source():
        sources.append(Live(hands_open=True))
        return sources[-1]

    with house.Running(folder, source) as made:
        made.sources = sources
        yield made


TOPS = """() => [".brand", ".search", ".theme", ".end > a", ".top nav"]
  .map((part) => document.querySelector(part).getBoundingClientRect())
  .map((box) => Math.floor((box.top + box.bottom) / 60))"""
"""On which line of the header each part is."""


CUT_TABLES = """() => [...document.querySelectorAll(".sheet-wrap")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)"""
"""Tables of which the screen cuts columns off, on a desktop: they can be moved, but nobody sees that."""


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_no_barrier_and_a_quiet_console(looking, running, path):
    """Each scheme and each width is looked at by axe, no rule of which is off."""
    tab = looking.tab
    tab.goto(running.address + path)
    for scheme, width in LOOKS:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 800})
        assert barriers(tab) == []
        wide = tab.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{wide} wide at {width}"
        if width == LOOKS[0][1]:
            assert tab.evaluate(CUT_TABLES) == []
    expected = ["404"] if path == "/nothing" else []
    assert [each for each in looking.said if not any(one in each for one in expected)] == []


def test_the_header_of_a_phone_has_two_lines_and_a_field_for_searching(browser, running):
    with Tab(browser, viewport={"width": 390, "height": 800}) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/matches")
        tops = tab.evaluate(TOPS)
        assert len(set(tops)) == 2, tops
        assert tab.evaluate(
            "(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector('nav'))"
        )
        field = tab.get_by_role("searchbox")
        assert field.bounding_box()["width"] < 50
        field.focus()
        assert field.bounding_box()["width"] > 300
        field.fill("ann")
        with tab.expect_navigation(url="**/search.html?q=ann"):
            tab.keyboard.press("Enter")


CONTROLS = """() => [...document.querySelectorAll("#controls :is(input, a, button, select)")]
  .filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect())
  .map((box) => [Math.round((box.top + box.bottom) / 60), box.left, box.right])"""
"""On which line each control of a match is, and where it begins and ends."""


@pytest.mark.parametrize(("width", "most_lines"), [(390, 2), (320, 3)])
def test_the_controls_of_a_hand_fit_a_phone_also_with_a_fault(browser, tmp_path, width, most_lines):
    with Tab(browser, viewport={"width": width, "height": 800}) as opened:
        tab = opened.tab
        tab.goto(write(tmp_path, page("loo", 5, Viewer.ALL, hand=1)).as_uri())
        tab.evaluate("document.getElementById('fault').hidden = false")
        lines, begins, ends = zip(*tab.evaluate(CONTROLS), strict=True)
        assert len(set(lines)) <= most_lines, lines
        assert min(begins) >= 0
        assert max(ends) <= width


def test_axe_finds_what_is_planted(browser, running):
    """The control of the test above: a picture without words, and grey on grey."""
    with Tab(browser, bypass_csp=True) as opened:
        opened.tab.goto(f"{running.address}/bots")
        opened.tab.evaluate(
            "document.querySelector('main').insertAdjacentHTML('beforeend',"
            "'<img src=x><p style=\"color:#999;background:#888\">grey</p>')"
        )
        found = {rule for rule, _ in barriers(opened.tab)}
    assert {"image-alt", "color-contrast"} <= found


def test_a_table_that_is_cut_off_is_found(browser, running):
    with Tab(browser, bypass_csp=True, viewport={"width": 1280, "height": 800}) as opened:
        opened.tab.goto(f"{running.address}/bots")
        opened.tab.evaluate(
            "document.querySelector('td').textContent = 'a name without an end'.repeat(9).replaceAll(' ', '_')"
        )
        assert len(opened.tab.evaluate(CUT_TABLES)) == 1


@pytest.mark.parametrize("path", ["/", "/competitions/autumn", "/m/m1/all/1"])
def test_a_page_makes_few_requests_and_none_to_other_hosts(browser, running, path):
    with Tab(browser) as opened:
        opened.tab.goto(running.address + path)
        opened.tab.wait_for_load_state("networkidle")
        requests = [address for address in opened.asked if "/icon-" not in address]
    assert len(requests) <= MOST_REQUESTS
    assert all(address.startswith(running.address) for address in opened.asked)


def test_the_policy_stops_what_is_planted(browser, running):
    """The control of the quiet consoles: what the policy forbids is said there."""
    with Tab(browser) as opened:
        opened.tab.goto(f"{running.address}/bots")
        opened.tab.evaluate("document.body.setAttribute('style', 'color: red')")
        opened.tab.evaluate(
            "try { document.body.innerHTML = '<img src=x>'; } catch (error) { console.error(error.message); }"
        )
        assert any("TrustedHTML" in each for each in opened.said)
        assert opened.tab.locator("img").count() == 0


def test_without_scripts_there_is_a_picture_of_the_step_that_was_asked_for(browser, running):
    with Tab(browser, java_script_enabled=False) as opened:
        opened.tab.goto(f"{running.address}/m/m2/all/1?step=5")
        assert opened.tab.locator("#picture .card").count() > 5
        assert opened.tab.locator("#log [aria-current=step] a").inner_text() == "5"
        follow(opened.tab, opened.tab.locator("#log a", has_text=re.compile("^6$")))
        assert opened.tab.locator("#log [aria-current=step] a").inner_text() == "6"
        opened.tab.goto(f"{running.address}/m/live1/live")
        assert opened.tab.locator("#picture .card").count() > 5


def test_a_hand_is_walked_by_keys_alone(browser, running):
    with Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/m1/all/1")
        where = tab.locator("#where")
        assert where.inner_text().startswith("step 0 ")
        tab.keyboard.press("ArrowRight")
        tab.keyboard.press("ArrowRight")
        assert where.inner_text().startswith("step 2 ")
        tab.keyboard.press("ArrowLeft")
        assert where.inner_text().startswith("step 1 ")
        tab.keyboard.press("End")
        last = where.inner_text().split()[1]
        assert where.inner_text() == f"step {last} of {last}"
        tab.keyboard.press("PageDown")
        tab.wait_for_url("**/all/2.html*")
        tab.keyboard.press("s")
        tab.wait_for_url("**/spectator/2.html*")
        tab.keyboard.press("1")
        tab.wait_for_url("**/seat-1/2.html*")
        tab.keyboard.press("?")
        assert tab.locator("#help").is_visible()
        assert "PgUp" in tab.locator("#help").inner_text()
        tab.keyboard.press("Escape")
        assert not tab.locator("#help").is_visible()
        assert opened.said == []


def test_the_result_is_hidden_and_the_rules_are_one_click_away(browser, running):
    with Tab(browser, viewport={"width": 1280, "height": 800}) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/m1/all/1")
        assert "result:" not in tab.locator("main").inner_text()
        assert "Why did" not in tab.locator("main").inner_text()
        tab.locator("#of-result summary").click()
        assert "result:" in tab.locator("#result").inner_text()
        assert tab.get_by_role("table", name="Result by seat").is_visible()
        follow(tab, tab.get_by_role("link", name="verify its deals"))
        tab.locator("#facts", has_text="m1.replay").wait_for()
        follow(tab, tab.get_by_role("link", name="back to the match"))
        rules = tab.get_by_role("link", name="rules")
        assert rules.bounding_box()["y"] < 104
        follow(tab, rules)
        tab.wait_for_url("**/games/*.html#rules")
        assert tab.locator("#rules").inner_text() == "Rules"
        assert tab.locator("#rules").bounding_box()["y"] < 100
        assert opened.said == []


def test_keys_lead_around_where_no_hand_is_shown(browser, running):
    with Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/")
        tab.keyboard.press("?")
        assert tab.get_by_text("next fault").is_visible()
        tab.keyboard.press("Escape")
        assert not tab.get_by_text("next fault").is_visible()
        tab.keyboard.press("4")  # after Watch, Play and Competitions
        tab.wait_for_url("**/bots.html")
        tab.locator("#help summary").click()
        tab.locator("#keys").uncheck()
        tab.locator("#keys").blur()
        tab.keyboard.press("5")
        assert tab.url.endswith("/bots.html")
        assert opened.said == []


def test_the_live_list_follows(browser, folder):
    source = Live()
    with house.Running(folder, lambda: source) as running, Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/live")
        tab.locator("#list a", has_text="watch").first.wait_for()
        source.over = True
        tab.get_by_text("There are no matches in play").wait_for()
        assert opened.said == []


def test_keys_can_be_switched_off(browser, running):
    with Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/m1/all/1")
        tab.keyboard.press("?")
        tab.locator("#keys").uncheck()
        tab.locator("#keys").blur()
        tab.keyboard.press("ArrowRight")
        assert tab.locator("#where").inner_text().startswith("step 0 ")


def test_names_with_markup_are_text_everywhere(browser, running):
    with Tab(browser) as opened:
        for path in (
            "/bots",
            "/competitions/autumn",
            f"/bots/{slug(house.HOSTILE)}",
            "/live",
            "/m/live1/live",
        ):
            opened.tab.goto(running.address + path)
            assert opened.tab.locator("img").count() == 0
            assert house.HOSTILE in opened.tab.locator("main").inner_text()
        assert opened.said == []


def test_a_page_in_play_follows_and_says_when_it_is_over(browser, folder):
    sources = []

    def source():
        sources.append(Live())
        return sources[-1]

    with house.Running(folder, source) as running, Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/live1/live")
        tab.get_by_text("Live.", exact=True).wait_for()
        before = tab.locator("#log li").count()
        running.soon(sources[0].show)
        tab.locator("#log li").nth(before).wait_for(state="attached")
        assert opened.said == []


def test_pages_in_play_of_open_hands_lead_to_one_another_and_follow(browser, folder):
    sources = []

    def source():
        sources.append(Live(hands_open=True))
        return sources[-1]

    with house.Running(folder, source) as running, Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/live1/live")
        assert "Hands are open" in tab.locator(".heading").inner_text()
        hidden = tab.locator("#picture .card.back").count()
        for words, path in (("All hands", "live/all"), ("1 · bob", "live/seat-1")):
            follow(tab, tab.get_by_role("link", name=words))
            tab.wait_for_url(f"**/m/live1/{path}.html")
            tab.get_by_text("Live.", exact=True).wait_for()
            assert tab.locator(".choices [aria-current=page]").inner_text() == words
            assert tab.locator("#picture .card.back").count() < hidden
            before = tab.locator("#log li").count()
            running.soon(sources[0].show)
            tab.locator("#log li").nth(before).wait_for(state="attached")
            assert tab.locator("#picture .card.back").count() < hidden
        follow(tab, tab.get_by_role("link", name="Spectator"))
        tab.wait_for_url("**/m/live1/live.html")
        running.soon(lambda: sources[0].feed.closed(Ended()))
        tab.get_by_role("link", name="all steps, with all hands").wait_for()
        assert opened.said == []


def test_a_page_in_play_keeps_its_steps_and_becomes_the_replay(browser, folder):
    sources = []

    def source():
        sources.append(Live(match_id="m1"))
        return sources[-1]

    with house.Running(folder, source) as running, Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/m1/live")
        tab.get_by_text("Live.", exact=True).wait_for()
        at_end = "one => one.value === one.max && Number(one.min) < Number(one.max)"
        assert tab.locator("#slider").evaluate(at_end), "the only step is the last one"
        running.soon(sources[0].show)
        current = tab.locator("#log [aria-current=step]")
        newest = tab.locator("#log li").last
        tab.locator("#log li").nth(1).wait_for(state="attached")
        assert current.inner_text() == newest.inner_text(), "who looks at the newest step follows"
        tab.keyboard.press("Home")
        running.soon(sources[0].show)
        tab.locator("#log li").nth(2).wait_for(state="attached")
        assert current.inner_text() == tab.locator("#log li").first.inner_text(), "or stays"
        step = current.locator("a").inner_text()
        sources[0].over = True
        running.soon(lambda: sources[0].feed.closed(Ended()))
        tab.wait_for_url(f"**/m/m1/all/*?step={step}")
        assert tab.locator("#live").count() == 0
        brand = tab.locator(".brand").evaluate("link => link.href")
        assert brand.startswith(f"{running.address}/index"), "links around it lead where they led"
        assert tab.locator(".hands a").count() > 1
        tab.keyboard.press("ArrowRight")
        assert current.locator("a").inner_text() != step
        assert opened.said == []


class Ended:
    """As much of an outcome as spectators are told."""

    ending, scores = Ending.COMPLETED, (1, -1)


def test_the_running_clock_counts_down_without_requests(browser, folder):
    with house.Running(folder, Live) as running, Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/live1/live")
        tab.get_by_text("Live.", exact=True).wait_for()
        asked = len(opened.asked)
        shown = tab.locator("#clock").inner_text()
        assert re.search(r"Now to move: .+, (\d+\.\d\ss, then )?\d+\.\d\ss in the bank\.$", shown)
        tab.locator("#clock").filter(has_not_text=shown).wait_for()
        assert len(opened.asked) == asked
        assert tab.locator(".seat .clock").all_inner_texts() == ["48.2 s", "60.0 s"]


def test_a_live_page_reconnects_to_a_restarted_arena(browser, folder):
    sources = []

    def source():
        sources.append(Live())
        return sources[-1]

    def go():
        sources[0].away = True
        sources[0].show()

    with house.Running(folder, source) as running, Tab(browser) as opened:
        tab = opened.tab
        tab.goto(f"{running.address}/m/live1/live")
        tab.get_by_text("Live.", exact=True).wait_for()
        running.soon(go)
        tab.get_by_text("The arena does not answer; trying again.").wait_for()
        with Tab(browser) as other:
            other.tab.goto(f"{running.address}/live")
            other.tab.get_by_text("No arena answers").wait_for()
        sources[0].away = False
        tab.get_by_text("Live.", exact=True).wait_for()
        before = tab.locator("#log li").count()
        running.soon(sources[0].show)
        tab.locator("#log li").nth(before).wait_for(state="attached")


def test_an_export_opens_from_a_disk_without_a_network(browser, folder, tmp_path):
    prepare(folder, ExportSelection()).write(tmp_path / "site", workers=1)
    with Tab(browser, offline=True) as opened:
        tab = opened.tab
        tab.goto((tmp_path / "site" / "index.html").as_uri())
        follow(tab, tab.get_by_role("link", name="all matches", exact=True))
        follow(tab, tab.locator('a[href="m/m1.html"]'))
        tab.wait_for_selector("#picture .card")
        tab.keyboard.press("ArrowRight")
        assert tab.locator("#where").inner_text().startswith("step 1 ")
        tab.keyboard.press("PageDown")
        tab.wait_for_url("**/m1.html?*hand=2*")
        tab.wait_for_selector("#picture .card")
        tab.keyboard.press("1")
        tab.wait_for_url("**/m1.html?*viewer=seat-1*")
        tab.wait_for_selector("#picture .card")
        assert tab.locator(".choices [aria-current]").inner_text().startswith("1 · ")
        follow(tab, tab.get_by_role("link", name="Bots"))
        follow(tab, tab.get_by_role("link", name="ann"))
        assert tab.locator("h1").inner_text() == "Bot ann"
        assert all(each.startswith("file://") for each in opened.asked)
        assert opened.said == []
        tab.goto((tmp_path / "site" / "m" / "m1.html").as_uri())
        tab.wait_for_selector("#picture .card")
        assert barriers(tab) == []


STANDINGS = '<div data-standings="{}"><h2>Standings</h2><a href="../bots/ann.html">ann</a> {}</div>'


def test_a_broadcast_plays_by_itself_with_moving_standings_and_leads_to_the_next_match(
    browser, running, monkeypatch
):
    """Hand after hand, without a key, and then the newest match of its competition."""
    match, closed = SiteArchive.match, 0

    def in_autumn(archive, name):
        found = match(archive, name)
        found.competition = "autumn"
        return found

    monkeypatch.setattr(SiteArchive, "match", in_autumn)
    game = Replay.open(house.RECORDED / "fair.replay").opened.terms.game
    later = {"match": "m2", "competition": "autumn", "ended_unix_ms": house.AT * 2}
    other = {**later, "match": "m3", "competition": None}

    def competition(route):
        nonlocal closed
        closed += 1
        route.fulfill(content_type="text/html", body=STANDINGS.format(game, closed))

    ended = []
    with Tab(browser, viewport={"width": 1280, "height": 800}) as opened:
        tab = opened.tab
        tab.route("**/competitions/autumn.html", competition)
        tab.route("**/live.json", lambda route: route.fulfill(json={"ended": ended}))
        tab.clock.install(time=house.AT / 1000)
        tab.goto(f"{running.address}/m/m1.html?viewer=spectator&hand=1&play=1")
        assert tab.locator("#played").inner_text().startswith("Broadcast: played ")
        first = tab.locator("#where").inner_text()
        tab.clock.run_for(3_000)
        assert tab.locator("#where").inner_text() != first
        # The list has what was played, and not what comes.
        assert tab.locator("#log [aria-current] ~ li").count() > 0
        assert tab.locator("#log [aria-current] ~ li:visible").count() == 0
        tab.locator("#standings a").wait_for()
        assert (
            tab.locator("#standings a").get_attribute("href") == f"{running.address}/bots/ann.html"
        )
        before = tab.locator("#standings").inner_text()
        tab.clock.run_for(6_000)
        tab.wait_for_function(f"document.getElementById('standings').innerText !== {before!r}")
        tab.keyboard.press("End")
        tab.keyboard.press("ArrowLeft")
        tab.keyboard.press(" ")
        with tab.expect_navigation(url="**/spectator/2.html?*"):
            tab.clock.run_for(9_000)
        assert "play=1" in tab.url
        tab.goto(f"{running.address}/m/m1.html?viewer=spectator&hand=3&play=1")
        assert tab.locator("a[rel=next]").count() == 0
        ended.append(other)
        tab.keyboard.press("End")
        tab.keyboard.press("ArrowLeft")
        tab.keyboard.press(" ")
        tab.clock.run_for(9_000)
        tab.get_by_text("the next one begins when a deal-set has closed").wait_for()
        tab.clock.run_for(9_000)
        assert "/m/m1/" in tab.url  # a match of another competition does not follow
        ended.append(later)
        with tab.expect_navigation(url="**/m/m2/spectator/1.html?play=1"):
            tab.clock.run_for(9_000)
        assert opened.said == []


@pytest.mark.parametrize(("game_id", "seats"), [("pineapple", 6), ("arlington", 4), ("jam", 2)])
def test_no_table_is_wider_than_the_screen(browser, tmp_path, game_id, seats):
    file = write(tmp_path, page(game_id, seats, Viewer.ALL))
    with Tab(browser) as opened:
        opened.tab.goto(Path(file).as_uri())
        for width in (320, 360, 390, 1280, 1600, 1920):
            opened.tab.set_viewport_size({"width": width, "height": 844})
            assert opened.tab.evaluate("document.documentElement.scrollWidth") <= width
