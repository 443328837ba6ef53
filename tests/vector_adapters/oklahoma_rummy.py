"""Vectors of Oklahoma Rummy."""

from arena.games.contract import IllegalMove, Seat
from arena.games.oklahoma_rummy import rules
from arena.games.oklahoma_rummy import rules as oklahoma_rummy
from arena.games.oklahoma_rummy.melds import (
    HELD_POINTS,
    End,
    MeldKind,
    TableMeld,
    read_meld,
    set_rank,
)
from arena.games.oklahoma_rummy.messages import (
    Decline,
    Declined,
    Discard,
    Draw,
    Drew,
    Extend,
    Meld,
    NoDiscard,
    Options,
    Phase,
    PileTaken,
    Scored,
    Table,
    TakePile,
)
from arena.games.oklahoma_rummy.rules import DECK, Deal, Match, Piles, State
from arena.testing.deals import StackedDeals, UnshuffledDeals
from tests.vector_adapters.deals import (
    OfSeat,
    compare,
    only,
    plain,
    seats,
    unordered,
)
from tests.vector_adapters.steps import Sitting

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
PHASES = {Phase.DRAW: "draw", Phase.PLAY: "play", Phase.OVER: "done"}
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
            end = None if action.get("end") is None else End(action["end"])
            return Extend(action["meld"], action["card"], end)
        case "discard":
            only(action, "type", "card")
            return Discard(action["card"])
    raise AssertionError(f"the adapter does not know the action {action['type']!r}")


def action_of(move):
    action = {"type": TYPES[type(move)]}
    match move:
        case TakePile(kind, cards) | Meld(kind, cards):
            return {**action, "kind": str(kind), "cards": list(cards)}
        case Extend(index, card, end):
            at = {} if end is None else {"end": str(end)}
            return {**action, "meld": index, "card": card, **at}
        case Discard(card):
            return {**action, "card": card}
    return action


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
        following, _ = oklahoma_rummy.step(state, ((Seat(0), move),), UnshuffledDeals())
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
    return [set_rank(meld.cards) if card[0] == "2" else card for card in meld.cards]


LAID = {"represents": unordered, "cards": unordered}
"""The cards of a set have no order; those of a run have."""


def meld(vector):
    given = vector["input"]
    only(given, "kind", "cards")
    kind, cards = MeldKind(given["kind"]), tuple(given["cards"])
    # A card is left over, so that the hand goes on.
    following = after(state_of(Phase.PLAY, (*cards, "Jd", "5c")), Meld(kind, cards))
    laid = following and following.deal.tables[0].melds[-1]
    observe = {
        "valid": lambda: following is not None,
        "represents": lambda: laid and represents(laid),
        "value": lambda: laid and laid.points,
    }
    compare(vector["expect"], observe, LAID if kind is MeldKind.SET else {})


def extend(vector):
    given = vector["input"]
    only(given, "hand", "meld", "card", "end")
    end = None if given.get("end") is None else End(given["end"])
    state = state_of(Phase.PLAY, given["hand"], melds=[meld_of(given["meld"])])
    following = after(state, Extend(0, given["card"], end))
    grown = following and following.deal.tables[0].melds[0]
    observe = {
        "valid": lambda: following is not None,
        "cards": lambda: grown and grown.cards,
        "represents": lambda: grown and represents(grown),
        "value": lambda: grown and grown.points,
    }
    compare(vector["expect"], observe, LAID if given["meld"]["kind"] == "set" else {})


def take(vector):
    given = vector["input"]
    only(given, "pile", "hand", "kind", "cards")
    state = state_of(Phase.DRAW, given["hand"], piles=Piles(("3c",), tuple(given["pile"]), 0))
    kind = MeldKind(given["kind"])
    following = after(state, TakePile(kind, tuple(given["cards"])))
    laid = following and following.deal.tables[0].melds[-1]
    observe = {
        "valid": lambda: following is not None,
        "represents": lambda: laid and represents(laid),
        "value": lambda: laid and laid.points,
        "hand_after": lambda: following and following.deal.hands[0],
    }
    like = LAID if kind is MeldKind.SET else {}
    compare(vector["expect"], observe, {**like, "hand_after": unordered})


def hand_value(vector):
    only(vector["input"], "hand")
    lost = -rules.hand_points(Table(()), tuple(vector["input"]["hand"]))
    assert lost == sum(HELD_POINTS[card] for card in vector["input"]["hand"])
    compare(vector["expect"], {"value": lambda: lost})


def setup(vector):
    only(vector["input"], "players")
    players = vector["input"]["players"]
    state, _ = oklahoma_rummy.start(Options(), players, UnshuffledDeals())
    sizes = {len(hand) for hand in state.deal.hands}
    assert len(state.deal.hands) == players
    assert len(state.deal.piles.pile) == 1
    observe = {
        "hand_size": lambda: sizes.pop() if len(sizes) == 1 else sizes,
        "stock_after_upcard": lambda: len(state.deal.piles.stock),
    }
    compare(vector["expect"], observe)


