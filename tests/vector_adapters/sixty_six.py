"""Vectors of Sixty-Six."""

from arena.games.contract import places_of
from arena.games.sixty_six import rules, scoring
from arena.games.sixty_six import rules as sixty_six
from arena.games.sixty_six.messages import (
    CLAIM,
    CLOSE,
    EXCHANGE,
    Claim,
    Close,
    Exchange,
    Marriage,
    Options,
    Phase,
    Play,
    Scored,
)
from arena.games.sixty_six.scoring import Tally
from arena.games.sixty_six.state import Match
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import (
    OfSeat,
    actions,
    compare,
    dealing_order,
    only,
    seats,
    unordered,
)
from tests.vector_adapters.steps import Hand

GAMES = ("sixty_six",)
LIKE = {
    "actors": seats,
    "legal": actions,
    "legal_cards": unordered,
    "cards": unordered,
    "hands": unordered,
}


def trick(vector):
    given = vector["input"]
    only(given, "lead", "reply", "trump")
    wins = scoring.follower_wins(given["lead"], given["reply"], given["trump"])
    observe = {
        "winner": lambda: "follower" if wins else "leader",
        "points": lambda: scoring.trick_points(given["lead"], given["reply"]),
    }
    compare(vector["expect"], observe)


def legal_cards(vector):
    given = vector["input"]
    only(given, "hand", "lead", "strict")
    hand, led = tuple(given["hand"]), given["lead"]
    legal = hand if led is None else scoring.legal_replies(hand, led, given["strict"])
    compare(vector["expect"], {"cards": lambda: legal}, LIKE)


def settle(vector):
    given = vector["input"]
    only(given, "points", "tricks", "claimer", "closer", "opponent_tricks_at_close", "carry")
    tally = Tally(
        tuple(given["points"]),
        tuple(given["tricks"]),
        given.get("claimer"),
        given.get("closer"),
        given.get("opponent_tricks_at_close") or 0,
    )
    gained, carry = scoring.with_carry(scoring.award(tally).gained, given.get("carry") or 0)
    compare(vector["expect"], {"gained": lambda: list(gained), "carry_after": lambda: carry})


def move_of(action):
    match action["type"]:
        case "claim":
            only(action, "type")
            return CLAIM
        case "close":
            only(action, "type")
            return CLOSE
        case "exchange":
            only(action, "type")
            return EXCHANGE
        case "marriage":
            only(action, "type", "suit")
            return Marriage(action["suit"])
        case "play":
            only(action, "type", "card")
            return Play(action["card"])
    raise AssertionError(f"the adapter does not know the action {action['type']!r}")


def action_of(move):
    match move:
        case Claim():
            return {"type": "claim"}
        case Close():
            return {"type": "close"}
        case Exchange():
            return {"type": "exchange"}
        case Marriage(suit):
            return {"type": "marriage", "suit": suit}
        case Play(card):
            return {"type": "play", "card": card}


class Table(Hand):
    """A match on prepared deals, from any dealer and scores."""

    like = LIKE
    scored_by = Scored

    def __init__(self, vector):
        given = vector["input"]
        only(given, "dealer", "scores", "carry", "deals")
        first = given["dealer"]  # seat d deals hand d first
        deals = StackedDeals(
            {
                (hand, "deck"): dealing_order(each, hand % 2)
                for hand, each in enumerate(given["deals"], first)
            }
        )
        scores, carry = tuple(given["scores"]), given.get("carry") or 0
        match = Match(Options(), first, carry, scores, ((0, 0),) * first)
        super().__init__(sixty_six, rules.deal_hand(match, deals).state, deals)

    def move_of(self, action):
        return move_of(action)

    def last_hand(self):
        scored = self.scored
        if scored is None:
            return None
        return {
            "points": list(scored.points),
            "tricks": list(scored.tricks),
            "gained": list(scored.gained),
            "carry_after": scored.carry,
        }

    def observe(self):
        seen = sixty_six.view(self.state, None)
        over = seen.phase is Phase.OVER
        return {
            "actors": self.actors,
            "legal": OfSeat(lambda seat: [action_of(move) for move in self.moves(seat)]),
            "legal_cards": OfSeat(
                lambda seat: [move.card for move in self.moves(seat) if isinstance(move, Play)]
            ),
            "dealer": lambda: seen.dealer,
            "trump": lambda: seen.trump,
            "upcard": lambda: seen.upcard,
            "stock_left": lambda: seen.stock,
            "closed": lambda: seen.closer is not None,
            "strict": lambda: seen.strict,
            "points": lambda: seen.points,
            "pending_marriage": lambda: seen.pending,
            "tricks": lambda: [seen.winners.count(seat) for seat in (0, 1)],
            "hands": lambda: [sixty_six.view(self.state, seat).held for seat in (0, 1)],
            "scores": lambda: seen.totals,
            "carry": lambda: seen.carry,
            "over": lambda: over,
            "winners": lambda: winners(seen.totals) if over else [],
            "last_hand": self.last_hand,
        }


def winners(totals):
    return [seat for seat, place in enumerate(places_of(totals)) if place == 1]


def hidden(state, seat):
    """The other hand, but for cards all have seen, and the order of the stock."""
    deal = state.deal
    for at, side in enumerate(deal.sides):
        if at != seat:
            yield from set(side.hand) - set(side.known)
    yield from deal.stock.cards


KINDS = {
    "trick": trick,
    "legal_cards": legal_cards,
    "settle": settle,
}
SITTINGS = {"script": Table}
