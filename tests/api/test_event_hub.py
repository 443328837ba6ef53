"""The hall follows the store: what runs there is played, and what fails keeps nobody else from playing."""

import pytest
import trio
from trio.testing import MockClock

from arena.contests.competition_service import CompetitionService
from arena.contests.drawn_rounds import Incomplete
from arena.contests.scheduler import POLL_S, BotsChanged, Scheduler
from arena.live.players import Players
from arena.records.signing import ArenaKey
from arena.results.states import Action
from arena.sandbox.command import BadCommand
from arena.sandbox.spawner.order import Level
from arena.store import BotKind, CompetitionEntry, DrawDiffers, StoreError, open_store
from tests.contests.played import toml, waits


class Scripted(Scheduler):
    """A scheduler whose play is a list of what happens at each start."""

    def __init__(self, *args, happens=(), enough, **rest):
        super().__init__(*args, **rest)
        self.happens, self.starts = list(happens), []
        self.enough, self.started = enough, trio.Event()

    async def _play(self, held):
        self.starts.append(held.name)
        if len(self.starts) == self.enough:
            self.started.set()
        what = self.happens.pop(0) if self.happens else None
        if what is not None:
            raise what
        await trio.sleep_forever()


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as opened:
        yield opened


def run(store, tmp_path, happens, starts, names=("autumn",)):
    service = CompetitionService(store.competitions(), ArenaKey.new())
    bots = [
        CompetitionEntry(name, name, BotKind.COMMAND, f"./{name}", name) for name in ("ann", "bob")
    ]
    for name in names:
        service.create(toml("swiss").replace("autumn", name), who="org", bots=bots)
        service.control(name, Action.START, who="org")

    async def main():
        async with trio.open_nursery() as nursery:
            players = Players(None, tmp_path, tmp_path / "bots", nursery)
            hub = Scripted(None, store, service, players, happens=happens, enough=starts)
            nursery.start_soon(hub.run)
            with trio.fail_after(2_000):
                await hub.started.wait()
            await trio.sleep(20 * POLL_S)  # and no more often
            nursery.cancel_scope.cancel()
        return hub

    return trio.run(main, clock=MockClock(rate=50)), service


def test_a_store_that_goes_away_in_mid_round_is_waited_for(store, tmp_path):
    hub, service = run(store, tmp_path, [StoreError("disk I/O error"), StoreError("again")], 3)
    assert hub.starts == ["autumn"] * 3
    assert service.get("autumn")[0].state == "running"


@pytest.mark.slow
@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(DrawDiffers("round 2 was drawn otherwise"), id="a draw that differs"),
        pytest.param(BadCommand("there is no such program"), id="a bot that cannot be started"),
        pytest.param(BotsChanged("its files have changed"), id="a bot that was changed"),
        pytest.param(Incomplete("4 deal-sets"), id="what the arena cannot finish"),
    ],
)
def test_a_competition_that_cannot_go_on_is_paused_and_keeps_no_other(store, tmp_path, trouble):
    hub, service = run(store, tmp_path, [trouble], 2, ("autumn", "winter"))
    assert sorted(hub.starts) == ["autumn", "winter"]
    paused, running = sorted(service.all(), key=lambda stored: stored.state)
    assert (paused.state, running.state) == ("paused", "running")
    assert waits(service, paused.name).startswith("the arena paused it: ")
    assert waits(service, running.name) == ""


class Sandbox:
    def __init__(self, level):
        self.level = level

    def why_not(self, level):
        return f"no {level} was found"


# fmt: off
LEVELS = [
    # there is    demanded   launched?  why
    (Level.S3,    Level.S2,  True,      "a better sandbox than is demanded"),
    (Level.S2,    Level.S2,  True,      "just that sandbox"),
    (Level.S2,    Level.S3,  False,     "a lower one"),
    (Level.S1,    Level.S2,  False,     "one that holds no strangers"),
    (None,        Level.S1,  False,     "none at all"),
]
# fmt: on


@pytest.mark.parametrize(
    ("there", "demanded", "launched", "_why"), LEVELS, ids=[row[-1] for row in LEVELS]
)
def test_a_competition_launches_nobody_below_the_sandbox_level_that_it_demands(
    store, tmp_path, monkeypatch, there, demanded, launched, _why
):
    service = CompetitionService(store.competitions(), ArenaKey.new())
    bots = [
        CompetitionEntry(name, name, BotKind.COMMAND, f"./{name}", name) for name in ("ann", "bob")
    ]
    service.create(f'sandbox = "{demanded}"\n{toml("swiss")}', who="org", bots=bots)
    service.control("autumn", Action.START, who="org")
    sandbox = None if there is None else Sandbox(there)

    async def know(players, held):
        raise BotsChanged("it got as far as its bots")

    monkeypatch.setattr("arena.contests.scheduler.know_commands", know)

    async def main():
        async with trio.open_nursery() as nursery:
            players = Players(None, tmp_path, tmp_path / "bots", nursery, sandbox=sandbox)
            hub = Scheduler(None, store, service, players)
            return await hub.play("autumn")

    why = trio.run(main)
    if launched:
        assert why.startswith("files of bots have changed: it got as far as its bots")
    else:
        assert f"are to be launched at sandbox level {demanded} or better" in why
        assert f"and are at {there or Level.S0} here" in why
