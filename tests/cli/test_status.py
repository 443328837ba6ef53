"""`arena status`: what a person sees, what a program gets, and what is said if there is nothing."""

import copy
import http.server
import json
import os
import signal
import threading
import time
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from arena.api.arena_status import last_incidents
from arena.bots.tokens import Tokens
from arena.cli import main
from arena.store import data_folder as notices
from arena.store.data_folder import (
    RunningNotice,
    arena_version,
    is_running,
    read_notice,
    remove_notice,
    take_lock,
    write_notice,
)
from tests.cli.serving import served
from tests.doubles.streams import PATIENCE_S, Client
from tests.live.running import running
from tests.live.test_metrics import create, notice_of, play, seat

NOTICE = RunningNotice(4711, "127.0.0.1:7654", "", 1_700_000_000.0, "0.1.0")


def status(*arguments):
    outcome = CliRunner().invoke(main, ["status", *map(str, arguments)])
    return outcome.exit_code, outcome.output


TIMES = {"count": 0, "p50": None, "p99": None}
EMPTY = {
    "version": "9.8.7",
    "draining": False,
    "matches": {
        "in_play": 0,
        "begun": 0,
        "ended": {},
        "aborted": {},
        "taken": True,
        "refused": 0,
    },
    "bots": {"connected": 0, "known": 0},
    "connections": {"open": 0, "cut": 0},
    "waiting_bytes": 0,
    "decisions": {},
    "faults": {},
    "refused": {"calls": {}, "messages": {}},
    "times_ms": {"charged": TIMES, "turnaround": TIMES, "journal_sync": TIMES},
    "lag": {
        "late_p99_ms": 0.0,
        "pauses": 0,
        "paused_s": 0.0,
        "longest_pause_ms": 0.0,
        "refunded_s": 0.0,
    },
    "journal": {"written_bytes": 0, "unsynced_bytes": 0},
    "deal_sets": {},
    "process": {
        "resident_bytes": 0,
        "open_files": 0,
        "threads": 1,
        "cpu_s": 0.0,
        "started_unix_s": 1_700_000_000.0,
    },
    "workers": [],
    "placements": [],
}
"""The page of an arena in which nothing has happened."""


# What a person sees.


def rows(text):
    """The lines by what they begin with."""
    return {line[2:14].strip(): line[14:] for line in text.splitlines()[1:] if line[:2] == "  "}


def test_a_person_is_told_how_the_arena_does(tmp_path):
    with (
        running(tmp_path, Tokens(guests=True), metrics_port=0) as arena,
        Client(arena.address) as client,
    ):
        streams = seat(client, "ann", "bob")
        create(client, "ann", "bob")
        asked = play(streams, lambda ask: 999)
        code, text = status("--data", tmp_path)
        assert code == 0
        first, *_ = text.splitlines()
        assert first.startswith(f"Card Arena {arena_version()} is up since 20")
        assert first.endswith(f" s), process {os.getpid()}")
        found = rows(text)
        assert found["address"] == arena.address
        assert found["metrics"] == notice_of(tmp_path).metrics
        assert found["matches"] == "0 in play, 1 ended: forfeit 1"
        assert found["bots"] == "2 connected, 2 known"
        assert found["faults"] == f"illegal {asked}"
        assert found["decisions"].endswith("(abstrac " + found["decisions"].split()[0] + ")")
        assert found["deal-sets"] == "0 fixed, 0 void"
        assert found["refused"] == "nothing"
        assert " ms at the median, " in found["bots' time"]
        assert " written; on disk within " in found["journal"]
        assert " threads, " in found["process"]
        assert " free, " in found["disk"]
        assert "Last errors" not in text


def test_a_program_gets_the_same(tmp_path):
    with (
        running(tmp_path, Tokens(guests=True), metrics_port=0) as arena,
        Client(arena.address) as client,
    ):
        streams = seat(client, "ann", "bob")
        create(client, "ann", "bob")
        asked = play(streams)
        code, text = status("--data", tmp_path, "--json")
        assert code == 0
        found = json.loads(text)
        assert found["up"] is True
        assert found["address"] == arena.address
        assert found["matches"]["ended"] == {"completed": 1}
        assert found["matches"]["taken"] is True
        assert found["decisions"] == {"abstrac": asked}
        assert found["bots"] == {"connected": 2, "known": 2}
        assert found["times_ms"]["charged"]["count"] == asked
        assert 0 < found["times_ms"]["charged"]["p50"] <= found["times_ms"]["charged"]["p99"]
        assert found["incidents"] == []
        # By the address of its metrics alone: without what only the folder tells.
        url = found["metrics"]
        for where in (url, url.removeprefix("http://").removesuffix("/metrics")):
            code, text = status("--metrics", where, "--json")
            assert code == 0
            remote = json.loads(text)
            assert remote["decisions"] == {"abstrac": asked}
            assert "address" not in remote
        code, text = status("--metrics", url)
        assert code == 0
        assert text.startswith(f"Card Arena {arena_version()} is up since ")


