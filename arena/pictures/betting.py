"""Parts of the scenes of poker games: stacks, bets, pots and last actions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar

from arena.games.betting.match import Acted, Action, HandEnded, Line, UncalledReturned
from arena.games.betting.moves import Bet, Call, Check, Fold, Raise
from arena.games.betting.pots import pots_of
from arena.games.betting.rounds import Chips as Stacks
from arena.games.betting.rounds import put_in
from arena.games.contract import Event, Seat
from arena.pictures import drawing as draw
from arena.pictures import vocabulary
from arena.pictures.choices import MoveWords
from arena.pictures.sentences import Sentences, by_seat, joined, line, listed, names, with_sign
from arena.pictures.vocabulary import Badge, Chips, Fact, SeatScene, Tone, Word, Zone, ZoneKind

V = TypeVar("V")


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
_DEALER: Final = Badge(("dealer",), Tone.MARKED)
_SAYS_HOW_MUCH: Final = (Action.BET, Action.RAISE)

SENTENCES: Final[Sentences] = {
    Acted: lambda event: f"{{seat}} {_did(event.action, event.to)}.",
    UncalledReturned: "{amount} that nobody called go back to {seat}.",
    HandEnded: lambda event: joined(_sums(event)),
}

MOVES: Final[MoveWords] = {
    Fold: "Fold",
    Check: "Check",
    Call: lambda _, view: f"Call {view.to_call}",
    Bet: "Bet {to}",
    Raise: "Raise to {to}",
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


def after(view: V, event: Event) -> V:
    """Return the view after an event that all poker games have."""
    before: Any = view
    chips, so_far = before.chips, before.line
    later: V = view
    match event:
        case Acted(seat, action, to):
            line_after = Line(
                (*so_far.seats, seat), (*so_far.actions, action), (*so_far.tos, to), so_far.starts
            )
            chips = put_in(chips, seat, to - chips.bets[seat])
            later = replace(before, chips=chips, line=line_after)
        case UncalledReturned(seat, amount):
            later = replace(before, chips=put_in(chips, seat, -amount))
        case HandEnded(_, _, totals):
            later = replace(before, totals=totals)
    return later


def paid_out(view: V, won: Sequence[Won], **over: object) -> V:
    """Return the view at the end of a hand, after the pots are paid out; `over` are further fields."""
    before: Any = view
    chips = before.chips
    paid = tuple(map(sum, zip(chips.paid, chips.bets, strict=True)))
    stacks = tuple(map(sum, zip(chips.stacks, *(pot.shares for pot in won), strict=True)))
    live = won[0].eligible if won else before.live
    ended = Stacks(stacks, (0,) * len(paid), paid)
    closed: V = replace(before, live=live, chips=ended, to_call=0, **over)
    return closed


def last_action(so_far: Line, seat: Seat) -> Zone:
    """Return the last action of a seat: plain in this round, dim from an earlier one."""
    at = max((at for at, player in enumerate(so_far.seats) if player == seat), default=None)
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
        items = tuple(Chips(pot.amount, line("to ", *shared_out(pot)), Tone.MARKED) for pot in won)
        return Zone("pots", ZoneKind.CHIPS, items)
    all_pots = pots_of(chips.paid, live)
    if len(all_pots) > 1:
        items = tuple(
            Chips(pot.amount, line("side pot of " if at else "pot of ", *names(pot.eligible)))
            for at, pot in enumerate(all_pots)
            if pot.amount
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


def seat_scene(view: Any, seat: Seat, ended: HandEnded | None, holding: Zone) -> SeatScene:
    """Return the scene of a seat: its cards, its bet and its last action."""
    zones = (holding, bet(view.chips, seat), last_action(view.line, seat))
    return draw.seat_scene(
        view,
        seat,
        with_sign(view.totals[seat]),
        (),
        stack(view.chips, seat, ended),
        zones,
        dealer=_DEALER,
        out=seat not in view.live,
    )
