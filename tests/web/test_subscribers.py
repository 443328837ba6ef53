"""Those who follow one thing: all are told all of it, and nobody waits for who takes nothing."""

import asyncio
import http.client
import logging
from urllib.parse import urlsplit

import pytest

from arena.games.catalogue import GAMES
from arena.live.event_buffers import EventBuffer
from arena.referee.spec import SeatedBot
from arena.referee.terms import MatchTerms
from arena.web import subscribers as subscribers_module
from arena.web.arena_source import NotLive
from arena.web.event_hub import FeedLimits
from arena.web.live_list import LiveList
from arena.web.subscribers import Feed, Subscriber
from cardarena.v1 import watch_pb2
from tests.pictures.matches import played
from tests.web import house

END = b"0\r\n\r\n"


class Counted(Feed):
    """A feed whose messages a test adds."""

    def __init__(self, slow_s=60.0, comment_s=60.0):
        super().__init__(slow_s=slow_s, comment_s=comment_s)
        self.messages = []
        self.made = 0
        """The number of calls of `since`."""

    def put(self, message, *, over=False):
        self.messages.append(message)
        self.over = over
        self.wake()

    def join(self, number):
        return b"".join(self.messages[number:]), len(self.messages)

    def since(self, place):
        self.made += 1
        return b"".join(self.messages[place:]), len(self.messages)


class Pipe(asyncio.Transport):
    """A connection whose other end takes what it is sent, or nothing."""

    def __init__(self):
        super().__init__()
        self.sent, self.takes, self.closed, self.protocol = [], True, "", None
        self.lost = asyncio.get_running_loop().create_future()

    def write(self, data):
        assert not self.closed
        self.sent.append(data)
        if not self.takes:
            self.protocol.pause_writing()

    def flows(self, takes):
        """Take again, or no more: as the loop tells a protocol."""
        self.takes = takes
        (self.protocol.resume_writing if takes else self.protocol.pause_writing)()

    def is_closing(self):
        return bool(self.closed)

    def close(self, how="closed"):
        if not self.closed:
            self.closed = how
            asyncio.get_running_loop().call_soon(self._lose)

    def abort(self):
        self.close("aborted")

    def _lose(self):
        self.protocol.connection_lost(None)
        self.lost.set_result(None)

    def resume_reading(self):
        pass

    def get_write_buffer_size(self):
        return 0 if self.takes else 1

    def get_write_buffer_limits(self):
        return 0, 0


def come(followed, *, takes=True, chunked=False, after=0, left=lambda: None, connections=None):
    """Somebody follows: the connection."""
    pipe = Pipe()
    pipe.takes = takes
    connections = set() if connections is None else connections
    subscriber = pipe.protocol = Subscriber(followed, connections, left, chunked=chunked)
    subscriber.connection_made(pipe)
    followed.attach(subscriber, b"", after)
    return pipe


