"""The site: what each address answers, what it never says, and what a browser may do with it."""

import asyncio
import base64
import gzip
import json
import os
import re
import shutil
import sqlite3
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import grpc
import pytest
from sqlalchemy import text as sql

from arena.api.match_messages import stored_filter
from arena.api.site_archive import SiteArchive
from arena.games.catalogue import game_by_id
from arena.games.contract import Seat
from arena.live.event_buffers import EventBuffer
from arena.records.read import Unplayable
from arena.referee.events import OpenHands
from arena.referee.spec import SeatedBot
from arena.referee.terms import MatchTerms
from arena.store import StoredMatch, StoreError, keep_in, open_public
from arena.web import live_list
from arena.web.acting.forwarding import ACTING, PLAY
from arena.web.addresses import slug, unslug
from arena.web.app import MOST_MINIS
from arena.web.arena_source import ArenaBusy, ArenaSource, NoArena, NotLive
from arena.web.event_hub import EventHub, FeedLimits
from arena.web.live_table import age
from arena.web.page_cache import PageCache
from arena.web.page_places import MOST_WAITING
from arena.web.pages import finished_match as match_pages
from arena.web.pages.finished_match import MOST_GLIMPSED
from arena.web.rendering import utc
from arena.web.responses import HEADERS
from arena.web.rich_text import card_name
from arena.web.site import ORGANISER_ROUTES, ROUTES
from arena.web.site_export import CannotExport, ExportSelection, matches_within, prepare
from cardarena.v1 import watch_pb2, watch_pb2_grpc
from tests.pictures.matches import played
from tests.store.clusters import Cluster
from tests.web import house
from tests.web.asking import site
from tests.web.pages import as_exported

ROOT = Path(__file__).parents[2]


class Playing:
    """A source of an arena that plays what it is let."""

    def __init__(self, *matches):
        self.matches = list(matches)
        self.asked = 0

    async def watch(self, match_id, after):
        raise NotLive("no match can be watched now")
        yield

    async def live(self):
        self.asked += 1
        live = [
            watch_pb2.LiveMatch(match_id=each, game="klaberjass", bots=["ann", "bob b."])
            for each in self.matches
        ]
        return watch_pb2.ListLiveResponse(matches=live)


class Nothing:
    """A source of an arena that plays nothing but sealed tables."""

    async def watch(self, match_id, after):
        raise NotLive("no match can be watched now")
        yield

    async def live(self):
        sealed = watch_pb2.SealedGame(game="democracy", matches=6, deal_sets=3)
        return watch_pb2.ListLiveResponse(sealed=[sealed])


class Away:
    """A source that nobody stands behind."""

    async def watch(self, match_id, after):
        raise NoArena("there is none")
        yield

    async def live(self):
        raise NoArena("there is none")


class Open:
    """A source of one match, `m`, which is some steps into its second hand."""

    def __init__(self, *, hands_open):
        self.hands_open = hands_open
        options, frames = played("klaberjass", 2)
        self.feed = EventBuffer("m", hands_open=hands_open)
        terms = MatchTerms(game_by_id("klaberjass"), options, 2)
        self.feed.opened("m", terms, [SeatedBot("ann"), SeatedBot("bob b.")])
        for frame in frames[:6]:
            events = [told.event for told in frame.events if told.sent_to is None]
            hands = OpenHands(frame.events, frame.view)
            self.feed.stepped(
                frame.next_hand, events, lambda frame=frame: frame.view(None), (9, 9), hands
            )
        self.held = [set(frames[5].view(Seat(seat)).held) for seat in range(2)]

    def watch(self, match_id, after):
        return self.feed.follow(after)

    async def live(self):
        live = watch_pb2.LiveMatch(
            match_id="m", game="klaberjass", bots=["ann", "bob b."], hands_open=self.hands_open
        )
        return watch_pb2.ListLiveResponse(matches=[live])


@pytest.fixture(scope="module")
def data(built):
    return built


@pytest.fixture(scope="module")
def client(data):
    with site(data[0], EventHub(Nothing(), FeedLimits(linger_s=0))) as (made, _):
        yield made


