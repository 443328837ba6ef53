"""An arena in memory that lives, ends where it stands, and lives again in the same folder."""

import contextlib

import pytest
import trio
from trio.testing import MockClock

from arena.bots.tokens import Tokens
from arena.durable_files import Unwritten
from arena.live.arena import Arena
from arena.live.event_buffers import EventBuffers
from arena.live.matches.results import ArenaRecords
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import recover
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import InlineSteps
from arena.testing.results import MemoryResults
from cardarena.v1 import play_pb2
from tests.live.cuts import EVERY_GAME, chooses


@contextlib.contextmanager
def goes_on():
    """Fail if an error leaves the block, as it would end the arena; a journal that fails may."""
    try:
        yield
    except Unwritten:
        raise
    except Exception as error:
        if isinstance(error, ExceptionGroup) and error.subgroup(Unwritten):
            raise
        pytest.fail(f"an error ends the arena: {error!r}")


@contextlib.asynccontextmanager
async def arena_in(
    folder, results=None, admission=None, *, signer=None, open_hands=False, recorder=None
):
    """An arena that goes on with what is in the folder; at the end it stops where it stands."""
    replays = folder / "replays"
    replays.mkdir(exist_ok=True)
    with DealLog(folder / "journal", public=folder / "commitments") as log:
        recovery = recover(folder / "journal", replays, is_secret=lambda _: True)
        with Journal(folder / "journal", matches=recovery.matches) as journal:
            arena = Arena(
                ArenaRecords(
                    journal, log, replays, results or MemoryResults(), recovery, "arena", signer
                ),
                Tokens(guests=True),
                admission=admission,
                recorder=recorder,
                spectators=EventBuffers(open_hands=open_hands),
            )
            arena.matches.referee._workers = InlineSteps()
            async with trio.open_nursery() as nursery:
                await nursery.start(arena.run)
                yield arena, nursery
                nursery.cancel_scope.cancel()


def says_hello(arena, bot, max_matches=8, token=""):
    """A stream of a bot that has said hello, as a guest unless it has a token."""
    line = MemoryOutbox()
    hello = play_pb2.Hello(
        token=token or f"guest:{bot.name}", games=EVERY_GAME, max_matches=max_matches
    )
    arena.hello(hello, line)
    return line


async def plays(arena, bot, max_matches=8, token=""):
    """Answer every ask of a bot at once, until cancelled."""
    line = says_hello(arena, bot, max_matches, token)
    session = arena.sessions.get(bot)
    while True:
        for data in line.take_frames():
            message = play_pb2.ArenaMessage.FromString(data)
            asks = [*message.asks.asks, *message.welcome.open_asks]
            if asks:
                answers = play_pb2.Answers(answers=[chooses(ask) for ask in asks])
                said = play_pb2.BotMessage(answers=answers).SerializeToString()
                session.incoming.deliver(line, said, trio.current_time())
        await trio.sleep(0.01)


def run(main):
    """Run a life, or several, on a mock clock."""

    async def bounded():
        with trio.fail_after(20_000):
            return await main()

    return trio.run(bounded, clock=MockClock(autojump_threshold=0))
