"""Measures what a decision of the house bot costs: `python -m bench.house`.

A level plays matches against itself by the rules alone. Processor time is measured, so other work matters little.
"""

import random
import statistics
import time
from collections.abc import Iterable, Iterator

import click

from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.house.bot import player
from arena.sandbox.house_levels import STEPS
from arena.testing.deals import SeededDeals

WARM_UP = 5
"""Decisions that are not counted."""
LEVELS = tuple(level for level in STEPS if level != "random")


def decisions_ms(game: Game, steps: int, count: int) -> Iterator[float]:
    """Processor time of decisions with a choice, in milliseconds; the first ones warm up and are left out."""
    play = player(game.id, steps)
    assert play is not None, "every game has a policy"
    rules, seats, chance = game.rules, game.seats[0], random.Random(1)
    options = game.options({"hands": 2 * seats}, seats)
    # Other cards at each level, so that no level finds what another has remembered.
    deals, match, taken = SeededDeals(f"house {steps} 0"), 0, -WARM_UP
    state = rules.start(options, seats, deals).state
    while taken < count:
        if not rules.to_act(state):
            match += 1
            deals = SeededDeals(f"house {steps} {match}")
            state = rules.start(options, seats, deals).state
        chosen = []
        for seat in rules.to_act(state):
            moves = rules.moves(state, seat)
            view = rules.view(state, seat)
            if moves.complete and len(moves.offered) == 1:
                chosen.append((seat, moves.offered[0]))
                continue
            began_s = time.process_time()
            chosen.append((seat, play(view, options, seat, chance)))
            taken += 1
            if taken > 0:
                yield 1000 * (time.process_time() - began_s)
        state = rules.step(state, tuple(chosen), deals).state


def rows(games: Iterable[Game], count: int) -> Iterator[str]:
    """Yield a row of a table in Markdown for each game: the mean and the longest of each level."""
    yield f"| game | {' | '.join(f'`{level}`' for level in LEVELS)} |"
    yield "|---" * (1 + len(LEVELS)) + "|"
    for game in games:
        cells = []
        for level in LEVELS:
            found = list(decisions_ms(game, STEPS[level], count))
            cells.append(f"{statistics.mean(found):.1f} (to {max(found):.0f})")
        yield f"| {game.id} | {' | '.join(cells)} |"


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...",
                type=click.Choice([game.id for game in GAMES]))  # fmt: skip
@click.option("--decisions", default=40, show_default=True, help="Of each level.")
def main(games: tuple[str, ...], decisions: int) -> None:
    """Print the table of some games, or of all."""
    measured = [game for game in GAMES if not games or game.id in games]
    for row in rows(measured, decisions):
        click.echo(row)


if __name__ == "__main__":
    main(prog_name="python -m bench.house")
