"""That what the arena sends at most can be sent, and read by every client."""

import pytest

from arena.games.catalogue import GAMES
from arena.server import host
from arena.server.bots import BotId
from arena.server.session import seating
from arena.server.session.seating import Seating
from arena.server.session.session import MAX_MATCHES, Session
from arena.testing.referee import seeded_spec
from cardarena._connection import CHANNEL_OPTIONS

SENT = dict(host.OPTIONS)["grpc.max_send_message_length"]
READ_BY_DEFAULT = 4 << 20
"""What a client of gRPC takes that says nothing of it."""


def test_every_client_can_read_what_the_arena_can_send():
    assert dict(CHANNEL_OPTIONS)["grpc.max_receive_message_length"] > SENT
    assert SENT < READ_BY_DEFAULT


@pytest.mark.parametrize("game", GAMES, ids=[game.id for game in GAMES])
def test_a_welcome_with_as_many_matches_as_there_may_be_can_be_sent(game):
    seats = game.seats[-1]
    spec = seeded_spec(game.id, seats, {"hands": seats})
    session = Session(BotId("x" * 32), lambda: 0.0)
    start = Seating(session, 1 << 31, spec, seats - 1, ("x" * 32,) * seats).match_start
    start.deal_context = bytes(32)
    for each in ("move_ms", "bank_ms", "increment_ms", "hand_ms", "match_ms"):
        setattr(start.terms.time_control, each, (1 << 32) - 1)
    assert MAX_MATCHES * (start.ByteSize() + 5) < SENT


# fmt: off
UNTOLD = [
    # sizes      kept  why
    ([3, 4],     2,    "all, as they fit"),
    ([5, 5],     2,    "all, as they just fit"),
    ([5, 5, 1],  2,    "the newest, as there is one byte too many"),
    ([1, 11],    0,    "none, as the last alone is too long"),
    ([],         0,    "none, as there are none"),
]
# fmt: on


@pytest.mark.parametrize(("sizes", "kept", "why"), UNTOLD, ids=[row[2] for row in UNTOLD])
def test_at_the_end_of_a_match_a_seat_is_told(monkeypatch, sizes, kept, why):
    monkeypatch.setattr(seating, "MAX_TRAILING_BYTES", 10)
    events = tuple(bytes(size) for size in sizes)
    assert seating.newest_events(events) == events[len(events) - kept :]
