"""Oklahoma Rummy, for two to eight seats: sets and runs from two packs with wild 2s.

Rulings are numbered R1 to R11.

    DRAW -> PLAY -> PLAY ... -> DRAW of the next seat

| phase | move                | effect                                            |
|-------|---------------------|---------------------------------------------------|
| draw  | draw                | play                                              |
| draw  | take pile           | a meld of three is laid, the pile taken; play     |
| draw  | decline             | the hand is blocked: scored without a bonus (R8)  |
| play  | meld, extend        | play again                                        |
| play  | discard, no discard | the next seat draws                               |

When a seat has no cards it goes out, and the hand ends at once. The hand also ends if a seat has no legal
move at the start of its turn.
"""

from dataclasses import dataclass
from typing import Final

from arena.games.cards import Card, dealt_singly, in_order, pack, without
from arena.games.contract import (
    Deals,
    IllegalMove,
    Result,
    Seat,
    SentEvent,
    Step,
    require_to_act,
    with_entry,
)
from arena.games.oklahoma_rummy.legal_moves import AtDraw, AtPlay, Choice
from arena.games.oklahoma_rummy.melds import (
    HELD_POINTS,
    LADDER,
    MOST_HELD,
    MOST_MELDED,
    OUT_POINTS,
    QUEEN_OF_SPADES,
    CardList,
    End,
    MeldKind,
    TableMeld,
    extended,
    read_meld,
)
from arena.games.oklahoma_rummy.messages import (
    DECLINE,
    DISCARDS,
    DRAW,
    NO_DISCARD,
    Began,
    Dealt,
    Decline,
    Declined,
    Discard,
    Discarded,
    Draw,
    Drew,
    Extend,
    Extended,
    KeptQueens,
    Meld,
    Melded,
    Move,
    NoDiscard,
    Options,
    Phase,
    PileTaken,
    Received,
    Scored,
    StockRebuilt,
    Table,
    TakePile,
    View,
)
from arena.games.options import check_match, match_is_over, race_result

MAX_REBUILDS: Final = 3
"""The maximal number of rebuilds of the stock in a hand (R8)."""


@dataclass(frozen=True, slots=True)
class Piles:
    stock: CardList
    """The next card to draw first."""
    pile: CardList
    """The top card last."""
    rebuilds: int

    @property
    def can_draw(self) -> bool:
        """Whether there is a stock, or discards to rebuild it (R8)."""
        return bool(self.stock) or (self.rebuilds < MAX_REBUILDS and len(self.pile) > 1)


@dataclass(frozen=True, slots=True)
class Deal:
    """The current hand; lists are by seat."""

    phase: Phase
    turn: Seat
    hands: tuple[CardList, ...]
    known: tuple[CardList, ...]
    tables: tuple[Table, ...]
    piles: Piles
    drawn: Card | None
    """The card that the seat to act drew in this turn."""


@dataclass(frozen=True, slots=True)
class Match:
    options: Options
    hand: int
    totals: tuple[int, ...]
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    deal: Deal


DECK: Final = pack(packs=2)
SEATS: Final[range] = range(2, 9)
HAND: Final = 13
CROWDED_HAND: Final = 11
"""The number of cards dealt to each of eight seats, as thirteen would leave no stock (R7)."""

_ACE_LOW: Final = LADDER[:-1]


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Raises `BadOptions` unless there are 2 to 8 seats and `hands` is a multiple of them."""
    check_match("Oklahoma Rummy", SEATS, seats, options.hands)
    return deal_hand(Match(options, 0, (0,) * seats, ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Play a move of the seat to act. Raises `IllegalMove` if another seat moves, or the move is illegal."""
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    (move,) = require_to_act(chosen, asked)
    why_not = moves(state, state.deal.turn).why_not(move)
    if why_not:
        raise IllegalMove(why_not)
    match move:
        case Draw():
            return _draw(state, deals)
        case TakePile(kind, cards):
            return _take_pile(state, kind, cards, deals)
        case Decline():
            blocked, events = _end_hand(state, None, deals)
            return Step(blocked, (SentEvent(Declined(state.deal.turn)), *events))
        case Meld(kind, cards):
            return _meld(state, kind, cards, deals)
        case Extend(index, card, end):
            return _extend(state, index, card, end, deals)
        case Discard(card):
            return _discard(state, card, deals)
        case NoDiscard():
            player = state.deal.turn
            after, events = _begin_turn(state, _next(state, player), deals)
            return Step(after, (SentEvent(KeptQueens(player)), *events))
    raise AssertionError(move)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.deal.phase is Phase.OVER else (state.deal.turn,)


def moves(state: State, seat: Seat) -> Choice:
    """Return the legal moves of the seat to act; long lists are truncated."""
    deal = state.deal
    if deal.phase is Phase.PLAY:
        return AtPlay(deal.hands[deal.turn], deal.tables[deal.turn].melds)
    return _at_draw(deal)


