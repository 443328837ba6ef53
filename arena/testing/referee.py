"""Test doubles of a match runner's partners: scripted bots and a ledger in memory.

A `Scripted` bot is a function from an ask to a reply, and records all messages to it. `play` runs a
whole match in one trio task tree, without network or disk. On a mock clock, time passes only in
replies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeAlias

import trio

from arena.games.catalogue import game_by_id
from arena.games.contract import Deals, Step
from arena.referee.absence import Absence
from arena.referee.clock import Lag, NeverLate
from arena.referee.deal import COMMON, KeyedDeals, dice_of, seeded_key
from arena.referee.events import SpectatorPort
from arena.referee.ledger import Ledger, Settled, UsedTime
from arena.referee.referee import Referee
from arena.referee.seat import Answer, OpenAsk, Said
from arena.referee.spec import FaultKind, ForfeitedSeat, MatchSpec, Outcome, SeatedBot
from arena.referee.step_processes import UNKNOWN, Chosen, StepProcesses, Ticket
from arena.referee.terms import DEFAULT_AWAY_LIMIT_MS, MatchTerms, TimeControl
from arena.referee.timers import ArenaTime

FIRST: Final = Answer(index=0)
"""The first move offered."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a scripted bot to an ask. The default is the first move, at once."""

    answer: Answer | None = FIRST
    """None for no answer."""
    after_s: float = 0.0
    """The delay on trio's clock, in seconds."""
    leaves: bool = False
    """Whether the bot disconnects for good instead of answering."""


Script: TypeAlias = Callable[[OpenAsk], Reply]


def plays_first_move(_: OpenAsk) -> Reply:
    """Play the first move offered."""
    return _AT_ONCE


_AT_ONCE: Final = Reply()


@dataclass(frozen=True, slots=True)
class RecordedAsk:
    """An ask that the bot received, with its clock at that time."""

    decision: int
    body: bytes
    clock_ms: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of an ask."""

    decision: int
    fault: FaultKind | None
    reason: str


@dataclass(frozen=True, slots=True)
class SeatEnded:
    """The end of the match."""

    outcome: Outcome
    trailing_events: tuple[bytes, ...]


class Scripted:
    """A bot in memory: `arena.referee.seat.SeatPort`. `run` must run while it plays."""

    def __init__(self, script: Script = plays_first_move, *, wants_text: bool = False) -> None:
        self.heard: list[RecordedAsk | Closed | SeatEnded] = []
        """All messages to the seat, in order."""
        self.gone = False
        self.connected = True
        self.wants_text = wants_text
        self.presence: Absence | None = None
        self.answered_before: tuple[int, Said | None] | None = None
        """The bot's last decision and its choice, in a restored match."""
        self._script = script
        self._send, self._receive = trio.open_memory_channel[OpenAsk](1)

    @property
    def asked(self) -> list[RecordedAsk]:
        return [call for call in self.heard if isinstance(call, RecordedAsk)]

    @property
    def closed(self) -> list[Closed]:
        return [call for call in self.heard if isinstance(call, Closed)]

    @property
    def ended(self) -> SeatEnded | None:
        """The end of the match; None before it."""
        ends = [call for call in self.heard if isinstance(call, SeatEnded)]
        assert len(ends) <= 1, "a match ends once"
        return ends[0] if ends else None

    def ask(self, ask: OpenAsk) -> None:
        ask.sent(trio.current_time())
        body = ask.body + ask.texts() if self.wants_text else ask.body
        self.heard.append(RecordedAsk(ask.decision, body, ask.clock_ms()))
        self._send.send_nowait(ask)

    def sit(self, presence: Absence) -> None:
        self.presence = presence

    def asked_before(self, decision: int, said: Said | None) -> None:
        self.answered_before = decision, said

    def hang_up(self) -> None:
        self.connected = False
        assert self.presence is not None
        self.presence.left()

    def come_back(self) -> None:
        self.connected = True
        assert self.presence is not None
        self.presence.came_back()

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        self.heard.append(Closed(ask.decision, fault, reason))

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        self.heard.append(SeatEnded(outcome, trailing_events))

    async def run(self) -> None:
        """Answer asks until cancelled. A reply can be later than the end of its ask."""
        async with trio.open_nursery() as nursery:
            async for ask in self._receive:
                reply = self._script(ask)
                if reply.after_s > 0:
                    nursery.start_soon(self._reply_later, ask, reply)
                else:
                    self._reply(ask, reply)

    async def _reply_later(self, ask: OpenAsk, reply: Reply) -> None:
        await trio.sleep(reply.after_s)
        self._reply(ask, reply)

    def _reply(self, ask: OpenAsk, reply: Reply) -> None:
        if reply.leaves:
            self.gone = True
            self.connected = False
            ask.abandoned()
        elif reply.answer is not None:
            ask.answered(reply.answer, trio.current_time())


