"""Metrics: what is counted, what the page shows, and what it never shows."""

import asyncio
import http.client
import json
import re
import select
import socket
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import grpc
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from arena.api.admission.access import CALLS
from arena.api.call_metrics import UNKNOWN_CALL
from arena.api.metrics_port import LIMITS, MAX_HEAD_BYTES
from arena.api.metrics_source import DEAL_STEPS
from arena.bots.tokens import Tokens
from arena.contests.workers.placements import Placements
from arena.games.catalogue import GAMES
from arena.live.listen import CannotServe
from arena.live.metrics import Counts, Histogram, WorkerStatus, gone_worker
from arena.live.session.messages import Outbox
from arena.live.tls import TlsFiles
from arena.referee.spec import AbortCause, Ending, FaultKind
from arena.results.states import State
from arena.store.data_folder import read_notice, watch_socket
from arena.testing.orders import match_request
from cardarena.v1 import play_pb2
from tests.doubles.asks import sent_ask
from tests.doubles.certificates import Authority
from tests.doubles.streams import PATIENCE_S, Client
from tests.live.running import running
from tests.live.test_deal_sockets import together
from tests.live.test_outbox import element

ROOT = Path(__file__).parents[2]
HANG_UPS = 20
"""Of these, one at least is seen as such."""
SUPPORT = [play_pb2.GameSupport(game=game.id) for game in GAMES]


@contextmanager
def watched(folder, **settings):
    """An arena with metrics, a client of it, and a call that reads its page."""
    with running(folder, Tokens(guests=True), metrics_port=0, **settings) as arena:
        metrics = notice_of(folder).metrics
        address = f"unix:{watch_socket(folder)}" if "tls" in settings else arena.address
        with Client(address) as client:
            yield arena, client, lambda: Page(get(metrics)[1])


def notice_of(folder):
    """The notice, which is there a moment before anything else is."""
    notice = read_notice(folder)
    assert notice is not None
    return notice


def get(url, method="GET", path=None):
    """Status and body of the answer to a request."""
    host, _, rest = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
    try:
        connection.request(method, f"/{rest}" if path is None else path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


class Page:
    """A page of metrics, read by Prometheus's own parser."""

    def __init__(self, text):
        self.text = text
        self.families = list(text_string_to_metric_families(text))
        self.samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in self.families
            for sample in family.samples
        }

    def __call__(self, name, **labels):
        return self.samples[f"cardarena_{name}", tuple(sorted(labels.items()))]


def seat(client, *names):
    streams = [
        client.stream(f"guest:{name}", games=SUPPORT, max_matches=4, max_open_asks=4)
        for name in names
    ]
    for stream in streams:
        stream.expect("welcome")
    return streams


def create(client, *names, **request):
    settings = {"options": {"hands": 2}, "seed": "s", "time_control": {"move_ms": 20_000}}
    wanted = match_request("abstrac", names, **{**settings, **request})
    return client.lobby.CreateMatch(wanted).match.match_id


def play(streams, choose=lambda ask: 0):
    """Play a match to its end; each ask gets the answer of `choose`. How many there were."""
    return sum(together(*(lambda stream=stream: _play(stream, choose) for stream in streams)))


def _play(stream, choose):
    asked = 0
    while True:
        message = stream.next()
        assert isinstance(message, play_pb2.ArenaMessage), message
        kind = message.WhichOneof("body")
        if kind == "match_end":
            return asked
        if kind == "asks":
            for ask in message.asks.asks:
                asked += 1
                stream.answer(play_pb2.Answer(ask_id=ask.ask_id, index=choose(ask)))


def until(call, wanted):
    """Wait until a call gives what is wanted: a count may follow what caused it by a moment."""
    deadline_s = time.monotonic() + PATIENCE_S
    while (found := call()) != wanted:
        assert time.monotonic() < deadline_s, found
        time.sleep(0.01)


def until_shown(page, wanted):
    """Wait until the page shows these values, by name and labels; that page."""
    pages = [None]

    def shown():
        pages[0] = page()
        return {line: pages[0].samples.get(key_of(line)) for line in wanted}

    until(shown, wanted)
    return pages[0]


