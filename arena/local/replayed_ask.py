"""Plays a replay up to one ask, and passes that ask to a bot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.games.contract import Seat
from arena.local.asks import Form, LocalAsk
from arena.local.place import Place
from arena.records.playback import PlaybackStep, ReplayedDecision
from arena.referee.clock import SeatClock
from arena.referee.seat import RejectedAnswer
from arena.referee.terms import MatchTerms
from cardarena import _choice
from cardarena._ask import AnyAsk
from cardarena.v1.game_pb2 import Fault


@dataclass(frozen=True, slots=True)
class Again:
    """A bot's answer to an ask of a replay."""

    ask: AnyAsk
    match: str
    """The id of the match."""
    step: int
    decision: int
    """The number of the seat's decision in the match, from 1."""
    hand: int
    now: str
    then: str
    """The move in the replay, chosen by the bot or by a fallback."""

    def __str__(self) -> str:
        where = f"match {self.match}, step {self.step}, hand {self.hand}"
        same = "the same" if self.now == self.then else self.now
        return (
            f"{where}: decision {self.decision} of seat {self.ask.seat}\n"
            f"  then  {self.then}\n  now   {same}"
        )


class Walk:
    """A seat in a replay, which is played up to one of its asks."""

    def __init__(self, form: Form, terms: MatchTerms, place: Place) -> None:
        self._form = form
        self._place = place
        self._seat = Seat(place.start.seat)
        name = place.start.players[place.start.seat].name
        self._clock = SeatClock(terms.control_of(name))
        self._hand = 0

    def to(self, step: int, walk: Sequence[PlaybackStep], match_id: str, *, earlier: bool) -> Again:
        """Give the bot the ask at a step, which must be an ask of the seat."""
        self._place.begin()
        for frame in walk:
            for _ in range(self._hand, frame.hand):
                self._clock.new_hand()
            self._hand = frame.hand
            for decision in frame.decisions:
                if decision.seat == self._seat:
                    if frame.index == step:
                        return self._again(frame, decision, match_id)
                    self._past(frame, decision, earlier=earlier)
            self._tell(frame)
        raise AssertionError(f"step {step} is no step of the replay")

    def _ask(self, frame: PlaybackStep, decision: ReplayedDecision) -> LocalAsk:
        allowed, times_ms = self._form.rules.moves(frame.before, self._seat), self._clock.times_ms()
        return self._place.ask(decision.decision, frame.before, allowed, times_ms)

    def _past(self, frame: PlaybackStep, decision: ReplayedDecision, *, earlier: bool) -> None:
        if decision.unasked:
            return
        allowed = self._form.rules.moves(frame.before, self._seat)
        forced = self._place.auto and allowed.complete and len(allowed.offered) == 1
        if forced or not earlier:
            self._place.pass_over()
        else:
            self._place.put(self._ask(frame, decision))
        in_time = decision.fault is None or decision.fault.in_time
        self._clock.charge(decision.charged_us / 1e6, in_time=in_time)

    def _tell(self, frame: PlaybackStep) -> None:
        news = self._place.news
        for decision in frame.decisions:
            if decision.fault is not None:
                kind: Any = decision.fault.value
                fault = Fault(
                    seat=decision.seat,
                    kind=kind,
                    decision=decision.decision,
                    reason=decision.reason,
                )
                news.faults.append((fault, len(news.events)))
        news.events.extend(sent.event for sent in frame.events_for(self._seat))

    def _again(self, frame: PlaybackStep, decision: ReplayedDecision, match_id: str) -> Again:
        ask = self._ask(frame, decision)
        answer = _choice.answer(ask, self._place.put(ask))
        move = self._form.judged(ask.allowed, answer)
        write = self._form.move_notation.write
        now = move.reason if isinstance(move, RejectedAnswer) else write(move)
        return Again(
            ask=ask,
            match=match_id,
            step=frame.index,
            decision=decision.decision,
            hand=frame.hand,
            now=now,
            then=write(decision.move),
        )
