"""Looks for golden matches: `python -m tests.goldens.choose GAME` proposes a list for `matches.toml`.

With `--missing` instead of a game, lists of the games that have none are added to the file.

Matches with any bot, seats and options are played one after the other; one is
kept if it takes a branch of the family's rules that none before it took.
"""

import random
import sys
import time
from itertools import chain
from pathlib import Path

from arena.games.catalogue import GAMES, game_by_id
from tests.games.random_play import with_effect
from tests.goldens.bots import NAMES
from tests.goldens.matches import FOLDER, Plan, Played, plans
from tests.mutation.targets import USED_BY

MANY_SEATS, MANY_SETTINGS = 5, 5
CPU_S = 8
"""How long matches are looked for in one game."""
LONGEST = {"target": 40, "start_stack": 400, "rubbers": 2}
"""Options that are kept small only because matches would take long."""


def candidates(game, seed=0):
    """Plans without end: any bot, any number of seats, any options."""
    draw = random.Random(f"{game.id} {seed}")
    while True:
        seats = draw.choice((game.seats[0], game.seats[-1], draw.choice(game.seats)))
        bot = draw.choice((*NAMES, "each", "moody", "moody"))
        options = []
        for setting in game.settings:
            if setting.name == "hands":
                more = 2 * seats if seats < MANY_SEATS else seats
                options.append(("hands", draw.choice((0, seats, seats, more))))
            elif draw.random() < (0.5 if len(game.settings) < MANY_SETTINGS else 0.15):
                options.append((setting.name, _any_value(setting, draw)))
        options = with_effect(game, dict(options)).items()
        plan = Plan(bot, seats, draw.randrange(10_000), tuple(options))
        if ("hands", 0) not in options or game.family in ("sixty_six", "klaberjass", "jam"):
            yield plan


def _any_value(setting, draw):
    if setting.choices:
        return str(draw.choice(setting.choices))
    if isinstance(setting.default, bool):
        return draw.random() < 0.5
    if isinstance(setting.default, str):
        return ""  # how many numbers there are depends on the seats
    most = min(setting.maximum, max(setting.default, LONGEST.get(setting.name, 20)))
    return draw.randint(setting.minimum, most)


class Branches:
    """The branches of some files that are taken while it is entered: pairs of lines."""

    def __init__(self, folders):
        self._folders = tuple(folders)
        self.taken = set()

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, *error):
        sys.settrace(None)

    def _call(self, frame, event, arg):
        path = frame.f_code.co_filename
        if not any(folder in path for folder in self._folders):
            return None
        last = [frame.f_lineno]

        def line(frame, event, arg):
            if event == "line":
                self.taken.add((path, last[0], frame.f_lineno))
                last[0] = frame.f_lineno
            return line

        return line


def folders_of(game):
    """The files of a game's rules and of what they share with another's."""
    own = Path(game.rules.__file__).parent
    shared = [name for name, families in USED_BY.items() if game.family in families]
    return [str(own), *(f"/{name}/" for name in shared)]


def starting(game):
    """What every list begins with: each bot with the fewest seats, some with the most."""
    low, high = game.seats[0], game.seats[-1]
    pairs = [(bot, low) for bot in (*NAMES, "each")]
    if high != low:
        pairs += [(bot, high) for bot in ("rare", "moody", "each")]
    plans = [Plan(bot, seats, at, (("hands", seats),)) for at, (bot, seats) in enumerate(pairs)]
    # Only in a second round of deals is the hand's number not the dealer's.
    return [*plans, Plan("moody", low, len(plans), (("hands", 2 * low),))]


def chosen(game, cpu_s=CPU_S):
    """The starting list, and plans of which each takes a branch that those before it did not."""
    taken, kept = set(), []
    first = starting(game)
    until = time.process_time() + cpu_s
    for plan in chain(first, candidates(game)):
        if plan not in first and time.process_time() > until:
            break
        with Branches(folders_of(game)) as branches:
            for _ in Played(game, plan):
                pass
        if plan in first or not branches.taken <= taken:
            taken |= branches.taken
            kept.append(plan)
    return kept, taken


def row(plan):
    """A plan as a line of `matches.toml`."""
    words = {"bot": plan.bot, "seats": plan.seats, "seed": plan.seed, **dict(plan.options)}
    if plan.slow:
        words["slow"] = True
    return "  { " + ", ".join(f"{name} = {_toml(value)}" for name, value in words.items()) + " },"


def _toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else f'"{value}"'


def listed(game_id):
    """A game's list as it stands in `matches.toml`."""
    kept, _ = chosen(game_by_id(game_id))
    return "\n".join([f"{game_id} = [", *map(row, kept), "]\n"])


def main(names):
    if names == ["--missing"]:
        file = FOLDER / "matches.toml"
        new = [listed(game.id) for game in GAMES if game.id not in plans()]
        file.write_text(file.read_text("utf-8") + "".join(new), "utf-8")
    else:
        print("".join(map(listed, names)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
