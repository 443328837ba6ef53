"""Every fault at every decision of a whole match of every game."""

from itertools import cycle

import pytest

from arena.games.catalogue import game_by_id
from arena.referee.clock import GRACE_S
from arena.referee.seat import Answer
from arena.referee.spec import Ending, Fault, FaultKind
from arena.referee.terms import TimeControl
from arena.testing.referee import Closed, Reply, Scripted
from tests.referee.matches import (
    ALLOWED_S,
    CALLED,
    THINK_S,
    ask_message,
    misdeeds,
    moves_in,
    plays,
    plays_but,
    run,
    spec_of,
    spread,
    states_of,
    thinks,
    thinks_but,
)

SHAPES = [game_by_id(each) for each in ("abstrac", "democracy", "chinese_poker", "pineapple")]
"""A game in turn, one at once, one of more moves than can be listed, and one of bets.

To a table no two of the others differ, and every decision of a match takes its time.
"""
EVERY_SHAPE = pytest.mark.parametrize("game", SHAPES, ids=[game.id for game in SHAPES])


def decisions_of_a_clean_match(spec):
    outcome, _, ledger = run(spec, [plays] * spec.terms.seats)
    assert (outcome.ending, outcome.faults) == (Ending.COMPLETED, ())
    return [(decision.seat, decision.decision) for decision in ledger.decisions]


def check_one_fault(spec, seat, decision, misdeed):
    """Play a match with one misdeed; it costs that move and nothing else."""
    scripts = [plays] * spec.terms.seats
    scripts[seat] = plays_but({decision: misdeed.script})
    outcome, bots, ledger = run(spec, scripts)
    rules, kind = spec.terms.game.rules, misdeed.kind

    # The match is played to its end, and all get the same result.
    states, last = states_of(spec, ledger)
    assert outcome.scores == rules.result(last).scores
    assert outcome.decisions == len(ledger.decisions) == len(states)
    assert outcome.ending is (Ending.FORFEIT if kind is FaultKind.GONE else Ending.COMPLETED)
    assert all(bot.ended.outcome == outcome for bot in bots)
    assert ledger.outcome == outcome

    # The fallback was played in place of the move.
    played = moves_in(ledger, spec.terms.game)[seat, decision]
    assert played == rules.fallback(states[seat, decision], seat)

    # The fault is recorded once, with party, decision and reason.
    (fault,) = outcome.faults
    assert (fault.seat, fault.kind, fault.decision) == (seat, kind, decision)
    assert misdeed.reason in fault.reason
    (entry,) = [decision for decision in ledger.decisions if decision.fault is not None]
    at = entry.seat, entry.decision, entry.fault, entry.reason
    assert at == (seat, decision, kind, fault.reason)
    assert not entry.unasked

    # The bot is told at once, and nobody else.
    assert bots[seat].closed == [Closed(decision, kind, fault.reason)]
    assert not any(bot.closed for bot in bots if bot is not bots[seat])


@pytest.mark.parametrize("name", CALLED)
def test_a_fault_costs_the_move_and_nothing_else(name):
    """At every decision of a match."""
    spec = spec_of("abstrac")
    for seat, decision in decisions_of_a_clean_match(spec):
        check_one_fault(spec, seat, decision, misdeeds(spec.terms.game)[name])


@EVERY_SHAPE
def test_a_fault_costs_the_move_and_nothing_else_in_any_shape_of_game(game):
    spec = spec_of(game.id)
    every_misdeed = cycle(misdeeds(game).values())
    for seat, decision in spread(decisions_of_a_clean_match(spec), 28):
        check_one_fault(spec, seat, decision, next(every_misdeed))


@EVERY_SHAPE
def test_every_fault_at_every_decision(game):
    """Matches in which no bot ever does right: each fault comes at each decision once."""
    spec = spec_of(game.id, fault_limit=0)
    every_misdeed = [each for each in misdeeds(game).values() if each.kind is not FaultKind.GONE]
    for offset in range(len(every_misdeed)):

        def misdeed_at(seat, decision, offset=offset):
            return every_misdeed[(seat + decision + offset) % len(every_misdeed)]

        def script_of(seat, misdeed_at=misdeed_at):
            return lambda ask: misdeed_at(seat, ask.decision).script(ask)

        scripts = [script_of(seat) for seat in range(spec.terms.seats)]
        outcome, bots, ledger = run(spec, scripts)
        states, last = states_of(spec, ledger)
        assert outcome.ending is Ending.COMPLETED
        assert outcome.scores == game.rules.result(last).scores
        assert len(outcome.faults) == len(ledger.decisions) == len(states)
        played, banks = moves_in(ledger, game), [5000] * spec.terms.seats
        for entry in ledger.decisions:
            at = entry.seat, entry.decision
            misdeed = misdeed_at(*at)
            assert entry.fault is misdeed.kind
            assert misdeed.reason in entry.reason
            assert played[at] == game.rules.fallback(states[at], entry.seat)
            # Nobody ever answers in time and right; wrong answers in time still earn.
            timeout = misdeed.kind is FaultKind.TIMEOUT
            banks[entry.seat] = 0 if timeout else banks[entry.seat] + 100
            assert entry.bank_ms == banks[entry.seat]
        for bot in bots:
            assert len(bot.closed) == len(bot.asked)
            assert bot.ended.outcome == outcome


