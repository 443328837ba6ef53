"""Play in this process, without a server: to train a bot, and to step through it.

    result = cardarena.local.play("abstrac", [MyBot, Other], seed=7)
    again = cardarena.local.replay("arena-data/replays/….replay", MyBot, seat=0, step=17)

The rules are the arena's own, and a bot is given the same asks as over the network. No clock
runs out: a `breakpoint()` costs nothing. It needs the engine: `pip install 'cardarena[local]'`.
"""

import hashlib
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cardarena import _bot, _choice, _games
from cardarena._ask import AnyAsk, End, OptionValue, Told
from cardarena._local_ask import Form, LocalAsk, News, TextAsk, form_of
from cardarena._raised import Raised
from cardarena.v1.game_pb2 import Fault, GameEvent
from cardarena.v1.game_pb2 import MatchTerms as TermsMessage
from cardarena.v1.play_pb2 import MatchEnd, MatchStart, Player

if TYPE_CHECKING:
    from arena.replay.frames import Decision, Frame
    from arena.terms import MatchTerms

AnyBot: TypeAlias = _bot.Bot | type[_bot.Bot] | _bot.BatchBot | type[_bot.BatchBot]
"""A bot's class, or an object of it, which then plays match after match."""


class NoEngine(ImportError):
    """The engine is not installed. The text says how to install it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception in a bot's code; the first move offered was played in its place."""

    seat: int
    decision: int
    raised: Raised


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended."""

    game: str
    seed: str
    """Gives the same deals again."""
    scores: tuple[int, ...]
    """By seat, in the game's own unit."""
    places: tuple[int, ...]
    """By seat, 1 is first."""
    hand_scores: tuple[tuple[int, ...], ...]
    """For each hand in order, the score of every seat."""
    faults: tuple[Fault, ...]
    exceptions: tuple[Failure, ...]
    decisions: int
    """Of all seats together."""
    replay: Path | None
    """Its replay, if a folder was named for it."""


@dataclass(frozen=True, slots=True)
class Again:
    """An ask of a replay, put before a bot again."""

    ask: AnyAsk
    match: str
    """The match's id."""
    step: int
    decision: int
    """The seat's decision in the match, counted from 1."""
    hand: int
    now: str
    """What the bot would do now, in notation."""
    then: str
    """What was played then: the bot's own move, or one in its place."""

    def __str__(self) -> str:
        where = f"match {self.match}, step {self.step}, hand {self.hand}"
        same = "the same" if self.now == self.then else self.now
        return (
            f"{where}: decision {self.decision} of seat {self.ask.seat}\n"
            f"  then  {self.then}\n  now   {same}"
        )


def play(
    game: str,
    bots: Sequence[AnyBot],
    *,
    seed: str | int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    raising: bool = True,
    replays: str | os.PathLike[str] | None = None,
) -> Result:
    """Plays a match between bots of this process.

    Clocks stand as at the beginning for every ask. An illegal move is a fault, and the rules'
    fallback is played, as at the arena.

    Args:
      game: Its id, as `abstrac`.
      bots: By seat. A class is made a new object of, as over the network.
      seed: Fixes the deals: those of `arena play --seed`. None draws one, which the result tells.
      options: Of the game.
      raising: Whether an exception in a bot comes out of this call, as suits a debugger. Otherwise
        the first move offered is played for it, as over the network, and the result tells.
      replays: A folder that gets the replay.

    Raises:
      NoEngine: if the engine is not installed.
      LookupError: if there is no such game.
      ValueError: if the game is not played so, or a bot does not play it.
      Exception: whatever a bot raises, if `raising`.
    """
    with _engine():
        from arena.games.catalogue import game_by_id
        from arena.terms import MatchTerms
    chosen = game_by_id(game)
    seats = len(bots)
    terms = MatchTerms(chosen, chosen.options(options or {}, seats), seats, seeded=True)
    for bot in bots:
        _require_fit(bot, game)
    seed = secrets.token_hex(8) if seed is None else str(seed)
    return _Match(terms, seed, bots, raising=raising, replays=replays).play()


