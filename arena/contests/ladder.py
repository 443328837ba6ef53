"""One game of a ladder, which draws deal-sets among connected bots and has them played.

The ladder is a `WorkSource`. When a runner asks for work, it gets a deal-set that was drawn earlier. If there is none,
the ladder draws one among connected bots and stores it first.
"""

import functools
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.bots.bot_ids import BotId
from arena.contests.drawn_rounds import OnProgress
from arena.contests.ladder_presence import FORFEITS_IN_A_ROW, LadderPresence
from arena.contests.pairing import Pairing, Waiting
from arena.contests.plan import CompetitionPlan
from arena.contests.remote_versions import MAX_VERSION_CHARS
from arena.contests.timetable import CROSS_TABLES, DAY, HOUR, Rate
from arena.live.arena import Arena
from arena.live.arena_player import ArenaPlayer, MakePlayer, order_of
from arena.live.orders import DealSetOrder
from arena.live.players import Players
from arena.live.runner import run_deal_sets
from arena.live.shared_transactions import StoredWork
from arena.live.work import DealSetPlayer, RunProgress
from arena.results.deal_sets import DealSet, MatchOutcome, bot_of
from arena.results.record import PlayedCount
from arena.results.states import State
from arena.sandbox.command import BadCommand
from arena.store import BotKind, Competition, Store, Version

LOOK_S: Final = 0.5
"""Seconds between two checks for connected bots while no bots can be paired."""

KEEP_S: Final = 10.0
"""Seconds between two writes of the presence of bots."""

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
        self._play: tuple[_Drawing, DealSetPlayer] | None = None
        """What draws and what plays, while it is played."""

    async def run(self) -> bool:
        """Play while the competition runs; return True when it closes.

        Raises `StoreError` if the store fails.
        """
        stored = StoredWork(await run_sync(self._held.deal_sets, self._plan.name, self._game))
        await stored.start_anew()
        record = await run_sync(self._held.record, self._plan.name)
        game = record.games[self._game]
        entered = await run_sync(self._held.get, self._plan.name)
        presence = LadderPresence(
            self._terms, self._arena, self._players, entered, self._plan.team_of
        )
        open_ = [deal_set for deal_set in game.deal_sets if deal_set.is_open]
        known = {
            match.id: game.outcomes[match.id]
            for deal_set in open_
            for match in deal_set.matches
            if match.id in game.outcomes
        }
        work = _Drawing(self, stored, presence, game.deal_sets, known)
        player = self._make_player(self._arena, self._players, work.order)
        self._play = work, player

        def on_progress(progress: RunProgress) -> None:
            work.table_ended(progress)
            self._on_progress(progress)

        await run_deal_sets(work, player, deal_sets=open_, known=known, on_progress=on_progress)
        await work.keep_presence()
        return self.is_closed

    @property
    def waits(self) -> str:
        """Why no deal-set begins although its hours allow one; empty if there is no such reason."""
        if self._play is None:
            return ""
        work, player = self._play
        return work.waits or player.why_waits()

    @property
    def now(self) -> datetime:
        return self._now()

    def may_draw_after(self, drawn: DealSet) -> datetime | None:
        """Return when the next deal-set may be drawn by the rate, which is spread over the hours of play; None for at once."""
        if self.rate == Rate():
            return None
        daily = self._plan.daily
        begun = PlayedCount(1, len(drawn.matches))
        return self._now() + self._plan.rate.spacing(begun, DAY if daily is None else daily.length)

    @property
    def is_closed(self) -> bool:
        return self._plan.is_closed(self._now())

    @property
    def is_open(self) -> bool:
        return not self._plan.why_not_played(self._now())

    async def has_rate_for(self, in_play: PlayedCount, tables: int) -> bool:
        rate = self._plan.rate
        if rate == Rate():
            return True
        since = functools.partial(self._held.played_since, self._plan.name, self._game)
        hour, day = [await run_sync(since, self._now() - length) for length in (HOUR, DAY)]
        return rate.allows(hour + in_play, day + in_play, PlayedCount(1, tables))

    async def entered(self) -> Competition:
        """Return the present state of the competition, with the bots that entered this game."""
        return await run_sync(self._held.get, self._plan.name, self._game)

    async def active(self, entered: Competition) -> Mapping[str, Version]:
        bots = [e.name for e in entered.entries if e.kind is BotKind.UPLOADED]

        def look() -> dict[str, Version]:
            active = {bot: self._registry.active(bot) for bot in bots}
            return {
                bot: version
                for bot, version in active.items()
                if version and self._is_known(version)
            }

        return await run_sync(look) if bots else {}

    async def dialled_in(self, entered: Competition) -> Mapping[str, Version | None]:
        """Return the version that each connected remote bot has declared.

        None is a retired version. Bots without recorded versions are left out.
        """
        declared = {
            bot.name: session.declared.version[:MAX_VERSION_CHARS]
            for bot in entered.entries
            if bot.kind is BotKind.REMOTE
            and (session := self._arena.sessions.get(BotId(bot.name))) is not None
            and session.present
        }

        def look() -> dict[str, Version | None]:
            known = [bot for bot in declared if self._registry.find_bot(bot) is not None]
            return {bot: self._said(bot, declared[bot]) for bot in known}

        return await run_sync(look) if declared else {}

    def _said(self, bot: str, declared: str) -> Version | None:
        active = self._registry.active(bot)
        if active is not None and active.manifest.get("said") == declared:
            return active
        return self._registry.dialled_in(bot, declared, now=self._now())

    def _is_known(self, version: Version) -> bool:
        """Return whether a version can be launched. Runs on a thread, because its files may have to be unpacked."""
        if not self._players.is_launched(str(version)):
            try:
                self._players.add_version(version)
            except BadCommand as error:
                _log.warning("a version cannot be launched", extra={"why": str(error)})
                return False
        return True

    async def know(self, players: Sequence[str], remote: frozenset[str]) -> None:
        """Let the players launch the versions that play, and withdrawn ones that were drawn earlier."""
        for player in players:
            bot, _, number = player.partition("@")
            if bot in remote:
                continue  # a remote bot
            if number.isdecimal() and not self._players.is_launched(player):
                version = await run_sync(self._registry.version, bot, int(number))
                # If it cannot be launched, the fallback plays its seat.
                await run_sync(self._is_known, version)

    async def keep_draw(self, deal_set: DealSet) -> None:
        """Store a draw; on return it is on disk."""
        await run_sync(self._held.keep_draw, self._plan.name, self._game, deal_set)

    async def note_presence(self, lasted_ms: Mapping[str, Mapping[str, int]]) -> None:
        await run_sync(self._held.note_presence, self._plan.name, lasted_ms)

    async def note_limits(self, limits: Mapping[str, str]) -> None:
        await run_sync(self._held.note_limits, self._plan.name, limits)

    @property
    def rate(self) -> Rate:
        return self._plan.rate

    async def set_away(self, bot: str, why: str) -> None:
        await run_sync(self._held.set_away, self._plan.name, bot, why)

    @property
    def seats(self) -> int:
        return self._terms.seats

    def order(self, deal_set: DealSet, remote: frozenset[str]) -> DealSetOrder:
        """Return the order of a deal-set; a remote bot is one process."""

        def seated(process: BotId) -> BotId:
            bot = bot_of(process.name)
            return BotId(bot) if bot in remote else process

        return order_of(deal_set, self._terms, seated)

    def pairing(self, past: Sequence[DealSet]) -> Pairing:
        """Return what draws the deal-sets after those of the past."""
        seed, part = self._plan.seed_of(self._game), self._plan.part(self._game)
        tables = [deal_set.tables for deal_set in past]
        return Pairing(seed, self.seats, tables, ladder=part)


