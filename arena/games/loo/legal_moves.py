"""What the seat on turn may do in Loo."""

from itertools import combinations

from arena.cards import in_order
from arena.games.loo.flushes import flush_of
from arena.games.loo.state import HAND, Deal, Match, State
from arena.games.loo.tricks import legal_replies
from arena.games.loo.words import (
    CIVIL,
    DECLARATIONS,
    HOLD,
    PLAYS,
    REVEAL_OR_HOLD,
    Exchange,
    Move,
    Phase,
    Play,
)


def before(match: Match, deal: Deal) -> State:
    """The state before a move of the seat on turn."""
    return State(match, deal, legal_moves(deal))


def legal_moves(deal: Deal) -> tuple[Move, ...]:
    """What the seat on turn may do, in a fixed order."""
    hand, trump = deal.cards.hands[deal.turn], deal.upcard[1]
    match deal.phase:
        case Phase.FOLLOW:
            tricks = deal.tricks
            replies = legal_replies(hand, tricks.cards, trump, civil=tricks.civil)
            return tuple([PLAYS[card] for card in replies])
        case Phase.LEAD:
            leads: list[Move] = [PLAYS[card] for card in hand]
            ace = PLAYS["A" + trump]
            if ace in leads:
                leads.insert(leads.index(ace) + 1, CIVIL[trump])
            return tuple(leads)
        case Phase.DECLARE:
            return DECLARATIONS
        case Phase.EXCHANGE:
            most = min(HAND, len(deal.cards.stock) + len(deal.cards.dead))
            # Hands are in order as they were dealt and drawn; what is sorted need not be again.
            exchange = Exchange.in_order if hand == in_order(hand) else Exchange
            return tuple(
                [exchange(cards) for k in range(most + 1) for cards in combinations(hand, k)]
            )
        case Phase.OVER:
            return ()
        case _:
            return HOLD if flush_of(hand, trump) is None else REVEAL_OR_HOLD


def why_illegal(state: State, move: Move) -> str:
    """What to say of a move that is not among them."""
    deal = state.deal
    phase, hand = deal.phase, deal.cards.hands[deal.turn]
    if isinstance(move, Exchange) and phase is Phase.EXCHANGE:
        most = min(HAND, len(deal.cards.stock) + len(deal.cards.dead))
        return f"exchange up to {most} cards of your hand"
    if not isinstance(move, Play) or phase not in (Phase.LEAD, Phase.FOLLOW):
        return f"this is the time to {phase.replace('_', ' ')}"
    if move.card not in hand:
        return "play a card of your hand"
    if move.civil:
        return "Pam is asked to be civil with the lead of the ace of trump alone"
    return "follow suit and beat the best card if you can; or else play a trump"
