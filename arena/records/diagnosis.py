"""Diagnoses one bot's match for the bot's owner: result, faults, slow decisions.

Everything is seen from the bot's seat: the views and moves are those of its asks.
Other bots' cards and the reasons of their faults are left out. The bot's notes come
from its notes file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from arena.games.contract import Seat, View
from arena.games.game import Game
from arena.games.notation import Notation
from arena.records.notes_file import QUEUED, RAISED, TIMES
from arena.records.phrases import because
from arena.records.playback import PlaybackStep, ReplayedDecision
from arena.records.read import Replay
from arena.records.verify import Verified, verify
from arena.referee.clock import SeatClock
from arena.referee.spec import AbortCause, Ending, FaultKind
from arena.results.think_times import (
    PhaseTimes,
    SdkTimes,
    TimedDecision,
    TimeSpent,
    phase_times,
    time_spent,
)
from cardarena.v1 import journal_pb2

OFFERED_SHOWN: Final = 6
"""The maximal number of moves of an ask that are listed."""
SLOWEST: Final = 3
"""The number of decisions that are listed as the slowest."""
COSTLIEST: Final = 3
"""The number of hands that are listed as the most costly."""


@dataclass(frozen=True, slots=True)
class Note:
    """The bot's note at a decision."""

    decision: int
    text: str


@dataclass(frozen=True, slots=True)
class FaultDetails:
    """One fault with its evidence. Times count from the start of the match."""

    decision: int
    """The seat's decision in the match, counted from 1."""
    hand: int
    """The number of the hand from 0, as everywhere in replays."""
    step: int
    """The number of the step in `arena replay show`."""
    kind: FaultKind
    reason: str
    unasked: bool
    """Whether the bot was not asked, because it had left or had forfeited before the deal."""
    before_deal: bool
    """Whether it forfeited the match before the first card."""
    before_us: int
    """The time when the previous ask was sent; 0 if there was none."""
    sent_us: int
    settled_us: int
    """The time when the fault was established."""
    due_us: int
    """The end of its time, with grace and refunds."""
    received_us: int
    """The time when the answer arrived; 0 if none came."""
    answer_sha256: str
    """The hash of the message with the answer; empty if none came."""
    answer_bytes: int
    move_ms: int
    """The time for the move in the ask."""
    bank_before_ms: int
    """The time in the bank in the ask."""
    charged_us: int
    refunded_us: int
    """Delays of the arena itself, which were not charged."""
    bank_ms: int
    """The bank after the decision."""
    away_ms: int
    """The bot's absences in the match so far, together."""
    view: View
    offered: tuple[str, ...]
    """The first moves offered, in notation."""
    offered_count: int
    complete: bool
    """Whether `offered` has all legal moves."""
    played: str
    """The move that the fallback played."""
    notes: tuple[Note, ...]
    """The bot's notes at this decision and shortly before."""
    queued: str
    """A sentence about the wait of the ask in the bot's own queue, with advice; empty if its SDK did not report it."""
    forfeited: bool
    """Whether the bot forfeited with it: from here on the fallback played its seat."""
    stuck: str = ""
    """The place in the bot's code, which had not returned; empty if its SDK did not report it."""
    stuck_since: int = 0
    """The decision that this code was computing."""

    @property
    def late_us(self) -> int:
        """The time between the end of its time and the answer; 0 without a late answer."""
        return max(0, self.received_us - self.due_us) if self.received_us else 0

    @property
    def raised(self) -> str:
        """The error in the bot's code, from the note of this decision; empty if there is none."""
        texts = (note.text for note in self.notes if note.decision == self.decision)
        return next((text.removeprefix(RAISED) for text in texts if text.startswith(RAISED)), "")

    @property
    def was_sent(self) -> bool:
        """Whether the ask was sent before the fault; otherwise it waited for a free slot."""
        return not self.unasked and self.due_us != self.sent_us


@dataclass(frozen=True, slots=True)
class SlowDecision:
    """One of the bot's slowest decisions."""

    decision: int
    hand: int
    charged_us: int
    queued: str
    """As in `FaultDetails`."""


@dataclass(frozen=True, slots=True)
class CostlyHand:
    """A hand in which the bot scored less than the mean of the others."""

    hand: int
    score: int
    others: tuple[int, ...]

    @property
    def behind(self) -> float:
        """The difference to the mean of the others."""
        return sum(self.others) / len(self.others) - self.score


