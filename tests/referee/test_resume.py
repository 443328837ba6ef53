"""A match that was cut short goes on with exactly the state, clocks and asks as they were."""

import pytest

from arena.games.catalogue import GAMES
from arena.referee.ledger import Settled
from arena.referee.spec import Ending, FaultKind, ForfeitedSeat
from arena.referee.wire.games import codec_of
from tests.referee.matches import misdeeds, plays, run, spec_of, spread, thinks, thinks_but
from tests.rows import slow_unless, slow_unless_of_each_kind

EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES), ids=[game.id for game in GAMES]
)
EVERY_MISDEED = pytest.mark.parametrize(
    "name", ["mute", "late", "an index past the list", "no choice at all", "leaving"]
)


def timeless(settled: Settled) -> Settled:
    """A decision without its stamp, as simultaneous seats are asked at the same time again."""
    return settled._replace(sent_s=0.0, evidence=None, charged_s=round(settled.charged_s, 6))


def by_seat(decisions):
    return sorted(map(timeless, decisions), key=lambda each: (each.seat, each.decision))


def assert_goes_on(spec, scripts, points=8):
    """Cut a match at some points, go on, and compare with the match that was never cut."""
    outcome, bots, ledger = run(spec, scripts)
    assert outcome.ending is not Ending.ABORTED
    for cut in spread(range(len(ledger.decisions) + 1), points):
        past = ledger.decisions[:cut]
        answered = {decision.seat: decision.decision for decision in past}
        outcome_again, bots_again, ledger_again = run(spec, scripts, past=past)
        assert outcome_again == outcome, cut
        assert by_seat(past + ledger_again.decisions) == by_seat(ledger.decisions), cut
        for seat, (bot, again) in enumerate(zip(bots, bots_again, strict=True)):
            still_asked = [asked for asked in bot.asked if asked.decision > answered.get(seat, 0)]
            assert again.asked == still_asked, (cut, seat)
            assert again.ended == bot.ended, (cut, seat)


@EVERY_GAME
def test_every_game_continues_from_any_decision(game):
    assert_goes_on(spec_of(game.id), [thinks] * spec_of(game.id).terms.seats)


@pytest.mark.parametrize(
    "game_id", slow_unless("abstrac".__eq__, ["abstrac", "chinese_poker", "pineapple"])
)
@EVERY_MISDEED
def test_faults_before_the_cut_cost_what_they_had_cost(game_id, name):
    spec = spec_of(game_id, fault_limit=2)
    deed = misdeeds(spec.terms.game)[name]
    scripts = [thinks_but({1: deed.reply, 3: deed.reply}), *[thinks] * (spec.terms.seats - 1)]
    assert_goes_on(spec, scripts, points=12)


def test_a_bot_is_reminded_of_its_last_answer():
    """So that the same answer, said again, is known, however it is said."""
    spec = spec_of("abstrac")
    _, _, ledger = run(spec, [plays] * 2)
    _, bots, _ = run(spec, [plays] * 2, past=ledger.decisions[:5])
    last = {decision.seat: decision for decision in ledger.decisions[:5]}
    for seat, bot in enumerate(bots):
        decision, said = bot.answered_before
        assert decision == last[seat].decision
        assert codec_of(spec.terms.game).game_move(said.move) == last[seat].game_move
        asked = next(asked for asked in bot.asked if asked.decision == decision + 1)
        assert asked.decision == decision + 1
        assert said.place is not None


def test_a_journal_that_does_not_fit_aborts_the_match_without_faults(caplog):
    spec = spec_of("abstrac")
    _, _, ledger = run(spec, [plays] * 2)
    twice = [ledger.decisions[0], ledger.decisions[0]]
    outcome, bots, _ = run(spec, [plays] * 2, past=twice)
    assert (outcome.ending, outcome.faults) == (Ending.ABORTED, ())
    assert "was not to be made" in caplog.text
    (record,) = caplog.records
    assert (record.incident, record.match) == (outcome.incident, spec.match_id)
    assert all(bot.ended.outcome == outcome for bot in bots)


def test_a_seat_that_forfeited_before_the_deal_is_never_asked():
    out = ForfeitedSeat(0, FaultKind.TIMEOUT, "it did not open its commitment")
    spec = spec_of("democracy", forfeited_seats=(out,))
    outcome, bots, ledger = run(spec, [thinks] * spec.terms.seats)
    assert outcome.ending is Ending.FORFEIT
    assert outcome.places[0] == spec.terms.seats
    (fault,) = outcome.faults
    assert (fault.seat, fault.kind, fault.reason, fault.decision) == (0, out.kind, out.reason, 1)
    assert bots[0].asked == []
    assert all(decision.unasked for decision in ledger.decisions if decision.seat == 0)
    assert_goes_on(spec, [thinks] * spec.terms.seats)