def replay(
    file: str | os.PathLike[str], bot: AnyBot, *, seat: int, step: int, earlier: bool = True
) -> Again:
    """Puts a bot before an ask of a replay, and tells what it would do now.

    Args:
      file: The replay.
      bot: Its class, or an object of it.
      seat: The seat that was asked.
      step: The step, as `arena replay show` and `arena why` count them.
      earlier: Whether the bot is given the seat's earlier asks first, as it was in the match, so
        that it remembers what it then knew. What it answers to them does not matter.

    Raises:
      NoEngine: if the engine is not installed.
      OSError: if the file cannot be read.
      ValueError: if it is no intact replay, or the seat was not asked at that step.
      Exception: whatever the bot raises.
    """
    with _engine():
        from arena.replay.frames import Discrepancy, frames
        from arena.replay.read import Replay, Unplayable
        from arena.replay.records import Damaged
        from arena.wire.terms import terms_message
    try:
        played = Replay.open(Path(file))
        spec = played.spec()
        walk = list(frames(played))
    except (Damaged, Discrepancy, Unplayable) as error:
        raise ValueError(f"{file}: {error}") from error
    if not 0 <= seat < spec.terms.seats:
        raise ValueError(f"there is no seat {seat}: the match has {spec.terms.seats}, from 0")
    _require_fit(bot, spec.terms.game.id)
    asked = [
        frame.index
        for frame in walk
        for each in frame.decisions
        if each.seat == seat and not each.unasked
    ]
    if step not in asked:
        near = ", ".join(map(str, sorted(asked, key=lambda at: abs(at - step))[:3])) or "none"
        raise ValueError(f"seat {seat} was not asked at step {step}; near to it are: {near}")
    form = form_of(spec.terms)
    start = _start(spec.match_id, terms_message(spec.terms), played.names, seat, 1)
    place = _Place(form, start, _object(bot))
    return _Walk(form, spec.terms, place, seat).to(step, walk, spec.match_id, earlier=earlier)


def _require_fit(bot: AnyBot, game: str) -> None:
    kind = bot if isinstance(bot, type) else type(bot)
    _bot.require_method(kind)
    games = [support.game for support in _games.supported(kind.games)]
    if game not in games:
        raise ValueError(f"{kind.__name__} plays {', '.join(games)}, and not {game}")


@contextmanager
def _engine() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise NoEngine(
            "cardarena.local plays by the arena's own rules, and they are not installed: "
            f"pip install 'cardarena[local]' ({error})",
            name=error.name,
        ) from error


def _object(bot: AnyBot) -> _bot.Bot | _bot.BatchBot:
    return bot() if isinstance(bot, type) else bot


def _names(bots: Sequence[AnyBot]) -> list[str]:
    """The classes' names, those of more than one seat with a number."""
    kinds = [(bot if isinstance(bot, type) else type(bot)).__name__ for bot in bots]
    taken: Counter[str] = Counter()
    names = []
    for kind in kinds:
        taken[kind] += 1
        names.append(kind if taken[kind] == 1 else f"{kind}-{taken[kind]}")
    return names


def _start(
    match_id: str, message: TermsMessage, names: Sequence[str], seat: int, number: int
) -> MatchStart:
    players = [Player(seat=at, name=name) for at, name in enumerate(names)]
    return MatchStart(match=number, terms=message, seat=seat, players=players, match_id=match_id)


