"""How late the arena was: pauses are measured, and what they took of a span is refunded."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.referee import clock
from arena.referee.clock import LagMeter
from tests.doubles.loops import Loop

MS = 0.001


def begun(*pauses_ms, from_ms=1000.0):
    """A loop and its meter after these pauses, each from the first figure to the second."""
    loop = Loop()
    loop.now_s = from_ms * MS
    meter = LagMeter(loop.call_later, lambda: loop.now_s, lambda: loop.now_s)
    meter.start()
    for begin_ms, end_ms in pauses_ms:
        loop.run_until(begin_ms * MS)
        loop.block_until(end_ms * MS)
        loop.resume()
    return loop, meter


# Ticks are due at 1010, 1020, ... ms. A pause from 1505 on holds up the tick of 1510.
# fmt: off
SPANS = [
    # pauses (from, to)              span          refund  why
    ([],                             (1000, 1400),     0,  "nothing was late"),
    ([(1505, 1529.5)],                 (1400, 1600),     0,  "less than 20 ms late is what a busy loop is"),
    ([(1505, 1530.5)],               (1400, 1600),  20.5,  "a little more is a pause, all of it refunded"),
    ([(1505, 4500)],                 (1400, 4600),  2990,  "the whole pause lies in the span"),
    ([(1505, 4500)],                 (1400, 3000),  1490,  "the span ends within the pause"),
    ([(1505, 4500)],                 (3000, 4600),  1500,  "the span begins within the pause"),
    ([(1505, 4500)],                 (2000, 2500),   500,  "the span lies in the pause"),
    ([(1505, 4500)],                 (4500, 4900),     0,  "the span begins when the pause ends"),
    ([(1505, 4500)],                 (1100, 1509),     0,  "the span ends when the pause begins"),
    ([(1505, 4500)],                 (1400, 1509),     0,  "stopped, but no tick was due yet"),
    ([(1505, 1600), (2005, 2200)],   (1400, 2300),   280,  "two pauses add up"),
    ([(1505, 1600), (2005, 2200)],   (1550, 2100),   140,  "parts of two pauses"),
    ([(1505, 1600), (2005, 2200)],   (1700, 1900),     0,  "between two pauses"),
    ([(1505, 1600), (1600, 1700)],   (1400, 1800),   180,  "the loop is late again at once"),
    ([(1505, 4500)],                 (4600, 1400),     0,  "a span that ends before it begins"),
]
# fmt: on


@pytest.mark.parametrize(
    ("pauses", "span", "refund_ms", "why"), SPANS, ids=[row[-1] for row in SPANS]
)
def test_what_is_refunded_of_a_span(pauses, span, refund_ms, why):
    loop, meter = begun(*pauses)
    loop.run_until(5.0)
    since_s, until_s = (at_ms * MS for at_ms in span)
    assert meter.refund_s(since_s, until_s) == pytest.approx(refund_ms * MS)


@pytest.mark.parametrize("tick_first", [True, False], ids=["tick first", "answer first"])
def test_an_answer_is_refunded_alike_whichever_comes_first_after_a_stop(tick_first):
    loop, meter = begun()
    loop.run_until(1.505)
    loop.block_until(4.5)
    if tick_first:
        loop.resume()
    assert meter.refund_s(1.45, 4.5) == pytest.approx(2.99)
    if not tick_first:
        loop.resume()
    assert meter.refund_s(1.45, 4.5) == pytest.approx(2.99)
    assert meter.counts().pauses == 1


def test_an_unfinished_pause_counts_up_to_now():
    loop, meter = begun()
    loop.run_until(1.505)
    loop.block_until(1.7)
    assert meter.refund_s(1.2, 1.6) == pytest.approx(0.09)
    assert meter.refund_s(1.2, 1.7) == pytest.approx(0.19)
    assert meter.refund_s(1.2, 1.509) == 0


def test_a_short_unfinished_delay_is_not_a_pause():
    loop, meter = begun()
    loop.run_until(1.505)
    loop.block_until(1.529)
    assert meter.refund_s(1.2, 1.529) == 0
    assert not meter.late(1.529)


# fmt: off
MOMENTS = [
    # pause        now      late   why
    (None,         1600,    False, "never late"),
    ((1505, 1529.5), 1531,    False, "a busy loop is not late"),
    ((1505, 1540), 1540,    True,  "late just now"),
    ((1505, 1540), 1639,    True,  "late within the last 0.1 s"),
    ((1505, 1540), 1641,    False, "punctual for 0.1 s"),
]
# fmt: on


@pytest.mark.parametrize(
    ("pause", "now_ms", "late", "why"), MOMENTS, ids=[row[-1] for row in MOMENTS]
)
def test_when_the_arena_is_late(pause, now_ms, late, why):
    loop, meter = begun(*([pause] if pause else []))
    loop.run_until(now_ms * MS)
    assert meter.late(now_ms * MS) is late


def test_the_arena_is_late_before_the_late_tick_comes():
    loop, meter = begun()
    loop.run_until(1.505)
    loop.block_until(4.5)
    assert meter.late(4.5)


# The property: a refund is a measure of time, whatever the pauses were.

GAPS_MS = st.integers(1, 400)
HISTORIES = st.lists(st.tuples(GAPS_MS, GAPS_MS), max_size=12)
"""Time at work and time blocked, in turns."""


@given(HISTORIES, st.booleans(), st.tuples(*[st.floats(0, 6, allow_nan=False)] * 3))
def test_refunds_of_adjacent_spans_add_up_and_are_never_more_than_the_span(
    history, blocked_now, moments
):
    loop, meter = begun()
    for work_ms, blocked_ms in history:
        loop.run_until(loop.now_s + work_ms * MS)
        loop.block_until(loop.now_s + blocked_ms * MS)
        loop.resume()
    if blocked_now:
        loop.block_until(loop.now_s + 0.3)
    first, second, third = sorted(1 + at_s for at_s in moments)
    left, right = meter.refund_s(first, second), meter.refund_s(second, third)
    whole = meter.refund_s(first, third)
    assert 0 <= left <= second - first
    assert 0 <= right <= third - second
    assert whole == pytest.approx(left + right, abs=1e-9)


@given(HISTORIES)
def test_refunds_are_what_a_list_of_all_pauses_gives(history):
    loop, meter = begun()
    pauses, due_s = [], loop.now_s + clock.TICK_S
    for work_ms, blocked_ms in history:
        work_until_s = loop.now_s + work_ms * MS
        while due_s <= work_until_s:
            due_s += clock.TICK_S
        loop.run_until(work_until_s)
        loop.block_until(work_until_s + blocked_ms * MS)
        loop.resume()
        if due_s <= loop.now_s:
            if loop.now_s - due_s > clock.PAUSE_S + 1e-9:
                pauses.append((due_s, loop.now_s))
            due_s = loop.now_s + clock.TICK_S
    for since_s, until_s in [(1.0, 2.0), (1.1, 1.5), (1.3, 9.0), (0.5, 12.0)]:
        overlap_s = sum(max(0, min(until_s, e) - max(since_s, b)) for b, e in pauses)
        assert meter.refund_s(since_s, until_s) == pytest.approx(overlap_s, abs=1e-6)


def test_sums_of_many_pauses_never_round_a_refund_up_beyond_its_span():
    loop, meter = begun()
    for number in range(300):
        loop.block_until(loop.now_s + 0.03 + number / 7_777)
        loop.resume()
        span = loop.now_s - 0.0123, loop.now_s - 0.0045
        assert 0 <= meter.refund_s(*span) <= span[1] - span[0]


# Probes. They leave and return at these moments, while the loop is punctual or is not.


def probed(*crossings_ms, blocked_ms=()):
    """As `begun`, with probes that left and returned at these times."""
    loop, meter = begun()
    deeds = [(left, meter.probe_left) for left, _ in crossings_ms]
    deeds += [(back, meter.probe_returned) for _, back in crossings_ms if back is not None]
    deeds += [(end, lambda at_s: (loop.block_until(at_s), loop.resume())) for _, end in blocked_ms]
    for at_ms, deed in sorted(deeds, key=lambda each: each[0]):
        begin = next((begin for begin, end in blocked_ms if end == at_ms), at_ms)
        loop.run_until(begin * MS)
        deed(at_ms * MS)
    return loop, meter


# fmt: off
CROSSINGS = [
    # probes                          blocked          span          refund  why
    ([(1100, 1101), (1201, 1203)],    [],              (1000, 1400),     0,  "as quick as ever"),
    ([(1100, 1119)],                  [],              (1000, 1400),     0,  "a little slow"),
    ([(1100, 1350)],                  [],              (1000, 1400),   250,  "kept for long"),
    ([(1100, 1350)],                  [],              (1200, 1300),   100,  "the span lies in it"),
    ([(1100, 1350), (1450, 1700)],    [],              (1200, 1600),   300,  "twice"),
    ([(1100, 1350)],                  [(1205, 1300)],  (1000, 1400),   250,  "the loop was late within it"),
    ([(1100, 1350)],                  [(1205, 1345)],  (1220, 1400),   130,  "the loop was late to its end"),
    ([(1310, 1350)],                  [(1105, 1300)],  (1000, 1400),   230,  "the loop was late before it left"),
]
# fmt: on


@pytest.mark.parametrize(
    ("probes", "blocked", "span", "refund_ms", "why"), CROSSINGS, ids=[row[-1] for row in CROSSINGS]
)
def test_the_delay_of_a_probe_is_refunded_once(probes, blocked, span, refund_ms, why):
    loop, meter = probed(*probes, blocked_ms=blocked)
    loop.run_until(1.8)
    since_s, until_s = (at * MS for at in span)
    assert meter.refund_s(since_s, until_s) == pytest.approx(refund_ms * MS), why


# fmt: off
UNDER_WAY = [
    # probe          now      due      late    why
    ((1100, None),   1115,    None,     False,  "it is under way, and not slow yet"),
    ((1100, None),   1130,    None,     True,   "it is kept"),
    ((1100, 1350),   1400,    None,     True,   "it was kept until 0.05 s ago"),
    ((1100, 1350),   1460,    None,     False,  "it came back 0.1 s ago"),
    ((1100, 1101),   1150,    1090,    False,  "it left when the time was up, and is back"),
    ((1100, 1101),   1150,    1120,    True,   "none has left since the time was up"),
]
# fmt: on


@pytest.mark.parametrize(
    ("probe", "now_ms", "due_ms", "late", "why"), UNDER_WAY, ids=[row[-1] for row in UNDER_WAY]
)
def test_no_time_is_up_before_a_probe_is_back(probe, now_ms, due_ms, late, why):
    loop, meter = probed(probe)
    loop.run_until(now_ms * MS)
    assert meter.late(now_ms * MS, *([] if due_ms is None else [due_ms * MS])) is late


def test_a_probe_under_way_is_refunded_up_to_now_and_together_with_what_was_before():
    loop, meter = probed((1100, 1350), (1450, None))
    loop.run_until(1.6)
    assert meter.refund_s(1.2, 1.6) == pytest.approx(0.3)
    assert meter.refund_s(1.5, 1.55) == pytest.approx(0.05)


def test_nothing_waits_for_probes_that_are_sent_no_more():
    loop, meter = probed((1100, 1105))
    loop.run_until(1.5)
    meter.probes_end(1.5)
    assert not meter.late(1.5, 1.4)
    assert meter.refund_s(1.0, 1.5) == 0


def test_a_probe_that_is_lost_was_a_pause_for_all_but_who_caused_it():
    loop, meter = probed((1100, None))
    loop.run_until(1.5)
    meter.caused("attacker", 1.0, 1.5)
    meter.probes_end(1.5)
    loop.run_until(1.7)
    assert not meter.late(1.7, 1.4)
    assert meter.refund_s(1.0, 1.7) == pytest.approx(0.4)
    assert meter.refund_s(1.0, 1.7, "attacker") == pytest.approx(0.0)


@given(HISTORIES, st.lists(st.tuples(GAPS_MS, GAPS_MS), max_size=8))
def test_refunds_with_probes_are_still_measures_of_time(history, crossings):
    """Adjacent spans add up, pauses that overlap count once, and counts never go back."""
    loop, meter = begun()
    deeds, at_ms = [], 1000
    for after_ms, takes_ms in crossings:
        deeds += [(at_ms + after_ms, meter.probe_left)]
        at_ms += after_ms + takes_ms
        deeds += [(at_ms, meter.probe_returned)]
    for work_ms, blocked_ms in history:
        until_s = loop.now_s + work_ms * MS
        while deeds and deeds[0][0] * MS <= until_s:
            at_ms, deed = deeds.pop(0)
            loop.run_until(max(loop.now_s, at_ms * MS))
            deed(loop.now_s)
        loop.run_until(until_s)
        before = meter.counts()
        loop.block_until(until_s + blocked_ms * MS)
        loop.resume()
        after = meter.counts()
        assert before.pauses <= after.pauses
        assert before.paused_s <= after.paused_s + 1e-9
    moments = [1.0, 1.2, 1.7, 3.0, 9.0]
    parts = [meter.refund_s(*span) for span in pairwise(moments)]
    assert meter.refund_s(1.0, 9.0) == pytest.approx(sum(parts), abs=1e-9)
    for part, span in zip(parts, pairwise(moments), strict=True):
        assert 0 <= part <= span[1] - span[0]


# Memory.


def test_a_decision_that_is_open_for_days_is_refunded_all_of_an_ordinary_life():
    loop, meter = begun()
    for _ in range(1_000):
        loop.run_until(loop.now_s + 0.5)
        loop.block_until(loop.now_s + 0.11)
        loop.resume()
    assert meter.refund_s(1.0, loop.now_s) == pytest.approx(1_000 * 0.105, rel=0.05)


def test_memory_is_bounded_and_the_latest_pauses_stay():
    loop, meter = begun()
    for _ in range(3 * clock.MAX_PAUSES):
        loop.block_until(loop.now_s + 0.035)
        loop.resume()
    kept = len(meter._ends_s)
    assert kept == len(meter._starts_s) == len(meter._paused_s) - 1 <= clock.MAX_PAUSES
    last_two_minutes = meter.refund_s(loop.now_s - 120, loop.now_s)
    assert last_two_minutes == pytest.approx(120 * 25 / 35, rel=0.001)
    assert meter.refund_s(0.0, loop.now_s) <= loop.now_s
    assert len(meter._lateness) <= clock.WINDOW_S / clock.TICK_S


# Idle.


def test_nothing_ticks_while_nothing_is_in_play():
    loop = Loop()
    meter = LagMeter(loop.call_later, lambda: loop.now_s, lambda: loop.now_s)
    loop.run_until(loop.now_s + 5)
    with meter.measuring():
        with meter.measuring():
            loop.run_until(loop.now_s + 1)
        loop.run_until(loop.now_s + 1)
        assert loop.called == pytest.approx(200, abs=1)
    ticks = loop.called
    loop.run_until(loop.now_s + 5)
    assert loop.called == ticks


def test_the_time_when_nothing_was_in_play_is_no_pause():
    loop, meter = begun()
    loop.run_until(2.0)
    meter.stop()
    loop.run_until(9.0)
    assert meter.refund_s(1.0, 9.0) == 0
    assert not meter.late(9.0)
    meter.start()
    assert meter.refund_s(1.0, 9.0) == 0
    assert not meter.late(9.0)


def test_a_pause_that_ends_with_the_last_match_is_recorded():
    loop, meter = begun()
    loop.run_until(1.505)
    loop.block_until(1.8)
    meter.stop()
    assert meter.refund_s(1.0, 2.0) == pytest.approx(0.29)
    assert meter.late(1.85)


def test_a_meter_is_not_stopped_more_often_than_started():
    _, meter = begun()
    meter.stop()
    with pytest.raises(RuntimeError, match="more often"):
        meter.stop()


# Admission's figure.


def repeated(loop, meter, seconds, blocked_ms, every_ms):
    until_s = loop.now_s + seconds
    while loop.now_s < until_s:
        loop.run_until(loop.now_s + (every_ms - blocked_ms) * MS)
        loop.block_until(loop.now_s + blocked_ms * MS)
        loop.resume()


# fmt: off
LOADS = [
    # seconds  blocked  every    p99 (ms)  why
    (20,         0.0,    100,      (0, 0),      "idle"),
    (20,        35.0,     35,      (25, 25),    "late all the time"),
    (20,      1000.0,   1000,      (990, 990),  "so late that there are few ticks"),
    (20,        60.0,    500,      (50, 60),    "late for more than 1 % of the ticks"),
    (20,        60.0,   2000,      (0, 0),      "late for less than 1 % of the ticks"),
    (3,         60.0,    500,      (0, 0),      "for a short time, after nothing was in play"),
    (1,        990.0,   1000,      (0, 0),      "one long pause is no overload"),
]
# fmt: on


@pytest.mark.parametrize(
    ("seconds", "blocked_ms", "every_ms", "p99_ms", "why"), LOADS, ids=[row[-1] for row in LOADS]
)
def test_lateness_at_the_99th_percentile(seconds, blocked_ms, every_ms, p99_ms, why):
    loop, meter = begun()
    repeated(loop, meter, seconds, blocked_ms, every_ms)
    low, high = p99_ms
    assert low - 0.001 <= meter.p99_ms() <= high + 0.001


def test_lateness_is_forgotten_after_ten_seconds():
    loop, meter = begun()
    repeated(loop, meter, 10, 35, 35)
    assert meter.p99_ms() == pytest.approx(25)
    loop.run_until(loop.now_s + clock.WINDOW_S - 1)
    assert meter.p99_ms() == pytest.approx(25)
    loop.run_until(loop.now_s + 1)
    assert meter.p99_ms() == pytest.approx(0)


def test_a_late_start_after_a_rest_is_no_overload_however_long_was_played_before():
    loop, meter = begun()
    loop.run_until(loop.now_s + 60)
    meter.stop()
    loop.run_until(loop.now_s + 60)
    meter.start()
    repeated(loop, meter, 0.3, 60, 100)
    assert meter.p99_ms() == 0


def test_lateness_is_forgotten_also_while_nothing_is_in_play():
    loop, meter = begun()
    repeated(loop, meter, 20, 35, 35)
    meter.stop()
    loop.run_until(loop.now_s + clock.WINDOW_S)
    assert meter.p99_ms() == 0


def test_counts_for_metrics():
    _, meter = begun((1505, 1600), (2005, 2210))
    counts = meter.counts()
    assert counts.pauses == 2
    assert counts.paused_s == pytest.approx(0.29)
    assert counts.longest_pause_s == pytest.approx(0.2)
    assert counts.ticks == pytest.approx(91, abs=2)


# Whose doing a pause was.

BLOCK = (1505, 4500)
# fmt: off
WORKS = [
    # whose works           span          refund   why
    ({},                           (1400, 4600),  2990,  "nobody's"),
    ({"ann": [BLOCK]},             (1400, 4600),     0,  "all of it the owner's own"),
    ({"bob": [BLOCK]},             (1400, 4600),  2990,  "all of it another's"),
    ({"ann": [(1505, 2510)]},      (1400, 4600),  1990,  "the first second was the owner's own"),
    ({"ann": [(2000, 2500), (3000, 3500)], "bob": [(2500, 3000)]},
                                   (1400, 4600),  1990,  "the owner's in two parts, another's between them"),
    ({"ann": [(1000, 1400)]},      (1400, 4600),  2990,  "the owner was at work before the span"),
    ({"ann": [(1100, 1500)]},      (1000, 4600),  2990,  "the owner was at work while nothing was late"),
    ({"ann": [BLOCK]},             (3000, 4600),     0,  "the span begins in the pause"),
    ({"ann": [BLOCK]},             (1400, 3000),     0,  "the span ends in the pause"),
    ({"ann": [(2000, 2000.9)]},    (1400, 4600),  2990,  "less than a millisecond is not looked at"),
]
# fmt: on


@pytest.mark.parametrize("tick_first", [True, False], ids=["tick first", "answer first"])
@pytest.mark.parametrize(
    ("works", "span", "refund_ms", "why"), WORKS, ids=[row[-1] for row in WORKS]
)
def test_a_pause_is_not_refunded_to_the_owner_that_caused_it(
    works, span, refund_ms, why, tick_first
):
    loop, meter = begun()
    loop.run_until(BLOCK[0] * MS)
    loop.block_until(BLOCK[1] * MS)
    for owner, spans in works.items():
        for work in spans:
            meter.caused(owner, *(at_ms * MS for at_ms in work))
    if tick_first:
        loop.resume()
    since_s, until_s = (at_ms * MS for at_ms in span)
    until_s = until_s if tick_first else min(until_s, loop.now_s)
    assert meter.refund_s(since_s, until_s, "ann") == pytest.approx(refund_ms * MS)
    assert meter.refund_s(since_s, until_s, "eve") == meter.refund_s(since_s, until_s)


# fmt: off
COMPUTED = [
    # of the loop's thread (ms)  refund  why
    (3000,                            0,  "the loop computed all the time"),
    (0,                            2990,  "the process was stopped while it read a message"),
    (400,                          2590,  "others had the processor, but for a part of the time"),
]
# fmt: on


@pytest.mark.parametrize(
    ("computed_ms", "refund_ms", "why"), COMPUTED, ids=[row[-1] for row in COMPUTED]
)
def test_an_owner_caused_no_more_than_the_loop_computed(computed_ms, refund_ms, why):
    computed = iter([7.0] * 51 + [7.0 + computed_ms * MS])
    loop = Loop()
    loop.now_s = 1.0
    meter = LagMeter(loop.call_later, lambda: loop.now_s, lambda: next(computed))
    meter.start()
    loop.run_until(BLOCK[0] * MS)
    loop.block_until(BLOCK[1] * MS)
    meter.worked("ann", *(at_ms * MS for at_ms in BLOCK))
    assert meter.refund_s(1.4, 4.5, "ann") == pytest.approx(refund_ms * MS)
    assert meter.refund_s(1.4, 4.5, "bob") == pytest.approx(2.99)


def test_what_is_remembered_of_works_is_bounded_and_the_longest_stay():
    works = clock.PauseCauses()
    works.note("ann", 0.0, 3.0)
    for number in range(2 * clock.MOST_OF_AN_OWNER):
        works.note("ann", 5.0 + number, 5.002 + number)
    assert len([*works.of("ann", -1.0, 1e9)]) == clock.MOST_OF_AN_OWNER
    assert [*works.of("ann", -1.0, 4.0)] == [(0.0, 3.0)]
    for number in range(2 * clock.MOST_OWNERS):
        works.note(f"guest {number}", 0.0, 1.0)
    assert len(works._works) == clock.MOST_OWNERS
    works.note("", 0.0, 1.0)
    assert "" not in works._works, "strangers own no bots"
