"""One match in play: a state machine, which is called with each input and its time.

    begin -> ask all seats to act -> settle each seat's decision
          -> when all are settled: step -> send events -> ask again ...
          -> no seat to act: over

A match runner never waits or sleeps, and reads only the clock that it was given. So a test can place every fault at
every point of a match. An internal error of the arena aborts the match without a fault of a bot. An interrupted match
first replays its recorded decisions, then asks.

`seat` has the state of one seat: its ask, clock, deadlines and faults. `ending` has the end of a match.
"""

import logging
import secrets
import sys
from collections.abc import Callable, Sequence

from arena.durable_files import Unwritten
from arena.errors import faults
from arena.games.contract import Move, Seat, Step, Work, work_of
from arena.games.notation import Notation
from arena.referee.clock import WORK_STEP_S, Spent
from arena.referee.ending import aborted, completed, written
from arena.referee.events import MatchFaults, SpectatorEvents, SpectatorPort
from arena.referee.ledger import FaultEvidence, Ledger, NoRoom, Settled, UsedTime
from arena.referee.resumed import ResumedDecisions
from arena.referee.seat import (
    MAX_MOVE_BYTES,
    Answer,
    OpenAsk,
    RejectedAnswer,
    Said,
    SeatPort,
    SeatRecord,
    chosen_move,
)
from arena.referee.spec import AbortCause, Fault, FaultKind, MatchSpec, Outcome, SeatConduct
from arena.referee.timers import ArenaTime
from arena.referee.wire.fields import ask_texts
from arena.referee.wire.games import codec_of

_log = logging.getLogger(__name__)

HeavyStep = Callable[["MatchRunner", tuple[tuple[Seat, Move], ...], Seat, Work | None], None]
"""Runs a step in a worker process and then calls `MatchRunner.stepped` or `MatchRunner.abort`.
The seat is the one whose move makes the step long; the work is its length, if the rules know it."""


