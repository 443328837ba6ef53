"""Arlington, for two to six seats: lead cards to gather more, lead sets to keep them.

Source: D. P. Himes's rules of 1998; the digest's rules are cited as R1 to R21
and its rulings as "ruling n". The hand ends when the seat with the lead has no
cards (R8).

| phase   | move                          | what then                               |
|---------|-------------------------------|-----------------------------------------|
| LEAD    | LeadCard                      | TRICK                                   |
| LEAD    | LeadSet                       | RESPOND                                 |
| LEAD    | PlayS2, Add, TakeJoker        | LEAD of the same seat                   |
| TRICK   | PlayCard, by each other seat  | LEAD of the seat that takes the trick   |
| RESPOND | Pass, Overplay, by each other | LEAD of the seat that owns the last set |
| RESPOND | Kill                          | LEAD of the killer, at once             |
"""

from collections.abc import Sequence
from typing import Final

from arena.cards import CANONICAL, JOKER, Card, in_order, pack
from arena.games.arlington.layout import (
    Layout,
    bury,
    bury_set,
    change_set,
    gather,
    next_holder,
    place_set,
    spend,
)
from arena.games.arlington.legal_moves import AtLead, Choice, InAnswer, InTrick
from arena.games.arlington.options import MAX_HANDS, Options
from arena.games.arlington.sets import JOKERS, TWO_OF_SPADES, CardSet, Spectrum, most_points
from arena.games.arlington.state import Match, State, Turn
from arena.games.arlington.words import (
    LEAD_CARDS,
    PASS,
    PLAY_CARDS,
    Active,
    Add,
    Began,
    CardAdded,
    CardLed,
    CardPlayed,
    Dealt,
    JokerTaken,
    Kill,
    Killed,
    LeadCard,
    LeadSet,
    Move,
    Overplay,
    Overplayed,
    Pass,
    Passed,
    Phase,
    PlayCard,
    PlayS2,
    S2Played,
    Scored,
    SetKept,
    SetLed,
    Table,
    TakeJoker,
    TrickTaken,
    View,
)
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Result,
    Seat,
    Step,
    Told,
    places_of,
    require_to_act,
)
from arena.games.options import check_hands

HAND: Final = 8
"""Cards dealt to each seat (R8)."""
MAX_SEATS: Final = 6

