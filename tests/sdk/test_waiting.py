"""What a bot says of how it stands: once, and again when that changes."""

import pytest

from cardarena._session import Session
from cardarena._waiting import Waiting
from cardarena.v1.play_pb2 import GameSupport, Hello
from tests.sdk.messages import ask, asks, match_end, match_start, welcome

DEFAULT = "localhost:7654"
ANN = "guest:ann"
KEY = "arena_0123"

# fmt: off
LINES = [
    # token  address           messages                                    the lines
    (ANN, DEFAULT,          [welcome()],
     ["welcome to the arena as ann; waiting for a match: arena match create jam ann OTHER"], "a guest knows its name"),
    (ANN, "https://far:1",  [welcome()],
     ["welcome to the arena as ann; waiting for a match: arena match create jam ann OTHER --server https://far:1"], "the command finds the arena"),
    (KEY, DEFAULT,          [welcome()],
     ["welcome to the arena; waiting for a match: arena competition enter COMPETITION BOT"], "a key does not say whose it is, and its owner may create no match"),
    (ANN, DEFAULT,          [welcome([1])],
     ["welcome to the arena as first; 1 match goes on"], "a match went on meanwhile"),
    (ANN, DEFAULT,          [welcome([1, 2])],
     ["welcome to the arena as first; 2 matches go on"], "two did"),
    (KEY, DEFAULT,          [match_start(1), match_end(1)],
     ["playing abstrac against second", "waiting for the next match"], "after a match nobody is told to order one, since a ladder does"),
    (ANN, DEFAULT,          [match_start(1), asks(ask(1)), match_start(2), match_end(1)],
     ["playing abstrac against second"], "more of the same is not said"),
    (ANN, DEFAULT,          [match_start(1), match_end(1), match_start(2)],
     ["playing abstrac against second", "waiting for the next match", "playing abstrac against second"], "each change is"),
    (ANN, DEFAULT,          [match_start(1, names=("first", "seat 1"))],
     ["playing abstrac"], "seats are no names: a deal-set has none before its end"),
    (ANN, DEFAULT,          [match_start(1, names=("first", "seat 2"))],
     ["playing abstrac against seat 2"], "but a bot may be called so"),
    (KEY, DEFAULT,          [match_start(1), match_end(1), welcome()],
     ["playing abstrac against second", "waiting for the next match", "welcome to the arena as first; waiting for a match: arena competition enter COMPETITION first"], "its first seat tells it its name"),
]
# fmt: on


@pytest.mark.parametrize(
    ("token", "address", "messages", "lines", "why"), LINES, ids=[row[-1] for row in LINES]
)
def test_it_says(token, address, messages, lines, why):
    hello = Hello(token=token, games=[GameSupport(game="jam")])
    session = Session(hello, auto=True, now_s=lambda: 0.0)
    session.opened()
    waiting, said = Waiting(hello, address, DEFAULT), []
    for message in messages:
        received = session.receive(message.SerializeToString())
        said.append(waiting.after(session, welcomed=received.welcomed))
    assert [line for line in said if line] == lines
