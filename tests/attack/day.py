"""A day of matches on a mock clock, with bots that fail in every way and an arena that restarts.

The arena is whole but for its sockets: sessions, referee, journal, recovery and
deals, as in `tests.live.cuts`. Honest bots beside the faulty ones must come
through the day without a fault, and what the arena keeps in memory must not grow.
"""

import asyncio
import contextlib
import gc
import logging
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest
import trio
from trio.testing import MockClock

from arena.bots.tokens import Tokens
from arena.errors.refused import Refused
from arena.games.catalogue import GAMES
from arena.live.arena import Arena
from arena.live.deals import handshakes as deals_module
from arena.live.matches.results import ArenaRecords
from arena.live.orders import BY_HAND
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import recover
from arena.records.read import replay_path
from arena.records.verify import verify_file
from arena.referee.spec import Ending
from arena.referee.terms import TimeControl
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import InlineSteps
from arena.testing.results import MemoryResults
from cardarena.v1 import play_pb2
from tests.attack.slopes import slope
from tests.chaos.case import Violation
from tests.chaos.report import Figure, Report
from tests.live.cuts import EVERY_GAME, quick_disk

HOUR_S = 3600.0
GAMES_PLAYED = tuple(
    game for game in GAMES if game.id not in ("eleusis", "open_face_chinese_poker")
)
"""Those whose decisions take the rules little time, so that a day has many."""
IN_PLAY = 6
ORDER_S = 5.0
LIFE_S = 1_800.0
"""Mean time between two restarts of the arena."""
THINK_S = 4.0
AWAY_S = 3.0
"""The longest that an honest bot is away; it has a minute in all in each match."""
FAULTY_AWAY_S = 60.0
REMEMBERED = 100
"""What the arena remembers of what is over is cut to this, so that an hour shows a leak."""
OBJECTS_AN_HOUR = 2_000.0
FULL_H = 4.0
"""After so many hours the arena has all that it remembers, and its memory is no longer to grow."""


class Stream(MemoryOutbox):
    """An outbox that wakes its bot."""

    def __init__(self):
        super().__init__()
        self.news = trio.Event()

    def post(self, frame):
        super().post(frame)
        self.news.set()

    def post_ask(self, element, ask):
        super().post_ask(element, ask)
        self.news.set()

    def close(self, verdict=None):
        super().close(verdict)
        self.news.set()


class Bot:
    """A bot that comes, plays, goes and comes again, over all lives of the arena."""

    def __init__(self, day, name, *, honest):
        self.day, self.name, self.honest = day, name, honest
        self.random = Random(f"{day.seed}:{name}")

    async def run(self):
        """Play for as long as the arena lives."""
        await trio.sleep(self.random.uniform(0.0, AWAY_S))
        while True:
            with contextlib.suppress(Refused):
                await self._stream()
            await trio.sleep(self.random.uniform(0.1, AWAY_S if self.honest else FAULTY_AWAY_S))

    async def _stream(self):
        line, arena = Stream(), self.day.arena
        hello = play_pb2.Hello(
            token=f"guest:{self.name}",
            games=EVERY_GAME,
            max_matches=2 * IN_PLAY,
            max_open_asks=self.random.choice((1, 3, 16)),
        )
        session = arena.hello(hello, line)
        self.day.counts["streams"] += 1
        stays_s = self.random.expovariate(1 / 600.0)
        try:
            async with trio.open_nursery() as answers:
                with trio.move_on_after(stays_s):
                    await self._listen(session, line, answers)
                answers.cancel_scope.cancel()
        finally:
            line.closed = True
            arena.hung_up(session, line)

    async def _listen(self, session, line, answers):
        while not line.closed:
            await line.news.wait()
            line.news = trio.Event()
            self.day.journal.flush()
            for frame in line.take_frames():
                message = play_pb2.ArenaMessage.FromString(frame)
                kind = message.WhichOneof("body")
                asks = {"asks": message.asks.asks, "welcome": message.welcome.open_asks}
                for ask in asks.get(kind, ()):
                    answers.start_soon(self._answer, session, line, ask)

    async def _answer(self, session, line, ask):
        await trio.sleep(self.random.uniform(0.0, 2 * THINK_S))
        family = ask.WhichOneof("game")
        index = self.random.randrange(len(getattr(ask, family).moves))
        answers = [play_pb2.Answer(ask_id=ask.ask_id, index=index)]
        data = None
        if not self.honest:
            match self.random.randrange(60):
                case 0:
                    await trio.sleep(200.0)  # late
                case 1:
                    answers[0].index = 9_999
                case 2:
                    answers *= 5
                case 3:
                    data = b"\xff\xff"
                case 4:
                    return  # mute
                case 5:
                    answers[0].ask_id += 1 << 20
        if data is None:
            message = play_pb2.BotMessage(answers=play_pb2.Answers(answers=answers))
            data = message.SerializeToString()
        session.incoming.deliver(line, data, trio.current_time())


