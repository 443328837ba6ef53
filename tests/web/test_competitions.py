"""Competitions' pages: standings of every format, who met whom, and what is official."""

import contextlib
import copy
import itertools
import shutil
from concurrent.futures import Future
from dataclasses import replace

import pytest

from arena.api.public_competition import waiting
from arena.api.site_archive import SiteArchive
from arena.app.standings_file import NotVerified, verify
from arena.referee.wire.enums import word_of
from arena.results.states import Action
from arena.store import open_store
from arena.web.addresses import Links
from arena.web.pages import competition as competition_pages
from arena.web.pages import lists as list_pages
from arena.web.pages.counted import first_rows, place_ranges, standings_rows
from arena.web.rendering import fraction
from arena.web.site_export import ExportSelection, prepare
from tests.web import competitions, house
from tests.web.asking import site, text_of
from tests.web.chromium import Tab
from tests.web.pages import as_exported
from tests.web.test_site import crawl
from tests.web.test_site_browser import CUT_TABLES, LOOKS, barriers


@pytest.fixture(scope="module")
def folder(built, tmp_path_factory):
    """The folder of other tests, with competitions of every format."""
    made = tmp_path_factory.mktemp("competitions") / "data"
    shutil.copytree(built[0], made)
    with open_store(made / "arena.db") as store:
        competitions.build(store)
        assert store.violations() == ()
    return made


@pytest.fixture(scope="module")
def client(folder):
    with site(folder) as (made, _):
        yield made


# fmt: off
SHOWN = [
    # competition        what its page says                       why
    ("swiss",            "Swiss, finished. These standings are official : number 1 , signed", "it is finished"),
    ("swiss",            "ann won 8 bots",                        "its head says who won, not who leads"),
    ("swiss-running",    "ann leads 7 bots",                      "its head says who leads"),
    ("swiss",            "1 ann 5 +2 +4 +3 +7 +5",                "the cross-table of a winner"),
    ("swiss",            "3–4 cid 3",                             "equal points share a place"),
    ("swiss",            "Prizes of shared places: cid , then dan", "tie-breaks order prizes"),
    ("swiss-running",    "These standings are live",              "it runs"),
    ("swiss-running",    "eve 3 bye +6",                          "a bye in the cross-table"),
    ("swiss-running",    "gus : disqualified (played two accounts)", "who is out, and why"),
    ("swiss-of-four",    "1 ann 15 3 (2 3 6)",                    "points and others at larger tables"),
    ("swiss-of-four",    "Official standings: number 1",          "standings that were frozen meanwhile"),
    ("knockout",         "3–4 bob b. out in semi-finals, on points", "losers of a stage share a place"),
    ("knockout",         "final cid −2.8 ann +2.8 on points, 10 deal-sets", "the final, and how it was decided"),
    ("knockout",         "quarter-finals dan bye cid",            "a bye in the bracket"),
    ("double",           "Losers' bracket losers' round 1",       "the second bracket"),
    ("double",           "Grand final ann +1.2 bob b. −1.2",    "the last game of two brackets"),
    ("knockout-of-four", "final ann +3.0 bob b. +1.3 cid +0.3 fay −4.6", "a table of four, best first"),
    ("groups",           "Groups group 1 bob b. 6 cid 4",        "a group's table"),
    ("groups",           "Finals ann 6",                          "the finals"),
    ("groups",           "5–6 dan 2 place 3 of group 1",            "equal places of groups are shared"),
    ("gauntlet",         "ann, the challenger, against each ann beat bob b. ", "what a gauntlet is about"),
    ("gauntlet",         "rank bot skill, points a match",        "formats without rounds go by skill"),
    ("summer",           "Ladder, running, season 2026",          "a ladder"),
    ("summer",           "44 of 45 deal-sets closed",             "only closed deal-sets count"),
    ("two-games",        "Over all games bot mean of the games Sixty-Six Democracy", "several games"),
    ("autumn",           "Round robin, running",                  "a tournament of `arena tournament`"),
]
# fmt: on


@pytest.mark.parametrize(
    ("name", "shown"), [row[:2] for row in SHOWN], ids=[f"{row[0]}: {row[2]}" for row in SHOWN]
)
def test_a_page_shows_its_formats_standings(client, name, shown):
    assert shown in text_of(client, f"/competitions/{name}")


LATER = competitions.LADDER.replace("season", 'opens = "2026-12-05T18:00Z"\nseason')


