"""The mutation run from the command line: `scripts/mutate [GAME...]`."""

import argparse
import hashlib
import json
import os
import sys
import traceback
from dataclasses import dataclass
from functools import cached_property, partial

from tests.mutation.operators import FAULTS, mutants_of, names_of
from tests.mutation.reporting import Progress, markdown, sampled
from tests.mutation.survivors import FILE, accepted, entry
from tests.mutation.targets import ROOT, sources, targets
from tests.mutation.trial import Trials

RESULTS = ROOT / "arena-data" / "mutation"
WANTED = 0.95
"""Share of the mutants that the tests of every game are to catch."""

EPILOG = """\
examples:
  scripts/mutate sixty_six                 every fault that can be planted in Sixty-Six
  scripts/mutate --sample 150              150 faults of every family, always the same
  scripts/mutate loo --fresh               without what an earlier run found out
  scripts/mutate soko --only one           one kind of faults
  scripts/mutate --operators               the kinds of faults

A run that was stopped goes on where it was: results are kept in arena-data/mutation,
those of survivors that nobody explained until a test or a golden of the family changes.
"""


@dataclass(frozen=True)
class Trial:
    """A mutant and the source it is planted in."""

    mutant: object
    source: str

    @property
    def planted(self):
        return self.mutant.path, self.mutant.plant(self.source)


class Run:
    """The mutants of one target, and what became of them."""

    def __init__(self, target, sample, seed, folder, operators=FAULTS):
        self.target = target
        self._sources = {path: (ROOT / path).read_text("utf-8") for path in target.files}
        names = names_of(sources())
        found = [
            mutant
            for path, source in self._sources.items()
            for mutant in mutants_of(path, source, names)
            if mutant.operator in operators
        ]
        self.planted = len(found)
        self.mutants = sampled(found, sample, f"{target.name} {seed}")
        self._file = folder / f"{target.name}.jsonl"
        self.outcomes = {}

    def remember(self):
        """Take over what an earlier run found out and still holds."""
        if not self._file.exists():
            return
        known = accepted()
        explained = {mutant.key for mutant in self.mutants if mutant.place in known}
        for line in self._file.read_text("utf-8").splitlines():
            kept = json.loads(line)
            if kept["source"] != self._source_hash(kept["key"].split(":")[0]):
                continue
            settled = kept["caught"] or kept["key"] in explained
            if settled or kept["tests"] == self._tests_hash:
                self.outcomes[kept["key"]] = (kept["caught"], kept["by"])
            else:
                self.outcomes.pop(kept["key"], None)

    def forget(self):
        self._file.unlink(missing_ok=True)

    def go(self, processes, say):
        """Try every mutant that is not settled yet."""
        waiting = [
            Trial(mutant, self._sources[mutant.path])
            for mutant in self.mutants
            if mutant.key not in self.outcomes
        ]
        if not waiting:
            return
        self.target.preload()
        trials = Trials(stages_of(self.target), processes)
        usual = trials.baseline()
        say(f"{self.target.name}: {len(waiting)} to try; unharmed {usual.cpu_s}")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        progress, survived = Progress(len(waiting)), 0
        with self._file.open("a", encoding="utf-8") as file:
            for at, (trial, outcome) in enumerate(trials.run(waiting), 1):
                mutant = trial.mutant
                self.outcomes[mutant.key] = (outcome.caught, outcome.by)
                row = {
                    "key": mutant.key,
                    "caught": outcome.caught,
                    "by": outcome.by,
                    "source": self._source_hash(mutant.path),
                    "tests": self._tests_hash,
                }
                file.write(json.dumps(row) + "\n")
                file.flush()
                if not outcome.caught:
                    survived += 1
                    say(f"  survived {mutant}")
                to_go = progress.done()
                if at % 50 == 0 or at == len(waiting):
                    say(f"  {self.target.name}: {progress.at} tried, {survived} survived, {to_go}")

    @property
    def survivors(self):
        return [mutant for mutant in self.mutants if self.outcomes.get(mutant.key, ("?",))[0] == ""]

    def report(self):
        """The row of the table, as a mapping."""
        known = accepted()
        tried = [mutant for mutant in self.mutants if mutant.key in self.outcomes]
        survivors = self.survivors
        explained = [mutant for mutant in survivors if mutant.place in known]
        ways = [self.outcomes[mutant.key][0] for mutant in tried]
        caught = len(tried) - len(survivors)
        judged = len(tried) - len(explained)
        return {
            "game": self.target.name,
            "planted": self.planted,
            "tried": len(tried),
            "caught": caught,
            "caught_by_goldens_alone": sum(
                way in ("import", "goldens", "timeout", "crash") for way in ways
            ),
            "accepted": len(explained),
            "unexplained": len(survivors) - len(explained),
            "share_of_all": _share(caught, len(tried)),
            "share_without_accepted": _share(caught, judged),
        }

    def entries(self):
        """The unexplained survivors as lines of the file of accepted ones."""
        known = accepted()
        return [entry(mutant) for mutant in self.survivors if mutant.place not in known]

    def _source_hash(self, path):
        return _hash(self._sources.get(path, ""))

    @cached_property
    def _tests_hash(self):
        """What a survivor was tried with: a change makes it worth another try."""
        names = [*self.target.tests]
        names += [f"tests/vector_adapters/{family}.py" for family in self.target.families]
        paths = [ROOT / name for name in names]
        paths += [ROOT / "tests/goldens/bots.py", ROOT / "tests/goldens/matches.py"]
        for path in sorted((ROOT / "tests/goldens").glob("*.digests")):
            if path.read_text("utf-8").split()[3] in self.target.families:
                paths.append(path)
        return _hash("".join(path.read_text("utf-8") for path in paths if path.exists()))


