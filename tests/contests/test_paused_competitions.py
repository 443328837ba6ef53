"""An error in one competition pauses that one with its reason, and neither another nor the arena."""

import logging
from datetime import UTC, datetime

import pytest
import trio
from trio.testing import MockClock

from arena.contests import comparison_runner, drawn_rounds, ladder, scheduler
from arena.contests.competition_service import CompetitionService
from arena.contests.plan_changes import BotsChanged
from arena.contests.scheduler import Scheduler
from arena.durable_files import Unwritten
from arena.live.launcher import NoShow
from arena.live.players import Players
from arena.live.work import CannotPlay
from arena.records.signing import ArenaKey
from arena.results.states import Action, State
from arena.sandbox.command import BadCommand, SharedName
from arena.store import (
    BotKind,
    CompetitionEntry,
    StoreBusy,
    StoreError,
    open_store,
)
from arena.store.versions import UnknownVersion
from tests.contests.played import outcome, toml, waits
from tests.live.lives import goes_on

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
SKILLS = {"ann": 0.0, "bob": 0.0}
TOURNAMENT = toml("round_robin", deal_sets=2)
KNOCKOUT = toml("knockout", deal_sets=0)
LADDER = 'name = "autumn"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
OTHER = TOURNAMENT.replace('name = "autumn"', 'name = "winter"')
SECRET = "line 7 of /home/arena/secret.py"


@pytest.fixture
def store(tmp_path, monkeypatch):
    async def inline(call, *given, **_):
        await trio.lowlevel.checkpoint()
        return call(*given)

    for module in (comparison_runner, drawn_rounds, ladder, scheduler):
        monkeypatch.setattr(module, "run_sync", inline)
    monkeypatch.setattr(trio.to_thread, "run_sync", inline)
    with open_store(tmp_path / "arena.db") as store:
        yield store
        assert store.violations() == ()


def started(store, *texts):
    service = CompetitionService(store.competitions(), ArenaKey.new(), now=lambda: NOW)
    for text in texts:
        bots = [CompetitionEntry(name, name, BotKind.REMOTE) for name in SKILLS]
        plan = service.create(text, who="org", bots=bots)
        service.control(plan.name, Action.START, who="org")
    return service


class Plays:
    """A player whose matches end at once."""

    async def ready(self):
        return 1

    async def play(self, deal_set, known, ended, begin, *, task_status):
        task_status.started()
        return {match.id: outcome(match, SKILLS) for match in deal_set.matches}


class Fails(Plays):
    """A player that fails in the middle of a deal-set."""

    def __init__(self, error):
        self.error = error

    async def play(self, deal_set, known, ended, begin, *, task_status):
        raise self.error


def at_once(error):
    """The `make_player` of a game that fails as soon as its competition is played."""

    def make_player(*_, **__):
        raise error

    return make_player


def in_play(error):
    return lambda *_, **__: Fails(error)


def player_of(make_player):
    """What plays: in autumn what is given, and otherwise a player without failures."""
    return lambda plan: make_player if plan.name == "autumn" else lambda *_, **__: Plays()


def run(store, service, folder, make_player, until):
    """Run a scheduler until a condition holds; it fails after an hour."""

    async def main():
        with trio.fail_after(3_600):
            async with trio.open_nursery() as nursery:
                plays = Scheduler(
                    None,
                    store,
                    service,
                    Players(None, folder, folder / "bots", nursery),
                    player_of=player_of(make_player),
                    now=lambda: NOW,
                )
                nursery.start_soon(plays.run)
                while not until():  # noqa: ASYNC110 - the store announces nothing
                    await trio.sleep(1)
                nursery.cancel_scope.cancel()

    with goes_on():
        trio.run(main, clock=MockClock(autojump_threshold=0))


def state(service, name):
    return service.get(name)[0].state


# fmt: off
ERRORS = [
    # plan         the failure                                            said to everybody                             why
    (TOURNAMENT,   at_once(ValueError(SECRET)),                           "an error in the arena: incident ",           "a bug as play begins"),
    (TOURNAMENT,   in_play(KeyError(SECRET)),                             "an error in the arena: incident ",           "a bug during a deal-set"),
    (TOURNAMENT,   in_play(ExceptionGroup("", [TypeError(SECRET)])),      "an error in the arena: incident ",           "a bug in a nursery"),
    (TOURNAMENT,   in_play(UnknownVersion(SECRET)),                       "an error in the arena: incident ",           "a row that is missing"),
    (KNOCKOUT,     in_play(AssertionError(SECRET)),                       "an error in the arena: incident ",           "a bug in a knockout"),
    (LADDER,       at_once(IndexError(SECRET)),                           "an error in the arena: incident ",           "a bug in a ladder"),
    (TOURNAMENT,   in_play(BadCommand(SECRET)),                           "a bot cannot be launched; the arena's log",  "a command that fails"),
    (TOURNAMENT,   at_once(SharedName("give one another name")),          "give one another name",                      "a name of two bots"),
    (TOURNAMENT,   in_play(NoShow(SECRET)),                               "a bot cannot be launched; the arena's log",  "a bot that does not connect"),
    (TOURNAMENT,   in_play(CannotPlay("no worker fits")),                 "no worker fits",                             "no worker"),
    (TOURNAMENT,   in_play(BotsChanged("ann changed")),                   "files of bots have changed: ann changed",    "changed files"),
]
# fmt: on


