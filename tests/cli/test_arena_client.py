"""What a command does when an arena refuses its call: it waits out a load, and says so."""

import grpc
import pytest

from arena.cli.arena_client import PATIENCE_S, NoAnswer, Server, ServiceClient
from arena.server.refusals import Refused


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
    ("connect: Connection refused (111)",                                        "start one with `arena serve`",      "--ca",      "nobody there"),
]
# fmt: on


@pytest.mark.parametrize(("details", "said", "unsaid", "_why"), LOST, ids=[row[-1] for row in LOST])
def test_a_call_that_did_not_arrive_says_why(details, said, unsaid, _why, client):
    with pytest.raises(NoAnswer) as raised:
        client.call(Method(Lost(details)), "request")
    assert said in raised.value.message
    assert unsaid not in raised.value.message
