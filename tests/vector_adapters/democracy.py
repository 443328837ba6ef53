"""Vectors of Democracy."""

import pytest

from arena.cards import JOKER
from arena.games import democracy
from arena.games.contract import IllegalMove, Seat, places_of
from arena.games.democracy import Match, Options, PlayCard, Scored, Shown
from arena.testing.deals import Loaded, Noted, Unshuffled
from tests.vector_adapters.deals import compare, only

GAMES = ("democracy",)


def by_suit(points):
    return {
        "c": points.clubs,
        "d": points.diamonds,
        "h": points.hearts,
        "s": points.spades,
    }


def deck(vector):
    """Looks at the first deal of a real match, not at the table of sizes."""
    only(vector["input"], "players")
    players = vector["input"]["players"]
    deals = Noted(Unshuffled())
    first, _ = democracy.start(Options(), players, deals)
    state = first
    while state.day.number == 1:
        chosen = tuple((seat, democracy.fallback(state, seat)) for seat in range(players))
        state, _ = democracy.step(state, chosen, deals)
    (shuffle,) = deals.shuffles
    assert (shuffle.hand, shuffle.label) == (0, "deck")
    observe = {
        "deck_size": lambda: len(shuffle.cards),
        "jokers": lambda: shuffle.cards.count(JOKER),
        "day1_each": lambda: len(first.day.hands[-1]),
        "pool_day1": lambda: len(first.day.pool),
        "day2_each": lambda: len(state.day.hands[-1]),
        "pool_day2": lambda: len(state.day.pool),
        "leftover": lambda: len(state.day.undealt),
    }
    compare(vector["expect"], observe)


def trick(vector):
    given, expected = vector["input"], dict(vector["expect"])
    only(given, "upcard", "plays")
    plays = tuple(given["plays"])
    winner = democracy.trick_winner(given["upcard"], plays)
    unplayed = democracy.unplayed(len(plays))
    island = democracy.capture(unplayed, given["upcard"], plays, winner)
    if "captured" in expected:
        expected["captured"] = [sorted(heap) for heap in expected["captured"]]
    observe = {
        "winner": lambda: winner,
        "captured": lambda: [sorted(heap) for heap in island.captured],
        "discarded": lambda: list(island.discarded),
    }
    compare(expected, observe)


def island(vector):
    only(vector["input"], "captured")
    points = [democracy.suit_points(cards) for cards in vector["input"]["captured"]]
    observe = {
        "points": lambda: [by_suit(each) for each in points],
        "tribes": lambda: tribes(points),
    }
    compare(with_sorted_tribes(vector["expect"]), observe)


def tribes(points):
    return [sorted(democracy.tribes_of(each)) for each in points]


def with_sorted_tribes(expected):
    if "tribes" not in expected:
        return expected
    return {**expected, "tribes": [sorted(suits) for suits in expected["tribes"]]}


def game_end(vector):
    only(vector["input"], "scores")
    scores = tuple(vector["input"]["scores"])
    over = democracy.is_over(Options(), 1, scores)
    compare(
        vector["expect"],
        {"over": lambda: over, "winners": lambda: winners(scores) if over else []},
    )


def winners(scores):
    return [seat for seat, place in enumerate(places_of(scores)) if place == 1]


class Table:
    """A match on prepared deals that holds the commitments, as a referee does."""

    def __init__(self, given):
        only(given, "players", "dealer", "scores", "deals")
        players, first = given["players"], given["dealer"]  # seat d deals hand d first
        decks = {}
        for hand, each in enumerate(given["deals"], first):
            only(each, "days")
            decks[hand, "deck"] = dealing_order(each["days"], hand % players)
        self.deals = Loaded(decks)
        seats = tuple(Seat(seat) for seat in range(players))
        scores = ((0,) * players,) * first
        match = Match(Options(), seats, first, scores, tuple(given["scores"]))
        self.state, _ = democracy._begin_island(match, self.deals)
        self.committed = {}
        self.shown = self.scored = None

    def actors(self):
        return [seat for seat in democracy.to_act(self.state) if seat not in self.committed]

    def do(self, seat, action):
        assert seat in self.actors(), f"seat {seat} is not to act"
        move = play_of(action)
        assert move in democracy.moves(self.state, Seat(seat))
        self.committed[seat] = move
        if self.actors():
            return
        chosen = tuple(sorted(self.committed.items()))
        self.state, told = democracy.step(self.state, chosen, self.deals)
        self.committed = {}
        for event, _ in told:
            if isinstance(event, Shown):
                self.shown = event
            elif isinstance(event, Scored):
                self.scored = event

    def reject(self, seat, action):
        if seat not in self.actors():
            return  # a commitment is final: the referee takes no second answer
        move, before = play_of(action), self.state
        assert move not in democracy.moves(before, Seat(seat))
        chosen = tuple(
            (each, move if each == seat else democracy.fallback(before, each))
            for each in democracy.to_act(before)
        )
        with pytest.raises(IllegalMove):
            democracy.step(before, chosen, self.deals)

    def compare(self, expected):
        seen = democracy.view(self.state, None)
        expected = with_sorted_tribes(expected)
        if "actors" in expected:
            expected = {**expected, "actors": sorted(expected["actors"])}
        if "legal_cards" in expected:
            asked, cards = expected["legal_cards"]
            expected = {**expected, "legal_cards": sorted(cards)}
        over = not democracy.to_act(self.state)
        observe = {
            "actors": self.actors,
            "day": lambda: seen.day,
            "dealer": lambda: seen.dealer,
            "upcard": lambda: seen.upcard,
            "pool_left": lambda: seen.pool,
            "hand_sizes": self.hand_sizes,
            "legal_cards": lambda: sorted(
                move.card for move in democracy.moves(self.state, Seat(asked))
            ),
            "last_winner": lambda: (
                None if self.shown.winner == democracy.TIE else self.shown.winner
            ),
            "captured_points": lambda: [by_suit(each) for each in seen.island.points],
            "tribes": lambda: tribes(self.scored.points),
            "scores": lambda: list(seen.totals),
            "over": lambda: over,
            "winners": lambda: winners(seen.totals) if over else [],
        }
        compare(expected, observe)

    def hand_sizes(self):
        sizes = [len(democracy.view(self.state, seat).held) for seat in self.state.match.seats]
        assert set(sizes) == {democracy.view(self.state, None).hand_size}
        return sizes


def play_of(action):
    only(action, "type", "card")
    assert action["type"] == "play", f"the adapter does not know the action {action['type']!r}"
    return PlayCard(action["card"])


def dealing_order(days, dealer):
    """The deck that deals these hands and pools: singly, the pool last in each round."""
    order = []
    for day in days:
        only(day, "hands", "pool")
        seats = len(day["hands"])
        for at, to_pool in enumerate(day["pool"]):
            order += [day["hands"][(dealer + 1 + left) % seats][at] for left in range(seats)]
            order.append(to_pool)
    return order


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
    "deck": deck,
    "trick": trick,
    "island": island,
    "game_end": game_end,
    "script": script,
}
