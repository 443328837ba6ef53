"""Who may come back while the arena drains or after it was killed, and who is taken for gone."""

from dataclasses import replace

import pytest
import trio
from click.testing import CliRunner
from trio.testing import wait_all_tasks_blocked

from arena import durable_files
from arena.bots.bot_ids import BotId
from arena.cli import main as main_command
from arena.durable_files import Unwritten
from arena.errors.refused import Refused
from arena.live.matches import interrupted
from arena.live.matches.restore import POWER_CUT, RECONNECT_S, aborted
from arena.live.orders import (
    BY_HAND,
    SCHEDULED,
    DealSetOrder,
    TableOrder,
    deal_set_message,
    ordered_message,
)
from arena.records.fairness import context_of
from arena.records.journal import journal as journal_module
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import recover
from arena.records.read import Replay, read_body
from arena.records.records import JOURNAL_MAGIC, Framed, read_records
from arena.records.verify import verify_file
from arena.records.write import write_replay
from arena.referee.spec import AbortCause
from arena.results.deal_sets import MatchOutcome
from arena.store import StoredMatch
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from arena.testing.results import MemoryResults
from cardarena.v1 import journal_pb2, play_pb2
from tests.live import lives
from tests.live.cuts import quick_disk
from tests.live.deal_logs import contexts
from tests.live.lives import arena_in, plays, run, says_hello

ANN, BOB = BotId("ann"), BotId("bob")
ORDER = match_order("abstrac", (ANN, BOB), {"hands": 2}, seed="1", match_id="m")
SET = DealSetOrder("set", ORDER.terms, ORDER.tables, ORDER.seed)
"""The same match, as the only one of a deal-set."""
RESULT = MatchOutcome("m", (3, -3), (1, 2), "completed", ({}, {}))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with quick_disk(monkeypatch):
        yield tmp_path


def told(line):
    """What kinds of messages a bot was sent since the last look."""
    return [
        play_pb2.ArenaMessage.FromString(each).WhichOneof("body") for each in line.take_frames()
    ]


def refused(arena, bot):
    with pytest.raises(Refused) as error:
        says_hello(arena, bot)
    return error.value.reason


def test_a_bot_with_a_match_in_play_may_come_back_to_an_arena_that_drains(folder):
    async def main():
        async with arena_in(folder) as (arena, _):
            lines = [says_hello(arena, bot) for bot in ORDER.bots]
            arena.matches.order(ORDER, "m", BY_HAND)
            await wait_all_tasks_blocked()
            arena.drain(60.0)
            assert told(lines[0])[-1] == "drain"
            arena.hung_up(arena.sessions.get(ANN), lines[0])
            line = says_hello(arena, ANN)
            assert told(line) == ["welcome", "drain"]
            assert refused(arena, BotId("eve")) == "DRAINING"
            arena.close_streams()
            assert line.verdict.reason == "SUSPENDED"
            assert refused(arena, ANN) == "DRAINING"

    run(main)


def test_a_bot_whose_match_is_over_may_not_come_back_to_an_arena_that_drains(folder):
    async def main():
        async with arena_in(folder) as (arena, _):
            says_hello(arena, ANN)
            arena.drain(60.0)
            assert refused(arena, ANN) == "DRAINING"

    run(main)


def test_a_bot_that_is_launched_again_has_not_arrived_by_the_stream_of_the_dead(folder):
    """The end of a process may be seen before the end of its stream."""

    async def main():
        async with arena_in(folder) as (arena, nursery):
            says_hello(arena, ANN)
            arrived = trio.Event()

            async def wait():
                await arena.sessions.arrived((ANN,))
                arrived.set()

            arena.sessions.get(ANN).leave()
            nursery.start_soon(wait)
            await wait_all_tasks_blocked()
            assert not arrived.is_set()
            says_hello(arena, ANN)
            await wait_all_tasks_blocked()
            assert arrived.is_set()

    run(main)


async def begins(arena, nursery, order):
    """All bots of a match come, and it begins."""
    for bot in order.bots:
        says_hello(arena, bot)
    nursery.start_soon(arena.matches.play, order, "m")
    await wait_all_tasks_blocked()


