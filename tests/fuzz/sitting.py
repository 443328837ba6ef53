"""Bots at tables without sockets or a real clock: one that says anything, and honest ones."""

from arena.games.catalogue import GAMES
from arena.referee.spec import AbortCause, Ending
from arena.referee.terms import TimeControl
from arena.testing.referee import seeded_spec
from cardarena.v1 import play_pb2
from tests.live.sittings import Bot, Tables

CONTROL = TimeControl(move_ms=1000, bank_ms=5000, increment_ms=100)
SEATS = {game.id: min(game.seats) for game in GAMES}
FAULTY = 8
"""Wrong answers that a match forgives, so that it goes on after some of them."""


class Sitting(Tables):
    """Tables at which `wild` sits with as many honest bots as a game needs."""

    def __init__(self, *, max_open_asks=2, wild_seat=0):
        super().__init__()
        self.wild_seat = wild_seat
        self.wild = Bot(self, "wild", max_open_asks=max_open_asks)
        self.honest = [Bot(self, f"honest {n}", max_open_asks=64) for n in range(1, 10)]

    def begin(self, game_id, hands=None):
        seats = SEATS[game_id]
        options = {"hands": hands or seats}
        spec = seeded_spec(
            game_id, seats, options, seed="1", time_control=CONTROL, fault_limit=FAULTY
        )
        seated = self.honest[: seats - 1]
        seated.insert(self.wild_seat, self.wild)
        self.begin_at(spec, seated, heavy_step=_at_once)

    def others_play(self):
        """The honest bots answer what they are asked, until they wait for the wild one."""
        asked = True
        while asked:
            asked = False
            for bot in self.honest:
                for ask in bot.outbox.take_asks():
                    asked = True
                    bot.answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))

    def wild_plays(self):
        """The wild bot answers what it is asked, as honest ones do; False if nothing is asked."""
        asks = self.wild.outbox.take_asks()
        for ask in asks:
            self.wild.answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
        self.others_play()
        return bool(asks)

    def play_out(self):
        """Everybody plays honestly to the end."""
        self.others_play()
        while self.wild_plays():
            pass

    def check_nobody_else_suffered(self):
        """What must be true of the honest bots and of every match, whatever the wild bot said."""
        for bot in self.honest:
            assert not bot.outbox.closed
            assert bot.refusals() == []
        for table, ledger in zip(self.tables, self.ledgers, strict=True):
            outcome = table.outcome
            if outcome is not None:
                assert outcome.ending is not Ending.ABORTED, AbortCause(outcome.cause)
            decisions = {}
            for settled in ledger.decisions:
                decisions.setdefault(settled.seat, []).append(settled.decision)
                assert settled.seat == self.wild_seat or settled.fault is None, settled
            for numbers in decisions.values():
                assert numbers == list(range(1, len(numbers) + 1))


def _at_once(table, chosen):
    rules = table.spec.terms.game.rules
    table.stepped(rules.step(table.state, chosen, table.spec.deals))
