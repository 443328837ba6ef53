"""The pots of a hand (B10, B11), and the chips at the end of a round and of a hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from arena.games.betting.match import Action, HandEnded, Match, Scores, UncalledReturned, score_hand
from arena.games.betting.moves import Bet, Call, Check, Fold, Raise
from arena.games.betting.rounds import Chips, Round, collect
from arena.games.contract import Seat, SentEvent


@dataclass(frozen=True, slots=True)
class Pot:
    """A pot and the seats that can win it."""

    amount: int
    eligible: tuple[Seat, ...]


def pots_of(paid: Sequence[int], live: Sequence[Seat]) -> tuple[Pot, ...]:
    """Return the main pot and then the side pots (B10).

    `paid` are the chips that each seat has put in, without uncalled chips; `live` are the seats that
    have not folded. Each different total of a live seat is the level of a pot; the chips of folded
    seats are in the pots up to their totals.
    """
    levels = sorted({paid[player] for player in live} - {0})
    pots, below = [], 0
    for level in levels:
        amount = sum([min(part, level) - min(part, below) for part in paid])
        pots.append(Pot(amount, tuple([player for player in live if paid[player] >= level])))
        below = level
    return tuple(pots)


def best_of(seats: Sequence[Seat], value: Sequence[int | None]) -> list[Seat]:
    """Return those of the seats with the highest value; none if all their values are None."""
    highest = max(
        [strength for player in seats if (strength := value[player]) is not None], default=None
    )
    return [] if highest is None else [player for player in seats if value[player] == highest]


def share_out(amount: int, winners: Sequence[Seat], seats: int) -> tuple[int, ...]:
    """Divide `amount` equally among the winners; return the shares by seat.

    The first winners get one odd chip each, so a game orders its winners by its rule for odd chips
    (B11).
    """
    shares = [0] * seats
    share, odd = divmod(amount, len(winners))
    for place, seat in enumerate(winners):
        shares[seat] = share + (place < odd)
    return tuple(shares)


ACTIONS: Final[Mapping[type, Action]] = {
    Fold: Action.FOLD,
    Check: Action.CHECK,
    Call: Action.CALL,
    Bet: Action.BET,
    Raise: Action.RAISE,
}


class SharedPot(Protocol):
    """The event of a divided pot, in any game."""

    @property
    def shares(self) -> tuple[int, ...]: ...


def end_round(ended: Round) -> tuple[Chips, tuple[SentEvent, ...]]:
    """Return the chips after a round, and the event of an uncalled bet, if there is one (B8)."""
    chips, owner = collect(ended)
    if owner is None:
        return chips, ()
    amount = chips.stacks[owner] - ended.chips.stacks[owner]
    return chips, (SentEvent(UncalledReturned(owner, amount)),)


def end_hand(
    match: Match, chips: Chips, won: Sequence[SharedPot]
) -> tuple[Scores, Chips, tuple[SentEvent, ...]]:
    """Return scores and chips after the pots are paid out, and the events of the payment."""
    shares = [pot.shares for pot in won]
    stacks = tuple([sum(parts) for parts in zip(chips.stacks, *shares, strict=True)])
    scores = score_hand(match, stacks)
    ended = SentEvent(HandEnded(match.hand, scores.hands[-1], scores.totals))
    nothing = (0,) * len(stacks)
    return scores, Chips(stacks, nothing, nothing), (*[SentEvent(pot) for pot in won], ended)
