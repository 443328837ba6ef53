"""What leaves a match while it is played: what everybody may know, in order, and nothing else."""

import logging
import random
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import pytest
import trio
from trio.testing import MockClock

from arena.bots.bot_ids import BotId
from arena.durable_files import Unwritten
from arena.errors.refused import Refused
from arena.games.abstrac import rules as abstrac
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Step
from arena.local.turns import turns
from arena.referee.spec import Ending, Fault, FaultKind, ForfeitedSeat
from arena.testing.deals import RecordedDeals, StackedDeals
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import MemoryLedger, Scripted
from cardarena.v1 import play_pb2
from tests.leaks.knowledge import HIDDEN
from tests.leaks.worlds import copies_in_play, dealing, orders_of, swapped_orders
from tests.live.lives import run as run_life
from tests.live.test_played_once import ALONE, ANN, BOB, life
from tests.live.test_played_once import folder as folder  # noqa: PLC0414 - a fixture
from tests.referee.matches import (
    illegal_move,
    misdeeds,
    moves_in,
    plays,
    plays_but,
    refereed,
    run,
    spec_of,
    spread,
    thinks,
)
from tests.rows import slow_unless_of_each_kind

EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES), ids=[game.id for game in GAMES]
)


class Opened(NamedTuple):
    match_id: str
    terms: object
    entrants: tuple


class Stepped(NamedTuple):
    hand: int
    events: list
    view: object


class Blamed(NamedTuple):
    faults: list


class Closed(NamedTuple):
    outcome: object


class Notes:
    """A gallery that remembers all that it was told; it may raise at one of its calls."""

    def __init__(self, raises=None, *, hands_open=False):
        self.told = []
        self.hands = []
        self.hands_open = hands_open
        self._raises = raises

    def opened(self, match_id, terms, entrants):
        self._take(Opened(match_id, terms, entrants))

    def stepped(self, hand, events, view, banks_ms, hands):
        self.hands.append(hands)
        self._take(Stepped(hand, list(events), view()))

    def blamed(self, faults):
        self._take(Blamed(list(faults)))

    def closed(self, outcome):
        self._take(Closed(outcome))

    def of(self, kind):
        return [message for message in self.told if isinstance(message, kind)]

    def _take(self, told):
        self.told.append(told)
        if self._raises is type(told):
            raise RuntimeError("canary 71ac")


def steps_of(spec, ledger):
    """The steps of a match by the rules alone, from the decisions of its ledger."""
    rules, played = spec.terms.game.rules, moves_in(ledger, spec.terms.game)
    decided = Counter()

    def choose(_, seat):
        decided[seat] += 1
        return played[seat, decided[seat]]

    match = turns(rules, spec.terms.options, spec.terms.seats, spec.deals, choose)
    return [Step(turn.after, turn.events) for turn in match]


def everybody_sees(spec, steps):
    """What the rules say that everybody may see of steps."""
    rules = spec.terms.game.rules
    return [
        Stepped(
            rules.hand_number(step.state),
            [event for event, seats in step.events if seats is None],
            rules.view(step.state, None),
        )
        for step in steps
    ]


def watched(spec, scripts=None, raises=None, **more):
    """Play a match before a gallery: what it was told, the outcome, the bots and the ledger."""
    notes = Notes(raises)
    scripts = scripts or [plays] * spec.terms.seats
    return notes, *run(spec, scripts, spectators=notes, **more)


# What is told, and in which order.


@EVERY_GAME
def test_spectators_get_their_view_and_the_public_events_of_every_step(game):
    spec = spec_of(game.id)
    notes, outcome, _, ledger = watched(spec)
    assert notes.told == [
        Opened(spec.match_id, spec.terms, spec.entrants),
        *everybody_sees(spec, steps_of(spec, ledger)),
        Closed(outcome),
    ]


PRIVATE = ["eleusis", "jam", "klaberjass", "pineapple", "sixty_six"]


@pytest.mark.parametrize("game_id", PRIVATE)
def test_spectators_get_no_private_events(game_id):
    spec = spec_of(game_id)
    notes, _, _, ledger = watched(spec)
    private = 0
    for step, shown in zip(steps_of(spec, ledger), notes.of(Stepped), strict=True):
        for event, seats in step.events:
            if seats is not None:
                private += 1
                assert event not in shown.events
    assert private, "the game has events that are for some seats"


