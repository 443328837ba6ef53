"""What a rule may cost, known before it is tried; and that its author pays for it."""

import pytest
import trio
from trio.testing import MockClock

from arena.games.cards import PACK_52
from arena.games.cel import DECK_ORDER, FACES, Rule
from arena.games.contract import Work
from arena.games.eleusis.hidden_rule import Draws, _Trial, judge_guess, validate
from arena.games.eleusis.legal_moves import RULE_TEXTS
from arena.games.eleusis.messages import Rule as RuleMove
from arena.games.eleusis.messages import Verdict
from arena.games.eleusis.work import (
    EXAMPLES,
    MOST_BOUND,
    MOST_OF_A_TEXT,
    bound_of_trial,
    work_of_guess,
    work_of_trial,
)
from arena.referee.clock import WORK_STEP_S
from arena.referee.seat import Answer
from arena.referee.step_processes import StepProcesses
from arena.referee.terms import TimeControl
from arena.referee.wire.games import codec_of
from arena.testing.referee import MemoryLedger, Reply, Scripted, play
from cardarena.v1 import game_pb2
from tests.fuzz.rules import DEAR
from tests.games.cel.test_language import FAILURES, VALUES
from tests.games.cel.test_oracle import Writer
from tests.referee.matches import spec_of

HOSTILE = "line.all(x,(1/0==1)||(1/0==1)||(1/0==1)||true)&&card.color!=last.color"
"""Seventy characters, most of whose time goes into errors that do not matter."""
LESS_HOSTILE = "line.all(x,1/0==1||true)&&card.color!=last.color"
"""Its bound is under the limit, so it is tried until its cost is over."""
TOO_DEAR = [text for text in (HOSTILE, *DEAR) if bound_of_trial(text) > MOST_BOUND]
LINES = (["7h"], ["As", "Kh", "2d", "Tc", "9s"], list(DECK_ORDER))


def rules():
    texts = [*EXAMPLES, *DEAR, HOSTILE, *(row[0] for row in (*VALUES, *FAILURES))]
    texts += [f"({{'a': '{'a' * 60}'}}.a + 'b').size() > 0"]
    texts += [Writer(seed).write("truth", 3) for seed in range(60)]
    for text in texts:
        try:
            yield Rule.parse(text)
        except ValueError:
            continue


def test_no_card_costs_more_than_was_known_before():
    for rule in rules():
        for line in LINES:
            result = rule.evaluate([FACES[card] for card in line])
            assert result.dearest <= rule.bound(len(line)), (rule, len(line))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("card.rank != last.rank && true", id="cheap"),
        pytest.param("line.exists(a, a == card) || card.face", id="by the line"),
        pytest.param(LESS_HOSTILE, id="dear", marks=pytest.mark.slow),
    ],
)
def test_no_trial_takes_more_than_was_known_before(text):
    trial = _Trial(Rule.parse(text))
    trial.run(Draws(PACK_52))
    assert trial._spent <= work_of_trial(text).steps <= MOST_OF_A_TEXT


BOUNDS = [
    pytest.param(work_of_trial(EXAMPLES[0]), False, id="an example is never tried"),
    pytest.param(work_of_trial("no rule"), False, id="what is no rule is refused at once"),
    pytest.param(work_of_trial("card.face"), Work(179_712, 179_712), id="two for each card"),
    pytest.param(
        work_of_trial(LESS_HOSTILE),
        Work(MOST_OF_A_TEXT, MOST_OF_A_TEXT),
        id="a dear one has a ceiling",
    ),
    pytest.param(work_of_trial(HOSTILE), False, id="one over the bound is never tried"),
    pytest.param(work_of_guess(HOSTILE, 60), False, id="nor is such a guess"),
    pytest.param(
        work_of_guess("card.face", 3).charged,
        52 * 2 * (3 + 24 * 16 + 24 * 19),
        id="a guess is charged for its own half",
    ),
]


@pytest.mark.parametrize(("work", "expected"), BOUNDS)
def test_what_is_known_of_a_text(work, expected):
    assert work == expected


@pytest.fixture
def evaluations(monkeypatch):
    """The number of evaluations of rules so far."""
    counted, evaluate = [], Rule.evaluate

    def counting(rule, line):
        counted.append(rule)
        return evaluate(rule, line)

    monkeypatch.setattr(Rule, "evaluate", counting)
    return counted


def test_the_fuzzer_knows_rules_that_are_too_dear():
    assert len(TOO_DEAR) >= 5


@pytest.mark.parametrize("text", TOO_DEAR)
def test_a_rule_over_the_bound_is_refused_without_an_evaluation(text, evaluations):
    result = validate(text, Draws(PACK_52))
    assert (result.verdict, len(evaluations)) == (Verdict.COST, 0)


@pytest.mark.parametrize("text", TOO_DEAR)
def test_a_guess_over_the_bound_is_rejected_without_an_evaluation(text, evaluations):
    line = list(PACK_52)
    assert not judge_guess(EXAMPLES[0], text, line, Draws(PACK_52)).accepted
    assert judge_guess(text, text, line, Draws(PACK_52)).accepted
    assert not evaluations


class TriesNothing(StepProcesses):
    """What is charged is known before a rule is tried: here, none ever is."""

    async def step(self, *_):
        raise RuntimeError("no rule is tried here")


CHARGES = [
    pytest.param("card.face", TimeControl(), 179_712 * WORK_STEP_S, id="by its work"),
    pytest.param(LESS_HOSTILE, TimeControl(), MOST_OF_A_TEXT * WORK_STEP_S, id="a dear one much"),
    pytest.param(LESS_HOSTILE, TimeControl(1000, 500), 1.5, id="no more than there is"),
    pytest.param(HOSTILE, TimeControl(), 0, id="one that is refused at once nothing"),
    pytest.param(EXAMPLES[1], TimeControl(), 0, id="an example nothing"),
]


@pytest.mark.parametrize(("text", "control", "charged_s"), CHARGES)
def test_the_author_of_a_rule_is_charged_and_not_blamed(text, control, charged_s):
    spec, ledger = spec_of("eleusis", time_control=control), MemoryLedger()
    message = codec_of(spec.terms.game).game_move(RuleMove(text))

    def dealer(ask):
        if ask.moves is not RULE_TEXTS:
            return Reply()
        return Reply(Answer(move=game_pb2.GameMove.FromString(message)))

    bots = [Scripted(dealer) for _ in range(spec.terms.seats)]
    clock = MockClock(autojump_threshold=0)
    trio.run(play, spec, bots, ledger, TriesNothing(), clock=clock)
    first = ledger.decisions[0]
    assert first.fault is None
    assert first.charged_s == pytest.approx(charged_s)
    left_ms = control.bank_ms - max(0, charged_s * 1000 - control.move_ms)
    assert first.bank_ms == pytest.approx(left_ms, abs=1)
