"""An arena in memory that is cut off at any boundary of its messages, and comes again.

Bots play on a mock clock over streams that are lists. What lies between a stream and the
arena's core is done here step by step: a message is posted, the journal is flushed, the message
is delivered, the bot's answer is taken. Between any two steps a bot's stream may be cut, or the
arena be killed, which leaves the files as they were and nothing else.
"""

import contextlib
import shutil
import zlib
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace

import trio
from trio.testing import MockClock

from arena import durable_files
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.games.catalogue import GAMES, game_by_id
from arena.live.arena import Arena
from arena.live.matches.match_record import MatchState
from arena.live.matches.results import ArenaRecords
from arena.live.orders import BY_HAND
from arena.live.session.asks import decision_of
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import recover
from arena.records.read import replay_path
from arena.records.verify import verify_file
from arena.referee.spec import Outcome
from arena.referee.terms import TimeControl
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import InlineSteps
from arena.testing.results import MemoryResults
from cardarena import _deals as sdk_deals
from cardarena import _session as sdk_session
from cardarena.v1 import game_pb2, journal_pb2, play_pb2

THINK_S = 0.01
"""How long a bot takes to answer, on the mock clock."""
IDLE_S = 0.25
"""How much time is let pass when nothing is to be sent or said."""
BANK_MS = 60_000
"""The bank of the first match; that of each later one is a millisecond more."""
EVERY_GAME = [play_pb2.GameSupport(game=game.id) for game in GAMES]


def chooses(ask):
    """A move that follows from the bytes of the ask, and how it is said.

    Its clock is left out, and which number the match has.
    """
    bare = play_pb2.Ask.FromString(timeless(ask))
    bare.ask_id = bare.match = 0
    told = bare.SerializeToString(deterministic=True)
    family = ask.WhichOneof("game")
    moves = getattr(ask, family).moves
    number = zlib.crc32(told)
    note = f"of {len(told)} bytes" if number & 3 == 0 else ""
    at = number % len(moves)
    if number & 4:
        move = game_pb2.GameMove(**{family: moves[at]})
        return play_pb2.Answer(ask_id=ask.ask_id, move=move, note=note)
    return play_pb2.Answer(ask_id=ask.ask_id, index=at, note=note)


def orders_of(game_id, players, matches, options=None, **order):
    """Matches alone between all players, who sit one seat further at each."""
    bots, game = [BotId(player.name) for player in players], game_by_id(game_id)
    return [
        match_order(
            game.id,
            bots[at % len(bots) :] + bots[: at % len(bots)],
            options or {"hands": len(bots)},
            time_control=TimeControl(move_ms=10_000, bank_ms=BANK_MS + at),
            match_id=f"match-{at}",
            **{"seed": f"seed {at}", **order},
        )
        for at in range(matches)
    ]


def deal_set_of(orders, name):
    """The same matches as one deal-set, played by the terms and with the seed of the first."""
    tables = tuple(table for order in orders for table in order.tables)
    return replace(orders[0], deal_set=name, tables=tables)


def single_matches(orders):
    """Each match of these orders, as its order and its id."""
    return [(order, match_id) for order in orders for match_id in order.match_ids]


def timeless(ask):
    """An ask's bytes without its clock."""
    bare = play_pb2.Ask.FromString(ask.SerializeToString())
    bare.ClearField("clock")
    return bare.SerializeToString(deterministic=True)


