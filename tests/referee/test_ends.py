"""Matches that are stopped, and errors of the arena's own: nobody is blamed for them."""

import random
from functools import partialmethod

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from arena.durable_files import Unwritten
from arena.games.abstrac import messages
from arena.games.abstrac import rules as abstrac
from arena.games.catalogue import game_by_id
from arena.games.notation import Notation
from arena.referee import match_runner
from arena.referee.ledger import NoRoom
from arena.referee.referee import Referee
from arena.referee.seat import DECISION_BYTES, Answer
from arena.referee.spec import AbortCause, Ending
from arena.referee.wire.codec import Codec
from arena.referee.wire.games import codec_of
from arena.testing.referee import MemoryLedger, Reply, Scripted, play
from cardarena.v1 import game_pb2
from tests.referee.matches import misdeeds, plays, refereed, run, spec_of, spread, states_of, thinks

SHAPES = [game_by_id(each) for each in ("abstrac", "democracy", "chinese_poker", "pineapple")]
"""A game in turn, one at once, one of more moves than can be listed, and one of bets.

To a table no two of the others differ, and every decision of a match takes its time.
"""
EVERY_SHAPE = pytest.mark.parametrize("game", SHAPES, ids=[game.id for game in SHAPES])
CANARY = "canary 8f3a"


def assert_aborted(outcome, bots, ledger=None):
    """The match does not count, all were told so once, and nobody is to blame."""
    assert outcome.ending is Ending.ABORTED
    assert (outcome.scores, outcome.places, outcome.hand_scores) == ((), (), ())
    for bot in bots:
        assert bot.ended.outcome == outcome
        assert bot.heard[-1] is bot.ended
        assert all(closed.fault is None for closed in bot.closed)
    if ledger is not None:
        assert ledger.outcome == outcome


# Stopped from outside.


@EVERY_SHAPE
def test_a_match_can_be_stopped_at_any_point(game):
    """It is left as it stands: nothing of it is closed, and nobody is told an end."""
    spec = spec_of(game.id, game.seats[0])
    _, _, whole = run(spec, [plays] * spec.terms.seats)
    points = range(len(whole.decisions))
    for stop_at in points if game.id == "abstrac" else spread(points, 30):
        ledger, asked = MemoryLedger(), 0
        scope = trio.CancelScope()

        def script(ask, stop_at=stop_at, scope=scope):
            nonlocal asked
            asked += 1
            if asked > stop_at:
                scope.cancel()
                return Reply(answer=None)
            return plays(ask)

        bots = [Scripted(script) for _ in range(spec.terms.seats)]

        async def main(scope=scope, bots=bots, ledger=ledger):
            with scope:
                await play(spec, bots, ledger)

        trio.run(main, clock=MockClock(autojump_threshold=0))
        assert ledger.outcome is None
        assert all(bot.ended is None and not bot.closed for bot in bots)
        # Simultaneous decisions stand in order of arrival, which is any.
        said = {
            (decision.seat, decision.decision): decision.game_move for decision in ledger.decisions
        }
        meant = {
            (decision.seat, decision.decision): decision.game_move for decision in whole.decisions
        }
        assert said.items() <= meant.items()


def test_a_referee_that_ends_suspends_all_its_matches():
    specs = [spec_of("abstrac", seed=str(seed)) for seed in range(5)]
    ledgers = {spec.match_id: MemoryLedger() for spec in specs}
    bots = [[Scripted(thinks), Scripted(thinks)] for _ in specs]

    async def main():
        referee = Referee(trio.lowlevel.checkpoint)
        async with trio.open_nursery() as nursery:
            await nursery.start(referee.run)
            for spec, pair in zip(specs, bots, strict=True):
                nursery.start_soon(referee.play, spec, pair, ledgers[spec.match_id])
                for bot in pair:
                    nursery.start_soon(bot.run)
            await trio.sleep(1.1)
            assert len(referee.runners) == 5
            nursery.cancel_scope.cancel()
        assert not referee.runners

    trio.run(main, clock=MockClock(autojump_threshold=0))
    for spec, pair in zip(specs, bots, strict=True):
        assert ledgers[spec.match_id].outcome is None
        assert len(ledgers[spec.match_id].decisions) == 4
        assert all(bot.ended is None for bot in pair)


