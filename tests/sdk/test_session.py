"""The bot's side of the stream, message by message and without a socket."""

import asyncio
import re
import threading

import pytest

from cardarena import _choice
from cardarena._ask import End
from cardarena._errors import Unreadable
from cardarena._session import Session
from cardarena.v1.game_pb2 import FAULT_KIND_TIMEOUT
from cardarena.v1.play_pb2 import (
    GAME_REFUSAL_OTHER_RULES,
    REFUSAL_REASON_ALREADY_ANSWERED,
    Answer,
    ArenaMessage,
    Ask,
    BotMessage,
    DealOpen,
    Drain,
    GameAdmission,
    Hello,
    MatchStart,
    PlayedFor,
    Refusal,
)
from tests.sdk.messages import (
    answers_in,
    ask,
    ask_closed,
    asks,
    match_end,
    match_start,
    redirect,
    taken,
    welcome,
)


class Wire:
    """A session, and the arena's end of its stream."""

    def __init__(self, *messages, auto=True):
        self.now_s = 0.0
        self.session = Session(Hello(token="me"), auto=auto, now_s=lambda: self.now_s)
        self.sent, self.said = [], []
        self.dial(*messages)

    def dial(self, *messages):
        assert BotMessage.FromString(self.session.opened()).hello.token == "me"
        self.receive(*messages)

    def receive(self, *messages):
        for message in messages:
            received = self.session.receive(message.SerializeToString())
            self.sent += received.send
            self.said += received.say
            self.redirect = received.redirect

    def take(self):
        """What waits, as one would write it down: `start 1`, `end 1`, then the asks' ids."""
        work = self.session.take()
        news = [
            f"{'start' if isinstance(one, MatchStart) else 'end'} {one.match}" for one in work.news
        ]
        return [*news, *(ask.ask_id for ask in work.asks)]

    def think(self, index=0):
        """Has the author answer all that waits with one index."""
        waiting = [ask for ask in self.session.take().asks if self.session.show(ask)]
        self.sent += self.answer([Answer(ask_id=ask.ask_id, index=index) for ask in waiting])

    def answer(self, answers):
        """The messages of answers, once their thread comes to them."""
        return self.session.frames(self.session.answer(answers))

    @property
    def answers(self):
        """Ask ids and indices that were sent, one list for each message."""
        return [[(a.ask_id, a.index) for a in frame] for frame in answers_in(self.sent)]


PLAYING = (welcome(), match_start(1), match_start(2))

# fmt: off
WAITING = [
    # messages after the welcome and the starts of matches 1 and 2      what waits   why
    ([asks(ask(1, 1), ask(2, 2))],                                      [1, 2],      "a frame of asks waits whole"),
    ([asks(ask(1, 1)), asks(ask(2, 2))],                                [1, 2],      "frames add up while the author thinks"),
    ([asks(ask(1, 1), ask(2, 2)), ask_closed(1)],                       [2],         "a closed ask no longer waits"),
    ([asks(ask(1, 1)), asks(ask(3, 1))],                                [3],         "the next ask of a match settles the last"),
    ([asks(ask(1, 1)), asks(ask(1, 1))],                                [1],         "the same ask twice is one ask"),
    ([asks(ask(1, 1)), match_end(1)],                                   ["end 1"],   "an ended match asks nothing"),
    ([match_end(1), match_start(3), asks(ask(4, 3))],                   ["end 1", "start 3", 4], "news comes before asks, in order"),
    ([match_end(1), match_end(1)],                                      ["end 1"],   "a match ends once"),
    ([asks(ask(1, 9))],                                                 [],          "an ask of a match that never started is passed over"),
    ([ask_closed(9)],                                                   [],          "closing an unknown ask does nothing"),
    ([ArenaMessage(), ArenaMessage(deal_open=DealOpen())],              [],          "what a bare bot has no use for is ignored"),
]
# fmt: on


