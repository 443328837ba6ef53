"""One game of a ladder: draws deal-sets among connected bots, and has them played on lease.

The ladder is a `WorkSource`. Asked for work, it leases a deal-set that was drawn before. If there is none, it draws one
among connected bots, stores it, and leases it.
"""

import functools
import logging
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.competition.pairing import HOUSE, PairedGroup, Pairing, Waiting
from arena.competition.plan import CompetitionPlan
from arena.competition.record import DealSetShape, DrawnDealSet, bot_of
from arena.competition.states import State
from arena.competition.timetable import CROSS_TABLES, DAY, HOUR, Played, Rate
from arena.sandbox import BadCommand
from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, digest, lapse, planned_tables
from arena.schedule.runner import run_deal_sets
from arena.schedule.work import DealSetJob
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.arena_player import ArenaPlayer, MakePlayer, order_of
from arena.server.competitions.drawn_rounds import OnProgress
from arena.server.competitions.leased_work import LeasedWork
from arena.server.competitions.players import Players
from arena.server.orders import DealSetOrder
from arena.server.submissions.remote_versions import MAX_VERSION_CHARS
from arena.store import BotKind, Competition, EnteredBot, Store, Version
from arena.submission.manifest import declares
from arena.terms import MatchTerms

LOOK_S: Final = 0.5
"""Seconds between two checks for connected bots while no bots can be paired."""

KEEP_S: Final = 10.0
"""Seconds between two writes of the presence of bots."""

FORFEITS_IN_A_ROW: Final = 3
"""Seats in a row that a remote bot may forfeit before it is no longer drawn."""

_SHARE: Final = 0.001
"""The resolution of presence, as a share of the longest presence of a bot."""

_log = logging.getLogger(__name__)


