"""A submitted bot plays a tournament with the version that is active when play begins."""

from datetime import UTC, datetime
from functools import partial

import pytest
import trio

from arena.bots.bot_ids import BotId
from arena.contests.drawn_rounds import DrawnRounds
from arena.contests.draws import next_round
from arena.contests.entrants import choose_versions, know_versions
from arena.contests.plan import read_plan
from arena.contests.standings import live_standings
from arena.results.states import Action
from arena.results.versions import VersionEvent
from arena.sandbox.command import BadCommand
from arena.store import BotKind, CompetitionEntry, NoActiveVersion, open_store
from tests.contests.played import toml
from tests.contests.test_entered_games import (
    LADDER,
    NOW,
    command,
    registered,
    service_of,
    submitted,
    version_in,
)
from tests.live.lives import goes_on

TEXT = toml("round_robin", deal_sets=2)
RULES = read_plan(TEXT).games[0].terms.game.rules_version
SIXTY_SIX = ("sixty_six", RULES)
QUALIFIED = (VersionEvent.CHECKED, VersionEvent.QUALIFIED)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        yield store
        assert store.violations() == ()


class Players:
    """Launches no bot; of the versions it is told, it can launch those that are not `damaged`."""

    def __init__(self, damaged=()):
        self.known, self.damaged = [], damaged

    def is_launched(self, name):
        return name in self.known

    def add_version(self, version):
        if str(version) in self.damaged:
            raise BadCommand(f"the files of {version} are gone")
        self.known.append(str(version))


def entered(store):
    """A tournament of a submitted bot, a bot of the plan and a remote one."""
    submitted(store, SIXTY_SIX)
    service = service_of(store, TEXT, command("bob"))
    service.enter("autumn", service.entry_of("autumn", "deep", store), who="ann")
    service.enter("autumn", CompetitionEntry("far", "far", BotKind.REMOTE), who="far")
    return service


def active(store, number, *games):
    """Another version of the submitted bot, which is active now."""
    registry = store.registry()
    manifest = {"games": [{"id": game, "seats": [2], "rules": rules} for game, rules in games]}
    registry.submit("deep", sha256=str(number) * 64, manifest=manifest, now=NOW)
    for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED, VersionEvent.ACTIVE):
        registry.record("deep", number, event, who="ann", now=NOW)


def inactive(store):
    store.registry().record("deep", 1, VersionEvent.INACTIVE, who="ann", now=NOW)


def draw(store):
    record = store.competitions().record("autumn")
    drawn = next_round(read_plan(TEXT), 0, record.candidates, ())
    store.competitions().keep_round("autumn", 0, drawn.round, drawn.deal_sets)


# fmt: off
BEGINNINGS = [
    # what happens after it entered                                     version   withdrawn because it …    why
    ([],                                                                "deep@1", None,                     "the version that it entered with"),
    ([lambda s: active(s, 2, SIXTY_SIX)],                               "deep@2", None,                     "a newer version is active"),
    ([draw, lambda s: active(s, 2, SIXTY_SIX)],                         "deep@1", None,                     "the newer one is active after the first draw"),
    ([draw, inactive],                                                  "deep@1", None,                     "it is deactivated after the first draw"),
    ([inactive],                                                        "deep@1", "no active version",      "it is deactivated before"),
    ([lambda s: active(s, 2, ("soko", 1))],                             "deep@1", "deep@2 declares no game","the newer one plays another game"),
]
# fmt: on


@pytest.mark.parametrize(
    ("before", "version", "out", "why"), BEGINNINGS, ids=[row[-1] for row in BEGINNINGS]
)
def test_the_version_that_is_active_when_play_begins_plays(store, before, version, out, why):
    service = entered(store)
    for happens in before:
        happens(store)
    choose_versions(store, "autumn", who="(arena)", now=NOW)
    (found,) = [e for e in store.competitions().get("autumn").entries if e.name == "deep"]
    assert found.version == version
    shown = {bot.name: bot for bot in service.get("autumn")[0].entries}["deep"]
    assert bool(shown.out) == bool(out)
    assert (out or "") in shown.reason


def test_standings_name_the_version(store):
    entered(store)
    (game,) = live_standings(store.competitions().record("autumn"))["games"]
    assert {row["bot"]: row["version"] for row in game["rows"]}["deep"] == "deep@1"


class Ordered(Exception):
    """How the first deal-set is ordered."""


class OrdersAtOnce:
    """A player that plays nothing."""

    max_matches = attempts = 1

    def __init__(self, _arena, _players, order, **_):
        self._order = order

    async def ready(self):
        return 1

    async def play(self, deal_set, known, ended, begin, *, task_status=trio.TASK_STATUS_IGNORED):
        raise Ordered(self._order(deal_set))


