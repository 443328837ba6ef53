"""What is live: the pictures of a feed, and that nobody loses or doubles a step of it."""

import asyncio
import json
import random

import pytest

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.live import event_buffers
from arena.live.event_buffers import BUFFERED_BEATS, EventBuffer, EventBuffers
from arena.pictures import Viewer
from arena.records.frames import viewer_frames
from arena.referee.events import OpenHands
from arena.referee.spec import Ending, SeatedBot
from arena.referee.terms import MatchTerms
from arena.web import live_list
from arena.web.arena_source import NotLive
from arena.web.event_hub import EventHub, FeedLimits, HubFull, LiveBuffer
from arena.web.live_list import LiveList
from arena.web.live_match import Deltas, LiveDrawer, RunningClock
from arena.web.steps import steps_of
from arena.web.trees import html, listed
from cardarena.v1 import watch_pb2
from tests.pictures.matches import played
from tests.rows import slow_unless, slow_unless_of_each_kind

NAMES = ("ann", "bob", "cec", "dan", "eve", "fay")
EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless(lambda game: game.family != "eleusis", GAMES), ids=lambda game: game.id
)


def terms_of(game, options, seats):
    return MatchTerms(game, options, seats)


def feed_of(game, frames, options, seats, *, hands_open=False):
    """A feed that has been opened, and how to show it a frame; it is offered hands in any case."""
    feed = EventBuffer("m1", hands_open=hands_open)
    feed.opened("m1", terms_of(game, options, seats), [SeatedBot(name) for name in NAMES[:seats]])

    def show(frame):
        events = [told.event for told in frame.events if told.sent_to is None]
        hands = OpenHands(frame.events, frame.view)
        feed.stepped(frame.next_hand, events, lambda: frame.view(None), (), hands)

    return feed, show


async def told_by(feed, frames, show, after=0):
    """All that a watcher is told who came before the first frame."""
    found = []

    async def follow():
        found.extend([told async for told in feed.follow(after)])

    task = asyncio.create_task(follow())
    for frame in frames:
        show(frame)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    feed.closed(ended())
    await task
    return found


class Ended:
    """As much of an outcome as spectators are told."""

    ending, scores = Ending.COMPLETED, (1, -1)


ended = Ended


def same_as_replay(game, most=120, viewer=Viewer.SPECTATOR, *, hands_open=False):
    seats = game.seats[0]
    options, frames = played(game.id, seats)
    frames = frames[:most]
    feed, show = feed_of(game, frames, options, seats, hands_open=hands_open)
    opened, *told, end = asyncio.run(told_by(feed, frames, show))
    follower = LiveDrawer(opened.opened, viewer)
    live = [step for each in told for step in follower.steps(each.frame)]
    assert end.WhichOneof("body") == "ended"
    seen = viewer_frames(frames, viewer, options, seats)
    replayed = list(steps_of(seen, viewer, NAMES[:seats], 0.0))
    return live, replayed


def without_clocks(step):
    """A picture but for the clocks, which only a replay has."""

    def cut(tree):
        if isinstance(tree, str):
            return tree
        tag, attributes, *inner = tree
        kept = [
            cut(each)
            for each in inner
            if isinstance(each, str) or "clock" not in each[1].get("class", "")
        ]
        kept = [
            each
            for each in kept
            if isinstance(each, str) or each[2:] or each[1].get("class") != "foot"
        ]
        return [tag, attributes, *kept]

    return cut(listed(step.table))


@EVERY_GAME
def test_a_live_picture_is_that_of_the_spectator_in_the_replay(game):
    live, replayed = same_as_replay(game)
    assert [step.label for step in live] == [step.label for step in replayed]
    for one, other in zip(live, replayed, strict=True):
        assert without_clocks(one) == without_clocks(other), one.label


OF_EACH_KIND = pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES), ids=lambda game: game.id
)
OPEN_EYES = pytest.mark.parametrize(
    "viewer", [Viewer.ALL, Viewer.SPECTATOR, Seat(0), Seat(1)], ids=str
)


@OPEN_EYES
@OF_EACH_KIND
def test_a_live_picture_of_open_hands_is_that_of_the_same_viewer_in_the_replay(game, viewer):
    live, replayed = same_as_replay(game, viewer=viewer, hands_open=True)
    assert [step.label for step in live] == [step.label for step in replayed]
    for one, other in zip(live, replayed, strict=True):
        assert without_clocks(one) == without_clocks(other), one.label


