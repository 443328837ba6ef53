"""The bot's side of the play stream, without the stream: bytes in, bytes out.

The session is the state of a bot's matches and asks. It uses no sockets and no threads, and never calls the bot's
code. It lives through several streams, one after another.

An ask goes through these states in the order of the table:

| state    | in `_queue` | `shown` | `answer` | on resume, if `welcome` lists it     |
|----------|-------------|---------|----------|--------------------------------------|
| queued   | yes         | no      | no       | stays queued                         |
| taken    | no          | no      | no       | stays taken                          |
| shown    | no          | yes     | no       | the bot is still deciding            |
| answered | no          | maybe   | yes      | the same answer is sent again        |
| settled  | no          | maybe   | maybe    | never listed: `Ask.open` is false    |

The arena does not acknowledge answers, so an answer is kept until the next ask of the match, or its end. If the ask
is repeated, the same answer is sent again, and the bot is not asked. An ask is settled by `ask_closed`, by the next
ask or the end of the match, or by a `welcome` that does not list it; if it is repeated nevertheless, it is open
again. An ask in `later_asks` of `welcome` stays as it is until it is repeated.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from google.protobuf.message import DecodeError

from cardarena import _choice
from cardarena._ask import AnyAsk, Ask, End, Told
from cardarena._deals import Deals, Reaction
from cardarena._errors import Unreadable
from cardarena._own_queue import AskTimes, OwnQueue, Waits
from cardarena._raised import now_at
from cardarena.v1.game_pb2 import FaultKind
from cardarena.v1.play_pb2 import (
    Answer,
    Answers,
    ArenaMessage,
    AskClosed,
    BotMessage,
    Hello,
    MatchEnd,
    MatchStart,
    RefusalReason,
    Welcome,
)
from cardarena.v1.play_pb2 import Ask as AskMessage

REMEMBERED_ENDS: Final = 1024
"""Number of ended matches that are remembered; an arena repeats at most the last 64 ends."""

News: TypeAlias = MatchStart | End
"""News besides asks: a match that begins, or one that has ended."""

CONTRACT: Final = 1
"""The version of the contract of `play.proto` that this SDK was written for."""


@dataclass(slots=True)
class Received:
    """The reaction to a message of the arena."""

    send: list[bytes] = field(default_factory=list)
    """Messages for the stream."""
    say: list[str] = field(default_factory=list)
    """Lines for the log."""
    welcomed: bool = False
    """Whether the arena has welcomed the bot on this stream."""
    redirect: str | None = None
    """The address of a redirect."""
    useless: str = ""
    """Why the bot cannot get a match; empty if it can."""
    foreign: int = 0
    """The arena's version of the contract, if this SDK does not support it."""

    def also(self, more: "Received") -> None:
        """Add messages and log lines."""
        self.send += more.send
        self.say += more.say


@dataclass(slots=True)
class Work:
    """The work for the bot's code. The start of a match comes before its asks."""

    news: list[News]
    asks: list[AnyAsk]
    closed: list[AskClosed] = field(default_factory=list)
    """Asks that were closed after the bot's code received them."""

    def __bool__(self) -> bool:
        return bool(self.news or self.asks or self.closed)


@dataclass(slots=True)
class _Match:
    start: MatchStart
    ask: AnyAsk | None = None
    """The last ask, open or not."""
    answer: Answer | None = None
    """The answer to the last ask."""
    asked_s: float = 0.0
    """The time when the last ask arrived."""
    waited: str = ""
    """The sentence about its wait in the bot's own queue, if that was long."""
    queued: Waits | None = None
    """Waits of this and earlier asks, for the next answer without a note."""
    times: AskTimes = field(default_factory=AskTimes)

    def untold(self) -> Told | None:
        """Return the news of asks that the bot's code did not receive."""
        return None if self.ask is None or self.ask.shown else self.ask.told()


