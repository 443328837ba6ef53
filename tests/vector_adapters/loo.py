"""Vectors of Loo.

Scripts ask the holders of a flush only; the arena asks every player, so the
adapter supplies the holds of those who hold none.
"""

import pytest

from arena.games import loo
from arena.games.contract import IllegalMove, Seat, places_of
from arena.games.loo import flushes, rules, tricks
from arena.games.loo.flushes import FlushKind
from arena.games.loo.options import Options
from arena.games.loo.rules import CLOCKWISE
from arena.games.loo.state import Match
from arena.games.loo.words import (
    HOLD,
    Ending,
    Exchange,
    Hold,
    Pass,
    Phase,
    Play,
    PlayHand,
    RevealFlush,
    Scored,
    Won,
)
from arena.testing.deals import Loaded, Unshuffled
from tests.vector_adapters.deals import compare, only

GAMES = ("loo",)

PHASES = {
    Phase.DECLARE: "declare",
    Phase.FIRST_FLUSH: "flush1",
    Phase.EXCHANGE: "exchange",
    Phase.SECOND_FLUSH: "flush2",
    Phase.LEAD: "play",
    Phase.FOLLOW: "play",
}
FLUSHES = {FlushKind.PLAIN: "plain", FlushKind.TRUMP: "trump", FlushKind.MOUCHE: "mouche"}


def flush(vector):
    only(vector["input"], "hand", "trump")
    found = flushes.flush_of(vector["input"]["hand"], vector["input"]["trump"])
    compare(vector["expect"], {"flush": lambda: None if found is None else FLUSHES[found.kind]})


def legal_cards(vector):
    given, expected = vector["input"], vector["expect"]
    only(given, "hand", "trick", "trump", "civil")
    only(expected, "cards")
    hand, trick = tuple(given["hand"]), tuple(given["trick"])
    # Whoever leads may lead any card.
    legal = (
        tricks.legal_replies(hand, trick, given["trump"], civil=given["civil"]) if trick else hand
    )
    assert sorted(legal) == sorted(expected["cards"])


def trick(vector):
    only(vector["input"], "trick", "trump")
    winner = tricks.trick_winner(vector["input"]["trick"], vector["input"]["trump"])
    compare(vector["expect"], {"winner_index": lambda: winner})


def board(vector):
    given = vector["input"]
    only(given, "hands", "active", "dealer", "players", "trump")
    assert sorted(map(int, given["hands"])) == sorted(given["active"])
    order = CLOCKWISE[given["players"]][given["dealer"]]
    hands = {seat: given["hands"][str(seat)] for seat in order if seat in given["active"]}
    winner, _, payers = flushes.loo_board(hands, given["trump"])
    compare(vector["expect"], {"winner": lambda: winner, "payers": lambda: sorted(payers)})


def packs_of(deals, first, seats):
    """The packs of a vector by hand and label; a new stock without an order lies as it comes."""
    packs = {}
    for hand, deal in enumerate(deals, first):
        only(deal, "hands", "upcard", "stock", "recycle")
        order = CLOCKWISE[seats][hand % seats]
        dealt = [deal["hands"][seat][at] for at in range(5) for seat in order]
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


def listed(actions):
    """Actions in an order of their own, as a list of legal ones has none."""
    return sorted(actions, key=lambda action: str(sorted(action.items())))


class Table:
    """A match on prepared deals, from any dealer, chips and pot."""

    def __init__(self, given):
        only(given, "players", "dealer", "chips", "pot", "deals", "deals_in_match")
        seats, first = given["players"], given["dealer"]  # seat d deals hand d first
        self.seats = range(seats)
        self.deals = Loaded(packs_of(given["deals"], first, seats), Unshuffled())
        chips = tuple(given["chips"])
        played = ((0,) * seats,) * first
        options = Options(hands=given.get("deals_in_match", 0))
        match = Match(options, first, given["pot"], chips, chips, played)
        self.state, _ = rules.deal_hand(match, self.deals)
        self.scored = None
        self.won = []
        """The seats that won the tricks of this hand."""
        self.tricks_won = []
        """The same of the hand that was scored last."""

    def actors(self):
        return list(loo.to_act(self.state))

    def supply_holds(self):
        """Answer for the players who are asked for a flush and hold none."""
        while self.actors() and list(loo.moves(self.state, self.state.deal.turn)) == list(HOLD):
            self.step(self.state.deal.turn, HOLD[0])

    def step(self, seat, move):
        self.state, told = loo.step(self.state, ((Seat(seat), move),), self.deals)
        for event, _ in told:
            if isinstance(event, Won):
                self.won.append(event.seat)
            elif isinstance(event, Scored):
                self.scored, self.tricks_won, self.won = event, self.won, []

    def do(self, seat, action):
        self.step(seat, move_of(action))
        self.supply_holds()

    def reject(self, seat, action):
        move, before = move_of(action), self.state
        with pytest.raises(IllegalMove):
            loo.step(before, ((Seat(seat), move),), self.deals)
        if seat in self.actors():
            assert move not in loo.moves(before, Seat(seat))
        assert self.state == before

    def last_deal(self):
        scored = self.scored
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

    def compare(self, expected):
        seen = loo.view(self.state, None)
        expected = dict(expected)
        if "legal" in expected:
            asked, actions = expected["legal"]
            assert asked in self.actors()
            expected["legal"] = [asked, listed(actions)]
        if "legal_cards" in expected:
            asked, cards = expected["legal_cards"]
            assert asked in self.actors()
            expected["legal_cards"] = [asked, sorted(cards)]
        if "hands" in expected:
            expected["hands"] = [sorted(hand) for hand in expected["hands"]]
        over = seen.phase is Phase.OVER
        observe = {
            "actors": self.actors,
            "phase": lambda: PHASES[seen.phase],
            "legal": lambda: [asked, listed(map(action_of, loo.moves(self.state, Seat(asked))))],
            "legal_cards": lambda: [
                asked,
                sorted({move.card for move in loo.moves(self.state, Seat(asked))}),
            ],
            "dealer": lambda: seen.dealer,
            "trump": lambda: seen.upcard[1],
            "pot": lambda: seen.pot,
            "chips": lambda: list(seen.chips),
            "active": lambda: sorted(seen.players),
            "tricks": lambda: [seen.winners.count(seat) for seat in self.seats],
            "stock_left": lambda: seen.stock,
            "dead": lambda: seen.dead,
            "hands": lambda: [sorted(loo.view(self.state, seat).held) for seat in self.seats],
            "over": lambda: over,
            "winners": lambda: winners(seen.chips) if over else [],
            "last_deal": self.last_deal,
        }
        compare(expected, observe)


def winners(chips):
    return [seat for seat, place in enumerate(places_of(chips)) if place == 1]


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
    "flush": flush,
    "legal_cards": legal_cards,
    "trick": trick,
    "loo_board": board,
    "script": script,
}
