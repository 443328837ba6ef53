"""What a stream has still to send: order, frames, clocks and bounds."""

import asyncio

import grpc
import pytest

from arena.errors.refused import Refused
from arena.live.session.messages import LAG_S, MAX_QUEUED_BYTES, Outbox
from arena.live.session.stream import MAX_FRAME_BYTES
from arena.referee.wire.fields import ask_element, match_field
from cardarena.v1 import play_pb2
from tests.doubles.asks import sent_ask


def element(ask_id, size=40):
    padding = play_pb2.Ask(move_texts=["x" * max(0, size - 30)]).SerializeToString()
    return ask_element(ask_id, 1, match_field(1), 1000, 0, 0, 0, padding)


def drain_frame(number):
    return play_pb2.ArenaMessage(drain=play_pb2.Drain(deadline_ms=number)).SerializeToString()


def with_outbox(test):
    """Run `test(outbox, clock)` on a loop; `clock[0]` is what the outbox sees as now."""

    async def main():
        clock = [1.0]
        await asyncio.wait_for(test(Outbox(asyncio.get_running_loop(), lambda: clock[0]), clock), 5)

    asyncio.run(main())


def read(frame):
    message = play_pb2.ArenaMessage.FromString(frame)
    if message.WhichOneof("body") == "asks":
        return [ask.ask_id for ask in message.asks.asks]
    return message.drain.deadline_ms


def test_asks_that_are_ready_together_travel_together_and_order_is_kept():
    async def test(outbox, clock):
        outbox.post_ask(element(1), sent_ask())
        outbox.post_ask(element(2), sent_ask())
        outbox.post(drain_frame(77))
        outbox.post_ask(element(3), sent_ask())
        assert [read(frame) for frame in await outbox.next()] == [[1, 2], 77, [3]]

    with_outbox(test)


def test_the_writer_waits_for_frames():
    async def test(outbox, clock):
        waiting = asyncio.create_task(outbox.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.post(drain_frame(1))
        outbox.post(drain_frame(2))
        assert [read(frame) for frame in await waiting] == [1, 2]

    with_outbox(test)


@pytest.mark.parametrize("size", [100, 5_000, 30_000, 59_000, 61_000, 119_000])
def test_a_frame_of_asks_stays_under_128_kb(size):
    async def test(outbox, clock):
        for number in range(1, 30):
            outbox.post_ask(element(number, size), sent_ask())
        frames = await outbox.next()
        assert [number for frame in frames for number in read(frame)] == list(range(1, 30))
        assert max(map(len, frames)) < 128_000
        assert len(frames) <= 1 + 29 * size // (MAX_FRAME_BYTES - size)

    with_outbox(test)


def test_the_stream_of_a_bot_that_does_not_read_is_closed():
    async def test(outbox, clock):
        sent = 0
        while not outbox.closed:
            outbox.post_ask(element(1, 50_000), sent_ask())
            sent += 50_000
            assert sent < MAX_QUEUED_BYTES + 100_000
        assert sent > MAX_QUEUED_BYTES - 100_000
        assert outbox.verdict.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert outbox.verdict.reason == "NOT_READING"

    with_outbox(test)


def test_a_bot_that_reads_may_be_sent_any_amount():
    async def test(outbox, clock):
        for _ in range(2 * MAX_QUEUED_BYTES // 100_000):
            outbox.post(b"\0" * 100_000)
            await outbox.next()
        assert not outbox.closed

    with_outbox(test)


def test_after_closing_what_was_posted_is_sent_and_nothing_more_is_taken():
    async def test(outbox, clock):
        outbox.post(drain_frame(1))
        outbox.post_ask(element(2), sent_ask())
        verdict = Refused("TAKEN_OVER")
        outbox.close(verdict)
        outbox.close(Refused("NOT_READING"))
        outbox.post(drain_frame(3))
        outbox.post_ask(element(4), sent_ask())
        assert [read(frame) for frame in await outbox.next()] == [1, [2]]
        assert await outbox.next() == []
        assert await outbox.next() == []
        assert outbox.verdict is verdict

    with_outbox(test)


def test_closing_wakes_a_writer_that_waits():
    async def test(outbox, clock):
        waiting = asyncio.create_task(outbox.next())
        await asyncio.sleep(0)
        outbox.close()
        assert await waiting == []
        assert outbox.verdict is None

    with_outbox(test)


@pytest.mark.parametrize(
    ("lag_s", "starts_s"),
    [(2.5, 3.5), (LAG_S / 2, 1.0)],
    ids=["after a while: from then on", "at once: as it was stamped"],
)
def test_a_clock_starts_when_the_ask_is_handed_to_the_transport(lag_s, starts_s):
    """What the arena took until then is refunded."""

    async def test(outbox, clock):
        waiting = asyncio.create_task(outbox.next())
        await asyncio.sleep(0)
        asks = [sent_ask(), sent_ask()]
        for ask in asks:
            outbox.post_ask(element(1), ask)
        clock[0] += lag_s
        await waiting
        assert [ask.sent_s for ask in asks] == [starts_s, starts_s]

    with_outbox(test)


def test_time_in_the_queue_of_a_busy_transport_is_the_bots_own():
    async def test(outbox, clock):
        outbox.post(drain_frame(1))
        await outbox.next()
        ask = sent_ask()
        outbox.post_ask(element(1), ask)  # while the writer is still sending the first
        clock[0] = 9.0
        await outbox.next()
        assert ask.sent_s == 1.0

    with_outbox(test)
