"""The public part of a poker hand, rebuilt from its chips and its line of actions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from arena.games.betting.match import Action, Line, Match, Scores, Terms, new_match
from arena.games.betting.moves import CALL, CHECK, FOLD, BettingMove, bet_to, raise_to
from arena.games.betting.rounds import Chips, Round, act
from arena.games.cards import Card
from arena.games.contract import Seat

MOVES: Final[Mapping[Action, Callable[[int], BettingMove]]] = {
    Action.FOLD: lambda _: FOLD,
    Action.CHECK: lambda _: CHECK,
    Action.CALL: lambda _: CALL,
    Action.BET: bet_to,
    Action.RAISE: raise_to,
}
"""Makes the move of an action from the seat's total of the round after it."""


class OneDeck:
    """Deals of one hand, whose deck is known."""

    def __init__(self, deck: Sequence[Card]) -> None:
        self._deck = tuple(deck)

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        del hand, label, cards
        return self._deck


def match_of(
    hands: int, format_: str, hand: int, dealer: Seat, chips: Chips, totals: Sequence[int]
) -> Match:
    """Return the match of a hand. A view has the totals but not the scores of each hand, which are taken as 0."""
    stacks = tuple(map(sum, zip(chips.stacks, chips.bets, chips.paid, strict=True)))
    terms: Terms = new_match(hands, format_, stacks).terms
    players = tuple([player for player in terms.seats if stacks[player]])
    scores = Scores(((0,) * len(stacks),) * hand, tuple(totals))
    return Match(terms, scores, hand, dealer, players, stacks)


def chips_before(chips: Chips) -> Chips:
    """Return the chips before the bets of the round."""
    stacks = tuple([had + bet for had, bet in zip(chips.stacks, chips.bets, strict=True)])
    return Chips(stacks, (0,) * len(stacks), chips.paid)


def live_before(line: Line, live: Iterable[Seat]) -> tuple[Seat, ...]:
    """Return the seats that were in the hand when the last round of the line began."""
    return tuple(sorted({*live, *folded(line, line.starts[-1])}))


def folded(line: Line, since: int = 0) -> tuple[Seat, ...]:
    """Return the seats that folded by the actions from number `since` on."""
    taken = zip(line.seats[since:], line.actions[since:], strict=True)
    return tuple([player for player, action in taken if action is Action.FOLD])


def replayed(opening: Round, line: Line, since: int) -> Round:
    """Return the round after the actions of the line from number `since` on."""
    for action, to in zip(line.actions[since:], line.tos[since:], strict=True):
        opening = act(opening, MOVES[action](to))
    return opening
