"""The arguments of a bot's methods: an ask for one move, and the end of a match."""

import hmac
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Generic, TypeAlias

from typing_extensions import TypeVar

from cardarena.v1.game_pb2 import Ending, Fault, Setting
from cardarena.v1.play_pb2 import Ask as AskMessage
from cardarena.v1.play_pb2 import Clock, MatchEnd, MatchStart, PlayedFor

ViewT = TypeVar("ViewT", default=Any)
MoveT = TypeVar("MoveT", default=Any)
EventT = TypeVar("EventT", default=Any)

_OWN_DICE: Final = os.urandom(16)
"""The dice of this process, for matches of arenas that send no dice."""

OptionValue: TypeAlias = int | str | bool


@dataclass(slots=True)
class Told:
    """The news of asks that the bot's code did not receive."""

    events: list[Any] = field(default_factory=list)
    event_texts: list[str] = field(default_factory=list)
    played_for: list[PlayedFor] = field(default_factory=list)


class Ask(Generic[ViewT, MoveT, EventT]):
    """One decision of one seat, with everything that the seat may know.

    The module of each game has a typed one, for completion in editors:
    `def move(self, ask: abstrac.Ask)`.
    """

    __slots__ = (
        "_before",
        "_body",
        "_moves",
        "_now_s",
        "_random",
        "_received_s",
        "ask_id",
        "family",
        "match",
        "message",
        "open",
        "shown",
        "start",
        "thinking",
    )

    message: AskMessage
    """The message of the arena."""
    ask_id: int
    """The number of the ask on the stream."""
    match: int
    """The number of the match on the stream."""
    family: str
    """The field of `oneof game` that is set: the module with the game's messages."""
    start: MatchStart
    """The message with which the match began."""
    open: bool
    """Whether the arena still waits for an answer. May become false while the bot thinks."""
    shown: bool
    """Whether the bot's code has received this ask."""
    thinking: int | Coroutine[Any, Any, Any] | None
    """The thread or the coroutine in which the bot's code chooses a move; None before and after."""

    def __init__(
        self,
        message: AskMessage,
        start: MatchStart,
        family: str,
        *,
        before: Told | None,
        now_s: Callable[[], float],
    ) -> None:
        """Wrap an ask that has just arrived.

        Args:
          message: The message of the arena.
          start: The match.
          family: The field of `oneof game` that is set.
          before: News of earlier asks of the match that the bot's code did not receive.
          now_s: A monotonic clock.
        """
        self.message = message
        self.ask_id = message.ask_id
        self.match = start.match
        self.family = family
        self.start = start
        self.open = True
        self.shown = False
        self.thinking = None
        self._body: Any = getattr(message, family)
        self._moves: list[MoveT] | None = None
        self._random: Random | None = None
        self._before = before
        self._now_s = now_s
        self._received_s = now_s()

    @property
    def game(self) -> str:
        """The id of the game, such as `abstrac`."""
        return self.start.terms.game

    @property
    def seat(self) -> int:
        """The bot's seat."""
        return self.message.seat

    @property
    def view(self) -> ViewT:
        """What the seat sees now, as a message of the game."""
        view: ViewT = self._body.view
        return view

    @property
    def moves(self) -> Sequence[MoveT]:
        """Legal moves, at least one; all legal moves if `moves_complete`."""
        if self._moves is None:
            self._moves = list(self._body.moves)
        return self._moves

    @property
    def moves_complete(self) -> bool:
        """Whether `moves` has all legal moves."""
        return bool(self._body.moves_complete)

    @property
    def forced(self) -> bool:
        """Whether only one move is legal."""
        return len(self._body.moves) == 1 and bool(self._body.moves_complete)

    @property
    def events(self) -> Sequence[EventT]:
        """Events since the bot's code received the previous ask of this match, oldest first.

        They include events of asks that were answered without the bot, or withdrawn.
        """
        events: Sequence[EventT] = self._body.events
        return [*self._before.events, *events] if self._before else events

    @property
    def event_texts(self) -> Sequence[str]:
        """`events` in notation, if the bot has `want_text`."""
        texts = self.message.event_texts
        return [*self._before.event_texts, *texts] if self._before else texts

    @property
    def move_texts(self) -> Sequence[str]:
        """`moves` in notation, if the bot has `want_text`."""
        return self.message.move_texts

    @property
    def played_for(self) -> Sequence[PlayedFor]:
        """Moves among `events` that the arena played after a fault."""
        played_for = self.message.played_for
        if self._before is None:
            return played_for
        shift = len(self._before.events)
        return [*self._before.played_for, *(_shifted(one, shift) for one in played_for)]

    @property
    def clock(self) -> Clock:
        """The time when the arena sent the ask, in milliseconds."""
        return self.message.clock

    @property
    def decision(self) -> int:
        """The number of the seat's decision in the match, from 1."""
        return self.message.decision

    @property
    def seed(self) -> bytes:
        """32 secret bytes that seed the random numbers of this decision, the same in every language.

        They follow from the match's dice and `decision`. If the arena sent no dice, the SDK draws some for the process.
        """
        dice = self.start.dice or _OWN_DICE + self.match.to_bytes(4, "big")
        # `hmac.digest` releases the interpreter, so answers that are ready together would be sent one by one.
        return hmac.new(dice, self.decision.to_bytes(4, "big"), "sha256").digest()

    @property
    def random(self) -> Random:
        """Random numbers of this decision: `random.Random(ask.seed)`, created once.

        A bot that takes all its random numbers from here repeats its moves if dice and asks are the same. Versions that
        are compared with common dice have the same numbers at the same decision, so a comparison needs fewer deal-sets.
        """
        if self._random is None:
            self._random = Random(self.seed)
        return self._random

    @property
    def options(self) -> dict[str, OptionValue]:
        """The options of the match with their values."""
        return option_values(self.start)

    def time_left_s(self) -> float:
        """Seconds left for the move and in the bank, counted from the arrival of the ask.

        The network is not included: `clock.last_round_trip_ms` has the duration of the previous decision with it.
        """
        clock = self.clock
        budget_s = (clock.move_ms + clock.bank_ms) / 1000
        return max(0.0, self._received_s + budget_s - self._now_s())

    def told(self) -> Told:
        """Return the news of this ask, which is added to that of the next ask if the bot does not receive this one."""
        return Told(list(self.events), list(self.event_texts), list(self.played_for))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the ask for another process of this machine, where it is open until that process is told otherwise."""
        told = self.message, self.start, self.family, self._before, self._received_s
        return _in_another_process, told

    def __repr__(self) -> str:
        return f"<Ask {self.ask_id} of match {self.match} ({self.game}), seat {self.seat}>"


AnyAsk: TypeAlias = Ask[Any, Any, Any]
"""An ask of any game."""


def _in_another_process(
    message: AskMessage, start: MatchStart, family: str, before: Told | None, received_s: float
) -> AnyAsk:
    # Processes of a machine have one monotonic clock.
    ask: AnyAsk = Ask(message, start, family, before=before, now_s=time.monotonic)
    ask._received_s = received_s
    return ask


class End(Generic[EventT]):
    """The end of a match.

    The module of each game has the type of its events: `End[abstrac.Event]`.
    """

    __slots__ = ("_before", "message", "start")

    message: MatchEnd
    """The message of the arena."""
    start: MatchStart
    """The message with which the match began."""

    def __init__(self, message: MatchEnd, start: MatchStart, *, before: Told | None) -> None:
        self.message = message
        self.start = start
        self._before = before

    @property
    def match(self) -> int:
        """The number of the match on the stream."""
        return self.start.match

    @property
    def missed(self) -> bool:
        """Whether the match ended while the bot was disconnected, so that its result is unknown."""
        return self.message.ending == Ending.ENDING_UNSPECIFIED

    @property
    def ending(self) -> "Ending.ValueType":
        """How it ended."""
        return self.message.ending

    @property
    def scores(self) -> Sequence[int]:
        """Scores by seat in the unit of the game; empty if the match was aborted or its end was missed."""
        return self.message.scores

    @property
    def places(self) -> Sequence[int]:
        """Places by seat, from 1; empty if `scores` is."""
        return self.message.places

    @property
    def faults(self) -> Sequence[Fault]:
        """All faults of the match; only the bot's own have a reason."""
        return self.message.faults

    @property
    def replay_id(self) -> str:
        """The path of the replay at the arena, which is published after the deal-set."""
        return self.message.replay_id

    @property
    def events(self) -> Sequence[EventT]:
        """Events since the bot's code received the last ask, oldest first."""
        trailing: list[EventT] = [
            getattr(event, family)
            for event in self.message.trailing_events
            if (family := event.WhichOneof("game"))
        ]
        return [*self._before.events, *trailing] if self._before else trailing

    def __repr__(self) -> str:
        result = "missed" if self.missed else Ending.Name(self.ending)
        return (
            f"<End of match {self.match} ({self.start.terms.game}): {result} {list(self.scores)}>"
        )


def option_values(start: MatchStart) -> dict[str, OptionValue]:
    """Return the options of a match as plain values."""
    return {setting.name: _value(setting) for setting in start.terms.options}


def _shifted(one: PlayedFor, shift: int) -> PlayedFor:
    shifted = PlayedFor()
    shifted.CopyFrom(one)
    shifted.events_before += shift
    return shifted


def _value(setting: Setting) -> OptionValue:
    match setting.WhichOneof("value"):
        case "text":
            return setting.text
        case "flag":
            return setting.flag
        case _:
            return setting.number
