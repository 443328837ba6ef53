"""Seats that choose at once: nothing of one choice shows before all are made."""

from operator import attrgetter

import pytest
import trio
from trio.testing import MockClock

from arena.games.catalogue import game_by_id
from arena.referee.seat import Answer
from arena.referee.spec import Ending, FaultKind
from arena.testing.referee import Closed, RecordedAsk, Reply, Scripted, play
from tests.referee.matches import ask_message, misdeeds, plays, plays_but, run, spec_of, thinks

# What seat 0 may do with its choice while seat 2 is still thinking.
CHOICES = {
    "the first card": Reply(Answer(index=0), 0.1),
    "another card": Reply(Answer(index=2), 0.1),
    "a card, later": Reply(Answer(index=0), 0.7),
    "nothing yet": Reply(Answer(index=0), 5.0),
    **{
        f"wrong: {name}": misdeed.script
        for name, misdeed in misdeeds(game_by_id("democracy")).items()
        if name != "mute"
    },
}


def world(choice, decision, stop_s):
    """All that the bots heard of a match in which seat 2 says nothing from `decision` on.

    The match is stopped `stop_s` after that decision was asked; its end is left out.
    """
    times = []

    def last(ask):
        if ask.decision < decision:
            return plays(ask)
        times.append(trio.current_time())
        return Reply(answer=None)

    bots = [Scripted(plays_but({decision: CHOICES[choice]})), Scripted(plays), Scripted(last)]

    async def main():
        with trio.move_on_after(stop_s):
            await play(spec_of("democracy"), bots)

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert len(times) == 1, "the decision was asked, and the next one was not"
    return [
        [message for message in bot.heard if isinstance(message, RecordedAsk)] for bot in bots
    ], bots


@pytest.mark.parametrize("decision", [1, 2, 9, 10])
@pytest.mark.parametrize("choice", CHOICES)
def test_a_pending_choice_is_not_seen_by_the_others(choice, decision):
    expected, _ = world("the first card", decision, 2.0)
    heard, bots = world(choice, decision, 2.0)
    assert heard[1:] == expected[1:]
    assert heard[0] == expected[0]
    assert [len(each) for each in heard] == [decision] * 3
    for bot in bots[1:]:
        closed = [closed for closed in bot.closed if closed.reason != "the match was stopped"]
        assert not closed


def test_a_fault_is_sent_after_all_have_chosen():
    """To everybody at once, with the events of the step that it was part of."""
    wrong = Reply(Answer(index=99), 0.1)
    _, bots, _ = run(spec_of("democracy"), [plays_but({2: wrong}), thinks, thinks])
    for bot in bots:
        played_for = [list(ask_message(asked).played_for) for asked in bot.asked]
        assert [len(each) for each in played_for[:4]] == [0, 0, 1, 0]
        assert (played_for[2][0].seat, played_for[2][0].kind) == (0, FaultKind.ILLEGAL)


def test_a_seat_that_is_found_gone_is_not_given_away_with_the_ask_of_the_same_step():
    absent = Scripted()
    absent.gone = True
    _, bots, _ = run(spec_of("democracy"), [absent, plays, plays])
    for bot in bots[1:]:
        told = [len(ask_message(asked).played_for) for asked in bot.asked]
        assert told[:3] == [0, 1, 0]


def test_all_bots_get_all_faults_of_one_step():
    wrong, mute = Reply(Answer(index=99)), Reply(answer=None)
    outcome, bots, _ = run(
        spec_of("democracy"), [plays_but({1: wrong}), plays_but({1: mute}), plays]
    )
    assert [(fault.seat, fault.kind) for fault in outcome.faults] == [
        (0, FaultKind.ILLEGAL),
        (1, FaultKind.TIMEOUT),
    ]
    for seat, bot in enumerate(bots):
        told = ask_message(bot.asked[1]).played_for
        assert [each.seat for each in told] == [0, 1]
        assert [bool(each.reason) for each in told] == [seat == 0, seat == 1]


@pytest.mark.parametrize("slowest", range(3))
def test_the_order_of_answers_does_not_matter(slowest):
    scripts = [lambda ask, s=seat: thinks(ask) if s == slowest else plays(ask) for seat in range(3)]
    outcome, bots, _ = run(spec_of("democracy"), scripts)
    expected, expected_bots, _ = run(spec_of("democracy"), [plays] * 3)
    assert (outcome.scores, outcome.places) == (expected.scores, expected.places)
    for bot, other in zip(bots, expected_bots, strict=True):
        assert [asked.body for asked in bot.asked] == [asked.body for asked in other.asked]


def test_each_seat_has_its_own_clock_and_pays_for_itself_alone():
    scripts = [
        lambda ask: Reply(after_s=0.5),
        lambda ask: Reply(after_s=2.0) if ask.decision == 1 else Reply(),
        plays,
    ]
    _, bots, ledger = run(spec_of("democracy"), scripts)
    banks = {(decision.seat, decision.decision): decision.bank_ms for decision in ledger.decisions}
    assert [banks[seat, 1] for seat in range(3)] == [5100, 4100, 5100]
    assert [bot.asked[1].clock_ms[1] for bot in bots] == [5100, 4100, 5100]


def test_a_seat_that_forfeited_does_not_hold_up_the_others():
    gone = Reply(leaves=True)
    outcome, _, ledger = run(spec_of("democracy"), [plays_but({1: gone}), plays, plays])
    assert outcome.ending is Ending.FORFEIT
    assert ledger.end_s == 0.0


def test_an_answer_after_the_ask_was_closed_is_dropped():
    """A bot that answers after its fault does not change what was played for it."""

    class AndThenRight(Scripted):
        def close(self, ask, fault, reason):
            super().close(ask, fault, reason)
            ask.answered(Answer(index=0), trio.current_time())

    wrong = Reply(Answer(index=99))
    spec = spec_of("democracy")
    outcome, bots, ledger = run(spec, [AndThenRight(plays_but({1: wrong})), plays, plays])
    _, _, expected = run(spec, [plays_but({1: wrong}), plays, plays])
    by_seat = attrgetter("decision", "seat")
    assert sorted(ledger.decisions, key=by_seat) == sorted(expected.decisions, key=by_seat)
    assert len(outcome.faults) == 1
    assert bots[0].closed == [Closed(1, FaultKind.ILLEGAL, outcome.faults[0].reason)]
