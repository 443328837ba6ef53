"""A round of poker betting: fixed limit, spread limit, pot-limit and no-limit.

Soko and the Pineapple games follow the same rulings, numbered B1 to B12. The variables of one round:

| variable         | meaning                                                     |
|------------------|-------------------------------------------------------------|
| `Price.to_match` | the total that a seat must reach in the round               |
| `Limits.least`   | the smallest full bet; in fixed limit the size of every bet |
| `Limits.most`    | the largest bet or raise of a spread limit                  |
| `Price.size`     | the size of the last full bet or raise                      |
| `Price.level`    | the total of the last full bet or raise                     |
| `Round.pending`  | the seats that are still to act, in order                   |

A game makes a round with `begin`, plays each move with `act` until no seat is `pending`, and moves the
bets into the pot with `collect`. Amounts are chips. `to` is always a seat's total in the round, not the
amount that it adds.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from arena.games.betting.moves import (
    CALL_OR_FOLD,
    CHECK,
    FOLD,
    ONLY_CHECK,
    Bet,
    BettingMove,
    Call,
    Check,
    Choices,
    Fold,
    Raise,
    wagers,
)
from arena.games.contract import IllegalMove, Seat, with_entry
from arena.games.frozen import Frozen


class Structure(StrEnum):
    """The betting structure."""

    FIXED = "fixed"
    """Every bet and raise has one size."""
    SPREAD = "spread"
    """Bets and raises are between a smallest and a largest size."""
    POT = "pot"
    """Bets and raises are between a smallest size and the pot."""
    NOLIMIT = "nolimit"
    """Bets and raises are between a smallest size and the whole stack."""


class Limits(Frozen):
    """The limits of one round."""

    structure: Structure
    least: int
    """The smallest full bet; in fixed limit the size of every bet."""
    most: int
    """The largest bet or raise of a spread limit; the bet of a fixed limit; otherwise 0."""
    max_raises: int | None
    """The number of raises after the bet, also between two seats (B6); None without a cap."""


class Chips(Frozen):
    """The chips of a hand, by seat. They are public."""

    stacks: tuple[int, ...]
    """Chips that are not bet."""
    bets: tuple[int, ...]
    paid: tuple[int, ...]
    """Antes and the bets of earlier rounds."""


class Price(Frozen):
    """The level of the bets in a round."""

    to_match: int
    """The total to match; a blind or bring-in counts in full, even if it was posted short (B9)."""
    size: int
    """The size of the last full bet or raise; before the first one, the smallest bet."""
    level: int
    """The total of the last full bet or raise; before the first one, 0."""
    full_bets: int
    """The number of full bets and raises so far, including a big blind and a full bring-in."""


class Round(Frozen):
    """A round between two moves, and the options of the seat to act."""

    limits: Limits
    chips: Chips
    live: tuple[Seat, ...]
    """Seats that have not folded, in seat order; some may be all-in."""
    pending: tuple[Seat, ...]
    """Seats still to act, the next one first; empty when the round is over."""
    price: Price
    answered: tuple[int, ...]
    """By seat, the total to match when it last acted; `_FREE` if it has not acted since the last full
    bet or raise, so that it may raise in any case (B4)."""
    to_call: int
    """Chips that a call adds; 0 if the seat to act may check."""
    min_to: int | None
    """The smallest total of a bet or raise; None if no wager is allowed."""
    max_to: int | None
    """The largest total."""


_FREE: Final = -1


def unopened(limits: Limits) -> Price:
    """Return the price before the first bet."""
    return Price(0, limits.least, 0, 0)


def opened(limits: Limits, to: int) -> Price:
    """Return the price after a blind or bring-in of `to`; below the smallest bet it is no full bet (B6)."""
    if to < limits.least:
        return Price(to, limits.least, 0, 0)
    return Price(to, to, to, 1)


def begin(
    limits: Limits,
    chips: Chips,
    live: tuple[Seat, ...],
    order: Sequence[Seat],
    price: Price,
    posted: Seat | None = None,
) -> Round:
    """Return a round in which the seats of `order` that have chips act.

    `posted` is the seat whose bring-in counts as an action; posting a blind does not.
    """
    stacks = chips.stacks
    pending = tuple([player for player in order if stacks[player]])
    answered = [_FREE] * len(stacks)
    if posted is not None:
        answered[posted] = price.to_match
    return _round(limits, chips, live, pending, price, tuple(answered))


def closed(limits: Limits, chips: Chips, live: tuple[Seat, ...]) -> Round:
    """Return a round without seats to act."""
    return Round(limits, chips, live, (), unopened(limits), (), 0, None, None)


def act(betting: Round, move: BettingMove) -> Round:
    """Return the round after a move of the seat to act. Raises `IllegalMove` if the move is illegal."""
    if not betting.pending:
        raise IllegalMove("no seat is to bet now")
    player, pending, answered = betting.pending[0], betting.pending[1:], betting.answered
    limits, chips, live, price = betting.limits, betting.chips, betting.live, betting.price
    to_call = betting.to_call
    kind = type(move)
    if kind is Call and to_call:
        chips = put_in(chips, player, to_call)
    elif kind is Fold and to_call:
        live = tuple([other for other in live if other != player])
    elif kind is Check and not to_call:
        pass
    elif kind is Bet or kind is Raise:
        to = _checked(betting, move)
        chips = put_in(chips, player, to - chips.bets[player])
        before, price = price, _price_after(limits, price, to)
        if price.full_bets > before.full_bets:
            answered = (_FREE,) * len(answered)
        at, stacks = live.index(player), chips.stacks
        pending = tuple([other for other in live[at + 1 :] + live[:at] if stacks[other]])
    else:
        raise IllegalMove("call or fold" if to_call else "there is nothing to call")
    answered = with_entry(answered, player, price.to_match)
    return _round(limits, chips, live, pending, price, answered)


def choices(betting: Round) -> Choices:
    """Return the legal moves of the seat to act. Raises `IllegalMove` if the round is over."""
    if not betting.pending:
        raise IllegalMove("no seat is to bet now")
    to_match, low, high = betting.price.to_match, betting.min_to, betting.max_to
    if low is None or high is None:
        return CALL_OR_FOLD if betting.to_call else ONLY_CHECK
    half_to = pot_to = 0
    if low < high:
        pot = _pot_after_call(betting.chips, betting.to_call)
        half_to, pot_to = to_match + pot // 2, to_match + pot
    return wagers(betting.to_call > 0, to_match == 0, low, high, half_to, pot_to)


def collect(betting: Round) -> tuple[Chips, Seat | None]:
    """Return the chips after the round, and the seat that got an uncalled bet back, if any (B8).

    The uncalled part of the highest bet is its excess over the next highest, folded bets included.
    """
    chips = betting.chips
    bets, stacks = chips.bets, chips.stacks
    top, owner = max(bets), None
    if not top:
        return chips, None
    if bets.count(top) == 1:
        player = Seat(bets.index(top))
        uncalled = top - max([bet for other, bet in enumerate(bets) if other != player])
        chips, owner = put_in(chips, player, -uncalled), player
        bets, stacks = chips.bets, chips.stacks
    paid = tuple([before + bet for before, bet in zip(chips.paid, bets, strict=True)])
    return Chips(stacks, (0,) * len(bets), paid), owner


def post(stacks: Sequence[int], ante: int, blinds: Iterable[tuple[Seat, int]] = ()) -> Chips:
    """Return the chips of a new hand after antes and blinds; a short stack is posted whole (B9)."""
    behind, bets, paid = list(stacks), [0] * len(stacks), [0] * len(stacks)
    if ante:
        paid = [min(ante, stack) for stack in stacks]
        behind = [stack - part for stack, part in zip(stacks, paid, strict=True)]
    for player, blind in blinds:
        bets[player] = min(blind, behind[player])
        behind[player] -= bets[player]
    return Chips(tuple(behind), tuple(bets), tuple(paid))


def put_in(chips: Chips, seat: Seat, amount: int) -> Chips:
    """Return the chips after a seat has put `amount` more into this round."""
    stacks, bets = list(chips.stacks), list(chips.bets)
    stacks[seat] -= amount
    bets[seat] += amount
    return Chips(tuple(stacks), tuple(bets), chips.paid)


def fallback(betting: Round) -> BettingMove:
    """Return the move for a seat that does not answer: check, or else fold (B1)."""
    return FOLD if betting.to_call else CHECK


@lru_cache(maxsize=1 << 12)
def clockwise(seats: tuple[Seat, ...], after: Seat) -> tuple[Seat, ...]:
    """Return seats, given in seat order, clockwise from the one after seat `after`, which is last."""
    return tuple(
        [player for player in seats if player > after]
        + [player for player in seats if player <= after]
    )


def able(chips: Chips, seats: tuple[Seat, ...]) -> bool:
    """Return whether two or more of the seats have chips, so that there is betting (B7)."""
    stacks = chips.stacks
    return len([player for player in seats if stacks[player]]) > 1


def _round(
    limits: Limits,
    chips: Chips,
    live: tuple[Seat, ...],
    pending: tuple[Seat, ...],
    price: Price,
    answered: tuple[int, ...],
) -> Round:
    if not pending or len(live) == 1:
        return Round(limits, chips, live, (), price, answered, 0, None, None)
    player, stacks, bets = pending[0], chips.stacks, chips.bets
    bet, stack, to_match = bets[player], stacks[player], price.to_match
    # The highest total that another seat can still reach.
    reach = 0
    for other in live:
        if other != player and stacks[other]:
            reach = max(reach, bets[other] + stacks[other])
    if reach == 0 and bet >= max(bets):
        # There is no opponent with chips (B7).
        return Round(limits, chips, live, (), price, answered, 0, None, None)
    low = high = None
    if (
        reach > to_match < bet + stack
        and (limits.max_raises is None or price.full_bets <= limits.max_raises)
        and _may_raise(price, answered[player])
    ):
        low, high = span(limits, price, chips, player)
    to_call = min(to_match - bet, stack)
    return Round(limits, chips, live, pending, price, answered, to_call, low, high)


def _may_raise(price: Price, answered: int) -> bool:
    """Return whether a seat may raise that last acted when `answered` was to match (B4)."""
    # Short all-in raises add up. In fixed limit those below half a bet never add up to a bet.
    return answered == _FREE or price.to_match - answered >= price.size


def span(limits: Limits, price: Price, chips: Chips, seat: Seat) -> tuple[int, int]:
    """Return the smallest and largest total of a wager of a seat (B3, B5)."""
    to_match, bet = price.to_match, chips.bets[seat]
    whole = bet + chips.stacks[seat]
    if limits.structure is Structure.FIXED:
        # After an all-in below half a bet the raise completes it, to the same total.
        low = high = price.level + limits.least
    elif to_match < limits.least:
        low, high = limits.least, limits.most  # the completion, or the bet
    else:
        low, high = to_match + price.size, to_match + limits.most
    if limits.structure is Structure.NOLIMIT:
        high = whole
    elif limits.structure is Structure.POT:
        # The smallest wager is allowed even if the pot is smaller.
        high = max(low, to_match + _pot_after_call(chips, to_match - bet))
    return min(low, whole), min(high, whole)


def _pot_after_call(chips: Chips, to_call: int) -> int:
    return sum(chips.paid) + sum(chips.bets) + to_call


def _price_after(limits: Limits, price: Price, to: int) -> Price:
    """Return the price after a wager; a wager that is not full changes only the total to match."""
    to_match, size = price.to_match, price.size
    if limits.structure is Structure.FIXED:
        # An all-in of half a bet or more counts as a bet (B5).
        full = 2 * (to - price.level) >= limits.least
    elif to_match < limits.least:
        full, size = to >= limits.least, to
    else:
        full, size = to - to_match >= size, to - to_match
    if full:
        return Price(to, size, to, price.full_bets + 1)
    return Price(to, price.size, price.level, price.full_bets)


def _checked(betting: Round, move: BettingMove) -> int:
    """Return the total of a wager if it is legal. Raises `IllegalMove` naming the legal totals."""
    low, high = betting.min_to, betting.max_to
    if low is None or high is None:
        raise IllegalMove("no bet or raise is allowed here")
    opens = betting.price.to_match == 0
    if not isinstance(move, Bet if opens else Raise) or not low <= move.to <= high:
        raise IllegalMove(f"{'bet' if opens else 'raise to'} from {low} to {high}")
    return move.to
