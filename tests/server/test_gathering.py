"""Which asks travel together: what the one writer of a stream finds when it wakes."""

import asyncio

import pytest

from arena.server.session.outbox import Outbox
from cardarena.v1 import play_pb2
from tests.doubles.asks import SentAsk


def element(number):
    """An ask as an element of `Asks`."""
    return play_pb2.Asks(asks=[play_pb2.Ask(ask_id=number)]).SerializeToString()


async def first_frame(gathers, turns):
    """The asks of the first frame, where `turns[n]` asks are posted in turn n of the loop."""
    outbox = Outbox(asyncio.get_running_loop(), lambda: 0.0)
    outbox.gathers = gathers
    writer = asyncio.ensure_future(outbox.next())
    await asyncio.sleep(0)
    number = 0
    for count in turns:
        for _ in range(count):
            number += 1
            outbox.post_ask(element(number), SentAsk(0.0))
        await asyncio.sleep(0)
    frames = await writer
    asks = play_pb2.ArenaMessage.FromString(frames[0]).asks.asks
    return [ask.ask_id for ask in asks]


# fmt: off
FRAMES = [
    (False, [1, 1, 1],       [1],             "one ask open at a time: nothing is waited for"),
    (True,  [1],             [1],             "nothing more comes: the ask goes"),
    (True,  [2, 1, 1],       [1, 2, 3, 4],    "as long as every turn brings another"),
    (True,  [1, 1, 0, 0, 1], [1, 2],          "a turn without one ends the wait"),
]
# fmt: on


@pytest.mark.parametrize(("gathers", "turns", "frame", "why"), FRAMES, ids=[r[3] for r in FRAMES])
def test_asks_that_travel_together(gathers, turns, frame, why):
    assert asyncio.run(first_frame(gathers, turns)) == frame


@pytest.mark.parametrize(
    ("late_s", "stamp_s"),
    [(0.0005, 0.0), (0.002, 0.002)],
    ids=["half a millisecond is within the stamp", "two are the arena's own time: stamped anew"],
)
def test_the_clock_of_an_ask_starts_when_it_reaches_the_transport(late_s, stamp_s):
    async def posted():
        outbox = Outbox(asyncio.get_running_loop(), lambda: late_s)
        ask = SentAsk(0.0)
        outbox.post_ask(element(1), ask)
        await outbox.next()
        return ask.sent_s

    assert asyncio.run(posted()) == stamp_s
