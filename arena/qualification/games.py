"""A bot's games: for each the least and the most seats, a deal-set of two hands, and no fault."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from arena.competition.manifest import DeclaredGame
from arena.competition.report import MAX_OFFERED, Check, last_of
from arena.games.catalogue import Game
from arena.games.contract import Seat
from arena.games.notation import Notation
from arena.jail import BotCommand, told_exception
from arena.qualification.short import short_hands
from arena.referee import Ending, FaultKind, Outcome
from arena.replay.account import Account, account_of
from arena.replay.frames import frames
from arena.replay.notebook import notes_of
from arena.replay.read import Replay, replay_path
from arena.replay.words import FAULT_WORDS
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.orders import SCHEDULED, DealSetOrder, TableOrder
from arena.server.session.session import Session
from arena.server.tournaments.launcher import Launcher, NoShow
from arena.terms import MatchTerms, TimeControl

MAX_TABLES: Final = 4
"""Of a sitting: more would show little more of a bot, and there is a minute for all games."""
MOVE_MS: Final = 5_000
BANK_MS: Final = 5_000
FAULT_LIMIT: Final = 3
"""A bot that does everything wrong is soon played by fallback, and the other games have time."""
RANDOM: Final = BotId("random")
_BOT: Final = re.compile(r"the bot '[^']*'")
_NOT_IN_IDS: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Sitting:
    """A game with a number of seats, which is one check."""

    declared: DeclaredGame
    seats: int

    @property
    def game(self) -> Game:
        return self.declared.game

    @property
    def candidate(self) -> BotId:
        """The process that plays it: each game has one of its own, so that games fail singly."""
        return BotId(self.game.id)

    @property
    def sample(self) -> BotId:
        """The sample bot that it meets: one process for a family of games."""
        return BotId(f"sample {self.game.family}")


def sittings(declared: Sequence[DeclaredGame], seats: int | None = None) -> list[Sitting]:
    """What is played: the least and the most seats of each game, or just so many seats."""
    found = []
    for each in declared:
        wanted = sorted({each.seats[0], each.seats[-1]}) if seats is None else [seats]
        found += [Sitting(each, count) for count in wanted if count in each.seats]
    return found


def order_of(sitting: Sitting, seed: str) -> DealSetOrder:
    """The deal-set: the same boards from every seat, or from four of them at larger tables."""
    game, seats = sitting.game, sitting.seats
    control = TimeControl(move_ms=MOVE_MS, bank_ms=BANK_MS)
    options = game.options({"hands": short_hands(game, seats)}, seats)
    terms = MatchTerms(game, options, seats, control, FAULT_LIMIT, seeded=True)
    bots = (sitting.candidate, sitting.sample, *[RANDOM] * (seats - 2))
    name = f"{_NOT_IN_IDS.sub('-', seed)[:24]}-{game.id}-{seats}"
    tables = tuple(
        TableOrder(f"{name}-{turn}", bots[-turn:] + bots[:-turn] if turn else bots, turn)
        for turn in turns_of(seats)
    )
    return DealSetOrder(name, terms, tables, seed=f"{seed}/{game.id}/{seats}")


def turns_of(seats: int) -> list[int]:
    """By how many seats the bots are turned at each table: evenly, the first seat always among them."""
    tables = min(seats, MAX_TABLES)
    return [table * seats // tables for table in range(tables)]


@dataclass(frozen=True, slots=True)
class Played:
    """What a sitting came to, before it is looked at."""

    sitting: Sitting
    took_s: float = 0.0
    problem: str = ""
    """Why it could not be played; empty if it was."""
    outcomes: tuple[tuple[int, Outcome], ...] = ()
    """The bot's seat and the outcome at each table."""


class Games:
    """Plays sittings. Made and used in trio; what was not played when it is cancelled stays open."""

    def __init__(
        self,
        arena: Arena,
        launcher_of: Callable[[Sequence[BotCommand], trio.Nursery], Launcher],
        candidate: Callable[[str], BotCommand],
        opponents: Launcher,
        seed: str,
    ) -> None:
        """Plays nothing yet.

        Args:
          arena: Where they are played.
          launcher_of: Makes a launcher for commands.
          candidate: The bot's command, by the name of its process.
          opponents: Has the sample bots and the random one.
          seed: Of the deals.
        """
        self._arena = arena
        self._launcher_of = launcher_of
        self._candidate = candidate
        self._opponents = opponents
        self._seed = seed

    async def play(
        self, wanted: Sequence[Sitting], at_a_time: int, told: Callable[[Played], None]
    ) -> None:
        """Play all, so many games at a time; `told` hears of each as it is over."""
        games = {each.game.id: [s for s in wanted if s.game is each.game] for each in wanted}
        limit = trio.CapacityLimiter(at_a_time)

        async def one(sittings: Sequence[Sitting]) -> None:
            async with limit:
                await self._game(sittings, told)

        async with trio.open_nursery() as nursery:
            # Those with most tables first: they take longest.
            for each in sorted(games.values(), key=lambda own: -sum(s.seats for s in own)):
                nursery.start_soon(one, each)

    async def _game(self, own: Sequence[Sitting], told: Callable[[Played], None]) -> None:
        bot = own[0].candidate
        async with trio.open_nursery() as nursery:
            launcher = self._launcher_of([self._candidate(bot.name)], nursery)
            began_s = trio.current_time()
            try:
                await launcher.require((bot,))
            except NoShow as error:
                for each in own:
                    told(Played(each, trio.current_time() - began_s, why_absent(error)))
            else:
                for each in own:
                    told(await self._sitting(each, launcher))
            await launcher.send_home()
            nursery.cancel_scope.cancel()

    async def _sitting(self, sitting: Sitting, launcher: Launcher) -> Played:
        began_s = trio.current_time()
        session = self._arena.sessions.get(sitting.candidate)
        if problem := _why_not_seated(session, sitting):
            return Played(sitting, 0.0, problem)
        await self._opponents.require((sitting.sample, RANDOM))
        await launcher.ensure((sitting.candidate,))  # it may have ended in the sitting before
        order = order_of(sitting, self._seed)
        matches = [
            self._arena.matches.order(order, table.match_id, SCHEDULED) for table in order.tables
        ]
        outcomes = []
        for table, match in zip(order.tables, matches, strict=True):
            await match.outcome()
            assert match.played is not None
            outcomes.append((table.bots.index(sitting.candidate), match.played))
        return Played(sitting, trio.current_time() - began_s, outcomes=tuple(outcomes))