class Day:
    """So many hours of an arena and its bots."""

    def __init__(self, folder, seed, hours):
        self.folder, self.seed, self.hours = folder, seed, hours
        self.random = Random(seed)
        self.counts = Counter()
        self.violations = []
        self.objects = []
        """Hours since the start, and objects that the collector knows."""
        self.ordered = {}
        self.results = MemoryResults()
        self.arena = self.journal = None

    async def run(self):
        """Live the day."""
        names = [f"bot{number}" for number in range(10)]
        bots = [Bot(self, name, honest=number % 2 == 0) for number, name in enumerate(names)]
        self.end_s = trio.current_time() + self.hours * HOUR_S
        while trio.current_time() < self.end_s:
            await self._life(bots)
        self._judge()

    async def _life(self, bots):
        replays, folder = self.folder / "replays", self.folder / "journal"
        replays.mkdir(exist_ok=True)
        killed = self.random.random() < 0.5
        snapshot = self.folder / "snapshot"
        with DealLog(folder, public=self.folder / "commitments") as log:
            recovery = recover(folder, replays, is_secret=lambda _: True)
            self.violations += [Violation("the journal is whole", each) for each in recovery.damage]
            self.counts["resumed"] += len(recovery.unfinished)
            with Journal(folder, matches=recovery.matches) as journal:
                self.journal = journal
                self.arena = arena = Arena(
                    ArenaRecords(journal, log, replays, self.results, recovery, "arena"),
                    Tokens(guests=True),
                )
                arena.matches.referee._workers = InlineSteps()
                async with trio.open_nursery() as nursery:
                    await nursery.start(arena.run)
                    for bot in bots:
                        nursery.start_soon(bot.run)
                    nursery.start_soon(self._order)
                    nursery.start_soon(self._watch)
                    await trio.sleep(self.random.expovariate(1 / LIFE_S) + 60.0)
                    if killed:
                        snapshot.mkdir()
                        shutil.copytree(self.folder / "journal", snapshot / "journal")
                        shutil.copy(self.folder / "commitments", snapshot / "commitments")
                    nursery.cancel_scope.cancel()
        self.counts["kills" if killed else "restarts"] += 1
        if killed:
            # What the end of the life wrote is taken back: a kill leaves the files as they were.
            shutil.rmtree(folder)
            for name in ("journal", "commitments"):
                (snapshot / name).replace(self.folder / name)
            snapshot.rmdir()

    async def _order(self):
        """Keep matches in play between bots that are there."""
        arena = self.arena
        while True:
            await trio.sleep(ORDER_S)
            here = [each.bot for each in arena.sessions if each.connected]
            if len(arena.matches.referee.runners) >= IN_PLAY or len(here) < 5:
                continue
            game = self.random.choice(GAMES_PLAYED)
            seats = self.random.choice([each for each in game.seats if each <= 5])
            number = sum(self.counts[each] for each in ("ordered", "refused"))
            order = match_order(
                game.id,
                [bot.name for bot in self.random.sample(here, seats)],
                {"hands": seats},
                time_control=TimeControl(move_ms=15_000, bank_ms=60_000),
                match_id=f"match-{number}",
                seed=self.random.choice(("", f"seed {number}")),
            )
            try:
                arena.matches.order(order, order.deal_set, BY_HAND)
            except Refused:
                self.counts["refused"] += 1
                continue
            self.counts["ordered"] += 1
            self.ordered[order.deal_set] = order
            if number % 200 == 0:
                await trio.sleep(0.0)

    async def _watch(self):
        while True:
            await trio.sleep(900.0)
            gc.collect()
            hours = self.hours - (self.end_s - trio.current_time()) / HOUR_S
            self.objects.append((hours, len(gc.get_objects())))
            tables = len(self.arena.matches.referee.runners)
            tasks = len(self.arena.matches._nursery.child_tasks)
            if tasks > tables + 10:
                where = f"{tasks} tasks for {tables} matches"
                self.violations.append(Violation("tasks end with their matches", where))

    def _judge(self):
        """Look at every match that was ordered."""
        for match_id, order in self.ordered.items():
            path = replay_path(self.folder / "replays", match_id)
            if not path.exists():
                self.counts["without end"] += 1
                continue
            verdict = verify_file(path)
            if not verdict.ok:
                where = f"{match_id} ({order.terms.game.id}): {verdict.problem}"
                self.violations.append(Violation("replays can be verified", where))
                continue
            outcome = verdict.verified.outcome
            self.counts[f"ended as {outcome.ending.name.lower()}"] += 1
            self.counts["decisions"] += outcome.decisions
            if outcome.ending is Ending.ABORTED:
                where = f"{match_id} ({order.terms.game.id})"
                self.violations.append(Violation("no match is aborted", where))
            for fault in outcome.faults:
                self.counts["faults"] += 1
                bot = order.bots[fault.seat].name
                if int(bot.removeprefix("bot")) % 2 == 0:
                    where = f"{match_id} ({order.terms.game.id}): {bot}, {fault}"
                    self.violations.append(Violation("honest bots are not blamed", where))
        if self.counts["without end"] > 2 * IN_PLAY:
            where = f"{self.counts['without end']} have none"
            self.violations.append(Violation("matches come to an end", where))


