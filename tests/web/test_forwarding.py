"""What the process of the pages forwards to the acting process, and what it bounds."""

import asyncio
import contextlib
import os
from types import SimpleNamespace

import pytest

from arena.bots.archive import MAX_ARCHIVE_BYTES
from arena.web.acting import forwarding
from arena.web.acting.forwarding import ForwardedProcess, Forwarding
from arena.web.acting.visits import MOST_BODY_BYTES

ANSWER = (
    b"HTTP/1.1 303 See Other\r\nlocation: /me\r\nset-cookie: a=1\r\nset-cookie: b=2\r\ndate: x\r\n"
    b"transfer-encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\n\r\n"
)


@pytest.fixture
def place(tmp_path):
    # Paths of sockets are short, and those of tests are not.
    folder = os.open(tmp_path, os.O_RDONLY)
    yield f"/proc/self/fd/{folder}/acting.sock"
    os.close(folder)


def asked(path, place, *, method="POST", headers=(), messages=(), listens=True, early=False):
    """Ask for a path; returns the request as it was forwarded, and what was sent.

    `early` answers before any of the body has come.
    """
    requests, sent, served, left = [], [], [], list(messages)
    closed = asyncio.Event()

    async def serve(reader, writer):
        served.append(asyncio.current_task())
        with contextlib.suppress(asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            has_body = b"chunked" in head and not early
            body = await reader.readuntil(b"0\r\n\r\n") if has_body else b""
            requests.append((head.decode(), body))
            writer.write(ANSWER)
        writer.close()
        await writer.wait_closed()
        closed.set()

    async def receive():
        if early:
            await closed.wait()
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    async def send(message):
        sent.append(message)

    async def pages(scope, receive, send):
        sent.append("pages")

    async def main():
        server = await asyncio.start_unix_server(serve, place, limit=1 << 27) if listens else None
        app = Forwarding(pages, SimpleNamespace(path=place, secret="s3cret"))
        scope = {
            "type": "http",
            "method": method,
            "scheme": "https",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"next=%2Fme",
            "headers": [(name.encode(), value.encode()) for name, value in headers],
            "client": ("192.0.2.7", 9),
        }
        await app(scope, receive, send)
        if server is not None:
            await asyncio.sleep(0)  # a connection whose client has gone is accepted first
            await asyncio.gather(*served)
            server.close()

    asyncio.run(main())
    return requests, sent


def piece(body, *, more=False):
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_request_is_forwarded_with_who_asks_and_nothing_that_a_client_says_of_that(place):
    headers = [
        ("host", "arena.example"),
        ("cookie", "__Host-session=x"),
        ("x-arena-secret", "guess"),
        ("x-arena-visitor", "this machine"),
        ("x-arena-scheme", "http"),
        ("connection", "keep-alive"),
        ("content-length", "6"),
    ]
    messages = [piece(b"abc", more=True), piece(b"def")]
    [(head, body)], sent = asked("/signin", place, headers=headers, messages=messages)
    first, *lines = head.strip().split("\r\n")
    assert first == "POST /signin?next=%2Fme HTTP/1.1"
    assert sorted(line.lower() for line in lines) == [
        "connection: close",
        "cookie: __host-session=x",
        "host: arena.example",
        "transfer-encoding: chunked",
        "x-arena-scheme: https",
        "x-arena-secret: s3cret",
        "x-arena-visitor: 192.0.2.7",
    ]
    assert body == b"3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
    begun, *rest = sent
    assert begun["status"] == 303
    assert begun["headers"] == [
        (b"location", b"/me"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
    ]
    assert b"".join(message["body"] for message in rest) == b"yes"
    assert not rest[-1]["more_body"]


@pytest.mark.parametrize(
    ("path", "forwarded"),
    [
        ("/me", True),
        ("/me/bots/x", True),
        ("/organise", True),
        ("/metrics", False),
        ("/m/1", False),
        ("/", False),
    ],
)
def test_only_the_paths_of_the_acting_process_are_forwarded(place, path, forwarded):
    requests, sent = asked(
        path, place, method="GET", headers=[("host", "h")], messages=[piece(b"")]
    )
    assert (len(requests) == 1, sent == ["pages"]) == (forwarded, not forwarded)


# fmt: off
UNREADABLE = [
    # method  path        headers           body     answer   why
    ("GET",     "/me",    [("host", "h")],  b"abc",  303,     "a page is asked for with a body, which is dropped"),
    ("GET",     "/me",    [],               b"",     400,     "HTTP/1.0 without a host"),
    ("GET",     "/me\xe9", [("host", "h")],  b"",     "pages", "a path of another process"),
    ("OPTIONS", "*",      [("host", "h")],  b"",     "pages", "a request for no path"),
]
# fmt: on


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "answer", "why"),
    UNREADABLE,
    ids=[row[-1] for row in UNREADABLE],
)
def test_what_cannot_be_forwarded_is_no_error_of_the_site(
    place, method, path, headers, body, answer, why
):
    requests, sent = asked(path, place, method=method, headers=headers, messages=[piece(body)])
    assert [body for _, body in requests] == [b""] * (answer == 303), why
    assert (sent[0] if answer == "pages" else sent[0]["status"]) == answer


