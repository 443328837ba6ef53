"""How long calls and messages keep the loop is told of their owner, and of nobody else."""

import asyncio
from datetime import UTC, datetime

import grpc
import pytest

from arena.api.admission.calls import CallInterceptor, each_timed, timed
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.store.keys import Key, Scope
from tests.doubles.calls import Call, Details
from tests.doubles.clocks import Clock

MADE = datetime(2026, 11, 22, tzinfo=UTC)
BOT, ORGANISER = new_token(), new_token()
KEYS = [
    Key(key_id(BOT), token_sha256(BOT), Scope.BOT, "ann", "ann-bot", MADE, changed=1),
    Key(key_id(ORGANISER), token_sha256(ORGANISER), Scope.ORGANISER, "bob", "", MADE, changed=1),
]


class Works:
    """Work on a clock that only works move; what was told of it."""

    def __init__(self):
        self.clock = Clock()
        self.told = []

    def note(self, *told):
        self.told.append(told)

    def work(self, seconds):
        self.clock.now += seconds

    async def wait(self, seconds):
        """Wait, which keeps nobody from the loop."""
        await asyncio.sleep(0)
        self.clock.now += seconds

    @property
    def spans(self):
        return [span for span in self.told if span[-1] > span[-2]]


def test_a_call_is_charged_for_work_and_not_for_waiting():
    works = Works()

    async def call():
        works.work(3)
        pause = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(lambda: (works.work(10), pause.set_result(7)))
        found = await pause
        works.work(2)
        return found

    assert asyncio.run(_awaited(timed(call(), works.clock, works.note))) == 7
    assert works.spans == [(0.0, 3.0), (13.0, 15.0)]


async def _awaited(call):
    return await call


def test_a_call_that_fails_or_is_cancelled_does_so_as_ever():
    works = Works()

    async def fails():
        works.work(1)
        raise LookupError("nothing")

    with pytest.raises(LookupError, match="nothing"):
        asyncio.run(_awaited(timed(fails(), works.clock, works.note)))

    async def cancelled():
        tidied = []

        async def waits():
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                works.work(2)
                tidied.append(True)

        task = asyncio.ensure_future(_awaited(timed(waits(), works.clock, works.note)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return tidied

    assert asyncio.run(cancelled()) == [True]
    assert works.spans == [(0.0, 1.0), (1.0, 3.0)]


def test_each_message_of_a_stream_is_charged_for_its_own_work():
    works = Works()

    async def messages():
        for number in range(3):
            works.work(number)
            yield number

    async def main():
        found = []
        async for each in each_timed(messages(), works.clock, works.note):
            works.work(100)
            found.append(each)
        return found

    assert asyncio.run(main()) == [0, 1, 2]
    assert works.spans == [(100.0, 101.0), (201.0, 203.0)]


LIST = "/cardarena.v1.LobbyService/ListMatches"
READ = "/cardarena.v1.ReplayService/GetReplay"
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


@pytest.mark.parametrize(
    ("authorization", "owner"),
    [
        pytest.param(f"Bearer {BOT}", "ann", id="a bot's token"),
        pytest.param(f"Bearer {ORGANISER}", "bob", id="an organiser's token"),
        pytest.param("", None, id="no token"),
        pytest.param("Bearer guest:ann-x", None, id="a guest, whose name anybody may say"),
    ],
)
@pytest.mark.parametrize("method", [LIST, READ, REFLECT])
def test_the_owner_of_the_token_is_charged(method, authorization, owner):
    works = Works()
    gate = CallInterceptor(Tokens(guests=True, keys=KEYS), now_s=works.clock, worked=works.note)

    def one(_request, _context):
        works.work(2)
        return b""

    async def many(_request, _context):
        works.work(2)
        yield b""

    async def found(_):
        if method == LIST:
            return grpc.unary_unary_rpc_method_handler(one)
        make = grpc.stream_stream_rpc_method_handler
        return (grpc.unary_stream_rpc_method_handler if method == READ else make)(many)

    async def main():
        handler = await gate.intercept_service(found, Details(method, authorization))
        return [each async for each in handler.stream_stream(None, Call())]

    asyncio.run(main())
    assert works.spans == ([(owner, 0.0, 2.0)] if owner else [])
