"""Fair deals against every kind of bot, a slow arena, and an arena that is killed."""

import contextlib
import dataclasses
import hashlib
import itertools
import os

import pytest
import trio

from arena import durable_files
from arena.bots.bot_ids import BotId
from arena.durable_files import Unwritten
from arena.games.catalogue import GAMES, game_by_id
from arena.live.deals import handshakes as deals_module
from arena.live.deals.deal_sets import DealSets
from arena.live.deals.deal_time import DEAL_TIME_S, FREE_S, REGAINED_PER_S, STEP_S
from arena.live.deals.fair import FairDeals
from arena.live.orders import TableOrder
from arena.records import records
from arena.records.deal_book import read_deals, read_log, view_of
from arena.records.journal.deal_log import STOPPED
from arena.referee.deal import (
    NO_COMMITMENT,
    DealTerms,
    context,
    opened_key,
    plan_hash,
    pseudonym,
    rules_hash,
    setting_texts,
    transcript,
)
from arena.referee.spec import FaultKind, ForfeitedSeat
from arena.referee.wire.settings import settings_of_options, values_of_settings
from arena.store.data_folder import arena_id
from arena.testing.deals import RecordedDeals, UnshuffledDeals
from cardarena.v1 import journal_pb2
from tests.fuzz.calls import House
from tests.live.dealing import (
    THINKING_S,
    Bot,
    in_world,
    order_of,
    reason,
    sent_commitment,
    sent_opening,
)


def one_table(order):
    """The same deal-set with its first table alone."""
    return dataclasses.replace(order, tables=order.tables[:1])


TIMEOUT, MALFORMED = FaultKind.TIMEOUT, FaultKind.MALFORMED


# What a bot may do instead of the honest thing.


async def nothing(bot, message):
    pass


def after(seconds, act=Bot.answer):
    async def late(bot, message):
        await trio.sleep(seconds)
        await act(bot, message)

    return late


def away(seconds, act=None, then=None):
    """Goes, and comes back after `seconds`; it is then told again what it missed."""

    async def leave(bot, message):
        if act is not None:
            await act(bot, message)
        bot.go()
        await trio.sleep(seconds)
        if then is not None:
            bot.acts["deal_transcript"] = then
        bot.come()

    return leave


async def opens_wrongly(bot, message):
    bot.reveal(message.deal_transcript.context, b"x" * 32)


async def opens_briefly(bot, message):
    bot.reveal(message.deal_transcript.context, b"x" * 31)


async def opens_wrongly_then_rightly(bot, message):
    await opens_wrongly(bot, message)
    await bot.answer(message)


async def opens_briefly_then_rightly(bot, message):
    await opens_briefly(bot, message)
    await bot.answer(message)


async def commits_to_nothing(bot, message):
    bot.commit(message.deal_open.context, NO_COMMITMENT)


async def copies(bot, message):
    """Opens with what another has told, as if it had committed to the same."""
    (other,) = (each for each in bot.world.bots.values() if each.bot.name == "cat")
    await trio.sleep(2 * THINKING_S)
    bot.reveal(message.deal_transcript.context, entropy_of(other))


def entropy_of(bot):
    (deal,) = bot.brain._deals.values()
    return deal.entropy


def flickers(away_s, here_s, times):
    """Comes and goes, and never opens its commitment."""

    async def flicker(bot, message):
        for _ in range(times):
            bot.acts["deal_transcript"] = nothing
            bot.go()
            await trio.sleep(away_s)
            bot.come()
            await trio.sleep(here_s)

    return flicker


def acts(**kinds):
    return {"acts": kinds}


SLOW = acts(deal_open=after(1))
BARE = {"adds_entropy": False}
GONE = {"connected": False}


# Cat is always honest. Each row: what ann and bob do, who adds entropy in the end,
# who is to blame, and how long it takes.
HONEST_S = 2 * THINKING_S
# fmt: off
BEHAVIOUR = [
    ({}, {},                                          "ann bob cat", {},               HONEST_S, "all take part"),
    ({}, BARE,                                        "ann cat",     {},               HONEST_S, "one is a bare bot"),
    (BARE, BARE,                                      "cat",         {},               HONEST_S, "all but one are bare bots"),
    ({}, GONE,                                        "ann cat",     {},               HONEST_S, "one is away"),
    ({}, None,                                        "ann cat",     {},               HONEST_S, "one was never seen"),
    ({}, acts(deal_open=commits_to_nothing),          "ann cat",     {},               HONEST_S, "one takes no part, and says so"),
    ({}, acts(deal_open=nothing),                     "ann cat",     {},               STEP_S + THINKING_S, "one does not commit"),
    ({}, acts(deal_open=after(4)),                    "ann bob cat", {},               4 + HONEST_S, "one commits slowly"),
    ({}, acts(deal_open=after(6)),                    "ann cat",     {},               STEP_S + THINKING_S, "one commits too late"),
    ({}, acts(deal_open=away(2)),                     "ann bob cat", {},               2 + HONEST_S, "one is away before it commits, and back in time"),
    ({}, acts(deal_open=away(6)),                     "ann cat",     {},               STEP_S + THINKING_S, "one is away before it commits, and back too late"),
    (SLOW, acts(deal_open=away(3, Bot.answer)),         "ann bob cat", {},               3 + HONEST_S, "one is away after it committed, and back in time"),
    ({}, acts(deal_transcript=after(4)),              "ann bob cat", {},               4 + HONEST_S, "one opens slowly"),
    ({}, acts(deal_transcript=away(4)),               "ann bob cat", {},               4 + HONEST_S, "one is away before it opens, and back in time"),
    ({}, acts(deal_transcript=after(3, away(1))),     "ann bob cat", {},               4 + HONEST_S, "one comes back with 1 s left to open"),
    ({}, acts(deal_transcript=after(3, away(1, after(0, opens_briefly)))),
                                                      "ann bob cat", {},               4 + HONEST_S, "a bad opening does not count, the later one does"),
    ({}, acts(deal_transcript=nothing),               "ann cat",     {"bob": TIMEOUT}, THINKING_S + STEP_S + HONEST_S, "one does not open"),
    ({}, acts(deal_transcript=after(6)),              "ann cat",     {"bob": TIMEOUT}, THINKING_S + STEP_S + HONEST_S, "one opens too late"),
    ({}, acts(deal_transcript=away(99)),              "ann cat",     {"bob": TIMEOUT}, THINKING_S + STEP_S + HONEST_S, "one commits and hangs up"),
    ({}, acts(deal_transcript=away(3, then=after(4))), "ann cat", {"bob": TIMEOUT}, THINKING_S + STEP_S + HONEST_S, "one is away for so long that it has no time left"),
    (SLOW, acts(deal_open=away(99, Bot.answer)),        "ann cat",     {"bob": TIMEOUT}, 1 + THINKING_S + STEP_S + HONEST_S, "one is away after it committed, and back too late"),
    ({}, acts(deal_transcript=flickers(0.4, 1.1, 9)),   "ann cat",     {"bob": TIMEOUT}, THINKING_S + STEP_S + HONEST_S, "one comes and goes, which gains it no time"),
    ({}, acts(deal_transcript=opens_wrongly),         "ann cat",     {"bob": MALFORMED}, HONEST_S + HONEST_S, "one opens wrongly"),
    ({}, acts(deal_transcript=opens_wrongly_then_rightly), "ann cat", {"bob": MALFORMED}, HONEST_S + HONEST_S, "one opens wrongly, then rightly"),
    ({}, acts(deal_transcript=copies),                "ann cat",     {"bob": MALFORMED}, 3 * THINKING_S + HONEST_S, "one opens with another's entropy"),
    ({}, acts(deal_transcript=opens_briefly),         "ann cat",     {"bob": TIMEOUT}, THINKING_S + STEP_S + HONEST_S, "one opens with too few bytes, and never again"),
    ({}, acts(deal_transcript=opens_briefly_then_rightly), "ann bob cat", {},          HONEST_S, "one opens with too few bytes, then rightly"),
    (acts(deal_transcript=nothing), acts(deal_transcript=opens_wrongly),
                                                      "cat", {"ann": TIMEOUT, "bob": MALFORMED}, THINKING_S + STEP_S + HONEST_S, "two are to blame at once"),
    (acts(deal_transcript=nothing), BARE,             "cat",         {"ann": TIMEOUT}, THINKING_S + STEP_S + HONEST_S, "one is to blame, beside a bare bot"),
]
# fmt: on