async def turns(count=20):
    """Let everything that waits have its turn."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_messages_are_joined_once_for_all_subscribers_at_a_position(monkeypatch):
    monkeypatch.setattr(subscribers_module, "BATCH", 2)

    async def main():
        followed = Counted()
        pipes = [come(followed) for _ in range(7)]
        await turns()
        followed.made = 0
        followed.put(b"one")
        await turns()
        assert [pipe.sent[1:] for pipe in pipes] == [[b"one"]] * 7
        assert followed.made == 1

    asyncio.run(main())


def test_a_blocked_subscriber_gets_the_missed_messages_later():
    async def main():
        followed = Counted()
        slow, quick = come(followed), come(followed)
        await turns()
        slow.flows(False)
        followed.put(b"one,")
        await turns()
        followed.put(b"two,")
        await turns()
        assert (slow.sent[1:], quick.sent[1:]) == ([], [b"one,", b"two,"])
        slow.flows(True)
        assert slow.sent[1:] == [b"one,two,"]
        followed.put(b"three")
        await turns()
        assert slow.sent[2:] == quick.sent[3:] == [b"three"]

    asyncio.run(main())


def test_a_subscriber_that_reads_nothing_for_long_is_disconnected():
    async def main():
        followed, left, connections = Counted(slow_s=0.0), [], set()
        slow = come(followed, left=lambda: left.append("slow"), connections=connections)
        stays = come(followed, left=lambda: left.append("stays"), connections=connections)
        assert connections == {slow.protocol, stays.protocol}
        slow.flows(False)
        await slow.lost
        assert (slow.closed, left, connections) == ("aborted", ["slow"], {stays.protocol})
        followed.put(b"one")
        await turns()
        assert stays.sent[1:] == [b"one"]

    asyncio.run(main())


def test_a_subscriber_that_reads_again_in_time_stays():
    async def main():
        followed = Counted(slow_s=0.0)
        pipe = come(followed)
        pipe.flows(False)
        pipe.flows(True)
        await turns()
        assert not pipe.closed

    asyncio.run(main())


@pytest.mark.parametrize("chunked", [True, False], ids=["HTTP/1.1", "HTTP/1.0"])
def test_the_connection_closes_after_all_messages(chunked):
    async def main():
        followed = Counted()
        behind, quick = (come(followed, chunked=chunked) for _ in range(2))
        await turns()
        behind.flows(False)
        followed.put(b"one")
        await turns()
        followed.put(b"over", over=True)
        await turns()
        assert (behind.closed, quick.closed) == ("", "closed")
        behind.flows(True)
        await behind.lost
        late = come(followed, chunked=chunked)
        await late.lost
        if chunked:
            assert quick.sent[1:] == [b"3\r\none\r\n", b"4\r\nover\r\n", END]
            assert behind.sent[1:] == [b"7\r\noneover\r\n", END]
            assert late.sent == [b"7\r\noneover\r\n", END]
        else:
            assert quick.sent[1:] == [b"one", b"over"]
            assert behind.sent[1:] == late.sent == [b"oneover"]

    asyncio.run(main())


def test_a_comment_is_sent_when_nothing_else_is():
    async def main():
        followed = Counted(comment_s=0.0)
        pipe, slow = come(followed), come(followed)
        slow.flows(False)
        await turns()
        assert set(pipe.sent[1:]) == {b": here\n\n"}
        assert slow.sent[1:] == []

    asyncio.run(main())


def test_a_server_that_stops_ends_its_feeds():
    async def main():
        followed = Counted()
        pipe = come(followed, chunked=True)
        pipe.protocol.shutdown()
        followed.put(b"one")
        await pipe.lost
        assert pipe.sent[1:] == [END]

    asyncio.run(main())


def test_a_feed_that_fails_is_logged_and_ends_its_subscribers(caplog):
    async def main():
        followed = Counted()
        pipe = come(followed)
        await turns()
        followed.since = None
        followed.put(b"one")
        await pipe.lost

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert [record.message for record in caplog.records] == ["a feed fails"]


def test_the_list_of_matches_in_play_reaches_its_subscribers():
    async def ended():
        return ()

    async def main():
        listed = LiveList(Scripted(), lambda found, *_: len(found.matches), ended)
        listed.count(1)
        pipe = come(listed)
        await turns()
        assert pipe.sent[1:] == [b"id: 1\nevent: list\ndata: 0\n\n"]

    asyncio.run(main())


# Over real sockets: the server's own connections are handed over.


class Scripted:
    """A source with one match, that stands at its twelfth step."""

    def __init__(self):
        options, frames = played("klaberjass", 2)
        game = next(game for game in GAMES if game.id == "klaberjass")
        self._feed = EventBuffer("m9")
        terms = MatchTerms(game, options, 2)
        self._feed.opened("m9", terms, [SeatedBot("ann"), SeatedBot("bob")])
        for frame in frames[:12]:
            events = [told.event for told in frame.events if told.sent_to is None]
            self._feed.stepped(frame.next_hand, events, lambda frame=frame: frame.view(None))

    async def watch(self, match_id, after):
        if match_id != "m9":
            raise NotLive("no such match")
        async for told in self._feed.follow(after):
            yield told

    async def live(self):
        return watch_pb2.ListLiveResponse()


class Asking:
    """A request on a connection of its own."""

    def __init__(self, running, method, path, version=11, headers=None):
        where = urlsplit(running.address)
        self.connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
        self.connection._http_vsn, self.connection._http_vsn_str = (
            version,
            f"HTTP/{version // 10}.{version % 10}",
        )
        self.connection.request(method, path, headers=headers or {})
        self.answer = self.connection.getresponse()

    def line(self):
        return self.answer.readline().decode().strip()


def test_feeds_over_sockets_have_limits_and_end_with_the_server(built):
    with house.Running(built[0], Scripted, FeedLimits(of_address=3)) as running:
        seen = Asking(running, "HEAD", "/m/m9/feed")
        assert (seen.answer.status, seen.answer.read()) == (200, b"")
        feeds = [Asking(running, "GET", "/m/m9/feed") for _ in range(2)]
        feeds.append(Asking(running, "GET", "/m/m9/feed", version=10))
        for each in feeds:
            assert each.answer.status == 200
            assert each.answer.getheader("content-type") == "text/event-stream; charset=utf-8"
            assert each.answer.getheader("content-security-policy").startswith("default-src 'none'")
            assert each.line() == "retry: 2000"
            while not each.line().startswith("id: "):
                pass
        fourth = Asking(running, "GET", "/m/m9/feed")
        assert (fourth.answer.status, fourth.answer.getheader("retry-after")) == (503, "60")
    for each in feeds:  # what is left of an answer that ends as it should
        assert b"event: frame" in each.answer.read()
        each.connection.close()
    for each in (seen, fourth):
        each.connection.close()


def test_a_subscriber_that_disconnects_is_not_counted(built):
    with house.Running(built[0], Scripted, FeedLimits(of_address=1)) as running:
        for _ in range(3):
            asking = Asking(running, "GET", "/m/m9/feed")
            while (
                asking.answer.status == http.client.SERVICE_UNAVAILABLE
            ):  # it has not been seen yet
                asking.connection.close()
                asking = Asking(running, "GET", "/m/m9/feed")
            assert asking.line() == "retry: 2000"
            asking.answer.close()
            asking.connection.close()


def test_a_proxy_on_this_machine_names_the_addresses_of_its_clients(built):
    with house.Running(built[0], Scripted, FeedLimits(of_address=1)) as running:
        asked = [
            Asking(running, "GET", "/m/m9/feed", headers={"x-forwarded-for": address})
            for address in ("192.0.2.1", "192.0.2.2", "192.0.2.2")
        ]
        assert [each.answer.status for each in asked] == [200, 200, 503]
    for each in asked:
        each.answer.close()
        each.connection.close()
