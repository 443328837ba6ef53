"""A match between bots in this process."""

import hashlib
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from arena.games.contract import Move, Seat, State
from arena.games.contract import Result as RulesResult
from arena.local.asks import LocalAsk, form_of
from arena.local.place import AnyBot, Place, object_of, start_of
from arena.local.turns import turns
from arena.records.deal_book import seeded_opening
from arena.records.journal.match_log import MatchLog
from arena.records.write import write_replay
from arena.referee.deal import COMMON, KeyedDeals, dice_of, seeded_key
from arena.referee.ledger import Settled
from arena.referee.seat import RejectedAnswer
from arena.referee.spec import (
    Ending,
    FaultKind,
    MatchSpec,
    Outcome,
    SeatConduct,
    SeatedBot,
    final_places,
)
from arena.referee.spec import Fault as SeatFault
from arena.referee.terms import MatchTerms
from arena.referee.wire.terms import terms_message
from cardarena import _choice
from cardarena._raised import Raised
from cardarena.v1.game_pb2 import Fault
from cardarena.v1.play_pb2 import Answer, MatchEnd


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception in a bot's code: the fault ERROR, for which the fallback move was played."""

    seat: int
    decision: int
    raised: Raised


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a match."""

    game: str
    seed: str
    """The seed, which gives the same deals again."""
    scores: tuple[int, ...]
    """Scores by seat, in the unit of the game."""
    places: tuple[int, ...]
    """Places by seat, from 1."""
    hand_scores: tuple[tuple[int, ...], ...]
    """For each hand in order, the scores by seat."""
    faults: tuple[Fault, ...]
    exceptions: tuple[Failure, ...]
    decisions: int
    """The number of decisions of all seats."""
    replay: Path | None
    """The path of its replay, if a folder was given."""


def names_of(bots: Sequence[AnyBot]) -> list[str]:
    """Return the names of the classes; equal names get a number."""
    kinds = [(bot if isinstance(bot, type) else type(bot)).__name__ for bot in bots]
    numbers = [kinds[: seat + 1].count(kind) for seat, kind in enumerate(kinds)]
    named = zip(kinds, numbers, strict=True)
    return [kind if number == 1 else f"{kind}-{number}" for kind, number in named]


class _Decision(NamedTuple):
    move: Move
    fault: Fault | None = None
    """Why the move is the fallback."""
    note: str = ""
    unasked: bool = False
    """Whether the seat had forfeited, so that its bot was not asked."""


class _Record:
    """Writes a replay of a match as the arena does, without charged time."""

    def __init__(self, spec: MatchSpec, seed: str, folder: Path) -> None:
        self._seed = seed
        self._folder = folder
        self._bank_ms = spec.terms.time_control.bank_ms
        self._begin_s = time.monotonic()
        self._log = MatchLog(self, 1)
        self._log.opened(spec)

    def append(self, body: bytes) -> None:
        """Do nothing, as there is no journal."""

    def decided(self, place: Place, decision: _Decision, game_move: bytes) -> None:
        fault = decision.fault
        settled = Settled(
            seat=place.start.seat,
            decision=place.decisions,
            game_move=game_move,
            sent_s=time.monotonic() - self._begin_s,
            charged_s=0.0,
            bank_ms=self._bank_ms,
            fault=FaultKind(fault.kind) if fault else None,
            reason=fault.reason if fault else "",
            note=decision.note,
            unasked=decision.unasked,
            forfeited=place.forfeited,
        )
        self._log.decided(settled)

    def end(self, outcome: Outcome) -> Path:
        self._log.closed(outcome, time.monotonic() - self._begin_s)
        bodies, opening = self._log.bodies, seeded_opening(self._seed)
        return write_replay(self._folder, outcome.match_id, bodies, opening)


class Match:
    """A match in this process."""

    def __init__(
        self,
        terms: MatchTerms,
        seed: str,
        bots: Sequence[AnyBot],
        *,
        raising: bool,
        folder: Path | None,
        match_id: str = "",
    ) -> None:
        key, names = seeded_key(seed), names_of(bots)
        dice = dice_of(key, COMMON, terms.seats)
        match_id, entrants = match_id or secrets.token_hex(8), tuple(map(SeatedBot, names))
        key_sha256 = hashlib.sha256(key).digest()
        self._spec = MatchSpec(match_id, terms, entrants, KeyedDeals(key), key_sha256, dice=dice)
        self._seed = seed
        self._form = form_of(terms)
        self._raising = raising
        self._places: list[Place] = []
        message = terms_message(terms)
        sat: Counter[int] = Counter()
        for seat, bot in enumerate(map(object_of, bots)):
            sat[id(bot)] += 1  # matches of an object at several seats have different numbers
            number, seed_bytes = sat[id(bot)], dice.seats[seat]
            start = start_of(match_id, message, names, seat, number, seed_bytes)
            self._places.append(Place(self._form, start, bot))
        self._faults: list[Fault] = []
        self._new_faults: list[Fault] = []
        self._exceptions: list[Failure] = []
        self._failed: dict[int, Exception] = {}
        """What a bot raised at the start, by seat: each of its asks is a fault."""
        self._record = None if folder is None else _Record(self._spec, seed, folder)
        self.outcome: Outcome | None = None
        """How the match ended, as the referee says it; None before."""

    def play(self) -> Result:
        with ExitStack() as closing:
            for place in self._places:
                closing.callback(place.close)
            return self._play()

    def _play(self) -> Result:
        places, terms, rules = self._places, self._spec.terms, self._form.rules
        for seat, place in enumerate(places):
            try:
                place.begin()
            except Exception as error:
                if self._raising:
                    raise
                self._failed[seat] = error
        for turn in turns(rules, terms.options, terms.seats, self._spec.deals, self._choose):
            for fault in self._new_faults:
                for place in places:
                    place.news.faults.append((fault, len(place.news.events)))
            self._faults += self._new_faults
            self._new_faults.clear()
            for event, sent_to in turn.events:
                for place in places if sent_to is None else [places[seat] for seat in sent_to]:
                    place.news.events.append(event)
        result = rules.result(turn.after)
        assert result is not None, "a match without a seat to act is over"
        return self._end(result)

    def _choose(self, state: State, seat: Seat) -> Move:
        place = self._places[seat]
        place.next_decision()
        decision = self._decision(place, state, seat)
        if self._record is not None:
            self._record.decided(place, decision, self._form.codec.game_move(decision.move))
        return decision.move

    def _decision(self, place: Place, state: State, seat: Seat) -> _Decision:
        rules = self._form.rules
        if place.forfeited:
            return _Decision(rules.fallback(state, seat), unasked=True)
        allowed = rules.moves(state, seat)
        if place.auto and allowed.complete and len(allowed.offered) == 1:
            place.pass_over()
            return _Decision(allowed.offered[0])
        ask = place.ask(place.decisions, state, allowed, self._form.clock_ms)
        answer = self._answer(place, ask)
        ask.close()
        if isinstance(answer, int):
            return _Decision(allowed.offered[answer])
        move = self._form.judged(allowed, answer)
        if not isinstance(move, RejectedAnswer):
            return _Decision(move, note=answer.note)
        kind: Any = move.kind.value
        fault = Fault(seat=seat, kind=kind, decision=place.decisions, reason=move.reason)
        self._new_faults.append(fault)
        place.blame(self._spec.terms.fault_limit)
        return _Decision(rules.fallback(state, seat), fault, answer.note)

    def _answer(self, place: Place, ask: LocalAsk) -> Answer | int:
        """Return a bot's answer; the usual choice, an offered move, is its index and needs no message."""
        try:
            if ask.seat in self._failed:
                raise self._failed[ask.seat]
            choice = place.put(ask)
            index = _choice.plain_index(ask.moves, choice)
            return _choice.answer(ask, choice) if index is None else index
        except Exception as error:
            cure = _choice.labels(error, ask.family)
            if self._raising:
                if cure:
                    error.add_note(cure)
                raise
            raised = Raised.of(error, place.asked, cure)
            self._exceptions.append(Failure(ask.seat, place.decisions, raised))
            return _choice.failure(ask, raised)

    def _end(self, result: RulesResult) -> Result:
        out = [place.forfeited for place in self._places]
        outcome = Outcome(
            match_id=self._spec.match_id,
            ending=Ending.FORFEIT if any(out) else Ending.COMPLETED,
            scores=result.scores,
            places=final_places(result, out),
            hand_scores=result.hand_scores,
            faults=tuple(
                SeatFault(fault.seat, FaultKind(fault.kind), fault.decision, fault.reason)
                for fault in self._faults
            ),
            decisions=sum(place.decisions for place in self._places),
            conduct=tuple(
                SeatConduct(place.decisions, place.faults, place.forfeited)
                for place in self._places
            ),
        )
        self.outcome = outcome
        path = None if self._record is None else self._record.end(outcome)
        for seat, place in enumerate(self._places):
            try:
                place.end(self._end_message(outcome, place.start.match, seat))
            except Exception as error:
                if self._raising:
                    raise
                raised = Raised.of(error, place.asked)
                self._exceptions.append(Failure(seat, place.decisions, raised))
        return Result(
            game=self._spec.terms.game.id,
            seed=self._seed,
            scores=outcome.scores,
            places=outcome.places,
            hand_scores=outcome.hand_scores,
            faults=tuple(self._faults),
            exceptions=tuple(self._exceptions),
            decisions=outcome.decisions,
            replay=path,
        )

    def _end_message(self, outcome: Outcome, number: int, seat: int) -> MatchEnd:
        """Return the end as a seat receives it, with the reasons of its own faults."""
        ending: Any = outcome.ending.value
        end = MatchEnd(
            match=number, scores=outcome.scores, places=outcome.places, ending=ending,
            faults=self._faults, replay_id="" if self._record is None else outcome.match_id,
        )  # fmt: skip
        for fault in end.faults:
            if fault.seat != seat:
                fault.reason = ""
        return end
