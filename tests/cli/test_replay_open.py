"""`arena replay open`: a match as pages on the disk."""

import base64
import gzip
import json
import re

import pytest
from click.testing import CliRunner

from arena.cli.replay import replay as command
from tests.records.matches import Bot, record


@pytest.fixture(scope="module")
def replay(tmp_path_factory):
    bots = [Bot(0, note="a secret thought"), Bot(1)]
    return record(tmp_path_factory.mktemp("open"), "abstrac", bots)


def opened(*arguments):
    return CliRunner().invoke(command, ["open", *map(str, arguments)])


def packed(page):
    """What the file of a match has for its script."""
    text = re.search(r'id="packed">([^<]*)<', page.read_text("utf-8"))[1]
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_one_page_has_every_hand_for_every_viewer(replay, tmp_path):
    done = opened(replay, "--to", tmp_path / "pages")
    assert done.exit_code == 0
    pages = sorted(file.name for file in (tmp_path / "pages").glob("*.html"))
    assert pages == [f"{replay.stem}.html", "rules.html"]
    page = tmp_path / "pages" / pages[0]
    assert done.output.strip() == f"{page.as_uri()}?viewer=all&hand=1"
    hands = {viewer: len(hands) for viewer, hands in packed(page)["viewers"].items()}
    assert hands == dict.fromkeys(("all", "spectator", "seat-0", "seat-1"), 2)


def test_every_link_leads_to_a_file(replay, tmp_path):
    opened(replay, "--to", tmp_path)
    for page in tmp_path.glob("*.html"):
        text = page.read_text("utf-8")
        found = re.findall(r'(?:href|src)="([^"#?]+)["?]', text)
        assert found
        assert all((tmp_path / name).is_file() for name in found)
        assert "http" not in text.replace("http-equiv", "").replace(
            "http://www.w3.org/2000/svg", ""
        )


def test_notes_of_bots_are_in_no_page(replay, tmp_path):
    opened(replay, "--to", tmp_path)
    assert all("secret thought" not in page.read_text("utf-8") for page in tmp_path.glob("*"))
    assert "secret thought" not in str(packed(tmp_path / f"{replay.stem}.html"))


def test_the_pages_are_opened_unless_they_go_to_a_folder(replay, tmp_path, monkeypatch):
    launched = []
    monkeypatch.setattr(
        "arena.cli.browser.webbrowser.open", lambda page: launched.append(page) or True
    )
    opened(replay, "--to", tmp_path)
    assert launched == []
    done = opened(replay, "--seat", "1")
    assert launched == [done.output.strip()]
    assert launched[0].endswith(f"/{replay.stem}.html?viewer=seat-1&hand=1")


WRONG = [
    (["--seat", "1", "--spectator"], "choose one of --seat and --spectator", "both"),
    (["--seat", "2"], "there is no seat 2: the seats are 0 to 1", "no such seat"),
]


@pytest.mark.parametrize(("arguments", "says", "why"), WRONG, ids=[row[2] for row in WRONG])
def test_mistakes_are_said(arguments, says, why, replay, tmp_path):
    done = opened(replay, "--to", tmp_path, *arguments)
    assert done.exit_code != 0
    assert says in done.output


def test_a_folder_that_cannot_be_written_is_said(replay, tmp_path):
    (tmp_path / "file").write_text("")
    done = opened(replay, "--to", tmp_path / "file" / "pages")
    assert done.exit_code == 1
    assert "cannot write" in done.output
