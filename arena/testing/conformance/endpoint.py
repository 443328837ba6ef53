"""One address of the scripted arena: a real gRPC server whose streams follow scripts."""

import contextlib
import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from arena.testing.conformance.certificates import Certificates
from arena.testing.conformance.relay import Relay

DOMAIN: Final = "cardarena"
_FRAME_BYTES: Final = 5
"""The prefix of each gRPC message: a flag for compression, and the length."""
_STREAMS: Final = 8


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The end of a stream by the arena."""

    code: grpc.StatusCode
    text: str = ""
    reason: str = ""
    retry_ms: int = 0

    def details(self) -> bytes:
        """Return the google.rpc.Status for the trailing metadata; empty without reason and retry time."""
        parts: list[Any] = []
        if self.reason:
            parts.append(error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN))
        if self.retry_ms:
            delay = Duration()
            delay.FromMilliseconds(self.retry_ms)
            parts.append(error_details_pb2.RetryInfo(retry_delay=delay))
        number, _ = self.code.value
        status = status_pb2.Status(code=number, message=self.text)
        for detail in parts:
            packed = AnyMessage()
            packed.Pack(detail)
            status.details.append(packed)
        return bytes(status.SerializeToString()) if parts else b""


class HungUp(Exception):
    """The client has half-closed the stream."""


class BotStream:
    """The arena's end of one stream."""

    def __init__(self, endpoint: "Endpoint", metadata: dict[str, str]) -> None:
        self.endpoint = endpoint
        self.metadata = metadata
        self.opened_s = time.monotonic()
        self.ended_s = self.opened_s
        self._sent_bytes = 0
        self._inbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[bytes | StreamEnded] = queue.SimpleQueue()
        self._hung_up = threading.Event()

    def send(self, data: bytes) -> None:
        self._sent_bytes += _FRAME_BYTES + len(data)
        self._outbox.put(data)

    def send_partly(self, data: bytes, size_bytes: int) -> None:
        """Send the first bytes of a message, and cut the connection."""
        self.endpoint.relay.cut_at(self._sent_bytes + size_bytes)
        self.send(data)

    def read(self, wait_s: float) -> bytes | None:
        """Return the client's next message; None if there is none in time.

        Raises `HungUp` if the client has half-closed the stream.
        """
        try:
            data = self._inbox.get(timeout=wait_s)
        except queue.Empty:
            return None
        if data is None:
            self._inbox.put(None)
            raise HungUp
        return data

    def end(self, ended: StreamEnded) -> None:
        self.ended_s = time.monotonic()  # set before the client can see the end
        self._outbox.put(ended)

    def reset(self) -> None:
        self.ended_s = time.monotonic()
        self.endpoint.relay.reset()
        self._outbox.put(StreamEnded(grpc.StatusCode.CANCELLED))

    def wait_until_hung_up(self, wait_s: float) -> bool:
        """Return whether the client half-closes the stream in time."""
        return self._hung_up.wait(wait_s)

    def pump(self, requests: Iterator[bytes]) -> None:
        """Read the client's messages, on a thread of its own."""
        with contextlib.suppress(grpc.RpcError):
            for data in requests:
                self._inbox.put(data)
        self._inbox.put(None)
        self._hung_up.set()

    def play(self, context: grpc.ServicerContext) -> Iterator[bytes]:
        """Yield the messages of the script, until the script ends the stream."""
        while True:
            item = self._outbox.get()
            if isinstance(item, bytes):
                yield item
                continue
            if item.code is grpc.StatusCode.OK:
                return
            if details := item.details():
                context.set_trailing_metadata((("grpc-status-details-bin", details),))
            context.abort(item.code, item.text)


class Endpoint:
    """A port or socket for clients, with a queue of their streams."""

    def __init__(
        self, name: str, certificates: Certificates | None = None, socket: Path | None = None
    ) -> None:
        """Begin to serve.

        Args:
          name: Its name in cases.
          certificates: For TLS; None for plain text.
          socket: The path of a Unix socket; None uses a port.
        """
        self.name = name
        self.streams: queue.SimpleQueue[BotStream] = queue.SimpleQueue()
        self._all: list[BotStream] = []
        options = (
            ("grpc.max_receive_message_length", 1 << 20),
            ("grpc.http2.min_ping_interval_without_data_ms", 1000),
            ("grpc.http2.max_ping_strikes", 0),
        )
        pool = ThreadPoolExecutor(max_workers=_STREAMS, thread_name_prefix=f"endpoint-{name}")
        self._server = grpc.server(pool, options=options)
        handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(
            self._play
        )
        service = grpc.method_handlers_generic_handler(
            "cardarena.v1.PlayService", {"Play": handler}
        )
        self._server.add_generic_rpc_handlers((service,))
        if certificates is None:
            port = self._server.add_insecure_port("127.0.0.1:0")
        else:
            credentials = grpc.ssl_server_credentials([(certificates.key, certificates.chain)])
            port = self._server.add_secure_port("127.0.0.1:0", credentials)
        self._server.start()
        self.relay = Relay(port, readable=certificates is None, socket_file=socket)
        self.address = self.relay.address

    def close(self) -> None:
        for stream in self._all:
            stream.end(StreamEnded(grpc.StatusCode.CANCELLED))
        self.relay.close()
        self._server.stop(0).wait()

    def _play(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        metadata = {key: str(value) for key, value in context.invocation_metadata()}
        stream = BotStream(self, metadata)
        self._all.append(stream)
        threading.Thread(target=stream.pump, args=[requests], daemon=True).start()
        self.streams.put(stream)
        return stream.play(context)
