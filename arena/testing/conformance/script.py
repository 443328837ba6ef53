"""Plays one stream of a case: the arena's steps, and the expected messages of the client."""

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.json_format import ParseDict
from google.protobuf.message import DecodeError

from arena.testing.conformance import messages
from arena.testing.conformance.cases import STEPS, BadCase, Case, Script, Step
from arena.testing.conformance.client import RunningClient
from arena.testing.conformance.deals import Deal, DealViolation
from arena.testing.conformance.endpoint import BotStream, HungUp, StreamEnded
from arena.testing.conformance.expected import Bound, fields_of, shortly
from cardarena.v1.play_pb2 import (
    Answer,
    ArenaMessage,
    Ask,
    AskClosed,
    Asks,
    BotMessage,
    Drain,
    Redirect,
)

TOKEN: Final = "conformance-token"  # noqa: S105  # only the scripted arena knows it
BY_RULE: Final = "rule"
"""Stands for the index that the fixed bot plays by its rule."""
HELLO_S: Final = 5.0
"""The time in seconds for which an arena waits for hello."""


class Unmet(Exception):
    """The client did not do what the case expects. The text has the expectation and the observation."""


@dataclass(slots=True)
class Stage:
    """The state that the streams of a case share."""

    case: Case
    folder: Path
    """The folder of the recorded asks."""
    client: RunningClient
    places: Mapping[str, str]
    """Addresses and files by their names in cases."""
    bound: Bound = field(default_factory=Bound)
    deal: Deal = field(default_factory=Deal)
    epoch: int = 0
    """The number of streams so far."""
    moves: dict[int, int] = field(default_factory=dict)
    """The number of moves of each ask."""
    games: list[str] = field(default_factory=list)
    """The games of the last hello."""

    def stream_opened(self) -> None:
        self.epoch += 1

    @property
    def most_s(self) -> float:
        """The longest time in seconds for each expected message."""
        return self.case.most_ms / 1000

    def stderr_tail(self) -> str:
        """Return the last line of the client's stderr, for the end of a sentence."""
        lines = self.client.stderr_text.splitlines()
        return f"(its last line on stderr: {lines[-1]!r})" if lines else "(its stderr is empty)"