def test_a_bot_that_is_away_just_when_its_match_goes_on_is_not_gone(folder):
    order = SET

    async def main():
        async with arena_in(folder) as (arena, nursery):
            await begins(arena, nursery, order)
            assert "m" in arena.matches.referee.runners
        async with arena_in(folder) as (arena, nursery):
            lines = [says_hello(arena, bot) for bot in order.bots]
            arena.hung_up(arena.sessions.get(ANN), lines[0])
            nursery.start_soon(arena.matches.play, order, "m")
            await wait_all_tasks_blocked()
            assert "m" in arena.matches.referee.runners
            assert not any(arena.sessions.get(bot).gone for bot in order.bots)

    run(main)


def test_a_bot_that_never_came_is_gone_when_its_match_goes_on(folder):
    order = SET

    async def main():
        async with arena_in(folder) as (arena, nursery):
            await begins(arena, nursery, order)
        async with arena_in(folder) as (arena, _):
            says_hello(arena, ANN)
            outcome = await arena.matches.play(
                order, "m"
            )  # bob does not come, and ann does not answer
            assert outcome.faults[0]["timeout"]
            assert outcome.faults[1] == {"gone": 1}

    run(main)


def test_what_was_promised_is_written_down_again_before_all_else(folder):
    """A journal that is cut off while it begins may then lose a record, but no promise."""

    async def main():
        async with arena_in(folder) as (arena, _):
            for bot in ORDER.bots:
                says_hello(arena, bot)
            arena.matches.order(ORDER, "m", BY_HAND)  # killed before it begins
            arena.matches._nursery.cancel_scope.cancel()
        async with arena_in(folder):
            segment = max((folder / "journal").glob("*.journal"))
            with segment.open("rb") as file:
                bodies = [read_body(record)[1] for record in read_records(file, JOURNAL_MAGIC)]
            assert isinstance(bodies[0], journal_pb2.Run)
            assert isinstance(bodies[1], journal_pb2.Ordered)
            assert any(isinstance(body, journal_pb2.SessionKept) for body in bodies)

    run(main)


def promises(folder, message):
    """Leave the promise of a match behind, as another arena would have written it."""
    with Journal(folder / "journal") as journal:
        journal.append(journal_pb2.Record(ordered=message).SerializeToString())
        journal.flush()


def of_other_rules(message):
    message.deal_set.terms.rules_version = 99


def of_no_game(message):
    message.deal_set.terms.game = "whist"


@pytest.mark.parametrize("change", [of_other_rules, of_no_game], ids=["other rules", "no game"])
def test_a_promise_that_no_arena_can_keep_ends_at_once_and_for_good(folder, change):
    message = ordered_message(deal_set_message(ORDER), "m", BY_HAND)
    change(message)
    promises(folder, message)
    results = MemoryResults()

    async def main():
        for _ in range(2):
            async with arena_in(folder, results) as (arena, _):
                assert arena.matches.get("m") is None
                assert results.outcomes(["m"])["m"].ending == "aborted"
        assert recover(folder / "journal", folder / "replays").ordered == {}

    run(main)


def test_a_promise_that_a_bot_will_not_keep_ends_after_the_time_to_come_back(folder):
    promises(folder, ordered_message(deal_set_message(ORDER), "m", BY_HAND))
    results = MemoryResults()

    async def main():
        async with arena_in(folder, results) as (arena, _):
            says_hello(arena, ANN)
            hello = play_pb2.Hello(token="guest:bob", games=[play_pb2.GameSupport(game="loo")])
            arena.hello(hello, MemoryOutbox())
            await trio.sleep(RECONNECT_S + 1)
            assert results.outcomes(["m"])["m"].ending == "aborted"
        async with arena_in(folder, results) as (arena, _):
            assert arena.matches.get("m") is None

    run(main)


def test_a_match_whose_bots_do_not_return_ends_in_a_valid_replay(folder):
    """Whatever the microsecond of its last decision, which need not have cost any time."""
    order = ORDER

    async def main():
        async with arena_in(folder) as (arena, nursery):
            for bot in order.bots:
                says_hello(arena, bot)
            arena.sessions.get(BOB).leave()
            nursery.start_soon(arena.matches.play, order, "m")
            await wait_all_tasks_blocked()
        (unfinished,) = recover(folder / "journal", folder / "replays").unfinished
        bodies = [read_body(Framed(0, each)) for each in unfinished.bodies]
        (number, decided) = bodies[-1]
        assert decided.unasked
        decided.sent_us = 249  # 249 / 1e6 * 1e6 is a little less than 249
        last = journal_pb2.Record(match=number, decided=decided).SerializeToString()
        with Journal(folder / "another") as journal:
            changed = replace(unfinished, bodies=(*unfinished.bodies[:-1], last))
            _, bodies = aborted(changed, AbortCause.STOPPED, journal)
        write_replay(folder / "replays", "m", bodies, unfinished.opening)
        verdict = verify_file(folder / "replays" / "m.replay")
        assert verdict.ok, verdict.problem

    run(main)


