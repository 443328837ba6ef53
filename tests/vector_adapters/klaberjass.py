"""Vectors of Klaberjass."""

from arena.games.contract import Seat, places_of
from arena.games.klaberjass import rules, scoring, tricks
from arena.games.klaberjass import rules as klaberjass
from arena.games.klaberjass.messages import (
    Announce,
    Exchange,
    Good,
    HowHigh,
    Keep,
    Name,
    No,
    NoMeld,
    NotGood,
    Options,
    Pass,
    Phase,
    Play,
    Schmeiss,
    Scored,
    Take,
    Yes,
)
from arena.games.klaberjass.state import Match, answers
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
    Phase.ANSWER: "meld_dl_reply",
    Phase.LEAD: "play",
    Phase.FOLLOW: "play",
    Phase.OVER: "done",
}
LIKE = {
    "actors": seats,
    "legal": actions,
    "legal_cards": unordered,
    "cards": unordered,
    "hands": unordered,
    "dealer_replies": unordered,
}


def sequences(vector):
    only(vector["input"], "hand")
    found = scoring.sequences(tuple(vector["input"]["hand"]), "h")
    observe = {"sequences": lambda: [[each.value, each.cards] for each in found]}
    compare(vector["expect"], observe, {"sequences": melds})


def melds(value):
    """Melds in an order of their own, and their cards too."""
    if not isinstance(value, list) or not all(isinstance(each, list) for each in value):
        return value
    return sorted([points, sorted(cards)] for points, cards in value)


def contest(vector):
    given = vector["input"]
    only(given, "nondealer", "dealer", "trump")
    theirs, own = (
        scoring.best_sequence(tuple(given[who]), given["trump"]) for who in ("nondealer", "dealer")
    )

    def replies():
        if theirs is None:
            return []
        return [name_of(move) for move in answers(theirs.value, own)]

    def if_contested():
        if replies() in ([], ["good"]):
            return None
        if theirs.strength == own.strength:
            return "tie"
        return "nondealer" if theirs.strength > own.strength else "dealer"

    observe = {
        "announce": lambda: None if theirs is None else theirs.value,
        "dealer_replies": replies,
        "if_contested": if_contested,
    }
    compare(vector["expect"], observe, LIKE)


def legal_cards(vector):
    given = vector["input"]
    only(given, "hand", "lead", "trump")
    hand, led = tuple(given["hand"]), given["lead"]
    legal = hand if led is None else tricks.legal_replies(hand, led, given["trump"])
    compare(vector["expect"], {"cards": lambda: legal}, LIKE)


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


class Table(Hand):
    """A match on prepared deals, from any dealer and scores."""

    like = LIKE | {"melds_shown": melds}
    scored_by = Scored

    def __init__(self, vector):
        given = vector["input"]
        only(given, "dealer", "scores", "deals")
        dealer = given["dealer"]
        # Later deals are there only so that the rules can go on, whoever deals them.
        deals = StackedDeals(
            {
                (hand, "deck"): dealing_order(each, dealer)
                for hand, each in enumerate(given["deals"])
            }
        )
        match = Match(Options(), 0, Seat(dealer), tuple(given["scores"]), ())
        super().__init__(klaberjass, rules.deal_hand(match, deals).state, deals)

    def move_of(self, action):
        return move_of(action)

    def phase(self, seen):
        if seen.phase is Phase.ANNOUNCE:
            return "meld_dl_first" if seen.to_act == seen.dealer else "meld_nd"
        return PHASES[seen.phase]

    def last_hand(self):
        scored = self.scored
        if scored is None:
            return None
        return {
            "hand_scores": list(scored.points),
            "gained": list(scored.gained),
            "winner": scored.winner,
            "maker": scored.maker,
        }

    def observe(self):
        seen = klaberjass.view(self.state, None)
        over = seen.phase is Phase.OVER
        return {
            "actors": self.actors,
            "phase": lambda: self.phase(seen),
            "legal": OfSeat(lambda seat: [action_of(move) for move in self.moves(seat)]),
            "legal_cards": OfSeat(self.legal_cards),
            "dealer": lambda: seen.dealer,
            "deals": lambda: seen.hand + 1,
            "upcard": lambda: seen.upcard,
            "maker": lambda: seen.auction.maker,
            "trump": lambda: seen.auction.trump,
            "meld_holder": lambda: seen.contest.winner,
            "melds_shown": lambda: list(map(meld_of, seen.contest.shown)),
            "hand_scores_so_far": lambda: seen.points,
            "tricks": lambda: [seen.winners.count(seat) for seat in (0, 1)],
            "hands": lambda: [klaberjass.view(self.state, seat).held for seat in (0, 1)],
            "scores": lambda: seen.totals,
            "over": lambda: over,
            "winners": lambda: winners(seen.totals) if over else [],
            "last_hand": self.last_hand,
        }

    def legal_cards(self, seat):
        """Each card once, though one may be played with the bela and without."""
        return list({move.card: None for move in self.moves(seat) if isinstance(move, Play)})


def meld_of(cards):
    ((value, *_),) = scoring.sequences(cards, "h")
    return [value, sorted(cards)]


def hidden(state, seat):
    """The other hand, but for cards all have seen, and the cards not dealt.

    Once top cards were named, or all sequences of a seat shown, everybody knows something of
    every card of that hand: which sequences it does not make.
    """
    contest = state.deal.contest
    for at, side in enumerate(state.deal.sides):
        told = contest.verdict is not None or (contest.shown and contest.winner == at)
        if at != seat and not told:
            yield from set(side.hand) - set(side.known)
    yield from state.deal.talon.stock


KINDS = {
    "sequences": sequences,
    "contest": contest,
    "legal_cards": legal_cards,
    "trick": trick,
    "settle": settle,
    "game_end": game_end,
}
SITTINGS = {"script": Table}