@pytest.mark.parametrize("game_id", PRIVATE)
def test_a_gallery_that_does_not_say_that_hands_are_open_is_shown_none(game_id):
    notes, *_ = watched(spec_of(game_id))
    assert {*notes.hands} == {None}


@EVERY_GAME
def test_spectators_of_open_hands_get_the_views_of_seats(game):
    spec = spec_of(game.id)
    notes = Notes(hands_open=True)
    *_, ledger = run(spec, [plays] * spec.terms.seats, spectators=notes)
    steps, seats = steps_of(spec, ledger), range(spec.terms.seats)
    assert len(notes.hands) == len(steps)
    for step, hands in zip(steps, notes.hands, strict=True):
        assert hands.events == step.events
        views = [game.rules.view(step.state, seat) for seat in seats]
        assert [hands.view(seat) for seat in seats] == views


def other_deals(spec):
    """Deals with two cards in each other's places that no spectator sees at the beginning."""
    game, noted = spec.terms.game, RecordedDeals(spec.deals)
    state = game.rules.start(spec.terms.options, spec.terms.seats, noted).state
    orders = orders_of(noted)
    hidden = Counter(HIDDEN[game.family](state, None))
    copies = copies_in_play([orders], game.rules.hand_number(state))
    draw = random.Random(game.id)
    changed = swapped_orders(dealing(orders), hidden, copies, draw, 52)
    return changed and StackedDeals(changed, spec.deals)


HIDING = [game for game in GAMES if other_deals(spec_of(game.id)) is not None]


@pytest.mark.parametrize("game", HIDING, ids=[game.id for game in HIDING])
def test_spectators_get_no_hidden_card(game):
    spec = spec_of(game.id)
    other = replace(spec, deals=other_deals(spec))
    terms = spec.terms
    dealt = [
        game.rules.start(terms.options, terms.seats, each.deals).state for each in (spec, other)
    ]
    assert dealt[0] != dealt[1]
    (ours, *_), (theirs, *_) = watched(spec), watched(other)
    assert ours.told[:2] == theirs.told[:2]


def test_most_games_hide_cards_that_can_change_places():
    assert {game.family for game in HIDING} >= {"jam", "loo", "pineapple", "sixty_six", "soko"}


def test_spectators_get_the_steps_of_workers_too(monkeypatch):
    spec = spec_of("abstrac")
    light, *_ = watched(spec)
    monkeypatch.setattr(abstrac, "heavy", lambda state, seat, move: True, raising=False)
    heavy, *_ = watched(spec)
    assert heavy.told == light.told


# Faults.

MISDEEDS = misdeeds(game_by_id("abstrac"))


@pytest.mark.parametrize("name", MISDEEDS)
def test_spectators_get_a_fault_before_its_step_and_without_reason(name):
    misdeed = MISDEEDS[name]
    spec = spec_of("abstrac")
    notes, outcome, _, ledger = watched(spec, [plays_but({2: misdeed.script}), plays])
    first = outcome.faults[0]
    assert misdeed.reason in first.reason
    at = notes.told.index(Blamed([Fault(0, misdeed.kind, 2, "")]))
    assert isinstance(notes.told[at + 1], Stepped)
    assert notes.of(Stepped) == everybody_sees(spec, steps_of(spec, ledger))


@pytest.mark.parametrize("name", MISDEEDS)
def test_spectators_get_the_end_without_reasons_of_faults(name):
    script = plays_but({2: MISDEEDS[name].script})
    notes, outcome, bots, _ = watched(spec_of("abstrac"), [script, plays])
    bare = tuple(replace(fault, reason="") for fault in outcome.faults)
    assert notes.told[-1] == Closed(replace(outcome, faults=bare))
    assert bots[0].ended.outcome.faults == outcome.faults != bare


def test_a_forfeit_before_the_deal_is_shown_without_its_reason():
    out = ForfeitedSeat(1, FaultKind.MALFORMED, "canary 0b2f")
    notes, outcome, _, _ = watched(spec_of("abstrac", forfeited_seats=(out,)))
    assert [fault.reason for fault in outcome.faults] == ["canary 0b2f"]
    assert Blamed([Fault(1, FaultKind.MALFORMED, 1, "")]) in notes.told
    assert "canary" not in repr(notes.told)