@pytest.mark.parametrize(
    ("ann", "bob", "adding", "blamed", "seconds", "why"), BEHAVIOUR, ids=[r[5] for r in BEHAVIOUR]
)
def test_whatever_bots_do(ann, bob, adding, blamed, seconds, why, tmp_path, monkeypatch):
    async def main(world):
        bots = {
            name: world.add(name, **how)
            for name, how in (("ann", ann), ("bob", bob), ("cat", {}))
            if how is not None
        }
        began_s = trio.current_time()
        fixed = await world.deals.fix(order_of("ann", "bob", "cat"))
        assert trio.current_time() - began_s == pytest.approx(seconds, abs=0.01)
        assert {bot.name: each.kind for bot, each in fixed.culprits.items()} == blamed

        # The packs follow from what was shown, and from nothing else.
        fair = fixed.fair_deal
        names = [participant.participant for participant in fair.participants]
        assert names == sorted(names)
        commitments = {
            participant.participant: participant.commitment for participant in fair.participants
        }
        shown = transcript(fixed.context, fair.server_commitment, commitments)
        entropies = dict(zip(names, fixed.opening.entropies, strict=True))
        assert fixed.key == opened_key(
            fixed.context,
            fair.server_commitment,
            commitments,
            shown,
            fixed.opening.secret,
            entropies,
            {
                participant.participant: view_of(fixed.context, participant)
                for participant in fair.participants
            },
        )
        added = [
            participant.bot
            for participant in fair.participants
            if participant.commitment != NO_COMMITMENT
        ]
        assert sorted(added) == adding.split()

        # Bots that took part agree, and were not lied to.
        await world.deals.close(fixed.context)
        await trio.sleep(1)
        for name, each in bots.items():
            assert each.brain.lies == []
            voids = [bool(close.void_reason) for close in each.closes()]
            if name in added:
                assert voids == [True] * (len(voids) - 1) + [False]
                assert each.closes()[-1].deal == fixed.context
            if not each.adds_entropy:
                assert each.told == []
        attempts = 1 if not blamed else 2
        public = read_log(world.public)
        assert len(public.committed) == len(public.opened) == attempts
        assert public.damage == []
        digest = hashlib.sha256(fixed.key).digest()
        opened = journal_pb2.Opened(deal_key_sha256=digest, fair_deal=fair)
        assert read_deals(world.secrets).opening(opened) == fixed.opening

    in_world(tmp_path, monkeypatch, main)


def test_bare_bots_are_not_waited_for(tmp_path, monkeypatch):
    async def main(world):
        bots = [world.add(name, adds_entropy=False) for name in ("ann", "bob")]
        began_s = trio.current_time()
        fixed = await world.deals.fix(order_of("ann", "bob"))
        assert trio.current_time() == began_s
        assert fixed.opening.entropies == (b"", b"")
        await world.deals.close(fixed.context)
        assert [bot.told for bot in bots] == [[], []]

    in_world(tmp_path, monkeypatch, main)


# What others wait for a bot is the bot's own time.


async def seconds_to_fix(world, name):
    """How long three bots wait for a deal-set, and who adds entropy to it."""
    began_s = trio.current_time()
    fixed = await world.deals.fix(order_of("ann", "bob", "cat", deal_set=name))
    adding = {
        participant.bot
        for participant in fixed.fair_deal.participants
        if participant.commitment != NO_COMMITMENT
    }
    return trio.current_time() - began_s, adding


def again(act, kind):
    """Does the same at every message of a kind."""

    async def acting(bot, message):
        bot.acts[kind] = again(act, kind)
        await act(bot, message)

    return acting


def commit_deadlines(bot):
    """How long the bot was told, at each deal-set, that it has to commit, in milliseconds."""
    return [message.deal_open.deadline_ms for message in bot.told if message.HasField("deal_open")]


# fmt: off
HABITS = [
    (nothing,          "deal_open",       "is silent when it is to commit"),
    (nothing,          "deal_transcript", "is silent when it is to open"),
    (away(60),         "deal_transcript", "leaves when it is to open"),
    (after(2.4),       "deal_open",       "always commits late"),
    (after(2.4),       "deal_transcript", "always opens late"),
]
# fmt: on