@dataclass(frozen=True, slots=True)
class MatchDiagnosis:
    """One bot's match: its end, and its faults and slow decisions."""

    match_id: str
    game: Game
    start_unix_ms: int
    end_us: int
    deal_set: str
    worker: str
    """The worker on another machine that played it; empty for the arena's own machine."""
    seat: Seat
    names: tuple[str, ...]
    """By seat."""
    ending: Ending
    cause: AbortCause | None
    incident: str
    scores: tuple[int, ...]
    places: tuple[int, ...]
    ended_by_limit: bool
    """Whether a limit of hands ended it before its goal was reached."""
    others_forfeited: tuple[Seat, ...]
    hands: int
    """The number of hands begun."""
    decisions: int
    """The number of decisions of this seat."""
    unasked: int
    """The number of these decisions that were played without asking the bot."""
    fault_limit: int
    away_limit_ms: int
    faults: tuple[FaultDetails, ...]
    forfeit: FaultDetails | None
    """The fault with which the bot forfeited; None if it did not."""
    forfeited_before: str
    """Why the seat forfeited before the deal, with the code; empty if it did not."""
    slowest: tuple[SlowDecision, ...]
    """The slowest decisions that the bot made in time, slowest first."""
    phases: tuple[PhaseTimes, ...]
    """The phases, the slowest first."""
    time: TimeSpent | None
    """The times of its decisions; None if it made none in time."""
    costliest: tuple[CostlyHand, ...]
    """The most costly hands, the worst first."""

    @property
    def bot(self) -> str:
        return self.names[self.seat]

    @property
    def place(self) -> int:
        """The bot's place, 1 is first; 0 if the match was aborted."""
        return self.places[self.seat] if self.places else 0

    def faults_of(self, kind: FaultKind) -> tuple[FaultDetails, ...]:
        """Return its faults of one kind, without those before the deal."""
        return tuple(fault for fault in self.faults if fault.kind is kind and not fault.before_deal)


def diagnose(
    replay: Replay, seat: Seat, notes: Mapping[int, str] = MappingProxyType({})
) -> MatchDiagnosis:
    """Verify a replay and diagnose the bot at a seat; `notes` are the bot's own, by decision.

    Raises:
      Discrepancy: if the replay is not true.
      Damaged: if it does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
    """
    steps: list[PlaybackStep] = []
    return diagnosis_of(replay, verify(replay, seen=steps.append), steps, seat, notes)


def diagnosis_of(
    replay: Replay,
    verified: Verified,
    steps: Sequence[PlaybackStep],
    seat: Seat,
    notes: Mapping[int, str] = MappingProxyType({}),
) -> MatchDiagnosis:
    """Do as `diagnose` does, from the result and the steps of a verified replay."""
    outcome, opened, spec = verified.outcome, replay.opened, replay.spec()
    own = [
        (decision, step) for step in steps for decision in step.decisions if decision.seat == seat
    ]
    queue = _OwnQueue(notes)
    timed = timed_decisions(replay, steps, seat)
    own_notes = {
        at: text
        for at, text in notes.items()
        if not (QUEUED.fullmatch(text) or TIMES.fullmatch(text))
    }
    faults = tuple(_FaultReader(replay, seat, own_notes, queue).read(own))
    slow = sorted(
        (
            SlowDecision(each.decision, step.hand, each.charged_us, queue.at(each.decision))
            for each, step in own
            if each.fault is None and not each.unasked
        ),
        key=lambda each: -each.charged_us,
    )
    before = [
        because(out.kind, out.reason) or out.kind.entry.code
        for out in spec.forfeited_seats
        if out.seat == seat
    ]
    return MatchDiagnosis(
        match_id=spec.match_id,
        game=spec.terms.game,
        start_unix_ms=opened.start_unix_ms,
        end_us=replay.closed.end_us,
        deal_set=opened.deal_set,
        worker=opened.played_at.worker,
        seat=seat,
        names=replay.names,
        ending=outcome.ending,
        cause=outcome.cause,
        incident=outcome.incident,
        scores=outcome.scores,
        places=outcome.places,
        ended_by_limit=outcome.ended_by_limit,
        others_forfeited=tuple(
            forfeited_seat for forfeited_seat in verified.forfeited if forfeited_seat != seat
        ),
        hands=verified.hands,
        decisions=len(own),
        unasked=sum(each.unasked for each, _ in own),
        fault_limit=spec.terms.fault_limit,
        away_limit_ms=spec.terms.away_limit_ms,
        faults=faults,
        forfeit=next((fault for fault in faults if fault.forfeited), None),
        forfeited_before=before[0] if before else "",
        slowest=tuple(slow[:SLOWEST]),
        phases=phase_times(timed),
        time=time_spent(timed, noted_times(notes)),
        costliest=costliest_hands(outcome.hand_scores, seat),
    )


