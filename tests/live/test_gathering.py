"""Which asks travel together: what the one writer of a stream finds when it wakes."""

import asyncio

import pytest

from arena.live.metrics import Counts
from arena.live.session.messages import MOST_TURNS, Outbox, Pump
from cardarena.v1 import play_pb2
from tests.doubles.asks import sent_ask


def element(number):
    """An ask as an element of `Asks`."""
    return play_pb2.Asks(asks=[play_pb2.Ask(ask_id=number)]).SerializeToString()


async def first_frame(turns):
    """The asks of the first frame, where `turns[n]` messages come in turn n of the loop.

    An ask follows from each.
    """
    counts = Counts()
    outbox = Outbox(asyncio.get_running_loop(), lambda: 0.0, counts)
    writer = asyncio.ensure_future(outbox.next())
    await asyncio.sleep(0)
    number = 0
    for count in turns:
        for _ in range(count):
            number += 1
            counts.messages += 1
            outbox.post_ask(element(number), sent_ask(0.0))
        await asyncio.sleep(0)
    frames = await writer
    asks = play_pb2.ArenaMessage.FromString(frames[0]).asks.asks
    return [ask.ask_id for ask in asks]


# fmt: off
FRAMES = [
    ([1],                  1,  "nothing more comes: the ask goes"),
    ([2, 1, 1],            4,  "as long as every turn brings another"),
    ([1, 0, 1, 0, 1],      3,  "gRPC hands messages over in every second turn"),
    ([1, 1, 0, 0, 0, 0, 1], 2,  "three turns without a message end the wait"),
    ([1] * 60, MOST_TURNS + 1,  "nobody waits for ever, and what comes in the last turn is taken along"),
]
# fmt: on


@pytest.mark.parametrize(("turns", "asks", "why"), FRAMES, ids=[row[2] for row in FRAMES])
def test_asks_that_travel_together(turns, asks, why):
    assert asyncio.run(first_frame(turns)) == list(range(1, asks + 1))


def test_all_streams_are_written_to_at_once():
    """So what they are told shares one write of the journal."""

    async def woken():
        loop, counts = asyncio.get_running_loop(), Counts()
        pump = Pump(loop, counts)
        outboxes = [Outbox(loop, lambda: 0.0, counts, pump) for _ in range(3)]
        writers = [asyncio.ensure_future(outbox.next()) for outbox in outboxes]
        await asyncio.sleep(0)
        done = []
        for at, outbox in enumerate(outboxes):
            counts.messages += 1
            outbox.post_ask(element(at + 1), sent_ask(0.0))
            await asyncio.sleep(0)
            done.append(sum(writer.done() for writer in writers))
        await asyncio.wait(writers, return_when=asyncio.FIRST_COMPLETED)
        return done, sum(writer.done() for writer in writers)

    assert asyncio.run(woken()) == ([0, 0, 0], 3)


@pytest.mark.parametrize(
    ("late_s", "stamp_s"),
    [(0.0005, 0.0), (0.002, 0.002)],
    ids=["half a millisecond is within the stamp", "two are the arena's own time: stamped anew"],
)
def test_the_clock_of_an_ask_starts_when_it_reaches_the_transport(late_s, stamp_s):
    async def posted():
        outbox = Outbox(asyncio.get_running_loop(), lambda: late_s)
        ask = sent_ask(0.0)
        outbox.post_ask(element(1), ask)
        await outbox.next()
        return ask.sent_s

    assert asyncio.run(posted()) == stamp_s
