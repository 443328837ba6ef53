"""Reports: when a bot is qualified, and what its author is told."""

import json
from dataclasses import replace

import pytest

from arena.results.qualification_report import Check, QualificationReport, last_of, report_of
from arena.results.think_times import PhaseTimes, SdkTimes, TimeSpent

MANIFEST, START = Check("manifest", passed=True), Check("start", passed=True)
TIME = TimeSpent(30, 6_500_000, 800, 70_000, SdkTimes(16, 400_000, 12, 1_600_000))
SOKO = Check("soko", passed=True, seats=2, phases=(PhaseTimes("bet", 30, 1, 2, 3, 0),), time=TIME)
FAILED = Check(
    "soko",
    passed=False,
    seats=4,
    problem="illegal move",
    ask=3,
    answered="fold",
    offered=("check", "bet 4", "bet 9"),
    last_lines=("KeyError 'to_call' bot.py:88",),
    again="arena check ./my-bot --only soko --seats 4 --seed q7",
)


def test_a_report_in_words():
    report = QualificationReport("91ac" * 16, "q7", 41.2, (MANIFEST, START, SOKO, FAILED))
    assert report.words("my-bot@7") == [
        "my-bot@7  sha256 91ac91ac91ac…  not qualified, in 41 s",
        "FAILED soko, 4 seats: illegal move. Ask 3: fold; offered: check, bet 4, bet 9.",
        "  | KeyError 'to_call' bot.py:88",
        "  repeat it with: arena check ./my-bot --only soko --seats 4 --seed q7",
    ]


# fmt: off
JUDGED = [
    ((MANIFEST, START, SOKO),                                  True,  "all passed"),
    ((MANIFEST, START, SOKO, FAILED),                          False, "its one game fails with four seats"),
    ((MANIFEST, START, FAILED, Check("jam", passed=True, seats=2)), True, "games pass singly"),
    ((MANIFEST, START),                                        False, "no game was played"),
    ((MANIFEST, SOKO),                                         False, "it was never started"),
    ((MANIFEST, Check("start", passed=False), SOKO),           False, "it did not start"),
    ((Check("manifest", passed=False),),                       False, "its manifest is wrong"),
    ((MANIFEST, START, SOKO, Check("cut", passed=False)),      False, "it does not come back after a cut"),
]
# fmt: on


@pytest.mark.parametrize(("checks", "qualified", "_why"), JUDGED, ids=[row[-1] for row in JUDGED])
def test_who_is_qualified(checks, qualified, _why):
    assert QualificationReport("0", "q7", 1.0, checks).qualified is qualified


def test_a_partial_qualification_qualifies_no_bot():
    report = QualificationReport("0", "q7", 1.0, (MANIFEST, START, SOKO), partial=True)
    assert not report.qualified
    assert report.summary == "3 of 3 checks passed in 1 s"


LATE = Check("klaberjass", passed=False, seats=2, problem="timeout")
MUTE = tuple(
    Check(name, passed=False, problem="no answer") for name in ("refusal", "cut", "two_matches")
)


def test_of_a_bot_that_fails_in_all_games_the_first_failure_is_told_and_the_others_named():
    report = QualificationReport("0", "q7", 1.0, (MANIFEST, START, LATE, *MUTE))
    assert report.words("my-bot")[1:] == [
        "FAILED klaberjass, 2 seats: timeout.",
        "These failed too, perhaps by the same cause: refusal; cut; two matches.",
    ]


@pytest.mark.parametrize(
    ("asks", "covered"),
    [
        pytest.param((9, 24), "9 to 24 asks of a match, by game", id="games differ"),
        pytest.param((9, 9), "9 asks of a match", id="games are alike"),
    ],
)
def test_a_report_says_how_many_asks_of_a_match_it_covered(asks, covered):
    games = tuple(replace(SOKO, asks=each) for each in asks)
    report = QualificationReport("0", "q7", 1.0, (MANIFEST, START, *games))
    assert report.words("my-bot")[1:] == [
        f"Covered: the first {covered}. Rated matches may be longer."
    ]


def test_of_a_bot_that_can_play_every_failure_is_told():
    report = QualificationReport("0", "q7", 1.0, (MANIFEST, START, SOKO, LATE, *MUTE))
    assert [line.split(":")[0] for line in report.words("my-bot")[1:]] == [
        "FAILED klaberjass, 2 seats",
        "FAILED refusal",
        "FAILED cut",
        "FAILED two matches",
    ]


def test_a_report_is_the_same_after_it_was_kept():
    report = QualificationReport("0", "q7", 41.2, (MANIFEST, START, SOKO, FAILED))
    assert report_of(json.loads(json.dumps(report.as_json()))) == report


def test_a_report_has_the_last_lines_of_the_output_cut_to_a_length():
    lines = [str(number) for number in range(100)] + ["", "x" * 5_000]
    assert [len(each) for each in last_of(lines)] == [2] * 11 + [300]
