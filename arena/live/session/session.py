"""One bot's session: its seats at matches and its asks, over all of its streams.

A session outlives its streams. While no stream is open the clocks keep running; a bot that reconnects is sent its
matches and open asks in `welcome`. `states` has the states of a session.
"""

from collections.abc import Callable, Sequence
from typing import Final

from arena.bots.bot_ids import BotId
from arena.errors.refused import Refused
from arena.live.limits import LOCAL, OWN_HELLOS, OWN_HELLOS_PER_S
from arena.live.session.asks import AskSender, Seating
from arena.live.session.declaration import Declaration
from arena.live.session.limits import LIMITS
from arena.live.session.messages import DealTalk, IncomingMessages
from arena.live.session.seats import SeatTable
from arena.live.session.states import TRANSITIONS, SessionEvent, SessionState
from arena.live.session.stream import MAX_FRAME_BYTES, CurrentStream, Postbox
from arena.referee.spec import MatchSpec
from arena.referee.wire.fields import welcome_frame
from arena.token_bucket import TokenBucket
from cardarena.v1 import play_pb2

CONTRACT: Final = 1
"""The version of the contract of `play.proto`."""

_CAPABILITIES: Final = frozenset(play_pb2.Capability.values()) - {
    play_pb2.Capability.CAPABILITY_UNSPECIFIED
}

_EXPECTED: Final = SessionState.EXPECTED
_CONNECTED: Final = SessionState.CONNECTED
_LEAVING: Final = SessionState.LEAVING
_GONE: Final = SessionState.GONE