def key_of(line):
    """The key of a sample, from `name label=value …`."""
    name, *labels = line.split()
    return f"cardarena_{name}", tuple(sorted(tuple(label.split("=")) for label in labels))


# What is counted.


@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [(0.0, 0), (0.5, 0), (1.0, 0), (1.0001, 1), (2.0, 1), (2.1, 2), (1e9, 2)],
    ids=["none", "little", "at a bound", "above it", "at the last", "above all", "very much"],
)
def test_a_time_falls_below_the_bound_that_includes_it(seconds, bucket):
    histogram = Histogram((1.0, 2.0))
    histogram.observe(seconds)
    assert histogram.counts == [int(at == bucket) for at in range(3)]
    assert histogram.sum_s == seconds


def test_a_quantile_is_the_bound_below_which_so_many_were():
    histogram = Histogram((0.1, 1.0))
    assert histogram.quantile_s(0.5) is None
    histogram.counts = [50, 48, 2]
    assert [histogram.quantile_s(share) for share in (0.01, 0.5, 0.51, 0.98)] == [0.1, 0.1, 1, 1]
    assert histogram.quantile_s(0.99) == float("inf")


def test_a_match_in_order_is_counted(tmp_path):
    with watched(tmp_path) as (_, client, page):
        before = page()
        assert (before("matches_in_play"), before("sessions"), before("draining")) == (0, 0, 0)
        streams = seat(client, "ann", "bob")
        create(client, "ann", "bob")
        asked = play(streams)
        assert asked > 4
        wanted = {
            "decisions_total game=abstrac": asked,
            "charged_seconds_count": asked,
            # The first ask of a match follows from no answer, all others do, but for the last answer.
            "turnaround_seconds_count": asked - 1,
            "matches_begun_total game=abstrac": 1,
            "matches_ended_total game=abstrac ending=completed": 1,
            "matches_in_play": 0,
            "sessions": 2,
            "sessions_connected": 2,
            "messages_total": asked,
            "streams_opened_total": 2,
            "outbox_bytes": 0,
            "outbox_frames": 0,
            "outbox_bytes_max": 0,
            "calls_total call=/cardarena.v1.LobbyService/CreateMatch code=OK": 1,
        }
        found = until_shown(page, wanted)
        assert 0 < found("turnaround_seconds_sum") < PATIENCE_S
        files = (tmp_path / "journal").glob("*.journal")
        assert (
            0 < found("journal_written_bytes_total") <= sum(path.stat().st_size for path in files)
        )
        assert found("journal_sync_seconds_count") >= 1
        assert found("journal_write_seconds_count") >= asked
        assert all(found("faults_total", kind=kind.name.lower()) == 0 for kind in FaultKind)
        assert found("disk_bytes") > found("disk_free_bytes") > 0
        assert found("disk_promised_bytes") == 0, "every match is over"
        assert found("process_threads") >= 1
        assert ("process_open_fds", ()) in found.samples


def test_what_is_in_play_and_what_waits_is_counted(tmp_path):
    with watched(tmp_path) as (_, client, page):
        streams = seat(client, "ann", "bob")
        create(client, "ann", "bob")
        for stream in streams:
            stream.expect("match_start")
        until(lambda: page()("matches_in_play"), 1)
        streams[0].hang_up()
        until(lambda: page()("sessions_connected"), 1)
        assert page()("sessions") == 2


def test_a_fair_deal_is_counted_at_each_step(tmp_path):
    with watched(tmp_path) as (_, client, page):
        streams = seat(client, "ann", "bob")
        create(client, "ann", "bob", seed="")
        play(streams)
        until(lambda: [page()("deal_sets_total", step=step) for step in DEAL_STEPS], [1, 1, 0, 1])


def test_faults_are_counted_by_kind(tmp_path):
    with watched(tmp_path) as (_, client, page):
        streams = seat(client, "ann", "bob")
        create(client, "ann", "bob")
        play(streams, lambda ask: 999)
        found = until_shown(page, {"matches_ended_total game=abstrac ending=forfeit": 1})
        assert found("faults_total", kind="illegal") >= 2
        assert found("faults_total", kind="timeout") == 0
        # What a seat that forfeited plays is nobody's time.
        assert found("charged_seconds_count") == found("faults_total", kind="illegal")
        assert found("decisions_total", game="abstrac") > found("charged_seconds_count")