@dataclass
class Told:
    """What a bot was told over all its streams, taken together."""

    starts: dict = field(default_factory=dict)
    """By number of the match."""
    asks: dict = field(default_factory=dict)
    """By id, without the clocks."""
    ends: dict = field(default_factory=dict)
    """By number of the match."""

    def keep(self, kept, key, data):
        """Take something in; said again, it must be the same."""
        assert kept.setdefault(key, data) == data, key

    def which(self, number):
        """The place of a match among the orders, by its number on the bot's streams.

        Matches alone differ in their banks, those of a deal-set in who sits first.
        """
        start = play_pb2.MatchStart.FromString(self.starts[number])
        names = [player.name for player in start.players]
        rotation = -names.index(min(names)) % len(names)
        return start.terms.time_control.bank_ms - BANK_MS or rotation

    def by_match(self):
        """All of it by match, whatever numbers the matches had on the bot's streams."""
        which = {number: self.which(number) for number in self.starts}
        assert len(set(which.values())) == len(which), "a match has one number on a bot's streams"
        found = {"starts": {}, "asks": {}, "ends": {}}
        for number, data in self.starts.items():
            start = play_pb2.MatchStart.FromString(data)
            start.match = 0
            found["starts"][which[number]] = start.SerializeToString(deterministic=True)
        for number, data in self.asks.items():
            ask = play_pb2.Ask.FromString(data)
            match, decision = decision_of(number)
            assert ask.match == match
            ask.ask_id = ask.match = 0
            told = ask.SerializeToString(deterministic=True)
            found["asks"][which[match], decision] = told
        for number, data in self.ends.items():
            end = play_pb2.MatchEnd.FromString(data)
            end.match = 0
            found["ends"][which[number]] = end.SerializeToString(deterministic=True)
        return found


class Player:
    """A bot that answers each ask by its bytes, whenever it is told it."""

    def __init__(self, name, script=chooses, **hello):
        self.name = name
        self.script = script
        self.hello = {"games": EVERY_GAME, "max_matches": 8, **hello}
        self.told = Told()
        self.line = None
        self.said = deque()
        """Messages that are on their way to the arena."""
        self.answers = {}
        """All answers so far, by id of the ask."""
        self.epochs, self.refusals, self.closed, self.deals = [], [], [], []
        self.welcomes = []
        self.unlisted = set()
        """Matches that a welcome did not list, and whose end was not told."""
        self.frames = []
        """All bytes that came, in order."""

    def opened(self):
        """The first message of a stream."""
        return play_pb2.Hello(token=f"guest:{self.name}", **self.hello)

    def lost(self):
        """The stream is gone, with what was on its way."""
        self.line = None
        self.said.clear()

    def receive(self, data):
        self.frames.append(data)
        message = play_pb2.ArenaMessage.FromString(data)
        kind = message.WhichOneof("body")
        body = getattr(message, kind)
        told = self.told
        if kind == "welcome":
            self.welcomes.append(body)
            self.epochs.append(body.epoch)
            listed = {start.match for start in body.matches}
            self.unlisted |= told.starts.keys() - told.ends.keys() - listed
            for start in body.matches:
                told.keep(told.starts, start.match, start.SerializeToString(deterministic=True))
            self._asked(body.open_asks)
        elif kind == "match_start":
            told.keep(told.starts, body.match, body.SerializeToString(deterministic=True))
        elif kind == "asks":
            self._asked(body.asks)
        elif kind == "match_end":
            told.keep(told.ends, body.match, body.SerializeToString(deterministic=True))
        elif kind == "refusal":
            self.refusals.append(body)
        elif kind == "ask_closed":
            self.closed.append(body)
        else:
            self.deals.append(message)

    def _asked(self, asks):
        for ask in asks:
            assert ask.match in self.told.starts, "a match is announced before its first ask"
            self.told.keep(self.told.asks, ask.ask_id, timeless(ask))
            answer = self.script(ask)
            if answer is not None:
                self.answers[ask.ask_id] = answer
                self.say(answers=play_pb2.Answers(answers=[answer]))

    def say(self, **body):
        self.said.append(play_pb2.BotMessage(**body).SerializeToString())


class SdkPlayer(Player):
    """A bot whose side of the stream is the SDK's, and what its author was told."""

    def __init__(self, name, **hello):
        super().__init__(name, lambda ask: None, **hello)
        said = play_pb2.Hello(token=f"guest:{name}", **self.hello)
        deals = sdk_deals.Deals() if said.adds_entropy else None
        self.sdk = sdk_session.Session(said, auto=False, now_s=lambda: 0.0, deals=deals)
        self.author = []
        """Starts, asks and ends, in order."""
        self.events = defaultdict(list)
        """By number of the match, all that happened in it, as the author was told."""

    def opened(self):
        return play_pb2.BotMessage.FromString(self.sdk.opened()).hello

    def lost(self):
        super().lost()
        self.sdk.lost()

    def receive(self, data):
        super().receive(data)
        self.said.extend(self.sdk.receive(data).send)
        work = self.sdk.take()
        for news in work.news:
            if isinstance(news, play_pb2.MatchStart):
                self.author.append(("start", news.match))
            else:
                self.author.append(("end", news.match, news.message.ending))
                self._heard(news.match, news.events)
        for ask in work.asks:
            if self.sdk.show(ask):
                self.author.append(("ask", ask.ask_id))
                self._heard(ask.match, ask.events)
                self.said.extend(self.sdk.frames(self.sdk.answer([chooses(ask.message)])))

    def events_by_match(self):
        """The same by match, whatever numbers the matches had on the bot's streams."""
        return {self.told.which(number): heard for number, heard in self.events.items()}

    def _heard(self, match, events):
        self.events[match] += [event.SerializeToString(deterministic=True) for event in events]


