"""A competition in a file of SQLite and its twin in PostgreSQL: the same draws, exports and tables, to the byte."""

import contextlib

import pytest

from arena.app.standings_file import verify
from arena.contests.competition_service import CompetitionService
from arena.records.signing import ArenaKey
from arena.store import open_store
from arena.store.database import URL_FILE
from tests.contests.played import toml
from tests.contests.test_competition_service import House

pytestmark = pytest.mark.slow  # plays on both stores

KEY = ArenaKey.new()
"""Both arenas sign with one key, so that signatures are the same as well."""
EIGHT = ("ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal")


@pytest.fixture
def houses(tmp_path, cluster):
    """One office over each of the two."""
    with contextlib.ExitStack() as stores:
        built = []
        for name in ("sqlite", "postgresql"):
            folder = tmp_path / name
            folder.mkdir()
            if name == "postgresql":
                (folder / URL_FILE).write_text(cluster.new_store())
            house = House(stores.enter_context(open_store(folder / "arena.db")))
            house.service = CompetitionService(house.held, KEY, now=house.clock)
            built.append(house)
        yield built
        for house in built:
            assert house.store.violations() == ()


def both(houses, does):
    """What both say, which has to be the same."""
    one, other = (does(house) for house in houses)
    assert one == other
    return one


# fmt: off
PLANS = [
    # plan                                                      why
    (toml("round_robin"),                                       "everybody meets"),
    (toml("swiss", seats=3, game="democracy"),                  "groups are swapped between rounds"),
    (toml("knockout", deal_sets=0, own="most_deal_sets = 20"),  "deal-sets end when it is decided"),
    (toml("groups", own="groups = 2\nbest = 2"),                "finals follow from groups"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "why"),
    PLANS,
    ids=[row[1] for row in PLANS],
)
def test_a_tournament_comes_to_the_same(houses, text, why):
    for house in houses:
        house.made(text, EIGHT)
        house.act("start")
        house.draw()
        house.play(2)
    both(houses, lambda house: house.service.standings("autumn"))
    both(houses, lambda house: house.act("freeze"))
    for house in houses:
        house.play()
        house.run()
        house.act("finish")
        house.service.disqualify("autumn", "bob", reason="two accounts", who="org")
    both(houses, lambda house: house.service.rounds("autumn"))
    for number in (1, 2, 3):
        body = both(houses, lambda house: house.held.official("autumn", number).body.encode())  # noqa: B023
        assert len(body) > 500
    lines = both(houses, lambda house: list(house.service.deals("autumn")))
    assert verify(lines, public_key=KEY.public_key).number == 3
