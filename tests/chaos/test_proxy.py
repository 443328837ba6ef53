"""The proxy does to a connection what it says, and nothing to any other."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.chaos.proxy import DOWN, UP, Act, Deed, Plan, Proxy, plan_of

SENT = bytes(range(256)) * 40


@asynccontextmanager
async def echo(plan, *, echoes=True):
    """A connection through a proxy to a server that sends everything back, or nothing."""
    heard = bytearray()

    async def serve(reader, writer):
        try:
            while data := await reader.read(1000):
                heard.extend(data)
                if echoes:
                    writer.write(data)
                    await writer.drain()
        except OSError:
            pass  # the connection was reset
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, Proxy(lambda: address, plan=lambda number: plan) as proxy:
        host, port = proxy.address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            yield proxy, reader, writer, heard
        finally:
            writer.close()


async def read_all(reader):
    """Everything until the end, and whether that was a reset."""
    found = bytearray()
    try:
        while data := await reader.read(1000):
            found.extend(data)
    except ConnectionResetError:
        return bytes(found), True
    return bytes(found), False


def through(plan, *, end=True, echoes=True):
    """What comes back of what is sent, whether the end was a reset, what arrived, and the link."""

    async def main():
        async with echo(plan, echoes=echoes) as (proxy, reader, writer, heard):
            writer.write(SENT)
            if end:
                writer.write_eof()
            back, reset = await asyncio.wait_for(read_all(reader), 10)
            return back, reset, bytes(heard), proxy.link

    return asyncio.run(main())


@pytest.mark.parametrize(
    "plan",
    [Plan(), Plan(latency_s=0.01), Plan(latency_s=0.002, jitter_s=0.004)],
    ids=["at once", "late", "jittering"],
)
def test_everything_passes_in_order(plan):
    assert through(plan)[:3] == (SENT, False, SENT)


@pytest.mark.parametrize("after", [0, 1, 700, 5000])
@pytest.mark.parametrize("deed", [Deed.CUT, Deed.RESET])
def test_a_connection_ends_after_exactly_so_many_bytes(deed, after):
    plan = Plan(acts=(Act(deed, UP, after),))
    _, reset, heard, link = through(plan, end=False, echoes=False)
    if deed is Deed.CUT:
        assert (heard, reset) == (SENT[:after], False)
    else:  # which may take with it what was not yet read
        assert SENT[:after].startswith(heard)
        assert reset
    assert link.ways[UP].passed_bytes == after
    assert link.deeds == [deed]


def test_a_stall_holds_back_and_loses_nothing():
    plan = Plan(acts=(Act(Deed.STALL, DOWN, 300, lasts_s=0.1),))
    back, reset, heard, link = through(plan)
    assert (back, reset, heard) == (SENT, False, SENT)
    assert link.deeds == [Deed.STALL]


def test_what_is_sent_one_way_is_lost_and_then_both_ends_are_reset():
    plan = Plan(acts=(Act(Deed.ONE_WAY, DOWN, 300, lasts_s=0.1),))
    back, reset, heard, _ = through(plan, end=False)
    assert back == SENT[:300]
    assert reset
    assert heard == SENT, "the other way is as it was"


def test_a_half_closed_way_ends_for_its_receiver_only():
    plan = Plan(acts=(Act(Deed.HALF_CLOSE, UP, 300),))
    back, reset, heard, _ = through(plan, end=False)
    assert (back, reset, heard) == (SENT[:300], False, SENT[:300])


def test_one_act_follows_another():
    acts = (Act(Deed.STALL, DOWN, 100, lasts_s=0.01), Act(Deed.CUT, DOWN, 100))
    back, _, _, link = through(Plan(acts=acts))
    assert back == SENT[:200]
    assert link.deeds == [Deed.STALL, Deed.CUT]


def test_a_link_is_mistreated_at_will():
    async def main():
        async with echo(Plan()) as (proxy, reader, writer, _):
            writer.write(b"one")
            assert await reader.readexactly(3) == b"one"
            proxy.link.stall()
            writer.write(b"two")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.readexactly(3), 0.05)
            proxy.link.flow()
            assert await asyncio.wait_for(reader.readexactly(3), 5) == b"two"
            proxy.link.reset()
            with pytest.raises(ConnectionResetError):
                await asyncio.wait_for(reader.readexactly(1), 5)
            assert not proxy.link.open

    asyncio.run(main())


def test_where_nobody_listens_the_caller_is_hung_up_on():
    async def main():
        async with Proxy(lambda: "127.0.0.1:1") as proxy:
            host, port = proxy.address.split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            assert await asyncio.wait_for(reader.read(), 5) == b""
            writer.close()
            assert proxy.links == []

    asyncio.run(main())


def test_a_seed_gives_the_same_plans_again():
    plans = [plan_of(7, number) for number in range(200)]
    assert plans == [plan_of(7, number) for number in range(200)]
    assert plans != [plan_of(8, number) for number in range(200)]
    deeds = {act.deed for plan in plans for act in plan.acts}
    assert deeds == set(Deed), "every deed is drawn"
    assert all(act.deed is Deed.STALL for plan in plans for act in plan.acts[:-1])
