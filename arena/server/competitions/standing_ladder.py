"""One game of a standing ladder: deal-sets drawn as bots are there, and played on lease, without end.

The ladder is a `WorkSource`. When it is asked for work it leases what was left from before, and else draws
the next deal-set among those who are there, keeps it, and leases that.
"""

import functools
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.competition.pairing import HOUSE, Drawn, Pairing, Waiting
from arena.competition.plan_file import CompetitionPlan
from arena.competition.record import DrawnDealSet, Shape, bot_of
from arena.competition.states import State
from arena.jail import BadCommand
from arena.ladder.draws import digest
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan, planned_tables
from arena.ladder.tournament import run_tournament
from arena.ladder.walkover import lapse
from arena.ladder.work import DealSetJob
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.drawn_tournament import Table, Told
from arena.server.competitions.players import Players
from arena.server.competitions.playing_processes import PlayingProcesses
from arena.server.orders import DealSetOrder, TableOrder
from arena.server.submissions.remote_versions import MAX_VERSION_CHARS
from arena.server.tournaments.leased_work import LeasedWork
from arena.store import BotKind, Competition, Held, Store, Version
from arena.terms import MatchTerms

LOOK_S: Final = 0.5
"""Between two looks at who is there, while nobody can be paired."""

KEEP_S: Final = 10.0
"""How often it is kept how long bots were there."""

LAUNCHED_SEATS: Final = 64
"""Seats that a launched bot takes at a time, unless its manifest says fewer."""

LEFT_IN_A_ROW: Final = 3
"""Seats that a bot which dials in may leave one after the other before it is drawn no more."""

_SHARE: Final = 0.001
"""Of the time that whoever was there longest was there: more finely presence is not told."""

_log = logging.getLogger(__name__)


