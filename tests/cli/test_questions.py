"""`arena compare my-bot@7 my-bot@6`: a question that an owner asks an arena, and follows."""

import contextlib
import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from arena.cli import main, questions
from cardarena.v1 import compare_pb2

OPEN = compare_pb2.Verdict(
    question=3, state="open", decision="not decided", mean=0.5, e_value=2.0, deal_sets=9
)
DECIDED = compare_pb2.Verdict(
    question=3,
    state="answered",
    why="it is decided",
    decision="better",
    mean=4.25,
    low=0.5,
    high=8.0,
    e_value=23.0,
    deal_sets=40,
    questions=2,
    holds_among_all=True,
)
STOPPED = compare_pb2.Verdict(
    question=3,
    state="stopped",
    why="its owner stopped it",
    decision="not decided",
    mean=0.5,
    e_value=2.0,
    deal_sets=10,
    questions=2,
    needed_mid=690,
    needed_low=320,
)


class Service:
    """`CompareService`, which has these verdicts for who looks; one that is an error is raised."""

    def __init__(self, *looks):
        self.looks = list(looks)
        self.asked = self.cancelled = None

    def AskQuestion(self, request, **_):
        self.asked = request
        return SimpleNamespace(verdict=OPEN)

    def GetVerdict(self, request, **_):
        assert request.question == OPEN.question
        found = self.looks.pop(0)
        if isinstance(found, BaseException):
            raise found
        return SimpleNamespace(verdict=found)

    def CancelQuestion(self, request, **_):
        self.cancelled = request.question
        return SimpleNamespace(verdict=STOPPED)


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Compares two versions at an arena of these looks; what was printed, and the service."""

    def ask(service, *arguments):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        monkeypatch.setattr(questions, "channel_of", lambda _: contextlib.nullcontext())
        monkeypatch.setattr(
            questions.compare_pb2_grpc, "CompareServiceStub", lambda channel: service
        )
        monkeypatch.setattr(questions, "LOOK_S", 0.0)
        command = ["compare", "my-bot@7", "my-bot@6", "--game", "sixty_six", *arguments]
        return CliRunner().invoke(main, command)

    return ask


def test_a_question_is_followed_until_it_is_decided(asked):
    service = Service(OPEN, OPEN, DECIDED)
    told = asked(service, "--each-other", "--deal-sets", "900")
    assert told.exit_code == 0, told.output
    assert "my-bot@7 is better than my-bot@6: +4.25 points a match" in told.stdout
    assert "Question 2 of yours: it is decided, and holds also among all of them." in told.stdout
    assert (service.asked.first, service.asked.second) == ("my-bot@7", "my-bot@6")
    assert (service.asked.terms.game, service.asked.terms.seats) == ("sixty_six", 2)
    assert (service.asked.each_other, service.asked.max_deal_sets) == (True, 900)


def test_ctrl_c_stops_the_question_at_the_arena(asked):
    service = Service(OPEN, KeyboardInterrupt())
    told = asked(service)
    assert service.cancelled == OPEN.question
    assert told.exit_code == 2, "nothing was decided"
    assert "not decided: +0.50" in told.stdout
    assert "about 690 more (320 … without end)" in told.stdout


def test_a_program_reads_the_same(asked):
    told = json.loads(asked(Service(DECIDED), "--json").stdout)
    assert (told["decision"], told["e_value"], told["needed"]) == ("better", 23.0, None)
    assert (told["first"], told["game"], told["state"]) == ("my-bot@7", "sixty_six", "answered")


# fmt: off
MISTAKES = [
    (("--against", "./rival"), "against its own field",  "opponents are the arena's"),
    (("--seed", "q7"),         "draws the deals",        "deals of an arena are fair"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "said", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_what_an_arena_does_not_do_is_said(asked, arguments, said, why):
    service = Service()
    told = asked(service, *arguments)
    assert told.exit_code == 2, why
    assert said in " ".join(told.stderr.split())
    assert service.asked is None
