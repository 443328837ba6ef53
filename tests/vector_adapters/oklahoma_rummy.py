"""Vectors of Oklahoma Rummy."""

import pytest

from arena.games import oklahoma_rummy
from arena.games.contract import IllegalMove, Seat
from arena.games.oklahoma_rummy import Options, State, rules
from arena.games.oklahoma_rummy.melds import End, MeldKind, TableMeld, read_meld, set_rank
from arena.games.oklahoma_rummy.rules import DECK
from arena.games.oklahoma_rummy.scoring import HELD_POINTS
from arena.games.oklahoma_rummy.state import Deal, Match, Piles
from arena.games.oklahoma_rummy.words import (
    Decline,
    Discard,
    Draw,
    Drew,
    Extend,
    Meld,
    NoDiscard,
    Phase,
    PileTaken,
    Scored,
    Table,
    TakePile,
)
from arena.testing.deals import Loaded, Unshuffled
from tests.vector_adapters.deals import compare, only

GAMES = ("oklahoma_rummy",)

TYPES = {
    Draw: "draw",
    TakePile: "take_pile",
    Decline: "decline",
    Meld: "meld",
    Extend: "extend",
    Discard: "discard",
    NoDiscard: "no_discard",
}


SOME_STOCK = Piles(("3c", "3d"), (), 0)


def move_of(action):
    match action["type"]:
        case "draw" | "decline" | "no_discard" as name:
            only(action, "type")
            return {"draw": Draw, "decline": Decline, "no_discard": NoDiscard}[name]()
        case "take_pile" | "meld" as name:
            only(action, "type", "kind", "cards")
            make = TakePile if name == "take_pile" else Meld
            return make(MeldKind(action["kind"]), tuple(action["cards"]))
        case "extend":
            only(action, "type", "meld", "card", "end")
            end = End(action["end"]) if "end" in action else None
            return Extend(action["meld"], action["card"], end)
        case "discard":
            only(action, "type", "card")
            return Discard(action["card"])
    raise AssertionError(f"the adapter does not know the action {action['type']!r}")


def meld_of(given):
    only(given, "kind", "cards")
    meld = read_meld(MeldKind(given["kind"]), tuple(given["cards"]))
    assert meld is not None
    return meld


def state_of(phase, hand, *, melds=(), piles=SOME_STOCK, other=("3c", "3h")):
    """Seat 0 to act in the first hand of two seats; seat 1 has other cards."""
    match = Match(Options(), 0, (0, 0), ())
    tables = (Table(tuple(melds)), Table(()))
    deal = Deal(phase, Seat(0), (tuple(hand), other), ((), ()), tables, piles, None)
    return State(match, deal)


def after(state, move):
    """The state after a move of seat 0; None if it is refused."""
    before = repr(state)
    try:
        following, _ = oklahoma_rummy.step(state, ((Seat(0), move),), Unshuffled())
    except IllegalMove:
        assert move not in oklahoma_rummy.moves(state, Seat(0))
        assert repr(state) == before
        return None
    assert move in oklahoma_rummy.moves(state, Seat(0))
    return following


def represents(meld: TableMeld):
    """A meld's cards as the vectors write them: a 2 of a set as the bare rank."""
    if meld.kind is MeldKind.RUN:
        return list(meld.stands_for)
    return sorted(set_rank(meld.cards) if card[0] == "2" else card for card in meld.cards)


def meld(vector):
    given = vector["input"]
    only(given, "kind", "cards")
    kind, cards = MeldKind(given["kind"]), tuple(given["cards"])
    # A card is left over, so that the hand goes on.
    following = after(state_of(Phase.PLAY, (*cards, "Jd", "5c")), Meld(kind, cards))
    expect = dict(vector["expect"])
    if following is not None and kind is MeldKind.SET:
        expect["represents"] = sorted(expect["represents"])
    laid = following and following.deal.tables[0].melds[-1]
    observe = {
        "valid": lambda: following is not None,
        "represents": lambda: represents(laid),
        "value": lambda: laid.points,
    }
    compare(expect, observe)


def extend(vector):
    given = vector["input"]
    only(given, "hand", "meld", "card", "end")
    end = End(given["end"]) if "end" in given else None
    state = state_of(Phase.PLAY, given["hand"], melds=[meld_of(given["meld"])])
    following = after(state, Extend(0, given["card"], end))
    expect = dict(vector["expect"])
    if "cards" in expect and end is None:
        expect["cards"] = sorted(expect["cards"])
    grown = following and following.deal.tables[0].melds[0]
    observe = {
        "valid": lambda: following is not None,
        "cards": lambda: sorted(grown.cards) if end is None else list(grown.cards),
        "value": lambda: grown.points,
    }
    compare(expect, observe)


