"""What the matches in play may write fits on the disk, whoever they are and whatever they do."""

import random

import pytest
import trio

from arena.api.metrics_source import MetricsSource
from arena.bots.bot_ids import BotId
from arena.errors.refused import Refused
from arena.live.match_admission import Admission
from arena.live.orders import BY_HAND, SCHEDULED, DealSetOrder
from arena.records.journal import disk_budget
from arena.records.journal.disk_budget import COPIES, GRANT_BYTES, LAST_SHARE, DiskBudget
from arena.records.verify import verify_file
from arena.referee.ledger import NoRoom
from arena.referee.spec import AbortCause
from arena.testing.orders import match_order
from arena.testing.results import MemoryResults
from tests.live.cuts import quick_disk
from tests.live.lives import arena_in, plays, run

MB = 1_000_000
TOTAL, RESERVE = 20_000 * MB, 1_000 * MB
SHARE = COPIES * GRANT_BYTES


class Disk:
    """A disk that matches fill, with all copies of what each writes."""

    def __init__(self, free=5_000 * MB):
        self.free = free

    def __call__(self):
        return TOTAL, TOTAL - self.free, self.free


# fmt: off
ROOM = [
    # free       promised   full?  why
    (5_000 * MB, 0,         False, "nothing is promised"),
    (5_000 * MB, 4_000 * MB, False, "all but the reserve is promised"),
    (5_000 * MB, 4_001 * MB, True, "a part of the reserve is promised"),
    (999 * MB,   0,         True,  "less than the reserve is free"),
]
# fmt: on


@pytest.mark.parametrize(("free", "promised", "full", "why"), ROOM, ids=[row[-1] for row in ROOM])
def test_a_match_is_accepted_if_grants_leave_the_reserve(free, promised, full, why):
    budget = DiskBudget(Disk(free))
    budget.promised_bytes = promised
    assert bool(budget.why_full()) is full


def test_a_refusal_names_the_granted_bytes():
    budget = DiskBudget(Disk())
    budget.promised_bytes = 4_500 * MB
    assert budget.why_full() == (
        "5,000 MB of its disk are free, 4,500 MB of them for matches in play, and 1,000 MB are needed"
    )


@pytest.mark.parametrize("greed", ["each writes all it may", "each writes little"])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_holds_whatever_matches_write(seed, greed):
    """Not a byte of the last part of the reserve is ever taken by matches."""
    chance, disk = random.Random(seed), Disk(1_400 * MB)
    budget = DiskBudget(disk)
    matches, refused = [], 0
    for _ in range(20_000):
        if not budget.why_full():
            matches.append([budget.grant(), 0])
        if not matches:
            break
        match = chance.choice(matches)
        size = GRANT_BYTES // 2 if greed == "each writes all it may" else 500
        try:
            match[0].grow(match[1] + size)
        except NoRoom:
            refused += 1
            match[0].close()
            matches.remove(match)
        else:
            match[1] += size
            disk.free -= COPIES * size
        assert disk.free >= RESERVE * LAST_SHARE
    assert (refused > 0) is (greed == "each writes all it may")


def test_what_a_match_was_granted_is_free_when_it_is_over():
    budget = DiskBudget(Disk())
    grant = budget.grant()
    assert budget.promised_bytes == SHARE
    assert grant.grow(GRANT_BYTES) == GRANT_BYTES
    assert grant.grow(GRANT_BYTES + 1) == 2 * GRANT_BYTES
    assert budget.promised_bytes == 2 * SHARE
    grant.close()
    assert budget.promised_bytes == 0


def test_a_match_that_goes_on_has_what_it_had_written():
    budget = DiskBudget(Disk(0))
    grant = budget.grant()
    assert grant.cover(5 * GRANT_BYTES) == 5 * GRANT_BYTES
    with pytest.raises(NoRoom):
        grant.grow(5 * GRANT_BYTES + 1)


def test_a_disk_that_cannot_be_measured_refuses_no_match():
    def unknown():
        raise OSError

    budget = DiskBudget(unknown)
    assert not budget.why_full()
    assert budget.grant().grow(10 * GRANT_BYTES) == 10 * GRANT_BYTES


