"""Verifies replays: everything in a replay that follows from the rest is recomputed.

The packs follow from the committed key, the states from the packs and the moves,
the banks from the times, and the result from all of them. A signature shows which
arena wrote the replay. A replay alone cannot prove who the bots were or when they
answered.
"""

import dataclasses
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.games.contract import Seat, State, Work, work_of
from arena.games.notation import Notation
from arena.records.deal_book import CommitmentLog
from arena.records.fairness import Fairness, LoggedMatch, check_log
from arena.records.fairness import check as check_fairness
from arena.records.notes_file import NotesFile
from arena.records.playback import Discrepancy, PlaybackStep, ReplayedDecision, play_back
from arena.records.read import Replay, Unplayable
from arena.records.receipts import Receipt, compare, concerns
from arena.records.records import Damaged
from arena.records.signing import require_signed_by, signed_by
from arena.referee.clock import GRACE_S, WORK_STEP_S, SeatClock
from arena.referee.deal import seeded_key
from arena.referee.spec import Ending, Fault, FaultKind, Outcome, SeatConduct, final_places

_ROUNDING_S: Final = 2e-6
"""Times are stored in whole microseconds."""
_ROUNDING_US: Final = 4
LONGEST_S: Final = 600.0
"""The number of seconds after which a verification is rejected: otherwise a replay could occupy a verifier for ever."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A match that was recomputed and found true."""

    game: str
    outcome: Outcome
    hands: int
    """The number of hands begun."""
    seeded: bool
    """Whether the deals came from a seed, and not from a fair deal."""
    fairness: Fairness
    """Which bots added entropy to the deals."""
    forfeited: tuple[Seat, ...]
    """Seats that were played by fallback to the end."""
    bots: tuple[str, ...]
    """By seat."""
    signed_by: bytes = b""
    """The public key of the arena that signed it; empty if none did."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result for one file."""

    path: Path
    verified: Verified | None
    problem: str = ""
    """The first problem, in a sentence; empty if there is none."""
    receipts: tuple[Receipt, ...] = ()
    """The receipts of its deal-set."""
    asks_compared: int = 0
    """The number of asks of the replay that the receipts also have."""
    logged: LoggedMatch | None = None
    """Its place in the public log; None if no log was given, or the match is seeded."""
    notes_compared: int = 0
    """The number of notes of bots that match their hashes in the replay."""
    notes_files: tuple[NotesFile, ...] = ()
    """The notes files with notes of its match."""

    @property
    def ok(self) -> bool:
        """Whether the replay is true."""
        return self.verified is not None


def verify_file(
    path: Path,
    receipts: Sequence[Receipt] = (),
    log: CommitmentLog | None = None,
    arena: bytes = b"",
    *,
    match_id: str = "",
    notes_files: Sequence[NotesFile] = (),
) -> Verification:
    """Verify a replay file, and compare it with receipts, log and notes.

    Problems are reported in the result, not raised.

    Args:
      receipts: Receipts that bots kept of their deal-sets.
      log: The arena's public log of commitments.
      arena: The public key of the arena that must have signed it; empty if any may.
      match_id: The match that it must be of; empty if any may be.
      notes_files: Notes files of bots.
    """
    concerned: list[Receipt] = []
    try:
        replay = Replay.open(path)
        if match_id not in ("", replay.opened.match_id):
            raise Discrepancy(f"it is of match {replay.opened.match_id}, not of {match_id}")
        verified = verify(replay)
        if arena:
            require_signed_by(replay, arena)
        if log is not None and not arena and replay.ending is Ending.ABORTED:
            raise Discrepancy(
                "it says that the arena aborted the match, which the log cannot show: require the "
                "arena's signature as well, by its public key"
            )
        concerned += [receipt for receipt in receipts if concerns(receipt, replay)]
        asks = sum(compare(replay, receipt) for receipt in concerned)
        logged = None if log is None else check_log(replay, log)
        files = tuple(file for file in notes_files if file.concerns(replay))
        notes = sum(file.check(replay) for file in files)
        return Verification(path, verified, "", tuple(concerned), asks, logged, notes, files)
    except OSError as error:
        return Verification(path, None, f"it cannot be read: {error.strerror}")
    except (Damaged, Discrepancy, Unplayable) as error:
        return Verification(path, None, str(error), tuple(concerned))