# fmt: off
PAGES = [
    ("/",                           "Card Arena"),
    ("/index.html",                 "Card Arena"),
    ("/matches",                    "Matches"),
    ("/live",                       "6 tables of Democracy are being played: public when their deal-sets close"),
    ("/competitions",               "autumn"),
    ("/standings/democracy",        "Standings of Democracy"),
    ("/competitions/autumn",        "of 12 deal-sets closed"),
    ("/bots",                       "ann"),
    ("/bots/ann",                   "Standings"),
    ("/bots/bob~20b~2E",            "bob b."),
    ("/bots/ann.lost",              "Matches, newest first"),
    ("/bots/ann.faulted",           "Matches, newest first"),
    ("/bots/ann.vs-bob~20b~2E",     "all matches"),
    ("/bots/ann.democracy.lost",    "Matches, newest first"),
    ("/matches.abstrac",            "Matches of Abstrac"),
    ("/standings/democracy.by-bot", "bot ▾"),
    ("/standings/democracy.by-faults", "faults a match ▾"),
    ("/games",                      "Klaberjass"),
    ("/games/klaberjass",           "A sample hand"),
    ("/fair",                       "Open the verifier"),
    ("/verify.html",                "Were the deals fair?"),
    ("/api",                        "WatchService.Watch"),
    ("/m/m1/all/1",                 "Result by seat"),
    ("/m/m1/spectator/1.html",      "Spectator"),
    ("/m/m2/seat-1/1?step=3",       "step 3"),
]
TWINS = ["/index.json", "/matches.json", "/live.json", "/competitions.json", "/standings/democracy.json", "/competitions/autumn.json",
         "/bots.json", "/bots/ann.json", "/games.json", "/games/eleusis.json", "/api.json", "/m/m1.json"]
ERRORS = [
    ("/nothing",               404, "There is no page /nothing",           "a page that is none"),
    ("/competitions/spring",   404, "There is no such competition: 'spring'",    "a competition that is none"),
    ("/bots/nobody",           404, "No bot named 'nobody'",               "a bot that never played"),
    ("/games/chess",           404, "There is no game 'chess'",            "a game that is none"),
    ("/standings/chess",       404, "No competition has the game 'chess'", "standings of no game"),
    ("/matches.chess",         404, "There is no game 'chess'",            "a list of no game"),
    ("/bots/ann.vs-nobody",    404, "one named 'nobody'",                  "an opponent that never played"),
    ("/m/nothing/all/1",       404, "No match 'nothing' can be watched",   "a match that is none"),
    ("/m/m1/all/99",           404, "The match has no hand 99",            "a hand that is none"),
    ("/m/m1/seat-%D9%A0/1",    404, "The match has no viewer",               "a digit of another script"),
    ("/m/m1/seat-9/1",         404, "The match has no viewer 'seat-9'",      "a seat that is none"),
    ("/m/m1/all/1?step=9999",  404, "has no step 9999",                    "a step that is none"),
    ("/m/m1/all/x",            404, "is not the number of a hand",              "a hand that is no number"),
    (f"/m/{house.REMOVED}/all/1", 410, "was removed",                      "a replay that was removed"),
    ("/m/m1/live",             302, "",                                    "a match that is over is no longer live"),
    ("/m/nothing/feed",        404, "can be watched",                      "a feed of nothing"),
    ("/bots/%ff%fe",           404, "",                                    "a name that is no text"),
    ("/static/arena-0.css",    404, "There is no page /static",            "a style sheet of another version"),
    ("/replays/..%2Farena.db.replay", 404, "",                             "a way out of the folder"),
]
# fmt: on


@pytest.mark.parametrize(("path", "text"), PAGES, ids=[row[0] for row in PAGES])
def test_a_page_is_there(client, path, text):
    found = client.get(path)
    assert found.status_code == 200, found.text
    assert text in found.text
    assert found.headers["content-type"] == "text/html; charset=utf-8"


def test_the_page_about_watching_has_every_address():
    page = (ROOT / "docs/watching.md").read_text("utf-8")
    names = {re.match("[a-z-]+", route.pattern)[0] for route in (*ORGANISER_ROUTES, *ROUTES)}
    missing = {name for name in names - {"index"} if not re.search(rf"`/{name}\b", page)}
    assert not missing, (
        "a route of arena/web/site.py needs its address in docs/watching.md, The site"
    )


@pytest.mark.parametrize("path", TWINS)
def test_a_page_has_json(client, path):
    found = client.get(path)
    assert found.status_code == 200
    assert isinstance(found.json(), dict)


@pytest.mark.slow
def test_pages_are_the_same_from_postgresql(client, tmp_path):
    with Cluster() as cluster:
        folder = tmp_path / "data"
        keep_in(cluster.new_store(), folder / "arena.db")
        house.build(folder)
        with site(folder, EventHub(Nothing(), FeedLimits(linger_s=0))) as (other, _):
            for path in (*(path for path, _ in PAGES), *TWINS):
                one, two = (
                    re.sub("[Aa]t [0-9:]{8} UTC", "now", each.get(path).text)
                    for each in (client, other)
                )
                assert one == two, path
        assert not (folder / "arena.db").exists()


@pytest.mark.parametrize(("path", "status", "text", "why"), ERRORS, ids=[row[3] for row in ERRORS])
def test_an_error_names_what_does_not_exist(client, path, status, text, why):
    found = client.get(path, follow_redirects=False)
    assert found.status_code == status
    assert text in unescape(found.text)