@pytest.mark.parametrize(("act", "kind", "why"), HABITS, ids=[row[-1] for row in HABITS])
def test_who_keeps_others_waiting_uses_up_its_own_time_and_is_waited_for_no_more(
    act, kind, why, tmp_path, monkeypatch
):
    async def main(world):
        for name in ("ann", "cat"):
            world.add(name)
        bob = world.add("bob", acts={kind: again(act, kind)})
        waits, deal_sets = [], 60
        for number in range(deal_sets):
            if not bob.connected:
                bob.come()
            seconds, adding = await seconds_to_fix(world, f"g{number}")
            waits.append(seconds)
            assert {"ann", "cat"} <= adding
        # A deal-set is agreed again if a commitment is not opened.
        others_s = 2 * HONEST_S * deal_sets
        free_s = FREE_S * deal_sets if why.startswith("always") else 0
        regained_s = sum(waits) * REGAINED_PER_S
        assert sum(waits) <= DEAL_TIME_S + others_s + free_s + regained_s
        assert max(waits) <= STEP_S + 2 * HONEST_S

    in_world(tmp_path, monkeypatch, main)


def test_a_silent_bot_is_waited_for_less_and_less_and_then_dealt_to_without_its_entropy(
    tmp_path, monkeypatch
):
    async def main(world):
        for name in ("ann", "cat"):
            world.add(name)
        bob = world.add("bob", acts={"deal_open": again(nothing, "deal_open")})
        waits = []
        for number in range(6):
            seconds, adding = await seconds_to_fix(world, f"g{number}")
            assert adding == {"ann", "cat"}
            waits.append(round(seconds - THINKING_S, 1))
        assert waits == [5.0, 2.5, 1.3, 1.0, THINKING_S, THINKING_S]
        assert [round(each / 1000, 1) for each in commit_deadlines(bob)] == [5.0, 2.5, 1.3, 1.0]
        # It has its time again after an hour in which it kept nobody waiting.
        bob.acts.clear()
        await trio.sleep(3600)
        seconds, adding = await seconds_to_fix(world, "later")
        assert (seconds, adding) == (pytest.approx(HONEST_S), {"ann", "bob", "cat"})
        assert bob.told[-1].deal_transcript.deadline_ms == STEP_S * 1000

    in_world(tmp_path, monkeypatch, main)


def test_who_answers_within_a_second_never_uses_up_its_time(tmp_path, monkeypatch):
    async def main(world):
        for name in ("ann", "cat"):
            world.add(name)
        slow = {
            "deal_open": again(after(0.8), "deal_open"),
            "deal_transcript": again(after(0.8), "deal_transcript"),
        }
        bob = world.add("bob", acts=slow)
        for number in range(40):
            _, adding = await seconds_to_fix(world, f"g{number}")
            assert adding == {"ann", "bob", "cat"}
        assert bob.told[-1].deal_transcript.deadline_ms == STEP_S * 1000

    in_world(tmp_path, monkeypatch, main)


def test_what_several_deal_sets_wait_at_once_counts_once(tmp_path, monkeypatch):
    async def main(world):
        for name in ("ann", "cat"):
            world.add(name)
        bob = world.add("bob", acts={"deal_open": again(nothing, "deal_open")})
        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(seconds_to_fix, world, f"g{number}")
        await seconds_to_fix(world, "after")
        assert commit_deadlines(bob)[-1] == pytest.approx(2500, abs=20)

    in_world(tmp_path, monkeypatch, main)


def test_the_time_of_one_bot_is_no_other_bots(tmp_path, monkeypatch):
    async def main(world):
        world.add("bob", acts={"deal_open": again(nothing, "deal_open")})
        ann = world.add("ann")
        for number in range(4):
            await world.deals.fix(order_of("ann", "bob", deal_set=f"g{number}"))
        assert {*commit_deadlines(ann)} == {STEP_S * 1000}

    in_world(tmp_path, monkeypatch, main)


def test_what_honest_bots_are_told(tmp_path, monkeypatch):
    async def main(world):
        ann, bob = world.add("ann"), world.add("bob")
        fixed = await world.deals.fix(order_of("ann", "bob"))
        ((context, deal),) = ann.brain._deals.items()
        (bobs,) = bob.brain._deals.values()
        await world.deals.close(fixed.context)
        assert ann.kinds() == bob.kinds() == ["deal_open", "deal_transcript", "deal_close"]
        opened, shown, closed = (message.ListFields()[0][1] for message in ann.told)
        assert opened.context == shown.context == closed.context == context
        assert closed.deal == fixed.context
        assert opened.deadline_ms == STEP_S * 1000
        assert shown.deadline_ms == STEP_S * 1000
        assert closed.void_reason == ""
        names = {opened.participant, bob.told[0].deal_open.participant}
        assert {entropy.participant for entropy in closed.entropies} == names
        # A pseudonym tells nothing of the bot, and is not used again.
        again = await world.deals.fix(order_of("ann", "bob", deal_set="g2"))
        assert not names & {participant.participant for participant in again.fair_deal.participants}
        assert deal.key == fixed.key
        assert deal.opened.transcript == bobs.opened.transcript
        assert deal.transcript != bobs.transcript

    in_world(tmp_path, monkeypatch, main)


def test_who_comes_back_is_told_how_much_time_is_left(tmp_path, monkeypatch):
    async def main(world):
        acts = {"deal_open": away(2), "deal_transcript": after(3, away(1))}
        world.add("ann")
        bob = world.add("bob", acts=acts)
        await world.deals.fix(order_of("ann", "bob"))
        opens = commit_deadlines(bob)
        shown = [
            message.deal_transcript.deadline_ms
            for message in bob.told
            if message.HasField("deal_transcript")
        ]
        assert (opens, shown) == ([5000, 3000, 0], [4450, 450])

    in_world(tmp_path, monkeypatch, main)