def order_of(store, players):
    competitions = store.competitions()

    def seats():
        return know_versions(players, store.registry(), competitions.get("autumn"))

    async def main():
        rounds = DrawnRounds(
            read_plan(TEXT),
            0,
            competitions,
            make_player=partial(OrdersAtOnce, None, players),
            seats=lambda: trio.to_thread.run_sync(seats),
            now=lambda: datetime(2026, 11, 26, tzinfo=UTC),
        )
        await rounds.run()

    with pytest.raises(Ordered) as raised:
        trio.run(main)
    return raised.value.args[0]


def test_entrants_sit_as_what_is_launched_or_connects(store):
    """A submitted bot is launched as its version. A remote bot is one process, whatever the deal-set."""
    service = entered(store)
    service.control("autumn", Action.START, who="org")
    players = Players()
    seat = know_versions(players, store.registry(), store.competitions().get("autumn"))
    assert players.known == ["deep@1"]
    found = [seat(BotId(name, instance)) for name in ("deep", "bob", "far") for instance in (0, 1)]
    assert found == [
        *(BotId("deep@1", instance) for instance in (0, 1)),
        *(BotId("bob", instance) for instance in (0, 1)),
        *(BotId("far") for _ in (0, 1)),
    ]
    assert "deep@1" in {bot.name for bot in order_of(store, players).bots}


def test_a_version_that_cannot_be_launched_is_an_error(store):
    entered(store)
    with pytest.raises(BadCommand, match="the files of deep@1 are gone"):
        know_versions(
            Players(damaged=["deep@1"]), store.registry(), store.competitions().get("autumn")
        )


# fmt: off
WITHOUT = [
    # what happened to its versions                                   why
    (lambda s: None,                                                  "it has none"),
    (lambda s: version_in(s, ()),                                     "it was not qualified yet"),
    (lambda s: version_in(s, (VersionEvent.REJECTED,)),               "it was rejected"),
    (lambda s: version_in(s, QUALIFIED),                              "it was not activated"),
    (lambda s: version_in(s, (*QUALIFIED, VersionEvent.ACTIVE, VersionEvent.INACTIVE)), "it was deactivated"),
    (lambda s: version_in(s, (*QUALIFIED, VersionEvent.ACTIVE, VersionEvent.RETIRED)),  "it was retired"),
    (lambda s: version_in(s, (*QUALIFIED, VersionEvent.ACTIVE, VersionEvent.BANNED)),   "it was banned"),
]
# fmt: on


@pytest.mark.parametrize("begun", [False, True], ids=["draft", "running"])
@pytest.mark.parametrize("text", [TEXT, LADDER], ids=["tournament", "ladder"])
@pytest.mark.parametrize(("happens", "why"), WITHOUT, ids=[row[-1] for row in WITHOUT])
def test_a_submitted_bot_without_an_active_version_may_not_enter(store, text, begun, happens, why):
    registered(store)
    happens(store)
    service = service_of(store, text, command("bob"), command("cid"))
    if begun:
        service.control("autumn", Action.START, who="org")
    with pytest.raises(NoActiveVersion, match="'deep' in 'autumn'") as raised:
        service.entry_of("autumn", "deep", store)
    assert raised.value.entry.reason == "NO_ACTIVE_VERSION"


# Finals: their submitted bots play the versions that are active when they begin.


def finals(store):
    """The finals of a ladder that a submitted bot entered, whose version is inactive since."""
    submitted(store, SIXTY_SIX)
    service = service_of(store, LADDER, command("bob"), command("cid"))
    service.enter("autumn", service.entry_of("autumn", "deep", store), who="ann")
    service.control("autumn", Action.START, who="org")
    inactive(store)
    service.control("autumn", Action.FREEZE, who="org")
    return service


def test_finals_are_played_without_a_bot_whose_version_is_not_active(store):
    service = finals(store)
    choose_versions(store, "autumn-finals-1", who="(arena)", now=NOW)
    players = Players()
    with goes_on():
        seat = know_versions(players, store.registry(), store.competitions().get("autumn-finals-1"))
    assert (players.known, seat(BotId("bob", 1))) == ([], BotId("bob", 1))
    shown = {bot.name: bot for bot in service.get("autumn-finals-1")[0].entries}
    assert shown["deep"].reason == "had no active version when play began"
    assert not shown["bob"].out


def test_a_bot_without_a_version_is_withdrawn_after_the_first_draw_too(store):
    """As in a store of an arena that ended at such a bot."""
    service = finals(store)
    record = store.competitions().record("autumn-finals-1")
    drawn = next_round(read_plan(record.config), 0, record.candidates, ())
    store.competitions().keep_round("autumn-finals-1", 0, drawn.round, drawn.deal_sets)
    choose_versions(store, "autumn-finals-1", who="(arena)", now=NOW)
    shown = {bot.name: bot for bot in service.get("autumn-finals-1")[0].entries}
    assert shown["deep"].reason == "had no active version when play began"