class MatchRunner:
    """A match in play. Call `begin` once; `over` is called once when it has ended."""

    def __init__(
        self,
        spec: MatchSpec,
        ports: Sequence[SeatPort],
        ledger: Ledger,
        *,
        time: ArenaTime,
        over: Callable[["MatchRunner"], None],
        heavy_step: HeavyStep,
        spectators: SpectatorPort | None = None,
        replay_later: Callable[["MatchRunner"], None] | None = None,
    ) -> None:
        """Make a match that has not begun.

        Args:
          ports: The bots, by seat.
          ledger: Records decisions before anything that follows is sent.
          over: Called once when the match has ended.
          heavy_step: Runs steps that take too long for this process.
          replay_later: Schedules a call of `replay_on` while past decisions are left. Without it,
            all of them are replayed at once.
        """
        self.spec = spec
        self.outcome: Outcome | None = None
        """How the match ended; None while it is in play, and if it was suspended."""
        self._rules = spec.terms.game.rules
        self._codec = codec = codec_of(spec.terms.game)
        self._ledger = ledger
        self._now_s = time.now_s
        self._over = over
        self._heavy_step = heavy_step
        self._showing = SpectatorEvents(spectators, spec)
        self._replay_later = replay_later
        self._move_notation = Notation(spec.terms.game.messages.Move)
        self._event_notation = Notation(spec.terms.game.messages.Event)
        self._records = [
            SeatRecord(
                self,
                Seat(seat),
                port,
                spec.terms,
                codec,
                time=time,
                bot=spec.entrants[seat].name,
                owner=time.owner_of(spec.entrants[seat].name),
            )
            for seat, port in enumerate(ports)
        ]
        self._resumed = ResumedDecisions((), codec)
        self.state: object = None
        """The state of the rules, which a worker process reads for a heavy step."""
        self._hand = 0
        self._begin_s = 0.0
        self._acting: tuple[Seat, ...] = ()
        self._chosen: dict[Seat, Move] = {}
        self._heavy: dict[Seat, Work | None] = {}
        """The chosen moves that are too much work for this process, with their work."""
        self._faults = MatchFaults()
        self.decisions = 0
        """Decisions of all seats so far."""
        self._in_play = True
        """False once the match has ended or was suspended."""

    @property
    def open_asks(self) -> list[OpenAsk]:
        """The open asks, by seat."""
        return [record.ask for record in self._records if record.ask is not None]

    @property
    def conduct(self) -> tuple[SeatConduct, ...]:
        """The decisions of each seat so far."""
        return tuple(record.conduct for record in self._records)

    def begin(self, past: Sequence[Settled] = (), used: Sequence[UsedTime] = ()) -> None:
        """Deal the first hand and ask for the first moves.

        `past` are the decisions of an interrupted match: they are replayed without asking, and the match continues
        after them. `used` is the time that its seats had used before their next decisions.
        """
        later = self._replay_later
        self._resumed = ResumedDecisions(
            past, self._codec, used, None if later is None else lambda: later(self)
        )
        for time in used:
            self._records[time.seat].resume_time(time)
        self._begin_s = self._now_s() - self._resumed.elapsed_s
        for out in self.spec.forfeited_seats:
            self._records[out.seat].forfeit(out)
        try:
            self._ledger.opened(self.spec)
            self._showing.opened()
            for record in self._records:
                record.port.sit(record.presence)
            step = self._rules.start(
                self.spec.terms.options, self.spec.terms.seats, self.spec.deals
            )
        except Exception:
            self._fail()
            return
        self.stepped(step)

    def stepped(self, step: Step) -> None:
        """Take the outcome of a step, send its events and continue."""
        try:
            following: Step | None = step
            while following is not None and self._take_step(following):
                if self._resumed.pauses():
                    return
                following = self._step()
        except Exception:
            self._fail()

    def replay_on(self) -> None:
        """Continue to replay past decisions after a pause."""
        if not self._in_play:
            return
        try:
            step = self._step()
        except Exception:
            self._fail()
            return
        if step is not None:
            self.stepped(step)

    def abort(self, cause: AbortCause = AbortCause.STOPPED, incident: str = "") -> None:
        """Stop the match: it does not count, and no bot is at fault."""
        if self._in_play:
            self._end(
                aborted(self.spec.match_id, cause, incident, self._faults.all, self.decisions)
            )

    def suspend(self) -> None:
        """Stop without an end, to be continued from the journal. Nothing is sent."""
        self._in_play = False
        for record in self._records:
            record.retire_timers()
            if record.ask is not None:
                record.close_ask(record.ask)

    # Asking.

    def _take_step(self, step: Step) -> bool:
        """Take a step and ask the seats to act; return true if no bot has to be waited for."""
        self.state = step.state
        self._add_events(step)
        if not self._in_play:
            return False
        rules = self._rules
        self._acting = acting = rules.to_act(self.state)
        if not acting:
            self._finish()
            return False
        hand = rules.hand_number(self.state)
        if hand != self._hand:
            self._hand = hand
            for record in self._records:
                record.clock.new_hand()
        self._chosen = {}
        self._heavy.clear()
        while self._resumed.waiting and len(self._chosen) < len(acting):
            self._settle_past()
        if self._chosen and not self._resumed.at_once:
            for seat, move in self._chosen.items():
                self._weigh(seat, move)
        # All asks are sent together, as an answer to the first could otherwise end the step
        # before the others are sent.
        asks_open = []
        for seat in acting:
            if seat in self._chosen:
                continue
            record = self._records[seat]
            out = record.forfeited or record.out is not None or record.port.gone
            if out or record.move_bytes >= MAX_MOVE_BYTES or record.clock.allowance_s <= 0:
                self._settle_unasked(seat, record)
            else:
                asks_open.append(self._open_ask(seat, record))
        for ask in asks_open:
            self._records[ask.seat].port.ask(ask)
        return len(self._chosen) == len(acting) and not asks_open

    def _open_ask(self, seat: Seat, record: SeatRecord) -> OpenAsk:
        moves = self._rules.moves(self.state, seat)
        unsent = record.unsent
        body = unsent.ask(seat, self._rules.view(self.state, seat), moves)
        events = unsent.events
        unsent.forget()
        carried_s = 0.0
        if self._resumed.carried_s:
            carried_s = self._resumed.take_carried_s(seat, record.clock.allowance_s)
        ask = OpenAsk(record, moves, body, events, carried_s)
        record.open(ask)
        return ask

    def keep_times(self) -> bool:
        """Record the time that bots have used and were away; return whether anything was recorded.

        It is called about every second: time that is not recorded is lost if the arena ends.
        """
        if not self._in_play or self._resumed.waiting:
            return False
        written, now_s = False, self._now_s()
        for record in self._records:
            if not record.keep_time(now_s):
                continue
            written = True
            try:
                self._ledger.used(record.recorded)
            except Exception:
                self._fail()
                return False
        return written

    def texts(self, ask: OpenAsk) -> bytes:
        moves = [self._move_notation.write(move) for move in ask.moves.offered]
        return ask_texts(moves, [self._event_notation.write(event) for event in ask.events])

    def _settle_unasked(self, seat: Seat, record: SeatRecord) -> None:
        """Play the fallback for a seat without time, whose bot has left, or that forfeited."""
        fault = evidence = None
        now_s = self._now_s()
        out = record.settle_unasked()
        if out is not None:
            fault = Fault(seat, out.kind, record.decisions, out.reason)
            self._faults.add(fault)
            evidence = FaultEvidence(now_s - self._begin_s, away_s=record.presence.away_s())
        move, spent = self._rules.fallback(self.state, seat), Spent(now_s)
        self._weigh(seat, move)
        self._settle(record, move, spent, fault=fault, evidence=evidence, unasked=True)

    def _settle_past(self) -> None:
        waiting = [seat for seat in self._acting if seat not in self._chosen]
        settled, move = self._resumed.take(self._rules, self.state, waiting, self._records)
        seat = Seat(settled.seat)
        if settled.fault is not None:
            self._faults.add(Fault(seat, settled.fault, settled.decision, settled.reason))
        self._chosen[seat] = move
        self.decisions += 1

    # Answers.

    def answered(self, ask: OpenAsk, answer: Answer, received_s: float, raw: bytes) -> Said | None:
        """Take the bot's answer to an open ask; return the chosen move, None for a fault."""
        record = self._records[ask.seat]
        spent = record.spent(ask, received_s)
        if received_s - spent.refunded_s > ask.due_s:
            self.blame(ask, FaultKind.TIMEOUT, faults.LATE.text(), received_s, answer.note, raw)
            return None
        try:
            move = chosen_move(ask.moves, answer, self._codec, self._move_notation)
        except Exception:
            self._fail()
            return None
        if isinstance(move, RejectedAnswer):
            self.blame(ask, *move, received_s, answer.note, raw)
            return None
        index = answer.index
        said = Said.among(ask.moves, move) if index is None else Said(move, index)
        record.close_ask(ask)
        try:
            spent = self._with_work(record, spent, ask.seat, move)
        except Exception:
            self._fail()
            return said
        record.clock.charge(spent.charged_s, in_time=True)
        self._settle_and_continue(record, move, spent, note=answer.note)
        return said

    def abandoned(self, ask: OpenAsk) -> None:
        self._records[ask.seat].forfeit()
        self.blame(ask, FaultKind.GONE, faults.LEFT.text(), self._now_s())

    def _with_work(self, record: SeatRecord, spent: Spent, seat: Seat, move: Move) -> Spent:
        """Charge the work that the move causes, up to the seat's time, so that it is never a fault."""
        work = self._weigh(seat, move)
        if work is None or not work.charged:
            return spent
        charged_s = spent.charged_s + work.charged * WORK_STEP_S
        allowance_s = max(spent.charged_s, record.clock.allowance_s)
        return spent._replace(charged_s=min(charged_s, allowance_s))

    def _weigh(self, seat: Seat, move: Move) -> Work | None:
        """Return the work of a move, and store it for its step; None if the rules do not know it."""
        work = work_of(self._rules, self.state, seat, move)
        if not work:
            return None
        self._heavy[seat] = known = work if isinstance(work, Work) else None
        return known

    def blame(
        self,
        ask: OpenAsk,
        kind: FaultKind,
        reason: str,
        now_s: float,
        note: str = "",
        raw: bytes = b"",
    ) -> None:
        """Charge a fault and play the fallback instead of the bot's move."""
        record = self._records[ask.seat]
        spent = record.spent(ask, now_s)
        evidence = record.evidence(ask, spent.refunded_s, now_s, self._begin_s, raw)
        record.close_ask(ask)
        record.clock.charge(spent.charged_s, in_time=kind.in_time)
        fault = Fault(ask.seat, kind, ask.decision, reason)
        self._faults.add(fault)
        record.blamed(self.spec.terms.fault_limit)
        record.port.close(ask, kind, reason)
        try:
            move = self._rules.fallback(self.state, ask.seat)
            self._weigh(ask.seat, move)
        except Exception:
            self._fail()
            return
        self._settle_and_continue(record, move, spent, note=note, fault=fault, evidence=evidence)

    def _settle_and_continue(
        self,
        record: SeatRecord,
        move: Move,
        spent: Spent,
        *,
        note: str,
        fault: Fault | None = None,
        evidence: FaultEvidence | None = None,
    ) -> None:
        try:
            self._settle(record, move, spent, note=note, fault=fault, evidence=evidence)
            if len(self._chosen) < len(self._acting):
                return
            step = self._step()
        except Exception:
            self._fail()
            return
        if step is not None:
            self.stepped(step)

    def _settle(
        self,
        record: SeatRecord,
        move: Move,
        spent: Spent,
        *,
        note: str = "",
        fault: Fault | None = None,
        evidence: FaultEvidence | None = None,
        unasked: bool = False,
    ) -> None:
        """Record a decision of a seat and store it until all of the step are settled."""
        game_move = self._codec.game_move(move)
        record.settled(game_move, spent.refunded_s, by_fallback=unasked or fault is not None)
        settled = Settled(
            record.seat,
            record.decisions,
            game_move,
            max(0.0, spent.sent_s - self._begin_s),
            spent.charged_s,
            record.clock.bank_ms,
            fault.kind if fault else None,
            fault.reason if fault else "",
            note,
            unasked,
            record.forfeited,
            spent.refunded_s,
            evidence,
        )
        self._ledger.decided(settled)
        self._chosen[record.seat] = move
        self.decisions += 1

    # Steps.

    def _step(self) -> Step | None:
        """Play all settled decisions at once; return None if a worker process plays them."""
        chosen = tuple([(seat, self._chosen[seat]) for seat in self._acting])
        if self._faults.unshown:
            shown = self._faults.show(record.unsent for record in self._records)
            if not self._resumed.waiting:
                self._showing.blamed(shown)
        if self._heavy and not self._resumed.at_once:
            seat = next(seat for seat in self._acting if seat in self._heavy)
            self._heavy_step(self, chosen, seat, self._heavy[seat])
            return None
        return self._rules.step(self.state, chosen, self.spec.deals)

    def _add_events(self, step: Step) -> None:
        """Add the events of a step to what is sent to seats and spectators."""
        for event, seats in step.events:
            encoded = self._codec.event(event)
            receivers = self._records if seats is None else [self._records[seat] for seat in seats]
            for record in receivers:
                record.unsent.event(event, encoded)
        if not self._resumed.waiting:
            self._showing.stepped(step, [record.clock for record in self._records])

    # The end.

    def _finish(self) -> None:
        result = self._rules.result(self.state)
        if result is None:
            raise RuntimeError("no seat is to act, but there is no result")
        self._end(
            completed(self.spec.match_id, result, self._records, self._faults.all, self.decisions)
        )

    def _end(self, outcome: Outcome) -> None:
        self._in_play = False
        self.outcome = outcome
        for record in self._records:
            record.retire_timers()
            if record.ask is not None:
                ask = record.ask
                record.close_ask(ask)
                record.port.close(ask, None, "the match was stopped")
        self.outcome = written(self._ledger, outcome, self._now_s() - self._begin_s)
        self._over(self)

    def tell_end(self) -> None:
        """Send the outcome to bots and spectators, if there is one; called once it is on disk."""
        if self.outcome is None:
            return
        for record in self._records:
            record.port.end(self.outcome, record.unsent.trailing(self.spec.match_id))
        self._showing.closed(self.outcome)

    def _fail(self) -> None:
        """Abort the match after an internal error, whose text is only in the log."""
        if isinstance(sys.exception(), Unwritten):
            self.suspend()  # the match continues from what is on the disk
            self._over(self)
            return
        if isinstance(sys.exception(), NoRoom):
            _log.error(
                "a match is aborted: no room on the disk", extra={"match": self.spec.match_id}
            )
            self.abort(AbortCause.DISK)
            return
        incident = secrets.token_hex(4)
        fields = {"incident": incident, "match": self.spec.match_id}
        _log.exception("an internal error aborts a match", extra=fields)
        self.abort(AbortCause.ERROR, incident)
