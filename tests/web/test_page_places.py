"""One visitor with many requests takes neither the places nor the time of others."""

import asyncio

import pytest

from arena.web.page_places import AT_A_TIME, MOST_OF_VISITOR, MOST_WAITING, Full, PagePlaces


async def refused(places, visitor):
    try:
        async with places.place(visitor):
            return False
    except Full:
        return True


# fmt: off
CROWDS = [
    # requests of each visitor                     another visitor's is refused   why
    ([40],                                         False,                         "forty requests of one visitor"),
    ([MOST_OF_VISITOR] * 3,                        False,                         "three visitors with as many as they may have"),
    ([MOST_OF_VISITOR] * (MOST_WAITING // MOST_OF_VISITOR), True,                 "as many as the site has places"),
]
# fmt: on


@pytest.mark.parametrize(("crowd", "is_refused", "why"), CROWDS, ids=[row[-1] for row in CROWDS])
def test_a_visitor_with_many_requests_keeps_no_other_out(crowd, is_refused, why):
    async def main():
        places, done, being_made, served = PagePlaces(), asyncio.Event(), [], []

        async def request(visitor):
            try:
                async with places.place(visitor):
                    being_made.append(visitor)
                    await done.wait()
                    served.append(visitor)
            except Full:
                return

        async with asyncio.TaskGroup() as tasks:
            for visitor, number in enumerate(crowd):
                for _ in range(number):
                    tasks.create_task(request(str(visitor)))
            for _ in range(5):
                await asyncio.sleep(0)
            assert [being_made.count(str(at)) for at in range(len(crowd))] == [AT_A_TIME] * len(
                crowd
            )
            assert await refused(places, "another") == is_refused
            done.set()
        assert len(served) == sum(min(number, MOST_OF_VISITOR) for number in crowd)
        assert not await refused(places, "0"), "its places are free again"
        assert not places._waiting
        assert not places._slots

    asyncio.run(main())
