"""One match in play: a state machine that is told what arrives, and when.

    begin -> ask all seats to act -> settle each seat's decision
          -> when all are settled: step -> tell events -> ask again ...
          -> no seat to act: over

Nothing here waits or sleeps, and the only clock is the one that was given: so a
test can place every fault at every point of a match. An error of the arena itself
aborts the match and is charged to nobody. A match that was cut short begins with
its resumed decisions, and goes on where they end.
"""

import contextlib
import logging
import secrets
import sys
from collections.abc import Callable, Sequence
from typing import Final

from arena.games.contract import Move, Seat, Step, Work
from arena.games.notation import Notation
from arena.referee.ask import Answer, CarriedAsk, OpenAsk, Said, SeatPort
from arena.referee.clock import GRACE_S, WORK_STEP_S, SeatClock, Spent
from arena.referee.gallery import Gallery
from arena.referee.judge import Wrong, chosen_move
from arena.referee.lag import MAX_MATCH_REFUND_S, MAX_REFUND_S, Lag
from arena.referee.ledger import Evidence, Ledger, NoRoom, Settled, Unwritten, UsedTime
from arena.referee.pending_news import PendingNews
from arena.referee.place import MAX_MOVE_BYTES, Place
from arena.referee.presence import LATE_CHECK_S, Presence
from arena.referee.resumed import ResumedDecisions
from arena.referee.showing import Showing
from arena.referee.spec import (
    AbortCause,
    Ending,
    Fault,
    FaultKind,
    ForfeitedSeat,
    MatchSpec,
    Outcome,
    SeatConduct,
    final_places,
)
from arena.referee.timers import Timers
from arena.wire import asks
from arena.wire.codec import Codec

_log = logging.getLogger(__name__)

HeavyStep = Callable[["Table", tuple[tuple[Seat, Move], ...], Seat, Work | None], None]
"""Runs a step in a worker and calls `Table.stepped` or `Table.abort` with it. The seat is whose move
makes it long, and the work what the rules know of how long."""

REPLAYED_AT_ONCE: Final = 32
"""Decisions of the past that are played again before others have their turn: 1 to 3 ms."""


