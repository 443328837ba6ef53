"""An error of the arena in one match ends neither another match nor the arena."""

import pytest
import trio

from arena.durable_files import Unwritten
from arena.errors.refused import Refused
from arena.live.matches import restore
from arena.live.matches.starting import MatchStarter
from arena.live.orders import BY_HAND
from arena.testing.orders import match_order
from arena.testing.results import MemoryResults
from tests.live.cuts import quick_disk
from tests.live.lives import arena_in, goes_on, plays, run, says_hello
from tests.live.test_sent_home import BOTS

SECRET = "line 7 of secret.py"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with quick_disk(monkeypatch):
        yield tmp_path


def ordered(name):
    return match_order("abstrac", BOTS, {"hands": 2}, seed="1", match_id=name)


class FailingResults(MemoryResults):
    """A store that cannot record one match."""

    def record(self, ended, *args, **kwargs):
        if any(end.outcome.match_id == "bad" for end in ended):
            raise ValueError(SECRET)
        super().record(ended, *args, **kwargs)


def both(folder, results=None, begins=None):
    """How two matches end, one of which fails: an outcome or an error for each."""

    async def main():
        async with arena_in(folder, results) as (arena, nursery):
            for bot in BOTS:
                nursery.start_soon(plays, arena, bot)
            await arena.sessions.arrived(BOTS)
            if begins is not None:
                arena.matches._starter.start = begins(arena.matches._starter.start)
            matches = [
                arena.matches.order(ordered(name), name, BY_HAND) for name in ("bad", "good")
            ]
            ends = []
            for match in matches:
                try:
                    ends.append(await match.outcome())
                except Exception as error:
                    ends.append(error)
            await trio.sleep(1)
            assert not arena.matches.in_play
            return ends

    with goes_on():
        return run(main)


def failing(error):
    def begins(start):
        async def fails(match, reserved):
            if match.match_id == "bad":
                raise error
            return await start(match, reserved)

        return fails

    return begins


def test_a_match_that_cannot_begin_is_refused_with_an_incident(folder):
    bad, good = both(folder, begins=failing(ValueError(SECRET)))
    assert isinstance(bad, Refused)
    assert bad.reason == "INCIDENT"
    assert SECRET not in bad.text
    assert good.has_result


def test_a_match_that_cannot_be_recorded_costs_no_other(folder):
    bad, good = both(folder, FailingResults())
    assert isinstance(bad, ValueError)
    assert good.has_result


def test_an_arena_that_cannot_write_its_journal_ends(folder):
    with pytest.RaisesGroup(Unwritten, flatten_subgroups=True):
        both(folder, begins=failing(Unwritten("full")))


# The restoration after a restart.


def fails_for_bad(function):
    """The function, which fails for the match `bad`."""

    def fails(*args, **kwargs):
        if any("bad" in repr(arg) for arg in args):
            raise ValueError(SECRET)
        return function(*args, **kwargs)

    return fails


def cut_short(folder):
    """Two matches that a restart interrupts after some moves."""

    async def main():
        async with arena_in(folder) as (arena, nursery):
            for bot in BOTS:
                nursery.start_soon(plays, arena, bot)
            await arena.sessions.arrived(BOTS)
            for name in ("bad", "good"):
                arena.matches.order(
                    match_order("abstrac", BOTS, {"hands": 50}, seed="1", match_id=name),
                    name,
                    BY_HAND,
                )
            await trio.sleep(0.1)
            assert len(arena.matches.in_play) == 2

    run(main)


def play_one_after_the_other(folder):
    """Two matches. The asks of the second show that the end of the first was received; it is longer, as only the
    seconds within a match are those of the mock clock."""

    async def main():
        async with arena_in(folder) as (arena, nursery):
            for bot in BOTS:
                nursery.start_soon(plays, arena, bot)
            await arena.sessions.arrived(BOTS)
            for name, hands in (("bad", 2), ("good", 20)):
                order = match_order("abstrac", BOTS, {"hands": hands}, seed="1", match_id=name)
                await arena.matches.order(order, name, BY_HAND).outcome()

    run(main)


def restored(folder, results):
    async def main():
        async with arena_in(folder, results) as (arena, nursery):
            for bot in BOTS:
                nursery.start_soon(plays, arena, bot)
            await arena.matches.in_play["good"].outcome()

    with goes_on():
        run(main)


def test_an_interrupted_match_that_cannot_be_resumed_is_aborted_and_costs_no_other(
    folder, monkeypatch
):
    cut_short(folder)
    monkeypatch.setattr(MatchStarter, "resume", fails_for_bad(MatchStarter.resume))
    results = MemoryResults()
    restored(folder, results)
    ended = results.outcomes(["bad", "good"])
    assert not ended["bad"].has_result
    assert ended["good"].has_result


def test_an_end_that_cannot_be_sent_again_costs_no_other(folder, monkeypatch):
    play_one_after_the_other(folder)
    monkeypatch.setattr(restore, "last_events", fails_for_bad(restore.last_events))
    monkeypatch.setattr(restore, "spec_of_opened", fails_for_bad(restore.spec_of_opened))

    async def main():
        async with arena_in(folder) as (arena, _):
            return [says_hello(arena, bot).only("welcome").matches for bot in BOTS]

    with goes_on():
        for told in run(main):
            assert [match.match_id for match in told] == ["good"]