@pytest.mark.parametrize(
    ("plan", "make_player", "said", "why"), ERRORS, ids=[row[-1] for row in ERRORS]
)
def test_an_error_pauses_one_competition(store, tmp_path, caplog, plan, make_player, said, why):
    caplog.set_level(logging.ERROR)
    service = started(store, plan, OTHER)

    def settled():
        return state(service, "autumn") == "paused" and state(service, "winter") == "finished"

    run(store, service, tmp_path, make_player, settled)
    shown = waits(service, "autumn")
    assert shown.startswith(f"the arena paused it: {said}")
    assert SECRET not in shown
    (record,) = [each for each in caplog.records if each.message == "a competition was paused"]
    assert record.competition == "autumn"
    assert record.incident in shown or said in record.why
    # It is resumed, fails at the next start of the arena, too, and is paused again.
    service.control("autumn", Action.RESUME, who="org")
    assert waits(service, "autumn") == ""
    run(store, service, tmp_path, make_player, lambda: state(service, "autumn") == "paused")


def test_a_paused_competition_is_resumed(store, tmp_path):
    service = started(store, TOURNAMENT)
    failing = in_play(ValueError(SECRET))
    run(store, service, tmp_path, failing, lambda: state(service, "autumn") == "paused")
    service.control("autumn", Action.RESUME, who="org")
    sound = lambda *_, **__: Plays()  # noqa: E731
    run(store, service, tmp_path, sound, lambda: state(service, "autumn") == "finished")


def test_the_reason_stays_through_a_freeze_and_is_not_of_an_organisers_pause(store, tmp_path):
    service = started(store, TOURNAMENT)
    failing = in_play(BotsChanged("ann changed"))
    run(store, service, tmp_path, failing, lambda: state(service, "autumn") == "paused")
    service.control("autumn", Action.FREEZE, who="org")
    assert "ann changed" in waits(service, "autumn")
    for action in (Action.RESUME, Action.PAUSE):
        service.control("autumn", action, who="org")
    assert waits(service, "autumn") == ""


def test_a_competition_is_paused_once_the_store_is_back(store, tmp_path, monkeypatch):
    service = started(store, TOURNAMENT)
    failures = [StoreBusy("locked"), StoreError("away")]
    control = service.control

    def failing(*args, **kwargs):
        if failures:
            raise failures.pop()
        return control(*args, **kwargs)

    monkeypatch.setattr(service, "control", failing)
    broken = in_play(ValueError(SECRET))
    run(store, service, tmp_path, broken, lambda: state(service, "autumn") == "paused")
    assert failures == []


def test_a_failure_of_the_store_pauses_nothing(store, tmp_path):
    service = started(store, TOURNAMENT)
    left = [StoreBusy("locked"), StoreError("away")]

    def make_player(*_, **__):
        return Fails(left.pop()) if left else Plays()

    run(store, service, tmp_path, make_player, lambda: state(service, "autumn") == "finished")
    assert left == []


def test_an_arena_whose_journal_cannot_be_written_ends(store, tmp_path):
    service = started(store, TOURNAMENT)
    with pytest.RaisesGroup(Unwritten, flatten_subgroups=True):
        run(store, service, tmp_path, in_play(Unwritten("full")), lambda: False)
    assert state(service, "autumn") == "running"


def test_competitions_without_a_running_arena_are_paused_one_by_one(store, tmp_path):
    service = started(store, TOURNAMENT, OTHER)
    players = player_of(in_play(ValueError(SECRET)))

    async def main():
        async with trio.open_nursery() as nursery:
            bots = Players(None, tmp_path, tmp_path / "bots", nursery)
            plays = Scheduler(None, store, service, bots, player_of=players, now=lambda: NOW)
            return await plays.play_each(["autumn", "winter"], at_a_time=2)

    with goes_on():
        paused = trio.run(main, clock=MockClock(autojump_threshold=0))
    assert list(paused) == ["autumn"]
    assert SECRET not in paused["autumn"]
    assert store.competitions().get("autumn").state is State.PAUSED
    assert state(service, "winter") == "finished"
