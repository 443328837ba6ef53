"""Findings about a machine: each lack is found and has its cure."""

import pytest

from arena.app import doctor
from arena.app.doctor import Goal
from arena.app.findings import Readiness
from arena.sandbox.sandbox import MissingLevel, Sandbox, SandboxTrial
from arena.sandbox.spawner.order import Level
from arena.store import StoreError
from tests.doubles.ports import taken_port

S2_ONLY = (Level.S2, (MissingLevel(Level.S3, "this system has no cgroup v2: boot it with it"),))
S1_ONLY = (Level.S1, (MissingLevel(Level.S2, "bubblewrap is not installed: apt install it"),))
S3 = (Level.S3, ())
GB = 10**9


def at(level):
    """A sandbox whose trial found this."""
    sandbox = Sandbox.__new__(Sandbox)
    sandbox._result = SandboxTrial(*level, why_disk="")
    return sandbox


def disk(free_bytes):
    return lambda _: (100 * GB, 100 * GB - free_bytes, free_bytes)


# fmt: off
FINDINGS = [
    (lambda _: doctor.sandbox_finding(at(S2_ONLY), submissions=True),  Readiness.OK,    "",                       "S2 holds for submitted bots"),
    (lambda _: doctor.sandbox_finding(at(S1_ONLY), submissions=True),  Readiness.LACKS, "apt install it",         "S1 does not"),
    (lambda _: doctor.sandbox_finding(at(S1_ONLY), submissions=False), Readiness.WEAK,  "apt install it",         "it does for one's own bots"),
    (lambda _: doctor.groups_finding(at(S3)),                          Readiness.OK,    "",                       "a delegated control group"),
    (lambda _: doctor.groups_finding(at(S2_ONLY)),                     Readiness.WEAK,  "boot it with it",        "no control group"),
    (lambda folder: doctor.data_finding(folder / "new", disk(10 * GB)), Readiness.OK,   "",                       "a folder that can be made"),
    (lambda folder: doctor.data_finding(folder, disk(GB)),             Readiness.LACKS, "free disk space",        "less space than matches need"),
    (lambda folder: doctor.data_finding(folder / "file"),              Readiness.LACKS, "--data",                 "a file where the folder should be"),
    (lambda _: doctor.clock_finding(0),                                Readiness.OK,    "",                       "a clock that is set"),
    (lambda _: doctor.clock_finding(5),                                Readiness.WEAK,  "chrony",                 "a clock that nothing sets"),
    (lambda _: doctor.clock_finding(None),                             Readiness.OK,    "",                       "a system that does not tell"),
    (lambda _: doctor.fonts_finding(3),                                Readiness.OK,    "",                       "fonts with suits"),
    (lambda _: doctor.fonts_finding(0),                                Readiness.WEAK,  "fonts-dejavu-core",      "fonts without suits"),
    (lambda _: doctor.fonts_finding(None),                             Readiness.OK,    "",                       "no fontconfig"),
    (lambda _: doctor.packages_finding(["json"]),                      Readiness.OK,    "",                       "packages that are installed"),
    (lambda _: doctor.packages_finding(["json", "no_such"]),           Readiness.LACKS, "cardarena-engine[web]",  "one that is not"),
]
# fmt: on


@pytest.mark.parametrize(("find", "state", "cure", "why"), FINDINGS, ids=[r[-1] for r in FINDINGS])
def test_a_finding_has_a_state_and_a_cure_unless_it_is_ok(find, state, cure, why, tmp_path):
    (tmp_path / "file").touch()
    found = find(tmp_path)
    assert found.state is state
    assert cure in found.cure
    assert bool(found.cure) == (state is not Readiness.OK)


@pytest.fixture
def taken():
    with taken_port() as port:
        yield port


def test_a_port_that_another_program_has_is_lacking(taken, tmp_path):
    found = doctor.port_finding("port", taken, "--port", tmp_path)
    assert (found.state, found.cure) == (Readiness.LACKS, "choose another with --port")


def test_a_port_is_not_lacking_while_an_arena_runs_in_the_folder(taken, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "is_running", lambda _: True)
    assert doctor.port_finding("port", taken, "--port", tmp_path).state is Readiness.OK


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("17.2", Readiness.OK),
        (StoreError("it is PostgreSQL 12; the arena needs 15"), Readiness.LACKS),
    ],
    ids=["a server that is new enough", "one that is too old"],
)
def test_the_server_of_the_store_is_asked_for_its_version(answer, state, monkeypatch):
    def version(url, timeout_s):
        if isinstance(answer, StoreError):
            raise answer
        return answer

    monkeypatch.setattr(doctor, "answering_version", version)
    assert doctor.store_finding("postgresql://db.example/arena").state is state


# fmt: off
SUBJECTS = [
    ({Goal.PLAY},        {"Python", "sandbox", "control groups", "data folder"},                "bots of one's own"),
    ({Goal.SERVE},       {"Python", "data folder", "port", "clock"},                            "bots that connect"),
    ({Goal.SUBMISSIONS}, {"Python", "sandbox", "control groups", "data folder"},                "submitted bots"),
    ({Goal.PAGES},       {"Python", "data folder", "packages", "port of pages", "fonts"},       "pages"),
]
# fmt: on


@pytest.mark.parametrize(("goals", "subjects", "why"), SUBJECTS, ids=[r[-1] for r in SUBJECTS])
def test_only_what_the_goals_need_is_looked_at(goals, subjects, why, tmp_path):
    findings = doctor.examine(doctor.Wanted(goals, tmp_path, 0, 0), at(S2_ONLY))
    assert {finding.subject for finding in findings} == subjects
