"""Asks, as far as an outbox knows them."""

from arena.games.contract import Seat
from arena.referee.seat import OpenAsk, SeatRecord
from arena.referee.timers import ArenaTime
from arena.referee.wire.games import codec_of
from arena.testing.referee import seeded_spec


def unsent_ask(decision=1):
    """An ask for this decision that was not sent yet."""
    terms = seeded_spec("abstrac", 2).terms
    time = ArenaTime(lambda: 0.0)
    record = SeatRecord(
        None, Seat(0), None, terms, codec_of(terms.game), time=time, owner="", bot="ann"
    )
    record.decisions = decision - 1
    return OpenAsk(record, None, b"", [])


def sent_ask(sent_s=1.0):
    """An ask that was sent then."""
    ask = unsent_ask()
    ask.sent(sent_s)
    return ask