def take(vector):
    given = vector["input"]
    only(given, "pile", "hand", "kind", "cards")
    state = state_of(Phase.DRAW, given["hand"], piles=Piles(("3c",), tuple(given["pile"]), 0))
    following = after(state, TakePile(MeldKind(given["kind"]), tuple(given["cards"])))
    expect = dict(vector["expect"])
    if "hand_after" in expect:
        expect["hand_after"] = sorted(expect["hand_after"])
    observe = {
        "valid": lambda: following is not None,
        "value": lambda: following.deal.tables[0].melds[-1].points,
        "hand_after": lambda: sorted(following.deal.hands[0]),
    }
    compare(expect, observe)


def hand_value(vector):
    only(vector["input"], "hand")
    lost = -rules.hand_points(Table(()), tuple(vector["input"]["hand"]))
    assert lost == sum(HELD_POINTS[card] for card in vector["input"]["hand"])
    compare(vector["expect"], {"value": lambda: lost})


def setup(vector):
    only(vector["input"], "players")
    players = vector["input"]["players"]
    state, _ = oklahoma_rummy.start(Options(), players, Unshuffled())
    sizes = {len(hand) for hand in state.deal.hands}
    assert len(state.deal.hands) == players
    assert len(state.deal.piles.pile) == 1
    observe = {
        "hand_size": lambda: sizes.pop() if len(sizes) == 1 else sizes,
        "stock_after_upcard": lambda: len(state.deal.piles.stock),
    }
    compare(vector["expect"], observe)


def settle(vector):
    """Ends a hand as it was ended: blocked when nothing can be drawn or taken."""
    given = vector["input"]
    only(given, "out", "players")
    assert given["out"] is None, "the adapter knows only blocked hands"
    hands, tables = [], []
    for player in given["players"]:
        only(player, "melds", "hand")
        hands.append(tuple(player["hand"]))
        tables.append(Table(tuple(meld_of(each) for each in player["melds"])))
    # The last to play holds one card more than at the end, and discards it.
    hands[0] = (*hands[0], "9c")
    match = Match(Options(), 0, (0,) * len(hands), ())
    nothing = ((),) * len(hands)
    deal = Deal(
        Phase.PLAY, Seat(0), tuple(hands), nothing, tuple(tables), Piles((), (), 3), drawn=None
    )
    _, told = oklahoma_rummy.step(State(match, deal), ((Seat(0), Discard("9c")),), Unshuffled())
    (scored,) = [event for event, _ in told if isinstance(event, Scored)]
    assert scored.out is None
    compare(vector["expect"], {"gained": lambda: list(scored.points)})


def draw_phase(vector):
    """What a turn begins with, after the seat before discarded the top card."""
    given = vector["input"]
    only(given, "stock", "rebuilds_used", "pile", "hand")
    *pile, top = given["pile"]
    stock = DECK[: given["stock"]]
    state = state_of(
        Phase.PLAY,
        (top, "3d"),
        other=tuple(given["hand"]),
        piles=Piles(tuple(stock), tuple(pile), given["rebuilds_used"]),
    )
    following, told = oklahoma_rummy.step(state, ((Seat(0), Discard(top)),), Unshuffled())
    ended = any(isinstance(event, Scored) for event, _ in told)
    acting = () if ended else oklahoma_rummy.to_act(following)
    assert acting in ((), (1,))
    observe = {
        "actions": lambda: sorted(types_of(following, 1)),
        "hand_ends": lambda: ended,
    }
    compare(vector["expect"], observe)
    assert ended == vector["expect"].get("hand_ends", False)


def game_end(vector):
    only(vector["input"], "scores")
    scores = tuple(vector["input"]["scores"])
    over = rules.is_over(Options(), 1, scores)
    best = [seat for seat, score in enumerate(scores) if score == max(scores)]
    observe = {"over": lambda: over, "winners": lambda: best if over else []}
    compare(vector["expect"], observe)


def types_of(state, seat):
    return {TYPES[type(move)] for move in oklahoma_rummy.moves(state, Seat(seat)).offered}