def settle(vector):
    """Ends a hand as it was ended: by a seat that goes out, or blocked as nothing can be drawn."""
    given = vector["input"]
    only(given, "out", "players")
    out = given.get("out")
    hands, tables = [], []
    for player in given["players"]:
        only(player, "melds", "hand")
        hands.append(tuple(player["hand"]))
        tables.append(Table(tuple(meld_of(each) for each in player["melds"])))
    # The last to play holds one card more than at the end, and discards it.
    last = Seat(0 if out is None else out)
    assert out is None or not hands[last], "who is out holds no card"
    hands[last] = (*hands[last], "9c")
    match = Match(Options(), 0, (0,) * len(hands), ())
    nothing = ((),) * len(hands)
    deal = Deal(
        Phase.PLAY, last, tuple(hands), nothing, tuple(tables), Piles((), (), 3), drawn=None
    )
    _, told = oklahoma_rummy.step(State(match, deal), ((last, Discard("9c")),), UnshuffledDeals())
    (scored,) = [event for event, _ in told if isinstance(event, Scored)]
    assert scored.out == out
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
    following, told = oklahoma_rummy.step(state, ((Seat(0), Discard(top)),), UnshuffledDeals())
    ended = any(isinstance(event, Scored) for event, _ in told)
    acting = () if ended else oklahoma_rummy.to_act(following)
    assert acting in ((), (1,))
    observe = {
        "actions": lambda: [] if ended else types_of(following, 1),
        "hand_ends": lambda: ended,
    }
    compare(vector["expect"], observe, {"actions": unordered})
    if "hand_ends" not in vector["expect"]:
        compare({"hand_ends": vector["expect"].get("actions") == []}, observe)


def game_end(vector):
    only(vector["input"], "scores")
    scores = tuple(vector["input"]["scores"])
    over = rules.is_over(Options(), 1, scores)
    best = [seat for seat, score in enumerate(scores) if score == max(scores)]
    observe = {"over": lambda: over, "winners": lambda: best if over else []}
    compare(vector["expect"], observe)


def types_of(state, seat):
    moves = oklahoma_rummy.moves(state, Seat(seat)).offered
    return list({TYPES[type(move)]: None for move in moves})


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


class InPlay(Sitting):
    """A match in play, and what was told of its last scored hand."""

    def __init__(self, vector):
        given = vector["input"]
        only(given, "players", "dealer", "scores", "deals")
        players, dealer = given["players"], given["dealer"]
        packs = [
            deck_of(each, players, (dealer + at) % players)
            for at, each in enumerate(given["deals"])
        ]
        decks = {(dealer + at, "deck"): pack for at, pack in enumerate(packs)}
        # Later hands, and stocks that are rebuilt, lie as they come.
        deals = StackedDeals(decks, UnshuffledDeals())
        match = Match(Options(), dealer, tuple(given["scores"]), ((0,) * players,) * dealer)
        super().__init__(oklahoma_rummy, rules.deal_hand(match, deals).state, deals)
        self.like = LIKE
        self.turns = 0
        self.last_hand = None

    def move_of(self, action):
        return move_of(action)

    def heard(self, event):
        # A turn has begun once it is said how.
        self.turns += isinstance(event, Drew | PileTaken | Declined)
        if isinstance(event, Scored):
            gained = list(event.points)
            self.last_hand = {"out": event.out, "gained": gained, "turns": self.turns}
            self.turns = 0

    def legal(self, seat):
        moves = self.moves(seat)
        assert not moves or moves.complete
        return [action_of(move) for move in (moves and moves.offered)]

    def observe(self):
        state, result = self.state, oklahoma_rummy.result(self.state)
        shown = oklahoma_rummy.view(state, None)
        places = () if result is None else result.places
        return {
            "actors": self.actors,
            "phase": lambda: PHASES[shown.phase],
            "legal": OfSeat(self.legal),
            "legal_types": OfSeat(
                lambda seat: types_of(state, seat) if seat in self.actors() else []
            ),
            "pile": lambda: shown.pile,
            "stock_left": lambda: shown.stock,
            "rebuilds": lambda: shown.rebuilds,
            "hands": lambda: state.deal.hands,
            "hand_sizes": lambda: shown.hand_sizes,
            "scores": lambda: shown.totals,
            "dealer": lambda: shown.dealer,
            "over": lambda: result is not None,
            "winners": lambda: [seat for seat, place in enumerate(places) if place == 1],
            "turns": lambda: self.turns,
            "last_hand": lambda: self.last_hand,
            "melds": lambda: [
                [
                    {"kind": str(meld.kind), "cards": list(meld.cards), "value": meld.points}
                    for meld in table.melds
                ]
                for table in shown.tables
            ],
        }


def melds_by_seat(value):
    """Melds as they compare: a set's cards have no order."""
    if not isinstance(value, list) or not all(isinstance(own, list) for own in value):
        return plain(value)
    return [[written(each) for each in own] for own in value]


def written(meld):
    if not isinstance(meld, dict):
        return meld
    return {**meld, "cards": meld["cards"] if meld["kind"] == "run" else sorted(meld["cards"])}


def typed(value):
    """Legal actions as moves, in an order of their own."""
    if not isinstance(value, list):
        return value
    return sorted(repr(move_of(action)) for action in value)


LIKE = {
    "actors": seats,
    "legal": typed,
    "legal_types": unordered,
    "hands": unordered,
    "melds": melds_by_seat,
}


def hidden(state, seat):
    """Other hands, but for cards taken from the pile, and the order of the stock.

    Of two twins nobody can say which is where: a face is hidden if both of its cards are.
    """
    deal = state.deal
    if deal.phase == "over":
        return ()
    seen = {*deal.piles.pile, *(card for known in deal.known for card in known)}
    seen.update(card for table in deal.tables for meld in table.melds for card in meld.cards)
    if seat is not None:
        seen.update(deal.hands[seat])
    if deal.phase == "draw" and not deal.piles.can_draw:
        # That the seat is asked shows that it can take the pile.
        seen.update(deal.hands[deal.turn])
    return [card for card in rules.DECK if card not in seen]


KINDS = {
    "meld": meld,
    "extend": extend,
    "take": take,
    "hand_value": hand_value,
    "setup": setup,
    "settle": settle,
    "draw_phase": draw_phase,
    "game_end": game_end,
}
SITTINGS = {"script": InPlay}
