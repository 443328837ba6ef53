"""Move the chips at the end of a betting round and of a hand."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from arena.games.betting.match import (
    Action,
    HandEnded,
    Match,
    Scores,
    UncalledReturned,
    score_hand,
)
from arena.games.betting.moves import Bet, Call, Check, Fold, Raise
from arena.games.betting.rounds import Chips, Round, collect
from arena.games.contract import SentEvent

ACTIONS: Final[Mapping[type, Action]] = {
    Fold: Action.FOLD,
    Check: Action.CHECK,
    Call: Action.CALL,
    Bet: Action.BET,
    Raise: Action.RAISE,
}
"""The action of each betting move."""


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
    """Return scores and chips after the pots are paid out, and the events of it."""
    shares = [each.shares for each in won]
    stacks = tuple([sum(parts) for parts in zip(chips.stacks, *shares, strict=True)])
    scores = score_hand(match, stacks)
    ended = SentEvent(HandEnded(match.hand, scores.hands[-1], scores.totals))
    nothing = (0,) * len(stacks)
    return scores, Chips(stacks, nothing, nothing), (*[SentEvent(each) for each in won], ended)
