"""The program of a worker that plays nothing: it reports copies of one match, with other scores.

`bench/scheduling.py` has an arena start it in place of its own, so that the arena's part of a deal-set is what is
measured. The environment variable `STUB_REPLAY` names the replay that is copied. A report has the size of a real one.
"""

import hashlib
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from arena.replay.deal_book import seeded_opening
from arena.replay.journal.match_log import SeatedAt, renumbered
from arena.replay.records import REPLAY_MAGIC, read_records
from arena.schedule.deal_sets import MatchOutcome
from arena.server.data_folder import arena_version
from arena.server.matches.recording import PlayedMatch
from arena.server.orders import DealSetOrder, TableOrder, order_of_message
from arena.server.workers.messages import FrameReader, frame, match_message
from arena.wire.terms import terms_message
from cardarena.v1 import journal_pb2, work_pb2

REPLAY_VARIABLE: Final = "STUB_REPLAY"
HANDS: Final = 12
"""Hands of the match that is copied."""
AHEAD: Final = 32
"""Deal-sets that it asks for at a time."""
SPREAD: Final = 6.0
"""Standard deviation of a score."""
MOST: Final = 3 * HANDS // 2
"""Largest score: a hand of Sixty-Six has three game points at most, and margins are differences of scores."""
STEP: Final = 0.05
"""Difference in mean score between bots with consecutive names."""
_CHUNK_BYTES: Final = 65_536


def main() -> None:
    """Report each deal-set that is assigned by standard input, until it ends."""
    records = _bodies(Path(os.environ[REPLAY_VARIABLE]))
    answers, asks = sys.stdout.buffer, sys.stdin.buffer
    _say(answers, ready=work_pb2.WorkerReady(pid=os.getpid(), engine=arena_version()))
    for _ in range(AHEAD):
        _say(answers, takes=work_pb2.WorkerTakes())
    decisions = 0
    for message in _messages(asks):
        if not message.HasField("assignment"):
            continue
        order = order_of_message(message.assignment.order)
        wanted = [each for each in order.tables if each.match_id in message.assignment.matches]
        matches = [match_message(_played(order, each, records)) for each in wanted]
        decisions += sum(each.decisions for each in matches)
        _say(answers, begin=message.begin, report=work_pb2.WorkReport(matches=matches))
        _say(answers, takes=work_pb2.WorkerTakes())
        _say(answers, counts=work_pb2.WorkerCounts(decisions=decisions))


def _say(answers: BinaryIO, **body: object) -> None:
    answers.write(frame(work_pb2.FromWorker(**body)))  # type: ignore[arg-type]
    answers.flush()


def _messages(asks: BinaryIO) -> Iterator[work_pb2.ToWorker]:
    frames = FrameReader()
    while data := asks.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
        frames.feed(data)
        while (body := frames.next()) is not None:
            yield work_pb2.ToWorker.FromString(body)


def _bodies(replay: Path) -> tuple[bytes, ...]:
    """The records of a match, up to its end."""
    with replay.open("rb") as file:
        bodies = [each.body for each in read_records(file, REPLAY_MAGIC)]
    at = next(
        at
        for at, body in enumerate(bodies)
        if journal_pb2.Record.FromString(body).HasField("closed")
    )
    return tuple(bodies[: at + 1])


def _played(order: DealSetOrder, table: TableOrder, records: Sequence[bytes]) -> PlayedMatch:
    """A copy of the match at a table of the order, with scores that follow from its id."""
    first, last = (journal_pb2.Record.FromString(records[at]) for at in (0, -1))
    names = [bot.name for bot in table.bots]
    first.opened.match_id = table.match_id
    first.opened.terms.CopyFrom(terms_message(order.terms))
    for entrant, name in zip(first.opened.entrants, names, strict=True):
        entrant.name, entrant.version = name, ""
    first.opened.deal_set = order.deal_set
    first.opened.deal_key_sha256 = hashlib.sha256(seeded_opening(order.seed).key).digest()
    found = outcome_of(table.match_id, names, decisions=len(records) - 2)
    last.closed.scores[:], last.closed.places[:] = map(int, found.scores), found.places
    bodies = (first.SerializeToString(), *records[1:-1], last.SerializeToString())
    seated = [SeatedAt(name, 1, 1) for name in names]
    return PlayedMatch(found, renumbered(bodies, first.match), seated)


def outcome_of(match_id: str, bots: Sequence[str], *, decisions: int) -> MatchOutcome:
    """A result that follows from the match's id. Bots with higher numbers in their names score more."""
    mean = STEP * (_number(bots[0]) - _number(bots[1]))
    drawn = random.Random(match_id).gauss(mean, SPREAD)
    score = max(-MOST, min(MOST, round(drawn)))
    return MatchOutcome(
        match_id,
        (score, -score),
        (1, 1) if score == 0 else (1, 2) if score > 0 else (2, 1),
        "completed",
        ({}, {}),
        (False, False),
        (0.0, 0.0),
        HANDS,
        decisions,
    )


def _number(name: str) -> int:
    return int(name.removeprefix("bot"))


if __name__ == "__main__":
    main()
