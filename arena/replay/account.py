"""What became of one bot at one match, and what went wrong: for the bot's owner.

Everything is seen from the bot's seat. The view and the moves are those that
the seat was shown with its ask. The replay has more, which is left out here: other
bots' cards, and reasons of faults. The bot's notes stand in its notebook.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from arena.games.catalogue import Game
from arena.games.contract import Seat, View
from arena.games.notation import Notation
from arena.referee.clock import SeatClock
from arena.referee.spec import AbortCause, Ending, FaultKind
from arena.replay.frames import Decision, Frame
from arena.replay.read import Replay
from arena.replay.verify import Verified, verify
from cardarena.v1 import journal_pb2

OFFERED_SHOWN: Final = 6
"""Moves of an ask that are listed at most."""
SLOWEST: Final = 3
"""Decisions that are named as the slowest."""
RAISED: Final = "error: "
"""How a note begins by which an SDK tells of an exception in the bot's own code."""
COSTLIEST: Final = 3
"""Hands that are named as those that cost most."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the bot noted at a decision."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True)
class FaultStory:
    """One fault, with all that it was judged by. Times count from the match's start."""

    decision: int
    """The seat's decision in the match, counted from 1."""
    hand: int
    """Counted from 0, as everywhere in replays."""
    step: int
    """The step at which `arena replay show` has it."""
    kind: FaultKind
    reason: str
    unasked: bool
    """The bot was not asked: it had left, or had done wrong before the deal."""
    before_deal: bool
    """It did wrong while the deals were agreed, and forfeited the match before the first card."""
    before_us: int
    """When the seat's decision before this one was asked for; 0 if there was none."""
    sent_us: int
    settled_us: int
    """When the fault was established."""
    due_us: int
    """The end of the time, grace and refunds included."""
    received_us: int
    """The answer's arrival; 0 if none came."""
    answer_sha256: str
    """Of the message that held the answer; empty if none came."""
    answer_bytes: int
    move_ms: int
    """The time that the bot was told it had for the move."""
    bank_before_ms: int
    """And in its bank."""
    charged_us: int
    refunded_us: int
    """What the arena was late itself."""
    bank_ms: int
    """What was left in the bank afterwards."""
    away_ms: int
    """How long the bot had been away in the match, in all."""
    view: View
    offered: tuple[str, ...]
    """The first moves offered, in notation."""
    offered_count: int
    complete: bool
    """Whether the rules allowed no others."""
    played: str
    """The fallback that was played instead."""
    notes: tuple[Note, ...]
    """The bot's own, at this decision and shortly before."""
    forfeited: bool
    """It cost the bot the match: from here on its seat was played by fallback."""

    @property
    def late_us(self) -> int:
        """How long after the end of its time the answer came; 0 if it was in time or never came."""
        return max(0, self.received_us - self.due_us) if self.received_us else 0

    @property
    def was_sent(self) -> bool:
        """Whether the ask had gone out before the fault: it may have waited for a free slot."""
        return not self.unasked and self.due_us != self.sent_us


@dataclass(frozen=True, slots=True)
class ExceptionStory:
    """An exception in the bot's own code, as its SDK noted it: the first move offered was played.

    Times count from the match's start.
    """

    decision: int
    """The seat's decision in the match, counted from 1."""
    hand: int
    step: int
    """The step at which `arena replay show` has it."""
    raised: str
    """Its place in the bot's code, its type and its text."""
    sent_us: int
    settled_us: int
    """When the answer in its place came."""
    view: View
    played: str


@dataclass(frozen=True, slots=True)
class SlowDecision:
    """A decision that took long."""

    decision: int
    hand: int
    charged_us: int


@dataclass(frozen=True, slots=True)
class CostlyHand:
    """A hand in which the bot did worse than the others at the table."""

    hand: int
    score: int
    others: tuple[int, ...]

    @property
    def behind(self) -> float:
        """By how much, against the mean of the others."""
        return sum(self.others) / len(self.others) - self.score


