"""Clients for tests over sockets: raw streams, so that anything can be said on them."""

import queue
import threading

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from grpc_status import rpc_status

from cardarena.v1 import lobby_pb2_grpc, play_pb2, replay_pb2_grpc

PATIENCE_S = 20.0
"""How long a test waits for what must come; far more than it takes."""
PLAY = "/cardarena.v1.PlayService/Play"


def reason_of(error):
    """The code of a failed call, and the reason that programs branch on."""
    status = rpc_status.from_call(error)
    if status is None:
        return error.code(), ""
    info = ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.domain == "cardarena"
    assert status.message == error.details()
    return error.code(), info.reason


def eventually(look):
    """What `look` sees once it is there: a replay is cut after the players were told."""
    for _ in range(int(PATIENCE_S / 0.05)):
        if found := look():
            return found
        threading.Event().wait(0.05)
    raise AssertionError("it never came")


class Client:
    """A channel of its own, as a bot or a person at the lobby has it."""

    def __init__(self, address):
        options = [("grpc.use_local_subchannel_pool", 1)]
        self.channel = grpc.insecure_channel(address, options=options)
        self.lobby = lobby_pb2_grpc.LobbyServiceStub(self.channel)
        self.replays = replay_pb2_grpc.ReplayServiceStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def stream(self, token=None, **hello):
        """A stream that has said hello, or nothing if there is no token."""
        stream = Stream(self.channel)
        if token is not None:
            stream.say(hello=play_pb2.Hello(token=token, **hello))
        return stream


class Stream:
    """A play stream. What comes in is read on a thread of its own."""

    def __init__(self, channel, metadata=()):
        self.received = []
        """All bytes that came."""
        self._out = queue.SimpleQueue()
        self._in = queue.SimpleQueue()
        self._call = channel.stream_stream(PLAY)(iter(self._out.get, None), metadata=metadata)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        try:
            for data in self._call:
                self.received.append(data)
                self._in.put(play_pb2.ArenaMessage.FromString(data))
            self._in.put(None)
        except grpc.RpcError as error:
            self._in.put(error)

    def send(self, data):
        self._out.put(data)

    def say(self, **body):
        self.send(play_pb2.BotMessage(**body).SerializeToString())

    def answer(self, *answers):
        self.say(answers=play_pb2.Answers(answers=answers))

    def next(self):
        """The next message; None at the end in order, the error at another."""
        try:
            return self._in.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise AssertionError(f"nothing came within {PATIENCE_S:.0f} s") from None

    def expect(self, kind):
        message = self.next()
        assert isinstance(message, play_pb2.ArenaMessage), message
        assert message.WhichOneof("body") == kind, message
        return getattr(message, kind)

    def error(self):
        """How the stream failed; what came before is passed over."""
        message = self.next()
        while isinstance(message, play_pb2.ArenaMessage):
            message = self.next()
        assert message is not None, "the stream ended in order"
        self._out.put(None)
        return message

    def play(self, **answer):
        """Answer every ask with its first move until a match ends; how it ended.

        `answer` has further fields of every answer.
        """
        while True:
            message = self.next()
            assert isinstance(message, play_pb2.ArenaMessage), message
            kind = message.WhichOneof("body")
            if kind == "match_end":
                return message.match_end
            if kind == "asks":
                asks = message.asks.asks
                self.answer(*(play_pb2.Answer(ask_id=a.ask_id, index=0, **answer) for a in asks))

    def end(self):
        """Close the bot's side; whatever still comes is passed over."""
        self._out.put(None)
        while isinstance(self.next(), play_pb2.ArenaMessage):
            pass

    def hang_up(self):
        self._call.cancel()
        self._out.put(None)
        self._reader.join(PATIENCE_S)
