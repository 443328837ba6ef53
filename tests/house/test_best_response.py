"""A best response wins from a bot what it gives away."""

import json
import random

import pytest

import cardarena
from arena.games.catalogue import game_by_id
from arena.house import best_response
from arena.house.best_response import CannotExploit, exploit, require_searched
from arena.referee.terms import MatchTerms
from arena.testing.deals import SeededDeals
from tests.cli.test_expected_errors import arena

FOLDS = """
import cardarena

class Folds(cardarena.Bot):
    def move(self, ask):
        folds = [at for at, move in enumerate(ask.moves) if "FOLD" in str(move)]
        return folds[0] if folds else 0

cardarena.run(Folds)
"""


def kinds_of(ask):
    return [str(move).split()[1].rpartition("_")[2].lower() for move in ask.moves]


class Folds(cardarena.Bot):
    """Folds whenever it may."""

    def move(self, ask):
        kinds = kinds_of(ask)
        return kinds.index("fold") if "fold" in kinds else 0


class Waits(cardarena.Bot):
    async def move(self, ask):
        return 0


def respond(bot, folder, game="pineapple", **arguments):
    given = {"options": {"hands": 2}, "seats": 2, "deal_sets": 3, "seed": "a", "steps": 8}
    return exploit(game, bot, folder=folder, **(given | arguments))


def test_what_a_bot_gives_away_is_won_and_the_interval_says_how_surely(tmp_path):
    found = respond(Folds, tmp_path)
    assert (found.deal_sets, found.matches, found.faults) == (3, 6, 0)
    assert found.low > 0, "it folds each small blind"
    assert found.low <= found.mean <= found.high
    assert len(list((tmp_path / "replays").iterdir())) == found.matches


def test_the_same_call_goes_on_where_it_was(tmp_path):
    first = respond(Folds, tmp_path)
    done = []
    again = respond(Folds, tmp_path, deal_sets=4, on_progress=lambda at, of: done.append((at, of)))
    assert done == [(at, 4) for at in (1, 2, 3, 4)]
    assert again.deal_sets == 4 > first.deal_sets


class BetsWithAces(cardarena.Bot):
    """Raises if it holds an ace, and calls otherwise."""

    def move(self, ask):
        kinds = kinds_of(ask)
        wanted = ("raise", "bet") if "A" in str(ask.view.held) else ("call",)
        return next((kinds.index(kind) for kind in wanted if kind in kinds), 0)


def test_hidden_cards_with_which_the_bot_would_have_bet_are_likelier():
    game = game_by_id("pineapple")
    options = game.options({"hands": 2}, 2)
    terms = MatchTerms(game, options, 2, seeded=True)
    rules, deals = game.rules, SeededDeals("seven")
    state = rules.start(options, 2, deals).state
    (bettor,) = rules.to_act(state)
    wager = rules.moves(state, bettor).offered[-1]
    state = rules.step(state, ((bettor, wager),), deals).state
    (own,) = rules.to_act(state)
    asked = best_response._AskedBot(BetsWithAces, terms)
    searcher = best_response._response(game, asked, own)
    view, below = rules.view(state, own), random.Random(7).randrange
    weights: dict = {True: set(), False: set()}
    for _ in range(40):
        world = game.sample_state(view, options, own, below)
        has_ace = any("A" in str(card) for card in world.hand.deal.holes[bettor])
        weights[has_ace].add(searcher.likelihood(world, own, below))
    assert min(weights[True]) > 5 * max(weights[False])


# fmt: off
REFUSED = [
    ("eleusis",   Folds, "cannot play out imagined hands of Eleusis", "a game whose search imagines rules"),
    ("pineapple", Waits, "Waits awaits in `move`",                    "a bot that awaits"),
]
# fmt: on


@pytest.mark.parametrize(("game", "bot", "words", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_cannot_be_searched_is_refused(game, bot, words, why):
    with pytest.raises(CannotExploit, match=words):
        require_searched(game, bot)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["jam", "abstrac", "soko", "democracy"])
def test_families_are_searched_with_the_bot_as_opponent(game, tmp_path):
    from arena.house.bot import HouseBot

    seats = game_by_id(game).seats[0]
    found = respond(
        HouseBot, tmp_path, game, deal_sets=2, steps=1, seats=seats, options={"hands": seats}
    )
    assert (found.matches, found.faults) == (2 * seats, 0)


@pytest.mark.slow
def test_the_command_names_what_costs_most_and_how_to_see_it(tmp_path):
    program = tmp_path / "folds.py"
    program.write_text(FOLDS, "utf-8")
    arguments = ("--game", "pineapple", "--deal-sets", 12, "--seed", "a", "--steps", 120)
    done = arena("exploit", program, *arguments, "--data", tmp_path, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["low"] > 0
    assert 0 < len(found["situations"]) <= 5
    losses = [situation["loss"] for situation in found["situations"]]
    assert losses == sorted(losses, reverse=True)
    words = found["situations"][0]["command"].split()[1:]
    shown = arena(*words, "--print")
    assert shown.exit_code == 0
    assert found["situations"][0]["played"].partition(" ")[0] in shown.stdout
