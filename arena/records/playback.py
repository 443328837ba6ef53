"""Plays a replay through the rules again, step by step.

A step holds the decisions, the events, and the state after them. `verify`, `show`
and `export` all read these steps.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.games.contract import IllegalMove, Move, Seat, SentEvent, State, Step, View
from arena.games.game import Game
from arena.games.notation import Notation
from arena.records.read import Replay
from arena.referee.spec import Ending, FaultKind
from arena.referee.wire.codec import Malformed
from arena.referee.wire.games import codec_of
from cardarena.v1 import journal_pb2


class Discrepancy(Exception):
    """The replay contradicts itself or the rules. The text says where and how."""


@dataclass(frozen=True, slots=True)
class ReplayedDecision:
    """One seat's decision in a replay."""

    seat: Seat
    decision: int
    """The seat's decision in the match, counted from 1."""
    move: Move
    """The move of the bot, or the one that was played for it."""
    sent_us: int
    """The time when the ask was sent, from the start of the match."""
    charged_us: int
    bank_ms: int
    """The bank after the decision."""
    fault: FaultKind | None
    reason: str
    unasked: bool
    forfeited: bool
    """Whether the seat is played by fallback from here to the end."""


@dataclass(frozen=True, slots=True)
class PlaybackStep:
    """One step of a match; the first one is the deal, before any decision."""

    index: int
    game: Game
    hand: int
    """The hand in which the decisions fell, from 0."""
    decisions: tuple[ReplayedDecision, ...]
    """In the order in which they were settled."""
    events: tuple[SentEvent, ...]
    before: State
    """The state in which the decisions were made; in the first step, that after it."""
    state: State
    complete: bool = True
    """False if the match was stopped before the step was played."""

    @property
    def next_hand(self) -> int:
        """The hand in play after the step."""
        return self.game.rules.hand_number(self.state)

    def view(self, seat: Seat | None) -> View:
        """Return what a seat, or the spectator, may know after the step."""
        return self.game.rules.view(self.state, seat)

    def events_for(self, seat: Seat | None) -> tuple[SentEvent, ...]:
        """Return the events that a seat, or the spectator, received."""
        return tuple(event for event in self.events if event.is_for(seat))


def slice_of_hand(steps: Sequence[PlaybackStep], hand: int) -> slice:
    """Return the place of a hand, from 0, among the steps of its match.

    Its first step deals it, and is the last of the hand before.
    """
    first = bisect_left(steps, hand, key=lambda step: step.next_hand)
    return slice(first, bisect_right(steps, hand, key=lambda step: step.hand))


def play_back(replay: Replay) -> Iterator[PlaybackStep]:
    """Play a match through the rules.

    Raises:
      Damaged: if the replay does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
      Discrepancy: where the replay does not follow the rules.
    """
    return _Player(replay).steps()


class _Player:
    def __init__(self, replay: Replay) -> None:
        self._spec = replay.spec()
        self._rules = self._spec.terms.game.rules
        self._codec = codec_of(self._spec.terms.game)
        self._notation = Notation(self._spec.terms.game.messages.Move)
        self._aborted = replay.ending is Ending.ABORTED
        self._decided = replay.decided
        self._at = 0

    def steps(self) -> Iterator[PlaybackStep]:
        game, spec = self._spec.terms.game, self._spec
        try:
            state, events = self._rules.start(spec.terms.options, spec.terms.seats, spec.deals)
        except Exception as error:
            if self._aborted and not self._decided:
                return
            raise Discrepancy(f"the rules cannot start this match: {error}") from error
        hand = self._rules.hand_number(state)
        yield PlaybackStep(0, game, hand, (), events, state, state)
        index = 0
        while acting := self._rules.to_act(state):
            decisions = self._group(state, acting)
            hand = self._rules.hand_number(state)
            index += 1
            step = self._step(state, decisions) if len(decisions) == len(acting) else None
            if step is None:
                if decisions:
                    yield PlaybackStep(
                        index, game, hand, decisions, (), state, state, complete=False
                    )
                return
            yield PlaybackStep(index, game, hand, decisions, step.events, state, step.state)
            state = step.state
        if self._at < len(self._decided):
            raise Discrepancy(f"{self._where()} comes after the match was over")

    def _group(self, state: State, acting: tuple[Seat, ...]) -> tuple[ReplayedDecision, ...]:
        """Return the decisions of the seats to act; fewer only if the match was stopped."""
        decisions: list[ReplayedDecision] = []
        waiting = set(acting)
        while waiting and self._at < len(self._decided):
            decision = self._decision(self._decided[self._at])
            if decision.seat not in waiting:
                raise Discrepancy(f"{self._where()} was not seat {decision.seat}'s to make")
            self._require_legal(state, decision)
            waiting.remove(decision.seat)
            decisions.append(decision)
            self._at += 1
        if waiting and not self._aborted:
            seats = " and ".join(f"seat {seat}" for seat in sorted(waiting))
            raise Discrepancy(
                f"the match is said to have ended after {self._at} decisions, "
                f"but {seats} had still to act"
            )
        return tuple(decisions)

    def _require_legal(self, state: State, decision: ReplayedDecision) -> None:
        try:
            legal = decision.move in self._rules.moves(state, decision.seat)
        except Exception as error:
            raise Discrepancy(f"the rules fail at {self._where()}: {error!r}") from error
        if not legal:
            text = self._notation.write(decision.move)
            raise Discrepancy(f"{self._where()} is not a legal move there: {text}")

    def _step(self, state: State, decisions: tuple[ReplayedDecision, ...]) -> Step | None:
        """Return the step of these decisions; None if an error of the rules stopped the match."""
        by_seat = sorted(decisions, key=lambda decision: decision.seat)
        chosen = tuple((decision.seat, decision.move) for decision in by_seat)
        try:
            return self._rules.step(state, chosen, self._spec.deals)
        except IllegalMove as error:
            raise Discrepancy(f"the rules forbid decision {self._at}: {error}") from error
        except Exception as error:
            if self._aborted and self._at == len(self._decided):
                return None
            raise Discrepancy(f"the rules fail at decision {self._at}: {error!r}") from error

    def _decision(self, decided: journal_pb2.Decided) -> ReplayedDecision:
        try:
            move = self._codec.read_move(decided.move)
            fault = FaultKind(decided.fault) if decided.fault else None
        except Malformed as error:
            raise Discrepancy(f"{self._where()} is not a move: {error}") from error
        except ValueError as error:
            raise Discrepancy(f"{self._where()} has a fault that does not exist") from error
        return ReplayedDecision(
            seat=Seat(decided.seat),
            decision=decided.decision,
            move=move,
            sent_us=decided.sent_us,
            charged_us=decided.charged_us,
            bank_ms=decided.bank_ms,
            fault=fault,
            reason=decided.reason,
            unasked=decided.unasked,
            forfeited=decided.forfeited,
        )

    def _where(self) -> str:
        return f"decision {self._at + 1} of {len(self._decided)}"
