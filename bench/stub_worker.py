"""The program of a worker that plays nothing: it reports copies of one match, with other scores.

`bench/scheduling.py` has an arena start it in place of its own, so that the arena's part of a deal-set is what is
measured. The environment variable `STUB_REPLAY` names the replay that is copied. A report has the size of a real one.
"""

import hashlib
import os
import queue
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import grpc

from arena.app.worker import local_address
from arena.contests.workers.messages import report_parts
from arena.contests.workers.player import COUNT_S, LOOK_S
from arena.contests.workers.processes import Activity
from arena.live.matches.recording import PlayedMatch
from arena.live.orders import DealSetOrder, TableOrder, order_of_message
from arena.records.deal_book import seeded_opening
from arena.records.journal.match_log import SeatedAt
from arena.records.records import REPLAY_MAGIC, read_records
from arena.referee.wire.terms import terms_message
from arena.results.deal_sets import MatchOutcome
from arena.store.data_folder import arena_version
from cardarena.v1 import journal_pb2, work_pb2, work_pb2_grpc

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


def main() -> None:
    """Report each deal-set that the arena assigns, until it ends the call."""
    records = _bodies(Path(os.environ[REPLAY_VARIABLE]))
    token = sys.stdin.readline().strip()
    data = Path(sys.argv[sys.argv.index("--cache") + 1])
    requests: queue.SimpleQueue[work_pb2.WorkRequest] = queue.SimpleQueue()

    def say(**body: object) -> None:
        requests.put(work_pb2.WorkRequest(**body))  # type: ignore[arg-type]

    say(ready=work_pb2.WorkerReady(pid=os.getpid(), engine=arena_version()))
    for _ in range(AHEAD):
        say(takes=work_pb2.WorkerTakes())
    decisions, counted_s, shown_s = 0, time.monotonic(), 0.0
    with grpc.insecure_channel(local_address(data)) as channel:
        stub, metadata = (
            work_pb2_grpc.WorkServiceStub(channel),
            (("authorization", f"Bearer {token}"),),
        )
        for message in stub.Work(iter(requests.get, None), metadata=metadata):
            if time.monotonic() > shown_s + LOOK_S:
                shown_s = time.monotonic()
                sys.stdout.buffer.write(Activity.PLAYS)
                sys.stdout.flush()
            if not message.HasField("assignment"):
                continue
            order = order_of_message(message.assignment.order)
            wanted = [
                table for table in order.tables if table.match_id in message.assignment.matches
            ]
            matches = [_played(order, table, records) for table in wanted]
            decisions += sum(match.outcome.decisions for match in matches)
            for part in report_parts(matches):
                say(begin=message.begin, report=part)
            say(takes=work_pb2.WorkerTakes())
            if time.monotonic() > counted_s + COUNT_S:
                counted_s = time.monotonic()
                say(counts=work_pb2.WorkerCounts(decisions=decisions))


def _bodies(replay: Path) -> tuple[bytes, ...]:
    """Return the records of a match, up to its end."""
    with replay.open("rb") as file:
        bodies = [record.body for record in read_records(file, REPLAY_MAGIC)]
    at = next(
        at
        for at, body in enumerate(bodies)
        if journal_pb2.Record.FromString(body).HasField("closed")
    )
    return tuple(bodies[: at + 1])


def _played(order: DealSetOrder, table: TableOrder, records: Sequence[bytes]) -> PlayedMatch:
    """Return a copy of the match at a table of the order, with scores that follow from its id."""
    first, last = (journal_pb2.Record.FromString(records[at]) for at in (0, -1))
    names = [bot.name for bot in table.bots]
    first.opened.match_id = table.match_id
    first.opened.terms.CopyFrom(terms_message(order.terms))
    for entrant, name in zip(first.opened.entrants, names, strict=True):
        entrant.name, entrant.version = name, ""
    first.opened.deal_set = order.deal_set
    first.opened.deal_key_sha256 = hashlib.sha256(seeded_opening(order.seed).key).digest()
    outcome = outcome_of(table.match_id, names, decisions=len(records) - 2)
    last.closed.scores[:], last.closed.places[:] = map(int, outcome.scores), outcome.places
    # The arena computes the hash chain of a local worker's match anew.
    bodies = (first.SerializeToString(), *records[1:-1], last.SerializeToString())
    return PlayedMatch(outcome, bodies, [SeatedAt(name, 1, 1) for name in names])


def outcome_of(match_id: str, bots: Sequence[str], *, decisions: int) -> MatchOutcome:
    """Return a result that follows from the match's id. Bots with higher numbers in their names score more."""
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