def test_the_fault_of_one_of_many_who_choose_at_once_is_told_when_all_have_chosen():
    game = game_by_id("chinese_poker")
    spec = spec_of(game.id)
    scripts = [illegal_move(game), *[thinks] * (spec.terms.seats - 1)]
    moments = []

    class Timed(Notes):
        def blamed(self, faults):
            moments.append(("blamed", trio.current_time()))

        def stepped(self, hand, events, view, banks_ms, hands):
            moments.append(("stepped", trio.current_time()))

    run(spec, scripts, spectators=Timed())
    begin = moments[0][1]
    told = [(what, at - begin) for what, at in moments[:3]]
    assert told == [("stepped", 0.0), ("blamed", 0.25), ("stepped", 0.25)]


def test_spectators_get_the_banks_after_all_decisions_of_a_step():
    game = game_by_id("chinese_poker")
    spec = spec_of(game.id)
    told = []

    class Banks(Notes):
        def stepped(self, hand, events, view, banks_ms, hands):
            told.append(banks_ms)

    *_, ledger = run(spec, [thinks] * spec.terms.seats, spectators=Banks())
    left = [spec.terms.time_control.bank_ms] * spec.terms.seats
    assert told[0] == left
    for settled in ledger.decisions[: spec.terms.seats]:
        left[settled.seat] = settled.bank_ms
    assert told[1] == left != told[0]


# The end.


def referee_run(ledger, spectators, *, synced=trio.lowlevel.checkpoint, stop_after_s=float("inf")):
    """Play a match that something happens to; what it raised."""
    spec, bots = spec_of("abstrac"), [Scripted(thinks), Scripted(thinks)]
    raised = []

    async def main():
        async with refereed(synced, bots) as referee:
            with trio.move_on_after(stop_after_s):
                try:
                    await referee.play(spec, bots, ledger, spectators=lambda: spectators)
                except Unwritten as error:
                    raised.append(error)

    trio.run(main, clock=MockClock(autojump_threshold=0))
    return raised


def test_the_end_is_sent_once_it_is_on_disk():
    notes, at_sync = Notes(), []

    async def synced():
        at_sync.extend(notes.told)

    assert referee_run(MemoryLedger(), notes, synced=synced) == []
    assert notes.told[-1].outcome.ending is Ending.COMPLETED
    assert at_sync == notes.told[:-1]


def test_an_end_that_may_not_be_on_disk_is_not_sent():
    async def synced():
        raise Unwritten("canary 44d0")

    notes = Notes()
    assert len(referee_run(MemoryLedger(), notes, synced=synced)) == 1
    assert notes.of(Stepped)
    assert notes.of(Closed) == []


def test_a_suspended_match_sends_no_end():
    notes = Notes()
    referee_run(MemoryLedger(), notes, stop_after_s=1.0)
    assert notes.of(Stepped)
    assert notes.of(Closed) == []


def test_an_aborted_match_sends_its_end_without_the_error(monkeypatch):
    def broken(state, chosen, deals):
        raise RuntimeError("canary 9c1e")

    monkeypatch.setattr(abstrac, "step", broken)
    notes, outcome, _, _ = watched(spec_of("abstrac"))
    assert [type(message) for message in notes.told] == [Opened, Stepped, Closed]
    assert notes.told[-1] == Closed(outcome)
    assert outcome.ending is Ending.ABORTED
    assert "canary" not in repr(notes.told)


# A match that goes on.


@pytest.mark.parametrize("game_id", ["abstrac", "chinese_poker", "sixty_six"])
def test_of_a_match_that_goes_on_no_step_is_told_that_had_been_passed(game_id):
    spec = spec_of(game_id)
    whole, _, _, ledger = watched(spec)
    steps = whole.of(Stepped)
    rules = spec.terms.game.rules
    sizes = [len(rules.to_act(step.state)) for step in steps_of(spec, ledger)]
    for cut in spread(range(len(ledger.decisions) + 1), 8):
        # The last step that all decisions of the past have led to.
        at, left = 0, cut
        while at + 1 < len(steps) and left >= sizes[at]:
            at, left = at + 1, left - sizes[at]
        notes, *_ = watched(spec, past=ledger.decisions[:cut])
        assert notes.told[0] == whole.told[0], cut
        assert notes.of(Stepped) == steps[at + bool(left) :], cut
        assert notes.told[-1] == whole.told[-1], cut