@EVERY_SHAPE
@pytest.mark.parametrize("name", ["mute", "no choice at all", "leaving"])
def test_others_learn_of_a_fault_with_their_next_ask_and_not_why(game, name):
    misdeed, spec = misdeeds(game)[name], spec_of(game.id)
    for decision in (1, 2, 3):
        scripts = [plays_but({decision: misdeed.script}), *[plays] * (spec.terms.seats - 1)]
        outcome, bots, _ = run(spec, scripts)
        for seat, bot in enumerate(bots):
            if seat == 0 and misdeed.kind is FaultKind.GONE:
                continue  # it is asked no more
            told = [each for asked in bot.asked for each in ask_message(asked).played_for]
            assert [(each.seat, each.kind) for each in told] == [(0, misdeed.kind)]
            own = outcome.faults[0].reason if seat == 0 else ""
            assert told[0].reason == own


# Time.


# fmt: off
BANKS = [
    # the bot does                             bank_ms afterwards  why
    (Reply(after_s=0.25),                      5100,               "in time: an increment"),
    (Reply(after_s=1.0),                       5100,               "exactly the move's own time"),
    (Reply(after_s=3.0),                       3100,               "two seconds out of the bank"),
    (Reply(after_s=ALLOWED_S),                 100,                "the last moment of the bank"),
    (Reply(after_s=ALLOWED_S + GRACE_S - 0.01), 100,               "within the grace"),
    (Reply(after_s=ALLOWED_S + GRACE_S + 0.01), 0,                 "after the grace: no increment"),
    (Reply(answer=None),                       0,                  "no answer"),
    (Reply(Answer(index=99), after_s=3.0),     3100,               "an illegal answer is in time too"),
    (Reply(Answer(), after_s=3.0),             3100,               "and a malformed one"),
    (Reply(after_s=3.0, leaves=True),          3000,               "leaving earns no increment"),
]
# fmt: on


@pytest.mark.parametrize(("reply", "bank_ms", "why"), BANKS, ids=[row[-1] for row in BANKS])
def test_the_bank_after_a_move(reply, bank_ms, why):
    _, bots, ledger = run(spec_of("abstrac"), [thinks, thinks_but({1: reply})])
    banks = {(decision.seat, decision.decision): decision.bank_ms for decision in ledger.decisions}
    assert banks[1, 1] == bank_ms
    if not reply.leaves:
        assert bots[1].asked[1].clock_ms == (1000, bank_ms, 100)
    for decision in range(1, len(bots[0].asked)):  # the other seat's time is its own
        assert banks[0, decision] == 5000 + 100 * decision


def test_time_is_counted_from_asking_to_answering():
    _, _, ledger = run(spec_of("abstrac"), [thinks] * 2)
    for at, entry in enumerate(ledger.decisions):
        assert entry.sent_s == pytest.approx(at * THINK_S)
        assert entry.charged_s == pytest.approx(THINK_S)
    assert ledger.end_s == pytest.approx(len(ledger.decisions) * THINK_S)


def test_a_late_answer_does_not_answer_the_next_ask():
    late = Reply(Answer(index=0), after_s=ALLOWED_S + 0.5)
    _, _, ledger = run(spec_of("abstrac"), [thinks, thinks_but({1: late})])
    _, _, clean = run(spec_of("abstrac"), [thinks, thinks_but({1: Reply(answer=None)})])
    assert [decision.game_move for decision in ledger.decisions] == [
        decision.game_move for decision in clean.decisions
    ]


def test_only_the_first_answer_counts():
    class Twice(Scripted):
        def _reply(self, ask, reply):
            super()._reply(ask, reply)
            super()._reply(ask, Reply(Answer(index=99)))

    spec = spec_of("abstrac")
    outcome, _, ledger = run(spec, [Twice(thinks), thinks])
    _, _, clean = run(spec, [thinks, thinks])
    assert outcome.faults == ()
    assert ledger.decisions == clean.decisions


def test_a_seat_without_time_is_not_asked_and_not_at_fault():
    """One fault used the hand's time up; it is played by fallback until the next hand."""
    hand_2s = TimeControl(move_ms=1000, bank_ms=9000, hand_ms=2000)
    spec = spec_of("abstrac", time_control=hand_2s)
    outcome, bots, ledger = run(spec, [thinks, thinks_but({2: Reply(answer=None)})])
    states, _ = states_of(spec, ledger)
    (fault,) = outcome.faults
    assert (fault.decision, fault.kind) == (2, FaultKind.TIMEOUT)
    settled = [decision for decision in ledger.decisions if decision.seat == 1]
    first_hand = {at for (seat, at), state in states.items() if seat == 1 and state.hand == 0}
    assert {decision.decision for decision in settled if decision.unasked} == first_hand - {1, 2}
    assert {asked.decision for asked in bots[1].asked} == {
        decision.decision for decision in settled if not decision.unasked
    }
    assert outcome.ending is Ending.COMPLETED
    assert not any(decision.forfeited for decision in ledger.decisions)


