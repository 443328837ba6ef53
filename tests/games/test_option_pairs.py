"""Options are never ignored: beside any other option, one changes the match or is refused."""

import itertools
import random
from itertools import islice

import pytest

from arena.games.catalogue import GAMES
from arena.games.contract import BadOptions
from arena.local.turns import turns
from arena.testing.deals import SeededDeals
from tests.games.random_play import pick
from tests.rows import OF_EACH_KIND, RULES, slow_unless

MOST_DECISIONS = 900
"""Enough for the end of each match that an option shortens."""
MATCHES = 12
PAIRS = slow_unless(
    lambda game, *_: game.id in OF_EACH_KIND,
    [
        pytest.param(game, changed, other, id=f"{game.id} {changed.name} beside {other.name}")
        for game in GAMES
        for changed, other in itertools.permutations(game.settings, 2)
    ],
    RULES,
)


def some(setting, seats, *extreme):
    """A few values: the default, its neighbour, and those that are called extreme."""
    if setting.choices:
        return setting.choices
    if isinstance(setting.default, bool):
        return (True, False)
    if isinstance(setting.default, str):
        return ("", "50", "60", "60,50", "50,60")  # for two seats or their only pair
    values = {setting.default, setting.default + 1, *extreme}
    if setting.name == "start_stack":
        values = {setting.default, 50, 60}  # of fewer chips no bet is left
    if setting.name == "hands":
        values = {0, seats, 2 * seats}
    return sorted(value for value in values if setting.minimum <= value <= setting.maximum)


def course(game, options, seats, seed):
    """All that happens in the beginning of a match, to its end if that comes soon."""
    draw, rules = random.Random(seed), game.rules
    deals = SeededDeals(seed)

    def choose(state, seat):
        return pick(game, rules.moves(state, seat), draw)

    seen = []
    for turn in islice(turns(rules, options, seats, deals, choose), MOST_DECISIONS - 1):
        seen.append(hash(turn.events))
        if turn.before is None:
            seen.append(hash(rules.view(turn.after, None)))
    return (*seen, rules.result(turn.after))


@pytest.mark.parametrize(("game", "changed", "other"), PAIRS)
def test_an_option_changes_the_match_or_is_refused(game, changed, other):
    seats = game.seats[0]
    for beside in some(other, seats):
        accepted, refusals = [], []
        for value in some(changed, seats, 0, 1, 2):  # which random play tells apart
            given = {other.name: beside, changed.name: value}
            try:
                options = game.options(given, seats)
                game.rules.start(options, seats, SeededDeals("refused"))
            except BadOptions as error:
                refusals.append(str(error))
            else:
                accepted.append(options)
        assert all(changed.name in refusal or other.name in refusal for refusal in refusals), (
            refusals
        )
        if len(accepted) > 1:
            assert any(
                len({course(game, options, seats, seed) for options in accepted}) > 1
                for seed in range(MATCHES)
            ), f"{changed.name} is ignored with {other.name}={beside}"
