"""Doubles keep what they promise, and to the shape of what they stand in for."""

import ast
import inspect
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

import arena
from arena.games.cards import PACK_52
from arena.live.session.messages import Outbox
from arena.live.session.stream import MAX_FRAME_BYTES
from arena.records.journal.journal import Journal
from arena.referee.deal import KeyedDeals, seeded_key
from arena.referee.spec import Ending
from arena.referee.wire.fields import ask_element, match_field
from arena.testing.deals import (
    NotStacked,
    RecordedDeals,
    SeededDeals,
    Shuffle,
    StackedDeals,
    UnshuffledDeals,
)
from arena.testing.journal import MemoryJournal
from arena.testing.outbox import MemoryOutbox
from arena.testing.referee import Scripted, play, seeded_spec
from cardarena.v1 import play_pb2

ARENA = Path(arena.__file__).parent


# Deals.


@pytest.mark.parametrize("seed", ["1", 1], ids=["a text", "a number, as its text"])
def test_seeded_deals_are_those_that_the_arena_plays_with_a_seed(seed):
    theirs = KeyedDeals(seeded_key("1")).shuffle(2, "deck", PACK_52)
    assert SeededDeals(seed).shuffle(2, "deck", PACK_52) == theirs != PACK_52


def test_unshuffled_deals_leave_a_pack_as_it_is():
    assert UnshuffledDeals().shuffle(0, "deck", list(PACK_52)) == PACK_52


# fmt: off
LOADED = [
    # asked         the pack          dealt      why
    ((0, "deck"),   ["3c", "2c"],     "3c 2c",   "a pack that was given"),
    ((0, "stock"),  ["2c", "3c"],     "2c",      "a pack that ends soon"),
    ((1, "deck"),   ["4d", "2c"],     "4d 2c",   "another hand: left to other deals"),
    ((0, "red"),    ["4d", "2c"],     "4d 2c",   "another label: left to other deals"),
]
# fmt: on


@pytest.mark.parametrize(
    ("place", "cards", "dealt", "why"), LOADED, ids=[row[-1] for row in LOADED]
)
def test_loaded_deals_hand_out(place, cards, dealt, why):
    deals = StackedDeals({(0, "deck"): ["3c", "2c"], (0, "stock"): ["2c"]}, UnshuffledDeals())
    assert deals.shuffle(*place, cards) == tuple(dealt.split())


# fmt: off
NOT_LOADED = [
    # asked         cards             what is said               why
    ((1, "deck"),   ["3c", "2c"],     "for hand 1, 'deck'",      "a hand for which no pack was given"),
    ((0, "deck"),   ["3c", "4c"],     "2c too many",             "a card that the game does not have"),
    ((0, "twice"),  ["2c", "3c"],     "2c too many",             "a card twice"),
]
# fmt: on


@pytest.mark.parametrize(
    ("place", "cards", "said", "why"), NOT_LOADED, ids=[row[-1] for row in NOT_LOADED]
)
def test_loaded_deals_refuse(place, cards, said, why):
    deals = StackedDeals({(0, "deck"): ["3c", "2c"], (0, "twice"): ["2c", "2c"]})
    with pytest.raises(NotStacked, match=said):
        deals.shuffle(*place, cards)


def test_noted_deals_remember_what_they_were_asked_and_what_they_answered():
    noted = RecordedDeals(StackedDeals({(0, "deck"): ["3c", "2c"]}))
    assert noted.shuffle(0, "deck", ["2c", "3c"]) == ("3c", "2c")
    assert noted.shuffles == [Shuffle(0, "deck", ("2c", "3c"), ("3c", "2c"))]


# The journal.


def test_a_journal_in_memory_holds_what_was_played():
    async def main():
        journal = MemoryJournal(matches=4)
        spec = seeded_spec("abstrac", 2, {"hands": 2})
        outcome = await play(spec, [Scripted(), Scripted()], journal.match(spec))
        opened, *decided, closed = journal.records
        assert {each.match for each in journal.records} == {5}
        assert opened.opened.match_id == spec.match_id
        assert len(decided) > 10
        assert all(each.HasField("decided") for each in decided)
        assert tuple(closed.closed.scores) == outcome.scores
        assert closed.closed.ending == Ending.COMPLETED

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_what_was_not_flushed_is_told_apart():
    journal = MemoryJournal()
    journal.append(b"one")
    journal.flush()
    journal.append(b"three")
    assert (journal.flushed, journal.written_bytes, journal.position) == (1, 3, "memory:2")
    trio.run(journal.synced)
    assert (journal.flushed, journal.written_bytes) == (2, 8)