class Table:
    """A match in play. Call `begin` once; `over` is called once when it has ended."""

    def __init__(
        self,
        spec: MatchSpec,
        codec: Codec,
        ports: Sequence[SeatPort],
        ledger: Ledger,
        *,
        timers: Timers,
        now_s: Callable[[], float],
        over: Callable[["Table"], None],
        heavy_step: HeavyStep,
        lag: Lag,
        gallery: Gallery | None = None,
        replay_later: Callable[["Table"], None] | None = None,
        owner_of: Callable[[str], str] = lambda bot: bot,
    ) -> None:
        """Set the table. `ports` are by seat; `now_s` reads the arena's clock.

        `replay_later` is told to call `replay_on` in a while, as long as past decisions
        are left; without it, all are played again at once. `owner_of` names whose a bot
        is, by its name.
        """
        self.spec = spec
        self.outcome: Outcome | None = None
        self._rules = spec.terms.game.rules
        self._codec = codec
        self._ledger = ledger
        self._now_s = now_s
        self._over = over
        self._heavy_step = heavy_step
        self._lag = lag
        self._showing = Showing(gallery, spec)
        self._replay_later = replay_later
        self._paused_at = 0
        """Decisions that had been played again at the last pause."""
        self._move_notation = Notation(spec.terms.game.module.Move)
        self._event_notation = Notation(spec.terms.game.module.Event)
        owners = [owner_of(entrant.name) for entrant in spec.entrants]
        self._places = [
            Place(
                port,
                SeatClock(spec.terms.time_control),
                PendingNews(codec),
                timers.timer(self._expiry(Seat(at))),
                Presence(
                    spec.terms.away_limit_ms,
                    timers=timers,
                    now_s=now_s,
                    lag=self._lag,
                    used_up=self._away_too_long(Seat(at)),
                    owner=owners[at],
                ),
                owners[at],
            )
            for at, port in enumerate(ports)
        ]
        self._resumed = ResumedDecisions((), codec)
        self._state: object = None
        self._hand = 0
        self._begin_s = 0.0
        self._acting: tuple[Seat, ...] = ()
        self._chosen: dict[Seat, Move] = {}
        self._heavy: dict[Seat, Work | None] = {}
        """Of the chosen moves those that are too much for this process, with what they cost."""
        self._new_faults: list[Fault] = []
        self._faults: list[Fault] = []
        self._decisions = 0
        self._suspended = False

    @property
    def decisions(self) -> int:
        """Decisions of all seats so far."""
        return self._decisions

    def begin(self, past: Sequence[Settled] = (), used: Sequence[UsedTime] = ()) -> None:
        """Deal the first hand and ask for the first moves.

        `past` are the decisions of a match that was cut short: they are played
        without asking, and the match goes on after the last of them. `used` is the time
        that its seats had used, and no decision tells.
        """
        self._resumed = ResumedDecisions(past, self._codec, used)
        for each in used:
            self._places[each.seat].kept = each
            self._places[each.seat].presence.was_away(each.away_s)
        self._begin_s = self._now_s() - self._resumed.elapsed_s
        for out in self.spec.forfeited_seats:
            place = self._places[out.seat]
            place.forfeited, place.out = True, out
        try:
            self._ledger.opened(self.spec)
            self._showing.opened()
            for place in self._places:
                place.port.sit(place.presence)
            step = self._rules.start(
                self.spec.terms.options, self.spec.terms.seats, self.spec.deals
            )
        except Exception:
            self._fail()
            return
        self.stepped(step)

    def stepped(self, step: Step) -> None:
        """Take the outcome of a step, tell of it and go on."""
        try:
            following: Step | None = step
            while following is not None and self._take_step(following):
                if self._pauses():
                    return
                following = self._step()
        except Exception:
            self._fail()

    def replay_on(self) -> None:
        """Play more of the past again, after a pause."""
        if not self._going_on:
            return
        try:
            step = self._step()
        except Exception:
            self._fail()
            return
        if step is not None:
            self.stepped(step)

    def _pauses(self) -> bool:
        """Whether others are to have their turn before more of the past is played again."""
        if self._replay_later is None or not self._resumed:
            return False
        if self._decisions - self._paused_at < REPLAYED_AT_ONCE:
            return False
        self._paused_at = self._decisions
        self._replay_later(self)
        return True

    def abort(self, cause: AbortCause = AbortCause.STOPPED, incident: str = "") -> None:
        """Stop the match; nothing of it counts and nobody is to blame."""
        if self._going_on:
            self._end(Ending.ABORTED, (), (), (), cause, incident)

    def suspend(self) -> None:
        """Leave the match as it stands, to go on from its journal. Nobody is told."""
        self._suspended = True
        for place in self._places:
            place.retire_timers()
            if place.ask is not None:
                self._close_ask(place.ask, place)

    def _away_too_long(self, seat: Seat) -> Callable[[], None]:
        def used_up() -> None:
            place = self._places[seat]
            if not self._going_on or place.forfeited:
                return
            reason = f"the bot was away for {self.spec.terms.away_limit_ms / 1000:g} s in all"
            if place.ask is None:
                place.out = ForfeitedSeat(seat, FaultKind.GONE, reason)
            else:
                place.forfeited = True
                self._blame(place.ask, FaultKind.GONE, reason, self._now_s())

        return used_up

    @property
    def _going_on(self) -> bool:
        return self.outcome is None and not self._suspended

    # Asking.

    def _take_step(self, step: Step) -> bool:
        """Adopt a step and ask the seats to act; True if no bot has to be waited for."""
        self._state = step.state
        self._tell(step)
        if not self._going_on:
            return False
        rules = self._rules
        self._acting = acting = rules.to_act(self._state)
        if not acting:
            self._finish()
            return False
        hand = rules.hand_number(self._state)
        if hand != self._hand:
            self._hand = hand
            for place in self._places:
                place.clock.new_hand()
        self._chosen = {}
        self._heavy.clear()
        while self._resumed and len(self._chosen) < len(acting):
            self._settle_past()
        if self._chosen and not self._plays_past_at_once:
            for seat, move in self._chosen.items():
                self._weigh(seat, move)
        # Every ask goes out before any seat is settled: else an answer could end the step
        # while others are still to be asked.
        asks_open = []
        for seat in acting:
            if seat in self._chosen:
                continue
            place = self._places[seat]
            out = place.forfeited or place.out is not None or place.port.gone
            if out or place.move_bytes >= MAX_MOVE_BYTES or place.clock.allowance_s <= 0:
                self._settle_unasked(seat, place)
            else:
                asks_open.append(self._open_ask(seat, place))
        for ask in asks_open:
            self._places[ask.seat].port.ask(ask)
        return len(self._chosen) == len(acting) and not asks_open

    def _open_ask(self, seat: Seat, place: Place) -> OpenAsk:
        moves = self._rules.moves(self._state, seat)
        body = place.news.ask(seat, self._rules.view(self._state, seat), moves)
        events = place.news.events
        place.news.forget()
        place.decisions += 1
        if self._resumed.carried_s:
            carried_s = self._resumed.take_carried_s(seat, place.clock.allowance_s)
            place.ask = CarriedAsk(self, seat, place.decisions, moves, body, events, carried_s)
            return place.ask
        place.ask = ask = OpenAsk(self, seat, place.decisions, moves, body, events)
        return ask

    def keep_times(self) -> bool:
        """Write down what bots think and are away, as far as it is not; whether anything was.

        To be called every second or so: what is not written down is lost if the arena ends.
        """
        if not self._going_on or self._resumed:
            return False
        written, now_s = False, self._now_s()
        for seat, place in enumerate(self._places):
            ask, charged_s = place.ask, 0.0
            if ask is not None:
                charged_s = self._spent(ask, now_s).charged_s
            if not place.keep(seat, charged_s):
                continue
            written = True
            try:
                self._ledger.used(place.kept)
            except Exception:
                self._fail()
                return False
        return written

    def texts(self, ask: OpenAsk) -> bytes:
        """Moves and events of an ask in notation, as encoded fields."""
        moves = [self._move_notation.write(move) for move in ask.moves.offered]
        return asks.texts(moves, [self._event_notation.write(event) for event in ask.events])

    def _settle_unasked(self, seat: Seat, place: Place) -> None:
        """Play the fallback for a seat that is out of time, gone or forfeited."""
        place.decisions += 1
        fault = evidence = None
        now_s = self._now_s()
        if place.port.gone and not place.forfeited:
            place.out = place.out or ForfeitedSeat(seat, FaultKind.GONE, "the bot had left")
        if place.out is not None:
            fault = Fault(seat, place.out.kind, place.decisions, place.out.reason)
            place.forfeited, place.out = True, None
            self._new_faults.append(fault)
            evidence = Evidence(now_s - self._begin_s, away_s=place.presence.away_s())
        move, spent = self._rules.fallback(self._state, seat), Spent(now_s)
        self._weigh(seat, move)
        self._settle(seat, place.decisions, move, spent, fault, "", evidence, unasked=True)

    def _settle_past(self) -> None:
        """Play a decision again that was written down before the match was cut short."""
        waiting = [seat for seat in self._acting if seat not in self._chosen]
        settled, move = self._resumed.take(self._rules, self._state, waiting, self._places)
        seat = Seat(settled.seat)
        if settled.fault is not None:
            self._new_faults.append(Fault(seat, settled.fault, settled.decision, settled.reason))
        self._chosen[seat] = move
        self._decisions += 1

    # Answers.

    def clock_of(self, seat: Seat) -> SeatClock:
        """The time of a seat."""
        return self._places[seat].clock

    def start_clock(self, ask: OpenAsk) -> None:
        """An ask was sent: its time runs."""
        place = self._places[ask.seat]
        ask.due_s = due_s = ask.sent_s + place.clock.allowance_s + GRACE_S
        # Set for an ask that was answered, it stays: early, it only looks again.
        if due_s < place.timer.due_s:
            place.timer.set(due_s)

    def _expiry(self, seat: Seat) -> Callable[[], None]:
        def expire() -> None:
            place, now_s = self._places[seat], self._now_s()
            ask = place.ask
            if ask is None:
                return
            if now_s < ask.due_s:
                if ask.sent_s >= 0:
                    place.timer.set(ask.due_s)
                return
            if self._lag.late(now_s, ask.due_s):
                # The answer may lie unread: no time is up while the arena was not there.
                place.timer.set(now_s + LATE_CHECK_S)
                return
            due_s = ask.due_s + self._refund_s(ask, now_s)
            if now_s < due_s:
                place.timer.set(due_s)
            elif place.port.connected:
                self._blame(ask, FaultKind.TIMEOUT, _LATE, now_s)
            else:
                reason = "the bot had hung up and did not come back in time"
                self._blame(ask, FaultKind.GONE, reason, now_s)

        return expire

    def abandoned(self, ask: OpenAsk) -> None:
        """The bot has left for good."""
        self._places[ask.seat].forfeited = True
        self._blame(ask, FaultKind.GONE, "the bot had left", self._now_s())

    def answered(self, ask: OpenAsk, answer: Answer, received_s: float, raw: bytes) -> None:
        """A bot answered."""
        spent = self._spent(ask, received_s)
        if received_s - spent.refunded_s > ask.due_s:
            self._blame(ask, FaultKind.TIMEOUT, _LATE, received_s, answer.note, raw)
            return
        try:
            move = chosen_move(ask.moves, answer, self._codec, self._move_notation)
        except Exception:
            self._fail()
            return
        if isinstance(move, Wrong):
            self._blame(ask, *move, received_s, answer.note, raw)
            return
        index = answer.index
        ask.said = Said.among(ask.moves, move) if index is None else Said(move, index)
        place = self._places[ask.seat]
        self._close_ask(ask, place)
        try:
            spent = self._with_work(spent, ask.seat, move)
        except Exception:
            self._fail()
            return
        place.clock.charge(spent.charged_s, in_time=True)
        self._settle_and_go_on(ask, move, spent, note=answer.note)

    def _with_work(self, spent: Spent, seat: Seat, move: Move) -> Spent:
        """The same, with the work that the move makes; no more than the seat has, so never a fault."""
        work = self._weigh(seat, move)
        if work is None or not work.charged:
            return spent
        charged_s = spent.charged_s + work.charged * WORK_STEP_S
        allowance_s = max(spent.charged_s, self._places[seat].clock.allowance_s)
        return spent._replace(charged_s=min(charged_s, allowance_s))

    def _weigh(self, seat: Seat, move: Move) -> Work | None:
        """What a move would cost, kept for its step; None if that is not said."""
        work = self._rules.heavy(self._state, seat, move)
        if not work:
            return None
        self._heavy[seat] = said = work if isinstance(work, Work) else None
        return said

    def _blame(
        self,
        ask: OpenAsk,
        kind: FaultKind,
        reason: str,
        now_s: float,
        note: str = "",
        raw: bytes = b"",
    ) -> None:
        """Charge a fault: the fallback is played in place of the seat's own move."""
        place, spent = self._places[ask.seat], self._spent(ask, now_s)
        due_s = now_s if ask.sent_s < 0 else ask.due_s + spent.refunded_s
        began_s, away_s = self._begin_s, place.presence.away_s()
        evidence = Evidence.of(due_s - began_s, now_s - began_s, raw, away_s)
        self._close_ask(ask, place)
        place.clock.charge(spent.charged_s, in_time=kind.in_time)
        fault = Fault(ask.seat, kind, ask.decision, reason)
        self._new_faults.append(fault)
        place.faults += 1
        if place.faults == self.spec.terms.fault_limit:
            place.forfeited = True
        place.port.close(ask, kind, reason)
        try:
            move = self._rules.fallback(self._state, ask.seat)
            self._weigh(ask.seat, move)
        except Exception:
            self._fail()
            return
        self._settle_and_go_on(ask, move, spent, fault=fault, note=note, evidence=evidence)

    def _spent(self, ask: OpenAsk, now_s: float) -> Spent:
        """The time that an ask has cost, less what the arena was late itself."""
        if ask.sent_s < 0:
            return Spent(now_s)
        refunded_s = self._refund_s(ask, now_s)
        return Spent(ask.sent_s, max(0.0, now_s - ask.sent_s - refunded_s), refunded_s)

    def _refund_s(self, ask: OpenAsk, now_s: float) -> float:
        """What the arena was late itself, within the bounds of a decision and of a match."""
        place = self._places[ask.seat]
        refund_s = self._lag.refund_s(ask.sent_s, now_s, place.owner)
        if refund_s <= 0.0:
            return 0.0
        return min(refund_s, MAX_REFUND_S, max(0.0, MAX_MATCH_REFUND_S - place.refunded_s))

    def _close_ask(self, ask: OpenAsk, place: Place) -> None:
        ask.settled = True
        ask.body = b""
        place.ask = None

    def _settle_and_go_on(
        self,
        ask: OpenAsk,
        move: Move,
        spent: Spent,
        *,
        note: str,
        fault: Fault | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        try:
            self._settle(ask.seat, ask.decision, move, spent, fault, note, evidence)
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
        seat: Seat,
        decision: int,
        move: Move,
        spent: Spent,
        fault: Fault | None,
        note: str,
        evidence: Evidence | None,
        *,
        unasked: bool = False,
    ) -> None:
        """Write a decision down and hold it until all of the step are in."""
        place = self._places[seat]
        place.fallbacks += unasked or fault is not None
        place.refunded_s += spent.refunded_s
        game_move = self._codec.game_move(move)
        place.count_move(game_move)
        settled = Settled(
            seat,
            decision,
            game_move,
            max(0.0, spent.sent_s - self._begin_s),
            spent.charged_s,
            place.clock.bank_ms,
            fault.kind if fault else None,
            fault.reason if fault else "",
            note,
            unasked,
            place.forfeited,
            spent.refunded_s,
            evidence,
        )
        self._ledger.decided(settled)
        self._chosen[seat] = move
        self._decisions += 1

    # Steps.

    def _step(self) -> Step | None:
        """Play all settled decisions at once; None if a worker plays them."""
        chosen = tuple([(seat, self._chosen[seat]) for seat in self._acting])
        if self._new_faults:
            self._publish_faults()
        if self._heavy and not self._plays_past_at_once:
            seat = next(seat for seat in self._acting if seat in self._heavy)
            self._heavy_step(self, chosen, seat, self._heavy[seat])
            return None
        return self._rules.step(self._state, chosen, self.spec.deals)

    @property
    def _plays_past_at_once(self) -> bool:
        """Whether decisions of before are played again here, in order and without a pause."""
        return bool(self._resumed) and self._replay_later is None

    @property
    def state(self) -> object:
        """The state of the rules, for a worker that plays a heavy step."""
        return self._state

    def _publish_faults(self) -> None:
        """Tell all seats of faults, once no pending choice could show through."""
        for fault in self._new_faults:
            for place in self._places:
                place.news.fault(fault)
        if not self._resumed:
            self._showing.blamed(self._new_faults)
        self._faults += self._new_faults
        self._new_faults = []

    def _tell(self, step: Step) -> None:
        for event, seats in step.told:
            encoded = self._codec.event(event)
            places = self._places if seats is None else [self._places[seat] for seat in seats]
            for place in places:
                place.news.event(event, encoded)
        if not self._resumed:
            self._showing.stepped(step, [place.clock for place in self._places])

    # The end.

    def _finish(self) -> None:
        result = self._rules.result(self._state)
        if result is None:
            raise RuntimeError("no seat is to act, but there is no result")
        behind = [place.forfeited for place in self._places]
        ending = Ending.FORFEIT if any(behind) else Ending.COMPLETED
        conduct = tuple(
            SeatConduct(place.decisions, place.fallbacks, place.forfeited) for place in self._places
        )
        places = final_places(result, behind)
        self._end(ending, result.scores, places, result.hand_scores, conduct=conduct)

    def _end(
        self,
        ending: Ending,
        scores: tuple[int, ...],
        places: tuple[int, ...],
        hand_scores: tuple[tuple[int, ...], ...],
        cause: AbortCause | None = None,
        incident: str = "",
        conduct: tuple[SeatConduct, ...] = (),
    ) -> None:
        self._faults += self._new_faults
        self.outcome = Outcome(
            match_id=self.spec.match_id,
            ending=ending,
            scores=scores,
            places=places,
            hand_scores=hand_scores,
            faults=tuple(self._faults),
            decisions=self._decisions,
            cause=cause,
            incident=incident,
            conduct=conduct,
        )
        for place in self._places:
            place.retire_timers()
            if place.ask is not None:
                ask = place.ask
                self._close_ask(ask, place)
                place.port.close(ask, None, "the match was stopped")
        try:
            self._ledger.closed(self.outcome, self._now_s() - self._begin_s)
        except Unwritten:
            self.outcome = None
        except Exception:
            fields = {"match": self.spec.match_id}
            _log.exception("a match could not be closed in the journal", extra=fields)
            self.outcome = self.outcome.voided()
            with contextlib.suppress(Exception):  # logged; perhaps an abort can be written
                self._ledger.closed(self.outcome, self._now_s() - self._begin_s)
        self._over(self)

    def tell_end(self) -> None:
        """Tell everybody how the match ended, if it has; called once the result is on disk."""
        if self.outcome is None:
            return
        for place in self._places:
            place.port.end(self.outcome, place.news.trailing(self.spec.match_id))
        self._showing.closed(self.outcome)

    def _fail(self) -> None:
        """Abort after an error of the arena's own. Its text goes to the log only."""
        if isinstance(sys.exception(), Unwritten):
            self.suspend()  # what is on the disk holds, and the match goes on from there
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
        _log.exception("an error of the arena's own aborts a match", extra=fields)
        self.abort(AbortCause.ERROR, incident)


_LATE: Final = "no answer in time"
