"""Fair deals over real sockets: two bots that add entropy, the server, its files and replays."""

import io
import threading
from contextlib import contextmanager

import pytest

from arena.bots.tokens import Tokens
from arena.games.catalogue import GAMES
from arena.records.deal_book import read_log
from arena.records.fairness import shown_transcript
from arena.records.read import Replay
from arena.records.signing import is_signed, kept_key, require_signed_by, transcript_statement
from arena.records.verify import verify
from arena.testing.orders import match_request
from cardarena import _deals as sdk
from cardarena.v1 import play_pb2, replay_pb2
from tests.doubles.streams import PATIENCE_S, Client
from tests.live.running import running

SUPPORT = [play_pb2.GameSupport(game=game.id) for game in GAMES]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


class Bot:
    """A bot on a raw stream, with the SDK's own side of fair deals."""

    def __init__(self, address, name, *, adds_entropy=True):
        self.client = Client(address)
        self.name = name
        self.adds_entropy = adds_entropy
        self.brain = sdk.Deals()
        self.told = []
        self.contexts = []
        """Of the deal-sets that matches began with."""
        self.dial()

    def dial(self):
        hello = {"games": SUPPORT, "adds_entropy": self.adds_entropy}
        self.stream = self.client.stream(f"guest:{self.name}", **hello)
        self.stream.expect("welcome")

    def until(self, *kinds):
        """Play and take part until a message of one of these kinds comes; it is not answered."""
        while True:
            message = self.stream.next()
            assert isinstance(message, play_pb2.ArenaMessage), message
            kind = message.WhichOneof("body")
            self.told.append(kind)
            if kind == "match_start":
                self.contexts.append(message.match_start.deal_context)
            if kind in kinds:
                return getattr(message, kind)
            self.answer(message)

    def answer(self, message):
        kind = message.WhichOneof("body")
        if kind == "asks":
            answers = [play_pb2.Answer(ask_id=ask.ask_id, index=0) for ask in message.asks.asks]
            self.stream.answer(*answers)
        react = {
            "deal_open": self.brain.on_open,
            "deal_transcript": self.brain.on_transcript,
            "deal_close": self.brain.on_close,
            "match_start": self.brain.on_match_start,
            "match_end": self.brain.on_match_end,
        }
        if kind in react:
            for said in react[kind](getattr(message, kind)).send:
                self.stream.send(said.SerializeToString())

    def take(self, kind):
        """Wait for a message and answer it."""
        body = self.until(kind)
        self.answer(play_pb2.ArenaMessage(**{kind: body}))
        return body

    def settle(self):
        """Wait until the arena has taken all that was said: it takes messages in order."""
        self.stream.say(deal_commit=play_pb2.DealCommit(context=b"?"))
        self.take("refusal")

    def close(self):
        self.stream.hang_up()
        self.client.channel.close()


@contextmanager
def bots_at(address, *names, bare=()):
    bots = [Bot(address, name, adds_entropy=name not in bare) for name in names]
    try:
        yield bots
    finally:
        for bot in bots:
            bot.close()


def together(*calls):
    """Run the calls, each on a thread of its own; what they return."""
    results = {}

    def run(at, call):
        results[at] = call()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    return [results[at] for at in range(len(calls))]


def create(bot, *names):
    request = match_request("abstrac", names)
    return bot.client.lobby.CreateMatch(request).match.match_id


def replay_of(bot, match_id):
    """The replay, which is there before the deal is closed."""
    request = replay_pb2.GetReplayRequest(replay_id=match_id)
    data = b"".join(piece.piece for piece in bot.client.replays.GetReplay(request))
    return Replay.read(io.BytesIO(data))