_PACK: Final = pack(jokers=JOKERS)


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand.

    Raises:
      BadOptions: unless there are 2 to 6 seats and `hands` is a multiple of them.
    """
    if not 2 <= seats <= MAX_SEATS:
        raise BadOptions(f"Arlington is for 2 to {MAX_SEATS} seats, not {seats}")
    check_hands(options.hands, seats)
    return deal_hand(Match(options, 0, (0,) * seats, ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    (move,) = require_to_act(chosen, to_act(state))
    layout, turn, seat = state.layout, state.turn, state.turn.to_act
    why_not = moves(state, seat).why_not(move)
    if why_not is not None:
        raise IllegalMove(why_not)
    match move:
        case LeadCard(card) | LeadSet((card,), None):
            told = Told(CardLed(seat, card))
            spent = spend(layout, seat, (card,))
            return _in_trick(state, spent, new_turn(Phase.TRICK, seat), card, told, deals)
        case LeadSet(cards, spectrum):
            assert spectrum is not None
            return _lead_set(state, cards, spectrum, deals)
        case PlayS2(owner, index):
            left = _bury_with_s2(layout, seat, owner, index)
            return _on_lead(state, left, seat, (Told(S2Played(seat, owner, index)),), deals)
        case Add(owner, index, card):
            grown = in_order((*layout.tables[owner].sets[index], card))
            left = change_set(spend(layout, seat, (card,)), owner, index, grown)
            return _on_lead(state, left, seat, (Told(CardAdded(seat, owner, index, card)),), deals)
        case TakeJoker(owner, index, card):
            left = _swap_joker(layout, seat, owner, index, card)
            return _on_lead(state, left, seat, (Told(JokerTaken(seat, owner, index, card)),), deals)
        case PlayCard(card):
            told = Told(CardPlayed(seat, card))
            return _in_trick(state, spend(layout, seat, (card,)), turn, card, told, deals)
        case Pass():
            assert turn.active is not None
            return _in_answer(state, layout, turn.active, Told(Passed(seat)), deals)
        case Overplay(cards):
            return _overplay(state, cards, deals)
        case Kill():
            assert turn.active is not None
            left = _bury_with_s2(layout, seat, turn.active.owner, turn.active.index)
            return _on_lead(state, left, seat, (Told(Killed(seat)),), deals)
    raise AssertionError(move)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.turn.phase is Phase.OVER else (state.turn.to_act,)


def moves(state: State, seat: Seat) -> Choice:
    layout, turn = state.layout, state.turn
    hand = layout.hands[turn.to_act]
    if turn.phase is Phase.LEAD:
        return AtLead(hand, layout.tables)
    if turn.phase is Phase.TRICK:
        return InTrick(hand)
    active = turn.active
    assert active is not None
    return InAnswer(hand, layout.tables[active.owner].sets[active.index], active.spectrum)


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hand."""
    match, layout, turn = state.match, state.layout, state.turn
    return View(
        phase=turn.phase,
        hand=match.hand,
        dealer=_dealer(match),
        lead=turn.lead,
        to_act=None if turn.phase is Phase.OVER else turn.to_act,
        held=() if seat is None else layout.hands[seat],
        hand_sizes=tuple([len(hand) for hand in layout.hands]),
        known=layout.known,
        tables=layout.tables,
        trick_seats=turn.trick_seats,
        trick_cards=turn.trick_cards,
        active=turn.active,
        graveyard=layout.undealt + len(layout.buried),
        buried=layout.buried,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """The lowest card, led or played; to a set, a pass."""
    phase = state.turn.phase
    if phase is Phase.RESPOND:
        return PASS
    table = LEAD_CARDS if phase is Phase.LEAD else PLAY_CARDS
    return table[state.layout.hands[seat][0]]


def hand_number(state: State) -> int:
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    """No step is."""
    return False


def result(state: State) -> Result | None:
    """Totals and places; equal totals share a place (R21, ruling 18)."""
    if to_act(state):
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """The dearest sets that all cards dealt could make, on one table; None for a race."""
    return options.hands * most_points(HAND * seats) or None


def match_is_over(options: Options, hands_played: int, totals: Sequence[int]) -> bool:
    """Whether a completed hand ends the match (R21, ruling 4)."""
    if options.hands:
        return hands_played >= options.hands
    return hands_played >= MAX_HANDS or max(totals) >= options.target


def taking_card(cards: Sequence[Card]) -> int:
    """The place of the card that takes the trick, the one led being the first (R9).

    A joker takes only if it was led; no other suit than the one led takes.
    """
    led = cards[0]
    if led == JOKER:
        return 0
    followed = [at for at, card in enumerate(cards) if card[1] == led[1]]
    return max(followed, key=lambda at: CANONICAL[cards[at]])


def _dealer(match: Match) -> Seat:
    return Seat(match.hand % len(match.totals))


def new_turn(phase: Phase, seat: Seat) -> Turn:
    """The seat's turn, with the lead and nothing played yet."""
    return Turn(phase, seat, seat, (), (), None)


def deal_hand(match: Match, deals: Deals) -> Step:
    """Deal one at a time from the dealer's left, who gets the lead (R8)."""
    seats, dealer = len(match.totals), _dealer(match)
    deck = deals.shuffle(match.hand, "deck", _PACK)
    dealt = seats * HAND
    hands = tuple(
        in_order(deck[(seat - dealer - 1) % seats : dealt : seats]) for seat in range(seats)
    )
    nothing: tuple[CardSet, ...] = ((),) * seats
    layout = Layout(hands, nothing, (Table((), ()),) * seats, (), len(deck) - dealt)
    told = [Told(Began(match.hand, dealer))]
    told += [Told(Dealt(Seat(seat), hand), (Seat(seat),)) for seat, hand in enumerate(hands)]
    turn = new_turn(Phase.LEAD, Seat((dealer + 1) % seats))
    return Step(State(match, layout, turn), tuple(told))


def _on_lead(
    state: State, layout: Layout, seat: Seat, told: tuple[Told, ...], deals: Deals
) -> Step:
    """The seat has the lead: it acts, or without cards it ends the hand (ruling 12)."""
    turn = new_turn(Phase.LEAD, seat)
    after = State(state.match, layout, turn)
    if layout.hands[seat]:
        return Step(after, told)
    return _end_hand(after, told, deals)


def _in_trick(
    state: State, layout: Layout, turn: Turn, card: Card, told: Told, deals: Deals
) -> Step:
    """The seat whose turn it is has played a card to the trick."""
    seats, cards = (*turn.trick_seats, turn.to_act), (*turn.trick_cards, card)
    following = next_holder(layout, turn.to_act, turn.lead)
    if following is not None:
        after = Turn(Phase.TRICK, turn.lead, following, seats, cards, None)
        return Step(State(state.match, layout, after), (told,))
    at = taking_card(cards)
    taker = seats[at]
    layout = gather(bury(layout, cards[at : at + 1]), taker, cards[:at] + cards[at + 1 :])
    return _on_lead(state, layout, taker, (told, Told(TrickTaken(taker))), deals)


def _lead_set(state: State, cards: CardSet, spectrum: Spectrum, deals: Deals) -> Step:
    seat = state.turn.to_act
    active = Active(seat, len(state.layout.tables[seat].sets), spectrum)
    layout = place_set(spend(state.layout, seat, cards), seat, cards)
    return _in_answer(state, layout, active, Told(SetLed(seat, cards, spectrum)), deals)


def _overplay(state: State, cards: CardSet, deals: Deals) -> Step:
    seat, beaten = state.turn.to_act, state.turn.active
    assert beaten is not None
    left = bury_set(state.layout, beaten.owner, beaten.index)
    active = Active(seat, len(left.tables[seat].sets), beaten.spectrum)
    layout = place_set(spend(left, seat, cards), seat, cards)
    return _in_answer(state, layout, active, Told(Overplayed(seat, cards)), deals)


def _in_answer(state: State, layout: Layout, active: Active, told: Told, deals: Deals) -> Step:
    """The seat whose turn it was has led or answered: one circuit, and no more (R13)."""
    turn = state.turn
    following = next_holder(layout, turn.to_act, turn.lead)
    if following is not None:
        after = Turn(Phase.RESPOND, turn.lead, following, (), (), active)
        return Step(State(state.match, layout, after), (told,))
    return _on_lead(state, layout, active.owner, (told, Told(SetKept(active.owner))), deals)


def _bury_with_s2(layout: Layout, seat: Seat, owner: Seat, index: int) -> Layout:
    spades = (TWO_OF_SPADES,)
    return bury(bury_set(spend(layout, seat, spades), owner, index), spades)


def _swap_joker(layout: Layout, seat: Seat, owner: Seat, index: int, card: Card) -> Layout:
    joker_last = layout.tables[owner].sets[index]
    swapped = change_set(layout, owner, index, in_order((*joker_last[:-1], card)))
    return gather(spend(swapped, seat, (card,)), seat, (JOKER,))


def _end_hand(state: State, told: tuple[Told, ...], deals: Deals) -> Step:
    """Score the tables; what is left in the hands is not shown (R20)."""
    match = state.match
    points = tuple([sum(table.points) for table in state.layout.tables])
    totals = tuple([had + won for had, won in zip(match.totals, points, strict=True)])
    hand_scores = (*match.hand_scores, points)
    told = (*told, Told(Scored(match.hand, points, totals)))
    if match_is_over(match.options, len(hand_scores), totals):
        ended = Match(match.options, match.hand, totals, hand_scores)
        turn = new_turn(Phase.OVER, state.turn.lead)
        return Step(State(ended, state.layout, turn), told)
    dealt, more = deal_hand(Match(match.options, match.hand + 1, totals, hand_scores), deals)
    return Step(dealt, told + more)
