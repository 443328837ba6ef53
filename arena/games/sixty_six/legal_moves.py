"""What the seat on turn may do in Sixty-Six."""

from arena.cards import SUITS
from arena.games.sixty_six.state import Deal, Match, State
from arena.games.sixty_six.tricks import legal_replies
from arena.games.sixty_six.words import CLAIM, CLOSE, EXCHANGE, MARRIAGES, PLAYS, Move, Play


def before(match: Match, deal: Deal) -> State:
    """The state before a move of the seat on turn."""
    return State(match, deal, legal_moves(deal))


def legal_moves(deal: Deal) -> tuple[Move, ...]:
    """What the seat on turn may do, in a fixed order."""
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
    """What to say of a move that is not among them."""
    if not isinstance(move, Play):
        return f"{type(move).__name__.lower()} is not possible now"
    if move.card not in deal.sides[deal.turn].hand:
        return "play a card of your hand"
    return "lead a card of the marriage" if deal.declared else "follow the suit that was led"
