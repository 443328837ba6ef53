"""Measures what a correction for luck would gain after rotation: `python -m bench.luck`.

Two levels of the house bot play complete deal-sets by the rules alone. Cards that are drawn within a hand are chance
that rotation leaves, as other moves draw other cards. The luck of a draw is by how much the expected score rises
with it: the expected score is the mean of playouts by the policy, in which the cards to come are shuffled, with the
draw as it was and with the draw shuffled too. The mean of that luck is zero whatever the bots do, so the score less
the luck is unbiased (Burch et al., *AIVAT: A new variance reduction technique for agent evaluation in imperfect
information games*, AAAI 2018; without its terms for decisions, which need the chances by which a bot chooses).

A row tells the standard deviation of a deal-set's score without and with the correction, and how many deal-sets
without it are worth one with it: with all of the luck, and with the part of it that reduces the variance most.
"""

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from arena.cards import PACK_52
from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Seat, State
from arena.games.pineapple.state import BOARD
from arena.house.bot import searcher_of
from arena.house.levels import STEPS
from arena.house.search import Searcher
from arena.testing.deals import SeededDeals

HANDS: Final = 2
"""Of a match: one by each dealer."""

Redrawn: TypeAlias = Callable[[State, random.Random], tuple[State, int]]
"""Shuffles the cards to come; also returns how many they are."""


def _sixty_six(state: State, chance: random.Random) -> tuple[State, int]:
    stock = state.deal.stock
    cards = _shuffled(stock.cards, chance)
    return replace(state, deal=replace(state.deal, stock=replace(stock, cards=cards))), len(cards)


def _oklahoma_rummy(state: State, chance: random.Random) -> tuple[State, int]:
    piles = state.deal.piles
    stock = type(piles.stock)(_shuffled(piles.stock, chance))
    deal = replace(state.deal, piles=replace(piles, stock=stock))
    return replace(state, deal=deal), len(stock)


def _soko(state: State, chance: random.Random) -> tuple[State, int]:
    deal = state.hand.deal
    stock = _shuffled(deal.stock, chance)
    return replace(state, hand=replace(state.hand, deal=replace(deal, stock=stock))), len(stock)


def _pineapple(state: State, chance: random.Random) -> tuple[State, int]:
    deal = state.hand.deal
    board = deal.runout[: BOARD[state.street]]
    unseen = sorted(set(PACK_52).difference(board, deal.given_up, *deal.holes))
    to_come = len(deal.runout) - len(board)
    runout = (*board, *chance.sample(unseen, to_come))
    return replace(state, hand=replace(state.hand, deal=replace(deal, runout=runout))), to_come


def _open_face(state: State, chance: random.Random) -> tuple[State, int]:
    stock = _shuffled(state.hand.stock, chance)
    return replace(state, hand=replace(state.hand, stock=stock)), len(stock)


GAMES: Final[Mapping[str, Redrawn]] = {
    "sixty_six": _sixty_six,
    "oklahoma_rummy": _oklahoma_rummy,
    "soko": _soko,
    "pineapple": _pineapple,
    "crazy_pineapple": _pineapple,
    "open_face_chinese_poker": _open_face,
}


def _shuffled(cards: Sequence[str], chance: random.Random) -> tuple[str, ...]:
    return tuple(chance.sample(cards, len(cards)))


