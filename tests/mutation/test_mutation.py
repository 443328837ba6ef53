"""The mutation run: what it plants, what it leaves alone, and what it says of each fault."""

import json
import os
from types import SimpleNamespace

import pytest

from tests.mutation.__main__ import Run, Trial, table
from tests.mutation.operators import FAULTS, mutants_of, names_of
from tests.mutation.survivors import accepted, entry
from tests.mutation.targets import ROOT, sources, targets
from tests.mutation.trial import Trials

pytestmark = pytest.mark.deep("tools for tests")

ENUM = "class Suit(StrEnum):\n    RED = 'r'\n    BLACK = 'b'\n    GREEN = 'g'\n"
LIST = "def best(a) -> list[int]: ...\n"
TUPLE = "def best(a) -> tuple[int, ...]: ...\n"

# fmt: off
PLANTED = [
    # operator      source                                 one of what it becomes
    ("boundary",    "a = b < c",                           "a = (b <= c)"),
    ("boundary",    "a = b <= c < d",                      "a = (b <= c <= d)"),
    ("comparison",  "a = b == c",                          "a = (b != c)"),
    ("comparison",  "a = (b or c) in d",                   "a = ((b or c) not in d)"),
    ("condition",   "if a and b: c()",                     "if (not (a and b)): c()"),
    ("condition",   "a = b if not c else d",               "a = b if (c) else d"),
    ("logic",       "a = b and c",                         "a = (b or c)"),
    ("operand",     "a = b and c and d",                   "a = (b and d)"),
    ("arithmetic",  "a = b + c",                           "a = (b - c)"),
    ("arithmetic",  "a += b",                              "a -= b"),
    ("number",      "a = b[0]",                            "a = b[(1)]"),
    ("number",      "a = 13",                              "a = (12)"),
    ("truth",       "a = f(b=True)",                       "a = f(b=False)"),
    ("order",       "RANKS = '9JQKTA'",                    "RANKS = 'J9QKTA'"),
    ("extreme",     "a = min(b)",                          "a = max(b)"),
    ("unsorted",    "a = sorted(b, key=c)",                "a = (list(b))"),
    ("sorted",      LIST + "a = best(b)",                  LIST + "a = (sorted(best(b)))"),
    ("sorted",      TUPLE + "a = c.best(b)",               TUPLE + "a = (tuple(sorted(c.best(b))))"),
    ("element",     "a = (*b, c)",                         "a = ((*b,))"),
    ("element",     "a = [b, c, d]",                       "a = ([b, d])"),
    ("one",         "a = b.played + ordinary",             "a = b.played + 1"),
    ("one",         "a = b.played + 2",                    "a = 1 + 2"),
    ("one",         "a += b",                              "a += 1"),
    ("enum",        ENUM + "a = Suit.RED",                 ENUM + "a = Suit.BLACK"),
    ("enum",        ENUM + "a = Suit.GREEN",               ENUM + "a = Suit.RED"),
    ("absence",     "a = -b",                              "a = (b)"),
    ("seat",        "a = tricks[seat]",                    "a = tricks[(seat - 1)]"),
    ("seat",        "a = tricks[1 - seat]",                "a = tricks[(seat)]"),
    ("seat",        "a = hands[_other(seat)]",             "a = hands[(seat)]"),
    ("arguments",   "a = f(b, c)",                         "a = (f(c, b))"),
    ("update",      "a = replace(b, c=1, d=2)",            "a = (replace(b, d=2))"),
    ("filter",      "a = [b for b in c if d]",             "a = [b for b in c if True]"),
    ("slice",       "a = b[1:]",                           "a = b[:]"),
    ("statement",   "def f(b):\n    b.add(1)",             "def f(b):\n    pass"),
    ("statement",   "def f(b):\n    b = 2\n    return b",  "def f(b):\n    pass\n    return b"),
    ("statement",   "for a in b: continue",                "for a in b: pass"),
    ("statement",   "if a: raise b",                       "if a: pass"),
]
LEFT_ALONE = [
    # source                                        why
    ("'''1 < 2'''",                                 "a docstring"),
    ("def f(a: Literal[1]) -> tuple[int, 2]: ...",  "annotations"),
    ("@dataclass(frozen=True)\nclass A: ...",       "decorators"),
    ("import a\nfrom b import c",                   "imports"),
    ("assert a < b",                                "asserts"),
    ("A: TypeAlias = tuple[B, C]",                  "type aliases"),
    ("a = f'{b + 1}'",                              "the texts of f-strings"),
    ("def f(): return b",                           "a last return"),
    ("a, b = b, a",                                 "a display of as many elements as there are names"),
    ("def to_act(s) -> tuple[int, ...]: ...\na = to_act(b)", "the order of the seats to act"),
    (LIST + "from itertools import best\na = best(b)", "a function of another library"),
    (LIST + "a = len(best(b))",                     "the order of what is only counted"),
]
# fmt: on


