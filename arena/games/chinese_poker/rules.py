"""Chinese Poker, for two to four seats: thirteen cards set as three poker hands.

Rulings are numbered C1 to C13. All seats choose at the same time, first how to set their cards, then
whether to play or to surrender:

| phase     | seats to act                  | choice                                  |
|-----------|-------------------------------|-----------------------------------------|
| set       | all                           | a setting, or to declare a natural      |
| surrender | those without natural, if two or more | to play, or to pay two units to each opponent |

Naturals are shown between the two phases, and the settings of seats that play after both. Every pair of
seats settles once (`arena.games.chinese.hands`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.games.cards import PACK_52, Card, dealt_singly
from arena.games.chinese.hands import (
    HAND_SIZE,
    MOST_UNITS,
    SURRENDERED,
    Rows,
    Standing,
    high_first,
    is_foul,
    pair_units,
    settle_pairs,
    strengths,
)
from arena.games.chinese.naturals import Natural, best_natural, natural_of
from arena.games.chinese.settings import SettingMoves, by_rank
from arena.games.chinese.unit_values import UnitValues, most_in_a_hand, unit_values
from arena.games.chinese_poker.messages import (
    DECLARE_NATURAL,
    HANDS_PER_SEAT,
    PLAY,
    SURRENDER,
    Dealt,
    HandBegan,
    Move,
    NaturalDeclared,
    Options,
    Phase,
    Revealed,
    Scored,
    Set,
    ShownNatural,
    Surrendered,
    View,
)
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Moves,
    Result,
    Seat,
    SentEvent,
    Step,
    require_to_act,
)
from arena.games.options import check_match


@dataclass(frozen=True, slots=True)
class Match:
    seats: tuple[Seat, ...]
    hands: int
    unit_values: UnitValues
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    hands: tuple[tuple[Card, ...], ...]
    """Thirteen cards for each seat, from high to low; empty when the match is over."""
    naturals: tuple[Natural | None, ...]
    """The highest natural in each hand, declared or not."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The choices of a hand after all have set."""

    settings: tuple[Set | None, ...]
    """By seat; None if the seat declared a natural."""
    naturals: tuple[ShownNatural, ...]
    asked: tuple[Seat, ...]
    """The seats without natural, which play or surrender next."""


@dataclass(frozen=True, slots=True)
class State:
    """A match before a simultaneous choice."""

    match: Match
    deal: Deal
    committed: Committed | None
    """None while the seats set their cards."""


SEATS: Final[range] = range(2, 5)
_PLAY_OR_SURRENDER: Final = Listed((PLAY, SURRENDER))


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Seat 0 deals first, because seats are drawn before the match.

    Raises `BadOptions` unless there are 2 to 4 seats, `hands` is a multiple of them, and each pair has a unit value.
    """
    check_match("Chinese Poker", SEATS, seats, options.hands)
    hands = options.hands or HANDS_PER_SEAT * seats
    everybody = tuple(Seat(number) for number in range(seats))
    values = unit_values(options.unit_values, seats)
    return deal_hand(Match(everybody, hands, values, 0, (), (0,) * seats), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Play the choices of all seats to act. Raises `IllegalMove` if a choice is illegal or missing."""
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    choices = require_to_act(chosen, asked)
    for player, move in zip(asked, choices, strict=True):
        if move not in moves(state, player):
            raise IllegalMove(_why_illegal(state, move))
    if state.committed is None:
        return _commit(state, choices, deals)
    return _reveal(state, state.committed, choices, deals)


def to_act(state: State) -> tuple[Seat, ...]:
    """Return all seats to set, then those without natural to play or surrender."""
    if not state.deal.hands:
        return ()
    return state.match.seats if state.committed is None else state.committed.asked


def moves(state: State, seat: Seat) -> Moves:
    """Return the settings of a hand, or play and surrender."""
    if state.committed is not None:
        return _PLAY_OR_SURRENDER
    natural = () if state.deal.naturals[seat] is None else (DECLARE_NATURAL,)
    return SettingMoves(state.deal.hands[seat], Set, fallback(state, seat), natural)


