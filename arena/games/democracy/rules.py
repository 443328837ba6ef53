"""Democracy, for two to six seats that all play at once.

Source: Denexa's description; the digest's rulings are cited as R1 to R11. A
hand is an island of two days. A trick turns up the top card of the voting
pool, whose suit is trump for that trick only; every seat then plays any card
of its hand, unseen by the others, and the cards are shown together.

| played                      | who captures                                    |
|-----------------------------|-------------------------------------------------|
| a trump                     | the highest trump takes the cards and the upcard |
| both 5 and 6 of trump       | the 6 takes them                                |
| no trump, one highest rank  | that card takes them                            |
| no trump, a tie for highest | each seat its own card; the upcard is discarded |

Thirteen captured points of a suit are its tribe, worth 1 at the island's end.
"""

from collections.abc import Sequence
from typing import Final

from arena.cards import JOKER, SUITS, Card, pack
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Listed,
    Result,
    Seat,
    Step,
    Told,
    places_of,
    require_to_act,
)
from arena.games.democracy.options import MAX_ISLANDS, SIZES, Options
from arena.games.democracy.scoring import capture, tribes_of, trick_winner, unplayed
from arena.games.democracy.state import Day, Match, State
from arena.games.democracy.words import (
    HAND_ORDER,
    PLAYS,
    RANKING,
    TIE,
    DayBegan,
    Dealt,
    Island,
    Move,
    Phase,
    Scored,
    Shown,
    TurnedUp,
    View,
)
from arena.games.options import check_hands

_PACKS: Final = {seats: pack(RANKING, jokers=sizes.jokers) for seats, sizes in SIZES.items()}


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first island.

    Raises:
      BadOptions: unless there are 2 to 6 seats and `hands` is a multiple of them.
    """
    if seats not in SIZES:
        raise BadOptions(f"Democracy is for 2 to 6 seats, not {seats}")
    check_hands(options.hands, seats)
    everybody = tuple(Seat(seat) for seat in range(seats))
    return _begin_island(Match(options, everybody, 0, (), (0,) * seats), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Show a trick: one card of every seat.

    Raises:
      IllegalMove: if a card is not in its seat's hand, or a seat is missing.
    """
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    cards = tuple(move.card for move in require_to_act(chosen, asked))
    day = state.day
    left = tuple(_without(hand, card) for hand, card in zip(day.hands, cards, strict=True))
    upcard = day.pool[0]
    winner = trick_winner(upcard, cards)
    island = capture(state.island, upcard, cards, winner)
    shown = Told(Shown(upcard, cards, TIE if winner is None else winner))
    if left[0]:
        pool = day.pool[1:]
        after = State(state.match, island, Day(day.number, left, pool, day.undealt))
        return Step(after, (shown, Told(TurnedUp(pool[0]))))
    if day.undealt:
        dealt, told = _begin_day(state.match, island, 2, day.undealt)
        return Step(dealt, (shown, *told))
    scored, told = _end_island(State(state.match, island, Day(day.number, left, (), ())), deals)
    return Step(scored, (shown, *told))


def to_act(state: State) -> tuple[Seat, ...]:
    """All seats, also those with one card left to play (R2)."""
    return state.match.seats if state.day.pool else ()


def moves(state: State, seat: Seat) -> Listed:
    """The cards of the hand in hand order, equal jokers once."""
    hand = state.day.hands[seat]
    if hand[-2:] == (JOKER, JOKER):
        hand = hand[:-1]
    return Listed(tuple(PLAYS[card] for card in hand))


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hand."""
    match, day = state.match, state.day
    pool = day.pool
    return View(
        phase=Phase.PLAY if pool else Phase.OVER,
        hand=match.hand,
        day=day.number,
        dealer=_dealer(match),
        upcard=pool[0] if pool else None,
        held=() if seat is None else day.hands[seat],
        hand_size=len(day.hands[0]),
        pool=len(pool) - 1 if pool else 0,
        undealt=len(day.undealt),
        island=state.island,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """The lowest card: by rank 6 to 5, then clubs to spades, a joker last."""
    return PLAYS[state.day.hands[seat][0]]


def hand_number(state: State) -> int:
    """The island, from 0."""
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    """No step is."""
    return False


def result(state: State) -> Result | None:
    """Tribes and places; equal totals share a place (R9)."""
    if to_act(state):
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """A tribe for each suit of each island; None for a race."""
    return options.hands * len(SUITS) or None


def is_over(options: Options, islands_played: int, totals: Sequence[int]) -> bool:
    """Whether a completed island ends the match (R8, R9)."""
    if options.hands:
        return islands_played >= options.hands
    if islands_played >= MAX_ISLANDS:
        return True
    highest = max(totals)
    return highest >= options.target and totals.count(highest) == 1


def _dealer(match: Match) -> Seat:
    return match.seats[match.hand % len(match.seats)]


def _without(hand: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    if card not in hand:
        raise IllegalMove("play a card of your hand")
    at = hand.index(card)
    return hand[:at] + hand[at + 1 :]


def _begin_island(match: Match, deals: Deals) -> Step:
    seats = len(match.seats)
    deck = deals.shuffle(match.hand, "deck", _PACKS[seats])
    return _begin_day(match, unplayed(seats), 1, deck)


def _begin_day(match: Match, island: Island, number: int, deck: tuple[Card, ...]) -> Step:
    """Deal a day singly from the dealer's left, the pool last in each round (R10)."""
    seats, dealer = len(match.seats), _dealer(match)
    sizes = SIZES[seats]
    each = sizes.first_day if number == 1 else sizes.second_day
    cut = each * (seats + 1)
    dealt, rest = deck[:cut], deck[cut:]
    hands = tuple(
        tuple(sorted(dealt[(seat - dealer - 1) % seats :: seats + 1], key=HAND_ORDER.__getitem__))
        for seat in match.seats
    )
    # After day 2 nothing is left with any number of seats, so `rest` is day 2's cards.
    day = Day(number, hands, dealt[seats :: seats + 1], rest)
    told = (
        Told(DayBegan(match.hand, number, dealer, each)),
        *(Told(Dealt(seat, hands[seat]), (seat,)) for seat in match.seats),
        Told(TurnedUp(day.pool[0])),
    )
    return Step(State(match, island, day), told)


def _end_island(state: State, deals: Deals) -> Step:
    match, points = state.match, state.island.points
    tribes = tuple(len(tribes_of(each)) for each in points)
    totals = tuple(had + won for had, won in zip(match.totals, tribes, strict=True))
    scores = (*match.hand_scores, tribes)
    scored = Told(Scored(match.hand, points, tribes, totals))
    if is_over(match.options, len(scores), totals):
        ended = Match(match.options, match.seats, match.hand, scores, totals)
        return Step(State(ended, state.island, state.day), (scored,))
    following = Match(match.options, match.seats, match.hand + 1, scores, totals)
    dealt, told = _begin_island(following, deals)
    return Step(dealt, (scored, *told))