ANN, BOB = BotId("ann"), BotId("bob")
ALONE = match_order("abstrac", (ANN, BOB), {"hands": 50}, seed="1", match_id="m")
OTHER = match_order("abstrac", (ANN, BOB), {"hands": 50}, seed="2", match_id="n")
SET = DealSetOrder("set", ALONE.terms, ALONE.tables, ALONE.seed)


class House:
    """An arena with bots that play, and a disk of its own."""

    def __init__(self, arena, door, disk):
        self.arena, self.door, self.disk = arena, door, disk

    @property
    def promised(self):
        return self.door.disk_budget.promised_bytes

    async def nothing_promised(self):
        """A match that has ended gives back what it was promised once its records are kept."""
        while self.promised:  # noqa: ASYNC110 - no event tells it
            await trio.sleep(0.01)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with quick_disk(monkeypatch):
        yield tmp_path


def lived(folder, main, results=None):
    async def life():
        disk = Disk()
        door = Admission(p99_ms=lambda: 0.0, disk=disk, now_s=trio.current_time)
        async with arena_in(folder, results, door) as (arena, nursery):
            for bot in (ANN, BOB):
                nursery.start_soon(plays, arena, bot)
            await trio.sleep(0.1)
            await main(House(arena, door, disk))

    run(life)


def test_a_match_is_refused_when_its_share_is_promised_to_others(folder):
    async def main(house):
        house.disk.free = RESERVE
        match = house.arena.matches.order(ALONE, "m", BY_HAND)
        assert house.promised == SHARE
        assert MetricsSource(house.arena, None, None, folder, house.door).promised_bytes == SHARE
        with pytest.raises(Refused, match="of them for matches in play") as refused:
            house.arena.matches.order(OTHER, "n", BY_HAND)
        assert (refused.value.reason, refused.value.retry_s) == ("BUSY", 60)
        await match.outcome()
        await house.nothing_promised()
        await house.arena.matches.order(OTHER, "n", BY_HAND).outcome()

    lived(folder, main)


def test_a_match_of_a_competition_waits_for_disk_space(folder):
    async def main(house):
        house.disk.free = RESERVE
        first = house.arena.matches.order(ALONE, "m", BY_HAND)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.arena.matches.play, OTHER, "n")
            await trio.sleep(0.05)
            assert first.played is None
            # One may always be in play; what it writes is promised to it.
            assert house.promised == 2 * SHARE
        await house.nothing_promised()

    lived(folder, main)


@pytest.mark.parametrize("order", [ALONE, SET], ids=["alone", "of a deal-set"])
def test_a_match_without_further_disk_space_is_aborted_without_a_fault(order, folder, monkeypatch):
    monkeypatch.setattr(disk_budget, "GRANT_BYTES", 2_000)
    results = MemoryResults()

    async def main(house):
        # The disk fills just after the match was let in.
        house.disk.free = RESERVE
        policy = BY_HAND if order is ALONE else SCHEDULED
        match = house.arena.matches.order(order, "m", policy)
        await trio.lowlevel.checkpoint()
        house.disk.free = RESERVE * LAST_SHARE
        await match.outcome()
        outcome = match.played
        assert outcome.cause is AbortCause.DISK
        assert outcome.faults == ()
        assert house.promised == 0
        house.disk.free = 5_000 * MB
        if order is SET:  # it is played anew when there is room
            assert (await house.arena.matches.play(SET, "m")).has_result

    lived(folder, main, results)
    verdict = verify_file(folder / "replays" / "m.replay")
    assert verdict.ok, verdict.problem


def test_a_resumed_match_is_granted_what_it_had_written(folder, monkeypatch):
    monkeypatch.setattr(disk_budget, "GRANT_BYTES", 1_000)
    written = []

    async def first(house):
        house.arena.matches.order(ALONE, "m", BY_HAND)
        await trio.sleep(0.4)
        written.append(sum(map(len, house.arena.matches.get("m").seated.log.bodies)))
        assert written[0] > 2_000

    async def second(house):
        assert house.promised >= COPIES * written[0]
        await house.arena.matches.get("m").outcome()
        await house.nothing_promised()

    lived(folder, first)
    lived(folder, second)
    verdict = verify_file(folder / "replays" / "m.replay")
    assert verdict.ok, verdict.problem
    assert verdict.verified.outcome.cause is None
