"""A match beside the house bot: par, and the decisions at which another move is better."""

import random

import pytest
import trio

import cardarena
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.games.sixty_six.messages import CLAIM
from arena.house import par
from arena.house.bot import searcher_of
from arena.house.par import MOST_DECISIONS, CannotCompare, compare
from arena.local.turns import turns
from arena.records.playback import play_back
from arena.records.read import Replay
from cardarena import local
from tests.records.matches import Answer, Bot, record
from tests.rows import EACH_GAME, OF_EACH_KIND, slow_unless

STEPS = 240
GAMES_WITH_POLICY = [game.id for game in GAMES if searcher_of(game.id)]


def played(folder, game_id="sixty_six", seats=2, **options):
    """The replay of a match between bots that choose any of the offered moves."""
    return Replay.open(
        record(folder, game_id, [Bot(seat) for seat in range(seats)], options or {"hands": seats})
    )


def test_par_is_what_house_bots_score_with_the_same_cards(tmp_path):
    replay = played(tmp_path, hands=4)
    result = compare(replay, Seat(0), STEPS)
    assert result.par == compare(replay, Seat(1), STEPS).par
    spec, chance = replay.spec(), random.Random(replay.spec().match_id)
    rules, searcher = spec.terms.game.rules, searcher_of("sixty_six")

    def choose(state, seat):
        view, number = rules.view(state, seat), rules.hand_number(state)
        return searcher.choose(view, spec.terms.options, seat, number, 0, chance).move

    *_, last = turns(rules, spec.terms.options, 2, spec.deals, choose)
    assert result.par == par.par(replay, 1000) == rules.result(last.after).scores
    assert result.par != replay.closed.scores


def test_the_costliest_decisions_come_first_each_with_a_better_move_of_its_ask(tmp_path):
    replay = played(tmp_path, hands=6)
    result = compare(replay, Seat(0), STEPS)
    losses = [decision.loss for decision in result.costliest]
    assert losses == sorted(losses, reverse=True)
    assert 0 < len(losses) <= MOST_DECISIONS
    steps = {item.index: item for item in play_back(replay)}
    for decision in result.costliest:
        step = steps[decision.step]
        (own,) = [one for one in step.decisions if one.seat == 0]
        assert (own.decision, step.hand) == (decision.decision, decision.hand)
        assert decision.played != decision.better
        assert decision.loss > 2 * decision.error


class Claims(Bot):
    """A bot that claims to have the points of the deal at one decision, when it cannot have them, and never else."""

    planted = None

    async def _answer(self, ask):
        ask.sent(trio.current_time())
        offered = list(ask.moves.offered)
        if self.planted is None and ask.decision >= 3 and CLAIM in offered:
            self.planted, index = ask.decision, offered.index(CLAIM)
        else:
            index = self.random.choice([at for at, move in enumerate(offered) if move != CLAIM])
        ask.answered(Answer(index=index), trio.current_time())


def test_a_planted_blunder_is_the_costliest_decision(tmp_path):
    bot = Claims(0)
    replay = Replay.open(record(tmp_path, "sixty_six", [bot, Bot(1)], {"hands": 4}))
    first, *others = compare(replay, Seat(0), STEPS).costliest
    assert (first.decision, first.played) == (bot.planted, "claim")
    assert all(other.decision != bot.planted for other in others)


def test_the_same_replay_is_compared_alike(tmp_path):
    replay = played(tmp_path)
    assert compare(replay, Seat(1), STEPS) == compare(replay, Seat(1), STEPS)


@pytest.mark.parametrize(
    "game_id", slow_unless(lambda game_id: game_id in OF_EACH_KIND, GAMES_WITH_POLICY, EACH_GAME)
)
def test_every_game_with_a_policy_is_compared(game_id, tmp_path):
    seats = min(game_by_id(game_id).seats)
    path = record(tmp_path, game_id, [Bot(seat) for seat in range(seats)], {"hands": seats})
    result = compare(Replay.open(path), Seat(0), 60)
    assert len(result.par) == seats
    assert result.decisions > 0
    for costly in result.costliest:
        again = local.replay(path, First, seat=0, step=costly.step)
        assert (again.decision, again.then) == (costly.decision, costly.played)


class First(cardarena.Bot):
    """The bot that is stepped through at a costly decision."""

    def move(self, ask):
        return ask.moves[0]


def test_a_game_without_a_policy_is_not_compared(tmp_path, monkeypatch):
    """A new game has none."""
    monkeypatch.setattr(par, "searcher_of", lambda game: None)
    with pytest.raises(CannotCompare, match="the house bot has no policy for Jam"):
        compare(played(tmp_path, "jam", 2), Seat(0), STEPS)


def test_a_reader_of_a_page_does_not_wait_for_the_par_of_a_long_match(tmp_path):
    replay = played(tmp_path, hands=4)
    with pytest.raises(CannotCompare, match="the house bots make more than 12 decisions"):
        par.par(replay, 12)