class _Place:
    """A bot at its seat, and what it has still to be told."""

    def __init__(self, form: Form, start: MatchStart, bot: _bot.Bot | _bot.BatchBot) -> None:
        self.start = start
        self.news = News()
        self.decisions = 0
        self.faults = 0
        self.forfeited = False
        self.auto = bot.auto
        self.clock_ms = form.clock_ms
        self._form = form
        self._earlier: News | None = None
        self._kind_of_ask = TextAsk if bot.want_text else LocalAsk
        self._bot = bot

    @property
    def asked(self) -> Any:
        """The author's function that is asked for moves."""
        return self._bot.moves if isinstance(self._bot, _bot.BatchBot) else self._bot.move

    def begin(self) -> None:
        """Tells the bot that the match begins."""
        if isinstance(self._bot, _bot.BatchBot):
            self._bot.started(self.start)
        else:
            self._bot.start = self.start
            self._bot.started()

    def pass_over(self) -> None:
        """A decision is made without the bot: it hears of what came with it later."""
        if self._earlier is None:
            self._earlier = self.news
        else:
            self._earlier.add(self.news)
        self.news = News()

    def ask(self, state: Any, allowed: Any) -> LocalAsk:
        """The ask of the seat's next decision."""
        ask = self._kind_of_ask(
            self._form,
            self.start,
            self.decisions,
            state,
            allowed,
            self.news,
            self._earlier,
            self.clock_ms,
        )
        self.news, self._earlier = News(), None
        return ask

    def put(self, ask: LocalAsk) -> Any:
        """What the bot answers."""
        if isinstance(self._bot, _bot.BatchBot):
            (choice,) = self._bot.moves([ask])
            return choice
        return self._bot.move(ask)

    def end(self, message: MatchEnd) -> None:
        """Tells the bot how the match ended."""
        if type(self._bot).ended in (_bot.Bot.ended, _bot.BatchBot.ended):
            return
        form, before = self._form, None
        if self._earlier is not None:
            events = form.events(self._earlier.events)
            before = Told(events, form.event_texts(self._earlier.events) if self._texts else [])
        for event in self.news.events:
            message.trailing_events.append(GameEvent.FromString(form.codec.game_event(event)))
        self._bot.ended(End(message, self.start, before=before))

    @property
    def _texts(self) -> bool:
        return self._kind_of_ask is TextAsk


class _Match:
    """A match from its first card to its end."""

    def __init__(
        self,
        terms: "MatchTerms",
        seed: str,
        bots: Sequence[AnyBot],
        *,
        raising: bool,
        replays: str | os.PathLike[str] | None,
    ) -> None:
        from arena.deal import KeyedDeals, seeded_key
        from arena.wire.terms import terms_message

        message, match_id = terms_message(terms), secrets.token_hex(8)
        self._terms = terms
        self._seed = seed
        self._deals = KeyedDeals(seeded_key(seed))
        self._form = form_of(terms)
        self._raising = raising
        self._names = _names(bots)
        self._places: list[_Place] = []
        sat: Counter[int] = Counter()
        for seat, bot in enumerate(map(_object, bots)):
            sat[id(bot)] += 1  # an object at several seats tells its matches apart
            start = _start(match_id, message, self._names, seat, sat[id(bot)])
            self._places.append(_Place(self._form, start, bot))
        self._faults: list[Fault] = []
        self._new_faults: list[Fault] = []
        self._exceptions: list[Failure] = []
        self._record = (
            None if replays is None else _Record(match_id, terms, self._names, seed, Path(replays))
        )

    def play(self) -> Result:
        """Plays it."""
        rules, places, deals = self._form.rules, self._places, self._deals
        failed = [self._begin(place) for place in places]
        step = rules.start(self._terms.options, self._terms.seats, deals)
        decisions = 0
        while True:
            state = step.state
            for event, seats in step.told:
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

    def _begin(self, place: _Place) -> Exception | None:
        """What goes wrong when the bot is told of the match."""
        try:
            place.begin()
        except Exception as error:
            if self._raising:
                raise
            return error
        return None

    def _choose(self, place: _Place, state: Any, seat: Any, failed: Exception | None) -> Any:
        """A seat's move, or the one that is played in its place."""
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
            if index is not None:  # the usual choice, for which no message need be made
                ask.open = False
                move = allowed.offered[index]
                self._settled(place, seat, move)
                return move
            said = _choice.answer(ask, choice)
        except Exception as error:
            if self._raising:
                raise
            raised = Raised.of(error, place.asked)
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
        place: _Place,
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


