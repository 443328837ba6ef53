"""Arlington, for two to six seats: lead cards to collect more, and sets to score them.

Source: D. P. Himes's rules of 1998. Rules are numbered R1 to R21; rulings are cited as "ruling n". The hand
ends when the seat with the lead has no cards (R8).

| phase   | move                          | next phase                              |
|---------|-------------------------------|-----------------------------------------|
| LEAD    | LeadCard                      | TRICK                                   |
| LEAD    | LeadSet                       | RESPOND                                 |
| LEAD    | PlayS2, Add, TakeJoker        | LEAD of the same seat                   |
| TRICK   | PlayCard, by each other seat  | LEAD of the winner of the trick         |
| RESPOND | Pass, Overplay, by each other | LEAD of the seat that owns the last set |
| RESPOND | Kill                          | LEAD of the killer, at once             |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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
from arena.games.arlington.messages import (
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
    Options,
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
from arena.games.arlington.sets import JOKERS, TWO_OF_SPADES, CardSet, Spectrum, most_points
from arena.games.cards import CANONICAL, JOKER, Card, dealt_singly, in_order, pack
from arena.games.contract import Deals, IllegalMove, Result, Seat, SentEvent, Step, require_to_act
from arena.games.options import check_match, match_is_over, race_result


@dataclass(frozen=True, slots=True)
class Match:
    options: Options
    hand: int
    totals: tuple[int, ...]
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """The seat to act, and the current trick or active set."""

    phase: Phase
    lead: Seat
    to_act: Seat
    trick_seats: tuple[Seat, ...]
    trick_cards: tuple[Card, ...]
    active: Active | None


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    layout: Layout
    turn: Turn


HAND: Final = 8
"""The number of cards dealt to each seat (R8)."""
SEATS: Final[range] = range(2, 7)

_PACK: Final = pack(jokers=JOKERS)


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Raises `BadOptions` unless there are 2 to 6 seats and `hands` is a multiple of them."""
    check_match("Arlington", SEATS, seats, options.hands)
    return deal_hand(Match(options, 0, (0,) * seats, ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    (move,) = require_to_act(chosen, to_act(state))
    layout, turn, player = state.layout, state.turn, state.turn.to_act
    why_not = moves(state, player).why_not(move)
    if why_not is not None:
        raise IllegalMove(why_not)
    match move:
        case LeadCard(card) | LeadSet((card,), None):
            event = SentEvent(CardLed(player, card))
            spent = spend(layout, player, (card,))
            return _in_trick(state, spent, new_turn(Phase.TRICK, player), card, event, deals)
        case LeadSet(cards, spectrum):
            assert spectrum is not None
            return _lead_set(state, cards, spectrum, deals)
        case PlayS2(owner, index):
            left = _bury_with_s2(layout, player, owner, index)
            return _on_lead(
                state, left, player, (SentEvent(S2Played(player, owner, index)),), deals
            )
        case Add(owner, index, card):
            grown = in_order((*layout.tables[owner].sets[index], card))
            left = change_set(spend(layout, player, (card,)), owner, index, grown)
            return _on_lead(
                state, left, player, (SentEvent(CardAdded(player, owner, index, card)),), deals
            )
        case TakeJoker(owner, index, card):
            left = _swap_joker(layout, player, owner, index, card)
            return _on_lead(
                state, left, player, (SentEvent(JokerTaken(player, owner, index, card)),), deals
            )
        case PlayCard(card):
            event = SentEvent(CardPlayed(player, card))
            return _in_trick(state, spend(layout, player, (card,)), turn, card, event, deals)
        case Pass():
            assert turn.active is not None
            return _in_answer(state, layout, turn.active, SentEvent(Passed(player)), deals)
        case Overplay(cards):
            return _overplay(state, cards, deals)
        case Kill():
            assert turn.active is not None
            left = _bury_with_s2(layout, player, turn.active.owner, turn.active.index)
            return _on_lead(state, left, player, (SentEvent(Killed(player)),), deals)
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
    """Return what a seat may know; a spectator sees no hand."""
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
    """Return the lowest card, led or played; in answer to a set, a pass."""
    phase = state.turn.phase
    if phase is Phase.RESPOND:
        return PASS
    table = LEAD_CARDS if phase is Phase.LEAD else PLAY_CARDS
    return table[state.layout.hands[seat][0]]


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    """Return totals and places; equal totals share a place (R21, ruling 18)."""
    if to_act(state):
        return None
    return race_result(state.match, single_leader=False)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the most points that all dealt cards could score on one table; None for a race."""
    return options.hands * most_points(HAND * seats) or None


def is_over(options: Options, hands_played: int, totals: Sequence[int]) -> bool:
    """Return whether a completed hand ends the match (R21, ruling 4)."""
    return match_is_over(options, hands_played, totals, single_leader=False)


def taking_card(cards: Sequence[Card]) -> int:
    """Return the index of the card that wins the trick, of which the first was led (R9).

    Only the suit led can win. A joker wins only if it was led.
    """
    led = cards[0]
    if led == JOKER:
        return 0
    followed = [at for at, card in enumerate(cards) if card[1] == led[1]]
    return max(followed, key=lambda at: CANONICAL[cards[at]])


def _dealer(match: Match) -> Seat:
    return Seat(match.hand % len(match.totals))


def new_turn(phase: Phase, seat: Seat) -> Turn:
    """Return the turn of a seat with the lead, before it plays."""
    return Turn(phase, seat, seat, (), (), None)


def deal_hand(match: Match, deals: Deals) -> Step:
    """Deal singly from the dealer's left; the seat there has the lead (R8)."""
    seats, dealer = len(match.totals), _dealer(match)
    deck = deals.shuffle(match.hand, "deck", _PACK)
    dealt = seats * HAND
    hands = tuple(map(in_order, dealt_singly(deck[:dealt], seats, dealer)))
    nothing: tuple[CardSet, ...] = ((),) * seats
    layout = Layout(hands, nothing, (Table((), ()),) * seats, (), len(deck) - dealt)
    events = [SentEvent(Began(match.hand, dealer))]
    events += [SentEvent(Dealt(Seat(seat), hand), (Seat(seat),)) for seat, hand in enumerate(hands)]
    turn = new_turn(Phase.LEAD, Seat((dealer + 1) % seats))
    return Step(State(match, layout, turn), tuple(events))


def _on_lead(
    state: State, layout: Layout, seat: Seat, events: tuple[SentEvent, ...], deals: Deals
) -> Step:
    """Give the lead to a seat; if it has no cards, the hand ends (ruling 12)."""
    turn = new_turn(Phase.LEAD, seat)
    after = State(state.match, layout, turn)
    if layout.hands[seat]:
        return Step(after, events)
    return _end_hand(after, events, deals)


def _in_trick(
    state: State, layout: Layout, turn: Turn, card: Card, event: SentEvent, deals: Deals
) -> Step:
    seats, cards = (*turn.trick_seats, turn.to_act), (*turn.trick_cards, card)
    following = next_holder(layout, turn.to_act, turn.lead)
    if following is not None:
        after = Turn(Phase.TRICK, turn.lead, following, seats, cards, None)
        return Step(State(state.match, layout, after), (event,))
    at = taking_card(cards)
    taker = seats[at]
    layout = gather(bury(layout, cards[at : at + 1]), taker, cards[:at] + cards[at + 1 :])
    return _on_lead(state, layout, taker, (event, SentEvent(TrickTaken(taker))), deals)


def _lead_set(state: State, cards: CardSet, spectrum: Spectrum, deals: Deals) -> Step:
    player = state.turn.to_act
    active = Active(player, len(state.layout.tables[player].sets), spectrum)
    layout = place_set(spend(state.layout, player, cards), player, cards)
    return _in_answer(state, layout, active, SentEvent(SetLed(player, cards, spectrum)), deals)


def _overplay(state: State, cards: CardSet, deals: Deals) -> Step:
    player, beaten = state.turn.to_act, state.turn.active
    assert beaten is not None
    left = bury_set(state.layout, beaten.owner, beaten.index)
    active = Active(player, len(left.tables[player].sets), beaten.spectrum)
    layout = place_set(spend(left, player, cards), player, cards)
    return _in_answer(state, layout, active, SentEvent(Overplayed(player, cards)), deals)


def _in_answer(
    state: State, layout: Layout, active: Active, event: SentEvent, deals: Deals
) -> Step:
    """Continue after a seat led a set or answered: every seat answers once (R13)."""
    turn = state.turn
    following = next_holder(layout, turn.to_act, turn.lead)
    if following is not None:
        after = Turn(Phase.RESPOND, turn.lead, following, (), (), active)
        return Step(State(state.match, layout, after), (event,))
    return _on_lead(state, layout, active.owner, (event, SentEvent(SetKept(active.owner))), deals)


def _bury_with_s2(layout: Layout, seat: Seat, owner: Seat, index: int) -> Layout:
    spades = (TWO_OF_SPADES,)
    return bury(bury_set(spend(layout, seat, spades), owner, index), spades)


def _swap_joker(layout: Layout, seat: Seat, owner: Seat, index: int, card: Card) -> Layout:
    joker_last = layout.tables[owner].sets[index]
    swapped = change_set(layout, owner, index, in_order((*joker_last[:-1], card)))
    return gather(spend(swapped, seat, (card,)), seat, (JOKER,))


def _end_hand(state: State, events: tuple[SentEvent, ...], deals: Deals) -> Step:
    """Score the tables; the cards left in the hands are not shown (R20)."""
    match = state.match
    points = tuple([sum(table.points) for table in state.layout.tables])
    totals = tuple([had + won for had, won in zip(match.totals, points, strict=True)])
    hand_scores = (*match.hand_scores, points)
    events = (*events, SentEvent(Scored(match.hand, points, totals)))
    if is_over(match.options, len(hand_scores), totals):
        ended = Match(match.options, match.hand, totals, hand_scores)
        turn = new_turn(Phase.OVER, state.turn.lead)
        return Step(State(ended, state.layout, turn), events)
    dealt, more = deal_hand(Match(match.options, match.hand + 1, totals, hand_scores), deals)
    return Step(dealt, events + more)
