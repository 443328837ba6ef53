"""Plays against `margin_bound`: `python -m tests.games.bounds [GAME] --matches 100000`.

The same boards are played again and again, by seats that take any move, the first offered or the
last. No two scores of one board may be further apart than the bound.
"""

import argparse
import random
import sys
from dataclasses import dataclass

from arena.games.catalogue import GAMES, game_by_id
from arena.local.turns import turns
from arena.testing.deals import SeededDeals
from tests.games.random_play import MAX_DECISIONS, pick

PLAYS_OF_A_BOARD = 5


@dataclass
class Reached:
    """The widest that scores of one board were apart."""

    widest: int = 0
    bound: int | None = None
    matches: int = 0

    @property
    def share(self):
        return self.widest / self.bound if self.bound else 0.0


def first(state, seat, legal, game, draw):
    return legal.offered[0]


def last(state, seat, legal, game, draw):
    return legal.offered[-1]


def anything(state, seat, legal, game, draw):
    return pick(game, legal, draw)


POLICIES = (anything, first, last)


def play(game, options, seats, board, table):
    """The scores of a match; who plays how is drawn for the table."""
    draw, deals, rules = random.Random(f"{board} {table}"), SeededDeals(board), game.rules
    policies = [draw.choice(POLICIES) for _ in range(seats)]

    def choose(state, seat):
        # Now and then any move, so that two who only wait for each other come to an end.
        policy = anything if draw.random() < 0.05 else policies[seat]
        return policy(state, seat, rules.moves(state, seat), game, draw)

    decisions = 0
    for turn in turns(rules, options, seats, deals, choose):
        decisions += len(turn.chosen)
        assert decisions < MAX_DECISIONS, "the match does not end"
    return rules.result(turn.after).scores


def reach(game, given, seats, matches, seed):
    """Plays so many matches and measures how far scores of one board were apart."""
    options = game.options(given, seats)
    reached = Reached(bound=game.margin_bound(options, seats))
    for number in range(0, matches, PLAYS_OF_A_BOARD):
        board = f"{game.id} {seats} {seed} {number}"
        scores = [
            score
            for table in range(min(PLAYS_OF_A_BOARD, matches - number))
            for score in play(game, options, seats, board, table)
        ]
        reached.widest = max(reached.widest, max(scores) - min(scores))
        reached.matches += PLAYS_OF_A_BOARD
    return reached


def fixed_length(game, seats):
    """Options under which the game has a bound; a hand for each seat."""
    return {"hands": seats}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.games.bounds", description=__doc__)
    parser.add_argument("game", nargs="*")
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--seed", default="fixed")
    given = parser.parse_args(argv)
    beyond = False
    for game in [game_by_id(item) for item in given.game] or GAMES:
        seats = game.seats[0]
        result = reach(game, fixed_length(game, seats), seats, given.matches, given.seed)
        beyond |= result.bound is not None and result.widest > result.bound
        told = (
            "no bound" if result.bound is None else f"bound {result.bound:,} ({result.share:.0%})"
        )
        sys.stdout.write(
            f"{game.id:<24} {seats} seats  {result.matches:,} matches  "
            f"widest {result.widest:,}  {told}\n"
        )
    return int(beyond)


if __name__ == "__main__":
    sys.exit(main())
