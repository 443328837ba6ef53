"""Bots and a ledger in memory: doubles for whatever a table needs of the world.

A `Scripted` bot is a function from an ask to a reply; it remembers all it was
told. With `play` a whole match runs in one trio task tree, without transport
or disk, so that on a mock clock no time passes that nobody thinks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeAlias

import trio

from arena.deal import KeyedDeals, seeded_key
from arena.games.catalogue import game_by_id
from arena.games.contract import Deals, Step
from arena.referee.ask import Answer, OpenAsk, Said
from arena.referee.gallery import Gallery
from arena.referee.lag import Lag
from arena.referee.ledger import Ledger, Settled, UsedTime
from arena.referee.presence import Presence
from arena.referee.referee import Referee
from arena.referee.spec import Entrant, FaultKind, ForfeitedSeat, MatchSpec, Outcome
from arena.referee.workers import UNTOLD, Chosen, Ticket, Workers
from arena.terms import DEFAULT_AWAY_LIMIT_MS, MatchTerms, TimeControl

FIRST: Final = Answer(index=0)
"""The first move offered."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a scripted bot does about an ask. As it stands: the first move, at once."""

    answer: Answer | None = FIRST
    """None says nothing."""
    after_s: float = 0.0
    """Thought, on trio's clock, before anything is done."""
    leaves: bool = False
    """Goes for good instead of answering."""


Script: TypeAlias = Callable[[OpenAsk], Reply]


def plays_first_move(_: OpenAsk) -> Reply:
    """Play the first move offered."""
    return _AT_ONCE


_AT_ONCE: Final = Reply()


@dataclass(frozen=True, slots=True)
class Asked:
    """An ask, as it was when it came."""

    decision: int
    body: bytes
    clock_ms: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Closed:
    """An ask was withdrawn."""

    decision: int
    fault: FaultKind | None
    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The match is over."""

    outcome: Outcome
    trailing_events: tuple[bytes, ...]


class Scripted:
    """A bot in memory: `arena.referee.SeatPort`. `run` must run while it plays."""

    def __init__(self, script: Script = plays_first_move, *, wants_text: bool = False) -> None:
        self.heard: list[Asked | Closed | Ended] = []
        """All that the seat was told, in order."""
        self.gone = False
        self.connected = True
        self.wants_text = wants_text
        self.presence: Presence | None = None
        self.answered_before: tuple[int, Said | None] | None = None
        """Of a match that goes on: the bot's last decision and what it chose."""
        self._script = script
        self._send, self._receive = trio.open_memory_channel[OpenAsk](1)

    @property
    def asked(self) -> list[Asked]:
        """The asks alone."""
        return [each for each in self.heard if isinstance(each, Asked)]

    @property
    def closed(self) -> list[Closed]:
        """The asks that were withdrawn."""
        return [each for each in self.heard if isinstance(each, Closed)]

    @property
    def ended(self) -> Ended | None:
        """How the match ended; None if the seat was never told."""
        ends = [each for each in self.heard if isinstance(each, Ended)]
        assert len(ends) <= 1, "a match ends once"
        return ends[0] if ends else None

    def ask(self, ask: OpenAsk) -> None:
        ask.sent(trio.current_time())
        body = ask.body + ask.texts() if self.wants_text else ask.body
        self.heard.append(Asked(ask.decision, body, ask.clock_ms()))
        self._send.send_nowait(ask)

    def sit(self, presence: Presence) -> None:
        self.presence = presence

    def asked_before(self, decision: int, said: Said | None) -> None:
        self.answered_before = decision, said

    def hang_up(self) -> None:
        """Cannot be reached from now on."""
        self.connected = False
        assert self.presence is not None
        self.presence.left()

    def come_back(self) -> None:
        """Can be reached again."""
        self.connected = True
        assert self.presence is not None
        self.presence.came_back()

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        self.heard.append(Closed(ask.decision, fault, reason))

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        self.heard.append(Ended(outcome, trailing_events))

    async def run(self) -> None:
        """Answer asks until cancelled. A reply outlives its ask: it may come too late."""
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
    """A ledger in memory: `arena.referee.Ledger`."""

    def __init__(self) -> None:
        self.spec: MatchSpec | None = None
        self.decisions: list[Settled] = []
        self.times: dict[int, UsedTime] = {}
        """By seat, the last that was written down of time that no decision tells."""
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
    """A repeatable match between bots named for their seats.

    Raises:
      UnknownGame: if there is no such game.
      BadOptions: if the game is not played so.
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
        entrants=tuple(Entrant(f"bot {seat}") for seat in range(seats)),
        deals=KeyedDeals(key),
        deal_key_sha256=sha256(key).digest(),
        forfeited_seats=forfeited_seats,
    )


class WorkersHere(Workers):
    """Plays heavy steps in this process, at once."""

    async def step(
        self,
        game_id: str,
        state: object,
        chosen: Chosen,
        deals: Deals,
        ticket: Ticket = UNTOLD,  # noqa: ARG002 - as any worker is told
    ) -> Step:
        await trio.lowlevel.checkpoint()
        return game_by_id(game_id).rules.step(state, chosen, deals)


async def play(
    spec: MatchSpec,
    bots: Sequence[Scripted],
    ledger: Ledger | None = None,
    workers: Workers | None = None,
    *,
    past: Sequence[Settled] = (),
    lag: Lag | None = None,
    gallery: Gallery | None = None,
) -> Outcome:
    """Play one match between scripted bots, by a referee of its own.

    `past` are the decisions of a match that goes on; `gallery` watches.
    """
    book, checkpoint = ledger or MemoryLedger(), trio.lowlevel.checkpoint
    referee = Referee(lambda _: book, checkpoint, workers or WorkersHere(), lag, lambda _: gallery)
    async with trio.open_nursery() as nursery:
        await nursery.start(referee.run)
        for bot in bots:
            nursery.start_soon(bot.run)
        outcome = await referee.play(spec, bots, past)
        nursery.cancel_scope.cancel()
    return outcome