def test_bots_are_ranked_across_all_games(client):
    made = client.get("/overall.json").json()
    assert set(made["games"]) > {"sixty_six"}
    both = made["rows"], made["without_place"]
    for row in itertools.chain(*both):
        assert row["games"] == len(row["by_game"]) <= len(made["games"])
    for rows in both:
        assert rows == sorted(rows, key=lambda row: -row["score"])
    shown = text_of(client, "/overall")
    assert f"{len(made['without_place'])} bots without a place" in shown
    first = (made["rows"] or made["without_place"])[0]
    assert f"{first['games']} of {len(made['games'])}" in shown


def test_competitions_are_listed_by_game_with_their_ends(client):
    listed = text_of(client, "/competitions?game=democracy")
    assert "two-games round robin ended " in listed
    assert "swiss-running" not in listed
    assert "swiss-running" in text_of(client, "/competitions")
    assert "No competition of Loo has been held here." in text_of(client, "/competitions?game=loo")


def shown_with(folder, name, change):
    """The text of a competition's page whose view and pictures of its first game were changed."""
    with contextlib.closing(SiteArchive(folder)) as archive:
        page = competition_pages.competition(archive, name)
    change(page.view["games"][0], page.pictures["pictures"][0])
    return page.html(Links(f"competitions/{name}"))


def test_a_newcomer_is_told_why_it_has_no_rank(folder):
    def change(_, evidence):
        evidence["tiers"][-1][1][-1].update(place="", note="")

    assert "not ranked: no deal-set of it has closed" in shown_with(folder, "summer", change)


@pytest.mark.parametrize(("deal_sets", "lines"), [(0, 0), (1, 0), (2, 4)])
def test_a_bot_has_a_line_from_its_second_deal_set_on(folder, monkeypatch, deal_sets, lines):
    """A ladder of newcomers has a page before there is anything to draw."""
    with contextlib.closing(SiteArchive(folder)) as archive:
        ladder = archive.competition("summer")
        (game,) = ladder.games
        margins = {pair: values[:deal_sets] for pair, values in game.margins.items()}
        begun = replace(ladder, games=(replace(game, margins=margins),))
        monkeypatch.setattr(archive, "competition", lambda _: begun)
        page = competition_pages.competition(archive, "summer")
    assert page.html(Links("competitions/summer")).count('class="spark"') == lines


@pytest.mark.parametrize(
    ("waiting", "words"), [(0, ""), (1, "1 of the open ones waits"), (7, "7 of the open ones wait")]
)
def test_open_deal_sets_with_a_played_table_wait_for_the_next(folder, waiting, words):
    shown = shown_with(folder, "summer", lambda _, evidence: evidence.update(waiting=waiting))
    assert (f"closed; {words} for their next table." if words else "closed. A ladder") in shown


@pytest.mark.parametrize(("ended", "number"), [(0, 0), (1, 1), (2, 0)])
def test_a_deal_set_waits_from_its_first_result_until_its_last(ended, number):
    drawn = competitions.planned(1, competitions.BOTS[:2], "s", "summer")
    matches = drawn.matches[:ended]
    outcomes = {match.id: competitions.outcome(match, competitions.SKILLS) for match in matches}
    assert waiting([drawn], outcomes) == number


def test_paused_competitions_that_played_nothing_are_folded(folder):
    with contextlib.closing(SiteArchive(folder)) as archive:
        page = list_pages.competitions(archive)
    row = page.pictures["parts_of"][0][1][0]
    rows = []
    for closed in (0, 2, 0):
        info = copy.copy(row["competition"])
        info.name = f"cup-{closed}"
        rows.append({**row, "competition": info, "closed": closed})
    page.pictures["parts_of"][:] = [("Paused", rows)]
    shown = page.html(Links("competitions"))
    assert shown.count("cup-0") > shown.partition("<summary>")[0].count("cup-0") == 0
    assert "<summary>2 without a closed deal-set</summary>" in shown


@pytest.mark.parametrize("is_over", [False, True], ids=["running", "finished"])
def test_a_finished_competition_promises_no_further_deal_sets(folder, is_over):
    def change(game, evidence):
        game["needed"], evidence["over"] = 2, is_over

    shown = shown_with(folder, "gauntlet", change)
    assert "No two bots can be told apart" in shown
    assert ("about 2 deal-sets more" in shown) != is_over