@pytest.mark.parametrize(("bare", "entropy"), [((), 2), (("bob",), 1)], ids=["all", "a bare bot"])
def test_a_match_by_a_fair_deal_is_proved_by_its_replay_and_the_public_log(bare, entropy, folder):
    with (
        running(folder, Tokens(guests=True)) as arena,
        bots_at(arena.address, "ann", "bob", bare=bare) as (ann, bob),
    ):
        match_id = create(ann, "ann", "bob")
        last = "match_end" if bare else "deal_close"
        closed, _ = together(lambda: ann.take("deal_close"), lambda: bob.take(last))
        assert not closed.void_reason
        assert ann.contexts == [closed.context]
        assert len({*ann.contexts, *bob.contexts, closed.deal}) == 3
        assert ann.brain.lies == bob.brain.lies == []
        order = [kind for kind in ann.told if kind != "asks"]
        assert order == [
            "deal_open",
            "deal_transcript",
            "match_start",
            "match_end",
            "deal_close",
        ]
        if bare:
            assert not any(kind.startswith("deal") for kind in bob.told)
        replay = replay_of(ann, match_id)
        assert str(verify(replay).fairness) == f"fair deal, entropy from {entropy} of 2"
        fair_deal = replay.opened.fair_deal
        log = read_log(folder / "commitments")
        assert log.heads[closed.deal] == fair_deal.log_head
        assert log.committed[closed.deal].server_commitment == fair_deal.server_commitment
        assert log.opened[closed.deal].secret == replay.revealed.secret == closed.secret
        assert log.unopened == set()


def test_what_bots_are_shown_and_every_replay_is_signed_by_the_arena_of_the_folder(folder):
    with (
        running(folder, Tokens(guests=True)) as arena,
        bots_at(arena.address, "ann", "bob") as (ann, bob),
    ):
        key = kept_key(folder).public_key
        match_id = create(ann, "ann", "bob")
        together(lambda: ann.take("match_end"), lambda: bob.take("match_end"))
        deals = [deal for bot in (ann, bob) for deal in bot.brain._deals.values()]
        together(lambda: ann.take("deal_close"), lambda: bob.take("deal_close"))
        replay = replay_of(ann, match_id)
    require_signed_by(replay, key)
    assert len({deal.transcript for deal in deals}) == 2
    for deal in deals:
        assert deal.public_key == key
        shown = shown_transcript(replay.opened, deal.participant, deal.server_commitment)
        assert deal.transcript == shown
        assert is_signed(key, deal.signature, transcript_statement(shown))
    assert kept_key(folder).public_key == key


def test_a_bot_that_is_cut_off_in_between_goes_on_with_its_commitment(folder):
    with (
        running(folder, Tokens(guests=True)) as arena,
        bots_at(arena.address, "ann", "bob") as (ann, bob),
    ):
        create(ann, "ann", "bob")
        waiting = ann.until("deal_open")  # nothing is shown before she has committed
        bob.take("deal_open")
        bob.settle()
        bob.stream.hang_up()
        ann.answer(play_pb2.ArenaMessage(deal_open=waiting))
        ann.take("deal_transcript")
        bob.dial()
        together(lambda: ann.take("deal_close"), lambda: bob.take("deal_close"))
        assert ann.brain.lies == bob.brain.lies == []
        assert bob.told.count("deal_transcript") == 1


@pytest.mark.slow
def test_bots_that_deal_a_lot_at_once_are_no_flood(folder):
    matches = 60
    with (
        running(folder, Tokens(guests=True)) as arena,
        bots_at(arena.address, "ann", "bob") as (ann, bob),
    ):
        for bot in (ann, bob):
            bot.stream.say(ready=play_pb2.Ready(max_matches=matches))
            bot.settle()
        for _ in range(matches):
            create(ann, "ann", "bob")

        def take_part(bot):
            for _ in range(matches):
                bot.take("deal_close")

        together(lambda: take_part(ann), lambda: take_part(bob))
        assert ann.brain.lies == bob.brain.lies == []
        log = read_log(folder / "commitments")
        assert len(log.opened) == matches
        assert not any(opened.void_reason for opened in log.opened.values())
