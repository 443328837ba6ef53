"""A round of poker betting: fixed limit, spread limit and no-limit.

Soko and the Pineapples bet by the same rules, which the digest's rulings B1 to
B9 fix; they are cited by number. In their words, for one round:

| ruling | here                 | meaning                                              |
|--------|----------------------|------------------------------------------------------|
| `C`    | `Price.to_match`     | what a seat's total of the round must come to        |
| `M`    | `Limits.least`       | the smallest full bet; in fixed limit every bet, `B` |
| `X`    | `Limits.most`        | the largest bet or raise of a spread limit           |
| `R`    | `Price.size`         | size of the last full bet or raise                   |
| `L`    | `Price.level`        | the total that the last full bet or raise came to    |
|        | `Round.pending`      | the seats that are still to act, in order            |

A game makes a round with `begin`, plays each move with `act` until nobody
is `pending`, and takes the chips out with `collect`. Amounts are chips. What is called
`to` is a seat's total of the round, not what it adds.
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
from arena.games.contract import IllegalMove, Seat
from arena.games.values import value


class Structure(StrEnum):
    """How bets are limited."""

    FIXED = "fixed"
    """Every bet and raise has one size."""
    SPREAD = "spread"
    """From a smallest to a largest size."""
    NOLIMIT = "nolimit"
    """From a smallest size to the whole stack."""


@value(frozen=True, slots=True)
class Limits:
    """The limits of one round."""

    structure: Structure
    least: int
    """The smallest full bet; in fixed limit the size of all."""
    most: int
    """The largest bet or raise of a spread limit; not used otherwise."""
    max_raises: int
    """Raises after the bet, also between two seats (B6); not used in no-limit."""


@value(frozen=True, slots=True)
class Chips:
    """Where the chips of a hand are, by seat. All of it is public."""

    stacks: tuple[int, ...]
    """Chips behind."""
    bets: tuple[int, ...]
    """Put in during this round."""
    paid: tuple[int, ...]
    """Put in before: antes and earlier rounds."""


@value(frozen=True, slots=True)
class Price:
    """What the bets of a round have come to."""

    to_match: int
    """The total to match; a blind or bring-in counts in full, even if posted short (B9)."""
    size: int
    """Of the last full bet or raise; the smallest bet before there is one."""
    level: int
    """The total of the last full bet or raise, 0 before there is one."""
    full_bets: int
    """Full bets and raises so far, a big blind and a full bring-in among them."""


@value(frozen=True, slots=True)
class Round:
    """A round between two moves, and what the seat to act may do with its chips."""

    limits: Limits
    chips: Chips
    live: tuple[Seat, ...]
    """Seats that have not folded, in seat order; some may be all-in."""
    pending: tuple[Seat, ...]
    """Seats still to act, the next one first; none when the round is over."""
    price: Price
    answered: tuple[int, ...]
    """By seat, the total to match when it last acted; `_FREE` if it has not
    acted, or a full bet or raise came since: only then it may always raise (B4)."""
    to_call: int
    """Chips that a call adds; 0 where the seat to act may check instead."""
    min_to: int | None
    """The smallest total of a bet or raise; None if neither is allowed."""
    max_to: int | None
    """The largest."""


_FREE: Final = -1


def unopened(limits: Limits) -> Price:
    """The price before anything is bet."""
    return Price(0, limits.least, 0, 0)


def opened(limits: Limits, to: int) -> Price:
    """The price after a blind or a bring-in of `to`: below the minimum it is no full bet (B6)."""
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
    """A round in which the seats of `order` act, those without chips left out.

    `posted` is the seat whose bring-in counts as having acted; a blind does not.
    """
    stacks = chips.stacks
    pending = tuple([seat for seat in order if stacks[seat]])
    answered = [_FREE] * len(stacks)
    if posted is not None:
        answered[posted] = price.to_match
    return _round(limits, chips, live, pending, price, tuple(answered))


def closed(limits: Limits, chips: Chips, live: tuple[Seat, ...]) -> Round:
    """A round in which nobody is to act."""
    return Round(limits, chips, live, (), unopened(limits), (), 0, None, None)


def act(betting: Round, move: BettingMove) -> Round:
    """The round after the move of the seat to act.

    Raises:
      IllegalMove: if the seat may not do that.
    """
    if not betting.pending:
        raise IllegalMove("nobody is to bet now")
    seat, pending, answered = betting.pending[0], betting.pending[1:], betting.answered
    limits, chips, live, price = betting.limits, betting.chips, betting.live, betting.price
    to_call = betting.to_call
    kind = type(move)
    if kind is Call and to_call:
        chips = put_in(chips, seat, to_call)
    elif kind is Fold and to_call:
        live = tuple([other for other in live if other != seat])
    elif kind is Check and not to_call:
        pass
    elif kind is Bet or kind is Raise:
        to = _checked(betting, move)
        chips = put_in(chips, seat, to - chips.bets[seat])
        before, price = price, _price_after(limits, price, to)
        if price.full_bets > before.full_bets:
            answered = (_FREE,) * len(answered)
        at, stacks = live.index(seat), chips.stacks
        pending = tuple([other for other in live[at + 1 :] + live[:at] if stacks[other]])
    else:
        raise IllegalMove("call or fold" if to_call else "there is nothing to call")
    answered = (*answered[:seat], price.to_match, *answered[seat + 1 :])
    return _round(limits, chips, live, pending, price, answered)


def choices(betting: Round) -> Choices:
    """The moves of the seat to act.

    Raises:
      IllegalMove: if the round is over.
    """
    if not betting.pending:
        raise IllegalMove("nobody is to bet now")
    to_match, low, high = betting.price.to_match, betting.min_to, betting.max_to
    if low is None or high is None:
        return CALL_OR_FOLD if betting.to_call else ONLY_CHECK
    half_to = pot_to = 0
    if low < high:
        # A raise by the pot is sized after the call that it contains.
        pot = sum(betting.chips.paid) + sum(betting.chips.bets) + betting.to_call
        half_to, pot_to = to_match + pot // 2, to_match + pot
    return wagers(betting.to_call > 0, to_match == 0, low, high, half_to, pot_to)


def collect(betting: Round) -> tuple[Chips, Seat | None]:
    """The chips after the round, and the seat that got an uncalled part back, if any (B8).

    What the highest bet has over the next one, folded bets included, was called
    by nobody.
    """
    chips = betting.chips
    bets, stacks = chips.bets, chips.stacks
    top, owner = max(bets), None
    if not top:
        return chips, None
    if bets.count(top) == 1:
        seat = Seat(bets.index(top))
        uncalled = top - max([bet for other, bet in enumerate(bets) if other != seat])
        chips, owner = put_in(chips, seat, -uncalled), seat
        bets, stacks = chips.bets, chips.stacks
    paid = tuple([before + bet for before, bet in zip(chips.paid, bets, strict=True)])
    return Chips(stacks, (0,) * len(bets), paid), owner


def post(stacks: Sequence[int], ante: int, blinds: Iterable[tuple[Seat, int]] = ()) -> Chips:
    """The chips of a new hand: each post is of the whole stack, if that is less (B9)."""
    behind, bets, paid = list(stacks), [0] * len(stacks), [0] * len(stacks)
    if ante:
        paid = [min(ante, stack) for stack in stacks]
        behind = [stack - part for stack, part in zip(stacks, paid, strict=True)]
    for seat, blind in blinds:
        bets[seat] = min(blind, behind[seat])
        behind[seat] -= bets[seat]
    return Chips(tuple(behind), tuple(bets), tuple(paid))


def put_in(chips: Chips, seat: Seat, amount: int) -> Chips:
    """The chips after a seat has put in so many more in this round."""
    stacks, bets = list(chips.stacks), list(chips.bets)
    stacks[seat] -= amount
    bets[seat] += amount
    return Chips(tuple(stacks), tuple(bets), chips.paid)


def fallback(betting: Round) -> BettingMove:
    """What is played for a seat that does not answer: check, or else fold (B1)."""
    return FOLD if betting.to_call else CHECK


@lru_cache(maxsize=1 << 12)
def clockwise(seats: tuple[Seat, ...], after: Seat) -> tuple[Seat, ...]:
    """Seats given in seat order, as they follow the seat `after`, which comes last."""
    return tuple(
        [seat for seat in seats if seat > after] + [seat for seat in seats if seat <= after]
    )


def able(chips: Chips, seats: tuple[Seat, ...]) -> bool:
    """Whether two of the seats have chips, so that there is betting at all (B7)."""
    stacks = chips.stacks
    return len([seat for seat in seats if stacks[seat]]) > 1


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
    seat, stacks, bets = pending[0], chips.stacks, chips.bets
    bet, stack, to_match = bets[seat], stacks[seat], price.to_match
    # The most that another seat could still come to.
    reach = 0
    for other in live:
        if other != seat and stacks[other]:
            reach = max(reach, bets[other] + stacks[other])
    if reach == 0 and bet >= max(bets):
        # Nobody to bet against (B7).
        return Round(limits, chips, live, (), price, answered, 0, None, None)
    low = high = None
    if (
        reach > to_match < bet + stack
        and (limits.structure is Structure.NOLIMIT or price.full_bets <= limits.max_raises)
        and _may_raise(price, answered[seat])
    ):
        low, high = _span(limits, price, bet + stack)
    to_call = min(to_match - bet, stack)
    return Round(limits, chips, live, pending, price, answered, to_call, low, high)


def _may_raise(price: Price, answered: int) -> bool:
    """Whether a seat that last acted at the price `answered` may raise (again) (B4)."""
    # Short all-ins add up; in fixed limit those that count for nothing never come to a bet.
    return answered == _FREE or price.to_match - answered >= price.size


def _span(limits: Limits, price: Price, whole: int) -> tuple[int, int]:
    """The smallest and largest total of a wager, for a seat that can come to `whole` (B3, B5)."""
    to_match = price.to_match
    if limits.structure is Structure.FIXED:
        # Past an all-in that counts for nothing the raise completes, to the same total.
        low = high = price.level + limits.least
    elif to_match < limits.least:
        low, high = limits.least, limits.most  # the completion, or the bet
    else:
        low, high = to_match + price.size, to_match + limits.most
    if limits.structure is Structure.NOLIMIT:
        high = whole
    return min(low, whole), min(high, whole)


def _price_after(limits: Limits, price: Price, to: int) -> Price:
    """The price after a wager; only a full one changes more than what is to be matched."""
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
    """The total of a wager that the seat may make.

    Raises:
      IllegalMove: saying which wagers it may make.
    """
    low, high = betting.min_to, betting.max_to
    if low is None or high is None:
        raise IllegalMove("no bet or raise is allowed here")
    opens = betting.price.to_match == 0
    if not isinstance(move, Bet if opens else Raise) or not low <= move.to <= high:
        raise IllegalMove(f"{'bet' if opens else 'raise to'} from {low} to {high}")
    return move.to
