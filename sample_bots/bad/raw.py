"""A play stream without the SDK, for the bad bots, which send messages that the SDK never sends."""

import os
import queue
import sys
from collections.abc import Iterator

import grpc

import cardarena
from cardarena.v1.play_pb2 import Answer, Answers, ArenaMessage, Ask, BotMessage, GameSupport, Hello

ADDRESS = os.environ.get("CARDARENA_ADDRESS", "localhost:7654")


class Stream:
    """One stream, which is opened with a valid hello. It does not reconnect when it ends."""

    def __init__(self, name):
        token = os.environ.get("CARDARENA_TOKEN", f"guest:{name}")
        games = [GameSupport(game=game) for game in cardarena.GAMES]
        hello = Hello(token=token, sdk="bad-bot/1", games=games, max_matches=64, max_open_asks=64)
        self._outbox = queue.SimpleQueue()
        self._channel = grpc.insecure_channel(ADDRESS)
        play = self._channel.stream_stream("/cardarena.v1.PlayService/Play")
        self._call = play(iter(self._outbox.get, None))
        self.send(BotMessage(hello=hello))

    def send(self, message: BotMessage | bytes):
        """Send a message, or any bytes."""
        self._outbox.put(message if isinstance(message, bytes) else message.SerializeToString())

    def answer(self, *answers: Answer):
        """Send answers in one message."""
        self.send(BotMessage(answers=Answers(answers=answers)))

    def __iter__(self) -> Iterator[ArenaMessage]:
        """Yield the arena's messages until the stream ends; if it ends by an error, end the program."""
        try:
            for data in self._call:
                yield ArenaMessage.FromString(data)
        except grpc.RpcError as error:
            sys.exit(f"the stream ended: {error.code().name}: {error.details()}")
        finally:
            self._outbox.put(None)


def asks(message: ArenaMessage) -> list[Ask]:
    """Return the asks of a message, if any."""
    return [*message.welcome.open_asks, *message.asks.asks]
