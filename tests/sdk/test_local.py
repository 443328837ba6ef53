"""Play in one process: the same match as over the network, without a server."""

import itertools
import random
import re
import subprocess
import sys

import pytest

import cardarena
from arena.games.catalogue import GAMES, game_by_id
from arena.local.asks import DECISION_BITS
from arena.local.match import names_of
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.verify import verify_file
from arena.referee.wire.games import codec_of
from cardarena import abstrac, democracy, jam, local
from cardarena.v1.game_pb2 import FaultKind
from cardarena.v1.play_pb2 import MatchStart
from tests.games.random_play import moments
from tests.rows import EACH_GAME, slow_unless_of_each_kind
from tests.sdk.streams import play_over_streams


def seen_in(ask):
    """All that an author can see of an ask."""
    return {
        "view": ask.view,
        "moves": list(ask.moves),
        "events": list(ask.events),
        "moves_complete": ask.moves_complete,
        "forced": ask.forced,
        "event_texts": list(ask.event_texts),
        "move_texts": list(ask.move_texts),
        "played_for": list(ask.played_for),
        "clock": ask.clock,
        "options": ask.options,
        "ids": (ask.ask_id, ask.match, ask.seat, ask.game, ask.family),
        "start": without_id(ask.start),
        "message": ask.message,
        "bytes": ask.message.SerializeToString(deterministic=True),
        "told": ask.told(),
        "repr": repr(ask),
    }


def without_id(start):
    """Each match has an id of its own, wherever it is played."""
    assert start.match_id
    bare = MatchStart()
    bare.CopyFrom(start)
    bare.match_id = ""
    return bare


def seen_at(end):
    parts = (end.ending, list(end.scores), list(end.places), list(end.faults), list(end.events))
    return {"end": parts, "match": end.match}


def recorder(seen, at, *, texts=False, automatic=True, at_fault=False):
    """A bot that keeps all it sees, and plays at random, the same at every run."""

    class Recorder(cardarena.Bot):
        want_text, auto = texts, automatic

        def started(self):
            self.chance = random.Random(f"seat {at}")
            self.first = None

        def move(self, ask):
            seen.append(seen_in(ask))
            move = self.chance.choice(ask.moves)
            self.first = self.first or move
            if at_fault and len(seen) % 5 == 0:
                return self.first
            if at_fault and len(seen) % 7 == 0:
                return type(move)()
            return cardarena.Noted(move, "noted") if at_fault else move

        def ended(self, end):
            seen.append(seen_at(end))

    return Recorder


KINDS = {
    "as it is": {},
    "with texts, asked also where there is no choice": {"texts": True, "automatic": False},
    "with texts, and much answered without it": {"texts": True},
    "at fault": {"at_fault": True},
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES, EACH_GAME), ids=lambda game: game.id
)
def test_a_bot_sees_the_same_as_over_a_stream(game, kind):
    seats = min(game.seats)
    options = {"hands": seats}
    here, there = ([[] for _ in range(seats)] for _ in range(2))
    bots = [recorder(seen, at, **kind) for at, seen in enumerate(here)]
    names = names_of(bots)
    result = local.play(game.id, bots, seed="same", options=options)
    bots = [recorder(seen, at, **kind) for at, seen in enumerate(there)]
    ledger = play_over_streams(game.id, bots, seed="same", options=options, names=names)
    for mine, streamed in zip(here, there, strict=True):
        assert len(mine) == len(streamed) > 1
        for one, other in zip(mine, streamed, strict=True):
            assert one == other
    outcome = ledger.outcome
    assert (result.scores, result.places, result.hand_scores, result.decisions) == (
        outcome.scores,
        outcome.places,
        outcome.hand_scores,
        outcome.decisions,
    )
    told = [(each.seat, each.kind, each.decision, each.reason) for each in result.faults]
    assert told == [(e.seat, e.kind.value, e.decision, e.reason) for e in outcome.faults]


# What a match is played by.


class First(cardarena.Bot):
    def move(self, ask):
        return 0


class Last(cardarena.Bot):
    def move(self, ask):
        return len(ask.moves) - 1


class Late(abstrac.Bot):
    def move(self, ask: abstrac.Ask):
        if ask.time_left_s() < 60:
            raise TimeoutError("no time is taken")
        return self.turns.pop() if self.turns else 0

    def started(self):
        self.turns = [1, 0]


def test_a_seed_gives_the_same_match_again():
    played = [local.play("jam", [First, Last], seed=seed) for seed in (7, "7", 8, None)]
    assert played[0] == played[1]
    assert played[0].scores != played[2].scores
    assert local.play("jam", [First, Last], seed=played[3].seed) == played[3]
    assert local.play("jam", [First, Last]).seed != played[3].seed


def test_options_are_those_of_the_game():
    assert len(local.play("jam", [First, Last], options={"hands": 4}).hand_scores) == 4