def view(state: State, seat: Seat | None) -> View:
    match, deal = state.match, state.deal
    piles = deal.piles
    return View(
        phase=deal.phase,
        hand=match.hand,
        dealer=_dealer(match),
        to_act=None if deal.phase is Phase.OVER else deal.turn,
        held=() if seat is None else deal.hands[seat],
        drawn=deal.drawn if seat == deal.turn else None,
        hand_sizes=tuple([len(hand) for hand in deal.hands]),
        known=deal.known,
        tables=deal.tables,
        pile=piles.pile,
        stock=len(piles.stock),
        rebuilds=piles.rebuilds,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return a draw; then a discard of the drawn card, or of the card that costs most in the hand."""
    deal = state.deal
    if deal.phase is Phase.DRAW:
        return DRAW if deal.piles.can_draw else DECLINE
    hand = deal.hands[deal.turn]
    drawn = deal.drawn
    if drawn is not None and drawn in hand and drawn != QUEEN_OF_SPADES:
        return DISCARDS[drawn]
    spare = [card for card in hand if card != QUEEN_OF_SPADES]
    if not spare:
        return NO_DISCARD
    # Of equal cards the first; hands are sorted, so clubs are before spades.
    return DISCARDS[max(spare, key=_cost)]


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    """Return totals and places; equal totals share a place (R10)."""
    if state.deal.phase is not Phase.OVER:
        return None
    return race_result(state.match)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the points of all cards melded and going out, plus the cost of all cards; None for a race."""
    return options.hands * (MOST_MELDED + OUT_POINTS + MOST_HELD) or None


def hand_size(seats: int) -> int:
    """Return the number of cards dealt to each seat (R7)."""
    return CROWDED_HAND if seats == SEATS[-1] else HAND


def is_over(options: Options, hands_played: int, totals: tuple[int, ...]) -> bool:
    """Return whether a completed hand ends the match (R10)."""
    return match_is_over(options, hands_played, totals)


def hand_points(table: Table, hand: CardList) -> int:
    """Return the points of a seat without the bonus for going out: its melds less its cards."""
    return melded_points(table) - held_points(hand)


def melded_points(table: Table) -> int:
    return sum(meld.points for meld in table.melds)


def held_points(hand: CardList) -> int:
    """Return the cost of the cards left in a hand."""
    return sum(HELD_POINTS[card] for card in hand)


def _cost(card: Card) -> tuple[int, int]:
    """Sort key: the cost of a card in the hand, then its rank with the ace low."""
    return HELD_POINTS[card], _ACE_LOW.index(card[0])


def _at_draw(deal: Deal) -> AtDraw:
    piles = deal.piles
    return AtDraw(deal.hands[deal.turn], piles.pile[-1] if piles.pile else None, piles.can_draw)


def _dealer(match: Match) -> Seat:
    return Seat(match.hand % len(match.totals))


def _next(state: State, seat: Seat) -> Seat:
    return Seat((seat + 1) % len(state.match.totals))


def deal_hand(match: Match, deals: Deals) -> Step:
    """Deal singly from the dealer's left, then the upcard."""
    seats, dealer = len(match.totals), _dealer(match)
    deck = deals.shuffle(match.hand, "deck", DECK)
    cut = hand_size(seats) * seats
    hands = tuple(map(in_order, dealt_singly(deck[:cut], seats, dealer)))
    upcard = deck[cut]
    first = Seat((dealer + 1) % seats)
    piles = Piles(deck[cut + 1 :], (upcard,), 0)
    nothing: tuple[CardList, ...] = ((),) * seats
    deal = Deal(Phase.DRAW, first, hands, nothing, (Table(()),) * seats, piles, None)
    events = [SentEvent(Began(match.hand, dealer, hand_size(seats), upcard))]
    events += [SentEvent(Dealt(Seat(seat), hand), (Seat(seat),)) for seat, hand in enumerate(hands)]
    return Step(State(match, deal), tuple(events))


def _begin_turn(state: State, seat: Seat, deals: Deals) -> Step:
    """Begin the turn of a seat; the hand is blocked if it has no legal move (R8)."""
    old = state.deal
    deal = Deal(Phase.DRAW, seat, old.hands, old.known, old.tables, old.piles, None)
    after = State(state.match, deal)
    if old.piles.can_draw or _at_draw(deal).can_take():
        return Step(after, ())
    return _end_hand(after, None, deals)


def _draw(state: State, deals: Deals) -> Step:
    deal, player = state.deal, state.deal.turn
    piles, events = deal.piles, [SentEvent(Drew(player))]
    if not piles.stock:
        piles = _rebuilt(piles, state.match.hand, deals)
        events.insert(0, SentEvent(StockRebuilt(piles.rebuilds, len(piles.stock))))
    card = piles.stock[0]
    events.append(SentEvent(Received(player, card), (player,)))
    hands = with_entry(deal.hands, player, in_order((*deal.hands[player], card)))
    piles = Piles(piles.stock[1:], piles.pile, piles.rebuilds)
    after = Deal(Phase.PLAY, player, hands, deal.known, deal.tables, piles, card)
    return Step(State(state.match, after), tuple(events))


def _rebuilt(piles: Piles, hand: int, deals: Deals) -> Piles:
    rebuilds = piles.rebuilds + 1
    stock = deals.shuffle(hand, f"rebuild {rebuilds}", piles.pile[:-1])
    return Piles(stock, piles.pile[-1:], rebuilds)


def _take_pile(state: State, kind: MeldKind, cards: CardList, deals: Deals) -> Step:
    deal, player = state.deal, state.deal.turn
    meld = read_meld(kind, cards)
    assert meld is not None
    *rest, top = deal.piles.pile
    from_hand = list(cards)
    from_hand.remove(top)
    hand, known = deal.hands[player], deal.known[player]
    hand, known = without(hand, from_hand), without(known, from_hand)
    after = Deal(
        Phase.PLAY,
        player,
        with_entry(deal.hands, player, in_order((*hand, *rest))),
        with_entry(deal.known, player, in_order((*known, *rest))),
        with_entry(deal.tables, player, Table((*deal.tables[player].melds, meld))),
        Piles(deal.piles.stock, (), deal.piles.rebuilds),
        None,
    )
    taken = SentEvent(PileTaken(player, meld, tuple(rest)))
    return _after_play(State(state.match, after), taken, deals)


def _meld(state: State, kind: MeldKind, cards: CardList, deals: Deals) -> Step:
    deal, player = state.deal, state.deal.turn
    meld = read_meld(kind, cards)
    assert meld is not None
    melds = (*deal.tables[player].melds, meld)
    after = _played(deal, cards, melds)
    return _after_play(State(state.match, after), SentEvent(Melded(player, meld)), deals)


def _extend(state: State, index: int, card: Card, end: End | None, deals: Deals) -> Step:
    deal, player = state.deal, state.deal.turn
    melds = deal.tables[player].melds
    meld = extended(melds[index], card, end)
    assert meld is not None
    after = _played(deal, (card,), with_entry(melds, index, meld))
    return _after_play(
        State(state.match, after), SentEvent(Extended(player, index, card, end)), deals
    )


def _discard(state: State, card: Card, deals: Deals) -> Step:
    deal, player = state.deal, state.deal.turn
    played = _played(deal, (card,), deal.tables[player].melds)
    piles = Piles(deal.piles.stock, (*deal.piles.pile, card), deal.piles.rebuilds)
    deal = Deal(Phase.PLAY, player, played.hands, played.known, played.tables, piles, None)
    after, discarded = State(state.match, deal), SentEvent(Discarded(player, card))
    if deal.hands[player]:
        following, events = _begin_turn(after, _next(state, player), deals)
    else:
        following, events = _end_hand(after, player, deals)
    return Step(following, (discarded, *events))


def _played(deal: Deal, cards: CardList, melds: tuple[TableMeld, ...]) -> Deal:
    player = deal.turn
    hand, known = deal.hands[player], deal.known[player]
    hand, known = without(hand, cards), without(known, cards)
    return Deal(
        deal.phase,
        player,
        with_entry(deal.hands, player, hand),
        with_entry(deal.known, player, known),
        deal.tables
        if melds is deal.tables[player].melds
        else with_entry(deal.tables, player, Table(melds)),
        deal.piles,
        deal.drawn,
    )


def _after_play(state: State, happened: SentEvent, deals: Deals) -> Step:
    """Continue the turn of the seat, unless it went out."""
    player = state.deal.turn
    if state.deal.hands[player]:
        return Step(state, (happened,))
    following, events = _end_hand(state, player, deals)
    return Step(following, (happened, *events))


def _end_hand(state: State, out: Seat | None, deals: Deals) -> Step:
    match, deal = state.match, state.deal
    points = tuple(
        hand_points(table, hand) + (OUT_POINTS if seat == out else 0)
        for seat, (table, hand) in enumerate(zip(deal.tables, deal.hands, strict=True))
    )
    totals = tuple([had + won for had, won in zip(match.totals, points, strict=True)])
    hand_scores = (*match.hand_scores, points)
    melded = tuple(map(melded_points, deal.tables))
    lost = tuple(map(held_points, deal.hands))
    scored = SentEvent(Scored(match.hand, out, deal.hands, melded, lost, points, totals))
    if is_over(match.options, match.hand + 1, totals):
        last = Deal(
            Phase.OVER, deal.turn, deal.hands, deal.known, deal.tables, deal.piles, deal.drawn
        )
        return Step(State(Match(match.options, match.hand, totals, hand_scores), last), (scored,))
    dealt, events = deal_hand(Match(match.options, match.hand + 1, totals, hand_scores), deals)
    return Step(dealt, (scored, *events))
