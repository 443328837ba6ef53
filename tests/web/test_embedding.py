"""Pages that stand in pages of other sites: only where the organiser allows it, and only matches."""

import re

import pytest

from arena.web.responses import HEADERS
from tests.web.asking import site

BLOGS = ("https://blog.example", "https://club.example:8443")
POLICY = "content-security-policy"


@pytest.fixture
def client(built):
    with site(built[0], embed_in=BLOGS) as (asking, _):
        yield asking


def test_the_page_of_a_hand_may_stand_in_pages_of_the_named_sites_alone(client):
    answer = client.get("/embed/m/m1/seat-1/2")
    assert answer.status_code == 200
    none = "frame-ancestors 'none'"
    named = f"frame-ancestors {' '.join(BLOGS)}"
    assert answer.headers[POLICY] == HEADERS[POLICY].replace(none, named)
    again = client.get("/embed/m/m1/seat-1/2", {"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.headers[POLICY]) == (304, answer.headers[POLICY])
    for other in ("/m/m1/seat-1/2", "/", "/bots/ann", "/embed/m/m1/all/99"):
        assert none in client.get(other).headers[POLICY], other


def test_an_embedded_page_has_the_picture_and_neither_forms_nor_pages_of_the_site(client):
    page = client.get("/embed/m/m1/seat-1/2").text
    whole = client.get("/m/m1/seat-1/2").text
    assert 'class="felt' in page
    assert "<header" in whole
    assert "<header" not in page
    assert "<form" not in page
    assert 'rel="canonical" href="../../../../m/m1/seat-1/2.html"' in page
    for link in re.findall(r"<a [^>]*>", page):
        within = re.search(r'href="(\?step=|\.\./\.\./\.\./\.\./embed/m/m1/)', link)
        assert within or 'target="_blank" rel="noopener"' in link, link


@pytest.mark.parametrize("path", ["{sealed}/all/1", "m1/live", "m1/all/99", "gone/all/1"])
def test_what_has_no_page_cannot_be_embedded(client, built, path):
    assert client.get(f"/embed/m/{path.format(**built[1])}").status_code == 404


def test_nothing_is_embedded_where_the_organiser_names_no_site(built):
    with site(built[0]) as (client, _):
        assert client.get("/embed/m/m1/all/1").status_code == 404
