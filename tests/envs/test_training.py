"""Training by self-play: what a network learns, what is kept, and what is exported."""

import contextlib
import os
import random
import runpy
import subprocess
import sys
from concurrent.futures import Future
from contextlib import closing
from multiprocessing import active_children
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from arena import envs
from arena.cli.train import train
from arena.envs import self_play, trained_bot, training
from arena.envs.network import Adam, Network
from arena.envs.self_play import Experience, Task, play
from arena.envs.stepped_batch import Batch
from arena.envs.stepped_match import SteppedMatch
from arena.envs.trained_bot import TrainedBot, TrainedPolicy
from arena.envs.training import KEPT, POLICY, CannotTrain, Training, TrainingTerms
from arena.house.bot import searcher_of
from arena.local.engines import Engine, ThisProcess
from arena.local.play import play as play_match
from cardarena.v1.play_pb2 import Clock

SHORT = TrainingTerms("sixty_six", 2, {"hands": 2}, "7")


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(training, "ITERATIONS", 2)
    monkeypatch.setattr(training, "DECISIONS", 2)
    monkeypatch.setattr(training, "HOUSE_ROUNDS", 1)
    monkeypatch.setattr(self_play, "ROWS", 2)


def first_actions(masks):
    return masks.argmax(axis=1)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        pytest.param("sixty_six", {"hands": 2}, id="one seat after the other"),
        pytest.param("democracy", {"hands": 2}, id="several seats at once"),
    ],
)
def test_a_batch_steps_the_matches_of_its_seeds(game, options):
    """Each row sees what a match alone sees, and gets its rewards, over two matches."""
    batch = Batch(game, 2, options=options, seeds=iter(range(3)))
    leads = np.zeros(3)
    alone = SteppedMatch(game, options)
    alone.begin(1)  # row 1 plays the second seed
    while 1 in batch.rows and not alone.is_over:
        seat = alone.acting[0]
        seen = alone.observed(seat)
        assert batch.seats[1] == seat
        assert (batch.observations[1] == seen.numbers).all()
        assert (batch.masks[1] == seen.mask).all()
        rows, actions = batch.rows, first_actions(batch.masks[batch.rows])
        stepped = batch.step(actions)
        alone.act(int(actions[list(rows).index(1)]))
        leads[:2] += stepped.rewards[list(rows).index(1)]
    assert alone.is_over
    assert leads[:2].tolist() == alone.rewards((0, 0))


def test_a_batch_ends_with_its_seeds():
    batch = Batch("sixty_six", 3, options={"hands": 2}, seeds=range(5))
    ended = 0
    while len(batch.rows):
        ended += batch.step(first_actions(batch.masks[batch.rows])).hand_ended.sum()
    assert ended == 5 * 2


@pytest.mark.slow
def test_rows_are_stepped_by_several_processes():
    """Each part of the rows is a batch of every other seed, until a process is ended."""
    seeds = list(range(7))
    parts = [Batch("sixty_six", 2, options={"hands": 2}, seeds=seeds[at::2]) for at in range(2)]
    batch = envs.batch("sixty_six", 4, options={"hands": 2}, seeds=seeds, processes=2)
    with closing(batch):
        while len(batch.rows):
            rows = [part.rows + 2 * at for at, part in enumerate(parts)]
            assert batch.rows.tolist() == np.concatenate(rows).tolist()
            for name in ("observations", "masks", "seats"):
                alone = np.concatenate([getattr(part, name)[part.rows] for part in parts])
                assert (getattr(batch, name)[batch.rows] == alone).all()
            stepped = batch.step(first_actions(batch.masks[batch.rows]))
            alone = [part.step(first_actions(part.masks[part.rows])) for part in parts]
            for together, apart in zip(stepped, zip(*alone, strict=True), strict=True):
                assert (together == np.concatenate(apart)).all()
        assert not any(len(part.rows) for part in parts)


@pytest.mark.slow
def test_a_batch_says_that_a_process_has_ended():
    batch = envs.batch("sixty_six", 2, processes=2)
    (process,) = [one for one in active_children() if one.daemon]
    process.kill()
    process.join()
    with pytest.raises(RuntimeError, match="process 1 of the batch has ended"):
        batch.step(first_actions(batch.masks))


def test_more_processes_than_rows_are_refused():
    with pytest.raises(ValueError, match="2 rows cannot be shared among 3 processes"):
        envs.batch("sixty_six", 2, processes=3)


