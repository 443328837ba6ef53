"""Whole matches in a moment: the real referee on a mock clock, bots in memory."""

import hashlib
import io
import itertools
import random
from dataclasses import dataclass

import trio
from trio.testing import MockClock

from arena.games.catalogue import game_by_id
from arena.games.contract import Seat
from arena.records.deal_book import Opening
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.match_log import MatchLog
from arena.records.notes_file import notes_of
from arena.records.read import Replay
from arena.records.records import (
    CHAIN_START,
    REPLAY_MAGIC,
    Damaged,
    chained,
    framed,
    read_records,
)
from arena.records.write import write_replay
from arena.referee.deal import KeyedDeals, seeded_key
from arena.referee.referee import Referee
from arena.referee.seat import Answer
from arena.referee.spec import MatchSpec, Outcome, SeatedBot
from arena.referee.terms import MatchTerms, TimeControl
from arena.testing.referee import InlineSteps
from cardarena.v1 import game_pb2, journal_pb2

# What a bot does when it is asked.
PLAY, LATE, ILLEGAL, MALFORMED, LEAVE, FAIL = (
    "play",
    "late",
    "illegal",
    "malformed",
    "leave",
    "fail",
)


class Bot:
    """A seat's bot: plays at random, and misbehaves where its script says so."""

    connected = True

    def __init__(self, seed, script=(), note=""):
        self.gone = False
        self.nursery = None
        self.note = note
        self.random = random.Random(seed)
        self.script = itertools.chain(script, itertools.repeat(PLAY))

    def ask(self, ask):
        self.nursery.start_soon(self._answer, ask)

    async def _answer(self, ask):
        ask.sent(trio.current_time())
        deed = next(self.script)
        if deed == LATE:
            return
        await trio.sleep(self.random.uniform(0.001, 1.5))
        if deed == LEAVE:
            self.gone = True
            ask.abandoned()
            return
        index = self.random.randrange(len(ask.moves.offered))
        answer = {
            PLAY: Answer(index=index, note=self.note),
            ILLEGAL: Answer(index=999),
            MALFORMED: Answer(move=game_pb2.GameMove()),
            FAIL: Answer(failed=True, note=self.note),
        }[deed]
        ask.answered(answer, trio.current_time())

    def sit(self, presence):
        pass

    def asked_before(self, decision, choices):
        pass

    def close(self, ask, fault, reason):
        pass

    def end(self, outcome, trailing_events):
        pass


class SlowToChoose(Bot):
    """Thinks long in one phase of the game."""

    def ask(self, ask):
        wait_s = 0.02 if type(ask.moves.offered[0]).__name__ == "Take" else 1.2
        self.random.uniform = lambda *_: wait_s
        super().ask(ask)


@dataclass
class Played:
    """A match that was played: its records, what opens its deals, and its outcome."""

    match_id: str
    log: MatchLog
    opening: Opening
    outcome: Outcome | None = None


def spec_of(game_id, seats, options, *, match_id, seeded, key, **extra):
    game = game_by_id(game_id)
    publishing = extra.pop("publishing", ())
    kept = ("fault_limit", "away_limit_ms", "time_odds")
    limits = {name: extra.pop(name) for name in kept if name in extra}
    return MatchSpec(
        match_id=match_id,
        terms=MatchTerms(
            game,
            game.options(options, seats),
            seats,
            extra.pop("time_control", TimeControl(1000, 2000, 100)),
            seeded=seeded,
            **limits,
        ),
        entrants=tuple(
            SeatedBot(f"bot {seat}", "1.0", seat in publishing) for seat in range(seats)
        ),
        deals=KeyedDeals(key),
        deal_key_sha256=hashlib.sha256(key).digest(),
        **extra,
    )


def play(
    journal,
    game_id="abstrac",
    bots=None,
    options=None,
    *,
    match_id="m1",
    seed="a seed",
    stop_after_s=float("inf"),
    **extra,
):
    """Play a match into a journal; it is aborted after some time."""
    bots = bots or [Bot(1), Bot(2)]
    options = options or {"hands": len(bots)}
    key = seeded_key(seed) if seed else bytes(range(32))
    spec = spec_of(
        game_id, len(bots), options, match_id=match_id, seeded=bool(seed), key=key, **extra
    )
    with DealLog(journal.folder, public=journal.folder / "commitments") as deals:
        deals.seeded(key, seed)
    played = Played(match_id, journal.match(spec), Opening(key, seed))

    async def main():
        async def synced():
            journal.flush()

        referee = Referee(synced, InlineSteps())
        async with trio.open_nursery() as nursery:
            for bot in bots:
                bot.nursery = nursery
            await nursery.start(referee.run)
            nursery.start_soon(stop_later, referee)
            played.outcome = await referee.play(spec, bots, played.log)
            nursery.cancel_scope.cancel()

    async def stop_later(referee):
        await trio.sleep(stop_after_s)
        referee.runners[match_id].abort()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    return played


def record(folder, *args, **kwargs):
    """Play a match and cut its replay; the path of the replay."""
    with Journal(folder / "journal") as journal:
        played = play(journal, *args, **kwargs)
    return cut(folder, played)


def cut(folder, played):
    log = played.log
    return write_replay(folder / "replays", played.match_id, log.bodies, played.opening)


def noted(folder, replay, seat):
    """What the bot at a seat noted, by decision, as the notes file beside the replays has it."""
    return notes_of(folder / "replays" / "m1.replay", replay, Seat(seat))


def read(data):
    return Replay.read(io.BytesIO(data))


def bodies_of(path):
    """The encoded records of a replay."""
    with path.open("rb") as file:
        return [each.body for each in read_records(file, REPLAY_MAGIC)]


def fitting(bodies):
    """A replay of these records as they are, with checksums, and the hash chain within `closed`, made to fit."""
    chain, pieces = CHAIN_START, [REPLAY_MAGIC]
    for body in bodies:
        record = journal_pb2.Record.FromString(body)
        if record.HasField("closed"):
            record.closed.chain = chain
        fits = record.SerializeToString() if record.HasField("closed") else body
        chain = chained(chain, fits)
        pieces.append(framed(fits))
    return b"".join(pieces)


def retold(path, change):
    """The replay with its records changed, and checksums and hash chain made to fit again.

    `change` gets the list of records, the first `opened`, the last two `closed`
    and `revealed`.
    """
    records = [journal_pb2.Record.FromString(body) for body in bodies_of(path)]
    change(records)
    return fitting([record.SerializeToString() for record in records])


def unnoticed_cuts(intact, read):
    """The sizes to which the bytes of a file can be cut so that `read` sees no damage."""
    unnoticed = []
    for size in range(len(intact)):
        try:
            read(intact[:size])
        except Damaged:
            continue
        unnoticed.append(size)
    return unnoticed