def test_the_largest_archive_fits_into_a_form():
    assert MAX_ARCHIVE_BYTES < MOST_BODY_BYTES


REFUSED = [
    ([("content-length", str(MOST_BODY_BYTES + 1))], [], 413, "a length that is too long"),
    ([("content-length", "-1")], [], 413, "a length that is none"),
    ([], [piece(b"x" * (1 << 20), more=True)] * 60, 413, "pieces that are too many"),
    ([], [piece(b"x", more=True)], 408, "a piece that does not come"),
    ([], [piece(b"x", more=True), {"type": "http.disconnect"}], 502, "a client that has gone"),
]


@pytest.mark.parametrize(
    ("headers", "messages", "status", "why"), REFUSED, ids=[row[-1] for row in REFUSED]
)
def test_a_body_is_bounded(place, monkeypatch, headers, messages, status, why):
    monkeypatch.setattr(forwarding, "PIECE_S", 0.05 if status == 408 else 60.0)
    requests, sent = asked(
        "/me/submit", place, headers=[("host", "h"), *headers], messages=messages
    )
    assert sent[0]["status"] == status
    assert requests == []


def test_an_answer_that_comes_before_the_end_of_a_body_is_passed_on(place):
    messages = [*[piece(b"x" * (1 << 16), more=True)] * 4, piece(b"x")]
    _, sent = asked("/me/submit", place, headers=[("host", "h")], messages=messages, early=True)
    assert sent[0]["status"] == 303
    assert b"".join(message["body"] for message in sent[1:]) == b"yes"


def test_without_the_acting_process_a_sentence_says_so(place, monkeypatch):
    monkeypatch.setattr(forwarding, "START_S", 0.0)
    _, sent = asked("/me", place, method="GET", messages=[piece(b"")], listens=False)
    assert sent[0]["status"] == 502
    assert b"Try again in a minute" in sent[1]["body"]


def test_the_acting_process_is_started_again_and_its_socket_removed(monkeypatch, tmp_path):
    calls = []

    class Pool:
        def __init__(self, *_, **__):
            pass

        def submit(self, function, *given):
            calls.append(given)
            if len(calls) == 3:
                raise forwarding.PoolClosed
            raise RuntimeError("it has ended")

        def close(self):
            pass

    monkeypatch.setattr(forwarding, "ProcessPool", Pool)
    monkeypatch.setattr(forwarding, "AGAIN_S", 0.0)
    acting = ForwardedProcess(tmp_path / "watch.sock")
    asyncio.run(acting.run())
    assert calls == [(str(acting.path), str(tmp_path / "watch.sock"), acting.secret)] * 3
    assert acting.path.parent.stat().st_mode & 0o77 == 0
    acting.close()
    assert not acting.path.parent.exists()
