"""A match of one person against bots of this process, by the arena's own match runner.

The runner judges, charges the person's clock and writes a replay, as at an arena. The bots are functions. The knowledge
of the person is stored as moments: after each step the view of the seat, and the events that the rules sent to it.

Calls block while bots think. They are safe on any thread; one runs at a time.
"""

import hashlib
import logging
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Final, NamedTuple, TypeAlias

from arena.games.contract import Event, Move, Moves, Options, Seat, View
from arena.records.deal_book import Opening, seeded_opening
from arena.records.journal.match_log import MatchLog
from arena.records.playback import play_back
from arena.records.read import Replay
from arena.records.write import write_replay
from arena.referee.absence import Absence
from arena.referee.deal import COMMON, KeyedDeals, dice_of
from arena.referee.events import OpenHands
from arena.referee.match_runner import MatchRunner
from arena.referee.seat import Answer, OpenAsk, Said
from arena.referee.spec import Fault, MatchSpec, Outcome, SeatedBot
from arena.referee.terms import MatchTerms
from arena.referee.timers import ArenaTime, Timers
from arena.referee.wire.games import codec_of
from cardarena.v1 import game_pb2

_log = logging.getLogger(__name__)

Play: TypeAlias = Callable[[View, Moves, Options, Seat, random.Random], Move]
"""Chooses the move of a bot from the knowledge of its seat."""


class NotYourMove(Exception):
    """The move cannot be played now. The text says why."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The knowledge of a seat after a step."""

    hand: int
    """The hand in play, from 0."""
    view: View
    events: tuple[Event, ...]
    """Those of this step that were sent to the seat."""
    banks_ms: tuple[int | None, ...]
    """By seat, the time in the bank; None if it is not known."""
    faults: tuple[Fault, ...] = ()
    """Moves that the fallback made in this step, without reasons."""


class PersonsAsk(NamedTuple):
    """The open ask of the person."""

    decision: int
    """The seat's decision in the match, from 1."""
    view: View
    moves: Moves
    left_ms: tuple[int, int]
    """The time for the move, and in the bank."""


@dataclass(frozen=True, slots=True)
class ContinuedMatch:
    """An ended match up to a step, from which a person continues: the same deals, and the same moves so far."""

    opening: Opening
    moves: Mapping[tuple[Seat, int], Move]
    """By seat and its decision in the match, from 1."""

    @classmethod
    def of(cls, replay: Replay, step: int) -> "ContinuedMatch":
        """Read the decisions up to a step, as it is numbered in pictures.

        Raises:
          NotYourMove: if the match has no such step, or no seat is to act after it.
          Damaged, Unplayable, Discrepancy: if the replay cannot be played.
        """
        steps = [played for played in play_back(replay) if played.index <= step]
        last = steps[-1] if steps else None
        if last is None or last.index != step or not last.game.rules.to_act(last.state):
            raise NotYourMove("No move follows in this match there; choose an earlier step.")
        moves = {
            (made.seat, made.decision): made.move for played in steps for made in played.decisions
        }
        return cls(Opening(replay.revealed.deal_key, replay.revealed.seed), moves)


