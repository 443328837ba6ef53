"""One hand of poker on a prepared deck, as the vectors of Soko and the Pineapples script it."""

import pytest

from arena.cards import PACK_52
from arena.games.betting.match import HandEnded, Match, Scores, Terms
from arena.games.betting.moves import CALL, CHECK, FOLD, Bet, Raise
from arena.games.contract import IllegalMove, Seat
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

PLAIN = {"fold": FOLD, "check": CHECK, "call": CALL}
WAGERS = {"bet": Bet, "raise": Raise}


def betting_move(action):
    """The move of a betting action, or None if it is of another kind."""
    if action["type"] in PLAIN:
        only(action, "type")
        return PLAIN[action["type"]]
    if action["type"] in WAGERS:
        only(action, "type", "to")
        return WAGERS[action["type"]](action["to"])
    return None


class PokerTable:
    """Plays the last hand of a cash match; simultaneous choices are held as a referee holds them.

    A game gives its package and its words, `begin(options)`, and the move of an action.
    """

    def __init__(self, game, words, options, given):
        seats, dealer = len(given["stacks"]), given["dealer"]
        deck = tuple(given["deck"])
        deck += tuple(card for card in PACK_52 if card not in deck)
        everybody = tuple(Seat(seat) for seat in range(seats))
        nothing = (0,) * seats
        # Seat d deals hand d, here the last of the match.
        terms = Terms(everybody, "cash", hands=dealer + 1)
        scores = Scores((nothing,) * dealer, nothing)
        stacks = tuple(given["stacks"])
        self.match = Match(terms, scores, dealer, Seat(dealer), everybody, stacks)
        self.game, self.words = game, words
        self.deals = Loaded({(dealer, "deck"): deck})
        self.held = {}
        self.state, told = self.begin(options)
        self.told = list(told)

    def begin(self, options):
        raise NotImplementedError

    def move_of(self, action):
        raise NotImplementedError

    def to_act(self):
        return [seat for seat in self.game.to_act(self.state) if seat not in self.held]

    def do(self, seat, action):
        assert seat in self.to_act(), f"seat {seat} is not to act"
        move = self.move_of(action)
        assert move in self.game.moves(self.state, Seat(seat))
        self.held[seat] = move
        if self.to_act():
            return
        chosen = tuple(sorted(self.held.items()))
        self.state, told = self.game.step(self.state, chosen, self.deals)
        self.told += told
        self.held = {}

    def reject(self, seat, action):
        asked = self.game.to_act(self.state)
        if seat in self.held:
            return  # a choice is final: the referee takes no second answer
        move, before = self.move_of(action), self.state
        choices = {each: self.game.fallback(before, each) for each in asked} | {seat: move}
        if seat in asked:
            assert move not in self.game.moves(before, Seat(seat))
        with pytest.raises(IllegalMove):
            self.game.step(before, tuple(sorted(choices.items())), self.deals)

    def legal(self):
        """What the seat to act may do, by its moves and as its view tells it."""
        (seat,) = self.to_act()
        seen = self.game.view(self.state, Seat(seat))
        moves = self.game.moves(self.state, Seat(seat))
        span = None if seen.min_to is None else [seen.min_to, seen.max_to]
        # The range of each kind of wager, by trying every amount there is.
        amounts = range(sum(self.match.stacks) + 2)
        ranges = {}
        for name, wager in self.wagers().items():
            legal = [to for to in amounts if wager(to) in moves]
            ranges[name] = [legal[0], legal[-1]] if legal else None
            assert legal == (list(range(legal[0], legal[-1] + 1)) if legal else [])
            assert ranges[name] in (None, span)
        assert span is None or span in ranges.values()
        calls = seen.to_call if CALL in moves else None
        return {"fold": FOLD in moves, "check": CHECK in moves, "call": calls, **ranges}

    def wagers(self):
        return WAGERS

    def events(self, kind):
        return [event for event, _ in self.told if isinstance(event, kind)]

    def pots(self):
        return [
            {
                "amount": pot.amount,
                "eligible": list(pot.eligible),
                "winners": sorted(pot.winners),
                **self.more_of(pot),
            }
            for pot in self.events(self.words.PotWon)
        ]

    def more_of(self, pot):
        return {}

    def compare(self, expected):
        observe = {
            "to_act": lambda: self.to_act()[0] if len(self.to_act()) == 1 else self.to_act(),
            "legal": self.legal,
            "net": lambda: list(self.events(HandEnded)[-1].nets),
            "showdown": lambda: bool(self.events(self.words.Shown)),
            "pots": self.pots,
        }
        compare(expected, observe)

    def play(self, vector):
        for one in vector["steps"]:
            only(one, "do", "reject", "expect")
            assert len(one) == 1, "a step is one thing"
            if "do" in one:
                self.do(*one["do"])
            elif "reject" in one:
                self.reject(*one["reject"])
            else:
                self.compare(one["expect"])
        self.compare(vector.get("expect", {}))