@pytest.mark.parametrize(("messages", "waits", "why"), WAITING, ids=[row[2] for row in WAITING])
def test_what_waits_for_the_author(messages, waits, why):
    wire = Wire(*PLAYING)
    assert wire.take() == ["start 1", "start 2"]
    wire.receive(*messages)
    assert wire.take() == waits


# fmt: off
RESUMED = [
    # welcome after the loss of a stream with ask 1 answered 2, ask 2 unanswered; sent again; what waits; why
    (welcome([1, 2], [ask(1), ask(2, 2)], epoch=2), [[(1, 2)]], [],                      "a listed ask gets the same answer again, and a taken one waits no second time"),
    (welcome([1, 2], [ask(2, 2)],         epoch=2), [],         [],                      "an answered ask that is not listed had its answer"),
    (welcome([1, 2], [],                  epoch=2), [],         [],                      "an open ask that is not listed is settled"),
    (welcome([1, 2], [ask(5), ask(2, 2)], epoch=2), [],         [5],                     "an ask of the time between waits"),
    (welcome([2],    [ask(2, 2)],         epoch=2), [],         ["end 1"],               "a match that is not listed has ended"),
    (welcome([1, 2, 3], [ask(6, 3)],      epoch=2), [],         ["start 3", 6],          "a match of the time between starts"),
    (welcome([1],    [ask(1)],            epoch=1), [],         ["end 1", "end 2", "start 1", 1], "an arena that counts anew has new matches under old numbers"),
]
# fmt: on


@pytest.mark.parametrize(
    ("resumed", "again", "waits", "why"), RESUMED, ids=[row[3] for row in RESUMED]
)
def test_a_stream_is_resumed(resumed, again, waits, why):
    wire = Wire(*PLAYING, asks(ask(1)))
    wire.think(index=2)
    wire.receive(asks(ask(2, 2)))
    (thinking,) = wire.session.take().asks
    wire.session.lost()
    wire.sent.clear()
    wire.dial(resumed)
    assert wire.answers == again
    assert wire.take() == waits
    assert thinking.open == (2 in [one.ask_id for one in resumed.welcome.open_asks])


def test_an_answer_thought_of_without_a_stream_is_sent_on_resume():
    wire = Wire(*PLAYING, asks(ask(1)))
    wire.session.lost()
    wire.think(index=1)
    assert wire.answers == []
    wire.dial(welcome([1, 2], [ask(1)], epoch=2))
    assert wire.answers == [[(1, 1)]]


def test_an_answer_before_welcome_waits_for_it():
    wire = Wire(*PLAYING, asks(ask(1)))
    wire.session.lost()
    wire.dial()
    wire.think(index=1)
    assert wire.answers == []
    wire.receive(welcome([1, 2], [ask(1)], epoch=2))
    assert wire.answers == [[(1, 1)]]


def test_answers_travel_together():
    wire = Wire(*PLAYING, asks(ask(1, 1), ask(2, 2)))
    wire.think(index=1)
    assert wire.answers == [[(1, 1), (2, 1)]]


def test_answers_are_split_where_the_arena_takes_no_longer_message():
    long_notes = [Answer(ask_id=ask_id, index=0, note="x" * 60) for ask_id in (1, 2)]
    wire = Wire(welcome(message_bytes=100), *PLAYING[1:], asks(ask(1, 1), ask(2, 2)))
    frames = wire.answer(long_notes)
    assert [[a.ask_id for a in frame] for frame in answers_in(frames)] == [[1], [2]]
    assert all(len(frame) <= 100 for frame in frames)


def test_an_answer_that_is_too_long_by_itself_gives_up_the_move():
    wire = Wire(welcome(message_bytes=100), match_start(1), asks(ask(1)))
    (frame,) = wire.answer([Answer(ask_id=1, index=0, note="x" * 150)])
    ((answer,),) = answers_in([frame])
    assert answer.WhichOneof("choice") == "failed"
    assert answer.note == "error: the answer has 163 bytes, the arena takes 100"