def test_an_aborted_match_does_not_count():
    """Faults before the end are still known."""
    ledger, bots = MemoryLedger(), [Scripted(thinks), Scripted(lambda ask: Reply(Answer()))]

    async def main():
        referee = Referee(trio.lowlevel.checkpoint)
        async with trio.open_nursery() as nursery:
            await nursery.start(referee.run)
            for bot in bots:
                nursery.start_soon(bot.run)
            nursery.start_soon(stop_later, referee)
            outcome = await referee.play(spec_of("abstrac"), bots, ledger)
            assert (outcome.ending, outcome.scores) == (Ending.ABORTED, ())
            assert all(bot.ended.outcome == outcome for bot in bots)
            nursery.cancel_scope.cancel()

    async def stop_later(referee):
        await trio.sleep(0.6)
        (table,) = referee.runners.values()
        table.abort()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert {fault.seat for fault in ledger.outcome.faults} == {1}
    assert ledger.outcome.cause is AbortCause.STOPPED


# Errors of the arena.


class Flaky:
    """Raises at one call of many; counts them all."""

    def __init__(self, real, fail_at):
        self.real, self.fail_at, self.calls = real, fail_at, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.calls == self.fail_at:
            raise RuntimeError(f"{CANARY}: {args}")
        return self.real(*args, **kwargs)


ABSTRAC = codec_of(spec_of("abstrac").terms.game)
PLACES = {
    **{
        f"rules.{name}": (abstrac, name)
        for name in (
            "start",
            "step",
            "to_act",
            "moves",
            "view",
            "fallback",
            "hand_number",
            "heavy",
            "result",
        )
    },
    **{f"codec.{name}": (ABSTRAC, name) for name in ("ask", "event", "game_move", "read_move")},
    **{f"ledger.{name}": (MemoryLedger, name) for name in ("opened", "decided", "closed")},
    "notation.write": (Notation, "write"),
}
OTHER_CODEC = Codec("abstrac", ABSTRAC.number, messages)
"""One that has no canary in it."""


def eventful():
    """Two bots that between them use all there is: typed moves, notation and faults."""

    def typed(ask):
        move = messages.Take(99) if ask.decision == 3 else ask.moves.offered[0]
        message = game_pb2.GameMove.FromString(OTHER_CODEC.game_move(move))
        return Reply(Answer(move=message))

    def faulty(ask):
        return Reply(Answer(index=99)) if ask.decision == 2 else plays(ask)

    return [Scripted(typed), Scripted(faulty, wants_text=True)]