class Session:
    """A bot and its state from its first hello on."""

    def __init__(
        self,
        bot: BotId,
        now_s: Callable[[], float],
        *,
        on_deal: DealTalk | None = None,
        on_refusal: Callable[[int], None] = lambda _: None,
        epoch: int = 0,
        matches: int = 0,
    ) -> None:
        """Begin a session after `epoch` streams and `matches` matches.

        `on_deal` takes the bot's messages about deals, and may refuse them; `on_refusal` is called
        with the reason of each refusal. `now_s` reads the arena's clock.
        """
        self.bot = bot
        self.epoch = epoch
        """The number of the newest stream."""
        self.declared = Declaration()
        """What the bot's latest hello declares."""
        self.came_ready = 0
        """How often the bot has said hello, or that it is ready."""
        self.address = LOCAL
        """Where its newest stream comes from, as limits count addresses."""
        self.hellos = TokenBucket(OWN_HELLOS, OWN_HELLOS_PER_S, now_s)
        """How often the bot may still say hello."""
        self.state = SessionState.AWAY
        self.gone = False
        """Whether the bot will not reconnect, so that it is not asked any more. It follows from the state, and is kept
        because it is read at every ask."""
        self.sent_home = False
        """Whether the arena has ended the bot's process, and no other has connected since."""
        self.seats = SeatTable(matches)
        self._now_s = now_s
        self._reserved = 0
        """Matches that are about to begin."""
        self._stream = CurrentStream()
        self.asks = AskSender(self._stream, now_s)
        self.incoming = IncomingMessages(
            bot,
            self._stream,
            self.asks,
            self.seats,
            now_s,
            on_ready=self._ready,
            on_refusal=on_refusal,
            on_deal=on_deal,
        )

    # The state.

    @property
    def connected(self) -> bool:
        state = self.state
        return state is _CONNECTED or state is _LEAVING

    @property
    def present(self) -> bool:
        """Whether a stream is open, and its process has not ended."""
        return self.state is _CONNECTED

    @property
    def is_idle(self) -> bool:
        """Return whether the bot is connected, everything was sent to it, and nothing is asked of it at its matches."""
        outbox = self._stream.outbox
        if outbox is None or outbox.closed or self.state is not _CONNECTED:
            return False
        return not self.asks.table.open_ids and outbox.queued == (0, 0)

    def on_reach(self, reach: Callable[[], None] | None) -> None:
        """Call `reach` before anything is sent to the bot, from now on."""
        self._stream.on_reach(reach)

    @property
    def expected(self) -> bool:
        """Whether the bot is expected back after a restart of the arena: asks wait for it."""
        return self.state is _EXPECTED

    @property
    def invited(self) -> bool:
        """Whether a match with it can be ordered by hand: it is connected by its first process."""
        return self.connected and self.bot.instance == 0

    @property
    def adds_entropy(self) -> bool:
        """Whether the bot takes part in fair deals."""
        return self.declared.adds_entropy

    def plays(self, game_id: str, rules_version: int, seats: int) -> bool:
        return self.declared.plays(game_id, rules_version, seats)

    def _happens(self, event: SessionEvent) -> SessionState:
        """Change the state; return the one before."""
        before = self.state
        self.state = state = TRANSITIONS[before, event]
        self.gone = state is _GONE or state is _LEAVING
        return before

    # Streams.

    def attach(self, hello: play_pb2.Hello, outbox: Postbox, address: str = LOCAL) -> None:
        """Attach a stream from an address, after its hello; it replaces any older one."""
        self._stream.attach(outbox)
        before = self._happens(SessionEvent.ATTACHED)
        self.sent_home = False
        self.address = address
        self.epoch += 1
        self.came_ready += 1
        self.declared, admissions = Declaration.of(hello)
        self.incoming.begin_stream()
        self.asks.take(self.declared.max_open_asks, wants_text=self.declared.wants_text)
        now_s = self._now_s()
        if before is _EXPECTED:
            self.asks.fill_slots(listed_s=now_s)
        for frame in self._welcome(hello, admissions, now_s):
            outbox.post(frame)
        self.asks.fill_slots()
        self.seats.attend(here=True)

    def _welcome(
        self, hello: play_pb2.Hello, admissions: Sequence[play_pb2.GameAdmission], now_s: float
    ) -> Sequence[bytes]:
        """Return the first frames of a stream: the welcome, with the limits, the matches and the open asks.

        Asks that do not fit into it follow, and then the ends of matches and of deal-sets that the bot may not have
        received.
        """
        open_ids = self._open_asks
        ends = self.seats.ends.sent_again(open_ids)
        closes = self.seats.closes.sent_again(open_ids) if self.declared.adds_entropy else ()
        welcome = play_pb2.Welcome(
            epoch=self.epoch,
            contract=CONTRACT,
            capabilities=[
                capability for capability in hello.capabilities if capability in _CAPABILITIES
            ],
            games=admissions,
            limits=LIMITS,
            matches=[seating.match_start for seating in (*self.seats, *(end[0] for end in ends))],
        )
        welcome.limits.max_matches = self.declared.max_matches
        welcome.limits.max_open_asks = self.declared.max_open_asks
        listed, later = self.asks.listed(MAX_FRAME_BYTES - welcome.ByteSize(), now_s)
        welcome.later_asks.extend(number for number, _ in later)
        welcome.later_asks.extend(entry.number for entry in self.asks.table.waiting)
        frame = welcome_frame(welcome.SerializeToString() + b"".join(listed))
        return [frame, *(frame for _, frame in (*later, *ends, *closes))]

    def detach(self, outbox: Postbox) -> None:
        """Detach a stream that has ended. If it was the newest, the bot is away until it reconnects."""
        if self._stream.detach(outbox):
            self._happens(SessionEvent.DETACHED)
            self.seats.attend(here=False)

    def expect_back(self) -> None:
        """Expect the bot back after a restart of the arena: unless it is connected, asks wait until it reconnects."""
        self._happens(SessionEvent.EXPECTED_BACK)
        if self.state is _EXPECTED:
            self.asks.hold()

    def release(self) -> None:
        """Stop expecting the bot back: its clocks run from now on."""
        if self._happens(SessionEvent.RELEASED) is _EXPECTED:
            self.asks.take(self.declared.max_open_asks, wants_text=self.declared.wants_text)
            self.asks.fill_slots()
            self.seats.attend(here=False)

    def leave(self) -> None:
        """Note that the bot will not reconnect, for example because its process has ended: the fallback plays for it."""
        self._happens(SessionEvent.LEFT)
        self.seats.leave()

    def forget_sent(self) -> None:
        """Forget the messages to an earlier process: a new process receives only its seats in play."""
        self.seats.ends.clear()
        self.seats.closes.clear()

    def send_home(self) -> None:
        """Close the stream, because the arena ends the bot's process. The absence of the bot is no fault."""
        self.sent_home = True
        self.close()

    def close(self, verdict: Refused | None = None) -> None:
        self._stream.close(verdict)

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent."""
        return self._stream.queued

    def send(self, message: play_pb2.ArenaMessage) -> None:
        """Send the bot a message, if it is connected."""
        sent = self._stream.send(message)
        if sent and message.WhichOneof("body") in ("deal_open", "deal_transcript"):
            self.incoming.expect_deal_message()

    def send_until_received(self, context: bytes, message: play_pb2.ArenaMessage) -> None:
        """Send the opening of a deal-set, and send it again on later streams until the bot acknowledges it."""
        frame = message.SerializeToString()
        self._stream.post(frame)
        self.seats.closes.sent(context, frame, self._open_asks)

    def _ready(self, max_matches: int) -> None:
        self.declared = self.declared.ready_for(max_matches)
        self.came_ready += 1

    # Matches.

    @property
    def matches(self) -> int:
        """Matches that the bot plays or has reserved."""
        return self.seats.playing + self._reserved

    def reserve(self) -> None:
        self._reserved += 1

    def unreserve(self) -> None:
        """Stop counting a reserved match, which has begun or will not begin."""
        self._reserved -= 1

    def seat_at(
        self, spec: MatchSpec, seat: int, names: tuple[str, ...], number: int = 0
    ) -> Seating:
        """Seat the bot at a match, and send it the start of the match.

        `number` is the match's number on the bot's streams if the match is resumed; 0 takes the
        next one.
        """
        resumed, number = number != 0, number or self.seats.numbered + 1
        seating = Seating(self, number, spec, seat, names, is_replayed=resumed)
        self.seats.add(seating)
        self.send(play_pb2.ArenaMessage(match_start=seating.match_start))
        return seating

    def ended_before(self, spec: MatchSpec, seat: int, number: int, end: play_pb2.MatchEnd) -> None:
        """Add a match that ended before the arena was restarted; the bot may not have received its end."""
        names = tuple(entrant.name for entrant in spec.entrants)
        self.seats.add(Seating(self, number, spec, seat, names))
        frame = play_pb2.ArenaMessage(match_end=end).SerializeToString()
        self.seats.ended(number, frame, frozenset())

    def unseat(self, number: int, end: play_pb2.MatchEnd) -> None:
        """Send the end of a match, and send it again on later streams until the bot acknowledges it."""
        frame = play_pb2.ArenaMessage(match_end=end).SerializeToString()
        self._stream.post(frame)
        self.seats.ended(number, frame, self._open_asks)

    @property
    def _open_asks(self) -> frozenset[int]:
        return frozenset(self.asks.table.open_ids)


def seat_all(
    spec: MatchSpec, sessions: Sequence[Session], numbers: Sequence[int] = ()
) -> list[Seating]:
    """Seat bots at a match, by seat; `numbers` are its numbers on their streams if it is resumed."""
    names = tuple(entrant.name for entrant in spec.entrants)
    numbered = zip(sessions, numbers or [0] * spec.terms.seats, strict=True)
    return [
        session.seat_at(spec, seat, names, number)
        for seat, (session, number) in enumerate(numbered)
    ]
