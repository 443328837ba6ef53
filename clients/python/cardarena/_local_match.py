"""A match between bots in this process."""

import os
import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardarena import _choice
from cardarena._local_ask import form_of
from cardarena._local_place import AnyBot, Place, object_of, start_of
from cardarena._local_record import Record
from cardarena._raised import Raised
from cardarena.v1.game_pb2 import Fault
from cardarena.v1.play_pb2 import MatchEnd

if TYPE_CHECKING:
    from arena.terms import MatchTerms


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
    """Decisions of all seats."""
    replay: Path | None
    """The path of its replay, if a folder was given."""


def names_of(bots: Sequence[AnyBot]) -> list[str]:
    """Return the names of the classes; equal names get a number."""
    kinds = [(bot if isinstance(bot, type) else type(bot)).__name__ for bot in bots]
    taken: Counter[str] = Counter()
    names = []
    for kind in kinds:
        taken[kind] += 1
        names.append(kind if taken[kind] == 1 else f"{kind}-{taken[kind]}")
    return names


class Match:
    """A match in this process."""

    def __init__(
        self,
        terms: "MatchTerms",
        seed: str,
        bots: Sequence[AnyBot],
        *,
        raising: bool,
        replays: str | os.PathLike[str] | None,
    ) -> None:
        from arena.deal import COMMON, KeyedDeals, dice_of, seeded_key
        from arena.wire.terms import terms_message

        message, match_id = terms_message(terms), secrets.token_hex(8)
        self._terms = terms
        self._seed = seed
        self._deals = KeyedDeals(seeded_key(seed))
        dice = dice_of(self._deals.key, COMMON, terms.seats)
        self._form = form_of(terms)
        self._raising = raising
        self._names = names_of(bots)
        self._places: list[Place] = []
        sat: Counter[int] = Counter()
        for seat, bot in enumerate(map(object_of, bots)):
            sat[id(bot)] += 1  # matches of an object at several seats have different numbers
            start = start_of(match_id, message, self._names, seat, sat[id(bot)], dice.seats[seat])
            self._places.append(Place(self._form, start, bot))
        self._faults: list[Fault] = []
        self._new_faults: list[Fault] = []
        self._exceptions: list[Failure] = []
        self._record = (
            None
            if replays is None
            else Record(match_id, terms, self._names, seed, dice, Path(replays))
        )

    def play(self) -> Result:
        """Play the match."""
        with ExitStack() as closing:
            for place in self._places:
                closing.callback(place.close)
            return self._play()

    def _play(self) -> Result:
        rules, places, deals = self._form.rules, self._places, self._deals
        failed = [self._begin(place) for place in places]
        step = rules.start(self._terms.options, self._terms.seats, deals)
        decisions = 0
        while True:
            state = step.state
            for event, seats in step.events:
                for place in places if seats is None else [places[seat] for seat in seats]:
                    place.news.events.append(event)
            acting = rules.to_act(state)
            if not acting:
                break
            chosen = [
                (seat, self._choose(places[seat], state, seat, failed[seat])) for seat in acting
            ]
            decisions += len(chosen)
            if self._new_faults:
                self._publish_faults()
            step = rules.step(state, tuple(chosen), deals)
        return self._end(rules.result(state), decisions)

    def _begin(self, place: Place) -> Exception | None:
        """Return the error of the bot's `start` or `end`, if it raised one."""
        try:
            place.begin()
        except Exception as error:
            if self._raising:
                raise
            return error
        return None

    def _choose(self, place: Place, state: Any, seat: Any, failed: Exception | None) -> Any:
        """Return a seat's move, or the fallback move."""
        form = self._form
        place.decisions += 1
        if place.forfeited:
            move = form.rules.fallback(state, seat)
            self._settled(place, seat, move, unasked=True)
            return move
        allowed = form.rules.moves(state, seat)
        if place.auto and allowed.complete and len(allowed.offered) == 1:
            place.pass_over()
            self._settled(place, seat, allowed.offered[0])
            return allowed.offered[0]
        ask = place.ask(state, allowed)
        try:
            if failed is not None:
                raise failed
            choice = place.put(ask)
            index = _choice.plain_index(ask.moves, choice)
            if index is not None:  # the usual choice, which needs no message
                ask.open = False
                move = allowed.offered[index]
                self._settled(place, seat, move)
                return move
            said = _choice.answer(ask, choice)
        except Exception as error:
            cure = _choice.labels(error, ask.family)
            if self._raising:
                if cure:
                    error.add_note(cure)
                raise
            raised = Raised.of(error, place.asked, cure)
            said = _choice.failure(ask, raised)
            self._exceptions.append(Failure(seat, place.decisions, raised))
        ask.open = False
        move = form.judged(allowed, said)
        if isinstance(move, form.wrong):
            kind: Any = move.kind.value
            fault = Fault(seat=seat, kind=kind, decision=place.decisions, reason=move.reason)
            self._new_faults.append(fault)
            place.faults += 1
            place.forfeited = place.faults == self._terms.fault_limit
            move = form.rules.fallback(state, seat)
            self._settled(place, seat, move, fault=fault, note=said.note)
            return move
        self._settled(place, seat, move, note=said.note)
        return move

    def _settled(
        self,
        place: Place,
        seat: int,
        move: Any,
        *,
        fault: Fault | None = None,
        note: str = "",
        unasked: bool = False,
    ) -> None:
        if self._record is not None:
            game_move = self._form.codec.game_move(move)
            self._record.decided(place, seat, game_move, fault, note, unasked=unasked)

    def _publish_faults(self) -> None:
        for fault in self._new_faults:
            for place in self._places:
                place.news.faults.append((fault, len(place.news.events)))
        self._faults += self._new_faults
        self._new_faults = []

    def _end(self, result: Any, decisions: int) -> Result:
        from arena.referee import Ending, final_places

        behind = [place.forfeited for place in self._places]
        ending = Ending.FORFEIT if any(behind) else Ending.COMPLETED
        places = final_places(result, behind)
        path = None
        if self._record is not None:
            path = self._record.end(result, ending, places, decisions)
        told: Any = ending.value
        for seat, place in enumerate(self._places):
            end = MatchEnd(
                match=place.start.match,
                scores=result.scores,
                places=places,
                ending=told,
                faults=[
                    Fault(
                        seat=each.seat,
                        kind=each.kind,
                        decision=each.decision,
                        reason=each.reason if each.seat == seat else "",
                    )
                    for each in self._faults
                ],
                replay_id=self._record.match_id if self._record else "",
            )
            try:
                place.end(end)
            except Exception as error:
                if self._raising:
                    raise
                raised = Raised.of(error, place.asked)
                self._exceptions.append(Failure(seat, place.decisions, raised))
        return Result(
            game=self._terms.game.id,
            seed=self._seed,
            scores=result.scores,
            places=places,
            hand_scores=result.hand_scores,
            faults=tuple(self._faults),
            exceptions=tuple(self._exceptions),
            decisions=decisions,
            replay=path,
        )