def planted(source, operator=None):
    return [
        mutant.plant(source)
        for mutant in mutants_of("a.py", source, names_of({"a.py": source}))
        if operator in (None, mutant.operator)
    ]


@pytest.mark.parametrize(
    ("operator", "source", "becomes"), PLANTED, ids=[f"{row[0]}: {row[2][-30:]}" for row in PLANTED]
)
def test_an_operator_plants(operator, source, becomes):
    assert becomes in planted(source, operator)


def test_every_operator_has_a_row():
    assert {row[0] for row in PLANTED} == set(FAULTS)


@pytest.mark.parametrize(("source", "why"), LEFT_ALONE, ids=[row[1] for row in LEFT_ALONE])
def test_nothing_is_planted_in(source, why):
    assert planted(source) == []


def test_every_mutant_of_the_rules_compiles_and_differs_from_the_others():
    for target in targets().values():
        for path in target.files:
            source = (ROOT / path).read_text("utf-8")
            mutants = mutants_of(path, source)
            assert len({mutant.key for mutant in mutants}) == len(mutants)
            for mutant in mutants[::60]:
                compile(mutant.plant(source), path, "exec")


def test_every_target_has_games_tests_and_vectors():
    for target in targets().values():
        assert target.files, target
        assert target.tests, target
        assert target.games(), target
        assert next(target.vectors()), target


# What becomes of a mutant.

TOY = "tests/mutation/toy.py"


def check_wins():
    from tests.mutation import toy

    assert toy.wins(7, 7)
    assert not toy.wins(6, 7)


def check_total():
    from tests.mutation import toy

    assert toy.total([1, -2, 4]) == 5


STAGES = {"wins": check_wins, "total": check_total}


def trial(after, before="    return points >= target"):
    source = (ROOT / TOY).read_text("utf-8")
    assert before in source
    return SimpleNamespace(planted=(TOY, source.replace(before, after)))


# fmt: off
FATES = [
    # what stands in its place                   caught      why
    ("    return points > target",               "wins",     "a check of the first stage fails"),
    ("    return points >= target * 1",          "",         "nothing to notice"),
    ("    return ponts >= target",               "wins",     "a name that there is not"),
    ("    return points >= target)",             "wins",     "a file that cannot be read"),
    ("    while True: pass",                     "timeout",  "no end"),
    ("    return ' ' * (8 << 30) > target",      "wins",     "more memory than a trial has"),
    ("    import os; os._exit(3)",               "crash",    "an end with an error"),
    ("    import os; os._exit(0)",               "crash",    "an end that is no answer"),
]
# fmt: on


@pytest.mark.parametrize(
    ("after", "caught", "why"),
    FATES,
    ids=[row[2] for row in FATES],
)
def test_what_becomes_of_a_mutant(after, caught, why):
    trials = Trials(STAGES, extra_cpu_s=1)
    trials.baseline()
    ((_, outcome),) = trials.run([trial(after)])
    assert outcome.caught == caught


def test_later_stages_catch_what_the_first_do_not():
    trials = Trials(STAGES, processes=2)
    trials.baseline()
    kept = trial("if score >= 0)", before="if score > 0)")
    caught = trial("if score > 1)", before="if score > 0)")
    outcomes = {id(mutant): outcome for mutant, outcome in trials.run([kept, caught])}
    assert outcomes[id(kept)].caught == ""
    assert outcomes[id(caught)].caught == "total"
    assert outcomes[id(caught)].by.startswith("AssertionError")


def test_a_check_that_fails_without_a_fault_stops_the_run():
    with pytest.raises(RuntimeError, match="without a fault, broken fails: ZeroDivisionError"):
        Trials({"broken": lambda: 1 / 0}).baseline()


def test_a_module_that_was_imported_before_is_no_trial():
    mutant = SimpleNamespace(planted=("tests/mutation/trial.py", ""))
    with pytest.raises(RuntimeError, match="imported before"):
        list(Trials({"none": os.getpid}).run([mutant]))


# A whole run, on the toy.


class ToyTarget:
    name = "toy"
    files = (TOY,)
    tests = (TOY,)
    families = ()

    def preload(self): ...


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.mutation.__main__.stages_of", lambda target: STAGES)
    return lambda: Run(ToyTarget(), None, 1, tmp_path)