def _why_not_seated(session: Session | None, sitting: Sitting) -> str:
    """Why the bot is not seated at a game that its manifest declares; empty if it is."""
    game = sitting.game
    offered = None if session is None else session.games.get(game.id)
    if offered is None:
        return f"bot.toml declares {game.id}, and the bot's hello does not"
    if offered.seats and sitting.seats not in offered.seats:
        plays = ", ".join(map(str, sorted(offered.seats)))
        return f"bot.toml declares {sitting.seats} seats, and the bot's hello {plays}"
    if offered.rules_version not in (0, game.rules_version):
        return (
            f"the bot's hello says rules {offered.rules_version}, and here are {game.rules_version}"
        )
    return ""


def check_of(played: Played, replays: Path, words: Sequence[str], again: str) -> Check:
    """What a sitting came to, looked at from the bot's seat.

    `words` are what the bot printed, `again` is the command that repeats it.
    """
    sitting = played.sitting
    check = functools.partial(Check, sitting.game.id, seats=sitting.seats, took_s=played.took_s)
    if played.problem:
        return check(passed=False, problem=played.problem, last_lines=last_of(words), again=again)
    raised = any(told_exception(line) for line in words)
    for seat, outcome in played.outcomes:
        if outcome.ending is Ending.ABORTED:
            problem = f"the arena aborted match {outcome.match_id}, which is no fault of the bot"
            return check(passed=False, problem=problem, again=again)
        faults = [fault for fault in outcome.faults if fault.seat == seat]
        # To look at a whole replay takes long, and most bots do nothing wrong.
        if not faults and not raised and not outcome.conduct[seat].forfeited:
            continue
        path = replay_path(replays, outcome.match_id)
        replay = Replay.open(path)
        account = account_of(replay, Seat(seat), notes_of(path, replay, Seat(seat)))
        if account.faults or account.exceptions or account.forfeited_before:
            return _fault(check, account, replay, words, again)
    return check(passed=True)


def _fault(
    check: Callable[..., Check],
    account: Account,
    replay: Replay,
    words: Sequence[str],
    again: str,
) -> Check:
    """The first thing that went wrong for a bot at a match."""
    lines = last_of(words)
    faults = [(each.decision, each) for each in account.faults]
    raised = [(each.decision, each) for each in account.exceptions]
    if not faults and not raised:
        return check(passed=False, problem=account.forfeited_before, last_lines=lines, again=again)
    first = min([at for at, _ in faults] + [at for at, _ in raised])
    offered = _offered(replay, account.seat, first)
    for decision, story in raised:
        if decision == first:
            return check(
                passed=False,
                problem=f"an exception in the bot's own code: {story.raised}",
                ask=first,
                answered=f"{story.played} (the first one offered)",
                offered=offered,
                last_lines=lines,
                again=again,
            )
    fault = next(story for decision, story in faults if decision == first)
    kind = {FaultKind.TIMEOUT: "timeout", FaultKind.ILLEGAL: "illegal move"}.get(
        fault.kind, FAULT_WORDS[fault.kind]
    )
    answered = fault.reason.removeprefix("not a legal move here: ")
    reason = "" if fault.kind is FaultKind.ILLEGAL or not fault.reason else f": {fault.reason}"
    more = len(account.faults) - 1
    return check(
        passed=False,
        problem=f"{kind}{reason}" + (f", and {more} more faults" if more > 1 else ""),
        ask=first,
        answered=answered if fault.kind is FaultKind.ILLEGAL else "",
        offered=offered,
        last_lines=lines,
        again=again,
    )


def _offered(replay: Replay, seat: Seat, decision: int) -> tuple[str, ...]:
    """The first moves that were offered at a decision, in notation."""
    game = replay.spec().terms.game
    notation = Notation(game.module.Move)
    for frame in frames(replay):
        for each in frame.decisions:
            if each.seat == seat and each.decision == decision:
                offered = game.rules.moves(frame.before, seat).offered
                return tuple(map(notation.write, offered[:MAX_OFFERED]))
    return ()


def why_absent(error: NoShow) -> str:
    """What became of a bot that did not come, but for what stands in the report beside it."""
    what, _, rest = str(error).partition(": ")
    why = f": {rest.partition(': ')[0]}" if what.endswith("does not start") else ""
    return f"{_BOT.sub('the bot', what, 1)}{why}"
