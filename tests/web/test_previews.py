"""Previews: the pictures that other sites show beside a link."""

import io
import re
import subprocess
import sys
from urllib.parse import urljoin

import pytest
from PIL import Image

from arena.games.catalogue import GAMES
from arena.pictures import Viewer
from arena.records.frames import viewer_frames
from arena.web import app, rendering
from arena.web.preview import MOST_FRAMES, hand_preview, moving_hand
from tests.pictures.matches import played
from tests.web.asking import site
from tests.web.pages import NAMES

MOST_BYTES, MOST_GIF_BYTES = 120_000, 400_000


@pytest.fixture
def client(built):
    with site(built[0], address="https://arena.example") as (asking, _):
        yield asking


def image_of(body):
    return Image.open(io.BytesIO(body))


# fmt: off
ADDRESSES = [
    ("/m/m1/seat-1/2?step=13", "m/m1/seat-1/2.png?step=13", "a step of a hand"),
    ("/m/m1/all/1",            "m/m1/all/1.png?step=0",     "a hand"),
    ("/bots/ann",              "bots/ann.png",              "a bot"),
]
# fmt: on


@pytest.mark.parametrize(("page", "picture", "why"), ADDRESSES, ids=[row[2] for row in ADDRESSES])
def test_a_page_has_a_picture_that_other_sites_may_show(client, page, picture, why):
    shown = re.search(r'property="og:image" content="([^"]*)"', client.get(page).text)[1]
    assert shown == f"https://arena.example/previews/{picture}"
    answer = client.get(f"/previews/{picture}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert image_of(answer.content).size == (1200, 630)
    again = client.get(f"/previews/{picture}", {"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


def test_a_hand_is_shared_as_a_moving_picture(client):
    link = re.search(r'<a href="([^"]*[.]gif)"', client.get("/m/m1/seat-1/2").text)[1]
    answer = client.get(urljoin("/m/m1/seat-1/2", link))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/gif")
    picture = image_of(answer.content)
    assert (picture.size, picture.is_animated) == ((600, 315), True)


def test_a_drawn_picture_is_kept(client, monkeypatch):
    first = client.get("/previews/m/m1/all/3.png?step=25").content
    monkeypatch.setattr(app, "_call", None)
    assert client.get("/previews/m/m1/all/3.png?step=25").content == first


# fmt: off
MISSING = [
    ("m/{sealed}/all/1.png",   "a sealed match"),
    ("m/{sealed}/all/1.gif",   "a sealed match that moves"),
    ("m/m1/all/9.png",         "a hand that the match does not have"),
    ("m/m1/seat-7/1.png",      "a seat that the match does not have"),
    ("m/m1/all/1.png?step=99", "a step of another hand"),
    ("bots/zoe.png",           "no bot"),
]
# fmt: on


@pytest.mark.parametrize(("path", "why"), MISSING, ids=[row[1] for row in MISSING])
def test_there_is_no_picture_of(client, built, path, why):
    assert client.get(f"/previews/{path.format(**built[1])}").status_code == 404


def test_without_the_extra_pages_have_no_picture(built, monkeypatch):
    monkeypatch.setattr(rendering, "has_previews", lambda: False)
    monkeypatch.setattr(app, "has_previews", lambda: False)
    with site(built[0], address="https://arena.example") as (client, _):
        assert "og:image" not in client.get("/bots/ann").text
        assert ".gif" not in client.get("/m/m1/all/1").text
        assert client.get("/previews/bots/ann.png").status_code == 404


def test_pages_do_not_load_what_draws_pictures():
    """In the process of pages; the worker that replays matches loads it for a picture."""
    loads = (
        "import sys, arena.web.serve, arena.web.pages.finished_match; print('PIL' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize("game", [game.id for game in GAMES])
def test_the_picture_of_a_hand_of_each_game_is_small(game):
    from arena.games.catalogue import game_by_id

    seats = game_by_id(game).seats[-1]
    options, steps = played(game, seats)
    frames = list(viewer_frames(steps, Viewer.ALL, options, seats))
    for frame in frames[:40:8]:
        body = hand_preview("Game", "words", NAMES[:seats], frame.scene())
        assert len(body) < MOST_BYTES
        assert image_of(body).size == (1200, 630)
    frames = [frame for frame in frames if frame.hand == 0]
    body = moving_hand(
        "Game", NAMES[:seats], [(f"step {frame.label}", frame.scene()) for frame in frames]
    )
    assert len(body) < MOST_GIF_BYTES
    assert image_of(body).n_frames <= MOST_FRAMES