def test_refusals_are_counted_by_reason(tmp_path):
    with watched(tmp_path) as (_, client, page):
        (stream,) = seat(client, "ann")
        stream.answer(play_pb2.Answer(ask_id=77, index=0))
        stream.expect("refusal")
        with pytest.raises(grpc.RpcError):
            create(client, "ann", "nobody")
        client.stream("nonsense").error()
        wanted = {
            "messages_refused_total reason=unknown_ask": 1,
            "calls_refused_total reason=UNKNOWN_BOT": 1,
            "calls_refused_total reason=BAD_TOKEN": 1,
            "calls_total call=/cardarena.v1.PlayService/Play code=UNAUTHENTICATED": 1,
        }
        until_shown(page, wanted)


def test_streams_are_counted_by_how_they_ended(tmp_path):
    with watched(tmp_path) as (_, client, page):
        (first,) = seat(client, "ann")
        (second,) = seat(client, "ann")  # takes over
        first.error()
        second.end()
        until_shown(page, {"sessions_connected": 0})

        def counted():
            name = "cardarena_streams_closed_total"
            samples = page().samples.items()
            return {dict(key[1])["reason"]: value for key, value in samples if key[0] == name}

        hung_up = 0
        while "CUT_OFF" not in counted():
            # Of a call that is cancelled, gRPC may first tell the end of what the bot said.
            assert hung_up < HANG_UPS
            hung_up += 1
            (third,) = seat(client, "ann")
            third.hang_up()
            until(lambda: sum(counted().values()), 2 + hung_up)
        assert counted() == {"TAKEN_OVER": 1, "BOT_CLOSED": hung_up, "CUT_OFF": 1}


def test_a_call_that_does_not_exist_is_counted_without_its_name(tmp_path):
    with watched(tmp_path) as (_, client, page):
        with pytest.raises(grpc.RpcError):
            client.channel.unary_unary("/secret.Service/Guess")(b"", timeout=PATIENCE_S)
        wanted = {f"calls_total call={UNKNOWN_CALL} code=UNIMPLEMENTED": 1}
        assert "secret" not in until_shown(page, wanted).text


# From an answer to the ask that follows.


def test_what_follows_from_no_answer_has_no_turnaround(tmp_path):
    """The first ask of each match comes from the lobby, also when answers came before."""
    with watched(tmp_path) as (_, client, page):
        streams = seat(client, "ann", "bob")
        asked = 0
        for _ in range(3):
            create(client, "ann", "bob")
            asked += play(streams)
        until_shown(page, {"turnaround_seconds_count": asked - 3})


@pytest.mark.parametrize(
    ("received_s", "busy", "told_s"),
    [(1.0, False, 1.0), (0.0, False, 0.0), (1.0, True, 0.0)],
    ids=["follows from an answer", "follows from none", "the bot kept the transport busy"],
)
def test_an_ask_knows_when_the_answer_came_that_it_follows(received_s, busy, told_s):
    async def test():
        counts = Counts()
        outbox = Outbox(asyncio.get_running_loop(), lambda: 2.0, counts)
        if busy:
            outbox.post_ask(element(1), sent_ask())
            await outbox.next()
        counts.received_s = received_s
        outbox.post_ask(element(2), sent_ask())
        counts.received_s = 1.5  # another answer, and another ask: the first counts
        outbox.post_ask(element(3), sent_ask())
        if not busy:
            asyncio.get_running_loop().call_soon(outbox.close)
        await outbox.next()
        assert outbox.received_s == told_s

    asyncio.run(test())


# What the page shows.