def test_who_is_to_blame_is_told_why_and_plays_on_by_fallback(tmp_path, monkeypatch):
    async def main(world):
        world.add("ann")
        bob = world.add("bob", acts={"deal_transcript": opens_wrongly})
        world.add("cat", acts={"deal_transcript": nothing})
        fixed = await world.deals.fix(order_of("ann", "bob", "cat"))
        bots = (BotId("cat"), BotId("ann"), BotId("bob"))
        assert fixed.forfeited_seats(bots) == (
            ForfeitedSeat(0, TIMEOUT, "it did not open its commitment to the deal in time"),
            ForfeitedSeat(2, MALFORMED, "its entropy did not open its commitment to the deal"),
        )
        assert bob.refused == ["MALFORMED"]
        # It is not asked again, and hears why the first attempt is void when the deal-set is over.
        assert bob.kinds() == ["deal_open", "deal_transcript"]
        await world.deals.close(fixed.context)
        assert bob.kinds() == ["deal_open", "deal_transcript", "deal_close", "deal_close"]
        void = bob.closes()[0].void_reason
        assert bob.told[0].deal_open.participant in void
        assert "opened it wrongly" in void
        assert "not open it in time" in void
        assert all(name not in void for name in ("ann", "bob", "cat"))
        # What was opened wrongly is nobody's entropy; what was opened rightly is shown.
        shown = {e.participant: e.entropy for e in bob.closes()[0].entropies}
        assert sorted(map(len, shown.values())) == [0, 0, 32]

    in_world(tmp_path, monkeypatch, main)


def test_each_further_culprit_costs_one_more_attempt_and_then_it_ends(tmp_path, monkeypatch):
    """Bob opens at the first attempt and not at the second."""

    async def turns(bot, message):
        bot.acts["deal_transcript"] = nothing
        await bot.answer(message)

    async def main(world):
        world.add("ann", acts={"deal_transcript": nothing})
        world.add("bob", acts={"deal_transcript": turns})
        fixed = await world.deals.fix(order_of("ann", "bob"))
        assert {bot.name for bot in fixed.culprits} == {"ann", "bob"}
        assert len(read_log(world.public).committed) == 3

    in_world(tmp_path, monkeypatch, main)


def test_a_bot_at_several_seats_takes_part_once(tmp_path, monkeypatch):
    async def main(world):
        world.add("ann")
        fixed = await world.deals.fix(order_of("ann", "ann"))
        assert [participant.bot for participant in fixed.fair_deal.participants] == ["ann"]

    in_world(tmp_path, monkeypatch, main)


def test_each_instance_of_a_bot_answers_for_itself(tmp_path, monkeypatch):
    async def main(world):
        honest = world.add("ann", instance=1)
        liar = world.add("ann", instance=2, acts={"deal_transcript": opens_wrongly})
        order = order_of("ann", "bob")
        table = TableOrder("g1-0", (honest.bot, liar.bot))
        order = dataclasses.replace(order, tables=(table,))
        fixed = await world.deals.fix(order)
        assert order.plan == "g1-0 0 ann/1 ann/2"
        assert list(fixed.culprits) == [liar.bot]
        assert [each.seat for each in fixed.forfeited_seats(table.bots)] == [1]
        assert {participant.instance for participant in fixed.fair_deal.participants} == {1, 2}
        await world.deals.close(fixed.context)
        assert honest.closes()[-1].deal == liar.closes()[-1].deal == fixed.context
        assert honest.closes()[-1].context != liar.closes()[-1].context

    in_world(tmp_path, monkeypatch, main)


def test_deal_sets_are_fixed_at_the_same_time_and_ahead_of_play(tmp_path, monkeypatch):
    async def main(world):
        bots = [world.add(name) for name in ("ann", "bob")]
        fixed = []

        async def fix(deal_set):
            fixed.append(await world.deals.fix(order_of("ann", "bob", deal_set=deal_set)))

        began_s = trio.current_time()
        async with trio.open_nursery() as nursery:
            for at in range(20):
                nursery.start_soon(fix, f"g{at}")
        assert trio.current_time() - began_s == pytest.approx(HONEST_S, abs=0.01)
        assert len({deals.key for deals in fixed}) == 20
        for deals in fixed:
            await world.deals.close(deals.context)
        await trio.sleep(1)
        assert [bot.brain.lies for bot in bots] == [[], []]
        log = read_log(world.public)
        assert (log.unopened, log.damage) == (set(), [])
        for deals in fixed:
            assert log.heads[deals.context] == deals.fair_deal.log_head

    in_world(tmp_path, monkeypatch, main)


# The terms.


@pytest.mark.parametrize("game_id", [game.id for game in GAMES])
def test_the_context_binds_what_a_replay_says(game_id, tmp_path, monkeypatch):
    async def main(world):
        game = game_by_id(game_id)
        order = order_of(*(f"bot{at}" for at in range(game.seats[0])), game_id=game_id)
        fixed = await world.deals.fix(order)
        fair, opening = fixed.fair_deal, fixed.opening
        settings = values_of_settings(settings_of_options(game, order.terms.options))
        rules = rules_hash(game_id, game.rules_version, setting_texts(settings))
        noted = RecordedDeals(UnshuffledDeals())
        game.rules.start(order.terms.options, game.seats[0], noted)
        first = noted.shuffles[0].cards if noted.shuffles else ()
        assert fair.rules_hash == rules
        assert list(fair.deck) == [str(card) for card in first]
        assert fair.plan_hash == plan_hash(opening.plan, opening.plan_salt)
        participants = tuple(participant.participant for participant in fair.participants)
        head = bytes(32)
        terms = DealTerms(
            "arena", "g1", game_id, rules, tuple(fair.deck), 0, fair.plan_hash, participants, head
        )
        assert fixed.context == context(terms)

    in_world(tmp_path, monkeypatch, main)


def test_the_plan_names_matches_rotations_and_bots():
    assert order_of("ann", "b b").plan == "g1-0 0 ann/0 b%20b/0\ng1-1 1 b%20b/0 ann/0"


# What cannot be taken.


class Told:
    """Bob's situation when he says something out of turn."""

    def __init__(self, world, bob, context):
        self.world, self.bot, self.context = world, bob.bot, context
        deal = bob.brain._deals[context]
        self.entropy, self.commitment = deal.entropy, deal.commitment


async def listens(bot, message):
    """Takes a message in, and says nothing."""
    if message.HasField("deal_open"):
        bot.brain.on_open(message.deal_open)
    else:
        bot.brain.on_transcript(message.deal_transcript)


# What ann and bob do, and when bob speaks: ann keeps the handshake from going on.
WHEN = {
    "asked": ({}, {"deal_open": listens}, 0.05),
    "late": ({}, {"deal_open": listens}, STEP_S + 0.05),
    "committed": ({"deal_open": after(4)}, {}, 0.15),
    "shown": ({}, {"deal_transcript": listens}, 0.15),
    "opened": ({"deal_transcript": after(4)}, {}, 0.25),
    # bob committed slowly, so he has 3.45 s to open where ann has 5.
    "unopened": (
        {"deal_transcript": after(4.5)},
        {"deal_open": after(4), "deal_transcript": listens},
        8,
    ),
    "fixed": ({}, {}, 1),
    "over": ({}, {}, 1),
}


