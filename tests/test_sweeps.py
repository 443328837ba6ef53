"""Sweeps measure what they say: waiting counts from when answers are due, and asks are those of play."""

import importlib.util
import json

import pytest
from click.testing import CliRunner

from arena.games.catalogue import game_by_id
from bench import __main__ as bench
from bench import ask_cost, load, paced, sweeps, trivial
from cardarena.v1 import play_pb2

# fmt: off
PERCENTILES = [
    # values           share   found   why
    ([7],              0.5,    7,      "one value is all there is"),
    ([1, 2, 3, 4],     0.5,    2,      "half of them lie up to it"),
    ([1, 2, 3, 4],     0.51,   3,      "two of four are less than that share"),
    (range(1, 1001),   0.999,  999,    "all but one"),
    (range(1, 101),    0.999,  100,    "of so few, the last"),
    (range(1, 101),    1.0,    100,    "all of them"),
]
# fmt: on


@pytest.mark.parametrize(
    ("values", "share", "found", "why"), PERCENTILES, ids=[row[-1] for row in PERCENTILES]
)
def test_a_percentile_is_the_smallest_value_up_to_which_that_share_lies(values, share, found, why):
    assert paced.percentile(values, share) == found


class Played:
    """A schedule of pairs that has been asked, and what comes out of it."""

    def __init__(self, pairs=2):
        self.schedule = paced.Schedule(pairs)
        self.chosen = []
        for pair in range(pairs):
            self.ask(pair, 0.0)
        self.schedule.count_from(0.0)

    def ask(self, pair, now_s, streams=2):
        for _ in range(streams):
            self._note(self.schedule.asked(pair, now_s))

    def due(self, due_s):
        self._note(self.schedule.due(due_s))

    def _note(self, chosen):
        if chosen is not None:
            self.chosen.append(chosen)

    @property
    def times_s(self):
        return list(self.schedule.times_s)


def test_a_turnaround_counts_from_when_the_answer_was_due():
    played = Played()
    played.due(1.0)
    played.ask(0, 1.5)
    assert played.chosen == [(0, 1.0)]
    assert played.times_s == [0.5, 0.5], "of both streams"


def test_each_stream_has_its_own_time():
    played = Played()
    played.due(1.0)
    played.ask(0, 1.25, streams=1)
    played.ask(0, 1.5, streams=1)
    assert played.times_s == [0.25, 0.5]


def test_an_answer_that_nobody_is_free_to_give_waits_and_its_waiting_counts():
    played = Played(pairs=1)
    for due_s in (1.0, 2.0, 3.0):
        played.due(due_s)
    assert played.chosen == [(0, 1.0)], "the server is slow, and the others are due all the same"
    played.ask(0, 10.0)
    played.ask(0, 11.0)
    played.ask(0, 12.0)
    assert [due_s for _, due_s in played.chosen] == [1.0, 2.0, 3.0]
    assert played.times_s == [9.0, 9.0, 9.0, 9.0, 9.0, 9.0]


def test_a_pair_is_free_once_both_of_its_streams_were_asked():
    played = Played(pairs=1)
    played.due(1.0)
    played.due(2.0)
    played.ask(0, 3.0, streams=1)
    assert len(played.chosen) == 1
    played.ask(0, 4.0, streams=1)
    assert len(played.chosen) == 2


def test_what_is_due_before_the_count_is_no_part_of_it():
    played = Played()
    played.schedule.count_from(5.0)
    played.due(4.0)
    played.due(6.0)
    played.ask(0, 7.0)
    played.ask(1, 7.0)
    assert played.times_s == [1.0, 1.0]


def test_what_is_given_up_counts_as_long_as_it_has_waited():
    played = Played(pairs=1)
    played.due(1.0)
    played.due(2.0)
    played.ask(0, 3.0, streams=1)
    played.schedule.give_up(10.0)
    assert played.times_s == [2.0, 9.0, 8.0, 8.0], "an ask read, one under way, two not said"
    played.ask(0, 11.0, streams=1)
    assert len(played.times_s) == 4, "what comes too late is not counted again"
    assert played.schedule.at_rest


