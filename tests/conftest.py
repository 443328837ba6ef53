"""Settings of all tests."""

import gc
import re
import signal
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings
from xdist.scheduler import LoadScopeScheduling

from arena.compiled import built, outdated
from tests import deep, programs

# Neither the machine's speed nor chance decides whether a test passes.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=15)
settings.register_profile("all", deadline=None, derandomize=True, max_examples=100)

# In the background of a script, as after `nohup`, SIGINT is ignored, and so it would be in all programs that tests start.
# What has a handler is reset in them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""What Python audits when a program is started."""
STARTING = "starts programs"
LEFT_OUT = pytest.StashKey[int]()
"""How many slow or deep tests were left out."""

ROOT = Path(__file__).parent
OF_A_LANGUAGE = re.compile(r"test_languages\.py::\w+\[(Go|Rust|TypeScript|Java|C\+\+)[-\]]")
TOGETHER = frozenset(
    {
        "newgame/test_new_game.py",
        "sdk/test_types.py",
        "live/test_loop_stays_free.py",
        "test_release.py",
        "web/test_acting_browser.py",
        "web/test_browser.py",
        "web/test_competitions.py",
        "web/test_fold.py",
        "web/test_seat_browser.py",
        "web/test_site_browser.py",
    }
)
"""Files whose tests share what takes long to make."""
COMPILED = ".so"
IRREPLACEABLE = "it replaces a part of a compiled module, which only the pure sources allow"


def is_compiled(target):
    """Whether a module, a class, or the class of an object is of a compiled module."""
    name = getattr(target, "__module__", None) or getattr(target, "__name__", "")
    return str(getattr(sys.modules.get(name), "__file__", "")).endswith(COMPILED)


@pytest.fixture(autouse=True, scope="session")
def replaceable_parts():
    """Tests that replace a part of what is compiled are those of the pure sources.

    What was compiled calls its own functions and has its own constants, whatever a module's
    names are made to mean.
    """
    if built() == "pure":
        yield
        return
    setattr_as_ever = pytest.MonkeyPatch.setattr

    def replace(self, target, *args, **kwargs):
        owner = sys.modules.get(target.rpartition(".")[0]) if isinstance(target, str) else target
        if is_compiled(owner):
            pytest.skip(IRREPLACEABLE)
        return setattr_as_ever(self, target, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        setattr_as_ever(patch, pytest.MonkeyPatch, "setattr", replace)
        yield


@pytest.fixture
def strangers(tmp_path):
    """An environment with everything that these tests run with, but for our own."""
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        # The editable engine has data files below `arena`, and pip would write through a link to it.
        if "cardarena" not in path.name and path.name != "arena":
            (packages / path.name).symlink_to(path)
    return folder


@pytest.fixture(scope="session")
def beside():
    """Threads for what mostly waits, and goes on beside the tests.

    They have ended before the interpreter ends: a gRPC server cannot be stopped after that, and
    the process would stay for ever.
    """
    threads = ThreadPoolExecutor(max_workers=24, thread_name_prefix="beside")
    yield threads
    threads.shutdown(cancel_futures=True)


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the slow tests too, without deep ones")
    parser.addoption(
        "--deep",
        default="",
        metavar="GROUPS",
        help="with --all, deep tests of these groups too, one a line",
    )
    parser.addoption("--round", choices=ROUNDS, help="only files of this round of all tests")
    parser.addoption(
        "--note-passed",
        metavar="FILE",
        help="add the ids of tests to FILE that pass and start no program",
    )
    parser.addoption(
        "--passed", metavar="FILE", help="leave out what FILE names and would do the same again"
    )


def runs_all_that_it_names(config):
    """Whether slow tests are run as well: those of all files, or of files that are named."""
    return config.getoption("all") or config.args_source is pytest.Config.ArgsSource.ARGS


def pytest_sessionstart(session):
    """Try few examples of properties where a quick answer is wanted, or the pure sources have all."""
    thorough = runs_all_that_it_names(session.config) and built() == "pure"
    settings.load_profile("all" if thorough else "quick")
    gc.disable()  # until all is loaded


def pytest_report_header():
    if changed := outdated():
        pytest.exit(f"changed since it was compiled: {', '.join(changed)}; run scripts/compile", 2)
    return f"arena: {built()}"


ROUNDS = {
    "computing": (
        "bots/test_archive.py",
        "bots/test_manifest.py",
        "bots/test_runtime_file.py",
        "bots/test_wheels.py",
        "contests/test_collusion_report.py",
        "contests/test_draws.py",
        "contests/test_gauntlet.py",
        "contests/test_knockout.py",
        "contests/test_ladder_rows.py",
        "contests/test_pairing.py",
        "contests/test_plan.py",
        "contests/test_ranking_rules.py",
        "contests/test_swiss.py",
        "contests/test_tie_breaks.py",
        "contests/test_timetable.py",
        "games",
        "goldens",
        "live/test_phases.py",
        "live/test_runner.py",
        "pictures",
        "records",
        "referee/deal",
        "referee/wire",
        "results",
        "test_bench.py",
        "test_sample_bots.py",
        "test_vector_adapters.py",
        "test_vectors.py",
        "testing/test_documentation.py",
        "testing/test_doubles.py",
        "web/test_leaks.py",
        "web/test_live.py",
        "web/test_pages.py",
        "web/test_site.py",
    ),
    "waiting": (),
    "alone": (
        "app/placement",
        "attack",
        "chaos",
        "cli/test_workers.py",
        "leaks/test_times.py",
        "sdk/test_gathering.py",
        "web/test_times.py",
    ),
}
"""Files and folders of tests that only compute, that start programs and wait for them (all
others), and that compare times or what an arena takes of the machine."""
WAITING = frozenset({"records/test_fair_play.py"})
"""Files that wait, in folders of others."""


def round_of(path):
    """The round of `scripts/test --all` that a file of tests is of."""
    file = path.relative_to(ROOT)
    name, places = file.as_posix(), {place.as_posix() for place in (file, *file.parents)}
    if name in WAITING:
        return "waiting"
    return next((each for each, named in ROUNDS.items() if not places.isdisjoint(named)), "waiting")


def pytest_ignore_collect(collection_path, config):
    """Whether a file is of another round than the one that is wanted."""
    wanted = config.getoption("round")
    if wanted and collection_path.is_file():
        return round_of(collection_path) != wanted or None
    return None


def repeats_itself(item):
    """Whether a test that started no program does the same again: it measures no times, and has as many examples."""
    return round_of(item.path) != "alone" and not is_hypothesis_test(item.obj)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take over what a process of pytest-xdist has counted; each collects all tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter, config):
    """Count the tests that were not run, and say how to run them."""
    skipped = [
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
    ]
    if skipped:
        terminalreporter.write_line(programs.counted(skipped))
    left_out = config.stash.get(LEFT_OUT, 0)
    if left_out:
        kind, how = ("deep", "--deep") if config.getoption("all") else ("slow", "--all")
        tests = "test" if left_out == 1 else "tests"
        terminalreporter.write_line(f"{left_out} {kind} {tests} left out: scripts/test {how}")


