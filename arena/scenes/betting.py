"""Parts of the scenes of poker games: stacks, bets, pots and last actions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from arena.games.betting.match import Acted, Action, HandEnded, Line, UncalledReturned
from arena.games.betting.pots import pots_of
from arena.games.betting.rounds import Chips as Stacks
from arena.games.betting.rounds import put_in
from arena.games.contract import Event, Seat
from arena.scenes import drawing as draw
from arena.scenes import vocabulary
from arena.scenes.sentences import Sentences, by_seat, joined, line, listed, names
from arena.scenes.vocabulary import Chips, Fact, Tone, Word, Zone, ZoneKind


class Won(Protocol):
    """The event of a divided pot, in any game."""

    @property
    def amount(self) -> int: ...
    @property
    def eligible(self) -> tuple[Seat, ...]: ...
    @property
    def winners(self) -> tuple[Seat, ...]: ...
    @property
    def shares(self) -> tuple[int, ...]: ...


_DID: Final = {
    Action.FOLD: "folds",
    Action.CHECK: "checks",
    Action.CALL: "calls",
    Action.BET: "bets",
    Action.RAISE: "raises to",
}
_SAYS_HOW_MUCH: Final = (Action.BET, Action.RAISE)

SENTENCES: Final[Sentences] = {
    Acted: lambda event: f"{{seat}} {_did(event.action, event.to)}.",
    UncalledReturned: "{amount} that nobody called go back to {seat}.",
    HandEnded: lambda event: joined(_sums(event)),
}


def _sums(event: HandEnded) -> tuple[vocabulary.Line, ...]:
    """Return the chips won and lost in a hand and in the match."""
    return (
        line("This hand: ", *by_seat(event.nets, signed=True), "."),
        line("In all: ", *by_seat(event.totals, signed=True), "."),
    )


def shared_out(won: Won) -> vocabulary.Line:
    """Return the shares of a pot."""
    takers = [
        line(vocabulary.Name(Seat(seat)), f" {share}")
        for seat, share in enumerate(won.shares)
        if share
    ]
    return listed(takers)


def chips_after(chips: Stacks, event: Event) -> Stacks:
    """Return the chips after an event of the betting."""
    match event:
        case Acted(seat, _, to):
            return put_in(chips, seat, to - chips.bets[seat])
        case UncalledReturned(seat, amount):
            return put_in(chips, seat, -amount)
    return chips


def paid_out(chips: Stacks, won: Sequence[Won]) -> Stacks:
    """Return the chips after the pots are paid out."""
    paid = tuple(map(sum, zip(chips.paid, chips.bets, strict=True)))
    stacks = tuple(map(sum, zip(chips.stacks, *(each.shares for each in won), strict=True)))
    return Stacks(stacks, (0,) * len(paid), paid)


def line_after(so_far: Line, event: Event) -> Line:
    """Return the betting so far with one more action."""
    if not isinstance(event, Acted):
        return so_far
    return replace(
        so_far,
        seats=(*so_far.seats, event.seat),
        actions=(*so_far.actions, event.action),
        tos=(*so_far.tos, event.to),
    )


def last_action(so_far: Line, seat: Seat) -> Zone:
    """Return the last action of a seat: plain in this round, dim from an earlier one."""
    at = max((at for at, each in enumerate(so_far.seats) if each == seat), default=None)
    if at is None:
        return Zone("said", ZoneKind.SAID, ())
    action = so_far.actions[at]
    now = at >= so_far.starts[-1] and action is not Action.FOLD
    text = _did(action, so_far.tos[at])
    return Zone("said", ZoneKind.SAID, (Word((text,), Tone.PLAIN if now else Tone.DIM),))


def _did(action: Action, to: int) -> str:
    return f"{_DID[action]} {to}" if action in _SAYS_HOW_MUCH else _DID[action]


def bet(chips: Stacks, seat: Seat) -> Zone:
    """Return the bet of a seat in this round."""
    amount = chips.bets[seat]
    items = (Chips(amount, ("bet",)),) if amount else ()
    return Zone("bet", ZoneKind.CHIPS, items)


def pots(chips: Stacks, live: Sequence[Seat], won: Sequence[Won]) -> Zone:
    """Return the pots: with winners at the end, before it with the seats of side pots."""
    if won:
        items = tuple(
            Chips(each.amount, line("to ", *shared_out(each)), Tone.MARKED) for each in won
        )
        return Zone("pots", ZoneKind.CHIPS, items)
    found = pots_of(chips.paid, live)
    if len(found) > 1:
        items = tuple(
            Chips(each.amount, line("side pot of " if at else "pot of ", *names(each.eligible)))
            for at, each in enumerate(found)
            if each.amount
        )
        return Zone("pots", ZoneKind.CHIPS, items)
    inside = sum(chips.paid)
    bets = sum(chips.bets)
    amounts = [Chips(inside, ("in the pot",))] if inside or not bets else []
    if bets:
        amounts.append(Chips(bets, ("bet in this round",)))
    return Zone("pots", ZoneKind.CHIPS, tuple(amounts))


def stack(chips: Stacks, seat: Seat, ended: HandEnded | None) -> tuple[Fact, ...]:
    """Return the stack of a seat, and the chips it won or lost in a hand that ended."""
    behind = draw.fact("stack", chips.stacks[seat])
    if ended is None:
        return (behind,)
    return (behind, draw.gain("this hand", ended.nets[seat]))