def test_it_is_at_rest_once_every_stream_was_asked():
    schedule = paced.Schedule(2)
    assert not schedule.at_rest
    played = Played()
    assert played.schedule.at_rest
    played.due(1.0)
    assert not played.schedule.at_rest
    played.ask(0, 2.0)
    assert played.schedule.at_rest


# fmt: off
TYPICAL = [
    ([10.0] * 99 + [1_000.0],           10.0,  "a pause among a hundred is left out"),
    ([10.0, 90_000.0],                  10.0,  "and one among few"),
    ([10.0] * 50 + [30.0] * 51,         20.0,  "cheap and dear asks both count"),
]
# fmt: on


@pytest.mark.parametrize(("each_us", "found", "why"), TYPICAL, ids=[row[-1] for row in TYPICAL])
def test_one_pause_is_not_what_an_ask_costs(each_us, found, why):
    assert ask_cost.typical_us(each_us) == pytest.approx(found, abs=0.2)


@pytest.mark.parametrize("game", ["loo", "pineapple", "soko"])
def test_the_asks_that_are_measured_are_those_of_play(game):
    game = game_by_id(game)
    found = ask_cost.measure(game, min(game.seats), 0.0)
    assert found.asks >= ask_cost.LEAST_ASKS
    assert found.us > 0
    assert found.size_bytes > 100
    for each in found.by_held:
        assert each.asks >= ask_cost.LEAST_ASKS
        assert 0 < each.held <= 5


def test_every_family_of_games_is_measured_once():
    families = [game.family for game in ask_cost.FAMILIES]
    assert len(families) == len(set(families)) == 13
    assert {"pineapple", "eleusis", "abstrac"} <= {game.id for game in ask_cost.FAMILIES}


@pytest.mark.parametrize("first", [True, False], ids=["first moves", "moves at random"])
def test_a_match_that_is_to_wait_is_played_up_to_there(first):
    respond = load.responder(load.Job("", 1, trivial.ID, first=first, until=3))
    asks = [play_pb2.Ask(ask_id=7 + nth, decision=nth) for nth in (3, 4)]
    for ask in asks:
        ask.jam.moves.add()
    frame = play_pb2.ArenaMessage(asks=play_pb2.Asks(asks=asks)).SerializeToString()
    answer, decisions = respond(frame)
    assert decisions == 1
    answers = play_pb2.BotMessage.FromString(answer).answers.answers
    assert [each.ask_id for each in answers] == [10]


@pytest.mark.slow
def test_a_run_ends_with_figures_that_can_be_drawn(monkeypatch, tmp_path):
    """The whole of it between processes, as short as it may be."""
    monkeypatch.setattr(sweeps, "STREAMS", (2,))
    monkeypatch.setattr(sweeps, "MATCHES", (1, 2))
    monkeypatch.setattr(sweeps, "PACES_PER_S", (200,))
    monkeypatch.setattr(sweeps, "HELD_GAMES", (trivial.ID, "jam"))
    monkeypatch.setattr(sweeps, "HELD_MATCHES", (0, 8))
    monkeypatch.setattr(ask_cost, "FAMILIES", (game_by_id("loo"),))
    file, folder = tmp_path / "figures.json", tmp_path / "pictures"
    run = CliRunner().invoke
    done = run(bench.main, ["--only", "sweeps", "--quick", "--json", str(file)])
    assert done.exit_code == 0, done.output
    found = json.loads(file.read_text())["sweeps"]
    assert [(each["streams"], each["matches"]) for each in found["decisions"]] == [(2, 1), (2, 2)]
    assert [each["server"] for each in found["turnarounds"]] == ["arena", "bare"]
    assert all(each["decisions"] > 50 for each in found["turnarounds"])
    assert [each["matches"] for each in found["memory"]] == [0, 8, 0, 8]
    assert all(each["memory_mb"] > 20 for each in found["memory"])
    assert [each["seats"] for each in found["asks"]] == [5, 6, 7, 8, 9, 10]
    if importlib.util.find_spec("matplotlib"):  # scripts/setup bench has it
        done = run(bench.main, ["--plots", str(file), str(folder)])
        assert done.exit_code == 0, done.output
        assert len(list(folder.glob("*.svg"))) == 5
