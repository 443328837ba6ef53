"""One trial: an arena, bots, the matches between them, and the verdict on all of it."""

import asyncio
import contextlib
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import grpc

from arena.referee.deal import seeded_key
from arena.testing.orders import match_request
from cardarena.v1 import lobby_pb2_grpc
from tests.chaos.case import Case
from tests.chaos.checker import check
from tests.chaos.client import Bot
from tests.chaos.evidence import JournalTail
from tests.chaos.history import Kind
from tests.chaos.processes import PATIENCE_S, Server, until


@dataclass(frozen=True)
class Order:
    """A match that is to be played; `seed` names it."""

    game: str
    bots: tuple[str, ...]
    seed: str
    hands: int = 0
    """0 is as many as there are seats."""
    move_ms: int = 60_000
    """Nobody who is there at all runs out of this, unless it is set lower."""
    bank_ms: int = 600_000

    def request(self):
        hands = self.hands or len(self.bots)
        return match_request(
            self.game,
            self.bots,
            {"hands": hands},
            seed=self.seed,
            time_control={"move_ms": self.move_ms, "bank_ms": self.bank_ms},
        )


class Trial:
    """An arena under test with its bots. Use as an asynchronous context."""

    def __init__(self, *, seed=0, drain_s=120.0, folder=None):
        """`folder` is where the arena keeps its data; a temporary one if none is given."""
        self.seed = seed
        self.bots = {}
        self.orders = {}
        """What was ordered, by the match's id."""
        self.attempted = []
        """What was ordered, whether the arena said yes or was killed meanwhile."""
        self.at_kill = {}
        self.resumed_s = []
        """How long each start after a kill took until all bots were back."""
        self._temporary = tempfile.TemporaryDirectory(prefix="cardarena-chaos-")
        self.folder = folder or Path(self._temporary.name)
        log = Path(self._temporary.name) / "arena.log"
        self.server = Server(self.folder / "data", drain_s=drain_s, log=log)
        self._unseen = set()
        self.tail = JournalTail(self.data / "journal")
        self._channel = None

    @property
    def data(self):
        return self.server.data

    async def __aenter__(self):
        try:
            await self.server.start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_):
        await self.hang_up()
        self.server.end()
        self._temporary.cleanup()

    async def hang_up(self):
        """Stop all bots, and close the lobby's connection."""
        await asyncio.gather(*(bot.stop() for bot in self.bots.values()))
        await self.hang_up_lobby()

    async def hang_up_lobby(self):
        """Close the connection to the lobby, as the server behind it is another one now."""
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    # Bots.

    def bot(self, name, address=None, **given):
        """Start a bot; it plays until the end of the trial."""
        given.setdefault("backoff_cap_s", 0.3)
        found = Bot(
            name,
            address or (lambda: self.server.address),
            seed=self.seed,
            generation=lambda: self.server.generation,
            **given,
        )
        self.bots[name] = found.start()
        return found

    async def all_welcome(self, patience_s=PATIENCE_S):
        """Wait until every bot is connected."""
        bots = self.bots.values()
        await until(
            lambda: all(bot.welcomed.is_set() for bot in bots), "all bots' welcome", patience_s
        )

    # Matches.

    @property
    def lobby(self):
        if self._channel is None:
            options = (("grpc.use_local_subchannel_pool", 1),)
            self._channel = grpc.aio.insecure_channel(self.server.address, options)
        return lobby_pb2_grpc.LobbyServiceStub(self._channel)

    async def order(self, order):
        """Have a match made, and give its id."""
        self.attempted.append(order)
        answer = await self.lobby.CreateMatch(order.request())
        match_id = answer.match.match_id
        self.orders[match_id] = order
        self._unseen.add(match_id)
        return match_id

    async def all_seated(self):
        """Wait until the bots were told of every match that was ordered."""
        seats = sum(len(order.bots) for order in self.orders.values())
        bots = self.bots.values()
        await until(
            lambda: sum(len(bot.history.of_kind(Kind.SEATED)) for bot in bots) >= seats,
            "all bots to be seated",
        )

    async def order_when_possible(self, order):
        """Have a match made as soon as its bots are there and guests may order one, and give its id."""
        away = (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION)
        while True:
            wait_s = 0.02
            try:
                return await self.order(order)
            except grpc.RpcError as error:
                if error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED:
                    wait_s = 1.0
                elif error.code() not in away:
                    raise
            await asyncio.sleep(wait_s)

    def replay(self, match_id):
        """Where the replay of a match is found once it has ended."""
        return self.data / "replays" / f"{match_id}.replay"

    def running(self):
        """The matches that have no replay yet."""
        self._unseen = {each for each in self._unseen if not self.replay(each).exists()}
        return self._unseen

    async def all_ended(self, patience_s=PATIENCE_S / 2):
        """Wait until every match has its replay, for as long as any makes progress."""
        self._adopt()
        seen, progress = self._progress(), True
        while progress:
            with contextlib.suppress(AssertionError):
                await until(lambda: not self.running(), "all matches' ends", patience_s)
                return
            progress = self._progress() != seen
            seen = self._progress()

    def _progress(self):
        folder = self.data / "journal"
        return sum(path.stat().st_size for path in folder.glob("*.journal"))

    # Kills.

    async def kill(self):
        """End the server's life without a word, and note what it had written."""
        self.server.kill()
        # What was on its way to a bot was sent: let it arrive before another life begins.
        await until(
            lambda: not any(bot.welcomed.is_set() for bot in self.bots.values()), "bots to notice"
        )
        self.at_kill[self.server.generation] = self.tail.look().written()
        await self.hang_up_lobby()

    async def restart(self):
        """Begin another life and wait until every bot is back; how long it took, in seconds."""
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        await self.server.start()
        await self.all_welcome()
        took_s = loop.time() - began_s
        self.resumed_s.append(took_s)
        return took_s

    # The verdict.

    def case(self, **given):
        """All that is known now, for the checker."""
        self._adopt()
        replays = {path.stem: path for path in (self.data / "replays").glob("*.replay")}
        return Case(
            **{
                "books": self.tail.books,
                "replays": replays,
                "keys": {
                    match_id: seeded_key(order.seed) for match_id, order in self.orders.items()
                },
                "histories": [bot.history for bot in self.bots.values()],
                "at_kill": self.at_kill,
                "promised": {
                    match_id: f"match {order.seed} ({order.game})"
                    for match_id, order in self.orders.items()
                },
                "commitments": self.data / "commitments",
                "strange": list(self.tail.strange),
                **given,
            }
        )

    def verdict(self, **given):
        """The violations of the invariants."""
        return check(self.case(**given))

    def _adopt(self):
        """Find what the arena had begun when it was killed before it could say so."""
        keys = {sha256(seeded_key(order.seed)).digest(): order for order in self.attempted}
        for match_id, book in self.tail.look().books.items():
            if match_id not in self.orders and book.opened.deal_key_sha256 in keys:
                self.orders[match_id] = keys[book.opened.deal_key_sha256]
                self._unseen.add(match_id)

    def by_seed(self):
        """The journal's books by what the match is called."""
        self._adopt()
        books = self.tail.books
        return {
            order.seed: books[match_id]
            for match_id, order in self.orders.items()
            if match_id in books
        }
