"""Tables are made in another process, and come to what this one would make."""

import asyncio
import json
import os
import threading

import pytest

from arena.competition.states import Action
from arena.server.office import Office, latest_table, unsigned, verify
from arena.server.tables_apart import FRESH_S, TableMaker, TablesApart
from arena.store import NoCompetition, StoreError, open_store
from tests.server.test_office import House


@pytest.fixture
def house(tmp_path):
    """A tournament that is finished, and of which a live table is asked as well."""
    with open_store(tmp_path / "arena.db") as store:
        house = House(store).made()
        house.act("start")
        house.run()
        yield house


@pytest.fixture
def apart(tmp_path):
    tables = TablesApart(tmp_path / "arena.db")
    yield tables
    tables.close()


def process_of(tables):
    (process,) = tables._pool._processes.values()
    return process


@pytest.mark.slow
def test_what_another_process_makes_is_what_this_one_makes(house, apart):
    async def main():
        live = await apart.table("autumn", 0)
        assert (live.number, live.signature) == (0, "")
        assert json.loads(live.text) == json.loads(json.dumps(latest_table(house.held, "autumn")))
        pair = await apart.pair("autumn", "", "bob", "ann")
        assert {pair["bot"], pair["other"]} == {"ann", "bob"}
        assert await apart.pair("autumn", "", "ann", "nobody") is None
        house.act("finish")
        official = await apart.table("autumn", 1)
        assert (official.number, len(official.signature)) == (1, 128)
        with pytest.raises(NoCompetition, match="there is no table 7"):
            await apart.table("autumn", 7)
        assert process_of(apart).pid != os.getpid()

    asyncio.run(main())


@pytest.mark.slow
def test_where_the_process_dies_another_one_makes_the_table(house, apart):
    async def main():
        await apart.table("autumn", 0)
        first = process_of(apart)
        first.kill()
        await asyncio.to_thread(first.join)
        assert (await apart.table("autumn", 0)).number == 0
        last = process_of(apart)
        assert last.pid != first.pid
        apart.close()
        await asyncio.to_thread(last.join)
        with pytest.raises(StoreError, match="the arena closes"):
            await apart.table("autumn", 0)

    asyncio.run(main())


@pytest.mark.slow
def test_an_official_table_is_made_in_another_process_and_signed_in_this_one(
    house, apart, monkeypatch
):
    expected = unsigned(house.held, "autumn")

    def here(*_):
        pytest.fail("sums were done in the arena's process")

    monkeypatch.setattr("arena.server.office.frozen", here)
    office = Office(house.held, house.key, make=apart.unsigned)
    with pytest.raises(NoCompetition, match="there is no competition 'spring'"):
        apart.unsigned("spring")
    process = process_of(apart)
    process.kill()
    process.join()
    office.control("autumn", Action.FREEZE, who="org")
    table = house.held.table("autumn")
    assert (table.number, table.body) == (expected.number, expected.body)
    assert "\n".join(table.record) == expected.record
    monkeypatch.undo()
    assert verify(office.deals("autumn", 1)).number == 1
    apart.close()
    with pytest.raises(StoreError, match="the arena closes"):
        office.control("autumn", Action.FREEZE, who="org")


def test_nothing_of_a_table_is_made_on_the_loop_or_beside_it(house, apart, monkeypatch):
    """What runs on a thread of the arena takes the loop's time as well: only the wait may."""
    asked = []

    def submit(do, given):
        asked.append((do.__name__, given, threading.current_thread() is threading.main_thread()))
        raise StoreError("not here")

    monkeypatch.setattr(apart, "_submit", submit)
    for call in (apart.table("autumn", 0), apart.pair("autumn", "", "ann", "bob")):
        with pytest.raises(StoreError, match="not here"):
            asyncio.run(call)
    assert asked == [
        ("_table", ("autumn", 0), False),
        ("_pair", ("autumn", "", "ann", "bob"), False),
    ]


def test_pairs_are_looked_up_in_a_table_that_was_made_a_moment_ago(house, monkeypatch):
    made, now_s = [], [0.0]
    monkeypatch.setattr(
        "arena.server.tables_apart.latest_table",
        lambda held, name: made.append(name) or latest_table(held, name),
    )
    maker = TableMaker(house.store, lambda: now_s[0])
    for moment_s, tables in ((0.0, 1), (FRESH_S, 1), (FRESH_S + 1, 2)):
        now_s[0] = moment_s
        maker.pair("autumn", "", "ann", "bob")
        assert len(made) == tables
    maker.table("autumn", 0)
    assert len(made) == 3, "a table is made each time: who asks keeps it"