@OPEN_EYES
@OF_EACH_KIND
def test_a_late_spectator_of_open_hands_sees_what_the_viewer_knows(game, viewer):
    """A picture to begin with, at every step but the last, at which there is nothing left to see."""
    seats = game.seats[0]
    options, frames = played(game.id, seats)
    frames = frames[:30]
    feed, show = feed_of(game, frames, options, seats, hands_open=True)
    drawn = steps_of(viewer_frames(frames, viewer, options, seats), viewer, NAMES[:seats], 0.0)
    replayed = {step.label.partition(".")[0]: step for step in drawn}
    for frame in frames[:-1]:
        show(frame)
        opened, told = asyncio.run(first_two(feed))
        (step,) = LiveDrawer(opened.opened, viewer).steps(told.frame)
        assert without_clocks(step) == without_clocks(replayed[step.label]), step.label


async def first_two(feed):
    stream = feed.follow(0)
    found = [await anext(stream) for _ in range(2)]
    await stream.aclose()
    return found


def test_a_feed_of_closed_hands_has_none_whatever_it_is_shown():
    options, frames = played("klaberjass", 2)
    feed, show = feed_of(KLABERJASS, frames, options, 2)
    show(frames[0])
    opened, *told = asyncio.run(told_by(feed, frames[1:6], show))
    assert not opened.opened.hands_open
    beats_told = [each.frame for each in told if each.HasField("frame")]
    assert [each.key for each in beats_told] == [True, *[False] * 5]
    assert not any(each.HasField("open_hands") for each in beats_told)


# viewer, hands are open, why there is nothing to see
# fmt: off
UNSEEN = [
    ("all",    False, "the hands of match 'm1' are closed", "all hands, where they are closed"),
    ("seat-0", False, "the hands of match 'm1' are closed", "a seat's, where they are closed"),
    ("seat-2", True,  "match 'm1' has no viewer 'seat-2'",    "a seat's that there is not"),
    ("seat-x", True,  "match 'm1' has no viewer 'seat-x'",    "viewer that are none"),
]
# fmt: on


@pytest.mark.parametrize(
    ("viewer", "hands_open", "why"), [row[:3] for row in UNSEEN], ids=[row[3] for row in UNSEEN]
)
def test_the_hub_has_no_feed_for_a_viewer_that_the_arena_does_not_allow(viewer, hands_open, why):
    options, frames = played("klaberjass", 2)
    feed, show = feed_of(KLABERJASS, frames, options, 2, hands_open=hands_open)
    show(frames[0])

    async def main():
        hub = EventHub(Scripted(feed), LIMITS)
        with pytest.raises(NotLive, match=why):
            await hub.buffer("m1", viewer)
        seen = await hub.buffer("m1")  # the spectator's are there, as ever
        hub.close()
        return seen.last is not None

    assert asyncio.run(main())


def test_open_hands_have_the_delay_of_all_messages():
    waiting = []
    feeds = EventBuffers(30.0, lambda delay_s, call: waiting.append(call))
    options, frames = played("klaberjass", 2)
    spectators = feeds.open("m1", hands_open=True)
    assert spectators.hands_open
    spectators.opened("m1", terms_of(KLABERJASS, options, 2), [SeatedBot("ann"), SeatedBot("bob")])
    hands = OpenHands(frames[0].events, frames[0].view)
    spectators.stepped(0, [], lambda: frames[0].view(None), (), hands)
    assert feeds.get("m1") is None
    for call in waiting:
        call()
    _, told = asyncio.run(first_two(feeds.get("m1")))
    assert len(told.frame.open_hands.views) == 2


def rebuilt(row, before):
    """The tree that the script builds of a message, and its keyed parts."""
    keyed = {}

    def build(tree):
        if isinstance(tree, str):
            return tree
        if isinstance(tree, dict):
            made = before[tree["same"]]
        else:
            tag, attributes, *inner = tree
            made = [tag, attributes, *map(build, inner)]
        return made

    def note(tree):
        if not isinstance(tree, str):
            if "data-key" in tree[1]:
                keyed[tree[1]["data-key"]] = tree
            for child in tree[2:]:
                note(child)

    made = build(row[1])
    note(made)
    return made, keyed


def test_a_picture_can_be_rebuilt_from_its_delta():
    live, _ = same_as_replay(next(game for game in GAMES if game.id == "klaberjass"))
    deltas, before, saved = Deltas(), {}, 0
    for step in live:
        row = json.loads(json.dumps(deltas.row(step)))
        made, before = rebuilt(row, before)
        assert made == json.loads(json.dumps(listed(step.table)))
        saved += len(html(step.table)) - len(json.dumps(row[1]))
    assert saved > 0