def test_a_match_of_an_open_deal_set_is_like_one_that_never_was(client, data):
    sealed = data[1]["sealed"]
    for path in (
        "/m/{}/all/1",
        "/m/{}.json",
        "/m/{}?step=1",
        "/m/{}/live",
        "/m/{}/feed",
        "/replays/{}.replay",
    ):
        there = client.get(path.format(sealed), follow_redirects=False)
        never = client.get(path.format("x" * len(sealed)), follow_redirects=False)
        assert there.status_code == never.status_code == 404
        assert there.text.replace(sealed, "") == never.text.replace("x" * len(sealed), "")


def test_an_internal_error_shows_only_its_incident(client, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("canary 51d0")

    monkeypatch.setattr(match_pages, "match_view", broken)
    found = client.get("/m/m1.json")
    assert found.status_code == 500
    assert "canary" not in found.text
    incident = re.search("incident ([0-9a-f]{8})", found.text)[1]
    assert any(getattr(record, "incident", "") == incident for record in caplog.records)
    assert found.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_a_request_to_a_full_site_is_told_when_to_retry(data):
    with site(data[0]) as (client, web):
        web._places._waiting["another"] = MOST_WAITING
        found = client.get("/bots")
        assert (found.status_code, found.headers["retry-after"]) == (503, "5")
        assert 'data-again-s="5"' in found.text
        assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in found.text
        assert '<a class="button" href="">Try again</a>' in found.text


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/m/m1/all/1", "/competitions/autumn.json", "/m/m1?step=2"]
)
def test_every_answer_has_the_headers(client, path):
    found = client.get(path, follow_redirects=False)
    for name, value in HEADERS.items():
        assert found.headers.get(name) == value
    assert "set-cookie" not in found.headers
    policy = found.headers["content-security-policy"]
    assert "unsafe" not in policy
    for part in (
        "default-src 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ):
        assert part in policy


def test_the_verifier_has_the_policy_that_it_names_itself(client):
    found = client.get("/verify.html")
    policy = found.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "unsafe" not in policy


def test_the_verifier_has_the_replay_that_its_reader_comes_for(client):
    assert "verify.html?replay=m1" in client.get("/m/m1/all/1").text
    shown = client.get("/verify.html?replay=m1").text
    (given,) = re.findall(r'<p id="given" title="m1.replay" hidden>([^<]+)</p>', shown)
    assert base64.b64decode(given) == client.get("/replays/m1.replay").content
    assert '<a href="m/m1.html">back to the match</a>' in shown
    assert client.get("/verify.html?replay=<b>").status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_changed(client, method):
    assert client.request(method, "/bots").status_code == 405


def test_a_link_to_a_step_finds_its_hand_and_seat(client):
    found = client.get("/m/m2?seat=1&step=3", follow_redirects=False)
    assert (found.status_code, found.headers["location"]) == (302, "/m/m2/seat-1/1.html?step=3")


@pytest.mark.parametrize("path", ["/m/m1/all/1?step=9999", "/m/m1?step=9999"])
def test_a_step_that_is_none_leads_to_its_match(client, path):
    page = client.get(path)
    assert page.status_code == 404
    assert 'href="/m/m1.html">The match from its beginning</a>' in page.text


def test_a_page_of_a_match_has_its_controls_before_its_log(client):
    page = client.get("/m/m1/all/1").text
    assert page.index('id="controls"') < page.index('id="log"')
    assert '<a class="skip" href="#main">' in page


def test_the_home_page_shows_a_match_in_play_that_plays_by_itself(data):
    with site(data[0], EventHub(Open(hands_open=False))) as (client, _):
        page = client.get("/").text
        assert 'id="live" data-feed="m/m/feed?after=' in page
        assert re.findall('<a class="button" [^>]*>([^<]*)', page) == ["Watch it live"]
        assert "live-" in page.partition("</head>")[0]
    with site(data[0], EventHub(Nothing())) as (client, _):
        page = client.get("/").text
        assert "See what happened" in page
        assert "moment-" in page.partition("</head>")[0]
        assert "data-feed" not in page


def test_a_page_with_a_hand_takes_one_place_of_its_visitor(data, monkeypatch):
    monkeypatch.setattr("arena.web.page_places.AT_A_TIME", 1)
    with site(data[0], EventHub(Nothing())) as (client, _):
        game = client.get("/m/m1.json").json()["game"]
        assert 'data-hand="' in client.get(f"/games/{game}").text


def test_a_finished_page_is_served_from_the_cache(client):
    first = client.get("/m/m1/all/1")
    assert first.headers["cache-control"] == "public, max-age=86400"
    again = client.get("/m/m1/all/1", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/m/m1/all/1?step=2").headers["etag"] != first.headers["etag"]


def test_static_files_never_change(client):
    name = re.search(r'href="[./]*(static/arena-[0-9a-f]+\.css)"', client.get("/bots").text)[1]
    assert "immutable" in client.get(f"/{name}").headers["cache-control"]


def test_a_client_without_gzip_gets_plain_bytes(client):
    plain = client.get("/bots", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == client.get("/bots").text


# Lists.


def rows_of(client, path):
    """The cells of the rows of a page's last table, as text."""
    table = client.get(path).text.rpartition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def test_the_first_matches_of_a_list_show_a_few_of_their_cards(client):
    page = client.get("/").text
    shown = re.findall(r'<a class="glimpse" href="([^"?]*)[^"]*".*?</a>', page, re.DOTALL)
    assert 1 <= len(shown) <= MOST_MINIS
    assert page.count('<span class="mini">') == len(shown)
    for cards in re.findall(r'<span class="mini">.*?</a>', page, re.DOTALL):
        assert 1 <= cards.count('class="card ') <= MOST_GLIMPSED
        assert len(cards) < 4_000
    step = re.search(r'<a class="glimpse" href="([^"]*)"', page)[1].replace("&amp;", "&")
    assert client.get(f"/{step}").status_code in (200, 302)


def test_a_list_of_a_game_has_its_matches_alone(client):
    every = {each["game"] for each in client.get("/matches.json").json()["matches"]}
    assert every == {"abstrac", "democracy"}
    for game in every:
        of_game = client.get(f"/matches.{game}.json").json()["matches"]
        assert {each["game"] for each in of_game} == {game}


def test_a_list_against_an_opponent_has_both(client):
    found = client.get("/bots/ann.vs-bob~20b~2E.json").json()["matches"]
    assert found
    assert all({"ann", "bob b."} <= set(each["bots"]) for each in found)


def test_standings_are_sorted_by_the_chosen_column(client):
    by_bot = [row[1] for row in rows_of(client, "/standings/democracy.by-bot")]
    assert len(by_bot) == len(house.BOTS)
    names = [re.sub("<[^>]*>", "", cell) for cell in by_bot]
    assert names == sorted(names, key=str.casefold)
    deal_sets = [int(row[3]) for row in rows_of(client, "/standings/democracy.by-deal-sets")]
    assert deal_sets == sorted(deal_sets, reverse=True)
    assert "tier-head" not in client.get("/standings/democracy.by-bot").text


def test_the_home_page_shows_three_matches_in_play(data):
    with site(data[0], EventHub(Playing("a1", "a2", "a3", "a4"))) as (client, _):
        text = client.get("/").text
        assert [f"m/a{at}/live" in text for at in (1, 2, 3, 4)] == [True, True, True, False]
        assert len(client.get("/index.json").json()["live"]) == 3


# fmt: off
OPEN_PAGES = [
    ("/m/m/live",             "",      "Spectator",             "the spectator sees what all were told"),
    ("/m/m/live.html",        "",      "Spectator",             "the same by its whole name"),
    ("/m/m/live/spectator",   "",      "Spectator",             "the same by its viewer"),
    ("/m/m/live/all",         "01",    "All hands",             "all hands"),
    ("/m/m/live/seat-0",      "0",     "0 · ann",               "one seat's"),
    ("/m/m/live/seat-1.html", "1",     "1 · bob b.",            "another's, by its whole name"),
]
# fmt: on


@pytest.mark.parametrize(
    ("path", "seats", "whose"), [row[:3] for row in OPEN_PAGES], ids=[row[3] for row in OPEN_PAGES]
)
def test_a_match_in_play_with_open_hands_has_a_page_for_each_viewer(data, path, seats, whose):
    source = Open(hands_open=True)
    with site(data[0], EventHub(source, FeedLimits(linger_s=0))) as (client, _):
        answer = client.get(path)
        text, path = answer.text, path.replace("/spectator", "")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        assert "Hands are open:" in text
        assert f'aria-current="page">{whose}</a>' in text
        for seat, held in enumerate(source.held):
            shown = {card for card in held if f'aria-label="{card_name(card)}' in text}
            assert shown == (held if str(seat) in seats else set())
        # Its links lead to the other viewer, and its feed is that of these.
        links = [urljoin(path, each) for each in re.findall(r'href="([^"]*live[^"]*)"', text)]
        for viewer in ("/all", "", "/seat-0", "/seat-1"):
            assert f"/m/m/live{viewer}.html" in links
        own = path.removesuffix(".html").partition("/live")[2]
        (feed,) = re.findall(r'data-feed="([^"]*)"', text)
        assert urljoin(path, feed) == f"/m/m/feed{own}?after=6"
        (over,) = re.findall(r'data-over="([^"]*)"', text)
        assert urljoin(path, over) == "/m/m.html"
        assert "hands are open" in client.get("/live").text
        assert client.get("/live.json").json()["matches"][0]["hands_open"] is True
        told = client.get(f"{path.removesuffix('.html')}.json").json()
        assert (told["hands_open"], told["feed"]) == (True, f"/m/m/feed{own}")
        assert told["viewers"] == ["all", "spectator", "seat-0", "seat-1"]


CLOSED = ["all", "all.html", "all.json", "seat-0", "seat-1.json"]


def test_a_match_in_play_with_closed_hands_has_the_spectators_page_alone(data):
    with site(data[0], EventHub(Open(hands_open=False), FeedLimits(linger_s=0))) as (client, _):
        answer = client.get("/m/m/live")
        text = answer.text
        assert answer.status_code == 200
        assert "Hands are open" not in text
        assert 'aria-label="viewer"' not in text
        told = client.get("/m/m/live.json").json()
        assert (told["hands_open"], told["viewers"]) == (False, ["spectator"])
        for path in (*(f"/m/m/live/{viewer}" for viewer in CLOSED), "/m/m/feed/all"):
            answer = client.get(path)
            assert (answer.status_code, "closed while it is played" in answer.text) == (404, True)
        assert "hands are open" not in client.get("/live").text


# fmt: off
OVER = [
    ("/m/m1/live",            "/m/m1/all/1.html",    "all of it is open now"),
    ("/m/m1/live/seat-1",     "/m/m1/seat-1/1.html", "whose viewer they were, they are"),
    ("/m/m1/live.json",       "/m/m1.json",          "and for a program"),
]
# fmt: on


@pytest.mark.parametrize(
    ("path", "leads_to"), [row[:2] for row in OVER], ids=[row[2] for row in OVER]
)
def test_a_live_page_redirects_to_the_replay_of_an_ended_match(client, path, leads_to):
    answer = client.get(path, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (302, leads_to)


@pytest.mark.parametrize("viewer", ["seat-x", "everybody", "seat-2", "1", "%ff"])
def test_a_viewer_that_a_live_match_does_not_have_is_not_found(data, viewer):
    with site(data[0], EventHub(Open(hands_open=True), FeedLimits(linger_s=0))) as (client, _):
        for path in (f"/m/m/live/{viewer}", f"/m/m/feed/{viewer}"):
            answer = client.get(path)
            assert (answer.status_code, "no viewer" in answer.text) == (404, True), path


def test_pages_distinguish_no_arena_from_no_matches(data):
    with site(data[0], EventHub(Away())) as (client, _):
        assert "No arena answers" in client.get("/live").text
        live = client.get("/live.json").json()
        assert (live["arena"], live["matches"], live["sealed"]) == (False, [], [])
        for path in ("/m/live1/live", "/m/live1/feed"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
            assert "No arena is running" in answer.text


class Late(Playing):
    """A source of an arena that answers once, and is busy then."""

    answers = 1

    async def live(self):
        if not self.answers:
            raise ArenaBusy("it is late")
        self.answers -= 1
        return await super().live()

    async def watch(self, match_id, after):
        raise ArenaBusy("it is late")
        yield


def test_pages_of_a_busy_arena_keep_the_last_list_and_do_not_say_that_it_is_absent(
    data, monkeypatch
):
    monkeypatch.setattr(live_list, "FRESH_S", 0.0)
    source = Late("a1")
    with site(data[0], EventHub(source)) as (client, _):
        assert "a1" in client.get("/live").text
        live = client.get("/live.json").json()
        assert [each["match"] for each in live["matches"]] == ["a1"]
        answer = client.get("/m/a1/live")
        assert answer.status_code == 503
        assert "The arena is busy" in answer.text
    source.answers = 0
    with site(data[0], EventHub(source)) as (client, _):
        text = client.get("/live").text
        assert "The arena is busy" in text
        assert "No arena answers" not in text


FAILURES = [
    (grpc.StatusCode.RESOURCE_EXHAUSTED, ArenaBusy, "it refuses for load"),
    (grpc.StatusCode.DEADLINE_EXCEEDED, ArenaBusy, "it is late"),
    (grpc.StatusCode.INTERNAL, ArenaBusy, "it fails"),
    (grpc.StatusCode.UNAVAILABLE, NoArena, "it has stopped"),
]


@pytest.mark.parametrize(("code", "error", "why"), FAILURES, ids=[row[2] for row in FAILURES])
def test_a_failed_call_tells_a_busy_arena_from_none(tmp_path, code, error, why):
    class Refusing(watch_pb2_grpc.WatchServiceServicer):
        async def ListLive(self, request, context):
            await context.abort(code)

    async def main():
        server, socket = grpc.aio.server(), tmp_path / "watch.sock"
        watch_pb2_grpc.add_WatchServiceServicer_to_server(Refusing(), server)
        server.add_insecure_port(f"unix:{socket}")
        await server.start()
        source = ArenaSource(socket)
        with pytest.raises(error):
            await source.live()
        await source.close()
        await server.stop(0)

    asyncio.run(main())


def test_a_title_names_the_site_once(client):
    titles = [re.search("<title>(.*)</title>", client.get(path).text)[1] for path in ("/", "/bots")]
    assert titles == ["Card Arena", "Bots · Card Arena"]


@pytest.mark.parametrize("game", ["klaberjass", "open_face_chinese_poker"])
def test_a_game_is_told_in_pictures_before_its_rules(client, game):
    before, _, after = client.get(f"/games/{game}").text.partition('<h2 id="rules">')
    assert before.count('<span class="mini">') >= 4
    assert "<th></th>" not in after  # a corner of a table heads no column


def test_a_broadcast_has_the_standings_beside_its_picture(client, monkeypatch):
    match = SiteArchive.match

    def in_autumn(archive, name):
        row = match(archive, name)
        row.competition = "autumn"
        return row

    monkeypatch.setattr(SiteArchive, "match", in_autumn)
    page = client.get("/m/m1/spectator/1").text
    beside = page.partition('id="picture"')[2].partition('id="log"')[0]
    assert 'id="standings"' in beside


def test_a_bots_faults_are_drawn_from_its_replays(client):
    drawn = client.get("/bots/bot~200").text
    assert "faults by match and decision" in drawn
    assert drawn.count('<path class="fault-') > 3
    assert re.search(r"by decision: (\d+ \w+, )*\d+ \w+\.", drawn)


def test_pages_of_a_match_lead_to_its_costliest_hand(client):
    text = client.get("/m/m1/seat-0/1").text
    assert re.search(r'id="costliest" href="[./]*m/m1/seat-0/3\.html"', text)
    assert 'id="costliest"' not in client.get("/m/m1/seat-0/3").text


# What is secret.


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def crawl(client, waiting=("/", *TWINS), within="/"):
    """Every page that links lead to, by its path, as far as that begins so, but for those of other processes."""
    seen, waiting = {}, list(waiting)
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        found = client.get(path)
        seen[path] = found
        if "html" in found.headers["content-type"] and "verify" not in path:
            for link in Links(found.text).found:
                if not link.startswith("#"):
                    whole = urlsplit(urljoin(path, link))
                    assert not whole.netloc, link
                    is_forwarded = whole.path[1:].partition("/")[0] in ACTING | PLAY
                    is_here = whole.path.startswith(within) and not is_forwarded
                    waiting += [whole.path] if is_here else []
    return seen


def test_no_link_leads_nowhere_and_no_page_tells_a_secret(client, data):
    """Seeds, commands, evidence, and how a table of an open deal-set went."""
    seen = crawl(client)
    assert len(seen) > 60
    for path, found in seen.items():
        removed_by_plan = path.startswith("/m/") and found.status_code == 410
        assert found.status_code == 200 or removed_by_plan, path
        for canary in (*house.CANARIES, data[1]["sealed"]):
            assert canary.encode() not in found.content, (path, canary)
            assert canary not in str(found.headers), (path, canary)


def test_a_planted_leak_is_found(data, monkeypatch):
    """The control of the test above: an archive that takes every match for a closed one."""
    monkeypatch.setattr(StoredMatch, "closed", True)

    def of_all(wanted, *, sees_all):
        return stored_filter(wanted, sees_all=True)

    monkeypatch.setattr("arena.api.site_archive.stored_filter", of_all)
    with site(data[0]) as (client, _):
        assert str(house.SEALED_SCORE) in client.get("/matches").text


def test_the_store_refuses_what_is_secret(data):
    with open_public(data[0] / "arena.db") as store:
        (found,) = store.competitions().all()
        assert not any(secret in found.config for secret in house.CANARIES)
        assert {each.command for each in found.entries} == {""}
        assert {each.seed for each in store.competitions().record("autumn").games[0].deal_sets} == {
            None
        }
        for refused in ("SELECT * FROM keys", "SELECT code_sha256 FROM invitations", "SELECT * FROM audit",
                        "DELETE FROM matches", "PRAGMA writable_schema = 1", "ATTACH 'x' AS y"):  # fmt: skip
            with (
                pytest.raises(Exception, match=r"not authorized|prohibited") as raised,
                store._database.reading() as connection,
            ):
                connection.execute(sql(refused))
            assert not isinstance(raised.value, AssertionError)


def test_a_store_that_is_not_there_is_no_store(tmp_path):
    with pytest.raises(StoreError, match="there is no"):
        open_public(tmp_path / "arena.db")
    assert list(tmp_path.iterdir()) == []


def test_an_older_store_is_left_as_it_is(tmp_path):
    path = tmp_path / "arena.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE alembic_version (version_num TEXT)")
        made.execute("INSERT INTO alembic_version VALUES ('0001')")
    made.close()
    with pytest.raises(StoreError, match="another version"):
        open_public(path)


def test_a_name_with_markup_is_text(client):
    for path in ("/bots", "/competitions/autumn", f"/bots/{slug(house.HOSTILE)}", "/matches"):
        text = client.get(path).text
        assert "<img" not in text
        assert "&lt;img" in text


@pytest.mark.parametrize(
    "name", ["ann", "bob b.", house.HOSTILE, "..", "~20", "ä/ö", "a%20b", "名前"]
)
def test_a_slug_stands_for_its_name_alone(name):
    assert unslug(slug(name)) == name
    assert re.fullmatch(r"[A-Za-z0-9_~-]+", slug(name))


# Matches that have just ended.

MINUTE_MS = 60_000
AGES = [
    (0, "just now"), (9_999, "just now"), (10_000, "10 s ago"), (47_000, "40 s ago"),
    (MINUTE_MS, "1 min ago"), (59 * MINUTE_MS, "59 min ago"), (60 * MINUTE_MS, "1 h ago"), (49 * 60 * MINUTE_MS, "2 d ago"), (-1, utc(house.AT)),
]  # fmt: skip


@pytest.mark.parametrize(("past_ms", "said"), AGES)
def test_how_long_ago_a_match_was_played(past_ms, said):
    assert age(house.AT, house.AT + past_ms) == said


def test_matches_of_closed_deal_sets_are_listed_as_broadcasts_and_sealed_ones_are_not(client, data):
    page, told = client.get("/live").text, client.get("/live.json").json()
    shown = [each["match"] for each in told["ended"]]
    assert {"m1", "m2"} <= set(shown)
    assert 'href="m/m1.html?viewer=spectator&amp;hand=1&amp;play=1"' in page
    assert data[1]["sealed"] not in page + str(shown)
    assert not re.search(
        r"[ >][+-]\d|won", page.partition("Played last")[2].partition("</table>")[0]
    )  # no result


def test_a_competition_in_play_leads_to_its_newest_match_as_a_broadcast(client):
    page = client.get("/competitions/autumn").text
    (path,) = re.findall(r'href="\.\./(m/[^"]*)">Watch its newest match', page)
    assert unescape(path).endswith(".html?viewer=spectator&hand=1&play=1")
    moving = page.partition('data-standings="democracy"')[2]
    assert "rank" in moving.partition("</table>")[0]  # what the page of a broadcast shows again


def test_a_broadcast_is_the_page_of_its_hand(client):
    found = client.get("/m/m1.html?viewer=spectator&hand=1&play=1", follow_redirects=False)
    assert found.headers["location"] == "/m/m1/spectator/1.html?play=1"


# Exports.


def written_to(folder, data, wanted):
    """The estimate of an export, and its files by their paths."""
    made = prepare(data, wanted)
    files, size = made.write(folder, workers=1)
    found = {
        each.relative_to(folder).as_posix(): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }
    assert (len(found), sum(map(len, found.values()))) == (files, size)
    return made.estimate, found


def test_an_export_is_the_bytes_that_are_served_with_one_page_for_a_match(data, tmp_path):
    _, found = written_to(tmp_path, data[0], ExportSelection())
    assert len(found) > 60
    of_matches = {path for path in found if re.fullmatch(r"m/.*\.html", path)}
    assert {"m/m1.html", "m/m2.html"} <= of_matches
    with site(data[0]) as (client, _):
        for path, body in found.items():
            answer = client.get(f"/{path}", follow_redirects=False)
            if path in of_matches:  # the server has a page for each hand, which needs no script
                first = path.removesuffix(".html") + "/all/1.html"
                assert (answer.status_code, answer.headers["location"]) == (302, f"/{first}")
            else:
                assert answer.status_code == 200, path
                if path == "index.html" or b"data-hand=" in answer.content:
                    continue  # the served one shows a moment of a match, by the worker
                assert as_exported(answer.content) == body, path


ADDRESSES = [
    # what follows a match, where it leads, why
    ("", "all/1.html", "the first hand for all"),
    ("?viewer=seat-1&hand=2", "seat-1/2.html", "a viewer and a hand"),
    ("?viewer=spectator&hand=1&step=3", "spectator/1.html?step=3", "a step"),
    ("?viewer=all&hand=x", "all/1.html", "no number"),
]


@pytest.mark.parametrize(("query", "leads", "why"), ADDRESSES, ids=[row[2] for row in ADDRESSES])
def test_a_link_of_a_match_leads_to_a_hand(client, query, leads, why):
    answer = client.get(f"/m/m1.html{query}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (302, f"/m/m1/{leads}")


@pytest.mark.slow
def test_an_export_leaves_open_deal_sets_out_and_says_so(data, tmp_path):
    estimate, found = written_to(tmp_path, data[0], ExportSelection("autumn"))
    assert estimate.open_deal_sets == house.SEALED_SETS
    assert data[1]["sealed"] not in "".join(found)
    for path, body in found.items():
        assert not any(canary.encode() in body for canary in house.CANARIES), path


@pytest.mark.slow
def test_an_export_opens_at_its_competition_and_says_where_it_will_be(data, tmp_path):
    wanted = ExportSelection("autumn", address="https://arena.example")
    _, found = written_to(tmp_path, data[0], wanted)
    first = found["index.html"].decode()
    assert "<title>autumn: " in first
    assert 'href="https://arena.example/index.html"' in first
    assert 'href="bots/ann.html"' in first
    assert b'href="https://arena.example/bots/ann.html"' in found["bots/ann.html"]


@pytest.mark.slow
def test_the_file_of_a_match_reads_without_a_script(data, tmp_path):
    _, found = written_to(tmp_path, data[0], ExportSelection())
    read = re.search(r"<noscript>(.*)</noscript>", found["m/m1.html"].decode(), re.DOTALL)[1]
    with site(data[0]) as (client, _):
        for hand in (1, 2, 3):
            assert f"<h2>Hand {hand}</h2>" in read
            log = (
                client.get(f"/m/m1/all/{hand}").text.partition('id="log">')[2].partition("</ol>")[0]
            )
            rows = re.findall(r"<li[^>]*><a [^>]*>[^<]*</a>(.*?)</li>", log)
            assert rows
            assert all(row in read for row in rows)


@pytest.mark.slow
def test_an_export_is_estimated_before_it_is_written(data, tmp_path):
    estimate, found = written_to(tmp_path, data[0], ExportSelection())
    own = [len(body) for path, body in found.items() if path.startswith(("m/", "replays/"))]
    assert len(own) == estimate.files == 3 * estimate.matches > 0
    assert estimate.size_mb == pytest.approx(sum(own) / 1e6, rel=0.5)
    assert estimate.time_s > 0
    assert (estimate.left_out, estimate.all_mb) == (0, estimate.size_mb)


@pytest.mark.slow
@pytest.mark.parametrize("viewers", [("spectator",), ("seats",), ("all", "spectator")])
def test_the_file_of_a_match_has_the_chosen_viewers_alone(data, tmp_path, viewers):
    _, found = written_to(tmp_path, data[0], ExportSelection(viewers=viewers))
    packed = re.search(rb'id="packed">([^<]*)<', found["m/m1.html"])[1]
    shown = json.loads(gzip.decompress(base64.b64decode(packed)))["viewers"]
    assert {re.sub(r"seat-\d", "seats", name) for name in shown} == set(viewers)


@pytest.mark.slow
def test_an_export_beyond_its_limit_leaves_the_oldest_matches_out(data, tmp_path):
    whole = prepare(data[0], ExportSelection()).estimate
    estimate, found = written_to(tmp_path, data[0], ExportSelection(limit_mb=0))
    assert (estimate.matches, estimate.left_out) == (0, whole.matches)
    assert estimate.all_mb == pytest.approx(whole.all_mb, rel=0.01)
    assert not any(path.startswith(("m/", "replays/")) for path in found)
    pages = (body.decode() for path, body in found.items() if path.endswith(".html"))
    assert not any(re.search(r'href="[./]*m/', page) for page in pages)  # no link leads nowhere


WITHIN = [
    ([3, 2, 1], 5, 2, "the newest, as long as they fit"),
    ([3, 2, 1], 6, 3, "exactly all"),
    ([9, 1], 5, 0, "the first is too large, and no older one is taken instead"),
    ([], 5, 0, "none"),
]


@pytest.mark.parametrize(("sizes", "limit", "most", "why"), WITHIN, ids=[row[3] for row in WITHIN])
def test_the_newest_matches_are_within_the_limit(sizes, limit, most, why):
    assert matches_within(sizes, limit) == most


def test_a_tournament_that_is_none_is_not_exported(data, tmp_path):
    with pytest.raises(CannotExport, match="no such competition: 'spring'"):
        prepare(data[0], ExportSelection("spring"))


# The cache.


def test_a_match_has_as_many_pages_in_the_cache_as_it_shows(data, tmp_path, monkeypatch):
    def unplayable(*_):
        raise Unplayable("the game has no rules here")

    folder = tmp_path / "data"
    shutil.copytree(data[0], folder)
    shutil.rmtree(folder / "pages", ignore_errors=True)
    with site(folder) as (client, _):
        asked = [client.get(f"/m/m1/all/{hand}?step=2").status_code for hand in ("1", "01", "001")]
        assert asked == [200] * 3
        assert client.get("/m/m1/all/1?step=x7").status_code == 404
        assert len(list((folder / "pages").glob("*.gz"))) == 1
        monkeypatch.setattr(match_pages, "_opened", unplayable)
        for step in range(3):
            page = client.get(f"/m/m2/words{step}/{step}?step=x{step}")
            assert "the game has no rules here" in page.text
        assert len(list((folder / "pages").glob("*.gz"))) == 2


def test_the_cache_removes_the_least_recently_read_pages(tmp_path):
    cache = PageCache(tmp_path / "pages", most_bytes=90)
    for key in ("a", "b", "c"):
        cache.put(key, key.encode() * 2000)
    for number, key in enumerate(("b", "c", "a")):
        (file,) = (tmp_path / "pages").glob(f"{key}.gz")
        os.utime(file, ns=(number, number))
    cache.sweep()
    assert cache.get("b") is None
    assert gzip.decompress(cache.get("a")) == b"a" * 2000


def test_an_empty_folder_says_how_to_play(tmp_path):
    (tmp_path / "data").mkdir()
    with site(tmp_path / "data") as (client, _):
        assert "No match has ended here yet" in client.get("/").text
        assert client.get("/matches.json").json()["matches"] == []