# What a bot thinks, and how long it is away.


def clock_of(line):
    """What the open ask of a welcome leaves to think, for the move and in the bank, in seconds."""
    (ask,) = line.only("welcome").open_asks
    return (ask.clock.move_ms + ask.clock.bank_ms) / 1000


def test_what_a_bot_has_thought_and_was_away_is_used_up_after_a_kill(folder):
    """And stands in a replay that is true."""
    allowed_s = (ORDER.terms.time_control.move_ms + ORDER.terms.time_control.bank_ms) / 1000

    async def main():
        async with arena_in(folder) as (arena, _):
            lines = {bot: says_hello(arena, bot) for bot in ORDER.bots}
            arena.matches.order(ORDER, "m", BY_HAND)
            await wait_all_tasks_blocked()
            (asked,) = (bot for bot, line in lines.items() if line.take_asks())
            (other,) = {ANN, BOB} - {asked}
            arena.hung_up(arena.sessions.get(other), lines[other])
            await trio.sleep(4.1)
        for thought_s in (4.0, 7.0):
            async with arena_in(folder) as (arena, _):
                await wait_all_tasks_blocked()
                assert clock_of(says_hello(arena, asked)) == pytest.approx(
                    allowed_s - thought_s, abs=0.2
                )
                away = arena.matches.referee.runners["m"]._records
                assert {round(place.presence.away_s()) for place in away} == {0, 4}
                await trio.sleep(3.1)
        async with arena_in(folder) as (arena, nursery):
            await wait_all_tasks_blocked()
            for bot in ORDER.bots:
                nursery.start_soon(plays, arena, bot)
            assert (await arena.matches.get("m").outcome()).has_result

    run(main)
    verdict = verify_file(folder / "replays" / "m.replay")
    assert verdict.ok, verdict.problem
    first = Replay.open(folder / "replays" / "m.replay").decided[0]
    assert first.charged_us == pytest.approx(10e6, abs=0.3e6)


def test_a_bot_that_is_launched_anew_has_all_of_its_time_and_the_absences_of_before(folder):
    """Its tournament orders the match again, and what its old process had thought is lost."""
    allowed_s = (ORDER.terms.time_control.move_ms + ORDER.terms.time_control.bank_ms) / 1000

    async def main():
        async with arena_in(folder) as (arena, nursery):
            lines = {bot: says_hello(arena, bot) for bot in SET.bots}
            nursery.start_soon(arena.matches.play, SET, "m")
            await wait_all_tasks_blocked()
            (asked,) = (bot for bot, line in lines.items() if line.take_asks())
            (other,) = {ANN, BOB} - {asked}
            arena.hung_up(arena.sessions.get(other), lines[other])
            await trio.sleep(4.1)
        async with arena_in(folder) as (arena, nursery):
            lines = {bot: says_hello(arena, bot) for bot in SET.bots}
            nursery.start_soon(arena.matches.play, SET, "m")
            await wait_all_tasks_blocked()
            (ask,) = lines[asked].take_asks()
            assert (ask.clock.move_ms + ask.clock.bank_ms) / 1000 == allowed_s
            away = arena.matches.referee.runners["m"]._records
            assert {round(place.presence.away_s()) for place in away} == {0, 4}

    run(main)


# What a damaged journal costs.


def damage_to(folder, decision):
    """Flip a bit in the record of a match's nth decision."""
    (segment,) = (folder / "journal").glob("*.journal")
    data = segment.read_bytes()
    with segment.open("rb") as file:
        decided = [
            record
            for record in read_records(file, JOURNAL_MAGIC)
            if isinstance(read_body(record)[1], journal_pb2.Decided)
        ]
    at = decided[decision].offset + 12
    segment.write_bytes(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])