def test_a_draft_hides_no_standings_and_is_told_as_one(folder):
    """It is the newest of its game, and has the bots of others."""
    plan = LATER.replace("summer", "later")
    with open_store(folder / "arena.db") as store:
        service = competitions.Organiser(store).service
        service.create(plan, who="org", bots=competitions.entries(["ann", "cid"]))
    with site(folder) as (client, _):
        assert "of summer ." in text_of(client, "/standings/sixty_six")
        assert "From summer ." in text_of(client, "/games/sixty_six")
        listed = client.get("/bots.json").json()["bots"]
        ann = next(row for row in listed if row["bot"] == "ann")
        assert ann["best"]["competition"] != "later"
        assert "place 2 of 4" in client.get("/badges/cid/sixty_six.svg").text
        listed = text_of(client, "/competitions")
        assert "later ladder opens 2026-12-05 18:00 UTC Sixty-Six for 2" in listed
        page = text_of(client, "/competitions/later")
        assert "Opens 2026-12-05 18:00 UTC" in page
        assert "arena competition enter later BOT" in page
        for words in ("live", "cannot be told apart", "still in", "Prizes", "deal-sets closed"):
            assert words not in page, words
    with open_store(folder / "arena.db") as store:
        competitions.Organiser(store).service.delete("later", who="org")


def test_organisers_alone_have_pages_about_collusion(client, folder):
    assert client.get("/competitions/gauntlet.collusion").status_code == 404
    with site(folder, organiser=True) as (other, _):
        text = text_of(other, "/competitions/two-games.collusion")
    assert "approximate, and for people to judge" in text
    assert "first gains from second" in text


def test_a_row_of_a_ladder_has_whom_it_met(client):
    shown = text_of(client, "/competitions/summer")
    assert "29 2 of 3" in shown
    assert "ann not ranked: met 40% of its opponents' play 14 1 of 3" in shown


def test_a_skill_is_no_ranking_where_points_or_brackets_are(client):
    for name in ("swiss", "knockout", "groups"):
        assert "Tier 1" not in text_of(client, f"/competitions/{name}")
    assert "Tier 1 · cannot be told apart" in text_of(client, "/competitions/gauntlet")


@pytest.mark.parametrize("name", ["gauntlet", "summer", "autumn"])
def test_a_table_of_pairs_says_what_the_tiers_say(folder, name):
    archive = SiteArchive(folder)
    with contextlib.closing(archive):
        (game,) = archive.competition(name).games
        page = competition_pages.competition(archive, name)
        found = page.pictures["pictures"][0]["pairs"]
    tiers = {row["bot"]: row["tier"] for row in game.standings["rows"]}
    assert found is not None
    for one, row in zip(found["bots"], found["cells"], strict=True):
        for other, cell in zip(found["bots"], row, strict=True):
            if tiers[one] == tiers[other]:
                assert cell["text"] not in {"<1", ">99"}
                assert cell["css"] not in {"h0", "h1", "h7", "h8"}
            elif tiers[one] and tiers[other] and cell["css"] != "none":
                assert cell["css"] == ("h8" if tiers[one] < tiers[other] else "h0")
            if (min(one, other), max(one, other)) in game.margins:
                assert cell["text"] != "·"


def test_official_standings_are_named_and_their_export_is_verified(client):
    view = client.get("/competitions/swiss.json").json()
    lines = client.get("/competitions/swiss.official-1.jsonl").text.splitlines()
    found = verify(lines, public_key=bytes.fromhex(view["standings"]["public_key"]))
    assert (found.competition, found.number, found.deal_sets) == ("swiss", 1, 40)
    for path in ("/competitions/swiss", "/competitions/swiss.official-1"):
        shown = client.get(path).text
        for part in (found.public_key, found.standings["inputs_sha256"], "swiss.official-1.jsonl"):
            assert part in shown, (path, part)
    with pytest.raises(NotVerified):  # the control: a line less
        verify(lines[:1] + lines[2:])


class Workers:
    """Calls at once, or when it is let."""

    def __init__(self):
        self.waiting, self.calls = [], 0
        self.at_once = True

    def submit(self, function, *given):
        self.calls += 1
        future = Future()

        def call():
            future.set_result(function(*given))

        call() if self.at_once else self.waiting.append(call)
        return future