class Session:
    """The state of a bot at the arena. Not thread-safe: the connection guards it with a lock."""

    draining: bool
    """Whether the arena has announced that it closes."""

    def __init__(
        self,
        hello: Hello,
        *,
        auto: bool,
        now_s: Callable[[], float],
        deals: Deals | None = None,
        remedy: str = "set workers",
    ) -> None:
        """Begin without a stream.

        Args:
          hello: The bot's first message.
          auto: Whether to answer asks with a single legal move.
          now_s: A monotonic clock.
          deals: The fair deals, if the bot takes part in them.
          remedy: The advice on what to change if asks wait in the bot's own queue.
        """
        self.draining = False
        self._deals = deals
        self._hello = hello
        self._auto = auto
        self._now_s = now_s
        self._live = False
        self._epoch = 0
        self._max_note_chars = _choice.MAX_NOTE_CHARS
        self._max_message_bytes = 0
        self._max_answers = 0
        self._matches: dict[int, _Match] = {}
        self._open: dict[int, _Match] = {}
        self._queue: dict[int, AnyAsk] = {}
        self._news: list[News] = []
        self._closed: list[AskClosed] = []
        self._own_queue = OwnQueue(remedy)
        self._answered: _Match | None = None
        """The match of the last answer, of which is the arena's last round trip; None if it was sent again."""
        self._stuck: AnyAsk | None = None
        """The ask for which the bot's code was late; it may still be choosing."""
        self._over: dict[int, None] = {}
        """Ended matches: a later `welcome` may list them, and their ends may be repeated."""

    # The stream.

    def opened(self) -> bytes:
        """Begin a stream, and return its first message."""
        self._live = False
        if self._deals is not None:
            self._deals.on_stream()
        return BotMessage(hello=self._hello).SerializeToString()

    def lost(self) -> None:
        """End a stream. Open asks stay open until the next `welcome`."""
        self._live = False

    def over(self) -> None:
        """End play: all asks are closed."""
        self._live = False
        for match in list(self._matches.values()):
            self._forget(match)

    def receive(self, data: bytes) -> Received:
        """Receive a message of the arena.

        Raises:
          Unreadable: if the bytes are no message.
        """
        try:
            message = ArenaMessage.FromString(data)
        except DecodeError:
            raise Unreadable("the arena sent bytes that are no message") from None
        match message.WhichOneof("body"):
            case "asks":
                return self._on_asks(message.asks.asks)
            case "ask_closed":
                return self._on_ask_closed(message.ask_closed)
            case "match_start":
                return self._on_match_start(message.match_start)
            case "match_end":
                return self._on_match_end(message.match_end)
            case "welcome":
                return self._on_welcome(message.welcome)
            case "refusal":
                name = _word(RefusalReason, message.refusal.reason, "REFUSAL_REASON_")
                deal = message.refusal.deal_context.hex()[:12]
                what = f"deal-set {deal}: " if deal else ""
                return Received(say=[f"{what}refused ({name}): {message.refusal.text}"])
            case "drain":
                self.draining = True
                seconds = message.drain.deadline_ms / 1000
                line = f"the arena closes in {seconds:g} s; running matches go on"
                return Received(say=[line])
            case "redirect":
                return Received(redirect=message.redirect.endpoint)
            case "deal_open" | "deal_transcript" | "deal_close":
                return self._on_deal(message)
            case _:
                return Received()  # A newer arena has messages that this SDK does not know.

    @property
    def seated(self) -> Sequence[MatchStart]:
        """The matches in play, oldest first."""
        return [match.start for match in self._matches.values()]

    @property
    def lies(self) -> Sequence[str]:
        """The failed checks of fair deals, in sentences."""
        return self._deals.lies if self._deals is not None else ()

    # The bot's side.

    def take(self) -> Work:
        """Return the work for the bot's code, oldest first."""
        work = Work(self._news, list(self._queue.values()), self._closed)
        self._news, self._closed = [], []
        self._queue.clear()
        return work

    @property
    def has_work(self) -> bool:
        """Whether `take` would return any work."""
        return bool(self._news or self._queue or self._closed)

    def show(self, ask: AnyAsk) -> bool:
        """Record that the bot's code receives an ask now; return false if it was already settled."""
        if ask.open:
            ask.shown = True
        return ask.open

    def wait(self, ask: AnyAsk) -> str:
        """Return a warning if an ask that the bot's code receives now has waited long; otherwise an empty text."""
        now_s, match = self._now_s(), self._open[ask.ask_id]
        match.times.shown(now_s)
        waited = self._waited(match, ask, now_s)
        if not waited or not self._own_queue.warns(now_s):
            return ""
        return f"match {ask.match} ({ask.game}): {waited}"

    def _waited(self, match: _Match, ask: AnyAsk, until_s: float) -> str:
        """Record the wait of a match's last ask, if it was long."""
        match.waited = self._own_queue.told(ask, until_s - match.asked_s)
        if match.waited:
            match.queued = Waits.of(ask, match.waited, match.queued)
        return match.waited

    def answer(self, answers: Iterable[Answer]) -> list[Answer]:
        """Store answers, and return the messages to send now.

        A second answer to an ask is dropped. An answer to a settled ask is not sent, and stored as long as the ask is
        the last of its match, in case it is repeated. Without a stream nothing is sent: the arena repeats open asks.
        """
        taken = []
        for answer in answers:
            match = self._asked(answer.ask_id)
            if match is None or match.answer is not None:
                continue
            if len(answer.note) > self._max_note_chars:
                answer.note = _choice.cut(answer.note, self._max_note_chars)
            if match.queued and not answer.note:
                answer.note, match.queued = match.queued.note, None
            elif match.times.is_due and not answer.note:
                answer.note = match.times.note()
            match.answer = answer
            match.times.answered(self._now_s())
            if answer.ask_id in self._open:
                self._answered = match if self._live else None
                taken.append(answer)
        return taken if self._live else []

    def _asked(self, ask_id: int) -> _Match | None:
        """Return the match with this last ask, even if it is settled."""
        if match := self._open.get(ask_id):
            return match
        for match in self._matches.values():
            if match.ask is not None and match.ask.ask_id == ask_id:
                return match
        return None

    def frames(self, answers: list[Answer]) -> list[bytes]:
        """Return answers in as few messages as the arena's limits allow."""
        if not answers:
            return []
        if 0 < self._max_answers < len(answers):
            rest = answers[self._max_answers :]
            return [*self.frames(answers[: self._max_answers]), *self.frames(rest)]
        message = BotMessage()
        message.answers.answers.extend(answers)
        frame = message.SerializeToString()
        if not self._max_message_bytes or len(frame) <= self._max_message_bytes:
            return [frame]
        if len(answers) > 1:
            half = len(answers) // 2
            return [*self.frames(answers[:half]), *self.frames(answers[half:])]
        why = f"error: the answer has {len(frame)} bytes, the arena takes {self._max_message_bytes}"
        short = Answer(ask_id=answers[0].ask_id, failed=True, note=why)
        return [BotMessage(answers=Answers(answers=[short])).SerializeToString()]

    # Messages of the arena.

    def _on_welcome(self, welcome: Welcome) -> Received:
        received = Received(welcomed=True)
        if welcome.contract > CONTRACT:
            received.foreign = welcome.contract
            return received
        if welcome.epoch <= self._epoch:
            # The numbers of streams grow: this arena has restarted, and uses small numbers again.
            for match in list(self._matches.values()):
                received.also(self._end(match, MatchEnd(match=match.start.match)))
            self._over.clear()
        self._epoch = welcome.epoch
        self._max_note_chars = welcome.limits.max_note_chars or _choice.MAX_NOTE_CHARS
        self._max_message_bytes = welcome.limits.max_message_bytes
        self._max_answers = welcome.limits.max_answers
        self._live = True
        self.draining = False

        listed = {start.match for start in welcome.matches}
        for number, match in list(self._matches.items()):
            if number not in listed:
                received.also(self._end(match, MatchEnd(match=number)))
        for start in welcome.matches:
            if start.match not in self._over:
                received.also(self._on_match_start(start))

        wanted = {ask.ask_id for ask in welcome.open_asks} | set(welcome.later_asks)
        for ask_id in [ask_id for ask_id in self._open if ask_id not in wanted]:
            self._settle(ask_id)
        received.also(self._on_asks(welcome.open_asks))
        received.say += [f"not seated: {game.text}" for game in welcome.games if game.refusal]
        if welcome.games and all(game.refusal for game in welcome.games) and not welcome.matches:
            received.useless = "; ".join(game.text for game in welcome.games)
        return received

    def _on_match_start(self, start: MatchStart) -> Received:
        received = Received()
        known = self._matches.get(start.match)
        if known is not None and known.start != start:
            received.also(self._end(known, MatchEnd(match=start.match)))
            known = None
        if known is None:
            self._matches[start.match] = _Match(start)
            self._news.append(start)
        if self._deals is not None:
            received.also(_reacted(self._deals.on_match_start(start)))
        return received

    def _on_asks(self, asks: Iterable[AskMessage]) -> Received:
        received = Received()
        automatic, again = [], []
        for message in asks:
            ask_id = message.ask_id
            if self._deals is not None:
                received.also(_reacted(self._deals.on_ask(message)))
            match = self._matches.get(message.match)
            if match is None:
                received.say.append(f"asked at match {message.match}, which never started")
                continue
            if match.ask is not None and match.ask.ask_id == ask_id:
                self._reopen(match, match.ask)
                if match.answer is not None:
                    again.append(match.answer)
                continue
            family = message.WhichOneof("game")
            if family is None:
                note = f"error: this version of the SDK has no messages of {match.start.terms.game}"
                received.send += self.frames([Answer(ask_id=ask_id, failed=True, note=note)])
                continue
            if match.ask is not None and match.ask.open:
                self._settle(match.ask.ask_id)
            ask: AnyAsk = Ask(
                message, match.start, family, before=match.untold(), now_s=self._now_s
            )
            match.ask, match.answer = ask, None
            match.asked_s, match.waited = self._now_s(), ""
            trip_ms = message.clock.last_round_trip_ms if self._answered is match else 0
            match.times.arrived(match.asked_s, trip_ms)
            self._open[ask_id] = match
            if self._auto and ask.forced:
                automatic.append(Answer(ask_id=ask_id, index=0))
            else:
                self._queue[ask_id] = ask
        if again:
            self._answered = None  # its round trip includes the time without a stream
            received.send += self.frames(again)
        if automatic:
            received.send += self.frames(self.answer(automatic))
        return received

    def _reopen(self, match: _Match, ask: AnyAsk) -> None:
        """Reopen the last ask of a match, which may have been settled."""
        if not ask.open:
            ask.open = True
            self._open[ask.ask_id] = match
            if match.answer is None and not ask.shown:
                self._queue[ask.ask_id] = ask

    def _on_ask_closed(self, closed: AskClosed) -> Received:
        match = self._open.get(closed.ask_id)
        if match is not None:
            if match.ask is not None and match.ask.shown and match.answer is None:
                self._closed.append(closed)
            self._settle(closed.ask_id)
        if closed.fault == FaultKind.FAULT_KIND_UNSPECIFIED:
            return Received()
        fault = _word(FaultKind, closed.fault, "FAULT_KIND_")
        where = f" in match {match.start.match} ({match.start.terms.game})" if match else ""
        line = f"fault{where}: {fault}: {closed.reason}"
        if match and match.ask and closed.fault == FaultKind.FAULT_KIND_TIMEOUT:
            if match.ask.shown and not (self._stuck and self._stuck.thinking):
                self._stuck = match.ask
            stuck = self._where_stuck()
            if not match.ask.shown and not stuck:
                self._waited(match, match.ask, self._now_s())
            hint = stuck or match.waited
            line += f"; {hint}" * bool(hint)
        return Received(say=[line])

    def _where_stuck(self) -> str:
        """Return the place in the bot's code that has not chosen a move in time; empty if it has chosen one."""
        ask = self._stuck
        thinking = None if ask is None else ask.thinking
        if ask is None or thinking is None:
            return ""
        where = now_at(thinking)
        now = f", now at {where}" if where else ""
        return f"`move` has not returned since decision {ask.decision}{now}"

    def _on_match_end(self, end: MatchEnd) -> Received:
        match = self._matches.get(end.match)
        if match is None:
            return Received()
        received = self._end(match, end)
        self._over[end.match] = None
        if len(self._over) > REMEMBERED_ENDS:
            del self._over[next(iter(self._over))]
        return received

    def _on_deal(self, message: ArenaMessage) -> Received:
        if self._deals is None:
            return Received()  # This bot adds no entropy, and the arena does not wait for it.
        match message.WhichOneof("body"):
            case "deal_open":
                return _reacted(self._deals.on_open(message.deal_open))
            case "deal_transcript":
                return _reacted(self._deals.on_transcript(message.deal_transcript))
            case _:
                return _reacted(self._deals.on_close(message.deal_close))

    # Settling.

    def _end(self, match: _Match, end: MatchEnd) -> Received:
        self._forget(match)
        self._news.append(End(end, match.start, before=match.untold()))
        if self._deals is not None:
            return _reacted(self._deals.on_match_end(end))
        return Received()

    def _forget(self, match: _Match) -> None:
        if match.ask is not None and match.ask.open:
            self._settle(match.ask.ask_id)
        del self._matches[match.start.match]

    def _settle(self, ask_id: int) -> None:
        match = self._open.pop(ask_id)
        self._queue.pop(ask_id, None)
        if match.ask is not None:
            match.ask.open = False


def _word(enum: Any, number: int, prefix: str) -> str:
    """Return a value of an enum as a word; a newer arena may have values that this SDK does not know."""
    if number not in enum.values():
        return str(number)
    name: str = enum.Name(number)
    return name.removeprefix(prefix).lower()


def _reacted(reaction: Reaction) -> Received:
    """Convert a reaction of fair deals to one of the session."""
    send = [message.SerializeToString() for message in reaction.send]
    return Received(send, reaction.say)
