"""A fair deal with a bot that says anything in place of its commitment and its opening."""

import logging
import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st

from arena.bots.bot_ids import BotId
from arena.records.deal_book import read_log
from tests.fuzz.target import Target, packed, unpacked
from tests.live.dealing import Bot, in_world, order_of

MAX_ATTEMPTS = 2
"""A liar is left out at the second one."""


def check_deal_talk(data):
    """The deal is fixed whatever one bot says, and only that bot is ever to blame."""
    said = unpacked(data)[:12]
    halves = {"deal_open": said[0::2], "deal_transcript": said[1::2]}

    def act(kind):
        async def talk(bot, message):
            for each in halves[kind]:
                _say(bot, getattr(message, kind).context, each)
            if each_is_honest(halves[kind]):
                await Bot.answer(bot, message)

        return talk

    async def main(world):
        world.add("ann")
        world.add("wild", acts={kind: act(kind) for kind in halves})
        fixed = await world.deals.fix(order_of("ann", "wild"))
        assert {bot.name for bot in fixed.culprits} <= {"wild"}
        assert world.bots[BotId("ann")].refused == []
        context = fixed.context
        await world.deals.close(context)
        closes = world.bots[BotId("ann")].closes()
        assert closes[-1].deal == context
        assert not closes[-1].void_reason
        assert len(closes) <= MAX_ATTEMPTS
        return world.public

    logging.disable(logging.WARNING)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="fuzz-deal-") as name,
            pytest.MonkeyPatch.context() as patch,
        ):
            log = read_log(in_world(Path(name), patch, main))
    finally:
        logging.disable(logging.NOTSET)
    assert not log.damage
    assert not log.unopened


def _say(bot, context, said):
    """A commitment or an opening, of this deal-set or of another one."""
    of = context if said[:1] != b"o" else said[1:33]
    refused = len(bot.refused)
    if said[-1:] == b"c":
        bot.commit(of, said[:32])
    else:
        bot.reveal(of, said[:32])
    assert len(said) >= 32 or len(bot.refused) == refused + 1, "what is too short is no hash"


def each_is_honest(said):
    """Whether the bot goes on as it should after what it said."""
    return len(said) % 2 == 0


def talks():
    word = st.one_of(
        st.binary(max_size=34),
        st.sampled_from((bytes(32), b"\x01" * 32, b"\x01" * 32 + b"c", bytes(32) + b"c", b"oc")),
    )
    return st.lists(word, max_size=8).map(packed)


DEAL_TALK = Target(
    "deal_talk", "commitments and openings of a fair deal",
    check_deal_talk, talks, short=30,
)  # fmt: skip
