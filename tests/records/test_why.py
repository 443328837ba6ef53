"""The fault court in words: what a bot's owner is told, and what nobody else's cards are in."""

import hashlib
import io
import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest
import trio
from rich.console import Console

from arena.cli.terminal import draw
from arena.cli.terminal.why import FULL, print_diagnosis
from arena.errors import entry, faults
from arena.games.contract import Seat
from arena.records.advice import advice
from arena.records.diagnosis import OFFERED_SHOWN, diagnose
from arena.records.playback import Discrepancy, play_back
from arena.records.read import Replay
from arena.records.verify import verify
from arena.referee.seat import Answer
from arena.referee.spec import AbortCause, FaultKind, ForfeitedSeat
from arena.referee.terms import TimeControl
from cardarena.v1 import game_pb2
from tests.records.matches import (
    FAIL,
    ILLEGAL,
    LATE,
    LEAVE,
    MALFORMED,
    PLAY,
    Bot,
    SlowToChoose,
    noted,
    record,
    retold,
)

RAW = b"the bytes that came"
CONTROL = TimeControl(move_ms=1000, bank_ms=2000)


class Sender(Bot):
    """As `Bot`, but thinks for a tenth of a second, and its answers are bytes and have notes."""

    async def _answer(self, ask):
        ask.sent(trio.current_time())
        deed = next(self.script)
        if deed == LATE:
            return
        await trio.sleep(0.1)
        if deed == LEAVE:
            self.gone = True
            ask.abandoned()
            return
        note = f"{self.note} at {ask.decision}" if self.note else ""
        answer = {
            PLAY: Answer(index=0, note=note),
            ILLEGAL: Answer(index=999, note=note),
            MALFORMED: Answer(move=game_pb2.GameMove(), note=note),
            FAIL: Answer(failed=True, note=note),
        }[deed]
        ask.answered(answer, trio.current_time(), RAW)


def match(folder, script, game="abstrac", seats=2, note="", **extra):
    """The replay of a match in which seat 1 follows a script."""
    bots = [Sender(seat, note=f"secret {seat}") for seat in range(seats)]
    bots[1] = Sender(1, script, note=note)
    extra = {"time_control": CONTROL, **extra}
    return Replay.open(record(folder, game, bots, {"hands": seats}, **extra))


def told(match, seat=1, width=100, notes=None, **how):
    """What the owner of a seat's bot reads, without colours."""
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    print_diagnosis(diagnose(match, Seat(seat), notes or {}), console, **how)
    return out.getvalue()


def said(text):
    """Words without the line breaks between them."""
    return " ".join(text.split())


# fmt: off
KINDS = [
    # what the bot does, at its second decision
    (LATE,      FaultKind.TIMEOUT,   "did not answer in time (F-TIMEOUT)", "none until the end of its time, 3.050 s"),
    (ILLEGAL,   FaultKind.ILLEGAL,   "made an illegal move (F-ILLEGAL)", "answer 0.100 s after the ask: 19 bytes"),
    (MALFORMED, FaultKind.MALFORMED, "sent a malformed answer (F-MALFORMED)", "answer 0.100 s after the ask: 19 bytes"),
    (LEAVE,     FaultKind.GONE,      "was disconnected (F-GONE)", "none before it was disconnected"),
    (FAIL,      FaultKind.ERROR,     "had an error in its own code (F-ERROR)", "answer 0.100 s after the ask: 19 bytes"),
]
# fmt: on
EVERY_KIND = pytest.mark.parametrize(
    ("deed", "kind", "words", "came"), KINDS, ids=[row[0] for row in KINDS]
)


