"""What bots are told over all their streams is what an uncut twin was told, byte for byte.

But for the clock fields and the welcomes. Each match is played twice: once undisturbed, and once
with streams cut or the arena killed. The bots' answers follow from the bytes they are told, so
any difference would grow.
"""

from functools import partial

import pytest
import trio

from arena.games.abstrac import rules as abstrac
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.games.democracy import rules as democracy
from arena.records.notes_file import notes_of
from arena.records.read import Replay
from arena.referee.spec import Ending, FaultKind
from arena.testing.referee import InlineSteps
from cardarena.games.v1 import eleusis_pb2
from cardarena.v1 import game_pb2, play_pb2
from tests.live.cuts import (
    CutOff,
    Killed,
    Player,
    SdkPlayer,
    World,
    chooses,
    deal_set_of,
    orders_of,
    quick_disk,
)
from tests.referee.matches import nearly_three, spread
from tests.rows import EACH_GAME, slow_unless_of_each_kind

ONE_BY_ONE = {"max_open_asks": 1, "want_text": True}
TOGETHER = {"max_open_asks": 3}
EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES), ids=[game.id for game in GAMES]
)
CUTS = 12
RULE_VERB = eleusis_pb2.ELEUSIS_VERB_RULE
EVERY_CUT = pytest.mark.parametrize(
    "what", [CutOff, Killed], ids=["a stream is cut", "the arena is killed"]
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A disk that is quick: one folder for each world."""
    with quick_disk(monkeypatch):
        yield tmp_path


def play(folder, orders, players, cuts=None, **world):
    """Play the orders' matches in a world of its own."""
    at = folder / f"world-{len(list(folder.iterdir()))}"
    hooks = {name: world.pop(name) for name in list(world) if name.startswith(("at_", "away"))}
    made = World(at, players, orders, cuts, **world)
    for name, value in hooks.items():
        setattr(made, name, value)
    return made.run()


def players_of(game_id, seats=0, script=chooses, **hello):
    seats = seats or nearly_three(game_by_id(game_id))
    return [Player(f"b{at}", script, **hello) for at in range(seats)]


def cuts_over(boundaries, *kinds, count=CUTS):
    """Cuts spread over a life, at whatever step of sending and answering they come to be; four of each kind by turns."""
    places = spread(range(boundaries - 4), count)
    return {place + at % 4: kinds[at // 4 % len(kinds)] for at, place in enumerate(places)}


def assert_told_alike(twin, world):
    """Every bot was told the same in both worlds.

    The ends of matches that had ended when the arena was killed may be missing: the bots are
    not asked about them any more, and their results stand in the replays.
    """
    for player, other in zip(world.players, twin.players, strict=True):
        told, expected = player.told.by_match(), other.told.by_match()
        assert told["starts"] == expected["starts"]
        assert told["asks"].keys() == expected["asks"].keys()
        for which, ask in expected["asks"].items():
            assert told["asks"][which] == ask, (player.name, which)
        missing = expected["ends"].keys() - told["ends"].keys()
        assert missing <= world.over_when_killed, player.name
        assert told["ends"].items() <= expected["ends"].items()
    for _, match_id in world.matches:
        assert world.outcome(match_id) == twin.outcome(match_id)


# Every game.


@EVERY_GAME
def test_every_game_goes_on_as_it_would_have(folder, game):
    hello = (ONE_BY_ONE, TOGETHER)[GAMES.index(game) % 2]
    orders = orders_of(game.id, players_of(game.id), matches=2)
    twin = play(folder, orders, players_of(game.id, **hello))
    cuts = cuts_over(twin.boundaries, CutOff, Killed)
    world = play(folder, orders, players_of(game.id, **hello), cuts)
    assert world.lives > 0
    assert_told_alike(twin, world)
    notes = [noted(each, orders[0]) for each in (twin, world)]
    assert notes[0]
    assert notes[0] == notes[1], "what a bot notes reaches the replay"
    for player in world.players:
        assert player.epochs == sorted(set(player.epochs)), "streams are counted up"
        assert player.refusals == []
        unlisted = {player.told.which(number) for number in player.unlisted}
        assert unlisted <= world.over_when_killed, "welcome lists all that goes on"


def noted(world, order):
    path = world.data / "replays" / f"{order.deal_set}.replay"
    replay = Replay.open(path)
    seats = map(Seat, range(len(replay.names)))
    return {(seat, at): text for seat in seats for at, text in notes_of(path, replay, seat).items()}


# A game in turn and one of simultaneous decisions; there every boundary is tried.
SMALL = [("abstrac_unfettered", 2), ("chinese_poker", 2)]


@EVERY_CUT
@pytest.mark.parametrize(("game_id", "seats"), SMALL, ids=[row[0] for row in SMALL])
@pytest.mark.deep("chaos")
def test_a_match_goes_on_from_every_boundary(folder, game_id, seats, what):
    orders = orders_of(game_id, players_of(game_id, seats), matches=1)
    twin = play(folder, orders, players_of(game_id, seats))
    assert {"posted", "flushed", "delivered", "taken"} == set(twin.steps)
    for boundary in range(twin.boundaries):
        world = play(folder, orders, players_of(game_id, seats), {boundary: what})
        assert_told_alike(twin, world)
        if what is CutOff:
            assert sum(player.epochs[-1] - 1 for player in world.players) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("matches", [2, 5])
def test_many_matches_of_a_bot_go_on_together(folder, matches):
    """With fewer asks open than there are matches, and with cuts of both kinds."""
    hello = {"max_open_asks": 2}
    orders = orders_of("democracy", players_of("democracy"), matches)
    twin = play(folder, orders, players_of("democracy", **hello))
    cuts = cuts_over(twin.boundaries, CutOff, count=8) | cuts_over(twin.boundaries, Killed, count=5)
    world = play(folder, orders, players_of("democracy", **hello), cuts)
    assert_told_alike(twin, world)


# Bots that come back otherwise than they left.


class Changing(Player):
    """A bot that declares something else on each stream."""

    hellos = ()

    def opened(self):
        self.hello.update(self.hellos[len(self.epochs) % len(self.hellos)])
        return super().opened()


EVERYTHING = {"games": [play_pb2.GameSupport(game=game.id) for game in GAMES], "max_matches": 8}
# fmt: off
RETURNS = [
    ([{"max_open_asks": 3}, {"max_open_asks": 1}],            "with fewer asks, and with more"),
    ([{"max_open_asks": 0}, {"max_open_asks": 512}],          "with no word on asks"),
    ([EVERYTHING, {"games": []}],                             "without any game"),
    ([EVERYTHING, {"max_matches": 0}],                        "taking no more matches"),
    ([EVERYTHING, {"games": [play_pb2.GameSupport(game="abstrac", rules_version=9)]}],
                                                              "with other rules of the game"),
]
# fmt: on


@EVERY_CUT
@pytest.mark.parametrize(("hellos", "why"), RETURNS, ids=[row[1] for row in RETURNS])
def test_a_bot_that_comes_back_otherwise_plays_its_matches_on(folder, hellos, why, what):
    def bots():
        made = [Changing(f"b{at}") for at in range(2)]
        for each in made:
            each.hellos = hellos
        return made

    orders = orders_of("abstrac", bots(), matches=3)
    twin = play(folder, orders, bots())
    begun = sum(1 for step in twin.steps[:30] if step)
    cuts = {begun + at: what for at in range(0, twin.boundaries - begun - 8, 25)}
    world = play(folder, orders, bots(), cuts)
    assert_told_alike(twin, world)


# Streams that race.


def test_of_two_streams_that_race_the_newer_plays_and_the_older_is_not_heard(folder):
    """Each time a bot comes, a second stream of it comes as well; in either order."""
    orders = orders_of("abstrac", players_of("abstrac"), matches=2)
    twin = play(folder, orders, players_of("abstrac", **TOGETHER))
    olds = []

    def race(world, player, session):
        old, player.line = player.line, type(player.line)()
        epoch = session.epoch
        world.arena.hello(player.opened(), player.line)
        assert session.epoch == epoch + 1
        assert (old.closed, player.line.closed) == (True, False)
        assert old.verdict.reason == "TAKEN_OVER"
        olds.append(old)
        for number in player.told.asks:
            wrong = play_pb2.Answers(answers=[play_pb2.Answer(ask_id=number, index=99)])
            said = play_pb2.BotMessage(answers=wrong).SerializeToString()
            session.incoming.deliver(old, said, trio.current_time())
        world.arena.hung_up(session, old)
        assert session.connected, "the end of the older stream is not the bot's"

    cuts = cuts_over(twin.boundaries, CutOff, count=20)
    world = play(folder, orders, players_of("abstrac", **TOGETHER), cuts, at_connection=race)
    assert len(olds) > 20
    assert_told_alike(twin, world)
    assert all(not player.closed for player in world.players)


# Answers that are said again.


class Repeating(Player):
    """A bot that says its last answers again on each stream, whoever asked."""

    def receive(self, data):
        super().receive(data)
        if play_pb2.ArenaMessage.FromString(data).HasField("welcome"):
            self.say(answers=play_pb2.Answers(answers=self.again(self.last())))

    def last(self):
        """Its last answer in each match."""
        last = {number >> 20: self.answers[number] for number in sorted(self.answers)}
        return [*last.values()]

    def again(self, answers):
        return answers


class Contradicting(Repeating):
    """A bot that says something else to what it has answered."""

    def again(self, answers):
        settled = {answer.ask_id for answer in answers}
        settled -= {ask.ask_id for ask in self.welcomes[-1].open_asks}
        return [play_pb2.Answer(ask_id=number, index=400) for number in sorted(settled)]


@pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES, EACH_GAME), ids=[game.id for game in GAMES]
)
def test_the_same_answer_said_again_is_known(folder, game):
    """However it is said: by index, or typed as the bot typed it."""
    orders = orders_of(game.id, players_of(game.id), matches=1)
    twin = play(folder, orders, players_of(game.id))
    bots = [Repeating(player.name) for player in twin.players]
    world = play(folder, orders, bots, cuts_over(twin.boundaries, CutOff, Killed, count=8))
    assert_told_alike(twin, world)
    assert [refusal.text for player in bots for refusal in player.refusals] == []


@EVERY_CUT
@pytest.mark.parametrize("game_id", ["abstrac", "democracy"])
def test_another_answer_to_what_is_settled_changes_nothing(folder, game_id, what):
    orders = orders_of(game_id, players_of(game_id), matches=2)
    twin = play(folder, orders, players_of(game_id, **TOGETHER))
    bots = [Contradicting(player.name, **TOGETHER) for player in twin.players]
    world = play(folder, orders, bots, cuts_over(twin.boundaries, what, count=20))
    assert_told_alike(twin, world)
    reasons = {refusal.reason for player in bots for refusal in player.refusals}
    assert reasons == {play_pb2.REFUSAL_REASON_ALREADY_ANSWERED}


# Faults before a cut, and after it.


def strays(ask):
    """Answers some asks; is mute, wrong or senseless at others, by the decision's number."""
    answer, kind = chooses(ask), ask.decision % 5
    if kind == 1:
        return None
    if kind == 2:
        return play_pb2.Answer(ask_id=ask.ask_id, index=400)
    return play_pb2.Answer(ask_id=ask.ask_id) if kind == 3 else answer


@pytest.mark.slow
@EVERY_CUT
@pytest.mark.parametrize("game_id", ["abstrac", "chinese_poker", "pineapple"])
def test_faults_are_told_alike_and_once(folder, game_id, what):
    """Until the bot forfeits, and from there on."""
    orders = orders_of(game_id, players_of(game_id), matches=2, fault_limit=4)

    def bots():
        # One bot only: of simultaneous faults, that stands first which came first.
        first, *others = players_of(game_id)
        return [Player(first.name, strays), *others]

    twin = play(folder, orders, bots())
    outcomes = [twin.outcome(order.deal_set) for order in orders]
    faults = {fault.kind for outcome in outcomes for fault in outcome.faults}
    assert faults == {FaultKind.TIMEOUT, FaultKind.ILLEGAL, FaultKind.MALFORMED}
    begun = twin.boundaries // 4
    cuts = {begun + at: what for at in cuts_over(twin.boundaries - begun, what)}
    world = play(folder, orders, bots(), cuts)
    assert_told_alike(twin, world)


# Heavy steps.


class Slow(InlineSteps):
    """Takes a while for a step, so that all may be cut in the middle of it."""

    steps = 0

    async def step(self, game_id, state, chosen, deals, ticket):
        Slow.steps += 1
        await trio.sleep(3.0)
        return await super().step(game_id, state, chosen, deals)


@pytest.mark.slow
@EVERY_CUT
@pytest.mark.parametrize("module", [abstrac, democracy], ids=["in turn", "all at once"])
def test_a_heavy_step_in_flight_is_taken_again(folder, monkeypatch, module, what):
    """Its decisions are written down, and it is not asked for twice."""
    monkeypatch.setattr(module, "heavy", lambda state, seat, move: True, raising=False)
    game_id = module.__name__.split(".")[-2]
    orders = orders_of(game_id, players_of(game_id), matches=1)
    twin = play(folder, orders, players_of(game_id), workers=Slow)
    assert Slow.steps > 5

    def flush(world, player, step):
        # As when another match has something to tell.
        world.journal.flush()

    taken = [at for at, step in enumerate(twin.steps) if step == "taken"]
    cuts = dict.fromkeys(spread(taken, 10), what)
    world = play(folder, orders, players_of(game_id), cuts, workers=Slow, at_boundary=flush)
    assert_told_alike(twin, world)


@pytest.mark.slow
def test_a_rule_that_is_tried_out_in_a_worker_is_tried_again(folder):
    """The dealer of Eleusis has thought of a rule of its own: trying it is a heavy step."""
    rule = "card.color != last.color || card.rank == last.rank"

    def invents(ask):
        moves = ask.eleusis.moves
        if moves[0].verb == RULE_VERB:
            move = eleusis_pb2.EleusisMove(verb=RULE_VERB, text=rule)
            return play_pb2.Answer(ask_id=ask.ask_id, move=game_pb2.GameMove(eleusis=move))
        return chooses(ask)

    bots = partial(players_of, "eleusis", script=invents)
    orders = orders_of("eleusis", bots(), matches=1)
    twin = play(folder, orders, bots(), workers=Slow)
    first = twin.steps.index("taken")
    world = play(
        folder,
        orders,
        bots(),
        {first: Killed, first + 12: Killed},
        workers=Slow,
        at_boundary=lambda world, player, step: world.journal.flush(),
    )
    assert_told_alike(twin, world)


# Matches that a schedule orders, of a deal-set that is open.


def test_scheduled_matches_go_on_when_they_are_ordered_again(folder):
    bots = partial(players_of, "democracy", **TOGETHER)
    orders = [deal_set_of(orders_of("democracy", bots(), matches=2, seed="one"), "set")]
    twin = play(folder, orders, bots(), scheduled=True)
    cuts = cuts_over(twin.boundaries * 2 // 3, Killed, count=6)
    world = play(folder, orders, bots(), cuts, scheduled=True)
    assert world.lives == 6
    assert_told_alike(twin, world)


# The SDK, over a fair deal.


@EVERY_CUT
def test_an_author_is_told_everything_once(folder, what):
    """Starts, asks, ends and events: what happens to the streams is the SDK's business."""
    orders = orders_of("pineapple", players_of("pineapple"), matches=2)
    bots = [SdkPlayer(f"b{at}", max_open_asks=3) for at in range(3)]
    twin = play(folder, orders, bots)
    others = [SdkPlayer(f"b{at}", max_open_asks=3) for at in range(3)]
    world = play(folder, orders, others, cuts_over(twin.boundaries, what))
    assert_told_alike(twin, world)
    for bot, other in zip(bots, others, strict=True):
        assert len(set(other.author)) == len(other.author), "nothing is told twice"
        missed = 2 - len(other.told.ends)
        assert sum(each[0] == "end" for each in other.author) == 2
        assert sum(each[2:] == (Ending.COMPLETED,) for each in other.author) == 2 - missed
        events, expected = other.events_by_match(), bot.events_by_match()
        for match, heard in expected.items():
            assert events[match] == heard[: len(events[match])], "no gap, and nothing twice"
            assert missed or events[match] == heard


@EVERY_CUT
def test_a_fair_deal_is_the_same_one_after_a_cut(folder, what):
    def bots():
        return [SdkPlayer(f"b{at}", adds_entropy=True) for at in range(2)]

    orders = orders_of("abstrac", bots(), matches=1, seed="")
    length = play(folder, orders, bots()).boundaries
    agreed = 14
    for first in (agreed, agreed + 5, length // 3, length * 2 // 3):
        world = play(folder, orders, bots(), {first: what, first + 3: what})
        for player in world.players:
            (start,) = player.told.starts.values()
            context = play_pb2.MatchStart.FromString(start).deal_context
            opened = [each.deal_open.context for each in player.deals if each.HasField("deal_open")]
            assert context == opened[-1]
            assert not player.sdk.lies
        assert world.outcome(orders[0].deal_set).ending is Ending.COMPLETED
