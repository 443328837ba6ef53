"""Vectors of Loo.

Scripts ask the holders of a flush only; the arena asks every player, so the
adapter supplies the holds of those who hold none.
"""

from arena.games.contract import places_of
from arena.games.loo import rules, tricks
from arena.games.loo import rules as loo
from arena.games.loo.messages import (
    HOLD,
    Ending,
    Exchange,
    Hold,
    Options,
    Pass,
    Phase,
    Play,
    PlayHand,
    RevealFlush,
    Scored,
    Won,
)
from arena.games.loo.rules import CLOCKWISE
from arena.games.loo.state import Match
from arena.games.loo.tricks import FlushKind
from arena.testing.deals import StackedDeals, UnshuffledDeals
from tests.vector_adapters.deals import (
    OfSeat,
    actions,
    compare,
    only,
    others,
    seats,
    unordered,
)
from tests.vector_adapters.steps import Sitting

GAMES = ("loo",)

PHASES = {
    Phase.DECLARE: "declare",
    Phase.FIRST_FLUSH: "flush1",
    Phase.EXCHANGE: "exchange",
    Phase.SECOND_FLUSH: "flush2",
    Phase.LEAD: "play",
    Phase.FOLLOW: "play",
    Phase.OVER: "done",
}
FLUSHES = {FlushKind.PLAIN: "plain", FlushKind.TRUMP: "trump", FlushKind.MOUCHE: "mouche"}


def flush(vector):
    only(vector["input"], "hand", "trump")
    found = tricks.flush_of(vector["input"]["hand"], vector["input"]["trump"])
    compare(vector["expect"], {"flush": lambda: None if found is None else FLUSHES[found.kind]})


def legal_cards(vector):
    given = vector["input"]
    only(given, "hand", "trick", "trump", "civil", "cards")
    hand, trick, trump = tuple(given["hand"]), tuple(given["trick"] or ()), given["trump"]
    civil = given.get("civil", False)
    # Whoever leads may lead any card.
    pam = options_of(given).has_pam
    legal = tricks.legal_replies(hand, trick, trump, civil=civil, pam=pam) if trick else hand
    compare(vector["expect"], {"cards": lambda: legal}, {"cards": unordered})


def trick(vector):
    given = vector["input"]
    only(given, "trick", "trump", "cards")
    pam = options_of(given).has_pam
    winner = tricks.trick_winner(given["trick"], given["trump"], pam=pam)
    compare(vector["expect"], {"winner_index": lambda: winner})


def options_of(given):
    return Options(hands=given.get("deals_in_match", 0), cards=given.get("cards", "five"))


def board(vector):
    given = vector["input"]
    only(given, "hands", "active", "dealer", "players", "trump")
    assert sorted(map(int, given["hands"])) == sorted(given["active"])
    order = CLOCKWISE[given["players"]][given["dealer"]]
    hands = {seat: given["hands"][str(seat)] for seat in order if seat in given["active"]}
    winner, _, payers = tricks.loo_board(hands, given["trump"])
    observe = {"winner": lambda: winner, "payers": lambda: payers}
    compare(vector["expect"], observe, {"payers": unordered})


def packs_of(deals, first, seats):
    """The packs of a vector by hand and label; a new stock without an order lies as it comes."""
    packs = {}
    for hand, deal in enumerate(deals, first):
        only(deal, "hands", "upcard", "stock", "recycle")
        order = CLOCKWISE[seats][hand % seats]
        size = len(deal["hands"][0])
        dealt = [deal["hands"][seat][at] for at in range(size) for seat in order]
        packs[hand, "deck"] = (*dealt, deal["upcard"], *deal["stock"])
        if "recycle" in deal:
            packs |= {(hand, f"recycled by {seat}"): deal["recycle"] for seat in range(seats)}
    return packs


def move_of(action):
    kind = action["type"]
    if kind == "exchange":
        only(action, "type", "cards")
        return Exchange(tuple(action["cards"]))
    if kind == "play":
        only(action, "type", "card", "civil")
        return Play(action["card"], action.get("civil", False))
    only(action, "type")
    return {
        "play_hand": PlayHand(),
        "pass": Pass(),
        "reveal_flush": RevealFlush(),
        "hold": HOLD[0],
    }[kind]


def action_of(move):
    match move:
        case PlayHand():
            return {"type": "play_hand"}
        case Pass():
            return {"type": "pass"}
        case RevealFlush():
            return {"type": "reveal_flush"}
        case Hold():
            return {"type": "hold"}
        case Exchange(cards):
            return {"type": "exchange", "cards": sorted(cards)}
        case Play(card, civil):
            return {"type": "play", "card": card} | ({"civil": True} if civil else {})