# Without a watcher, and with one that fails.


def test_without_a_gallery_no_spectators_view_is_made(monkeypatch):
    made, view = Counter(), abstrac.view

    def counted(state, seat):
        made[seat] += 1
        return view(state, seat)

    monkeypatch.setattr(abstrac, "view", counted)
    spec = spec_of("abstrac")
    run(spec, [plays, plays])
    assert made.keys() == {0, 1}
    notes, *_ = watched(spec)
    assert made[None] == len(notes.of(Stepped))


@pytest.mark.parametrize("raises", [Opened, Stepped, Blamed, Closed])
def test_failing_spectators_are_dropped_and_the_match_continues(raises, caplog):
    caplog.set_level(logging.ERROR)
    spec = spec_of("abstrac")
    scripts = [plays_but({2: MISDEEDS["no choice at all"].script}), plays]
    alone, bots, ledger = run(spec, scripts)
    notes, outcome, watched_bots, watched_ledger = watched(spec, scripts, raises=raises)
    assert [type(message) for message in notes.told].count(raises) == 1
    assert isinstance(notes.told[-1], raises)
    assert outcome == alone
    assert [bot.heard for bot in watched_bots] == [bot.heard for bot in bots]
    assert watched_ledger.decisions == ledger.decisions
    (logged,) = caplog.records
    assert (logged.getMessage(), logged.match) == ("the spectators of a match fail", spec.match_id)


def test_a_spectators_view_that_cannot_be_made_does_not_hurt_the_match(monkeypatch):
    view = abstrac.view

    def broken(state, seat):
        if seat is None:
            raise RuntimeError("canary 5e0a")
        return view(state, seat)

    monkeypatch.setattr(abstrac, "view", broken)
    notes, outcome, _, _ = watched(spec_of("abstrac"))
    assert outcome.ending is Ending.COMPLETED
    assert [type(message) for message in notes.told] == [Opened]


# Who watches which match of an arena.


def told_in_an_arena(folder, watch, while_played=lambda arena: None):
    """Play the match `m` in an arena; `watch` and `while_played` may set galleries."""

    async def main():
        async with life(folder, ANN, BOB) as (arena, nursery):
            watch(arena.matches)
            nursery.start_soon(arena.matches.play, ALONE, "m")
            while "m" not in arena.matches.referee.runners:
                await trio.lowlevel.checkpoint()
            while_played(arena.matches)
            await arena.matches.play(ALONE, "m")

    run_life(main)


def test_the_gallery_of_a_match_is_told_of_it_and_that_of_another_is_not(folder):
    ours, others = Notes(), Notes()

    def watch(matches):
        matches.watch("n", others)
        matches.watch("m", ours)

    told_in_an_arena(folder, watch)
    assert isinstance(ours.told[0], Opened)
    assert ours.told[-1].outcome.ending is Ending.COMPLETED
    assert others.told == []


def test_the_later_spectators_of_a_match_get_it(folder):
    first, second = Notes(), Notes()

    def watch(matches):
        matches.watch("m", first)
        matches.watch("m", second)

    told_in_an_arena(folder, watch)
    assert first.told == []
    assert isinstance(second.told[-1], Closed)


def test_spectators_that_are_added_during_a_match_get_nothing(folder):
    early, late = Notes(), Notes()
    told_in_an_arena(
        folder,
        lambda matches: matches.watch("m", early),
        lambda matches: matches.watch("m", late),
    )
    assert isinstance(early.told[-1], Closed)
    assert late.told == []


def test_the_gallery_of_a_match_that_was_refused_is_not_told_of_a_later_one(folder):
    notes = Notes()

    async def main():
        async with life(folder, ANN, BOB) as (arena, _):
            support = [play_pb2.GameSupport(game="loo")]
            arena.hello(play_pb2.Hello(token="guest:lou", games=support), MemoryOutbox())
            arena.matches.watch("m", notes)
            wrong = match_order("abstrac", (ANN, BotId("lou")), match_id="m")
            with pytest.raises(Refused, match="does not play"):
                arena.matches.begin_promised(arena.matches.promised(wrong, "m"))
            assert (await arena.matches.play(ALONE, "m")).has_result

    run_life(main)
    assert notes.told == []