class Ladder:
    """One game of a ladder."""

    def __init__(
        self,
        plan: CompetitionPlan,
        game: int,
        store: Store,
        arena: Arena,
        players: Players,
        *,
        make_player: MakePlayer = ArenaPlayer,
        now: Callable[[], datetime],
        on_progress: OnProgress = lambda *_: None,
    ) -> None:
        self._plan, self._game = plan, game
        self._terms = plan.games[game].terms
        self._held, self._registry = store.competitions(), store.registry()
        self._arena, self._players, self._make_player = arena, players, make_player
        self._now = now
        self._on_progress = functools.partial(on_progress, plan.name, game)

    async def run(self) -> bool:
        """Play for as long as the competition runs; True once it closes.

        Raises:
          StoreError: if the store fails.
        """
        leased = LeasedWork(await run_sync(self._held.leases, self._plan.name, self._game))
        await leased.start_anew()
        record = await run_sync(self._held.record, self._plan.name)
        game = record.games[self._game]
        entered = await run_sync(self._held.get, self._plan.name)
        presence = LadderPresence(self._terms, self._arena, self._players, entered)
        work = _Drawing(self, leased, presence, [each.plan for each in game.deal_sets])
        await run_deal_sets(
            work,
            self._make_player(self._arena, self._players, work.order),
            deal_sets=game.open,
            known={
                match.id: game.outcomes[match.id]
                for each in game.open
                for match in each.matches
                if match.id in game.outcomes
            },
            on_progress=self._on_progress,
        )
        await work.keep_presence()
        return self.is_closed

    @property
    def is_closed(self) -> bool:
        """Whether the plan has ended it."""
        return self._plan.is_closed(self._now())

    @property
    def is_open(self) -> bool:
        """Whether the hours of its plan allow a deal-set to begin now."""
        return not self._plan.why_not_played(self._now())

    async def has_rate_for(self, in_play: Played, tables: int) -> bool:
        """Whether the rate of the plan allows another deal-set with a number of tables."""
        rate = self._plan.rate
        if rate == Rate():
            return True
        since = functools.partial(self._held.played_since, self._plan.name, self._game)
        hour, day = [await run_sync(since, self._now() - each) for each in (HOUR, DAY)]
        return rate.allows(hour + in_play, day + in_play, Played(1, tables))

    async def entered(self) -> Competition:
        """The present state of the competition, with the bots that entered this game."""
        found = await run_sync(self._held.get, self._plan.name)
        own = tuple(each for each in found.entries if each.candidate.enters(self._game))
        return replace(found, entries=own)

    async def active(self, entered: Competition) -> Mapping[str, Version]:
        """The version that plays for each uploaded bot."""
        bots = [e.entry.name for e in entered.entries if e.entry.kind is BotKind.UPLOADED]

        def look() -> dict[str, Version]:
            found = {bot: self._registry.active(bot) for bot in bots}
            return {bot: each for bot, each in found.items() if each and self._is_known(each)}

        return await run_sync(look) if bots else {}

    async def dialled_in(self, entered: Competition) -> Mapping[str, Version | None]:
        """Return the version that each connected remote bot has declared.

        None is a retired version. Bots without recorded versions are left out.
        """
        said = {
            each.entry.name: session.version[:MAX_VERSION_CHARS]
            for each in entered.entries
            if each.entry.kind is BotKind.REMOTE
            and (session := self._arena.sessions.get(BotId(each.entry.name))) is not None
            and session.present
        }

        def look() -> dict[str, Version | None]:
            known = [bot for bot in said if self._registry.find_bot(bot) is not None]
            return {bot: self._said(bot, said[bot]) for bot in known}

        return await run_sync(look) if said else {}

    def _said(self, bot: str, said: str) -> Version | None:
        """Return the version that a bot declares, and record it if it is new."""
        active = self._registry.active(bot)
        if active is not None and active.manifest.get("said") == said:
            return active
        return self._registry.dialled_in(bot, said, now=self._now())

    def _is_known(self, version: Version) -> bool:
        """Whether a version can be launched. On a thread, as its files may have to be unpacked."""
        if not self._players.is_launched(str(version)):
            try:
                self._players.add_version(version)
            except BadCommand as error:
                _log.warning("a version cannot be launched", extra={"why": str(error)})
                return False
        return True

    async def know(self, players: Sequence[str], remote: frozenset[str]) -> None:
        """Let the players launch the versions that play, also withdrawn ones that were drawn before."""
        for player in players:
            bot, _, number = player.partition("@")
            if bot in remote:
                continue  # the arena does not launch it
            if number.isdecimal() and not self._players.is_launched(player):
                version = await run_sync(self._registry.version, bot, int(number))
                await run_sync(self._is_known, version)  # otherwise the fallback plays its seat

    async def keep_draw(self, drawn: DrawnDealSet) -> None:
        """Store a draw; on return it is on disk."""
        await run_sync(self._held.keep_draw, self._plan.name, self._game, drawn)

    async def note_presence(self, lasted_ms: Mapping[str, Mapping[str, int]]) -> None:
        """Store the presence of all bots."""
        await run_sync(self._held.note_presence, self._plan.name, lasted_ms)

    async def set_away(self, bot: str, why: str) -> None:
        """Stop or resume drawing a bot."""
        await run_sync(self._held.set_away, self._plan.name, bot, why)

    @property
    def seed(self) -> str:
        """Of the draws of this game."""
        game = self._plan.games[self._game]
        return self._plan.seed if len(self._plan.games) == 1 else digest(self._plan.seed, game.name)

    @property
    def seats(self) -> int:
        return self._terms.seats

    def order(self, deal_set: DealSetPlan, remote: frozenset[str]) -> DealSetOrder:
        """Return the order of a deal-set; a remote bot is one process."""

        def seated(process: BotId) -> BotId:
            bot = bot_of(process.name)
            return BotId(bot) if bot in remote else process

        return order_of(deal_set, self._terms, seated)

    def planned(self, number: int, drawn: PairedGroup) -> DrawnDealSet:
        """Return a draw as it is stored."""
        tables = list(drawn.tables)
        name = f"{self._plan.name}/{self._plan.games[self._game].name}"
        turned = {frozenset(each) for each in tables}
        shape = (
            DealSetShape.ROTATION
            if len(turned) == 1 and HOUSE not in tables[0]
            else DealSetShape.CROSS
        )
        return DrawnDealSet(
            planned_tables(number, tables, self.seed, name),
            shape=shape,
            inputs_sha256=drawn.inputs_sha256,
        )


