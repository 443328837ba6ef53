"""Democracy, for two to six seats that play at the same time.

Source: Denexa's description. Rulings are numbered R1 to R11. A hand is an island of two days. In each
trick the top card of the voting pool is turned up; its suit is trump for this trick only. Every seat then
plays any card of its hand face down, and the cards are shown together.

| played                      | captures                                        |
|-----------------------------|-------------------------------------------------|
| a trump                     | the highest trump takes the cards and the upcard |
| both 5 and 6 of trump       | the 6 takes them                                |
| no trump, one highest rank  | that card takes them                            |
| no trump, a tie for highest | each seat its own card; the upcard is discarded |

Thirteen captured points of a suit are its tribe, worth 1 at the island's end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.games.cards import JOKER, SUITS, Card, pack
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
from arena.games.democracy.messages import (
    HAND_ORDER,
    PLAYS,
    RANKING,
    SIZES,
    TIE,
    DayBegan,
    Dealt,
    Island,
    Move,
    Options,
    Phase,
    Scored,
    Shown,
    TurnedUp,
    View,
)
from arena.games.democracy.scoring import capture, tribes_of, trick_winner, unplayed
from arena.games.options import check_match, match_is_over, race_result


@dataclass(frozen=True, slots=True)
class Match:
    options: Options
    seats: tuple[Seat, ...]
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """The cards of a day, and those still to be dealt."""

    number: int
    hands: tuple[tuple[Card, ...], ...]
    """By seat, each hand in order."""
    pool: tuple[Card, ...]
    """The upcard first."""
    undealt: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match between two tricks."""

    match: Match
    island: Island
    day: Day


PACKS: Final = {seats: pack(RANKING, jokers=sizes.jokers) for seats, sizes in SIZES.items()}


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first island.

    Raises `BadOptions` unless there are 2 to 6 seats and `hands` is a multiple of them.
    """
    check_match("Democracy", tuple(SIZES), seats, options.hands)
    everybody = tuple(Seat(number) for number in range(seats))
    return _begin_island(Match(options, everybody, 0, (), (0,) * seats), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Play a trick: one card of every seat.

    Raises `IllegalMove` if a card is not in the hand of its seat, or a move is missing.
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
    shown = SentEvent(Shown(upcard, cards, TIE if winner is None else winner))
    if left[0]:
        pool = day.pool[1:]
        after = State(state.match, island, Day(day.number, left, pool, day.undealt))
        return Step(after, (shown, SentEvent(TurnedUp(pool[0]))))
    if day.undealt:
        dealt, events = _begin_day(state.match, island, 2, day.undealt)
        return Step(dealt, (shown, *events))
    scored, events = _end_island(State(state.match, island, Day(day.number, left, (), ())), deals)
    return Step(scored, (shown, *events))


def to_act(state: State) -> tuple[Seat, ...]:
    """Return all seats, also if they have only one card left (R2)."""
    return state.match.seats if state.day.pool else ()


def moves(state: State, seat: Seat) -> Listed:
    """Return the cards of the hand in order, equal jokers once."""
    hand = state.day.hands[seat]
    if hand[-2:] == (JOKER, JOKER):
        hand = hand[:-1]
    return Listed(tuple(PLAYS[card] for card in hand))


def view(state: State, seat: Seat | None) -> View:
    """Return what a seat may know; a spectator sees no hand."""
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
    """Return the lowest card: by rank from 6 to 5, then clubs to spades, jokers last."""
    return PLAYS[state.day.hands[seat][0]]


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    """Return tribes and places; equal totals share a place (R9)."""
    if to_act(state):
        return None
    return race_result(state.match)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return one tribe for each suit of each island; None for a race."""
    return options.hands * len(SUITS) or None


def is_over(options: Options, islands_played: int, totals: Sequence[int]) -> bool:
    """Return whether a completed island ends the match (R8, R9)."""
    return match_is_over(options, islands_played, totals)


def _dealer(match: Match) -> Seat:
    return match.seats[match.hand % len(match.seats)]


def _without(hand: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    if card not in hand:
        raise IllegalMove("play a card of your hand")
    at = hand.index(card)
    return hand[:at] + hand[at + 1 :]


def _begin_island(match: Match, deals: Deals) -> Step:
    seats = len(match.seats)
    deck = deals.shuffle(match.hand, "deck", PACKS[seats])
    return _begin_day(match, unplayed(seats), 1, deck)


def _begin_day(match: Match, island: Island, number: int, deck: tuple[Card, ...]) -> Step:
    """Deal a day singly from the dealer's left, to the pool last in each round (R10)."""
    seats, dealer = len(match.seats), _dealer(match)
    sizes = SIZES[seats]
    size = sizes.first_day if number == 1 else sizes.second_day
    cut = size * (seats + 1)
    dealt, rest = deck[:cut], deck[cut:]
    hands = tuple(
        tuple(sorted(dealt[(player - dealer - 1) % seats :: seats + 1], key=HAND_ORDER.__getitem__))
        for player in match.seats
    )
    # Day 2 uses all cards that are left, so `rest` is empty after it.
    day = Day(number, hands, dealt[seats :: seats + 1], rest)
    events = (
        SentEvent(DayBegan(match.hand, number, dealer, size)),
        *(SentEvent(Dealt(player, hands[player]), (player,)) for player in match.seats),
        SentEvent(TurnedUp(day.pool[0])),
    )
    return Step(State(match, island, day), events)


def _end_island(state: State, deals: Deals) -> Step:
    match, points = state.match, state.island.points
    tribes = tuple(len(tribes_of(captured)) for captured in points)
    totals = tuple(had + won for had, won in zip(match.totals, tribes, strict=True))
    scores = (*match.hand_scores, tribes)
    scored = SentEvent(Scored(match.hand, points, tribes, totals))
    if is_over(match.options, len(scores), totals):
        ended = Match(match.options, match.seats, match.hand, scores, totals)
        return Step(State(ended, state.island, state.day), (scored,))
    following = Match(match.options, match.seats, match.hand + 1, scores, totals)
    dealt, events = _begin_island(following, deals)
    return Step(dealt, (scored, *events))