def test_an_ask_is_answered_once():
    wire = Wire(*PLAYING, asks(ask(1)))
    first = wire.answer([Answer(ask_id=1, index=0), Answer(ask_id=1, index=1)])
    second = wire.answer([Answer(ask_id=1, index=2)])
    assert answers_in(first) == [[Answer(ask_id=1, index=0)]]
    assert second == []


def test_an_answer_to_a_closed_ask_is_dropped():
    wire = Wire(*PLAYING, asks(ask(1), ask(2, 2)))
    wire.session.take()
    wire.receive(ask_closed(1))
    frames = wire.answer([Answer(ask_id=1, index=0), Answer(ask_id=2, index=0)])
    assert answers_in(frames) == [[Answer(ask_id=2, index=0)]]


def test_a_taken_ask_that_is_closed_is_not_shown():
    wire = Wire(*PLAYING, asks(ask(1)))
    (taken_ask,) = wire.session.take().asks
    wire.receive(ask_closed(1))
    assert (wire.session.show(taken_ask), taken_ask.open, taken_ask.shown) == (False, False, False)


# fmt: off
AUTO = [
    # auto   moves complete  answered    why
    (True,  1,    True,     [[(1, 0)]],  "the only legal move is played without the author"),
    (True,  2,    True,     [],          "two moves are a choice"),
    (True,  1,    False,    [],          "one offered move is a choice where the rules allow others"),
    (False, 1,    True,     [],          "a bot that wants every ask gets it"),
]
# fmt: on


@pytest.mark.parametrize(
    ("auto", "moves", "complete", "answered", "why"), AUTO, ids=[row[4] for row in AUTO]
)
def test_only_moves_are_answered_automatically(auto, moves, complete, answered, why):
    wire = Wire(*PLAYING, asks(ask(1, moves=moves, complete=complete)), auto=auto)
    assert wire.answers == answered
    assert wire.session.has_work
    assert wire.take() == ["start 1", "start 2"] + [1] * (not answered)


def test_an_automatic_answer_is_sent_again_on_resume():
    wire = Wire(*PLAYING, asks(ask(1, moves=1)))
    wire.session.lost()
    wire.dial(welcome([1, 2], [ask(1, moves=1)], epoch=2))
    assert wire.answers == [[(1, 0)], [(1, 0)]]


# fmt: off
SKIPPED = [
    # the first ask                                  what became of it   why
    (ask(1, moves=1, events=[taken("As")]),          [],                 "answered automatically"),
    (ask(1, events=[taken("As")]),                   [ask_closed(1)],    "closed while it waited"),
]
# fmt: on


@pytest.mark.parametrize(("first", "then", "why"), SKIPPED, ids=[row[2] for row in SKIPPED])
def test_events_of_asks_that_the_author_never_saw_are_told_with_the_next(first, then, why):
    second = ask(
        2,
        events=[taken("Kd"), taken("2c")],
        played_for=[PlayedFor(seat=1, kind=FAULT_KIND_TIMEOUT, events_before=1)],
    )
    wire = Wire(*PLAYING, asks(first), *then, asks(second))
    (shown,) = wire.session.take().asks
    assert [event.cards for event in shown.events] == [["As"], ["Kd"], ["2c"]]
    assert [one.events_before for one in shown.played_for] == [2]
    wire.session.show(shown)
    wire.receive(asks(ask(3, events=[taken("5h")])))
    (third,) = wire.session.take().asks
    assert [event.cards for event in third.events] == [["5h"]]


def test_the_end_tells_the_events_since_the_last_ask_that_the_author_saw():
    wire = Wire(*PLAYING, asks(ask(1, moves=1, events=[taken("As")])), match_end(1, taken("Kd")))
    end = next(news for news in wire.session.take().news if isinstance(news, End))
    assert [event.cards for event in end.events] == [["As"], ["Kd"]]
    assert (list(end.scores), list(end.places), end.missed) == ([3, -3], [1, 2], False)


