"""Competitions keep the hours and the rate of their plans; the clock is the test's."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import trio
from trio.testing import MockClock

from arena.contests import drawn_rounds, scheduler
from arena.contests.competition_service import BadAnnouncement, CompetitionService
from arena.contests.drawn_rounds import DrawnRounds
from arena.contests.ladder import Ladder, _Drawing
from arena.contests.plan import read_plan
from arena.contests.scheduler import Scheduler
from arena.live import players
from arena.records.signing import ArenaKey
from arena.results.deal_sets import planned_tables
from arena.results.record import PlayedCount
from arena.results.states import Action
from arena.store import BotKind, CompetitionEntry, StoredMatch, open_store
from arena.store.moments import unix_ms
from tests.contests.played import outcome, toml, waits

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
LADDER = 'name = "autumn"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
BOTS = ("ann", "bob")
SKILLS = dict.fromkeys(BOTS, 0.0)


@pytest.fixture
def store(tmp_path, monkeypatch):
    async def inline(call, *given, **_):
        await trio.lowlevel.checkpoint()
        return call(*given)

    for module in (drawn_rounds, scheduler):
        monkeypatch.setattr(module, "run_sync", inline)
    monkeypatch.setattr(trio.to_thread, "run_sync", inline)
    monkeypatch.setattr(drawn_rounds, "WAIT_S", 600.0)
    monkeypatch.setattr(scheduler, "POLL_S", 600.0)
    with open_store(tmp_path / "arena.db") as store:
        yield store
        assert store.violations() == ()


def service_of(store, text, *, now=lambda: NOON):
    service = CompetitionService(store.competitions(), ArenaKey.new(), now=now)
    bots = [CompetitionEntry(name, name, BotKind.COMMAND, "./x", name) for name in BOTS]
    service.create(text, who="org", bots=bots)
    service.control("autumn", Action.START, who="org")
    return service


def clock():
    return NOON + timedelta(seconds=trio.current_time())


def run(main):
    return trio.run(main, clock=MockClock(autojump_threshold=0))


# Tournaments.


class Drawn(Exception):
    """The first round is drawn, at this time."""


class NotesTheTime:
    """The competitions of a store, until a round is drawn."""

    def __init__(self, competitions):
        self._competitions = competitions

    def __getattr__(self, name):
        return getattr(self._competitions, name)

    def keep_round(self, *_):
        raise Drawn(clock())


def rounds_of(text, competitions):
    return DrawnRounds(
        read_plan(text),
        0,
        competitions,
        make_player=lambda _: None,
        seats=None,  # nothing is played
        now=clock,
    )


# fmt: off
BEGINS = [
    # timetable                                                               begins at, UTC          why
    ("",                                                                      "2026-12-01T12:00:00",  "no timetable"),
    ("opens = 2026-12-01T18:00:00Z\n",                                        "2026-12-01T18:00:00",  "it opens"),
    ("daily = { begin = 22:00:00, end = 06:00:00 }\n",                        "2026-12-01T22:00:00",  "the night begins"),
    ("opens = 2026-12-02T07:00:00Z\ndaily = { begin = 22:00:00, end = 06:00:00 }\n", "2026-12-02T22:00:00", "the first night"),
]
# fmt: on


def plan_text(timetable):
    return toml("round_robin", head=timetable)


@pytest.mark.parametrize(("timetable", "begins", "why"), BEGINS, ids=[row[-1] for row in BEGINS])
def test_a_tournament_begins_by_its_timetable(store, timetable, begins, why):
    text = plan_text(timetable)
    service_of(store, text)
    with pytest.raises(Drawn) as drawn:
        run(lambda: rounds_of(text, NotesTheTime(store.competitions())).run())
    expected = datetime.fromisoformat(begins).replace(tzinfo=UTC)
    assert timedelta() <= drawn.value.args[0] - expected <= timedelta(seconds=drawn_rounds.WAIT_S)


# fmt: off
ENDS = [
    # plan's last lines                         paused   over     why
    ("closes = 2026-12-01T12:30:00Z\n",         False,   True,    "it closes"),
    ("closes = 2026-12-01T12:30:00Z\n",         True,    False,   "it is paused before"),
]
# fmt: on


@pytest.mark.parametrize(("closes", "paused", "over", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_a_tournament_that_closes_is_over_and_a_paused_one_is_not(store, closes, paused, over, why):
    text = plan_text(f"{closes}daily = {{ begin = 22:00:00, end = 06:00:00 }}\n")
    service = service_of(store, text)

    async def main():
        async with trio.open_nursery() as nursery:
            if paused:
                nursery.start_soon(pause)
            return await rounds_of(text, store.competitions()).run()

    async def pause():
        await trio.sleep(60)
        service.control("autumn", Action.PAUSE, who="org")

    assert run(main) == over
    assert store.competitions().rounds("autumn", 0) == ()


def test_no_bot_is_started_before_a_competition_opens(store, tmp_path):
    text = plan_text("opens = 2026-12-01T18:00:00Z\n")
    service = service_of(store, text)

    async def main():
        async with trio.open_nursery() as nursery:
            bots = players.Players(None, tmp_path, tmp_path / "bots", nursery)
            plays = Scheduler(None, store, service, bots, now=clock)
            nursery.start_soon(plays.play, "autumn")
            await trio.sleep(3_600)
            assert (
                store.competitions().get("autumn").waits == "it opens at 2026-12-01 18:00:00+00:00"
            )
            service.control("autumn", Action.PAUSE, who="org")

    run(main)  # to start ./x would be an error


# Ladders.


def draw(ladder, store, number, ended):
    """A deal-set that was drawn; with `ended`, it was complete at that moment."""
    tables = (BOTS, BOTS[::-1])
    store.competitions().keep_draw(
        "autumn", 0, planned_tables(number, tables, ladder._plan.seed, "autumn")
    )
    deal_sets = store.competitions().deal_sets("autumn", 0)
    (plan,) = deal_sets.take(1)
    if ended is not None:
        told = {match.id: outcome(match, SKILLS) for match in plan.matches}
        deal_sets.report_many([(plan, told)], now_unix_ms=unix_ms(ended))
    return plan


def before(**ago):
    return NOON - timedelta(**ago)


# fmt: off
LADDERS = [
    # rate                     ended                                          in play  may it   why
    ("",                       [before(minutes=1)] * 9,                       3,       True,    "no rate"),
    ("matches_an_hour = 6",    [before(minutes=1)] * 2,                       0,       True,    "two more are allowed"),
    ("matches_an_hour = 6",    [before(minutes=1)] * 3,                       0,       False,   "the hour is full"),
    ("matches_an_hour = 6",    [before(minutes=1)],                           2,       False,   "with those in play"),
    ("matches_an_hour = 6",    [before(minutes=61)] * 9,                      0,       True,    "they ended before"),
    ("deal_sets_a_day = 2",    [before(hours=23), before(minutes=61)],        0,       False,   "the day is full"),
    ("deal_sets_a_day = 2",    [before(hours=25), before(minutes=61)],        0,       True,    "one was yesterday"),
    ("deal_sets_a_day = 2",    [before(hours=2)],                             1,       False,   "a deal-set is in play"),
]
# fmt: on


@pytest.mark.parametrize(
    ("rate", "ended", "in_play", "may", "why"), LADDERS, ids=[row[-1] for row in LADDERS]
)
def test_a_ladder_keeps_its_rate(store, rate, ended, in_play, may, why):
    text = f"{LADDER}[rate]\n{rate}\n"
    service_of(store, text)
    ladder = Ladder(read_plan(text), 0, store, None, None, now=lambda: NOON)
    for number, moment in enumerate(ended, 1):
        draw(ladder, store, number, moment)

    async def main():
        work = _Drawing(ladder, None, None, [], {})
        for number in range(in_play):
            plan = planned_tables(number, [BOTS, BOTS[::-1]], "s", "l")
            work._in_play[plan.id] = plan
        return await work._may_draw()

    assert trio.run(main) == may


# fmt: off
SPREAD = [
    # timetable                                            after how many minutes the next deal-set of two matches begins
    ("",                                                    None,     "no rate"),
    ("[rate]\nmatches_an_hour = 12\n",                     10.0,     "six deal-sets an hour"),
    ("[rate]\ndeal_sets_a_day = 24\n",                     60.0,     "a day has them all"),
    ("daily = { begin = 22:00:00, end = 04:00:00 }\n[rate]\ndeal_sets_a_day = 24\n", 15.0, "the hours of a night have them all"),
    ("[rate]\nmatches_an_hour = 12\ndeal_sets_a_day = 24\n", 60.0, "the slower one counts"),
]
# fmt: on


@pytest.mark.parametrize(("timetable", "minutes", "why"), SPREAD, ids=[row[-1] for row in SPREAD])
def test_the_rate_of_a_ladder_is_spread_and_no_burst(store, timetable, minutes, why):
    ladder = Ladder(read_plan(LADDER + timetable), 0, store, None, None, now=lambda: NOON)
    drawn = planned_tables(1, (BOTS, BOTS[::-1]), "s", "l")
    expected = None if minutes is None else NOON + timedelta(minutes=minutes)
    assert ladder.may_draw_after(drawn) == expected


def test_a_ladder_draws_no_burst_and_says_when_the_next_deal_set_begins(store):
    text = f"{LADDER}[rate]\nmatches_an_hour = 12\n"
    service_of(store, text)
    times = [NOON]
    ladder = Ladder(read_plan(text), 0, store, None, None, now=lambda: times[0])

    async def main():
        work = _Drawing(ladder, None, None, [], {})
        work._next_draw = ladder.may_draw_after(planned_tables(1, (BOTS, BOTS[::-1]), "s", "l"))
        early, why = await work._may_draw(), work.waits
        times[0] += timedelta(minutes=10)
        return early, why, await work._may_draw(), work.waits

    early, why, later, nothing = trio.run(main)
    assert (early, later, nothing) == (False, True, "")
    assert why == (
        "the ladder plays at most 12 matches an hour, and the next deal-set begins at 12:10:00 UTC"
    )


# fmt: off
COUNTED = [
    # timetable                                             counted  why
    ("[rate]\nmatches_an_hour = 12\n",                      True,    "between two draws of a rate that is spread"),
    ("daily = { begin = 22:00:00, end = 04:00:00 }\n",      False,   "outside of the hours of play"),
]
# fmt: on


@pytest.mark.parametrize(("timetable", "counted", "why"), COUNTED, ids=[row[-1] for row in COUNTED])
def test_which_time_without_draws_counts_as_presence(store, monkeypatch, timetable, counted, why):
    text = LADDER + timetable
    service = service_of(store, text)
    ladder = Ladder(read_plan(text), 0, store, None, None, now=clock)
    looks = []
    presence = SimpleNamespace(
        look=lambda *_: looks.append(True),
        pass_over=lambda: looks.append(False),
        returned=lambda _: [],
        limits=lambda *_: {},
        lasted_ms={},
    )

    async def inline(call, *given):
        return call(*given)

    async def nothing(_):
        return ()

    async def main():
        work = _Drawing(ladder, SimpleNamespace(take=nothing), presence, [], {})
        work._next_draw = ladder.may_draw_after(planned_tables(1, (BOTS, BOTS[::-1]), "s", "l"))
        with trio.move_on_after(5):
            await work.take(1)

    monkeypatch.setattr("arena.contests.ladder.run_sync", inline)
    run(main)
    assert set(looks) == {counted}
    assert service.get("autumn")[0].state == "running"


def test_a_deal_set_in_play_counts_once(store):
    service_of(store, LADDER)
    ladder = Ladder(read_plan(LADDER), 0, store, None, None, now=lambda: NOON)
    draw(ladder, store, 1, before(minutes=1))
    deal_set = draw(ladder, store, 2, None)
    match = deal_set.matches[0]  # it has ended, and its deal-set is in play
    ended = StoredMatch(outcome(match, SKILLS), "sixty_six", match.bots, deal_set.id, unix_ms(NOON))
    store.matches().record([ended])
    assert store.competitions().played_since("autumn", 0, before(hours=1)) == PlayedCount(1, 2)


def test_no_time_counts_while_a_ladder_may_draw_nothing():
    from tests.contests.test_ladder_presence import (
        TERMS,
        Arena,
        LadderPresence,
        Players,
        entered,
        held,
    )

    async def main():
        bots = entered(held("ann", BotKind.COMMAND))
        presence = LadderPresence(TERMS, Arena(), Players(frozenset()), bots)
        await trio.sleep(3_600)
        presence.pass_over()
        await trio.sleep(1)
        presence.look(bots, {}, {}, {})
        return presence.lasted_ms

    assert run(main) == {"ann": {"ann": 1_000}}


# Announcements.


def test_a_timetable_and_why_nothing_begins_are_shown(store):
    service = service_of(store, plan_text("opens = 2026-12-01T18:00:00Z\n"))
    assert waits(service, "autumn") == "it opens at 2026-12-01 18:00:00+00:00"
    service.control("autumn", Action.PAUSE, who="org")
    assert waits(service, "autumn") == "", "it is paused, whatever the time"


# fmt: off
ANNOUNCED = [
    # text                          stored                          problem                       why
    ("Round 3 is on Friday.\n",     "Round 3 is on Friday.",        None,                         "a line"),
    ("one\ntwo",                    "one\ntwo",                     None,                         "two lines"),
    ("  ",                          "",                             None,                         "nothing, which removes it"),
    ("x" * 2_001,                   None,                           "2,001 of at most 2,000",     "too long"),
    ("\u202egnp.exe",               None,                           "cannot be printed",          "a text that runs backwards"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "stored", "problem", "why"), ANNOUNCED, ids=[r[-1] for r in ANNOUNCED]
)
def test_an_organiser_tells_all_readers_a_text(store, text, stored, problem, why):
    service = service_of(store, LADDER)
    service.announce("autumn", "the last one", who="org")
    if problem is not None:
        with pytest.raises(BadAnnouncement, match=problem):
            service.announce("autumn", text, who="org")
        stored = "the last one"
    else:
        service.announce("autumn", text, who="org")
    found, _ = service.get("autumn")
    assert found.announcement == stored
    assert found.announced == ("2026-12-01T12:00:00+00:00" if stored else None)
