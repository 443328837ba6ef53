"""An arena that asks several matches at a time, and counts the messages in which a bot answers them."""

import asyncio
import json
import os
import subprocess

import grpc

from cardarena.v1.game_pb2 import MatchTerms
from cardarena.v1.play_pb2 import (
    ArenaMessage,
    Ask,
    Asks,
    BotMessage,
    Drain,
    Limits,
    MatchStart,
    Welcome,
)
from tests.sdk.languages import ROOT

METHOD = "/cardarena.v1.PlayService/Play"
ASK = ROOT / "clients" / "conformance" / "asks" / "sixty_six.json"
LONGEST_S = 120.0
LIMITS = Limits(max_note_chars=200, max_answers=512, max_message_bytes=65_536)


class _Arena(grpc.GenericRpcHandler):
    """Asks all matches of a bot again as soon as all are answered."""

    def __init__(self, matches, turns):
        self._ask = Ask.FromString(bytes.fromhex(json.loads(ASK.read_text("utf-8"))["hex"]))
        self._matches, self._turns = matches, turns
        self.answers = self.messages = 0
        self.done = asyncio.Event()

    def service(self, handler_call_details):
        if handler_call_details.method != METHOD:
            return None
        return grpc.stream_stream_rpc_method_handler(
            self._play,
            request_deserializer=BotMessage.FromString,
            response_serializer=ArenaMessage.SerializeToString,
        )

    async def _play(self, _, context):
        await context.read()
        await context.write(ArenaMessage(welcome=Welcome(epoch=1, contract=1, limits=LIMITS)))
        for match in range(1, self._matches + 1):
            start = MatchStart(match=match, terms=MatchTerms(game="sixty_six"))
            await context.write(ArenaMessage(match_start=start))
        for turn in range(self._turns):
            await context.write(ArenaMessage(asks=Asks(asks=self._asks(turn))))
            while self.answers < (turn + 1) * self._matches:
                said = await context.read()
                if said is grpc.aio.EOF:
                    return
                self.answers += len(said.answers.answers)
                self.messages += bool(said.answers.answers)
        await context.write(ArenaMessage(drain=Drain(deadline_ms=1)))
        self.done.set()

    def _asks(self, turn):
        for match in range(1, self._matches + 1):
            ask = Ask()
            ask.CopyFrom(self._ask)
            ask.match, ask.ask_id = match, turn * self._matches + match
            yield ask


def gathered(command, matches, turns):
    """Return the mean number of answers in a message of a bot whose matches are asked together."""

    async def measure():
        arena = _Arena(matches, turns)
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((arena,))
        address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        bot = await asyncio.create_subprocess_exec(
            *(*command, "--address", address, "--token", "gathers"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"CARDARENA_ONCE": "1"},
        )
        try:
            async with asyncio.timeout(LONGEST_S):
                await arena.done.wait()
        finally:
            bot.kill()
            await bot.wait()
            await server.stop(0)
        return arena.answers / arena.messages

    return asyncio.run(measure())
