"""What a replay says is recomputed: true ones pass, and lies with fitting checksums do not."""

import hashlib
import io
from types import SimpleNamespace

import pytest

from arena.games.abstrac import rules as abstrac
from arena.games.contract import Work
from arena.records.journal.journal import Journal
from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged
from arena.records.verify import verify
from arena.referee.deal import seeded_key
from arena.referee.spec import Ending, FaultKind
from arena.referee.terms import TimeControl
from cardarena.v1 import game_pb2
from tests.records.matches import (
    ILLEGAL,
    LATE,
    LEAVE,
    MALFORMED,
    PLAY,
    Bot,
    cut,
    play,
    record,
    retold,
)

# fmt: off
MATCHES = [
    ("abstrac",            2, {"hands": 4},                    (),           "a race of open cards"),
    ("abstrac_suit",       2, {"hands": 2},                    (),           "the suit on top"),
    ("abstrac_unfettered", 2, {"hands": 2},                    (),           "with a joker"),
    ("abstrac_fiftytwo",   2, {"hands": 2},                    (),           "in two halves"),
    ("abstrac",            2, {"hands": 0, "target": 100},     (),           "a race to a score"),
    ("democracy",          2, {"hands": 2},                    (),           "simultaneous, two seats"),
    ("democracy",          6, {"hands": 6},                    (),           "simultaneous, six seats"),
    ("chinese_poker",      4, {"hands": 4},                    (),           "72,072 settings to choose from"),
    ("chinese_poker",      3, {"hands": 3}, (PLAY, LATE, MALFORMED),         "faults with settings"),
    ("abstrac",            2, {"hands": 2}, (LATE,),                         "a late answer"),
    ("abstrac",            2, {"hands": 2}, (PLAY, ILLEGAL),                 "an illegal move"),
    ("abstrac",            2, {"hands": 2}, (MALFORMED, PLAY, MALFORMED),    "answers without sense"),
    ("abstrac",            2, {"hands": 2}, (PLAY, LEAVE),                   "a bot that leaves"),
    ("democracy",          3, {"hands": 3}, (LATE, ILLEGAL, MALFORMED),      "faults among three"),
    ("democracy",          3, {"hands": 3}, (PLAY, LEAVE),                   "one of three leaves"),
    ("democracy",          3, {"hands": 3}, (PLAY, *[ILLEGAL] * 10),         "so many faults that it forfeits"),
    ("abstrac",            2, {"hands": 6}, (LATE,) * 30,                    "nothing but late answers"),
]
# fmt: on


@pytest.mark.parametrize(
    ("game", "seats", "options", "script", "why"), MATCHES, ids=[row[-1] for row in MATCHES]
)
def test_a_replay_gives_the_outcome_again(game, seats, options, script, why, tmp_path):
    bots = [Bot(7, script, note="mine"), *(Bot(seat) for seat in range(1, seats))]
    with Journal(tmp_path / "journal") as journal:
        played = play(journal, game, bots, options)
    verified = verify(Replay.open(cut(tmp_path, played)))
    assert verified.outcome == played.outcome
    assert bool(verified.outcome.faults) == bool(script)
    assert verified.seeded


CLOCKS = [
    (TimeControl(500, 0, 0), "no bank"),
    (TimeControl(300, 3000, 0), "a bank that runs out"),
    (TimeControl(300, 700, 333), "an increment"),
    (TimeControl(1000, 1000, 0, hand_ms=2500), "a ceiling for the hand"),
    (TimeControl(1000, 1000, 0, match_ms=4000), "a ceiling for the match"),
]


@pytest.mark.parametrize(("control", "why"), CLOCKS, ids=[row[1] for row in CLOCKS])
@pytest.mark.parametrize("seed", range(4))
def test_clocks_are_recomputed_to_the_millisecond(control, why, seed, tmp_path):
    bots = [Bot(seed, (PLAY, LATE, PLAY, ILLEGAL)), Bot(seed + 100)]
    with Journal(tmp_path / "journal") as journal:
        played = play(journal, "abstrac", bots, {"hands": 4}, time_control=control)
    assert verify(Replay.open(cut(tmp_path, played))).outcome == played.outcome


@pytest.mark.parametrize("stop_after_s", [0.0, 0.5, 2.0, 10.0, 20.0])
@pytest.mark.parametrize("game", ["abstrac", "democracy"])
def test_an_aborted_match_is_true_as_far_as_it_went(game, stop_after_s, tmp_path):
    path = record(tmp_path, game, [Bot(1), Bot(2)], {"hands": 40}, stop_after_s=stop_after_s)
    outcome = verify(Replay.open(path)).outcome
    assert (outcome.ending, outcome.scores, outcome.places) == (Ending.ABORTED, (), ())


def test_work_that_was_charged_lies_in_no_time_of_the_match(tmp_path, monkeypatch):
    """It is charged for what it would cost at most, however fast this machine was."""
    monkeypatch.setattr(
        abstrac, "heavy", lambda state, seat, move: Work(1, charged=8_000_000), raising=False
    )
    path = record(tmp_path, time_control=TimeControl(60_000, 60_000))
    assert verify(Replay.open(path)).outcome.ending is Ending.COMPLETED


