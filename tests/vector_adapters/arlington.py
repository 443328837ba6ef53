"""Vectors of Arlington."""

from arena.games.arlington import rules
from arena.games.arlington import rules as arlington
from arena.games.arlington.layout import Layout, table_of
from arena.games.arlington.messages import (
    Add,
    Kill,
    LeadCard,
    LeadSet,
    Options,
    Overplay,
    Pass,
    Phase,
    PlayCard,
    PlayS2,
    Scored,
    TakeJoker,
)
from arena.games.arlington.rules import Match, State
from arena.games.arlington.sets import Spectrum, is_set, points_of, set_of, spectra_of, strength_of
from arena.games.cards import PACK_52, pack
from arena.games.contract import Seat, places_of
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import Hidden, compare, only, seats, unordered
from tests.vector_adapters.steps import Hand

GAMES = ("arlington",)

PHASES = {
    Phase.LEAD: "lead",
    Phase.TRICK: "trick",
    Phase.RESPOND: "respond",
    Phase.OVER: "scoring",  # the vectors' matches are one hand long
}
LIKE = {
    "actor": seats,
    "hands": unordered,
    "tables": unordered,
    "active": unordered,
    "visible": unordered,
}


def move_of(action):
    match action["type"]:
        case "lead_card":
            only(action, "type", "card")
            return LeadCard(action["card"])
        case "lead_set":
            only(action, "type", "cards", "spectrum")
            name = action.get("spectrum")
            return LeadSet(tuple(action["cards"]), None if name is None else Spectrum(name))
        case "play_s2":
            only(action, "type", "seat", "index")
            return PlayS2(action["seat"], action["index"])
        case "add":
            only(action, "type", "seat", "index", "card")
            return Add(action["seat"], action["index"], action["card"])
        case "take_joker":
            only(action, "type", "seat", "index", "card")
            return TakeJoker(action["seat"], action["index"], action["card"])
        case "play_card":
            only(action, "type", "card")
            return PlayCard(action["card"])
        case "pass":
            only(action, "type")
            return Pass()
        case "overplay":
            only(action, "type", "cards")
            return Overplay(tuple(action["cards"]))
        case "kill":
            only(action, "type")
            return Kill()
    raise AssertionError(f"the adapter does not know the action {action['type']!r}")


def match_of_one_hand(seats, hand=0):
    return Match(Options(hands=hand + 1), hand, (0,) * seats, ((0,) * seats,) * hand)


def state_at(given):
    only(given, "n", "hands", "tables", "lead", "graveyard_count")
    seats = given["n"]
    assert len(given["hands"]) == len(given["tables"]) == seats
    for cards in (cards for table in given["tables"] for cards in table):
        assert is_set(set_of(cards)), cards
    layout = Layout(
        hands=tuple(set_of(hand) for hand in given["hands"]),
        known=((),) * seats,
        tables=tuple(table_of(map(set_of, table)) for table in given["tables"]),
        buried=(),
        undealt=given["graveyard_count"],
    )
    turn = rules.new_turn(Phase.LEAD, Seat(given["lead"]))
    return State(match_of_one_hand(seats), layout, turn)


class Table(Hand):
    """A hand, from its deal or in the middle."""

    like = LIKE
    scored_by = Scored

    def __init__(self, state, deals, seat=None):
        super().__init__(arlington, state, deals, seat)

    @classmethod
    def of_state(cls, vector):
        only(vector["input"], "state", "seat")
        return cls(
            state_at(vector["input"]["state"]), StackedDeals({}), vector["input"].get("seat")
        )

    @classmethod
    def of_deck(cls, vector):
        only(vector["input"], "n", "dealer", "deck")
        return cls(dealt(vector["input"]).state, StackedDeals({}))

    def move_of(self, action):
        return move_of(action)

    def observe(self):
        layout, turn = self.state.layout, self.state.turn
        over, active = turn.phase is Phase.OVER, turn.active
        seen = arlington.view(self.state, self.seat)
        piles = [*seen.known, *(cards for table in seen.tables for cards in table.sets)]
        shown = {*seen.held, *seen.trick_cards, *seen.buried, *(c for pile in piles for c in pile)}
        return {
            "phase": lambda: PHASES[turn.phase],
            "lead": lambda: turn.lead,
            "actor": self.actors,
            "hands": lambda: layout.hands,
            "tables": lambda: [table.sets for table in layout.tables],
            "hand_sizes": lambda: seen.hand_sizes,
            # What is left in the hands is buried when the hand is scored (R20).
            "graveyard_count": lambda: seen.graveyard + (sum(seen.hand_sizes) if over else 0),
            "graveyard_count_before_scoring": lambda: seen.graveyard if over else None,
            "active": lambda: active and layout.tables[active.owner].sets[active.index],
            "spectrum": lambda: active and str(active.spectrum),
            "scores": lambda: self.scored and self.scored.points,
            "decisions": lambda: self.decisions,
            "visible": lambda: list(shown),
            "hidden": Hidden(lambda: shown),
            "count": self.count,
        }

    def count(self):
        """Legal actions of the seat to act, each once."""
        if not self.actors():
            return 0
        (seat,) = self.actors()
        moves = self.moves(seat)
        assert len(set(moves.offered)) == len(moves.offered)
        return moves.count()