def deck_of(given, players, dealer):
    """The pack in dealing order: singly from the dealer's left, the upcard, the stock."""
    only(given, "hands", "upcard", "stock")
    order = [
        given["hands"][(dealer + 1 + at) % players][card]
        for card in range(len(given["hands"][0]))
        for at in range(players)
    ]
    deck = (*order, given["upcard"], *given["stock"])
    assert sorted(deck) == sorted(DECK)
    return deck


class Script:
    """A match in play, and what was told of its last scored hand."""

    def __init__(self, given):
        only(given, "players", "dealer", "scores", "deals")
        players, dealer = given["players"], given["dealer"]
        packs = [
            deck_of(each, players, (dealer + at) % players)
            for at, each in enumerate(given["deals"])
        ]
        decks = {(dealer + at, "deck"): pack for at, pack in enumerate(packs)}
        # Later hands, and stocks that are rebuilt, lie as they come.
        self.deals = Loaded(decks, Unshuffled())
        match = Match(Options(), dealer, tuple(given["scores"]), ((0,) * players,) * dealer)
        self.state, _ = rules.deal_hand(match, self.deals)
        self.turns = 0
        self.last_hand = None

    def do(self, seat, action):
        move = move_of(action)
        assert move in oklahoma_rummy.moves(self.state, Seat(seat))
        self.state, told = oklahoma_rummy.step(self.state, ((Seat(seat), move),), self.deals)
        for event, _ in told:
            self.turns += isinstance(event, Drew | PileTaken)
            if isinstance(event, Scored):
                gained = list(event.points)
                self.last_hand = {"out": event.out, "gained": gained, "turns": self.turns}
                self.turns = 0

    def reject(self, seat, action):
        move, before = move_of(action), repr(self.state)
        if (seat,) == oklahoma_rummy.to_act(self.state):
            assert move not in oklahoma_rummy.moves(self.state, Seat(seat))
        with pytest.raises(IllegalMove):
            oklahoma_rummy.step(self.state, ((Seat(seat), move),), self.deals)
        assert repr(self.state) == before

    def expect(self, expected):
        expected = dict(expected)
        if "hands" in expected:
            hands = expected.pop("hands")
            assert list(map(sorted, hands)) == list(map(sorted, self.state.deal.hands))
        if "legal" in expected:
            seat, actions = expected.pop("legal")
            assert oklahoma_rummy.to_act(self.state) == (seat,)
            legal = oklahoma_rummy.moves(self.state, Seat(seat))
            assert legal.complete
            assert set(legal.offered) == {move_of(action) for action in actions}
        if "legal_types" in expected:
            seat, types = expected.pop("legal_types")
            assert oklahoma_rummy.to_act(self.state) == (seat,)
            assert types_of(self.state, seat) == set(types)
        if "melds" in expected:
            expected["melds"] = [[written(each) for each in own] for own in expected["melds"]]
        compare(expected, self.observables())

    def observables(self):
        state, deal = self.state, self.state.deal
        result = oklahoma_rummy.result(state)
        shown = oklahoma_rummy.view(state, None)

        def winners():
            return [seat for seat, place in enumerate(result.places) if place == 1]

        return {
            "actors": lambda: list(oklahoma_rummy.to_act(state)),
            "phase": lambda: str(deal.phase),
            "pile": lambda: list(shown.pile),
            "stock_left": lambda: shown.stock,
            "hand_sizes": lambda: list(shown.hand_sizes),
            "scores": lambda: list(shown.totals),
            "dealer": lambda: shown.dealer,
            "over": lambda: result is not None,
            "winners": winners,
            "last_hand": lambda: self.last_hand,
            "melds": lambda: [
                [
                    written({"kind": str(m.kind), "cards": list(m.cards), "value": m.points})
                    for m in table.melds
                ]
                for table in shown.tables
            ],
        }


def written(given):
    """A meld of an observable; a set's cards have no order."""
    only(given, "kind", "cards", "value")
    cards = given["cards"] if given["kind"] == "run" else sorted(given["cards"])
    return (given["kind"], tuple(cards), given["value"])


def script(vector):
    played = Script(vector["input"])
    for one in vector["steps"]:
        only(one, "do", "reject", "expect")
        if "do" in one:
            played.do(*one["do"])
        elif "reject" in one:
            played.reject(*one["reject"])
        else:
            played.expect(one["expect"])
    played.expect(vector.get("expect", {}))


KINDS = {
    "meld": meld,
    "extend": extend,
    "take": take,
    "hand_value": hand_value,
    "setup": setup,
    "settle": settle,
    "draw_phase": draw_phase,
    "game_end": game_end,
    "script": script,
}