class _Drawing:
    """The `WorkSource` of a ladder."""

    def __init__(
        self,
        ladder: Ladder,
        stored: StoredWork,
        presence: LadderPresence,
        past: Sequence[DealSet],
        known: Mapping[str, MatchOutcome],
    ) -> None:
        """`known` are the outcomes of matches of deal-sets that are not complete, by match id."""
        self._ladder, self._stored = ladder, stored
        self._presence = presence
        self._pairing = ladder.pairing(past)
        self._served: Counter[str] = Counter(bot for deal_set in past for bot in deal_set.bots)
        self._over = {outcome.match_id for outcome in known.values() if outcome.has_result}
        """Matches that have a result, of deal-sets that are not reported."""
        self._in_play: dict[str, DealSet] = {}
        """Deal-sets in play, by id."""
        self._remote: frozenset[str] = frozenset()
        self._kept_s = trio.current_time()
        self._limits: dict[str, str] = {}
        """What limited each bot when it was last noted."""
        self._next_draw: datetime | None = None
        """Nothing is drawn before by the rate; None without a rate, and before the first draw."""
        self.waits = ""
        """Why it draws nothing; empty if it does, and outside of the hours of the plan."""

    async def take(self, most: int) -> Sequence[DealSet]:
        while True:
            entered = await self._ladder.entered()
            if trio.current_time() - self._kept_s > KEEP_S:
                await self.keep_presence()
                await self._note_limits(entered)
            self._remote = frozenset(e.name for e in entered.entries if e.kind is BotKind.REMOTE)
            if entered.state is not State.RUNNING or self._ladder.is_closed:
                return ()
            deal_sets = await self._stored.take(most)
            may_draw = not deal_sets and await self._may_draw()
            if may_draw:
                if await self._draw(entered):
                    deal_sets = await self._stored.take(most)
                else:
                    await self._note_absence(entered)
            if deal_sets:
                self.waits = ""
                for deal_set in deal_sets:
                    await self._ladder.know(deal_set.bots, self._remote)
                    self._in_play[deal_set.id] = deal_set
                return deal_sets
            if self._is_next_later:
                await self._waiting(entered)  # presence is counted between two draws as well
            elif not may_draw:
                self._presence.pass_over()
            await trio.sleep(LOOK_S)

    async def begin(self, deal_set: DealSet, worker: str) -> int:
        return await self._stored.begin(deal_set, worker)

    async def report(self, deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]) -> None:
        self._forget(deal_set)
        await self._stored.report(deal_set, outcomes)
        for bot in self._presence.count_forfeits(deal_set, outcomes, self._remote):
            await self._ladder.set_away(
                bot,
                f"forfeited {FORFEITS_IN_A_ROW} seats in a row; it is drawn again once it is ready",
            )

    async def give_up(self, deal_set: DealSet) -> None:
        self._forget(deal_set)
        await self._stored.give_up(deal_set)

    def _forget(self, deal_set: DealSet) -> None:
        self._in_play.pop(deal_set.id, None)
        self._over.difference_update(match.id for match in deal_set.matches)

    def table_ended(self, progress: RunProgress) -> None:
        """Free the seats of a table that has ended before other tables of its deal-set."""
        if progress.latest is not None and progress.latest[1].has_result:
            self._over.add(progress.latest[0].id)

    @property
    def seats_taken(self) -> Counter[str]:
        """The seats of each bot at tables that were drawn and have no result, of all its versions together."""
        return Counter(
            bot_of(player)
            for deal_set in self._in_play.values()
            for match in deal_set.matches
            if match.id not in self._over
            for player in match.bots
        )

    async def keep_presence(self) -> None:
        """Store the presence of all bots, so that a restart favours no bot."""
        self._kept_s = trio.current_time()
        await self._ladder.note_presence(self._presence.lasted_ms)

    async def _note_limits(self, entered: Competition) -> None:
        active = await self._versions(entered)
        limits = self._presence.limits(entered, active, self._served, self._ladder.rate)
        changed = {bot: text for bot, text in limits.items() if self._limits.get(bot, "") != text}
        if not changed:
            return
        for bot, text in changed.items():
            if text.partition(":")[0] != self._limits.get(bot, "").partition(":")[0]:
                _log.info("what limits a bot has changed", extra={"bot": bot, "why": text})
        self._limits = limits
        await self._ladder.note_limits(changed)

    async def _versions(self, entered: Competition) -> dict[str, Version | None]:
        return {**await self._ladder.active(entered), **await self._ladder.dialled_in(entered)}

    async def _may_draw(self) -> bool:
        """Return whether the hours and the rate of the plan allow another deal-set."""
        self.waits = ""
        if not self._ladder.is_open:
            return False
        if self._is_next_later:
            next_at = f"{self._next_draw:%H:%M:%S} UTC"
            self.waits = (
                f"the ladder plays {self._ladder.rate}, and the next deal-set begins at {next_at}"
            )
            return False
        seats = self._ladder.seats
        matches = sum(len(deal_set.matches) for deal_set in self._in_play.values())
        tables = max(CROSS_TABLES, seats) if self._remote else seats
        in_play = PlayedCount(len(self._in_play), matches)
        if not await self._ladder.has_rate_for(in_play, tables):
            self.waits = f"the ladder plays {self._ladder.rate}, which is used up"
            return False
        return True

    @property
    def _is_next_later(self) -> bool:
        """Whether the next deal-set waits for its share of the hours of play."""
        is_later = self._next_draw is not None and self._ladder.now < self._next_draw
        return is_later and self._ladder.is_open

    async def _waiting(self, entered: Competition) -> list[Waiting]:
        """Return the bots that can be drawn; count their presence since the last call."""
        active = await self._versions(entered)
        return self._presence.look(entered, active, self._served, self.seats_taken)

    async def _note_absence(self, entered: Competition) -> None:
        if not self._in_play:
            self.waits = self._presence.why_none(entered, await self._versions(entered))

    async def _draw(self, entered: Competition) -> bool:
        """Draw and store a deal-set; false if no bots can be paired."""
        for bot in self._presence.returned(entered):
            await self._ladder.set_away(bot, "")
        waiting = await self._waiting(entered)
        drawn = await run_sync(functools.partial(self._pairing.draw, waiting))
        if drawn is None:
            return False
        self._next_draw = self._ladder.may_draw_after(drawn)
        self._served.update(drawn.bots)
        await self._ladder.keep_draw(drawn)
        return True

    def order(self, deal_set: DealSet) -> DealSetOrder:
        return self._ladder.order(deal_set, self._remote)