def verify(
    replay: Replay,
    now_s: Callable[[], float] = time.monotonic,
    *,
    seen: Callable[[PlaybackStep], object] | None = None,
) -> Verified:
    """Recompute a match, within `LONGEST_S` by the clock `now_s`.

    `seen` is called with each step once it is found true.

    Raises:
      Discrepancy: naming the first thing that does not follow from the rest.
      Damaged: if the replay does not say how the match ended.
      Unplayable: if this arena has no such game, rules version or options.
    """
    began_s = now_s()
    signer, fairness = verify_deals(replay)
    check = _Check(replay, fairness)
    for step in play_back(replay):
        check.step(step)
        if seen is not None:
            seen(step)
        if now_s() - began_s > LONGEST_S:
            raise Unplayable(f"it takes more than {LONGEST_S / 60:.0f} minutes to verify")
    return dataclasses.replace(check.end(), signed_by=signer)


def verify_deals(replay: Replay) -> tuple[bytes, Fairness]:
    """Check the signature of a replay and the origin of its packs, but no moves.

    `clients/browser/verify.html` checks the same.

    Returns:
      The public key of the signature, empty if there is none, and the fairness of the packs.

    Raises `Discrepancy` or `Unplayable` as `verify` does.
    """
    signer = signed_by(replay)
    opened, revealed = replay.opened, replay.revealed
    if hashlib.sha256(revealed.deal_key).digest() != opened.deal_key_sha256:
        raise Discrepancy("the key of the deals is not the one that was committed to")
    if opened.terms.seeded and seeded_key(revealed.seed) != revealed.deal_key:
        raise Discrepancy("the key of the deals does not follow from the seed")
    if revealed.seed and not opened.terms.seeded:
        raise Discrepancy("it names a seed, but claims a fair deal")
    return signer, check_fairness(replay)


class _Seat:
    __slots__ = ("clock", "decisions", "fallbacks", "faults", "forfeited", "out")

    def __init__(self, clock: SeatClock) -> None:
        self.clock = clock
        self.decisions = 0
        self.fallbacks = 0
        self.faults = 0
        self.forfeited = False
        self.out: FaultKind | None = None
        """Its fault from before the deal, until a decision records it."""


