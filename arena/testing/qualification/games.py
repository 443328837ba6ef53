"""Checks a bot's games: a deal-set of the default length with the least and the most seats, without faults."""

import base64
import functools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import trio

from arena.bots.bot_ids import BotId
from arena.bots.manifest import DeclaredGame
from arena.errors import checks
from arena.errors.faults import BAD_MOVE, DEAL, ERROR
from arena.games.contract import Event, Seat
from arena.games.game import Game
from arena.games.notation import Notation
from arena.live.arena import Arena
from arena.live.arena_player import UnratedMatches, play_unrated
from arena.live.launcher import Launcher, NoShow
from arena.live.orders import DealSetOrder, TableOrder
from arena.live.session.session import Session
from arena.records.diagnosis import MatchDiagnosis, diagnose, noted_times, timed_decisions
from arena.records.frames import events_of_hand
from arena.records.notes_file import notes_of
from arena.records.phrases import because
from arena.records.playback import play_back
from arena.records.read import Replay, replay_path
from arena.referee.spec import Ending, Outcome, SeatConduct
from arena.referee.terms import MatchTerms, TimeControl
from arena.referee.wire.games import codec_of
from arena.results.qualification_report import MAX_OFFERED, Check, last_of
from arena.results.think_times import SdkTimes, TimedDecision, phase_times, time_spent
from arena.sandbox.command import BotCommand
from cardarena.v1 import bots_pb2

MAX_TABLES: Final = 2
"""The most matches of a deal-set, to check all games within the time."""
MOVE_MS: Final = 5_000
BANK_MS: Final = 5_000
FAULT_LIMIT: Final = 3
"""The limit of faults, which is low so that a game in which the bot always fails ends soon."""
MIN_ASKS: Final = 10
"""The fewest asks of a match without faults with which a slow bot passes, if its time is over before the match is."""
MAX_EVENTS: Final = 200
"""The maximal number of events of the hand in the report of a failed ask."""
CUT_CHECK_S: Final = 0.05
"""The time in seconds between two checks for matches to be ended, after the time of their seating is over."""
RANDOM: Final = BotId("random")
_NOT_IN_IDS: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class QualificationSeating:
    """A game with a number of seats: one check."""

    declared: DeclaredGame
    seats: int

    @property
    def game(self) -> Game:
        return self.declared.game

    @property
    def candidate(self) -> BotId:
        """The bot's process for the game. Each game has its own, so that one failure affects one game."""
        return BotId(self.game.id)

    @property
    def sample(self) -> BotId:
        """The sample bot of the game's family, which is one process."""
        return BotId(f"sample {self.game.family}")


def seatings(
    declared: Sequence[DeclaredGame], seats: int | None = None
) -> list[QualificationSeating]:
    """Return the checks of games: with the least and the most seats of each, or only with `seats`."""
    seatings = []
    for game in declared:
        wanted = sorted({game.seats[0], game.seats[-1]}) if seats is None else [seats]
        seatings += [QualificationSeating(game, count) for count in wanted if count in game.seats]
    return seatings


def order_of(seating: QualificationSeating, seed: str) -> DealSetOrder:
    """Return the deal-set of a seating: matches of the default length, with the bot in every seat, or in two of more."""
    game, seats = seating.game, seating.seats
    control = TimeControl(move_ms=MOVE_MS, bank_ms=BANK_MS)
    terms = MatchTerms(game, game.options({}, seats), seats, control, FAULT_LIMIT, seeded=True)
    bots = (seating.candidate, seating.sample, *[RANDOM] * (seats - 2))
    name = f"{_NOT_IN_IDS.sub('-', seed)[:24]}-{game.id}-{seats}"
    tables = tuple(
        TableOrder(f"{name}-{turn}", bots[-turn:] + bots[:-turn] if turn else bots, turn)
        for turn in turns_of(seats)
    )
    return DealSetOrder(name, terms, tables, seed=f"{seed}/{game.id}/{seats}")