class MemoryLedger:
    """A ledger in memory: `arena.referee.ledger.Ledger`."""

    def __init__(self) -> None:
        self.spec: MatchSpec | None = None
        self.decisions: list[Settled] = []
        self.times: dict[int, UsedTime] = {}
        """The last record of used time of each seat."""
        self.outcome: Outcome | None = None
        self.end_s = 0.0

    def opened(self, spec: MatchSpec) -> None:
        self.spec = spec

    def decided(self, settled: Settled) -> None:
        self.decisions.append(settled)

    def used(self, used: UsedTime) -> None:
        self.times[used.seat] = used

    def closed(self, outcome: Outcome, end_s: float) -> None:
        self.outcome = outcome
        self.end_s = end_s


def seeded_spec(
    game_id: str,
    seats: int,
    options: Mapping[str, object] | None = None,
    *,
    seed: str = "1",
    time_control: TimeControl | None = None,
    fault_limit: int = 10,
    away_limit_ms: int = DEFAULT_AWAY_LIMIT_MS,
    forfeited_seats: tuple[ForfeitedSeat, ...] = (),
) -> MatchSpec:
    """Return a repeatable match between bots that are named by their seats.

    Raises:
      UnknownGame: if there is no such game.
      BadOptions: if the game does not allow these options or seats.
    """
    game = game_by_id(game_id)
    key = seeded_key(seed)
    return MatchSpec(
        match_id=f"{game_id}-{seed}",
        terms=MatchTerms(
            game,
            game.options(options or {}, seats),
            seats,
            time_control or TimeControl(),
            fault_limit,
            away_limit_ms,
            seeded=True,
        ),
        entrants=tuple(SeatedBot(f"bot {seat}") for seat in range(seats)),
        deals=KeyedDeals(key),
        deal_key_sha256=sha256(key).digest(),
        forfeited_seats=forfeited_seats,
        dice=dice_of(key, COMMON, seats),
    )


class InlineSteps(StepProcesses):
    """Plays heavy steps in this process."""

    async def step(
        self,
        game_id: str,
        state: object,
        chosen: Chosen,
        deals: Deals,
        ticket: Ticket = UNKNOWN,  # noqa: ARG002 - as `StepProcesses.step`
    ) -> Step:
        await trio.lowlevel.checkpoint()
        return game_by_id(game_id).rules.step(state, chosen, deals)


async def play(
    spec: MatchSpec,
    bots: Sequence[Scripted],
    ledger: Ledger | None = None,
    workers: StepProcesses | None = None,
    *,
    past: Sequence[Settled] = (),
    lag: Lag | None = None,
    spectators: SpectatorPort | None = None,
) -> Outcome:
    """Play one match between scripted bots, with its own referee.

    `past` are the decisions of a restored match; `spectators` receives its public events.
    """
    time = ArenaTime(trio.lowlevel.current_clock().current_time, lag=lag or NeverLate())
    referee = Referee(trio.lowlevel.checkpoint, workers or InlineSteps(), time)
    async with trio.open_nursery() as nursery:
        await nursery.start(referee.run)
        for bot in bots:
            nursery.start_soon(bot.run)
        outcome = await referee.play(
            spec, bots, ledger or MemoryLedger(), past, spectators=lambda: spectators
        )
        nursery.cancel_scope.cancel()
    return outcome