def load():
    """The first stage: can the rules be imported at all?"""
    from arena.games import catalogue

    assert catalogue.GAMES


def play_goldens(target):
    from tests.goldens.matches import difference, digests_path, head, plans, stored

    for game in target.games():
        assert digests_path(game).read_text("utf-8").startswith(head(game)), "other options"
        expected = stored(game)
        for plan in sorted(plans()[game.id], key=lambda plan: len("".join(expected[str(plan)]))):
            found = difference(game, plan, expected[str(plan)])
            assert found is None, found


def check_vectors(target):
    for vector, check in target.vectors():
        try:
            check(vector)
        except Exception as error:
            raise AssertionError(f"{vector['id']}: {type(error).__name__}: {error}") from None


def run_tests(target):
    import pytest

    failed = []

    class Plugin:
        def pytest_runtest_logreport(self, report):
            if report.failed:
                failed.append(report.nodeid)

    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-m", "not slow"]
    code = pytest.main([*options, *target.tests], plugins=[Plugin()])
    assert code == 0, failed[0] if failed else f"pytest ended with {code}"


def stages_of(target):
    """The checks of a target, cheapest first."""
    return {
        "import": load,
        "goldens": partial(play_goldens, target),
        "vectors": partial(check_vectors, target),
        "tests": partial(run_tests, target),
    }


HEAD = (
    "game", "planted", "tried", "caught", "by goldens alone", "accepted", "unexplained",
    "share of all", "without accepted",
)  # fmt: skip


def table(rows):
    """The report as lines of Markdown."""
    cells = (
        (
            each["game"],
            each["planted"],
            each["tried"],
            each["caught"],
            f"{_share(each['caught_by_goldens_alone'], each['tried']):.1%}",
            each["accepted"],
            each["unexplained"],
            f"{each['share_of_all']:.1%}",
            f"{each['share_without_accepted']:.1%}",
        )
        for each in rows
    )
    yield from markdown(HEAD, ("---", *["---:"] * (len(HEAD) - 1)), cells)


def _share(part, whole):
    return part / whole if whole else 1.0


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def arguments(known):
    parser = argparse.ArgumentParser(
        prog="scripts/mutate",
        description="Plant faults in the rules, one at a time, and see whether the tests notice.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("games", nargs="*", metavar="GAME", help="families; all if none is named")
    parser.add_argument("--sample", type=int, metavar="N", help="faults tried of each family")
    parser.add_argument(
        "--only", action="append", choices=FAULTS, metavar="KIND", help="faults of this kind"
    )
    parser.add_argument("--seed", default="1", help="which sample it is (default 1)")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="at once (default 1)")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--entries", action="store_true", help=f"print lines for {FILE.name}")
    parser.add_argument("--operators", action="store_true", help="list the kinds of faults")
    given = parser.parse_args()
    for name in given.games:
        if name not in known:
            parser.error(f"there is no family {name!r}; the families are: {', '.join(known)}")
    return given


def apart(work):
    """Do it in a child: what it imports must not be there when the next family is mutated."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except KeyboardInterrupt:
            code = 130
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(os.waitstatus_to_exitcode(status))


def main():
    known = targets()
    given = arguments(known)
    if given.operators:
        print("\n".join(f"{name:12s} {fault}" for name, fault in FAULTS.items()))
        return
    say = partial(print, file=sys.stderr, flush=True)
    rows = []
    for name in given.games or known:
        run = Run(known[name], given.sample, given.seed, RESULTS, given.only or FAULTS)
        if given.fresh:
            run.forget()
        run.remember()
        apart(partial(run.go, given.processes, say))
        run.remember()
        rows.append(run.report())
        if given.entries:
            print("\n".join(run.entries()))
    print("\n".join(table(rows)))
    sys.exit(any(each["share_without_accepted"] < WANTED for each in rows))


if __name__ == "__main__":
    main()