def timed_decisions(
    replay: Replay, steps: Iterable[PlaybackStep], seat: Seat
) -> list[TimedDecision]:
    """Return the decisions that the bot at a seat made in time; `steps` are those of the replay."""
    lags_us = {
        decided.decision: decided.refunded_us for decided in replay.decided if decided.seat == seat
    }
    return [
        TimedDecision(
            step.game.rules.view(step.before, seat).phase.name.lower().replace("_", " "),
            decision.charged_us,
            lags_us[decision.decision],
        )
        for step in steps
        for decision in step.decisions
        if decision.seat == seat and decision.fault is None and not decision.unasked
    ]


def noted_times(notes: Mapping[int, str]) -> Sequence[SdkTimes]:
    """Return the times in the newest note of the bot's SDK; empty if there is none."""
    reported = [line for _, text in sorted(notes.items()) if (line := TIMES.fullmatch(text))]
    if not reported:
        return ()
    asks, queue_s, trips, network_s = reported[-1].groups()
    queue_us, network_us = round(float(queue_s) * 1e6), round(float(network_s) * 1e6)
    return (SdkTimes(int(asks), queue_us, int(trips), network_us),)


class _OwnQueue:
    """The waits in the bot's own queue, according to its notes."""

    def __init__(self, notes: Mapping[int, str]) -> None:
        lines = (line for line in map(QUEUED.fullmatch, notes.values()) if line)
        self._waits = [(int(line[1]), int(line[2] or line[1]), line[3]) for line in lines]

    def at(self, decision: int) -> str:
        """Return the sentence on the wait of a decision; empty if it did not wait long."""
        return next((told for first, last, told in self._waits if first <= decision <= last), "")


class _FaultReader:
    def __init__(
        self, replay: Replay, seat: Seat, notes: Mapping[int, str], queue: "_OwnQueue"
    ) -> None:
        self._notes = notes
        self._queue = queue
        self._spec = replay.spec()
        self._seat = seat
        self._was_out = any(out.seat == seat for out in self._spec.forfeited_seats)
        self._moves = Notation(self._spec.terms.game.messages.Move)
        self._evidence = {
            decision.decision: decision
            for decision in replay.decided
            if decision.seat == seat and decision.fault
        }

    def read(self, own: Sequence[tuple[ReplayedDecision, PlaybackStep]]) -> Iterator[FaultDetails]:
        terms, name = self._spec.terms, self._spec.entrants[self._seat].name
        clock, hand = SeatClock(terms.control_of(name)), 0
        before: list[ReplayedDecision] = []
        for decision, step in own:
            for _ in range(hand, step.hand):
                clock.new_hand()
            hand = step.hand
            if decision.fault is not None:
                yield self._fault(decision, decision.fault, step, clock, before)
            if not decision.unasked:
                in_time = decision.fault is None or decision.fault.in_time
                clock.charge(decision.charged_us / 1e6, in_time=in_time)
            before.append(decision)

    def _fault(
        self,
        decision: ReplayedDecision,
        kind: FaultKind,
        step: PlaybackStep,
        clock: SeatClock,
        before: Sequence[ReplayedDecision],
    ) -> FaultDetails:
        decided = self._evidence[decision.decision]
        evidence = decided.evidence
        rules = self._spec.terms.game.rules
        moves = rules.moves(step.before, self._seat)
        move_ms, bank_before_ms, _ = clock.times_ms()
        return FaultDetails(
            decision=decision.decision,
            hand=step.hand,
            step=step.index,
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
            view=rules.view(step.before, self._seat),
            offered=tuple(self._moves.write(move) for move in moves.offered[:OFFERED_SHOWN]),
            offered_count=len(moves.offered),
            complete=moves.complete,
            played=self._moves.write(decision.move),
            notes=tuple(
                Note(each.decision, self._notes[each.decision])
                for each in (*before[-2:], decision)
                if each.decision in self._notes
            ),
            queued=self._queue.at(decision.decision),
            forfeited=decision.forfeited,
        )


def _settled_us(decided: journal_pb2.Decided) -> int:
    """Return when a fault was established: the answer arrived, or the charged time had passed."""
    evidence = decided.evidence
    return evidence.received_us or decided.sent_us + decided.charged_us + decided.refunded_us


def costliest_hands(hand_scores: Sequence[Sequence[int]], seat: Seat) -> tuple[CostlyHand, ...]:
    """Return the hands in which a seat scored less than the mean of the others, the worst first."""
    hands = [
        CostlyHand(at, scores[seat], tuple(s for other, s in enumerate(scores) if other != seat))
        for at, scores in enumerate(hand_scores)
    ]
    lost = sorted((hand for hand in hands if hand.behind > 0), key=lambda hand: -hand.behind)
    return tuple(lost[:COSTLIEST])