def shared_work(nodeid):
    """The language, or the file of `TOGETHER`, whose tests share what is made; None of other tests."""
    if found := OF_A_LANGUAGE.search(nodeid):
        return found[1]
    file = nodeid.partition("::")[0].removeprefix("tests/")
    return file if file in TOGETHER else None


def longest_first(items):
    """Tests that share work, then files with slow tests, then the others: so all processes end at about the same time."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    return sorted(items, key=lambda item: (not shared_work(item.nodeid), item.path not in slow))


class BySharedWork(LoadScopeScheduling):
    """Gives tests that share work to one process, and all others singly.

    `--dist loadgroup` of pytest-xdist 3.8 finds no groups with pytest 9.2.
    """

    def _split_scope(self, nodeid):
        return shared_work(nodeid) or nodeid


class NotePassed:
    """Adds the ids of tests that pass to a file, but for those in whose file a program was started.

    Such a test may do something else where more programs are installed.
    """

    def __init__(self, path, is_worker):
        self._path = path
        self._is_worker = is_worker
        self._file = None
        self._starting = set()
        sys.addaudithook(self._notice)

    def _notice(self, event, _):
        if event in STARTS:
            self._starting.add(self._file)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self._file = item.path

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if item.path in self._starting:
            report.user_properties.append((STARTING, True))
        return report

    def pytest_runtest_logreport(self, report):
        if report.when != "call" or not report.passed or STARTING in dict(report.user_properties):
            return
        if not self._is_worker:  # the process that hears of all tests
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")


def pytest_configure(config):
    if path := config.getoption("note_passed"):
        config.pluginmanager.register(NotePassed(Path(path), hasattr(config, "workerinput")))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return BySharedWork(config, log) if config.getoption("dist") == "loadscope" else None


def pytest_collection_finish():
    """Keep what is loaded by now, with thousands of tests, out of each collection of garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave the slow tests, or the deep ones, out of a run of everything; what is named is run whole."""
    if passed := config.getoption("passed"):
        known = set(Path(passed).read_text("utf-8").splitlines())
        items[:] = [item for item in items if item.nodeid not in known or not repeats_itself(item)]
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker("slow")
    if config.getoption("keyword") or config.getoption("markexpr"):
        return
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        return
    if config.getoption("all"):
        wanted = config.getoption("deep").splitlines()
        left_out = {item for item in items if deep.group_of(item) not in [None, *wanted]}
    else:
        left_out = {item for item in items if item.get_closest_marker("slow")}
    config.stash[LEFT_OUT] = len(left_out)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = len(left_out)
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))
    if config.getoption("round") == "waiting":
        items[:] = longest_first(items)
