"""One match in play: a state machine that is told what arrives, and when.

    begin -> ask all seats to act -> settle each seat's decision
          -> when all are settled: step -> tell events -> ask again ...
          -> no seat to act: over

Nothing here waits, sleeps or reads a clock but the one that was given, so
that every fault can be placed at every point of a match in a test. Errors of
the arena itself end the match as aborted and are charged to nobody.
"""

import contextlib
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from arena.games.contract import Move, Moves, Seat, Step
from arena.games.notation import Notation
from arena.referee.clock import GRACE_S, SeatClock
from arena.referee.ports import Answer, Ledger, SeatPort
from arena.referee.spec import Ending, Fault, FaultKind, MatchSpec, Outcome
from arena.referee.timers import Timer, Timers
from arena.wire import asks
from arena.wire.codec import Codec, Malformed

_log = logging.getLogger(__name__)

HeavyStep = Callable[["Table", tuple[tuple[Seat, Move], ...]], None]
"""Runs a step in a worker and calls `Table.stepped` or `Table.abort` with it."""


class OpenAsk:
    """One decision that is asked of a seat, until it is settled.

    The port keeps what it needs beside it in `number`.
    """

    __slots__ = (
        "body",
        "decision",
        "due_s",
        "moves",
        "number",
        "seat",
        "sent_s",
        "settled",
        "table",
    )

    def __init__(
        self, table: "Table", seat: Seat, decision: int, moves: Moves, body: bytes
    ) -> None:
        self.table = table
        self.seat = seat
        self.decision = decision
        self.moves = moves
        self.body = body
        """The ask as encoded fields, but for its id, match and clock."""
        self.number = 0
        self.sent_s = -1.0
        self.due_s = math.inf
        """When its time is up, grace included."""
        self.settled = False

    def sent(self, now_s: float) -> None:
        """The ask was handed to the transport: its clock starts.

        Called again, it moves the start: the transport was slow to take it.
        """
        if not self.settled:
            self.sent_s = now_s
            self.table._start_clock(self)

    def answered(self, answer: Answer, received_s: float) -> None:
        """The bot answered; `received_s` was stamped when the bytes arrived."""
        if not self.settled:
            self.table._answered(self, answer, received_s)

    def abandoned(self) -> None:
        """The bot has left for good and will not answer."""
        if not self.settled:
            self.table._abandoned(self)

    def clock_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """Time for the move, in the bank, and per answer in time, in milliseconds.

        `used_s` is what the bot has had already, when an ask is told again.
        """
        return self.table._places[self.seat].clock.told_ms(used_s)


