"""`arena web` as a process: it ends with the arena that started it, and outlives one that did not."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.cli.browser import open_in_browser
from arena.cli.web import web
from arena.store import open_store
from arena.web.serve import NICENESS
from tests.cli.serving import ended, served
from tests.doubles.streams import PATIENCE_S
from tests.sdk.test_exit import IGNORING
from tests.store.clusters import Cluster
from tests.store.test_postgresql import as_pages

BOT = Path(__file__).parents[1] / "live" / "any_move.py"

LISTENS = re.compile(r"Pages are at http://127\.0\.0\.1:(\d+)/")
AWAY = "No arena answers"


def port_said(process):
    """Where its pages are, as it says."""
    for line in process.stdout:
        if found := LISTENS.match(line):
            return int(found[1])
    raise AssertionError("it says no address")


@contextmanager
def pages(data, *options, starter=()):
    """The port and the process id of an `arena web` of its own."""
    command = [
        *starter,
        sys.executable,
        "-m",
        "arena",
        "web",
        "--port",
        "0",
        "--data",
        str(data),
        *options,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield port_said(process), process.pid
        finally:
            process.terminate()


@pytest.mark.slow
def test_pages_end_with_the_arena_that_was_killed(tmp_path):
    with served(tmp_path / "data", "--web", "--web-port", "0") as (_, process):
        port = port_said(process)
        process.kill()
        # It writes to the same pipe, so that ends when the last of them has gone.
        process.stdout.read()
        with socket.create_server(("127.0.0.1", port)):
            pass


@pytest.mark.slow
def test_an_arena_and_its_pages_end_in_order(tmp_path):
    with served(tmp_path / "data", "--web", "--web-port", "0") as (_, process):
        port_said(process)
        process.terminate()
        assert ended(process) == ("Drained.\nStopped.\n", "")
        assert process.returncode == 0


def given_to_pages(cluster, data, folder):
    """The arguments of pages that have two folders of the arena, as deployments mount them, and a role of their own."""
    url = as_pages(cluster, data / "arena.db")
    open_store(data / "arena.db").close()
    folder.mkdir()
    for name in ("replays", "live"):
        (folder / name).symlink_to(data / name)
    return folder, "--store", url


@pytest.mark.slow
def test_an_arena_and_its_pages_keep_what_is_played_in_postgresql(tmp_path):
    data, command = tmp_path / "data", f"{sys.executable} {BOT}"
    with Cluster() as cluster:
        options = ("--web", "--web-port", "0", "--store", cluster.new_store())
        with served(data, *options) as (address, process):
            port = port_said(process)
            bots = [
                subprocess.Popen(
                    [*command.split(), name],
                    env=os.environ
                    | {"CARDARENA_ADDRESS": address, "CARDARENA_TOKEN": f"guest:{name}"},
                )
                for name in ("ann", "bob")
            ]
            try:
                words = ["match", "create", "sixty_six", "ann", "bob", "--option", "hands=2"]
                end_s = time.monotonic() + PATIENCE_S
                while (told := CliRunner().invoke(main, [*words, "--server", address])).exit_code:
                    assert time.monotonic() < end_s, told.output  # the bots are still to come
                page = urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/matches", timeout=PATIENCE_S
                )
                assert "ann" in page.read().decode()
                with pages(*given_to_pages(cluster, data, tmp_path / "pages")) as (other, _):
                    page = urllib.request.urlopen(
                        f"http://127.0.0.1:{other}/matches", timeout=PATIENCE_S
                    )
                    assert "ann" in page.read().decode()
            finally:
                for bot in bots:
                    bot.kill()
                    bot.wait()
        listed = CliRunner().invoke(main, ["match", "list", "--data", str(data), "--json"])
        assert len(json.loads(listed.stdout)["matches"]) == 1
    assert not (data / "arena.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_pages_end_where_interrupts_are_ignored(tmp_path, number):
    with pages(tmp_path, starter=IGNORING) as (_, pid):
        os.kill(pid, number)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.slow
def test_pages_say_that_the_arena_is_away_and_go_on_when_it_is_back(tmp_path):
    def next_list(feed):
        return next(feed.readline().decode() for line in feed if line == b"event: list\n")

    data = tmp_path / "data"
    data.mkdir()
    with pages(data) as (port, pid):
        assert os.getpriority(os.PRIO_PROCESS, pid) >= NICENESS  # players go before pictures
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        connection.request("GET", "/live/feed")
        feed = connection.getresponse()
        assert AWAY in next_list(feed)
        for _ in range(2):
            with served(data):
                assert "There are no matches in play" in next_list(feed)
            assert AWAY in next_list(feed)
        connection.close()


def test_the_browser_is_opened_where_the_pages_are(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("arena.cli.browser.webbrowser.open", lambda at: opened.append(at) or True)
    monkeypatch.setattr("arena.web.serve.serve", lambda *given, **_: given[3]("127.0.0.1:7"))
    monkeypatch.setattr("arena.cli.web.log_to", lambda *_: None)
    for arguments, expected in ([], []), (["--open"], ["http://127.0.0.1:7/"]):
        done = CliRunner().invoke(web, ["--data", str(tmp_path), *arguments])
        assert done.exit_code == 0, done.output
        assert opened == expected


def test_where_there_is_no_browser_the_address_is_said(monkeypatch, capsys):
    monkeypatch.setattr("arena.cli.browser.webbrowser.open", lambda _: False)
    open_in_browser("http://127.0.0.1:7/")
    said = capsys.readouterr().err
    assert said == "No browser could be opened: open http://127.0.0.1:7/ yourself.\n"