# Who comes later, leaves, or falls behind.

JAM = next(game for game in GAMES if game.id == "jam")
KLABERJASS = next(game for game in GAMES if game.id == "klaberjass")


def test_views_are_made_only_for_present_viewers():
    options, frames = played("klaberjass", 2)
    feed, _ = feed_of(KLABERJASS, frames, options, 2)
    for frame in frames[:5]:
        feed.stepped(frame.next_hand, [], lambda: pytest.fail("nobody watches"))


def test_the_running_clock_is_one_for_all_who_were_asked_together():
    game = next(game for game in GAMES if game.id == "chinese_poker")
    options, (dealt, *_) = played(game.id, 2)
    feed = EventBuffer("m1", unix_ms=lambda: 1_700_000_000_000)
    feed.opened("m1", terms_of(game, options, 2), [SeatedBot("ann"), SeatedBot("bob")])

    async def first():
        feed.watchers = 1
        events = [told.event for told in dealt.events if told.sent_to is None]
        feed.stepped(0, events, lambda: dealt.view(None), [60_000, 41_500])
        watched = feed.follow(0)
        return [await anext(watched) for _ in range(2)]

    opened, told = asyncio.run(first())
    follower = LiveDrawer(opened.opened)
    (step,) = follower.steps(told.frame)
    both = (("ann", 60_000), ("bob", 41_500))
    assert follower.clock == RunningClock(1_700_000_000_000, 10_000, both)
    assert html(step.table).count("41.5 s") == 1


def test_a_delayed_feed_sends_all_steps_in_order():
    waiting = []
    feeds = EventBuffers(30.0, lambda delay_s, call: waiting.append((delay_s, call)))
    options, frames = played("klaberjass", 2)

    async def main():
        spectators = feeds.open("m1")
        spectators.opened(
            "m1", terms_of(KLABERJASS, options, 2), [SeatedBot("ann"), SeatedBot("bob")]
        )
        for frame in frames[:3]:
            spectators.stepped(frame.next_hand, [], lambda: frames[0].view(None))
        spectators.closed(ended())
        seen = []
        for delay_s, call in waiting:
            found = feeds.get("m1")
            seen.append((delay_s, 0 if found is None else found.number, bool(feeds.live(9))))
            call()
        assert feeds.get("m1").ended is not None
        return seen

    # Opened, three steps, the end: a match is there with its first step, and live until its end is told.
    steps = [0, 0, 1, 2, 3]
    assert asyncio.run(main()) == [(30.0, number, number > 0) for number in steps]


def in_second_hand():
    """A feed of a match in its second hand, that hand's replayed pictures so far, and how to show it the frame after."""
    options, frames = played("klaberjass", 2)
    feed, show = feed_of(KLABERJASS, frames, options, 2)
    until = next(at for at, frame in enumerate(frames) if frame.next_hand == 1) + 9
    for frame in frames[:until]:
        show(frame)
    seen = viewer_frames(frames[:until], Viewer.SPECTATOR, options, 2)
    replayed = [step for step in steps_of(seen, Viewer.SPECTATOR, NAMES[:2], 0.0) if step.hand]
    return feed, replayed, lambda: show(frames[until])


@pytest.mark.parametrize(("kept", "drawn"), [(128, 9), (4, 4)], ids=["a hand", "a long hand"])
def test_a_late_spectator_gets_the_present_hand_so_far(monkeypatch, kept, drawn):
    monkeypatch.setattr(event_buffers, "HAND_STEPS", kept)
    feed, replayed, _ = in_second_hand()
    opened, *told, _ = asyncio.run(told_by(feed, (), None))
    follower = LiveDrawer(opened.opened)
    steps = [step for each in told for step in follower.steps(each.frame)]
    assert [each.frame.key for each in told] == [True, *[False] * (drawn - 1)]
    assert list(map(without_clocks, steps)) == list(map(without_clocks, replayed[-drawn:]))
    assert len(replayed) == 9