class StandingLadder:
    """One game of a ladder."""

    def __init__(
        self,
        plan: CompetitionPlan,
        game: int,
        store: Store,
        arena: Arena,
        players: Players,
        *,
        elsewhere: PlayingProcesses | None = None,
        now: Callable[[], datetime],
        told: Told = lambda *_: None,
    ) -> None:
        self._plan, self._game = plan, game
        self._terms = plan.games[game].terms
        self._held, self._registry = store.competitions(), store.registry()
        self._arena, self._players, self._elsewhere = arena, players, elsewhere
        self._now = now
        self._told = told

    async def run(self) -> bool:
        """Play for as long as the competition runs; True once it closes.

        Raises:
          StoreError: if the store fails.
        """
        leased = LeasedWork(await run_sync(self._held.leases, self._plan.name, self._game))
        await leased.start_anew()
        record = await run_sync(self._held.record, self._plan.name)
        game = record.games[self._game]
        table = Table(
            self._arena, self._players, self._terms, self._plan.name, elsewhere=self._elsewhere
        )
        entered = await run_sync(self._held.get, self._plan.name)
        presence = Presence(self._terms, self._arena, self._players, entered)
        work = _Drawing(self, leased, table, presence, [each.plan for each in game.deal_sets])
        await run_tournament(
            game.open,
            source=work,
            play=table.play,
            known={
                match.id: game.outcomes[match.id]
                for each in game.open
                for match in each.matches
                if match.id in game.outcomes
            },
            max_matches=table.most,
            on_progress=lambda progress: self._told(self._game, progress),
        )
        await work.keep_presence()
        return self.is_closed

    @property
    def is_closed(self) -> bool:
        """Whether it is over, by its plan."""
        return self._plan.closes is not None and self._now() >= self._plan.closes

    @property
    def is_open(self) -> bool:
        """Whether it has begun and not ended, by its plan."""
        opens = self._plan.opens
        return not self.is_closed and (opens is None or self._now() >= opens)

    async def entered(self) -> Competition:
        """The competition as it stands."""
        return await run_sync(self._held.get, self._plan.name)

    async def active(self, entered: Competition) -> Mapping[str, Version]:
        """The version that plays for each uploaded bot."""
        bots = [e.entry.name for e in entered.entries if e.entry.kind is BotKind.UPLOADED]

        def look() -> dict[str, Version]:
            found = {bot: self._registry.active(bot) for bot in bots}
            return {bot: each for bot, each in found.items() if each and self._is_known(each)}

        return await run_sync(look) if bots else {}

    async def dialled_in(self, entered: Competition) -> Mapping[str, Version | None]:
        """The version that plays for each bot that is there from elsewhere, by what it said.

        None is one that was retired. A bot that only has a key, and no owner who keeps its versions, is
        not among them.
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
        """The version that a bot says it is. Who said it is noted here if it was not noted yet."""
        active = self._registry.active(bot)
        if active is not None and active.manifest.get("said") == said:
            return active
        return self._registry.dialled_in(bot, said, now=self._now())

    def _is_known(self, version: Version) -> bool:
        """Whether a version can be launched; on a thread, as its files may have to be unpacked."""
        if not self._players.is_launched(str(version)):
            try:
                self._players.add_version(version)
            except BadCommand as error:
                _log.warning("a version cannot be launched", extra={"why": str(error)})
                return False
        return True

    async def know(self, players: Sequence[str], remote: frozenset[str]) -> None:
        """Know the versions that play, those that have stepped back since they were drawn as well."""
        for player in players:
            bot, _, number = player.partition("@")
            if bot in remote:
                continue  # nobody launches them
            if number.isdecimal() and not self._players.is_launched(player):
                version = await run_sync(self._registry.version, bot, int(number))
                await run_sync(self._is_known, version)  # if not, its seat is played by fallback

    async def keep_draw(self, drawn: DrawnDealSet) -> None:
        """Have a draw on disk."""
        await run_sync(self._held.keep_draw, self._plan.name, self._game, drawn)

    async def note_presence(self, lasted_ms: Mapping[str, Mapping[str, int]]) -> None:
        """Keep how long everybody was there."""
        await run_sync(self._held.note_presence, self._plan.name, lasted_ms)

    async def set_away(self, bot: str, why: str) -> None:
        """Draw a bot no more, or again."""
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
        """The order of a deal-set, in which no process of a launched bot sits at two tables."""
        seen: Counter[str] = Counter()
        tables = []
        for match in deal_set.matches:
            bots = []
            for name in match.bots:
                dials_in = bot_of(name) in remote
                bots.append(BotId(bot_of(name)) if dials_in else BotId(name, seen[name]))
                seen[name] += 1
            tables.append(TableOrder(match.id, tuple(bots), match.rotation))
        seed = deal_set.seed if self._terms.seeded else ""
        return DealSetOrder(deal_set.id, self._terms, tuple(tables), seed)

    def planned(self, number: int, drawn: Drawn) -> DrawnDealSet:
        """A draw as it is kept."""
        tables = list(drawn.tables)
        name = f"{self._plan.name}/{self._plan.games[self._game].name}"
        turned = {frozenset(each) for each in tables}
        shape = Shape.ROTATION if len(turned) == 1 and HOUSE not in tables[0] else Shape.CROSS
        return DrawnDealSet(
            planned_tables(number, tables, self.seed, name),
            shape=shape,
            inputs_sha256=drawn.inputs_sha256,
        )


class Presence:
    """Who is there, for how long, and who left too many seats. It knows no results but these."""

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
        self._left: Counter[str] = Counter()
        self._ready: dict[str, int] = {}
        """What a bot's session had counted when it was drawn no more."""

    @property
    def lasted_ms(self) -> dict[str, dict[str, int]]:
        """How long every player was there, by its bot."""
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
        """Those who could play now. Also counts the time since the last look.

        Args:
          entered: The competition.
          active: The version that plays, of bots that have versions; None for one that may not.
          served: Deal-sets that each player had.
          in_play: Seats that each bot has at tables now, all its versions together.
        """
        now_s = trio.current_time()
        since_s, self._looked_s = now_s - self._looked_s, now_s
        here = []
        for held in entered.entries:
            player = self._player(held, active)
            if player is not None:
                own = self._lasted_s.setdefault(held.entry.name, {})
                own[player[0]] = own.get(player[0], 0.0) + since_s
                here.append((held, *player, own[player[0]]))
        longest_s = max((lasted_s for *_, lasted_s in here), default=0.0) or 1.0
        return [
            Waiting(
                name=name,
                owner=held.entry.owner,
                served=served.get(name, 0),
                # Only how long they were there beside each other matters. So a draw hangs neither on
                # the speed of a machine nor on when it was stopped, and nor do free seats beyond need.
                present_h=max(_SHARE, round(lasted_s / longest_s / _SHARE) * _SHARE),
                free_seats=max(0, min(self._terms.seats, free - in_play.get(held.entry.name, 0))),
                remote=held.entry.kind is BotKind.REMOTE,
            )
            for held, name, free, lasted_s in here
        ]

    def returned(self, entered: Competition) -> list[str]:
        """Bots that were drawn no more and have said since that they are ready."""
        return [
            each.entry.name
            for each in entered.entries
            if each.away and self._count(each.entry.name) > self._ready.get(each.entry.name, 0)
        ]

    def seats_left(
        self, deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome], remote: frozenset[str]
    ) -> list[str]:
        """Count the seats that were left; the bots that have left so many that they rest."""
        resting = []
        for match in deal_set.matches:
            for seat, player in enumerate(match.bots):
                bot = bot_of(player)
                if bot not in remote:
                    continue
                left = lapse(outcomes[match.id], seat) >= 1.0
                self._left[bot] = self._left[bot] + 1 if left else 0
                if self._left[bot] == LEFT_IN_A_ROW:
                    self._left[bot] = 0
                    self._ready[bot] = self._count(bot)
                    resting.append(bot)
        return resting

    def _count(self, bot: str) -> int:
        session = self._arena.sessions.get(BotId(bot))
        return 0 if session is None else session.came_ready

    def _player(self, held: Held, active: Mapping[str, Version | None]) -> tuple[str, int] | None:
        """The name that a bot plays under and the seats that it takes; None if it is not there."""
        entry = held.entry
        if held.candidate.out is not None or held.away:
            return None
        if entry.kind is BotKind.REMOTE:
            said = active.get(entry.name)
            if said is None and entry.name in active:
                return None  # the version that it says it is was retired
            return self._remote(entry.name, entry.name if said is None else str(said))
        if entry.kind is BotKind.COMMAND:
            return entry.name, LAUNCHED_SEATS
        version = active.get(entry.name)
        if version is None or not self._declares(version):
            return None
        most = version.manifest.get("max_matches")
        return str(version), most if isinstance(most, int) and most > 0 else LAUNCHED_SEATS

    def _remote(self, bot: str, player: str) -> tuple[str, int] | None:
        session = self._arena.sessions.get(BotId(bot))
        terms = self._terms
        if session is None or not session.present:
            return None
        if not session.plays(terms.game.id, terms.game.rules_version, terms.seats):
            return None
        # What the ladder has drawn for it and has not begun yet is taken off by the caller.
        return player, session.max_matches

    def _declares(self, version: Version) -> bool:
        """Whether a version's manifest names the game, its rules and its seats; without games, all."""
        games = version.manifest.get("games")
        if not isinstance(games, list):
            return True
        for each in games:
            if isinstance(each, dict) and each.get("id") == self._terms.game.id:
                seats, rules = each.get("seats") or [], each.get("rules") or 0
                return (not seats or self._terms.seats in seats) and rules in (
                    0,
                    self._terms.game.rules_version,
                )
        return False


