"""Tables are made in another process, and come to what this one would make."""

import asyncio
import json
import os
import threading

import pytest

from arena.app.standings_file import verify
from arena.contests.competition_service import CompetitionService
from arena.contests.official_standings import latest_standings, next_official
from arena.contests.standings_process import FRESH_S, StandingsMaker, StandingsProcess
from arena.results.states import Action
from arena.store import NoCompetition, NoOfficialStandings, StoreError, open_store
from tests.contests.test_competition_service import House


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
    tables = StandingsProcess(tmp_path / "arena.db")
    yield tables
    tables.close()


def process_of(tables):
    (process,) = tables._pool.started
    return process


@pytest.mark.slow
def test_what_another_process_makes_is_what_this_one_makes(house, apart):
    async def main():
        live = await apart.standings("autumn", 0)
        assert (live.number, live.signature) == (0, "")
        assert json.loads(live.text) == json.loads(
            json.dumps(latest_standings(house.held, "autumn"))
        )
        pair = await apart.pair("autumn", "", "bob", "ann")
        assert {pair["bot"], pair["other"]} == {"ann", "bob"}
        assert await apart.pair("autumn", "", "ann", "nobody") is None
        house.act("finish")
        official = await apart.standings("autumn", 1)
        assert (official.number, len(official.signature)) == (1, 128)
        with pytest.raises(
            NoOfficialStandings, match=r"^there are no such official standings: number 7"
        ):
            await apart.standings("autumn", 7)
        assert process_of(apart).pid != os.getpid()

    asyncio.run(main())


@pytest.mark.slow
def test_where_the_process_dies_another_one_makes_the_table(house, apart):
    async def main():
        await apart.standings("autumn", 0)
        first = process_of(apart)
        first.kill()
        await asyncio.to_thread(first.join)
        assert (await apart.standings("autumn", 0)).number == 0
        last = process_of(apart)
        assert last.pid != first.pid
        apart.close()
        await asyncio.to_thread(last.join)
        with pytest.raises(StoreError, match="the arena closes"):
            await apart.standings("autumn", 0)

    asyncio.run(main())


@pytest.mark.slow
def test_an_official_table_is_made_in_another_process_and_signed_in_this_one(
    house, apart, monkeypatch
):
    expected = next_official(house.held, "autumn")

    def here(*_):
        pytest.fail("sums were done in the arena's process")

    monkeypatch.setattr("arena.contests.official_standings.official_standings", here)
    service = CompetitionService(house.held, house.key, compute=apart.unsigned)
    with pytest.raises(NoCompetition, match=r"^there is no such competition: 'spring'"):
        apart.unsigned("spring")
    process = process_of(apart)
    process.kill()
    process.join()
    service.control("autumn", Action.FREEZE, who="org")
    table = house.held.official("autumn")
    assert (table.number, table.body) == (expected.number, expected.body)
    assert table.record == expected.record
    monkeypatch.undo()
    assert verify(service.deals("autumn", 1)).number == 1
    apart.close()
    with pytest.raises(StoreError, match="the arena closes"):
        service.control("autumn", Action.FREEZE, who="org")


def test_standings_are_computed_neither_on_the_loop_nor_on_a_thread(house, apart, monkeypatch):
    """What runs on a thread of the arena takes the loop's time as well: only the wait may."""
    asked = []

    def submit(_, do, given):
        asked.append((do.__name__, given, threading.current_thread() is threading.main_thread()))
        raise StoreError("not here")

    monkeypatch.setattr(apart, "_submit", submit)
    for call in (apart.standings("autumn", 0), apart.pair("autumn", "", "ann", "bob")):
        with pytest.raises(StoreError, match="not here"):
            asyncio.run(call)
    assert asked == [
        ("standings", ("autumn", 0), False),
        ("pair", ("autumn", "", "ann", "bob"), False),
    ]


def test_pairs_are_found_in_recent_standings(house, monkeypatch):
    made, now_s = [], [0.0]
    monkeypatch.setattr(
        "arena.contests.standings_process.latest_standings",
        lambda held, name: made.append(name) or latest_standings(held, name),
    )
    maker = StandingsMaker(house.store, lambda: now_s[0])
    for moment_s, tables in ((0.0, 1), (FRESH_S, 1), (FRESH_S + 1, 2)):
        now_s[0] = moment_s
        maker.pair("autumn", "", "ann", "bob")
        assert len(made) == tables
    maker.standings("autumn", 0)
    assert len(made) == 3, "a table is made each time: who asks keeps it"
