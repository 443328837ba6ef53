"""The stream, on a separate thread that receives messages while the bot thinks.

The thread passes the arena's messages to the session, sends the replies that need no decision, and connects again when
a stream ends. One thread of the bot takes asks, and any may return answers. One lock guards the session.

It uses the synchronous gRPC client: with eight asks a message it took about a tenth less processor time than
`grpc.aio` on a loop in the background.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Self

import grpc

from cardarena._ask import AnyAsk
from cardarena._dial import Dial, proxy_to
from cardarena._errors import Refused, Unreadable
from cardarena._redial import Attempt, Redial, StreamEnd
from cardarena._retry import error_reason, retry_delay_s
from cardarena._session import Received, Session, Work
from cardarena._waiting import Waiting
from cardarena.v1.play_pb2 import Answer

PLAY: Final = "/cardarena.v1.PlayService/Play"

CHANNEL_OPTIONS: Final = (
    # Channels of one process otherwise share a connection and its limit of streams.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # This is twice the longest message of the arena.
    ("grpc.max_receive_message_length", 4 << 20),
    # This is also the longest wait for a connection; the default is 20 s.
    ("grpc.min_reconnect_backoff_ms", 5_000),
)

WAKE_S: Final = 1.0
"""Seconds after which Ctrl-C is noticed if a blocked thread cannot be interrupted (Windows)."""

CLOSE_S: Final = 10.0
"""Seconds that `close` waits for the connection's thread."""
LEAVE_S: Final = 2.0
"""Seconds that the connection's thread waits for each thread of gRPC."""


class _Leaving:
    """Waits for gRPC's two threads of a call after its channel is closed.

    They are daemons, which the interpreter freezes at its end. If one of them then holds the lock of the call, the
    call's `__del__` waits for that lock for ever, and the process does not exit.
    """

    def __init__(self) -> None:
        self._writes: threading.Thread | None = None
        self._reads: threading.Thread | None = None
        self._writing, self._ended = threading.Event(), threading.Event()

    def frames(self, outbox: "_Outbox") -> Iterator[bytes]:
        """Yield the messages to send. The writing thread takes the first one."""
        self._writes = threading.current_thread()
        self._writing.set()
        yield from outbox

    def watch(self, call: grpc.Call) -> None:
        """Note the reading thread, which makes this call last."""
        if not call.add_callback(self._on_end):
            self._ended.set()  # the call ended before it began, so its thread is ending

    def _on_end(self) -> None:
        self._reads = threading.current_thread()
        self._ended.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writing.wait(LEAVE_S)
        self._ended.wait(LEAVE_S)
        for thread in (self._writes, self._reads):
            if thread is not None:
                thread.join(LEAVE_S)


class _Outbox:
    """The messages to send on one stream, in order.

    Answers are gathered until gRPC's thread takes them. While a bot makes quick decisions, its thread holds the
    interpreter, so that their answers are sent in one message. During a long decision the interpreter switches threads
    every few milliseconds, so that earlier answers do not wait.
    """

    def __init__(self, lock: threading.Lock, framed: Callable[[list[Answer]], list[bytes]]) -> None:
        """`framed` makes messages of answers; it is called with the lock held."""
        self._lock = lock
        self._framed = framed
        self._items: queue.SimpleQueue[bytes | list[Answer] | None] = queue.SimpleQueue()
        self._gathered: list[Answer] | None = None

    def put(self, frame: bytes) -> None:
        self._items.put(frame)

    def put_answers(self, answers: list[Answer]) -> None:
        """Add a message. The lock must be held."""
        if self._gathered is None:
            self._gathered = []
            self._items.put(self._gathered)
        self._gathered += answers

    def close(self) -> None:
        """End the thread that takes messages."""
        self._items.put(None)

    def __iter__(self) -> Iterator[bytes]:
        while (item := self._items.get()) is not None:
            if isinstance(item, bytes):
                yield item
            else:
                with self._lock:
                    self._gathered = None
                    frames = self._framed(item)
                yield from frames


