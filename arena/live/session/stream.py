"""The newest stream of a bot, to which its messages are posted."""

from typing import TYPE_CHECKING, Final, Protocol

from arena.errors.refused import Refused
from arena.referee.seat import OpenAsk
from cardarena.v1 import play_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FRAME_BYTES: Final = 120_000
"""The largest frame of asks; frames stay under 128 kB."""


class Postbox(Protocol):
    """The interface by which a session posts messages to its bot: an `Outbox`, or a double that keeps them in memory."""

    @property
    def closed(self) -> bool: ...

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent."""
        ...

    def post(self, frame: bytes) -> None: ...

    def post_ask(self, element: bytes, ask: OpenAsk) -> None: ...

    def close(self, verdict: Refused | None = None) -> None:
        """Queue nothing more. `verdict` is the error that the bot is sent; None ends the stream without one."""
        ...


class CurrentStream:
    """The newest stream of a bot, to which its messages are posted. Without a stream they are dropped."""

    __slots__ = ("outbox", "reach")

    def __init__(self) -> None:
        self.outbox: Postbox | None = None
        """The outbox of the newest stream; None while no stream is open."""
        self.reach: Callable[[], None] | None = None
        """Called before anything is posted, so that a frozen bot runs again; None for a bot that is not frozen."""

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent."""
        return (0, 0) if self.outbox is None else self.outbox.queued

    def on_reach(self, reach: "Callable[[], None] | None") -> None:
        self.reach = reach

    def attach(self, outbox: Postbox) -> None:
        """Use this stream from now on; an older one is closed."""
        if self.outbox is not None:
            self.outbox.close(Refused("TAKEN_OVER"))
        self.outbox = outbox

    def detach(self, outbox: Postbox) -> bool:
        """Detach a stream that has ended; return false if it was not the newest."""
        if self.outbox is not outbox:
            return False
        self.outbox = None
        return True

    def post(self, frame: bytes) -> None:
        if self.outbox is not None:
            if self.reach is not None:
                self.reach()
            self.outbox.post(frame)

    def send(self, message: play_pb2.ArenaMessage) -> bool:
        """Encode a message and post it; return false if no stream is open."""
        if self.outbox is None:
            return False
        self.post(message.SerializeToString())
        return True

    def close(self, verdict: Refused | None = None) -> None:
        if self.outbox is not None:
            if self.reach is not None:
                self.reach()
            self.outbox.close(verdict)