def vocabulary():
    """Each label, and all that it may say."""
    constants = re.compile(r"[A-Z][A-Z_]*").fullmatch
    words = re.compile(r"[a-z][a-z_]*").fullmatch
    games = {game.id for game in GAMES}
    return {
        "game": games.__contains__,
        "ending": {ending.name.lower() for ending in Ending}.__contains__,
        "cause": {each.name.lower() for each in AbortCause}.__contains__,
        "kind": {kind.name.lower() for kind in FaultKind}.__contains__,
        "call": {*CALLS, UNKNOWN_CALL}.__contains__,
        "code": {code.name for code in grpc.StatusCode}.__contains__,
        "reason": lambda text: constants(text) or words(text),
        "step": set(DEAL_STEPS).__contains__,
        "le": lambda text: text == "+Inf" or float(text) >= 0,
        "version": re.compile(r"[0-9]+(\.[0-9]+)*(rc[0-9]+)?").fullmatch,
        "process": str.isdecimal,
        "state": {state.value for state in State}.__contains__,
        "speed_class": re.compile(r"(-?[0-9]+)?").fullmatch,
    }


class Workers:
    """Workers that play for an arena."""

    failed_begins: ClassVar = Counter(m1=2)
    waiting_again: ClassVar = Counter({3: 1})
    placements: ClassVar = Placements()

    def status(self):
        counts = {"pid": 4711, "starts": 1, "matches": 2, "decisions": 3}
        here = [WorkerStatus(number=number, **counts) for number in (1, 2)]
        joined = WorkerStatus(number=65, name="m1@a", speed_class=3, **counts)
        return [*here, joined, gone_worker("m2@b", failed_begins=1)]


def busy_page(folder, read=None):
    """A page with a sample of all that there can be, and the names that were about.

    `read` reads another page than that of metrics.
    """
    certificate = Authority.make(folder, "ca").sign("arena", "IP:127.0.0.1")
    with watched(folder, tls=TlsFiles(*certificate)) as (arena, client, page):
        arena.add_workers(Workers())
        streams = seat(client, "ann-name", "bob-name")
        match_id = create(client, "ann-name", "bob-name")
        streams[0].answer(play_pb2.Answer(ask_id=1, index=0))
        with pytest.raises(grpc.RpcError):
            create(client, "ann-name", "nobody-name")
        play(streams, lambda ask: 999)
        streams[0].end()
        wanted = {
            "sessions_connected": 1,
            "streams_closed_total reason=BOT_CLOSED": 1,
            "calls_refused_total reason=UNKNOWN_BOT": 1,
            "matches_ended_total game=abstrac ending=forfeit": 1,
        }
        shown = until_shown(page, wanted)
        return read() if read else shown, ("ann", "bob", "nobody", match_id)


def test_labels_are_from_closed_vocabularies_and_name_no_one(tmp_path):
    found, secrets = busy_page(tmp_path)
    known = vocabulary()
    for name, labels in found.samples:
        for label, value in labels:
            assert known[label](value), (name, label, value)
    assert not [each for each in secrets if each in found.text]


def test_matches_of_workers_are_shown_by_the_class_that_deal_sets_wait_for(tmp_path):
    found, _ = busy_page(tmp_path)
    assert found("worker_matches", speed_class="") == 4, "of the arena's own machine"
    assert found("worker_matches", speed_class="3") == 2
    assert found("deal_sets_waiting", speed_class="3") == 1
    classes = [labels for name, labels in found.samples if name == "cardarena_worker_matches"]
    assert len(classes) == 2, "a worker that has left is of no class"


def names_of(found):
    names = {family.name for family in found.families}
    counters = {family.name for family in found.families if family.type == "counter"}
    return {f"{name}_total" if name in counters else name for name in names}


def test_every_metric_is_explained_and_nothing_else_is(tmp_path):
    text = (ROOT / "docs" / "observability.md").read_text("utf-8")
    explained = set(re.findall(r"^\| `(cardarena_\w+)", text, re.MULTILINE))
    found, _ = busy_page(tmp_path)
    shown = {name for name in names_of(found) if name.startswith("cardarena_")}
    assert explained == shown
    assert all(family.documentation for family in found.families)


def test_the_dashboard_and_the_alerts_ask_for_metrics_that_there_are(tmp_path):
    dashboard = json.loads((ROOT / "docs" / "dashboard.json").read_text("utf-8"))
    alerts = yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text("utf-8"))
    (group,) = alerts["groups"]
    queries = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())
    ]
    queries += [rule["expr"] for rule in group["rules"]]
    assert len(queries) >= 18
    found, _ = busy_page(tmp_path)
    names = {name for name, _ in found.samples}
    for query in queries:
        asked = set(re.findall(r"\b((?:cardarena|process)_\w+)", query))
        assert asked, query
        assert asked <= names, query


