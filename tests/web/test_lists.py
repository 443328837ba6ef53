"""Lists of the site: what is listed, under which name, and by which filters."""

import contextlib
import re
import shutil
from dataclasses import replace

import pytest
from sqlalchemy import insert

from arena.api.site_archive import ListedMatch, SiteArchive
from arena.results.deal_sets import HOUSE, MatchOutcome
from arena.results.worth import Worth
from arena.store import StoredMatch, open_store, schema
from arena.web.addresses import Links
from arena.web.names import is_of_house_alone, seat_names
from arena.web.page import Page
from arena.web.pages.bot import _versions, rung
from arena.web.pages.counted import bands
from arena.web.pages.lists import by_place, folded, varied
from arena.web.rendering import ABOUT
from arena.web.site import Site
from cardarena.v1 import lobby_pb2
from tests.web import house
from tests.web.asking import site, text_of

# fmt: off
NAMES = [
    (("ann", "bob"),            ("ann", "bob"),                    "bots"),
    (("ann", HOUSE),            ("ann", "house"),                  "one house bot"),
    ((HOUSE, "ann", HOUSE),     ("house 1", "ann", "house 2"),     "two that could not be told apart"),
    (("ann", "ann"),            ("ann", "ann"),                    "a bot against itself"),
]
# fmt: on


@pytest.mark.parametrize(("bots", "shown", "why"), NAMES, ids=[row[2] for row in NAMES])
def test_seats_have_names(bots, shown, why):
    assert seat_names(bots) == shown


def test_a_match_of_house_bots_alone_is_told_from_others():
    assert is_of_house_alone((HOUSE, HOUSE))
    assert not is_of_house_alone((HOUSE, "ann"))


def register_version(store):
    """Have the store know `ann@7`."""
    with store._database.writing() as connection:
        for table, row in (
            (schema.names, {"skeleton": "org", "name": "org", "owner": "org"}),
            (schema.owners, {"name": "org", "invited_by": "org", "created": "2026"}),
            (schema.names, {"skeleton": "ann", "name": "ann", "owner": "org"}),
            (schema.bots, {"name": "ann", "owner": "org", "kind": "uploaded", "created": "2026"}),
            (
                schema.versions,
                {"bot": "ann", "number": 7, "sha256": "7", "manifest": {}, "runtime_sha256": ""},
            ),
            (
                schema.version_events,
                {
                    "bot": "ann",
                    "number": 7,
                    "event": "active",
                    "at_unix_ms": 1,
                    "who": "org",
                    "reason": "",
                },
            ),
        ):
            connection.execute(insert(table).values(**row))


@pytest.fixture(scope="module")
def client(built, tmp_path_factory):
    """The pages of the folder of other tests, with matches of house bots, of a version, and one worth watching."""
    folder = tmp_path_factory.mktemp("lists") / "data"
    shutil.copytree(built[0], folder)
    rows = [
        ("h1", (HOUSE, HOUSE), (1, -1), (1, 2), ()),
        ("h2", (HOUSE, "ann", HOUSE), (1, 0, -1), (1, 2, 3), ()),
        ("v1", ("ann@7", "bob b."), (40, 39), (1, 2), (False, True)),
    ]
    with open_store(folder / "arena.db") as store:
        register_version(store)
        for number, (match, bots, scores, places, forfeited) in enumerate(rows):
            outcome = MatchOutcome(
                match, scores, places, "completed", tuple({} for _ in bots), forfeited, hands=3
            )
            store.matches().record([StoredMatch(outcome, "loo", bots, "", house.AT + number)])
    with site(folder) as (made, _):
        yield made


def matches(client, query):
    return {row["match"] for row in client.get(f"/matches.json{query}").json()["matches"]}


def test_matches_of_house_bots_alone_are_not_listed(client):
    listed = matches(client, "")
    assert "h1" not in listed
    assert {"h2", "v1"} <= listed