def test_an_end_during_an_outage_is_missed():
    wire = Wire(*PLAYING)
    wire.take()
    wire.session.lost()
    wire.dial(welcome([2], epoch=2))
    (end,) = wire.session.take().news
    assert (end.match, end.missed, list(end.scores)) == (1, True, [])


def test_a_long_note_is_cut_to_what_the_arena_takes():
    wire = Wire(welcome(note_chars=10), match_start(1), asks(ask(1)))
    ((answer,),) = answers_in(wire.answer([Answer(ask_id=1, index=0, note="é" * 11)]))
    assert answer.note == "é" * 9 + "…"


def test_an_ask_of_a_game_that_the_sdk_does_not_know_is_answered_as_an_error():
    wire = Wire(*PLAYING, asks(Ask(ask_id=1, match=1)))
    ((answer,),) = answers_in(wire.sent)
    assert answer.note == "error: this version of the SDK has no messages of abstrac"
    assert answer.WhichOneof("choice") == "failed"


def test_time_left_counts_from_when_the_ask_came_in():
    wire = Wire(*PLAYING, asks(ask(1, move_ms=1000)))  # and half a second in the bank
    (waiting,) = wire.session.take().asks
    wire.now_s = 1.0
    assert waiting.time_left_s() == pytest.approx(0.5)
    wire.now_s = 9.0
    assert waiting.time_left_s() == 0.0


# fmt: off
SAID = [
    (ask_closed(1, FAULT_KIND_TIMEOUT, "no answer in 1000 ms"),
     "fault in match 1 (abstrac): timeout: no answer in 1000 ms",  "a fault"),
    (ArenaMessage(refusal=Refusal(ask_id=1, reason=REFUSAL_REASON_ALREADY_ANSWERED, text="the first one stands")),
     "refused (already_answered): the first one stands",           "a refusal"),
    (ArenaMessage(drain=Drain(deadline_ms=90_000)),
     "the arena closes in 90 s; running matches go on",            "a drain"),
    (asks(ask(7, 9)),
     "asked at match 9, which never started",                      "an ask out of order"),
]
# fmt: on


@pytest.mark.parametrize(("message", "line", "why"), SAID, ids=[row[2] for row in SAID])
def test_the_author_is_told_in_one_line(message, line, why):
    wire = Wire(*PLAYING, asks(ask(1)))
    wire.receive(message)
    assert wire.said == [line]


# fmt: off
WAITS = [
    # given out  closed   what is said beside the fault                              why
    (None,       1.5,     "your bot took 1.5 s of 1.5 s in its own queue",           "the bot never had it"),
    (1.0,        1.5,     "your bot took 1.0 s of 1.5 s in its own queue",           "what it then thought is not counted"),
    (0.49,       1.5,     "",                                                        "it waited for less than half of the time for the move"),
    (0.0,        1.5,     "",                                                        "it had the bot at once"),
]
# fmt: on


@pytest.mark.parametrize(
    ("given_s", "closed_s", "said", "why"), WAITS, ids=[row[3] for row in WAITS]
)
def test_a_late_ask_says_how_long_it_waited_in_the_bots_own_queue(given_s, closed_s, said, why):
    wire = Wire(*PLAYING, asks(ask(1)))
    (waiting,) = wire.session.take().asks
    if given_s is not None:
        wire.now_s = given_s
        assert wire.session.show(waiting)
        wire.session.wait(waiting)
    wire.now_s = closed_s
    wire.receive(ask_closed(1, FAULT_KIND_TIMEOUT, "no answer in 1500 ms"))
    plain = "fault in match 1 (abstrac): timeout: no answer in 1500 ms"
    assert wire.said == [f"{plain}; {said}: set workers" if said else plain]


