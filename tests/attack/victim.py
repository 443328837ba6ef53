"""A bot that plays on while others are attacked beside it, and times the arena.

It sits at both seats of its match, so that each of its answers is followed by
its next ask at once: what lies between is the arena's time, and the machine's.
"""

import asyncio
import time

import grpc

from arena.testing.orders import match_request
from cardarena.v1 import lobby_pb2_grpc, play_pb2
from tests.attack.http2 import PLAY

NAME = "victim"
THINK_S = 0.002
"""Between an ask and its answer; a bot that never rests would be a flood itself."""
MOVE_MS = 1_000
"""All the time that it has for a move; each that it is said to have exceeded is a fault."""
HANDS = 50
STOCK = 64
"""Matches that are open at a time, as new ones may not be taken during an attack."""
RETRY_S = 0.1
NOT_NOW = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.FAILED_PRECONDITION)
"""Matches are not taken just now, or one has ended for the bot and not yet for the arena."""


class Victim:
    """Plays from `start` to `stop`."""

    def __init__(self, address, move_ms=MOVE_MS):
        self._address = address
        self._move_ms = move_ms
        self.waits_s = []
        """From each answer to the ask that followed it."""
        self.faults = []
        """What it was blamed for, in words."""
        self.matches = 0
        self._tasks = []

    async def __aenter__(self):
        options = (("grpc.use_local_subchannel_pool", 1),)
        self._channel = grpc.aio.insecure_channel(self._address, options)
        self._lobby = lobby_pb2_grpc.LobbyServiceStub(self._channel)
        self._call = self._channel.stream_stream(PLAY)()
        games = [play_pb2.GameSupport(game="abstrac")]
        token = f"guest:{NAME}"
        hello = play_pb2.Hello(token=token, games=games, max_matches=STOCK)
        await self._say(hello=hello)
        await self._call.read()
        self._room = asyncio.Semaphore(STOCK)
        self._tasks = [asyncio.ensure_future(each()) for each in (self._play, self._order)]
        return self

    async def __aexit__(self, *_):
        for task in self._tasks:
            task.cancel()
        for outcome in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                self.faults.append(f"its stream failed: {outcome!r}")
        self._call.cancel()
        await self._channel.close()

    async def measured(self, seconds):
        """The times of the next so many seconds."""
        self.waits_s = []
        await asyncio.sleep(seconds)
        return self.waits_s

    async def _say(self, **body):
        await self._call.write(play_pb2.BotMessage(**body).SerializeToString())

    async def _order(self):
        """See that there are always matches."""
        request = match_request(
            "abstrac",
            (NAME, NAME),
            {"hands": HANDS},
            time_control={"move_ms": self._move_ms, "bank_ms": 0},
            seed="victim",
        )
        while True:
            await self._room.acquire()
            # Nothing tells when matches are taken again, so it is tried.
            while not await self._made(request):  # noqa: ASYNC110
                await asyncio.sleep(RETRY_S)
            self.matches += 1

    async def _made(self, request):
        """Whether a match is made; what an attacker may bring about is that none are."""
        try:
            await self._lobby.CreateMatch(request)
        except grpc.RpcError as error:
            if error.code() not in NOT_NOW:
                raise
            return False
        return True

    async def _play(self):
        said_s = 0.0
        while (frame := await self._call.read()) is not grpc.aio.EOF:
            now_s = time.monotonic()
            message = play_pb2.ArenaMessage.FromString(frame)
            kind = message.WhichOneof("body")
            if kind == "asks":
                if said_s:
                    self.waits_s.append(now_s - said_s)
                for ask in message.asks.asks:
                    await asyncio.sleep(THINK_S)
                    answer = play_pb2.Answer(ask_id=ask.ask_id, index=0)
                    said_s = time.monotonic()
                    await self._say(answers=play_pb2.Answers(answers=[answer]))
            elif kind == "match_end":
                self._room.release()
                self.faults += [str(fault) for fault in message.match_end.faults]
            elif kind != "match_start":
                self.faults.append(f"it was told: {message}")
        self.faults.append(f"its stream ended: {await self._call.code()}")