LIKE = {
    "actors": seats,
    "legal": actions,
    "legal_cards": unordered,
    "active": unordered,
    "hands": unordered,
}


class Table(Sitting):
    """A match on prepared deals, from any dealer, chips and pot."""

    like = LIKE

    def __init__(self, vector):
        given = vector["input"]
        only(given, "players", "dealer", "chips", "pot", "deals", "deals_in_match", "cards")
        number, first = given["players"], given["dealer"]  # seat d deals hand d first
        self.seats = range(number)
        deals = StackedDeals(packs_of(given["deals"], first, number), UnshuffledDeals())
        chips = tuple(given["chips"])
        played = ((0,) * number,) * first
        match = Match(options_of(given), first, given["pot"], chips, chips, played)
        super().__init__(loo, rules.deal_hand(match, deals).state, deals)
        self.scored = None
        self.won = []
        """The seats that won the tricks of this hand."""
        self.tricks_won = []
        """The same of the hand that was scored last."""

    def move_of(self, action):
        return move_of(action)

    def heard(self, event):
        if isinstance(event, Won):
            self.won.append(event.seat)
        elif isinstance(event, Scored):
            self.scored, self.tricks_won, self.won = event, self.won, []

    def do(self, seat, action):
        super().do(seat, action)
        # Answer for the players who are asked for a flush and hold none.
        while self.actors() and list(self.moves(self.state.deal.turn)) == list(HOLD):
            self.step(((self.state.deal.turn, HOLD[0]),))

    def last_deal(self):
        scored = self.scored
        if scored is None:
            return None
        tricks = [self.tricks_won.count(seat) for seat in self.seats]
        match scored.ending:
            case Ending.ALL_PASSED:
                assert not any(scored.won)
                return {"type": "all_pass"}
            case Ending.PLAYED:
                return {
                    "type": "played",
                    "won": list(scored.won),
                    "looed": sorted(scored.looed),
                    "tricks": tricks,
                }
        (winner,) = (seat for seat in self.seats if scored.won[seat])
        ended = {"winner": winner, "won": scored.won[winner]}
        if scored.ending is Ending.WALKOVER:
            assert scored.looed == ()
            return {"type": "walkover", **ended}
        return {"type": "flush", **ended, "looed": sorted(scored.looed)}

    def observe(self):
        seen = loo.view(self.state, None)
        over = seen.phase is Phase.OVER
        return {
            "actors": self.actors,
            "phase": lambda: PHASES[seen.phase],
            "legal": OfSeat(lambda seat: [action_of(move) for move in self.moves(seat)]),
            "legal_cards": OfSeat(self.legal_cards),
            "dealer": lambda: seen.dealer,
            "upcard": lambda: seen.upcard,
            "trump": lambda: seen.upcard[1],
            "pot": lambda: seen.pot,
            "chips": lambda: seen.chips,
            "active": lambda: seen.players,
            "tricks": lambda: [seen.winners.count(seat) for seat in self.seats],
            "stock_left": lambda: seen.stock,
            "dead": lambda: seen.dead,
            "hands": lambda: [loo.view(self.state, seat).held for seat in self.seats],
            "over": lambda: over,
            "winners": lambda: winners(seen.chips) if over else [],
            "last_deal": self.last_deal,
        }

    def legal_cards(self, seat):
        """Each card once, though the ace of trump may be led in two ways."""
        return list({move.card: None for move in self.moves(seat) if isinstance(move, Play)})


def winners(chips):
    return [seat for seat, place in enumerate(places_of(chips)) if place == 1]


def hidden(state, seat):
    """Other hands, what others passed or discarded, and the stock."""
    cards = state.deal.cards
    mine = () if seat is None else cards.discarded[seat]
    hidden = (*others(cards.hands, seat), *cards.stock, *cards.dead)
    return [card for card in hidden if card not in mine]


def is_secret(move):
    """How many cards were exchanged is public, and not which."""
    return isinstance(move, Exchange)


def public_part(exchange):
    return len(exchange.cards)


SECRET_PHASE = "exchange"
"""For as long as this phase lasts, an exchange stays secret: nobody shows a card in it."""


KINDS = {
    "flush": flush,
    "legal_cards": legal_cards,
    "trick": trick,
    "loo_board": board,
}
SITTINGS = {"script": Table}
