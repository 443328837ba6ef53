"""Vectors of Sixty-Six."""

import pytest

from arena.games import sixty_six
from arena.games.contract import IllegalMove, Seat, places_of
from arena.games.sixty_six import rules, scoring, tricks
from arena.games.sixty_six.options import Options
from arena.games.sixty_six.scoring import Tally
from arena.games.sixty_six.state import Match
from arena.games.sixty_six.words import (
    CLAIM,
    CLOSE,
    EXCHANGE,
    Claim,
    Close,
    Exchange,
    Marriage,
    Phase,
    Play,
    Scored,
)
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

GAMES = ("sixty_six",)


def trick(vector):
    given = vector["input"]
    only(given, "lead", "reply", "trump")
    wins = tricks.follower_wins(given["lead"], given["reply"], given["trump"])
    observe = {
        "winner": lambda: "follower" if wins else "leader",
        "points": lambda: scoring.trick_points(given["lead"], given["reply"]),
    }
    compare(vector["expect"], observe)


def legal_cards(vector):
    given, expected = vector["input"], vector["expect"]
    only(given, "hand", "lead", "strict")
    only(expected, "cards")
    legal = tricks.legal_replies(tuple(given["hand"]), given["lead"], given["strict"])
    assert sorted(legal) == sorted(expected["cards"])


def settle(vector):
    given = vector["input"]
    only(given, "points", "tricks", "claimer", "closer", "opponent_tricks_at_close", "carry")
    tally = Tally(
        tuple(given["points"]),
        tuple(given["tricks"]),
        given.get("claimer"),
        given.get("closer"),
        given.get("opponent_tricks_at_close", 0),
    )
    gained, carry = scoring.with_carry(scoring.award(tally), given.get("carry", 0))
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


def listed(actions):
    """Actions in an order of their own, as a list of legal ones has none."""
    return sorted(actions, key=lambda action: sorted(action.items()))


class Table:
    """A match on prepared deals, from any dealer and scores."""

    def __init__(self, given):
        only(given, "dealer", "scores", "carry", "deals")
        first = given["dealer"]  # seat d deals hand d first
        self.deals = Loaded(
            {
                (hand, "deck"): dealing_order(each, hand % 2)
                for hand, each in enumerate(given["deals"], first)
            }
        )
        scores = tuple(given["scores"])
        match = Match(Options(), first, given["carry"], scores, ((0, 0),) * first)
        self.state, _ = rules.deal_hand(match, self.deals)
        self.scored = None

    def actors(self):
        return list(sixty_six.to_act(self.state))

    def do(self, seat, action):
        self.state, told = sixty_six.step(self.state, ((Seat(seat), move_of(action)),), self.deals)
        for event, _ in told:
            if isinstance(event, Scored):
                self.scored = event

    def reject(self, seat, action):
        move, before = move_of(action), self.state
        with pytest.raises(IllegalMove):
            sixty_six.step(before, ((Seat(seat), move),), self.deals)
        if seat in self.actors():
            assert move not in sixty_six.moves(before, Seat(seat))
        assert self.state == before

    def compare(self, expected):
        seen = sixty_six.view(self.state, None)
        if "legal" in expected:
            asked, actions = expected["legal"]
            assert asked in self.actors()
            expected = {**expected, "legal": [asked, listed(actions)]}
        if "hands" in expected:
            expected = {**expected, "hands": [sorted(hand) for hand in expected["hands"]]}
        over = seen.phase is Phase.OVER
        observe = {
            "actors": self.actors,
            "legal": lambda: [
                asked,
                listed(map(action_of, sixty_six.moves(self.state, Seat(asked)))),
            ],
            "dealer": lambda: seen.dealer,
            "trump": lambda: seen.trump,
            "upcard": lambda: seen.upcard,
            "stock_left": lambda: seen.stock,
            "closed": lambda: seen.closer is not None,
            "strict": lambda: seen.strict,
            "points": lambda: list(seen.points),
            "pending_marriage": lambda: list(seen.pending),
            "tricks": lambda: [seen.winners.count(seat) for seat in (0, 1)],
            "hands": lambda: [sorted(sixty_six.view(self.state, seat).held) for seat in (0, 1)],
            "scores": lambda: list(seen.totals),
            "carry": lambda: seen.carry,
            "over": lambda: over,
            "winners": lambda: winners(seen.totals) if over else [],
            "last_hand": lambda: {
                "points": list(self.scored.points),
                "tricks": list(self.scored.tricks),
                "gained": list(self.scored.gained),
                "carry_after": self.scored.carry,
            },
        }
        compare(expected, observe)


def winners(totals):
    return [seat for seat, place in enumerate(places_of(totals)) if place == 1]


def dealing_order(deal, dealer):
    """The deck that deals these hands: in batches of three, the dealer last."""
    only(deal, "hands", "upcard", "stock")
    first, second = deal["hands"][1 - dealer], deal["hands"][dealer]
    batches = [*first[:3], *second[:3], *first[3:], *second[3:]]
    return [*batches, deal["upcard"], *deal["stock"]]


def script(vector):
    table = Table(vector["input"])
    for one in vector["steps"]:
        only(one, "do", "reject", "expect")
        assert len(one) == 1, "a step is one thing"
        if "do" in one:
            table.do(*one["do"])
        elif "reject" in one:
            table.reject(*one["reject"])
        else:
            table.compare(one["expect"])
    table.compare(vector.get("expect", {}))


KINDS = {
    "trick": trick,
    "legal_cards": legal_cards,
    "settle": settle,
    "script": script,
}