# fmt: off
FILTERS = [
    ("?game=loo",              {"h2", "v1"},       "a game"),
    ("?game=loo&bot=ann",      {"h2", "v1"},       "a bot and its versions"),
    ("?bot=ann@7",             {"v1"},             "a version"),
    ("?ending=forfeit",        {"v1"},             "a kind of what is worth watching"),
    ("?ending=any",            {"v1"},             "anything worth watching"),
    ("?game=loo&margin=1",     {"h2", "v1"},       "a margin"),
    ("?game=loo&margin=0",     set(),              "no margin"),
    ("?bot=nobody",            set(),              "a bot that is none"),
    ("?competition=spring",    set(),              "a competition that is none"),
]
# fmt: on


@pytest.mark.parametrize(("query", "found", "why"), FILTERS, ids=[row[2] for row in FILTERS])
def test_matches_are_filtered(client, query, found, why):
    assert matches(client, query) == found


def test_filters_stay_in_the_form_and_in_links_to_further_pages(client):
    page = client.get("/matches?competition=autumn&ending=faulted").text
    assert "<option selected>autumn</option>" in page
    assert 'name="ending" value="faulted"' in page
    assert 'ending=faulted" aria-current="page">with faults' in page
    assert 'href="matches.html?competition=autumn&amp;ending=forfeit"' in page


def test_a_match_worth_watching_says_why(client):
    row = client.get("/matches.json?ending=forfeit").json()["matches"][0]
    assert row["worth"] == Worth.FORFEIT
    assert "ann@7 beat bob b. 40–39 a bot forfeited" in text_of(client, "/matches?ending=forfeit")