def test_a_gain_is_what_the_hand_comes_to_after_an_action(monkeypatch):
    """The same hands played out one by one, by the policy of the house bot, come to the same leads."""
    monkeypatch.setattr(self_play, "ROWS", 1)
    monkeypatch.setattr(self_play, "SHARE_TRIED", 1.0)
    tried = play(Task("sixty_six", {"hands": 2}, 2, 1, "9", 0.0), None, np.array([], np.intp))
    policy = searcher_of("sixty_six").policy
    match = SteppedMatch("sixty_six", {"hands": 2})
    match.begin("9/0")
    rows = iter(zip(tried.observations, tried.gains, strict=True))
    while not match.is_over:
        seat = match.acting[0]
        usual, legal = policy(match.state, seat, None), match.legal(seat)
        if 1 < len(legal) <= self_play.MOST_TRIED:
            seen, gains = next(rows)
            leads = {action: lead_after(match, action, policy) for action in legal}
            mean = sum(leads.values()) / len(leads)
            assert seen == pytest.approx(match.observed(seat).numbers, rel=1e-3)
            assert np.flatnonzero(~np.isnan(gains)).tolist() == list(legal)
            assert gains[list(legal)] == pytest.approx([leads[one] - mean for one in legal])
        elif len(legal) > 1:
            assert (~np.isnan(next(rows)[1])).sum() == self_play.MOST_TRIED
        match.play(usual)
    assert next(rows, None) is None


def lead_after(match, action, policy):
    """The lead of the seat to act at the end of the hand, if it takes this action."""
    trial, hand, seat = match.copy(), match.hand, match.acting[0]
    trial.act(action)
    while not trial.is_over and trial.hand == hand:
        trial.play(policy(trial.state, trial.acting[0], None))
    scores = trial.game.rules.hand_scores(trial.state)[hand]
    return scores[seat] - scores[1 - seat]


def test_an_action_is_a_gain_though_others_choose_at_the_same_time(monkeypatch):
    monkeypatch.setattr(self_play, "ROWS", 2)
    tried = play(Task("democracy", {"hands": 1}, 3, 1, "9", 0.5), None, np.array([], np.intp))
    assert np.nanmean(tried.gains, axis=1) == pytest.approx(0, abs=1e-6)
    assert np.nanmax(np.abs(tried.gains)) > 0


@pytest.mark.parametrize(
    ("usual", "margin", "move"),
    [
        pytest.param("low", 1.5, "best", id="the best value is ahead by more"),
        pytest.param("low", 2.0, "low", id="by no more than the margin"),
        pytest.param("none", 9.0, "best", id="the usual move is no action"),
        pytest.param("low", np.inf, "low", id="a network that foresees nothing"),
    ],
)
def test_the_usual_move_is_left_for_one_that_is_better_by_the_margin(usual, margin, move):
    legal = {0: "low", 2: "best"}
    assert trained_bot.better_move(legal, [1.0, 7.0, 3.0], usual, margin) == move


@pytest.mark.parametrize(
    ("gain", "margin"),
    [
        pytest.param([-1.0, -1.0, 1.0, 1.0], 0.5, id="below it moves lose, above it they gain"),
        pytest.param([-1.0, -1.0, 2.0, -1.5], 1.0, id="gains that luck explains do not count"),
    ],
)
def test_the_margin_is_the_largest_that_gains_about_as_much_as_the_best(gain, margin, monkeypatch):
    trained = Training(SHORT)
    values = np.zeros((4, 31), np.float32)
    values[:, 5] = [0.3, 0.3, 0.6, 0.6]
    gains = np.full((4, 31), np.nan, np.float32)
    gains[:, 2] = 0.0
    gains[:, 5] = gain
    monkeypatch.setattr(trained.mean, "values", lambda seen: values[: len(seen)])
    usual = np.array([2, 2, 2, 2])
    gained = trained._gained(Experience(np.zeros((4, 226), np.float16), gains, usual))
    assert training.margin_of(gained) == margin


def test_a_gradient_is_the_slope_of_half_the_error():
    chance = np.random.default_rng(3)
    network = Network.drawn([5, 4, 3], chance)
    network.parameters = [values.astype(np.float64) for values in network.parameters]
    seen, gains = chance.standard_normal((6, 5)), chance.standard_normal((6, 3))
    gains[::2, 1] = np.nan
    gains -= np.nanmean(gains, axis=1, keepdims=True)
    _, gradient = network.gradient(seen, gains)
    for values, slope in zip(network.parameters, gradient, strict=True):
        at = tuple(chance.integers(size) for size in values.shape)
        before, errors = values[at], []
        for nudge in (-1e-5, 1e-5):
            values[at] = before + nudge
            errors.append(network.gradient(seen, gains)[0] / 2)
        values[at] = before
        assert slope[at] == pytest.approx((errors[1] - errors[0]) / 2e-5, rel=1e-4, abs=1e-8)


