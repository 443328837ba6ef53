"""The checker is not blind: every invariant is broken on purpose, and each time it says so.

The evidence is real: a few matches on a server that was killed in their
middle. A row spoils a copy of it in one way.
"""

import asyncio
import copy

import pytest

from arena.records.records import JOURNAL_MAGIC, REPLAY_MAGIC, framed, read_records
from cardarena.v1 import deals_pb2, journal_pb2, play_pb2
from tests.chaos.checker import INVARIANTS, check, twins_differ
from tests.chaos.evidence import JournalTail
from tests.chaos.file_checks import nobody_blamed, unbalanced
from tests.chaos.history import Kind
from tests.chaos.processes import until
from tests.chaos.trial import Order, Trial
from tests.records.matches import retold

GAMES = ("sixty_six", "pineapple", "soko")
BEGUN = 8
"""Decisions of each match that are made when the server is killed."""


def all_are_in_play(trial):
    """Whether some of each match is written, and the end of none."""
    books = trial.tail.look().books.values()
    assert not any(book.closed for book in books), "the matches are too short"
    return len(books) == len(GAMES) and all(len(book.decided) >= BEGUN for book in books)


def all_are_told(trial):
    return all(len(bot.history.of_kind(Kind.ENDED)) == len(GAMES) for bot in trial.bots.values())


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """What was left of a trial in which all went well, though the server was killed."""

    async def play():
        async with Trial(folder=tmp_path_factory.mktemp("trial")) as trial:
            for name in ("ann", "bob"):
                trial.bot(name, think_s=0.02)
            await trial.all_welcome()
            for game in GAMES:
                await trial.order(Order(game, ("ann", "bob"), game, hands=6))
            await until(lambda: all_are_in_play(trial), "all matches to be in their middle")
            await trial.kill()
            await trial.restart()
            await trial.all_ended()
            await until(lambda: all_are_told(trial), "the bots to be told how the matches ended")
            return trial.case()

    return asyncio.run(play())


@pytest.fixture
def spoilt(case):
    """A copy of the evidence, to be spoilt."""
    return copy.deepcopy(case)


def book_of(case, game):
    (found,) = [book for book in case.books.values() if book.opened.terms.game == game]
    return found


def entries(case, kind, bot=0):
    return case.histories[bot].of_kind(kind)


def told_again(entry, message, change):
    """An entry whose message says something else."""
    said = message.FromString(entry.body)
    change(said)
    entry.body = said.SerializeToString(deterministic=True)


@pytest.mark.slow
def test_the_evidence_is_sound_and_not_empty(case):
    assert check(case) == []
    assert [book.closed is not None for book in case.books.values()] == [True] * 3
    assert all(book.seated for book in case.books.values())
    ((generation, written),) = case.at_kill.items()
    assert generation == 1
    assert any(0 < decisions < 200 for decisions, _ in written.values())
    assert {entry.generation for entry in entries(case, Kind.ASKED)} == {1, 2}
    assert len(entries(case, Kind.WELCOMED)) == 2


# The ways to spoil it. Each is told the evidence.


def a_decision_twice(case):
    decided = book_of(case, "pineapple").decided
    decided.insert(1, decided[0])


def a_decision_missing(case):
    del book_of(case, "sixty_six").decided[3]


def records_lost_after_a_kill(case):
    book = book_of(case, "sixty_six")
    case.at_kill[1][book.opened.match_id] = (len(book.decided) + 1, False)


def a_match_the_journal_never_knew(case):
    case.promised["0123"] = "a match"


def a_match_that_stands_still(case):
    book = book_of(case, "pineapple")
    book.closed = None


def a_match_that_was_aborted(case):
    book_of(case, "pineapple").closed.ending = 3


def a_replay_that_is_missing(case):
    case.replays.pop(book_of(case, "pineapple").opened.match_id)


