"""Vectors of Klaberjass."""

import pytest

from arena.games import klaberjass
from arena.games.contract import IllegalMove, Seat, places_of
from arena.games.klaberjass import legal_moves, rules, scoring, tricks
from arena.games.klaberjass.options import Options
from arena.games.klaberjass.state import Match
from arena.games.klaberjass.words import (
    Announce,
    Exchange,
    Good,
    HowHigh,
    Keep,
    Name,
    No,
    NoMeld,
    NotGood,
    Pass,
    Phase,
    Play,
    Schmeiss,
    Scored,
    Take,
    Yes,
)
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

GAMES = ("klaberjass",)

# Actions without anything to say beside their type.
PLAIN = {
    "take": Take(),
    "pass": Pass(),
    "schmeiss": Schmeiss(),
    "yes": Yes(),
    "no": No(),
    "keep": Keep(),
    "exchange": Exchange(),
    "no_meld": NoMeld(),
    "good": Good(),
    "not_good": NotGood(),
    "how_high": HowHigh(),
}
PHASES = {
    Phase.FIRST_BID: "bid1",
    Phase.SECOND_BID: "bid2",
    Phase.REPLY: "schmeiss_reply",
    Phase.NAME: "forced_name",
    Phase.DIX: "dix",
    Phase.LEAD: "play",
    Phase.FOLLOW: "play",
}


def sequences(vector):
    given, expected = vector["input"], vector["expect"]
    only(given, "hand")
    only(expected, "sequences")
    found = scoring.sequences(tuple(given["hand"]), "h")
    assert sorted([each.value, sorted(each.cards)] for each in found) == expected["sequences"]


def contest(vector):
    given = vector["input"]
    only(given, "nondealer", "dealer", "trump")
    theirs, own = (
        scoring.best_sequence(tuple(given[who]), given["trump"]) for who in ("nondealer", "dealer")
    )

    def replies():
        return [name_of(move) for move in legal_moves.answers(theirs.value, own)]

    def if_contested():
        if replies() == ["good"]:
            return None
        if theirs.strength == own.strength:
            return "tie"
        return "nondealer" if theirs.strength > own.strength else "dealer"

    observe = {
        "announce": lambda: None if theirs is None else theirs.value,
        "dealer_replies": replies,
        "if_contested": if_contested,
    }
    compare(vector["expect"], observe)


def legal_cards(vector):
    given, expected = vector["input"], vector["expect"]
    only(given, "hand", "lead", "trump")
    only(expected, "cards")
    hand, led = tuple(given["hand"]), given["lead"]
    legal = hand if led is None else tricks.legal_replies(hand, led, given["trump"])
    assert sorted(legal) == sorted(expected["cards"])


def trick(vector):
    given = vector["input"]
    only(given, "lead", "reply", "trump")
    cards = given["lead"], given["reply"], given["trump"]
    observe = {
        "winner": lambda: "follower" if tricks.follower_wins(*cards) else "leader",
        "points": lambda: scoring.trick_points(*cards),
    }
    compare(vector["expect"], observe)


def settle(vector):
    given = vector["input"]
    only(given, "maker", "hand_scores")
    gained, winner = scoring.settle(given["maker"], tuple(given["hand_scores"]))
    compare(vector["expect"], {"gained": lambda: list(gained), "hand_winner": lambda: winner})


def game_end(vector):
    only(vector["input"], "scores")
    totals = tuple(vector["input"]["scores"])
    over = rules.is_over(Options(), 1, totals)
    observe = {"over": lambda: over, "winners": lambda: winners(totals) if over else []}
    compare(vector["expect"], observe)


def winners(totals):
    return [seat for seat, place in enumerate(places_of(totals)) if place == 1]


def move_of(action):
    kind = action["type"]
    if kind in PLAIN:
        only(action, "type")
        return PLAIN[kind]
    match kind:
        case "name":
            only(action, "type", "suit")
            return Name(action["suit"])
        case "announce":
            only(action, "type", "value")
            return Announce(action["value"])
        case "play":
            only(action, "type", "card", "bela")
            return Play(action["card"], action.get("bela", False))
    raise AssertionError(f"the adapter does not know the action {kind!r}")


def name_of(move):
    return next(name for name, plain in PLAIN.items() if plain == move)


def action_of(move):
    match move:
        case Name(suit):
            return {"type": "name", "suit": suit}
        case Announce(value):
            return {"type": "announce", "value": value}
        case Play(card, bela):
            return {"type": "play", "card": card} | ({"bela": True} if bela else {})
        case _:
            return {"type": name_of(move)}