def test_the_page_of_a_late_spectator_has_the_hand_so_far():
    feed, replayed, show_next = in_second_hand()

    async def main():
        hub = EventHub(Scripted(feed), LIMITS)
        buffer = await hub.buffer("m1")
        so_far = [without_clocks(step) for step in buffer.steps]
        assert so_far == list(map(without_clocks, replayed))
        assert buffer.last is buffer.steps[-1]
        number = buffer.number
        buffer.changed.clear()
        show_next()
        await next_message(buffer)
        ((_, _, data),) = events_of(buffer.join(number)[0])
        assert (data["skipped"], len(data["steps"])) == (0, 1)
        assert hub.followed(["m1"])["m1"].scores == buffer.drawer.scores != []
        hub.close()

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(4))
def test_a_subscriber_that_reconnects_gets_each_missed_step_once(seed):
    """A watcher is cut at random, again and again, and comes back with the last number it has."""
    options, frames = played("jam", 2)
    feed, show = feed_of(JAM, frames, options, 2)
    draw = random.Random(seed)
    numbers = []

    async def main():
        stays = asyncio.create_task(drain(feed))  # so that beats are kept
        await asyncio.sleep(0)
        shown, at, cuts, over = iter(frames), 0, 0, False
        while not over:
            stream = feed.follow(at)
            await anext(stream)  # what is watched
            for _ in range(draw.randrange(4)):
                frame = next(shown, None)
                over = frame is None
                if over:
                    break
                show(frame)
                if draw.random() < 0.7:
                    beat = (await anext(stream)).frame
                    assert not beat.key or at == 0
                    numbers.append(beat.number)
                    at = beat.number
            await stream.aclose()
            cuts += 1
        feed.closed(ended())
        rest = [told async for told in feed.follow(at)]
        numbers.extend(told.frame.number for told in rest if told.HasField("frame"))
        await stays
        return cuts

    cuts = asyncio.run(main())
    assert cuts > 40
    assert numbers == list(range(numbers[0], len(frames) + 1))


async def drain(feed):
    async for _ in feed.follow(0):
        pass


def test_a_subscriber_that_is_far_behind_continues_with_the_present_picture():
    options, frames = played("klaberjass", 2)
    feed, show = feed_of(KLABERJASS, frames, options, 2)

    async def main():
        stays = asyncio.create_task(drain(feed))
        await asyncio.sleep(0)
        for frame in [*frames] * (BUFFERED_BEATS // len(frames) + 2):
            show(frame)
        stream = feed.follow(1)
        await anext(stream)
        first = await anext(stream)
        await stream.aclose()
        stays.cancel()
        return first.frame

    beat = asyncio.run(main())
    assert beat.key
    assert beat.number > BUFFERED_BEATS


def test_feeds_of_ended_matches_are_removed():
    feeds = EventBuffers()
    options, frames = played("klaberjass", 2)
    for number in range(200):
        feed = feeds.open(f"m{number}")
        feed.opened(
            f"m{number}", terms_of(KLABERJASS, options, 2), [SeatedBot("ann"), SeatedBot("bob")]
        )
        feed.stepped(0, [], lambda: frames[0].view(None))
        feed.closed(ended())
    assert feeds.get("m0") is None
    assert feeds.get("m199") is not None
    assert list(feeds.live(10)) == []


# The hall.


class Scripted:
    """A source that tells of one match as it is let."""

    def __init__(self, feed):
        self._feed = feed

    async def watch(self, match_id, after):
        if match_id != "m1":
            raise NotLive("none")
        async for told in self._feed.follow(after):
            yield told


def events_of(body):
    """The events of a piece of a feed: kind, id, data."""
    for block in body.decode().split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines() if ": " in line)
        if "data" in fields:
            yield fields["event"], int(fields["id"]), json.loads(fields["data"])


PATIENCE_S = 10.0


async def next_message(feed):
    """Wait for a message of a feed that nothing sends on."""
    await asyncio.wait_for(feed.changed.wait(), PATIENCE_S)
    feed.changed.clear()


LIMITS = FeedLimits(every_s=0.0, linger_s=0.01, comment_s=0.01)


def cut_again_and_again(seed):
    """A watcher of a whole match that is cut at random, and comes back with its last id.

    Returns what it saw, and how often it was cut.
    """
    options, frames = played("jam", 2)
    feed, show = feed_of(JAM, frames, options, 2)
    draw = random.Random(seed)
    labels = []

    async def main():
        hub = EventHub(Scripted(feed), LIMITS)
        show(frames[0])
        buffer = await hub.buffer("m1")
        at, place, cuts = 0, None, 0

        def look():
            nonlocal at, place
            body, place = buffer.join(at) if place is None else buffer.since(place)
            for kind, number, data in events_of(body):
                if kind == "frame":
                    labels.extend(row[0] for row in data["steps"])
                    at = number

        look()
        for frame in frames[1:]:
            show(frame)
            for _ in range(4):
                await asyncio.sleep(0)
            look()
            if draw.random() < 0.9:
                place, cuts = None, cuts + 1
        feed.closed(ended())
        while not buffer.over:
            await next_message(buffer)
        look()
        hub.close()
        return cuts

    return labels, asyncio.run(main())