class LadderPresence:
    """The presence of bots, and the forfeits of each in a row. It uses no other results."""

    def __init__(
        self,
        terms: MatchTerms,
        arena: Arena,
        players: Players,
        entered: Competition,
    ) -> None:
        self._terms = terms
        self._arena, self._players = arena, players
        self._lasted_s: dict[str, dict[str, float]] = {
            each.entry.name: {name: ms / 1000 for name, ms in each.present_ms.items()}
            for each in entered.entries
        }
        self._looked_s = trio.current_time()
        self._forfeits: Counter[str] = Counter()
        self._last: dict[str, str] = {}
        """The player of each bot when it was last connected, while this arena ran."""
        self._ready: dict[str, int] = {}
        """The count of a bot's session when the arena stopped drawing it."""

    @property
    def lasted_ms(self) -> dict[str, dict[str, int]]:
        """The presence of each player, by bot."""
        return {
            bot: {player: int(lasted * 1000) for player, lasted in own.items()}
            for bot, own in self._lasted_s.items()
        }

    def look(
        self,
        entered: Competition,
        active: Mapping[str, Version | None],
        served: Mapping[str, int],
        in_play: Mapping[str, int],
    ) -> list[Waiting]:
        """Return the bots that can play now, and absent bots that were connected before.

        Also counts presence since the last call.

        Args:
          entered: The competition.
          active: The version that plays for each bot with versions; None if it may not play.
          served: Deal-sets of each player so far.
          in_play: Seats of each bot at tables in play, of all its versions together.
        """
        now_s = trio.current_time()
        since_s, self._looked_s = now_s - self._looked_s, now_s
        here = []
        for held in entered.entries:
            player = self._player(held, active)
            own = self._lasted_s.setdefault(held.entry.name, {})
            away = player is None
            if player is not None:
                own[player[0]] = own.get(player[0], 0.0) + since_s
                self._last[held.entry.name] = player[0]
            elif held.candidate.out is None and not held.away and held.entry.name in self._last:
                player = self._last[held.entry.name], sys.maxsize
            if player is not None:
                # All versions of a bot wait together, as a remote bot may declare another version each time.
                here.append((held, *player, sum(own.values()), away))
        of_bot: Counter[str] = Counter()
        for player_name, deal_sets in served.items():
            of_bot[bot_of(player_name)] += deal_sets
        longest_s = max((lasted_s for *_, lasted_s, _ in here), default=0.0) or 1.0
        return [
            Waiting(
                name=name,
                owner=held.entry.owner,
                served=of_bot[held.entry.name],
                # Only the ratios of presence matter. So a draw depends neither on the speed of the machine
                # nor on stops, nor on free seats that are not needed.
                present_h=max(_SHARE, round(lasted_s / longest_s / _SHARE) * _SHARE),
                free_seats=max(0, min(self._terms.seats, free - in_play.get(held.entry.name, 0))),
                remote=held.entry.kind is BotKind.REMOTE,
                away=away,
            )
            for held, name, free, lasted_s, away in here
        ]

    def pass_over(self) -> None:
        """Skip the time since the last call, as nothing could be drawn."""
        self._looked_s = trio.current_time()

    def returned(self, entered: Competition) -> list[str]:
        """Return paused bots that have declared again that they are ready."""
        return [
            each.entry.name
            for each in entered.entries
            if each.away and self._count(each.entry.name) > self._ready.get(each.entry.name, 0)
        ]

    def count_forfeits(
        self, deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome], remote: frozenset[str]
    ) -> list[str]:
        """Count forfeited seats; returns the bots that are paused for too many in a row."""
        resting = []
        for match in deal_set.matches:
            for seat, player in enumerate(match.bots):
                bot = bot_of(player)
                if bot not in remote:
                    continue
                forfeited = lapse(outcomes[match.id], seat) >= 1.0
                self._forfeits[bot] = self._forfeits[bot] + 1 if forfeited else 0
                if self._forfeits[bot] == FORFEITS_IN_A_ROW:
                    self._forfeits[bot] = 0
                    self._ready[bot] = self._count(bot)
                    resting.append(bot)
        return resting

    def _count(self, bot: str) -> int:
        session = self._arena.sessions.get(BotId(bot))
        return 0 if session is None else session.came_ready

    def _player(
        self, held: EnteredBot, active: Mapping[str, Version | None]
    ) -> tuple[str, int] | None:
        """Return the player of a bot and the seats that it accepts; None if it is not connected."""
        entry = held.entry
        if held.candidate.out is not None or held.away:
            return None
        if entry.kind is BotKind.REMOTE:
            said = active.get(entry.name)
            if said is None and entry.name in active:
                return None  # its declared version is retired
            return self._remote(entry.name, entry.name if said is None else str(said))
        if entry.kind is BotKind.COMMAND:
            return self._launched(entry.name)
        version = active.get(entry.name)
        if version is None or not declares(version.manifest, self._terms):
            return None
        return self._launched(str(version))

    def _launched(self, player: str) -> tuple[str, int] | None:
        # Its matches wait for its process, so any number may be drawn.
        return None if self._players.rests(player) else (player, sys.maxsize)

    def _remote(self, bot: str, player: str) -> tuple[str, int] | None:
        session = self._arena.sessions.get(BotId(bot))
        terms = self._terms
        if session is None or not session.present:
            return None
        if not session.plays(terms.game.id, terms.game.rules_version, terms.seats):
            return None
        # The caller subtracts what was drawn for it and has not begun.
        return player, session.max_matches


