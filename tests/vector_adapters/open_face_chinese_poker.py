"""Vectors of Open-Face Chinese Poker."""

import pytest

from arena.cards import PACK_52
from arena.games import open_face_chinese_poker as open_face
from arena.games.contract import IllegalMove, Seat
from arena.games.open_face_chinese_poker import rules, scoring
from arena.games.open_face_chinese_poker.state import Match
from arena.games.open_face_chinese_poker.words import Place, Scored
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

GAMES = ("open_face_chinese_poker",)
ROWS = ("front", "middle", "back")


def rows_of(given):
    only(given, *ROWS)
    return scoring.score_rows(*(given[row] for row in ROWS))


def royalties(vector):
    given = dict(vector["input"])
    there = given.pop("in_fantasyland")
    judged = rows_of(given)
    observe = {
        "foul": lambda: judged.foul,
        "royalties": lambda: dict(zip(ROWS, judged.royalties, strict=True)),
        "next_fantasyland": lambda: scoring.reaches_fantasyland(judged, in_fantasyland=there),
    }
    compare(vector["expect"], observe)


def settle(vector):
    only(vector["input"], "players")
    net = scoring.settle([rows_of(player) for player in vector["input"]["players"]])
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


def play(vector):
    given = vector["input"]
    only(given, "seats", "dealer", "in_fantasyland", "deck")
    seats = given["seats"]
    # The hand under test and one after it; enough is scheduled that the match goes on.
    deals = Loaded({(0, "deck"): given["deck"], (1, "deck"): PACK_52})
    match = Match(
        seats=tuple(Seat(seat) for seat in range(seats)),
        scheduled=8,
        played=0,
        dealer=Seat(given["dealer"]),
        fantasyland=tuple(given["in_fantasyland"]),
        hand_scores=(),
        totals=(0,) * seats,
    )
    state, _ = rules.deal_hand(match, deals)
    pending, scored = {}, []
    for one in vector["steps"]:
        only(one, "do", "reject")
        if "reject" in one:
            seat, action = one["reject"]
            refuse(state, Seat(seat), move_of(action), deals)
            continue
        seat, action = one["do"]
        assert seat in open_face.to_act(state)
        assert move_of(action) in open_face.moves(state, Seat(seat))
        pending[seat] = move_of(action)
        acting = open_face.to_act(state)
        if len(pending) == len(acting):
            chosen = tuple((who, pending[who]) for who in acting)
            state, told = open_face.step(state, chosen, deals)
            scored += [event for event, _ in told if isinstance(event, Scored)]
            pending = {}
    (last,) = scored
    observe = {
        "net_units": lambda: list(last.units),
        "fouls": lambda: list(last.fouls),
        "royalties": lambda: list(last.royalties),
        "next_fantasyland": lambda: list(last.fantasyland),
    }
    compare(vector["expect"], observe)


def refuse(state, seat, move, deals):
    """A choice that is refused: by a seat that is not asked, or of a move that is not legal."""
    before = state
    if seat in open_face.to_act(state):
        assert move not in open_face.moves(state, seat)
    if open_face.to_act(state) == (seat,) or seat not in open_face.to_act(state):
        with pytest.raises(IllegalMove):
            open_face.step(state, ((seat, move),), deals)
    assert state == before


KINDS = {
    "royalties": royalties,
    "settle": settle,
    "rotation": rotation,
    "script": play,
    "playthrough": play,
}
