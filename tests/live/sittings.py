"""Sessions of bots at matches, without sockets, tasks or a real clock."""

from arena.bots.bot_ids import BotId
from arena.live.session.session import Session
from arena.referee.match_runner import MatchRunner
from arena.referee.timers import ArenaTime, Timers
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import MemoryLedger, seeded_spec
from cardarena.v1 import play_pb2
from tests.referee.matches import CONTROL


class Bot:
    """One bot's session with the stream it has now."""

    def __init__(self, world, name, **hello):
        self.world = world
        self.session = Session(BotId(name), lambda: world.now_s)
        self.outbox = None
        if hello.pop("connected", True):
            self.connect(**hello)

    def connect(self, **hello):
        outbox = MemoryOutbox()
        self.session.attach(play_pb2.Hello(**hello), outbox)
        self.outbox = outbox
        return outbox.only("welcome")

    def say(self, outbox=None, **body):
        self.send(play_pb2.BotMessage(**body).SerializeToString(), outbox)

    def send(self, data, outbox=None):
        self.session.incoming.deliver(outbox or self.outbox, data, self.world.now_s)

    def answer(self, *answers, outbox=None):
        self.say(outbox, answers=play_pb2.Answers(answers=answers))

    def refusals(self):
        """The reasons of all refusals so far, with the asks that they concern."""
        Reason = play_pb2.RefusalReason
        return [
            (Reason.Name(each.reason).removeprefix("REFUSAL_REASON_"), each.ask_id)
            for each in self.outbox.take("refusal")
        ]


class Tables:
    """Matches of sessions, and the time at them."""

    def __init__(self):
        self.now_s = 100.0
        self.timers = Timers()
        self.tables, self.ledgers = [], []

    def begin_at(self, spec, seated, heavy_step=None):
        """Begin a match of these bots, by seat."""
        names = tuple(bot.session.bot.name for bot in seated)
        ports = [bot.session.seat_at(spec, seat, names) for seat, bot in enumerate(seated)]
        ledger = MemoryLedger()
        table = MatchRunner(
            spec,
            ports,
            ledger,
            time=ArenaTime(lambda: self.now_s, self.timers),
            over=lambda table: table.tell_end(),
            heavy_step=heavy_step,
        )
        self.tables.append(table)
        self.ledgers.append(ledger)
        table.begin()
        return table

    def pass_time(self, seconds):
        self.now_s += seconds
        self.timers.call_due(self.now_s)


class World(Tables):
    """Two bots that sit at any number of matches together."""

    def __init__(self, **hello):
        super().__init__()
        self.bots = [Bot(self, "ann", **hello), Bot(self, "bob", max_open_asks=100)]

    @property
    def ann(self):
        return self.bots[0]

    @property
    def bob(self):
        return self.bots[1]

    def begin(self, game_id="abstrac", *, seed="1", ann_seat=1, hands=2, control=CONTROL, **terms):
        """Begin a match; at Abstrac seat 1 is asked first."""
        spec = seeded_spec(game_id, 2, {"hands": hands}, seed=seed, time_control=control, **terms)
        seated = [self.ann, self.bob] if ann_seat == 0 else [self.bob, self.ann]
        return self.begin_at(spec, seated)

    def play_out(self):
        """Both play the first move offered until nobody is asked any more."""
        while any(each.outcome is None for each in self.tables):
            for bot in self.bots:
                for ask in bot.outbox.take_asks():
                    bot.answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
