"""Atom feeds: what they list, what they never say, and that readers can parse them."""

import re
from datetime import datetime
from xml.etree import ElementTree as ET

import pytest

from tests.web import house
from tests.web.asking import site

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def client(built):
    with site(built[0], address="https://arena.example") as (asking, _):
        yield asking


# fmt: off
FEEDS = [
    # page, its feed, what stands in each entry, why
    ("/",                    "matches.atom",             "",       "the whole arena"),
    ("/matches",             "matches.atom",             "",       "the list of matches"),
    ("/bots/ann",            "bots/ann.atom",            "ann",    "a bot"),
    ("/competitions/autumn", "competitions/autumn.atom", "autumn", "a competition"),
]
# fmt: on


@pytest.mark.parametrize(("page", "path", "has", "why"), FEEDS, ids=[row[3] for row in FEEDS])
def test_a_page_leads_to_the_feed_of_its_matches(client, page, path, has, why):
    assert (
        f'type="application/atom+xml" href="{"../" * (page.count("/") - 1)}{path}"'
        in client.get(page).text
    )
    answer = client.get(f"/{path}")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ET.fromstring(answer.content)
    assert feed.find(f"{ATOM}link[@rel='self']").get("href") == f"https://arena.example/{path}"
    entries = feed.findall(f"{ATOM}entry")
    assert entries
    ids = [entry.findtext(f"{ATOM}id") for entry in (feed, *entries)]
    assert len({*ids}) == len(ids)
    for entry in entries:
        assert has in entry.findtext(f"{ATOM}content")
        assert datetime.fromisoformat(entry.findtext(f"{ATOM}updated")).tzinfo is not None
        link = entry.find(f"{ATOM}link")
        if link is not None:
            there = link.get("href").removeprefix("https://arena.example")
            assert client.get(there).status_code == 200


def test_a_bots_page_has_a_line_for_a_readme_and_its_badge(client):
    page = client.get("/bots/ann.html").text
    game = re.search(r"\[!\[.*\(https://arena.example/badges/ann/(\w+)\.svg\)\]\(", page)[1]
    shown = client.get(f"/badges/ann/{game}.svg")
    assert shown.headers["content-type"] == "image/svg+xml"
    assert shown.headers["cross-origin-resource-policy"] == "cross-origin"
    label = ET.fromstring(shown.content).get("aria-label")
    assert re.fullmatch(r".+: (place \d+ of \d+|no place yet)(, above house-.+)?", label)
    assert client.get("/badges/zoe/jam.svg").status_code == 404


def test_a_feed_tells_the_story_of_a_match(client):
    feed = ET.fromstring(client.get("/competitions/autumn.atom").content)
    titles = [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]
    assert [title for title in titles if " beat " in title], titles
    assert not [title for title in titles if "<bdi" in title or "&amp;" in title]


@pytest.mark.parametrize("path", [row[1] for row in FEEDS[1:]])
def test_a_feed_says_nothing_of_a_sealed_match(client, built, path):
    feed = client.get(f"/{path}").text
    assert built[1]["sealed"] not in feed
    assert not any(canary in feed for canary in house.CANARIES)


@pytest.mark.parametrize("path", ["bots/zoe", "competitions/spring", "games/eleusis", "x"])
def test_there_is_no_feed_of(client, path):
    assert client.get(f"/{path}.atom").status_code == 404
