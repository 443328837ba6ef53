"""A tiny arena on a real socket: each stream that comes in plays the next script."""

import contextlib
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc

from cardarena.v1.play_pb2 import BotMessage

PATIENCE_S = 10
"""A bot that says nothing for so long fails the test."""


class Stream:
    """The arena's end of one stream."""

    def __init__(self, requests, context):
        self._context = context
        self._inbox = queue.SimpleQueue()
        self.hung_up = threading.Event()
        threading.Thread(target=self._pump, args=[requests], daemon=True).start()

    def _pump(self, requests):
        with contextlib.suppress(grpc.RpcError):
            for data in requests:
                self._inbox.put(BotMessage.FromString(data))
        self._inbox.put(None)
        self.hung_up.set()

    def read(self):
        """The bot's next message; None when it has hung up."""
        return self._inbox.get(timeout=PATIENCE_S)

    def answers(self):
        """The next message, which has answers: their ask ids, with the index or the note."""
        body = self.read().answers.answers
        return [(a.ask_id, a.index if a.HasField("index") else a.note) for a in body]

    def abort(self, code, details):
        self._context.abort(code, details)


class FakeArena:
    """Plays one script for each stream. A script is a generator of messages or bytes."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.heard = []
        """What the scripts have kept of what the bot said."""

    def __enter__(self):
        pool = ThreadPoolExecutor(max_workers=4)
        self._server = grpc.server(pool)
        handler = grpc.stream_stream_rpc_method_handler(self._play)
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("cardarena.v1.PlayService", {"Play": handler}),)
        )
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()
        return self

    def __exit__(self, *exc_info):
        self._server.stop(0).wait()

    def _play(self, requests, context):
        stream = Stream(requests, context)
        hello = stream.read().hello
        assert hello.games, "the first message is hello"
        for message in self.scripts.pop(0)(self, stream, hello):
            yield message if isinstance(message, bytes) else message.SerializeToString()