class _Place:
    """What a table keeps for one seat."""

    __slots__ = (
        "ask",
        "clock",
        "decisions",
        "events",
        "faults",
        "forfeited",
        "played_for",
        "port",
        "raw_events",
        "timer",
    )

    def __init__(self, port: SeatPort, clock: SeatClock, timer: Timer) -> None:
        self.port = port
        self.clock = clock
        self.timer = timer
        self.ask: OpenAsk | None = None
        self.decisions = 0
        self.faults = 0
        self.forfeited = False
        self.events: list[bytes] = []
        """Encoded events since the last ask."""
        self.raw_events: list[object] = []
        """The same, for notation and for the end of the match."""
        self.played_for: list[tuple[Fault, int]] = []
        """Faults since the last ask, each with the number of events before it."""


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
    ) -> None:
        """Set the table. `ports` are by seat; `now_s` reads the arena's clock."""
        self.spec = spec
        self.outcome: Outcome | None = None
        self._rules = spec.game.rules
        self._codec = codec
        self._ledger = ledger
        self._now_s = now_s
        self._over = over
        self._heavy_step = heavy_step
        self._move_notation = Notation(spec.game.module.Move)
        self._event_notation = Notation(spec.game.module.Event)
        self._places = [
            _Place(port, SeatClock(spec.time_control), timers.timer(self._expiry(Seat(at))))
            for at, port in enumerate(ports)
        ]
        self._state: object = None
        self._hand = 0
        self._begin_s = 0.0
        self._acting: tuple[Seat, ...] = ()
        self._chosen: dict[Seat, Move] = {}
        self._new_faults: list[Fault] = []
        self._faults: list[Fault] = []
        self._decisions = 0

    def begin(self) -> None:
        """Deal the first hand and ask for the first moves."""
        self._begin_s = self._now_s()
        try:
            self._ledger.opened(self.spec)
            step = self._rules.start(self.spec.options, self.spec.seats, self.spec.deals)
        except Exception:
            self._fail()
            return
        self.stepped(step)

    def stepped(self, step: Step) -> None:
        """Take the outcome of a step, tell of it and go on."""
        try:
            following: Step | None = step
            while following is not None and self._take_step(following):
                following = self._step()
        except Exception:
            self._fail()

    def abort(self) -> None:
        """Stop the match; nothing of it counts and nobody is to blame."""
        if self.outcome is None:
            self._end(Ending.ABORTED, (), (), ())

    # Asking.

    def _take_step(self, step: Step) -> bool:
        """Adopt a step, ask whoever is to act; True if nobody needs to be waited for."""
        self._state = step.state
        self._tell(step)
        if self.outcome is not None:
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
        # Seats that are asked at all are asked before any is settled, so that
        # no port's answer can end the step while others wait to be asked.
        asks_open = []
        for seat in acting:
            place = self._places[seat]
            if place.forfeited or place.port.gone or place.clock.allowance_s() <= 0:
                self._settle_unasked(seat, place)
            else:
                asks_open.append(self._open_ask(seat, place))
        for ask in asks_open:
            self._places[ask.seat].port.ask(ask)
        return len(self._chosen) == len(acting) and not asks_open

    def _open_ask(self, seat: Seat, place: _Place) -> OpenAsk:
        moves = self._rules.moves(self._state, seat)
        view = self._rules.view(self._state, seat)
        body = self._codec.ask(view, place.events, moves)
        head = asks.seat_field(seat)
        if place.played_for:
            head += b"".join(
                asks.played_for(fault, at, own=fault.seat == seat) for fault, at in place.played_for
            )
        if place.port.wants_text:
            write_move, write_event = self._move_notation.write, self._event_notation.write
            head += asks.texts(
                [write_move(move) for move in moves.offered],
                [write_event(event) for event in place.raw_events],
            )
        place.events = []
        place.raw_events = []
        place.played_for = []
        place.decisions += 1
        place.ask = ask = OpenAsk(self, seat, place.decisions, moves, head + body)
        return ask

    def _settle_unasked(self, seat: Seat, place: _Place) -> None:
        """Play the fallback for a seat that is out of time, gone or forfeited."""
        place.decisions += 1
        fault = None
        if place.port.gone and not place.forfeited:
            place.forfeited = True
            reason = "the bot had left"
            fault = Fault(seat, FaultKind.GONE, place.decisions, reason)
            self._new_faults.append(fault)
        move = self._rules.fallback(self._state, seat)
        sent_s = self._now_s()
        self._settle(seat, place.decisions, move, sent_s, 0.0, fault, "", unasked=True)

    # Answers.

    def _start_clock(self, ask: OpenAsk) -> None:
        place = self._places[ask.seat]
        ask.due_s = ask.sent_s + place.clock.allowance_s() + GRACE_S
        place.timer.set(ask.due_s)

    def _expiry(self, seat: Seat) -> Callable[[], None]:
        def expire() -> None:
            place = self._places[seat]
            if place.ask is None:
                return
            if place.port.connected:
                self._blame(place.ask, FaultKind.TIMEOUT, _LATE, self._now_s())
            else:
                reason = "the bot had hung up and did not come back in time"
                self._blame(place.ask, FaultKind.GONE, reason, self._now_s())

        return expire

    def _abandoned(self, ask: OpenAsk) -> None:
        self._places[ask.seat].forfeited = True
        self._blame(ask, FaultKind.GONE, "the bot had left", self._now_s())

    def _answered(self, ask: OpenAsk, answer: Answer, received_s: float) -> None:
        place = self._places[ask.seat]
        if received_s > ask.due_s:
            self._blame(ask, FaultKind.TIMEOUT, _LATE, received_s, answer.note)
            return
        index, move, illegal = answer.index, None, ""
        if index is not None:
            offered = ask.moves.offered
            if index < len(offered):
                move = offered[index]
            else:
                reason = f"index {index} is past the {len(offered)} moves offered"
                self._blame(ask, FaultKind.ILLEGAL, reason, received_s, answer.note)
                return
        elif answer.move is None:
            reason = "the answer has neither an index nor a move"
            self._blame(ask, FaultKind.MALFORMED, reason, received_s, answer.note)
            return
        else:
            try:
                move = self._codec.read_move(answer.move)
                if move not in ask.moves:
                    illegal = f"not a legal move here: {self._move_notation.write(move)[:160]}"
            except Malformed as error:
                self._blame(ask, FaultKind.MALFORMED, str(error), received_s, answer.note)
                return
            except Exception:
                self._fail()
                return
            if illegal:
                self._blame(ask, FaultKind.ILLEGAL, illegal, received_s, answer.note)
                return
        self._close_ask(ask, place)
        used_s = received_s - ask.sent_s
        place.clock.charge(used_s, in_time=True)
        self._settle_and_go_on(ask, move, used_s, None, answer.note)

    def _blame(
        self, ask: OpenAsk, kind: FaultKind, reason: str, now_s: float, note: str = ""
    ) -> None:
        """Charge a fault: the fallback is played in place of the seat's own move."""
        place = self._places[ask.seat]
        self._close_ask(ask, place)
        used_s = now_s - ask.sent_s if ask.sent_s >= 0 else 0.0
        place.clock.charge(used_s, in_time=kind in (FaultKind.ILLEGAL, FaultKind.MALFORMED))
        fault = Fault(ask.seat, kind, ask.decision, reason)
        self._new_faults.append(fault)
        place.faults += 1
        limit = self.spec.fault_limit
        if limit and place.faults >= limit:
            place.forfeited = True
        place.port.close(ask, kind, reason)
        try:
            move = self._rules.fallback(self._state, ask.seat)
        except Exception:
            self._fail()
            return
        self._settle_and_go_on(ask, move, used_s, fault, note)

    def _close_ask(self, ask: OpenAsk, place: _Place) -> None:
        ask.settled = True
        ask.body = b""
        place.ask = None
        place.timer.clear()

    def _settle_and_go_on(
        self, ask: OpenAsk, move: Move, used_s: float, fault: Fault | None, note: str
    ) -> None:
        try:
            self._settle(ask.seat, ask.decision, move, ask.sent_s, used_s, fault, note)
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
        sent_s: float,
        charged_s: float,
        fault: Fault | None,
        note: str,
        *,
        unasked: bool = False,
    ) -> None:
        """Write a decision down and hold it until all of the step are in."""
        self._ledger.decided(
            seat,
            decision,
            self._codec.game_move(move),
            max(0.0, sent_s - self._begin_s),
            charged_s,
            self._places[seat].clock.bank_ms,
            fault.kind if fault else None,
            fault.reason if fault else "",
            note,
            unasked=unasked,
            forfeited=self._places[seat].forfeited,
        )
        self._chosen[seat] = move
        self._decisions += 1

    # Steps.

    def _step(self) -> Step | None:
        """Play all settled decisions at once; None if a worker plays them."""
        chosen = tuple([(seat, self._chosen[seat]) for seat in self._acting])
        if self._new_faults:
            self._publish_faults()
        rules, state = self._rules, self._state
        for seat, move in chosen:
            if rules.heavy(state, seat, move):
                self._heavy_step(self, chosen)
                return None
        return rules.step(state, chosen, self.spec.deals)

    @property
    def state(self) -> object:
        """The state of the rules, for a worker that plays a heavy step."""
        return self._state

    def _publish_faults(self) -> None:
        """Tell all seats of faults, once no pending choice could show through."""
        for fault in self._new_faults:
            for place in self._places:
                place.played_for.append((fault, len(place.events)))
        self._faults += self._new_faults
        self._new_faults = []

    def _tell(self, step: Step) -> None:
        for event, seats in step.told:
            encoded = self._codec.event(event)
            places = self._places if seats is None else [self._places[seat] for seat in seats]
            for place in places:
                place.events.append(encoded)
                place.raw_events.append(event)

    # The end.

    def _finish(self) -> None:
        result = self._rules.result(self._state)
        if result is None:
            raise RuntimeError("no seat is to act, but there is no result")
        behind = [place.forfeited for place in self._places]
        if any(behind):
            keys = list(zip((not out for out in behind), result.scores, strict=True))
            places = tuple(1 + sum(other > key for other in keys) for key in keys)
            self._end(Ending.FORFEIT, result.scores, places, result.hand_scores)
        else:
            self._end(Ending.COMPLETED, result.scores, result.places, result.hand_scores)

    def _end(
        self,
        ending: Ending,
        scores: tuple[int, ...],
        places: tuple[int, ...],
        hand_scores: tuple[tuple[int, ...], ...],
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
        )
        for place in self._places:
            if place.ask is not None:
                ask = place.ask
                self._close_ask(ask, place)
                place.port.close(ask, None, "the match was stopped")
        try:
            self._ledger.closed(self.outcome, self._now_s() - self._begin_s)
        except Exception:
            _log.exception("match %s could not be closed in the journal", self.spec.match_id)
            self.void()
            with contextlib.suppress(Exception):  # logged; perhaps an abort can be written
                self._ledger.closed(self.outcome, self._now_s() - self._begin_s)
        self._over(self)

    def void(self) -> None:
        """Take the result back, as it could not be written down: nobody was told of it."""
        assert self.outcome is not None
        self.outcome = replace(
            self.outcome, ending=Ending.ABORTED, scores=(), places=(), hand_scores=()
        )

    def tell_end(self) -> None:
        """Tell all seats how the match ended; called once the result is on disk."""
        assert self.outcome is not None
        for place in self._places:
            place.port.end(self.outcome, self._trailing_events(place))

    def _trailing_events(self, place: _Place) -> tuple[bytes, ...]:
        try:
            return tuple(self._codec.game_event(event) for event in place.raw_events)
        except Exception:
            # What aborted the match may do so again here, and all are still to be told.
            _log.exception("the last events of match %s are not told", self.spec.match_id)
            return ()

    def _fail(self) -> None:
        """Abort after an error of the arena's own. Its text goes to the log only."""
        _log.exception("match %s is aborted by an error of the arena", self.spec.match_id)
        self.abort()


_LATE: Final = "no answer in time"