@EVERY_KIND
def test_every_kind_of_fault_is_shown_with_its_evidence(deed, kind, words, came, tmp_path):
    replay = match(tmp_path, (PLAY, deed), note="thought")
    (fault,) = diagnose(replay, Seat(1)).faults
    decided = next(each for each in replay.decided if each.fault)
    assert (fault.kind, fault.decision, fault.hand) == (kind, 2, 0)
    assert fault.sent_us == decided.sent_us
    spent_us = 3_050_000 if deed == LATE else 100_000
    assert fault.settled_us == pytest.approx(decided.sent_us + spent_us, abs=2)
    assert fault.reason == decided.reason
    text = told(replay, notes=noted(tmp_path, replay, 1))
    seconds = f"{fault.settled_us / 1e6:.3f}"
    for each in (
        f"decision 2 (hand 0, {seconds} s into the match): it {words}",
        fault.reason,
        "3 moves: take 1, take 2, take 3",
        came,
        "1 s for the move, 2 s in the bank",
        f"{decided.charged_us / 1e6:.3f} s charged",
        f"bank now {decided.bank_ms / 1000:g} s",
        "take 1, the fallback of the rules",
        "decision 1: thought at 1",
        "What to do",
    ):
        assert each in said(text), each
    digest = hashlib.sha256(RAW).hexdigest()
    assert (digest in text) == (kind not in (FaultKind.TIMEOUT, FaultKind.GONE))


def test_the_view_is_the_one_that_the_seat_was_asked_with(tmp_path):
    replay = match(tmp_path, (PLAY, PLAY, ILLEGAL), "democracy", seats=3)
    (fault,) = diagnose(replay, Seat(1)).faults
    frame = next(
        each for each in play_back(replay) if any(decision.fault for decision in each.decisions)
    )
    assert fault.view == replay.spec().terms.game.rules.view(frame.before, Seat(1))
    assert fault.step == frame.index
    text = told(replay)
    for line in draw.view(fault.view):
        assert said(line.plain) in said(text)


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_nothing_is_told_that_the_seat_did_not_know(seat, tmp_path):
    """All seats do wrong at every turn; what others held, noted and did wrong stays theirs."""
    bots = [Sender(each, [ILLEGAL] * 99, note=f"secret {each}") for each in range(3)]
    path = record(tmp_path, "democracy", bots, {"hands": 3}, fault_limit=0, time_control=CONTROL)
    replay = Replay.open(path)
    own = noted(tmp_path, replay, seat)
    diagnosis = diagnose(replay, Seat(seat), own)
    assert len(diagnosis.faults) == diagnosis.decisions > FULL
    by_step = {frame.index: frame for frame in play_back(replay)}
    for fault in diagnosis.faults:
        day = by_step[fault.step].before.day
        hidden = {card for at, hand in enumerate(day.hands) if at != seat for card in hand}
        hidden |= set(day.undealt) | set(day.pool[1:])
        known = {
            card for line in draw.view(fault.view) for card in re.findall(r"\S[♣♦♥♠]", line.plain)
        }
        assert {draw.card(card).plain for card in hidden} & known == set()
        assert {note.text for note in fault.notes} <= {
            f"secret {seat} at {decision}" for decision in range(1, diagnosis.decisions + 1)
        }
    text = told(replay, seat, full=True, notes=own)
    assert set(re.findall(r"secret \d", text)) == {f"secret {seat}"}


def test_choices_made_at_once_stay_hidden_from_each_other(tmp_path):
    """Others had chosen already when the seat did wrong: their cards are not in its diagnosis."""
    replay = match(tmp_path, (LATE,), "democracy", seats=3)
    first = next(frame for frame in play_back(replay) if frame.decisions)
    others = [each.move.card for each in first.decisions if each.seat != 1]
    assert len(others) == 2
    faces = {draw.card(card).plain for card in others}
    assert not any(face in told(replay).partition("What to do")[0] for face in faces)


# How it ended.


# fmt: off
ENDS = [
    ((PLAY, LEAVE),  {},                    "It forfeited at its decision 2 (hand 0, ",     "left"),
    ((PLAY, LEAVE),  {},                    "): the bot had left (F-GONE-LEFT).",                         "left, and why"),
    ([ILLEGAL] * 3,  {"fault_limit": 3},    "its fault number 3, which is the limit",       "too many faults"),
    ([ILLEGAL] * 3,  {"fault_limit": 3},    "at its decision 3",                            "too many faults, and where"),
    ((ILLEGAL,),     {},                    "1 fault: it made an illegal move (F-ILLEGAL).",            "a fault, and played on"),
    ((ILLEGAL, LATE, ILLEGAL), {},          "3 faults: it made an illegal move (F-ILLEGAL) 2 times and did not answer in time (F-TIMEOUT).", "faults of two kinds"),
    ((),             {},                    "No fault: it answered every ask",  "no fault"),
    ((),             {"stop_after_s": 1.0}, "Aborted: the arena was stopped during the match (A-STOPPED).",              "stopped"),
    ((),             {"stop_after_s": 1.0}, "No bot is at fault",               "stopped, by whom"),
]
# fmt: on


