"""Vectors of Open-Face Chinese Poker."""

from arena.games.cards import PACK_52
from arena.games.chinese.hands import settle_pairs
from arena.games.chinese.unit_values import unit_values
from arena.games.contract import Seat
from arena.games.open_face_chinese_poker import rules, scoring
from arena.games.open_face_chinese_poker import rules as open_face
from arena.games.open_face_chinese_poker.messages import Place, Scored
from arena.games.open_face_chinese_poker.rules import Match
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import compare, only, seats
from tests.vector_adapters.steps import Sitting

GAMES = ("open_face_chinese_poker",)
LIKE = {"to_act": seats}
ROWS = ("front", "middle", "back")


def rows_of(given):
    only(given, *ROWS)
    return scoring.score_rows(*(given[row] for row in ROWS))


def royalties(vector):
    given = dict(vector["input"])
    there = given.pop("in_fantasyland", None) or False
    judged = rows_of(given)
    observe = {
        "foul": lambda: judged.foul,
        "royalties": lambda: dict(zip(ROWS, judged.royalties, strict=True)),
        "next_fantasyland": lambda: scoring.reaches_fantasyland(judged, in_fantasyland=there),
    }
    compare(vector["expect"], observe)


def settle(vector):
    only(vector["input"], "players", "unit_values")
    hands = [rows_of(player) for player in vector["input"]["players"]]
    values = unit_values(vector["input"].get("unit_values", ""), len(hands))
    net = settle_pairs(hands, scoring.pair_units, values)
    compare(vector["expect"], {"net_units": lambda: list(net)})


def rotation(vector):
    """Given who earned Fantasyland after each hand, follows the deal."""
    given = vector["input"]
    only(given, "seats", "first_dealer", "fantasyland_earned_by_someone")
    dealers = [given["first_dealer"]]
    for earned in given["fantasyland_earned_by_someone"][:-1]:
        dealers.append(rules.next_dealer(Seat(dealers[-1]), given["seats"], (earned,)))
    compare(vector["expect"], {"dealers": lambda: dealers})


def move_of(action):
    only(action, "type", "place")
    assert action["type"] == "place"
    only(action["place"], *ROWS)
    return Place(*(tuple(action["place"].get(row, ())) for row in ROWS))


class Table(Sitting):
    """One hand, in the middle of a match that goes on."""

    like = LIKE

    def __init__(self, vector):
        given = vector["input"]
        only(given, "seats", "dealer", "in_fantasyland", "deck")
        number = given["seats"]
        # The hand under test and one after it; enough is scheduled that the match goes on.
        deals = StackedDeals({(0, "deck"): given["deck"], (1, "deck"): PACK_52})
        match = Match(
            seats=tuple(Seat(seat) for seat in range(number)),
            scheduled=8,
            unit_values=unit_values("", number),
            played=0,
            dealer=Seat(given["dealer"]),
            fantasyland=tuple(given["in_fantasyland"]),
            hand_scores=(),
            totals=(0,) * number,
        )
        super().__init__(open_face, rules.deal_hand(match, deals).state, deals)
        self.scored = None

    def move_of(self, action):
        return move_of(action)

    def heard(self, event):
        if isinstance(event, Scored):
            assert self.scored is None, "the hand was scored before"
            self.scored = event

    def observe(self):
        def scored(name):
            return lambda: None if self.scored is None else getattr(self.scored, name)

        return {
            "to_act": lambda: self.actors() if self.scored is None else [],
            "net_units": scored("units"),
            "fouls": scored("fouls"),
            "royalties": scored("royalties"),
            "next_fantasyland": scored("fantasyland"),
        }


def hidden(state, seat):
    """Other seats' cards not placed yet, but for a card just drawn; settings; the stock."""
    if state.phase == "over":
        return ()
    hand = state.hand
    unplaced = [cards for cards in hand.dealt if len(cards) != 1]
    mine = () if seat is None else hand.dealt[seat]
    hidden = [card for cards in unplaced for card in cards if card not in mine]
    for at, setting in enumerate(hand.settings):
        if setting is not None and at != seat:
            hidden += [*setting.front, *setting.middle, *setting.back]
    return (*hidden, *hand.stock)


KINDS = {
    "royalties": royalties,
    "settle": settle,
    "rotation": rotation,
}
SITTINGS = {"script": Table, "playthrough": Table}
