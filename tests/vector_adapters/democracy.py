"""Vectors of Democracy."""

from arena.games.cards import JOKER
from arena.games.contract import Seat, places_of
from arena.games.democracy import messages, rules, scoring
from arena.games.democracy import rules as democracy
from arena.games.democracy.messages import Options, PlayCard, Scored, Shown
from arena.games.democracy.rules import Match
from arena.testing.deals import RecordedDeals, StackedDeals, UnshuffledDeals
from tests.vector_adapters.deals import (
    OfSeat,
    compare,
    only,
    others,
    seats,
    unordered,
)
from tests.vector_adapters.steps import Sitting

GAMES = ("democracy",)
LIKE = {
    "actors": seats,
    "legal_cards": unordered,
    "captured": unordered,
    "discarded": unordered,
    "tribes": unordered,
}


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
    deals = RecordedDeals(UnshuffledDeals())
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
    given = vector["input"]
    only(given, "upcard", "plays")
    plays = tuple(given["plays"])
    winner = scoring.trick_winner(given["upcard"], plays)
    unplayed = scoring.unplayed(len(plays))
    island = scoring.capture(unplayed, given["upcard"], plays, winner)
    observe = {
        "winner": lambda: winner,
        "captured": lambda: island.captured,
        "discarded": lambda: island.discarded,
    }
    compare(vector["expect"], observe, LIKE)


def island(vector):
    only(vector["input"], "captured")
    points = [scoring.suit_points(cards) for cards in vector["input"]["captured"]]
    observe = {
        "points": lambda: [by_suit(each) for each in points],
        "tribes": lambda: tribes(points),
    }
    compare(vector["expect"], observe, LIKE)


def tribes(points):
    return [list(scoring.tribes_of(each)) for each in points]


def game_end(vector):
    only(vector["input"], "scores")
    scores = tuple(vector["input"]["scores"])
    over = rules.is_over(Options(), 1, scores)
    compare(
        vector["expect"],
        {"over": lambda: over, "winners": lambda: winners(scores) if over else []},
    )


def winners(scores):
    return [seat for seat, place in enumerate(places_of(scores)) if place == 1]


class Table(Sitting):
    """A match on prepared deals."""

    like = LIKE

    def __init__(self, vector):
        given = vector["input"]
        only(given, "players", "dealer", "scores", "deals")
        players, first = given["players"], given["dealer"]  # seat d deals hand d first
        decks = {}
        for hand, each in enumerate(given["deals"], first):
            only(each, "days")
            decks[hand, "deck"] = dealing_order(each["days"], hand % players)
        everybody = tuple(Seat(seat) for seat in range(players))
        scores = ((0,) * players,) * first
        match = Match(Options(), everybody, first, scores, tuple(given["scores"]))
        deals = StackedDeals(decks)
        super().__init__(democracy, rules._begin_island(match, deals).state, deals)
        self.shown = self.scored = None

    def move_of(self, action):
        return play_of(action)

    def heard(self, event):
        if isinstance(event, Shown):
            self.shown = event
        elif isinstance(event, Scored):
            self.scored = event

    def observe(self):
        seen = democracy.view(self.state, None)
        over = not democracy.to_act(self.state)
        return {
            "actors": self.actors,
            "day": lambda: seen.day,
            "dealer": lambda: seen.dealer,
            "upcard": lambda: seen.upcard,
            "pool_left": lambda: seen.pool,
            "hand_sizes": self.hand_sizes,
            "legal_cards": OfSeat(lambda seat: [move.card for move in self.moves(seat)]),
            "last_winner": self.last_winner,
            "captured_points": lambda: [by_suit(each) for each in seen.island.points],
            "tribes": self.tribes,
            "scores": lambda: seen.totals,
            "over": lambda: over,
            "winners": lambda: winners(seen.totals) if over else [],
        }

    def last_winner(self):
        """Of the last trick; None before the first, and if it was tied."""
        if self.shown is None or self.shown.winner == messages.TIE:
            return None
        return self.shown.winner

    def tribes(self):
        """Of the island that was scored last, as long as no trick of another was played."""
        island = self.state.island
        scored = self.scored is not None and not (self.actors() and island.upcards)
        return tribes(self.scored.points if scored else island.points)

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


def hidden(state, seat):
    """Other hands, the pool below its top, and what is not dealt yet."""
    day = state.day
    return (*others(day.hands, seat), *day.pool[1:], *day.undealt)


KINDS = {
    "deck": deck,
    "trick": trick,
    "island": island,
    "game_end": game_end,
}
SITTINGS = {"script": Table}
