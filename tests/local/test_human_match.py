"""A person's match: judged and timed by the referee, and its seat knows what the rules send to it."""

import random

import pytest

from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.local.human_match import HumanMatch, NotYourMove
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.verify import verify_file
from arena.referee.spec import Ending, FaultKind
from arena.referee.terms import TIME_CLASSES, MatchTerms, TimeControl
from tests.rows import EACH_GAME, slow_unless_of_each_kind


def sampled(_view, moves, _options, _seat, chance):
    return moves.sample(chance.randrange)


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def match_of(
    game_id, folder, clock=None, *, control=TIME_CLASSES["human"], fault_limit=10, seat=0, hands=0
):
    game = game_by_id(game_id)
    seats = game.seats[0]
    options = game.options({"hands": hands or seats}, seats)
    terms = MatchTerms(game, options, seats, control, fault_limit, seeded=True)
    bots = {Seat(other): sampled for other in range(seats) if other != seat}
    names = ["guest" if other == seat else "house" for other in range(seats)]
    return HumanMatch(terms, Seat(seat), names, bots, folder, seed="x", now_s=clock or Clock())


def play_on(match, draw, most=10_000):
    while most and (ask := match.ask()) is not None:
        match.answer(ask.decision, ask.moves.sample(draw.randrange))
        most -= 1


@pytest.mark.parametrize("game", slow_unless_of_each_kind(GAMES, EACH_GAME))
@pytest.mark.parametrize("seat", [0, 1])
def test_a_match_leaves_a_replay_that_verifies_and_the_seat_knew_its_own_part(game, seat, tmp_path):
    match = match_of(game.id, tmp_path, seat=seat)
    play_on(match, random.Random(game.id))
    assert match.outcome.ending is Ending.COMPLETED
    assert verify_file(match.replay).ok
    steps = list(play_back(Replay.open(match.replay)))
    assert [moment.view for moment in match.moments] == [step.view(Seat(seat)) for step in steps]
    assert [moment.events for moment in match.moments] == [
        tuple(event.event for event in step.events_for(Seat(seat))) for step in steps
    ]


def test_a_move_in_time_is_charged_from_the_move_and_then_from_the_bank(tmp_path):
    clock = Clock()
    match = match_of("klaberjass", tmp_path, clock)
    ask = match.ask()
    assert ask.left_ms == (30_000, 600_000)
    clock.now_s += 40
    assert match.ask().left_ms == (0, 590_000)
    match.answer(ask.decision, ask.moves.offered[0])
    assert match.ask().left_ms == (30_000, 590_000)


def test_a_person_without_time_is_played_for_and_then_has_forfeited(tmp_path):
    clock = Clock()
    match = match_of(
        "klaberjass", tmp_path, clock, control=TimeControl(30_000, 0), fault_limit=3, hands=8
    )
    for fault in range(1, 4):
        decision = match.ask().decision
        clock.now_s += 31
        match.pass_time()
        kinds = [charged.kind for moment in match.moments for charged in moment.faults]
        assert kinds == [FaultKind.TIMEOUT] * fault
        if match.outcome is None:
            with pytest.raises(NotYourMove, match="decided already"):
                match.answer(decision, match.ask().moves.offered[0])
    assert match.ask() is None
    assert match.outcome.ending is Ending.ABORTED
    assert verify_file(match.replay).ok


def test_what_the_rules_forbid_is_refused_without_a_fault(tmp_path):
    match = match_of("klaberjass", tmp_path)
    ask = match.ask()
    with pytest.raises(NotYourMove, match="do not allow"):
        match.answer(ask.decision, game_by_id("sixty_six").messages.CLAIM)
    assert match.ask().decision == ask.decision
    assert not any(moment.faults for moment in match.moments)


def test_a_person_who_leaves_ends_the_match_without_a_result(tmp_path):
    match = match_of("soko", tmp_path)
    match.leave()
    match.leave()
    assert (match.ask(), match.outcome.ending, match.outcome.scores) == (None, Ending.ABORTED, ())
    assert verify_file(match.replay).ok
