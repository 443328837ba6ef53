"""The hunt: matches outside the list are played on a survivor until one shows the difference.

What is found can be put into `tests/goldens/matches.toml`; what is not may well
be a fault that changes nothing.
"""

import json
from functools import partial
from itertools import islice

from tests.mutation.trial import Trials

HUNT_SEED = 7


def baseline(target, tried, file):
    """Play the matches by the unharmed rules, in a child; their digests go into the file."""
    trials = Trials({"baseline": partial(_write, target, tried, file)})
    trials.baseline()


def search(target, tried, file):
    """Raises an assertion that holds the first match in which the rules differ."""
    from tests.goldens.choose import row
    from tests.goldens.matches import difference

    expected = json.loads(file.read_text("utf-8"))
    for game, plan in _plans(target, tried):
        if difference(game, plan, expected[f"{game.id} {plan}"]):
            raise AssertionError(f"{game.id}: {row(plan)}")


def _write(target, tried, file):
    from tests.goldens.matches import Played, digests

    found = {
        f"{game.id} {plan}": list(digests(Played(game, plan)))
        for game, plan in _plans(target, tried)
    }
    file.write_text(json.dumps(found), "utf-8")


def _plans(target, tried):
    from tests.goldens.choose import candidates

    for game in target.games():
        for plan in islice(candidates(game, HUNT_SEED), tried):
            yield game, plan
