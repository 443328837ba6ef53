"""Webhooks on their way: which addresses are posted to, how messages are signed, and what follows an answer."""

import contextlib
import http.server
import json
import socket
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
import trio

from arena.contests import webhook_post
from arena.contests.webhook_post import (
    BadWebhook,
    NotDelivered,
    WebhookPost,
    is_public,
    new_secret,
    signature,
)
from arena.contests.webhook_sender import WebhookSender, overtaken, ranking
from arena.store import open_store
from arena.store.moments import unix_ms
from arena.store.webhooks import BACK_OFF_S

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PUBLIC = "198.41.0.4"


class Receiver(http.server.BaseHTTPRequestHandler):
    """Answers as its server says, and notes what it was sent."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.server.received.append((self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    """A receiver of the tests' own, on this machine."""
    with http.server.HTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.received, server.status = [], 204
        server.url = f"http://localhost:{server.server_port}/hook?of=ann"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


# Addresses.

# fmt: off
URLS = [
    ("http://bots.example/hook",       "begins with https", "plain text"),
    ("file:///etc/passwd",             "URL with a host",   "a file"),
    ("ftp://bots.example/",            "begins with https", "another scheme"),
    ("https:///hook",                  "URL with a host",   "no host"),
    ("https://u:p@bots.example/",      "without a user",    "a user and a password"),
    ("https://127.0.0.1/",             "not a public",      "this machine"),
    ("https://[::1]:8443/",            "not a public",      "this machine by IPv6"),
    ("https://169.254.169.254/latest", "not a public",      "the metadata of a cloud"),
    ("https://bots.example:99999/",    "not a URL",         "no port"),
    ("https://[::/",                   "not a URL",         "a broken address"),
    ("https://bots..example/",         "not a URL",         "a name with an empty part"),
    ("https://" + "x" * 64 + ".example/", "not a URL",      "a name with a part that is too long"),
    ("https://bots.example/\r\nx: y",  "printable",         "a line of a header"),
    ("https://bots.example/" + "x" * 500, "at most 500",    "a long one"),
]
ADDRESSES = [
    ("127.0.0.1",        False, "this machine"),
    ("10.1.1.1",         False, "a private network"),
    ("100.64.0.1",       False, "the network of a provider"),
    ("169.254.169.254",  False, "the same link"),
    ("0.0.0.0",          False, "any address of this machine"),
    ("224.0.0.1",        False, "many machines"),
    ("192.0.2.1",        False, "documentation"),
    ("::1",              False, "this machine, IPv6"),
    ("fe80::1%eth0",     False, "the same link, IPv6"),
    ("fc00::1",          False, "a private network, IPv6"),
    ("ff02::1",          False, "many machines, IPv6"),
    ("::ffff:10.0.0.1",  False, "IPv4 in IPv6"),
    ("::7f00:1",         False, "IPv4 in IPv6, the old way"),
    ("64:ff9b::a00:1",   False, "IPv4 behind a translator"),
    ("2002:a00:1::1",    False, "IPv4 in a tunnel"),
    ("198.41.0.4",       True,  "public"),
    ("2001:503:ba3e::2:30", True, "public, IPv6"),
]
# fmt: on


@pytest.mark.parametrize(("url", "words", "_"), URLS, ids=[row[-1] for row in URLS])
def test_an_address_is_refused_before_it_is_registered(url, words, _):
    with pytest.raises(BadWebhook, match=words):
        WebhookPost().checked(url)


@pytest.mark.parametrize(("address", "public", "_"), ADDRESSES, ids=[row[-1] for row in ADDRESSES])
def test_nothing_is_sent_to_a_private_address(address, public, _):
    connected = []

    def connect(to, timeout):
        connected.append(to)
        raise OSError

    post = WebhookPost(resolve=lambda host, port: [PUBLIC, address], connect=connect)
    with pytest.raises(NotDelivered, match="no connection" if public else "not public"):
        post.post("https://bots.example/hook", {}, "{}")
    assert is_public(address) is public
    assert connected == ([(PUBLIC, 443)] if public else []), "not even if another one is public"


def test_the_address_that_was_checked_is_connected_to():
    """A name server that answers otherwise the second time changes nothing."""
    answers, connected = iter([[PUBLIC], ["127.0.0.1"]]), []

    def connect(to, timeout):
        connected.append(to)
        raise OSError

    post = WebhookPost(resolve=lambda host, port: next(answers), connect=connect)
    with pytest.raises(NotDelivered):
        post.post("https://bots.example/hook", {}, "{}")
    assert connected == [(PUBLIC, 443)]


def test_a_host_that_the_operator_allows_may_be_private_and_have_no_tls(receiver):
    assert WebhookPost(["LOCALHOST"]).post(receiver.url, {}, "{}") == 204
    with pytest.raises(NotDelivered, match="begins with https"):
        WebhookPost(["other.example"]).post(receiver.url, {}, "{}")
    assert len(receiver.received) == 1


def test_a_receiver_without_a_valid_certificate_gets_nothing(receiver):
    post = WebhookPost(["localhost"])
    with pytest.raises(NotDelivered, match="certificate"):
        post.post(receiver.url.replace("http:", "https:"), {}, "{}")
    assert not receiver.received


def test_no_redirect_is_followed(receiver):
    receiver.status = 307
    assert WebhookPost(["localhost"]).post(receiver.url, {}, "{}") == 307
    assert [path for path, _, _ in receiver.received] == ["/hook?of=ann"]


