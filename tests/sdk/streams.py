"""Bots of the SDK at a match of the arena, over streams without sockets: bytes are handed over."""

from arena.bots.bot_ids import BotId
from arena.live.session.session import Session as ArenaSession
from arena.referee.match_runner import MatchRunner
from arena.referee.timers import ArenaTime, Timers
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import MemoryLedger, seeded_spec
from cardarena._play import OneByOne, do, finished
from cardarena._session import Session
from cardarena.v1.play_pb2 import GameSupport, Hello

NOW_S = 100.0


class Streamed:
    """A bot at one end of a stream, and the arena's session of it at the other."""

    def __init__(self, bot, game_id, name):
        games = [GameSupport(game=game_id)]
        hello = Hello(games=games, max_matches=8, max_open_asks=8, want_text=bot.want_text)
        self.session = Session(hello, auto=bot.auto, now_s=lambda: NOW_S)
        self.author = OneByOne(bot)
        self.arena = ArenaSession(BotId(name), lambda: NOW_S)
        self.outbox = MemoryOutbox()
        self.arena.attach(hello, self.outbox)

    def move_on(self):
        """Everything that was sent is read and answered; false if there was nothing."""
        frames = self.outbox.take_frames()
        for frame in frames:
            for answer in self.session.receive(frame).send:
                self.arena.incoming.deliver(self.outbox, answer, NOW_S)
        work = self.session.take()
        finished(do(self.author, work, self))
        return bool(frames)

    def show(self, ask):
        return self.session.show(ask)

    def answer(self, answers):
        for frame in self.session.frames(self.session.answer(answers)):
            self.arena.incoming.deliver(self.outbox, frame, NOW_S)


def play_over_streams(game_id, bots, *, seed, options, names):
    """Plays a match, and gives its outcome and its decisions as they were settled."""
    spec = seeded_spec(game_id, len(bots), options, seed=seed)
    ends = [Streamed(bot, game_id, name) for bot, name in zip(bots, names, strict=True)]
    ports = [end.arena.seat_at(spec, seat, tuple(names)) for seat, end in enumerate(ends)]
    ledger = MemoryLedger()

    def heavy_step(table, chosen):
        table.stepped(spec.terms.game.rules.step(table.state, chosen, spec.deals))

    MatchRunner(
        spec,
        ports,
        ledger,
        time=ArenaTime(lambda: NOW_S, Timers()),
        over=lambda table: table.tell_end(),
        heavy_step=heavy_step,
    ).begin()
    going_on = True
    while going_on:
        going_on = False
        for end in ends:
            going_on = end.move_on() or going_on
    return ledger