def stuck_thread():
    """A thread in a bot's code, and what ends it."""
    ends, began = threading.Event(), threading.Event()

    def move():
        began.set()
        ends.wait()

    thread = threading.Thread(target=move)
    thread.start()
    began.wait()
    return thread.ident, ends.set


def stuck_coroutine():
    """A coroutine of a bot that awaits something which never comes."""

    async def helper():
        await asyncio.sleep(0)

    async def move():
        await helper()

    coroutine = move()
    coroutine.send(None)
    return coroutine, coroutine.close


# fmt: off
STUCK = [
    (stuck_thread,    "a thread"),
    (stuck_coroutine, "a coroutine"),
]
# fmt: on


@pytest.mark.parametrize(("stuck", "why"), STUCK, ids=[row[-1] for row in STUCK])
def test_code_that_has_not_returned_is_told_with_its_place_and_not_as_a_queue(stuck, why):
    wire = Wire(*PLAYING, asks(ask(1)))
    (first,) = wire.session.take().asks
    wire.session.show(first)
    first.thinking, end = stuck()
    try:
        for decision in (1, 2):
            wire.now_s += 1.5
            wire.receive(ask_closed(decision, FAULT_KIND_TIMEOUT, "late"))
            wire.receive(asks(ask(decision + 1, decision=decision + 1)))
    finally:
        end()
    for line in wire.said:
        assert re.search(
            r"timeout: late; `move` has not returned since decision 1, now at test_session\.py:\d+$",
            line,
        ), line
    first.thinking = None
    wire.now_s += 1.5
    wire.receive(ask_closed(3, FAULT_KIND_TIMEOUT, "late"))
    assert "in its own queue" in wire.said[-1], "it has returned meanwhile"


def test_a_wait_is_told_once_a_minute_and_noted_each_time():
    wire = Wire(*PLAYING)
    told = []
    for ask_id in (1, 2, 3):
        wire.now_s = begin_s = 50.0 * ask_id
        wire.receive(asks(ask(ask_id, decision=ask_id)))
        (waiting,) = wire.session.take().asks
        wire.now_s = begin_s + 0.9
        assert wire.session.show(waiting)
        told.append(wire.session.wait(waiting))
        (answer,) = wire.session.answer([Answer(ask_id=ask_id, index=0)])
        assert answer.note == f"queue: decision {ask_id}: {WAITED}"
    assert told == [f"match 1 (abstrac): {WAITED}", "", f"match 1 (abstrac): {WAITED}"]


WAITED = "your bot took 0.9 s of 1.5 s in its own queue: set workers"


@pytest.mark.parametrize(
    ("late", "which"),
    [([7], "decision 7"), ([7, 8, 9], "decisions 7 to 9")],
    ids=["one", "several"],
)
def test_waits_are_noted_with_the_next_answer_that_has_no_note(late, which):
    wire = Wire(*PLAYING)
    for decision in late:
        wire.receive(asks(ask(decision, decision=decision)))
        wire.now_s += 0.9
        wire.receive(ask_closed(decision, FAULT_KIND_TIMEOUT, "no answer"))
    notes = []
    for ask_id, note in ((12, "my own"), (13, ""), (14, "")):
        wire.receive(asks(ask(ask_id, decision=ask_id)))
        (answer,) = wire.session.answer([Answer(ask_id=ask_id, index=0, note=note)])
        notes.append(answer.note)
    assert notes == ["my own", f"queue: {which}: {WAITED}", ""]


def play_times(decisions, *, queue_s, network_s, other=False):
    """Plays match 1 with so long in the queue and on the network; returns the notes by decision. Thinking takes 1 s."""
    wire, notes, trip_ms = Wire(*PLAYING), {}, 0
    for decision in range(1, decisions + 1):
        message = ask(decision, decision=decision, move_ms=10_000)
        message.clock.last_round_trip_ms = trip_ms
        wire.receive(asks(message))
        waiting = wire.session.take().asks[-1]
        wire.now_s += queue_s
        wire.session.show(waiting)
        wire.session.wait(waiting)
        wire.now_s += 1.0
        (answer,) = wire.session.answer([Answer(ask_id=decision, index=0)])
        if answer.note:
            notes[decision] = answer.note
        if other:  # an answer at another match, of which the next round trip is
            wire.receive(asks(ask(decision + 100, 2, decision=decision)))
            wire.session.answer([Answer(ask_id=decision + 100, index=0)])
        trip_ms = round(1000 * (queue_s + 1.0 + network_s))
    return notes


