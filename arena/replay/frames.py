"""A replay played through the rules again, step by step.

Every frame holds the decisions of a step, its events, and the state after it. `verify`, `show` and `export` all walk these frames.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.games.catalogue import Game
from arena.games.contract import IllegalMove, Move, Seat, State, Step, Told, View
from arena.games.notation import Notation
from arena.referee.spec import Ending, FaultKind
from arena.replay.read import Replay
from arena.wire.codec import Malformed
from arena.wire.games import codec_of
from cardarena.v1 import journal_pb2


class Discrepancy(Exception):
    """The replay says something that did not happen so by the rules. The text says what."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One seat's decision, as the replay has it."""

    seat: Seat
    decision: int
    """The seat's decision in the match, counted from 1."""
    move: Move
    """The bot's own, or the one played for it."""
    sent_us: int
    """From the start of the match to the sending of the ask."""
    charged_us: int
    bank_ms: int
    """What was left in the bank afterwards."""
    fault: FaultKind | None
    reason: str
    unasked: bool
    forfeited: bool
    """Whether the seat is played by fallback from here to the end."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a match; the first one is the deal, before any decision."""

    index: int
    game: Game
    hand: int
    """The hand in which the decisions fell, from 0."""
    decisions: tuple[Decision, ...]
    """In the order in which they were settled."""
    told: tuple[Told, ...]
    before: State
    """The state in which the decisions were made; in the first frame, that after it."""
    state: State
    """The state after the step."""
    complete: bool = True
    """False if the match was stopped before the step was played."""

    @property
    def next_hand(self) -> int:
        """The hand that goes on after the step."""
        return self.game.rules.hand_number(self.state)

    def view(self, seat: Seat | None) -> View:
        """What a seat, or the spectator, may know after the step."""
        return self.game.rules.view(self.state, seat)

    def told_to(self, seat: Seat | None) -> tuple[Told, ...]:
        """The events that a seat, or the spectator, learnt of."""
        return tuple(
            told
            for told in self.told
            if told.seats is None or (seat is not None and seat in told.seats)
        )


def of_hand(played: Sequence[Frame], hand: int) -> slice:
    """Where the frames of a hand, from 0, stand among those of its match.

    The first is the one that deals it, which is the last of the hand before.
    """
    first = bisect_left(played, hand, key=lambda frame: frame.next_hand)
    return slice(first, bisect_right(played, hand, key=lambda frame: frame.hand))


def frames(replay: Replay) -> Iterator[Frame]:
    """Play a match through the rules.

    Raises:
      Damaged: if the replay does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
      Discrepancy: where the rules would have had it otherwise.
    """
    return _Walk(replay).frames()


class _Walk:
    """The match as it is played again."""

    def __init__(self, replay: Replay) -> None:
        self._spec = replay.spec()
        self._rules = self._spec.terms.game.rules
        self._codec = codec_of(self._spec.terms.game)
        self._notation = Notation(self._spec.terms.game.module.Move)
        self._aborted = replay.ending is Ending.ABORTED
        self._decided = replay.decided
        self._at = 0

    def frames(self) -> Iterator[Frame]:
        game, spec = self._spec.terms.game, self._spec
        try:
            state, told = self._rules.start(spec.terms.options, spec.terms.seats, spec.deals)
        except Exception as error:
            if self._aborted and not self._decided:
                return
            raise Discrepancy(f"the rules do not begin this match: {error}") from error
        hand = self._rules.hand_number(state)
        yield Frame(0, game, hand, (), told, state, state)
        index = 0
        while acting := self._rules.to_act(state):
            decisions = self._group(state, acting)
            hand = self._rules.hand_number(state)
            index += 1
            step = self._step(state, decisions) if len(decisions) == len(acting) else None
            if step is None:
                if decisions:
                    yield Frame(index, game, hand, decisions, (), state, state, complete=False)
                return
            yield Frame(index, game, hand, decisions, step.told, state, step.state)
            state = step.state
        if self._at < len(self._decided):
            raise Discrepancy(f"{self._where()} comes after the match was over")

    def _group(self, state: State, acting: tuple[Seat, ...]) -> tuple[Decision, ...]:
        """The decisions of the seats to act; fewer only where the match was stopped."""
        decisions: list[Decision] = []
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

    def _require_legal(self, state: State, decision: Decision) -> None:
        try:
            legal = decision.move in self._rules.moves(state, decision.seat)
        except Exception as error:
            raise Discrepancy(f"the rules fail at {self._where()}: {error!r}") from error
        if not legal:
            text = self._notation.write(decision.move)
            raise Discrepancy(f"{self._where()} is not a legal move there: {text}")

    def _step(self, state: State, decisions: tuple[Decision, ...]) -> Step | None:
        """The step of these decisions; None if an error of the rules stopped the match."""
        by_seat = sorted(decisions, key=lambda decision: decision.seat)
        chosen = tuple((each.seat, each.move) for each in by_seat)
        try:
            return self._rules.step(state, chosen, self._spec.deals)
        except IllegalMove as error:
            raise Discrepancy(f"the rules forbid decision {self._at}: {error}") from error
        except Exception as error:
            if self._aborted and self._at == len(self._decided):
                return None
            raise Discrepancy(f"the rules fail at decision {self._at}: {error!r}") from error

    def _decision(self, decided: journal_pb2.Decided) -> Decision:
        try:
            move = self._codec.read_move(decided.move)
            fault = FaultKind(decided.fault) if decided.fault else None
        except Malformed as error:
            raise Discrepancy(f"{self._where()} is not a move: {error}") from error
        except ValueError as error:
            raise Discrepancy(f"{self._where()} has a fault that does not exist") from error
        return Decision(
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
