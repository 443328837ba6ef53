"""A test double for the outbox between a session and its bot's stream, in memory."""

from typing import Any

from arena.errors.refused import Refused
from arena.live.session.stream import MAX_FRAME_BYTES
from arena.referee.seat import OpenAsk
from arena.referee.wire.fields import asks_frame
from cardarena.v1 import play_pb2


class MemoryOutbox:
    """Keeps the messages to a bot: `arena.live.session.messages.Outbox` without a loop.

    Consecutive asks share a frame, as on a stream, until the frames are read. It has no limits, and
    does not restart clocks.
    """

    def __init__(self) -> None:
        self.closed = False
        self.verdict: Refused | None = None
        """Why it was closed; None for a normal end."""
        self._frames: list[bytes] = []
        self._messages: list[play_pb2.ArenaMessage] = []
        """The first frames, decoded when they were read."""
        self._asks: list[bytes] = []

    def post(self, frame: bytes) -> None:
        if not self.closed:
            self._seal_asks()
            self._frames.append(frame)

    def post_ask(self, element: bytes, ask: OpenAsk) -> None:  # noqa: ARG002
        """Keep an ask; its clock has started when it was made."""
        if not self.closed:
            if sum(map(len, self._asks)) + len(element) > MAX_FRAME_BYTES:
                self._seal_asks()
            self._asks.append(element)

    @property
    def queued(self) -> tuple[int, int]:
        """The numbers of frames and bytes; asks that will share a frame count as one."""
        waiting = (*self._frames, *self._asks)
        return len(self._frames) + bool(self._asks), sum(map(len, waiting))

    def close(self, verdict: Refused | None = None) -> None:
        """Ignore further messages; `verdict` is the error that the bot receives, None for no error."""
        if not self.closed:
            self.closed = True
            self.verdict = verdict

    def take_frames(self) -> list[bytes]:
        self._seal_asks()
        frames, self._frames, self._messages = self._frames, [], []
        return frames

    @property
    def messages(self) -> tuple[play_pb2.ArenaMessage, ...]:
        self._seal_asks()
        unread = self._frames[len(self._messages) :]
        self._messages += map(play_pb2.ArenaMessage.FromString, unread)
        return tuple(self._messages)

    def take(self, kind: str) -> list[Any]:
        """Remove and return the messages of one kind, such as `match_start`."""
        messages = self.messages  # this ends an open frame of asks
        posted = list(zip(self._frames, messages, strict=True))
        others = [item for item in posted if item[1].WhichOneof("body") != kind]
        self._frames = [frame for frame, _ in others]
        self._messages = [message for _, message in others]
        return [
            getattr(message, kind) for _, message in posted if message.WhichOneof("body") == kind
        ]

    def only(self, kind: str) -> Any:
        """Remove and return the one message of a kind. Raises `ValueError` if there is none, or more than one."""
        (found,) = self.take(kind)
        return found

    def take_asks(self) -> list[play_pb2.Ask]:
        return [ask for asks in self.take("asks") for ask in asks.asks]

    def _seal_asks(self) -> None:
        if self._asks:
            self._frames.append(asks_frame(self._asks))
            self._asks = []