@pytest.mark.slow
def test_the_process_is_found_by_its_folder_and_a_drain_is_told(tmp_path):
    with served(tmp_path) as (address, process):
        with Client(address) as client:
            streams = seat(client, "ann", "bob")
            create(client, "ann", "bob")
            for stream in streams:
                stream.expect("match_start")
            process.send_signal(signal.SIGTERM)
            for stream in streams:
                until_drain(stream)
            code, text = status("--data", tmp_path)
            assert code == 0
            assert "is draining, and was up since" in text
            assert f"process {process.pid}" in text
            assert rows(text)["matches"] == "1 in play, 0 ended"
            process.kill()
            process.wait(PATIENCE_S)
        code, text = status("--data", tmp_path)
        assert code == 1
        assert f"the last one, process {process.pid}, was killed" in text


def until_drain(stream):
    while stream.next().WhichOneof("body") != "drain":
        pass


def test_an_arena_without_metrics_is_told_of_as_far_as_possible(tmp_path):
    with running(tmp_path, Tokens(guests=True)) as arena:
        code, text = status("--data", tmp_path)
        assert code == 0
        assert rows(text)["address"] == arena.address
        assert rows(text)["metrics"] == "none: only `arena serve` has them"
        assert set(rows(text)) == {"address", "metrics", "disk"}
        assert json.loads(status("--data", tmp_path, "--json")[1])["up"] is True


def test_what_a_page_says_gives_no_orders_to_the_terminal():
    with page_of({**EMPTY, "faults": {"\x1b[31mred": 3}}) as address:
        code, text = status("--metrics", address)
    assert code == 0
    assert rows(text)["faults"] == "\N{REPLACEMENT CHARACTER}[31mred 3"


def test_processes_that_play_for_the_arena_are_told_each():
    counts = {"pid": 4712, "matches": 8, "decisions": 12_345}
    page = changed(
        "workers",
        to=[
            {"number": 1, "starts": 1, **counts},
            {"number": 2, "starts": 3, **counts},
            {
                "number": 65,
                "starts": 1,
                **counts,
                "name": "m1",
                "sandbox": "S2",
                "speed_class": -1,
                "failed_begins": 3,
            },
            {
                "number": 0,
                "pid": 0,
                "starts": 0,
                "matches": 0,
                "decisions": 0,
                "name": "m2@a",
                "failed_begins": 2,
            },
        ],
    )
    with page_of(page) as address:
        found = rows(status("--metrics", address)[1])
    assert found["m2@a"] == "has left, 2 begins failed"
    assert found["worker 1"] == "8 in play, 12,345 decisions, process 4712"
    assert found["worker 2"] == "8 in play, 12,345 decisions, process 4712, started 3 times"
    assert found["m1"] == (
        "8 in play, 12,345 decisions, 3 begins failed, sandbox S2, speed class -1, process 4712"
    )


# What is said if there is nothing.


