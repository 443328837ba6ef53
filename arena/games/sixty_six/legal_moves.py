"""The legal moves of Sixty-Six."""

from arena.cards import SUITS
from arena.games.sixty_six.messages import CLAIM, CLOSE, EXCHANGE, MARRIAGES, PLAYS, Move, Play
from arena.games.sixty_six.state import Deal, Match, State
from arena.games.sixty_six.tricks import legal_replies


def before(match: Match, deal: Deal) -> State:
    """Return a state with the legal moves of the seat to act."""
    return State(match, deal, legal_moves(deal))


def legal_moves(deal: Deal) -> tuple[Move, ...]:
    """Return the legal moves of the seat to act, in a fixed order."""
    if deal.declared is not None:
        return CLAIM, PLAYS["Q" + deal.declared], PLAYS["K" + deal.declared]
    hand = deal.sides[deal.turn].hand
    is_open = deal.stock.is_open
    legal: list[Move] = [CLAIM, CLOSE] if is_open else [CLAIM]
    if deal.led is not None:
        legal += [PLAYS[card] for card in legal_replies(hand, deal.led, not is_open)]
        return tuple(legal)
    if is_open and "9" + deal.trump in hand:
        legal.append(EXCHANGE)
    legal += [MARRIAGES[suit] for suit in SUITS if "K" + suit in hand and "Q" + suit in hand]
    legal += [PLAYS[card] for card in hand]
    return tuple(legal)


def why_illegal(deal: Deal, move: Move) -> str:
    """Return why a move is illegal, for its bot."""
    if not isinstance(move, Play):
        return f"{type(move).__name__.lower()} is not possible now"
    if move.card not in deal.sides[deal.turn].hand:
        return "play a card of your hand"
    return "lead a card of the marriage" if deal.declared else "follow the suit that was led"
