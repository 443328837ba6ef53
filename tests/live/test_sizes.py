"""That what the arena sends at most can be sent, and read by every client."""

from dataclasses import replace

import pytest

from arena.api import transport
from arena.bots.bot_ids import BotId
from arena.games.catalogue import GAMES, game_by_id
from arena.games.cel import DECK_ORDER
from arena.games.contract import Seat
from arena.games.eleusis.messages import (
    SHOWN_CALLS,
    Calls,
    Layout,
    Play,
    Played,
    PlayResolved,
    Rule,
)
from arena.games.eleusis.turn import FULL_HAND
from arena.games.eleusis.work import EXAMPLES
from arena.live.session import asks as asks_module
from arena.live.session.asks import Seating
from arena.live.session.limits import MAX_MATCHES, MAX_MESSAGE_BYTES
from arena.live.session.session import Session
from arena.referee.wire.games import codec_of
from arena.testing.deals import SeededDeals
from arena.testing.referee import seeded_spec
from cardarena._connection import CHANNEL_OPTIONS
from cardarena._mode import MANY
from cardarena.v1 import game_pb2, play_pb2

SENT = dict(transport.OPTIONS)["grpc.max_send_message_length"]
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


def test_an_ask_of_the_longest_hand_of_eleusis_can_be_sent():
    """All play nothing but wrong strings, as long as can be, for as many turns as can be set."""
    game = game_by_id("eleusis")
    (turns,) = (setting.maximum for setting in game.settings if setting.name == "max_turns")
    full, players = DECK_ORDER * 4, range(1, game.seats[-1])
    assert len(full) == FULL_HAND
    wrong = turns * len(players)
    layout = Layout(full[:1], (0,), (full,) * wrong, tuple(players) * turns, (0,) * wrong)
    calls = Calls(
        (7,) * SHOWN_CALLS, (full,) * SHOWN_CALLS, (0,) * SHOWN_CALLS, (True,) * SHOWN_CALLS
    )
    state, _ = game.rules.start(game.options({}, game.seats[-1]), game.seats[-1], SeededDeals(1))
    state, _ = game.rules.step(state, ((Seat(0), Rule(EXAMPLES[0])),), SeededDeals(1))
    cards = replace(state.table.cards, hands=((), *[full for _ in players]))
    table = replace(state.table, cards=cards, layout=layout, calls=calls)
    state, codec = replace(state, table=table), codec_of(game)
    told = [Played(Seat(7), full), PlayResolved(Seat(7), False, full, FULL_HAND, False)]
    ask = codec.ask(
        game.rules.view(state, Seat(1)),
        [codec.event(event) for event in told * len(players)],
        game.rules.moves(state, Seat(1)),
    )
    assert len(full) * wrong < len(ask) < SENT
    # And a bot can play all of it, on each of as many asks as the SDK takes at a time.
    move = game_pb2.GameMove.FromString(codec.game_move(Play(full)))
    assert codec.read_move(move) in game.rules.moves(state, Seat(1))
    answer = play_pb2.Answer(ask_id=(1 << 64) - 1, move=move)
    answers = play_pb2.Answers(answers=[answer] * MANY)
    assert play_pb2.BotMessage(answers=answers).ByteSize() <= MAX_MESSAGE_BYTES


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
    monkeypatch.setattr(asks_module, "MAX_TRAILING_BYTES", 10)
    events = tuple(bytes(size) for size in sizes)
    assert asks_module.newest_events(events) == events[len(events) - kept :]