def test_an_object_plays_match_after_match():
    seen = []

    class Counting(cardarena.Bot):
        matches = 0

        def started(self):
            self.matches += 1
            seen.append((self.matches, self.seat, [player.name for player in self.players]))

        def move(self, ask):
            return 0

    bot = Counting()
    for seats in ([bot, First], [First, bot], [bot, bot]):
        local.play("abstrac", seats, seed=1)
    assert seen == [
        (1, 0, ["Counting", "First"]),
        (2, 1, ["First", "Counting"]),
        (3, 0, ["Counting", "Counting-2"]),
        (4, 1, ["Counting", "Counting-2"]),
    ]


def test_a_batch_bot_is_asked_for_one_move_after_the_other():
    calls = []

    class Batching(democracy.BatchBot):
        def started(self, start):
            calls.append(("started", start.match))

        def moves(self, asks):
            calls.append([ask.match for ask in asks])
            return [0] * len(asks)

        def ended(self, end):
            calls.append(("ended", end.match))

    bot = Batching()
    assert local.play("democracy", [bot, bot], seed=1, options={"hands": 2}).faults == ()
    assert calls[:4] == [("started", 1), ("started", 2), [1], [2]]
    assert calls[-2:] == [("ended", 1), ("ended", 2)]


def test_no_clock_runs_out_and_each_ask_has_all_the_time():
    assert local.play("abstrac", [Late, First], seed=1).faults == ()


class Undone(cardarena.Bot):
    pass


# fmt: off
REFUSED = [
    ("jan",     [First, First],     {}, LookupError, "there is no game 'jan'; did you mean jam",             "a game that does not exist"),
    ("jam",     [First],            {}, ValueError,  "jam is played by 2 seats, not 1",                     "another number of bots than of seats"),
    ("jam",     [First, First], {"hand": 2}, ValueError, "hand",                                             "an option that does not exist"),
    ("jam",     [First, Late],      {}, ValueError,  "Late plays abstrac, abstrac_suit, abstrac_unfettered, abstrac_fiftytwo, and not jam", "a bot that does not play the game"),
    ("abstrac", [First, Undone],    {}, cardarena.Misconfigured, "Undone has no method `def move(self, ask)`", "a bot without move"),
]
# fmt: on


@pytest.mark.parametrize(
    ("game", "bots", "options", "kind", "says", "why"), REFUSED, ids=[row[-1] for row in REFUSED]
)
def test_what_cannot_be_played_is_refused_in_a_sentence(game, bots, options, kind, says, why):
    with pytest.raises(kind, match=re.escape(says)):
        local.play(game, bots, options=options)


def test_without_the_engine_a_sentence_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "arena"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "arena", None)
    with pytest.raises(ImportError, match=r"pip install 'cardarena\[local\]'") as refused:
        local.play("jam", [First, First])
    assert isinstance(refused.value, local.NoEngine)


def test_the_sdk_alone_imports_nothing_of_the_engine():
    code = "import cardarena, cardarena.local, sys; print([n for n in sys.modules if n == 'arena'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Exceptions.


class Failing(jam.Bot):
    def move(self, ask: jam.Ask):
        if len(ask.moves) == 5:
            raise KeyError("row")
        return 0


def test_an_exception_comes_out_where_it_was_raised():
    with pytest.raises(KeyError, match="row") as raised:
        local.play("jam", [Failing, First], seed=1)
    assert raised.traceback[-1].name == "move"


def test_or_it_is_told_with_the_result_and_costs_the_move():
    result = local.play("jam", [Failing, First], seed=1, raising=False)
    assert result.exceptions
    assert {each.seat for each in result.exceptions} == {0}
    at = result.exceptions[0]
    assert str(at.raised).startswith("test_local.py:")
    assert str(at.raised).endswith(": KeyError: 'row'")
    errors = [(each.seat, each.kind, each.decision) for each in result.faults]
    assert errors == [(0, FaultKind.FAULT_KIND_ERROR, at.decision) for at in result.exceptions]


# Replays.


@pytest.mark.parametrize("at_fault", [False, True], ids=["in order", "with faults"])
def test_the_replay_is_one_of_the_arenas(tmp_path, at_fault):
    bots = [recorder([], at, at_fault=at_fault) for at in range(2)]
    result = local.play("sixty_six", bots, seed="kept", replays=tmp_path)
    verdict = verify_file(result.replay)
    assert verdict.ok, verdict.problem
    assert verdict.verified.outcome.scores == result.scores
    assert len(verdict.verified.outcome.faults) == len(result.faults)
    assert Replay.open(result.replay).names == ("Recorder", "Recorder-2")


def asks_of(seen):
    return [each for each in seen if "view" in each]