def listed(actions):
    """Actions in an order of their own, as a list of legal ones has none."""
    return sorted(actions, key=lambda action: str(sorted(action.items())))


class Table:
    """A match on prepared deals, from any dealer and scores."""

    def __init__(self, given):
        only(given, "dealer", "scores", "deals")
        dealer = given["dealer"]
        # Later deals are there only so that the rules can go on, whoever deals them.
        self.deals = Loaded(
            {
                (hand, "deck"): dealing_order(each, dealer)
                for hand, each in enumerate(given["deals"])
            }
        )
        self.told = []
        match = Match(Options(), 0, Seat(dealer), tuple(given["scores"]), ())
        self.state, _ = rules.deal_hand(match, self.deals)

    def actors(self):
        return list(klaberjass.to_act(self.state))

    def do(self, seat, action):
        self.state, told = klaberjass.step(self.state, ((Seat(seat), move_of(action)),), self.deals)
        self.told += [event for event, _ in told]

    def reject(self, seat, action):
        move, before = move_of(action), self.state
        with pytest.raises(IllegalMove):
            klaberjass.step(before, ((Seat(seat), move),), self.deals)
        if seat in self.actors():
            assert move not in klaberjass.moves(before, Seat(seat))
        assert self.state == before

    def phase(self, seen):
        if seen.phase is Phase.ANNOUNCE:
            return "meld_dl_first" if seen.to_act == seen.dealer else "meld_nd"
        return PHASES[seen.phase]

    def last_hand(self):
        scored = [event for event in self.told if isinstance(event, Scored)][-1]
        return {
            "hand_scores": list(scored.points),
            "gained": list(scored.gained),
            "winner": scored.winner,
            "maker": scored.maker,
        }

    def compare(self, expected):
        seen = klaberjass.view(self.state, None)
        expected = dict(expected)
        if "legal" in expected:
            asked, actions = expected["legal"]
            assert asked in self.actors()
            expected["legal"] = [asked, listed(actions)]
        if "hands" in expected:
            expected["hands"] = [sorted(hand) for hand in expected["hands"]]
        if "melds_shown" in expected:
            expected["melds_shown"] = sorted(
                [value, sorted(cards)] for value, cards in expected["melds_shown"]
            )
        over = seen.phase is Phase.OVER
        observe = {
            "actors": self.actors,
            "phase": lambda: self.phase(seen),
            "legal": lambda: [
                asked,
                listed(map(action_of, klaberjass.moves(self.state, Seat(asked)))),
            ],
            "dealer": lambda: seen.dealer,
            "deals": lambda: seen.hand + 1,
            "upcard": lambda: seen.upcard,
            "maker": lambda: seen.auction.maker,
            "trump": lambda: seen.auction.trump,
            "meld_holder": lambda: seen.contest.winner,
            "melds_shown": lambda: sorted(map(meld_of, seen.contest.shown)),
            "hand_scores_so_far": lambda: list(seen.points),
            "tricks": lambda: [seen.winners.count(seat) for seat in (0, 1)],
            "hands": lambda: [sorted(klaberjass.view(self.state, seat).held) for seat in (0, 1)],
            "scores": lambda: list(seen.totals),
            "over": lambda: over,
            "winners": lambda: winners(seen.totals) if over else [],
            "last_hand": self.last_hand,
        }
        compare(expected, observe)


def meld_of(cards):
    ((value, *_),) = scoring.sequences(cards, "h")
    return [value, sorted(cards)]


def dealing_order(deal, dealer):
    """The deck that deals these hands: in batches of three, the dealer last."""
    only(deal, "hands", "upcard", "stock")
    first, second = deal["hands"][1 - dealer], deal["hands"][dealer]
    batches = [*first[:3], *second[:3], *first[3:], *second[3:]]
    return [*batches, deal["upcard"], *deal["stock"]]


def script(vector):
    played = Table(vector["input"])
    for one in vector["steps"]:
        only(one, "do", "reject", "expect")
        assert len(one) == 1, "a step is one thing"
        if "do" in one:
            played.do(*one["do"])
        elif "reject" in one:
            played.reject(*one["reject"])
        else:
            played.compare(one["expect"])
    played.compare(vector.get("expect", {}))


KINDS = {
    "sequences": sequences,
    "contest": contest,
    "legal_cards": legal_cards,
    "trick": trick,
    "settle": settle,
    "game_end": game_end,
    "script": script,
}