class HumanMatch:
    """A match of one person."""

    def __init__(
        self,
        terms: MatchTerms,
        seat: Seat,
        names: Sequence[str],
        bots: Mapping[Seat, Play],
        folder: Path,
        *,
        seed: str = "",
        continued: ContinuedMatch | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Deal, and let the bots play until the person is to act.

        Args:
          terms: The terms of a seeded match.
          names: By seat, as in the replay.
          bots: The bots at all other seats.
          seed: Gives the same deals again; drawn if it is empty.
          continued: The match that this one continues, instead of a seed.
        """
        self.terms: Final = terms
        self.seat: Final = seat
        self.names: Final = tuple(names)
        self.match_id: Final = secrets.token_hex(8)
        self.moments: Final[list[Moment]] = []
        """What the person's seat knew after each step; only ever appended to."""
        self.replay: Path | None = None
        """Its replay, once the match has ended; None if it could not be written."""
        self._has_ended = False
        self._bots = bots
        self._folder = folder
        self._past = dict(continued.moves) if continued else {}
        """Moves that are still to be played again."""
        self._opening = (
            continued.opening if continued else seeded_opening(seed or secrets.token_hex(16))
        )
        key = self._opening.key
        self._dice = dice_of(key, COMMON, terms.seats)
        self._deals = KeyedDeals(key)
        self._now_s = now_s
        self._codec = codec_of(terms.game)
        self._log = MatchLog(_NoJournal(), 1)
        self._asks: list[OpenAsk] = []
        """The asks of all seats; settled ones are dropped at the next look."""
        self._unshown: tuple[Fault, ...] = ()
        self._lock = RLock()
        self._timers = Timers()
        spec = MatchSpec(
            self.match_id,
            terms,
            tuple(map(SeatedBot, self.names)),
            self._deals,
            hashlib.sha256(key).digest(),
            dice=self._dice,
        )
        self._runner = MatchRunner(
            spec,
            [_Port(self._asks, now_s) for _ in names],
            self._log,
            time=ArenaTime(now_s, self._timers),
            over=lambda _: None,
            heavy_step=self._step_here,
            spectators=_OwnSeat(self),
        )
        with self._lock:
            self._runner.begin()
            self._play_again()
            self._play_bots()

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended; None while it is in play."""
        return self._runner.outcome

    @property
    def hand_scores(self) -> tuple[tuple[int, ...], ...]:
        """The scores of completed hands, which are public, by seat."""
        return self.terms.game.rules.hand_scores(self._runner.state)

    def ask(self) -> PersonsAsk | None:
        """Return the open ask of the person; None once the match has ended."""
        with self._lock:
            ask = self._open_ask()
            if ask is None:
                return None
            move_ms, bank_ms, _ = ask.clock_ms(max(0.0, self._now_s() - ask.sent_s))
            return PersonsAsk(ask.decision, self.moments[-1].view, ask.moves, (move_ms, bank_ms))

    def answer(self, decision: int, move: Move) -> None:
        """Play a move for the person, and then the bots' until the person is to act again.

        Raises `NotYourMove` if another decision is open, or the move is illegal. Neither is a fault.
        """
        with self._lock:
            self.pass_time()
            ask = self._open_ask()
            if ask is None or ask.decision != decision:
                raise NotYourMove("That move was decided already; this is the table now.")
            if move not in ask.moves:
                raise NotYourMove("The rules do not allow that move now.")
            self._answer(ask, move)
            self._play_bots()

    def pass_time(self) -> None:
        """Play the fallback if the person's time is up. A person who forfeits ends the match.

        Call it about every second.
        """
        with self._lock:
            self._timers.call_due(self._now_s())
            self._play_bots()

    def leave(self) -> None:
        """Stop the match: it has no result."""
        with self._lock:
            self._runner.abort()
            self._end()

    def see(self, hand: int, hands: OpenHands, banks_ms: Sequence[int]) -> None:
        """Add what the person's seat knows after a step, and nothing else of it."""
        events = tuple(event.event for event in hands.events if event.is_for(self.seat))
        faults, self._unshown = self._unshown, ()
        self.moments.append(Moment(hand, hands.view(self.seat), events, tuple(banks_ms), faults))

    def see_faults(self, faults: Sequence[Fault]) -> None:
        """Add the faults of the step that follows."""
        self._unshown = tuple(faults)

    def _open_ask(self, *, of_bot: bool = False) -> OpenAsk | None:
        self._asks[:] = [ask for ask in self._asks if not ask.settled]
        return next((ask for ask in self._asks if (ask.seat != self.seat) is of_bot), None)

    def _play_again(self) -> None:
        while self._past and self.outcome is None:
            self._asks[:] = [ask for ask in self._asks if not ask.settled]
            for ask in list(self._asks):
                self._answer(ask, self._past.pop((ask.seat, ask.decision)))

    def _play_bots(self) -> None:
        """Let bots move while one of them is to act."""
        rules = self.terms.game.rules
        while self.outcome is None:
            if self._runner.conduct[self.seat].forfeited:
                self._runner.abort()
                break
            ask = self._open_ask(of_bot=True)
            if ask is None:
                return
            view = rules.view(self._runner.state, ask.seat)
            chance = random.Random(self._dice.seats[ask.seat] + ask.decision.to_bytes(4, "big"))
            play = self._bots[ask.seat]
            self._answer(ask, play(view, ask.moves, self.terms.options, ask.seat, chance))
        self._end()

    def _answer(self, ask: OpenAsk, move: Move) -> None:
        offered = ask.moves.offered
        if move in offered:
            given = Answer(index=offered.index(move))
        else:
            given = Answer(move=game_pb2.GameMove.FromString(self._codec.game_move(move)))
        ask.answered(given, self._now_s())

    def _step_here(self, runner: MatchRunner, chosen: Any, _seat: Seat, _work: object) -> None:
        """Play a long step in this thread, as the match has one person who waits."""
        runner.stepped(self.terms.game.rules.step(runner.state, chosen, self._deals))

    def _end(self) -> None:
        if self.outcome is None or self._has_ended:
            return
        self._has_ended = True
        try:
            self.replay = write_replay(self._folder, self.match_id, self._log.bodies, self._opening)
        except OSError:
            _log.exception("the replay of a person's match is not written")


class _NoJournal:
    """A match of a person does not outlast its process."""

    def append(self, body: bytes) -> None:
        """Do nothing."""


class _Port:
    """A seat whose asks wait in a list. It is never absent: a person who closes the page only loses time."""

    gone = False
    connected = True

    def __init__(self, asks: list[OpenAsk], now_s: Callable[[], float]) -> None:
        self._asks = asks
        self._now_s = now_s

    def sit(self, presence: Absence) -> None:
        """Do nothing."""

    def ask(self, ask: OpenAsk) -> None:
        """Start the clock, and keep the ask."""
        ask.sent(self._now_s())
        self._asks.append(ask)

    def asked_before(self, decision: int, said: Said | None) -> None:
        """Do nothing, as no match is restored."""

    def close(self, ask: OpenAsk, fault: object, reason: str) -> None:
        """Do nothing: a settled ask is dropped from the list."""

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        """Do nothing."""


class _OwnSeat:
    hands_open = True

    def __init__(self, match: HumanMatch) -> None:
        self._match = match

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[SeatedBot]) -> None:
        """Do nothing."""

    def stepped(
        self,
        hand: int,
        events: Sequence[Event],  # noqa: ARG002
        view: Callable[[], View],  # noqa: ARG002
        banks_ms: Sequence[int],
        hands: OpenHands | None,
    ) -> None:
        """Add the step to the moments of the person."""
        assert hands is not None
        self._match.see(hand, hands, banks_ms)

    def blamed(self, faults: Sequence[Fault]) -> None:
        """Add the faults to the moments of the person."""
        self._match.see_faults(faults)

    def closed(self, outcome: Outcome) -> None:
        """Do nothing."""