# Leaving, and coming back.


def test_a_bot_that_has_left_is_asked_no_more():
    spec = spec_of("abstrac")
    leaves = Reply(after_s=THINK_S, leaves=True)
    outcome, bots, ledger = run(spec, [thinks, thinks_but({3: leaves})])
    assert len(bots[1].asked) == 3
    settled = [decision for decision in ledger.decisions if decision.seat == 1]
    assert [decision.unasked for decision in settled] == [False] * 3 + [True] * (len(settled) - 3)
    assert [decision.forfeited for decision in settled] == [False] * 2 + [True] * (len(settled) - 2)
    assert len(outcome.faults) == 1


@EVERY_SHAPE
def test_a_bot_that_never_came_is_at_fault_once(game):
    spec = spec_of(game.id)
    absent = Scripted()
    absent.gone = True
    outcome, _, ledger = run(spec, [absent, *[thinks] * (spec.terms.seats - 1)])
    assert outcome.faults == (Fault(0, FaultKind.GONE, 1, "the bot had left"),)
    assert not absent.asked
    assert absent.ended.outcome == outcome
    assert all(
        decision.unasked and decision.forfeited
        for decision in ledger.decisions
        if decision.seat == 0
    )


def test_a_match_that_all_have_left_is_played_to_its_end_at_once():
    absent = [Scripted(), Scripted()]
    for bot in absent:
        bot.gone = True
    outcome, _, ledger = run(spec_of("abstrac"), absent)
    assert outcome.ending is Ending.FORFEIT
    assert ledger.end_s == 0.0
    assert {fault.seat for fault in outcome.faults} == {0, 1}


def test_a_bot_that_hung_up_and_came_back_plays_on():
    """Its clock ran on; where it ran out the fault is `gone`, but it has not forfeited."""

    def script(ask):
        bot.connected = ask.decision != 2
        return thinks(ask) if bot.connected else Reply(answer=None)

    bot = Scripted(script)
    outcome, _, ledger = run(spec_of("abstrac"), [thinks, bot])
    (fault,) = outcome.faults
    assert (fault.kind, fault.decision) == (FaultKind.GONE, 2)
    assert "did not come back in time" in fault.reason
    assert outcome.ending is Ending.COMPLETED
    assert not any(decision.unasked for decision in ledger.decisions)


# The limit of faults.


@EVERY_SHAPE
@pytest.mark.parametrize("limit", [1, 3])
def test_after_so_many_faults_a_seat_is_played_by_fallback_and_ranked_behind(game, limit):
    spec = spec_of(game.id, fault_limit=limit)
    wrong = Reply(Answer(index=513), THINK_S)
    for seat in range(spec.terms.seats):
        scripts = [thinks] * spec.terms.seats
        scripts[seat] = lambda ask: wrong
        outcome, bots, ledger = run(spec, scripts)
        settled = [decision for decision in ledger.decisions if decision.seat == seat]
        faulty = min(limit, len(settled))
        assert len(bots[seat].asked) == faulty
        assert [fault.decision for fault in outcome.faults] == list(range(1, faulty + 1))
        assert [decision.forfeited for decision in settled] == [
            decision.decision >= limit for decision in settled
        ]
        assert outcome.ending is Ending.FORFEIT
        assert outcome.places[seat] == spec.terms.seats
        others = [outcome.scores[each] for each in range(spec.terms.seats) if each != seat]
        places = [outcome.places[each] for each in range(spec.terms.seats) if each != seat]
        assert places == [1 + sum(other > score for other in others) for score in others]
        _, last = states_of(spec, ledger)
        assert outcome.scores == game.rules.result(last).scores, "the score stays what it is"


def test_seats_that_all_forfeited_are_ranked_by_score():
    spec = spec_of("democracy", fault_limit=1)
    outcome, _, _ = run(spec, [lambda ask: Reply(answer=None)] * 3)
    assert outcome.ending is Ending.FORFEIT
    assert outcome.places == tuple(
        1 + sum(other > score for other in outcome.scores) for score in outcome.scores
    )


def test_without_a_limit_every_move_may_be_a_fault():
    spec = spec_of("abstrac", fault_limit=0)
    outcome, bots, ledger = run(spec, [thinks, lambda ask: Reply(Answer())])
    settled = [decision for decision in ledger.decisions if decision.seat == 1]
    assert len(outcome.faults) == len(settled) == len(bots[1].asked)
    assert outcome.ending is Ending.COMPLETED