def test_a_match_goes_on_in_a_second_journal():
    first, second = MemoryJournal(), MemoryJournal()
    log = first.match(seeded_spec("jam", 2))
    log.opened(seeded_spec("jam", 2))
    again = second.match_again(log.bodies)
    assert second.bodies == again.bodies == first.bodies


def test_a_match_whose_id_is_no_name_of_a_file_is_refused():
    with pytest.raises(ValueError, match="match"):
        MemoryJournal().match(seeded_spec("jam", 2, seed="../up"))


# The outbox.


def ask(number, size=10):
    padding = play_pb2.Ask(move_texts=["x" * size]).SerializeToString()
    return ask_element(number, 1, match_field(1), 1000, 0, 0, 0, padding)


def drain(number):
    return play_pb2.ArenaMessage(drain=play_pb2.Drain(deadline_ms=number)).SerializeToString()


def test_asks_in_a_row_share_a_frame_and_other_messages_keep_their_place():
    outbox = MemoryOutbox()
    for number in (1, 2):
        outbox.post_ask(ask(number), None)
    outbox.post(drain(7))
    outbox.post_ask(ask(3), None)
    assert outbox.queued[0] == 3
    kinds = [message.WhichOneof("body") for message in outbox.messages]
    assert kinds == ["asks", "drain", "asks"]
    assert outbox.only("drain").deadline_ms == 7
    assert [each.ask_id for each in outbox.take_asks()] == [1, 2, 3]
    assert (outbox.take_frames(), outbox.queued) == ([], (0, 0))


def test_frames_are_taken_as_they_would_be_sent():
    outbox = MemoryOutbox()
    outbox.post(drain(7))
    assert len(outbox.messages) == 1
    outbox.post(drain(8))
    assert outbox.queued == (2, 2 * len(drain(7)))
    assert outbox.take_frames() == [drain(7), drain(8)]
    assert outbox.messages == ()


def test_a_frame_of_asks_is_no_longer_than_on_a_stream():
    outbox = MemoryOutbox()
    for number in range(3):
        outbox.post_ask(ask(number, MAX_FRAME_BYTES // 2), None)
    assert len(outbox.messages) == 3
    assert [each.ask_id for each in outbox.take_asks()] == [0, 1, 2]


def test_nothing_is_taken_after_the_end_and_the_first_verdict_stands():
    outbox = MemoryOutbox()
    outbox.post(drain(7))
    outbox.close("why")
    outbox.close("why else")
    outbox.post(drain(8))
    outbox.post_ask(ask(1), None)
    assert (outbox.closed, outbox.verdict, outbox.take_frames()) == (True, "why", [drain(7)])


@pytest.mark.parametrize("count", [0, 2], ids=["none", "two"])
def test_only_one_message_is_the_only_one(count):
    outbox = MemoryOutbox()
    for number in range(count):
        outbox.post(drain(number))
    with pytest.raises(ValueError, match="values to unpack"):
        outbox.only("drain")


# Both are what the server uses.


def used_of(name):
    """What the server reads of anything called so, as `journal.append` or `self._journal.append`."""
    for path in (
        path for room in ("api", "app", "contests", "live") for path in (ARENA / room).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute):
                holder = node.value
                called = getattr(holder, "id", None) or getattr(holder, "attr", "")
                if called.lstrip("_") == name:
                    yield path, node.attr


WRITER = {"closing", "drop", "dropped", "next", "received_s"}
"""What the task that writes a stream uses of its outbox."""


def test_the_server_asks_nothing_of_a_journal_that_the_double_has_not():
    used = {attribute for _, attribute in used_of("journal")}
    assert {"append", "flush", "match", "synced"} <= used
    # A tournament recovers its matches from the files, and workers report theirs to a journal of files.
    assert used - set(dir(MemoryJournal())) <= {
        "append_framed",
        "next_number",
        "folder",
        "journal",
        "match_log",
        "deal_log",
        "recovery",
    }


def test_a_session_asks_nothing_of_an_outbox_that_the_double_has_not():
    used = {attribute for _, attribute in used_of("outbox")}
    assert {"post", "post_ask", "close"} <= used
    assert used - set(dir(MemoryOutbox())) <= WRITER


def shapes():
    for double, original in ((MemoryJournal, Journal), (MemoryOutbox, Outbox)):
        for name, method in inspect.getmembers(double, inspect.isfunction):
            if not name.startswith("_") and hasattr(original, name):
                yield pytest.param(method, getattr(original, name), id=f"{double.__name__}.{name}")


@pytest.mark.parametrize(("double", "original"), list(shapes()))
def test_a_method_of_a_double_takes_what_the_original_takes(double, original):
    assert inspect.signature(double).parameters == inspect.signature(original).parameters
    assert inspect.iscoroutinefunction(double) == inspect.iscoroutinefunction(original)
