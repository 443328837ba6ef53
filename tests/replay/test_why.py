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
from arena.cli.terminal.why import FULL, printed_with, tell
from arena.games.contract import Seat
from arena.referee import AbortCause, Answer, FaultKind, ForfeitedSeat
from arena.replay.account import OFFERED_SHOWN, account_of
from arena.replay.advice import advice
from arena.replay.frames import Discrepancy, frames
from arena.replay.read import Replay
from arena.replay.verify import verify
from arena.terms import TimeControl
from cardarena.v1 import game_pb2
from tests.replay.matches import (
    ILLEGAL,
    LATE,
    LEAVE,
    MALFORMED,
    PLAY,
    Bot,
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
    tell(account_of(match, Seat(seat), notes or {}), console, **how)
    return out.getvalue()


def said(text):
    """Words without the line breaks between them."""
    return " ".join(text.split())


# fmt: off
KINDS = [
    # what the bot does, at its second decision
    (LATE,      FaultKind.TIMEOUT,   "did not answer in time", "no answer until the end of its time, 3.050 s"),
    (ILLEGAL,   FaultKind.ILLEGAL,   "made an illegal move",   "an answer 0.100 s after the ask: 19 bytes"),
    (MALFORMED, FaultKind.MALFORMED, "made no sense",          "an answer 0.100 s after the ask: 19 bytes"),
    (LEAVE,     FaultKind.GONE,      "was gone",               "no answer before it was gone"),
]
# fmt: on
EVERY_KIND = pytest.mark.parametrize(
    ("deed", "kind", "words", "came"), KINDS, ids=[row[0] for row in KINDS]
)


@EVERY_KIND
def test_every_kind_of_fault_is_told_with_all_that_it_was_judged_by(
    deed, kind, words, came, tmp_path
):
    replay = match(tmp_path, (PLAY, deed), note="thought")
    (fault,) = account_of(replay, Seat(1)).faults
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
    assert (digest in text) == (kind in (FaultKind.ILLEGAL, FaultKind.MALFORMED))


def test_the_view_is_the_one_that_the_seat_was_asked_with(tmp_path):
    replay = match(tmp_path, (PLAY, PLAY, ILLEGAL), "democracy", seats=3)
    (fault,) = account_of(replay, Seat(1)).faults
    frame = next(
        each for each in frames(replay) if any(decision.fault for decision in each.decisions)
    )
    assert fault.view == replay.spec().terms.game.rules.view(frame.before, Seat(1))
    assert fault.step == frame.index
    text = told(replay)
    for line in draw.view(fault.view):
        assert said(line.plain) in said(text)


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_nothing_is_told_that_the_seat_did_not_know(seat, tmp_path):
    """All seats do wrong at every turn; what others held, noted and did wrong stays theirs."""
    bots = [Sender(each, [ILLEGAL] * 99, note=f"secret {each}") for each in range(3)]
    path = record(tmp_path, "democracy", bots, {"hands": 3}, fault_limit=0, time_control=CONTROL)
    replay = Replay.open(path)
    own = noted(tmp_path, replay, seat)
    account = account_of(replay, Seat(seat), own)
    assert len(account.faults) == account.decisions > FULL
    by_step = {frame.index: frame for frame in frames(replay)}
    for fault in account.faults:
        day = by_step[fault.step].before.day
        hidden = {card for at, hand in enumerate(day.hands) if at != seat for card in hand}
        hidden |= set(day.undealt) | set(day.pool[1:])
        known = {
            card for line in draw.view(fault.view) for card in re.findall(r"\S[♣♦♥♠]", line.plain)
        }
        assert {draw.card(card).plain for card in hidden} & known == set()
        assert {note.text for note in fault.notes} <= {
            f"secret {seat} at {decision}" for decision in range(1, account.decisions + 1)
        }
    text = told(replay, seat, full=True, notes=own)
    assert set(re.findall(r"secret \d", text)) == {f"secret {seat}"}


def test_choices_made_at_once_stay_hidden_from_each_other(tmp_path):
    """Others had chosen already when the seat did wrong: their cards are not in its account."""
    replay = match(tmp_path, (LATE,), "democracy", seats=3)
    first = next(frame for frame in frames(replay) if frame.decisions)
    others = [each.move.card for each in first.decisions if each.seat != 1]
    assert len(others) == 2
    faces = {draw.card(card).plain for card in others}
    assert not any(face in told(replay).partition("What to do")[0] for face in faces)


# How it ended.


# fmt: off
ENDS = [
    ((PLAY, LEAVE),  {},                    "It forfeited at its decision 2 (hand 0, ",     "left"),
    ((PLAY, LEAVE),  {},                    "): the bot had left.",                         "left, and why"),
    ([ILLEGAL] * 3,  {"fault_limit": 3},    "its fault number 3, which is the limit",       "too many faults"),
    ([ILLEGAL] * 3,  {"fault_limit": 3},    "at its decision 3",                            "too many faults, and where"),
    ((ILLEGAL,),     {},                    "1 fault: it made an illegal move.",            "a fault, and played on"),
    ((ILLEGAL, LATE, ILLEGAL), {},          "3 faults: it made an illegal move (2 times) and did not answer in time.", "faults of two kinds"),
    ((),             {},                    "No fault: it answered all that it was asked",  "no fault"),
    ((),             {"stop_after_s": 1.0}, "Aborted: the arena was stopped.",              "stopped"),
    ((),             {"stop_after_s": 1.0}, "the arena's fault and no bot's",               "stopped, by whom"),
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


def test_a_seat_that_was_out_before_the_deal_is_told_why(tmp_path):
    reason = "it did not open its commitment"
    out = (ForfeitedSeat(1, FaultKind.TIMEOUT, reason),)
    text = said(told(match(tmp_path, (), forfeited_seats=out)))
    for words in (
        f"It forfeited before the first card: {reason}.",
        "1 fault: it did wrong before the deal.",
        "nothing, as its seat had forfeited",
        "What a bot commits to for the deals it must open",
    ):
        assert words in text
    assert "did not answer in time" not in text


# fmt: off
CAUSES = [
    (AbortCause.ERROR,      "an error of the arena's own stopped it (incident 1f2e3d4c in the arena's log)"),
    (AbortCause.STOPPED,    "the arena was stopped"),
    (AbortCause.DISK,       "could not be written to the arena's disk"),
    (AbortCause.UNPLAYABLE, "rules or options that the arena does not have any more"),
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
    assert account_of(replay, Seat(1)).incident == replay.closed.incident


def test_who_lost_without_a_fault_is_told_what_cost_most(tmp_path):
    replay = match(tmp_path, ())
    loser = max(range(2), key=lambda seat: replay.closed.places[seat])
    account = account_of(replay, Seat(loser))
    text = said(told(replay, loser))
    assert "It lost by its cards and its moves alone." in text
    assert "Slowest decisions 0.100 s decision" in text
    worst = account.costliest[0]
    assert worst.behind == max(each.behind for each in account.costliest) > 0
    assert f"Hands that cost most hand {worst.hand} {worst.score:+d}, the other" in text
    assert "What to do" not in text


def test_the_slowest_decisions_and_the_costliest_hands_are_the_true_ones(tmp_path):
    bots = [Bot(0), Bot(1, (PLAY, ILLEGAL, PLAY, LATE)), Bot(2)]
    replay = Replay.open(record(tmp_path, "democracy", bots, {"hands": 6}))
    hands = verify(replay).outcome.hand_scores
    for seat in range(3):
        account = account_of(replay, Seat(seat))
        times = {
            each.decision: each.charged_us
            for each in replay.decided
            if each.seat == seat and not each.fault
        }
        slowest = sorted(times, key=times.get, reverse=True)[:3]
        assert [each.decision for each in account.slowest] == slowest
        behind = {
            at: (sum(scores) - scores[seat]) / 2 - scores[seat] for at, scores in enumerate(hands)
        }
        lost = sorted((at for at in behind if behind[at] > 0), key=behind.get, reverse=True)
        assert [behind[each.hand] for each in account.costliest] == [behind[at] for at in lost[:3]]
        assert all(each.score == hands[each.hand][seat] for each in account.costliest)


def test_the_clock_at_a_fault_is_what_was_left_after_the_decision_before(tmp_path):
    """Slow decisions, late ones and an increment: all of it is in the time that it had."""
    deeds = (PLAY, ILLEGAL, LATE, MALFORMED, PLAY, PLAY, ILLEGAL, LATE, ILLEGAL)
    control = TimeControl(move_ms=500, bank_ms=3000, increment_ms=300)
    path = record(tmp_path, "abstrac", [Bot(0), Bot(1, deeds)], time_control=control)
    replay = Replay.open(path)
    banks = {each.decision: each.bank_ms for each in replay.decided if each.seat == 1}
    faults = account_of(replay, Seat(1)).faults
    assert len(faults) >= 6
    assert len({fault.bank_before_ms for fault in faults}) > 3
    for fault in faults:
        assert fault.bank_before_ms == banks[fault.decision - 1]
        assert fault.move_ms == 500


def test_a_false_replay_judges_nobody(tmp_path):
    path = record(tmp_path, "abstrac", [Sender(0), Sender(1)])
    lying = retold(path, lambda records: records[-2].closed.scores.append(9))
    with pytest.raises(Discrepancy):
        account_of(Replay.read(io.BytesIO(lying)), Seat(0))


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
    (fault,) = account_of(replay, Seat(1)).faults
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


# Exceptions, which cost no fault: the SDK answers in the bot's place.


def test_exceptions_are_told_by_their_kinds(tmp_path):
    replay = match(tmp_path, (PLAY,) * 5, note="error: bot.py:3: KeyError: 'row'")
    notes = noted(tmp_path, replay, 1)
    stories = account_of(replay, Seat(1), notes).exceptions
    assert len(stories) > FULL
    assert stories[0].raised == "bot.py:3: KeyError: 'row' at 1"
    text = told(replay, notes=notes, replay="a.replay")
    assert f"But its own code raised {len(stories)} exceptions" in said(text)
    assert "Exception, first at decision 1 (hand 0): bot.py:3: KeyError: 'row' at 1" in text
    assert f"--seat 1 --step {stories[0].step}" in text
    assert f"and {len(stories) - FULL} other kinds, with --full" in text
    assert "other kinds" not in told(replay, notes=notes, full=True)
    assert "cardarena.local.replay" in advice_of(replay, notes)["exceptions"]


def test_nobody_else_reads_of_them(tmp_path):
    replay = match(tmp_path, (PLAY,) * 5, note="error: bot.py:3: KeyError: 'row'")
    assert account_of(replay, Seat(0)).exceptions == ()
    assert "KeyError" not in told(replay, seat=0)


def test_at_an_exception_stands_what_was_printed_up_to_its_traceback(tmp_path):
    replay = match(tmp_path, (PLAY,) * 5, note="error: bot.py:3: KeyError: 'row'")
    notes = noted(tmp_path, replay, 1)
    account = account_of(replay, Seat(1), notes)
    story = account.exceptions[1]
    asked = start(replay) + timedelta(microseconds=story.sent_us)
    head = f"cardarena: {story.raised}: an exception at ask 1048578 of match 1, so the first"
    texts = ["thinking", head, "  Traceback", "  KeyError", "of the next decision", "  and so on"]
    lines = [Said(asked, by_arena=False, text=text) for text in texts]
    asked_for = []

    def output(begin, end, decision):
        asked_for.append(decision)
        return [line for line in lines if begin <= line.at <= end]

    assert [line.text for line in printed_with(account, story, output)] == texts[:4]
    assert asked_for == [story.decision]


# What it printed.


class Said(NamedTuple):
    at: datetime
    by_arena: bool
    text: str


def start(replay):
    return datetime.fromtimestamp(replay.opened.start_unix_ms / 1000, UTC)


def test_what_it_printed_at_a_fault_stands_beside_it(tmp_path):
    replay = match(tmp_path, (PLAY, LEAVE))
    (fault,) = account_of(replay, Seat(1)).faults
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


def test_without_a_fault_the_last_of_what_it_printed_in_the_match_is_told(tmp_path):
    replay = match(tmp_path, ())
    begin = start(replay)
    lines = [Said(begin, by_arena=False, text=f"line {at}") for at in range(30)]
    text = told(replay, output=lambda begin, end, decision: lines)
    assert "line 29" in text
    assert "line 3 " not in said(text)


# Advice.


def advice_of(replay, notes=None):
    return dict(advice(account_of(replay, Seat(1), notes or {})))


# fmt: off
ADVICE = [
    ([LATE] * 99,         {"fault_limit": 0}, "timeout",   "answered nothing in time",        "never in time"),
    ((PLAY, LATE),        {},                 "timeout",   "a hang or a lost answer",         "quick but for once"),
    ((PLAY, LATE),        {"time_control": TimeControl(move_ms=150, bank_ms=0)}, "timeout", "(0.100 s)", "slow as well"),
    ((ILLEGAL,),          {},                 "illegal",   "were all there were",             "all moves were listed"),
    ((MALFORMED,),        {},                 "malformed", "either an index or a move",       "no sense"),
    ((PLAY, LEAVE),       {},                 "gone",      "process ended, or it said goodbye", "left"),
]
# fmt: on


@pytest.mark.parametrize(
    ("script", "extra", "kind", "words", "why"), ADVICE, ids=[r[-1] for r in ADVICE]
)
def test_advice_is_given_for_what_happened(script, extra, kind, words, why, tmp_path):
    given = advice_of(match(tmp_path, script, **extra))
    assert list(given) == [kind]
    assert words in given[kind]
    assert given[kind].count(". ") == 0, "one sentence"


def test_advice_for_every_kind_is_given_once(tmp_path):
    replay = match(
        tmp_path, (MALFORMED, ILLEGAL, LATE, ILLEGAL, LEAVE), note="error: ValueError: x"
    )
    given = advice_of(replay, noted(tmp_path, replay, 1))
    assert list(given) == ["timeout", "illegal", "malformed", "gone"]
    assert "ValueError: x" in given["malformed"]


def test_where_more_is_legal_than_listed_the_advice_says_so(tmp_path):
    replay = match(tmp_path, (ILLEGAL,), "chinese_poker")
    assert "`arena games show chinese_poker`" in advice_of(replay)["illegal"]