class _Errors(logging.Handler):
    """Keeps what the arena logs as an error of its own."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.seen = []

    def emit(self, record):
        self.seen.append(self.format(record))


def live(seed, hours):
    """Live a day in this thread; gives the day."""
    errors = _Errors()
    logger = logging.getLogger("arena")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardarena-day-")))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(deals_module, "REMEMBERED_DEALS", REMEMBERED)
        stack.enter_context(quick_disk(pytest.MonkeyPatch))
        logger.addHandler(errors)
        stack.callback(logger.removeHandler, errors)
        day = Day(folder, seed, hours)
        trio.run(day.run, clock=MockClock(autojump_threshold=0))
    day.violations += [Violation("no error of the arena's own", each) for each in errors.seen]
    return day


async def day(seed, *, hours):
    """A day of matches on a mock clock, with faulty bots, restarts and kills."""
    began_s = time.monotonic()
    lived = await asyncio.to_thread(live, seed, hours)
    counts = lived.counts
    report = Report(violations=lived.violations).add(
        Figure("hours lived", hours, "h"),
        Figure("in so much time", time.monotonic() - began_s, "s"),
        *(Figure(what, number) for what, number in sorted(counts.items())),
    )
    settled = [each for each in lived.objects if each[0] > FULL_H]
    if len(settled) >= 8:  # two hours
        found = slope(settled)
        report.add(
            Figure.at_most("objects more in an hour", found.per_unit, "", OBJECTS_AN_HOUR),
            Figure("- give or take, 95 %", found.margin),
        )
        if found.low > OBJECTS_AN_HOUR:
            where = f"{found.per_unit:,.0f} objects an hour more"
            report.violations.append(Violation("memory does not grow", where))
    else:
        judged_h = max(0.0, hours - FULL_H)
        report.add(Figure("measured after warm-up", judged_h, "h", "≥ 2 to judge growth"))
    return report