def commits(what):
    return lambda it: sent_commitment(it.world.handshakes, it.bot, it.context, what(it))


def reveals(what):
    return lambda it: sent_opening(it.world.handshakes, it.bot, it.context, what(it))


OTHER = b"o" * 32
# fmt: off
MESSAGES = [
    ("asked",     commits(lambda it: b"short"),       "MALFORMED",        "a commitment of another length"),
    ("asked",     reveals(lambda it: it.entropy),     "OUT_OF_ORDER",     "an opening before the commitment"),
    ("asked",     lambda it: sent_commitment(it.world.handshakes, it.bot, b"?" * 32, OTHER),
                                                      "UNKNOWN_DEAL",      "a commitment to another deal-set"),
    ("asked",     lambda it: sent_opening(it.world.handshakes, it.bot, b"", OTHER),
                                                      "UNKNOWN_DEAL",      "an opening without a context"),
    ("asked",     lambda it: sent_commitment(it.world.handshakes, BotId("eve"), it.context, OTHER),
                                                      "UNKNOWN_DEAL",      "a commitment of one who has no seat"),
    ("asked",     lambda it: sent_opening(it.world.handshakes, BotId("eve"), it.context, OTHER),
                                                      "UNKNOWN_DEAL",      "an opening of one who has no seat"),
    ("asked",     lambda it: sent_commitment(it.world.handshakes, BotId("dan"), it.context, OTHER),
                                                      "UNKNOWN_DEAL",      "a commitment of a bare bot"),
    ("asked",     lambda it: sent_opening(it.world.handshakes, BotId("dan"), it.context, OTHER),
                                                      "UNKNOWN_DEAL",      "an opening of a bare bot"),
    ("asked",     lambda it: sent_commitment(it.world.handshakes, BotId("ann"), it.context, OTHER),
                                                      "UNKNOWN_DEAL",      "a commitment under another bot's context"),
    ("committed", lambda it: sent_opening(it.world.handshakes, BotId("ann"), it.context, OTHER),
                                                      "UNKNOWN_DEAL",      "an opening under another bot's context"),
    ("over",      lambda it: sent_opening(it.world.handshakes, BotId("ann"), it.context, OTHER),
                                                      "UNKNOWN_DEAL",      "the same when the deal-set is over"),
    ("committed", commits(lambda it: it.commitment),  None,               "the same commitment again"),
    ("committed", commits(lambda it: OTHER),          "ALREADY_ANSWERED", "a second commitment"),
    ("committed", commits(lambda it: NO_COMMITMENT),  "ALREADY_ANSWERED", "a commitment taken back"),
    ("committed", reveals(lambda it: it.entropy),     "OUT_OF_ORDER",     "an opening before the transcript"),
    ("shown",     commits(lambda it: it.commitment),  None,               "the commitment again, after the transcript"),
    ("shown",     commits(lambda it: OTHER),          "ALREADY_ANSWERED", "a second commitment, after the transcript"),
    ("shown",     reveals(lambda it: it.entropy[1:]), "MALFORMED",        "an opening of another length"),
    ("shown",     reveals(lambda it: b""),            "MALFORMED",        "an empty opening"),
    ("shown",     reveals(lambda it: OTHER),          "MALFORMED",        "a wrong opening"),
    ("opened",    reveals(lambda it: it.entropy),     None,               "the same opening again"),
    ("opened",    reveals(lambda it: OTHER),          "ALREADY_ANSWERED", "a second opening"),
    ("fixed",     reveals(lambda it: it.entropy),     None,               "the same opening again, when the packs are fixed"),
    ("fixed",     reveals(lambda it: OTHER),          "ALREADY_ANSWERED", "a second opening, when the packs are fixed"),
    ("late",      commits(lambda it: it.commitment),  "OUT_OF_ORDER",     "a commitment after its time"),
    ("late",      commits(lambda it: NO_COMMITMENT),  None,               "nothing, after its time"),
    ("late",      reveals(lambda it: it.entropy),     "OUT_OF_ORDER",     "an opening without a commitment"),
    ("unopened",  reveals(lambda it: it.entropy),     "OUT_OF_ORDER",     "an opening after its time"),
    ("over",      reveals(lambda it: OTHER),          None,               "an opening that crosses the end"),
    ("over",      commits(lambda it: OTHER),          None,               "a commitment that crosses the end"),
]
# fmt: on


@pytest.mark.parametrize(("when", "say", "refused", "why"), MESSAGES, ids=[r[3] for r in MESSAGES])
def test_what_cannot_be_taken_is_refused_and_harms_nobody_else(
    when, say, refused, why, tmp_path, monkeypatch
):
    ann_acts, bob_acts, seconds = WHEN[when]

    async def main(world):
        world.add("ann", acts=ann_acts)
        world.add("dan", adds_entropy=False)
        bob = world.add("bob", acts=bob_acts)
        result = []

        async def fix():
            result.append(await world.deals.fix(order_of("ann", "dan", "bob")))

        world.nursery.start_soon(fix)
        await trio.sleep(seconds)
        told = Told(world, bob, bob.told[0].deal_open.context)
        if when == "over":
            await world.deals.close(result[0].context)
        answer = say(told)
        assert (answer and reason(answer)) == refused
        await trio.sleep(100)
        # Whatever bob said, ann's entropy is in the packs in the end.
        (fixed,) = result
        commitments = {
            participant.bot: participant.commitment for participant in fixed.fair_deal.participants
        }
        assert commitments["ann"] != NO_COMMITMENT

    in_world(tmp_path, monkeypatch, main)


def test_deal_sets_that_are_over_are_forgotten_in_time(tmp_path, monkeypatch):
    monkeypatch.setattr(deals_module, "REMEMBERED_DEALS", 3)

    async def main(world):
        ann = world.add("ann")
        first = await world.deals.fix(order_of("ann", "bob", deal_set="first"))
        await world.deals.close(first.context)
        for at in range(4):
            fixed = await world.deals.fix(order_of("ann", "bob", deal_set=f"g{at}"))
            await world.deals.close(fixed.context)
        assert len(world.handshakes._over) == 3
        assert world.handshakes._handshakes == {}
        assert list(world.log.book.deals()) == []
        refusal = sent_commitment(world.handshakes, BotId("ann"), ann.closes()[0].context, OTHER)
        assert reason(refusal) == "UNKNOWN_DEAL"

    in_world(tmp_path, monkeypatch, main)