def a_replay_with_another_score(case):
    match_id = book_of(case, "pineapple").opened.match_id
    path = case.replays[match_id]

    def change(records):
        (closed,) = [each.closed for each in records if each.HasField("closed")]
        closed.scores[0] += 1

    case.replays[match_id] = path.with_suffix(".spoilt")
    case.replays[match_id].write_bytes(retold(path, change))


def a_replay_of_another_match(case):
    ids = list(case.books)
    case.replays[ids[0]] = case.replays[ids[1]]


def an_ask_with_a_move_less(case):
    entry = entries(case, Kind.ASKED)[2]
    told_again(entry, play_pb2.Ask, lambda ask: getattr(ask, ask.WhichOneof("game")).moves.pop())


def an_ask_told_otherwise_the_second_time(case):
    entry = copy.deepcopy(entries(case, Kind.ASKED)[2])
    told_again(entry, play_pb2.Ask, lambda ask: ask.played_for.add())
    case.histories[0].entries.append(entry)


def an_ask_of_another_match_by_its_id(case):
    entries(case, Kind.ASKED)[2].ask_id += 7 << 20


def an_ask_beyond_the_end(case):
    entries(case, Kind.ASKED)[2].ask_id += 999


def an_ask_told_before_its_past_was_written(case):
    entry = max(
        (each for each in entries(case, Kind.ASKED) if each.generation == 1),
        key=lambda each: each.ask_id & 0xFFFFF,
    )
    (match_id,) = [
        match_id for match_id, book in case.books.items() if book.seated["ann", 0] == entry.match
    ]
    case.at_kill[1][match_id] = (0, False)


def an_end_told_before_it_was_written(case):
    ended = entries(case, Kind.ENDED)[0]
    ended.generation = 1
    match_id = play_pb2.MatchEnd.FromString(ended.body).replay_id
    case.at_kill[1][match_id] = (case.at_kill[1][match_id][0], False)


def a_number_of_a_match_that_never_was(case):
    entry = copy.deepcopy(entries(case, Kind.SEATED)[0])
    told_again(entry, play_pb2.MatchStart, lambda start: setattr(start, "match", 99))
    case.histories[0].entries.append(entry)


def a_number_used_twice(case):
    entry = copy.deepcopy(entries(case, Kind.SEATED)[0])
    told_again(entry, play_pb2.MatchStart, lambda start: setattr(start.terms, "game", "jam"))
    case.histories[0].entries.append(entry)


def a_move_that_the_bot_did_not_make(case):
    entry = entries(case, Kind.ANSWERED)[0]
    told_again(entry, play_pb2.Answer, lambda answer: setattr(answer, "index", 10_000))


def a_move_that_was_never_said(case):
    gone = {each.ask_id for each in entries(case, Kind.ANSWERED)[:1]}
    history = case.histories[0]
    history.entries = [
        each
        for each in history.entries
        if each.kind is not Kind.ANSWERED or each.ask_id not in gone
    ]


def an_end_with_another_score(case):
    def change(end):
        end.scores[0] += 1

    told_again(entries(case, Kind.ENDED)[0], play_pb2.MatchEnd, change)


def an_end_with_an_event_less(case):
    for entry in entries(case, Kind.ENDED):
        told_again(entry, play_pb2.MatchEnd, lambda end: end.trailing_events.pop())


def an_end_of_a_match_that_goes_on(case):
    book_of(case, "soko").closed = None


def a_bot_that_is_blamed(case):
    book_of(case, "pineapple").decided[0].fault = 1


def public_log(case, *said):
    path = next(iter(case.replays.values())).with_name("log")
    bodies = [framed(deals_pb2.LogEntry(**each).SerializeToString()) for each in said]
    path.write_bytes(b"cardarena commitments 1\n" + b"".join(bodies))
    case.commitments = path


def a_commitment_that_is_never_opened(case):
    public_log(case, {"committed": deals_pb2.LogCommitted(context=b"c")})


def an_opening_without_a_commitment(case):
    public_log(case, {"opened": deals_pb2.LogOpened(context=b"c")})