@pytest.mark.parametrize("path", ["/matches.99", "/bots/ann.99", "/matches.loo.2"])
def test_a_page_that_a_list_does_not_have_is_not_found(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "has ended here yet" not in answer.text


def test_every_listed_bot_has_a_page_and_no_version_or_house_bot_is_listed(client):
    bots = client.get("/bots.json").json()["bots"]
    assert {"ann", "bob b."} <= {row["bot"] for row in bots}
    links = re.findall(r'<a class="bot" href="([^"]*)"', client.get("/bots").text)
    assert len(links) == len(bots)
    for row in bots:
        assert "@" not in row["bot"]
        assert row["bot"] != HOUSE
    for link in links:
        assert client.get(f"/{link}").status_code == 200


def test_a_bot_has_the_matches_and_the_state_of_its_versions(client):
    assert "by org · active ann@7" in text_of(client, "/bots/ann")
    assert "v1" in {row["match"] for row in client.get("/bots/ann.json").json()["matches"]}


# fmt: off
SEARCHES = [
    ("an",     "bots",         ["ann"],             "the beginning of a bot"),
    ("KLAB",   "games",        ["klaberjass"],      "a game, in capitals"),
    ("autumn", "competitions", ["autumn"],          "a competition"),
    ("",       "bots",         [],                  "nothing"),
    ("%",      "bots",         [],                  "no wildcard"),
]
# fmt: on


@pytest.mark.parametrize(("words", "kind", "found", "why"), SEARCHES, ids=[r[3] for r in SEARCHES])
def test_a_search_finds(client, words, kind, found, why):
    view = client.get(f"/search.json?q={words.replace('%', '%25')}").json()
    assert view[kind][: len(found) or 1] == found


def test_a_search_finds_a_match_by_its_id_and_tells_nothing_of_a_sealed_one(client, built):
    assert client.get("/search.json?q=m1").json()["match"] == "m1"
    assert client.get(f"/search.json?q={built[1]['sealed']}").json()["match"] is None


def test_words_of_a_search_are_text(client):
    assert "<img" not in client.get("/search?q=<img src=x>").text.partition("<main")[2]


# fmt: off
BOTS = [
    ("?owner=org",                  ["ann"],   "an owner"),
    ("?owner=org&order=name",       ["ann"],   "an owner, in an order"),
    ("?owner=nobody",               [],        "an owner that is none"),
    ("?game=eleusis",               [],        "a game that no competition has"),
]
# fmt: on


@pytest.mark.parametrize(("query", "found", "why"), BOTS, ids=[row[2] for row in BOTS])
def test_bots_are_filtered(client, query, found, why):
    assert [row["bot"] for row in client.get(f"/bots.json{query}").json()["bots"]] == found


def test_bots_are_sorted_and_their_best_place_is_in_the_game_that_is_asked_for(client):
    rows = client.get("/bots.json?game=democracy&order=name").json()["bots"]
    assert rows == sorted(rows, key=lambda row: row["bot"].casefold())
    assert {row["best"]["game"] for row in rows if row["best"]} == {"democracy"}


def test_a_search_in_vain_offers_names_that_are_near(client):
    assert '<a href="?q=autumn">autumn</a>' in client.get("/search?q=autunm").text


# fmt: off
ENDS = [
    ("abstrac",     "2 hands",                 "hands"),
    ("klaberjass",  "to 501",                  "a race"),
    ("soko",        "10 hands for each seat",  "hands by the seats"),
    ("eleusis",     "one deal by each seat",   "deals by the seats"),
]
# fmt: on


@pytest.mark.parametrize(("game", "until", "why"), ENDS, ids=[row[2] for row in ENDS])
def test_a_game_says_when_a_match_ends(client, game, until, why):
    rows = {row["game"]: row for row in client.get("/games.json").json()["games"]}
    assert rows[game]["until"] == until


class Listed:
    """An archive with public matches worth watching, the newest first."""

    def __init__(self, *rows):
        self.rows = [
            ListedMatch(
                lobby_pb2.MatchInfo(
                    match_id=match, competition=competition, published=True, ended_unix_ms=9 - at
                ),
                worth,
                1,
                1.0,
            )
            for at, (match, competition, worth) in enumerate(rows)
        ]

    def listed(self, wanted, *, worth, by_others):
        return [row for row in self.rows if row.worth == worth], False


def test_stories_differ_in_kind_and_competition_as_far_as_there_are_some():
    archive = Listed(
        ("a", "ladder", Worth.UPSET),
        ("b", "ladder", Worth.UPSET),
        ("c", "ladder", Worth.CLOSEST),
        ("d", "cup", Worth.CLOSEST),
        ("e", "cup", Worth.UPSET),
    )
    chosen = [row.match.match_id for row in varied(archive, 4)]
    assert chosen[:2] == ["a", "d"]
    assert set(chosen[2:]) == {"b", "c"}


def test_robots_read_results_and_neither_searches_nor_replays(client):
    rules = client.get("/robots.txt").text.splitlines()
    assert {"Disallow: /search", "Disallow: /replays/"} <= set(rules)


def test_a_page_has_a_description_an_icon_and_one_address(client):
    page = client.get("/bots/ann?x=1").text
    assert '<link rel="canonical" href="../bots/ann.html">' in page
    assert 'content="Skill, matches, opponents and faults of the bot ann."' in page
    icon = re.search(r'<link rel="icon" href="\.\./(static/icon-[^"]*)"', page)[1]
    assert client.get(f"/{icon}").headers["content-type"] == "image/svg+xml"


def described(page):
    """The properties of a page that search engines and previews read."""
    found = re.findall(
        r'<(?:meta (?:name|property)|link rel)="([^"]*)" (?:content|href)="([^"]*)"', page
    )
    return dict(found)


def test_every_page_says_what_it_is_to_search_engines_and_previews(built):
    archive = SiteArchive(built[0])
    try:
        for path, page in Site(archive).pages():
            shown = described(page.html(Links(path, address="https://arena.example")))
            address = f"https://arena.example/{path}.html"
            assert shown["canonical"] == shown["og:url"] == address
            assert shown["description"] == shown["og:description"], path
            assert path == "index" or shown["description"] != ABOUT, path
            assert shown["og:title"], path
    finally:
        archive.close()


def test_the_page_of_a_hand_says_what_it_is(client):
    shown = described(client.get("/m/m1/seat-1/2?step=9999.1").text)
    assert "robots" in shown  # an error
    step = re.search(r'href="\?step=([0-9.]+)"', client.get("/m/m1/seat-1/2").text)[1]
    shown = described(client.get(f"/m/m1/seat-1/2?step={step}").text)
    assert shown["canonical"] == "../../../m/m1/seat-1/2.html"
    assert shown["description"].endswith(": every decision, step by step.")
    assert "Hand 2 of " in shown["og:description"]


PRIVATE = ["/signin", "/me", "/organise", "/play/s/", "/play/m/", "/search", "/replays/"]


@pytest.mark.parametrize("path", PRIVATE)
def test_robots_leave_out_what_is_private_or_endless(client, path):
    assert f"Disallow: {path}" in client.get("/robots.txt").text.splitlines()


def test_the_table_of_a_person_is_in_no_search_engine():
    page = Page("error.html", "Table", {}, {"text": "", "listed": ""})
    shown = described(page.html(Links("play/s/table", address="https://arena.example")))
    assert shown["robots"] == "noindex"
    assert not {"canonical", "og:url"} & shown.keys()


def test_a_bot_leads_to_the_costliest_hand_of_a_win_and_of_a_loss(built, tmp_path):
    """Of the game that it plays most; a draw is neither, and a match without pages has none to lead to."""
    folder = tmp_path / "data"
    shutil.copytree(built[0], folder)
    rows = [
        ("won", "jam", (3, -3), (1, 2), 4, 2),
        ("won-by-more", "jam", (5, -5), (1, 2), 9, 6),
        ("lost", "jam", (-3, 3), (2, 1), 5, 3),
        ("drawn", "jam", (0, 0), (1, 1), 7, 4),
        ("unpublished", "jam", (-3, 3), (2, 1), 50, 1),
        ("of-another-game", "soko", (90, -90), (1, 2), 90, 1),
    ]
    with open_store(folder / "arena.db") as store:
        for number, (match, game, scores, places, cost, hand) in enumerate(rows):
            outcome = MatchOutcome(
                match,
                scores,
                places,
                "completed",
                ({}, {}),
                hands=8,
                cost=cost,
                costliest_hand=hand,
            )
            store.matches().record(
                [StoredMatch(outcome, game, ("cara", "ann"), "", house.AT + number)]
            )
        published = [row[0] for row in rows if row[0] != "unpublished"]
        store.matches().mark_published(published)
    for match in published:
        shutil.copyfile(house.RECORDED / "fair.replay", folder / "replays" / f"{match}.replay")
    with site(folder) as (made, _):
        page = made.get("/bots/cara").text
        costliest = page.partition("The costliest hand of a win and of a loss")[2]
        costliest = costliest.partition("</section>")[0]
        links = re.findall(r'href="[^"]*m/([^"?]+)\.html\?viewer=all&amp;hand=(\d)', costliest)
        assert links == [("won-by-more", "6"), ("lost", "3")]
        assert "The costliest hand of a win" not in made.get("/bots/cara.lost").text


def test_standings_of_a_bot_have_its_margin_over_time(client):
    labels = re.findall(r'class="spark"[^>]*aria-label="([^"]+)"', client.get("/bots/ann").text)
    assert len(labels) == 1
    assert re.fullmatch(
        r"mean margin, 4 deal-sets against an opponent: from [+-]\d+\.\d to [+-]\d+\.\d", labels[0]
    )


# fmt: off
ALIKE = [
    # options of two competitions  joined  why
    ((2, 2),                       True,   "equal terms"),
    ((2, 4),                       False,  "a match of more hands has more points"),
]
# fmt: on


@pytest.mark.parametrize(("hands", "joined", "why"), ALIKE, ids=[row[2] for row in ALIKE])
def test_skills_are_joined_over_time_where_their_unit_is_the_same(built, hands, joined, why):
    with contextlib.closing(SiteArchive(built[0])) as archive:
        one = next(one for one in archive.appearances("ann") if one.row["score"] is not None)
    terms = [{"game": "jam", "seats": 2, "options": {"hands": number}} for number in hands]
    plots = list(_versions([replace(one, terms=of_one) for of_one in terms]))
    assert [title for title, *_ in plots] == (["Jam, hands 2"] if joined else [])


def test_a_badge_names_the_address_that_the_page_does_not_know(client):
    assert "](ADDRESS/badges/ann/democracy.svg)](ADDRESS/bots/ann.html)" in text_of(
        client, "/bots/ann"
    )


# fmt: off
FOLDED = [
    # competitions of matches    told and folded of each group     why
    ("aaaaa",                    [("aaa", "aa")],                   "the fourth and later"),
    ("aaaa",                     [("aaaa", "")],                    "one alone is not folded"),
    ("baaaaab",                  [("baaa", "aa"), ("b", "")],       "among others"),
    ("aabaab",                   [("aabaab", "")],                  "runs that are short"),
    ("aaaaabaaaa",               [("aaa", "aa"), ("ba", "aaa")],    "one of a later run"),
    ("-----",                    [("-----", "")],                   "of no competition"),
]
# fmt: on


@pytest.mark.parametrize(("matches", "groups", "why"), FOLDED, ids=[row[2] for row in FOLDED])
def test_matches_of_one_competition_fill_no_list(matches, groups, why):
    made = folded([{"competition": None if one == "-" else one} for one in matches])
    texts = [
        ["".join(row["competition"] or "-" for row in part) for part in group] for group in made
    ]
    assert list(map(tuple, texts)) == groups


# fmt: off
STANDS = [
    # before           after              reason
    (("1", 3),         ("1", 2),          "the first of three is before the first of two"),
    (("1", 2),         ("1–3", 3),      "a sure place is before one that nobody has told apart"),
    (("1–3", 9),       ("1–3", 3),      "a tier that leads others is before one that leads nobody"),
    (("2", 4),         ("2–3", 4),      "the end of a shared place counts"),
    (("3", 3),         None,                    "a bot without a place comes last"),
]
# fmt: on


@pytest.mark.parametrize(
    ("before", "after"), [row[:2] for row in STANDS], ids=[row[2] for row in STANDS]
)
def test_bots_are_listed_by_what_is_sure_of_their_place(before, after):
    first, second = (row and {"place": row[0], "ranked": row[1]} for row in (before, after))
    assert by_place(first) < by_place(second)


# fmt: off
RUNGS = [
    # tier of the bot, tiers of the house                     its rung             why
    (1,    {"house-random": 3, "house-sample": 2},            "house-sample",      "the strongest that it is told apart from"),
    (2,    {"house-random": 3, "house-sample": 2},            "house-random",      "one of its own tier is not beaten"),
    (2,    {"house-random": 1},                               "",                  "it is below"),
    (1,    {"house-random": None},                            "",                  "a bot without a rank"),
    (None, {"house-random": 1},                               "",                  "it is not ranked"),
    (1,    {"rival": 2},                                      "",                  "no house bot plays"),
]
# fmt: on


@pytest.mark.parametrize(("tier", "others", "expected", "why"), RUNGS, ids=[r[-1] for r in RUNGS])
def test_a_bot_is_above_the_house_bots_of_lower_tiers(tier, others, expected, why):
    own = {"bot": "ann", "tier": tier}
    rows = [own, *({"bot": bot, "tier": at} for bot, at in others.items())]
    assert rung(own, rows) == expected


# fmt: off
BANDS = [
    # score, ± of each row            bots in each band  why
    ([(3, 1), (2, 1), (-3, 1)],       [2, 1],            "an interval apart from that of the first"),
    ([(3, 1), (1.5, 1), (0, 1)],      [2, 1],            "the first of a band counts, not the neighbour"),
    ([(3, None), (3, None), (2, 5)],  [3],               "an interval that is not known has no width"),
    ([],                              [],                "no rows"),
]
# fmt: on


@pytest.mark.parametrize(
    ("rows", "sizes"), [row[:2] for row in BANDS], ids=[row[2] for row in BANDS]
)
def test_bots_across_games_stand_in_bands(rows, sizes):
    given = [{"score": score, "half_width_95": half} for score, half in rows]
    assert list(map(len, bands(given))) == sizes