class _Check:
    """Recomputes clocks, faults, fallbacks and the result of a match."""

    def __init__(self, replay: Replay, fairness: Fairness) -> None:
        self._replay = replay
        self._fairness = fairness
        self._spec = replay.spec()
        self._rules = self._spec.terms.game.rules
        self._notation = Notation(self._spec.terms.game.messages.Move)
        self._seats = [
            _Seat(SeatClock(self._spec.terms.control_of(entrant.name)))
            for entrant in self._spec.entrants
        ]
        for out in self._spec.forfeited_seats:
            self._seats[out.seat].forfeited = True
            self._seats[out.seat].out = out.kind
        self._hand = 0
        self._last_hand = -1
        self._at = 0
        self._state: State = None
        self._faults: list[Fault] = []

    def step(self, step: PlaybackStep) -> None:
        if step.hand != self._hand:
            self._hand = step.hand
            for seat in self._seats:
                seat.clock.new_hand()
        for decision in step.decisions:
            self._at += 1
            self._decision(step, decision)
        self._last_hand = max(self._last_hand, step.next_hand)
        self._state = step.state

    def end(self) -> Verified:
        closed, ending = self._replay.closed, self._replay.ending
        result = self._rules.result(self._state) if self._state is not None else None
        places: tuple[int, ...] = ()
        scores: tuple[int, ...] = ()
        hand_scores: tuple[tuple[int, ...], ...] = ()
        conduct: tuple[SeatConduct, ...] = ()
        forfeited = tuple(Seat(at) for at, seat in enumerate(self._seats) if seat.forfeited)
        if ending is not Ending.ABORTED:
            if result is None:
                raise Discrepancy("it is said to have ended, but by the rules it had not")
            scores, hand_scores = result.scores, result.hand_scores
            places = final_places(result, [seat.forfeited for seat in self._seats])
            conduct = tuple(
                SeatConduct(seat.decisions, seat.fallbacks, seat.forfeited) for seat in self._seats
            )
            truly = Ending.FORFEIT if forfeited else Ending.COMPLETED
            if ending is not truly:
                raise Discrepancy(f"it ended as {_word(truly)}, not as {_word(ending)}")
        _require_same("scores", closed.scores, scores)
        _require_same("places", closed.places, places)
        return Verified(
            game=self._spec.terms.game.id,
            outcome=Outcome(
                match_id=self._spec.match_id,
                ending=ending,
                scores=scores,
                places=places,
                hand_scores=hand_scores,
                faults=tuple(self._faults),
                decisions=self._at,
                cause=self._replay.cause,
                incident=closed.incident,
                conduct=conduct,
                ended_by_limit=result is not None and result.ended_by_limit,
            ),
            hands=self._last_hand + 1,
            seeded=self._spec.terms.seeded,
            fairness=self._fairness,
            forfeited=forfeited,
            bots=self._replay.names,
        )

    def _decision(self, step: PlaybackStep, decision: ReplayedDecision) -> None:
        seat = self._seats[decision.seat]
        seat.decisions += 1
        if decision.decision != seat.decisions:
            raise self._wrong(
                decision, f"is numbered {decision.decision}, but is number {seat.decisions}"
            )
        self._check_times(step, decision)
        if decision.unasked:
            self._unasked(seat, decision)
        else:
            self._asked(seat, decision)
        if decision.bank_ms != seat.clock.bank_ms:
            raise self._wrong(
                decision, f"left {seat.clock.bank_ms} ms in the bank, not {decision.bank_ms} ms"
            )
        if decision.fault is not None:
            self._faults.append(
                Fault(decision.seat, decision.fault, decision.decision, decision.reason)
            )
        if decision.fault is not None or decision.unasked:
            seat.fallbacks += 1
            fallback = self._rules.fallback(step.before, decision.seat)
            if decision.move != fallback:
                text = self._notation.write(fallback)
                raise self._wrong(decision, f"was played for the bot, but not by {text}")

    def _check_times(self, step: PlaybackStep, decision: ReplayedDecision) -> None:
        """Check that a decision lies within the match, apart from work that was charged."""
        decided, end_us = self._replay.decided[self._at - 1], self._replay.closed.end_us
        if decision.sent_us > end_us:
            raise self._wrong(decision, "was asked after the end of the match")
        work = work_of(self._rules, step.before, decision.seat, decision.move)
        work_us = round(work.charged * WORK_STEP_S * 1e6) if isinstance(work, Work) else 0
        thought_us = max(0, decision.charged_us - work_us)
        settled_us = decision.sent_us + thought_us + decided.refunded_us
        if max(settled_us, decided.evidence.received_us) > end_us + _ROUNDING_US:
            raise self._wrong(decision, "was settled after the end of the match")

    def _asked(self, seat: _Seat, decision: ReplayedDecision) -> None:
        charged_s, allowance_s = decision.charged_us / 1e6, seat.clock.allowance_s
        if seat.forfeited:
            raise self._wrong(decision, "was asked of a seat that had forfeited")
        if allowance_s <= 0:
            raise self._wrong(decision, "was asked of a seat that had no time left")
        late = charged_s > allowance_s + GRACE_S + _ROUNDING_S
        if late and decision.fault not in (FaultKind.TIMEOUT, FaultKind.GONE):
            raise self._wrong(decision, "came late, but was taken")
        if decision.fault is FaultKind.TIMEOUT and charged_s < allowance_s - _ROUNDING_S:
            raise self._wrong(decision, "was called late before its time was up")
        in_time = decision.fault is None or decision.fault.in_time
        seat.clock.charge(charged_s, in_time=in_time)
        seat.faults += decision.fault is not None
        limit = self._spec.terms.fault_limit
        seat.forfeited = bool(limit and seat.faults >= limit)
        if decision.fault is FaultKind.GONE and decision.forfeited:
            seat.forfeited = True  # the bot has left
        self._check_forfeited(seat, decision)

    def _unasked(self, seat: _Seat, decision: ReplayedDecision) -> None:
        """Check a decision that the bot was not asked for: it costs no time."""
        if decision.charged_us:
            raise self._wrong(decision, "cost time, but was not asked for")
        if seat.out is not None:
            if decision.fault is not seat.out:
                raise self._wrong(decision, "is not blamed for what the seat did before the deal")
            seat.out = None
        elif decision.fault not in (None, FaultKind.GONE):
            raise self._wrong(decision, "has a fault, but was not asked for")
        elif decision.fault is FaultKind.GONE:
            if seat.forfeited:
                raise self._wrong(decision, "blames a seat that had forfeited already")
            seat.forfeited = True
        elif not seat.forfeited and seat.clock.allowance_s > 0:
            raise self._wrong(decision, "was not asked of a seat that could have answered")
        self._check_forfeited(seat, decision)

    def _check_forfeited(self, seat: _Seat, decision: ReplayedDecision) -> None:
        if decision.forfeited and not seat.forfeited:
            raise self._wrong(decision, "is said to forfeit, but does not")
        if seat.forfeited and not decision.forfeited:
            raise self._wrong(decision, "forfeits, but is not said to")

    def _wrong(self, decision: ReplayedDecision, what: str) -> Discrepancy:
        total = len(self._replay.decided)
        return Discrepancy(f"decision {self._at} of {total}, of seat {decision.seat}, {what}")


def _require_same(what: str, said: Sequence[int], true: tuple[int, ...]) -> None:
    if tuple(said) != true:
        raise Discrepancy(f"the {what} are said to be {_numbers(said)}, but are {_numbers(true)}")


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(str(value) for value in values) or "none"


def _word(ending: Ending) -> str:
    return ending.name.lower()
