"""A comparison by tasks: the bots of programs, and the same margins as with bots that are launched."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.app.author_matches import compare, comparison_of, new_record
from arena.app.comparison_tasks import compare_by_tasks
from arena.cli import main
from arena.games.catalogue import game_by_id
from arena.local.engines import Engine, ThisProcess
from arena.local.program import NoBot, bot_of
from arena.referee.terms import MatchTerms
from arena.sandbox.command import BadCommand, BotCommand, house_argv

GAME = game_by_id("sixty_six")
TERMS = MatchTerms(GAME, GAME.options({"hands": 2}, 2), 2, seeded=True)
BOT = """
import cardarena
from cardarena import sixty_six
class MyBot(sixty_six.Bot):
    def move(self, ask):
        {}
if __name__ == "__main__":
    {}
"""
RUN = "cardarena.run(MyBot)"


@pytest.fixture
def program(tmp_path):
    """Writes a program; returns its command."""

    def write(name, move="return ask.moves[0]", run=RUN, more=""):
        path = tmp_path / name / "bot.py"
        path.parent.mkdir()
        path.write_text(more + BOT.format(move, run))
        return BotCommand(name, (sys.executable, str(path)))

    return write


def compared(commands, tmp_path, *, client=None, most=16):
    """The result, and the exceptions of the bots; played in this process unless there is a client."""
    comparison = comparison_of(TERMS, commands, "s", each_other=True)
    raised = []
    with closing(Engine(client or ThisProcess())) as engine:
        result = compare_by_tasks(
            comparison,
            commands,
            engine,
            most=most,
            record=new_record(),
            on_exception=lambda *given: raised.append(given),
        )
    return result, raised


# fmt: off
NOT_PLAYED = [
    # the file's other lines    what it runs                       said                                   why
    ("raise KeyError('x')\n",   RUN,                               "it raised KeyError: 'x'",             "it fails as it is imported"),
    ("",                        "raise SystemExit(3)",             "it ended with exit code 3",           "it ends before that"),
    ("",                        "pass",                            "it does not call cardarena.run",      "it runs no bot"),
    ("",                        "cardarena.run(type('B', (MyBot,), {'games': ['jam']}))", "B plays jam, and not sixty_six", "another game"),
    ("",                        "cardarena.run(type('B', (MyBot,), {'__init__': lambda self: 1 / 0}))", "its bot cannot be made: ZeroDivisionError", "no object can be made"),
]
# fmt: on


@pytest.mark.parametrize(
    ("more", "run", "said", "_why"), NOT_PLAYED, ids=[row[-1] for row in NOT_PLAYED]
)
def test_a_program_without_a_bot_is_refused(program, tmp_path, more, run, said, _why):
    with pytest.raises(BadCommand, match="the bot 'a' cannot be played without an arena: ") as bad:
        compared([program("a", run=run, more=more), program("b")], tmp_path)
    assert said in str(bad.value)


def test_a_bot_that_is_no_python_file_is_refused(program, tmp_path):
    with pytest.raises(BadCommand, match="only a Python file can be played"):
        compared([program("b"), BotCommand("a", ("/usr/bin/node", "bot.js"))], tmp_path)


def test_a_program_gets_its_arguments_and_may_end_after_its_bot(program):
    named = "cardarena.run(type(sys.argv[1], (MyBot,), {}), argv=[])\n    sys.exit(0)"
    made = program("a", more="import sys\n", run=named)
    assert bot_of([*made.argv[1:], "Fast"]).__name__ == "Fast"


def test_two_versions_have_modules_of_their_own(program):
    bots = []
    for name, pick in (("a", "first"), ("b", "second")):
        made = program(name, more="import strategy\n", move="return strategy.NAME")
        Path(made.argv[1]).with_name("strategy.py").write_text(f"NAME = {pick!r}\n")
        bots.append(bot_of(made.argv[1:]))
    assert [bot().move(None) for bot in bots] == ["first", "second"]
    assert "strategy" not in sys.modules


def test_a_failed_program_leaves_nothing_behind(program):
    before = sys.argv[:], sys.path[:]
    with pytest.raises(NoBot):
        bot_of(program("a", run="pass").argv[1:])
    assert (sys.argv, sys.path) == before


def test_the_house_bot_takes_the_engine_that_runs_it():
    engine = sys.modules["arena"]
    bot_of(house_argv("random")[1:])
    assert sys.modules["arena"] is engine


def test_an_exception_is_a_fault_and_is_reported(program, tmp_path):
    commands = [program("good"), program("bad", move="raise KeyError('to_call')")]
    result, raised = compared(commands, tmp_path)
    assert result.mean > 0.0
    assert set(raised) == {("bad", "bot.py:6: KeyError: 'to_call'")}


def test_ctrl_c_keeps_the_deal_sets_so_far(program, tmp_path):
    commands = [program("a"), program("b", move="raise KeyboardInterrupt")]
    result, _ = compared(commands, tmp_path)
    assert result.deal_sets == 0


def test_a_bot_is_new_at_each_table(program, tmp_path):
    once = "count = self.count = getattr(self, 'count', 0) + 1; return ask.moves[0 if count < 9 else -1]"
    commands = [program("a", move=once, run="cardarena.run(MyBot())"), program("b")]
    one, _ = compared(commands, tmp_path, most=1)
    again, _ = compared(commands, tmp_path, most=1)
    assert one == again


def test_a_file_that_has_changed_is_loaded_anew(program, tmp_path):
    commands = [program("a"), program("b", move="return ask.moves[-1]")]
    before, _ = compared(commands, tmp_path)
    file = Path(commands[0].argv[1])
    file.write_text(file.read_text().replace("moves[0]", "moves[-1]"))
    same, _ = compared(commands, tmp_path)
    assert before.mean != 0.0
    assert same.mean == 0.0


def test_a_decision_is_by_blocks_whatever_plays_ahead(program, tmp_path):
    commands = [program("a"), program("bad", move="raise KeyError")]
    result, _ = compared(commands, tmp_path, most=200)
    with ThreadPoolExecutor(3) as threads:
        other, _ = compared(commands, tmp_path, most=200, client=threads)
    assert result == other
    assert result.deal_sets % 16 == 0
    assert result.deal_sets < 200


def figures(result):
    return result.mean, result.low, result.high, result.deal_sets


@pytest.mark.slow
def test_margins_are_those_of_launched_bots(program, tmp_path):
    commands = [program("first"), program("last", move="return ask.moves[-1]")]
    comparison = comparison_of(TERMS, commands, "s", each_other=True)
    launched = compare(comparison, commands, tmp_path / "data", most=16, record=new_record())
    here, _ = compared(commands, tmp_path)
    assert figures(here) == figures(launched)
    assert here.mean != 0.0


@pytest.mark.slow
@pytest.mark.deep("engines")
@pytest.mark.parametrize("engine", ["processes", "dask:local", "ray:local"])
def test_margins_are_the_same_on_every_engine(engine, program, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
    module = {"dask:local": "distributed", "ray:local": "ray"}.get(engine, "sys")
    pytest.importorskip(module, reason=f"needs cardarena-engine[{engine.partition(':')[0]}]")
    commands = [program("first"), program("last", move="return ask.moves[-1]")]
    words = [f"{command.name}={command.argv[1]}" for command in commands]
    options = ("--game", "sixty_six", "-o", "hands=2", "--each-other", "--deal-sets", "16")
    command = ("compare", *words, *options, "--seed", "s", "--on", engine, "--json")
    done = CliRunner().invoke(main, [*command, "--data", str(tmp_path / "data")])
    assert done.exit_code in (0, 4), done.output
    here, _ = compared(commands, tmp_path)
    found = json.loads(done.stdout)
    assert (found["mean"], found["deal_sets"]) == (here.mean, here.deal_sets)