def turns_of(seats: int) -> list[int]:
    """Return the rotation of the bots in each match, in seats: evenly spread, from 0."""
    tables = min(seats, MAX_TABLES)
    return [table * seats // tables for table in range(tables)]


@dataclass(frozen=True, slots=True)
class QualificationMatch:
    """The played deal-set of a seating."""

    seating: QualificationSeating
    took_s: float = 0.0
    problem: str = ""
    """Why it could not be played, with the code of the error; empty if it was."""
    outcomes: tuple[tuple[int, Outcome], ...] = ()
    """The bot's seat and the outcome of each match."""
    is_cut: bool = False
    """Whether its time was over before its matches had ended. These are aborted, and their conduct is that of the played part."""


@dataclass(slots=True)
class Games:
    """Plays seatings, and shares the time among them. If it is cancelled, the others have no result."""

    arena: Arena
    launcher_of: Callable[[Sequence[BotCommand], trio.Nursery], Launcher]
    """Creates a launcher for commands."""
    candidate: Callable[[str], BotCommand]
    """Returns the bot's command for the name of a process."""
    opponents: Launcher
    """Launches the sample bots and the random bot."""
    seed: str
    at_a_time: int
    """The number of games that are played in parallel."""
    until_s: float
    """The time by which all of them must end, on the clock of `trio.current_time`."""
    _unplayed: dict[str, int] = field(default_factory=dict)
    """The number of unplayed seatings of a game, by its id; a finished game has no entry."""

    async def play(
        self, wanted: Sequence[QualificationSeating], on_done: Callable[[QualificationMatch], None]
    ) -> None:
        """Play all seatings; `on_done` is called with each result."""
        games = {
            seating.game.id: [s for s in wanted if s.game is seating.game] for seating in wanted
        }
        self._unplayed.update((game_id, len(seatings)) for game_id, seatings in games.items())
        limit = trio.CapacityLimiter(self.at_a_time)

        async def one(seatings: Sequence[QualificationSeating]) -> None:
            async with limit:
                await self._game(seatings, on_done)
                del self._unplayed[seatings[0].game.id]

        async with trio.open_nursery() as nursery:
            # Games with many seats take longest, so they start first.
            for seatings in sorted(
                games.values(), key=lambda of_game: -sum(s.seats for s in of_game)
            ):
                nursery.start_soon(one, seatings)

    def _share_s(self, game: Game) -> float:
        """Return the time of the next seating of a game, so that all remaining ones have as much."""
        in_turn = math.ceil(sum(self._unplayed.values()) / self.at_a_time)
        left_s = self.until_s - trio.current_time()
        return max(0.0, left_s / max(in_turn, self._unplayed[game.id]))

    async def _game(
        self, own: Sequence[QualificationSeating], on_done: Callable[[QualificationMatch], None]
    ) -> None:
        bot = own[0].candidate
        async with trio.open_nursery() as nursery:
            launcher = self.launcher_of([self.candidate(bot.name)], nursery)
            began_s = trio.current_time()
            try:
                await launcher.require((bot,))
            except NoShow as error:
                for each in own:
                    took_s = trio.current_time() - began_s
                    on_done(QualificationMatch(each, took_s, checks.NO_HELLO.message(error.why)))
            else:
                for each in own:
                    on_done(await self._play(each, launcher))
                    self._unplayed[each.game.id] -= 1
            await launcher.send_home()
            nursery.cancel_scope.cancel()

    async def _play(self, seating: QualificationSeating, launcher: Launcher) -> QualificationMatch:
        began_s = trio.current_time()
        session = self.arena.sessions.get(seating.candidate)
        if problem := _why_not_seated(session, seating):
            return QualificationMatch(seating, 0.0, problem)
        await self.opponents.require((seating.sample, RANDOM))
        order = order_of(seating, self.seed)
        matches = UnratedMatches(self.arena)
        bots = _SeatedBots(seating.candidate, launcher, self.opponents)
        cut: dict[str, tuple[SeatConduct, ...]] = {}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cut, order, self._share_s(seating.game), cut)
            await play_unrated([order], matches, self.arena, bots, max_matches=len(order.tables))
            nursery.cancel_scope.cancel()
        if missing := [
            match_id for match_id in order.match_ids if match_id not in matches.outcomes
        ]:
            problem = checks.ABORTED.message(missing[0])
            return QualificationMatch(seating, trio.current_time() - began_s, problem)
        outcomes = []
        for table in order.tables:
            outcome = matches.outcomes[table.match_id]
            if table.match_id in cut:
                outcome = replace(outcome, conduct=cut[table.match_id])
            outcomes.append((table.bots.index(seating.candidate), outcome))
        took_s = trio.current_time() - began_s
        return QualificationMatch(seating, took_s, outcomes=tuple(outcomes), is_cut=bool(cut))

    async def _cut(
        self, order: DealSetOrder, after_s: float, cut: dict[str, tuple[SeatConduct, ...]]
    ) -> None:
        """End the matches of an order after a time, and keep the conduct in each by its id.

        A match that waits for a bot that plays one match at a time begins when another ends.
        """
        await trio.sleep(after_s)
        while True:
            for match_id in order.match_ids:
                runner = self.arena.matches.referee.runners.get(match_id)
                if runner is not None and match_id not in cut:
                    cut[match_id] = runner.conduct
                    runner.abort()
            await trio.sleep(CUT_CHECK_S)


class _SeatedBots:
    """A `BotSource` for a seating: one launcher for the bot, another for its opponents."""

    def __init__(self, candidate: BotId, own: Launcher, others: Launcher) -> None:
        self._candidate, self._own, self._others = candidate, own, others

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """Connect the bots; the qualified one may have ended in the seating before."""
        if self._candidate in bots:
            await self._own.ensure((self._candidate,))
        others = [bot for bot in dict.fromkeys(bots) if bot != self._candidate]
        await self._others.ensure(others)

    def phases_of(self, bots: Sequence[BotId]) -> None:
        """Return None: a bot plays all tables of a seating as one process."""

    def all_sandboxed(self, bots: Sequence[BotId]) -> bool:  # noqa: ARG002 - as `BotSource.all_sandboxed`
        """Return False: one process sees all tables."""
        return False