class _Drawing:
    """The `WorkSource` of a ladder."""

    def __init__(
        self,
        ladder: Ladder,
        leased: LeasedWork,
        presence: LadderPresence,
        past: Sequence[DealSetPlan],
    ) -> None:
        self._ladder, self._leased = ladder, leased
        self._presence = presence
        self._pairing = Pairing(
            ladder.seed, ladder.seats, [[match.bots for match in each.matches] for each in past]
        )
        self._served: Counter[str] = Counter(bot for each in past for bot in each.bots)
        self._last = max((each.number for each in past), default=0)
        self._in_play: dict[str, Counter[str]] = {}
        """The seats of each deal-set in play, by id."""
        self._remote: frozenset[str] = frozenset()
        self._kept_s = trio.current_time()

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        while True:
            entered = await self._ladder.entered()
            self._remote = frozenset(
                e.entry.name for e in entered.entries if e.entry.kind is BotKind.REMOTE
            )
            if entered.state is not State.RUNNING or self._ladder.is_closed:
                return ()
            jobs = await self._leased.lease(worker, most)
            if jobs:
                for job in jobs:
                    await self._ladder.know(job.deal_set.bots, self._remote)
                    self._in_play[job.id] = Counter(
                        bot for match in job.deal_set.matches for bot in match.bots
                    )
                return jobs
            if not await self._may_draw():
                self._presence.pass_over()
                await trio.sleep(LOOK_S)
            elif not await self._draw(entered):
                await trio.sleep(LOOK_S)
            if trio.current_time() - self._kept_s > KEEP_S:
                await self.keep_presence()

    async def heartbeat(self, worker: str) -> frozenset[str]:
        return await self._leased.heartbeat(worker)

    async def begin(self, worker: str, job: DealSetJob, player: str) -> DealSetJob:
        return await self._leased.begin(worker, job, player)

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        self._in_play.pop(job.id, None)
        await self._leased.report(worker, job, outcomes)
        for bot in self._presence.count_forfeits(job.deal_set, outcomes, self._remote):
            await self._ladder.set_away(
                bot,
                f"forfeited {FORFEITS_IN_A_ROW} seats in a row; it is drawn again once it is ready",
            )

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        self._in_play.pop(job.id, None)
        await self._leased.give_up(worker, job)

    async def keep_presence(self) -> None:
        """Store the presence of all bots, so that a restart favours no bot."""
        self._kept_s = trio.current_time()
        await self._ladder.note_presence(self._presence.lasted_ms)

    async def _may_draw(self) -> bool:
        """Whether the hours and the rate of the plan allow another deal-set."""
        seats = self._ladder.seats
        matches = sum(each.total() // seats for each in self._in_play.values())
        tables = max(CROSS_TABLES, seats) if self._remote else seats
        in_play = Played(len(self._in_play), matches)
        return self._ladder.is_open and await self._ladder.has_rate_for(in_play, tables)

    async def _draw(self, entered: Competition) -> bool:
        """Draw and store a deal-set; false if no bots can be paired."""
        for bot in self._presence.returned(entered):
            await self._ladder.set_away(bot, "")
        active = {
            **await self._ladder.active(entered),
            **await self._ladder.dialled_in(entered),
        }
        taken: Counter[str] = Counter()
        for seats in self._in_play.values():
            for player, number in seats.items():
                taken[bot_of(player)] += number
        waiting = self._presence.look(entered, active, self._served, taken)
        drawn = await run_sync(functools.partial(self._pairing.draw, waiting))
        if drawn is None:
            return False
        self._last += 1
        kept = self._ladder.planned(self._last, drawn)
        self._served.update(kept.plan.bots)
        await self._ladder.keep_draw(kept)
        return True

    def order(self, deal_set: DealSetPlan) -> DealSetOrder:
        """Return the order of a leased deal-set."""
        return self._ladder.order(deal_set, self._remote)