class Connection:
    """A bot's connection with the arena, over one stream after another."""

    def __init__(
        self,
        session: Session,
        redial: Redial,
        dial: Dial,
        *,
        say: Callable[[str], None],
        waiting: Waiting | None = None,
    ) -> None:
        """Prepare a connection; `start` opens it.

        Args:
          session: The state of the bot.
          redial: Decides when to connect again.
          dial: Opens channels.
          say: Logs a line; called on any thread.
          waiting: Finds the log lines about the bot's state; without it, connecting is not logged
            either.
        """
        self._session = session
        self._redial = redial
        self._dial = dial
        self._say = say
        self._waiting = waiting
        self._lock = threading.Lock()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._outbox: _Outbox | None = None
        self._call: grpc.Call | None = None
        self._absent = False
        self._over = False
        self._error: Exception | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="cardarena", daemon=True)

    def start(self) -> None:
        """Connect to the arena on the connection's thread."""
        self._thread.start()

    def close(self) -> None:
        """Close the connection."""
        self._closing.set()
        with self._lock:
            if self._call is not None:
                self._call.cancel()
        if self._thread.is_alive():  # Ctrl-C can interrupt before its start
            self._thread.join(CLOSE_S)

    @property
    def lies(self) -> Sequence[str]:
        """The failed checks of fair deals, in sentences."""
        with self._lock:
            return tuple(self._session.lies)

    # These are called on threads of the bot: one takes, and any may show and answer.

    def take(self) -> Work | None:
        """Wait for work, and return all of it; None when play is over.

        Raises:
          Refused: if the arena refuses the bot for good.
          Unreachable: if the arena could not be reached for too long.
          Misconfigured: if a redirect would send the token in plain text.
          BaseException: the error given to `fail`.
        """
        while True:
            if self._failure is not None:
                raise self._failure
            with self._lock:
                work, over = self._session.take(), self._over
            if work:
                return work
            if over:
                if self._error is not None:
                    raise self._error
                return None
            try:
                self._wake.get(timeout=WAKE_S)
            except queue.Empty:
                continue

    def show(self, ask: AnyAsk) -> bool:
        """Record that the bot receives an ask now; return false if it was already settled."""
        with self._lock:
            shown = self._session.show(ask)
            warning = self._session.wait(ask) if shown else ""
        if warning:
            self._say(warning)
        return shown

    def answer(self, answers: Iterable[Answer]) -> None:
        """Send answers, on the next stream if there is none now."""
        with self._lock:
            ready = self._session.answer(answers)
            if ready and self._outbox is not None:
                self._outbox.put_answers(ready)

    def fail(self, error: BaseException) -> None:
        """End play: `take` raises this error."""
        self._failure = error
        self._wake.put(None)

    # On the connection's thread.

    def _run(self) -> None:
        try:
            attempt: Attempt | None = self._redial.first()
            while attempt is not None and not self._closing.wait(attempt.delay_s):
                end = self._stream(attempt.endpoint)
                if self._closing.is_set():
                    break
                attempt = self._redial.after(end)
                if attempt is not None:
                    self._say_again(end, attempt)
        except Exception as error:  # `take` raises it on the bot's thread
            self._error = error
        finally:
            with self._lock:
                self._session.over()
                self._over = True
            self._wake.put(None)

    def _stream(self, endpoint: str) -> StreamEnd:
        began_s = time.monotonic()
        welcomed, redirect = False, None
        retry_s, reason = 0.0, ""
        outbox = _Outbox(self._lock, self._session.frames)
        with _Leaving() as leaving, self._dial.channel(endpoint, CHANNEL_OPTIONS) as channel:
            with self._lock:
                outbox.put(self._session.opened())
                play: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(PLAY)
                call = play(leaving.frames(outbox))
                leaving.watch(call)
                self._outbox, self._call = outbox, call
                if self._closing.is_set():
                    call.cancel()
            try:
                for data in call:
                    received = self._receive(data, outbox)
                    welcomed = welcomed or received.welcomed
                    redirect = received.redirect
                    if redirect is not None:
                        break
                code, details = grpc.StatusCode.OK, ""
            except grpc.RpcError:
                code, details = call.code(), call.details() or ""
                trailers = call.trailing_metadata()
                retry_s, reason = retry_delay_s(trailers), error_reason(trailers)
            except Unreadable as error:
                code, details = grpc.StatusCode.INTERNAL, str(error)
            finally:
                with self._lock:
                    self._session.lost()
                    self._outbox = self._call = None
                outbox.close()
                call.cancel()
        return StreamEnd(
            code,
            details,
            welcomed=welcomed,
            lived_s=time.monotonic() - began_s,
            draining=self._session.draining,
            redirect=redirect,
            retry_s=retry_s,
            error=reason,
        )

    def _receive(self, data: bytes, outbox: _Outbox) -> Received:
        with self._lock:
            received = self._session.receive(data)
            for frame in received.send:
                outbox.put(frame)
            wake = self._session.has_work and self._wake.empty()
            stands = ""
            if self._waiting is not None:
                stands = self._waiting.after(self._session, welcomed=received.welcomed)
        if wake:
            self._wake.put(None)
        if stands:
            self._say(stands)
        for line in received.say:
            self._say(line)
        if received.foreign:
            raise Refused(
                f"the arena speaks version {received.foreign} of the contract, and this SDK does "
                "not: install a newer one"
            )
        if received.useless:
            raise Refused(f"the arena seats this bot at none of its games: {received.useless}")
        return received

    def _say_again(self, end: StreamEnd, attempt: Attempt) -> None:
        if self._waiting is None:
            return
        if end.welcomed:
            self._absent = False
        if end.redirect is not None:
            self._say(f"redirected to {attempt.endpoint}")
        elif end.welcomed:
            self._say(f"the stream ended ({end.reason}); connecting again")
        elif not self._absent:
            self._absent = True
            what = "cannot trust the arena at" if end.untrusted else "no arena yet at"
            at = f"{attempt.endpoint}{proxy_to(attempt.endpoint)}"
            self._say(f"{what} {at} ({end.reason}); trying again")