@dataclass(frozen=True, slots=True)
class Trial:
    """A game between two levels."""

    searcher: Searcher
    redrawn: Redrawn
    steps: tuple[int, int]
    """Of a decision of the measured bot, and of the other one."""
    playouts: int
    """For each expected score."""

    def deal_set(self, name: str) -> tuple[float, float]:
        """The measured bot's points ahead in a match, and its luck: means of both tables of a deal-set."""
        tables = [self._table(name, Seat(seat)) for seat in range(2)]
        return statistics.mean(score for score, _ in tables), statistics.mean(
            luck for _, luck in tables
        )

    def _table(self, name: str, seat: Seat) -> tuple[float, float]:
        game = self.searcher.game
        rules, options, deals = game.rules, game.options({"hands": HANDS}, 2), SeededDeals(name)
        chance, luck = random.Random(f"{name} {seat}"), 0.0
        state = rules.start(options, 2, deals).state
        while acting := rules.to_act(state):
            chosen = []
            for each in acting:
                view, hand = rules.view(state, each), rules.hand_number(state)
                steps = self.steps[each != seat]
                choice = self.searcher.choose(view, options, each, hand, steps, chance)
                chosen.append((each, choice.move))
            after = rules.step(state, tuple(chosen), deals).state
            if rules.to_act(after) and rules.hand_number(after) == rules.hand_number(state):
                _, before_count = self.redrawn(state, chance)
                _, after_count = self.redrawn(after, chance)
                if before_count != after_count:
                    luck += self._luck(state, tuple(chosen), after, seat, chance)
            state = after
        scores = rules.result(state).scores
        return float(scores[seat] - scores[1 - seat]), luck

    def _luck(
        self,
        state: State,
        chosen: tuple[tuple[Seat, Move], ...],
        after: State,
        seat: Seat,
        chance: random.Random,
    ) -> float:
        """By how much the expected score of the hand rose with what was drawn.

        Both sides of a pair of playouts have the same dice, so that less of the difference is their noise.
        """
        rules, pairs = self.searcher.game.rules, []
        for _ in range(self.playouts):
            dice, shuffle = chance.getrandbits(64), chance.getrandbits(64)
            drawn, _ = self.redrawn(after, random.Random(shuffle))
            shuffled, _ = self.redrawn(state, random.Random(shuffle))
            undrawn = rules.step(shuffled, chosen, SeededDeals("")).state
            with_draw, without = (
                self.searcher.played_out(each, seat, dice)[0] for each in (drawn, undrawn)
            )
            pairs.append(with_draw - without)
        return statistics.mean(pairs)


def row(game_id: str, found: Sequence[tuple[float, float]]) -> str:
    """A row in Markdown from the scores and lucks of deal-sets."""
    scores, lucks = zip(*found, strict=True)
    corrected = [score - luck for score, luck in found]
    plain, less = statistics.stdev(scores), statistics.stdev(corrected)
    r = statistics.correlation(scores, lucks) if len(set(lucks)) > 1 else 0.0
    margin, error = statistics.mean(scores), plain / len(found) ** 0.5
    shift, its_error = statistics.mean(lucks), statistics.stdev(lucks) / len(found) ** 0.5
    cells = [
        game_id,
        str(len(found)),
        f"{margin:+.2f} ± {1.96 * error:.2f}",
        f"{shift:+.2f} ± {1.96 * its_error:.2f}",
        f"{plain:.1f}",
        f"{less:.1f}",
        f"{(plain / less) ** 2:.2f}",
        f"{1 / (1 - r * r):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a row for each game that the command line names, or of all."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.luck",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"[default: {', '.join(GAMES)}]")
    parser.add_argument("--deal-sets", type=int, default=100, metavar="N", help="of a game (100)")
    parser.add_argument("--playouts", type=int, default=64, metavar="N", help="of a draw (64)")
    parser.add_argument("--level", default="search-20ms", choices=STEPS, help="of the better bot")
    given = parser.parse_args()
    unknown = [name for name in given.games if name not in GAMES]
    if unknown:
        parser.error(
            f"the cards of {unknown[0]!r} cannot be shuffled; there are {', '.join(GAMES)}"
        )
    out = sys.stdout
    head = ["game", "deal-sets", "margin", "mean luck", "sd", "sd less luck", "worth", "at best"]
    out.write(f"| {' | '.join(head)} |\n{'|---' * len(head)}|\n")
    for game_id in given.games or GAMES:
        searcher = searcher_of(game_id)
        assert searcher is not None, "each game of the list has a policy"
        assert game_by_id(game_id).seats[0] == 2
        trial = Trial(searcher, GAMES[game_id], (STEPS[given.level], 0), given.playouts)
        found = [trial.deal_set(f"luck {number}") for number in range(given.deal_sets)]
        out.write(row(game_id, found) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