@pytest.mark.parametrize(("script", "extra", "words", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_how_it_ended_for_the_bot(script, extra, words, why, tmp_path):
    assert words in said(told(match(tmp_path, script, **extra)))


def test_the_result_is_the_bots_own(tmp_path):
    replay = match(tmp_path, (PLAY, LEAVE))
    for seat in (0, 1):
        closed = replay.closed
        result = f"Place {closed.places[seat]} of 2, with a score of {closed.scores[seat]:+d}."
        assert result in told(replay, seat)
    assert "bot 1 (seat 1) forfeited" in told(replay, 0)
    assert "It forfeited" not in told(replay, 0)


def test_a_bot_gets_the_reason_of_a_forfeit_before_the_deal(tmp_path):
    reason = faults.UNOPENED.text()
    out = (ForfeitedSeat(1, FaultKind.TIMEOUT, reason),)
    text = said(told(match(tmp_path, (), forfeited_seats=out)))
    for words in (
        f"It forfeited before the first card: {reason} (F-TIMEOUT-DEAL).",
        "1 fault: it forfeited before the first card (F-DEAL).",
        "nothing, because its seat had forfeited",
        faults.DEAL.cure,
    ):
        assert words in text
    assert "did not answer in time" not in text


NOT_PLAYED = faults.NOT_PLAYED.text(game="abstrac", seats=2)


@pytest.mark.parametrize("reason", [NOT_PLAYED, faults.FULL.text()], ids=["no such game", "full"])
def test_a_bot_that_could_not_be_seated_is_not_advised_about_deals(reason, tmp_path):
    out = (ForfeitedSeat(1, FaultKind.GONE, reason),)
    text = said(told(match(tmp_path, (), forfeited_seats=out)))
    cure = faults.NOT_PLAYED.cure if reason == NOT_PLAYED else faults.FULL.cure
    assert cure in text
    assert faults.DEAL.cure not in text


# fmt: off
CAUSES = [
    (AbortCause.ERROR,      "incident 1f2e3d4c in the arena's log (A-ERROR)"),
    (AbortCause.STOPPED,    "the arena was stopped during the match (A-STOPPED)"),
    (AbortCause.DISK,       "(A-DISK)"),
    (AbortCause.UNPLAYABLE, "(A-UNPLAYABLE)"),
    (AbortCause.JOURNAL,    "(A-JOURNAL)"),
]
# fmt: on


@pytest.mark.parametrize(("cause", "words"), CAUSES, ids=[row[0].name for row in CAUSES])
def test_every_cause_of_an_abort_has_words(cause, words, tmp_path):
    path = record(tmp_path, "abstrac", [Sender(0), Sender(1)], stop_after_s=1.0)

    def change(records):
        closed = records[-2].closed
        closed.cause = cause.value
        closed.incident = "1f2e3d4c" if cause is AbortCause.ERROR else ""

    replay = Replay.read(io.BytesIO(retold(path, change)))
    text = said(told(replay))
    assert words in text
    assert "nothing of the match counts" in text
    assert diagnose(replay, Seat(1)).incident == replay.closed.incident


def test_who_lost_without_a_fault_is_told_what_cost_most(tmp_path):
    replay = match(tmp_path, ())
    loser = max(range(2), key=lambda seat: replay.closed.places[seat])
    diagnosis = diagnose(replay, Seat(loser))
    text = said(told(replay, loser))
    assert "Slowest decisions 0.100 s decision" in text
    worst = diagnosis.costliest[0]
    assert worst.behind == max(each.behind for each in diagnosis.costliest) > 0
    assert (
        f"It lost by its cards and its moves, most in hand {worst.hand}: {worst.score:+d}, the other"
        in text
    )
    assert f"Hands that cost most hand {worst.hand} {worst.score:+d}, the other" in text
    assert "What to do" not in text


def test_the_slowest_decisions_and_the_costliest_hands_are_the_true_ones(tmp_path):
    bots = [Bot(0), Bot(1, (PLAY, ILLEGAL, PLAY, LATE)), Bot(2)]
    replay = Replay.open(record(tmp_path, "democracy", bots, {"hands": 6}))
    hands = verify(replay).outcome.hand_scores
    for seat in range(3):
        diagnosis = diagnose(replay, Seat(seat))
        times = {
            each.decision: each.charged_us
            for each in replay.decided
            if each.seat == seat and not each.fault
        }
        slowest = sorted(times, key=times.get, reverse=True)[:3]
        assert [each.decision for each in diagnosis.slowest] == slowest
        behind = {
            at: (sum(scores) - scores[seat]) / 2 - scores[seat] for at, scores in enumerate(hands)
        }
        lost = sorted((at for at in behind if behind[at] > 0), key=behind.get, reverse=True)
        assert [behind[each.hand] for each in diagnosis.costliest] == [
            behind[at] for at in lost[:3]
        ]
        assert all(each.score == hands[each.hand][seat] for each in diagnosis.costliest)


def test_a_planted_slow_phase_has_its_times(tmp_path):
    replay = Replay.open(record(tmp_path, "abstrac", [SlowToChoose(0), Bot(1)], {"hands": 6}))
    diagnosis = diagnose(replay, Seat(0))
    slow, fast = diagnosis.phases
    assert (slow.phase, fast.phase) == ("choose", "take")
    assert (slow.p50_us, slow.p95_us, slow.p99_us) == (1_200_000,) * 3
    assert (fast.p50_us, fast.p95_us, fast.p99_us) == (20_000,) * 3
    assert slow.decisions + fast.decisions == diagnosis.decisions
    text = said(told(replay, 0))
    assert "Time by phase of the game choose p50 1.200 s, p95 1.200 s, p99 1.200 s; " in text


NOTED = "times: 8 asks waited 0.400 s in the own queue; 6 took 1.600 s on the network"

# fmt: off
APART = [
    # notes                                        what is told of the queue and the network                        why
    ({},                                           ["network at most 0.020 s a decision"],                          "the arena alone: the fastest decision bounds the network"),
    ({2: "times: 1 asks waited 9.000 s in the own queue; 1 took 9.000 s on the network", 3: NOTED},
                                                   ["own queue 0.400 s in 8 asks", "network 1.600 s in 6 asks"],    "the newest note of the SDK"),
    ({3: NOTED.replace("6 took 1.600", "0 took 0.000")},
                                                   ["own queue 0.400 s in 8 asks", "network at most 0.020 s"],      "an SDK that knows the queue alone"),
]
# fmt: on


@pytest.mark.parametrize(("notes", "rows", "why"), APART, ids=[row[-1] for row in APART])
def test_own_queue_network_and_lag_are_told_apart_as_far_as_they_are_known(
    notes, rows, why, tmp_path
):
    path = record(tmp_path, "abstrac", [SlowToChoose(0), Bot(1)], {"hands": 6})

    def lag(records):
        decided = (each.decided for each in records if each.HasField("decided"))
        next(each for each in decided if each.seat == 0).refunded_us = 70_000

    text = said(told(Replay.read(io.BytesIO(retold(path, lag))), 0, notes=notes))
    for row in (*rows, "arena 0.070 s of its own lag, which is not charged"):
        assert row in text
    assert "times: " not in text, "a note for programs"


def test_the_clock_at_a_fault_is_what_was_left_after_the_decision_before(tmp_path):
    """Slow decisions, late ones and an increment: all of it is in the time that it had."""
    deeds = (PLAY, ILLEGAL, LATE, MALFORMED, PLAY, PLAY, ILLEGAL, LATE, ILLEGAL)
    control = TimeControl(move_ms=500, bank_ms=3000, increment_ms=300)
    path = record(tmp_path, "abstrac", [Bot(0), Bot(1, deeds)], time_control=control)
    replay = Replay.open(path)
    banks = {each.decision: each.bank_ms for each in replay.decided if each.seat == 1}
    faults = diagnose(replay, Seat(1)).faults
    assert len(faults) >= 6
    assert len({fault.bank_before_ms for fault in faults}) > 3
    for fault in faults:
        assert fault.bank_before_ms == banks[fault.decision - 1]
        assert fault.move_ms == 500


def test_a_false_replay_gives_no_diagnosis(tmp_path):
    path = record(tmp_path, "abstrac", [Sender(0), Sender(1)])
    lying = retold(path, lambda records: records[-2].closed.scores.append(9))
    with pytest.raises(Discrepancy):
        diagnose(Replay.read(io.BytesIO(lying)), Seat(0))


# Many faults, and long lists.


def test_of_many_faults_the_first_are_told_in_full_and_the_one_that_cost_the_match(tmp_path):
    replay = match(tmp_path, [ILLEGAL] * 6, fault_limit=6)
    text = told(replay)
    assert len(re.findall("^Fault ", text, re.MULTILINE)) == 6
    assert text.count("it saw") == FULL + 1
    assert "--full" in text
    full = told(replay, full=True)
    assert full.count("it saw") == 6
    assert "--full" not in full


def test_of_many_moves_the_first_are_listed(tmp_path):
    replay = match(tmp_path, (ILLEGAL,), "chinese_poker")
    (fault,) = diagnose(replay, Seat(1)).faults
    assert len(fault.offered) == OFFERED_SHOWN < fault.offered_count
    assert f"{fault.offered_count} moves" in said(told(replay))
    assert ", …" in told(replay)


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_the_terminal_but_for_commands_which_are_not_broken(width, tmp_path):
    replay = match(tmp_path, (ILLEGAL, LATE, MALFORMED), note="n" * 190)
    own = noted(tmp_path, replay, 1)
    text = told(replay, width=width, notes=own, replay="data/replays/" + "x" * 80 + ".replay")
    commands = [line for line in text.splitlines() if line.startswith("  watch")]
    assert len(commands) >= 3
    assert all(re.search(r"--(step|hand) \d+$", line) for line in commands)
    assert all(len(line) <= width for line in text.splitlines() if line not in commands)
    assert "n" * 190 in "".join(text.split())


def test_what_the_bot_wrote_cannot_take_over_the_terminal(tmp_path):
    replay = match(tmp_path, (MALFORMED,), note="error: [bold]\x1b[2J\r\N{RIGHT-TO-LEFT OVERRIDE}")
    lines = [Said(start(replay), by_arena=False, text="\x1b[31mred\x07")]
    notes = noted(tmp_path, replay, 1)
    text = told(replay, notes=notes, output=lambda begin, end, decision: lines)
    assert "[bold]" in text
    assert "[31mred" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\N{RIGHT-TO-LEFT OVERRIDE}]", text)


# Errors of the bot's own code.


def test_an_error_is_told_with_what_was_raised(tmp_path):
    replay = match(tmp_path, (FAIL, FAIL, ILLEGAL), note="error: bot.py:3: KeyError: 'row'")
    notes = noted(tmp_path, replay, 1)
    one, two, _ = diagnose(replay, Seat(1), notes).faults
    assert (one.raised, two.raised) == tuple(f"bot.py:3: KeyError: 'row' at {at}" for at in (1, 2))
    text = said(told(replay, notes=notes))
    assert "3 faults: it had an error in its own code (F-ERROR) 2 times and made an illegal" in text
    assert "it had an error in its own code (F-ERROR): bot.py:3: KeyError: 'row' at 1 why" in text
    assert "cardarena.local.replay" in advice_of(replay, notes)["F-ERROR"]


WAITED = "your bot took 2.0 s of 2.0 s in its own queue: set workers"


def test_a_wait_in_the_bots_own_queue_is_told(tmp_path):
    """Of a late decision it is in the note of a later one."""
    replay = match(tmp_path, (PLAY, LATE, LATE, PLAY, LATE))
    notes = {4: f"queue: decisions 2 to 3: {WAITED}", 1: f"queue: decision 1: {WAITED}"}
    faults = diagnose(replay, Seat(1), notes).faults
    assert [(each.decision, each.queued) for each in faults] == [(2, WAITED), (3, WAITED), (5, "")]
    assert not any(each.notes for each in faults), "it is told once"
    text = said(told(replay, notes=notes))
    assert f"queue {WAITED}" in text
    assert f"decision 1, in hand 0; {WAITED}" in text
    (advised,) = advice_of(replay, notes).items()
    assert advised == ("F-TIMEOUT-QUEUE", f"At decision 2, {WAITED}. {entry(advised[0]).cure}")


def test_notes_of_another_seat_are_not_shown(tmp_path):
    replay = match(tmp_path, (FAIL,) * 5, note="error: bot.py:3: KeyError: 'row'")
    assert diagnose(replay, Seat(0)).faults == ()
    assert "KeyError" not in told(replay, seat=0)


# What it printed.


class Said(NamedTuple):
    at: datetime
    by_arena: bool
    text: str


def start(replay):
    return datetime.fromtimestamp(replay.opened.start_unix_ms / 1000, UTC)


def test_a_fault_has_the_output_of_its_time(tmp_path):
    replay = match(tmp_path, (PLAY, LEAVE))
    (fault,) = diagnose(replay, Seat(1)).faults
    asked, gone = (
        start(replay) + timedelta(microseconds=at) for at in (fault.sent_us, fault.settled_us)
    )
    second = timedelta(seconds=1)
    printed = [
        Said(asked - second / 20, by_arena=False, text="at the decision before"),
        Said(asked, by_arena=False, text="thinking"),
        Said(gone, by_arena=False, text="RuntimeError: I fell over"),
        Said(gone + second / 2, by_arena=True, text="ended with exit code 1"),
        Said(gone + second / 2, by_arena=False, text="after that"),
        Said(gone + 3 * second, by_arena=True, text="started: again"),
    ]

    def output(begin, end, decision):
        return [line for line in printed if begin <= line.at <= end]

    text = told(replay, output=output)
    shown = [each.text for each in printed if each.text in text]
    assert shown == ["thinking", "RuntimeError: I fell over", "ended with exit code 1"]
    assert "(process: ended with exit code 1)" in text


def test_without_a_fault_the_last_output_is_shown(tmp_path):
    replay = match(tmp_path, ())
    begin = start(replay)
    lines = [Said(begin, by_arena=False, text=f"line {at}") for at in range(30)]
    text = told(replay, output=lambda begin, end, decision: lines)
    assert "line 29" in text
    assert "line 3 " not in said(text)


# Advice.


def advice_of(replay, notes=None):
    return dict(advice(diagnose(replay, Seat(1), notes or {})))


# fmt: off
ADVICE = [
    ([LATE] * 99,         {"fault_limit": 0}, "F-TIMEOUT-SILENT", "answers every ask",  "never in time"),
    ((PLAY, LATE),        {},                 "F-TIMEOUT-HANG", "took 0.100 s or less",   "quick but for once"),
    ((PLAY, LATE),        {"time_control": TimeControl(move_ms=150, bank_ms=0)}, "F-TIMEOUT-SLOW", "(0.100 s)", "slow as well"),
    ((ILLEGAL,),          {},                 "F-ILLEGAL", "were all there were",             "all moves were listed"),
    ((MALFORMED,),        {},                 "F-MALFORMED", "an index or a move",       "no sense"),
    ((PLAY, LEAVE),       {},                 "F-GONE-LEFT", "what it printed last", "left"),
]
# fmt: on


@pytest.mark.parametrize(
    ("script", "extra", "code", "words", "why"), ADVICE, ids=[r[-1] for r in ADVICE]
)
def test_advice_is_given_for_what_happened(script, extra, code, words, why, tmp_path):
    given = advice_of(match(tmp_path, script, **extra))
    assert list(given) == [code]
    assert words in given[code]
    assert given[code].endswith(entry(code).cure)


def test_advice_for_every_kind_is_given_once(tmp_path):
    given = advice_of(match(tmp_path, (MALFORMED, ILLEGAL, LATE, ILLEGAL, FAIL, FAIL, LEAVE)))
    assert list(given) == [
        *("F-TIMEOUT-SILENT", "F-ILLEGAL", "F-MALFORMED", "F-GONE-LEFT", "F-ERROR")
    ]


def test_where_more_is_legal_than_listed_the_advice_says_so(tmp_path):
    replay = match(tmp_path, (ILLEGAL,), "chinese_poker")
    assert "`arena games show chinese_poker`" in advice_of(replay)["F-ILLEGAL-MOVE"]