def _why_not_seated(session: Session | None, seating: QualificationSeating) -> str:
    """Return why the bot cannot be seated at a game of its manifest; empty if it can."""
    game = seating.game
    offered = None if session is None else session.declared.games.get(game.id)
    if offered is None:
        return checks.NO_GAME.message(game.id)
    if offered.seats and seating.seats not in offered.seats:
        plays = ", ".join(map(str, sorted(offered.seats)))
        return checks.NO_SEATS.message(f"bot.toml has {seating.seats}, and hello {plays}")
    if offered.rules_version not in (0, game.rules_version):
        versions = f"version {offered.rules_version}, and the arena has {game.rules_version}"
        return checks.OTHER_RULES.message(versions)
    return ""


def check_of(played: QualificationMatch, replays: Path, output: Sequence[str], again: str) -> Check:
    """Check the played matches of a seating for faults of the bot.

    `output` has the lines that the bot printed, `again` is the command that repeats the check.
    """
    seating = played.seating
    conducts = [outcome.conduct[seat] for seat, outcome in played.outcomes if outcome.conduct]
    asks = max((conduct.decisions for conduct in conducts), default=0)
    check = functools.partial(
        Check,
        *(seating.game.id,),
        seats=seating.seats,
        took_s=played.took_s,
        asks=asks,
        **_times(played, replays),
    )
    failed = functools.partial(check, passed=False, last_lines=last_of(output), again=again)
    if played.problem:
        return failed(problem=played.problem)
    for seat, outcome in played.outcomes:
        if outcome.ending is Ending.ABORTED and not outcome.conduct:
            return check(
                passed=False, problem=checks.ABORTED.message(outcome.match_id), again=again
            )
        faults = [fault for fault in outcome.faults if fault.seat == seat]
        # Only faults need a diagnosis, for which the replay is verified.
        if not faults and (played.is_cut or not outcome.conduct[seat].forfeited):
            continue
        if played.is_cut:  # the deal-set is not complete, so its replays are not written
            first = faults[0]
            why = f"{first.kind.entry.label}: {because(first.kind, first.reason)}"
            return failed(problem=why, ask=first.decision)
        path = replay_path(replays, outcome.match_id)
        replay = Replay.open(path)
        diagnosis = diagnose(replay, Seat(seat), notes_of(path, replay, Seat(seat)))
        if diagnosis.faults or diagnosis.forfeited_before:
            return failed(**_first_problem(diagnosis, replay))
    if played.is_cut and asks < MIN_ASKS:
        return failed(problem=checks.NO_TIME.message(f"{asks} asks in {played.took_s:.0f} s"))
    return check(passed=True)


def _times(played: QualificationMatch, replays: Path) -> dict[str, Any]:
    """Return the fields of a `Check` for the times of a bot's decisions, from the matches that have a replay."""
    decisions, noted = list[TimedDecision](), list[SdkTimes]()
    for at, outcome in played.outcomes:
        path, seat = replay_path(replays, outcome.match_id), Seat(at)
        if path.is_file():
            replay = Replay.open(path)
            decisions += timed_decisions(replay, play_back(replay), seat)
            noted += noted_times(notes_of(path, replay, seat))
    return {"phases": phase_times(decisions), "time": time_spent(decisions, noted)}


def _first_problem(diagnosis: MatchDiagnosis, replay: Replay) -> dict[str, Any]:
    """Return the fields of a `Check` for the first fault of a bot in a match."""
    if not diagnosis.faults:
        return {"problem": DEAL.message(diagnosis.forfeited_before)}
    first, more = diagnosis.faults[0], len(diagnosis.faults) - 1
    why = ERROR.message(first.raised) if first.raised else because(first.kind, first.reason)
    problem = why if first.raised else f"{first.kind.entry.label}: {why}"
    problem += f"; {first.queued}" * bool(first.queued)
    problem += f", and {more} more faults" * (more > 1)
    answered = (BAD_MOVE.read(first.reason) or {}).get("move", "")
    return {
        "problem": problem,
        "ask": first.decision,
        "answered": answered,
        **_asked(replay, diagnosis.seat, first.decision),
    }


def _asked(replay: Replay, seat: Seat, decision: int) -> dict[str, Any]:
    terms = replay.spec().terms
    game, notation, codec = terms.game, Notation(terms.game.messages.Move), codec_of(terms.game)
    events: tuple[Event, ...] = ()
    for step in play_back(replay):
        if any(decided.seat == seat and decided.decision == decision for decided in step.decisions):
            known = bots_pb2.FailedAsk(seat=seat)
            known.view.ParseFromString(codec.game_view(game.rules.view(step.before, seat)))
            for event in events[-MAX_EVENTS:]:
                known.events.add().ParseFromString(codec.game_event(event))
            offered = game.rules.moves(step.before, seat).offered
            return {
                "offered": tuple(map(notation.write, offered[:MAX_OFFERED])),
                "failed_ask": base64.b64encode(known.SerializeToString()).decode(),
            }
        sent = tuple(event.event for event in step.events_for(seat))
        events = events_of_hand(game, events + sent)
    return {}