@dataclass(frozen=True, slots=True)
class Account:
    """One bot's match."""

    match_id: str
    game: Game
    start_unix_ms: int
    end_us: int
    deal_set: str
    seat: Seat
    names: tuple[str, ...]
    """By seat."""
    ending: Ending
    cause: AbortCause | None
    incident: str
    scores: tuple[int, ...]
    places: tuple[int, ...]
    others_forfeited: tuple[Seat, ...]
    hands: int
    """Hands begun."""
    decisions: int
    """Those of this seat."""
    unasked: int
    """Of these, played without asking the bot."""
    fault_limit: int
    away_limit_ms: int
    faults: tuple[FaultStory, ...]
    exceptions: tuple[ExceptionStory, ...]
    """Which are no faults: its SDK answered in its place."""
    forfeit: FaultStory | None
    """The fault that cost the match; None if the bot did not forfeit."""
    forfeited_before: str
    """Why the seat had forfeited before the deal; empty if it had not."""
    slowest: tuple[SlowDecision, ...]
    """Of the decisions that the bot made itself and in time, slowest first."""
    costliest: tuple[CostlyHand, ...]
    """Hands that were lost, the worst first."""

    @property
    def bot(self) -> str:
        """The bot's name."""
        return self.names[self.seat]

    @property
    def place(self) -> int:
        """The bot's place, 1 is first; 0 if the match was aborted."""
        return self.places[self.seat] if self.places else 0

    def faults_of(self, kind: FaultKind) -> tuple[FaultStory, ...]:
        """Its faults of one kind, in play."""
        return tuple(fault for fault in self.faults if fault.kind is kind and not fault.before_deal)


def account_of(
    replay: Replay, seat: Seat, noted: Mapping[int, str] = MappingProxyType({})
) -> Account:
    """What became of the bot at a seat; `noted` are its own notes, by decision.

    Raises:
      Discrepancy: if the replay is not true: nothing is judged by it.
      Damaged: if it does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
    """
    found: list[Frame] = []
    return account_from(replay, verify(replay, seen=found.append), found, seat, noted)


def account_from(
    replay: Replay,
    verified: Verified,
    played: Sequence[Frame],
    seat: Seat,
    noted: Mapping[int, str] = MappingProxyType({}),
) -> Account:
    """As `account_of`, of a replay that was found true, and its frames."""
    outcome, opened, spec = verified.outcome, replay.opened, replay.spec()
    own = [(each, frame) for frame in played for each in frame.decisions]
    own = [(each, frame) for each, frame in own if each.seat == seat]
    faults = tuple(_Stories(replay, seat, noted).of(own))
    slow = sorted(
        (
            SlowDecision(each.decision, frame.hand, each.charged_us)
            for each, frame in own
            if each.fault is None and not each.unasked
        ),
        key=lambda each: -each.charged_us,
    )
    before = [
        out.reason or out.kind.name.lower() for out in spec.forfeited_seats if out.seat == seat
    ]
    return Account(
        match_id=spec.match_id,
        game=spec.terms.game,
        start_unix_ms=opened.start_unix_ms,
        end_us=replay.closed.end_us,
        deal_set=opened.deal_set,
        seat=seat,
        names=replay.names,
        ending=outcome.ending,
        cause=outcome.cause,
        incident=outcome.incident,
        scores=outcome.scores,
        places=outcome.places,
        others_forfeited=tuple(each for each in verified.forfeited if each != seat),
        hands=verified.hands,
        decisions=len(own),
        unasked=sum(each.unasked for each, _ in own),
        fault_limit=spec.terms.fault_limit,
        away_limit_ms=spec.terms.away_limit_ms,
        faults=faults,
        exceptions=tuple(_exceptions(spec.terms.game, seat, own, noted)),
        forfeit=next((fault for fault in faults if fault.forfeited), None),
        forfeited_before=before[0] if before else "",
        slowest=tuple(slow[:SLOWEST]),
        costliest=costliest_hands(outcome.hand_scores, seat),
    )