def test_a_page_shows_the_standings_before_while_a_worker_computes_those_of_a_closed_deal_set(
    folder,
):
    workers = Workers()
    archive = SiteArchive(folder, workers=workers)
    with contextlib.closing(archive):
        before = archive.competition("summer")
        assert archive.competition("summer").standings is before.standings
        assert workers.calls == 1
        workers.at_once = False
        with open_store(folder / "arena.db") as store:
            store.competitions().note_waits("summer", "bots")
        for _ in range(3):
            shown = archive.competition("summer")
            assert shown.standings is before.standings
            assert shown.info.waits == "bots"
        assert workers.calls == 2
        workers.waiting.pop()()
        assert archive.competition("summer").standings is not before.standings
        archive.competition("summer")
        assert workers.calls == 2
    with open_store(folder / "arena.db") as store:
        store.competitions().note_waits("summer", "")


def test_a_competition_is_finished_for_readers_when_its_last_results_are_counted(folder):
    workers = Workers()
    archive = SiteArchive(folder, workers=workers)
    with open_store(folder / "arena.db") as store:
        competitions.Organiser(store).create(
            "short", competitions.LADDER.replace("summer", "short"), []
        )
    with contextlib.closing(archive):
        assert word_of(archive.competition("short").info, "state") == "running"
        workers.at_once = False
        with open_store(folder / "arena.db") as store:
            competitions.Organiser(store).act("short", "finish")
        assert word_of(archive.competition("short").info, "state") == "running"
        workers.waiting.pop()()
        assert word_of(archive.competition("short").info, "state") == "finished"


def test_official_standings_stay_when_play_goes_on(client, folder):
    before = client.get("/competitions/swiss-of-four.official-1.json").json()
    with open_store(folder / "arena.db") as store:
        organiser = competitions.Organiser(store)
        organiser.service.disqualify("swiss-of-four", "hal", reason="asked", who="org")
    with site(folder) as (other, _):
        assert other.get("/competitions/swiss-of-four.official-1.json").json() == before
        live = other.get("/competitions/swiss-of-four.json").json()
        assert live["competition"]["official"] == 2
        assert "hal" not in {row["bot"] for row in live["games"][0]["standings"]}
        assert other.get("/competitions/swiss-of-four.official-2").status_code == 200


def test_an_announcement_stands_on_the_page_as_text(folder):
    with site(folder) as (client, _):
        assert "Announcement" not in client.get("/competitions/swiss-of-four").text
    with open_store(folder / "arena.db") as store:
        organiser = competitions.Organiser(store)
        organiser.service.announce("swiss-of-four", "Finals <b>on Friday</b>\nat 18:00", who="org")
    with site(folder) as (client, _):
        page = client.get("/competitions/swiss-of-four").text
        assert "<p>Finals &lt;b&gt;on Friday&lt;/b&gt;</p>\n<p>at 18:00</p>" in page


def test_the_page_says_why_the_arena_paused_a_competition(folder):
    said = "The arena paused it: ann &lt;b&gt; changed. An organiser can resume it."
    for action, reason in ((Action.PAUSE, "ann <b> changed"), (Action.RESUME, "")):
        with open_store(folder / "arena.db") as store:
            service = competitions.Organiser(store).service
            service.control("gauntlet", action, who="(arena)", reason=reason)
        with site(folder) as (client, _):
            assert (said in client.get("/competitions/gauntlet").text) == bool(reason)


def test_the_page_says_why_nothing_of_a_competition_begins(folder):
    for why in ("no worker of <speed class> 3 has joined", ""):
        with open_store(folder / "arena.db") as store:
            store.competitions().note_waits("gauntlet", why)
        with site(folder) as (client, _):
            page = client.get("/competitions/gauntlet").text
            said = "New matches wait: no worker of &lt;speed class&gt; 3 has joined."
            assert (said in page) == bool(why)
            assert client.get("/competitions/gauntlet.json").json()["competition"]["waits"] == why


def test_pages_leave_out_the_organiser_who_may_be_a_user_of_the_machine(folder, client):
    with open_store(folder / "arena.db") as store:
        assert {row.organiser for row in store.competitions().all()} == {"org"}
    listed = client.get("/competitions.json").json()["competitions"]
    one = client.get("/competitions/swiss.json").json()["competition"]
    assert {info["organiser"] for info in (*listed, one)} == {""}


@pytest.mark.parametrize(
    "path",
    ["swiss.official-2", "swiss-running.official-1", "spring.official-1", "swiss.official-2.jsonl"],
)
def test_official_standings_that_are_none_are_not_found(client, path):
    assert client.get(f"/competitions/{path}").status_code == 404


