"""Two worlds on pages and feeds: what a viewer cannot know is nowhere in the bytes.

One match is played at random; in the other world cards that are hidden from the viewer have
changed places, and the same moves are made. Pages of the viewer, and what a feed sends to
spectators, must be equal byte by byte.
"""

import asyncio
import random
from collections import Counter

import pytest

from arena.games.catalogue import GAMES
from arena.games.contract import Seat
from arena.live.event_buffers import EventBuffer
from arena.pictures import Viewer
from arena.records import frames as frames_module
from arena.records.frames import viewer_frames
from arena.records.playback import PlaybackStep, ReplayedDecision
from arena.referee.events import OpenHands
from arena.referee.spec import SeatedBot
from arena.referee.terms import MatchTerms
from arena.web.live_match import Deltas, LiveDrawer, encoded
from arena.web.pages.hand import HandPage, MatchHeading
from arena.web.steps import steps_of
from tests.leaks.knowledge import HIDDEN
from tests.leaks.test_leaks import NOTHING_HIDDEN
from tests.leaks.worlds import copies_in_play, dealing, play_world, replay, swapped_orders
from tests.rows import OF_EACH_KIND, slow_unless
from tests.web.pages import LINKS, NAMES

PAIRS, TRIES, STEPS = 4, 60, 40
GAMES_THAT_HIDE = [game for game in GAMES if game.id not in NOTHING_HIDDEN]
EVERY_GAME = pytest.mark.parametrize(
    "game",
    slow_unless(lambda game: game.id in OF_EACH_KIND, GAMES_THAT_HIDE),
    ids=lambda game: game.id,
)


def pairs_of(game, seat, seed=3):
    """Pairs of worlds that a viewer cannot tell apart, each as its frames."""
    seats = game.seats[0]
    world = play_world(game, game.options({"hands": seats}, seats), seats, seed)
    draw, found = random.Random(f"{game.id} {seat} {seed}"), []
    for _ in range(TRIES):
        cut = draw.randrange(min(len(world.steps), STEPS) + 1)
        hand = game.rules.hand_number(world.states[cut])
        deals = [
            at for at in range(cut + 1) if any(n == hand for n, _ in dealing(world.orders[at]))
        ]
        if not deals:
            continue
        begin = draw.choice(deals)
        hidden = Counter(HIDDEN[game.family](world.states[cut], seat))
        copies = copies_in_play(world.orders[: cut + 1], hand)
        changed = swapped_orders(dealing(world.orders[begin]), hidden, copies, draw, 1)
        other = changed and replay(world, begin, cut, changed)
        if not other:
            continue
        here = list(zip(world.states, world.told, strict=True))[: cut + 1]
        found.append((steps_played(world, here), steps_played(world, here[:begin] + other)))
        if len(found) == PAIRS:
            return world, found
    return world, found


def steps_played(world, played):
    rules = world.game.rules
    made = []
    for at, (state, told) in enumerate(played):
        before = played[at - 1][0] if at else state
        chosen = world.steps[at - 1] if at else ()
        decided = tuple(
            ReplayedDecision(seat, at, move, 0, 0, 0, None, "", unasked=False, forfeited=False)
            for seat, move in chosen
        )
        made.append(
            PlaybackStep(at, world.game, rules.hand_number(before), decided, told, before, state)
        )
    return made


def pages(world, frames, viewer):
    """The bytes of all pages of a viewer."""
    names = NAMES[: world.seats]
    steps = list(
        steps_of(viewer_frames(frames, viewer, world.options, world.seats), viewer, names, 60.0)
    )
    hands = sorted({step.hand for step in steps})
    about = MatchHeading(world.game.id, "m1", names, "today", 0, hands[-1] + 1, "in play")
    return [
        HandPage(about, viewer, (viewer,), hand, [s for s in steps if s.hand == hand])
        .html(LINKS)
        .encode()
        for hand in hands
    ]


def feed(
    world, frames, viewer=Viewer.SPECTATOR, view=lambda frame: frame.view(None), *, hands_open=False
):
    """The bytes that an arena sends of a match, and those that pages send on to who has these viewer.

    The arena's feed is offered what seats know in any case.
    """
    made = EventBuffer("m1", unix_ms=lambda: 0, hands_open=hands_open)
    terms = MatchTerms(world.game, world.options, world.seats)
    sent, sent_on = [], []

    async def main():
        made.opened("m1", terms, [SeatedBot(name) for name in NAMES[: world.seats]])
        made.watchers = 1
        follower, deltas = LiveDrawer(made.opening.opened, viewer), Deltas()
        for frame in frames:
            events = [told.event for told in frame.events if told.sent_to is None]
            hands = OpenHands(frame.events, frame.view)
            made.stepped(frame.next_hand, events, lambda frame=frame: view(frame), (), hands)
            beat = made._buffer[-1][1]
            sent.append(beat.SerializeToString(deterministic=True))
            sent_on.extend(encoded(deltas.row(step)) for step in follower.steps(beat.frame))

    asyncio.run(main())
    return sent, sent_on


def sent_on(world, frames, viewer):
    """What pages send on where hands are open."""
    return feed(world, frames, viewer, hands_open=True)[1]


def viewers(game):
    return (None, *map(Seat, range(min(game.seats[0], 3))))


@EVERY_GAME
def test_pages_and_feeds_are_the_same_in_worlds_that_the_viewer_cannot_tell_apart(game):
    compared = 0
    for seat in viewers(game):
        world, found = pairs_of(game, seat)
        viewer = Viewer.SPECTATOR if seat is None else seat
        for one, other in found:
            assert pages(world, one, viewer) == pages(world, other, viewer)
            if seat is None:
                assert feed(world, one) == feed(world, other)
            assert sent_on(world, one, viewer) == sent_on(world, other, viewer)
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize("game_id", ["klaberjass", "pineapple", "democracy"])
def test_a_viewer_with_an_additional_view_is_found(game_id, monkeypatch):
    game = next(each for each in GAMES if each.id == game_id)
    world, found = pairs_of(game, None)
    everybody = tuple(Seat(seat) for seat in range(world.seats))
    monkeypatch.setattr(frames_module, "views_used", lambda viewer, seats: (None, *everybody))
    assert any(
        pages(world, one, Viewer.SPECTATOR) != pages(world, other, Viewer.SPECTATOR)
        for one, other in found
    )


@pytest.mark.parametrize("game_id", ["klaberjass", "pineapple", "democracy"])
def test_a_feed_of_a_seats_view_is_found(game_id):
    game = next(each for each in GAMES if each.id == game_id)
    world, found = pairs_of(game, None)

    def seat_0(frame):
        return frame.view(Seat(0))

    assert any(
        feed(world, one, view=seat_0) != feed(world, other, view=seat_0) for one, other in found
    )


@pytest.mark.parametrize("game_id", ["klaberjass", "pineapple", "democracy"])
def test_open_hands_that_were_not_enabled_are_found(game_id):
    game = next(each for each in GAMES if each.id == game_id)
    world, found = pairs_of(game, None)
    assert any(
        feed(world, one, hands_open=True) != feed(world, other, hands_open=True)
        for one, other in found
    )


@pytest.mark.parametrize("game_id", ["klaberjass", "pineapple", "democracy"])
def test_all_hands_instead_of_a_seats_hand_are_found(game_id):
    game = next(each for each in GAMES if each.id == game_id)
    world, found = pairs_of(game, Seat(0))
    assert any(
        sent_on(world, one, Viewer.ALL) != sent_on(world, other, Viewer.ALL) for one, other in found
    )