def _exceptions(
    game: Game, seat: Seat, own: Sequence[tuple[Decision, Frame]], noted: Mapping[int, str]
) -> Iterator[ExceptionStory]:
    """What the bot's SDK noted of exceptions, where it answered all the same."""
    notation = Notation(game.module.Move)
    for decision, frame in own:
        note = noted.get(decision.decision, "")
        if decision.fault is None and note.startswith(RAISED):
            yield ExceptionStory(
                decision=decision.decision,
                hand=frame.hand,
                step=frame.index,
                raised=note.removeprefix(RAISED),
                sent_us=decision.sent_us,
                settled_us=decision.sent_us + decision.charged_us,
                view=game.rules.view(frame.before, seat),
                played=notation.write(decision.move),
            )


class _Stories:
    """Tells a seat's faults, with its clock kept beside them."""

    def __init__(self, replay: Replay, seat: Seat, noted: Mapping[int, str]) -> None:
        self._noted = noted
        self._spec = replay.spec()
        self._seat = seat
        self._was_out = any(out.seat == seat for out in self._spec.forfeited_seats)
        self._moves = Notation(self._spec.terms.game.module.Move)
        self._evidence = {
            each.decision: each for each in replay.decided if each.seat == seat and each.fault
        }

    def of(self, own: Sequence[tuple[Decision, Frame]]) -> Iterator[FaultStory]:
        clock, hand = SeatClock(self._spec.terms.time_control), 0
        before: list[Decision] = []
        for decision, frame in own:
            for _ in range(hand, frame.hand):
                clock.new_hand()
            hand = frame.hand
            if decision.fault is not None:
                yield self._story(decision, decision.fault, frame, clock, before)
            if not decision.unasked:
                in_time = decision.fault is None or decision.fault.in_time
                clock.charge(decision.charged_us / 1e6, in_time=in_time)
            before.append(decision)

    def _story(
        self,
        decision: Decision,
        kind: FaultKind,
        frame: Frame,
        clock: SeatClock,
        before: Sequence[Decision],
    ) -> FaultStory:
        decided = self._evidence[decision.decision]
        evidence = decided.evidence
        rules = self._spec.terms.game.rules
        moves = rules.moves(frame.before, self._seat)
        move_ms, bank_before_ms, _ = clock.told_ms()
        notes = [*before[-2:], decision]
        return FaultStory(
            decision=decision.decision,
            hand=frame.hand,
            step=frame.index,
            kind=kind,
            reason=decision.reason,
            unasked=decision.unasked,
            before_deal=decision.unasked and not before and self._was_out,
            before_us=before[-1].sent_us if before else 0,
            sent_us=decision.sent_us,
            settled_us=_settled_us(decided),
            due_us=evidence.due_us,
            received_us=evidence.received_us,
            answer_sha256=evidence.answer_sha256.hex(),
            answer_bytes=evidence.answer_bytes,
            move_ms=move_ms,
            bank_before_ms=bank_before_ms,
            charged_us=decision.charged_us,
            refunded_us=decided.refunded_us,
            bank_ms=decision.bank_ms,
            away_ms=evidence.away_ms,
            view=rules.view(frame.before, self._seat),
            offered=tuple(self._moves.write(each) for each in moves.offered[:OFFERED_SHOWN]),
            offered_count=len(moves.offered),
            complete=moves.complete,
            played=self._moves.write(decision.move),
            notes=tuple(
                Note(each.decision, self._noted[each.decision])
                for each in notes
                if each.decision in self._noted
            ),
            forfeited=decision.forfeited,
        )


def _settled_us(decided: journal_pb2.Decided) -> int:
    """When a fault was established: the answer came, or the time that was charged had passed."""
    evidence = decided.evidence
    return evidence.received_us or decided.sent_us + decided.charged_us + decided.refunded_us


def costliest_hands(hand_scores: Sequence[Sequence[int]], seat: Seat) -> tuple[CostlyHand, ...]:
    """The hands in which a seat did worse than the others did on average, the worst first."""
    hands = [
        CostlyHand(at, scores[seat], tuple(s for other, s in enumerate(scores) if other != seat))
        for at, scores in enumerate(hand_scores)
    ]
    lost = sorted((each for each in hands if each.behind > 0), key=lambda each: -each.behind)
    return tuple(lost[:COSTLIEST])