def test_a_network_learns_what_actions_are_worth():
    """A planted target: an action is worth the number in its place, so the best action is the largest number's."""
    chance = np.random.default_rng(4)
    network = Network.drawn([4, 32, 4], chance)
    adam = Adam(network, 3e-3)
    for _ in range(600):
        seen = chance.standard_normal((64, 4)).astype(np.float32)
        gains = np.where(chance.random((64, 4)) < 0.3, np.nan, seen)
        gains[:, 0] = seen[:, 0]
        adam.step(network.gradient(seen, gains - np.nanmean(gains, axis=1, keepdims=True))[1])
    seen = chance.standard_normal((200, 4)).astype(np.float32)
    assert np.mean(network.values(seen).argmax(axis=1) == seen.argmax(axis=1)) > 0.9


def test_a_training_that_goes_on_comes_to_the_same_weights(tmp_path):
    through = Training(SHORT)
    with closing(Engine(ThisProcess())) as engine:
        through.round(engine)
        through.keep(tmp_path / KEPT)
        resumed = Training.kept(tmp_path / KEPT, SHORT)
        through.round(engine)
        resumed.round(engine)
    assert (resumed.decisions, resumed.trust) == (through.decisions, through.trust)
    assert 0 <= through.trust <= 1
    for one, other in ((resumed.network, through.network), (resumed.mean, through.mean)):
        for values, same in zip(one.parameters, other.parameters, strict=True):
            assert (values == same).all()
    first = Training(SHORT).network.parameters
    assert (first[0] != through.network.parameters[0]).any()


@pytest.mark.parametrize(
    ("luck", "passes"),
    [
        pytest.param(0.0, 12, id="what follows from the observation is learned as often as before"),
        pytest.param(1.0, 6, id="luck is learned from less often"),
    ],
)
def test_a_training_learns_less_often_from_what_it_cannot_foresee(luck, passes, monkeypatch):
    monkeypatch.setattr(training, "HIDDEN", (32, 16))
    trained, chance = Training(SHORT), np.random.default_rng(1)
    size, actions = trained.layout.view.size, trained.layout.actions.size

    class Dealer:
        def submit(self, *_):
            seen = chance.random((100, size)).astype(np.float16)
            gains = np.full((100, actions), np.nan, np.float32)
            gains[:, 0] = luck * chance.standard_normal(100) + (1 - luck) * (1 + seen[:, -1])
            gains[:, 1] = -gains[:, 0]
            played = Future()
            played.set_result(Experience(seen, gains, np.zeros(100, np.intp)))
            return played

    trained.round(Dealer())
    assert trained.passes == passes


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"seed": "8"}, "is a training with seed 7, not 8"),
        ({"game": "jam"}, "is a training with game sixty_six, not jam"),
        ({"options": {"hands": 4}}, "is a training with options {'hands': 2}, not {'hands': 4}"),
    ],
    ids=["another seed", "another game", "other options"],
)
def test_a_folder_has_one_training(changed, text, tmp_path):
    Training(SHORT).keep(tmp_path / KEPT)
    with pytest.raises(CannotTrain, match=text):
        Training.kept(tmp_path / KEPT, TrainingTerms(**{**vars_of(SHORT), **changed}))


def vars_of(terms):
    return {name: getattr(terms, name) for name in terms.__slots__}


def test_the_bot_values_actions_as_the_network_does(tmp_path):
    trained = Training(SHORT)
    with closing(Engine(ThisProcess())) as engine:
        trained.round(engine)
    trained.export(tmp_path / POLICY)
    policy = TrainedPolicy(tmp_path / POLICY)
    seen = np.random.default_rng(2).random((1, trained.layout.view.size), np.float32)
    values = policy.values(seen[0].tolist())
    assert policy._margin == trained.margin
    assert values == pytest.approx(trained.mean.values(seen)[0].tolist(), rel=1e-4, abs=1e-5)