def a_public_log_that_is_torn(case):
    public_log(case, {"committed": deals_pb2.LogCommitted(context=b"c")})
    case.commitments.write_bytes(case.commitments.read_bytes()[:-1])


# fmt: off
PLANTED = [
    (a_decision_twice,                         "one action per decision"),
    (a_decision_missing,                       "one action per decision"),
    (a_decision_missing,                       "an acknowledged move is in the journal, once"),
    (records_lost_after_a_kill,                "the journal only grows"),
    (a_match_the_journal_never_knew,           "every match ends rightly"),
    (a_match_that_stands_still,                "every match ends rightly"),
    (a_match_that_was_aborted,                 "every match ends rightly"),
    (a_replay_that_is_missing,                 "results follow from the journal"),
    (a_replay_with_another_score,              "results follow from the journal"),
    (a_replay_of_another_match,                "results follow from the journal"),
    (an_ask_with_a_move_less,                  "a bot's view is a prefix of its final view"),
    (an_ask_told_otherwise_the_second_time,    "a bot's view is a prefix of its final view"),
    (an_ask_of_another_match_by_its_id,        "a bot's view is a prefix of its final view"),
    (an_ask_beyond_the_end,                    "a bot's view is a prefix of its final view"),
    (an_ask_told_before_its_past_was_written,  "nothing is told before it is written"),
    (an_end_told_before_it_was_written,        "nothing is told before it is written"),
    (a_number_of_a_match_that_never_was,       "a match keeps its number on a bot's streams"),
    (a_number_used_twice,                      "a match keeps its number on a bot's streams"),
    (a_move_that_the_bot_did_not_make,         "an acknowledged move is in the journal, once"),
    (a_move_that_was_never_said,               "an acknowledged move is in the journal, once"),
    (an_end_with_another_score,                "a result that was told is the one on disk"),
    (an_end_with_an_event_less,                "a result that was told is the one on disk"),
    (an_end_of_a_match_that_goes_on,           "a result that was told is the one on disk"),
    (a_bot_that_is_blamed,                     "nobody is blamed who did no wrong"),
    (a_commitment_that_is_never_opened,        "every commitment has an opening or a void record"),
    (an_opening_without_a_commitment,          "every commitment has an opening or a void record"),
    (a_public_log_that_is_torn,                "every commitment has an opening or a void record"),
]
# fmt: on


@pytest.mark.parametrize(
    ("spoil", "invariant"), PLANTED, ids=[f"{row[0].__name__}: {row[1]}" for row in PLANTED]
)
def test_a_planted_violation_is_found(spoilt, spoil, invariant):
    spoil(spoilt)
    (checked,) = [each for each in INVARIANTS if each.invariant == invariant]
    assert checked(spoilt)


def test_every_invariant_has_a_planted_violation():
    planted = {invariant for _, invariant in PLANTED}
    conserved = {"points are conserved"}  # below: no file says that which is also a true replay
    assert planted | conserved == {invariant.invariant for invariant in INVARIANTS}


def test_a_bot_that_may_be_blamed_may_be_blamed(spoilt):
    a_bot_that_is_blamed(spoilt)
    spoilt.may_fault = frozenset({"ann", "bob"})
    assert nobody_blamed(spoilt) == []


class Outcome:
    """A result as `verify` gives it."""

    def __init__(self, scores, hand_scores):
        self.scores, self.hand_scores = scores, hand_scores


# fmt: off
BALANCES = [
    ("soko",      (3, -3), ((3, -3),),          0, "what one wins the other loses"),
    ("soko",      (3, -2), ((3, -2),),          1, "a chip from nowhere"),
    ("democracy", (5, 3),  ((2, 2), (3, 1)),    0, "no sum is promised"),
    ("democracy", (5, 3),  ((2, 2), (2, 1)),    1, "the hands do not add up"),
]
# fmt: on


@pytest.mark.parametrize(
    ("game", "scores", "hands", "found", "why"), BALANCES, ids=[row[-1] for row in BALANCES]
)
def test_points_are_added_up(game, scores, hands, found, why):
    assert len(list(unbalanced("m", game, Outcome(scores, hands)))) == found