# fmt: off
TIMES = [
    # queue, network, other  the note at the ninth decision                                                      why
    (0.05,   0.2,     False, "times: 8 asks waited 0.400 s in the own queue; 8 took 1.600 s on the network",     "both"),
    (0.05,   0.2,     True,  "times: 8 asks waited 0.400 s in the own queue; 0 took 0.000 s on the network",     "round trips of another match tell nothing"),
    (0.002,  0.002,   False, None,                                                                               "too short to be worth a note"),
]
# fmt: on


@pytest.mark.parametrize(
    ("queue_s", "network_s", "other", "noted", "why"), TIMES, ids=[row[-1] for row in TIMES]
)
def test_time_in_the_queue_and_on_the_network_is_noted_apart_a_few_times_a_match(
    queue_s, network_s, other, noted, why
):
    notes = play_times(40, queue_s=queue_s, network_s=network_s, other=other)
    assert list(notes) == ([5, 9, 17, 33] if noted else [])
    assert notes.get(9) == noted


def test_an_ask_closed_without_a_fault_is_not_worth_a_line():
    assert Wire(*PLAYING, asks(ask(1)), ask_closed(1)).said == []


# fmt: off
ASKED_AGAIN = [
    # after ask 1 was answered 2 and the stream lost                    sent again    why
    ([welcome([1, 2], [ask(1)], epoch=2)],                              [[(1, 2)]],   "listed, it gets the same answer"),
    ([welcome([1, 2], [ask(1)], epoch=2), asks(ask(1))],                [[(1, 2)]] * 2, "asked twice, it gets it twice"),
    ([welcome([1, 2], later=[1], epoch=2)],                             [],           "in later_asks alone, nothing is said"),
    ([welcome([1, 2], later=[1], epoch=2), asks(ask(1))],               [[(1, 2)]],   "until it comes"),
    ([welcome([1, 2], epoch=2)],                                        [],           "not listed, nothing is said"),
    ([welcome([1, 2], epoch=2), asks(ask(1))],                          [[(1, 2)]],   "asked all the same, it gets the same answer"),
    ([welcome([1, 2], epoch=2), asks(ask(7, decision=2))],              [],           "the next ask is thought about"),
]
# fmt: on


@pytest.mark.parametrize(
    ("messages", "sent", "why"), ASKED_AGAIN, ids=[row[-1] for row in ASKED_AGAIN]
)
def test_an_answer_that_may_be_lost_is_said_again_and_not_thought_anew(messages, sent, why):
    wire = Wire(*PLAYING, asks(ask(1)))
    wire.think(2)
    wire.session.lost()
    wire.sent.clear()
    wire.dial(*messages)
    assert wire.answers == sent
    assert 1 not in wire.take()


def test_an_ask_that_seemed_settled_while_the_bot_thought_takes_its_answer():
    wire = Wire(*PLAYING, asks(ask(1)))
    (thinking,) = wire.session.take().asks
    assert wire.session.show(thinking)
    wire.session.lost()
    wire.dial(welcome([1, 2], epoch=2), asks(ask(1)))
    assert thinking.open
    assert not wire.session.has_work, "it is thought of once"
    assert answers_in(wire.answer([Answer(ask_id=1, index=2)]))