# An arena that is late itself.


class Frozen:
    """The arena stood still from `since_s` to `until_s`."""

    def __init__(self, since_s, until_s):
        self.since_s, self.until_s = since_s, until_s

    def refund_s(self, since_s, until_s, owner=""):
        return max(0.0, min(until_s, self.until_s) - max(since_s, self.since_s))

    def late(self, now_s, due_s=0.0):
        return self.since_s <= now_s < self.until_s + 0.1


def test_nobody_pays_for_the_time_that_the_arena_stood_still(tmp_path, monkeypatch):
    """Bob opens 4 s after he was asked, as the arena counts, and it stood still for 7 s."""

    async def main(world):
        world.add("ann")
        bob = world.add("bob", acts={"deal_transcript": after(11 - THINKING_S)})
        fixed = await world.deals.fix(order_of("ann", "bob"))
        assert fixed.culprits == {}
        assert bob.refused == []

    now_s = 0.0  # a mock clock starts there
    in_world(tmp_path, monkeypatch, main, lag=Frozen(now_s + 1, now_s + 8))


class Sluggish:
    """The arena is late from 5 s to 5.5 s, and does not know yet for how long it was."""

    def refund_s(self, since_s, until_s, owner=""):
        return 0.0

    def late(self, now_s, due_s=0.0):
        return 5 <= now_s < 5.5


@pytest.mark.parametrize(("seconds", "blamed"), [(5.3, set()), (5.7, {"bob"})], ids=str)
def test_nobody_is_blamed_while_the_arena_is_late(seconds, blamed, tmp_path, monkeypatch):
    async def main(world):
        world.add("ann")
        world.add("bob", acts={"deal_transcript": after(seconds - 2 * THINKING_S)})
        fixed = await world.deals.fix(order_of("ann", "bob"))
        assert {bot.name for bot in fixed.culprits} == blamed

    in_world(tmp_path, monkeypatch, main, lag=Sluggish())


def test_a_bot_still_has_only_its_own_time(tmp_path, monkeypatch):
    async def main(world):
        world.add("ann")
        world.add("bob", acts={"deal_transcript": after(12.5)})
        fixed = await world.deals.fix(order_of("ann", "bob"))
        assert {bot.name for bot in fixed.culprits} == {"bob"}

    in_world(tmp_path, monkeypatch, main, lag=Frozen(1, 8))


class FrozenByBob(Frozen):
    """It stood still by the doing of bob's owner."""

    def refund_s(self, since_s, until_s, owner=""):
        return 0.0 if owner == "bob" else super().refund_s(since_s, until_s)


def test_who_made_the_arena_stand_still_pays_for_it(tmp_path, monkeypatch):
    async def main(world):
        world.add("ann", acts={"deal_open": after(11 - THINKING_S)})
        bob = world.add("bob", acts={"deal_open": nothing})
        await world.deals.fix(order_of("ann", "bob"))
        await world.deals.fix(order_of("ann", "bob", deal_set="next"))
        first, last = commit_deadlines(bob)[0], commit_deadlines(bob)[-1]
        assert first == STEP_S * 1000
        assert last < STEP_S * 1000 / 4, "it is charged what it made others wait"

    in_world(tmp_path, monkeypatch, main, lag=FrozenByBob(1, 8))


def test_no_more_than_a_minute_of_a_step_is_refunded(tmp_path, monkeypatch):
    """The arena stands still for 100 s while bob says nothing."""

    async def main(world):
        world.add("ann")
        world.add("bob", acts={"deal_open": nothing})
        began_s = trio.current_time()
        await world.deals.fix(order_of("ann", "bob"))
        assert trio.current_time() - began_s == pytest.approx(100.1 + THINKING_S, abs=0.2)

    in_world(tmp_path, monkeypatch, main, lag=Frozen(0.01, 100))


# What is on disk before it is shown.


class Steps:
    """Everything that was written, synced and sent, in order, and the files at each step."""

    def __init__(self, monkeypatch, folder):
        self.steps = []
        self.moments = []
        self.files = [folder / "journal" / "deals", folder / "commitments"]
        self._synced = dict.fromkeys(self.files, 0)
        write_all, sync_data = records.write_all, durable_files.sync_data

        def noting_write(fd, data):
            write_all(fd, data)
            self.note("write", self._path(fd).name)

        def noting_sync(fd):
            sync_data(fd)
            path = self._path(fd)
            self._synced[path] = path.stat().st_size
            self.note("sync", path.name)

        monkeypatch.setattr(records, "write_all", noting_write)
        monkeypatch.setattr(durable_files, "sync_data", noting_sync)

    def _path(self, fd):
        inode = os.fstat(fd).st_ino
        (path,) = (each for each in self.files if each.exists() and each.stat().st_ino == inode)
        return path

    def note(self, *step):
        self.steps.append(step)
        self.moments.append(
            [(f.read_bytes() if f.exists() else b"", self._synced[f]) for f in self.files]
        )


def a_run_with_a_culprit(folder, monkeypatch):
    """A deal-set that is void once, then fixed, and closed."""
    steps = Steps(monkeypatch, folder)

    async def main(world):
        world.add("ann")
        world.add("bob", acts={"deal_transcript": opens_wrongly})
        steps.steps.clear()
        steps.moments.clear()
        fixed = await world.deals.fix(order_of("ann", "bob"))
        steps.note("fixed", fixed)
        await world.deals.close(fixed.context)
        return fixed

    fixed = in_world(folder, monkeypatch, main, note=steps.note)
    monkeypatch.undo()
    return steps, fixed


