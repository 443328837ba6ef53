"""What a bot does in public: counted from events that spectators receive, beside the others."""

import pytest
import trio

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.tendencies import tendencies_of
from tests.records.matches import ILLEGAL, PLAY, Answer, Bot, record


class Folds(Bot):
    """A bot that folds wherever it may."""

    async def _answer(self, ask):
        ask.sent(trio.current_time())
        verbs = [type(move).__name__ for move in ask.moves.offered]
        answer = Answer(index=verbs.index("Fold") if "Fold" in verbs else 0)
        ask.answered(answer, trio.current_time())


def replay_of(folder, game, bots, **options):
    return Replay.open(record(folder, game, bots, options or {"hands": len(bots)}))


def test_a_planted_habit_is_the_first_row(tmp_path):
    replay = replay_of(tmp_path, "soko", [Bot(0), Folds(1)], hands=8)
    first, *_ = tendencies_of([(replay, Seat(1))])
    assert (first.phase, first.act) == ("bet", "acted fold")
    assert first.share > 2 * first.others_share
    assert first.others_of


def test_matches_of_one_bot_add_up(tmp_path):
    replay = replay_of(tmp_path, "soko", [Bot(0), Bot(1)], hands=4)
    once = {row.act: row for row in tendencies_of([(replay, Seat(0))])}
    for row in tendencies_of([(replay, Seat(0)), (replay, Seat(0))]):
        assert (row.times, row.of) == (2 * once[row.act].times, 2 * once[row.act].of)


def test_what_the_arena_played_for_a_bot_is_no_habit(tmp_path):
    replay = replay_of(tmp_path, "soko", [Bot(0), Bot(1, [ILLEGAL] * 3 + [PLAY])], hands=4)
    made = sum(d.seat == 1 for step in play_back(replay) for d in step.decisions)
    acts = {}
    for row in tendencies_of([(replay, Seat(1))]):
        acts[row.phase] = row.of
    assert sum(acts.values()) <= made - 3


@pytest.mark.parametrize("game", ["jam", "democracy", "eleusis"])
def test_what_spectators_do_not_see_is_not_counted(tmp_path, game):
    """Words have no card: events that show one to a seat alone are not even counted."""
    seats = next(one.seats[0] for one in GAMES if one.id == game)
    replay = replay_of(tmp_path, game, [Bot(seat) for seat in range(seats)])
    public = {
        type(sent.event).__name__.lower()
        for step in play_back(replay)
        for sent in step.events
        if sent.sent_to is None
    }
    for row in tendencies_of([(replay, Seat(0))]):
        assert row.act.replace(" ", "").startswith(tuple(public)), row.act
