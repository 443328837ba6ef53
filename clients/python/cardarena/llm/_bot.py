"""A bot whose moves a language model chooses."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from cardarena._ask import AnyAsk, End
from cardarena._bot import Bot
from cardarena._choice import Noted
from cardarena.llm import _answer
from cardarena.llm._endpoint import Endpoint, Failure, Kind, Message, Reply
from cardarena.llm._prompt import Prompt
from cardarena.llm._tokens import tokens
from cardarena.llm._transcript import Transcript
from cardarena.llm._words import Words

MOST_REQUESTS: Final = 3
"""The maximal number of requests for a move."""
MOST_REPLIES: Final = 2
"""The number of replies without a legal move after which no further request is made: the second request has the error of the first reply."""
RESERVE_S: Final = 0.5
"""The seconds that are reserved for the network to the arena."""
LEAST_S: Final = 1.0
"""The fewest seconds for a request."""
FIRST_WAIT_S: Final = 0.5
"""Seconds before a failed request is repeated; doubled after each repetition."""
CALL_S: Final = 120.0
"""The default of the longest request, in seconds."""
_REASON_CHARS: Final = 120
_OF_MODEL: Final = frozenset({Kind.REFUSED, Kind.CUT, Kind.UNREADABLE, Kind.ILLEGAL})


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a `ModelBot`."""

    endpoint: Endpoint
    prompt: Prompt = field(default_factory=Prompt.read)
    call_s: float = CALL_S
    """The longest time of a request in seconds; half of the clock if that is less, so that a hung request can be repeated."""
    budget_tokens: int | None = None
    """The number of input and output tokens of a match after which no request is made; None for no limit."""
    price: tuple[float, float] = (0.0, 0.0)
    """The price of a million tokens of input and of output, for the sums."""
    transcripts: Path | None = None
    """The folder for transcripts; None for none."""
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class _Usage:
    """The tokens and the time of requests."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def add(self, more: "_Usage") -> None:
        self.requests += more.requests
        self.input_tokens += more.input_tokens
        self.output_tokens += more.output_tokens
        self.seconds += more.seconds

    def cost(self, price: tuple[float, float]) -> float:
        return (self.input_tokens * price[0] + self.output_tokens * price[1]) / 1e6

    def text(self, price: tuple[float, float]) -> str:
        cost = f", cost {self.cost(price):.4f}" if any(price) else ""
        return f"{self.input_tokens}+{self.output_tokens} tokens{cost}, {self.seconds:.1f} s"

    def fields(self, price: tuple[float, float]) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "seconds": round(self.seconds, 3),
            "cost": self.cost(price),
        }


class ModelBot(Bot):
    """Asks a language model for each move. `settings` is set by a subclass, or by `llm.main`.

    After a reply without a legal move, one further request explains the error. A request that fails or hangs is
    repeated with the rest of the clock. If there is still no move, `unanswered` chooses one.
    """

    workers = 16
    settings: ClassVar[Settings]

    def started(self) -> None:
        self._words = Words(self.start)
        self._used = _Usage()
        self._failures = Counter[str]()
        self._rules = self._words.rules()
        self._system: Message | None = None
        self._transcript = None
        if (folder := self.settings.transcripts) is not None:
            self._transcript = Transcript(folder, self.start.match_id, self.seat)
            self._transcript.add(
                match=self.start.match_id,
                game=self.game,
                seat=self.seat,
                model=self.settings.endpoint.model,
                prompt=self.settings.prompt.sha256,
            )

    def unanswered(self, ask: AnyAsk, failure: Failure) -> Any:  # noqa: ARG002 - for subclasses
        """Choose a move after the model gave none; by default it fails, so that the arena plays the fallback.

        Raises:
          Failure: by default.
        """
        raise failure

    def move(self, ask: AnyAsk) -> Any:
        """Return the model's move with a note, or that of `unanswered`."""
        price = self.settings.price
        decision = _Decision(self, ask)
        try:
            choice, reply = decision.choice()
        except Failure as failure:
            self._count(decision, failure)
            return self.unanswered(ask, failure)
        self._count(decision, None)
        retried = "".join(f"; after {failure.kind}" for failure in decision.failures)
        why = _answer.reason(reply)[:_REASON_CHARS]
        return Noted(choice, f"{decision.used.text(price)}{retried}{why and '; '}{why}")

    def ended(self, end: End[Any]) -> None:
        if self._transcript is not None:
            self._transcript.add(
                **self._used.fields(self.settings.price),
                failures=self._failures,
                scores=[*end.scores],
                replay=end.replay_id,
            )

    def _count(self, decision: "_Decision", failure: Failure | None) -> None:
        self._used.add(decision.used)
        self._failures.update(one.kind for one in decision.failures)
        if self._transcript is not None:
            system, *chat = decision.chat
            self._transcript.add(
                decision=decision.ask.decision,
                chat=chat if system == self._system else decision.chat,
                failures=[*map(str, decision.failures)],
                reasoning=decision.reasoning,
                answered=failure is None,
                **decision.used.fields(self.settings.price),
            )
            self._system = system

    def _is_affordable(self, used: _Usage, messages: Sequence[Message]) -> bool:
        """Return whether a request keeps within the budget of the match, if the reply is as long as it may be."""
        budget = self.settings.budget_tokens
        spent = self._used.input_tokens + self._used.output_tokens
        spent += used.input_tokens + used.output_tokens
        needed = chat_tokens(messages) + self.settings.endpoint.max_output_tokens
        return budget is None or spent + needed <= budget