def play_eventful(monkeypatch, place, fail_at):
    owner, name = PLACES[place]
    flaky = Flaky(getattr(owner, name, lambda *_: False), fail_at)  # most rules have no `heavy`
    bound = owner in (MemoryLedger, Notation)
    with monkeypatch.context() as patch:
        # A partial method binds like a function, which an object with `__call__` does not.
        patch.setattr(owner, name, partialmethod(flaky) if bound else flaky, raising=False)
        outcome, bots, ledger = run(spec_of("abstrac"), eventful())
    return flaky.calls, outcome, bots, ledger


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_an_error_of_ours_aborts_the_match_wherever_it_happens(monkeypatch, caplog, place):
    calls, outcome, _, _ = play_eventful(monkeypatch, place, fail_at=0)
    assert outcome.ending is Ending.COMPLETED
    assert calls > 0
    step = max(1, calls // 20)
    for fail_at in sorted({*range(1, calls + 1, step), calls}):
        caplog.clear()
        _, outcome, bots, _ = play_eventful(monkeypatch, place, fail_at)
        assert outcome.ending is Ending.ABORTED, f"call {fail_at} of {calls}"
        assert (outcome.scores, outcome.places) == ((), ())
        assert all(bot.ended.outcome == outcome for bot in bots)
        assert CANARY in caplog.text
        assert "canary" not in repr([bot.heard for bot in bots])
        assert CANARY not in repr(outcome)


def test_the_last_events_that_cannot_be_written_do_not_keep_the_result_from_anybody(
    monkeypatch, caplog
):
    monkeypatch.setattr(ABSTRAC, "game_event", Flaky(ABSTRAC.game_event, 1))
    outcome, bots, _ = run(spec_of("abstrac"), eventful())
    assert outcome.ending is Ending.COMPLETED
    assert all(bot.ended.outcome == outcome for bot in bots)
    assert bots[0].ended.trailing_events == ()
    assert bots[1].ended.trailing_events
    assert CANARY in caplog.text
    assert "canary" not in repr([bot.heard for bot in bots])


def test_another_match_is_unharmed_by_the_error_of_one(monkeypatch, caplog):
    broken, sound = spec_of("abstrac", seed="broken"), spec_of("abstrac", seed="sound")
    real = abstrac.step

    def step(state, chosen, deals):
        if deals is broken.deals:
            raise RuntimeError(CANARY)
        return real(state, chosen, deals)

    monkeypatch.setattr(abstrac, "step", step)
    outcomes = {}

    async def main():
        referee = Referee(trio.lowlevel.checkpoint)

        async def play_one(spec, bots):
            outcomes[spec.match_id] = await referee.play(spec, bots, MemoryLedger())

        async with trio.open_nursery() as nursery:
            await nursery.start(referee.run)
            async with trio.open_nursery() as players:
                async with trio.open_nursery() as matches:
                    for spec in (broken, sound):
                        bots = [Scripted(thinks), Scripted(thinks)]
                        for bot in bots:
                            players.start_soon(bot.run)
                        matches.start_soon(play_one, spec, bots)
                players.cancel_scope.cancel()
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert outcomes[broken.match_id].ending is Ending.ABORTED
    assert outcomes[sound.match_id].ending is Ending.COMPLETED
    assert CANARY in caplog.text


# A ledger that cannot be written.


class FullDisk(MemoryLedger):
    """Takes so many entries, and then no more."""

    def __init__(self, room):
        super().__init__()
        self.room = room

    def _take(self):
        self.room -= 1
        if self.room < 0:
            raise Unwritten("No space left on device")

    def opened(self, spec):
        self._take()
        super().opened(spec)

    def decided(self, *args, **kwargs):
        self._take()
        super().decided(*args, **kwargs)

    def closed(self, outcome, end_s):
        self._take()
        super().closed(outcome, end_s)


def suspended(ledger, synced):
    """Two bots at a match that cannot be written down. Its referee stops, and tells no end."""
    bots = [Scripted(plays), Scripted(plays)]

    async def main():
        async with refereed(synced, bots) as referee:
            with pytest.raises(Unwritten):
                await referee.play(spec_of("abstrac"), bots, ledger)

    trio.run(main, clock=MockClock(autojump_threshold=0))
    # What is on the disk may say otherwise: there the match goes on, or has a result.
    assert [bot.ended for bot in bots] == [None, None]
    assert [bot.closed for bot in bots] == [[], []]


def test_a_match_that_cannot_be_written_down_is_suspended_wherever_the_disk_fills(caplog):
    _, _, whole = run(spec_of("abstrac"), [plays, plays])
    for room in range(len(whole.decisions) + 2):
        ledger = FullDisk(room)
        suspended(ledger, trio.lowlevel.checkpoint)
        assert ledger.outcome is None
        assert ledger.decisions == whole.decisions[: max(0, room - 1)]
    assert not caplog.records, "a full disk is no error of the arena's own"


def test_a_result_that_is_not_on_disk_is_not_sent():
    async def synced():
        raise Unwritten("No space left on device")

    suspended(MemoryLedger(), synced)


def test_a_suspended_match_is_not_aborted_by_what_comes_too_late():
    """A heavy step may fail in its worker just when the arena stops."""
    ledger, bots = MemoryLedger(), [Scripted(plays), Scripted(plays)]

    async def main():
        referee = Referee(trio.lowlevel.checkpoint)
        async with trio.open_nursery() as nursery:
            await nursery.start(referee.run)
            nursery.start_soon(referee.play, spec_of("abstrac"), bots, ledger)
            await trio.testing.wait_all_tasks_blocked()
            (table,) = referee.runners.values()
            table.suspend()
            table.abort(AbortCause.ERROR)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert ledger.outcome is None
    assert [bot.ended for bot in bots] == [None, None]


def test_no_result_is_sent_before_it_is_on_disk():
    bots, told_early = [Scripted(plays), Scripted(plays)], []

    async def synced():
        await trio.sleep(1)
        told_early.extend(bot.ended for bot in bots)

    async def main():
        async with refereed(synced, bots) as referee:
            await referee.play(spec_of("abstrac"), bots, MemoryLedger())

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert told_early == [None, None]
    assert all(bot.ended for bot in bots)


# Whatever bots do.


@EVERY_SHAPE
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_a_match_ends_whatever_its_bots_do(game, seed):
    """Random mischief at random times: the ledger tells the whole story, and it holds."""
    chance = random.Random(seed)
    deeds = list(misdeeds(game).values())

    def script(ask):
        if chance.random() < 0.1:
            return chance.choice(deeds).script(ask)
        return Reply(Answer(chance.randrange(len(ask.moves.offered))), chance.random() * 2)

    spec = spec_of(game.id, chance.choice(game.seats[:3]), fault_limit=chance.choice([0, 1, 4]))
    outcome, bots, ledger = run(spec, [script] * spec.terms.seats)
    _, last = states_of(spec, ledger)
    assert outcome.scores == game.rules.result(last).scores
    forfeited = {decision.seat for decision in ledger.decisions if decision.forfeited}
    assert outcome.ending is (Ending.FORFEIT if forfeited else Ending.COMPLETED)
    assert {
        seat
        for seat, place in enumerate(outcome.places)
        if place > spec.terms.seats - len(forfeited)
    } == forfeited
    assert all(bot.ended.outcome == outcome for bot in bots)
    for seat, bot in enumerate(bots):
        settled = [decision for decision in ledger.decisions if decision.seat == seat]
        assert [decision.decision for decision in settled] == list(range(1, len(settled) + 1))
        assert [asked.decision for asked in bot.asked] == [
            decision.decision for decision in settled if not decision.unasked
        ]
        faults = [
            (decision.decision, decision.fault)
            for decision in settled
            if decision.fault is not None
        ]
        assert [
            (fault.decision, fault.kind) for fault in outcome.faults if fault.seat == seat
        ] == faults


# What a seat may have written.


def test_a_seat_that_has_written_all_it_may_is_not_asked_any_more(monkeypatch):
    """As one that has no time: the fallback is played for it, and it is no fault."""
    spec = spec_of("democracy", 3)
    whole, _, ledger = run(spec, [plays] * 3)
    first = [
        len(decision.game_move) + DECISION_BYTES
        for decision in ledger.decisions
        if decision.seat == 0
    ]
    monkeypatch.setattr(match_runner, "MAX_MOVE_BYTES", sum(first[:4]))
    outcome, bots, ledger = run(spec, [plays] * 3)
    unasked = [
        [decision.unasked for decision in ledger.decisions if decision.seat == s] for s in range(3)
    ]
    assert unasked[0][:4] == [False] * 4
    assert unasked[0][4] is True
    assert outcome.ending is Ending.COMPLETED
    assert outcome.faults == ()
    assert len(bots[0].asked) == 4
    assert whole.ending is Ending.COMPLETED
    # A match that was cut short there goes on the same way.
    for cut in (3, len(ledger.decisions) // 2, len(ledger.decisions) - 1):
        again, _, gone_on = run(spec, [plays] * 3, past=ledger.decisions[:cut])
        assert again.scores == outcome.scores
        assert [decision.unasked for decision in gone_on.decisions] == [
            decision.unasked for decision in ledger.decisions[cut:]
        ]


@pytest.mark.parametrize("at", range(0, 12, 3))
def test_a_match_for_which_there_is_no_room_on_the_disk_is_aborted(at, caplog):
    class Cramped(MemoryLedger):
        def decided(self, settled):
            if len(self.decisions) == at:
                raise NoRoom
            super().decided(settled)

    ledger = Cramped()
    outcome, bots, _ = run(spec_of("abstrac"), [plays, plays], ledger)
    assert_aborted(outcome, bots, ledger)
    assert outcome.cause is AbortCause.DISK
    assert [record.message for record in caplog.records] == [
        "a match is aborted: no room on the disk"
    ]