class OnStream:
    """Plays the steps of one stream."""

    def __init__(self, stage: Stage, stream: BotStream, script: Script) -> None:
        self._stage = stage
        self._stream = stream
        self._script = script
        self._done = False

    def run(self) -> None:
        """Expect hello, and play every step by the method of its name, such as `_ask` for `ask`."""
        self._hello()
        for step in self._script.steps:
            (name,) = STEPS & step.keys()
            getattr(self, f"_{name}")(step[name], step)
        if not self._done:
            raise BadCase(f"{self._stage.case.id}: a stream has no end")

    # The client's messages.

    def _next_message(self, wait_s: float, expected: str) -> BotMessage | None:
        """Return the client's next message, without `ready`, which may come at any time."""
        until_s = time.monotonic() + wait_s
        while True:
            try:
                data = self._stream.read(max(0.0, until_s - time.monotonic()))
            except HungUp:
                raise Unmet(
                    f"expected {expected}; the client hung up {self._stage.stderr_tail()}"
                ) from None
            if data is None:
                return None
            try:
                message = BotMessage.FromString(data)
            except DecodeError:
                raise Unmet(f"expected {expected}; it sent bytes that are no message") from None
            if message.WhichOneof("body") != "ready":
                return message

    def _hello(self) -> None:
        message = self._next_message(HELLO_S, "hello")
        if message is None:
            raise Unmet("expected hello within 5 s of the stream's beginning; there is none")
        if message.WhichOneof("body") != "hello":
            raise Unmet(f"expected hello; the first message is {shortly(message)}")
        hello = message.hello
        token = self._stage.case.environment.get("CARDARENA_TOKEN", TOKEN)
        bearer = self._stream.metadata.get("authorization", "")
        if {hello.token, bearer.removeprefix("Bearer ")} - {""} != {token}:
            raise Unmet("expected the token that it was given, in hello or in the call's metadata")
        self._stage.games = [game.game for game in hello.games]
        if self._script.hello is not None:
            self._compare(self._script.hello, fields_of(message)["hello"], "hello")

    def _answers(self, wanted: Mapping[str, Any], step: Step) -> None:
        """Expect an answer to every ask: a move's index, or the answer's fields."""
        open_asks = dict(wanted)
        count = 0
        while open_asks:
            expected = f"answers to {', '.join(open_asks)}"
            message = self._next_message(self._stage.most_s, expected)
            if message is None:
                raise Unmet(f"expected {expected}; nothing came {self._stage.stderr_tail()}")
            if message.WhichOneof("body") != "answers":
                raise Unmet(f"expected {expected}; it sent {shortly(message)}")
            count += 1
            size = message.ByteSize()
            if size > step.get("most_bytes", size):
                raise Unmet(
                    f"expected messages of {step['most_bytes']} bytes at most; one has {size}"
                )
            number = len(message.answers.answers)
            if number > step.get("most_answers", number):
                raise Unmet(f"expected {step['most_answers']} answers a message; one has {number}")
            for answer in message.answers.answers:
                self._answered(answer, open_asks)
        if count > step.get("most_messages", count):
            raise Unmet(f"expected {step['most_messages']} messages at most; {count} came")

    def _answered(self, answer: Answer, open_asks: dict[str, Any]) -> None:
        key = str(answer.ask_id)
        if key not in open_asks:
            raise Unmet(f"expected answers to {', '.join(open_asks)}; one to ask {key} came")
        wanted = open_asks.pop(key)
        if wanted == BY_RULE:
            wanted = answer.ask_id % self._stage.moves[answer.ask_id]
        fields = wanted if isinstance(wanted, Mapping) else {"index": wanted}
        answered = fields_of(answer)
        most = fields.get("most_note_chars")
        if most is not None and not 0 < len(answer.note) <= most:
            raise Unmet(f"expected a note of 1 to {most} characters; it has {len(answer.note)}")
        plain = {name: value for name, value in fields.items() if name != "most_note_chars"}
        self._compare(plain, answered, f"the answer to ask {key}")

    def _expect(self, wanted: Mapping[str, Any], _step: Step) -> None:
        (name,) = wanted
        message = self._next_message(self._stage.most_s, name)
        if message is None:
            raise Unmet(f"expected {name}; nothing came {self._stage.stderr_tail()}")
        if message.WhichOneof("body") != name:
            raise Unmet(f"expected {name}; it sent {shortly(message)}")
        try:
            if name == "deal_commit":
                self._stage.deal.committed(message.deal_commit)
            elif name == "deal_reveal":
                self._stage.deal.revealed(message.deal_reveal)
        except DealViolation as wrong:
            raise Unmet(f"expected {name} by docs/fair-deals.md; {wrong}") from None
        self._compare(wanted[name], fields_of(message)[name], name)

    def _silence_ms(self, silence_ms: int, _step: Step) -> None:
        message = self._next_message(silence_ms / 1000, f"silence for {silence_ms} ms")
        if message is not None:
            raise Unmet(f"expected silence for {silence_ms} ms; it sent {shortly(message)}")

    def _interrupt(self, _given: object, _step: Step) -> None:
        self._stage.client.interrupt()

    def _hangs_up(self, within_ms: int, _step: Step) -> None:
        if not self._stream.wait_until_hung_up(within_ms / 1000):
            raise Unmet(f"expected the client to hang up within {within_ms} ms; it did not")
        self._stream.end(StreamEnded(grpc.StatusCode.OK))
        self._done = True

    def _pings(self, wanted: Mapping[str, int], step: Step) -> None:
        """Expect a ping in time on an idle stream, and no two too close together."""
        began_s = time.monotonic()
        self._silence_ms(wanted["for_ms"], step)
        pings_s = [at_s for at_s in self._stream.endpoint.relay.pings_s if at_s > began_s]
        if not pings_s:
            raise Unmet(f"expected a ping within {wanted['for_ms']} ms; there was none")
        gaps_ms = [round((b - a) * 1000) for a, b in itertools.pairwise(pings_s)]
        if gaps_ms and min(gaps_ms) < wanted["least_gap_ms"]:
            raise Unmet(
                f"expected {wanted['least_gap_ms']} ms between pings; two were {min(gaps_ms)} ms apart"
            )

    def _compare(self, expected: Any, seen: Any, where: str) -> None:
        if difference := self._stage.bound.differs(expected, seen, where):
            raise Unmet(difference)

    # The arena's messages.

    def _post(self, message: ArenaMessage, step: Step) -> None:
        """Send a message, with unknown fields appended if the step has some."""
        data = message.SerializeToString() + bytes.fromhex(step.get("plus_hex", ""))
        if "pad_bytes" in step:
            data += _padding(step["pad_bytes"])
        if "cut_after_bytes" in step:
            self._stream.send_partly(data, step["cut_after_bytes"])
            if not self._stream.wait_until_hung_up(self._stage.most_s):
                raise Unmet("expected the client to notice the cut connection; it did not")
            self._stream.end(StreamEnded(grpc.StatusCode.CANCELLED))
            self._done = True
        else:
            self._stream.send(data)

    def _welcome(self, given: Mapping[str, Any], step: Step) -> None:
        fields = dict(given)
        epoch = fields.pop("epoch", self._stage.epoch)
        message = messages.welcome(self._stage.folder, fields, epoch=epoch, games=self._stage.games)
        self._shown(message.welcome.open_asks)
        self._post(message, step)

    def _match_start(self, given: int | Mapping[str, Any], step: Step) -> None:
        self._post(ArenaMessage(match_start=messages.as_started(given)), step)

    def _ask(self, given: Sequence[Any], step: Step) -> None:
        asks = [messages.as_asked(self._stage.folder, entry) for entry in given]
        self._shown(asks)
        self._post(ArenaMessage(asks=Asks(asks=asks)), step)

    def _shown(self, asks: Iterable[Ask]) -> None:
        for ask in asks:
            self._stage.deal.shown(ask)
            if family := ask.WhichOneof("game"):
                self._stage.moves[ask.ask_id] = len(getattr(ask, family).moves)

    def _ask_closed(self, given: Mapping[str, Any], step: Step) -> None:
        self._post(ArenaMessage(ask_closed=ParseDict(given, AskClosed())), step)

    def _match_end(self, given: int | Mapping[str, Any], step: Step) -> None:
        message = messages.match_end(given)
        self._stage.deal.ended(message.match_end)
        self._post(message, step)

    def _deal(self, kind: str, step: Step) -> None:
        fields = {name: step[name] for name in step if name not in {"deal", "lie"}}
        self._post(self._stage.deal.message(kind, step.get("lie", ""), fields), {})

    def _drain(self, deadline_ms: int, step: Step) -> None:
        self._post(ArenaMessage(drain=Drain(deadline_ms=deadline_ms)), step)

    def _redirect(self, endpoint: str, step: Step) -> None:
        place = filled(endpoint, self._stage.places)
        self._post(ArenaMessage(redirect=Redirect(endpoint=place)), step)

    def _send(self, given: Mapping[str, Any], step: Step) -> None:
        self._post(ParseDict(given, ArenaMessage()), step)

    def _send_hex(self, given: str, _step: Step) -> None:
        self._stream.send(bytes.fromhex(given))

    def _wait_ms(self, wait_ms: int, _step: Step) -> None:
        time.sleep(wait_ms / 1000)

    def _end(self, status: str, step: Step) -> None:
        code = grpc.StatusCode[status]
        text = step.get("text", f"the script ends as {status}")
        self._stream.end(StreamEnded(code, text, step.get("reason", ""), step.get("retry_ms", 0)))
        self._done = True

    def _reset(self, _given: object, _step: Step) -> None:
        self._stream.reset()
        self._done = True


def filled(text: str, places: Mapping[str, str]) -> str:
    """Replace the names of places in a text, as `$second`."""
    for name, place in places.items():
        text = text.replace(f"${name}", place)
    return text


def _padding(size_bytes: int) -> bytes:
    """Return an unknown field, number 99, with this number of bytes."""
    size, length = size_bytes, bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return b"\x9a\x06" + bytes(length) + bytes([size]) + bytes(size_bytes)