async def a_life_to_mid_match(folder, order, policy):
    """A life in which the bots of a match answer for a while, and that ends in mid match."""
    async with arena_in(folder) as (arena, nursery):
        for bot in order.bots:
            nursery.start_soon(plays, arena, bot)
        await trio.sleep(0.005)
        arena.matches.order(order, "m", policy)
        await trio.sleep(0.1)
        assert arena.metrics.counts.game("abstrac").decisions >= 4
        assert "m" in arena.matches.referee.runners


def test_a_match_whose_journal_is_damaged_is_aborted_with_that_cause(folder, caplog):
    results = MemoryResults()

    async def main():
        await a_life_to_mid_match(folder, ORDER, BY_HAND)
        damage_to(folder, 3)
        async with arena_in(folder, results) as (arena, _):
            await wait_all_tasks_blocked()
            assert not arena.matches.in_play, "it does not go on from an earlier point"
            line = says_hello(arena, ANN)
            welcome = play_pb2.ArenaMessage.FromString(line.take_frames()[0]).welcome
            assert not welcome.open_asks

    run(main)
    outcome = results.ended["m"].outcome
    assert (outcome.ending, outcome.evidence) == ("aborted", "journal")
    verdict = verify_file(folder / "replays" / "m.replay")
    assert verdict.ok, verdict.problem
    assert verdict.verified.outcome.cause is AbortCause.JOURNAL
    assert verdict.verified.outcome.decisions == 3, "what stands before the damage"
    told = CliRunner().invoke(
        main_command, ["match", "why", str(folder / "replays" / "m.replay"), "ann"]
    )
    assert "(A-JOURNAL)" in " ".join(told.output.split())
    (line,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (line.message, line.match) == ("a match is aborted, as the journal is damaged", "m")


def test_a_match_of_a_deal_set_whose_journal_is_damaged_is_aborted_and_played_again(folder):
    results = MemoryResults()

    async def main():
        await a_life_to_mid_match(folder, SET, SCHEDULED)
        damage_to(folder, 3)
        async with arena_in(folder, results) as (arena, nursery):
            assert results.ended["m"].outcome.evidence == "journal"
            assert not (folder / "replays" / "m.replay").exists(), "its packs are played again"
            for bot in SET.bots:
                nursery.start_soon(plays, arena, bot)
            assert (await arena.matches.play(SET, "m")).has_result

    run(main)
    assert results.ended["m"].outcome.has_result
    verdict = verify_file(folder / "replays" / "m.replay")
    assert verdict.ok, verdict.problem


@pytest.mark.parametrize(
    ("order", "policy"), [(ORDER, BY_HAND), (SET, SCHEDULED)], ids=["made by hand", "of a deal-set"]
)
def test_a_match_whose_packs_are_lost_is_aborted_with_that_cause(order, policy, folder, caplog):
    """It does not begin anew by other packs, as if nothing had been told."""
    results = MemoryResults()

    async def main():
        await a_life_to_mid_match(folder, order, policy)
        deals = folder / "journal" / "deals"
        data = bytearray(deals.read_bytes())
        data[-3] ^= 1  # the only record: the key of the seeded deals
        deals.write_bytes(bytes(data))
        async with arena_in(folder, results) as (arena, _):
            await wait_all_tasks_blocked()
            assert not arena.matches.in_play
            assert not arena.matches.waiting
        assert deals.read_bytes().startswith(bytes(data)), "nothing is cut off"

    run(main)
    outcome = results.ended["m"].outcome
    assert (outcome.ending, outcome.evidence) == ("aborted", "journal")
    (line,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (line.message, line.match) == ("a match is aborted, as the journal is damaged", "m")


def test_what_notes_have_taken_is_known_after_a_restart(folder, monkeypatch):
    """Else whoever is restarted often could write as much again each time."""
    choose = lives.chooses

    def chooses_with_a_note(ask):
        answer = choose(ask)
        answer.note = "é"
        return answer

    monkeypatch.setattr(lives, "chooses", chooses_with_a_note)

    async def main():
        await a_life_to_mid_match(folder, ORDER, BY_HAND)
        async with arena_in(folder) as (arena, _):
            await wait_all_tasks_blocked()
            noted = [
                record.noted.seat
                for record in map(
                    journal_pb2.Record.FromString, arena.matches.get("m").seated.log.bodies
                )
                if record.HasField("noted")
            ]
            for seat, bot in enumerate(ORDER.bots):
                (seating,) = arena.sessions.get(bot).seats
                assert seating._note_bytes == noted.count(seat) * (100 + 2) > 0

    run(main)


def test_a_result_that_is_recorded_stands_though_the_journal_is_damaged(folder):
    results = MemoryResults()

    async def main():
        await a_life_to_mid_match(folder, ORDER, BY_HAND)
        damage_to(folder, 3)
        results.record([StoredMatch(RESULT, "abstrac", ("ann", "bob"), "", 1)])
        async with arena_in(folder, results):
            await wait_all_tasks_blocked()

    run(main)
    assert results.ended["m"].outcome == RESULT
    assert not (folder / "replays" / "m.replay").exists(), "none that says otherwise"


def test_a_match_that_may_have_begun_where_the_journal_is_damaged_is_aborted(folder):
    results = MemoryResults()

    async def main():
        async with arena_in(folder) as (arena, _):
            for bot in ORDER.bots:
                says_hello(arena, bot)
            arena.matches.order(ORDER, "m", BY_HAND)
            await wait_all_tasks_blocked()
        (segment,) = (folder / "journal").glob("*.journal")
        data = segment.read_bytes()
        with segment.open("rb") as file:
            records = list(read_records(file, JOURNAL_MAGIC))
        begun = next(e for e in records if isinstance(read_body(e)[1], journal_pb2.Opened))
        at = begun.offset + 40
        segment.write_bytes(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])
        async with arena_in(folder, results) as (arena, _):
            await wait_all_tasks_blocked()
            assert not arena.matches.in_play

    run(main)
    assert results.ended["m"].outcome.evidence == "journal"


@pytest.mark.parametrize("hears", [False, True], ids=["cut off", "has heard"])
def test_an_end_is_sent_again_after_a_restart_unless_it_was_acknowledged(folder, hears):
    longer = match_order("abstrac", (ANN, BOB), {"hands": 50}, seed="2", match_id="n")
    results = MemoryResults()

    async def main():
        async with arena_in(folder, results) as (arena, nursery):
            for bot in ORDER.bots:
                nursery.start_soon(plays, arena, bot)
            await trio.sleep(0.1)
            match = arena.matches.order(ORDER, "m", BY_HAND)
            await match.outcome()
            if hears:
                await trio.sleep(0.1)
                arena.matches.order(longer, "n", BY_HAND)
                await trio.sleep(5)
        async with arena_in(folder, results) as (arena, _):
            for bot in ORDER.bots:
                line = says_hello(arena, bot)
                listed = {match.match for match in line.only("welcome").matches}
                ends = line.take("match_end")
                assert ("m" in [end.replay_id for end in ends]) is not hears
                assert {end.match for end in ends} <= listed
                for end in [end for end in ends if end.replay_id == "m"]:
                    assert list(end.places) == list(match.played.places)
                    assert list(end.scores) == list(match.played.scores)

    run(main)


# After a power cut: what was not synced is gone, and the machine has another boot.

FAIR = match_order("abstrac", (ANN, BOB), {"hands": 20}, match_id="m")
FAIR_SET = DealSetOrder(
    "set", FAIR.terms, (TableOrder("m", (ANN, BOB)), TableOrder("n", (BOB, ANN), 1))
)


def power_is_cut(folder, monkeypatch, keeps):
    """Lose all records of the journal from the first on that `keeps` says no to, and the boot."""
    (segment,) = (folder / "journal").glob("*.journal")
    with segment.open("rb") as file:
        records = [(record, read_body(record)[1]) for record in read_records(file, JOURNAL_MAGIC)]
    lost = [each.offset for each, body in records if not keeps(body)]
    if lost:
        segment.write_bytes(segment.read_bytes()[: lost[0]])
    for module in (interrupted, journal_module):
        monkeypatch.setattr(module, "boot_id", lambda: "another boot")


async def a_life(folder, orders, policy, results, seconds):
    """A life in which these matches are begun and played for a while."""
    async with arena_in(folder, results) as (arena, nursery):
        for bot in (ANN, BOB):
            nursery.start_soon(plays, arena, bot)
        await trio.sleep(0.05)
        for order, match_id in orders:
            arena.matches.order(order, match_id, policy)
        await trio.sleep(seconds)
        return {match_id: arena.matches.get(match_id) is not None for _, match_id in orders}


def before(kind):
    """Keeps what was written before the first record of a kind."""
    return lambda body: not isinstance(body, kind)


@pytest.mark.parametrize("kept", ["its beginning is lost", "its moves are lost"])
@pytest.mark.parametrize("order", [FAIR, FAIR_SET], ids=["alone", "of a deal-set"])
def test_after_a_power_cut_no_deal_is_played_again_by_the_packs_that_bots_saw(
    order, kept, folder, monkeypatch
):
    policy = BY_HAND if order is FAIR else SCHEDULED
    lost = journal_pb2.Opened if kept == "its beginning is lost" else journal_pb2.Decided
    results = MemoryResults()

    async def main():
        assert await a_life(folder, [(order, "m")], policy, results, 0.3) == {"m": True}
        ((first, _),) = contexts(folder)
        power_is_cut(folder, monkeypatch, before(lost))
        async with arena_in(folder, results) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            if order is FAIR_SET:
                for match_id in order.match_ids:
                    assert (await arena.matches.play(order, match_id)).has_result
            elif match := arena.matches.get("m"):
                assert (await match.outcome()).has_result
            await trio.sleep(1)
        return first

    first = run(main)
    log = contexts(folder)
    if order is FAIR and lost is journal_pb2.Decided:
        assert log == [(first, "")], "it is aborted, and nobody plays it again"
        assert results.ended["m"].outcome.ending == "aborted"
        return
    assert log[0] == (first, POWER_CUT)
    ((_, other),) = log[1:]
    assert other == "", "the packs that it was played by in the end"
    for match_id in order.match_ids:
        verdict = verify_file(folder / "replays" / f"{match_id}.replay")
        assert verdict.ok, verdict.problem
        replay = Replay.open(folder / "replays" / f"{match_id}.replay")
        assert context_of(replay.opened) == log[1][0]


def test_a_deal_set_that_has_a_result_keeps_its_packs_after_a_power_cut(folder, monkeypatch):
    """Its matches count together. At most 20 ms of the one in play are told twice."""
    results = MemoryResults()

    async def main():
        async with arena_in(folder, results) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            await trio.sleep(0.05)
            assert (await arena.matches.play(FAIR_SET, "m")).has_result
            arena.matches.order(FAIR_SET, "n", SCHEDULED)
            await trio.sleep(0.1)
            assert arena.matches.get("n") is not None
        power_is_cut(folder, monkeypatch, lambda _: True)
        async with arena_in(folder, results) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            assert (await arena.matches.play(FAIR_SET, "n")).has_result
            await trio.sleep(1)

    run(main)
    assert [why for _, why in contexts(folder)] == [""]


def test_a_kill_without_a_power_cut_loses_no_deal(folder):
    results = MemoryResults()

    async def main():
        await a_life(folder, [(FAIR_SET, "m")], SCHEDULED, results, 0.3)
        async with arena_in(folder, results) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            for match_id in FAIR_SET.match_ids:
                assert (await arena.matches.play(FAIR_SET, match_id)).has_result

    run(main)
    assert [why for _, why in contexts(folder)] == [""]


def test_no_bot_is_asked_by_a_fair_deal_before_the_disk_knows_of_the_match(folder, monkeypatch):
    def refuses(fd):
        if any(
            isinstance(body, journal_pb2.Opened)
            for segment in (folder / "journal").glob("*.journal")
            for body in bodies_of(segment)
        ):
            raise OSError(28, "No space left on device")

    lines = []

    async def main():
        async with arena_in(folder) as (arena, _):
            lines.extend(says_hello(arena, bot) for bot in (ANN, BOB))
            monkeypatch.setattr(durable_files, "sync_data", refuses)
            arena.matches.order(FAIR, "m", BY_HAND)
            await trio.sleep(1)

    with pytest.raises(Unwritten):
        run(main)
    monkeypatch.setattr(durable_files, "sync_data", lambda _: None)
    kinds = [kind for line in lines for kind in told(line)]
    assert "match_start" in kinds
    assert "asks" not in kinds


def bodies_of(segment):
    with segment.open("rb") as file:
        return [read_body(record)[1] for record in read_records(file, JOURNAL_MAGIC)]