class _Decision:
    """The requests for one move."""

    def __init__(self, bot: ModelBot, ask: AnyAsk) -> None:
        self.ask = ask
        self.used = _Usage()
        self.failures: list[Failure] = []
        self.reasoning: list[str] = []
        self._bot = bot
        self._words = bot._words.of(ask)
        answer = _answer.BY_NUMBER
        if not ask.moves_complete:
            answer = _answer.BY_TEXT.format(forms="; ".join(bot._words.forms))
        system, turn = bot.settings.prompt.filled(
            {
                "rules": bot._rules,
                "news": self._words.news or "nothing",
                "table": self._words.table,
                "moves": _answer.listed(self._words.moves),
                "answer": answer,
            }
        )
        self.chat: list[Message] = [_message("system", system), _message("user", turn)]

    def choice(self) -> tuple[Any, Reply]:
        """Ask until the model names a legal move; return it, and the reply.

        Raises:
          Failure: if it names none; `failures` has all failures.
        """
        while True:
            try:
                reply = self._reply()
                return self._read(reply), reply
            except Failure as failure:
                self.failures.append(failure)
                self._require_another(failure)

    def _reply(self) -> Reply:
        settings, longest_s = self._bot.settings, self._time_left_s()
        if longest_s < LEAST_S:
            raise Failure(Kind.LATE, f"{max(0.0, longest_s):.1f} s of the clock are left")
        if not self._bot._is_affordable(self.used, self.chat):
            raise Failure(Kind.BUDGET, f"the {settings.budget_tokens} tokens of the match are used")
        if self.used.requests < MOST_REQUESTS - 1:
            longest_s = max(LEAST_S, longest_s / 2)
        before_s, size = self.ask.time_left_s(), chat_tokens(self.chat)
        self.used.requests += 1
        try:
            reply = settings.endpoint.complete(self.chat, min(settings.call_s, longest_s))
        finally:
            self.used.seconds += before_s - self.ask.time_left_s()
        spoken = tokens(reply.text) + tokens(reply.reasoning)
        self.used.input_tokens += size if reply.input_tokens is None else reply.input_tokens
        self.used.output_tokens += spoken if reply.output_tokens is None else reply.output_tokens
        self.reasoning.append(reply.reasoning)
        self.chat.append(_message("assistant", reply.text))
        return reply

    def _read(self, reply: Reply) -> Any:
        unlisted = partial(self._bot._words.unlisted_move, ask=self.ask)
        return _answer.chosen(reply, self._words.moves, unlisted)

    def _require_another(self, failure: Failure) -> None:
        """Prepare the next request, or raise the failure if there is none."""
        replies = sum(one.kind in _OF_MODEL for one in self.failures)
        if self.used.requests >= MOST_REQUESTS or replies >= MOST_REPLIES or not self.ask.open:
            raise failure
        if failure.kind in _OF_MODEL:
            wrong = f"That was no move: {failure.why}. Reply with the line `MOVE: n` alone."
            self.chat.append(_message("user", wrong))
            return
        wait_s = failure.wait_s or FIRST_WAIT_S * 2 ** (self.used.requests - 1)
        if not failure.passes or self._time_left_s() < wait_s + LEAST_S:
            raise failure
        self._bot.settings.sleep(wait_s)

    def _time_left_s(self) -> float:
        return self.ask.time_left_s() - RESERVE_S - self.ask.clock.last_round_trip_ms / 1000


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def chat_tokens(messages: Sequence[Message]) -> int:
    """Return about how many tokens a chat has."""
    return sum(tokens(message["content"]) + 4 for message in messages)