# Twins.


def other_moves(book):
    book.decided[0].move.Clear()


def other_scores(book):
    book.closed.scores[0] += 1


def no_end(book):
    book.closed = None


@pytest.mark.parametrize("spoil", [other_moves, other_scores, no_end])
def test_a_match_that_is_not_as_its_twin_is_found(case, spoilt, spoil):
    assert twins_differ(spoilt.books, case.books) == []
    spoil(book_of(spoilt, "pineapple"))
    (violation,) = twins_differ(spoilt.books, case.books)
    assert book_of(case, "pineapple").opened.match_id in violation.where


# Reading a journal that is being written, or is not well.


class Segment:
    """A journal's file, written by hand."""

    def __init__(self, folder, run):
        self.path = folder / f"{run}-000001.journal"
        self.path.write_bytes(JOURNAL_MAGIC)
        self.whole = []

    def append(self, body):
        self.whole.append(body)
        with self.path.open("ab") as file:
            file.write(framed(body))


@pytest.fixture
def bodies(case):
    """The records of one match, from its opening to its closing."""
    path = case.replays[book_of(case, "pineapple").opened.match_id]
    with path.open("rb") as file:
        found = [record.body for record in read_records(file, REPLAY_MAGIC)]
    kinds = [journal_pb2.Record.FromString(body).WhichOneof("body") for body in found]
    return found[: kinds.index("closed") + 1]


def decided_in(tail):
    return [len(book.decided) for book in tail.books.values()]


def test_a_record_is_read_once_it_is_whole(tmp_path, bodies):
    segment, tail = Segment(tmp_path, "1"), JournalTail(tmp_path)
    segment.append(bodies[0])
    assert decided_in(tail.look()) == [0]
    whole = framed(bodies[1])
    with segment.path.open("ab") as file:
        file.write(whole[:7])
    assert decided_in(tail.look()) == [0]
    with segment.path.open("ab") as file:
        file.write(whole[7:])
    assert decided_in(tail.look()) == [1]


def test_a_match_that_goes_on_in_another_run_is_one_match(tmp_path, bodies):
    first, tail = Segment(tmp_path, "1"), JournalTail(tmp_path)
    for body in bodies[:3]:
        first.append(body)
    assert decided_in(tail.look()) == [2]
    second = Segment(tmp_path, "2")
    for body in bodies:
        second.append(body)
    (book,) = tail.look().books.values()
    assert book.changed == []
    assert len(book.decided) == len(bodies) - 2
    assert book.closed is not None


def test_a_run_that_tells_the_past_otherwise_is_found(tmp_path, bodies):
    first, second = Segment(tmp_path, "1"), Segment(tmp_path, "2")
    for body in bodies[:3]:
        first.append(body)
    for body in (bodies[0], bodies[2], bodies[1]):
        second.append(body)
    (book,) = JournalTail(tmp_path).look().books.values()
    assert len(book.changed) == 2


def test_a_match_that_no_run_opened_is_found(tmp_path, bodies):
    Segment(tmp_path, "1").append(bodies[1])
    assert "which it never opened" in JournalTail(tmp_path).look().strange[0]


def test_what_is_not_a_journal_is_found(tmp_path):
    (tmp_path / "1-000001.journal").write_bytes(b"x" * 100)
    assert "is not a journal" in JournalTail(tmp_path).look().strange[0]


def test_the_books_are_those_of_the_writer(tmp_path):
    """What `MatchLog` writes is what is read: sessions and runs in between are passed over."""
    segment = Segment(tmp_path, "1")
    session = journal_pb2.SessionKept(bot="ann", epoch=1)
    segment.append(journal_pb2.Record(session=session).SerializeToString())
    segment.append(journal_pb2.Record(run=journal_pb2.Run()).SerializeToString())
    tail = JournalTail(tmp_path).look()
    assert (tail.books, tail.strange) == ({}, [])