def view(state: State, seat: Seat | None) -> View:
    """Return what a seat may know; a spectator sees no hand before it is shown."""
    match, deal, committed = state.match, state.deal, state.committed
    held: tuple[Card, ...] = ()
    natural = setting = None
    if seat is not None and deal.hands:
        held, natural = deal.hands[seat], deal.naturals[seat]
        seats_setting = committed.settings[seat] if committed is not None else None
        if seats_setting is not None:
            setting = Rows(seats_setting.front, seats_setting.middle, seats_setting.back)
    return View(
        phase=_phase(state),
        hand=match.hand,
        dealer=_dealer(match),
        to_act=to_act(state),
        held=held,
        natural=natural,
        setting=setting,
        naturals=committed.naturals if committed is not None else (),
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return the setting by rank with the highest cards in the back; then play (C13)."""
    if state.committed is not None:
        return PLAY
    rows = by_rank(state.deal.hands[seat])
    return Set(rows.front, rows.middle, rows.back)


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    if to_act(state):
        return None
    match = state.match
    return Result.of(match.totals, match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the most that a seat can win from all others, plus as much that it can lose."""
    hands = options.hands or HANDS_PER_SEAT * seats
    return hands * most_in_a_hand(unit_values(options.unit_values, seats), MOST_UNITS)


def _why_illegal(state: State, move: Move) -> str:
    if state.committed is not None:
        return "play or surrender"
    if move == DECLARE_NATURAL:
        return "there is no natural in your hand"
    return "set your thirteen cards: 3 in front, 5 in the middle, 5 in the back"


def _phase(state: State) -> Phase:
    if not state.deal.hands:
        return Phase.OVER
    return Phase.SET if state.committed is None else Phase.SURRENDER


def _dealer(match: Match) -> Seat:
    return match.seats[match.hand % len(match.seats)]


def deal_hand(match: Match, deals: Deals) -> Step:
    """Deal singly from the dealer's left; the rest of the pack is out of play."""
    seats, dealer = len(match.seats), _dealer(match)
    deck = deals.shuffle(match.hand, "deck", PACK_52)[: seats * HAND_SIZE]
    hands = tuple(map(high_first, dealt_singly(deck, seats, dealer)))
    deal = Deal(hands, tuple(map(natural_of, hands)))
    events = (
        SentEvent(HandBegan(match.hand, dealer)),
        *(SentEvent(Dealt(player, hands[player]), (player,)) for player in match.seats),
    )
    return Step(State(match, deal, None), events)


def _commit(state: State, choices: Sequence[Move], deals: Deals) -> Step:
    """Commit the settings and show the naturals, but no settings (C9)."""
    settings = tuple(move if isinstance(move, Set) else None for move in choices)
    naturals = tuple(
        _shown_natural(player, state.deal.hands[player])
        for player in state.match.seats
        if settings[player] is None
    )
    asked = tuple(player for player in state.match.seats if settings[player] is not None)
    committed = Committed(settings, naturals, asked)
    events = tuple(
        SentEvent(NaturalDeclared(natural.seat, natural.natural, natural.cards))
        for natural in naturals
    )
    if len(asked) > 1:
        return Step(State(state.match, state.deal, committed), events)
    # With one seat or none left there is no opponent to surrender to (C12).
    after, revealed = _reveal(state, committed, (PLAY,) * len(asked), deals)
    return Step(after, events + revealed)


def _shown_natural(seat: Seat, held: Sequence[Card]) -> ShownNatural:
    best = best_natural(held)
    assert best is not None, "the declared hand has no natural"
    return ShownNatural(seat, best.natural, best.cards)


def _reveal(state: State, committed: Committed, answers: Sequence[Move], deals: Deals) -> Step:
    """Show the settings of seats that play, settle, and deal the next hand."""
    match = state.match
    standings: list[Standing] = []
    events: list[SentEvent] = []
    answer_of = dict(zip(committed.asked, answers, strict=True))
    for player, setting in zip(match.seats, committed.settings, strict=True):
        if setting is None:
            natural = best_natural(state.deal.hands[player])
            assert natural is not None
            standings.append(natural)
        elif answer_of[player] == SURRENDER:
            standings.append(SURRENDERED)
            events.append(SentEvent(Surrendered(player)))
        else:
            front, middle, back = setting.front, setting.middle, setting.back
            rows = strengths(front, middle, back)
            standings.append(rows)
            events.append(SentEvent(Revealed(player, front, middle, back, is_foul(rows))))
    units = settle_pairs(standings, pair_units, match.unit_values)
    totals = tuple(map(sum, zip(match.totals, units, strict=True)))
    events.append(SentEvent(Scored(match.hand, units, totals)))
    scores = (*match.hand_scores, units)
    if len(scores) == match.hands:
        ended = replace(match, hand_scores=scores, totals=totals)
        return Step(State(ended, Deal((), ()), None), tuple(events))
    following = replace(match, hand=match.hand + 1, hand_scores=scores, totals=totals)
    dealt, dealing = deal_hand(following, deals)
    return Step(dealt, (*events, *dealing))