def test_everything_is_on_disk_before_it_is_shown(tmp_path, monkeypatch):
    steps, fixed = a_run_with_a_culprit(tmp_path, monkeypatch)
    drawn = [
        ("write", "deals"),
        ("sync", "deals"),
        ("write", "commitments"),
        ("sync", "commitments"),
    ]
    handshake = ("send", "deal_open"), ("send", "deal_transcript")
    order = [step for step in steps.steps if step[0] != "write" or step[1] != ""]
    assert (
        order[: order.index(("fixed", fixed)) + 1]
        == [
            *drawn,
            *(handshake[:1] * 2),
            *(handshake[1:] * 2),
            ("write", "deals"),  # that it is void, which nobody is told before the end
            ("sync", "deals"),
            *drawn,
            *(handshake[:1]),
            *(handshake[1:]),
            ("write", "deals"),
            ("sync", "deals"),
            ("fixed", fixed),
        ]
    )
    rest = order[order.index(("fixed", fixed)) + 1 :]
    # Secrets first, then the public log, of both draws.
    assert rest[:8] == [*drawn, *(("send", "deal_close"),) * 4]


def test_an_arena_that_is_killed_at_any_point_goes_on_or_says_so(tmp_path, monkeypatch):
    (tmp_path / "first").mkdir()
    steps, fixed = a_run_with_a_culprit(tmp_path / "first", monkeypatch)
    folders = (tmp_path / str(number) for number in itertools.count())
    assert len(steps.moments) > 20
    for at, moment in enumerate(steps.moments):
        seen = steps.steps[: at + 1]
        # A killed process keeps what was written, a power cut what was synced, of either file.
        for sizes in itertools.product(*({len(data), synced} for data, synced in moment)):
            folder = next(folders)
            (folder / "journal").mkdir(parents=True)
            names = folder / "journal" / "deals", folder / "commitments"
            for copy, (data, _), size in zip(names, moment, sizes, strict=True):
                copy.write_bytes(data[:size])
            restarted(folder, monkeypatch, seen, fixed)


def restarted(folder, monkeypatch, seen, fixed):
    """Start an arena with the files in `folder` after what was `seen`, and order the same again."""
    promised = ("fixed", fixed) in seen
    closed = promised and ("send", "deal_close") in seen[seen.index(("fixed", fixed)) :]
    voided = seen.count(("send", "deal_open")) > 2  # there was a second draw

    async def main(world):
        ann, bob = world.add("ann"), world.add("bob")
        live = world.deals.live
        assert [deals.context for deals in live] in ([], [fixed.context])
        assert read_log(world.public).damage == []
        again = await world.deals.fix(order_of("ann", "bob"))
        if promised and not closed and live:
            assert (again.context, again.key, again.fair_deal) == (
                fixed.context,
                fixed.key,
                fixed.fair_deal,
            )
            assert again.opening == fixed.opening
            assert ann.told == bob.told == []
        elif not live:
            assert again.context != fixed.context
        if promised and not closed:
            closing = read_log(world.public).opened.get(fixed.context)
            assert live or closing  # it was about to be closed
        if voided and not closed:
            # Who was to blame stays so; a closed deal-set is a new one.
            blamed = {bot.name for bot in again.culprits}
            assert blamed == ({"bob"} if live or not promised else set())
        await world.deals.close(again.context)
        await trio.sleep(1)
        public = read_log(world.public)
        assert public.unopened == set()
        assert public.damage == []
        for opened in public.opened.values():
            assert opened.void_reason in ("", STOPPED) or "opened it wrongly" in opened.void_reason
        assert ann.brain.lies == bob.brain.lies == []

    in_world(folder, monkeypatch, main)
    monkeypatch.undo()


GIVEN_UP = pytest.mark.parametrize(
    "seconds", [0.05, 0.15, 5.15], ids=["open", "shown", "second attempt"]
)


@GIVEN_UP
def test_a_deal_of_one_table_that_is_given_up_is_void_for_everybody(seconds, tmp_path, monkeypatch):
    async def main(world):
        ann = world.add("ann")
        world.add("bob", acts={"deal_transcript": nothing})
        with trio.move_on_after(seconds):
            await world.deals.fix(one_table(order_of("ann", "bob")))
        assert world.handshakes._handshakes == {}
        await world.log.synced()
        public = read_log(world.public)
        assert public.unopened == set()
        assert "gave it up" in list(public.opened.values())[-1].void_reason
        assert "gave it up" in ann.closes()[-1].void_reason
        await trio.sleep(1)
        assert ann.brain.lies == []

    in_world(tmp_path, monkeypatch, main)


@GIVEN_UP
def test_a_draw_of_several_tables_that_is_void_stays_secret_until_the_deal_set_is_over(
    seconds, tmp_path, monkeypatch
):
    """Its opening names all who were asked, and the same bots are asked again."""

    async def main(world):
        ann = world.add("ann")
        world.add("bob", acts={"deal_transcript": nothing})
        with trio.move_on_after(seconds):
            await world.deals.fix(order_of("ann", "bob"))
        assert world.handshakes._handshakes == {}
        await world.log.synced()
        drawn = 1 + (seconds > STEP_S)
        assert len(read_log(world.public).unopened) == drawn
        assert ann.closes() == []
        late = sent_opening(world.handshakes, ann.bot, ann.told[0].deal_open.context, bytes(32))
        assert late is None, "its answer crossed the end of the draw"
        assert world.deals.with_void_draws == {"g1"}
        await world.deals.give_up("g1", "nobody plays it")
        assert world.deals.with_void_draws == frozenset()
        assert read_log(world.public).unopened == set()
        assert len(ann.closes()) == drawn
        assert "gave it up" in ann.closes()[-1].void_reason
        await trio.sleep(1)
        assert ann.brain.lies == []

    in_world(tmp_path, monkeypatch, main)


def test_void_draws_of_several_tables_survive_a_restart(tmp_path, monkeypatch):
    async def first(world):
        world.add("ann")
        world.add("bob", acts={"deal_transcript": nothing})
        with trio.move_on_after(0.05):
            await world.deals.fix(order_of("ann", "bob"))

    async def again(world):
        ann = world.add("ann")
        world.add("bob")
        assert len(read_log(world.public).unopened) == 1
        fixed = await world.deals.fix(order_of("ann", "bob"))
        assert ann.closes() == []
        await world.deals.close(fixed.context)
        assert read_log(world.public).unopened == set()
        # It does not know the first: it was started anew.
        assert [bool(each.void_reason) for each in ann.closes()] == [True, False]
        await trio.sleep(1)
        assert ann.brain.lies == []

    in_world(tmp_path, monkeypatch, first)
    monkeypatch.undo()
    in_world(tmp_path, monkeypatch, again)


