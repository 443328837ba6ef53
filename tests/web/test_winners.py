"""Who has won a match, and that pages and their twins say so."""

import re

import pytest

from arena.house.par import CannotCompare
from arena.records.read import Unplayable
from arena.results.deal_sets import winners
from arena.web.pages import match_result
from arena.web.pages.finished_match import match_page
from tests.web.asking import site

# fmt: off
PLACES = [
    ((1, 2),       ["ann"],        "one of two"),
    ((2, 1, 3),    ["bob"],        "one of three"),
    ((1, 3, 1),    ["ann", "cid"], "two share it"),
    ((1, 1),       [],             "all are equal"),
    ((1, 1, 1),    [],             "all of three are equal"),
    ((),           [],             "a match that was aborted has no places"),
]
# fmt: on


@pytest.mark.parametrize(("places", "won", "why"), PLACES, ids=[row[-1] for row in PLACES])
def test_winners_of_a_match(places, won, why):
    assert list(winners(("ann", "bob", "cid"), places)) == won


@pytest.fixture(scope="module")
def client(built):
    with site(built[0]) as (made, _):
        yield made


def marked(text):
    """Of each line of a match, who won it: the names before the verb."""
    lines = re.findall(r'<span class="said-line">(.*?)</span>', text, re.DOTALL)
    return [
        re.findall(r"<bdi[^>]*>([^<]*)</bdi>", re.split(r" (?:beat|won|tied first) ", line)[0])
        if re.search(r" (?:beat|won|tied first) ", line)
        else []
        for line in lines
    ]


@pytest.mark.parametrize("path", ["matches", "bots/ann", "bots/ann.lost"])
def test_a_list_marks_the_winners_of_its_json(client, path):
    twin = client.get(f"/{path}.json").json()["matches"]
    winners = [each["winners"] for each in twin]
    assert any(winners)
    assert all(
        each["winners"] == [each["bots"][each["places"].index(1)]]
        for each in twin
        if each["winners"]
    )
    shown = [
        [each.replace("&lt;", "<").replace("&gt;", ">") for each in row]
        for row in marked(client.get(f"/{path}").text)
    ]
    assert shown == winners


def test_a_tournament_says_who_won_each_of_its_tables(client):
    twin = client.get("/competitions/autumn.json").json()["games"][0]["deal_sets"]
    winners = [row for each in twin if each["state"] == "closed" for row in each["winners"]]
    assert len(winners) == sum(len(each["matches"]) for each in twin) > 0
    assert {len(each) for each in winners} == {1}
    text = client.get("/competitions/autumn").text
    assert text.count('<span class="tag-s won">won</span>') == len(winners)


def test_winners_of_a_sealed_deal_set_are_not_shown(client):
    twin = client.get("/competitions/autumn.json").json()["games"][0]["deal_sets"]
    assert [each["winners"] for each in twin if each["state"] == "open"] != []
    assert not any(each["winners"] for each in twin if each["state"] != "closed")


def test_the_page_of_a_match_marks_who_won(client):
    won = client.get("/m/m1.json").json()["winners"]
    result = client.get("/m/m1/all/1").text.partition("Result by seat")[2].partition("</table>")[0]
    assert re.findall(r'<bdi>([^<]*)</bdi></a> <span class="tag-s won">', result) == won != []


def test_a_costly_hand_has_its_points_and_whom_it_is_compared_with(client):
    text = client.get("/m/m1/all/1").text
    names = [each["bot"] for each in client.get("/m/m1.json").json()["seats"]]
    costly = re.findall(r"Hand \d+</a>: (?:[+−]\d+|0) points, [\d.]+ fewer than (.*)\.", text)
    assert costly
    assert set(costly) <= {*names, "the mean of the others"}


def test_the_page_of_a_match_shows_par_beside_the_scores(client):
    seats = client.get("/m/m1.json").json()["seats"]
    assert all(isinstance(each["par"], int) for each in seats)
    text = client.get("/m/m1/all/1").text
    result = text.partition("Result by seat")[2].partition("</table>")[0]
    cells = [re.findall(r'<td class="n">([^<]*)</td>', row) for row in result.split("<tr>")[2:]]
    assert [(f"{each['score']:+g}", f"{each['par']:+d}") for each in seats] == [
        (row[0], row[1]) for row in cells
    ]
    assert "Par is the score of house bots" in text


@pytest.mark.parametrize("error", [CannotCompare("no policy"), Unplayable("older rules")], ids=str)
def test_a_match_that_house_bots_cannot_play_has_a_result_without_par(
    client, built, monkeypatch, error
):
    def cannot(*_):
        raise error

    monkeypatch.setattr(match_result, "par", cannot)
    assert {each["par"] for each in client.get("/m/m1.json").json()["seats"]} == {None}
    made, _ = match_page(built[0] / "replays" / "m1.replay", id(error), "all", 1, "", "")
    assert "Result by seat" in made
    assert "Par is" not in made