class _Record:
    """Writes a replay of a match as the arena does. No time is charged in it."""

    def __init__(
        self, match_id: str, terms: "MatchTerms", names: Sequence[str], seed: str, folder: Path
    ) -> None:
        from arena.deal import KeyedDeals, seeded_key
        from arena.referee import Entrant, MatchSpec
        from arena.replay.journal.match_log import MatchLog

        self.match_id = match_id
        self._folder = folder
        self._seed = seed
        self._bank_ms = terms.time_control.bank_ms
        self._begin_s = time.monotonic()
        self._log = MatchLog(self, 1)
        key = seeded_key(seed)
        entrants = tuple(map(Entrant, names))
        digest = hashlib.sha256(key).digest()
        self._log.opened(MatchSpec(self.match_id, terms, entrants, KeyedDeals(key), digest))

    def append(self, body: bytes) -> None:
        """There is no journal beside the replay."""

    def decided(
        self,
        place: _Place,
        seat: int,
        game_move: bytes,
        fault: Fault | None,
        note: str,
        *,
        unasked: bool,
    ) -> None:
        """Adds a decision."""
        from arena.referee import FaultKind, Settled

        settled: Settled = Settled(
            seat=seat,
            decision=place.decisions,
            game_move=game_move,
            sent_s=time.monotonic() - self._begin_s,
            charged_s=0.0,
            bank_ms=self._bank_ms,
            fault=FaultKind(fault.kind) if fault else None,
            reason=fault.reason if fault else "",
            note=note,
            unasked=unasked,
            forfeited=place.forfeited,
        )
        self._log.decided(settled)

    def end(self, result: Any, ending: Any, places: tuple[int, ...], decisions: int) -> Path:
        """Writes the file."""
        from arena.referee import Outcome
        from arena.replay.deal_book import seeded_opening
        from arena.replay.write import write_replay

        outcome = Outcome(
            match_id=self.match_id,
            ending=ending,
            scores=result.scores,
            places=places,
            hand_scores=result.hand_scores,
            faults=(),
            decisions=decisions,
        )
        self._log.closed(outcome, time.monotonic() - self._begin_s)
        opening = seeded_opening(self._seed)
        return write_replay(self._folder, self.match_id, self._log.bodies, opening)


class _Walk:
    """A seat's way through a replay, to one of its asks."""

    def __init__(self, form: Form, terms: "MatchTerms", place: _Place, seat: int) -> None:
        from arena.games.contract import Seat
        from arena.referee import SeatClock

        self._form = form
        self._place = place
        self._seat = Seat(seat)
        self._clock = SeatClock(terms.time_control)
        self._hand = 0

    def to(self, step: int, walk: Sequence["Frame"], match_id: str, *, earlier: bool) -> Again:
        """Puts the ask at a step before the bot, which must be one of the seat's."""
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
        raise AssertionError(f"step {step} is none of the replay")

    def _ask(self, frame: "Frame", decision: "Decision") -> LocalAsk:
        self._place.decisions = decision.decision
        self._place.clock_ms = self._clock.told_ms()
        allowed = self._form.rules.moves(frame.before, self._seat)
        return self._place.ask(frame.before, allowed)

    def _past(self, frame: "Frame", decision: "Decision", *, earlier: bool) -> None:
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

    def _tell(self, frame: "Frame") -> None:
        news = self._place.news
        for each in frame.decisions:
            if each.fault is not None:
                kind: Any = each.fault.value
                fault = Fault(seat=each.seat, kind=kind, decision=each.decision, reason=each.reason)
                news.faults.append((fault, len(news.events)))
        news.events += [told.event for told in frame.told_to(self._seat)]

    def _again(self, frame: "Frame", decision: "Decision", match_id: str) -> Again:
        ask = self._ask(frame, decision)
        said = _choice.answer(ask, self._place.put(ask))
        form = self._form
        move = form.judged(ask.allowed, said)
        write = form.move_notation.write
        now = move.reason if isinstance(move, form.wrong) else write(move)
        return Again(
            ask=ask,
            match=match_id,
            step=frame.index,
            decision=decision.decision,
            hand=frame.hand,
            now=now,
            then=write(decision.move),
        )