# The port.


def test_without_a_port_there_are_no_metrics(tmp_path):
    with running(tmp_path, Tokens(guests=True)):
        assert notice_of(tmp_path).metrics == ""


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("GET", "/metrics", 200, "cardarena_matches_in_play 0.0"),
        ("GET", "/metrics?name=x", 200, "cardarena_matches_in_play 0.0"),
        ("HEAD", "/metrics", 200, ""),
        ("GET", "/status", 200, '"in_play": 0'),
        ("HEAD", "/status", 200, ""),
        ("GET", "/status/", 404, "there are the pages /metrics and /status"),
        ("GET", "/", 404, "there are the pages /metrics and /status"),
        ("GET", "/../journal", 404, "there are the pages /metrics and /status"),
        ("POST", "/metrics", 405, ""),
        ("POST", "/status", 405, ""),
    ],
    ids=[
        "the metrics",
        "with a query",
        "their head",
        "the status",
        "its head",
        "a folder",
        "the root",
        "a file",
        "something to take",
        "the same for the status",
    ],
)
def test_the_port_serves_two_pages(tmp_path, method, path, status, said):
    with running(tmp_path, Tokens(guests=True), metrics_port=0):
        code, body = get(notice_of(tmp_path).metrics, method, path)
        assert code == status
        assert said in body


def address_of(folder):
    host, _, port = notice_of(folder).metrics.removeprefix("http://").partition(":")
    return host, int(port.partition("/")[0])


@pytest.mark.parametrize(
    "said",
    [
        b"\x16\x03\x01" * 100 + b"\r\n\r\n",
        b"GET /metrics",
        b"x" * (MAX_HEAD_BYTES + 99),
        b"\r\n\r\n",
    ],
    ids=["another protocol", "half a request", "too much", "nothing"],
)
def test_what_cannot_be_answered_is_hung_up_on_and_the_page_is_still_served(tmp_path, said):
    with running(tmp_path, Tokens(guests=True), metrics_port=0):
        with socket.create_connection(address_of(tmp_path), PATIENCE_S) as silent:
            silent.sendall(said)
            silent.shutdown(socket.SHUT_WR)
            try:
                answer = silent.recv(1 << 16)
            except ConnectionResetError:
                answer = b""
            assert not answer or answer.startswith(b"HTTP/1.1 400 ")
        assert get(notice_of(tmp_path).metrics)[0] == 200


def hung_up(connections):
    """Those of which the arena has closed its end."""
    return select.select(connections, (), (), 0)[0]


def test_a_connection_has_one_answer_which_may_not_be_sniffed(tmp_path):
    with (
        running(tmp_path, Tokens(guests=True), metrics_port=0),
        socket.create_connection(address_of(tmp_path), PATIENCE_S) as reader,
    ):
        reader.sendall(2 * b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b"".join(iter(lambda: reader.recv(1 << 16), b""))
    assert answer.count(b"HTTP/1.1 200 OK\r\n") == 1
    assert b"x-content-type-options: nosniff\r\n" in answer
    assert b"connection: close\r\n" in answer


@pytest.mark.slow
def test_slow_readers_do_not_block_others(tmp_path):
    with running(tmp_path, Tokens(guests=True), metrics_port=0):
        where = address_of(tmp_path)
        silent = [socket.create_connection(where, PATIENCE_S) for _ in range(3 * LIMITS.local)]
        try:
            until(lambda: hung_up(silent), silent[: 2 * LIMITS.local])
            assert get(notice_of(tmp_path).metrics, path="/status")[0] == 200
            assert get(notice_of(tmp_path).metrics)[0] == 200
        finally:
            for each in silent:
                each.close()


def test_a_used_port_is_reported_and_the_arena_does_not_start(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        text = f"cannot serve metrics on 127.0.0.1:{port}: Address already in use"
        with (
            pytest.raises(CannotServe, match=text),
            running(tmp_path, Tokens(guests=True), metrics_port=port),
        ):
            pass
    assert read_notice(tmp_path) is None
