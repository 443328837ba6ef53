"""One hand of poker on a prepared deck, as the vectors of Soko and the Pineapples script it."""

from arena.games.betting.match import HandEnded, Match, Scores, Terms
from arena.games.betting.moves import CALL, CHECK, FOLD, Bet, Raise
from arena.games.cards import PACK_52
from arena.games.contract import Seat
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import only, seats
from tests.vector_adapters.steps import Sitting

PLAIN = {"fold": FOLD, "check": CHECK, "call": CALL}
LIKE = {"to_act": seats}
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


class PokerTable(Sitting):
    """Plays the last hand of a cash match.

    A game gives its package and its words, `begin(options)`, and the move of an action.
    """

    like = LIKE

    def __init__(self, game, words, options, given):
        number, dealer = len(given["stacks"]), given["dealer"]
        deck = tuple(given["deck"])
        deck += tuple(card for card in PACK_52 if card not in deck)
        everybody = tuple(Seat(seat) for seat in range(number))
        nothing = (0,) * number
        # Seat d deals hand d, here the last of the match.
        terms = Terms(everybody, "cash", hands=dealer + 1)
        scores = Scores((nothing,) * dealer, nothing)
        stacks = tuple(given["stacks"])
        self.match = Match(terms, scores, dealer, Seat(dealer), everybody, stacks)
        self.words = words
        deals = StackedDeals({(dealer, "deck"): deck})
        state, told = self.begin(options, deals)
        super().__init__(game, state, deals)
        self.told = [event for event, _ in told]

    def begin(self, options, deals):
        raise NotImplementedError

    def heard(self, event):
        self.told.append(event)

    def legal(self):
        """What the seat to act may do, by its moves and as its view tells it.

        None where no bets are asked for.
        """
        if self.state.phase not in self.betting:
            return None
        (seat,) = self.actors()
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
        return [event for event in self.told if isinstance(event, kind)]

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

    def net(self):
        ended = self.events(HandEnded)
        return ended[-1].nets if ended else None

    def awards(self):
        """What each seat got of the pots."""
        shares = [pot.shares for pot in self.events(self.words.PotWon)]
        return [sum(parts) for parts in zip(*shares, strict=True)] if shares else None

    def observe(self):
        return {
            "to_act": self.actors,
            "legal": self.legal,
            "net": self.net,
            "net_units": self.net,
            "awards": self.awards,
            "showdown": lambda: bool(self.events(self.words.Shown)),
            "pots": self.pots,
        }