@pytest.mark.slow
def test_spectators_that_reconnect_a_thousand_times_see_every_step_once():
    options, frames = played("jam", 2)
    seen = viewer_frames(frames, Viewer.SPECTATOR, options, 2)
    expected = [step.label for step in steps_of(seen, Viewer.SPECTATOR, NAMES[:2], 0.0)]
    cuts, seed = 0, 0
    while cuts < 1_000:
        labels, own = cut_again_and_again(seed)
        assert labels == expected
        cuts, seed = cuts + own, seed + 1


def test_subscribers_are_counted_and_limited():
    async def main():
        limits = FeedLimits(of_match=3, in_all=4, of_address=2)
        hub = EventHub(Scripted(None), limits)
        buffers = [LiveBuffer("m1", limits), LiveBuffer("m2", limits)]
        here, there = buffers
        seats = [hub.subscribe(here, "a"), hub.subscribe(here, "a")]
        with pytest.raises(HubFull):
            hub.subscribe(here, "a")  # two of an address
        seats.append(hub.subscribe(here, "b"))
        with pytest.raises(HubFull):
            hub.subscribe(here, "c")  # three of a match
        seats.append(hub.subscribe(there, "c"))
        with pytest.raises(HubFull):
            hub.subscribe(there, "d")  # four in all
        for end in seats:
            end()
        assert (here.subscriptions, there.subscriptions) == (0, 0)
        hub.subscribe(here, "a")

    asyncio.run(main())


def test_skipped_steps_are_counted():
    live, _ = same_as_replay(KLABERJASS)

    async def main():
        buffer = LiveBuffer("m1", FeedLimits(most_steps=5))
        buffer.add(live[:1], 1)
        buffer.add(live[1:21], 21)
        body, _ = buffer.join(1)
        return list(events_of(body))

    ((_, number, data),) = asyncio.run(main())
    assert (number, data["skipped"], len(data["steps"])) == (21, 19, 1)
    assert "same" not in json.dumps(data["steps"][0][1])


class Asked:
    """A source whose list changes when it is told to; counts who asks."""

    def __init__(self):
        self.listed, self.asked = watch_pb2.ListLiveResponse(), 0

    async def live(self):
        self.asked += 1
        return watch_pb2.ListLiveResponse.FromString(self.listed.SerializeToString())


def test_the_list_is_sent_only_when_it_has_changed(monkeypatch):
    """However many follow, the arena is asked once. A match that has ended changes it too."""
    monkeypatch.setattr(live_list, "FRESH_S", 0.0)
    played = []

    async def ended():
        return tuple(played)

    async def main():
        source = Asked()
        told = LiveList(
            source, lambda found, ended, _: [len(found.matches), *ended], ended, every_s=0.0
        )
        told.subscriptions = 2
        places = [told.join(0)[1], told.join(0)[1]]
        await next_message(told)
        bodies = [told.since(place) for place in places]
        assert bodies[0] == bodies[1]
        assert list(events_of(bodies[0][0])) == [("list", 1, [0])]
        place = bodies[0][1]
        before = source.asked
        for _ in range(50):
            await asyncio.sleep(0)
        assert source.asked > before
        assert told.since(place) == (b"", place)
        source.listed.matches.add(match_id="m1")
        await next_message(told)
        body, place = told.since(place)
        assert list(events_of(body)) == [("list", 2, [1])]
        played.append("m0")
        await next_message(told)
        assert list(events_of(told.since(place)[0])) == [("list", 3, [1, "m0"])]
        told.subscriptions = 0
        asked = source.asked
        for _ in range(20):
            await asyncio.sleep(0)
        assert source.asked <= asked + 1  # nobody follows, nobody asks
        told.subscriptions = 1
        body, place = told.join(0)
        assert body == b""  # the last list may be an hour old
        await next_message(told)
        assert list(events_of(told.since(place)[0])) == [("list", 4, [1, "m0"])]

    asyncio.run(main())


def test_a_match_that_cannot_be_watched_has_no_feed():
    async def main():
        hub = EventHub(Scripted(None), LIMITS)
        with pytest.raises(NotLive):
            await hub.buffer("m2")
        hub.close()

    asyncio.run(main())