def test_a_fair_deal_is_shown_differently_from_a_seeded_one(tmp_path):
    assert not verify(Replay.open(record(tmp_path, seed=""))).seeded


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A match in which seat 0 makes an illegal move first and is late next."""
    folder = tmp_path_factory.mktemp("verify")
    return record(folder, "abstrac", [Bot(3, (ILLEGAL, LATE)), Bot(4)], {"hands": 2})


def of_seat(records, seat):
    return [r.decided for r in records if r.HasField("decided") and r.decided.seat == seat]


def faultless(records):
    return next(
        r.decided
        for r in records
        if r.HasField("decided") and not r.decided.fault and r.decided.move.abstrac.count > 1
    )


def deal_with(records, key):
    records[0].opened.deal_key_sha256 = hashlib.sha256(key).digest()
    records[-1].revealed.deal_key = key


def lie(change):
    """A change of records as a function, so that rows can hold statements."""
    return lambda records: change(
        SimpleNamespace(
            all=records,
            opened=records[0].opened,
            closed=records[-2].closed,
            revealed=records[-1].revealed,
            first=records[1].decided,
            last=records[-3].decided,
            faultless=faultless(records),
            illegal=of_seat(records, 0)[0],
            late=of_seat(records, 0)[1],
        )
    )


# fmt: off
LIES = [
    (lambda r: setattr(r.faultless.move.abstrac, "count", 1),  "to make",                       "a smaller move"),
    (lambda r: setattr(r.faultless.move.abstrac, "count", 25), "not a legal move",       "a move that the rules forbid"),
    (lambda r: r.faultless.move.Clear(),                       "not a move",             "no move at all"),
    (lambda r: r.faultless.move.CopyFrom(
        game_pb2.GameMove(democracy={})),                      "of democracy",           "a move of another game"),
    (lambda r: r.closed.scores.__setitem__(0, 1000),           "scores",                 "a better score"),
    (lambda r: r.closed.scores.append(3),                      "scores",                 "a score too many"),
    (lambda r: r.closed.places.reverse(),                      "places",                 "the other seat first"),
    (lambda r: setattr(r.closed, "ending", 2),                 "ended as completed",     "a forfeit that was none"),
    (lambda r: setattr(r.closed, "ending", 3),                 "scores",                 "called off, but with scores"),
    (lambda r: setattr(r.closed, "ending", 77),                "does not know",          "an ending that does not exist"),
    (lambda r: setattr(r.closed, "end_us", 1),                 "after the end",          "an end before the play"),
    (lambda r: setattr(r.revealed, "deal_key", bytes(32)),     "committed to",           "another key"),
    (lambda r: deal_with(r.all, bytes(32)),                    "follow from the seed",   "another key, committed to"),
    (lambda r: deal_with(r.all, seeded_key("other")),          "follow from the seed",   "another seed's key"),
    (lambda r: (deal_with(r.all, seeded_key("other")), setattr(r.revealed, "seed", "other")),
                                                               "scores",                       "another seed and its key"),
    (lambda r: setattr(r.revealed, "seed", "other"),           "follow from the seed",   "another seed"),
    (lambda r: setattr(r.opened.terms, "seeded", False),             "claims a fair deal",     "a seeded deal called fair"),
    (lambda r: setattr(r.opened.terms, "game", "abstrac_suit"),      "not a legal move",                       "another game of the family"),
    (lambda r: setattr(r.opened.terms.options[0], "number", 4),      "had still to act",       "more hands than were played"),
    (lambda r: setattr(r.opened.terms.time_control, "bank_ms", 9),   "bank",                   "another time control"),
    (lambda r: setattr(r.opened.terms, "fault_limit", 1),            "forfeit",                "another limit of faults"),
    (lambda r: setattr(r.faultless, "bank_ms", r.faultless.bank_ms + 1),
                                                               "in the bank",            "a millisecond in the bank"),
    (lambda r: setattr(r.faultless, "charged_us", 1_900_000),  "in the bank",            "a longer think"),
    (lambda r: setattr(r.faultless, "charged_us", 9_000_000),  "came late",              "a think beyond all time"),
    (lambda r: setattr(r.faultless, "decision", 77),           "is numbered 77",         "another number"),
    (lambda r: setattr(r.faultless, "fault", FaultKind.TIMEOUT), "before its time was up", "a time-out that was none"),
    (lambda r: setattr(r.faultless, "fault", FaultKind.ILLEGAL), "played for the bot",    "a fault that was none"),
    (lambda r: setattr(r.faultless, "fault", 99),              "does not exist",         "a fault that does not exist"),
    (lambda r: setattr(r.late, "fault", 0),                    "in the bank",              "a late answer that was taken"),
    (lambda r: setattr(r.late, "fault", FaultKind.ILLEGAL),    "in the bank",              "late, but called illegal"),
    (lambda r: setattr(r.faultless, "unasked", True),          "not asked for", "played without asking"),
    (lambda r: setattr(r.faultless, "forfeited", True),        "does not",               "a forfeit without faults"),
    (lambda r: r.all.pop(5),                                   "to make",                       "a decision left out"),
    (lambda r: r.all.insert(-2, r.all[-3]),                    "after the match was over", "a decision too many"),
    (lambda r: setattr(r.first, "seat", 1 - r.first.seat),     "to make",                "the other seat's decision"),
    (lambda r: setattr(r.first, "seat", 9),                    "to make",                "a seat that does not exist"),
]
# fmt: on


@pytest.mark.parametrize(("change", "said", "why"), LIES, ids=[row[2] for row in LIES])
def test_a_lie_with_fitting_checksums_is_found(change, said, why, path):
    replay = Replay.read(io.BytesIO(retold(path, lie(change))))  # the file itself is intact
    with pytest.raises((Discrepancy, Damaged), match=said):
        verify(replay)


@pytest.fixture(scope="module")
def unasked_path(tmp_path_factory):
    """A match in which seat 0 leaves at once, and seat 1 runs out of time."""
    folder = tmp_path_factory.mktemp("unasked")
    control = TimeControl(1000, 1000, 0, match_ms=3000)
    bots = [Bot(3, (LEAVE,)), Bot(4)]
    return record(folder, "abstrac", bots, {"hands": 2}, time_control=control)


def unasked(records, seat):
    return next(each for each in of_seat(records, seat) if each.unasked)


# fmt: off
UNASKED_LIES = [
    (lambda rs: setattr(unasked(rs, 1), "unasked", False), "no time left",       "asked without time"),
    (lambda rs: setattr(unasked(rs, 0), "unasked", False), "had forfeited",      "asked after it left"),
    (lambda rs: setattr(unasked(rs, 1), "fault", FaultKind.TIMEOUT), "has a fault", "late, but not asked"),
    (lambda rs: setattr(unasked(rs, 0), "fault", FaultKind.GONE), "already",     "gone a second time"),
    (lambda rs: setattr(unasked(rs, 0), "forfeited", False), "is not said to",   "back in the match"),
    (lambda rs: setattr(unasked(rs, 1), "charged_us", 5),  "cost time",          "charged, but not asked"),
    (lambda rs: setattr(rs[-2].closed, "ending", 1),       "ended as forfeit",   "a forfeit that is hidden"),
    (lambda rs: rs[-2].closed.places.reverse(),            "places",             "the one that left first"),
]
# fmt: on


@pytest.mark.parametrize(
    ("change", "said", "why"), UNASKED_LIES, ids=[row[2] for row in UNASKED_LIES]
)
def test_a_lie_about_seats_that_are_not_asked_is_found(change, said, why, unasked_path):
    assert verify(Replay.open(unasked_path))
    with pytest.raises(Discrepancy, match=said):
        verify(Replay.read(io.BytesIO(retold(unasked_path, change))))


def test_retelling_without_a_lie_changes_nothing(path):
    replay = Replay.read(io.BytesIO(retold(path, lie(lambda _: None))))
    assert verify(replay) == verify(Replay.open(path))


def test_a_bot_with_time_odds_has_its_share_of_the_clock_in_the_match_and_in_the_replay(tmp_path):
    odds, control = (("bot 1", 100),), TimeControl(move_ms=1_000, bank_ms=10_000)
    path = record(tmp_path, "abstrac", options={"hands": 2}, time_control=control, time_odds=odds)
    replay = Replay.open(path)
    verify(replay)
    assert replay.spec().terms.time_odds == odds
    banks = [
        max(decided.bank_ms for decided in replay.decided if decided.seat == seat)
        for seat in (0, 1)
    ]
    assert banks[0] > 5_000
    assert banks[1] <= 1_000
    without = retold(path, lambda records: records[0].opened.terms.ClearField("time_odds"))
    with pytest.raises(Discrepancy, match="of seat 1"):
        verify(Replay.read(io.BytesIO(without)))


# fmt: off
STRANGERS = [
    (lambda r: setattr(r.opened.terms, "rules_version", 99), "version 99 of the rules", "newer rules"),
    (lambda r: setattr(r.opened.terms, "game", "whist"),     "no game 'whist'",         "an unknown game"),
    (lambda r: r.opened.terms.options.add(name="odd"),       "options",                 "an option without value"),
    (lambda r: r.opened.terms.options.add(name="odd", number=1), "no option 'odd'",     "an unknown option"),
    (lambda r: r.opened.entrants.add(name="third"),    "seats",                   "a seat too many"),
    (lambda r: setattr(r.opened.terms.time_control, "move_ms", 0), "at least 1 ms",     "no time to move"),
    (lambda r: r.opened.forfeited_seats.add(seat=2, fault=1), "no seat of the match", "a forfeit of nobody"),
]
# fmt: on


@pytest.mark.parametrize(("change", "said", "why"), STRANGERS, ids=[row[2] for row in STRANGERS])
def test_an_unplayable_match_gives_the_reason(change, said, why, path):
    replay = Replay.read(io.BytesIO(retold(path, lie(change))))
    with pytest.raises(Unplayable, match=said):
        verify(replay)