@contextmanager
def page_of(body, code=200, asked=None):
    """Another program that answers so; `asked` is told the paths that it was asked for."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(code)
            self.end_headers()
            self.wfile.write(data)
            if asked is not None:
                asked.append(self.path)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def changed(*path, to):
    """The page of an arena with another value somewhere."""
    page = copy.deepcopy(EMPTY)
    place = page
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return page


def without(name):
    return {key: value for key, value in EMPTY.items() if key != name}


# fmt: off
NO_ARENA = [
    (b"<html>hello</html>",                 200, "a page for people"),
    (b"go_goroutines 8\n",                  200, "metrics of another program"),
    (b"cardarena_draining 0.0\n",           200, "metrics of an arena"),
    (EMPTY,                                 404, "not found"),
    (EMPTY,                                 500, "an error"),
    (b"\xff\xfe{" * 99,                     200, "nonsense"),
    (b"[" * 99_999,                         200, "brackets"),
    (b"1" * 9_999,                          200, "a long number"),
    (b"",                                   200, "nothing"),
    (b"null",                               200, "null"),
    ([EMPTY],                               200, "a list"),
    ({"status": "ok"},                      200, "the status of another program"),
    (without("draining"),                   200, "no draining"),
    (changed("version", to=7),              200, "a version that is no text"),
]
UNKNOWN = [
    (without("lag"),                                    "a part is missing"),
    (changed("bots", to={"connected": 0}),              "a number is missing"),
    (changed("bots", to=[]),                            "a part is a list"),
    (changed("waiting_bytes", to="much"),               "a word for a number"),
    (changed("waiting_bytes", to=True),                 "a flag for a number"),
    (changed("waiting_bytes", to=0.5),                  "half a byte"),
    (changed("waiting_bytes", to=-1),                   "less than nothing"),
    (changed("waiting_bytes", to=10**400),              "more than there is"),
    (changed("faults", to={"illegal": "3"}),            "a word in counts"),
    (changed("matches", "taken", to=1),                 "a number for a flag"),
    (changed("lag", "late_p99_ms", to=float("nan")),    "no number"),
    (changed("process", "cpu_s", to=float("inf")),      "without an end"),
    (changed("process", "started_unix_s", to=9e14),     "a time without a date"),
    (changed("times_ms", "charged", to={"count": 1}),   "times without bounds"),
    (changed("workers", to={"1": {}}),                  "processes that are no list"),
    (changed("workers", to=[{"number": 1}]),            "a process without numbers"),
]
# fmt: on


@pytest.mark.parametrize(("body", "code", "why"), NO_ARENA, ids=[row[2] for row in NO_ARENA])
def test_what_is_no_page_of_an_arena_is_told_apart(body, code, why):
    with page_of(body, code) as address:
        assert status("--metrics", address) == (
            1,
            f"Error: what answers at {address} is no arena\n",
        )


@pytest.mark.parametrize(("body", "why"), UNKNOWN, ids=[row[1] for row in UNKNOWN])
def test_a_status_that_this_command_does_not_know_is_told_with_its_version(body, why):
    with page_of(body) as address:
        code, text = status("--metrics", address)
    assert (code, text) == (
        1,
        f"Error: the status of the arena at {address}, version 9.8.7, cannot be read by this version of the command\n",
    )


def test_an_arena_that_is_older_than_its_status_is_told_of():
    with page_of(b"the metrics are at /metrics\n", 404) as address:
        code, text = status("--metrics", address)
    said = f"the arena at {address} is of an older version, which has metrics and no status"
    assert (code, text) == (1, f"Error: {said}\n")


def test_engines_that_place_workers_are_told():
    placed = {
        "key": "m1",
        "engine": "dask",
        "speed_class": 0,
        "wanted": 5,
        "running": 3,
        "pending": 2,
    }
    page = {**EMPTY, "placements": [{**placed, "problem": "no room"}]}
    with page_of(page) as address:
        code, text = status("--metrics", address)
    assert code == 0
    assert "dask        m1: 3 of 5 workers run, 2 wait for a machine; no room" in text


def test_a_newer_arena_may_tell_more():
    with page_of({**EMPTY, "weather": "fine"}) as address:
        code, text = status("--metrics", address, "--json")
    assert (code, json.loads(text)) == (0, {"up": True, **EMPTY, "incidents": []})


# fmt: off
ADDRESSES = [
    ("",                "/status",       "a host and a port"),
    ("/",               "/status",       "the root"),
    ("/metrics",        "/status",       "its metrics"),
    ("/status",         "/status",       "its status"),
    ("/arena/metrics",  "/arena/status", "its metrics behind another server"),
    ("/arena/",         "/arena/status", "a folder of another server"),
]
# fmt: on


@pytest.mark.parametrize(("path", "page", "why"), ADDRESSES, ids=[row[2] for row in ADDRESSES])
def test_the_status_is_asked_for_beside_the_metrics(path, page, why):
    asked = []
    with page_of(EMPTY, asked=asked) as address:
        assert status("--metrics", f"http://{address}{path}")[0] == 0
    assert asked == [page]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("127.0.0.1:1", "no arena answers at 127.0.0.1:1: Connection refused"),
        ("ftp://a/b", "'ftp://a/b' is no address of metrics; give one as http://127.0.0.1:9464"),
        ("a:b", "'a:b' is no address of metrics; give one as http://127.0.0.1:9464"),
        ("http://", "'http://' is no address of metrics; give one as http://127.0.0.1:9464"),
    ],
    ids=["nobody there", "another protocol", "no port", "no host"],
)
def test_an_address_that_does_not_answer(url, said):
    assert status("--metrics", url) == (1, f"Error: {said}\n")


def test_a_folder_without_an_arena(tmp_path):
    assert status("--data", tmp_path) == (1, f"Error: no arena runs in the folder {tmp_path}\n")
    for data in (tmp_path, tmp_path / "nosuch"):
        code, text = status("--data", data, "--json")
        assert code == 1
        assert json.loads(text) == {"up": False, "why": f"no arena runs in the folder {data}"}


def test_an_arena_that_just_starts(tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        assert take_lock(lock.fileno())
        code, text = status("--data", tmp_path)
        assert (code, "an arena is just starting or ending" in text) == (1, True)


# The notice.


def test_a_notice_is_there_as_long_as_the_arena(tmp_path):
    write_notice(tmp_path, NOTICE)  # left behind by one that was killed
    assert not is_running(tmp_path)
    with running(tmp_path, Tokens(guests=True)) as arena:
        assert is_running(tmp_path)
        found = notice_of(tmp_path)
        assert (found.pid, found.address) == (os.getpid(), arena.address)
        assert abs(found.started_unix_s - time.time()) < PATIENCE_S
    assert not is_running(tmp_path)
    assert read_notice(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"pid": "x"}', '{"pid": 1, "address": "a", "metrics": ""}'],
    ids=["empty", "torn", "a list", "without anything", "a word", "half"],
)
def test_a_notice_that_cannot_be_read_is_none(tmp_path, text):
    (tmp_path / notices.NOTICE_NAME).write_text(text)
    assert read_notice(tmp_path) is None


def test_a_notice_is_written_and_taken_down(tmp_path):
    write_notice(tmp_path, NOTICE)
    assert read_notice(tmp_path) == NOTICE
    remove_notice(tmp_path)
    remove_notice(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_looking_does_not_keep_an_arena_from_starting(tmp_path, monkeypatch):
    """A look holds the lock for an instant: the arena tries again."""
    path = tmp_path / "lock"
    with path.open("w") as looking, path.open("w") as starting:
        assert take_lock(looking.fileno())
        tries = []

        def wait(seconds):
            tries.append(seconds)
            if len(tries) == 3:
                looking.close()

        monkeypatch.setattr(notices.time, "sleep", wait)
        assert take_lock(starting.fileno())
        assert tries == [notices.LOCK_WAIT_S] * 3


def test_a_lock_that_is_kept_is_another_arenas(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    monkeypatch.setattr(notices.time, "sleep", lambda _: None)
    with path.open("w") as running_, path.open("w") as starting:
        assert take_lock(running_.fileno())
        assert not take_lock(starting.fileno())


# Errors.


def test_the_last_errors_of_the_log_are_told(tmp_path):
    lines = [
        json.dumps({"level": "error", "event": "an error in a call", "incident": str(at)})
        for at in range(8)
    ]
    others = ['{"level": "info", "event": "an \\"error\\" was told"}', '{"level": "error", "eve']
    (tmp_path / "arena.log").write_text("\n".join([*lines, *others]))
    assert [each.incident for each in last_incidents(tmp_path)] == ["3", "4", "5", "6", "7"]
    assert last_incidents(tmp_path / "nosuch") == []


def test_a_person_is_told_the_last_errors(tmp_path):
    line = {
        "level": "error",
        "event": "an internal error aborts a match",
        "incident": "3f9a",
        "match": "m1",
        "error": "KeyError",
        "timestamp": "2026-11-21T04:20:11.1Z",
    }
    paused = {
        "level": "error",
        "event": "a competition was paused",
        "competition": "autumn",
        "why": "files of bots have changed",
        "timestamp": "2026-11-21T04:21:00Z",
    }
    with running(tmp_path, Tokens(guests=True)):
        (tmp_path / "arena.log").write_text(f"{json.dumps(line)}\n{json.dumps(paused)}\n")
        _, text = status("--data", tmp_path)
    head, last, newest = text.splitlines()[-3:]
    assert newest.endswith("a competition was paused  autumn  files of bots have changed")
    assert head == "Last errors in arena.log:"
    assert [word for word in last.split("  ") if word] == [
        "2026-11-21 04:20:11",
        "an internal error aborts a match",
        "incident 3f9a",
        "match m1",
        "KeyError",
    ]