def deck_of(given):
    return pack(jokers=2) if given["deck"] == "canonical" else tuple(given["deck"])


def dealt(given):
    seats, dealer, deck = given["n"], given["dealer"], deck_of(given)
    return rules.deal_hand(match_of_one_hand(seats, dealer), StackedDeals({(dealer, "deck"): deck}))


def deal(vector):
    only(vector["input"], "n", "dealer", "deck")
    state, told = dealt(vector["input"])
    hands = state.layout.hands
    deck = deck_of(vector["input"])
    for event, audience in told[1:]:
        assert (event.cards, audience) == (hands[event.seat], (event.seat,))
    (hand_size,) = {len(hand) for hand in hands}
    by_name = {f"hand{seat}": lambda hand=hand: hand for seat, hand in enumerate(hands)}
    observe = {
        **by_name,
        "hands": lambda: hands,
        "first_cards": lambda: [next(card for card in deck if card in hand) for hand in hands],
        "hand_size": lambda: hand_size,
        "graveyard_count": lambda: arlington.view(state, None).graveyard,
        "lead": lambda: state.turn.lead,
    }
    compare(vector["expect"], observe, dict.fromkeys(("hands", *by_name), unordered))


def game_end(vector):
    given = vector["input"]
    only(given, "totals_before", "hand_scores")
    before, points = given["totals_before"], given["hand_scores"]
    totals = [had + won for had, won in zip(before, points, strict=True)]
    over = rules.is_over(Options(), 2, totals)
    firsts = [seat for seat, place in enumerate(places_of(totals)) if place == 1]
    observe = {
        "totals": lambda: totals,
        "over": lambda: over,
        "winners": lambda: firsts if over else [],
    }
    compare(vector["expect"], observe)


def set_spectra(vector):
    only(vector["input"], "cards")
    found = spectra_of(set_of(vector["input"]["cards"]))
    compare(vector["expect"], {"spectra": lambda: [str(spectrum) for spectrum in found]})


def set_compare(vector):
    given = vector["input"]
    only(given, "spectrum", "a", "b")
    a, b = (strength_of(set_of(given[which]), Spectrum(given["spectrum"])) for which in "ab")
    assert a is not None
    assert b is not None
    result = "higher" if a > b else "lower" if a < b else "equal"
    compare(vector["expect"], {"result": lambda: result})


def set_score(vector):
    only(vector["input"], "cards")
    points = points_of(set_of(vector["input"]["cards"]))
    compare(vector["expect"], {"points": lambda: points})


def hidden(state, seat):
    """Other hands, but for cards all have seen, and the undealt cards; for ever."""
    layout, seen = state.layout, set(state.turn.trick_cards)
    seen.update(layout.buried, *layout.known, *(cards for t in layout.tables for cards in t.sets))
    if seat is not None:
        seen.update(layout.hands[seat])
    return (card for card in PACK_52 if card not in seen)


KINDS = {
    "set_spectra": set_spectra,
    "set_compare": set_compare,
    "set_score": set_score,
    "deal": deal,
    "game_end": game_end,
}
SITTINGS = {
    "script": Table.of_state,
    "legal_actions": Table.of_state,
    "view": Table.of_state,
    "replay": Table.of_deck,
}
