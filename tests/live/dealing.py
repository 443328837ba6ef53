"""Fair deals in memory: bots with the SDK's own side of the protocol, on a mock clock."""

import contextlib
import functools
import os

import trio
from trio.testing import MockClock

from arena.bots.bot_ids import BotId
from arena.live.deals.fair import FairDeals
from arena.live.deals.handshakes import Handshakes
from arena.live.orders import DealSetOrder, TableOrder
from arena.records.deal_book import DEALS_NAME
from arena.records.journal.deal_log import DealLog
from arena.referee.clock import NeverLate
from arena.referee.timers import ArenaTime
from arena.testing.orders import match_order
from cardarena import _deals as sdk
from cardarena.v1 import play_pb2

THINKING_S = 0.1
"""How long a bot takes to answer, on the mock clock."""


def sent_commitment(handshakes, bot, context, commitment):
    """Have a bot commit to its entropy; returns the refusal, or None."""
    commit = play_pb2.DealCommit(context=context, commitment=commitment)
    return handshakes.take(bot, play_pb2.BotMessage(deal_commit=commit))


def sent_opening(handshakes, bot, context, entropy):
    """Have a bot open its commitment; returns the refusal, or None."""
    reveal = play_pb2.DealReveal(context=context, entropy=entropy)
    return handshakes.take(bot, play_pb2.BotMessage(deal_reveal=reveal))


class Bot:
    """A bot that takes part in fair deals, and strays where its `acts` say so.

    `acts` are coroutine functions by kind of message; each is called once, in
    place of the honest answer.
    """

    def __init__(self, world, name, *, instance=0, adds_entropy=True, connected=True, acts=None):
        self.world = world
        self.bot = BotId(name, instance)
        self.adds_entropy = adds_entropy
        self.connected = connected
        self.acts = dict(acts or {})
        self.brain = sdk.Deals()
        self.told = []
        """All messages that came, oldest first."""
        self.refused = []

    def send(self, message):
        assert self.connected
        assert self.adds_entropy
        kind = message.WhichOneof("body")
        self.world.note("send", kind)
        self.told.append(message)
        act = self.acts.pop(kind, None) or Bot.answer
        self.world.nursery.start_soon(act, self, message)

    def send_until_received(self, context, message):
        assert message.deal_close.context == context
        if self.connected:
            self.send(message)

    async def answer(self, message):
        """What an honest bot does."""
        react = {
            "deal_open": self.brain.on_open,
            "deal_transcript": self.brain.on_transcript,
            "deal_close": self.brain.on_close,
        }[message.WhichOneof("body")]
        said = react(getattr(message, message.WhichOneof("body"))).send
        await trio.sleep(THINKING_S)
        for each in said:
            self.say(each)

    def say(self, message):
        refusal = self.world.handshakes.take(self.bot, message)
        if refusal is not None:
            self.refused.append(reason(refusal))

    def commit(self, context, commitment):
        commit = play_pb2.DealCommit(context=context, commitment=commitment)
        self.say(play_pb2.BotMessage(deal_commit=commit))

    def reveal(self, context, entropy):
        reveal = play_pb2.DealReveal(context=context, entropy=entropy)
        self.say(play_pb2.BotMessage(deal_reveal=reveal))

    def go(self):
        self.connected = False

    def come(self):
        self.connected = True
        self.world.handshakes.attached(self.bot)

    def kinds(self):
        return [message.WhichOneof("body") for message in self.told]

    def closes(self):
        return [message.deal_close for message in self.told if message.HasField("deal_close")]


def reason(refusal):
    assert refusal.text
    name = play_pb2.RefusalReason.Name(refusal.reason)
    return name.removeprefix("REFUSAL_REASON_")


class World:
    """An arena's fair deals and its bots, with files in `folder`."""

    def __init__(self, folder, nursery, *, lag=None, note=lambda *_: None):
        self.nursery = nursery
        self.secrets = folder / "journal" / DEALS_NAME
        self.public = folder / "commitments"
        self.log = DealLog(self.secrets.parent, public=self.public)
        self.bots = {}
        self.note = note
        self.handshakes = Handshakes(
            self.bots.get, ArenaTime(trio.current_time, lag=lag or NeverLate())
        )
        self.deals = FairDeals(self.log, "arena", self.handshakes, draw=os.urandom)

    def add(self, name, **kwargs):
        bot = Bot(self, name, **kwargs)
        self.bots[bot.bot] = bot
        return bot


def order_of(*names, deal_set="g1", game_id="democracy"):
    """A deal-set of matches in which every bot sits at every seat once."""
    bots = tuple(BotId(name) for name in names)
    tables = tuple(
        TableOrder(f"{deal_set}-{turn}", bots[turn:] + bots[:turn], turn)
        for turn in range(len(bots))
    )
    return DealSetOrder(deal_set, match_order(game_id, bots).terms, tables)


def in_world(folder, monkeypatch, main, **kwargs):
    """Run `main(world)` on a mock clock; the world ends with it."""

    async def inline(call, *args):
        # The clock would jump while a thread is waited for.
        await trio.lowlevel.checkpoint()
        return call(*args)

    monkeypatch.setattr(trio.to_thread, "run_sync", inline)

    async def run():
        async with trio.open_nursery() as nursery:
            world = World(folder, nursery, **kwargs)
            try:
                with trio.fail_after(10_000):
                    result = await main(world)
            finally:
                with contextlib.suppress(Exception):
                    world.log.close()
            nursery.cancel_scope.cancel()
        return result

    return trio.run(functools.partial(run), clock=MockClock(autojump_threshold=0))