class _Drawing:
    """The `WorkSource` of a ladder."""

    def __init__(
        self,
        ladder: StandingLadder,
        leased: LeasedWork,
        table: Table,
        presence: Presence,
        past: Sequence[DealSetPlan],
    ) -> None:
        self._ladder, self._leased, self._table = ladder, leased, table
        self._presence = presence
        self._pairing = Pairing(
            ladder.seed, ladder.seats, [[match.bots for match in each.matches] for each in past]
        )
        self._served: Counter[str] = Counter(bot for each in past for bot in each.bots)
        self._last = max((each.number for each in past), default=0)
        self._in_play: dict[str, Counter[str]] = {}
        """Seats that each deal-set in play takes, by its id."""
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
                    self._begin(job.deal_set)
                return jobs
            if not self._ladder.is_open or not await self._draw(entered):
                await trio.sleep(LOOK_S)
            if trio.current_time() - self._kept_s > KEEP_S:
                await self.keep_presence()

    async def heartbeat(self, worker: str) -> frozenset[str]:
        return await self._leased.heartbeat(worker)

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        self._in_play.pop(job.id, None)
        await self._leased.report(worker, job, outcomes)
        self._table.forget(job.id)
        for bot in self._presence.seats_left(job.deal_set, outcomes, self._remote):
            await self._ladder.set_away(
                bot, f"left {LEFT_IN_A_ROW} seats in a row; it is drawn again once it is ready"
            )

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        self._in_play.pop(job.id, None)
        await self._leased.give_up(worker, job)
        self._table.forget(job.id)

    async def keep_presence(self) -> None:
        """Keep how long everybody was there, so that a restart does not favour anybody."""
        self._kept_s = trio.current_time()
        await self._ladder.note_presence(self._presence.lasted_ms)

    async def _draw(self, entered: Competition) -> bool:
        """Draw and keep one deal-set; False if nobody can be paired."""
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

    def _begin(self, deal_set: DealSetPlan) -> None:
        seats = Counter(bot for match in deal_set.matches for bot in match.bots)
        self._in_play[deal_set.id] = seats
        self._table.add(self._ladder.order(deal_set, self._remote))
