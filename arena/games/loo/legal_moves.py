"""The legal moves of Loo."""

from itertools import combinations

from arena.cards import in_order
from arena.games.loo.flushes import flush_of
from arena.games.loo.messages import (
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
from arena.games.loo.options import Options
from arena.games.loo.state import Deal, Match, State
from arena.games.loo.tricks import legal_replies


def before(match: Match, deal: Deal) -> State:
    """Return a state with the legal moves of the seat to act."""
    return State(match, deal, legal_moves(match.options, deal))


def legal_moves(options: Options, deal: Deal) -> tuple[Move, ...]:
    """Return the legal moves of the seat to act, in a fixed order."""
    hand, trump = deal.cards.hands[deal.turn], deal.upcard[1]
    match deal.phase:
        case Phase.FOLLOW:
            tricks = deal.tricks
            replies = legal_replies(
                hand, tricks.cards, trump, civil=tricks.civil, pam=options.has_pam
            )
            return tuple([PLAYS[card] for card in replies])
        case Phase.LEAD:
            leads: list[Move] = [PLAYS[card] for card in hand]
            ace = PLAYS["A" + trump]
            if options.has_pam and ace in leads:
                leads.insert(leads.index(ace) + 1, CIVIL[trump])
            return tuple(leads)
        case Phase.DECLARE:
            return DECLARATIONS
        case Phase.EXCHANGE:
            most = most_exchanged(options, deal)
            # Hands are sorted, so their combinations need not be sorted again.
            exchange = Exchange.in_order if hand == in_order(hand) else Exchange
            return tuple(
                [exchange(cards) for k in range(most + 1) for cards in combinations(hand, k)]
            )
        case Phase.OVER:
            return ()
        case _:
            return HOLD if flush_of(hand, trump) is None else REVEAL_OR_HOLD


def most_exchanged(options: Options, deal: Deal) -> int:
    """Return the most cards that a seat may exchange (R4)."""
    return min(options.hand_size, len(deal.cards.stock) + len(deal.cards.dead))


def why_illegal(state: State, move: Move) -> str:
    """Return why a move is illegal, for its bot."""
    deal = state.deal
    phase, hand = deal.phase, deal.cards.hands[deal.turn]
    if isinstance(move, Exchange) and phase is Phase.EXCHANGE:
        most = most_exchanged(state.match.options, deal)
        return f"exchange up to {most} cards of your hand"
    if not isinstance(move, Play) or phase not in (Phase.LEAD, Phase.FOLLOW):
        return f"this is the time to {phase.replace('_', ' ')}"
    if move.card not in hand:
        return "play a card of your hand"
    if move.civil:
        return "Pam is asked to be civil with the lead of the ace of trump alone"
    return "follow suit and beat the best card if you can; or else play a trump"