def test_an_ask_that_seemed_settled_before_the_bot_saw_it_waits_again():
    wire = Wire(*PLAYING, asks(ask(1)))
    wire.session.lost()
    wire.dial(welcome([1, 2], epoch=2))
    assert wire.take() == ["start 1", "start 2"]
    wire.receive(asks(ask(1)))
    assert wire.take() == [1]


TAKEN = GameAdmission(game="abstrac", rules_version=1)
OTHER_RULES = GameAdmission(
    game="abstrac", refusal=GAME_REFUSAL_OTHER_RULES, text="other rules", rules_version=2
)
# fmt: off
GAMES = [
    ([],                    [],      [],   "",             "an arena that says nothing of games"),
    ([TAKEN],               [],      [],   "",             "all are taken"),
    ([TAKEN, OTHER_RULES],  [],      ["not seated: other rules"], "", "one is not, which is said"),
    ([OTHER_RULES],         [],      ["not seated: other rules"], "other rules", "none is, so the bot waits in vain"),
    ([OTHER_RULES],         [1],     ["not seated: other rules"], "", "none is, but a match is in play"),
]
# fmt: on


@pytest.mark.parametrize(
    ("games", "matches", "said", "useless", "why"), GAMES, ids=[row[-1] for row in GAMES]
)
def test_a_bot_hears_which_of_its_games_were_taken(games, matches, said, useless, why):
    wire = Wire()
    wire.dial()
    received = wire.session.receive(welcome(matches, games=games).SerializeToString())
    assert (received.say, received.useless) == (said, useless)


def test_a_redirect_names_the_endpoint():
    assert Wire(*PLAYING, redirect("other:1")).redirect == "other:1"


def test_an_end_that_was_missed_is_told_on_the_next_stream_and_one_that_was_heard_is_not():
    wire = Wire(*PLAYING, match_end(1))
    assert wire.take() == ["start 1", "start 2", "end 1"]
    wire.dial(welcome([1, 2], epoch=2), match_end(1), match_end(2))
    work = wire.session.take()
    assert [(type(one), one.match) for one in work.news] == [(End, 2)]
    assert work.news[0].message == match_end(2).match_end
    # An arena that counts anew has other matches by these numbers.
    wire.dial(welcome([1], epoch=1), match_end(1))
    assert wire.take() == ["start 1", "end 1"]


def test_a_drain_is_forgotten_with_the_next_welcome():
    wire = Wire(*PLAYING, ArenaMessage(drain=Drain(deadline_ms=1)))
    assert wire.session.draining
    wire.dial(welcome(epoch=2))
    assert not wire.session.draining


def test_bytes_that_are_no_message_are_unreadable():
    with pytest.raises(Unreadable, match="no message"):
        Wire().session.receive(b"\xff" * 8)


def test_when_play_is_over_no_ask_is_open():
    wire = Wire(*PLAYING, asks(ask(1)))
    (waiting,) = wire.session.take().asks
    wire.session.over()
    assert not waiting.open
    assert not wire.session.has_work


def test_a_note_of_the_longest_length_stays_whole():
    assert _choice.cut("x" * 200, 200) == "x" * 200


# fmt: off
CLOSED = [
    # what the author did                       told?   why
    (lambda session, ask: session.show(ask),    [5],    "the author thinks about it"),
    (lambda session, ask: None,                 [],     "the author was not given it"),
    (lambda session, ask: (session.show(ask), session.answer([Answer(ask_id=5, index=0)])),
                                                [],     "the author has answered it"),
]
# fmt: on


@pytest.mark.parametrize(("did", "told", "why"), CLOSED, ids=[row[-1] for row in CLOSED])
def test_an_ask_is_withdrawn_from_the_author_who_thinks_about_it(did, told, why):
    wire = Wire(welcome(), match_start(1), asks(ask(5)))
    (given,) = wire.session.take().asks
    did(wire.session, given)
    wire.receive(ask_closed(5, FAULT_KIND_TIMEOUT))
    assert wire.session.has_work == bool(told)
    assert [closed.ask_id for closed in wire.session.take().closed] == told