def test_a_run_reports_caught_and_survivors(run):
    first = run()
    said = []
    first.go(1, said.append)
    row = first.report()
    assert row["tried"] == row["planted"] == row["caught"] + row["unexplained"]
    survivors = {mutant.after for mutant in first.survivors}
    assert "(score >= 0)" in survivors  # zero adds nothing
    assert "(score <= 0)" not in survivors
    assert row["accepted"] == 0
    assert row["share_of_all"] == row["share_without_accepted"] == row["caught"] / row["tried"]
    assert f"  toy: {row['tried']} of {row['tried']} tried" in said[-1]


def test_an_accepted_survivor_counts_apart(run, monkeypatch):
    first = run()
    first.go(1, lambda line: None)
    zero = next(each for each in first.survivors if each.after == "(score >= 0)")
    monkeypatch.setattr(
        "tests.mutation.__main__.accepted", lambda: {zero.place: "zero adds nothing"}
    )
    row = first.report()
    assert row["accepted"] == 1
    assert row["share_without_accepted"] == row["caught"] / (row["tried"] - 1)
    assert row["share_of_all"] == row["caught"] / row["tried"]
    assert f"| {row['share_of_all']:.1%} |" in list(table([row]))[-1]


def test_a_stopped_run_goes_on_where_it_was(run, tmp_path, monkeypatch):
    first = run()
    whole = len(first.mutants)
    first.mutants, rest = first.mutants[:3], first.mutants[3:]
    first.go(1, lambda line: None)
    again = run()
    again.remember()
    assert len(again.outcomes) == 3
    again.go(1, lambda line: None)
    lines = (tmp_path / "toy.jsonl").read_text().splitlines()
    assert len({json.loads(line)["key"] for line in lines}) == len(lines) == whole
    assert rest


def test_survivors_are_tried_again_when_a_test_has_changed(run, monkeypatch):
    first = run()
    first.go(1, lambda line: None)
    monkeypatch.setattr(Run, "_tests_hash", "another")
    again = run()
    again.remember()
    left = {mutant.key for mutant in again.mutants} - set(again.outcomes)
    assert left == {mutant.key for mutant in first.survivors}


def test_an_accepted_survivor_is_not_tried_again(run, monkeypatch):
    first = run()
    first.go(1, lambda line: None)
    places = {mutant.place: "for the test" for mutant in first.survivors}
    assert places
    monkeypatch.setattr("tests.mutation.__main__.accepted", lambda: places)
    monkeypatch.setattr(Run, "_tests_hash", "another")
    again = run()
    again.remember()
    assert {mutant.key for mutant in again.mutants} == set(again.outcomes)


def test_a_sample_is_the_same_each_time(tmp_path):
    one, two, other = (Run(ToyTarget(), 5, seed, tmp_path).mutants for seed in (1, 1, 2))
    assert one == two != other
    assert len(one) == 5


# The list of those accepted.


def test_every_accepted_survivor_can_still_be_planted():
    names = names_of(sources())
    places = {
        mutant.place
        for path in sorted({place[0] for place in accepted()})
        for mutant in mutants_of(path, (ROOT / path).read_text("utf-8"), names)
    }
    assert [place for place in accepted() if place not in places] == []


def listed(*groups):
    """A file of accepted survivors, of pairs of a reason and lines."""
    return "".join(
        f"[[accepted]]\nreason = '{reason}'\nfaults = [\n{''.join(lines)}\n]\n"
        for reason, lines in groups
    )


def test_an_entry_is_read_back(tmp_path):
    mutant = mutants_of("a.py", "a = 'x' if b > \"it's\" else 2")[0]
    file = tmp_path / "survivors.toml"
    file.write_text(listed(("for the test", [entry(mutant)])))
    assert accepted(file) == {mutant.place: "for the test"}


@pytest.mark.parametrize(
    ("reasons", "said"), [([""], "lacks its reason"), (["one", "two"], "stands twice")]
)
def test_a_list_without_a_reason_or_with_two_is_refused(tmp_path, reasons, said):
    mutant = mutants_of("a.py", "a = 1")[0]
    file = tmp_path / "survivors.toml"
    file.write_text(listed(*((reason, [entry(mutant)]) for reason in reasons)))
    with pytest.raises(ValueError, match=said):
        accepted(file)


def test_what_is_missing_names_the_trial():
    mutant = mutants_of("a.py", "a = 1")[0]
    assert Trial(mutant, "a = 1").planted == ("a.py", "a = (0)")
    assert str(mutant) == "a.py:1: number: 1 -> (0)"
