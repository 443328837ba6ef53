"""Chinese Poker, for two to four seats: thirteen cards set as three poker hands.

The digest's rulings are cited as C1 to C13. All seats choose at once and
unseen, first how to set their cards, then whether to stand by it:

| phase     | who is asked                  | what they choose                        |
|-----------|-------------------------------|-----------------------------------------|
| set       | all                           | a setting, or to declare a natural      |
| surrender | those without natural, if two | to play, or to pay two to each opponent |

Naturals are shown between the two; the settings of those who play, after both.
Every pair of seats settles once (`arena.games.chinese.hands`).
"""

from collections.abc import Sequence
from typing import Final

from arena.cards import PACK_52, Card
from arena.games.chinese.hands import (
    HAND_SIZE,
    MOST_UNITS,
    SURRENDERED,
    Rows,
    Standing,
    high_first,
    is_foul,
    settle,
    strengths,
)
from arena.games.chinese.naturals import best_natural, natural_of
from arena.games.chinese.settings import by_rank
from arena.games.chinese_poker.legal_moves import PLAY_OR_SURRENDER, Settings, set_of, why_illegal
from arena.games.chinese_poker.options import HANDS_PER_SEAT, Options
from arena.games.chinese_poker.state import Committed, Deal, Match, State
from arena.games.chinese_poker.words import (
    PLAY,
    SURRENDER,
    Dealt,
    HandBegan,
    Move,
    NaturalDeclared,
    Phase,
    Revealed,
    Scored,
    Set,
    ShownNatural,
    Surrendered,
    View,
)
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Moves,
    Result,
    Seat,
    Step,
    Told,
    places_of,
    require_to_act,
)
from arena.games.options import check_hands

MIN_SEATS: Final = 2
MAX_SEATS: Final = 4


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Seat 0 deals it: the arena has drawn the seats already.

    Raises:
      BadOptions: unless there are 2 to 4 seats and `hands` is a multiple of them.
    """
    if not MIN_SEATS <= seats <= MAX_SEATS:
        raise BadOptions(f"Chinese Poker is for {MIN_SEATS} to {MAX_SEATS} seats, not {seats}")
    check_hands(options.hands, seats)
    hands = options.hands or HANDS_PER_SEAT * seats
    everybody = tuple(Seat(seat) for seat in range(seats))
    return deal_hand(Match(everybody, hands, 0, (), (0,) * seats), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Take what all seats concerned have chosen.

    Raises:
      IllegalMove: if a choice is against the rules, or a seat's is missing.
    """
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    choices = require_to_act(chosen, asked)
    for seat, move in zip(asked, choices, strict=True):
        if move not in moves(state, seat):
            raise IllegalMove(why_illegal(state, seat, move))
    if state.committed is None:
        return _commit(state, choices, deals)
    return _reveal(state, state.committed, choices, deals)


def to_act(state: State) -> tuple[Seat, ...]:
    """All seats to set, then those without natural to play or surrender."""
    if not state.deal.hands:
        return ()
    return state.match.seats if state.committed is None else state.committed.asked


def moves(state: State, seat: Seat) -> Moves:
    """The settings of a hand, or the two answers."""
    if state.committed is not None:
        return PLAY_OR_SURRENDER
    return Settings(state.deal.hands[seat], state.deal.naturals[seat])


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hand before it is shown."""
    match, deal, committed = state.match, state.deal, state.committed
    held: tuple[Card, ...] = ()
    natural = setting = None
    if seat is not None and deal.hands:
        held, natural = deal.hands[seat], deal.naturals[seat]
        own = committed.settings[seat] if committed is not None else None
        if own is not None:
            setting = Rows(own.front, own.middle, own.back)
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
    """The cards by rank, highest in the back, a natural undeclared; then to play (C13)."""
    return set_of(by_rank(state.deal.hands[seat])) if state.committed is None else PLAY


def hand_number(state: State) -> int:
    """The deal, from 0."""
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    """No step is."""
    return False


def result(state: State) -> Result | None:
    """Units and places; equal totals share a place."""
    if to_act(state):
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """The dearest setting won from every other seat, against the same lost to each."""
    hands = options.hands or HANDS_PER_SEAT * seats
    return hands * 2 * (seats - 1) * MOST_UNITS


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
    hands = tuple(high_first(deck[(seat - dealer - 1) % seats :: seats]) for seat in match.seats)
    deal = Deal(hands, tuple(map(natural_of, hands)))
    told = (
        Told(HandBegan(match.hand, dealer)),
        *(Told(Dealt(seat, hands[seat]), (seat,)) for seat in match.seats),
    )
    return Step(State(match, deal, None), told)


def _commit(state: State, choices: Sequence[Move], deals: Deals) -> Step:
    """Take the settings and show the naturals; nobody has seen a setting then (C9)."""
    settings = tuple(move if isinstance(move, Set) else None for move in choices)
    naturals = tuple(
        _shown_natural(seat, state.deal.hands[seat])
        for seat in state.match.seats
        if settings[seat] is None
    )
    asked = tuple(seat for seat in state.match.seats if settings[seat] is not None)
    committed = Committed(settings, naturals, asked)
    told = tuple(Told(NaturalDeclared(each.seat, each.natural, each.cards)) for each in naturals)
    if len(asked) > 1:
        return Step(State(state.match, state.deal, committed), told)
    # One seat or none is left: there is nobody to surrender to (C12).
    after, revealed = _reveal(state, committed, (PLAY,) * len(asked), deals)
    return Step(after, told + revealed)


def _shown_natural(seat: Seat, held: Sequence[Card]) -> ShownNatural:
    best = best_natural(held)
    assert best is not None, "a natural was declared that is none"
    return ShownNatural(seat, best.natural, best.cards)


def _reveal(state: State, committed: Committed, answers: Sequence[Move], deals: Deals) -> Step:
    """Show the settings of those who play, settle, and deal the next hand."""
    match = state.match
    standings: list[Standing] = []
    told: list[Told] = []
    answer_of = dict(zip(committed.asked, answers, strict=True))
    for seat, setting in zip(match.seats, committed.settings, strict=True):
        if setting is None:
            natural = best_natural(state.deal.hands[seat])
            assert natural is not None
            standings.append(natural)
        elif answer_of[seat] == SURRENDER:
            standings.append(SURRENDERED)
            told.append(Told(Surrendered(seat)))
        else:
            front, middle, back = setting.front, setting.middle, setting.back
            rows = strengths(front, middle, back)
            standings.append(rows)
            told.append(Told(Revealed(seat, front, middle, back, is_foul(rows))))
    units = settle(standings)
    totals = tuple(map(sum, zip(match.totals, units, strict=True)))
    told.append(Told(Scored(match.hand, units, totals)))
    scores = (*match.hand_scores, units)
    if len(scores) == match.hands:
        ended = Match(match.seats, match.hands, match.hand, scores, totals)
        return Step(State(ended, Deal((), ()), None), tuple(told))
    following = Match(match.seats, match.hands, match.hand + 1, scores, totals)
    dealt, dealing = deal_hand(following, deals)
    return Step(dealt, (*told, *dealing))