class Killed(Exception):
    """The arena is killed here."""


class CutOff(Exception):
    """A bot's stream is cut here."""

    def __init__(self, player):
        super().__init__(player.name)
        self.player = player


class World:
    """Bots, orders of matches, and an arena that is there most of the time.

    `cuts` maps numbers of boundaries, counted from 0 over the whole life, to what happens
    there: `Killed` or `CutOff`.
    """

    def __init__(self, folder, players, orders, cuts=None, *, workers=InlineSteps, scheduled=False):
        self.folder = folder
        self.players = players
        self.orders = orders
        self.matches = single_matches(orders)
        self.results = MemoryResults()
        self.cuts = dict(cuts or {})
        self.workers = workers
        self.scheduled = scheduled
        self.boundaries = 0
        self.lives = 0
        self.away_s = 0.0
        """How long a bot whose stream was cut stays away."""
        self.at_boundary = lambda world, player, step: None
        self.at_connection = lambda world, player, session: None
        self.steps = []
        """What each boundary came after."""
        self.over_when_killed = set()
        """Matches whose end the bots may never be told: the arena was killed just after it."""
        self.arena = None
        self.ends_idle = False
        """Whether it ends as soon as nobody says anything, each bot having come once more."""
        self.decided = []
        """What the journal has of a match that was left so: seat, decision and move."""

    # Lives of the arena.

    def run(self):
        """Play all matches to their end, whatever happens; the world as it is then."""

        async def bounded():
            with trio.fail_after(20_000):
                await self._live()

        trio.run(bounded, clock=MockClock(autojump_threshold=0))
        for _, match_id in self.matches if not self.ends_idle else ():
            verdict = verify_file(replay_path(self.data / "replays", match_id))
            assert verdict.ok, verdict.problem
        return self

    @property
    def data(self):
        """The arena's folder in its present life."""
        return self.folder / str(self.lives)

    async def _live(self):
        while not await self._life():
            before, self.lives = self.data, self.lives + 1
            self._snapshot.rename(self.data)
            shutil.rmtree(before)

    async def _life(self):
        """Run the arena until all is played, True, or until it is killed."""
        (self.data / "replays").mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as files:
            folder = self.data / "journal"
            log = files.enter_context(DealLog(folder, public=self.data / "commitments"))
            recovery = recover(folder, self.data / "replays", is_secret=lambda _: True)
            assert not recovery.damage
            self.journal = files.enter_context(Journal(folder, matches=recovery.matches))
            self.arena = Arena(
                ArenaRecords(
                    self.journal, log, self.data / "replays", self.results, recovery, "arena"
                ),
                Tokens(guests=True),
            )
            self.arena.matches.referee._workers = self.workers()
            over = False
            async with trio.open_nursery() as nursery:
                await nursery.start(self.arena.run)
                await trio.testing.wait_all_tasks_blocked()
                self.nursery = nursery
                try:
                    await self._play()
                    over = True
                except Killed:
                    ended = [at for at, each in enumerate(self.matches) if self._is_over(each[1])]
                    self.over_when_killed.update(ended)
                    self._snapshot = self.folder / "snapshot"
                    shutil.copytree(self.data, self._snapshot)
                    for player in self.players:
                        if player.line is not None:
                            player.line.closed = True
                        player.lost()
                nursery.cancel_scope.cancel()
        return over

    # Play.

    async def _play(self):
        for player in self.players:
            self._connect(player)
        await self._order()
        while True:
            if not await self._is_busy():
                if self.ends_idle:
                    await self._come_once_more()
                    return
                if all(match_id in self.results.published for _, match_id in self.matches):
                    return
                await trio.sleep(IDLE_S)

    async def _come_once_more(self):
        """All bots come again; then the matches are aborted, and all come once more."""
        self.cuts.clear()
        await self._cut_all_off()
        for _, match_id in self.matches:
            match = self.arena.matches.get(match_id)
            is_played = match is not None and match.state is MatchState.PLAYING
            bodies = match.seated.log.bodies if is_played else []
            for record in map(journal_pb2.Record.FromString, bodies):
                if record.HasField("decided"):
                    move = record.decided.move.SerializeToString(deterministic=True)
                    self.decided.append((record.decided.seat, record.decided.decision, move))
        for table in list(self.arena.matches.referee.runners.values()):
            table.abort()
        while await self._turn():
            pass
        await self._cut_all_off()

    async def _cut_all_off(self):
        for player in self.players:
            await self._cut_off(player)
        while await self._turn():
            pass

    async def _order(self):
        """Order the matches that this arena does not know of, one after another."""
        for order, match_id in self.matches:
            if self.arena.matches.get(match_id) or self._is_over(match_id):
                continue
            for player in self.players:
                if player.line is None:
                    self._connect(player)
            if self.scheduled:
                self.nursery.start_soon(self.arena.matches.play, order, match_id)
            else:
                self.arena.matches.order(order, match_id, BY_HAND)
            tables = self.arena.matches.referee.runners
            while match_id not in tables and not self._is_over(match_id):
                # A fair deal is agreed before.
                if not await self._is_busy():
                    await trio.sleep(IDLE_S)

    async def _is_busy(self):
        """Take a turn; whether anything was done, or a player cut off."""
        try:
            return await self._turn()
        except CutOff as cut:
            await self._cut_off(cut.player)
            return True

    def _is_over(self, match_id):
        return match_id in self.results.ended

    async def _turn(self):
        """Let each stream send what waits, and each bot say what it has; False if nothing did."""
        busy = False
        for player in self.players:
            if player.line is not None and player.line.closed:
                self.arena.hung_up(self.arena.sessions.get(self._id(player)), player.line)
                player.lost()
            if player.line is None:
                self._connect(player)
            line, frames = player.line, player.line.take_frames()
            busy = busy or bool(frames) or bool(player.said)
            if frames:
                self._boundary(player, "posted")
                self.journal.flush()
                self._boundary(player, "flushed")
            for frame in frames:
                player.receive(frame)
                self._boundary(player, "delivered")
            while player.said:
                await trio.sleep(THINK_S)
                session = self.arena.sessions.get(self._id(player))
                session.incoming.deliver(line, player.said.popleft(), trio.current_time())
                self._boundary(player, "taken")
        await trio.testing.wait_all_tasks_blocked()
        return busy

    def _boundary(self, player, step):
        here, self.boundaries = self.boundaries, self.boundaries + 1
        self.steps.append(step)
        self.at_boundary(self, player, step)
        what = self.cuts.get(here)
        if what is CutOff:
            raise CutOff(player)
        if what is not None:
            raise what

    def _connect(self, player):
        player.line = MemoryOutbox()
        session = self.arena.hello(player.opened(), player.line)
        self.at_connection(self, player, session)

    async def _cut_off(self, player):
        line = player.line
        player.lost()
        line.closed = True
        self.arena.hung_up(self.arena.sessions.get(self._id(player)), line)
        await trio.sleep(self.away_s)

    def _id(self, player):
        return next(
            session.bot for session in self.arena.sessions if session.bot.name == player.name
        )

    # What is left.

    def outcome(self, match_id) -> Outcome:
        """How a match ended, as its replay has it."""
        verdict = verify_file(replay_path(self.data / "replays", match_id))
        return verdict.verified.outcome


@contextlib.contextmanager
def quick_disk(monkeypatch):
    """Files without waiting for the disk, and without threads, for which a mock clock jumps."""

    async def inline(call, *args, **_):
        await trio.lowlevel.checkpoint()
        return call(*args)

    with monkeypatch.context() as patch:
        patch.setattr(trio.to_thread, "run_sync", inline)
        patch.setattr(durable_files, "sync_data", lambda _: None)
        patch.setattr("os.fsync", lambda _: None)
        yield