class Code:
    """What runs code when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return self.file.touch, ()


def test_a_file_of_weights_runs_no_code(tmp_path):
    np.savez(tmp_path / "kept.npz", about=np.array([Code(tmp_path / "ran")], dtype=object))
    with contextlib.suppress(ValueError):
        Training.seed_of(tmp_path / "kept.npz")
    assert not (tmp_path / "ran").exists()


def test_a_policy_for_another_layout_is_refused(tmp_path, monkeypatch):
    Training(SHORT).export(tmp_path / POLICY)
    monkeypatch.setattr(trained_bot, "layout_digest", lambda layout: "another")
    with pytest.raises(ValueError, match="was trained for another layout of sixty_six"):
        TrainedPolicy(tmp_path / POLICY)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        pytest.param("sixty_six", {"hands": 6}, id="a match of another length"),
        pytest.param("democracy", {"hands": 2}, id="choices at the same time"),
        pytest.param("loo", {"hands": 5}, id="moves that the layout chooses"),
        pytest.param("pineapple", {"hands": 2}, id="bets"),
    ],
)
def test_a_policy_plays_without_faults(game, options, tmp_path):
    seats = SteppedMatch(game).seats
    terms = TrainingTerms(game, seats, {"hands": 2 * seats}, "7")
    Training(terms).export(tmp_path / POLICY)
    bot = TrainedBot(tmp_path / POLICY)
    bot.steps = 20
    played = play_match(game, [bot] * seats, seed=5, options=options)
    assert not played.faults


def test_a_bot_that_an_arena_launches_loads_no_library_of_learners(tmp_path):
    """Numpy is not in the sandbox, and Gymnasium would be most of the time of its start."""
    Training(SHORT).export(tmp_path / POLICY)
    program = (
        "import sys; from cardarena.envs import TrainedBot\n"
        "from arena.envs.trained_bot import TrainedPolicy; TrainedPolicy(sys.argv[1])\n"
        "print(*sys.modules.keys() & {'numpy', 'gymnasium'})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, tmp_path / POLICY],
        env=os.environ | {"CARDARENA_ONCE": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert not run.stdout.strip()


def test_a_search_finds_what_a_policy_that_was_not_trained_misses(tmp_path):
    """With steps the bot leaves the move of its policy where playouts gain by another."""
    Training(SHORT).export(tmp_path / POLICY)
    policy = TrainedPolicy(tmp_path / POLICY)
    policy._margin = -np.inf
    match, chance = SteppedMatch("sixty_six", {"hands": 2}), random.Random(3)
    match.begin(4)
    left = 0
    while not match.is_over:
        view, seat = match.view(match.acting[0]), match.acting[0]
        ask = (view, match.options, seat, match.hand)
        quick, searched = (policy._searcher.choose(*ask, steps, chance) for steps in (0, 240))
        assert quick.worlds == 0
        assert quick.move == policy.move(match.state, seat, chance.randrange)
        left += searched.move != quick.move
        match.play(quick.move)
    assert left > 0


# fmt: off
CLOCKS = [
    # move, bank, passed    is up   why
    (10.0, 60.0, 5.5,       False,  "half of the move's time and a hundredth of the bank are for thinking"),
    (10.0, 60.0, 5.7,       True,   "the rest is for the network and a busy machine"),
    (10.0,  0.0, 5.1,       True,   "an empty bank gives nothing"),
    ( 0.1, 60.0, 0.5,       False,  "a bank helps a short move"),
    ( 0.1,  0.0, 0.06,      True,   "a fast clock"),
]
# fmt: on


@pytest.mark.parametrize(
    ("move_s", "bank_s", "passed_s", "is_up"),
    [row[:4] for row in CLOCKS],
    ids=[row[4] for row in CLOCKS],
)
def test_a_search_takes_half_of_the_clock_at_most(move_s, bank_s, passed_s, is_up):
    clock = Clock(move_ms=int(move_s * 1000), bank_ms=int(bank_s * 1000))
    ask = SimpleNamespace(clock=clock, time_left_s=lambda: move_s + bank_s - passed_s)
    assert TrainedBot().time_is_up(ask)() == is_up


def test_a_bot_without_time_plays_its_policy(tmp_path):
    """It answers by what it has, so that no clock makes it lose a match."""
    Training(SHORT).export(tmp_path / POLICY)
    hasty, quick = (TrainedBot(tmp_path / POLICY) for _ in range(2))
    hasty.steps = 2_400
    hasty.time_is_up = lambda _: lambda: True
    plays = [
        play_match("sixty_six", [bot, quick], seed=5, options={"hands": 2})
        for bot in (hasty, quick)
    ]
    assert plays[0].scores == plays[1].scores
    assert not plays[0].faults


def test_the_command_writes_a_bot_and_goes_on(tmp_path, monkeypatch):
    """Its folder is a bot of the SDK, which an author may change."""
    folder = tmp_path / "bot"
    monkeypatch.setattr("arena.cli.train.Engine", lambda **_: Engine(ThisProcess()))
    monkeypatch.setattr("arena.cli.terminal.console.LINE_S", 0)
    arguments = ["sixty_six", str(folder), "--deal-sets", "2", "-o", "hands=2"]
    begun = CliRunner().invoke(train, [*arguments, "--rounds", "1", "--seed", "7"])
    assert begun.exit_code == 0, begun.output
    assert "points a match" in begun.output
    assert "round 1: 1 of " in begun.output, "it says how far the first round is"
    assert "round 1: 2 of 2 deal-sets against the house bot's policy" in begun.output
    (folder / "bot.py").write_text("# mine\n" + (folder / "bot.py").read_text())
    on = CliRunner().invoke(train, [*arguments, "--rounds", "2"])
    assert "round    2" in on.output
    assert (folder / "bot.py").read_text().startswith("# mine")
    bot = runpy.run_path(str(folder / "bot.py"))["Bot"]
    bot.steps = 20  # fewer than the folder has, as this tests no strength
    played = play_match("sixty_six", [bot, bot], seed=5, options={"hands": 2})
    assert not played.faults