def test_what_nobody_will_play_any_more_is_opened_with_its_void_draws(tmp_path, monkeypatch):
    async def main(world):
        world.add("ann")
        world.add("bob", acts={"deal_transcript": opens_wrongly})
        await world.deals.fix(order_of("ann", "bob"))
        with trio.move_on_after(0.05):
            await world.deals.fix(order_of("ann", "bob", deal_set="g2"))
        sets = DealSets(world.deals, world.log, tmp_path / "replays")
        await sets.close_left_over(lambda name: True)
        assert len(read_log(world.public).unopened) == 3
        await sets.close_left_over(lambda name: name == "g2")
        assert len(read_log(world.public).unopened) == 1
        await sets.close_left_over(lambda name: False)
        assert read_log(world.public).unopened == set()

    in_world(tmp_path, monkeypatch, main)


def test_a_deal_set_whose_replays_were_written_is_opened(tmp_path, monkeypatch):
    """The arena was killed between the two."""

    async def main(world):
        world.add("ann")
        fixed = await world.deals.fix(order_of("ann", "bob"))
        replays = tmp_path / "replays"
        replays.mkdir()
        (replays / f"{fixed.match_ids[0]}.replay").touch()
        await DealSets(world.deals, world.log, replays).close_left_over(lambda name: True)
        assert read_log(world.public).opened[fixed.context].void_reason == ""

    in_world(tmp_path, monkeypatch, main)


@pytest.mark.parametrize("tables", ["one", "several"])
def test_a_void_deal_set_whose_end_is_cut_short_is_over_all_the_same(tables, tmp_path, monkeypatch):
    order = order_of("ann", "bob")

    async def main(world):
        world.add("bob", acts={"deal_transcript": opens_wrongly})
        synced, waits = world.log.synced, itertools.count(1)

        async def stopped_at_the_second():
            if next(waits) == 2:
                assert next(iter(world.log.book.deals())).void_reason
                scope.cancel()
            await synced()

        monkeypatch.setattr(world.log, "synced", stopped_at_the_second)
        with trio.CancelScope() as scope:
            await world.deals.fix(order if tables == "several" else one_table(order))
        assert scope.cancelled_caught
        assert world.handshakes._handshakes == {}
        await synced()
        assert len(read_log(world.public).unopened) == (tables == "several")
        await world.deals.give_up("g1", "nobody plays it")
        assert read_log(world.public).unopened == set()

    in_world(tmp_path, monkeypatch, main)


def test_a_fixed_deal_set_that_is_not_played_is_void(tmp_path, monkeypatch):
    async def main(world):
        ann = world.add("ann")
        fixed = await world.deals.fix(order_of("ann", "bob"))
        await world.deals.give_up("g1", "the match was called off")
        assert ann.closes()[0].void_reason == "the match was called off"
        assert world.deals.live == ()
        assert read_log(world.public).unopened == set()
        await trio.sleep(1)
        assert ann.brain.lies == []
        # Once over, it stays so.
        await world.deals.close(fixed.context)
        await world.deals.give_up("g1", "again")
        assert len(ann.closes()) == 1

    in_world(tmp_path, monkeypatch, main)


def test_another_plan_is_another_deal_set(tmp_path, monkeypatch):
    async def main(world):
        one = await world.deals.fix(order_of("ann", "bob"))
        assert await world.deals.fix(order_of("ann", "bob")) == one
        other = await world.deals.fix(order_of("bob", "ann"))
        assert other.context != one.context

    in_world(tmp_path, monkeypatch, main)


def test_a_disk_that_fails_stops_the_deal_before_anybody_is_asked(tmp_path, monkeypatch):
    def broken(fd):
        raise OSError(28, "No space left on device")

    async def main(world):
        ann = world.add("ann")
        monkeypatch.setattr(durable_files, "sync_data", broken)
        with pytest.raises(Unwritten, match="No space left"):
            await world.deals.fix(order_of("ann", "bob"))
        assert ann.told == []
        assert world.handshakes._handshakes == {}

    in_world(tmp_path, monkeypatch, main)


# Chance, and the arena's name.


def test_nothing_that_the_arena_draws_comes_twice(tmp_path, monkeypatch):
    async def main(world):
        deals = [await world.deals.fix(order_of("ann", "bob", deal_set=f"g{n}")) for n in range(9)]
        drawn = [(each.opening.secret, each.opening.plan_salt) for each in deals]
        flat = [part for each in drawn for part in each]
        participants = [p for each in deals for p in each.fair_deal.participants]
        flat += [
            part
            for participant in participants
            for part in (participant.participant, participant.salt)
        ]
        assert len(set(flat)) == len(flat) == 54
        assert {len(participant.salt) for participant in participants} == {32}
        assert {len(secret) for secret, _ in drawn} == {32}

    in_world(tmp_path, monkeypatch, main)


def test_an_arena_that_is_given_no_other_chance_has_the_systems(tmp_path):
    with contextlib.ExitStack() as files:
        house = House(tmp_path, files)
        files.callback(house.loop.close)
        assert house.arena.deal_sets._fair._draw is os.urandom


def test_chance_is_what_the_arena_is_given(tmp_path, monkeypatch):
    async def main(world):
        numbers = itertools.count(1)
        world.deals = FairDeals(
            world.log,
            "arena",
            world.handshakes,
            draw=lambda size: next(numbers).to_bytes(size, "big"),
        )
        fixed = await world.deals.fix(order_of("ann", "bob"))
        salt, secret, *salts = [number.to_bytes(32, "big") for number in range(1, 5)]
        assert (fixed.opening.plan_salt, fixed.opening.secret) == (salt, secret)
        participants = fixed.fair_deal.participants
        assert [participant.salt for participant in participants] == salts
        assert {bot.bot: bot.participant for bot in participants} == {
            name: pseudonym(salt, f"{name}/0") for name in ("ann", "bob")
        }

    in_world(tmp_path, monkeypatch, main)


def test_an_arena_keeps_its_id(tmp_path):
    first = arena_id(tmp_path)
    assert len(first) == 32
    assert arena_id(tmp_path) == first
    (tmp_path / "other").mkdir()
    assert arena_id(tmp_path / "other") != first


def test_an_id_that_is_none_is_said_plainly(tmp_path):
    (tmp_path / "arena-id").write_text("my arena\n")
    with pytest.raises(ValueError, match="does not hold the id of an arena"):
        arena_id(tmp_path)