def test_an_attempt_ends_whatever_the_receiver_does(monkeypatch):
    """It sends answers that are not the last one, for much longer than an attempt may take."""
    monkeypatch.setattr(webhook_post, "WHOLE_S", 0.2)
    own, its = socket.socketpair()

    def send():
        with contextlib.suppress(OSError), its:
            until_s = time.monotonic() + 20
            while time.monotonic() < until_s:
                its.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            its.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    thread = threading.Thread(target=send)
    thread.start()
    post = WebhookPost(["x"], resolve=lambda *_: ["127.0.0.1"], connect=lambda *_, **__: own)
    with pytest.raises(NotDelivered):
        post.post("http://x/", {}, "{}")
    thread.join()


# Signatures.


def test_a_message_is_signed_as_standard_webhooks_says():
    """With the example of its own libraries."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body, unix_s = '{"test": 2432232314}', 1_614_265_330
    expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", unix_s, body) == expected
    for other in (
        signature(new_secret(), "msg_p5jXN8AQM9LWM0D4loKWxJek", unix_s, body),
        signature(secret, "msg_other", unix_s, body),
        signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", unix_s + 1, body),
        signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", unix_s, body + " "),
    ):
        assert other != expected


# The sender.


class Sending:
    """A sender whose clock stands, and one webhook."""

    def __init__(self, store, url):
        self.store, self.now = store, NOW
        self.secret = new_secret()
        self.number = store.webhooks().add("ann", "", url, self.secret, now=NOW).id
        post = WebhookPost(["localhost"])
        self.sender = WebhookSender(store, post, None, now=lambda: self.now, chance=lambda: 0.5)

    def test(self):
        self.store.webhooks().test("ann", self.number, now=self.now)

    def poll(self, later_s=0.0):
        self.now += timedelta(seconds=later_s)
        trio.run(self.sender.poll)

    @property
    def webhook(self):
        (webhook,) = self.store.webhooks().of_owner("ann")
        return webhook


@pytest.fixture
def sending(tmp_path, receiver):
    with open_store(tmp_path / "arena.db") as store:
        yield Sending(store, receiver.url)


def test_what_is_sent_is_signed_json(sending, receiver):
    sending.test()
    sending.poll()
    ((path, headers, body),) = receiver.received
    event_id, unix_s = headers["webhook-id"], int(headers["webhook-timestamp"])
    assert path == "/hook?of=ann"
    assert unix_s == unix_ms(NOW) // 1000
    assert headers["webhook-signature"] == signature(sending.secret, event_id, unix_s, body)
    assert headers["content-type"] == "application/json"
    sent = json.loads(body)
    assert (sent["id"], sent["type"]) == (event_id, "test")
    assert sent["timestamp"] == "2026-11-30T12:00:00.000+00:00"
    sending.poll(1.0)
    assert len(receiver.received) == 1, "it was taken"


def test_what_is_not_taken_is_sent_again_with_the_same_id(sending, receiver):
    receiver.status = 500
    sending.test()
    sending.poll()
    assert sending.webhook.failures == 1
    receiver.status = 204
    sending.poll(BACK_OFF_S[0] - 1)
    assert len(receiver.received) == 1
    sending.poll(1)
    assert [headers["webhook-id"] for _, headers, _ in receiver.received] == [
        receiver.received[0][1]["webhook-id"]
    ] * 2
    assert sending.webhook.failures == 0


def test_what_cannot_be_sent_ends_nothing_but_its_attempt(sending, monkeypatch):
    def fails(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(WebhookPost, "post", fails)
    sending.test()
    sending.poll()
    assert sending.webhook.failures == 1


@pytest.mark.parametrize("error", [OSError, UnicodeError])
def test_a_name_that_cannot_be_looked_up_is_not_delivered_to(error):
    def resolve(host, port):
        raise error

    with pytest.raises(NotDelivered, match="no connection"):
        WebhookPost(resolve=resolve).post("https://bots.example/hook", {}, "{}")


def test_a_receiver_that_is_gone_is_sent_nothing_more(sending, receiver):
    receiver.status = 410
    sending.test()
    sending.poll()
    assert sending.webhook.off == "the receiver answered 410, which says: send no more"


# Who was overtaken.

# fmt: off
RANKINGS = [
    (["ann", "bob", "cat"], ["bob", "ann", "cat"], {"ann": ["bob"]},        "another one passed"),
    (["ann", "bob", "cat"], ["cat", "ann", "bob"], {"ann": ["cat"], "bob": ["cat"]}, "one passed two"),
    (["ann", "bob", "cat"], ["ann", "cat"],        {},                      "one is no longer ranked"),
    (["ann", "cat"],        ["bob", "ann", "cat"], {"ann": ["bob"], "cat": ["bob"]}, "a new one is better"),
    ([],                    ["ann", "bob"],        {},                      "there was no ranking"),
    (["ann", "bob"],        ["ann", "bob"],        {},                      "nothing changed"),
]
# fmt: on


@pytest.mark.parametrize(
    ("before", "after", "passed", "_"), RANKINGS, ids=[row[-1] for row in RANKINGS]
)
def test_a_bot_is_overtaken_by_those_that_were_not_above_it(before, after, passed, _):
    owners = {bot: f"owner of {bot}" for bot in ("ann", "bob", "cat")}
    events = overtaken({"jam": before}, {"jam": after}, "l", owners, NOW)
    assert {event.data["bot"]: event.data["by"] for event in events} == passed
    assert all(event.owners == {f"owner of {event.data['bot']}"} for event in events)


def test_a_ranking_is_of_bots_and_not_of_versions():
    rows = [{"bot": "ann@2", "place": 1}, {"bot": "bob@1", "place": 2}, {"bot": "cat", "place": 0}]
    assert ranking({"games": [{"game": "jam", "rows": rows}]}) == {"jam": ["ann", "bob"]}
