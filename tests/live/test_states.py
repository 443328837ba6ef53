"""The states of sessions and of matches, and what leads from one to another."""

import pytest

from arena.bots.bot_ids import BotId
from arena.errors.refused import DRAINING, Refused
from arena.live.matches.match_record import TRANSITIONS as MATCH_TRANSITIONS
from arena.live.matches.match_record import MatchRecord, MatchState, WrongState
from arena.live.matches.results import match_outcome
from arena.live.orders import BY_HAND, SCHEDULED
from arena.live.session.session import Session
from arena.live.session.states import TRANSITIONS, SessionEvent, SessionState
from arena.referee.spec import Ending, Outcome
from arena.store import StoreError
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from cardarena.v1 import play_pb2

AWAY, EXPECTED, CONNECTED = SessionState.AWAY, SessionState.EXPECTED, SessionState.CONNECTED
LEAVING, GONE = SessionState.LEAVING, SessionState.GONE


class Life:
    """A session and its streams."""

    def __init__(self):
        self.session = Session(BotId("ann"), lambda: 1.0)
        self.outboxes = []

    def hello(self):
        self.outboxes.append(MemoryOutbox())
        self.session.attach(play_pb2.Hello(), self.outboxes[-1])

    def ends(self):
        self.session.detach(self.outboxes[-1])

    def older_ends(self):
        self.session.detach(self.outboxes[0])

    def restart(self):
        self.session.expect_back()

    def release(self):
        self.session.release()

    def exits(self):
        self.session.leave()


# fmt: off
LIVES = [
    # what happens                            state      why
    ([],                                      AWAY,      "a bot that never came is away"),
    (["hello"],                               CONNECTED, "a hello connects"),
    (["hello", "hello"],                      CONNECTED, "a second stream takes over"),
    (["hello", "hello", "older_ends"],        CONNECTED, "the end of the older stream changes nothing"),
    (["hello", "ends"],                       AWAY,      "without a stream the bot is away"),
    (["hello", "ends", "hello"],              CONNECTED, "an away bot reconnects"),
    (["restart"],                             EXPECTED,  "after a restart the bot is expected"),
    (["restart", "hello"],                    CONNECTED, "an expected bot reconnects"),
    (["restart", "release"],                  AWAY,      "an expected bot that stays away is away"),
    (["restart", "exits"],                    GONE,      "an expected bot may be given up"),
    (["hello", "restart"],                    CONNECTED, "a connected bot is not waited for"),
    (["hello", "release"],                    CONNECTED, "nor released"),
    (["hello", "exits"],                      LEAVING,   "a process ends before its stream does"),
    (["hello", "exits", "ends"],              GONE,      "then its stream ends"),
    (["hello", "exits", "hello"],             CONNECTED, "another process may say hello before that"),
    (["exits"],                               GONE,      "nobody waits for a bot that never came"),
    (["exits", "hello"],                      CONNECTED, "a bot that is gone may come after all"),
    (["exits", "restart"],                    EXPECTED,  "or be expected for a match that is resumed"),
    (["exits", "release"],                    GONE,      "but is not released"),
]
# fmt: on


@pytest.mark.parametrize(("happens", "state", "why"), LIVES, ids=[row[-1] for row in LIVES])
def test_the_state_of_a_session(happens, state, why):
    life = Life()
    for each in happens:
        getattr(life, each)()
    session = life.session
    assert session.state is state
    assert session.connected == (state in (CONNECTED, LEAVING))
    assert session.invited == session.connected
    assert session.present == (state is CONNECTED)
    assert session.gone == (state in (LEAVING, GONE))
    assert session.expected == (state is EXPECTED)


def test_only_a_session_without_a_stream_has_nothing_to_detach():
    missing = {
        (state, event)
        for state in SessionState
        for event in SessionEvent
        if (state, event) not in TRANSITIONS
    }
    without_stream = (AWAY, EXPECTED, GONE)
    assert missing == {(state, SessionEvent.DETACHED) for state in without_stream}


ORDER = match_order("abstrac", ("ann", "bob"), {"hands": 2}, match_id="m")
ABORTED = Outcome("m", Ending.ABORTED, (), (), (), (), 0)

ENTERS = {
    MatchState.SEATED: lambda match: match.seat(None),
    MatchState.PLAYING: lambda match: match.begin(),
    MatchState.ENDING: lambda match: match.end(ABORTED),
    MatchState.ENDED: lambda match: match.recorded(match_outcome(ABORTED)),
    MatchState.REFUSED: lambda match: match.refuse(Refused(DRAINING)),
    MatchState.CUT_SHORT: lambda match: match.cut_short(),
    MatchState.UNRECORDED: lambda match: match.fail_to_record(StoreError("locked")),
    MatchState.ORDERED: lambda match: match.order_again(ORDER, SCHEDULED),
}
"""What enters each state but the first one."""

WAYS = {
    MatchState.ORDERED: (),
    MatchState.SEATED: (MatchState.SEATED,),
    MatchState.PLAYING: (MatchState.SEATED, MatchState.PLAYING),
    MatchState.ENDING: (MatchState.SEATED, MatchState.PLAYING, MatchState.ENDING),
    MatchState.ENDED: (
        MatchState.SEATED,
        MatchState.PLAYING,
        MatchState.ENDING,
        MatchState.ENDED,
    ),
    MatchState.REFUSED: (MatchState.REFUSED,),
    MatchState.CUT_SHORT: (MatchState.SEATED, MatchState.PLAYING, MatchState.CUT_SHORT),
    MatchState.UNRECORDED: (
        MatchState.SEATED,
        MatchState.PLAYING,
        MatchState.ENDING,
        MatchState.UNRECORDED,
    ),
}
"""From an order to each state."""

STEPS = [(state, follows) for state in WAYS for follows in ENTERS]


@pytest.mark.parametrize(
    ("state", "follows"), STEPS, ids=[f"{a.name} then {b.name}" for a, b in STEPS]
)
def test_a_match_enters_the_states_that_follow_its_own_and_no_others(state, follows):
    match = MatchRecord.ordered(ORDER, "m", BY_HAND)
    for each in WAYS[state]:
        ENTERS[each](match)
    assert match.state is state
    if follows in MATCH_TRANSITIONS[state]:
        ENTERS[follows](match)
        assert match.state is follows
    else:
        with pytest.raises(WrongState):
            ENTERS[follows](match)
        assert match.state is state