@pytest.mark.parametrize("game", ["sixty_six", "democracy"], ids=["in turn", "all at once"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_ask_of_a_replay_is_put_again(tmp_path, kind, game):
    then = [[], []]
    bots = [recorder(seen, at, **kind) for at, seen in enumerate(then)]
    path = local.play(game, bots, seed="again", options={"hands": 2}, replays=tmp_path).replay
    asked = asks_of(then[1])
    for at in (0, len(asked) // 2, len(asked) - 1):
        decision, now = asked[at]["ids"][0] % (1 << DECISION_BITS), []
        again = local.replay(
            path, recorder(now, 1, **kind), seat=1, step=step_of(path, 1, decision)
        )
        assert now == asked[: at + 1], "its earlier asks, and this one"
        assert (again.decision, again.ask.view) == (decision, asked[at]["view"])
        if not kind.get("at_fault"):
            assert again.now == again.then, "it plays the same at every run"
            assert str(again).endswith("now   the same")


def test_a_replay_may_be_entered_without_what_came_before(tmp_path):
    then, now = [], []
    bots = [First, recorder(then, 1)]
    path = local.play("jam", bots, seed="again", replays=tmp_path).replay
    asked = asks_of(then)[6]
    step = step_of(path, 1, asked["ids"][0] % (1 << DECISION_BITS))
    again = local.replay(path, recorder(now, 1), seat=1, step=step, earlier=False)
    assert (again.ask.view, len(now)) == (asked["view"], 1)
    told = [event for each in asks_of(then)[:7] for event in each["events"]]
    assert now[0]["events"] == told, "all at once"


def test_a_replay_shows_what_the_bot_would_do_now(tmp_path):
    path = local.play("abstrac", [First, First], seed=3, replays=tmp_path).replay
    again = local.replay(path, Last, seat=0, step=step_of(path, 0, 3))
    assert again.now != again.then
    assert str(again).splitlines()[1:] == [f"  then  {again.then}", f"  now   {again.now}"]


# fmt: off
UNASKED = [
    ({"seat": 0, "step": 9999}, "seat 0 was not asked at step 9999; near to it are: ", "a step past the end"),
    ({"seat": 0, "step": 0},    "seat 0 was not asked at step 0; near to it are: ",    "the deal"),
    ({"seat": 2, "step": 1},    "there is no seat 2: the match has 2, from 0",         "a seat that is not there"),
]
# fmt: on


@pytest.mark.parametrize(("where", "says", "why"), UNASKED, ids=[row[2] for row in UNASKED])
def test_an_ask_that_was_not_is_refused(tmp_path, where, says, why):
    path = local.play("jam", [First, First], seed=3, replays=tmp_path).replay
    with pytest.raises(ValueError, match=re.escape(says)):
        local.replay(path, Last, **where)


def test_a_damaged_replay_is_refused(tmp_path):
    path = local.play("jam", [First, First], seed=3, replays=tmp_path).replay
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match=re.escape(str(path))):
        local.replay(path, Last, seat=0, step=1)


def step_of(path, seat, decision):
    for frame in play_back(Replay.open(path)):
        if any((each.seat, each.decision) == (seat, decision) for each in frame.decisions):
            return frame.index
    raise AssertionError("no such decision")


def asked_at(number, game, **more):
    """A state with a seat to act, and an ask of it."""
    moment = next(
        itertools.islice(moments(game, game.options({"hands": 4}, 2), 2, 1), number, None)
    )
    seat = moment.acting[0]
    return moment.state, seat, local.ask(game.id, moment.state, seat, options={"hands": 4}, **more)


@pytest.mark.parametrize(
    "game", [each for each in GAMES if 2 in each.seats], ids=lambda game: game.id
)
def test_any_state_can_be_asked_of_a_bot(game):
    state, seat, asked = asked_at(5, game)
    codec = codec_of(game)
    assert codec.read_view(asked.view) == game.rules.view(state, seat)
    offered = game.rules.moves(state, seat).offered
    assert [local.move(asked, choice) for choice in asked.moves] == list(offered)
    assert local.move(asked, 0) == offered[0]
    assert asked.message.SerializeToString()


def test_the_dice_of_an_ask_are_those_that_are_given():
    draws = {
        asked_at(3, game_by_id("jam"), dice=bytes(16), decision=number)[2].random.random()
        for number in (1, 1, 2)
    }
    assert len(draws) == 2


def test_a_seat_that_is_not_to_act_is_not_asked():
    state, seat, _ = asked_at(5, game_by_id("sixty_six"))
    with pytest.raises(ValueError, match=rf"seat {1 - seat} is not to act; to act are: \[{seat}\]"):
        local.ask("sixty_six", state, 1 - seat)


def test_an_illegal_move_of_a_bot_is_refused_with_the_reason():
    _, _, asked = asked_at(0, game_by_id("jam"))
    with pytest.raises(ValueError, match="play 2s"):
        local.move(asked, jam.Move(verb=jam.PLAY, card="2s"))
    with pytest.raises(IndexError):
        local.move(asked, len(asked.moves))
