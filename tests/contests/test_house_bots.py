"""The arena's own bots on ladders: where they enter, and with whom they play."""

from datetime import UTC, datetime
from functools import partial

import pytest
import trio

from arena.contests.competition_service import CompetitionService
from arena.contests.entrants import enter_house_bots
from arena.contests.ladder import Ladder
from arena.contests.ladder_presence import LadderPresence
from arena.contests.pairing import Pairing, Waiting
from arena.contests.plan import read_plan
from arena.contests.scheduler import Scheduler
from arena.live import players
from arena.records.signing import ArenaKey
from arena.results.states import Action
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.store import BotKind, CompetitionEntry, NameTaken, open_store
from tests.contests.played import toml
from tests.contests.test_ladder_presence import Arena, Players, entered, held
from tests.store.test_registry import key_of

NOW = datetime(2026, 11, 25, tzinfo=UTC)
LADDER = 'name = "autumn"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
ALL = frozenset(HOUSE_BOTS)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        yield store
        assert store.violations() == ()


def started(store, text):
    service = CompetitionService(store.competitions(), ArenaKey.new(), now=lambda: NOW)
    bots = [CompetitionEntry(name, name, BotKind.REMOTE) for name in ("ann", "bob")]
    service.create(text, who="org", bots=bots)
    service.control("autumn", Action.START, who="org")
    return service


def house_bots(service):
    return {
        bot.name
        for bot in service.get("autumn")[0].entries
        if bot.out is None and bot.kind is BotKind.COMMAND
    }


# fmt: off
WHERE = [
    # plan                             withdrawn       enter                     why
    (LADDER,                           (),             ALL,                      "a ladder that any bot may enter"),
    (LADDER,                           ("house-random",), ALL - {"house-random"}, "its organiser withdrew one"),
    (LADDER + 'entry = "invited"\n',   (),             set(),                    "its organiser invites"),
    (toml("round_robin", deal_sets=2), (),             set(),                    "a tournament"),
]
# fmt: on


@pytest.mark.parametrize(("text", "withdrawn", "enter", "why"), WHERE, ids=[r[-1] for r in WHERE])
def test_house_bots_enter_open_ladders_and_stay_out_once_withdrawn(
    store, text, withdrawn, enter, why
):
    service = started(store, text)
    competitions = store.competitions()
    enter_house_bots(competitions, "autumn", who="(arena)", now=NOW)
    for bot in withdrawn:
        service.withdraw("autumn", bot, who="org")
    enter_house_bots(competitions, "autumn", who="(arena)", now=NOW)
    assert house_bots(service) == enter


@pytest.mark.parametrize("house", [True, False])
def test_the_scheduler_enters_them_only_if_it_is_told_to(store, tmp_path, monkeypatch, house):
    service, has_played = started(store, LADDER), trio.Event()

    async def run(ladder):
        has_played.set()
        await trio.sleep_forever()

    monkeypatch.setattr(Ladder, "run", run)

    async def main():
        async with trio.open_nursery() as nursery:
            bots = players.Players(None, tmp_path, tmp_path / "bots", nursery)
            plays = Scheduler(None, store, service, bots, house=house)
            nursery.start_soon(plays.run)
            with trio.fail_after(60):
                await has_played.wait()
            assert all(plays.players.command(name).is_house for name in HOUSE_BOTS)
            nursery.cancel_scope.cancel()

    trio.run(main)
    assert house_bots(service) == (ALL if house else set())


def waiting(*rivals, remote=False):
    own = [Waiting(name, name, 0, 1.0, 100) for name in HOUSE_BOTS]
    return own + [Waiting(name, name, 0, 1.0, 100, remote=remote) for name in rivals]


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_house_bots_alone_do_not_play(seats):
    assert Pairing("s", seats).draw(waiting()) is None


@pytest.mark.parametrize("remote", [True, False], ids=["it dials in", "it is launched"])
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_one_bot_is_enough_for_a_ladder_with_house_bots(seats, remote):
    draw = partial(Pairing("s", seats).draw, waiting("ann", remote=remote))
    drawn = [draw() for _ in range(8)]
    assert all("ann" in deal_set.bots for deal_set in drawn)
    assert {bot for deal_set in drawn for bot in deal_set.bots} >= ALL


def test_a_ladder_of_house_bots_says_for_what_it_waits():
    ladder = entered(*(held(name, BotKind.COMMAND) for name in HOUSE_BOTS))

    async def why():
        terms = read_plan(LADDER).games[0].terms
        return LadderPresence(terms, Arena(), Players(), ladder).why_none(ladder, {})

    assert (
        trio.run(why) == "only the arena's own bots have entered, and they play with others alone"
    )


def test_finals_of_a_ladder_are_played_without_house_bots(store):
    service = started(store, LADDER)
    enter_house_bots(store.competitions(), "autumn", who="(arena)", now=NOW)
    service.control("autumn", Action.FREEZE, who="org")
    finals, _ = service.get("autumn-finals-1")
    assert {bot.name for bot in finals.entries} == {"ann", "bob"}


@pytest.mark.parametrize("name", ["house-sample", "House_Sample", "house search 20ms"])
def test_no_owner_has_the_name_of_a_house_bot(store, name):
    registry = store.registry()
    registry.invite("code", "ann", invited_by="org", now=NOW)
    registry.register("code", key_of, now=NOW)
    with pytest.raises(NameTaken):
        registry.create_bot(name, "ann", BotKind.UPLOADED, now=NOW)
