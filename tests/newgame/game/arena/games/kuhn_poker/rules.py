"""Kuhn Poker: an ante, a card each, and one bet.

Source: Harold W. Kuhn, "A simplified two-person poker" (1950). The seat that does not deal acts
first. A bet is one chip, and so is a call.

| first | second | first | result                 |
|-------|--------|-------|------------------------|
| check | check  |       | showdown for one chip  |
| check | bet    | fold  | the second seat wins 1 |
| check | bet    | call  | showdown for two chips |
| bet   | fold   |       | the first seat wins 1  |
| bet   | call   |       | showdown for two chips |
"""

from dataclasses import dataclass, replace
from typing import Final

from arena.games.cards import RANKS, Card
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Result,
    Seat,
    SentEvent,
    Step,
    require_to_act,
)
from arena.games.kuhn_poker.messages import (
    OWN_LENGTH,
    Acted,
    Began,
    Bet,
    Call,
    Check,
    Dealt,
    Fold,
    Move,
    Options,
    Phase,
    Scored,
    Shown,
    View,
)
from arena.games.options import check_match

PACK: Final = ("Js", "Qs", "Ks")
SEATS: Final = (Seat(0), Seat(1))
_UNBET: Final = Listed((Check(), Bet()))
_AFTER_BET: Final = Listed((Fold(), Call()))
_ENDS: Final = {
    (False, False),
    (True, False),
    (True, True),
    (False, True, False),
    (False, True, True),
}
"""Whether each seat in turn has bet, where the hand is over."""


@dataclass(frozen=True, slots=True)
class State:
    """A match at one moment."""

    hands: int
    """Hands of the match."""
    cards: tuple[Card, ...]
    """The card of each seat."""
    bets: tuple[bool, ...]
    """Whether each seat in turn has bet."""
    scores: tuple[tuple[int, int], ...]
    """Chips won or lost in each completed hand, by seat."""
    over: bool = False


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal for the first time.

    Raises:
      BadOptions: unless both seats deal equally often.
    """
    check_match("Kuhn Poker", (2,), seats, options.hands)
    return _deal(State(options.hands or OWN_LENGTH, (), (), ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    (move,) = require_to_act(chosen, to_act(state))
    seat, bet = _turn(state), isinstance(move, Bet | Call)
    if move not in moves(state, seat):
        raise IllegalMove("a bet is answered by a fold or a call, and nothing else is")
    acted = SentEvent(Acted(seat, bet))
    after = replace(state, bets=(*state.bets, bet))
    if after.bets not in _ENDS:
        return Step(after, (acted,))
    ended, events = _end(after, deals)
    return Step(ended, (acted, *events))


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.over else (_turn(state),)


def moves(state: State, seat: Seat) -> Listed:
    return _AFTER_BET if any(state.bets) else _UNBET


def view(state: State, seat: Seat | None) -> View:
    return View(
        Phase.OVER if state.over else Phase.BET,
        hand_number(state),
        _dealer(state),
        None if state.over else _turn(state),
        None if seat is None else state.cards[seat],
        _chips(state),
        _totals(state),
    )


def fallback(state: State, seat: Seat) -> Move:
    return moves(state, seat).all[0]


def hand_number(state: State) -> int:
    return len(state.scores) - state.over


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.scores


def result(state: State) -> Result | None:
    if not state.over:
        return None
    totals = _totals(state)
    return Result.of(totals, state.scores)


def margin_bound(options: Options, seats: int) -> int | None:
    return 4 * (options.hands or OWN_LENGTH)


def _dealer(state: State) -> Seat:
    return SEATS[hand_number(state) % 2]


def _turn(state: State) -> Seat:
    return SEATS[(hand_number(state) + 1 + len(state.bets)) % 2]


def _chips(state: State) -> tuple[int, ...]:
    """An ante of one chip each, and the bets."""
    first = 1 - _dealer(state)
    return tuple(1 + sum(state.bets[(seat != first) :: 2]) for seat in SEATS)


def _totals(state: State) -> tuple[int, ...]:
    return tuple(sum(score[seat] for score in state.scores) for seat in SEATS)


def _deal(state: State, deals: Deals) -> Step:
    cards = deals.shuffle(hand_number(state), "deck", PACK)[: len(SEATS)]
    dealt = [SentEvent(Dealt(seat, cards[seat]), (seat,)) for seat in SEATS]
    began = SentEvent(Began(hand_number(state), _dealer(state)))
    return Step(replace(state, cards=cards, bets=()), (began, *dealt))


def _end(state: State, deals: Deals) -> Step:
    """Score the hand, and deal the next one unless it was the last."""
    chips, shown = _chips(state), ()
    winner = Seat(chips.index(max(chips)))
    if chips[0] == chips[1]:
        shown = (SentEvent(Shown(state.cards)),)
        winner = max(SEATS, key=lambda seat: RANKS.index(state.cards[seat][0]))
    won = min(chips)
    gained = (won, -won) if winner == 0 else (-won, won)
    scores = (*state.scores, gained)
    scored = replace(state, scores=scores, over=len(scores) == state.hands)
    ended = SentEvent(Scored(len(state.scores), gained, _totals(scored)))
    if scored.over:
        return Step(scored, (*shown, ended))
    following, events = _deal(scored, deals)
    return Step(following, (*shown, ended, *events))
