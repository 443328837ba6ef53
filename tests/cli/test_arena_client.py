"""What a command does when an arena refuses its call: it waits out a load, and says so."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from arena.api.transport import OPTIONS
from arena.cli.arena_client import PATIENCE_S, NoAnswer, Server, ServiceClient
from arena.errors.refused import Refused
from tests.app.placement.real_slurm import free_ports
from tests.doubles.certificates import Authority
from tests.doubles.streams import PATIENCE_S as LONG_S


class Refusal(grpc.RpcError):
    """A refusal as a client receives it."""

    def __init__(self, *given, **how):
        self._refused = Refused(*given, **how)

    def code(self):
        return self._refused.code

    def details(self):
        return self._refused.text

    def trailing_metadata(self):
        return self._refused.trailing_metadata()


class Method:
    """A call that is answered by what it was given, one after the other."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self.requests = []

    def __call__(self, request, **_):
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Slept(list):
    """A clock that goes on only by sleeping."""

    def now_s(self):
        return sum(self)


@pytest.fixture
def slept():
    return Slept()


@pytest.fixture
def client(slept):
    return ServiceClient(None, Server("here:1", ""), now_s=slept.now_s, sleep=slept.append)


BUSY = Refusal("BUSY", "the arena is 41 ms late", retry_s=5.0)
# fmt: off
LOAD = [
    (BUSY,                                      5.0, "it is late, and says when to ask again"),
    (Refusal("TOO_MANY_OPEN", "64 wait"),       0.5, "too many calls wait"),
    (Refusal("KEYS_BUSY"),                      0.5, "too many keys are looked up"),
]
FINAL = [
    (Refusal("OVER_QUOTA", retry_s=3_600.0), "a quota that is used up"),
    (Refusal("UNKNOWN_BOT"),                 "a mistake"),
    (Refusal("DRAINING"),                    "an arena that closes, whose restart only polls wait for"),
    (Refusal("INCIDENT"),                    "an error in the arena"),
]
# fmt: on


@pytest.mark.parametrize(("refusal", "waits_s", "_why"), LOAD, ids=[row[-1] for row in LOAD])
def test_a_call_that_is_refused_for_load_is_repeated(refusal, waits_s, _why, client, slept, capsys):
    assert client.call(Method(refusal, refusal, "done"), "request") == "done"
    assert slept == [waits_s] * 2
    said = f"{refusal.details()}; trying again for up to {PATIENCE_S:g} s\n"
    assert capsys.readouterr() == ("", said), "once, and not where a program reads"


def test_a_load_that_changes_is_told_as_progress(client, capsys):
    later = Refusal("BUSY", "the arena is 30 ms late", retry_s=5.0)
    client.call(Method(BUSY, later, later, "done"), "request")
    told = capsys.readouterr().err.splitlines()
    assert ["41 ms" in told[0], "30 ms" in told[1], len(told)] == [True, True, 2]


def test_patience_has_an_end(client, slept):
    with pytest.raises(NoAnswer, match="41 ms late") as raised:
        client.call(Method(BUSY), "request")
    assert raised.value.reason == "BUSY"
    assert PATIENCE_S <= slept.now_s() <= PATIENCE_S + 5


@pytest.mark.parametrize(("refusal", "_why"), FINAL, ids=[row[-1] for row in FINAL])
def test_what_no_minute_mends_is_told_at_once(refusal, _why, client, slept):
    with pytest.raises(NoAnswer):
        client.call(Method(refusal), "request")
    assert slept == []


def test_an_upload_begins_anew(client):
    submit = Method(BUSY, "done")
    client.call(submit, lambda: iter("pieces"))
    assert ["".join(each) for each in submit.requests] == ["pieces", "pieces"]


def test_a_stream_is_repeated_before_its_first_message_and_not_after(client, slept):
    def refused():
        raise BUSY
        yield

    def broken():
        yield "one"
        raise BUSY

    assert list(client.stream(Method(refused(), iter(("one", "two"))), "request")) == ["one", "two"]
    assert slept == [5.0]
    received = []
    with pytest.raises(NoAnswer):
        received.extend(client.stream(Method(broken()), "request"))
    assert slept == [5.0]


class Lost(grpc.RpcError):
    """A call that never came to an arena."""

    def __init__(self, details):
        self._details = details

    def code(self):
        return grpc.StatusCode.UNAVAILABLE

    def details(self):
        return self._details

    def trailing_metadata(self):
        return ()


# fmt: off
LOST = [
    ("Ssl handshake failed: CERTIFICATE_VERIFY_FAILED: self-signed certificate", "see --ca: self-signed certificate", "start one", "a certificate that is not trusted"),
    ("last error: UNAVAILABLE: ipv4:127.0.0.1:7654: Socket closed",             "answers, but it closed the connection at once: an arena with TLS needs https://", "start one", "plain text to an arena with TLS"),
    ("Ssl handshake failed: WRONG_VERSION_NUMBER: Invalid context",              "answers, but it has no TLS",        "start one", "TLS to an arena without it"),
    ("connect: Connection refused (111)",                                        "start one with `arena serve`",      "--ca",      "nobody there"),
]
# fmt: on


@pytest.mark.parametrize(("details", "said", "unsaid", "_why"), LOST, ids=[row[-1] for row in LOST])
def test_a_call_that_did_not_arrive_says_why(details, said, unsaid, _why, client):
    with pytest.raises(NoAnswer) as raised:
        client.call(Method(Lost(details)), "request")
    assert said in raised.value.message
    assert unsaid not in raised.value.message


LATE = """
import sys, time, grpc
from arena.cli.arena_client import Server, channel_of
with channel_of(Server(sys.argv[1], "", ca=sys.argv[2])) as channel:
    method = channel.unary_unary("/any/method")
    while True:
        try:
            method(b"")
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                break
            print("away", flush=True)
            time.sleep(0.2)
"""


@pytest.mark.slow
def test_a_lost_connection_with_tls_is_back_before_the_arena_closes_it(tmp_path):
    authority = Authority.make(tmp_path, "authority")
    certificate, key = (path.read_bytes() for path in authority.sign("arena", "IP:127.0.0.1"))
    address = f"127.0.0.1:{free_ports(1)[0]}"
    command = [sys.executable, "-c", LATE, f"https://{address}", str(authority.file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout.readline() == "away\n"
        arena = grpc.server(ThreadPoolExecutor(1), options=OPTIONS)
        arena.add_secure_port(address, grpc.ssl_server_credentials([(key, certificate)]))
        arena.start()
        try:
            client.communicate(timeout=3 * LONG_S)  # otherwise it never ends
        finally:
            client.kill()
            arena.stop(None)
    assert client.returncode == 0
