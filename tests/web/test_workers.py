"""The page of an arena's workers, for organisers alone."""

import json
from types import SimpleNamespace

import pytest

from arena.api import arena_status
from arena.api.arena_status import NoStatus
from arena.live.metrics import WorkerStatus, gone_worker
from tests.web.asking import site, text_of

LOCAL = WorkerStatus(1, 4711, 2, 3, 12_000)
GONE = gone_worker("m2@a", 9)
JOINED = WorkerStatus(5, 99, 1, 8, 34, "m1 <b>", "S2", 4, 7)


@pytest.fixture
def client(built):
    with site(built[0], organiser=True) as (made, _):
        yield made


def found(monkeypatch, page):
    monkeypatch.setattr(arena_status, "status_of_folder", lambda _: SimpleNamespace(page=page))


def test_each_worker_has_a_row(client, monkeypatch):
    found(monkeypatch, SimpleNamespace(workers=(LOCAL, JOINED, GONE), placements=()))
    text = text_of(client, "/workers")
    assert "worker 1 (local) 3 12000 0 4711 2" in text
    assert "m1 <b> 8 34 7 S2 4 99 1" in text
    assert "m2@a (has left) 9" in text
    assert [each["name"] for each in client.get("/workers.json").json()["workers"]] == [
        "",
        "m1 <b>",
        "m2@a",
    ]


# fmt: off
NONE = [
    # the status's page            text                                    why
    (SimpleNamespace(workers=(), placements=()),  "The arena has no workers: all matches are played in its own process", "an arena without workers"),
    (None,                         "the arena serves no metrics",          "an arena without metrics"),
]
# fmt: on


@pytest.mark.parametrize(("page", "text", "why"), NONE, ids=[row[2] for row in NONE])
def test_a_sentence_says_why_there_is_no_row(client, monkeypatch, page, text, why):
    found(monkeypatch, page)
    assert text in text_of(client, "/workers")


def test_without_an_arena_the_page_says_so(client):
    assert "no arena runs in the folder" in text_of(client, "/workers")
    assert "no arena runs" in client.get("/workers.json").json()["problem"]


def test_the_last_errors_of_the_log_are_listed(client, built):
    lines = [
        {"level": "error", "timestamp": f"2026-11-30T20:0{at}:00Z", "event": "a call fails", "incident": f"5f0c81d{at}", "error": "<b>KeyError"}
        for at in range(9)
    ]  # fmt: skip
    log = built[0] / "arena.log"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in (*lines, {"level": "info"})))
    try:
        text = text_of(client, "/workers")
        assert "2026-11-30 20:08 5f0c81d8 a call fails <b>KeyError" in text
        assert ("5f0c81d4" in text, "5f0c81d3" in text) == (True, False), "the last five"
        assert client.get("/workers.json").json()["incidents"][0]["incident"] == "5f0c81d8"
    finally:
        log.unlink()


def test_other_readers_have_no_such_page(built):
    with site(built[0]) as (client, _):
        assert client.get("/workers").status_code == 404


def test_a_folder_that_cannot_be_read_is_named(client, monkeypatch):
    def cannot(_):
        raise NoStatus("cannot look into data: Permission denied")

    monkeypatch.setattr(arena_status, "status_of_folder", cannot)
    assert "Permission denied" in text_of(client, "/workers")


@pytest.mark.parametrize("path", ["/workers", "/workers.json"])
def test_the_page_is_not_for_other_sites_that_lead_a_browser_here(client, monkeypatch, path):
    found(monkeypatch, SimpleNamespace(workers=(LOCAL, JOINED), placements=()))
    refused = client.get(path, headers={"host": "evil.example"})
    assert refused.status_code == 421
    assert "4711" not in refused.text
