"""Reports: when a bot is qualified, and what its author is told."""

import json

import pytest

from arena.competition.report import Check, Report, last_of, report_of

MANIFEST, START = Check("manifest", passed=True), Check("start", passed=True)
SOKO = Check("soko", passed=True, seats=2)
FAILED = Check(
    "soko",
    passed=False,
    seats=4,
    problem="illegal move",
    ask=3,
    answered="fold",
    offered=("check", "bet 4", "bet 9"),
    last_lines=("KeyError 'to_call' bot.py:88",),
    again="arena bots check ./my-bot --only soko --seats 4 --seed q7",
)


def test_a_report_in_words():
    report = Report("91ac" * 16, "q7", 41.2, (MANIFEST, START, SOKO, FAILED))
    assert report.words("my-bot@7") == [
        "my-bot@7  sha256 91ac91ac91ac…  not qualified, in 41 s",
        "FAILED soko, 4 seats: illegal move. Ask 3: fold; offered: check, bet 4, bet 9.",
        "  | KeyError 'to_call' bot.py:88",
        "  again here: arena bots check ./my-bot --only soko --seats 4 --seed q7",
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
    assert Report("0", "q7", 1.0, checks).qualified is qualified


def test_nobody_is_qualified_by_a_part():
    report = Report("0", "q7", 1.0, (MANIFEST, START, SOKO), partial=True)
    assert not report.qualified
    assert report.summary == "3 of 3 checks passed in 1 s"


def test_a_report_is_the_same_after_it_was_kept():
    report = Report("0", "q7", 41.2, (MANIFEST, START, SOKO, FAILED))
    assert report_of(json.loads(json.dumps(report.as_json()))) == report


def test_of_what_a_bot_printed_the_end_is_told_and_not_all_of_a_line():
    lines = [str(number) for number in range(100)] + ["", "x" * 5_000]
    assert [len(each) for each in last_of(lines)] == [2] * 11 + [300]
