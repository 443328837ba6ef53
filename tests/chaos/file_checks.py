"""Invariants of the arena's files: journal, replays and the public log of deals."""

from collections import defaultdict

from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged, read_records
from arena.records.verify import verify
from arena.referee.spec import Ending, FaultKind
from cardarena.v1 import deals_pb2
from tests.chaos.case import invariant

ZERO_SUM = (
    "chinese_poker",
    "crazy_pineapple",
    "crazy_pineapple_hi_lo",
    "open_face_chinese_poker",
    "pineapple",
    "soko",
)
"""What one wins here, others lose."""


@invariant("one action per decision")
def one_action(case):
    for match_id, book in case.books.items():
        counts = defaultdict(int)
        for decided in book.decided:
            counts[decided.seat] += 1
            if decided.decision != counts[decided.seat]:
                yield (
                    f"match {match_id}: seat {decided.seat} has decision {decided.decision} "
                    f"where its number {counts[decided.seat]} is due"
                )
                break


@invariant("the journal only grows")
def only_grows(case):
    yield from case.strange
    for match_id, book in case.books.items():
        yield from (f"match {match_id}: {change}" for change in book.changed)
    for generation, written in case.at_kill.items():
        for match_id, (decisions, closed) in written.items():
            book = case.books.get(match_id)
            if book is None or len(book.decided) < decisions or (closed and not book.closed):
                yield f"match {match_id} lost records that life {generation} had written"


@invariant("every match ends rightly")
def matches_end(case):
    for match_id, name in case.promised.items():
        if match_id in case.unfinished:
            continue
        book = case.books.get(match_id)
        if book is None:
            yield f"{name}: the lobby made it, and the journal does not know it"
        elif book.closed is None:
            yield f"{name}: it has not ended after {len(book.decided)} decisions"
        elif book.closed.ending == Ending.ABORTED:
            yield f"{name}: it was aborted after {len(book.decided)} decisions"


@invariant("nobody is blamed who did no wrong")
def nobody_blamed(case):
    for match_id, book in case.books.items():
        for decided in book.decided:
            name = book.opened.entrants[decided.seat].name
            if decided.fault and name not in case.may_fault:
                kind = FaultKind(decided.fault).name
                yield (
                    f"match {match_id}: {name} is blamed ({kind}: {decided.reason}) at its "
                    f"decision {decided.decision}"
                )


@invariant("results follow from the journal")
def results_follow(case):
    for match_id, book in case.books.items():
        if book.closed is None or book.closed.ending == Ending.ABORTED:
            continue
        path = case.replays.get(match_id)
        if path is None:
            yield f"match {match_id} has ended and has no replay"
            continue
        try:
            replay = Replay.open(path)
            verify(replay)
        except (Damaged, Discrepancy, Unplayable) as error:
            yield f"match {match_id}: {error}"
            continue
        if list(replay.decided) != book.decided or replay.closed != book.closed:
            yield f"match {match_id}: the replay is not what the journal holds"
    for match_id in case.replays.keys() - case.books.keys():
        yield f"match {match_id} has a replay and is not in the journal"


@invariant("points are conserved")
def points_conserved(case):
    for match_id, path in case.replays.items():
        try:
            replay = Replay.open(path)
            outcome = verify(replay).outcome
        except (Damaged, Discrepancy, Unplayable):
            continue  # which `results_follow` tells
        yield from unbalanced(match_id, replay.opened.terms.game, outcome)


def unbalanced(match_id, game, outcome):
    """Where the points of a match do not add up."""
    if game in ZERO_SUM and sum(outcome.scores) != 0:
        yield f"match {match_id}: the scores {outcome.scores} of {game} do not sum to zero"
    by_hand = tuple(map(sum, zip(*outcome.hand_scores, strict=True)))
    if outcome.hand_scores and by_hand != outcome.scores:
        yield f"match {match_id}: the hands sum to {by_hand}, the scores are {outcome.scores}"


@invariant("every commitment has an opening or a void record")
def commitments_are_opened(case):
    if case.commitments is None or not case.commitments.exists():
        return
    waiting = {}
    try:
        with case.commitments.open("rb") as file:
            magic = file.readline()
            file.seek(0)
            for record in read_records(file, magic):
                entry = deals_pb2.LogEntry.FromString(record.body)
                if entry.HasField("committed"):
                    waiting[entry.committed.context] = entry
                elif waiting.pop(entry.opened.context, None) is None:
                    yield f"deal-set {entry.opened.context.hex()[:12]} was opened unannounced"
    except Damaged as error:
        yield f"the public log: {error}"
    live = {
        book.opened.deal_key_sha256: book for book in case.books.values() if book.closed is None
    }
    if waiting and not live:
        for context in waiting:
            yield f"deal-set {context.hex()[:12]} was committed to and never opened or voided"