@pytest.mark.slow
def test_no_link_leads_nowhere_and_no_page_tells_a_command(client):
    seen = crawl(client, ["/competitions"], ("/competitions", "/standings", "/bots/ann.html"))
    assert {
        f"/competitions/{row[0].replace(' ', '-')}.html" for row in competitions.FORMATS
    } <= set(seen)
    for path, found in seen.items():
        assert found.status_code == 200, path
        for canary in (*house.CANARIES, "/home/canary"):
            assert canary.encode() not in found.content, (path, canary)


@pytest.mark.slow
def test_an_export_has_what_was_signed_and_equals_the_served_pages(folder, tmp_path):
    prepare(folder, ExportSelection("two-games")).write(tmp_path / "site", workers=1)
    with site(folder, only="two-games") as (client, _):
        for file in (tmp_path / "site").rglob("*"):
            path = file.relative_to(tmp_path / "site").as_posix()
            # The first page of an export is that of its competition.
            if not file.is_dir() and path not in ("index.html", "index.json"):
                assert as_exported(client.get(f"/{path}").content) == file.read_bytes(), path
    official = tmp_path / "site" / "competitions" / "two-games.official-1.jsonl"
    assert verify(official.read_text("utf-8").splitlines()).competition == "two-games"
    assert not (tmp_path / "site" / "competitions" / "swiss.html").exists()


NAMES = [*(row[0].replace(" ", "-") for row in competitions.FORMATS), "summer"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_competition_can_be_exported(folder, tmp_path, name):
    made = prepare(folder, ExportSelection(name))
    made.write(tmp_path, workers=1)
    assert "<h1>" in (tmp_path / "competitions" / f"{name}.html").read_text("utf-8")
    (listed,) = {
        each.stem for each in (tmp_path / "competitions").glob("*.html") if "." not in each.stem
    }
    assert listed == name
    assert made.estimate.open_deal_sets > 0 or name not in ("summer", "swiss-running")


# fmt: off
RANGES = [
    # places         shown                        why
    ([1, 2, 2, 4],   ["1", "2–3", "2–3", "4"],    "equal points share a place"),
    ([1, 1, 3],      ["1–2", "1–2", "3"],         "so does a tier"),
    ([1, None],      ["1", ""],                   "one has no place yet"),
]
# fmt: on


@pytest.mark.parametrize(
    ("places", "shown"), [row[:2] for row in RANGES], ids=[row[2] for row in RANGES]
)
def test_places_are_ranges_where_they_are_shared(places, shown):
    assert place_ranges([{"place": place} for place in places]) == shown


@pytest.mark.parametrize(
    ("points", "shown"),
    [(0.0, "0"), (0.5, "½"), (2.0, "2"), (2.5, "2½"), (3.75, "3¾"), (1.2, "1.2")],
)
def test_points_are_written_in_halves(points, shown):
    assert fraction(points) == shown


# In a browser.


def test_a_leader_has_the_interval_of_its_row(folder):
    """In official standings that is the one of all bots together, which is wider."""
    with contextlib.closing(SiteArchive(folder)) as archive:
        standings = archive.competition("swiss").games[0].standings
    assert standings["rows"][0]["half_width_95"] != standings["rows"][0]["half_width_95_together"]
    assert first_rows(standings) == [standings_rows(standings["rows"])[0]]


@pytest.fixture(scope="module")
def running(folder):
    with house.Running(folder, lambda: None) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "",
        "/swiss",
        "/swiss-of-four",
        "/knockout",
        "/double",
        "/groups",
        "/two-games",
        "/swiss.official-1",
    ],
)
def test_a_page_has_no_barrier_and_fits_a_phone(looking, running, path):
    tab = looking.tab
    tab.goto(f"{running.address}/competitions{path}")
    for scheme, width in LOOKS:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 800})
        assert barriers(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        if width == LOOKS[0][1]:
            assert tab.evaluate(CUT_TABLES) == []
    assert looking.said == []


@pytest.mark.slow
def test_a_bracket_is_read_on_a_phone_without_scripts(browser, running):
    with Tab(browser, java_script_enabled=False, viewport={"width": 360, "height": 800}) as opened:
        opened.tab.goto(f"{running.address}/competitions/double")
        games = opened.tab.locator(".meeting")
        assert games.count() > 8
        for at in range(games.count()):
            games.nth(at).scroll_into_view_if_needed()
            box = games.nth(at).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360
        assert opened.tab.evaluate("document.documentElement.scrollWidth") <= 360
