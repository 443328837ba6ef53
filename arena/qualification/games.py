"""Checks a bot's games: a deal-set of two hands with the least and the most seats, without faults."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import trio

from arena.deal import first_pack
from arena.errors import checks
from arena.errors.faults import BAD_MOVE, DEAL, ERROR
from arena.games.catalogue import BadOptions
from arena.games.contract import Seat
from arena.games.game import Game
from arena.games.notation import Notation
from arena.referee import Ending, Outcome
from arena.replay.diagnosis import MatchDiagnosis, diagnose
from arena.replay.notes_file import notes_of
from arena.replay.phrases import because
from arena.replay.playback import play_back
from arena.replay.read import Replay, replay_path
from arena.sandbox import BotCommand
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.arena_player import UnratedMatches, play_unrated
from arena.server.competitions.launcher import Launcher, NoShow
from arena.server.orders import DealSetOrder, TableOrder
from arena.server.session.session import Session
from arena.submission.manifest import DeclaredGame
from arena.submission.report import MAX_OFFERED, Check, last_of
from arena.terms import MatchTerms, TimeControl

MAX_TABLES: Final = 4
"""The most matches of a deal-set, to check all games within a minute."""
HANDS: Final = 2
MOVE_MS: Final = 5_000
BANK_MS: Final = 5_000
FAULT_LIMIT: Final = 3
"""Low, so that a game in which the bot always fails ends soon."""
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


def short_hands(game: Game, seats: int) -> int:
    """The number of hands of a match: two, or one for each seat in games where all must deal.

    Raises:
      BadOptions: if the game has no such length.
    """
    options = game.options({"hands": HANDS}, seats)
    try:
        first_pack(game.rules, options, seats)  # only the rules can check the length
    except BadOptions:
        return seats
    return HANDS


def seatings(
    declared: Sequence[DeclaredGame], seats: int | None = None
) -> list[QualificationSeating]:
    """The checks of games: with the least and the most seats of each, or only with `seats`."""
    found = []
    for each in declared:
        wanted = sorted({each.seats[0], each.seats[-1]}) if seats is None else [seats]
        found += [QualificationSeating(each, count) for count in wanted if count in each.seats]
    return found


def order_of(seating: QualificationSeating, seed: str) -> DealSetOrder:
    """The deal-set of a seating: the bot plays the same cards from every seat, or from four of more."""
    game, seats = seating.game, seating.seats
    control = TimeControl(move_ms=MOVE_MS, bank_ms=BANK_MS)
    options = game.options({"hands": short_hands(game, seats)}, seats)
    terms = MatchTerms(game, options, seats, control, FAULT_LIMIT, seeded=True)
    bots = (seating.candidate, seating.sample, *[RANDOM] * (seats - 2))
    name = f"{_NOT_IN_IDS.sub('-', seed)[:24]}-{game.id}-{seats}"
    tables = tuple(
        TableOrder(f"{name}-{turn}", bots[-turn:] + bots[:-turn] if turn else bots, turn)
        for turn in turns_of(seats)
    )
    return DealSetOrder(name, terms, tables, seed=f"{seed}/{game.id}/{seats}")


def turns_of(seats: int) -> list[int]:
    """The rotation of the bots in each match, in seats: evenly spread, from 0."""
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


@dataclass(frozen=True, slots=True)
class Games:
    """Plays seatings. If it is cancelled, the others have no result."""

    arena: Arena
    launcher_of: Callable[[Sequence[BotCommand], trio.Nursery], Launcher]
    """Creates a launcher for commands."""
    candidate: Callable[[str], BotCommand]
    """Returns the bot's command for the name of a process."""
    opponents: Launcher
    """Launches the sample bots and the random bot."""
    seed: str
    """The seed of the deals."""

    async def play(
        self,
        wanted: Sequence[QualificationSeating],
        at_a_time: int,
        on_done: Callable[[QualificationMatch], None],
    ) -> None:
        """Play all seatings, `at_a_time` games in parallel; `on_done` is called with each result."""
        games = {each.game.id: [s for s in wanted if s.game is each.game] for each in wanted}
        limit = trio.CapacityLimiter(at_a_time)

        async def one(seatings: Sequence[QualificationSeating]) -> None:
            async with limit:
                await self._game(seatings, on_done)

        async with trio.open_nursery() as nursery:
            # Games with many seats take longest, so they start first.
            for each in sorted(games.values(), key=lambda own: -sum(s.seats for s in own)):
                nursery.start_soon(one, each)

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
        await play_unrated([order], matches, self.arena, bots, max_matches=len(order.tables))
        if missing := [each for each in order.match_ids if each not in matches.outcomes]:
            problem = checks.ABORTED.message(missing[0])
            return QualificationMatch(seating, trio.current_time() - began_s, problem)
        outcomes = tuple(
            (table.bots.index(seating.candidate), matches.outcomes[table.match_id])
            for table in order.tables
        )
        return QualificationMatch(seating, trio.current_time() - began_s, outcomes=outcomes)


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
        """A bot plays all tables of a seating as one process."""

    def all_sandboxed(self, bots: Sequence[BotId]) -> bool:  # noqa: ARG002 - as `BotSource.all_sandboxed`
        """Return False: one process sees all tables."""
        return False


def _why_not_seated(session: Session | None, seating: QualificationSeating) -> str:
    """Why the bot cannot be seated at a game of its manifest; empty if it can."""
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
    asks = max((outcome.conduct[seat].decisions for seat, outcome in played.outcomes), default=0)
    check = functools.partial(
        Check, seating.game.id, seats=seating.seats, took_s=played.took_s, asks=asks
    )
    if played.problem:
        return check(passed=False, problem=played.problem, last_lines=last_of(output), again=again)
    for seat, outcome in played.outcomes:
        if outcome.ending is Ending.ABORTED:
            return check(
                passed=False, problem=checks.ABORTED.message(outcome.match_id), again=again
            )
        faults = [fault for fault in outcome.faults if fault.seat == seat]
        # Only bots with faults need the replay, which takes long to read.
        if not faults and not outcome.conduct[seat].forfeited:
            continue
        path = replay_path(replays, outcome.match_id)
        replay = Replay.open(path)
        diagnosis = diagnose(replay, Seat(seat), notes_of(path, replay, Seat(seat)))
        if diagnosis.faults or diagnosis.forfeited_before:
            return check(
                passed=False,
                last_lines=last_of(output),
                again=again,
                **_first_problem(diagnosis, replay),
            )
    return check(passed=True)


def _first_problem(diagnosis: MatchDiagnosis, replay: Replay) -> dict[str, Any]:
    """The fields of a `Check` for the first fault of a bot in a match."""
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
        "offered": _offered(replay, diagnosis.seat, first.decision),
    }


def _offered(replay: Replay, seat: Seat, decision: int) -> tuple[str, ...]:
    """The first moves that were offered at a decision, in notation."""
    game = replay.spec().terms.game
    notation = Notation(game.messages.Move)
    for step in play_back(replay):
        if any(each.seat == seat and each.decision == decision for each in step.decisions):
            offered = game.rules.moves(step.before, seat).offered
            return tuple(map(notation.write, offered[:MAX_OFFERED]))
    return ()
